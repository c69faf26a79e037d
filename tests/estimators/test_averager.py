"""Gordon's averager: by hand, as an iteration, and beside state aggregation."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd import Averager, LoggedData, replay
from obliquetd.domains import two_state
from obliquetd.errors import FeatureError, KindError, NotUniqueError
from tests.estimators.logs import HALF, R, every_transition, problems

FEW = settings(max_examples=15)


@st.composite
def averages(draw):
    """A problem whose features are nonnegative and sum to at most 1."""
    problem = draw(problems())
    n, d = problem.Phi.shape
    share = st.integers(0, 3)
    rows = [[draw(share) for _ in range(d)] for _ in range(n)]
    rows = [[R(x + (i % d == j), sum(row) + 1 + draw(st.integers(0, 1))) for j, x in enumerate(row)]
            for i, row in enumerate(rows)]  # fmt: skip
    return problem.replace(features=rows)


def sweep(problem, theta):
    """theta_j becomes the average of the targets, by xi phi_j."""
    target = problem.r_pi + (sp.eye(len(problem.states)) - problem.L_pi) * problem.Phi * theta
    weights = [[x * p for x, p in zip(problem.xi, problem.Phi[:, j], strict=True)]
               for j in range(problem.Phi.shape[1])]  # fmt: skip
    return sp.Matrix(
        [sum(w * y for w, y in zip(row, target, strict=True)) / sum(row) for row in weights]
    )


@FEW
@given(averages())
def test_the_limit_is_the_fixed_point_of_the_sweep_which_contracts(problem):
    fixed = problem.fixed_point(Averager()).theta
    assert sweep(problem, fixed) == fixed
    factor = Averager().contraction(problem)
    assert factor <= problem.discount
    theta, gap = sp.Matrix([7] * len(fixed)), None
    for _ in range(4):
        before, gap = gap, max(abs(x) for x in theta - fixed)
        assert before is None or gap <= factor * before
        theta = sweep(problem, theta)


@FEW
@given(averages())
def test_all_transitions_weighted_by_their_chance_give_the_limit(problem):
    log, chances = every_transition(problem)
    found = replay(log, Averager(), weights=chances)
    assert found.theta == problem.fixed_point(Averager()).theta
    floats = problem.replace(arithmetic="float").fixed_point(Averager()).theta
    assert np.allclose(floats, np.array(found.theta, dtype=float).ravel())


@FEW
@given(problems(), st.lists(st.integers(0, 1), min_size=4, max_size=4))
def test_state_aggregation_has_the_fixed_point_of_td(problem, groups):
    n = len(problem.states)
    place = [groups[i] if i > 1 else i for i in range(n)]
    d = max(place) + 1
    aggregated = problem.replace(features=[[int(p == j) for j in range(d)] for p in place])
    td = aggregated.fixed_point("td").theta
    assert aggregated.fixed_point(Averager()).theta == td


def test_by_hand():
    """theta = the average by 1/2 and 1 of the targets of left and right: 1 and 1 + 9/10 theta... = 10.

    The two-state example (both actions are behaved with 1/2, the target goes right): from either state the
    target is r + 9/10 theta, phi of right being 1, with r = 1 everywhere.
    """
    problem = two_state(reward=1).replace(features=[[HALF], [1]])
    assert list(problem.r_pi) == [1, 1]
    assert problem.fixed_point(Averager()).theta == sp.Matrix([10])
    assert Averager().contraction(problem) == R(9, 10)
    assert otd.mean_dynamics(problem, otd.TD()).stability.verdict == "unstable"


def test_the_averages_of_a_log_by_hand():
    """Ratios 2 and 1 with features 1/2 and 1 weigh the targets by 1 and 1: theta = (3 + 0 + theta/2)/2."""
    log = LoggedData([["1/2"], [1]], [[1], [0]], [3, 0], ["1/2", 0], rho=[2, 1])
    assert replay(log, Averager()).theta == sp.Matrix([2])
    drawn = replay(log, Averager(ridge=2), theta0=[10])
    assert drawn.theta == sp.Matrix([R(23, 1) / R(7, 2)])


def test_features_that_are_no_averages():
    problem = two_state(reward=1)
    with pytest.raises(FeatureError, match=r"state 'right' are \(2\).*Divide all features") as told:
        problem.fixed_point(Averager())
    assert "LSTD()" in str(told.value)
    halved = problem.replace(features=[[HALF], [1]])
    assert halved.fixed_point(Averager()).theta[0] == 10
    with pytest.raises(FeatureError, match=r"phi_next\[0\] are \(-1\)"):
        replay(LoggedData([[1]], [[-1]], [1], "1/2"), Averager())
    rounded = [[0.5, 0.5000000000000002], [0.4, 0.6]]
    assert replay(LoggedData(rounded[:1], rounded[1:], [1], 0.5), Averager(ridge=1)).theta.size == 2


def test_without_a_discount_there_may_be_no_one_fixed_point():
    problem = otd.PolicyEvaluation.from_chain([[0, 1], [1, 0]], [1, -1])
    with pytest.raises(NotUniqueError, match="discount below 1"):
        problem.fixed_point(Averager())
    with pytest.raises(KindError, match="subs"):
        Averager().contraction(problem.replace(discount="gamma"))
    symbolic = problem.replace(discount="gamma").fixed_point(Averager()).theta
    assert symbolic.subs("gamma", HALF) == problem.replace(discount=HALF).v_pi


def test_terminal_states_stay_open():
    mdp = otd.MDP.from_transitions([("A", "go", "B", 1, 0), ("B", "go", "end", 1, 1)])
    problem = otd.PolicyEvaluation(mdp, target=otd.Policy.uniform(mdp), start={"A": 1})
    point = problem.fixed_point(Averager())
    assert point.values == {"A": 1, "B": 1, "end": 0}
    assert point.undetermined == ("end",)
