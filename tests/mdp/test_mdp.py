import json
import math
import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import sympy as sp
from hypothesis import given

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.errors import (
    DiscountError,
    InputError,
    LabelError,
    ModelFileError,
    NumberError,
    ProbabilityError,
)
from tests.strategies import mdps

ROWS = [
    ("s", "a", "t", 1, 1),
    ("s", "b", "t", "1/3", 3),
    ("s", "b", "s", "2/3", 0),
    ("t", "a", "s", "1/2", 0),
    ("t", "a", "t", "1/2", 2),
]


def test_order_of_first_appearance_is_kept():
    mdp = MDP.from_transitions(
        [("z", "q", "y", 1, 0), ("y", "p", "x", 1, 0), ("x", "q", "z", 1, 0)]
    )
    assert mdp.states == ("z", "y", "x")
    assert mdp.actions == ("q", "p")


def test_labels_are_any_hashable():
    states = [(0, 1), frozenset({3}), ("x", "y"), 2.5]
    rows = [
        (s, sp.Symbol("go"), t, 1, 0) for s, t in zip(states, states[1:] + states[:1], strict=True)
    ]
    mdp = MDP.from_transitions(rows)
    assert mdp.states == tuple(states)
    assert MDP.from_graph(mdp.graph) == mdp


@given(mdps())
def test_graph_and_json_round_trips_are_exact(mdp):
    assert MDP.from_graph(mdp.graph) == mdp
    assert MDP.from_json(mdp.to_json()) == mdp
    assert mdp.graph.number_of_edges() == len(mdp.table)


def test_parallel_edges_of_two_actions_and_of_two_outcomes_survive():
    rows = [*ROWS, ("t", "b", "s", "1/4", 5), ("t", "b", "s", "3/4", -5)]
    mdp = MDP.from_transitions(rows)
    graph = mdp.graph
    assert graph.number_of_edges("t", "s") == 3
    again = MDP.from_graph(graph)
    assert again == mdp
    assert sorted(r.reward for r in again.transitions if r[:2] == ("t", "b")) == [-5, 5]


def test_outcomes_that_differ_in_probability_alone_are_added():
    rows = [("s", "a", "s", 1 / 3, 0), ("s", "a", "s", 1 / 3, 0), ("s", "a", "s", 1 / 3, 1)]
    mdp = MDP.from_transitions(rows)
    assert [r.probability for r in mdp.to_exact().transitions] == [
        sp.Rational(2, 3),
        sp.Rational(1, 3),
    ]
    assert sum(r.probability for r in mdp.transitions) == 1.0


def test_arrays_graphs_and_rows_agree():
    mdp = MDP.from_transitions(ROWS, actions=["a", "b"])
    P = [[["0", "1"], ["1/2", "1/2"]], [["2/3", "1/3"], ["0", "0"]]]
    R = [[[0, 1], [0, 2]], [[0, 3], [0, 0]]]
    assert MDP.from_arrays(P, R, states=["s", "t"], actions=["a", "b"]) == mdp
    graph = nx.MultiDiGraph()
    for s, a, t, p, r in ROWS:
        graph.add_edge(s, t, key=a, probability=p, reward=r)
    assert MDP.from_graph(graph) == mdp


def test_reward_shapes_mean_what_they_say():
    P = np.array([[[0.5, 0.5], [0, 1]], [[1, 0], [0.25, 0.75]]])
    by_state = MDP.from_arrays(P, [1, 2])
    by_action = MDP.from_arrays(P, [[1, 1], [2, 2]])
    by_transition = MDP.from_arrays(P, np.array([[[1, 1], [2, 2]]] * 2))
    assert by_state == by_action == by_transition
    sparse = MDP.from_arrays([scipy.sparse.csr_array(p) for p in P], [1, 2])
    assert sparse == by_state
    rewards = [scipy.sparse.csr_array(np.array([[1, 1], [2, 2]]))] * 2
    values = [
        float(r.reward)
        for r in MDP.from_arrays([scipy.sparse.csr_array(p) for p in P], rewards).transitions
    ]
    assert values == [float(r.reward) for r in by_state.transitions]


