"""Where a symbol may be: the preimage, under each formula that has it, of the range in which that formula lies.

The symbol of a formula is no number of the model: of the discount 1/(1 + r), which lies in [0, 1), the rate r
may be any positive number. For formulas f_k with ranges D_k,

    {x real : no f_k has a pole at x, and f_k(x) in D_k for all k}.

Each f_k is a rational function, so that f_k(x) enters or leaves D_k at a pole alone, or where f_k(x) is an end
of D_k: at real roots of polynomials, which are isolated exactly. Between two of all these points one rational
sample decides. A point itself is in the set unless a formula has a pole there, or reaches an end that its
range is without; of formulas that do neither, what is beside the point says the same as the point.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import sympy as sp

from obliquetd.algebra.intervals import SignRange
from obliquetd.algebra.numbers import in_domain
from obliquetd.algebra.roots import in_order, rational_between, real_roots

__all__ = ["Limit", "critical_factors", "preimage", "ranges_of"]


class Limit(NamedTuple):
    """A formula, and the set in which it lies wherever there is a model and a learner."""

    formula: Any
    domain: Any

    @property
    def conditions(self) -> tuple[Any, ...]:
        """The formula less each finite end of its range: it enters or leaves that at their zeros and poles."""
        return tuple(sp.cancel(self.formula - end) for end in self.domain.boundary)

    def holds_at(self, values: Mapping[sp.Symbol, Any]) -> bool:
        """Whether the formula is in the set with rationals for all its symbols."""
        found = self.formula.subs(values)
        return bool(found.is_Rational) and in_domain(found, self.domain)


def critical_factors(limit: Limit) -> list[Any]:
    """Irreducible polynomials outside whose zeros a formula neither enters nor leaves its range.

    Examples
    --------
    >>> x, y = sp.symbols("x y")
    >>> critical_factors(Limit(x / y, sp.Interval(0, 1)))
    [x, y, x - y]
    """
    parts = [part for f in limit.conditions for part in sp.fraction(f)]
    parts = parts or [sp.fraction(sp.cancel(limit.formula))[1]]
    found = (factor for part in parts for factor, _ in sp.factor_list(part)[1])
    return list(dict.fromkeys(factor for factor in found if factor.free_symbols))


def preimage(limits: Iterable[Limit], symbol: sp.Symbol, holes: Collection[Any] = ()) -> sp.Set:
    """The real values of a symbol at which each formula, that has no other one, lies in its range; without holes.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> unit = sp.Interval(0, 1)
    >>> preimage([Limit(1 / x, unit)], x), preimage([Limit(2 * x**2, unit), Limit(1 - x, unit)], x)
    (Interval(1, oo), Interval(0, sqrt(2)/2))
    >>> preimage([Limit(1 / (1 + x), sp.Interval.Ropen(0, 1))], x)
    Interval.open(0, oo)
    """
    parts = [part.as_set for part in ranges_of(limits, symbol, holes)]
    return parts[0] if len(parts) == 1 else sp.Union(*parts)


def ranges_of(
    limits: Iterable[Limit], symbol: sp.Symbol, holes: Collection[Any] = ()
) -> list[SignRange]:
    """:func:`preimage` as ranges from left to right; one that is a point has its two ends there."""
    span, curves = SignRange(), []
    for limit in dict.fromkeys(limits):
        straight = _straight(limit, symbol)
        if straight is None:
            curves.append(_Curve(limit, symbol))
        else:
            span = span & straight
    if span.is_empty:
        return []
    if not span.has_room:
        there = span.low not in holes and all(curve.holds(span.low) for curve in curves)
        return [span] if there else []
    points = {*holes, *(x for curve in curves for x in curve.points)}
    inner = {x for x in points if span.low < x < span.high}
    ends = [span.low, *in_order(inner), span.high]
    cells = [
        [curve.holds(rational_between(a, b)) for curve in curves]
        for a, b in itertools.pairwise(ends)
    ]
    last = len(cells) - 1
    marks: list[bool] = []
    for k, end in enumerate(ends):
        beside = zip(curves, cells[min(k, last)], strict=True)
        there = all(curve.holds_next_to(end, inside) for curve, inside in beside)
        marks += [there and end not in holes, *([all(cells[k])] if k <= last else [])]
    marks[0] &= span.has_low
    marks[-1] &= span.has_high
    found, at = [], 0
    for mark, run in itertools.groupby(marks):
        first, at = at, at + len(list(run))
        if mark:  # points have even numbers, and the room between them odd ones
            has_low, has_high = first % 2 == 0, at % 2 == 1
            found.append(SignRange(ends[first // 2], ends[at // 2], has_low, has_high))
    return found


def _straight(limit: Limit, symbol: sp.Symbol) -> SignRange | None:
    """Where a x + b is in an interval; None for another formula, or another set."""
    formula, domain = limit
    if not isinstance(domain, sp.Interval):
        return None
    span = SignRange.of(domain)
    if formula == symbol:
        return span
    if not formula.is_polynomial(symbol) or sp.degree(formula, symbol) != 1:
        return None
    slope, shift = sp.Poly(formula, symbol).all_coeffs()
    low, high = (span.low - shift) / slope, (span.high - shift) / slope
    if slope > 0:
        return SignRange(low, high, span.has_low, span.has_high)
    return SignRange(high, low, span.has_high, span.has_low)


class _Curve:
    """A formula in one symbol that is no straight line, with where it may enter or leave its range."""

    def __init__(self, limit: Limit, symbol: sp.Symbol) -> None:
        self.domain, self.is_symbol = limit.domain, limit.formula == symbol
        self.above, self.below = (
            sp.Poly(part, symbol) for part in sp.fraction(sp.cancel(limit.formula))
        )

    @cached_property
    def poles(self) -> set[Any]:
        return _roots(self.below)

    @cached_property
    def reached(self) -> dict[Any, Any]:
        """The points at which the formula is an end of its range, each with that end."""
        if self.is_symbol:
            return {end: end for end in self.domain.boundary}
        return {
            root: end
            for end in self.domain.boundary
            for root in _roots(self.above - end * self.below)
        }

    @property
    def points(self) -> set[Any]:
        return self.poles | set(self.reached)

    def holds(self, value: sp.Rational) -> bool:
        """Whether the formula is in its range at a rational."""
        below = self.below.eval(value)
        return bool(below != 0) and in_domain(self.above.eval(value) / below, self.domain)

    def holds_next_to(self, point: Any, inside: bool) -> bool:
        """Whether it is so at a point, where it is or is not beside it."""
        if point in self.poles:
            return False
        return in_domain(self.reached[point], self.domain) if point in self.reached else inside


def _roots(polynomial: sp.Poly) -> set[Any]:
    return set(real_roots(polynomial)) if polynomial.degree() > 0 else set()
