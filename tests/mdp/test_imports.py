"""Containers of all kinds: arrays, graphs, environments; read rightly, or refused by name."""

import io
import json

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import sympy as sp
from hypothesis import given

from obliquetd import MDP, LoggedData, Policy, PolicyEvaluation
from obliquetd.errors import InputError, LabelError, ObliqueTDError
from obliquetd.formats.gym import load_gym
from tests.strategies import mdps

P = [np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])]
R = np.array([[1.0, 2.0], [3.0, 4.0]])


def objects(items):
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out


# Arrays


@pytest.mark.parametrize(
    "kind", ["csr_matrix", "csc_array", "coo_matrix", "lil_array", "dok_matrix", "bsr_array"]
)
@pytest.mark.parametrize("box", [list, tuple, objects])
def test_sparse_matrices_in_any_box(kind, box):
    sparse = box([getattr(scipy.sparse, kind)(layer) for layer in P])
    dense = MDP.from_arrays(np.array(P), R)
    assert MDP.from_arrays(sparse, R) == dense
    layers = box([getattr(scipy.sparse, kind)(layer * 2) for layer in P])
    by_outcome = MDP.from_arrays(sparse, np.array([2 * layer for layer in P]))
    assert MDP.from_arrays(sparse, layers) == by_outcome
    assert MDP.from_arrays(sparse, scipy.sparse.csr_matrix(R)) == dense


def test_what_came_in_is_not_changed():
    twice = scipy.sparse.coo_array(
        ([0.25, 0.25, 0.5, 1.0], ([0, 0, 0, 1], [0, 0, 1, 1])), shape=(2, 2)
    )
    MDP.from_arrays([twice], [0, 0])
    assert twice.nnz == 4


def test_sparse_beside_dense():
    assert MDP.from_arrays([scipy.sparse.csr_array(P[0]), P[1]], R) == MDP.from_arrays(
        np.array(P), R
    )


@pytest.mark.parametrize(
    ("p", "r"),
    [
        (scipy.sparse.csr_array(P[0]), [0, 0]),
        ({0: P[0]}, [0, 0]),
        (objects([scipy.sparse.csr_array(P[0]), 3]), [0, 0]),
        (objects([P[0], np.ones((3, 3))]), [0, 0]),
        ([P[0], np.ones((3, 3))], [0, 0]),
        (objects([scipy.sparse.csr_array(P[0]), scipy.sparse.eye_array(3).tocsr()]), [0, 0]),
        (np.array(P), objects([scipy.sparse.csr_array(P[0])])),
        (np.array(P), {"R": 1}),
        (np.array(P), [[1, 2], [3]]),
        (np.array(P), None),
        ([], [0]),
        (None, [0]),
        (np.array(P, dtype=complex) * 1j, R),
        (np.array(P) > 0, R),
    ],
)
def test_other_containers_are_refused_by_name(p, r):
    with pytest.raises(ObliqueTDError):
        MDP.from_arrays(p, r)


# Graphs


TWO = MDP.from_transitions([("s", "a", "s", "1/3", 0), ("s", "a", "s", "2/3", 1)])


def test_networkx_writes_the_graph(tmp_path):
    for mdp in (TWO, MDP.from_transitions([("s", "a", "s", "1/3", 0), ("s", "a", "s", "1/3", 1),
                                           ("s", "a", "s", "1/3", 2), ("s", "a (2)", "s", 1, 7)])):  # fmt: skip
        graph = mdp.graph
        data = json.loads(json.dumps(nx.node_link_data(graph)))
        assert MDP.from_graph(nx.node_link_graph(data)) == mdp
        nx.write_graphml(graph, tmp_path / "g.graphml")
        again = nx.read_graphml(tmp_path / "g.graphml", force_multigraph=True)
        assert MDP.from_graph(again) == mdp
        nx.write_gexf(graph, io.BytesIO())
        nx.write_gml(graph, io.BytesIO())


@given(mdps())
def test_graphs_come_back_from_json(mdp):
    data = json.loads(json.dumps(nx.node_link_data(mdp.graph)))
    assert MDP.from_graph(nx.node_link_graph(data)) == mdp


@pytest.mark.parametrize("actions", ["{", "3", '["b"]'])
def test_a_broken_order_of_actions(actions):
    graph = TWO.graph.copy()
    graph.graph["actions"] = actions
    with pytest.raises(InputError, match=r"actions|action 'a'"):
        MDP.from_graph(graph)


@pytest.mark.parametrize(
    "text",
    ["", "[", "[" * 100_000, "3", "{}", '{"states": 3, "actions": [], "transitions": []}',
     '{"states": [{"x": 1}], "actions": ["a"], "transitions": [[{"x": 1}, "a", "s", 1, 0]]}',
     '{"states": ["s"], "actions": ["a"], "transitions": [["s", "a", "s", 1, NaN]]}',
     '{"states": [1e999], "actions": ["a"], "transitions": [[1e999, "a", 1e999, 1, 0]]}',
     '{"states": ["s"], "actions": ["a"], "transitions": ["sasxy"]}'],
)  # fmt: skip
def test_json_that_is_no_mdp_is_one_error(text):
    with pytest.raises(ObliqueTDError):
        MDP.from_json(text)


