"""Where transition rows come from and go to: arrays, graphs, Gymnasium, JSON labels.

Everything here returns plain rows or tables; :class:`obliquetd.mdp.model.MDP` checks them.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
import sympy as sp

from obliquetd.algebra import number_text, parse_number
from obliquetd.errors import InputError, LabelError, NumberError
from obliquetd.mdp.table import Column, Table, column, product

__all__: list[str] = []

Row = tuple[Any, Any, Any, Any, Any, Any]


def shown(labels: Sequence[Any], most: int = 10) -> str:
    """Labels for an error message."""
    listed = ", ".join(repr(x) for x in labels[:most])
    return listed + (f", ... ({len(labels)} in all)" if len(labels) > most else "")


def parse_rows(rows: Iterable[Sequence[Any]]) -> list[Row]:
    """Read and check the form of transition rows."""
    out: list[Row] = []
    for number, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__") or len(row) not in (5, 6):
            raise InputError(
                f"transition row {number} is {row!r}; expected (state, action, next_state, "
                "probability, reward) or the same with a discount at the end"
            )
        s, a, t, *numbers = row
        for label in (s, a, t):
            check_label(label, f"transition row {number}")
        where = f"of the transition {s!r} -> {t!r} under action {a!r}"
        names = ("the probability", "the reward", "the discount")
        parsed = [parse_number(x, f"{n} {where}") for n, x in zip(names, numbers, strict=False)]
        if len(parsed) == 2:
            parsed.append(parse_number(1))
        out.append((s, a, t, *parsed))
    return out


def check_label(label: Any, where: str) -> None:
    """A label must be hashable and equal to itself (NaN is not), or no row would find it again.

    Raises
    ------
    LabelError
        Names the label and ``where`` it stands.
    """
    try:
        hash(label)
    except TypeError:
        raise LabelError(
            f"{where}: the label {label!r} is not hashable; use text, numbers or tuples"
        ) from None
    if isinstance(label, float | np.floating) and not math.isfinite(label):
        raise LabelError(
            f"{where}: the label {label!r} is no finite number and "
            "cannot be written to a file; use text, integers or tuples"
        )
    if isinstance(label, tuple):
        for part in label:
            check_label(part, where)


def label_order(
    found: Iterable[Hashable], wanted: Sequence[Hashable] | None, noun: str = "state"
) -> tuple[Hashable, ...]:
    """Labels in the order in which they are found, or in that wanted, which must have them all."""
    seen = tuple(dict.fromkeys(found))
    if wanted is None:
        return seen
    order = tuple(wanted)
    for label in order:
        check_label(label, f"the list of {noun}s")
    if len(set(order)) != len(order):
        twice = next(x for i, x in enumerate(order) if x in order[:i])
        raise LabelError(f"{noun} {twice!r} is listed twice")
    known = set(order)
    for label in seen:
        if label not in known:
            raise LabelError(
                f"a transition names the {noun} {label!r}, which is not among {shown(order)}"
            )
    return order


def drop_terminal_loops(
    rows: list[Row], terminal: Iterable[Hashable], states: Sequence[Hashable]
) -> list[Row]:
    """Take the rewardless self-loops of declared terminal states out.

    Raises
    ------
    InputError, LabelError
        A mapping or text in place of a list of states; an unknown state; a terminal state
        that is left, or pays.
    """
    if isinstance(terminal, Mapping):
        raise InputError(
            f"terminal is the mapping {terminal!r}; expected a list of states, whose value is 0. "
            "What an episode is worth at its end is the reward of the move into the terminal state"
        )
    if isinstance(terminal, str):
        raise InputError(
            f"terminal is the text {terminal!r}; expected a list of states, as in [{terminal!r}]"
        )
    ends = set(terminal)
    for state in ends - set(states):
        raise LabelError(f"terminal state {state!r} is not a state; the states are {shown(states)}")
    kept = []
    for row in rows:
        if row[0] not in ends:
            kept.append(row)
        elif row[2] != row[0] or row[4] != 0:
            raise InputError(
                f"state {row[0]!r} is declared terminal but action {row[1]!r} leads to "
                f"{row[2]!r} with reward {number_text(row[4])}; a terminal state has at most "
                "self-loops without reward"
            )
    return kept


def labels_for(n: int, labels: Sequence[Hashable] | None, noun: str) -> tuple[Hashable, ...]:
    """0, 1, 2, ... or the labels given, which must be n distinct ones."""
    if labels is None:
        return tuple(range(n))
    for label in labels:
        check_label(label, f"the labels of {noun}")
    if len(labels) != n or len(set(labels)) != n:
        raise InputError(f"{len(set(labels))} distinct labels for {n} {noun}: {shown(labels)}")
    return tuple(labels)


# --- arrays ---------------------------------------------------------------------------


def _is_sparse(x: Any) -> bool:
    return hasattr(x, "tocoo")


def _layers(x: Any, name: str) -> list[Any]:
    """A matrix for each action: sparse ones as they are, dense ones as arrays."""
    if _is_sparse(x):
        raise InputError(f"{name} is one sparse matrix; expected a list with one for each action")
    if isinstance(x, list | tuple) and x and all(_is_sparse(layer) for layer in x):
        return [layer.tocoo(copy=True) for layer in x]
    return list(_array(x, name))


def _array(x: Any, name: str) -> npt.NDArray[Any]:
    array = x if isinstance(x, np.ndarray) else np.array(x, dtype=object)
    if array.dtype == object and any(isinstance(v, list | tuple) for v in array.ravel()):
        raise InputError(f"{name} is ragged: its rows have different lengths")
    return array


def table_from_arrays(P: Any, R: Any, discount: Any) -> tuple[Table, int, int]:
    """The canonical table, the number of states and the number of actions."""
    layers = _layers(P, "P")
    if not layers:
        raise InputError("P has no action; expected shape (A, S, S)")
    n = layers[0].shape[0] if layers[0].ndim == 2 else -1
    for a, layer in enumerate(layers):
        if layer.shape != (n, n):
            raise InputError(
                f"P[{a}] has shape {layer.shape}; expected P of shape (A, S, S), or a list of A "
                "sparse (S, S) matrices"
            )
    state, action, nxt, probability = [], [], [], []
    for a, layer in enumerate(layers):
        s, t, p = _nonzero(layer, f"P[{a}]")
        state.append(s)
        nxt.append(t)
        probability.append(p)
        action.append(np.full(len(s), a, dtype=np.intp))
    at = np.stack([np.concatenate(x) for x in (state, action, nxt)])
    order = np.lexsort(at[::-1])
    at, p = at[:, order], _join(probability)[order]
    size = (n, len(layers))
    reward = _lookup(R, "R", at, size)
    if discount is None:
        own = np.empty(len(p), dtype=object)
        own.fill(parse_number(1))
    else:
        own = _lookup(discount, "discount", at, size)
    return Table(at[0], at[1], at[2], p, reward, own), n, len(layers)


def chain_arrays(P: Any, r: Any) -> tuple[Any, Any]:
    """P and r of a Markov chain in the form of :func:`table_from_arrays`: one action.

    Raises
    ------
    InputError
        Where P is no square matrix, or r is neither a vector nor a matrix of its size.
    """
    P, r = (x.tolist() if isinstance(x, sp.MatrixBase) else x for x in (P, r))
    chain: Any = P if _is_sparse(P) else _array(P, "P")
    if chain.ndim != 2 or chain.shape[0] != chain.shape[1]:
        raise InputError(f"P has shape {chain.shape}; expected a square matrix, one row a state")
    n = chain.shape[0]
    reward: Any = r if _is_sparse(r) else _array(r, "r")
    if reward.shape in ((n, 1), (1, n)) and not _is_sparse(r):
        reward = reward.reshape(n)
    if reward.shape not in ((n,), (n, n)):
        raise InputError(f"r has shape {reward.shape}; expected ({n},) or ({n}, {n})")
    by_move = reward.ndim == 2
    return [chain] if _is_sparse(P) else chain[None], [reward] if by_move else reward


def _join(parts: list[Column]) -> Column:
    if all(p.dtype == float for p in parts):
        return np.concatenate(parts)
    return column([v for p in parts for v in p.tolist()])


def _nonzero(layer: Any, name: str) -> tuple[Any, Any, Column]:
    if _is_sparse(layer):
        layer.sum_duplicates()
        values, s, t = layer.data, layer.row, layer.col
        keep = values != 0
        values, s, t = values[keep], s[keep], t[keep]
    else:
        if layer.dtype == object:
            layer = _parsed(layer, name)
        s, t = np.nonzero(layer)
        values = layer[s, t]
    return s.astype(np.intp), t.astype(np.intp), _numbers(values, name)


def _parsed(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    out = np.empty(array.shape, dtype=object)
    for place in np.ndindex(*array.shape):
        out[place] = parse_number(array[place], f"{name}[{', '.join(map(str, place))}]")
    return out


def _numbers(values: npt.NDArray[Any], name: str) -> Column:
    if np.issubdtype(values.dtype, np.floating):
        bad = ~np.isfinite(values)
        if bad.any():
            raise NumberError(f"{name} holds {values[bad][0]}; expected finite numbers")
        return values.astype(float)
    return column([parse_number(v, name) for v in values.tolist()])


def _lookup(R: Any, name: str, where: Any, size: tuple[int, int]) -> Column:
    """R at each transition, for the three shapes in use."""
    s, a, t = where
    n, k = size
    if isinstance(R, list | tuple) and R and all(_is_sparse(layer) for layer in R):
        if len(R) != k or any(layer.shape != (n, n) for layer in R):
            raise InputError(
                f"{name} is a list of {len(R)} sparse matrices; expected {k} of ({n}, {n})"
            )
        values = np.zeros(len(s))
        for action, layer in enumerate(R):
            mask = a == action
            values[mask] = np.asarray(layer.tocsr()[s[mask], t[mask]]).ravel()
        return _placed(values, name, where)
    array = _array(R, name)
    shapes = {(n,): (s,), (n, k): (s, a), (k, n, n): (a, s, t)}
    if array.shape not in shapes:
        raise InputError(
            f"{name} has shape {array.shape}; expected ({n},), ({n}, {k}) or ({k}, {n}, {n})"
        )
    return _placed(array[shapes[array.shape]], name, where)


def _placed(values: npt.NDArray[Any], name: str, where: Any) -> Column:
    """Numbers that stand at transitions; one that is none is named with its transition."""
    for i, value in enumerate(values.tolist()):
        if isinstance(value, float) and not math.isfinite(value):
            s, a, t = (int(x[i]) for x in where)
            raise NumberError(
                f"{name} is {value} for the transition {s} -> {t} under action {a} (counted from "
                "0); expected a finite number"
            )
    return _numbers(values, name)


# --- graphs ---------------------------------------------------------------------------


def rows_from_graph(graph: Any) -> tuple[list[Row], list[Any], list[Any] | None]:
    """Transition rows, node order and (where stored) action order of a MultiDiGraph."""
    if not (graph.is_multigraph() and graph.is_directed()):
        raise InputError(
            f"the graph is a {type(graph).__name__}; expected a networkx MultiDiGraph, whose "
            "parallel edges keep the actions apart"
        )
    rows = []
    for u, v, key, data in graph.edges(keys=True, data=True):
        for needed in ("probability", "reward"):
            if needed not in data:
                raise InputError(
                    f"the edge {u!r} -> {v!r} with key {key!r} has no {needed!r} attribute"
                )
        rows.append(
            (u, data.get("action", key), v, data["probability"], data["reward"],
             data.get("discount", 1))
        )  # fmt: skip
    return rows, list(graph.nodes), graph.graph.get("actions")


def graph_from_rows(
    rows: Iterable[Row], states: Sequence[Any], actions: Sequence[Any]
) -> nx.MultiDiGraph[Any]:
    """The graph whose :func:`rows_from_graph` are the rows."""
    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph(actions=list(actions))
    for label in (*states, *actions):
        if label is None:
            raise LabelError("networkx takes no None as a node or key; give that label a name")
    for s in states:
        graph.add_node(s)
    for s, a, t, p, r, d in rows:
        numbers = {"probability": p, "reward": r, "discount": d}
        if graph.has_edge(s, t, a):
            graph.add_edge(s, t, ("outcome", a, graph.number_of_edges(s, t)), action=a, **numbers)
        else:
            graph.add_edge(s, t, a, **numbers)
    return graph


# --- Gymnasium -------------------------------------------------------------


def rows_from_gymnasium(env: Any) -> tuple[list[Row], int, int]:
    """Rows, number of states and number of actions of a toy-text environment."""
    bare = getattr(env, "unwrapped", env)
    table, initial = getattr(bare, "P", None), getattr(bare, "initial_state_distrib", None)
    if table is None:
        raise InputError(
            f"{env!r} has no transition table P; from_gymnasium reads toy-text environments "
            "such as FrozenLake-v1, CliffWalking-v1 and Taxi-v3"
        )
    if initial is None:
        raise InputError(f"{env!r} has no initial_state_distrib, so episodes cannot restart")
    start = {s: float(p) for s, p in enumerate(np.asarray(initial, dtype=float).tolist()) if p}
    rows: list[Row] = []
    for s, row in table.items():
        for a, outcomes in row.items():
            for p, t, r, done in outcomes:
                where = (int(s), int(a))
                if done:
                    rows += [
                        (*where, u, product(float(p), q), float(r), 0) for u, q in start.items()
                    ]
                else:
                    rows.append((*where, int(t), float(p), float(r), 1))
    return rows, len(table), len(next(iter(table.values())))


# --- labels in JSON -------------------------------------------------------------------


def label_from_json(label: Any, depth: int = 0) -> Any:
    """JSON arrays stand for tuples.

    Raises
    ------
    LabelError
        For arrays in arrays in arrays, more than 20 deep.
    """
    if depth > 20:
        raise LabelError("a label is nested more than 20 deep; use text, numbers or short tuples")
    return tuple(label_from_json(x, depth + 1) for x in label) if isinstance(label, list) else label


def check_json_labels(labels: Iterable[Any]) -> None:
    """LabelError where a label would not come back from JSON as it was."""
    for label in labels:
        if not _survives_json(label):
            raise LabelError(
                f"the label {label!r} of type {type(label).__name__} has no JSON form; use text, "
                "integers or tuples of those"
            )


def _survives_json(label: Any) -> bool:
    if isinstance(label, tuple):
        return all(_survives_json(x) for x in label)
    return label is None or type(label) in (str, int, bool, float)
