"""Sums and products of floats with what rounding takes from them, which is a float itself (Higham 2002, Section 4.3).

Each works on floats as on arrays of them. Nothing is exact where a step overflows or falls below the range of floats.
"""

from __future__ import annotations

from typing import Any

__all__ = ["product_and_lost", "sum_and_lost"]

SPLITTER = 2.0**27 + 1.0
"""Takes a float apart into two of 26 bits, whose products are exact (Dekker 1971)."""


def sum_and_lost(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b as a float and what rounding took from it (Knuth).

    Examples
    --------
    >>> sum_and_lost(1.0, 2.0**-60)
    (1.0, 8.673617379884035e-19)
    """
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def product_and_lost(a: Any, b: Any) -> tuple[Any, Any]:
    """a b as a float and what rounding took from it (Dekker 1971).

    Examples
    --------
    >>> product, lost = product_and_lost(1 + 2.0**-30, 1 + 2.0**-30)
    >>> product == 1 + 2.0**-29, lost == 2.0**-60
    (True, True)
    """
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    product = a * b
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


def _halves(a: Any) -> tuple[Any, Any]:
    big = SPLITTER * a
    high = big - (big - a)
    return high, a - high
