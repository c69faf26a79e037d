"""One name is one quantity on a page, or the page says that it is two."""

import pytest

import obliquetd as otd
from obliquetd.errors import UndefinedError
from obliquetd.problem import METHODS
from obliquetd.report.analysis import analyze

SAID = "setd is two things here"


def said(problem):
    remarks = analyze(problem, METHODS, {"setd": otd.SETD()}).remarks
    return sum(SAID in remark for remark in remarks)


@pytest.mark.parametrize("discount", ["1/2", "1/3", "3/4", 0.75])
@pytest.mark.parametrize("features", [None, [[1], [3]]])
def test_the_omega_of_expectations_and_that_of_each_transition(discount, features):
    problem = otd.domains.two_state(discount, reward=1)
    if features:
        problem = problem.replace(features=features)
    learner = otd.mean_dynamics(problem, otd.SETD()).fixed_point()
    try:
        method = problem.fixed_point("setd").theta
    except UndefinedError:
        assert said(problem) == 1
        return
    expected = otd.mean_dynamics(problem, otd.SETD(omega="expected")).fixed_point()
    assert float(expected[0]) == pytest.approx(float(method[0]))
    assert said(problem) == (abs(float(learner[0]) - float(method[0])) > 1e-12)


def test_nothing_is_said_where_the_two_agree():
    """One successor a state, so that what is expected is what happens."""
    ring = otd.PolicyEvaluation.from_chain(
        [[0, 1], [1, 0]], [1, 0], features=[[1], [3]], discount="1/2"
    )
    assert not said(ring)
