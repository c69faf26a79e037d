import numpy as np
import pytest
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
