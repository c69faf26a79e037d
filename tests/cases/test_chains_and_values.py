"""Kinds of question that people brought to neighbouring tools: chains and values.

Each test names the public report that its kind was met in; words and mostly numbers
are our own, and every right answer is worked out exactly.
"""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse
import sympy as sp

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.errors import SizeError, UndiscountedError

R = sp.Rational


def chain(P, r=None, **kwargs):
    mdp = MDP.from_arrays([P], r if r is not None else [0] * len(P))
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), **kwargs)


def test_rare_transitions_give_exact_positive_weights_in_both_arithmetics():
    """QuantEcon.py issue 18: tiny negative stationary probabilities from a float solve."""
    up, down = "1/100000000", "1/2"
    stay = "49999999/100000000"
    P = [
        ["99999999/100000000", up, 0, 0, 0],
        [down, stay, up, 0, 0],
        [0, down, stay, up, 0],
        [0, 0, down, stay, up],
        [0, 0, 0, down, down],
    ]
    exact = chain(P, discount="9/10").xi
    total = 6250000125000002500000050000001
    assert exact[4] == R(1, total)
    assert exact[1] == R(125000000000000000000000, total)
    floats = chain(P, discount="9/10", arithmetic="float").xi
    assert (floats > 0).all()
    assert (
        np.abs(floats / np.array(exact, dtype=float).ravel() - 1).max() < 1e-7
    )  # the input's own rounding
    assert floats[4] == pytest.approx(1.6e-31, rel=1e-6)


def students_week(discount, terminal=True, arithmetic=None):
    states = ["C1", "C2", "C3", "Pass", "Pub", "FB", "Sleep"]
    moves = {
        "C1": ({"C2": "1/2", "FB": "1/2"}, -2),
        "C2": ({"C3": "4/5", "Sleep": "1/5"}, -2),
        "C3": ({"Pass": "3/5", "Pub": "2/5"}, -2),
        "Pass": ({"Sleep": 1}, 10),
        "Pub": ({"C1": "1/5", "C2": "2/5", "C3": "2/5"}, 1),
        "FB": ({"C1": "1/10", "FB": "9/10"}, -1),
    }
    if not terminal:
        moves["Sleep"] = ({"Sleep": 1}, 0)
    rows = [(s, "go", t, p, r) for s, (to, r) in moves.items() for t, p in to.items()]
    mdp = MDP.from_transitions(rows, states=states)
    return PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), discount=discount, arithmetic=arithmetic
    )


@pytest.mark.parametrize("terminal", [True, False], ids=["no way out", "rewardless self-loop"])
def test_a_singular_P_is_no_obstacle_and_discount_one_needs_a_terminal_state(terminal):
    """stats.stackexchange 435877: det P = 0 is irrelevant; I - gamma P is what has to be regular."""
    discounted = students_week("9/10", terminal)
    assert sp.Matrix(discounted.P_pi).det() == 0
    if not terminal:
        assert sp.Matrix(discounted.L_pi).det() == R(3505799, 312500000)
    assert list(discounted.v_pi)[:3] == [
        R(-17573620, 3505799),
        R(3304760, 3505799),
        R(14328275, 3505799),
    ]
    undiscounted = students_week(1, terminal)
    expected = [R(-1016, 81), R(118, 81), R(350, 81), 10, R(65, 81), R(-1826, 81), 0]
    assert list(undiscounted.v_pi) == expected
    assert students_week(1, terminal, "float").v_pi == pytest.approx([float(x) for x in expected])


@pytest.mark.slow
def test_a_large_sparse_ring_is_evaluated_without_a_dense_matrix():
    """pymdptoolbox issue 10: sparse input was made dense in the checks (3.2 GB here)."""
    n, gamma = 20_000, 0.999
    P = scipy.sparse.csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    reward = np.zeros(n)
    reward[0] = 1.0
    tracemalloc.start()
    mdp = MDP.from_arrays([P], reward)
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=gamma)
    v, xi, best = problem.v_pi, problem.xi, problem.fixed_point("td").v_hat
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6
    closed_form = gamma ** ((n - np.arange(n)) % n) / (1 - gamma**n)
    assert v == pytest.approx(closed_form, rel=1e-9)
    assert best == pytest.approx(closed_form, rel=1e-9)
    assert xi == pytest.approx(1 / n, rel=1e-9)
    assert problem.chain.recurrent[0].period == n
    for refused in (
        {"arithmetic": "exact"},
        {"arithmetic": "symbolic", "discount": sp.Symbol("g")},
    ):
        with pytest.raises(SizeError, match="20000"):
            PolicyEvaluation(mdp, target=Policy.uniform(mdp), **{"discount": gamma, **refused})
    with pytest.raises(SizeError, match="20000"):
        _ = problem.Pi


