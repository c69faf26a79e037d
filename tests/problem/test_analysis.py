"""The projection as an object, against numpy's singular values, and the reward that attains the bound."""

import numpy as np
import pytest
import sympy as sp

from obliquetd import projection_analysis
from obliquetd.domains import random_problem, two_state
from obliquetd.errors import InputError, KindError, UndefinedError
from obliquetd.learners import TD

NAMES = ("td", "rg", "setd", "etd", "best")


def floats(x):
    return np.array(x, dtype=float)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_against_singular_values(name, d):
    """||Q|| = ||Xi^1/2 Q Xi^-1/2||_2, and Q v is v_hat."""
    problem = random_problem(4, d, seed=7)
    found = projection_analysis(problem, name)
    assert found.Q * problem.v_pi == found.point.v_hat
    assert found.Q * found.Q == found.Q
    root = np.sqrt(floats(problem.xi).ravel())
    expected = np.linalg.norm(root[:, None] * floats(found.Q) / root, 2)
    assert float(found.norm) == pytest.approx(expected)
    assert 1 / np.cos(float(found.weighted_angles[0])) == pytest.approx(expected)
    assert float(found.error) <= float(found.bound) * (1 + 1e-12)
    assert float(found.best_error) == pytest.approx(float(problem.fixed_point("best").rmse))
    if name == "best":
        assert found.norm == 1
        assert found.angles == [0] * d


@pytest.mark.parametrize("kind", ["exact", "float"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_worst_reward_attains_the_bound(d, kind):
    problem = random_problem(4, d, seed=7)
    if kind == "float":
        problem = problem.replace(arithmetic="float")
    found = projection_analysis(problem, "td")
    r = floats(found.worst_reward).ravel()
    v = np.linalg.solve(floats(problem.L_pi), r)
    xi, Phi = floats(problem.xi).ravel(), floats(problem.Phi)
    best = Phi @ np.linalg.solve(Phi.T @ (xi[:, None] * Phi), Phi.T @ (xi * v))
    error, least = (np.sqrt(xi @ (x - v) ** 2) for x in (floats(found.Q) @ v, best))
    assert error == pytest.approx(float(found.norm) * least)
    assert least > 0
    if kind == "exact" and d < 3:
        assert all(x.is_algebraic for x in found.worst_reward)


def test_two_states_by_hand():
    """Phi = (1, 2), Y = L'Xi Phi = (1/2 (1 - 2 g'), ...): the error 5 sqrt(298)/4 lies below the bound."""
    problem = two_state(reward=1)
    found = projection_analysis(problem, "td")
    assert found.norm == sp.sqrt(745) / 4
    assert found.bound == sp.sqrt(745) / 4 * problem.fixed_point("best").rmse
    (angle,) = found.angles
    assert angle == problem.fixed_point("td").angle


def test_floats_have_the_angles_of_rationals():
    exact = random_problem(4, 2, seed=7)
    a, b = (projection_analysis(p, "etd") for p in (exact, exact.replace(arithmetic="float")))
    assert b.angles == pytest.approx([float(x) for x in a.angles])
    assert b.weighted_angles == pytest.approx([float(x) for x in a.weighted_angles])
    assert b.norm == pytest.approx(float(a.norm))


def test_a_formula():
    found = projection_analysis(two_state("gamma", reward=1), "td")
    value = projection_analysis(two_state("1/2", reward=1), "td")
    assert sp.simplify(found.norm.subs("gamma", "1/2") - value.norm) == 0
    with pytest.raises(KindError, match="substitute"):
        _ = found.worst_reward


def test_bad_input():
    problem = random_problem(3, 1, seed=1)
    with pytest.raises(InputError, match="no fixed point is called 'lstd'"):
        projection_analysis(problem, "lstd")
    with pytest.raises(UndefinedError, match="not from a matrix X"):
        projection_analysis(problem, TD())
    with pytest.raises(UndefinedError, match="weight zero"):
        projection_analysis(problem.replace(xi=[1, 0, 1]), "td")


def test_everything_is_spanned():
    found = projection_analysis(two_state(reward=1).replace(features=None), "td")
    assert found.norm == 1
    assert found.error == found.bound == 0
