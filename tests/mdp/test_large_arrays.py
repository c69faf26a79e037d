"""Models of many states: classes, arrays that are taken as they are, and the errors that they keep."""

import math
import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.algebra import FloatMatrix
from obliquetd.errors import FeatureError, InputError, NumberError, ProbabilityError
from obliquetd.mdp.chain import MarkovChain
from obliquetd.problem.native import leading_to


def classes_by_networkx(P):
    """The route before: strong components, closedness by successors, periods by levels."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(P)))
    graph.add_edges_from(np.argwhere(P).tolist())
    found = []
    for members in nx.strongly_connected_components(graph):
        inside = graph.subgraph(members)
        level = nx.single_source_shortest_path_length(inside, min(members))
        period = math.gcd(*(level[u] + 1 - level[v] for u, v in inside.edges))
        closed = all(v in members for u in members for v in graph.successors(u))
        found.append((tuple(sorted(members)), closed, period))
    return sorted(found)


@given(st.integers(1, 9), st.integers(0, 10_000), st.floats(0.05, 0.5))
def test_classes_periods_and_what_leads_where_are_those_of_networkx(n, seed, filled):
    rng = np.random.default_rng(seed)
    P = (rng.random((n, n)) < filled).astype(float)
    chain = MarkovChain(FloatMatrix(P), range(n))
    assert [(c.states, c.closed, c.period) for c in chain.classes] == classes_by_networkx(P)
    graph = nx.DiGraph(np.argwhere(P).tolist())
    graph.add_nodes_from(range(n))
    goal = {0, n - 1}
    assert leading_to(FloatMatrix(P), goal) == goal.union(*(nx.ancestors(graph, g) for g in goal))
    assert leading_to(FloatMatrix(P), []) == set()


@pytest.mark.parametrize("length", [2, 3, 12])
def test_a_ring_with_a_way_in_has_its_period_and_a_transient_state(length):
    P = np.zeros((length + 1, length + 1))
    P[np.arange(1, length + 1), np.arange(1, length + 1) % length + 1] = 1
    P[0, 1] = 1
    classes = MarkovChain(FloatMatrix(P), range(length + 1)).classes
    assert [(c.closed, c.period) for c in classes] == [(False, 0), (True, length)]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("form", ["array", "mapping", "column", "sparse"])
def test_an_array_of_features_makes_the_problem_that_lists_make(kind, form):
    n = 6
    P = np.full((n, n), 1 / n)
    Phi = np.random.default_rng(0).random((n, 1 if form == "column" else 2)).astype(kind)
    given_as = {
        "array": Phi, "column": Phi[:, 0], "mapping": dict(enumerate(Phi.astype(float))),
        "sparse": sparse.csr_array(Phi),
    }[form]  # fmt: skip
    made = PolicyEvaluation.from_chain(P, np.arange(n), discount=0.9, features=given_as)
    lists = made.replace(features=Phi.tolist())
    assert (made.Phi == lists.Phi).all()
    assert (made.fixed_point("td").theta == lists.fixed_point("td").theta).all()
    exact, plain = (x.replace(arithmetic="exact") for x in (made, lists))
    assert exact.Phi == plain.Phi
    assert made.replace(discount=0.5).v_pi == pytest.approx(lists.replace(discount=0.5).v_pi, rel=0)
    held = np.array(made.Phi)
    Phi[:] = 0  # the problem keeps a copy
    assert (np.array(made.replace(discount=0.8).Phi) == held).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_feature_that_is_no_number_is_named(bad):
    Phi = np.ones((3, 2))
    Phi[1, 1] = Phi[2, 0] = bad
    with pytest.raises(
        NumberError, match=f"feature 1 of state 1 is {bad}; expected a finite number"
    ):
        PolicyEvaluation.from_chain(np.full((3, 3), 1 / 3), np.ones(3), features=Phi)
    with pytest.raises(FeatureError, match="has 4 rows for 3 states"):
        PolicyEvaluation.from_chain(np.full((3, 3), 1 / 3), np.ones(3), features=np.ones((4, 2)))
    tiny = np.column_stack([np.ones(3), np.full(3, 1e-310)])
    with pytest.raises(NumberError, match=r"feature 1: the largest size is 1\.0e-310"):
        PolicyEvaluation.from_chain(np.full((3, 3), 1 / 3), np.ones(3), features=tiny)


@pytest.mark.parametrize("form", [lambda P: [P], lambda P: [sparse.csr_array(P)]])
def test_the_first_row_of_floats_that_is_off_is_named(form):
    P = np.full((4, 4), 0.25)
    P[2] *= 1.5
    P[3] *= 2
    with pytest.raises(
        ProbabilityError, match=r"state 2, action 0: the probabilities sum to 1\.5"
    ) as e:
        MDP.from_arrays(form(P), np.zeros(4))
    assert (e.value.state, e.value.action) == (2, 0)
    divided = MDP.from_arrays(form(P), np.zeros(4), normalize=True)
    assert divided.table.probability.tolist() == [0.25] * 16
    with pytest.raises(NumberError, match="R is nan for the transition 1 -> 0 under action 0"):
        MDP.from_arrays(form(np.full((4, 4), 0.25)), np.array([0, np.nan, 0, np.nan]))


def test_integers_of_an_array_stay_exact_and_are_read_once():
    mdp = MDP.from_arrays([np.eye(3, dtype=int)], np.array([2**60 + 1, -1, 2**60 + 1]))
    assert mdp.kind == {"exact"}
    assert [row.reward for row in mdp.transitions] == [2**60 + 1, -1, 2**60 + 1]
    assert [row.discount for row in mdp.transitions] == [1, 1, 1]


def test_states_that_share_a_row_of_a_policy_share_its_checks_and_nothing_else():
    row = {"l": "1/2", "r": "1/2"}
    policy = Policy(dict.fromkeys("abc", row))
    row["l"] = "1"
    assert policy == Policy({s: {"l": "1/2", "r": "1/2"} for s in "abc"})
    with pytest.raises(ProbabilityError, match="in state 'a'"):
        Policy(dict.fromkeys("abc", row))


def unsorted(layer):
    """Each row's entries in the reverse order, and buffers that are longer than they need be."""
    found = sparse.csr_array(layer)
    for i in range(found.shape[0]):
        own = slice(found.indptr[i], found.indptr[i + 1])
        found.indices[own], found.data[own] = found.indices[own][::-1], found.data[own][::-1]
    spare = np.zeros(3)
    parts = np.r_[found.data, spare], np.r_[found.indices, spare.astype(int)], found.indptr
    return sparse.csr_array(parts, found.shape)


