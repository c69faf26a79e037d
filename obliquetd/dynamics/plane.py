"""The plane of two symbols, cut where stability can change, so that a picture fills whole cells.

A cylindrical decomposition of a rectangle (Collins, 1975), for the boundary polynomials of a
:class:`obliquetd.dynamics.regions.StabilityMap`:

1. Over a line of the first symbol the number and the order of the roots in the second one can change only
   at a root of a discriminant, of a resultant of two of the polynomials, or of a polynomial on the lower or
   upper edge of the rectangle. Between two such points, in a *strip*, the roots are functions that
   never meet.
2. Between two of those functions no boundary polynomial vanishes, so one rational point decides.

Where a probability, a discount or a setting of the learner leaves its range there is no model, and no verdict: the
polynomials of these limits cut the plane as well. No cell is missed, however thin, and no verdict is carried over a boundary.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra.cells import break_points, rational_between
from obliquetd.algebra.preimage import critical_factors
from obliquetd.algebra.roots import in_order
from obliquetd.dynamics.regions import StabilityMap

__all__ = ["Plane", "Strip", "plane_of"]

FINE = sp.Rational(1, 20_000)
"""How finely a root is located, in heights of the rectangle: far below a pixel."""
NEAR = 1e-9
"""How near to its ends a strip is traced, in widths of the strip: a fold has a vertical tangent there."""
DECIMALS = 10**15


@dataclass(frozen=True)
class Strip:
    """Values of the first symbol over which the roots in the second one do not meet.

    Attributes
    ----------
    left, right : real number
        The ends, exact.
    stable : tuple of bool or None
        The verdict below the first root, between the roots, and above the last; None where
        there is no model.
    curves : tuple of sympy expression
        The polynomial of each root.
    """

    left: Any
    right: Any
    stable: tuple[bool | None, ...]
    curves: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Plane:
    """A rectangle of two symbols as cells with one verdict each.

    Attributes
    ----------
    found : StabilityMap
    low, high : sympy.Rational
        Of the second symbol.
    strips : tuple of Strip
        From left to right.
    polynomials : tuple of sympy expression
        That cut it: those of the map, and those of the limits.
    """

    found: StabilityMap
    low: Any
    high: Any
    strips: tuple[Strip, ...]
    polynomials: tuple[Any, ...]

    @property
    def verdicts(self) -> frozenset[bool | None]:
        """What occurs among the cells."""
        return frozenset(v for strip in self.strips for v in strip.stable)

    def roots(self, x: Any) -> list[float]:
        """The roots in the second symbol over a rational x, upwards, finer than a pixel."""
        first, second = self.found.symbols
        out: list[Any] = []
        for polynomial in self.polynomials:
            there = sp.Poly(polynomial.subs(first, x), second, domain=sp.QQ)
            if there.degree() == 1:
                slope, shift = there.all_coeffs()
                out += [root for root in [-shift / slope] if self.low < root < self.high]
            elif there.degree() > 1:
                fine = FINE * (self.high - self.low)
                pairs = there.intervals(inf=self.low, sup=self.high, eps=fine)
                out += [(a + b) / 2 for (a, b), _ in pairs]
        return sorted(map(float, out))

    def traced(self, strip: Strip, points: int) -> tuple[np.ndarray, np.ndarray]:
        """Places inside a strip, dense at its ends, and the edges of its cells there.

        Returns
        -------
        x : array (points,)
        edges : array (points, cells + 1)
            The lower edge of the rectangle, the roots, and the upper edge.
        """
        a, b = float(strip.left), float(strip.right)
        share = NEAR + (1 - 2 * NEAR) * (1 - np.cos(np.pi * np.linspace(0, 1, points))) / 2
        places = a + (b - a) * share
        rows = [self._row(_rational(x)) for x in places]
        kept = [i for i, row in enumerate(rows) if len(row) == len(strip.stable) + 1]
        if not kept:  # a strip that is narrower than floats can tell
            middle = rational_between(strip.left, strip.right)
            return np.array([float(middle)]), np.array([self._row(middle)])
        return places[kept], np.array([rows[i] for i in kept])

    def _row(self, x: Any) -> list[float]:
        return [float(self.low), *self.roots(x), float(self.high)]


def plane_of(found: StabilityMap, ranges: Sequence[tuple[Any, Any]]) -> Plane:
    """The cells of a rectangle, each decided exactly at a rational point inside it.

    Parameters
    ----------
    found : StabilityMap
    ranges : pair of (low, high)
        Of the two symbols.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.dynamics.regions import stability_map
    >>> from obliquetd.learners import TD
    >>> unit = ((0, 1), (0, 1))
    >>> found = stability_map(two_state("gamma"), TD(lam="l"), ("gamma", "l"), unit, resolution=1)
    >>> [(s.left, s.right, s.stable) for s in plane_of(found, unit).strips]
    [(0, 5/6, (True,)), (5/6, 1, (False, True))]
    """
    (left, right), (low, high) = (tuple(map(sp.nsimplify, side)) for side in ranges)
    x, y = found.symbols
    edges_of_model = (factor for limit in found.limits for factor in critical_factors(limit))
    polynomials = tuple(dict.fromkeys([*found.boundary, *edges_of_model]))

    def verdict(u: Any, v: Any) -> bool | None:
        inside = all(limit.holds_at({x: u, y: v}) for limit in found.limits)
        return found.at(u, v) if inside else None

    strips = []
    for a, b in itertools.pairwise(
        break_points(left, right, _critical(polynomials, y, low, high), x)
    ):
        at = rational_between(a, b)
        belongs = {
            root: p
            for p in polynomials
            for root in break_points(low, high, [p.subs(x, at)], y)[1:-1]
        }
        edges = in_order([low, *belongs, high])
        inside = itertools.starmap(rational_between, itertools.pairwise(edges))
        stable = tuple(verdict(at, height) for height in inside)
        strips.append(Strip(a, b, stable, tuple(belongs[e] for e in edges[1:-1])))
    return Plane(found, low, high, tuple(strips), polynomials)


def _critical(boundary: Sequence[Any], y: sp.Symbol, low: Any, high: Any) -> list[Any]:
    """Formulas in the first symbol outside whose roots the roots in the second keep their order."""
    out = [p for p in boundary if not p.has(y)]
    curves = [p for p in boundary if p.has(y)]
    out += [p.subs(y, edge) for p in curves for edge in (low, high)]
    out += [sp.discriminant(p, y) for p in curves if sp.degree(p, y) > 1]
    out += [sp.resultant(p, q, y) for p, q in itertools.combinations(curves, 2)]
    return [p for p in map(sp.sympify, out) if p.free_symbols]


def _rational(x: float) -> Any:
    return sp.Rational(round(x * DECIMALS), DECIMALS)
