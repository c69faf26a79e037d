"""A rule run once for all outcomes, and the terms that it makes of them.

Where a rule does no more with its vectors than :mod:`obliquetd.learners.forms` allows, an update is a sum of

    c <u, v> z     with z and u rows of the features, weights or memory, and c a number of the outcome,

and the memory that it hands on is too. :class:`RuleOnColumns` runs the rule on the outcomes' numbers by
columns and gives these terms for groups of outcomes that agree on all comparisons of the rule. Whether the
outcomes are those of one problem (:mod:`obliquetd.dynamics.products`) or of many
(:mod:`obliquetd.dynamics.blocks`) does not matter to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from obliquetd.learners import Learner, Transition
from obliquetd.learners.dual import Dual, slope_of, value_of
from obliquetd.learners.forms import Columns, Form, NoFormError, Row, SplitError
from obliquetd.learners.wholes import Features, PerState, on_forms, stores

__all__ = ["Group", "RuleOnColumns", "Slot", "Term", "feeding_order", "split"]

MOST_GROUPS = 100
Slot = tuple[Any, ...]
"""("weights" or "memory", the name of an array, an index in it)."""


class Term(NamedTuple):
    """One term of a slot, for the outcomes of a group: column times left times the others."""

    left: Any
    factors: tuple[Any, ...]
    column: Any


class Group(NamedTuple):
    """Outcomes that agree on all comparisons: their numbers, and the terms of each slot."""

    outcomes: Any
    update: dict[Slot, list[Term]]
    handed: dict[Slot, list[Term]]


@dataclass(frozen=True, eq=False)
class RuleOnColumns:
    """A learner's rule on the numbers of some outcomes, by columns.

    Attributes
    ----------
    learner : Learner
    values : mapping of str to native number, or to a tuple of one for each state
        The numbers that the rule reads.
    shapes : object
        The same as the declared numbers, from which the shapes of the arrays follow.
    rows : dict of str to array of int
        For each outcome the state that is left, that is reached, and that its twin reaches.
    given : dict of str to column
        The numbers of each transition.
    columns : function
        ``columns(rows, strict=)``: the columns of some outcomes.
    late : bool
        Whether what the target expects on arriving is another row of features.
    listed : type
        The type of an array of native numbers: float or object.
    """

    learner: Learner
    values: Mapping[str, Any]
    shapes: Any
    rows: dict[str, Any]
    given: dict[str, Any]
    columns: Callable[..., Columns]
    late: bool
    listed: type

    def slots(self) -> tuple[dict[Slot, bool], dict[Slot, bool]]:
        """The weights and the memory, in the rule's order, and whether each is a vector."""
        columns = self.columns(self.rows, strict=False)
        _, weights = stores(columns, "weights", self.learner.weights, self.shapes, None)
        _, memory = stores(columns, "memory", self.learner.memory, self.shapes, None)
        return weights, memory

    def groups(self, outcomes: Any, *, carried: bool) -> tuple[list[Group], set[Slot]]:
        """The groups, and what of the memory is ever filled where it is carried on."""
        filled: set[Slot] = set()
        while True:
            groups = list(self._groups(outcomes, filled))
            found = {slot for g in groups for slot, terms in g.handed.items() if terms}
            if not carried or found <= filled:
                return groups, filled
            filled |= found

    def _groups(self, outcomes: Any, filled: set[Slot]) -> Iterator[Group]:
        waiting, count = [outcomes], 0
        while waiting:
            outcomes = waiting.pop()
            count += 1
            if count > MOST_GROUPS:
                raise NoFormError("too many cases")
            try:
                update, handed = self.run(outcomes, filled, strict=False)
            except SplitError as parted:
                waiting += [outcomes[parted.mask], outcomes[~parted.mask]]
                continue
            whole = {**update, **handed}
            terms = {
                slot: [Term(left, factors, c) for (left, factors), c in found.items()]
                for (slot, _), found in whole.items()
            }
            yield Group(
                outcomes,
                {slot: terms[slot] for slot, _ in update},
                {slot: terms[slot] for slot, _ in handed},
            )

    def run(
        self, outcomes: Any, filled: set[Slot], *, strict: bool
    ) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The terms of the update, and of the memory handed on, by slot and half."""
        chosen = _Chosen(outcomes)
        places = {name: chosen.of(rows) for name, rows in self.rows.items()}
        columns: Any = self.columns(places, strict=strict)

        def number(column: Any) -> Form:
            return Form(columns, {} if columns.is_zero(column) else {(None, ()): column})

        def of_states(values: tuple[Any, ...]) -> PerState:
            listed: Any = np.empty(len(values), dtype=self.listed)
            listed[:] = values
            return PerState(lambda row: number(columns.column(listed[places[row]])))

        read = {
            k: of_states(v) if isinstance(v, tuple) else number(columns.native(v))
            for k, v in self.values.items()
        }
        t = {k: number(c if len(c) == 1 else chosen.of(c)) for k, c in self.given.items()}
        late = self.late and "features_next" in self.learner.reads
        transition = Transition(
            features=Features(columns, "now"), s=Row("s"), n=Row("n"), twin=Row("twin"),
            features_next=Features(columns, "next" if late else "now"), **t,
        )  # fmt: skip
        x, weights = stores(columns, "weights", self.learner.weights, self.shapes, None)
        m, memory = stores(columns, "memory", self.learner.memory, self.shapes, filled)
        alpha = Dual(number(columns.constant(0)), number(columns.constant(1)))
        run = on_forms(self.learner.rule, strict=strict)
        run(x, m, transition, alpha, self.learner.numbers(**read))
        zero = Form(columns, {})
        return _ended(weights, x, slope_of, zero), _ended(memory, m, value_of, zero)


class _Chosen:
    """Some entries of columns; of a column that has several names once."""

    def __init__(self, outcomes: Any) -> None:
        self.outcomes = outcomes
        self.known: dict[int, Any] = {}

    def of(self, column: Any) -> Any:
        """The entries of the outcomes."""
        if id(column) not in self.known:
            self.known[id(column)] = column[self.outcomes]
        return self.known[id(column)]


def _ended(slots: dict[Slot, bool], state: Any, part: Any, zero: Form) -> dict[Any, Any]:
    """What the arrays of a state hold in the end, by slot and half."""
    out = {}
    for slot in slots:
        _, name, at = slot
        store = getattr(state, name)
        for (index, half), kept in store.kept.items():
            if index == at:
                found = part(kept)
                out[slot, half] = (found if isinstance(found, Form) else zero).terms
    return out


def split(term: Term) -> tuple[Any, list[Any]]:
    """The weights that a term is linear in with the vector beside them, or None; and its memories.

    Raises
    ------
    NoFormError
        For a term that is not affine in the weights, or not in the memory.
    """
    weights: Any = None
    memories = [term.left] if term.left is not None and term.left[0] == "memory" else []
    for factor in term.factors:
        parts = [factor[1:]] if factor[0] == "number" else list(factor[1:3])
        inside = [v for v in parts if v[0] == "weights"]
        memories += [v for v in parts if v[0] == "memory"]
        if len(inside) > 1 or (inside and weights is not None):
            raise NoFormError("an update that is not affine in the weights")
        if inside:
            other = next((v for v in parts if v[0] != "weights"), None)
            weights = inside[0], other
    if len(memories) > 1:
        raise NoFormError("an update that is not affine in the memory")
    return weights, memories


def feeding_order(groups: Iterable[Group], memory: Iterable[Slot]) -> list[list[Slot]]:
    """The memories in the order in which they feed each other; those that feed in turn together.

    Raises
    ------
    NoFormError
        For a memory that depends on the weights.
    """
    feeds: dict[Slot, set[Slot]] = {slot: set() for slot in memory}
    for group in groups:
        for slot, terms in group.handed.items():
            for term in terms:
                weights, memories = split(term)
                if weights:
                    raise NoFormError("a memory that depends on the weights")
                if memories:
                    feeds[slot].update(memories)
    if all(fed <= {slot} for slot, fed in feeds.items()):  # most have one trace, or traces apart
        return [[slot] for slot in feeds]
    import networkx as nx  # late: it is slow to load, and few problems come here

    graph = nx.DiGraph()
    graph.add_nodes_from(feeds)
    graph.add_edges_from((m, slot) for slot, fed in feeds.items() for m in fed)
    order = nx.condensation(graph)
    return [
        [slot for slot in feeds if slot in order.nodes[component]["members"]]
        for component in nx.topological_sort(order)
    ]
