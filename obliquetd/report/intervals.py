"""Sets of numbers as people write them: intervals and points, exact ends, and decimals beside long ones."""

from __future__ import annotations

from typing import Any

import sympy as sp

from obliquetd.algebra.intervals import parts_of

__all__ = ["end_text", "interval_text", "where_text"]

SHORT_ROOT = 24
"""Letters up to which an algebraic number is shown beside its decimal."""
SHORT_RATIONAL = 20
"""Letters up to which a rational number is shown as it is."""


def interval_text(region: Any) -> str:
    """A union of intervals and points as it is written by hand.

    Examples
    --------
    >>> interval_text(sp.Union(sp.Interval.Ropen(0, sp.Rational(1, 3)), sp.FiniteSet(1)))
    '[0, 1/3) or {1}'
    >>> interval_text(sp.Interval.open(0, sp.sqrt(2) / 2)), interval_text(sp.S.EmptySet)
    ('(0, sqrt(2)/2 ≈ 0.707107)', '{}')
    """
    return " or ".join(map(_part_text, parts_of(region))) or "{}"


def where_text(region: Any, symbol: Any) -> str:
    """The values of a symbol, as the end of a sentence.

    Examples
    --------
    >>> where_text(sp.Interval.Ropen(0, sp.Rational(5, 6)), "gamma"), where_text(sp.S.EmptySet, "gamma")
    ('for gamma in [0, 5/6)', 'for no gamma')
    >>> where_text(sp.S.Reals, "r")
    'for any r'
    """
    if region is sp.S.EmptySet:
        return f"for no {symbol}"
    return (
        f"for any {symbol}" if region == sp.S.Reals else f"for {symbol} in {interval_text(region)}"
    )


def _part_text(part: Any) -> str:
    if isinstance(part, sp.FiniteSet):
        return f"{{{end_text(part.inf)}}}"
    left, right = "(" if part.left_open else "[", ")" if part.right_open else "]"
    return f"{left}{end_text(part.inf)}, {end_text(part.sup)}{right}"


def end_text(x: Any) -> str:
    """An end as people read it; of an algebraic number its decimal as well.

    Examples
    --------
    >>> end_text(sp.Rational(5, 6)), end_text(sp.sqrt(2)), end_text(sp.oo)
    ('5/6', 'sqrt(2) ≈ 1.41421', 'oo')
    """
    text = str(x)
    if x in (sp.oo, -sp.oo) or (x.is_Rational and len(text) <= SHORT_RATIONAL):
        return text
    decimal = f"≈ {float(x):.6g}"
    return f"{text} {decimal}" if not x.is_Rational and len(text) < SHORT_ROOT else decimal
