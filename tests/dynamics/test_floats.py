"""Floats against exact arithmetic: rounding noise is never a verdict, whatever the scale of the data."""

import operator

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.domains import random_problem, two_state
from obliquetd.dynamics import mean_dynamics, stability_region, step_size_limit
from obliquetd.dynamics.scalars import Rounded
from obliquetd.errors import (
    MathematicalError,
    NoSolutionError,
    NumberError,
    PrecisionWarning,
    SignUndecidedError,
    SingularError,
)
from obliquetd.learners import (
    ABTD,
    ETD,
    GTD2,
    SETD,
    TD,
    TDC,
    NStepTD,
    ResidualGradient,
    TrueOnlineGTD,
)
from obliquetd.learners.dual import Dual

R = sp.Rational
LEARNERS = [
    TD(),
    SETD(),
    ETD(),
    GTD2(mu=2),
    TDC(mu=2),
    ResidualGradient(),
    TD(lam="1/2"),
    ETD(lam="1/2"),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda x: x.label)
@pytest.mark.parametrize("ends", ["start", "restart"])
def test_states_that_are_never_visited_have_no_trace(learner, ends):
    """A terminal state before which episodes begin anew, or a transient one, has weight 0: no 0 / 0."""
    rows = [("A", "l", "B", "1/2", 1), ("A", "l", "end", "1/2", 0), ("A", "r", "B", 1, 2),
            ("B", "l", "end", 1, 3), ("B", "r", "A", 1, 0)]  # fmt: skip
    if ends == "restart":
        rows += [("end", a, "A", 1, 0) for a in "lr"] + [("first", a, "A", 1, 1) for a in "lr"]
    mdp = MDP.from_transitions(rows)
    both = dict.fromkeys("lr", "1/2")
    others = {s: both for s in ("end", "first") if ends == "restart"}
    target = Policy({"A": {"l": "1/3", "r": "2/3"}, "B": {"l": 1}, **others})
    features = {"A": ["1/2", 0], "B": ["1/3", "1/3"], "end": [0, 0], "first": [1, 1]}
    problem = PolicyEvaluation(
        mdp, target=target, behavior=Policy({"A": both, "B": both, **others}), discount="9/10",
        features={s: features[s] for s in mdp.states}, start={"A": 1} if ends == "start" else None,
    )  # fmt: skip
    exact = mean_dynamics(problem, learner)
    floats = mean_dynamics(problem.replace(arithmetic="float"), learner)
    assert np.allclose(floats.A, np.array(exact.A, dtype=float), rtol=1e-12)
    assert np.allclose(floats.b, np.array(exact.b, dtype=float).ravel(), rtol=1e-12)


def cancelling(reward, features=(1.0, 2.0), discount=5 / 6):
    """Two states whose A is 0 at discount 5/6, with rewards that cancel nothing."""
    rows = [
        ("l", "L", "l", 1, reward), ("l", "R", "r", 1, reward / 3),
        ("r", "L", "l", 1, -reward / 7), ("r", "R", "r", 1, reward),
    ]  # fmt: skip
    mdp = MDP.from_transitions(rows)
    return PolicyEvaluation(
        mdp, target=Policy.deterministic({"l": "R", "r": "R"}), behavior=Policy.uniform(mdp),
        features=[[features[0]], [features[1]]], discount=discount,
    )  # fmt: skip


@pytest.mark.parametrize("reward", [1.0, 1e9, -1e15, 1e100, 1e-9])
@pytest.mark.parametrize("learner", [TD(), TD(lam=1e-9), GTD2(), TDC()], ids=lambda x: x.name)
def test_rewards_of_any_size_leave_A_alone(reward, learner):
    dyn, plain = (mean_dynamics(cancelling(r), learner) for r in (reward, 0.0))
    with pytest.warns(PrecisionWarning, match=f"A of {learner.name} keeps about"):
        assert np.array_equal(dyn.A, plain.A)
    if learner == TD():
        assert abs(dyn.expectation.A.dense()[0, 0]) < 1e-15
        assert dyn.stability.verdict == "undecided"
        with pytest.raises(SingularError):
            dyn.fixed_point()
        with pytest.raises(SignUndecidedError):
            step_size_limit(cancelling(reward), learner)


def test_the_limit_and_the_moments_do_not_see_the_rewards():
    for reward in (1.0, 1e12):
        problem = cancelling(reward, discount=0.5)
        assert step_size_limit(problem, TD()) == pytest.approx(
            step_size_limit(cancelling(0.0, discount=0.5), TD()), rel=1e-12
        )