def in_halves(layer):
    """Each entry twice by its half, and a zero that is kept."""
    halves = sparse.coo_array(layer / 2)
    i, j = (np.r_[x, x, 0] for x in halves.coords)
    values = np.r_[halves.data, halves.data, 0.0]
    order = np.argsort(i, kind="stable")
    ends = np.cumsum(np.bincount(i, minlength=len(layer)))
    return sparse.csr_array((values[order], j[order], np.r_[0, ends]), layer.shape)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 10_000))
@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.csc_array, sparse.coo_matrix, unsorted, in_halves, np.array]
)
def test_layers_of_any_form_make_the_table_of_their_rows(form, n, k, seed):
    rng = np.random.default_rng(seed)
    P = rng.integers(0, 4, (k, n, n)) * (rng.random((k, n, 1)) < 0.7)
    total = P.sum(axis=2, keepdims=True)
    P = P / np.where(total > 0, total, 1)
    R, D = rng.random((k, n, n)), rng.random((k, n, n))
    made = MDP.from_arrays([form(layer) for layer in P], R, discount=D)
    rows = [
        (s, a, t, P[a, s, t], R[a, s, t], D[a, s, t])
        for s, a, t in np.ndindex(n, k, n)
        if P[a, s, t]
    ]
    assert list(made.table.rows()) == rows
    assert made.table.starts.tolist() == [
        i for i, row in enumerate(rows) if not i or rows[i - 1][:2] != row[:2]
    ]
    assert pickle.loads(pickle.dumps(made)) == made


@pytest.mark.parametrize("actions", [1, 2])
def test_matrices_of_no_state_make_no_model(actions):
    with pytest.raises(InputError, match="the model has no state"):
        MDP.from_arrays([sparse.csr_array((0, 0))] * actions, np.zeros(0))


def test_nothing_of_a_sparse_matrix_is_shared_with_the_model():
    P, r = sparse.csr_array(np.full((3, 3), 1 / 3)), np.arange(3.0)
    mdp = MDP.from_arrays([P], r)
    before = list(mdp.table.rows())
    P.data[:], P.indices[:], r[:] = 0, 0, 9
    assert list(mdp.table.rows()) == before
