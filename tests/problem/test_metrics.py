"""Errors by worked numbers, by a simulation with a confidence interval, and by attained bounds."""

import math

import numpy as np
import pytest
import scipy.linalg
import sympy as sp

from obliquetd import MDP, Policy, PolicyEvaluation, compare
from obliquetd.algebra import EXACT, parse_number
from obliquetd.domains import random_problem, two_state
from obliquetd.errors import SignUndecidedError
from obliquetd.problem.metrics import subspace_angle
from obliquetd.report.analysis import analyze


def ring():
    """Three states in a ring, reward 2 on the first step, one feature; worked by hand below."""
    mdp = MDP.from_transitions([("a", 0, "b", 1, 2), ("b", 0, "c", 1, 0), ("c", 0, "a", 1, 0)])
    return PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features=[[1], [1], [1]], discount="1/2"
    )


def test_errors_of_a_constant_by_hand():
    """v = (16/7, 4/7, 8/7), mean 4/3; TD: A = 1/2, b = 2/3, theta = 4/3, the mean of v."""
    problem = ring()
    assert list(problem.v_pi) == [sp.Rational(16, 7), sp.Rational(4, 7), sp.Rational(8, 7)]
    for method in ("td", "rg", "best"):
        assert problem.fixed_point(method).theta[0] == sp.Rational(4, 3)
    td = problem.fixed_point("td")
    # T v - v = (2 - 2/3, -2/3, -2/3): mean square (16 + 4 + 4)/27
    assert td.rmsbe == sp.sqrt(sp.Rational(24, 27))
    assert td.mstde == sp.Rational(24, 27)  # deterministic: the TD error is the Bellman residual
    assert td.rmspbe == td.neu == 0
    assert td.rmse == sp.sqrt(sum((x - sp.Rational(4, 3)) ** 2 for x in problem.v_pi) / 3)
    zero = [0, 0, 0]
    assert problem.rmspbe(zero) == sp.Rational(2, 3)  # Pi r = 2/3 everywhere
    assert problem.neu(zero) == sp.Rational(2, 3)
    assert problem.rmsbe(dict.fromkeys("abc", 0)) == 2 / sp.sqrt(3)


def test_all_errors_use_the_target_policys_operator():
    off = random_problem(3, 1, seed=7)
    twin = PolicyEvaluation(
        off.mdp, target=off.target, features=off.Phi, discount="9/10", xi=off.xi
    )
    v = [1, -2, 3]
    for name in ("rmse", "rmsbe", "rmspbe", "mstde", "neu"):
        assert getattr(off, name)(v) == getattr(twin, name)(v)
    assert off.P_b != off.P_pi


def test_td_error_splits_into_residual_and_noise():
    """E delta^2 = ||T v - v||^2 + E Var(delta | s): by the law of total variance."""
    problem = random_problem(3, 2, seed=3)
    v = sp.Matrix([2, -1, 1])
    noise = 0
    for s in problem.states:
        outcomes = [
            (problem.target[s].get(r.action, 0) * r.probability,
             r.reward + problem.discount * r.discount * v[problem.mdp.index[r.next_state]])
            for r in problem.mdp.transitions if r.state == s
        ]  # fmt: skip
        mean = sum(p * x for p, x in outcomes)
        noise += problem.xi[problem.mdp.index[s]] * sum(p * (x - mean) ** 2 for p, x in outcomes)
    assert problem.mstde(v) == sp.expand(problem.rmsbe(v) ** 2 + noise)


