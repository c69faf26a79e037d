"""Floats against exact arithmetic over thirty orders of magnitude: right, or said not to be."""

import contextlib
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd import MDP, TD, Policy, PolicyEvaluation, mean_dynamics
from obliquetd.domains import two_state
from obliquetd.errors import (
    InputError,
    MathematicalError,
    NoSolutionError,
    NotUniqueError,
    NumberError,
    ObliqueTDError,
    PrecisionWarning,
    UndefinedError,
)
from tests.strategies import distributions

METHODS = ("td", "rg", "setd", "etd", "best")
WARNED_DIGITS = 6
"""A float solve that keeps fewer digits than this has to say so."""


def one_state(chances, discount=1, feature=1, reward=1):
    mdp = MDP.from_transitions([("s", k, "s", 1, reward) for k in range(len(chances))])
    target = Policy({"s": dict(enumerate(chances))})
    return PolicyEvaluation(mdp, target=target, features=[[feature]], discount=discount)


@pytest.mark.parametrize("chances", [(0.3, 0.6, 0.1), (0.1,) * 10, (0.7, 0.2, 0.1), (0.45, 0.55)])
@pytest.mark.parametrize("feature", [1.0, 1e-10, 3e150])
def test_rounded_chances_do_not_make_a_fixed_point_at_discount_one(chances, feature):
    """A is 0 or some units in the last place of 1: a fixed point of 9e15 if that were believed."""
    problem = one_state(chances, feature=feature)
    for method in ("td", "rg", "etd", "best"):
        with pytest.raises(MathematicalError):
            problem.fixed_point(method)
    with pytest.raises(UndefinedError):
        _ = problem.Omega_S


@pytest.mark.parametrize("scale", [1e-200, 1e-10, 1.0, 1e200])
@pytest.mark.parametrize("reward", [1e-100, 1.0, 1e100])
def test_the_singular_discount_of_the_two_state_example_is_seen(scale, reward):
    exact = two_state(discount="5/6", reward=1)
    common = {
        "target": exact.target,
        "behavior": exact.behavior,
        "features": [[scale], [2 * scale]],
    }
    mdp = two_state(reward=reward).mdp
    at = PolicyEvaluation(mdp, discount=5 / 6, **common)
    with pytest.raises(NoSolutionError):
        at.fixed_point("td")
    near = PolicyEvaluation(mdp, discount=5 / 6 + 1e-9, **common)
    if reward / scale > 1e290:  # theta itself
        with pytest.raises(NumberError, match="range of floats"):
            near.fixed_point("td")
        return
    with pytest.warns(PrecisionWarning, match="fixed-point equation of td is nearly singular"):
        point = near.fixed_point("td")
    assert point.accuracy.condition > 1e8
    value = PolicyEvaluation(
        exact.mdp, target=exact.target, behavior=exact.behavior, features=[[1], [2]],
        discount=Fraction(5 / 6 + 1e-9),
    ).fixed_point("td").v_hat[0]  # fmt: skip
    allowed = 10.0 ** -math.floor(point.accuracy.digits)
    assert abs(point.v_hat[0] / reward / float(value) - 1) < allowed


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-10, 1e150, 1e200, 1e300])
def test_the_scale_of_features_moves_no_value(scale):
    plain = two_state(discount=0.9, reward=1.0)
    scaled = PolicyEvaluation(
        plain.mdp, target=plain.target, behavior=plain.behavior, discount=0.9,
        features=[[scale], [2 * scale]],
    )  # fmt: skip
    for method in METHODS:
        a, b = scaled.fixed_point(method), plain.fixed_point(method)
        assert a.v_hat == pytest.approx(b.v_hat, rel=1e-12)
        for name in ("rmse", "rmsbe", "mstde", "worst_case"):
            assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-10)
        assert a.angle == pytest.approx(b.angle, abs=1e-10)
    for name in ("Omega_S", "Omega_star", "Omega_S_batch", "Pi", "best"):
        assert getattr(scaled, name) == pytest.approx(getattr(plain, name), rel=1e-12)
    if not 1e-150 < scale <= 1e150:
        for ask in (lambda: scaled.C, lambda: scaled.fixed_point("td").criterion):
            with pytest.raises(NumberError, match="range of floats"):
                ask()