# Environments


class Table:
    """An environment with a table and nothing else."""

    def __init__(self, table, start=(1.0, 0.0)):
        self.P, self.initial_state_distrib = table, np.array(start)


CELLS = [[[(0.5, 1, 2.0, False), (0.5, 0, 0.0, False)], [(1.0, 0, 1.0, True)]],
         [[(1.0, 0, 3.0, True)], [(1.0, 1, 0.0, False)]]]  # fmt: skip


@pytest.mark.parametrize(
    "table",
    [
        CELLS,
        tuple(map(tuple, CELLS)),
        {s: dict(enumerate(row)) for s, row in enumerate(CELLS)},
        dict(enumerate(CELLS)),
        {
            np.int64(s): {np.int64(a): np.array(o, dtype=object) for a, o in enumerate(row)}
            for s, row in enumerate(CELLS)
        },
        {(s, a): o for s, row in enumerate(CELLS) for a, o in enumerate(row)},
        {1: CELLS[1], 0: CELLS[0]},
    ],
    ids=["lists", "tuples", "mappings", "mixed", "numpy", "pairs", "order"],
)
def test_tables_in_any_container(table):
    mdp = MDP.from_gymnasium(Table(table))
    assert [tuple(r) for r in mdp.transitions] == [
        (0, 0, 0, 0.5, 0, 1), (0, 0, 1, 0.5, 2, 1), (0, 1, 0, 1, 1, 0), (1, 0, 0, 1, 3, 0), (1, 1, 1, 1, 0, 1)
    ]  # fmt: skip


def test_states_that_are_tuples():
    cells = {
        (0, 0): {"go": [(1.0, (0, 1), 1.0, False)]},
        (0, 1): {"go": [(1.0, (0, 0), 0.0, True)]},
    }
    mdp = MDP.from_gymnasium(Table(cells))
    assert mdp.states == ((0, 0), (0, 1))
    assert [r.discount for r in mdp.transitions] == [1, 0]
    listed = {s: list(row.values()) for s, row in cells.items()}
    assert MDP.from_gymnasium(Table(listed)).actions == (0,)


def test_outcomes_without_done_never_end():
    env = Table({0: {0: [(1.0, 1, 2.0)]}, 1: {0: [(0.5, 0, 1.0), (0.5, 1, 0.0)]}})
    del env.initial_state_distrib
    assert [r.discount for r in MDP.from_gymnasium(env).transitions] == [1, 1, 1]


@pytest.mark.parametrize(
    "table",
    [
        {0: {0: [(1.0, 0)]}}, {0: {0: [1.0]}}, {0: 3}, 7, {0: {0: None}}, {0: {0: [("x", 0, 1.0, False)]}},
        {0: {0: [(1.0, [{}], 1.0, False)]}}, {0: {0: [(1.0, 9, 1.0, False)]}}, {0: {0: []}}, {}, [],
    ],
)  # fmt: skip
def test_broken_tables_are_one_error(table):
    with pytest.raises(ObliqueTDError):
        MDP.from_gymnasium(Table(table, (1.0,)))


def test_a_start_that_does_not_fit():
    with pytest.raises(InputError, match="3 entries for 2 states"):
        MDP.from_gymnasium(Table(CELLS, (1.0, 0.0, 0.0)))


gymnasium = pytest.importorskip("gymnasium")
LAKE = {"id": "FrozenLake-v1", "is_slippery": False}


class Shout(gymnasium.Wrapper):
    def step(self, action):
        observation, reward, *rest = self.env.step(action)
        return observation, reward + 1, *rest


class Elsewhere(gymnasium.Wrapper):
    def reset(self, **options):
        return 5, self.env.reset(**options)[1]


class Quiet(gymnasium.Wrapper):
    """Changes nothing."""

    def close(self):
        return self.env.close()


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: gymnasium.wrappers.TransformReward(env, lambda r: 10 * r),
        lambda env: gymnasium.wrappers.ClipReward(env, -0.5, 0.5),
        lambda env: gymnasium.wrappers.NormalizeReward(env),
        lambda env: gymnasium.wrappers.StickyAction(env, 0.5),
        lambda env: gymnasium.wrappers.TransformAction(env, lambda a: 3 - a, env.action_space),
        lambda env: gymnasium.wrappers.TransformObservation(
            env, lambda s: 15 - s, env.observation_space
        ),
        lambda env: gymnasium.wrappers.TimeLimit(gymnasium.wrappers.TransformReward(env, abs), 5),
        Shout,
        Elsewhere,
    ],
)
def test_wrappers_that_change_the_process_are_refused(wrap):
    env = gymnasium.make(**LAKE)
    with pytest.raises(InputError, match=r"wrapped in \w+, which may change.*env\.unwrapped"):
        MDP.from_gymnasium(wrap(env))
    assert MDP.from_gymnasium(wrap(env).unwrapped) == MDP.from_gymnasium(env)


