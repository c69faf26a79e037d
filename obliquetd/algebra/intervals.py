"""Ranges of real numbers: intervals and points with exact ends, and questions that sympy takes long to answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

__all__ = ["SignRange", "holds", "is_part", "parts_of"]

FINE = 2**10
"""To which part of 1 an irrational end is moved outward, where a rational one is needed."""


@dataclass(frozen=True)
class SignRange:
    """Where a symbol lies: between two real numbers or infinities; an end is in it or not.

    Examples
    --------
    >>> str(SignRange.of(sp.Interval.Ropen(0, 1)))
    '[0, 1)'
    """

    low: Any = -sp.oo
    high: Any = sp.oo
    has_low: bool = False
    has_high: bool = False

    @classmethod
    def of(cls, interval: sp.Interval) -> SignRange:
        """The range of an interval."""
        return cls(interval.start, interval.end, not interval.left_open, not interval.right_open)

    @property
    def has_room(self) -> bool:
        """Whether it is more than a point."""
        return bool(self.low < self.high)

    @property
    def is_empty(self) -> bool:
        """Whether nothing lies in it."""
        return not self.has_room and not (self.low == self.high and self.has_low and self.has_high)

    @property
    def as_set(self) -> sp.Set:
        """The interval, or the set of its one point."""
        return sp.Interval(self.low, self.high, not self.has_low, not self.has_high)

    def inside(self) -> SignRange:
        """Without its ends."""
        return replace(self, has_low=False, has_high=False)

    def widened(self) -> SignRange:
        """With a rational end a little outward for each irrational one.

        Examples
        --------
        >>> str(SignRange(sp.Integer(0), sp.sqrt(2)).widened())
        '(0, 1449/1024)'
        """
        low, high = self.low, self.high
        if low.is_finite and not low.is_Rational:
            low = sp.Rational(sp.floor(low * FINE), FINE)
        if high.is_finite and not high.is_Rational:
            high = sp.Rational(sp.ceiling(high * FINE), FINE)
        return replace(self, low=low, high=high)

    def __and__(self, other: SignRange) -> SignRange:
        low, high = max(self.low, other.low), min(self.high, other.high)
        return SignRange(
            low,
            high,
            all(r.has_low for r in (self, other) if r.low == low),
            all(r.has_high for r in (self, other) if r.high == high),
        )

    def __str__(self) -> str:
        return (
            f"{'[' if self.has_low else '('}{self.low}, {self.high}{']' if self.has_high else ')'}"
        )


def holds(interval: sp.Set, value: Any) -> bool:
    """``value in interval``; of rationals without sympy's relations."""
    if not (isinstance(interval, sp.Interval) and isinstance(value, sp.Rational)):
        return bool(value in interval)
    start, end = interval.start, interval.end
    if not all(isinstance(x, sp.Rational) or x.is_infinite for x in (start, end)):
        return bool(value in interval)
    above = value > start if interval.left_open else value >= start
    below = value < end if interval.right_open else value <= end
    return bool(above) and bool(below)


def is_part(one: sp.Set, other: sp.Set) -> bool:
    """Whether an interval is seen to be part of another one, by rational ends alone; sympy takes long to say so."""
    if not (isinstance(one, sp.Interval) and isinstance(other, sp.Interval)):
        return False
    ends = [(one.start, one.left_open, other.start, other.left_open, 1),
            (one.end, one.right_open, other.end, other.right_open, -1)]  # fmt: skip
    return all(
        isinstance(x, sp.Rational) and isinstance(y, sp.Rational)
        and (sign * (x - y) > 0 or (x == y and (is_open or not may_be)))
        for x, is_open, y, may_be, sign in ends
    )  # fmt: skip


def parts_of(region: sp.Set) -> list[sp.Set]:
    """The intervals and single points of a set, in order."""
    if region is sp.S.EmptySet:
        return []
    parts = region.args if isinstance(region, sp.Union) else [region]
    whole = [p for p in parts if not isinstance(p, sp.FiniteSet)]
    points = [sp.FiniteSet(x) for p in parts if isinstance(p, sp.FiniteSet) for x in p]
    return sorted([*whole, *points], key=lambda p: p.inf)
