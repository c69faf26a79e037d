"""The Omega families by what defines them: each is a minimiser, so every neighbour is worse."""

import warnings

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.domains import random_problem, two_state
from obliquetd.errors import PrecisionWarning, SignUndecidedError, UndefinedError
from tests.strategies import problems

gamma = sp.Symbol("gamma")
evaluations = problems(most_states=4)


def criterion(problem, omega):
    X = problem.Xi * sp.diag(*omega) * problem.Phi
    return sum(x**2 for x in problem.Lambda.T * X - problem.C)


def distance(problem, omega):
    return sum(x**2 for x in problem.Xi * sp.diag(*omega) * problem.Phi - problem.X_star)


@given(evaluations)
def test_omega_star_is_nearest_to_x_star(problem):
    best = list(problem.Omega_star.diagonal())
    for i in range(len(best)):
        for step in (1, -1):
            moved = [w + step * (i == j) for j, w in enumerate(best)]
            assert distance(problem, moved) >= distance(problem, best)


@given(evaluations)
def test_omega_s_minimises_each_states_own_objective_over_nonnegative_weights(problem):
    try:
        weights = problem.Omega_S
    except UndefinedError as error:
        for s in map(problem.states.index, error.states):
            assert problem.Lambda[s, :].is_zero_matrix
            assert not problem.Phi[s, :].is_zero_matrix
        return
    for s, xi in enumerate(problem.xi):
        phi, delta, w = problem.Phi[s, :], problem.Lambda[s, :], weights[s, s]
        if phi.is_zero_matrix or not xi:
            continue

        def objective(x, phi=phi, delta=delta):
            return sum(y**2 for y in x * delta - phi)

        assert w >= 0
        for x in (w + sp.Rational(1, 7), w - sp.Rational(1, 7), 0, 1):
            assert x < 0 or objective(x) >= objective(w)


@given(evaluations)
def test_batch_minimizers_are_all_the_minimizers(problem):
    n = len(problem.states)
    found = problem.batch_minimizers()
    omega, null = list(found.omega), found.null_space
    assert criterion(problem, omega) == found.objective
    gradient_free = [
        criterion(problem, [w + h * (i == j) for j, w in enumerate(omega)])
        for i in range(n)
        for h in (1, -1)
    ]
    assert min(gradient_free) >= found.objective
    for k in range(null.cols):
        along = [w + 3 * v for w, v in zip(omega, null[:, k], strict=True)]
        assert criterion(problem, along) == found.objective
        assert sum(w * v for w, v in zip(omega, null[:, k], strict=True)) == 0  # least norm
    assert found.unique == (null.cols == 0)
    assert list(problem.Omega_S_batch.diagonal()) == omega
    exact = np.array(found.omega, dtype=float).ravel()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)  # equal features: few digits, and said so
        floats = problem.replace(features=np.array(problem.Phi, dtype=float)).batch_minimizers()
    assert floats.objective == pytest.approx(
        float(found.objective), abs=1e-6 * (1 + float(found.objective))
    )
    if floats.null_space.shape[1] == null.cols and found.unique:
        assert np.allclose(floats.omega.ravel(), exact, rtol=1e-4, atol=1e-4 * np.abs(exact).max())


@given(evaluations)
def test_nonnegative_batch_minimizer_meets_the_optimality_conditions(problem):
    """Karush-Kuhn-Tucker: omega >= 0, gradient >= 0, and one of the two is 0; the problem is convex."""
    n = len(problem.states)
    found = problem.batch_minimizers(nonnegative=True)
    omega = list(found.omega)
    w = sp.symbols(f"w0:{n}")
    at = dict(zip(w, omega, strict=True))
    gradient = [sp.diff(criterion(problem, w), x).subs(at) for x in w]
    assert all(x >= 0 for x in omega)
    assert all(g >= 0 for g in gradient)
    assert all(x * g == 0 for x, g in zip(omega, gradient, strict=True))
    assert found.objective == criterion(problem, omega)
    assert found.objective >= problem.batch_minimizers().objective


def test_omega_e_is_the_limit_of_the_follow_on_trace():
    problem = random_problem(3, 2, seed=4)
    m = sp.zeros(3, 1)
    for _ in range(400):  # xi m = xi + gamma P' (xi m), from zero
        m = (
            problem.Xi.inv() * (problem.xi + sp.Rational(9, 10) * problem.P_pi.T * problem.Xi * m)
        ).evalf(30)
    assert all(abs(a - b) < 1e-12 for a, b in zip(m, problem.Omega_E.diagonal(), strict=True))


@given(evaluations, st.fractions(0, 1).filter(lambda g: 0 < g < 1))
def test_cells_give_omega_s_at_every_discount(problem, discount):
    symbolic = problem.replace(discount=gamma)
    value = sp.Rational(discount.numerator, discount.denominator)
    numeric = symbolic.subs({gamma: value})
    try:
        cells = symbolic.omega_cells()
    except UndefinedError:
        with pytest.raises(UndefinedError):
            _ = symbolic.Omega_S
        return
    except SignUndecidedError:
        assert not symbolic.Omega_S.has(sp.Max)
        return
    inside = [c for c in cells if value in c.domain]
    ends = {e for c in cells for e in (c.domain.inf, c.domain.sup)}
    assert len(inside) == 1 or value in ends
    for cell in inside:
        assert cell.Omega.subs(gamma, value) == numeric.Omega_S
    assert sum(c.domain.measure for c in cells) == 1


def test_cells_of_the_two_state_example():
    problem = two_state(discount=gamma, reward=1)
    low, high = problem.omega_cells()
    assert low.domain == sp.Interval.Ropen(0, sp.Rational(1, 2))
    assert high.domain == sp.Interval.open(sp.Rational(1, 2), 1)
    assert high.zero_states == ("left",)
    point = problem.fixed_point("setd")
    for cell, case in zip((low, high), point.cases, strict=True):
        assert case.value.theta == problem.fixed_point(Omega=cell.Omega).theta
    theta = problem.fixed_point(Omega=high.Omega).theta[0]
    assert theta.subs(gamma, sp.Rational(9, 10)) == 5


def test_undefined_weights_name_the_state_unless_nothing_depends_on_them():
    with pytest.raises(UndefinedError, match="'left'"):
        _ = two_state(discount="1/2").Omega_S
    mdp = MDP.from_transitions([("s", "a", "t", 1, 1), ("t", "a", "s", 1, 0)])
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features={"s": [0], "t": [1]}, discount="1/2"
    )
    assert problem.Omega_S[0, 0] == 0  # phi = 0: its row of X is zero whatever omega


def test_a_sign_that_depends_on_two_symbols_is_undecided():
    mdp = MDP.from_transitions([("s", "a", "t", 1, 1), ("t", "a", "s", 1, 0)])
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features={"s": [1], "t": ["b"]}, discount="g"
    )
    assert problem.Omega_S.has(sp.Max)
    with pytest.raises(SignUndecidedError, match=r"\[b, g\]"):
        problem.omega_cells()
