"""BRM: what one sample minimises and what two do, from a model and from logs."""

import pytest
import sympy as sp
from hypothesis import given, settings

import obliquetd as otd
from obliquetd import BRM, LoggedData, replay
from obliquetd.errors import FeatureError, InputError, SingularError
from obliquetd.learners import DoubleSampledResidualGradient, ResidualGradient
from tests.estimators.logs import PLACE, R, every_transition, logs, problems, rows_of, transitions

FEW = settings(max_examples=15)


@FEW
@given(problems())
def test_one_sample_has_the_naive_residual_gradients_fixed_point_and_two_the_true_one(problem):
    one = otd.mean_dynamics(problem, ResidualGradient())
    if one.A.det() != 0:
        assert problem.fixed_point(BRM()).theta == one.fixed_point()
    assert problem.fixed_point(BRM(2)).theta == problem.fixed_point("rg").theta
    two = otd.mean_dynamics(problem, DoubleSampledResidualGradient())
    assert problem.fixed_point(BRM(2)).theta == two.fixed_point()
    assert problem.fixed_point(BRM(2, rho="target")).theta == two.fixed_point()


@FEW
@given(problems(), PLACE)
def test_one_sample_is_biased_by_the_variance_of_the_error(problem, place):
    """Its A less that of two samples is the expected conditional covariance of Delta: never negative."""
    log, chances = every_transition(problem)
    try:
        found = replay(log, BRM(rho=place), weights=chances)
    except SingularError:
        return
    assert found.theta == problem.fixed_point(BRM(rho=place)).theta
    L = problem.L_pi * problem.Phi
    assert (found.A - L.T * problem.Xi * L).is_positive_semidefinite


@FEW
@given(problems(deterministic=True, on_policy=True))
def test_without_chance_one_sample_is_as_good_as_two(problem):
    assert problem.fixed_point(BRM(1)).theta == problem.fixed_point(BRM(2)).theta


def test_the_bias_of_one_sample_by_hand():
    """From each state a coin decides between values 1 and 2 of the feature; discount 1/2, rewards 1, 0.

    Delta is 1 - 1/2, 1 - 1, 2 - 1/2 or 2 - 1: A = (1/4 + 0 + 9/4 + 1)/4, b = (1/2 + 0)/4. Their means
    in each state are 1/4 and 5/4: A = (1/16 + 25/16)/2, b = (1/4)/2.
    """
    coin = [["1/2", "1/2"], ["1/2", "1/2"]]
    problem = otd.PolicyEvaluation.from_chain(coin, [1, 0], discount="1/2", features=[[1], [2]])
    assert problem.fixed_point(BRM(1)).theta[0] == R(1, 2) / R(7, 2) == R(1, 7)
    assert problem.fixed_point(BRM(2)).theta[0] == R(1, 4) / R(26, 16) == R(2, 13)


@FEW
@given(problems(), PLACE)
def test_all_pairs_of_transitions_weighted_by_their_chance_give_the_residual_gradients(
    problem, place
):
    rows = list(transitions(problem))
    phi = problem.Phi.tolist()
    pairs = [(u, v, u[5] * v[5] / problem.xi[u[0]]) for u in rows for v in rows if u[0] == v[0]]

    def side(k):
        each = [pair[k] for pair in pairs]
        return LoggedData(
            [phi[t[0]] for t in each], [phi[t[1]] for t in each], [t[2] for t in each],
            [t[3] for t in each], rho=[t[4] for t in each], first=[True] * len(each),
        )  # fmt: skip

    found = replay(side(0), BRM(2, rho=place), weights=[w for *_, w in pairs], twin=side(1))
    L = problem.L_pi * problem.Phi
    assert L.T * problem.Xi * L == found.A
    assert found.theta == problem.fixed_point("rg").theta


@FEW
@given(logs(), PLACE)
def test_one_sample_on_a_log_minimises_the_squared_error(log, place):
    theta = sp.symbols("x:2")
    total = 0
    for phi, after, r, g, rho, _ in rows_of(log):
        v, ahead = (phi.T * sp.Matrix(theta))[0], (after.T * sp.Matrix(theta))[0]
        if place == "error":
            total += rho * (r + g * ahead - v) ** 2
        else:
            total += (rho * (r + g * ahead) - v) ** 2
    try:
        found = replay(log, BRM(rho=place))
    except SingularError:
        return
    slopes = [sp.diff(total, x).subs(dict(zip(theta, found.theta, strict=True))) for x in theta]
    assert slopes == [0, 0]


def test_bad_input():
    log = LoggedData([[1], [2]], [[2], [1]], [1, 0], "1/2")
    with pytest.raises(InputError, match="expected 1 or 2"):
        BRM(3)
    with pytest.raises(InputError, match="pass twin="):
        replay(log, BRM(2))
    with pytest.raises(InputError, match="leave it out"):
        replay(log, BRM(), twin=log)
    with pytest.raises(FeatureError, match="1 rows of 1 features"):
        replay(log, BRM(2), twin=LoggedData([[1]], [[2]], [1], "1/2"))
    with pytest.raises(InputError, match=r"phi\[1\] of the twin"):
        replay(log, BRM(2), twin=LoggedData([[1], [3]], [[3], [1]], [1, 0], "1/2"))
    with pytest.raises(InputError, match="expected LoggedData"):
        replay(log, BRM(2), twin=[1])
    assert replay(log, BRM(2), twin=log).theta == replay(log, BRM()).theta
