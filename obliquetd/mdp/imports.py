"""Where transition rows come from and go to: rows of labels, graphs, JSON.

Everything here returns plain rows or tables; :class:`obliquetd.mdp.model.MDP` checks them.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from obliquetd.algebra import (
    number_text,
    parse_number,
    serial_number,
)
from obliquetd.errors import InputError, LabelError, ModelFileError, NumberError
from obliquetd.mdp.reading import NumberReader

if TYPE_CHECKING:
    import networkx as nx

__all__: list[str] = []

Row = tuple[Any, Any, Any, Any, Any, Any]


def shown(labels: Sequence[Any], most: int = 10) -> str:
    """Labels for an error message."""
    listed = ", ".join(repr(x) for x in labels[:most])
    return listed + (f", ... ({len(labels)} in all)" if len(labels) > most else "")


def parse_rows(rows: Iterable[Sequence[Any]]) -> list[Row]:
    """Read and check the form of transition rows; equal labels and numbers are read once."""
    if not isinstance(rows, Iterable):
        raise InputError(
            f"transitions is {rows!r}; expected a list of rows (state, action, next_state, probability, "
            "reward)"
        )
    out: list[Row] = []
    labels: set[Any] = set()
    read = NumberReader()
    one = parse_number(1)
    for number, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__") or len(row) not in (5, 6):
            raise InputError(
                f"transition row {number} is {row!r}; expected (state, action, next_state, "
                "probability, reward) or the same with a discount at the end"
            )
        s, a, t, *numbers = row
        for label in (s, a, t):
            if not _known(label, labels):
                check_label(label, f"transition row {number}")
                labels.add(label)
        try:
            parsed = [read(x) for x in numbers]
        except NumberError:
            where = f"of the transition {s!r} -> {t!r} under action {a!r}"
            for name, x in zip(("probability", "reward", "discount"), numbers, strict=False):
                parse_number(x, f"the {name} {where}")
            raise
        if len(parsed) == 2:
            parsed.append(one)
        out.append((s, a, t, *parsed))
    return out


def _known(label: Any, labels: set[Any]) -> bool:
    try:
        return label in labels
    except TypeError:  # not hashable, which check_label says
        return False


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
        that is left, or pays; a state that is not among them and has rows of probability 0 alone.
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
        elif row[3] != 0 and (row[2] != row[0] or row[4] != 0):
            raise InputError(
                f"state {row[0]!r} is declared terminal but action {row[1]!r} leads to "
                f"{row[2]!r} with reward {number_text(row[4])}; a terminal state has at most "
                "self-loops without reward"
            )
    left = {row[0] for row in kept if row[3] != 0}
    for row in kept:
        if row[0] not in left:
            raise InputError(
                f"all rows of the state {row[0]!r} have probability 0, as that of action {row[1]!r} to {row[2]!r}, so "
                f"that nothing follows it; expected one that may happen, or terminal=[{row[0]!r}] for a state in "
                "which episodes end"
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


# --- graphs ---------------------------------------------------------------------------


def rows_from_graph(graph: Any) -> tuple[list[Row], list[Any], list[Any] | None]:
    """Transition rows, node order and (where stored) action order of a MultiDiGraph."""
    known = hasattr(graph, "is_multigraph") and hasattr(graph, "is_directed")
    if not (known and graph.is_multigraph() and graph.is_directed()):
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
    actions = graph.graph.get("actions")
    if isinstance(actions, str):
        try:
            actions = [label_from_json(x) for x in json.loads(actions)]
        except (ValueError, TypeError, RecursionError) as error:
            raise InputError(
                f"the graph's attribute 'actions' is {actions[:60]!r}; expected a list, or a JSON "
                f"list as text ({error})"
            ) from None
    return rows, list(graph.nodes), actions


def graph_from_rows(
    rows: Iterable[Row], states: Sequence[Any], actions: Sequence[Any]
) -> nx.MultiDiGraph[Any]:
    """The graph whose :func:`rows_from_graph` are the rows.

    Keys are actions or text, numbers are floats or exact text, and the order of the actions is JSON
    text, so that networkx can write the graph wherever its labels can be written.
    """
    import networkx as nx  # late: it is slow to load, and most uses of the package do without it

    for label in (*states, *actions):
        if label is None:
            raise LabelError("networkx takes no None as a node or key; give that label a name")
    order: Any = list(actions)
    if all(_survives_json(a) for a in actions):
        order = json.dumps(order)
    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph(actions=order)
    for s in states:
        graph.add_node(s)
    for s, a, t, p, r, d in rows:
        numbers = {
            name: serial_number(x)
            for name, x in (("probability", p), ("reward", r), ("discount", d))
        }
        if graph.has_edge(s, t, a):
            further = (f"{a} ({k})" for k in itertools.count(2))
            key = next(k for k in further if k not in actions and not graph.has_edge(s, t, k))
            graph.add_edge(s, t, key, action=a, **numbers)
        else:
            graph.add_edge(s, t, a, **numbers)
    return graph


# --- labels in JSON -------------------------------------------------------------------


DEEPEST = 20
"""How deep a label of lists in lists may be."""


def label_from_json(label: Any, where: str = "a label", depth: int = 0) -> Any:
    """JSON arrays stand for tuples.

    Raises
    ------
    LabelError
        For objects, numbers that are not finite, and arrays more than 20 deep; ``where`` goes into
        the error.
    """
    if type(label) is str:
        return label
    if isinstance(label, list):
        if depth > DEEPEST:
            raise LabelError(
                f"{where} is nested more than {DEEPEST} deep; use text, numbers or short tuples"
            )
        return tuple(label_from_json(x, where, depth + 1) for x in label)
    if isinstance(label, dict):
        raise LabelError(f"{where} is an object; expected text, a number, or a list of those")
    if isinstance(label, float) and not math.isfinite(label):
        raise LabelError(f"{where} is {label}; expected text or a finite number")
    return label


def table_from_json(text: str) -> dict[str, Any]:
    """States, actions and transition rows of the JSON text of an MDP.

    Raises
    ------
    InputError
        Where the text is no JSON, or not of that form.
    """
    try:
        data = json.loads(text)
        rows = [(*map(label_from_json, row[:3]), *row[3:]) for row in data["transitions"]]
        labels = {k: [label_from_json(x) for x in data[k]] for k in ("states", "actions")}
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFileError(f"not the JSON form of an MDP: {error}") from None
    return {**labels, "transitions": rows}


def check_json_labels(labels: Iterable[Any]) -> None:
    """LabelError where a label would not come back from JSON as it was."""
    for label in labels:
        if not _survives_json(label):
            raise LabelError(
                f"the label {label!r} of type {type(label).__name__} has no JSON form; use text, "
                "integers or tuples of those"
            )


def _survives_json(label: Any, depth: int = 0) -> bool:
    if type(label) is tuple:
        return depth <= DEEPEST and all(_survives_json(x, depth + 1) for x in label)
    if type(label) is float:
        return math.isfinite(label)
    return label is None or type(label) in (str, int, bool)