@pytest.mark.parametrize("scale", [1e-8, 1e-40, 1e8, 1e40, 1.0])
@pytest.mark.parametrize("learner", LEARNERS[:6], ids=lambda x: x.name)
def test_features_of_any_size(scale, learner):
    """A scales with the features in its own way; the verdict and Phi theta do not."""
    exact = random_problem(3, 2, seed=3)
    Phi = np.array(exact.Phi, dtype=float)

    def floats(factor):
        return PolicyEvaluation(
            exact.mdp,
            target=exact.target,
            behavior=exact.behavior,
            features=Phi * factor,
            discount=0.9,
        )

    truth = mean_dynamics(exact, learner)
    dyn = mean_dynamics(floats(scale), learner)
    assert dyn.stability.verdict == mean_dynamics(floats(1.0), learner).stability.verdict
    A = np.array(truth.A, dtype=float)
    if learner.size(1) == 1:
        assert np.allclose(dyn.A / scale**2, A, rtol=1e-12, atol=1e-12 * np.abs(A).max())
        expected = np.array(truth.v_hat, dtype=float).ravel()
        assert dyn.v_hat == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-200, 1e200, 1e-160, 1e155])
@pytest.mark.parametrize("learner", [TD(), SETD(), ETD(), GTD2()], ids=lambda x: x.name)
def test_beyond_the_range_of_floats_is_said(scale, learner):
    problem = cancelling(1.0, (scale, 2 * scale), 0.5)
    with pytest.raises(NumberError, match="range of floats"):
        _ = mean_dynamics(problem, learner).A
    exact = PolicyEvaluation(
        problem.mdp, target=problem.target, behavior=problem.behavior,
        features=[[str(R(scale))], [str(R(2 * scale))]], discount="1/2", arithmetic="exact",
    )  # fmt: skip
    assert mean_dynamics(exact, learner).stability.verdict in ("stable", "unstable")


def test_features_of_unlike_sizes_in_one_problem():
    """A weight whose feature is 1e-10 is judged beside one of 1, and one of 1e-170 is no error."""
    mdp = MDP.from_transitions([("a", 0, "b", 1, 1), ("b", 0, "a", 1, 2)])
    for small in (1e-10, 1e-60, 1e-120):
        problem = PolicyEvaluation(
            mdp, target=Policy.uniform(mdp), features=[[1.0, 0.0], [0.0, small]], discount=0.5
        )
        dyn = mean_dynamics(problem, TD())
        assert dyn.span.shape == (2, 2)
        assert dyn.stability.verdict == "stable"
        assert dyn.v_hat == pytest.approx([8 / 3, 10 / 3], rel=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda: (two_state(5 / 6), TD()),
        lambda: (two_state(5 / (6 - 0.5)), TD(lam=0.5)),
        lambda: (cancelling(1.0, (0.1, 0.2)), TD()),
        lambda: (cancelling(3.0, (1e-3, 2e-3)), TDC()),
    ],
    ids=["two states", "with a trace", "decimal features", "TDC"],
)
def test_a_singular_A_is_seen_from_the_data(make):
    problem, learner = make()
    dyn = mean_dynamics(problem, learner)
    with pytest.raises(SingularError):
        dyn.fixed_point()
    assert dyn.stability.verdict == "undecided"


def test_one_state_whose_probabilities_are_decimals():
    """Discount 1, and .3 + .6 + .1 = 1 - 1e-16 in floats: A is noise, and so is 1/A."""
    mdp = MDP.from_transitions([("s", a, "s", 1, 1) for a in "abc"])
    policy = Policy({"s": {"a": 0.3, "b": 0.6, "c": 0.1}})
    problem = PolicyEvaluation(mdp, target=policy, discount=1.0)
    dyn = mean_dynamics(problem, TD())
    assert dyn.stability.verdict in ("undecided", "nothing moves", "marginal")
    with pytest.raises(MathematicalError):
        dyn.fixed_point()


def test_no_solution_and_many_solutions_are_told_apart():
    with pytest.raises(NoSolutionError):
        mean_dynamics(cancelling(1.0), TD()).fixed_point()
    with pytest.raises(SingularError, match="many"):
        mean_dynamics(cancelling(0.0), TD()).fixed_point()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000), st.sampled_from(LEARNERS),
    st.sampled_from(["9/10", "1/2", "99/100", "5/6"]),
    st.integers(-12, 12), st.integers(-9, 9),
)  # fmt: skip
def test_floats_against_rationals(seed, learner, discount, reward_power, feature_power):
    """A, verdict and fixed point of random problems, rewards and features over 20 orders of magnitude."""
    exact = random_problem(3, 2, seed=seed, discount=discount)
    scale, factor = 10.0**feature_power, 10.0**reward_power
    rows = [
        (t.state, t.action, t.next_state, float(t.probability), float(t.reward) * factor)
        for t in exact.mdp.transitions
    ]
    mdp = MDP.from_transitions(rows)
    floats = PolicyEvaluation(
        mdp, target=exact.target, behavior=exact.behavior, arithmetic="float",
        features=np.array(exact.Phi, dtype=float) * scale, discount=float(R(discount)),
    )  # fmt: skip
    a, b = mean_dynamics(exact, learner), mean_dynamics(floats, learner)
    error = b.expectation.A.error
    if learner.size(1) == 1:
        A = np.array(a.A, dtype=float) * scale**2
        assert (np.abs(b.A - A) <= 4 * error + 1e-12 * np.abs(A).max()).all()
        assert (error <= 1e-10 * np.abs(A).max()).all()
        verdicts = a.stability.verdict, b.stability.verdict
        assert verdicts[0] == verdicts[1] or verdicts[1] == "undecided"
        if verdicts[1] == "undecided":
            values = np.linalg.eigvals(np.array(a.A, dtype=float))
            assert np.abs(values.real).min() < 1e-6 * np.abs(values).max()
    try:
        truth = a.v_hat
    except MathematicalError:
        with pytest.raises(MathematicalError):
            _ = b.v_hat
        return
    truth = np.array(truth, dtype=float).ravel() * factor
    condition = np.linalg.cond(np.array(a.A, dtype=float))
    if condition < 1e6:
        assert b.v_hat == pytest.approx(truth, rel=1e-6, abs=1e-7 * np.abs(truth).max())


