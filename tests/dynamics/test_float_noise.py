"""What floats say of noise, step sizes and angles is right, refused by name, or warned of on that answer.

Each problem is asked in floats and on the rationals that these floats are (``tests/dynamics/adverse.py``). The
seeds are fresh where ``OBLIQUETD_SEED`` (or a CI's commit) says so; a failure tells the seed and that variable.
"""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.dynamics import step_size
from obliquetd.dynamics.moments import JumpSystem
from obliquetd.dynamics.pencil import contracts, pencils_of
from obliquetd.errors import ObliqueTDError, PrecisionWarning
from tests.dynamics.adverse import WITHIN, draw, pair, seeds, two_states, verdict
from tests.turn import part

HALF = Fraction(1, 2)
LEARNERS = (
    otd.TD(), otd.SETD(), otd.ETD(), otd.ResidualGradient(), otd.GTD2(mu=1), otd.TDC(mu=1),
    otd.TD(lam="1/2"), otd.SETD(lam="1/2"),
)  # fmt: skip
FEW = 3
"""Seeds of the default run."""
MANY = 20


def one_minus(k):
    return 1 - Fraction(1, 2**k)


def rare(k, features=((-3, -1), (-2, 3)), rewards=(1, 0, 0, 2), discount="0.9"):
    """Two states that are left with a chance of 2^-k."""
    e = Fraction(1, 2**k)
    return two_states(1 - e, e, features, rewards, Fraction(float(discount)))


# --- the step size ---------------------------------------------------------------------------


def radius_is_below_one(problem, learner, sampling, sense, alpha):
    """Whether E[x x'] (or E[x]) contracts, by a certificate on rationals, which knows of no roots."""
    system = JumpSystem(problem, learner, sampling)
    out = []
    for found in system.expectations:
        pencils = pencils_of(system, found)
        m, groups = len(pencils[0].G), 1 + max(p.s for p in pencils)
        arithmetic = system.ops.arithmetic
        step = arithmetic.scalar(sp.Rational(alpha))
        maps = [
            (p.s, p.t, p.weight, [[step * g + (i == j) for j, g in enumerate(row)]
                                  for i, row in enumerate(p.G)])
            for p in pencils
        ]  # fmt: skip
        if sense == "mean":
            joint = [[arithmetic.zero] * (groups * m) for _ in range(groups * m)]
            for s, t, w, M in maps:
                for i, row in enumerate(M):
                    for j, x in enumerate(row):
                        joint[t * m + i][s * m + j] += w * x
            maps, m, groups = [(0, 0, arithmetic.one, joint)], groups * m, 1
        out.append(contracts(arithmetic, maps, m, groups))
    return all(out)


