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
from obliquetd.algebra.quotients import Sample, parts_of, real_places
from obliquetd.dynamics.columns import FieldColumns
from obliquetd.dynamics.products import MOST_GROUPS, Group, Products, Slot, Term
from obliquetd.dynamics.rule import RuleOnNumbers
from obliquetd.learners.forms import NoFormError, SplitError

__all__ = ["Formulas", "Pieces"]


class Pieces(NamedTuple):
    """Terms of outcomes, as a group has them, with the range of each from ``lows`` to ``highs``."""

    group: Group
    lows: list[Any]
    highs: list[Any]


class _AtSamples(FieldColumns):
    """Columns of functions with the signs that each outcome's have at a sample of its own."""

    samples: list[Any]
    asked: list[list[Any]]
    tested: list[list[Any]]
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
        self._ranges: list[tuple[list[Any], list[Any]]] = []
        self._samples: list[Any] = []
        self._asked: list[list[Any]] = []
        self._tested: list[list[Any]] = []
        self.regular = {low, high}
        self._zeros: set[Any] = set()
        super().__init__(rule, visited, carried=False)
        self.pieces = [Pieces(g, *r) for g, r in zip(self.groups, self._ranges, strict=True)]
        sample.at, sample.asked = (low + high) / 2, []
        self.jumps = self._jumps()

    def among(self, column: Any, outcomes: Any) -> Any:
        if len(column) == 1 < len(self.first):
            return column
        return column[outcomes]

    def _columns(self, places: dict[str, Any], *, strict: bool) -> Any:
        columns = _AtSamples(self.ops, places, strict=strict)
        columns.samples = self._samples
        columns.asked = self._asked = [[] for _ in self._samples]
        columns.tested = self._tested = [[] for _ in self._samples]
        return columns

    def _held(self, group: Group, at: Any) -> Any:
        lows, highs = next(r for g, r in zip(self.groups, self._ranges, strict=True) if g is group)
        self._samples = [(lows[k] + highs[k]) / 2 for k in at]
        return group.outcomes[at]

    def _hold_against_the_rule(self, outcome: int, k: int, plain: Any) -> None:
        self._sample.at = self._samples[k]
        super()._hold_against_the_rule(outcome, k, plain)

    def _groups(self) -> Iterator[Group]:
        low, high = self.ends
        n = len(self.everything)
        self._ranges.clear()
        yield from self._over(self.everything, [low] * n, [high] * n)

    def _over(self, outcomes: Any, lows: list[Any], highs: list[Any]) -> Iterator[Group]:
        waiting, count = [(outcomes, lows, highs)], 0
        while waiting:
            outcomes, lows, highs = waiting.pop()
            count += 1
            if count > MOST_GROUPS:
                raise NoFormError("too many cases")
            self._samples = [(a + b) / 2 for a, b in zip(lows, highs, strict=True)]
            try:
                update, handed, path = self._run(outcomes, strict=False)
            except SplitError as split:
                for chosen in (split.mask, ~split.mask):
                    at = np.flatnonzero(chosen).tolist()
                    waiting.append((outcomes[at], [lows[k] for k in at], [highs[k] for k in at]))
                continue
            done, more = [], []
            for k, (asked, tested) in enumerate(zip(self._asked, self._tested, strict=True)):
                inner = self._inside(asked, tested, lows[k], highs[k])
                if inner:
                    ends = itertools.pairwise([lows[k], *inner, highs[k]])
                    more += [(outcomes[k], a, b) for a, b in ends]
                else:
                    done.append(k)
            if more:
                again, starts, ends_of = zip(*more, strict=True)
                waiting.append((np.array(again), list(starts), list(ends_of)))
            if done:
                self._paths.append(path)
                self._ranges.append(([lows[k] for k in done], [highs[k] for k in done]))
                update, handed = (_terms(part, done, len(outcomes)) for part in (update, handed))
                yield Group(outcomes[done], update, handed)

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
        kept = self.groups, self._paths, self._ranges
        self._paths, self._ranges = [], []
        self.groups = list(self._over(np.array(outcomes), list(points), list(points)))
        for group, path, (lows, _) in zip(self.groups, self._paths, self._ranges, strict=True):
            self._guard(group, path)
            for k, outcome in enumerate(group.outcomes.tolist()):
                sides[outcome, lows[k]].append((group, k))
        self.groups, self._paths, self._ranges = kept
        jumps = set(self._zeros)
        for (_, point), found in sides.items():
            values = [_values(group, k, point) for group, k in found]
            if None in values or any(v != values[0] for v in values):
                jumps.add(point)
        return sorted(jumps)


def _terms(part: dict[Any, Any], done: list[int], count: int) -> dict[Slot, list[Term]]:
    """The terms of the outcomes at some places."""
    out: dict[Slot, list[Term]] = {}
    for (slot, _), found in part.items():
        out[slot] = [
            Term(left, factors, column if len(column) == 1 or len(done) == count else column[done])
            for (left, factors), column in found.items()
        ]
    return out


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
