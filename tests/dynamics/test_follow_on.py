import numpy as np
import pytest
import sympy as sp

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.domains import random_problem, two_state
from obliquetd.dynamics import follow_on_second_moment, second_moment_is_finite
from obliquetd.dynamics.follow_on import second_moment_kernel
from obliquetd.errors import InputError, SignUndecidedError, UndefinedError


@pytest.mark.parametrize("discount", ["1/4", "1/2", "7/10", "71/100", "9/10"])
def test_two_states_are_finite_exactly_below_one_over_root_two(discount):
    finite = sp.Rational(discount) < 1 / sp.sqrt(2)
    assert second_moment_is_finite(two_state(discount=discount)) == bool(finite)


@pytest.mark.parametrize("seed", range(8))
def test_the_exact_decision_agrees_with_the_spectral_radius(seed):
    for discount in ("3/10", "6/10", "9/10"):
        problem = random_problem(3, 1, seed=seed, discount=discount)
        radius = np.abs(
            np.linalg.eigvals(np.array(second_moment_kernel(problem), dtype=float))
        ).max()
        assert second_moment_is_finite(problem) == (radius < 1)


def test_the_second_moment_is_the_limit_of_its_recursion():
    """q <- xi + 2 P_gamma' m + K' q and m <- xi + P_gamma' m, from F_0 = 1."""
    problem = random_problem(3, 1, seed=1, discount="1/2")
    K = np.array(second_moment_kernel(problem), dtype=float)
    P = np.array(sp.eye(3) - problem.L_pi, dtype=float)
    xi = np.array(problem.xi, dtype=float).ravel()
    m, q = xi.copy(), xi.copy()
    for _ in range(400):
        q = xi + 2 * P.T @ m + K.T @ q
        m = xi + P.T @ m
    exact = np.array(follow_on_second_moment(problem), dtype=float).ravel()
    assert exact == pytest.approx(q / xi)
    floats = PolicyEvaluation(
        problem.mdp,
        target=problem.target,
        behavior=problem.behavior,
        features=[1.0, 2.0, 3.0],
        discount=0.5,
    )
    assert follow_on_second_moment(floats) == pytest.approx(exact)


def test_undecided_and_unvisited():
    with pytest.raises(SignUndecidedError, match="gamma"):
        second_moment_is_finite(two_state(discount="gamma"))
    mdp = MDP.from_transitions([("t", "a", "s", 1, 0), ("s", "a", "s", 1, 0)])
    with pytest.raises(UndefinedError, match="'t'"):
        follow_on_second_moment(PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2"))


def test_weights_that_are_not_stationary_are_refused_and_the_advice_works():
    base = two_state(discount="1/2")
    fields = {
        "target": base.target,
        "behavior": base.behavior,
        "features": base.Phi,
        "discount": "1/2",
    }
    with pytest.raises(InputError, match=r"not stationary\. Leave xi out"):
        follow_on_second_moment(PolicyEvaluation(base.mdp, xi=["1/10", "9/10"], **fields))
    free = PolicyEvaluation(base.mdp, **fields)
    assert list(follow_on_second_moment(free)) == [1, 11]


def test_both_are_public():
    import obliquetd as otd

    assert otd.follow_on_second_moment is follow_on_second_moment
    assert otd.second_moment_is_finite(two_state(discount="1/2"))