@pytest.mark.parametrize(
    "wrap",
    [
        Quiet,
        lambda env: gymnasium.wrappers.TimeLimit(env, 5),
        gymnasium.wrappers.RecordEpisodeStatistics,
        gymnasium.wrappers.Autoreset,
    ],
)
def test_wrappers_that_change_nothing_are_read_through(wrap):
    env = gymnasium.make(**LAKE)
    assert MDP.from_gymnasium(wrap(env)) == MDP.from_gymnasium(env)


def taxi():
    return next(
        name for name in gymnasium.registry if name.startswith("Taxi-v4") or name == "Taxi-v3"
    )


def test_a_fickle_passenger_is_refused():
    with pytest.raises(InputError, match=r"fickle passenger.*fickle_passenger=False"):
        load_gym(f"{taxi()}?fickle_passenger=true", discount="9/10")
    assert (
        len(load_gym(f"{taxi()}?fickle_passenger=false&is_rainy=true", discount=0.9).states) == 500
    )


class Liar(gymnasium.Env):
    """Pays another reward than its table says."""

    def __init__(self, honest):
        self.P, self.initial_state_distrib, self.s, self.extra = (
            CELLS,
            np.array([1.0, 0.0]),
            0,
            0 if honest else 1,
        )
        self.action_space = gymnasium.spaces.Discrete(2)
        self.observation_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.s = 0
        return 0, {}

    def step(self, action):
        outcomes = self.P[self.s][action]
        _, self.s, reward, done = outcomes[
            int(self.np_random.choice(len(outcomes), p=[o[0] for o in outcomes]))
        ]
        return self.s, reward + self.extra, done, False, {}


class SubclassedLake(type(gymnasium.make(**LAKE).unwrapped)):
    """A lake whose steps cost something that its table does not say."""

    def step(self, a):
        s, reward, *rest = super().step(a)
        return s, reward - 0.01, *rest


def test_a_process_that_does_what_its_table_does_not_say_is_refused():
    env = Liar(honest=False)
    with pytest.raises(InputError, match="which its table P does not have"):
        MDP.from_gymnasium(env)
    assert MDP.from_gymnasium(Liar(honest=True)) == MDP.from_gymnasium(Table(CELLS))
    with pytest.raises(InputError, match="which its table P does not have"):
        MDP.from_gymnasium(SubclassedLake(is_slippery=False))


def test_environments_without_a_table_are_named():
    for name in ("Blackjack-v1", "CartPole-v1"):
        with pytest.raises(InputError, match="no transition table P"):
            MDP.from_gymnasium(gymnasium.make(name))


# Logs from environments


class Everywhere(dict):
    """One entry for every observation."""

    def __init__(self, value):
        super().__init__()
        self.value = value

    def __missing__(self, key):
        assert isinstance(key, tuple)
        assert all(type(x) is int for x in key)
        return self.value

    def __contains__(self, key):
        return True


def test_blackjack_is_logged():
    env = gymnasium.make("Blackjack-v1")
    half = Everywhere({0: sp.Rational(1, 2), 1: sp.Rational(1, 2)})
    data = LoggedData.collect(env, half, Everywhere([1.0, 2.0]), 200, 0, target=Everywhere({0: 1}))
    assert data.outcomes.features.shape == (400, 2)
    assert set(data.outcomes.rho.tolist()) == {0.0, 2.0}
    assert set(data.outcomes.discount.tolist()) == {0.0, 1.0}


def test_observations_that_nobody_knows_are_named():
    env = gymnasium.make("Blackjack-v1")
    with pytest.raises(
        LabelError, match=r"the behaviour policy does not know the observation \(\d+, \d+, [01]\)"
    ):
        LoggedData.collect(env, {}, Everywhere([1.0]), 5, 0)
    with pytest.raises(ObliqueTDError, match="features"):
        LoggedData.collect(env, Everywhere({0: 1}), {}, 5, 0)
    with pytest.raises(ObliqueTDError):
        LoggedData.collect(gymnasium.make("CartPole-v1"), {}, {}, 5, 0)


def test_discrete_observations_are_logged_as_before():
    env = gymnasium.make(**LAKE)
    mdp = MDP.from_gymnasium(env)
    pi = Policy.uniform(mdp)
    problem = PolicyEvaluation(mdp, target=pi, discount=0.9)
    data = LoggedData.collect(env, pi, dict(enumerate(np.eye(16).tolist())), 300, 1, discount=0.9)
    assert problem.on_policy
    assert set(data.outcomes.rho.tolist()) == {1.0}
