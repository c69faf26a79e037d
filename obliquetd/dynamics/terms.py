"""A rule run once for all outcomes, and the terms that it makes of them.

Where a rule does no more with its vectors than :mod:`obliquetd.learners.forms` allows, an update is a sum of

    c <u, v> z     with z and u rows of the features, weights or memory, and c a number of the outcome,

and the memory that it hands on is too. :class:`RuleOnColumns` runs the rule on the outcomes' numbers by
columns and gives these terms for groups of outcomes that agree on all comparisons of the rule. Whether the
outcomes are those of one problem (:mod:`obliquetd.dynamics.products`) or of many
(:mod:`obliquetd.dynamics.blocks`) does not matter to it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from obliquetd.algebra.ways import Way
from obliquetd.learners import Learner, Transition
from obliquetd.learners.dual import Dual, slope_of, value_of
from obliquetd.learners.forms import Form, NoFormError, Row, SplitError
from obliquetd.learners.wholes import Features, PerState, on_forms, slots_of, stores

__all__ = ["MOST_GROUPS", "Group", "OneRun", "RuleOnColumns", "Slot", "Term", "feeding_order", "split", "terms_of"]  # fmt: skip

MOST_GROUPS: Way[int] = 100
RELATIONS = {">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le}
Slot = tuple[Any, ...]
"""("weights" or "memory", the name of an array, an index in it)."""


class Term(NamedTuple):
    """One term of a slot, for the outcomes of a group: column times left times the others."""

    left: Any
    factors: tuple[Any, ...]
    column: Any


class Group(NamedTuple):
    """Outcomes that agree on all comparisons: their numbers, the terms of each slot, and the answers."""

    outcomes: Any
    update: dict[Slot, list[Term]]
    handed: dict[Slot, list[Term]]
    path: tuple[bool, ...]


class OneRun:
    """What the columns of some outcomes keep of one run of a rule on them.

    Attributes
    ----------
    strict : bool
    places : dict of str to array of int
        The rows of the features, by the name of a row.
    path : list of bool
        The answers to the rule's comparisons.
    products : list of (key, column)
        The inner products of features that were asked for, in order.
    known : sequence of the same
        Those of a run on these outcomes and others, which are not made again. A rule does the same
        on both up to the comparison that divides them.
    """

    def __init__(self, places: dict[str, Any], *, strict: bool) -> None:
        self.places, self.strict = places, strict
        self.path: list[bool] = []
        self.products: list[tuple[Any, Any]] = []
        self.known: Sequence[tuple[Any, Any]] = ()

    def given(self, name: str, column: Any) -> Any:  # noqa: ARG002
        """A number of each transition, as a rule takes it."""
        return column

    def compare(self, relation: str, column: Any) -> bool:
        """The answer to a comparison with 0, the same for all outcomes.

        Raises
        ------
        SplitError
            Where it is not the same.
        """
        columns: Any = self
        if relation == "==":
            mask = columns.zeros(column)
        else:
            mask = RELATIONS[relation](columns.signs(column), 0)
        first = bool(mask.flat[0])
        if not (mask == first).all():
            raise SplitError(mask)
        self.path.append(first)
        return first

    def goes_on(self, run: OneRun, outcomes: Any, answer: bool) -> None:  # noqa: ARG002
        """Let a run on more outcomes be that of these, up to a comparison with this answer for them."""
        self.path = [*run.path, answer]

    def kept(self, u: Form, v: Form, make: Callable[[], Any]) -> Any:
        """The inner product of two combinations of features, made where it is not known."""
        key, at = (tuple(u.terms), tuple(v.terms)), len(self.products)
        if at >= len(self.known) or self.known[at][0] != key:
            self.known = ()
        found = self.known[at][1] if self.known else make()
        self.products.append((key, found))
        return found

    def products_of(self, outcomes: Any) -> list[tuple[Any, Any]]:
        """The inner products of some of the outcomes, by their places."""
        return [(key, x if len(x) == 1 else x[outcomes]) for key, x in self.products]

    def halved(self, whole: Any, half: int | None) -> Any:
        """The part of one half: 2 and -1 of the whole, or 1 and -1 where it is 0; its sum does not round."""
        columns: Any = self
        if half is None:
            return whole
        if columns.is_zero(whole):
            return columns.constant(1 - 2 * half)
        return whole + whole if half == 0 else -whole


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
        ``columns(places, strict=)``: the columns of some outcomes, a :class:`OneRun`.
    late : bool
        Whether what the target expects on arriving is another row of features.
    listed : type
        The type of an array of native numbers: float or object.
    everything : array of int
        The numbers of all outcomes.
    """

    learner: Learner
    values: Mapping[str, Any]
    shapes: Any
    rows: dict[str, Any]
    given: dict[str, Any]
    columns: Callable[..., Any]
    late: bool
    listed: type
    everything: Any

    def among(self, column: Any, outcomes: Any) -> Any:
        """The entries of some outcomes, in their order, of a column that has all or is of one number."""
        if outcomes is self.everything or len(column) == 1 < len(self.everything):
            return column
        return column[outcomes]

    def slots(self) -> tuple[dict[Slot, bool], dict[Slot, bool]]:
        """The weights and the memory, in the rule's order, and whether each is a vector."""
        return (
            slots_of("weights", self.learner.weights, self.shapes),
            slots_of("memory", self.learner.memory, self.shapes),
        )

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
        columns = self.columns(self.places(outcomes), strict=False)
        for group, _ in self.followed(outcomes, columns, filled):
            yield group

    def followed(
        self, outcomes: Any, columns: Any, filled: set[Slot]
    ) -> Iterator[tuple[Group, Any]]:
        """The groups of outcomes, each with the columns that it was found by.

        ``columns`` are new ones of these outcomes, which know how to make those of some of them.
        """
        waiting: list[Any] = [(outcomes, columns)]
        count = 0
        while waiting:
            outcomes, columns = waiting.pop()
            count += 1
            if count > MOST_GROUPS:
                raise NoFormError("too many cases")
            try:
                update, handed = self.run(columns, outcomes, filled)
            except SplitError as parted:
                for mask in (parted.mask, ~parted.mask):
                    part = columns.part(mask)
                    part.known = columns.products_of(mask)
                    waiting.append((outcomes[mask], part))
                continue
            yield Group(outcomes, terms_of(update), terms_of(handed), tuple(columns.path)), columns

    def places(self, outcomes: Any) -> dict[str, Any]:
        """The rows of some outcomes."""
        chosen = _Chosen(self, outcomes)
        return {name: chosen.of(rows) for name, rows in self.rows.items()}

    def run(
        self, columns: Any, outcomes: Any, filled: set[Slot]
    ) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The terms of the update, and of the memory handed on, by slot and half.

        ``columns`` are new ones of these outcomes, as :attr:`columns` makes them.
        """
        chosen, places = _Chosen(self, outcomes), columns.places

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
        t = {k: number(columns.given(k, chosen.of(c))) for k, c in self.given.items()}
        late = self.late and "features_next" in self.learner.reads
        transition = Transition(
            features=Features(columns, "now"), s=Row("s"), n=Row("n"), twin=Row("twin"),
            features_next=Features(columns, "next" if late else "now"), **t,
        )  # fmt: skip
        x, weights = stores(columns, "weights", self.learner.weights, self.shapes, None)
        m, memory = stores(columns, "memory", self.learner.memory, self.shapes, filled)
        alpha = Dual(number(columns.constant(0)), number(columns.constant(1)))
        run = on_forms(self.learner.rule, strict=columns.strict)
        run(x, m, transition, alpha, self.learner.numbers(**read))
        zero = Form(columns, {})
        return _ended(weights, x, slope_of, zero), _ended(memory, m, value_of, zero)


class _Chosen:
    """Some entries of columns; of a column that has several names once."""

    def __init__(self, rule: RuleOnColumns, outcomes: Any) -> None:
        self.rule, self.outcomes = rule, outcomes
        self.known: dict[int, Any] = {}

    def of(self, column: Any) -> Any:
        """The entries of the outcomes."""
        if id(column) not in self.known:
            self.known[id(column)] = self.rule.among(column, self.outcomes)
        return self.known[id(column)]


def terms_of(found: dict[Any, Any]) -> dict[Slot, list[Term]]:
    """The terms of each slot, from what a run of the whole rule made by slot and half."""
    return {
        slot: [Term(left, factors, column) for (left, factors), column in terms.items()]
        for (slot, _), terms in found.items()
    }


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
