"""A ray as a bounded range: the symbol as a formula in one that goes from 0 to 1, and sets carried back.

    x = a + t / (1 - t),  t = (x - a) / (1 + x - a)   takes [0, 1) to [a, oo), and
    x = b + 1 - 1 / t,    t = 1 / (1 + b - x)          takes (0, 1] to (-oo, b].

Both increase, so that intervals stay intervals. A rational goes to a rational, and the k-th root of a polynomial p(t)
between 0 and 1 to the k-th root, in the ray, of the numerator of p(t(x)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from obliquetd.algebra.roots import RealRoot, real_roots

__all__ = ["Ray", "has_limit"]


def has_limit(formula: Any) -> bool:
    """Whether a rational function of one symbol stays finite where that goes to infinity.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> has_limit((x - 1) / (2 * x + 3)), has_limit(x + 1 / x)
    (True, False)
    """
    above, below = (
        sp.Poly(part, *formula.free_symbols) for part in sp.fraction(sp.cancel(formula))
    )
    return bool(above.degree() <= below.degree())


@dataclass(frozen=True)
class Ray:
    """A range with one rational end, and none on the other side.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> ray = Ray(sp.Interval(2, sp.oo), x)
    >>> ray.formula, ray.inside
    (x/(1 - x) + 2, Interval.Ropen(0, 1))
    >>> ray.back(sp.Union(sp.Interval.Ropen(0, sp.sqrt(2) / 2), sp.Interval(sp.Rational(3, 4), 1)))
    Union(Interval.Ropen(2, sqrt(2) + 3), Interval(5, oo))
    """

    whole: sp.Interval
    symbol: sp.Symbol

    @property
    def is_right(self) -> bool:
        """Whether it goes to the right."""
        return bool(self.whole.end == sp.oo)

    @property
    def formula(self) -> Any:
        """What the symbol of the ray is, in itself between 0 and 1."""
        t = self.symbol
        return self.whole.start + t / (1 - t) if self.is_right else self.whole.end + 1 - 1 / t

    @property
    def inside(self) -> sp.Interval:
        """Where it is that; no end is in it that the ray does not have."""
        return sp.Interval(0, 1, self.whole.left_open, self.whole.right_open)

    def back(self, found: sp.Set) -> sp.Set:
        """Intervals and points between 0 and 1, as parts of the ray."""
        if isinstance(found, sp.Union):
            return sp.Union(*map(self.back, found.args))
        if isinstance(found, sp.FiniteSet):
            return sp.FiniteSet(*map(self._number, found))
        if found is sp.S.EmptySet:
            return found
        low, high = map(self._number, (found.start, found.end))
        return sp.Interval(low, high, found.left_open, found.right_open)

    def _number(self, t: Any) -> Any:
        if t == 1 and self.is_right:
            return sp.oo
        if t == 0 and not self.is_right:
            return -sp.oo
        if t.is_Rational:
            return self.formula.subs(self.symbol, t)
        x = self.symbol
        polynomial = (
            t.args[0].as_expr(x) if isinstance(t, RealRoot) else sp.minimal_polynomial(t, x)
        )
        start, end = self.whole.start, self.whole.end
        there = (x - start) / (1 + x - start) if self.is_right else 1 / (1 + end - x)
        moved = sp.fraction(sp.cancel(polynomial.subs(x, there)))[0]
        before = [r for r in real_roots(sp.Poly(polynomial, x)) if 0 < r < t]
        inner = [r for r in real_roots(sp.Poly(moved, x)) if start < r < end]
        return inner[len(before)]
