"""Signs that follow from those of polynomials that differ by a number: x y - 2 is negative where x y - 1 is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp

__all__ = ["Bounds", "Shift", "bounds_of", "shift_of", "sign_from"]

Shift = tuple[frozenset[Any], Any, int]
"""A polynomial as a multiple of m + a: m, made of monomials, then a, and the sign of the multiple."""


def shift_of(polynomial: Any) -> Shift:
    """A native polynomial as a multiple of another one, whose first monomial has the coefficient 1, plus a number.

    Examples
    --------
    >>> from sympy import QQ, ring
    >>> R, x, y = ring("x, y", QQ)
    >>> shift_of(1 - 2 * x * y) == shift_of(x * y - R(1) / 2)[:2] + (-1,)
    True
    """
    lead, symbols = polynomial.LC, polynomial.ring.symbols
    m, a = [], 0 * lead
    for powers, coefficient in polynomial.terms():
        if any(powers):
            monomial = frozenset((s, k) for s, k in zip(symbols, powers, strict=True) if k)
            m.append((monomial, coefficient / lead))
        else:
            a = coefficient / lead
    return frozenset(m), a, 1 if lead > 0 else -1


Bounds = Mapping[frozenset[Any], tuple[Any, Any]]
"""For some m: the largest a with m + a < 0 throughout, and the smallest with m + a > 0; None where there is none."""


def bounds_of(given: Iterable[tuple[Any, int]]) -> Bounds:
    """The bounds that polynomials, public, and their signs make."""
    found: dict[frozenset[Any], tuple[Any, Any]] = {}
    for polynomial, sign in given:
        m, a, turn = shift_of(
            sp.ring(sorted(polynomial.free_symbols, key=str), sp.QQ)[0].from_expr(polynomial)
        )
        below, above = found.get(m, (None, None))
        if sign * turn < 0:
            below = a if below is None else max(a, below)
        else:
            above = a if above is None else min(a, above)
        found[m] = below, above
    return found


def sign_from(bounds: Bounds, polynomial: Any) -> int | None:
    """The sign of a native polynomial that follows from bounds; None where none does."""
    m, a, turn = shift_of(polynomial)
    below, above = bounds.get(m, (None, None))
    if below is not None and a <= below:
        return -turn
    return turn if above is not None and a >= above else None
