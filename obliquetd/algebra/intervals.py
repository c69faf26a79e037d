"""Questions about intervals with rational ends, which sympy takes long to answer."""

from __future__ import annotations

from typing import Any

import sympy as sp

__all__ = ["holds", "is_part"]


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
