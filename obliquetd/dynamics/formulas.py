"""The terms of all outcomes as functions of one symbol, each on the ranges where no sign changes.

:class:`~obliquetd.dynamics.products.Products` runs a rule once for all outcomes; here its numbers are functions
(:mod:`obliquetd.algebra.quotients`), and the answers to its comparisons are those at the middle of a range. Where
a function whose sign was asked for has a root inside, the outcome has one range on each side of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from obliquetd.algebra.functions import value_at
from obliquetd.algebra.quotient_columns import (
    QuotientColumn,
    no_root_inside,
    polynomial_of,
    row_products,
    signs_of,
    values_of,
)
from obliquetd.algebra.quotients import Sample, real_places
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.feature_tables import features_of
from obliquetd.dynamics.field_columns import FieldColumns
from obliquetd.dynamics.products import Products
from obliquetd.dynamics.rule import RuleOnNumbers
from obliquetd.dynamics.tapes import may_be_recorded
from obliquetd.dynamics.terms import MOST_GROUPS, Group, Slot, Term
from obliquetd.learners.forms import Form, NoFormError
from obliquetd.problem.native import Operators

__all__ = ["Formulas", "Pieces"]


MANY: Way[int] = 2
"""States beside outcomes, up to which the inner products of all pairs of rows are made at once."""


class Pieces(NamedTuple):
    """Terms of outcomes, as a group has them, with the range of each from ``lows`` to ``highs``."""

    group: Group
    lows: list[Any]
    highs: list[Any]

    def middle(self, k: int) -> Any:
        """The middle of the range of the k-th outcome."""
        return (self.lows[k] + self.highs[k]) / 2


class _OnRanges(FieldColumns):
    """Columns of functions with the signs that each outcome's have in the middle of its own range."""

    def __init__(
        self, ops: Operators, places: dict[str, Any], lows: Any, highs: Any, sample: Sample, *, strict: bool
    ) -> None:  # fmt: skip
        super().__init__(ops, places, strict=strict)
        self.lows, self.highs, self.at_sample = lows, highs, sample
        self.asked: list[QuotientColumn] = []
        """What was compared with 0, but for equality."""
        self.tested: list[QuotientColumn] = []
        """What was asked whether it is 0, or divided by."""
        self._given: dict[int, tuple[Any, QuotientColumn]] = {}

    def native(self, value: Any) -> QuotientColumn:
        return QuotientColumn.of([value], self.at_sample)

    def given(self, name: str, column: Any) -> QuotientColumn:  # noqa: ARG002
        if id(column) not in self._given:  # kept with it, so that the number stays its own
            self._given[id(column)] = column, QuotientColumn.of(column.tolist(), self.at_sample)
        return self._given[id(column)][1]

    def column(self, values: Any) -> QuotientColumn:
        return QuotientColumn.of(super().column(values).tolist(), self.at_sample)

    def product(self, a: QuotientColumn, b: QuotientColumn) -> QuotientColumn:
        return a * b

    def part(self, outcomes: Any) -> _OnRanges:
        """New columns of some of the outcomes, by their places."""
        places = {name: rows[outcomes] for name, rows in self.places.items()}
        low, high = (
            x[outcomes] if isinstance(x, np.ndarray) else x for x in (self.lows, self.highs)
        )
        return _OnRanges(self.ops, places, low, high, self.at_sample, strict=self.strict)

    def goes_on(self, run: Any, outcomes: Any, answer: bool) -> None:
        super().goes_on(run, outcomes, answer)
        self.asked, self.tested = (
            [x if len(x) == 1 else x[outcomes] for x in listed]
            for listed in (run.asked, run.tested)
        )

    def inner(self, u: Form, v: Form, half: int | None) -> Any:
        def made() -> QuotientColumn:
            return self.dots(*([(k[0], c) for k, c in x.terms.items()] for x in (u, v)))

        return self.halved(self.kept(u, v, made), half)

    def dots(self, u: Any, v: Any) -> QuotientColumn:
        """The inner products of two combinations, each of rows of features with columns beside them."""
        total: QuotientColumn | None = None
        one = self.constant(1)
        for a, x in u:
            for b, y in v:
                part = self._dots(a, b)
                for factor in (x, y):
                    part = part if factor is one else part * factor
                total = part if total is None else total + part
        assert total is not None
        return total

    def is_zero(self, column: QuotientColumn) -> bool:
        return column.is_zero

    def zeros(self, column: QuotientColumn) -> Any:
        self.tested.append(column)
        return column.zeros()

    def signs(self, column: QuotientColumn) -> Any:
        self.asked.append(column)
        middles = (self.lows + self.highs) / 2
        value = values_of(column.above, middles)
        if column.below is not None:
            value = value * values_of(column.below, middles)
        return signs_of(value)

    def _dots(self, a: Any, b: Any) -> QuotientColumn:
        (left, i), (right, j) = ((x[1], self.places[x[2]]) for x in (a, b))
        found = _products(self.ops, left, right) if self.ops.n <= MANY * len(i) else None
        if found is not None:
            return QuotientColumn([found[i, j]], None, self.at_sample)
        return QuotientColumn.of(super()._dots(a, b).tolist(), self.at_sample)


