"""SETD with symbols, against the same problem with numbers in their place."""

import pytest
import sympy as sp

from obliquetd import SETD, Policy, compare, mean_dynamics
from obliquetd.domains import random_problem, random_walk, two_state
from obliquetd.dynamics.cases import dynamics_cases
from obliquetd.dynamics.plane import plane_of
from obliquetd.dynamics.regions import stability_map
from obliquetd.errors import KindError
from obliquetd.problem.piecewise import PiecewiseFixedPoint

R = sp.Rational
UNIT = ((0, 1), (0, 1))


def two_symbols():
    rows = {s: {"left": "1 - p", "right": "p"} for s in ("left", "right")}
    return two_state("gamma", reward=1).replace(behavior=Policy(rows))


PROBLEMS = {
    "one": (
        two_state("gamma", reward="r").subs({"r": 1}),
        [{"gamma": R(1, 3)}, {"gamma": R(9, 10)}],
    ),
    "two": (two_symbols(), [{"gamma": R(1, 5), "p": R(1, 7)}, {"gamma": R(4, 5), "p": R(2, 3)}]),
    "random": (
        random_problem(3, 2, seed=5, discount="gamma"),
        [{"gamma": R(k, 11)} for k in (1, 4, 7, 10)],
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_each_quantity_is_that_of_the_numbers(name):
    problem, places = PROBLEMS[name]
    point = problem.fixed_point("setd")
    for at in places:
        there = problem.subs(at).fixed_point("setd")
        assert sp.simplify(point.theta.subs(at) - there.theta).is_zero_matrix
        for quantity in ("rmse", "rmspbe", "criterion", "distance"):
            assert sp.simplify(getattr(point, quantity).subs(at) - getattr(there, quantity)) == 0


@pytest.mark.parametrize("name", PROBLEMS)
def test_each_case_is_the_learner_of_the_numbers(name):
    problem, places = PROBLEMS[name]
    cases = dynamics_cases(problem, SETD())
    for at in places:
        there = mean_dynamics(problem.subs(at), SETD())
        (here,) = [c.value for c in cases if c.condition.subs(at) == sp.true]
        assert here.A.subs(at) == there.A
        if here.stability.everywhere:
            assert here.stability.verdict == there.stability.verdict


def test_it_is_written_as_cases():
    point = two_state("gamma", reward=1).fixed_point("setd")
    assert isinstance(point, PiecewiseFixedPoint)
    text = point.to_latex()
    assert r"\theta &= \begin{cases} \begin{bmatrix}" in text
    assert r"\text{where } 0 \leq \gamma < \frac{1}{2}" in text
    assert point.theta.subs("gamma", R(1, 2))[0] is sp.nan  # omega is 0/0 there
    row = compare(two_state("gamma", reward=1))["setd"]
    assert not row.errors
    with pytest.raises(KindError, match="use mean_dynamics"):
        dynamics_cases(two_state(), SETD())


def test_the_plane_of_setd_is_that_of_the_numbers():
    problem = two_symbols()
    found = stability_map(problem, SETD(), ("gamma", "p"), UNIT, resolution=3)
    plane = plane_of(found, UNIT)
    assert plane.verdicts == {True}
    for i, a in enumerate(found.first):
        for j, b in enumerate(found.second):
            if a != R(1, 2):
                there = mean_dynamics(problem.subs({"gamma": a, "p": b}), SETD())
                assert found.stable[i][j] == there.is_stable()


def test_a_float_is_called_zero_where_rounding_covers_it_alone():
    exact, floats = random_walk(), random_walk().replace(arithmetic="float")
    for row in compare(floats):
        for key in ("rmse", "rmspbe", "criterion", "distance", "angle"):
            value = compare(exact, [row.name])[row.name].quantities[key]
            assert row.is_rounding(key) or (row.quantities[key] == 0) == (value == 0)
            assert not (row.is_rounding(key) and value != 0)
    few = two_state(reward=1).replace(arithmetic="float")
    assert not any(row.is_rounding("rmse") for row in compare(few, ["td", "etd"]))
    assert "0 (to rounding)" in str(compare(floats))