def test_a_dead_end_is_terminal_and_collects_nothing():
    """prism issue 29: a self-loop added at a dead end also collected the step reward."""
    mdp = MDP.from_transitions([(0, "go", 1, 1, 2)])
    assert mdp.terminal == (1,)
    for discount in (1, "9/10"):
        problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=discount)
        assert problem.values == {0: 2, 1: 0}
        assert list(problem.xi) == [0, 1]  # stationary, not episodic: see with_restarts


def test_undiscounted_loops_are_named_and_the_rest_is_still_there():
    """pymdptoolbox pull request 15: a bare 'singular matrix' from the linear solver."""
    mdp = MDP.from_transitions(
        [("a", "x", "b", 1, -1), ("b", "x", "a", 1, -1), ("c", "x", "T", 1, -1)]
    )
    target = Policy.uniform(mdp)
    with pytest.raises(
        UndiscountedError, match=r"\['a', 'b'\] never reaches a terminal state"
    ) as caught:
        _ = PolicyEvaluation(mdp, target=target, discount=1).v_pi
    assert caught.value.values["c"] == -1
    discounted = PolicyEvaluation(mdp, target=target, discount="9/10")
    assert discounted.values == {"a": -10, "b": -10, "c": -1, "T": 0}


def test_three_errors_have_three_minimisers():
    """math.stackexchange 4873609: value, Bellman and projected Bellman error told apart."""
    P = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    problem = chain(P, [1, 0, 0], discount="1/2", features=[[2], [1], [1]])
    expected = {
        "td": (R(4, 7), R(4, 147), R(5, 147), 0),
        "best": (R(11, 21), R(10, 441), R(101, 2646), R(1, 648)),
        "rg": (R(3, 5), R(6, 175), R(1, 30), R(1, 1800)),
    }
    for name, (theta, ve, be, pbe) in expected.items():
        point = problem.fixed_point(name)
        assert point.theta[0] == theta
        assert (point.rmse**2, point.rmsbe**2, point.rmspbe**2) == (ve, be, pbe)


def test_w_and_2w_with_an_exit_probability():
    """stats.stackexchange 621206: where the factor (6 - 4 epsilon)/5 gamma comes from."""
    eps, g = sp.symbols("epsilon gamma")
    mdp = MDP.from_transitions(
        [
            ("one", "go", "two", 1, 0),
            ("two", "go", "two", "1 - epsilon", 0),
            ("two", "go", "one", "epsilon", 0, 0),  # an episode ends and the next begins
        ]
    )
    common = {"target": Policy.uniform(mdp), "features": [[1], [2]], "discount": g}
    uniform = PolicyEvaluation(mdp, xi=[1, 1], **common)
    A = (uniform.Phi.T * uniform.Xi * uniform.L_pi * uniform.Phi)[0]
    assert sp.expand(A - (4 * eps * g - 6 * g + 5)) == 0
    threshold = sp.solve(A, g)[0]
    assert threshold.subs(eps, R(1, 10)) == R(25, 28)
    visits = PolicyEvaluation(
        mdp, **common
    )  # each visit to 'one' is followed by 1/epsilon to 'two'
    assert [sp.simplify(x) for x in visits.xi] == [eps / (eps + 1), 1 / (eps + 1)]
    on_policy = (visits.Phi.T * visits.Xi * visits.L_pi * visits.Phi)[0]
    assert sp.simplify(on_policy * (1 + eps) - (2 * eps * g + eps - 4 * g + 4)) == 0


def test_whose_visits_and_whose_transitions_in_bairds_star():
    """An issue on code for Sutton and Barto's chapter 11: behaviour's visits, target's transitions."""
    from obliquetd.domains import baird_star

    problem = baird_star(discount="99/100")
    assert set(problem.xi) == {R(1, 7)}
    assert list(problem.target_chain.stationary_by_class[0]) == [0] * 6 + [1]
    A = problem.Phi.T * problem.Xi * problem.L_pi * problem.Phi
    assert problem.Phi.rank() == A.rank() == 7
    x = sp.Symbol("x")
    expected = x * (x - R(4, 7)) ** 5 * ((x + R(183, 1400)) ** 2 - R(23089, 1400**2))
    assert sp.expand(sp.Matrix(A).charpoly(x).as_expr() - expected) == 0
    w = sp.Matrix([1, 1, 1, 1, 1, 1, 10, 1])
    assert problem.rmse(problem.Phi * w) == 3 * sp.sqrt(154) / 7
    swept = w - R(1, 100) * A * w
    assert swept[0] == R(4486, 4375)
    assert swept[7] == R(9413, 8750)
    ratios = {
        a: problem.target["center"].get(a, 0) / p for a, p in problem.behavior["center"].items()
    }
    assert ratios == {"solid": 7, "dashed": 0}
