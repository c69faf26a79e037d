import numpy as np
import pytest
import scipy.sparse as sparse
import sympy as sp

from obliquetd.domains import baird_star, boyan_chain, random_problem, two_state
from obliquetd.experiments.measure import ErrorMeasure

PROBLEMS = {
    "full rank": random_problem(5, 3, seed=1),
    "more features than rank": baird_star(),
    "tabular": random_problem(4, 4, seed=2, on_policy=True),
    "boyan": boyan_chain(),
    "one feature": two_state(reward=1),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_errors_are_those_of_the_problem(name):
    """The formulas on a basis of the rows, against the problem's own metrics, exact."""
    problem = PROBLEMS[name]
    rng = np.random.default_rng(0)
    weights = rng.integers(-5, 6, size=(6, problem.Phi.shape[1]))
    rmse, rmspbe = ErrorMeasure.of(problem)(weights.astype(float))
    for k, theta in enumerate(weights.tolist()):
        assert np.isclose(rmse[k], float(problem.rmse(problem.Phi * sp.Matrix(theta))), rtol=1e-9)
        assert np.isclose(
            rmspbe[k], float(problem.rmspbe(problem.Phi * sp.Matrix(theta))), rtol=1e-9, atol=1e-12
        )


def test_no_error_at_the_fixed_point_and_the_least_at_the_best():
    problem = PROBLEMS["full rank"]
    measure = ErrorMeasure.of(problem)
    theta = {m: np.array(problem.fixed_point(m).theta, dtype=float).T for m in ("td", "best")}
    assert measure(theta["td"])[1][0] < 1e-12
    assert np.isclose(measure(theta["best"])[0][0] ** 2, measure.floor)
    near = theta["best"] + 1e-3
    assert measure(near)[0][0] > measure(theta["best"])[0][0]


@pytest.mark.parametrize(("states", "features"), [(4, 9), (9, 4), (6, 6)])
def test_a_model_is_measured_as_by_its_A_and_b(states, features):
    """Without A, on features of every shape whose rank is below both of their sizes."""
    exact = random_problem(states, 2, seed=states)
    rng = np.random.default_rng(features)
    problem = exact.replace(
        features=rng.normal(size=(states, 3)) @ rng.normal(size=(3, features)), arithmetic="float"
    )
    Phi, Lambda, xi, r, v = (
        np.array(x, dtype=float)
        for x in (problem.Phi, problem.Lambda, problem.xi, problem.r_pi, problem.v_pi)
    )
    A, b = Phi.T @ (xi[:, None] * Lambda), Phi.T @ (xi * r)
    record = rng.normal(size=(5, features))
    found, by_A = ErrorMeasure.of(problem), ErrorMeasure.from_arrays(Phi, xi, v, A, b)
    assert found.maps[1].shape == (3, features)
    np.testing.assert_allclose(found(record), by_A(record), rtol=1e-9)


@pytest.mark.parametrize(("states", "alike"), [(12, 0), (15, 5), (40, 0), (70, 0)])
def test_sparse_features_are_measured_as_dense_ones(states, alike):
    """12 states have independent rows of 30 features; of 40 ten depend on others, and of 70 too many."""
    rng = np.random.default_rng(states)
    Phi = np.where(rng.random((states, 30)) < 0.2, rng.normal(size=(states, 30)), 0)
    Phi[:, 0] += 1
    Phi[states - alike :] = Phi[:alike]
    xi = rng.random(states)
    xi[3] = 0
    xi /= xi.sum()
    P = rng.dirichlet(np.ones(states), size=states)
    r, v = rng.normal(size=(2, states))
    Lambda = Phi - 0.9 * P @ Phi
    A, b = Phi.T @ (xi[:, None] * Lambda), Phi.T @ (xi * r)
    dense = ErrorMeasure.from_arrays(Phi, xi, v, A, b)
    kept = ErrorMeasure.of_sparse(sparse.csr_array(Phi), sparse.csr_array(Lambda), xi, r, v)
    assert (kept is None) == (states > 45)
    if kept is not None:
        record = rng.normal(size=(7, 30)) * 10.0 ** rng.integers(-3, 4, size=(7, 1))
        for found, wanted in zip(kept(record), dense(record), strict=True):
            assert np.allclose(found, wanted, rtol=1e-9)


def test_rows_that_are_dependent_but_for_rounding_are_not_taken_for_independent():
    Phi = np.array([[1.0, 0, 1], [1, 1e-7, 1]])
    Lambda = Phi / 2
    found = ErrorMeasure.of_sparse(
        *(sparse.csr_array(m) for m in (Phi, Lambda)), np.ones(2) / 2, np.ones(2), np.ones(2)
    )
    assert found is None


def test_tiles_whose_rows_depend_are_measured_without_a_dense_matrix():
    """Rows of tilings depend on one another where the tilings add up to one function."""
    rng = np.random.default_rng(0)
    states, columns = 60, 400
    Phi = np.zeros((states, columns))
    for first in (0, 200):
        Phi[np.arange(states), first + rng.integers(25, size=states)] = 1
    xi = rng.dirichlet(np.ones(states))
    P = rng.dirichlet(np.ones(states), size=states)
    r, v = rng.normal(size=(2, states))
    Lambda = Phi - 0.9 * P @ Phi
    kept = ErrorMeasure.of_sparse(sparse.csr_array(Phi), sparse.csr_array(Lambda), xi, r, v)
    assert kept.beyond.shape[1] > 5
    A, b = Phi.T @ (xi[:, None] * Lambda), Phi.T @ (xi * r)
    dense = ErrorMeasure.from_arrays(Phi, xi, v, A, b)
    record = rng.normal(size=(7, columns)) * 10.0 ** rng.integers(-3, 4, size=(7, 1))
    record[-1] = np.linalg.lstsq(A, b, rcond=None)[0]
    value, projected = kept(record)
    wanted, at = dense(record)
    assert value == pytest.approx(wanted, rel=1e-9)
    assert projected[:-1] == pytest.approx(at[:-1], rel=1e-9)
    assert projected[-1] < 1e-12
