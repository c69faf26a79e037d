"""The terms of all outcomes as functions of one symbol, each on the ranges where no sign changes.

:class:`~obliquetd.dynamics.products.Products` runs a rule once for all outcomes; here its numbers are functions
(:mod:`obliquetd.algebra.quotients`), and the answers to its comparisons are those at the middle of a range. Where
a function whose sign was asked for has a root inside, the outcome has one range on each side of it.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from obliquetd.algebra.functions import value_at
from obliquetd.algebra.quotients import Sample, parts_of, real_places
from obliquetd.dynamics.field_columns import FieldColumns
from obliquetd.dynamics.products import Products
from obliquetd.dynamics.rule import RuleOnNumbers
from obliquetd.dynamics.terms import MOST_GROUPS, Group, Slot, Term, terms_of
from obliquetd.learners.forms import NoFormError, SplitError
from obliquetd.problem.native import Operators

__all__ = ["Formulas", "Pieces"]


class Pieces(NamedTuple):
    """Terms of outcomes, as a group has them, with the range of each from ``lows`` to ``highs``."""

    group: Group
    lows: list[Any]
    highs: list[Any]

    def middle(self, k: int) -> Any:
        """The middle of the range of the k-th outcome."""
        return (self.lows[k] + self.highs[k]) / 2


class _AtSamples(FieldColumns):
    """Columns of functions with the signs that each outcome's have at a sample of its own."""

    def __init__(
        self, ops: Operators, places: dict[str, Any], samples: list[Any], *, strict: bool
    ) -> None:
        super().__init__(ops, places, strict=strict)
        self.samples = samples
        self.asked: list[list[Any]] = [[] for _ in samples]
        self.tested: list[list[Any]] = [[] for _ in samples]
        """What was compared with 0, or divided by, and is not 0 throughout."""

    def _each(self, column: Any) -> list[Any]:
        listed = column.tolist()
        return listed * len(self.samples) if len(listed) == 1 else listed  # type: ignore[no-any-return]

    def signs(self, column: Any) -> Any:
        return np.array([self._sign(k, x) for k, x in enumerate(self._each(column))])

    def zeros(self, column: Any) -> Any:
        listed = self._each(column)
        for k, x in enumerate(listed):
            self.tested[k] += [p for p in parts_of(x) if p.degree() > 0]
        return np.array([not x for x in listed])

    def _sign(self, k: int, value: Any) -> int:
        above, below = parts_of(value)
        self.asked[k] += [p for p in (above, below) if p.degree() > 0]
        product = above(self.samples[k]) * below(self.samples[k])
        return int(product > 0) - int(product < 0)


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
        self._sample, self.ends = sample, (low, high)
        self._pieces: dict[int, Pieces] = {}
        self.regular = {low, high}
        self._zeros: set[Any] = set()
        super().__init__(rule, visited, carried=False)
        self.pieces = [self._piece(group) for group in self.groups]
        sample.at, sample.asked = (low + high) / 2, []
        self.jumps = self._jumps()

    def _piece(self, group: Group) -> Pieces:
        return self._pieces[id(group)]

    def _at(self, outcomes: Any, samples: list[Any], *, strict: bool) -> _AtSamples:
        """The columns of some outcomes, with the signs at a sample of each."""
        return _AtSamples(self.ops, self.runs.places(outcomes), samples, strict=strict)

    def _columns(self, group: Group, at: Any, *, strict: bool) -> Any:
        samples = [self._piece(group).middle(k) for k in at]
        return self._at(group.outcomes[at], samples, strict=strict)

    def _hold_against_the_rule(self, group: Group, place: int, k: int, plain: Any) -> None:
        self._sample.at = self._piece(group).middle(place)
        super()._hold_against_the_rule(group, place, k, plain)

    def _grouped(self, *, carried: bool) -> tuple[list[Group], set[Slot]]:
        assert not carried, "no symbol is followed through a memory"
        everything, (low, high) = self.runs.everything, self.ends
        n = len(everything)
        return [p.group for p in self._over(everything, [low] * n, [high] * n)], set()

    def _over(self, outcomes: Any, lows: list[Any], highs: list[Any]) -> list[Pieces]:
        """The pieces of some outcomes, of which one may stand there several times, each on a range."""
        waiting: list[Any] = [(outcomes, lows, highs, ())]
        count, pieces = 0, []
        while waiting:
            outcomes, lows, highs, known = waiting.pop()
            count += 1
            if count > MOST_GROUPS:
                raise NoFormError("too many cases")
            middles = [(a + b) / 2 for a, b in zip(lows, highs, strict=True)]
            columns = self._at(outcomes, middles, strict=False)
            columns.known = known
            try:
                update, handed = self.runs.run(columns, outcomes, set())
            except SplitError as split:
                for chosen in (split.mask, ~split.mask):
                    at = np.flatnonzero(chosen).tolist()
                    ranges = [lows[k] for k in at], [highs[k] for k in at]
                    waiting.append((outcomes[at], *ranges, columns.products_of(at)))
                continue
            done, more = [], []
            for k, (asked, tested) in enumerate(zip(columns.asked, columns.tested, strict=True)):
                inner = self._inside(asked, tested, lows[k], highs[k])
                if inner:
                    ends = itertools.pairwise([lows[k], *inner, highs[k]])
                    more += [(k, a, b) for a, b in ends]
                else:
                    done.append(k)
            if more:
                again, starts, ends_of = map(list, zip(*more, strict=True))
                early = columns.products_of(again, early=True)  # later ones may be others there
                waiting.append((outcomes[again], starts, ends_of, early))
            if done:
                moved, kept = (_chosen(terms_of(x), done, len(outcomes)) for x in (update, handed))
                group = Group(outcomes[done], moved, kept, tuple(columns.path))
                ranges = [lows[k] for k in done], [highs[k] for k in done]
                pieces.append(Pieces(group, *ranges))
                self._pieces[id(group)] = pieces[-1]
        return pieces

    def _inside(self, asked: list[Any], tested: list[Any], low: Any, high: Any) -> list[Any]:
        """Where signs that were asked for change, and where something is 0 that is tested for it."""
        inner: list[Any] = []
        for end in (low, high):
            if end in self.ends and not all(p(end) for p in (*asked, *tested)):
                self.regular.discard(end)
        for polynomials in (asked, tested):
            for polynomial in polynomials:
                places = real_places(polynomial, low, high)
                if places is None:
                    raise NoFormError("a sign changes at an irrational")
                inner += [x for x in places if x not in inner]
                if polynomials is tested:
                    self._zeros.update(places)
        return sorted(inner)

    def _jumps(self) -> list[Any]:
        """Each end of a range inside, where the rule does not make what the formulas on both sides do."""
        start, end = self.ends
        sides: dict[tuple[int, Any], list[Any]] = {}
        for piece in self.pieces:
            for k, outcome in enumerate(piece.group.outcomes.tolist()):
                for point in (piece.lows[k], piece.highs[k]):
                    if start < point < end:
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
