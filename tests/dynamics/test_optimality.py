"""Step sizes beside the average: the order of the covariances, where it is an equality, and when averaging pays."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd import efficiency, mean_dynamics
from obliquetd.domains import random_problem, two_state
from obliquetd.errors import InputError, KindError, MathematicalError, UndefinedError
from obliquetd.learners import ETD, GTD2, SETD, TD, TDC

R = sp.Rational
LEARNERS = [TD(), SETD(), TDC(), GTD2(), TD(lam="1/2"), ETD()]
quick = settings(
    max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def least(A):
    return min(complex(x).real for x in np.linalg.eigvals(np.array(A, dtype=float)))


def psd(matrix):
    """Whether an exact symmetric matrix is positive semidefinite: signs of its characteristic polynomial."""
    n = matrix.shape[0]
    coefficients = matrix.charpoly().all_coeffs()
    return matrix == matrix.T and all(
        (-1) ** k * c >= 0 for k, c in enumerate(coefficients[: n + 1])
    )


@quick
@given(
    st.integers(0, 500),
    st.sampled_from(LEARNERS),
    st.fractions("11/10", 5, max_denominator=10),
    st.sampled_from(["trajectory", "iid"]),
)
def test_no_schedule_has_less_noise_than_the_average(seed, learner, times, sampling):
    problem = random_problem(3, 2, seed=seed, discount="1/2")
    found = efficiency(problem, learner, sampling=sampling)
    dynamics = mean_dynamics(problem, learner, sampling=sampling)
    if not (dynamics.is_stable() and found.is_finite):
        return
    A = dynamics.A
    c = R(times.numerator, times.denominator) * R(1 / (2 * least(A))).limit_denominator(50)
    try:
        excess = found.excess_covariance(c)
    except MathematicalError as error:  # the rounding of c fell below the least that will do
        assert "Use a larger c" in str(error)  # noqa: PT017
        return
    assert psd(excess)
    assert excess == found.schedule(c) - found.averaged
    C = problem.C
    ratio = (C * found.of_theta(found.schedule(c))).trace() / (
        C * found.of_theta(found.averaged)
    ).trace()
    assert found.excess(c) == ratio >= 1
    # the equation that proves it, on the span of all weights
    left, gap = c * A - sp.eye(len(A.row(0))) / 2, c * A - sp.eye(len(A.row(0)))
    assert left * excess + excess * left.T == gap * found.averaged * gap.T


@quick
@given(st.integers(0, 500), st.fractions("6/10", 9, max_denominator=10))
def test_one_weight_has_a_best_schedule(seed, times):
    """(ac)^2 / (2ac - 1): by hand, 1 at c = 1/a alone."""
    problem = random_problem(3, 1, seed=seed, discount="1/2")
    found, a = efficiency(problem, TD()), mean_dynamics(problem, TD()).A[0]
    times = R(times.numerator, times.denominator)
    if not mean_dynamics(problem, TD()).is_stable() or not found.variance:
        return
    assert found.excess(times / a) == times**2 / (2 * times - 1)
    assert (found.excess(times / a) == 1) == (times == 1)
    assert found.averaging_pays_after(times) == 2 / (a * times)


def test_two_eigenvalues_leave_every_schedule_behind():
    """Equality asks that A is 1/c where there is noise; and it is there that A is a multiple of I."""
    problem = random_problem(3, 2, seed=3, discount="1/2")
    found, A = efficiency(problem, TD()), mean_dynamics(problem, TD()).A
    assert found.noise_covariance.det() > 0
    grid = [c for c in range(1, 60) if c > 1 / (2 * least(A))]
    assert min(found.excess(c) for c in grid) > 1
    mdp = otd.MDP.from_transitions(
        [(s, "a", t, "1/2", s + 2 * t) for s in range(2) for t in range(2)]
    )
    tabular = otd.PolicyEvaluation(mdp, target=otd.Policy.uniform(mdp), discount=0)
    assert sp.eye(2) / 2 == mean_dynamics(tabular, TD()).A
    flat = efficiency(tabular, TD())
    assert flat.excess_covariance(2) == sp.zeros(2, 2)
    assert flat.excess(2) == 1 < flat.excess(3)


def test_floats_and_symbols_agree_with_rationals():
    exact = efficiency(random_problem(3, 2, seed=3, discount="1/2"), TD(lam="1/2"))
    floats = efficiency(exact.problem.replace(arithmetic="float"), TD(lam="1/2"))
    assert floats.excess(20) == pytest.approx(float(exact.excess(20)), rel=1e-9)
    assert floats.averaging_pays_after(0.01) == pytest.approx(
        float(exact.averaging_pays_after("1/100")), rel=1e-9
    )
    formula = efficiency(two_state("1/2", reward="r"), TD(lam="1/2")).excess(9)
    value = efficiency(two_state("1/2", reward=3), TD(lam="1/2")).excess(9)
    assert sp.sympify(formula).subs("r", 3) == value > 1


def test_the_crossing_is_that_of_the_stationary_covariance():
    """alpha S, as the limit of the exact covariance of a constant step size, meets averaged / t there."""
    problem = random_problem(3, 1, seed=1, discount="1/2")
    alpha = sp.Symbol("alpha")
    found = efficiency(problem, TD())
    kept = otd.stationary_moments(problem, TD(alpha)).covariance[0][0]
    slope = sp.cancel(kept / alpha).subs(alpha, 0)
    for size in (R(1, 50), R(1, 7)):
        crossing = found.averaging_pays_after(size)
        assert found.averaged[0] / crossing == size * slope
        assert found.distance(2) * 2 / crossing == problem.C[0] * size * slope


def test_bad_input():
    problem = random_problem(3, 2, seed=3, discount="1/2")
    found = efficiency(problem, TD())
    floats = efficiency(problem.replace(arithmetic="float"), TD())
    for asked, alpha in ((found, 0), (found, "-1/2"), (floats, -0.5), (floats, 0.0)):
        with pytest.raises(InputError, match=r"alpha is .*; expected a positive number"):
            asked.averaging_pays_after(alpha)
    with pytest.raises(MathematicalError, match="Use a larger c"):
        found.excess("1/1000")
    with pytest.raises(KindError, match="has no step size"):
        efficiency(problem, otd.LSTD()).excess(5)
    with pytest.raises(KindError, match="has no step size"):
        efficiency(problem, otd.LSTD()).averaging_pays_after(1)
    silent = efficiency(two_state(reward=1), SETD())
    with pytest.raises(UndefinedError, match="no variance here"):
        silent.excess(5)
    with pytest.raises(MathematicalError, match="TD is unstable here"):
        efficiency(two_state(reward=1), TD()).excess(5)