@pytest.mark.parametrize("seed", [1, 2])
def test_variance_of_the_return_agrees_with_simulation(seed):
    """20,000 seeded returns of 120 steps: variance within four standard errors, mean too."""
    problem = random_problem(3, 1, seed=seed, discount="4/5", restarts=True)
    rng = np.random.default_rng(seed)
    rows = list(problem.mdp.transitions)
    by_state = {}
    for r in rows:
        p = float(problem.target[r.state].get(r.action, 0) * r.probability)
        by_state.setdefault(r.state, []).append(
            (p, r.next_state, float(r.reward), 0.8 * float(r.discount))
        )
    tables = {
        s: tuple(np.array(c) for c in zip(*outs, strict=True)) for s, outs in by_state.items()
    }
    n = 20_000
    state, total, gain = np.zeros(n, int), np.zeros(n), np.ones(n)
    for _ in range(120):
        u = rng.random(n)
        nxt = state.copy()
        for s, (p, t, reward, g) in tables.items():
            at = state == s
            pick = np.minimum(np.searchsorted(np.cumsum(p), u[at]), len(p) - 1)
            total[at] += gain[at] * reward[pick]
            gain[at] *= g[pick]
            nxt[at] = t[pick].astype(int)
        state = nxt
    value, variance = float(problem.v_pi[0]), float(problem.return_variance[0])
    assert abs(total.mean() - value) < 4 * total.std() / math.sqrt(n)
    spread = np.std((total - total.mean()) ** 2) / math.sqrt(n)
    assert abs(total.var() - variance) < 4 * spread
    assert abs(total.var() - 1.2 * variance) > 4 * spread  # the test would see an error of a fifth


@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 1), (3, 2), (4, 2), (4, 3)])
def test_angle_agrees_with_scipy(n, d):
    problem = random_problem(n, d, seed=n + d)
    for method in ("td", "etd", "best"):
        point = problem.fixed_point(method)
        x, y = (np.array(m, dtype=float) for m in (point.X, problem.X_star))
        assert float(point.angle) == pytest.approx(scipy.linalg.subspace_angles(x, y)[0], abs=1e-7)


def test_spans_of_different_dimension_are_at_a_right_angle():
    problem = random_problem(3, 2, seed=1)
    X = problem.X_star[:, 0].row_join(2 * problem.X_star[:, 0])
    from obliquetd.algebra import read_matrices
    from obliquetd.problem.metrics import subspace_angle

    x, y = read_matrices(X=X, Y=problem.X_star)
    assert subspace_angle(x, y) == sp.pi / 2


def test_symbolic_angle_in_one_dimension_and_undecided_above_two():
    gamma = sp.Symbol("gamma")
    angle = two_state(discount=gamma).fixed_point("td").angle
    assert angle.subs(gamma, sp.Rational(9, 10)).equals(two_state().fixed_point("td").angle)
    with pytest.raises(SignUndecidedError, match="subs"):
        _ = random_problem(4, 3, seed=2, discount=gamma).fixed_point("td").angle


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", ["td", "rg", "etd"])
def test_worst_case_bounds_every_reward_and_is_attained(seed, method):
    """Scherrer (2010): no reward exceeds the ratio; the singular vector of the projection attains it."""
    problem = random_problem(4, 2, seed=seed)
    point = problem.fixed_point(method)
    bound = float(point.worst_case)
    Q = np.array(
        problem.Phi
        * ((problem.L_pi.T * point.X).T * problem.Phi).inv()
        * (problem.L_pi.T * point.X).T,
        float,
    )
    Pi = np.array(problem.Pi, dtype=float)
    root = np.sqrt(np.diag(np.array(problem.Xi, dtype=float)))

    def ratio(v):
        return np.linalg.norm(root * (Q @ v - v)) / np.linalg.norm(root * (Pi @ v - v))

    rng = np.random.default_rng(seed)
    assert max(ratio(v) for v in rng.normal(size=(500, 4))) <= bound * (1 + 1e-9)
    weighted = (root[:, None] * (np.eye(4) - Q)) @ np.linalg.pinv(root[:, None] * (np.eye(4) - Pi))
    assert np.linalg.norm(weighted, 2) == pytest.approx(bound, rel=1e-9)
    floats = PolicyEvaluation(
        problem.mdp, target=problem.target, behavior=problem.behavior,
        features=np.array(problem.Phi, dtype=float), discount=0.9,
    )  # fmt: skip
    assert floats.fixed_point(method).worst_case == pytest.approx(bound, rel=1e-6)