def test_states_and_features_of_very_different_size_keep_their_rank():
    mdp = MDP.from_transitions([(s, "a", (s + 1) % 3, 1, s) for s in range(3)])
    rows = [[1, 1], ["1e-20", "2e-20"], ["3e20", "5e-20"]]
    for arithmetic in (None, "float"):
        problem = PolicyEvaluation(
            mdp, target=Policy.uniform(mdp), features=rows, discount="1/2", arithmetic=arithmetic
        )
        found = [float(x) for x in problem.fixed_point("td").v_hat]
        if arithmetic is None:
            expected = found
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_a_right_side_that_is_rounding_noise_is_zero(scale):
    """v is 0: rewards cancel in the mean, and on the singular system 0 is a solution."""
    rows = [
        ("s", "a", "s", 0.1, 0.3 * scale),
        ("s", "a", "s", 0.3, -0.1 * scale),
        ("s", "a", "s", 0.6, 0),
    ]
    mdp = MDP.from_transitions(rows)
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=1)
    assert problem.v_pi == pytest.approx([0.0], abs=0)
    with contextlib.suppress(NotUniqueError):  # as in exact arithmetic; NoSolutionError is false
        problem.fixed_point("td")


def test_worst_case_of_a_state_without_weight():
    mdp = MDP.from_transitions(
        [(0, "a", 1, "1/3", 1), (0, "a", 0, "2/3", 1), (1, "a", 0, "1/7", 0),
         (1, "a", 1, "6/7", 0), (2, "a", 0, "1/10", 2), (2, "a", 2, "9/10", 0)]
    )  # fmt: skip
    for discount in ("9/10", "1/3", "99/100"):
        common = {"target": Policy.uniform(mdp), "features": [[1], [2], [5]], "xi": [1, 2, 0]}
        exact, floats = (
            PolicyEvaluation(mdp, discount=discount, arithmetic=k, **common)
            for k in (None, "float")
        )
        for method in ("best", "td", "rg", "etd"):
            right = exact.fixed_point(method).worst_case
            assert floats.fixed_point(method).worst_case == pytest.approx(float(right), rel=1e-9)


@pytest.mark.parametrize("discount", ["1/2", "999999/1000000", "99999999/100000000"])
def test_the_variance_of_the_return_keeps_its_digits(discount):
    mdp = MDP.from_transitions(
        [("s", "a", "s", "1/2", 1), ("s", "a", "t", "1/2", -1), ("t", "a", "s", "1/3", 7),
         ("t", "a", "t", "2/3", 0)]
    )  # fmt: skip
    exact, floats = (
        PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=discount, arithmetic=k)
        for k in (None, "float")
    )
    right = [float(x) for x in exact.return_variance]
    assert floats.return_variance == pytest.approx(right, rel=1e-6)
    # the other formula, M - v^2, exactly
    g, v = sp.Rational(discount), exact.v_pi
    r2 = sp.Matrix([1, sp.Rational(49, 3)]) + 2 * g * sp.Matrix(
        [(v[0] - v[1]) / 2, sp.Rational(7, 3) * v[0]]
    )
    M = (sp.eye(2) - g**2 * exact.P_pi).solve(r2)
    assert list(exact.return_variance) == [sp.nsimplify(M[i] - v[i] ** 2) for i in range(2)]


@pytest.mark.parametrize("size", [1e160, 1e300, 1e-200])
def test_rewards_whose_squares_leave_the_range(size):
    mdp = MDP.from_transitions(
        [("s", "a", "t", 0.5, size), ("s", "a", "s", 0.5, 0.0), ("t", "a", "s", 1.0, 0.0)]
    )
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), features=[[1], [2]], discount=0.9)
    unit = PolicyEvaluation(
        MDP.from_transitions([("s", "a", "t", 0.5, 1.0), ("s", "a", "s", 0.5, 0.0), ("t", "a", "s", 1.0, 0.0)]),
        target=problem.target, features=[[1], [2]], discount=0.9,
    )  # fmt: skip
    a, b = problem.fixed_point("td"), unit.fixed_point("td")
    for name in ("rmse", "rmsbe", "neu"):
        assert getattr(a, name) / size == pytest.approx(getattr(b, name), rel=1e-12)
    for ask in (lambda: a.mstde, lambda: problem.return_variance):
        with pytest.raises(NumberError, match="range of floats"):
            ask()


def test_values_beyond_the_range_are_refused_not_infinite():
    mdp = MDP.from_transitions([("s", "a", "s", 1, 1e308)])
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=0.999)
    with pytest.raises(NumberError, match="range of floats"):
        _ = problem.v_pi
    with pytest.raises(NumberError, match="range of floats"):
        _ = PolicyEvaluation(
            MDP.from_transitions([("s", "a", "s", 1, "1e-400")]),
            target=problem.target, arithmetic="float",
        ).v_pi  # fmt: skip