def test_own_discounts_of_arrays():
    mdp = MDP.from_arrays([[[0, 1], [1, 0]]], [0, 1], discount=[[[1, 1], [0, 0]]])
    assert [r.discount for r in mdp.transitions] == [1, 0]


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        ([("s", "a", "s", "1/2", 0)], ProbabilityError, ["'s'", "'a'", "1/2"]),
        ([("s", "a", "s", 0.99999, 0)], ProbabilityError, ["'s'", "'a'", "0.99999"]),
        ([("s", "a", "s", "3/2", 0), ("s", "a", "t", "-1/2", 0)], ProbabilityError, ["3/2"]),
        (
            [("s", "a", "s", "-1/2", 0), ("s", "a", "t", "3/2", 0)],
            ProbabilityError,
            ["-1/2", "'s'"],
        ),
        ([("s", "a", "s", float("nan"), 0)], NumberError, ["probability", "nan"]),
        ([("s", "a", "s", 1, float("inf"))], NumberError, ["reward", "inf"]),
        ([("s", "a", "s", "1/0", 0)], NumberError, ["1/0", "zero"]),
        ([("s", "a", "s", 1, 0, 2)], DiscountError, ["2", "'s'"]),
        ([("s", "a", "s", 1, 0, -0.5)], DiscountError, ["-0.5"]),
        ([("s", "a", "s", 1)], InputError, ["row 0", "probability"]),
        ([([], "a", "s", 1, 0)], LabelError, ["hashable"]),
        (["sas10"], InputError, ["row 0"]),
        ([], InputError, ["no state"]),
        ([("s", "a", "s", "p", 0), ("s", "a", "t", "p", 0)], ProbabilityError, ["2*p", "2*p - 1"]),
    ],
)
def test_bad_rows_are_refused_with_place_and_value(rows, error, words):
    with pytest.raises(error) as caught:
        MDP.from_transitions(rows)
    for word in words:
        assert word in str(caught.value)


def test_probability_error_carries_its_facts():
    with pytest.raises(ProbabilityError) as caught:
        MDP.from_transitions([("s", "a", "s", "1/3", 0), ("s", "a", "t", "1/3", 0)])
    assert (caught.value.state, caught.value.action, caught.value.total) == (
        "s",
        "a",
        sp.Rational(2, 3),
    )


def test_normalize_divides_only_when_asked():
    rows = [("s", "a", "s", "1/2", 0), ("s", "a", "t", "1/4", 0), ("t", "a", "t", 1, 0)]
    mdp = MDP.from_transitions(rows, normalize=True)
    assert [r.probability for r in mdp.transitions][:2] == [sp.Rational(2, 3), sp.Rational(1, 3)]


def test_symbolic_rows_are_checked_after_simplification():
    rows = [
        ("s", "a", "s", "(1 - p**2)/(1 + p)", 0),
        ("s", "a", "t", "p", 0),
        ("t", "a", "t", 1, 0),
    ]
    mdp = MDP.from_transitions(rows)
    with pytest.raises(ProbabilityError, match="-1"):
        mdp.subs({"p": 2})
    assert next(mdp.subs({"p": "1/4"}).transitions).probability == sp.Rational(3, 4)


def test_a_probability_that_becomes_zero_leaves_the_table():
    rows = [("s", "a", "s", "1-p", 0), ("s", "a", "t", "p", 0), ("t", "a", "t", 1, 0)]
    assert len(MDP.from_transitions(rows).subs({"p": 1}).table) == 2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MDP.from_arrays(np.ones((2, 2)), [0, 0]), "shape"),
        (lambda: MDP.from_arrays([[[1, 0], [0, 1]]], [0, 0, 0]), r"R has shape \(3,\)"),
        (lambda: MDP.from_arrays([[[1, 0], [1]]], [0, 0]), "ragged"),
        (lambda: MDP.from_arrays([[[0.5, 0.25], [0, 1]]], [0, 0]), "state 0, action 0"),
        (lambda: MDP.from_arrays(np.array([[[np.nan, 1], [0, 1]]]), [0, 0]), "nan"),
        (lambda: MDP.from_arrays(scipy.sparse.eye_array(2), [0, 0]), "list"),
        (lambda: MDP.from_arrays([[[1, 0], [0, 1]]], [0, 0], states=["x", "x"]), "distinct"),
        (lambda: MDP.from_graph(nx.DiGraph([(0, 1)])), "MultiDiGraph"),
        (lambda: MDP.from_graph(nx.MultiDiGraph([(0, 1)])), "probability"),
        (lambda: MDP.from_transitions(ROWS, states=["s"]), "'t'"),
        (lambda: MDP.from_transitions(ROWS, states=["s", "t", "s"]), "twice"),
        (lambda: MDP.from_transitions(ROWS, terminal=["u"]), "'u'"),
        (lambda: MDP.from_transitions(ROWS, terminal=["t"]), "declared terminal"),
        (lambda: MDP.from_gymnasium(object()), "transition table"),
    ],
)
def test_bad_arrays_and_graphs(call, words):
    with pytest.raises(InputError, match=words):
        call()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"states": []}',
        "null",
        '{"states": [1], "actions": [1], "transitions": 3}',
    ],
)
def test_malformed_json(text):
    with pytest.raises((ModelFileError, InputError)):
        MDP.from_json(text)


