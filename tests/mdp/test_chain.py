import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sparse
import sympy as sp
from hypothesis import given

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.errors import InputError, ProbabilityError, StationaryError
from tests.strategies import mdps


def problem_on(rows, **kwargs):
    mdp = MDP.from_transitions(rows)
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2", **kwargs)


def two_classes(**kwargs):
    return problem_on(
        [
            ("start", "go", "a", "1/3", 0),
            ("start", "go", "b", "2/3", 0),
            ("a", "go", "a", 1, 0),
            ("b", "go", "c", 1, 0),
            ("c", "go", "b", 1, 0),
        ],
        **kwargs,
    )


def test_classes_periods_and_one_distribution_a_class():
    chain = two_classes().chain
    found = {c.states: (c.closed, c.period) for c in chain.classes}
    assert found == {("start",): (False, 0), ("a",): (True, 1), ("b", "c"): (True, 2)}
    assert chain.transient == ("start",)
    half = sp.Rational(1, 2)
    assert [list(d) for d in chain.stationary_by_class] == [[0, 1, 0, 0], [0, 0, half, half]]


def test_several_recurrent_classes_are_an_error_that_lists_them_and_names_xi():
    problem = two_classes()
    with pytest.raises(StationaryError, match=r"\['a'\]; \['b', 'c'\].*xi=") as caught:
        _ = problem.xi
    assert caught.value.classes == (("a",), ("b", "c"))
    weighted = two_classes(xi={"start": 0, "a": 0, "b": "1/2", "c": "1/2"})
    assert weighted.Xi.trace() == 1


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_a_ring_has_its_length_as_period_and_equal_weights(n):
    problem = problem_on([(k, "go", (k + 1) % n, 1, 0) for k in range(n)])
    assert problem.chain.recurrent[0].period == n
    assert set(problem.xi) == {sp.Rational(1, n)}


@given(mdps())
def test_classes_agree_with_networkx_and_periods_with_aperiodicity(mdp):
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp))
    P = np.array(problem.P_b, dtype=float)
    graph = nx.from_numpy_array(P > 0, create_using=nx.DiGraph)
    closed = {frozenset(c) for c in nx.attracting_components(graph)}
    assert {frozenset(c.states) for c in problem.chain.recurrent} == closed
    for c in problem.chain.classes:
        inside = graph.subgraph(c.states)
        if inside.number_of_edges() == 0:
            assert c.period == 0
        else:
            assert (c.period == 1) == nx.is_aperiodic(inside)
    for d in problem.chain.stationary_by_class:
        assert d == (d.T * problem.P_b).T
        assert sum(d) == 1


def test_a_symbolic_probability_counts_as_possible():
    problem = problem_on(
        [
            ("s", "a", "s", "1-p", 0),
            ("s", "a", "t", "p", 0),
            ("t", "a", "s", "q", 0),
            ("t", "a", "t", "1-q", 0),
        ]
    )
    p, q = sp.symbols("p q")
    assert [
        sp.simplify(x - y) for x, y in zip(problem.xi, (q / (p + q), p / (p + q)), strict=True)
    ] == [0, 0]
    assert problem.subs({"p": 0, "q": 0}).chain.recurrent[1].states == ("t",)


# --- absorption and long-run averages ---------------------------------------------------------

HALF = sp.Rational(1, 2)


def from_chain(P, r=None, **fields):
    n = P.shape[0] if hasattr(P, "shape") else len(P)
    return PolicyEvaluation.from_chain(P, r if r is not None else [0] * n, **fields)


def ruin(n, p):
    """A gambler's fortune 0, ..., n: up with chance p."""
    rows = [[0] * (n + 1) for _ in range(n + 1)]
    rows[0][0] = rows[n][n] = 1
    for k in range(1, n):
        rows[k][k + 1], rows[k][k - 1] = p, 1 - p
    return rows