def check_limit(floats, exact, learner, sampling, sense):
    """The word on a limit: "refused", "warned" or "right", or what is wrong with it."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", PrecisionWarning)
        try:
            limit = float(otd.step_size_limit(floats, learner, sampling=sampling, sense=sense))
        except ObliqueTDError:
            return "refused"
    if told:
        return "warned"
    if limit == 0:
        stable = otd.mean_dynamics(exact, learner, sampling=sampling).is_stable()
        return f"0, and {stable}" if stable else "right"
    near, far = (
        radius_is_below_one(exact, learner, sampling, sense, limit * (1 + side * WITHIN))
        for side in (-1, 1)
    )
    return "right" if near and not far else f"{limit}, stable before it: {near}, behind: {far}"


@pytest.mark.parametrize(
    ("k", "discount"),
    [(30, "0.9"), (40, "0.9"), (50, "0.9"), (45, "0.5"), (35, "0.75"), (26, "0.99")],
)
@pytest.mark.parametrize("learner", [otd.TD(), otd.ResidualGradient()], ids=lambda x: x.key)
def test_the_limit_where_states_are_rarely_left(k, discount, learner):
    floats, exact = rare(k, discount=discount)
    for sense in ("mean", "mean square"):
        for sampling in ("iid", "trajectory"):
            assert check_limit(floats, exact, learner, sampling, sense) == "right", (
                sense,
                sampling,
            )


def test_the_limit_of_the_issue_is_the_exact_one():
    for k in (30, 40, 50):
        for learner in (otd.TD(), otd.ResidualGradient()):
            assert otd.step_size_limit(rare(k)[0], learner) == pytest.approx(0.13225, rel=1e-4)
            limit = otd.step_size_limit(rare(k)[0], learner, sense="mean")
            assert limit == pytest.approx(0.13225, rel=1e-4)


@pytest.mark.parametrize("seed", seeds(FEW, "limit"))
def test_limits_of_adverse_problems(seed):
    floats, exact = draw(seed)
    for learner in (otd.TD(), otd.SETD(), otd.ResidualGradient()):
        for sampling in ("iid", "trajectory"):
            for sense in ("mean", "mean square"):
                found = check_limit(floats, exact, learner, sampling, sense)
                assert found in ("right", "refused", "warned"), (
                    f"seed {seed}, {learner.key}, {sampling}, {sense}: {found}"
                )


def test_a_limit_that_floats_do_not_prove_is_refused_or_decided_on_rationals(monkeypatch):
    floats, exact = rare(40)
    assert check_limit(floats, exact, otd.TD(), "trajectory", "mean square") == "right"
    monkeypatch.setattr(step_size, "is_small", lambda *_: False)
    with pytest.raises(ObliqueTDError, match="arithmetic='exact'"):
        otd.step_size_limit(floats, otd.TD())
    assert otd.step_size_limit(floats.replace(arithmetic="exact"), otd.TD()) > 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_floats_and_rationals_agree_where_either_would_do(seed, monkeypatch):
    floats, _ = draw(seed, adverse=False)
    for learner in (otd.TD(), otd.SETD(), otd.ResidualGradient()):
        by_floats = otd.step_size_limit(floats, learner)
        with monkeypatch.context() as patch:
            patch.setattr(step_size, "_proved", lambda *_: None)
            assert otd.step_size_limit(floats, learner) == pytest.approx(by_floats, rel=1e-9)


# --- angles --------------------------------------------------------------------------------


def of_angle(name):
    return lambda problem: problem.fixed_point(name).angle


def near_one(k, seed, n=3, d=2):
    floats, exact = draw(seed, adverse=False)
    gamma = one_minus(k)
    return floats.replace(discount=float(gamma)), exact.replace(discount=gamma)


@pytest.mark.parametrize("k", [22, 27, 30, 34])
@pytest.mark.parametrize("name", ["td", "rg", "setd", "etd"])
def test_no_angle_is_a_right_angle_because_the_discount_is_near_one(k, name):
    rows = [
        (0, 0, HALF, 1), (0, 1, HALF / 2, 0), (0, 2, HALF / 2, 0), (1, 0, HALF, 0), (1, 2, HALF, 2),
        (2, 1, Fraction(3, 4), 0), (2, 0, Fraction(1, 4), 0),
    ]  # fmt: skip
    for features in ([[1, 2], [-1, 1], [2, 0]], [[1, 0], [3, 1], [-2, 2]]):
        floats, exact = pair(rows, features, one_minus(k))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrecisionWarning)
            angle = floats.fixed_point(name).angle
        assert angle == pytest.approx(float(sp.N(exact.fixed_point(name).angle, 30)), rel=1e-6)


@pytest.mark.parametrize("seed", seeds(2 * FEW, "angle"))
def test_angles_of_adverse_problems(seed):
    floats, exact = draw(seed)
    for name in ("td", "rg", "setd", "etd"):
        found = verdict(floats, exact, of_angle(name), "angle")
        assert found in ("right", "refused", "warned"), f"seed {seed}, {name}: {found}"


# --- noise ---------------------------------------------------------------------------------

KINDS = {
    "noise_covariance": "updates", "averaged": "weights", "constant_step": "weights",
    "variance": "values",
}  # fmt: skip


def of_noise(quantity, learner, sampling):
    return lambda problem: getattr(otd.efficiency(problem, learner, sampling=sampling), quantity)


def fixed_point_is_known(floats, exact, learner, sampling):
    """Whether the fixed point itself is right, which tests of its own hold."""

    def ask(problem):
        return otd.mean_dynamics(problem, learner, sampling=sampling).fixed_point()

    return verdict(floats, exact, ask) == "right"


def check_noise(seed, learners, *, adverse, allowed):
    floats, exact = draw(seed, adverse=adverse)
    for learner in learners:
        for sampling in ("iid", "trajectory"):
            if adverse and not fixed_point_is_known(floats, exact, learner, sampling):
                continue
            for quantity, kind in KINDS.items():
                found = verdict(floats, exact, of_noise(quantity, learner, sampling), kind)
                assert found in allowed, (
                    f"seed {seed}, {learner.label}, {sampling}, {quantity}: {found}"
                )


@pytest.mark.parametrize("seed", seeds(FEW, "noise"))
def test_noise_of_adverse_problems(seed):
    check_noise(seed, (otd.TD(), otd.SETD(), otd.TD(lam="1/2")), adverse=True,
                allowed=("right", "refused", "warned"))  # fmt: skip


@pytest.mark.parametrize(
    ("k", "rewards"),
    [(20, (1, 0, 0, 2)), (24, (1, 0, 0, 0)), (28, (0, 1, -1, 0)), (29, (2, 0, 1, 0))],
)
def test_noise_of_setd_near_discount_one(k, rewards):
    floats, exact = two_states(HALF, Fraction(1, 4), [[1, 1], [1, 2]], rewards, one_minus(k))
    for sampling in ("iid", "trajectory"):
        for quantity, kind in KINDS.items():
            found = verdict(floats, exact, of_noise(quantity, otd.SETD(), sampling), kind)
            assert found in ("right", "warned", "refused"), (quantity, sampling, found)


@pytest.mark.parametrize("scale", [50, 40, 30, 20])
def test_features_of_other_sizes_change_no_covariance_at_a_constant_step_size(scale):
    """Unscaled, the Lyapunov equation gave -6e7 in place of 0.51 for features of 2^-10 and 2^40."""
    features = [[1, 2**scale], [-2, 2**scale], [3, -(2 ** (scale + 1))]]
    rows = [(s, t, Fraction(1, 4) if s != t else HALF, s - t) for s in range(3) for t in range(3)]
    floats, exact = pair(rows, features, Fraction(3, 4))
    for learner in (otd.TD(), otd.SETD(), otd.ResidualGradient()):
        for sampling in ("iid", "trajectory"):
            asked = of_noise("constant_step", learner, sampling)
            assert verdict(floats, exact, asked, "weights") == "right"


@pytest.mark.parametrize("scale", [30, 40, 50, 60])
def test_a_trace_of_another_size_than_the_update_is_in_the_noise(scale):
    """The slopes in the memory were the difference of two updates, of which a large constant left nothing."""
    features = [[Fraction(1, 2**22), 2**scale], [Fraction(2, 2**22), -(2**scale)], [0, 0]]
    rows = [(s, t, Fraction(1, 4) if s != t else HALF, s - t) for s in range(3) for t in range(3)]
    floats, exact = pair(rows, features, Fraction(15, 16))
    asked = of_noise("noise_covariance", otd.TD(lam="1/2"), None)
    assert verdict(floats, exact, asked, "updates") == "right"


@pytest.mark.parametrize("seed", range(2 * FEW))
def test_ordinary_problems_are_answered_without_a_word(seed):
    """No lazy way out: what is not near anything singular is neither refused nor warned of."""
    floats, exact = draw(seed, adverse=False)
    for learner in (otd.TD(), otd.GTD2(mu=1), otd.TD(lam="1/2")):
        dynamics = otd.mean_dynamics(exact, learner)
        basis = np.array(dynamics.span.tolist(), dtype=float)
        if not basis.size or not dynamics.is_stable():
            continue
        Q = np.linalg.lstsq(basis, np.array(dynamics.A.tolist(), dtype=float) @ basis, rcond=None)[
            0
        ]
        if np.linalg.cond(Q) > 300:
            continue
        for quantity, kind in KINDS.items():
            found = verdict(floats, exact, of_noise(quantity, learner, "trajectory"), kind)
            assert found == "right", (learner.label, quantity)
        for sense in ("mean", "mean square"):
            if not learner.has_memory:
                found = check_limit(floats, exact, learner, "trajectory", sense)
                assert found == "right", (learner.label, sense)
    for name in ("td", "rg", "setd", "etd"):
        assert verdict(floats, exact, of_angle(name), "angle") == "right"


# --- moments -------------------------------------------------------------------------------

MOMENTS = ("mean", "second", "covariance", "expected_mse")


def of_moments(quantity, learner, *, stationary):
    def ask(problem):
        found = (
            otd.stationary_moments(problem, learner) if stationary
            else otd.exact_moments(problem, learner, 3)
        )  # fmt: skip
        return getattr(found, quantity)

    return ask


def in_reach(problem, learner):
    """The learner with a step size of half the limit, or less, that has few binary digits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        limit = float(otd.step_size_limit(problem, learner))
    alpha = Fraction(1, 2 ** (2 + max(0, int(np.ceil(-np.log2(limit)))))) if 0 < limit < 1 else HALF
    return type(learner)(alpha)


