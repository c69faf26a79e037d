"""Limits that all estimators share: tabular values, episodes, number kinds."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings

import obliquetd as otd
from obliquetd import BRM, FPKF, LSETD, LSPE, LSTD, Averager
from obliquetd.domains import baird_star
from obliquetd.errors import EpisodesEndError, InputError, MathematicalError, SingularError
from tests.estimators.logs import HALF, R, problems

FEW = settings(max_examples=10)
TABULAR = [LSTD(), LSTD(HALF), LSTD(1), LSETD(), LSETD(HALF), LSPE(), FPKF(), BRM(2), Averager()]
ONE_EQUATION = [LSTD(), LSTD(HALF), LSETD(), BRM(), BRM(rho="target"), BRM(2), Averager()]


@FEW
@given(problems())
def test_with_one_feature_a_state_all_have_the_values(problem):
    tabular = problem.replace(features=None)
    for estimator in TABULAR:
        try:
            assert tabular.fixed_point(estimator).theta == tabular.v_pi
        except MathematicalError:
            assert isinstance(estimator, LSPE | FPKF)


def episodes(**fields):
    mdp = otd.MDP.from_transitions(
        [("A", "l", "B", "1/2", 1), ("A", "l", "end", "1/2", 0), ("A", "r", "B", 1, 2),
         ("B", "l", "end", 1, 3), ("B", "r", "A", 1, 0)]
    )  # fmt: skip
    target = otd.Policy({"A": {"l": "1/3", "r": "2/3"}, "B": {"l": 1}})
    return otd.PolicyEvaluation(
        mdp, target=target, behavior=otd.Policy.uniform(mdp), discount="9/10", **fields
    )


@pytest.mark.parametrize("estimator", TABULAR, ids=lambda e: e.label)
def test_episodes_that_begin_anew(estimator):
    problem = episodes(start={"A": 1})
    point = problem.fixed_point(estimator)
    assert point.values == dict(zip(problem.states, problem.v_pi, strict=True))
    assert point.undetermined == ("end",)
    with pytest.raises(EpisodesEndError, match="start="):
        episodes().fixed_point(estimator)


@pytest.mark.parametrize("estimator", ONE_EQUATION, ids=lambda e: e.label)
def test_the_number_kinds_agree(estimator):
    features = {"A": ["1/2", 0], "B": ["1/3", "1/3"], "end": [0, 0]}
    exact = episodes(start={"A": 1}, features=features)
    theta = exact.fixed_point(estimator).theta
    symbolic = exact.replace(discount="gamma").fixed_point(estimator).theta
    assert symbolic.subs("gamma", R(9, 10)).applyfunc(sp.simplify) == theta
    floats = exact.replace(arithmetic="float").fixed_point(estimator).theta
    assert np.allclose(floats, np.array(theta, dtype=float).ravel(), rtol=1e-10)


def test_a_symbol_for_lambda():
    problem = episodes(start={"A": 1}, features={"A": [1], "B": [2], "end": [0]})
    for kind in (LSTD, LSETD):
        symbolic = problem.fixed_point(kind("lam")).theta
        for lam in (0, R(1, 3), 1):
            assert symbolic.subs("lam", lam) == problem.fixed_point(kind(lam)).theta


def test_features_that_depend_on_each_other_leave_the_values_alone():
    """Baird's star has 8 features for 7 states: Phi theta is unique and theta is not."""
    star = baird_star()
    for estimator in (LSTD(), LSTD(HALF), BRM(2)):
        point = star.fixed_point(estimator)
        assert list(point.v_hat) == [0] * 7
        assert not point.is_unique


def test_what_no_estimator_determines_is_an_error_with_a_null_vector():
    problem = otd.PolicyEvaluation.from_chain([[0, 1], [1, 0]], [1, 0])
    for estimator in (LSTD(), BRM(2), Averager()):
        with pytest.raises(SingularError) as told:
            problem.fixed_point(estimator)
        assert told.value.null_vector is not None
        assert problem.replace(discount="9/10").fixed_point(estimator).theta is not None


def test_weights_of_ones_own_need_no_trace():
    problem = otd.PolicyEvaluation.from_chain(
        [[0, 1], ["1/2", "1/2"]], [1, 0], discount="1/2", xi=[1, 2], features=[[1], [3]]
    )
    uneven = problem.replace(xi=[1, 1])
    for estimator in (LSTD(HALF), LSETD(), LSPE(1, HALF), FPKF(HALF)):
        assert problem.fixed_point(estimator).is_unique
        with pytest.raises(InputError, match="Leave xi out"):
            uneven.fixed_point(estimator)
        assert uneven.replace(xi=None).fixed_point(estimator).is_unique
    assert uneven.fixed_point(LSTD()).theta == uneven.fixed_point("td").theta
    assert uneven.fixed_point(BRM(2)).theta == uneven.fixed_point("rg").theta