@pytest.mark.parametrize("power", [6, 9, 12, 14, 15, 16])
def test_near_discount_one_floats_are_right_or_say_so(power):
    """Rows of .3, .6 and .1 sum to 1 - 1e-16: near discount 1 that is what v is made of."""
    discount = 1 - 10.0**-power
    exact = (
        float(one_state(("3/10", "6/10", "1/10"), discount=Fraction(discount)).v_pi[0])
        if discount < 1
        else math.inf
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            problem = one_state((0.3, 0.6, 0.1), discount=discount)
            value = problem.v_pi[0]
        except ObliqueTDError as error:
            found = error
        else:
            found = None
    if found is not None:
        assert power >= 14
        assert "discount that floats do not tell from 1" in str(found)
        assert "arithmetic='exact'" in str(found)
        return
    digits = problem.accuracy["v_pi"].digits
    assert abs(value / exact - 1) <= 10.0**-digits
    assert bool(caught) == (digits < WARNED_DIGITS)


@st.composite
def scaled_problems(draw):
    """Up to four states, probabilities, rewards, features and weights of any size."""
    n = draw(st.integers(1, 4))
    d = draw(st.integers(1, n))
    exponent = st.integers(-15, 15)
    number = st.builds(lambda m, e: Fraction(m) * Fraction(10) ** e, st.integers(-30, 30), exponent)
    k = draw(st.integers(1, 2))
    rows = []
    for s in range(n):
        for a in range(k):
            chances = draw(distributions(n))
            rows += [(s, a, t, p, draw(number)) for t, p in enumerate(chances) if p]
    mdp = MDP.from_transitions(rows, states=range(n), actions=range(k))
    policy = [
        Policy({s: dict(enumerate(draw(distributions(k, full)))) for s in range(n)})
        for full in (False, True)
    ]
    features = draw(st.lists(st.lists(number, min_size=d, max_size=d), min_size=n, max_size=n))
    xi = [abs(draw(number)) + Fraction(1, 10**15) for _ in range(n)]
    discount = draw(st.sampled_from(["0", "1/2", "9/10", "5/6", "999/1000", "1"]))
    return mdp, *policy, features, xi, Fraction(discount)


def ask(compute, *arguments):
    """The answer, or the error, and whether a loss of digits was spoken of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = compute(*arguments)
        except ObliqueTDError as error:
            return error, True
    return found, any(issubclass(w.category, PrecisionWarning) for w in caught)


def numbers(value):
    return np.array(
        sp.Matrix(value).tolist() if isinstance(value, sp.MatrixBase) else value, dtype=float
    ).ravel()


def compare(scales):
    mdp, target, behavior, features, xi, discount = scales
    common = {
        "target": target,
        "behavior": behavior,
        "features": features,
        "xi": xi,
        "discount": discount,
    }
    exact = PolicyEvaluation(mdp, **common)
    floats = PolicyEvaluation(mdp, arithmetic="float", **common)
    questions = [lambda p: p.v_pi, lambda p: p.best, lambda p: p.f]
    questions += [lambda p, m=m: p.fixed_point(m).v_hat for m in METHODS]
    for question in questions:
        right, _ = ask(question, exact)
        found, said = ask(question, floats)
        if isinstance(found, ObliqueTDError) or said:
            continue
        assert not isinstance(right, ObliqueTDError), (type(right), found)
        right, found = numbers(right), numbers(found)
        assert np.isfinite(found).all()
        yield found, right


@settings(max_examples=150)
@given(scaled_problems())
def test_floats_are_right_over_thirty_orders_of_magnitude_or_say_that_they_are_not(scales):
    for found, right in compare(scales):
        size = np.abs(right).max()
        noise = max(abs(float(x.reward)) for x in scales[0].transitions) * 1e3
        assert np.abs(found - right).max() <= 1e-5 * size + 1e-13 * noise


@pytest.mark.parametrize("arithmetic", [None, "float"])
@pytest.mark.parametrize("leave", ["1/100", "1/1000000", "1/3"])
def test_negative_rewards_until_an_end_at_discount_one(arithmetic, leave):
    """storm issue 1061: a float engine answered 0 or -59.5 where -100 is right."""
    p = sp.Rational(leave)
    mdp = MDP.from_transitions([("s", "a", "s", 1 - p, -1), ("s", "a", "end", p, -1)])
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), arithmetic=arithmetic)
    assert float(problem.values["s"]) == pytest.approx(float(-1 / p), rel=1e-9)
    assert problem.values["end"] == 0


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_weights_are_stationary_or_not_whatever_their_scale(scale):
    exact = two_state(reward=1)
    common = {
        "target": exact.target,
        "behavior": exact.behavior,
        "features": [[1], [2]],
        "discount": 0.9,
    }
    good = PolicyEvaluation(exact.mdp, xi=[scale, scale], **common)
    assert mean_dynamics(good, TD(lam=0.5)).A.shape == (1, 1)
    bad = PolicyEvaluation(exact.mdp, xi=[scale, 5 * scale], **common)
    with pytest.raises(InputError, match="stationary"):
        _ = mean_dynamics(bad, TD(lam=0.5)).A


def both(rows, discount):
    mdp = MDP.from_transitions(rows)
    return [
        PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=discount, arithmetic=k)
        for k in (None, "float")
    ]


def constant_on_average(a, b, c, name=""):
    """Rewards whose mean is the same on every way: what varies is of the size of 1 - g."""
    s, t = f"s{name}", f"t{name}"
    return [(s, "a", s, "1/2", a), (s, "a", t, "1/2", b), (t, "a", s, 1, c)]


TWO_LEVELS = [
    *constant_on_average(10, 9, 11),
    *constant_on_average(710, 709, 711, "'"),
]


@pytest.mark.filterwarnings("ignore::obliquetd.errors.PrecisionWarning")
@pytest.mark.parametrize(
    ("rows", "discount", "digits"),
    [
        (constant_on_average(10, 9, 11), "0.99999999", 1e-5),
        (constant_on_average(10, 9, 11), "0.9999999999", 1e-4),
        (constant_on_average(10**12, 10**12 - 1, 10**12 + 1), "9/10", 1e-9),
        (constant_on_average(-(10**9), -(10**9) - 1, 1 - 10**9), "999/1000", 1e-5),
        (TWO_LEVELS, "0.99999999", 1e-4),
        ([*constant_on_average(10, 9, 11), ("u", "a", "s", "1/3", 0), ("u", "a", "t", "2/3", 4)],
         "0.9999999", 1e-6),
    ],
)  # fmt: skip
def test_the_variance_is_not_the_noise_of_large_values(rows, discount, digits):
    exact, floats = both(rows, discount)
    right = [float(x) for x in exact.return_variance]
    assert right[0] > 0
    assert floats.return_variance == pytest.approx(right, rel=digits)


def test_a_variance_of_few_digits_says_so():
    tenths = constant_on_average("0.1", "0.1", "0.10000000000001")
    far_apart = [*TWO_LEVELS, ("u", "a", "s", "1/3", 5), ("u", "a", "s'", "2/3", 5)]
    for rows, discount in ((tenths, "9/10"), (far_apart, "0.99999999")):
        _, floats = both(rows, discount)
        with pytest.warns(PrecisionWarning, match="variance of the return"):
            _ = floats.return_variance


@pytest.mark.parametrize("discount", ["9/10", "999999/1000000"])
def test_a_return_that_never_varies_has_no_variance_of_rounding(discount):
    _, floats = both([("s", "a", "t", 1, "1/3"), ("t", "a", "s", 1, "7/10")], discount)
    assert list(floats.return_variance) == [0, 0]


@pytest.mark.parametrize("method", METHODS)
def test_features_that_differ_by_one_part_in_a_trillion_are_refused_by_every_method(method):
    """Column 2 is 2e6 times column 3 but for 1e-8: floats cannot tell what that direction is worth.

    The residual gradient answered -1e-4 where 0 is right, without a word.
    """
    rows = [(s, a, s, 1, int((s, a) == (1, 0))) for s in range(3) for a in range(2)]
    problem = PolicyEvaluation(
        MDP.from_transitions(rows), target=Policy({0: {1: 1}, 1: {0: 1}, 2: {1: 1}}),
        behavior=Policy({s: {0: "1/2", 1: "1/2"} for s in range(3)}), discount=0,
        features=[[0, 20, "1/100000"], [1, "1/100000000", 0], [1, 200000, "1/10"]],
        xi=["1/1000000000000000"] * 3,
    )  # fmt: skip
    assert list(problem.fixed_point(method).v_hat) == [0, 1, 0]
    with pytest.raises(ObliqueTDError, match="precision of floats"):
        _ = problem.replace(arithmetic="float").fixed_point(method).v_hat