def test_no_float_verdict_of_many_is_wrong_by_rewards():
    """Rewards of 1e10 once turned one verdict in ten."""
    for seed in range(25):
        exact = random_problem(3, 2, seed=seed, discount="19/20")
        rows = [
            (t.state, t.action, t.next_state, t.probability, float(t.reward) * 1e10)
            for t in exact.mdp.transitions
        ]
        mdp = MDP.from_transitions(rows)
        floats = PolicyEvaluation(
            mdp, target=exact.target, behavior=exact.behavior, arithmetic="float",
            features=exact.Phi, discount="19/20",
        )  # fmt: skip
        for learner in (TD(), SETD(), ETD()):
            verdict = mean_dynamics(floats, learner).stability.verdict
            assert verdict in (mean_dynamics(exact, learner).stability.verdict, "undecided")


class TestRounded:
    @given(
        st.lists(st.tuples(st.sampled_from("+-*/"), st.integers(-99, 99)), min_size=1, max_size=12),
        st.integers(-9, 9),
    )
    def test_the_bound_holds_for_decimals(self, steps, first):
        """Against the rational that the decimals mean."""
        number, truth = Rounded.datum(first / 10), R(first, 10)
        for sign, n in steps:
            other, exact = Rounded.datum(n / 10), R(n, 10)
            if sign == "/" and not n:
                continue
            act = {
                "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv
            }[sign]  # fmt: skip
            number, truth = act(number, other), act(truth, exact)
        gap = abs(R(number.value) - truth)
        assert gap <= R(number.error) * (1 + R(1, 10**9)) + R(1, 10**300)

    def test_what_is_exact_has_no_error(self):
        assert Rounded.datum(0.5).error == 0.0
        assert (Rounded.datum(1.0) - Rounded.datum(1.0)).error == 0.0
        assert Rounded.datum(0.1).error > 0.0
        noise = Rounded.datum(0.1) + Rounded.datum(0.2) - Rounded.datum(0.3)
        assert abs(noise.value) <= noise.error

    def test_a_slope_is_the_derivative_at_zero(self):
        t = Dual(R(0), R(1))
        for value, slope in (
            ((2 + 3 * t) * (1 - t), 1),
            ((1 + t) / (2 - t), R(3, 4)),
            (1 - t * t, 0),
            ((4 * t - 1) / 2, 2),
        ):
            assert value.slope == slope


def test_regions_are_of_exact_problems_and_agree_with_floats_beside_them():
    region = stability_region(two_state("g"), TD(), "g")
    for g in (0.1, 0.5, 0.83, 0.84, 0.99):
        assert (R(g) in region) == mean_dynamics(two_state(g), TD()).is_stable()


@pytest.mark.parametrize("powers", [(12, 0), (0, -12), (9, -9)])
@pytest.mark.parametrize(
    "learner",
    [NStepTD(n=3), NStepTD(n=5), TD(lam="9/10"), ETD(lam="1/2"), TrueOnlineGTD(lam="1/2"), ABTD()],
    ids=lambda x: x.label,
)
def test_what_a_memory_hands_on_has_the_digits_of_its_size(learner, powers):
    """Memory that starts from nothing and is filled by other memory has a size of its own, too."""
    P = sp.Matrix([
        ["2/1000005", "1000001/1000005", 0, "2/1000005"], [0, "3/1000007", "4/1000007", "1000000/1000007"],
        ["1/333335", "200000/200001", 0, "2/1000005"], ["1/2", "1/8", "3/8", 0],
    ])  # fmt: skip
    Phi = sp.Matrix([[3, 1], [3, -1], [0, 2], [2, 1]]) * sp.diag(*(R(10) ** k for k in powers))
    exact, floats = (
        mean_dynamics(PolicyEvaluation.from_chain(p, r, discount=g, features=f), learner)
        for p, r, g, f in (
            (P.applyfunc(R), [1, 0, 2, 0], "1/2", Phi),
            (
                np.array(P.applyfunc(R), dtype=float),
                [1.0, 0.0, 2.0, 0.0],
                0.5,
                np.array(Phi, dtype=float),
            ),
        )
    )
    np.testing.assert_allclose(floats.A, np.array(exact.A, dtype=float), rtol=1e-11)
    np.testing.assert_allclose(floats.b.ravel(), np.array(exact.b, dtype=float).ravel(), rtol=1e-11)