def test_json_is_strict_and_labels_that_cannot_return_are_refused():
    mdp = MDP.from_transitions([((0, 1), "a", (0, 1), 1, "1/3")])
    assert json.loads(mdp.to_json())["transitions"][0][4] == "1/3"
    with pytest.raises(LabelError, match="frozenset"):
        MDP.from_transitions([(frozenset(), "a", frozenset(), 1, 0)]).to_json()


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1"])
def test_gymnasium_tables_have_a_stationary_distribution(name):
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make(name)
    mdp = MDP.from_gymnasium(env)
    assert mdp.states == tuple(range(env.observation_space.n))
    assert mdp.actions == tuple(range(env.action_space.n))
    exact = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="99/100", arithmetic="exact")
    floats = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=0.99)
    assert floats.arithmetic == "float"
    assert sum(exact.xi) == 1
    assert len(exact.chain.recurrent) == 1
    for name_ in ("xi", "v_pi", "best"):
        gap = np.array(getattr(exact, name_), dtype=float).ravel() - getattr(floats, name_)
        assert np.abs(gap).max() < 1e-9
    dens = {d for r in mdp.to_exact().transitions for d in [r.probability.q]}
    assert dens <= {1, 3} if name == "FrozenLake-v1" else {1}


def test_restarts_close_the_chain_and_keep_the_rewards():
    mdp = MDP.from_transitions(
        [("a", "go", "b", 1, 1), ("b", "go", "a", "1/2", 0), ("b", "go", "end", "1/2", 4)]
    )
    closed = mdp.with_restarts({"a": "1/2", "b": "1/2"})
    assert closed.states == ("a", "b")
    problem = PolicyEvaluation(closed, target=Policy.uniform(closed), discount=1)
    episodic = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=1)
    assert problem.values == {s: episodic.values[s] for s in "ab"}
    # expected visits an episode, from the fundamental matrix of the absorbing chain
    visits = (
        sp.Matrix([[sp.Rational(1, 2), sp.Rational(1, 2)]])
        * sp.Matrix([[1, -1], [-sp.Rational(1, 2), 1]]).inv()
    )
    assert visits / sum(visits) == problem.xi.T
    with pytest.raises(ProbabilityError, match="3/4"):
        mdp.with_restarts({"a": "3/4"})
    with pytest.raises(LabelError, match="terminal"):
        mdp.with_restarts({"end": 1})


def test_printing_never_raises_even_with_huge_numbers():
    huge = sp.Rational(1, 3**20000)
    mdp = MDP.from_transitions(
        [("s", "a", "s", huge, 0), ("s", "a", "t", 1 - huge, huge), ("t", "a", "s", 1, 0)]
    )
    assert "digits" in str(mdp)
    assert MDP.from_json(mdp.to_json()) == mdp


SHORT = {
    "text": ["0.3333333333333333"] * 3,
    "storm": [0.3333333333] * 3,
    "float32": [float(np.float32(x)) for x in (0.1, 0.2, 0.7)],
    "decimals": ["0.333", "0.333", "0.333"],
}


def doors(row, **words):
    """An MDP with one row of these probabilities, by way of each constructor."""
    rows = [("s", "a", t, p, 0) for t, p in zip("stu", row, strict=True)]
    rows += [(s, "a", "s", 1, 0) for s in "tu"]
    P = np.array([[row, [1, 0, 0], [1, 0, 0]]], dtype=object)
    graph = nx.MultiDiGraph()
    for s, a, t, p, r in rows:
        graph.add_edge(s, t, a, probability=p, reward=r)
    data = {"states": list("stu"), "actions": ["a"], "transitions": rows}
    return {
        "from_transitions": lambda: MDP.from_transitions(rows, **words),
        "from_arrays": lambda: MDP.from_arrays(P, [0, 0, 0], **words),
        "from_graph": lambda: MDP.from_graph(graph, **words),
        "from_dict": lambda: MDP.from_dict(data, **words),
        "from_json": lambda: MDP.from_json(json.dumps(data), **words),
        "Policy": lambda: Policy({"s": dict(enumerate(row))}, **words),
    }


@pytest.mark.parametrize("row", SHORT.values(), ids=SHORT)
@pytest.mark.parametrize("door", doors([1, 0, 0]))
def test_rounded_rows_are_refused_and_the_advice_works_at_every_door(row, door):
    with pytest.raises(ProbabilityError, match="normalize=True"):
        doors(row)[door]()
    for words in ({"normalize": True}, {"tolerance": 0.01}, {"tolerance": "1/100"}):
        made = doors(row, **words)[door]()
        exact = made.to_exact()
        if isinstance(exact, MDP):
            assert sum(r.probability for r in exact.transitions if r.state == exact.states[0]) == 1
        else:
            assert sum(exact["s"].values()) == 1
    with pytest.raises(ProbabilityError, match=r"within the tolerance .*(without|normalize=True)"):
        doors(row, tolerance="1e-17")[door]()