@pytest.mark.parametrize("p", [sp.Rational(1, 3), sp.Rational(2, 3), sp.Rational(1, 7)])
@pytest.mark.parametrize("n", [2, 3, 6])
def test_the_gamblers_ruin(p, n):
    """(1 - x^k) / (1 - x^n) with x = (1 - p) / p (Feller 1968, XIV.2), and its duration."""
    chain = from_chain(ruin(n, p)).chain
    x = (1 - p) / p
    win = [(1 - x**k) / (1 - x**n) for k in range(n + 1)]
    assert list(chain.absorption_probabilities.col(1)) == win
    assert list(chain.absorption_times) == [
        (k - n * w) / (1 - 2 * p) for k, w in zip(range(n + 1), win, strict=True)
    ]
    floats = from_chain([[float(v) for v in row] for row in ruin(n, p)]).chain
    assert floats.absorption_probabilities[:, 1] == pytest.approx([float(w) for w in win])


def test_absorption_in_a_symbol():
    p = sp.Symbol("p")
    chain = from_chain(ruin(2, p)).chain
    assert [sp.expand(x) for x in chain.absorption_probabilities.row(1)] == [1 - p, p]
    walk = from_chain(ruin(3, p)).chain
    numbers = from_chain(ruin(3, sp.Rational(1, 3))).chain
    at = {p: sp.Rational(1, 3)}
    assert walk.absorption_probabilities.subs(at) == numbers.absorption_probabilities
    assert walk.absorption_times.subs(at) == numbers.absorption_times


@given(mdps())
def test_absorption_by_its_defining_equations(mdp):
    """B = P B with B = 1 inside its class; t = 1 + P t outside, 0 inside; rows of B sum to one."""
    chain = PolicyEvaluation(mdp, target=Policy.uniform(mdp)).chain
    P, B, t = chain.P.public(), chain.absorption_probabilities, chain.absorption_times
    assert B == P * B
    place = {s: i for i, s in enumerate(mdp.states)}
    for k, c in enumerate(chain.recurrent):
        assert all(B[place[s], k] == 1 for s in c.states)
        assert all(t[place[s]] == 0 for s in c.states)
    for s in chain.transient:
        assert t[place[s]] == 1 + (P[place[s], :] * t)[0]
    assert all(sum(B[i, :]) == 1 for i in range(len(mdp.states)))


@given(mdps())
def test_the_average_reward_from_each_state_is_the_limit_of_averages(mdp):
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp))
    P, r = np.array(problem.P_pi, dtype=float), np.array(problem.r_pi, dtype=float).ravel()
    found = np.array(problem.average_reward, dtype=float).ravel()
    steps, total = 12 * 400, np.zeros(len(r))
    lazy = np.linalg.matrix_power((P + np.eye(len(r))) / 2, 1 << 14)  # has the same averages
    assert found == pytest.approx(lazy @ r, abs=1e-6)
    for _ in range(steps):
        total = r + P @ total
    assert found == pytest.approx(total / steps, abs=0.05)


def test_the_average_reward_of_several_classes_differs_by_state():
    rows = [[0, "1/3", "2/3"], [0, 1, 0], [0, 0, 1]]
    problem = from_chain(rows, [5, 3, 6], discount="1/2")
    assert list(problem.average_reward) == [5, 3, 6]
    floats = from_chain([[0, 1 / 3, 2 / 3], [0, 1.0, 0], [0, 0, 1.0]], [5.0, 3, 6], discount=0.5)
    assert floats.average_reward == pytest.approx([5, 3, 6])
    p = sp.Symbol("p")
    free = from_chain([[0, "p", "1-p"], [0, 1, 0], [0, 0, 1]], [0, 3, 6], discount="1/2")
    assert sp.simplify(free.average_reward[0] - (6 - 3 * p)) == 0