def _products(ops: Operators, left: str, right: str) -> Way[Any | None]:
    """The inner products of all rows of two tables, of rationals alone; kept with the operators."""
    known = ops.__dict__.setdefault("_all_products", {})
    if (left, right) not in known:
        known[left, right] = row_products(*(features_of(ops, x).rows() for x in (left, right)))
    return known[left, right]


def _one_or_all(values: list[Any]) -> Any:
    """An array of rationals, or the one rational that all of them are."""
    first = values[0]
    if all(x is first or x == first for x in values):
        return first
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _listed(value: Any, count: int) -> list[Any]:
    return list(value) if isinstance(value, np.ndarray) else [value] * count


class Formulas(Products):
    """The terms of all outcomes of some states between two rationals.

    Parameters
    ----------
    rule : RuleOnNumbers
        Over a QuotientArithmetic.
    visited : sequence of bool
    sample : Sample
        The one of that arithmetic.
    low, high : rational

    Attributes
    ----------
    at_sample : Sample
    ends : pair of rationals
    pieces : list of Pieces
    regular : set of rational
        The ends at which the rule takes the ways that it takes beside them, for every outcome.
    jumps : list of rational
        Where an outcome may have a value that is the limit of neither side.

    Raises
    ------
    NoFormError
        Where the rule has to be run outcome by outcome, or a sign changes at an irrational.
    """

    def __init__(
        self, rule: RuleOnNumbers, visited: Any, sample: Sample, low: Any, high: Any
    ) -> None:
        self.at_sample, self.ends = sample, (low, high)
        self._pieces: dict[int, Pieces] = {}
        self.regular = {low, high}
        self._zeros: set[Any] = set()
        super().__init__(rule, visited, carried=False)
        self.pieces = [self._piece(group) for group in self.groups]
        sample.at, sample.asked = (low + high) / 2, []
        self.jumps = self._jumps()

    def _may_be_recorded(self) -> bool:
        return may_be_recorded(self.rule.learner) and not self.rule.learner.symbols

    def _piece(self, group: Group) -> Pieces:
        return self._pieces[id(group)]

    def _on(self, outcomes: Any, lows: list[Any], highs: list[Any], *, strict: bool) -> _OnRanges:
        """The columns of some outcomes, with the signs on a range of each."""
        places = self.runs.places(outcomes)
        low, high = map(_one_or_all, (lows, highs))
        return _OnRanges(self.ops, places, low, high, self.at_sample, strict=strict)

    def _columns(self, group: Group, at: Any, *, strict: bool) -> Any:
        piece = self._piece(group)
        lows, highs = ([x[k] for k in at] for x in (piece.lows, piece.highs))
        return self._on(group.outcomes[at], lows, highs, strict=strict)

    def _hold_against_the_rule(self, group: Group, place: int, k: int, plain: Any) -> None:
        self.at_sample.at = self._piece(group).middle(place)
        super()._hold_against_the_rule(group, place, k, plain)

    def _grouped(self, *, carried: bool) -> tuple[list[Group], set[Slot]]:
        assert not carried, "no symbol is followed through a memory"
        everything, (low, high) = self.runs.everything, self.ends
        n = len(everything)
        return [p.group for p in self._over(everything, [low] * n, [high] * n)], set()

    def _over(self, outcomes: Any, lows: list[Any], highs: list[Any]) -> list[Pieces]:
        """The pieces of some outcomes, of which one may stand there several times, each on a range."""
        waiting: list[Any] = [(outcomes, lows, highs)]
        pieces: list[Pieces] = []
        while waiting:
            if len(pieces) + len(waiting) > MOST_GROUPS:
                raise NoFormError("too many cases")
            outcomes, *ends = waiting.pop()
            columns = self._on(outcomes, *ends, strict=False)
            for group, found in self.runs.followed(outcomes, columns, set()):
                more = self._divided(group, found, pieces)
                if more is not None:
                    waiting.append(more)
        return pieces

    def _divided(
        self, group: Group, columns: _OnRanges, pieces: list[Pieces]
    ) -> tuple[Any, list[Any], list[Any]] | None:
        """Put what one formula serves among the pieces; the others, each with the ranges that it falls into."""
        outcomes = group.outcomes
        lows, highs = (_listed(x, len(outcomes)) for x in (columns.lows, columns.highs))
        inside = self._inside(columns, lows, highs)
        if inside:
            done = [k for k in range(len(lows)) if k not in inside]
            moved, kept = (_chosen(x, done, len(outcomes)) for x in (group.update, group.handed))
            group = Group(outcomes[done], moved, kept, group.path)
            ends = [lows[k] for k in done], [highs[k] for k in done]
        else:
            ends = lows, highs
        if len(group.outcomes):
            pieces.append(Pieces(group, *ends))
            self._pieces[id(group)] = pieces[-1]
        more = [
            (k, a, b)
            for k, inner in inside.items()
            for a, b in itertools.pairwise([lows[k], *sorted(inner), highs[k]])
        ]
        if not more:
            return None
        again, starts, stops = map(list, zip(*more, strict=True))
        return outcomes[again], starts, stops

    def _inside(self, columns: _OnRanges, lows: list[Any], highs: list[Any]) -> dict[int, set[Any]]:
        """For outcomes where signs that were asked for change, or something is 0 that is tested for it: where."""
        inner: dict[int, set[Any]] = {}
        for listed in (columns.asked, columns.tested):
            for column in {id(c): c for c in listed}.values():
                for part in _parts(column):
                    self._look_at_ends(part, lows, highs)
                    sure = no_root_inside(part, columns.lows, columns.highs)
                    if sure.all():
                        continue
                    for k in np.flatnonzero(~np.broadcast_to(sure, len(lows))).tolist():
                        places = real_places(polynomial_of(part, k), lows[k], highs[k])
                        if places is None:
                            raise NoFormError("a sign changes at an irrational")
                        if places:
                            inner.setdefault(k, set()).update(places)
                        if listed is columns.tested:
                            self._zeros.update(places)
        return inner

    def _look_at_ends(self, part: Any, lows: list[Any], highs: list[Any]) -> None:
        """Ends that are a zero of a function which is asked for at them are not regular."""
        for end, listed in zip(self.ends, (lows, highs), strict=True):
            if end not in self.regular or len(part) == 1:
                continue
            value = values_of(part, end).tolist()
            zeros = [k for k, x in enumerate(value) if not x]
            if len(value) == 1 and zeros:
                zeros = list(range(len(lows)))
            if any(listed[k] == end and polynomial_of(part, k).degree() > 0 for k in zeros):
                self.regular.discard(end)

    def _jumps(self) -> list[Any]:
        """Each end of a range inside, where the rule does not make what the formulas on both sides do."""
        start, end = self.ends
        sides: dict[tuple[int, Any], list[Any]] = {}
        for piece in self.pieces:
            for k, outcome in enumerate(piece.group.outcomes.tolist()):
                for point in (piece.lows[k], piece.highs[k]):
                    if point is not start and point is not end and start < point < end:
                        sides.setdefault((outcome, point), []).append((piece.group, k))
        if not sides:
            return sorted(self._zeros)
        outcomes, points = zip(*sides, strict=True)
        for piece in self._over(np.array(outcomes), list(points), list(points)):
            self._guard(piece.group)
            for k, outcome in enumerate(piece.group.outcomes.tolist()):
                sides[outcome, piece.lows[k]].append((piece.group, k))
        jumps = set(self._zeros)
        for (_, point), found in sides.items():
            values = [_values(group, k, point) for group, k in found]
            if None in values or any(v != values[0] for v in values):
                jumps.add(point)
        return sorted(jumps)


def _parts(column: QuotientColumn) -> Iterator[Any]:
    """Numerators and denominators of a column, in lowest terms, by their coefficients."""
    if column.below is not None:
        column = QuotientColumn.of(column.tolist(), column.sample)
    yield column.above
    if column.below is not None:
        yield column.below


def _chosen(part: dict[Slot, list[Term]], at: list[int], count: int) -> dict[Slot, list[Term]]:
    """The terms of the outcomes at some places."""

    def of(column: Any) -> Any:
        return column if len(column) == 1 or len(at) == count else column[at]

    return {
        slot: [Term(left, factors, of(column)) for left, factors, column in terms]
        for slot, terms in part.items()
    }


def _values(group: Group, k: int, point: Any) -> dict[Any, Any] | None:
    """What an outcome's terms are at a point, but for zeros; None at a pole."""
    out = {}
    for slot, terms in group.update.items():
        for term in terms:
            try:
                value = value_at(term.column[k if len(term.column) > 1 else 0], point)
            except ZeroDivisionError:
                return None
            if value:
                out[slot, term.left, term.factors] = value
    return out