def test_worst_case_of_the_best_is_one_and_infinite_where_an_unvisited_state_counts():
    problem = random_problem(3, 2, seed=5)
    assert problem.fixed_point("best").worst_case == 1
    off = PolicyEvaluation(
        problem.mdp, target=problem.target, features=problem.Phi, discount="9/10", xi=[1, 1, 0]
    )
    assert off.fixed_point("td").worst_case == sp.oo
    assert off.fixed_point("best").worst_case == 1


def test_float_and_exact_errors_agree():
    exact = random_problem(4, 2, seed=8)
    floats = PolicyEvaluation(
        exact.mdp, target=exact.target, behavior=exact.behavior,
        features=np.array(exact.Phi, dtype=float), discount=0.9,
    )  # fmt: skip
    for method in ("td", "rg", "setd", "etd", "best"):
        one, other = exact.fixed_point(method), floats.fixed_point(method)
        for name in ("rmse", "rmsbe", "rmspbe", "mstde", "neu", "distance", "criterion", "angle"):
            assert getattr(other, name) == pytest.approx(float(getattr(one, name)), abs=1e-7), name


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("bits", [20, 40, 600, pytest.param(3000, marks=pytest.mark.slow)])
def test_a_small_angle_has_its_digits_and_long_numbers_are_not_factored(bits, columns):
    """Spans of (1, t) and (1, 2t), beside those of one more axis: tan of the angle is t/(1 + 2t^2)."""
    t = sp.Rational(1, 2**bits + 1)
    X, Y = sp.Matrix([1, t, 0]), sp.Matrix([1, 2 * t, 0])
    if columns == 2:
        X, Y = (M.row_join(sp.Matrix([0, 0, 1])) for M in (X, Y))
    angle = subspace_angle(
        *(
            EXACT.matrix([[parse_number(x) for x in row] for row in M.tolist()], M.shape)
            for M in (X, Y)
        )
    )
    assert sp.N(
        sp.tan(angle) * (1 + 2 * t**2) / t - 1, 5, maxn=100_000, chop=True
    ) == pytest.approx(0, abs=1e-12)


def test_probabilities_of_thousands_of_bits_are_compared():
    tiny = sp.Rational(1, sp.Integer(2) ** 8000)
    mdp = MDP.from_transitions(
        [("s", "a", "t", tiny, 1), ("s", "a", "s", 1 - tiny, 0), ("t", "a", "s", "1/3", 0),
         ("t", "a", "t", "2/3", 2)]
    )  # fmt: skip
    for features in ([[1], [2]], [[1, 0], [0, 1]]):
        problem = PolicyEvaluation(
            mdp, target=Policy.uniform(mdp), features=features, discount="9/10"
        )
        shown = str(compare(problem))
        assert ("e-2408" in shown) == (len(features[0]) == 1)
        assert "angle" in analyze(problem, ["td"]).to_dict()["fixed_points"][0]


@pytest.mark.parametrize("reward", [1, 3e9])
def test_where_no_chance_is_ahead_floats_say_zero_exactly(reward):
    """What the chain makes zero is no matter of rounding: no -3e-17, no warning of lost digits.

    Waiting has the variance V = g^2 V / 2 + the mean square of (d/2, -d/2), d = g v(waiting) - g v(safe).
    """
    rows = [
        ("safe", 0, "safe", 1, reward),
        ("over", 0, "still", 1, 0),
        ("waiting", 0, "safe", 0.5, 0),
        ("waiting", 0, "waiting", 0.5, 0),
        ("still", 0, "still", 1, 0),
    ]
    mdp = MDP.from_transitions(rows)
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features=[[1]] * 4, discount=0.9, xi=[0.25] * 4
    )
    variance, v = ({s: x[i] for i, s in enumerate(problem.states)} for x in (problem.return_variance, problem.v_pi))  # fmt: skip
    assert {s for s, x in variance.items() if x == 0} == {"safe", "over", "still"}
    d = 0.9 * (v["waiting"] - v["safe"])
    assert variance["waiting"] == pytest.approx(d**2 / 4 / (1 - 0.81 / 2))
    assert v["over"] == v["still"] == 0
