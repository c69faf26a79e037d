"""Episodes that end, and begin anew from ``start``."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.errors import (
    EpisodesEndError,
    InputError,
    LabelError,
    NoSolutionError,
    NotUniqueError,
    ProbabilityError,
    StationaryError,
    UndiscountedError,
)
from obliquetd.experiments.streams import TableStream
from obliquetd.learners import ETD, GTD2, SETD, TD, DoubleSampledResidualGradient
from tests.strategies import distributions

HALF = sp.Rational(1, 2)
FORK = (
    ("A", "left", "B", 1, 0),
    ("A", "right", "C", 1, 0),
    ("B", "go", "end", 1, 1),
    ("C", "go", "end", 1, 0),
)


def fork(rows=FORK, **fields):
    mdp = MDP.from_transitions(rows)
    return PolicyEvaluation(mdp, **{"target": Policy.uniform(mdp), "discount": 1, **fields})


@st.composite
def episodic(draw):
    """An off-policy problem in which every state may end the episode, and a start."""
    n, k, m = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    rows = []
    for s in range(n):
        for a in range(k):
            chances = draw(distributions(n + m))
            chances = [c / 2 for c in chances]
            chances[n + draw(st.integers(0, m - 1))] += Fraction(1, 2)
            for t, p in enumerate(chances):
                if p:
                    reward, own = (
                        draw(st.integers(-3, 3)),
                        draw(st.sampled_from([1, Fraction(1, 2)])),
                    )
                    rows.append((s, a, t, p, reward, own))
    mdp = MDP.from_transitions(rows, states=range(n + m), actions=range(k))

    def policy(full):
        chances = {s: draw(distributions(k, full)) for s in range(n)}
        return Policy({s: dict(enumerate(row)) for s, row in chances.items()})

    d = draw(st.integers(1, n))
    vector = st.lists(st.integers(-3, 3), min_size=d, max_size=d)
    return PolicyEvaluation(
        mdp,
        target=policy(False),
        behavior=policy(True),
        features=draw(st.lists(vector, min_size=n + m, max_size=n + m)),
        discount=draw(st.sampled_from([1, Fraction(9, 10)])),
        start=dict(enumerate(draw(distributions(n)))),
    )


# --- without a start ---------------------------------------------------------------------

USES = {
    "fixed point": lambda p: p.fixed_point("td"),
    "residual gradient": lambda p: p.fixed_point("rg"),
    "rmse": lambda p: p.rmse([100, -7, 3, 0][: len(p.states)]),
    "best": lambda p: p.best,
    "X*": lambda p: p.X_star,
    "C": lambda p: p.C,
    "rule": lambda p: otd.mean_dynamics(p, TD()).A,
    "simulation": lambda p: otd.simulate(p, [TD(0.1)], 10, stream="iid"),
}


@pytest.mark.parametrize("use", USES, ids=str)
@pytest.mark.parametrize(
    "rows",
    [
        FORK,
        [("s", "a", "end", 1, 1)],
        [("s", "a", "good", HALF, 1), ("s", "a", "bad", HALF, 0)],
        [("s", "a", "s", 0.5, 1.0), ("s", "a", "end", 0.5, 0.0)],
    ],
    ids=["fork", "one step", "two ends", "floats"],
)
def test_weights_on_terminal_states_alone_are_an_error_with_a_way_out_that_works(rows, use):
    problem = fork(rows)
    with pytest.raises(EpisodesEndError, match="start=") as caught:
        USES[use](problem)
    assert isinstance(caught.value, StationaryError)
    assert caught.value.classes == tuple((s,) for s in problem.mdp.terminal)
    USES[use](problem.replace(start={problem.states[0]: 1}))
    USES[use](problem.replace(xi=[1] * len(problem.states)))


def test_values_need_no_weights():
    assert fork().values == {"A": HALF, "B": 1, "C": 0, "end": 0}


def test_an_end_beside_an_endless_class_is_several_classes():
    rows = [("s", "a", "end", HALF, 1), ("s", "a", "loop", HALF, 1), ("loop", "a", "loop", 1, 0)]
    with pytest.raises(StationaryError, match="start=") as caught:
        fork(rows).fixed_point("td")
    assert set(caught.value.classes) == {("end",), ("loop",)}


# --- with one ------------------------------------------------------------------------------


def test_the_fork_by_hand():
    problem = fork(start={"A": 1})
    assert list(problem.xi) == [HALF, HALF / 2, HALF / 2, 0]
    assert problem.fixed_point("td").values == {"A": HALF, "B": 1, "C": 0, "end": 0}
    # sqrt(1/2 (199/2)^2 + 1/4 8^2 + 1/4 3^2)
    assert problem.rmse([100, -7, 3, 0]) == sp.sqrt(sp.Rational(79494, 16))
    assert problem.start == {"A": 1}
    assert problem.chain.transient == ("end",)


MATRICES = ("C", "X_star", "Lambda", "L_pi", "P_b", "P_pi")


@pytest.mark.slow
@given(episodic())
def test_a_start_is_the_chain_with_restarts_and_keeps_the_terminal_states(problem):
    """with_restarts rewrites the model; the two agree on every state that is not terminal."""
    mdp = problem.mdp
    closed = mdp.with_restarts(problem.start)
    n = len(closed.states)
    twin = PolicyEvaluation(
        closed,
        target=problem.target,
        behavior=problem.behavior,
        features=problem.Phi[:n, :],
        discount=problem.discount,
    )
    for vector in ("v_pi", "r_pi", "return_variance"):
        assert getattr(problem, vector)[:n, :] == getattr(twin, vector)
        assert not any(getattr(problem, vector)[n:, :])
    assert problem.P_b[:n, :n] == twin.P_b
    assert problem.L_pi[:n, :n] == twin.L_pi
    if len(twin.chain.recurrent) > 1:
        return
    assert list(problem.xi) == [*twin.xi, *[0] * len(mdp.terminal)]
    assert twin.C == problem.C
    assert problem.X_star[:n, :] == twin.X_star
    for learner in (TD(lam="1/3"), ETD(lam="1/2"), GTD2(), SETD(), DoubleSampledResidualGradient()):
        one, other = (otd.mean_dynamics(p, learner) for p in (problem, twin))
        assert (one.A, one.b) == (other.A, other.b), learner
    first, second = (otd.exact_moments(p, TD("1/10"), 3) for p in (problem, twin))
    assert (first.second, first.expected_mse) == (second.second, second.expected_mse)


@given(episodic())
def test_occupancy_is_the_discounted_visits_of_the_behaviour(problem):
    weighted = problem.replace(xi="occupancy")
    n = len(problem.states)
    h = sp.Matrix([problem.start.get(s, 0) for s in problem.states])
    kernel = sp.zeros(n)  # from the rows, not from the operators
    for row in problem.mdp.transitions:
        if row.next_state not in problem.mdp.terminal:
            i, j = problem.mdp.index[row.state], problem.mdp.index[row.next_state]
            chance = problem.behavior[row.state].get(row.action, 0) * row.probability
            kernel[i, j] += chance * row.discount * problem.discount
    eta = sp.Matrix(weighted.xi)
    assert eta == h + kernel.T * eta
    visits, step, total = np.array(h, dtype=float), np.array(kernel, dtype=float), np.zeros((n, 1))
    for _ in range(400):
        total, visits = total + visits, step.T @ visits
    assert np.array(eta, dtype=float) == pytest.approx(total, abs=1e-9)


def test_undiscounted_occupancy_is_the_stationary_weighting_unnormalised():
    problem = fork(start={"A": 1})
    visits = problem.replace(xi="occupancy")
    assert list(visits.xi) == [1, HALF, HALF, 0]
    assert sp.Matrix(visits.xi) / sum(visits.xi) == sp.Matrix(problem.xi)
    assert list(problem.replace(xi="occupancy", discount="1/2").xi) == [1, HALF / 2, HALF / 2, 0]


def test_occupancy_is_the_behaviours_also_where_nothing_ends():
    mdp = MDP.from_transitions([(s, a, a, 1, 0) for s in (0, 1) for a in (0, 1)])
    problem = PolicyEvaluation(
        mdp, target=Policy.deterministic({0: 1, 1: 1}), behavior=Policy.uniform(mdp),
        discount="gamma", xi="occupancy", start={0: 1},
    )  # fmt: skip
    gamma = sp.Symbol("gamma")
    assert sp.simplify(sum(problem.xi) - 1 / (1 - gamma)) == 0
    assert sp.simplify(problem.xi[1] - gamma / (2 * (1 - gamma))) == 0


def test_an_endless_class_makes_occupancy_infinite_only_where_it_is_reached():
    rows = [("s", "a", "end", 1, 1), ("x", "a", "loop", 1, 0), ("loop", "a", "loop", 1, 0)]
    apart = fork(rows, start={"s": 1}, xi="occupancy")
    assert list(apart.xi) == [1, 0, 0, 0]
    for first in ("x", "loop"):
        with pytest.raises(UndiscountedError, match="occupancy is infinite") as caught:
            _ = fork(rows, start={first: 1}, xi="occupancy").xi
        assert caught.value.classes == (("loop",),)
        assert sum(fork(rows, start={first: 1}, xi="occupancy", discount="1/2").xi) == 2


def test_symbols_and_floats():
    free = fork(start={"A": "p", "B": "1-p"})
    p = sp.Symbol("p")
    assert [
        sp.simplify(x - y)
        for x, y in zip(free.xi, [p / (1 + p), (2 - p) / (2 + 2 * p)], strict=False)
    ] == [0, 0]
    assert free.valid_range("p") == sp.Interval(0, 1)
    assert free.subs({"p": 1}).xi == fork(start={"A": 1}).xi
    floats = fork(start={"A": 1.0})
    assert floats.arithmetic == "float"
    assert floats.xi == pytest.approx([0.5, 0.25, 0.25, 0])
    thirds = fork(start={"A": 1 / 3, "B": 1 / 3, "C": 1 / 3}, arithmetic="exact")
    assert thirds.start == dict.fromkeys("ABC", sp.Rational(1, 3))


# --- what is sampled -----------------------------------------------------------------------


def test_a_sampled_trajectory_goes_from_an_end_to_the_start_with_an_empty_trace():
    problem = fork(start={"A": "3/4", "B": "1/4"})
    stream = TableStream(problem)
    drawn = stream.draw(20_000, np.random.default_rng(0))
    o = drawn.outcomes
    left, reached = o.state[drawn.rows], o.next_state[drawn.rows]
    assert (left[1:] == reached[:-1]).all()
    ended = (o.discount[drawn.rows] == 0)[:-1]
    assert ended.any()
    assert set(left[1:][ended]) == {0, 1}
    share = (left[1:][ended] == 0).mean()
    assert abs(share - 0.75) < 4 * np.sqrt(0.75 * 0.25 / ended.sum())
    learner = TD(0.1, lam=1)
    found = otd.simulate(problem, [learner], 200, seed=3)["TD"].theta[0]
    child = np.random.SeedSequence(3, spawn_key=(0,))
    rows = stream.draw(200, np.random.default_rng(child), twins=False).rows
    theta, trace, phi = np.zeros(4), np.zeros(4), np.eye(4)
    for k in rows:  # the textbook loop: the trace is set to zero where an episode begins
        s, t, g = o.state[k], o.next_state[k], o.discount[k]
        trace = trace + phi[s]
        theta += 0.1 * (o.reward[k] + g * theta[t] - theta[s]) * trace
        trace = np.zeros(4) if g == 0 else trace
    assert found == pytest.approx(theta)


def test_long_runs_agree_with_the_exact_weights():
    problem = fork(start={"A": 1})
    drawn = TableStream(problem).draw(40_000, np.random.default_rng(1))
    share = np.bincount(drawn.outcomes.state[drawn.rows], minlength=4) / 40_000
    assert share == pytest.approx(np.array(problem.xi, dtype=float).ravel(), abs=0.02)


def test_episodes_of_a_simulation_take_the_problems_start_or_their_own():
    plain = fork()
    found = otd.simulate(plain, [TD(0.1)], 500, stream="episodes", start={"A": 1}, every=500)
    assert 0 < found["TD"].rmse[0, -1] < found["TD"].rmse[0, 0]
    twin = otd.simulate(fork(start={"A": 1}), [TD(0.1)], 500, stream="episodes", every=500)
    assert (twin["TD"].rmse == found["TD"].rmse).all()
    with pytest.raises(InputError, match=r"episodes.*start=.*replace\(start="):
        otd.simulate(plain, [TD(0.1)], 500)


# --- weights on terminal states -------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "xi", "features", "theta"),
    [
        ([("s", "a", "s", HALF, HALF), ("s", "a", "end", HALF, HALF)], [1, 1], [[1], [1]], "2/7"),
        # s: 3/4 theta = 1/2 with weight 1; each end pulls to 0 with its weight
        ([("s", "a", "s", HALF, HALF), ("s", "a", "end", HALF, HALF)], [1, 3], [[1], [1]], "2/15"),
        ([("s", "a", "s", HALF, HALF), ("s", "a", "end", HALF, HALF)], [1, 1], [[1], [0]], "2/3"),
        ([("s", "a", "end", 1, 1)], [1, 1], [[1], [2]], "1/5"),
        ([("s", "a", "x", HALF, 1), ("s", "a", "y", HALF, 0)], [1, 1, 1], [[1]] * 3, "1/6"),
    ],
)  # fmt: skip
def test_formula_and_rule_agree_where_a_terminal_state_has_weight(rows, xi, features, theta):
    problem = fork(rows, xi=xi, features=features, discount=HALF)
    assert list(problem.fixed_point("td").theta) == [sp.Rational(theta)]
    for sampling in ("iid", None):  # the weights are not those of any trajectory
        assert list(otd.mean_dynamics(problem, TD(), sampling=sampling).fixed_point()) == [
            sp.Rational(theta)
        ]
    found = otd.simulate(
        problem, [TD(otd.RobbinsMonro(0.5, 0.75))], 20_000, 20, stream="iid", every=20_000
    )["TD"].theta[:, 0]
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert abs(found.mean() - float(sp.Rational(theta))) < 5 * error + 1e-3


@given(episodic(), st.data())
def test_formula_and_rule_agree_on_any_weights(problem, data):
    weighted = problem.replace(xi=data.draw(distributions(len(problem.states))), start=None)
    Phi, xi = weighted.Phi, weighted.xi
    td, rg = (
        otd.mean_dynamics(weighted, TD(), sampling="iid"),
        otd.mean_dynamics(weighted, DoubleSampledResidualGradient(), sampling="iid"),
    )
    assert Phi.T * sp.diag(*xi) * weighted.Lambda == td.A
    assert td.b == Phi.T * sp.diag(*xi) * weighted.r_pi
    assert weighted.Lambda.T * sp.diag(*xi) * weighted.Lambda == rg.A
    try:
        point = weighted.fixed_point("td")
    except (NotUniqueError, NoSolutionError):
        return
    if point.is_unique:
        assert td.fixed_point() == point.theta


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"start": "A"}, InputError, "start is 'A'.*mapping"),
        ({"start": ["A"]}, InputError, "start is .*mapping"),
        ({"start": {"Z": 1}}, LabelError, "'Z' is unknown"),
        ({"start": {"end": 1}}, LabelError, "'end' is terminal"),
        ({"start": {"A": "1/2"}}, ProbabilityError, "sums to 1/2"),
        ({"start": {"A": 2, "B": -1}}, ProbabilityError, "'B' is -1"),
        ({"start": {}}, ProbabilityError, "sums to 0"),
        ({"xi": "occupancy"}, InputError, "pass start="),
        ({"xi": "ocupancy", "start": {"A": 1}}, InputError, "'ocupancy'.*'occupancy'"),
    ],
)
def test_bad_starts(fields, error, words):
    with pytest.raises(error, match=words):
        fork(**fields)


def test_a_start_without_terminal_states_is_refused_with_ways_out_that_work():
    rows = [("s", "a", "end", 1, 1), ("end", "a", "end", 1, 0)]
    with pytest.raises(InputError, match=r"terminal=.*occupancy"):
        fork(rows, start={"s": 1})
    mdp = MDP.from_transitions(rows, terminal=["end"])
    closed = PolicyEvaluation(mdp, target=Policy.uniform(mdp), start={"s": 1})
    assert list(closed.xi) == [1, 0]
    assert list(fork(rows, start={"s": 1}, xi="occupancy", discount="1/2").xi) == [1, 1]


@pytest.mark.parametrize("start", [{"a": 2, "b": -1}, {"a": "3/2", "b": "-1/2"}, {"b": -1}])
def test_restarts_with_negative_probabilities_are_refused(start):
    mdp = MDP.from_transitions([("a", "go", "b", 1, 0), ("b", "go", "end", 1, 1)])
    with pytest.raises(ProbabilityError, match=r"'b' is -"):
        mdp.with_restarts(start)


@pytest.mark.parametrize("terminal", [{"R": 1}, {"R": 0}, {}, "R"])
def test_a_value_for_a_terminal_state_is_not_dropped(terminal):
    rows = [("s", "a", "R", 1, 0)]
    with pytest.raises(InputError, match=r"terminal is .*expected a list of states"):
        MDP.from_transitions(rows, terminal=terminal)
    assert MDP.from_transitions(rows, terminal=["R"]).terminal == ("R",)