def test_a_tolerance_leaves_a_defect_alone():
    rows = [("s", "a", "s", "0.5", 0), ("s", "a", "t", "0.4", 0), ("t", "a", "s", "0.999999", 0)]
    with pytest.raises(ProbabilityError, match="state 's'"):
        MDP.from_transitions(rows, tolerance=1e-5)
    with pytest.raises(ProbabilityError, match="state 's'"):
        MDP.from_transitions(rows, tolerance=1e-5, normalize=True)
    for bad in (-1, "x", float("nan"), "1/0"):
        with pytest.raises(NumberError, match="tolerance"):
            MDP.from_transitions(rows, tolerance=bad)


def test_a_float_and_a_formula_in_one_row():
    rows = [("s", "a", "s", 0.25, 0), ("s", "a", "t", "p", 0), ("s", "a", "u", "3/4 - p", 0),
            ("t", "a", "s", 1, 0), ("u", "a", "s", 1, 0)]  # fmt: skip
    mdp = MDP.from_transitions(rows)
    read = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=0.5, arithmetic="symbolic")
    assert read.P_pi[0, 0] == sp.Rational(1, 4)
    with pytest.raises(ProbabilityError, match=r"'s'.*sum to"):
        MDP.from_transitions([("s", "a", "s", 0.25, 0), ("s", "a", "t", "p", 0)])
    assert Policy({"s": {"a": 0.5, "b": "p", "c": "1/2 - p"}}).to_exact()["s"]["a"] == sp.Rational(
        1, 2
    )


@pytest.mark.parametrize(
    "label", [["a", {}], {"a": 1}, ("a", [1]), float("nan"), float("inf"), -math.inf, ("a", math.nan)],
    ids=str,
)  # fmt: skip
def test_labels_that_cannot_name_anything(label):
    for place in range(3):
        row = ["s", "a", "s", 1, 0]
        row[place] = label
        with pytest.raises(LabelError, match="label"):
            MDP.from_transitions([tuple(row)])
    for make in (
        lambda: MDP.from_transitions([("s", "a", "s", 1, 0)], states=["s", label]),
        lambda: MDP.from_arrays([[[1]]], [0], states=[label]),
        lambda: MDP.from_arrays([[[1]]], [0], actions=[label]),
    ):
        with pytest.raises(LabelError, match="label"):
            make()


@pytest.mark.parametrize("bad", [-math.inf, math.inf, math.nan])
@pytest.mark.parametrize("kind", [float, object])
def test_a_reward_that_is_no_number_is_named_with_its_transition(bad, kind):
    P = np.array([[[0.5, 0.5], [1, 0]]])
    for R in ([[0.0], [bad]], np.array([[[0, 0], [bad, 0]]], dtype=kind), [0, bad]):
        with pytest.raises(NumberError, match="for the transition 1 -> 0 under action 0"):
            MDP.from_arrays(P, np.array(R, dtype=kind))
    impossible = np.array([[[0, 0], [0, bad]]], dtype=float)  # no transition is there
    assert len(MDP.from_arrays(P, impossible).table) == 3


@pytest.mark.parametrize("discount", [["9/10"], {"a": 1}, ("9/10",), b"9/10"])
def test_a_discount_that_is_no_number(discount):
    mdp = MDP.from_transitions([("s", "a", "s", 1, 0)])
    with pytest.raises(NumberError, match="discount"):
        PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=discount)


@pytest.mark.parametrize(
    ("rows", "order"),
    [
        ([(0, 3), (1, 0), (2, 1)], (0, 1, 2, 3)),
        ([(0, 3), (3, 1), (1, 2), (2, 0)], (0, 3, 1, 2)),
        ([("b", "end"), ("a", "b")], ("b", "a", "end")),
        ([(2, 5), (2, 4), (1, 4)], (2, 1, 5, 4)),
        ([("s", "s")], ("s",)),
    ],
)
def test_states_stand_in_the_order_in_which_their_own_rows_begin(rows, order):
    full = [
        (s, f"to {t}", t, 1, 0) for s, t in rows
    ]  # one action a row, so that every row has probability 1
    mdp = MDP.from_transitions(full)
    assert mdp.states == order
    assert MDP.from_json(mdp.to_json()).states == order
    assert MDP.from_graph(mdp.graph).states == order
    assert pickle.loads(pickle.dumps(mdp)) == mdp
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features=[[k] for k in range(len(order))], discount="1/2"
    )
    assert list(problem.Phi) == list(range(len(order)))
    turned = MDP.from_transitions(full, states=order[::-1])
    assert turned.states == order[::-1]


def test_a_declared_terminal_state_stands_where_its_own_loop_does():
    rows = [("s", "a", "end", 1, 3), ("end", "a", "end", 1, 0), ("t", "a", "s", 1, 0)]
    assert MDP.from_transitions(rows, terminal=["end"]).states == ("s", "end", "t")