def check_moments(seed, *, adverse, allowed):
    floats, exact = draw(seed, adverse=adverse)
    for learner in (otd.TD(), otd.SETD(), otd.ResidualGradient()):
        try:
            stepping = in_reach(floats, learner)
        except ObliqueTDError:
            assert "refused" in allowed
            continue
        for stationary in (True, False):
            for quantity in (*MOMENTS, *(("bias",) if stationary else ())):
                asked = of_moments(quantity, stepping, stationary=stationary)
                found = verdict(floats, exact, asked)
                if not stationary and "place" in found:  # relative to what the mean is made of
                    found = verdict(floats, exact, asked)
                assert found in allowed, (
                    f"seed {seed}, {stepping!r}, {stationary}, {quantity}: {found}"
                )


@pytest.mark.parametrize("seed", seeds(FEW, "moments"))
def test_moments_of_adverse_problems(seed):
    check_moments(seed, adverse=True, allowed=("right", "refused", "warned"))


def test_a_stationary_bias_is_not_a_difference_of_two_means():
    """Both are near 1e6, and the bias is 1e-7: with 1e-16 of each, no digit would be left."""
    for k in (10, 20, 30, 40):
        rows = [
            (0, 0, HALF, 2**k + 1),
            (0, 1, HALF, 2**k),
            (1, 0, Fraction(3, 4), 2**k),
            (1, 1, HALF / 2, 2**k),
        ]
        floats, exact = pair(rows, [[1], [1 + Fraction(1, 2**8)]], HALF)
        asked = of_moments("bias", otd.TD(Fraction(1, 2**16)), stationary=True)
        assert verdict(floats, exact, asked) == "right"


# --- more of it -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", part(seeds(MANY, "more"), 2))
def test_more_adverse_problems(seed):
    check_noise(seed, LEARNERS, adverse=True, allowed=("right", "refused", "warned"))
    test_angles_of_adverse_problems(seed)
    test_limits_of_adverse_problems(seed)
    check_moments(seed, adverse=True, allowed=("right", "refused", "warned"))