def test_the_average_is_the_targets_and_counts_the_steps_of_episodes():
    mdp = MDP.from_transitions(
        [
            ("s", "a", "t", 1, 1),
            ("s", "b", "s", 1, 0),
            ("t", "a", "end", 1, 4),
            ("t", "b", "t", 1, 0),
        ]
    )
    problem = PolicyEvaluation(
        mdp,
        target=Policy.deterministic({"s": "a", "t": "a"}),
        behavior=Policy.uniform(mdp),
        start={"s": 1},
    )
    assert list(problem.average_reward) == [sp.Rational(5, 2)] * 3
    assert list(problem.replace(start=None).average_reward) == [0, 0, 0]


# --- problems from a chain ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("P", "r"),
    [
        ([[0, 1], ["1/2", "1/2"]], [1, 0]),
        (sp.Matrix([[0, 1], [HALF, HALF]]), sp.Matrix([1, 0])),
        (np.array([[0, 1], [0.5, 0.5]]), np.array([[1.0], [0.0]])),
        (sparse.csr_array([[0, 1], [0.5, 0.5]]), [1, 0]),
        (sparse.coo_array([[0, 1], [0.5, 0.5]]), sparse.csr_array([[0.0, 1], [0, 0]])),
        ([[0, 1], ["1/2", "1/2"]], [[7, 1], [1, -1]]),
    ],
)
def test_chains_in_any_form(P, r):
    problem = from_chain(P, r, discount=HALF)
    assert problem.on_policy
    assert np.array(problem.v_pi, dtype=float).ravel() == pytest.approx([1.2, 0.4])
    assert np.array(problem.P_b, dtype=float) == pytest.approx(np.array([[0, 1], [0.5, 0.5]]))


def test_a_chain_takes_labels_features_weights_symbols_and_ends():
    problem = from_chain(
        [[0, "p", "1-p"], [1, 0, 0], [0, 0, 0]], ["r", 1, 0], discount="9/10", states="abc",
        features={"a": [1], "b": [2], "c": [0]}, start={"a": 1},
    )  # fmt: skip
    assert problem.states == ("a", "b", "c")
    assert problem.mdp.terminal == ("c",)
    assert problem.values["c"] == 0
    assert problem.symbols == (sp.Symbol("p"), sp.Symbol("r"))
    assert problem.replace(xi=[1, 2, 3]).xi[2] == 3


@pytest.mark.parametrize(
    ("P", "r", "error", "words"),
    [
        ([[0, 1]], [1], InputError, r"P has shape \(1, 2\).*square"),
        ([0, 1], [1], InputError, r"P has shape \(2,\)"),
        ([[0, 1], [1, 0]], [1], InputError, r"r has shape \(1,\).*\(2,\) or \(2, 2\)"),
        ([[0, 1], [1, 0]], [[1, 2, 3]], InputError, r"r has shape \(1, 3\)"),
        ([[0, 1], ["1/2", "1/3"]], [1, 1], ProbabilityError, "sum to 5/6"),
        ([[0, 1], [1]], [1, 1], InputError, "P is ragged"),
        ([[0, -1], [1, 1]], [1, 1], ProbabilityError, "-1"),
    ],
)
def test_bad_chains(P, r, error, words):
    with pytest.raises(error, match=words):
        from_chain(P, r)


@pytest.mark.parametrize("seed", range(12))
def test_small_chains_have_the_classes_that_scipy_finds(seed, monkeypatch):
    from obliquetd.algebra import EXACT
    from obliquetd.mdp import chain as room

    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    rows = [[EXACT.zero] * n for _ in range(n)]
    for s in range(n):
        to = {int(t) for t in rng.integers(n, size=rng.integers(1, 3))}
        for t in to:
            rows[s][t] = EXACT.one / len(to)
    P = EXACT.matrix(rows, (n, n))
    here = room.MarkovChain(P, range(n)).classes
    monkeypatch.setattr(room, "SMALL", 0)
    assert here == room.MarkovChain(P, range(n)).classes
