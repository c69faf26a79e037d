"""Comparisons and fixed points of all that a user may name: keys, learners, X, Omega, labels."""

import numpy as np
import pytest
import sympy as sp

import obliquetd as otd
from obliquetd import ETD, GTD2, SETD, TD, TDC
from obliquetd.domains import baird_star, random_problem, two_state
from obliquetd.errors import InputError, NotUniqueError, UndefinedError
from obliquetd.problem.weightings import METHODS, WEIGHTINGS


@pytest.fixture
def problem():
    return random_problem(4, 2, seed=3)


@pytest.mark.parametrize("name", METHODS)
def test_a_name_is_its_matrix(problem, name):
    X = WEIGHTINGS[name](problem.native).public()
    assert problem.fixed_point(name).theta == problem.fixed_point(X=X).theta
    assert problem.fixed_point(X).theta == problem.fixed_point(name).theta


@pytest.mark.parametrize("name", ["Omega_S", "Omega_E", "Omega_star"])
def test_diagonal_weights_in_every_form_are_the_same(problem, name):
    Omega = getattr(problem, name)
    column = list(Omega.diagonal())
    named = dict(zip(problem.states, column, strict=True))
    wanted = problem.fixed_point(Omega=Omega).theta
    assert all(problem.fixed_point(given).theta == wanted for given in (Omega, column, named))


@pytest.mark.parametrize(
    "learner", [TD(), ETD(), GTD2(), TDC(mu=2), TD(lam="1/2"), SETD()], ids=str
)
def test_a_learner_is_where_its_mean_update_leads(problem, learner):
    point = problem.fixed_point(learner)
    assert point.theta == otd.mean_dynamics(problem, learner).fixed_point()
    assert point.name == learner.label
    assert point.rmse == problem.rmse(point.v_hat)


@pytest.mark.parametrize(("learner", "name"), [(TD(), "td"), (ETD(), "etd"), (GTD2(), "td")])
def test_learners_agree_with_the_formulas(problem, learner, name):
    table = otd.compare(problem, {"rule": learner, "formula": name})
    assert table["rule"].theta == table["formula"].theta
    assert table["rule"].quantities["rmse"] == table["formula"].quantities["rmse"]


def test_all_kinds_stand_in_one_list(problem):
    point = problem.fixed_point("best")
    X = sp.Matrix([[1, 2], [3, 5], [0, 1], [1, 1]])
    table = otd.compare(problem, ["td", TD(lam="1/2"), X, [1, 2, 3, 4], point])
    assert [row.name for row in table] == ["td", TD(lam="1/2").label, "X", "Omega", "best"]
    assert table["X"].theta == problem.fixed_point(X=X).theta
    assert table["Omega"].theta == problem.fixed_point(Omega=[1, 2, 3, 4]).theta


def test_what_depends_on_X_is_left_out_for_a_learner_and_said(problem):
    row = otd.compare(problem, [TD()])["TD"]
    assert set(row.quantities) == {"rmse", "rmspbe"}
    without = {"criterion", "distance", "angle", "worst_case"}
    assert all(isinstance(row.errors[key], UndefinedError) for key in without)
    assert row.X is None


def test_floats(problem):
    floats = problem.replace(arithmetic="float")
    table = otd.compare(floats, {"td": TD(), "mine": np.diag([1.0, 2.0, 3.0, 4.0])})
    exact = otd.compare(problem, {"td": TD(), "mine": [1, 2, 3, 4]})
    for row in table:
        np.testing.assert_allclose(row.theta, np.array(exact[row.name].theta, float).ravel())


def test_a_symbol_of_the_learner():
    point = two_state(reward=1).fixed_point(TD(lam="l"))
    assert point.theta[0].subs({"l": 0}) == two_state(reward=1).fixed_point(TD()).theta[0]


def test_a_learner_without_a_fixed_point_is_a_row_with_the_reason():
    table = otd.compare(two_state(discount="5/6", reward=1), [TD(), "setd"])
    assert "fixed point" in table["TD"].errors
    assert "rmse" in table["setd"].quantities


def test_directions_that_the_learner_leaves_open():
    point = baird_star().fixed_point(TD())
    assert not point.is_unique
    Phi, null = baird_star().Phi, point.null_space
    assert Phi * null == sp.zeros(Phi.rows, null.cols)


@pytest.mark.parametrize("given", [[1, 3], [[1], [3]], sp.Matrix([1, 3])])
def test_a_vector_of_a_problem_with_one_feature_may_be_either(given):
    problem = two_state()
    with pytest.raises(InputError, match="both an X and"):
        problem.fixed_point(given)
    points = {"X": problem.fixed_point(X=given), "Omega": problem.fixed_point(Omega=given)}
    assert [row.name for row in otd.compare(problem, points)] == ["X", "Omega"]  # the way out


def test_two_rows_of_one_name_are_refused(problem):
    with pytest.raises(InputError, match="both called 'Omega'"):
        otd.compare(problem, [[1, 2, 3, 4], [4, 3, 2, 1]])
    assert len(otd.compare(problem, {"a": [1, 2, 3, 4], "b": [4, 3, 2, 1]}).methods) == 2


def test_a_fixed_point_of_another_problem_is_refused(problem):
    other = random_problem(4, 2, seed=4).fixed_point("td")
    with pytest.raises(InputError, match="of another problem"):
        otd.compare(problem, {"other": other})


def test_one_name_is_a_list_of_one(problem):
    assert [row.name for row in otd.compare(problem, "td")] == ["td"]


def test_singular_weights_of_the_users_own_are_a_reason(problem):
    row = otd.compare(problem, {"nothing": [0, 0, 0, 0]})["nothing"]
    assert isinstance(row.errors["fixed point"], NotUniqueError)


def test_a_new_line_in_the_table_is_a_new_name(problem, monkeypatch):
    """The README's recipe for a weighting."""
    monkeypatch.setitem(WEIGHTINGS, "own", lambda ops: ops.Phi.scale_rows(ops.f))
    assert problem.fixed_point("own").theta == problem.fixed_point("etd").theta
    assert [row.name for row in otd.compare(problem, ["own", "td"])] == ["own", "td"]


@pytest.mark.parametrize("kind", [TD, TDC, SETD, GTD2])
def test_a_class_is_told_to_be_made_a_learner_and_that_works(kind, problem):
    for ask in (problem.fixed_point, lambda given: otd.compare(problem, [given])):
        with pytest.raises(
            InputError, match=rf"{kind.__name__} is a class.*{kind.__name__}\(\).*td, "
        ):
            ask(kind)
    assert problem.fixed_point(kind()).name == kind().label
    with pytest.raises(InputError, match="dict is a class; give a learner, or one of the names"):
        problem.fixed_point(dict)
