"""A square matrix function U' M(x) V, with a few functions at places of M and rational U and V.

The products of rows of U and V are made once, of numbers, and not of functions: at a rational, in balls, or
in floats with radii (:class:`~obliquetd.algebra.float_balls.FloatBalls`) for all functions at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import flint
import numpy as np

from obliquetd.algebra.float_balls import TINY, FloatBalls
from obliquetd.algebra.functions import over_ball
from obliquetd.algebra.quotients import ONE, parts_of
from obliquetd.algebra.rounding import EPS

__all__ = ["Entry", "FactoredFunctions"]

Three = tuple[FloatBalls, FloatBalls, FloatBalls]
LARGEST_DEGREE = 200
"""Of polynomials in floats: their binomial coefficients are in range."""


class Entry(NamedTuple):
    """A function, a polynomial over another, and the rows of U and V that it multiplies."""

    above: Any
    below: Any
    left: int
    right: int

    @classmethod
    def of(cls, value: Any, left: int, right: int) -> Entry:
        """With a denominator whose leading coefficient is 1."""
        above, below = parts_of(value)
        lead = below[below.degree()]
        return (
            cls(above / lead, below / lead, left, right)
            if lead != 1
            else cls(above, below, left, right)
        )

    @classmethod
    def of_polynomial(cls, polynomial: Any, left: int, right: int) -> Entry:
        """A polynomial over 1."""
        return cls(polynomial, ONE, left, right)


class FactoredFunctions:
    """The matrix, with the interface of :class:`~obliquetd.algebra.functions.FunctionMatrix`.

    Parameters
    ----------
    entries : sequence of Entry
        Those at one place are added.
    left, right : list of rows
        U and V, of rationals.
    """

    def __init__(self, entries: Sequence[Entry], left: Any, right: Any, size: int) -> None:
        self.entries, self.size = list(entries), size
        self._left, self._right = left, right

    @property
    def denominators(self) -> list[Any]:
        """The different ones."""
        return list({str(e.below): e.below for e in self.entries}.values())

    @property
    def growth(self) -> int:
        """By how much the degree of an entry is above that of its denominator, or 0."""
        return max((max(e.above.degree() - e.below.degree(), 0) for e in self.entries), default=0)

    def _between(self, kind: Any, values: Sequence[Any]) -> Any:
        """U' M V with values in the place of the functions."""
        wide = len(self._right)
        flat: list[Any] = [0] * (len(self._left) * wide)
        for entry, value in zip(self.entries, values, strict=True):
            place = entry.left * wide + entry.right
            flat[place] = flat[place] + value
        if not flat:
            return kind(self.size, self.size)
        left, right = (flint.fmpq_mat(x) for x in (self._left, self._right))
        return kind(left.transpose()) * kind(len(self._left), wide, flat) * kind(right)

    def at(self, point: Any) -> Any:
        """The matrix at a rational; ZeroDivisionError at a pole."""
        return self._between(
            flint.fmpq_mat, [e.above(point) / e.below(point) for e in self.entries]
        )

    def over(self, ball: Any, order: int = 0) -> Any:
        """A matrix of balls that holds the values, or derivatives up to the second, at all points of a ball."""
        return self._between(
            flint.arb_mat, [over_ball(e.above, e.below, ball, order) for e in self.entries]
        )

    @cached_property
    def _floats(self) -> Callable[[float, float], Three | None] | None:
        above, below = [e.above for e in self.entries], [e.below for e in self.entries]
        degree = max((p.degree() for p in (*above, *below)), default=0)
        if degree > LARGEST_DEGREE:
            return None
        polynomial = all(p is ONE for p in below)
        try:
            functions = _coefficients(above if polynomial else above + below, max(degree, 0) + 1)
            left, right = (
                FloatBalls.of_rationals([x for row in rows for x in row], (len(rows), self.size))
                for rows in (self._left, self._right)
            )
        except OverflowError:
            return None
        shape = len(self._left), len(self._right)
        size, count = shape[0] * shape[1], len(self.entries)
        place = np.array([e.left * shape[1] + e.right for e in self.entries], dtype=np.intp)
        places = (place + size * np.arange(3)[:, None]).ravel()
        most = int(np.bincount(place, minlength=1).max())

        def three(middle: float, radius: float) -> Three | None:
            here, near = _expanded(functions, middle, radius)
            if polynomial:
                parts = here[0], here[1], near[2]
            else:
                N, D, over, under = (
                    [row[at] for row in rows]
                    for rows in (here, near)
                    for at in (slice(count), slice(count, None))
                )
                if not (np.abs(under[0].middle) > under[0].radius).all():
                    return None  # there may be a pole
                parts = (*_value_and_slope(N, D), _bend(over, under))
            flat = FloatBalls.joined(parts).added_at(places, 3 * size, most)
            found = left.T @ (flat.shaped((3, *shape)) @ right)
            return found[0], found[1], found[2]

        return three

    def in_floats(self, middle: float, radius: float) -> Three | None:
        """The value and slope at a float, and the second derivative within a radius; None at a pole or beyond floats."""
        if self._floats is None:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            return self._floats(middle, radius)


def _coefficients(polynomials: Sequence[Any], count: int) -> FloatBalls:
    """The coefficients of all, a column each, from the constant on down: (count, m)."""
    middle = np.zeros((len(polynomials), count))
    inexact = np.zeros((len(polynomials), count), dtype=bool)
    for row, rounded, p in zip(middle, inexact, polynomials, strict=True):
        if p is ONE:
            row[0] = 1.0
            continue
        below, above = int(p.denom()), [int(c) for c in p.numer().coeffs()]
        row[: len(above)] = [c / below for c in above]
        rounded[: len(above)] = below != 1 or [abs(c) > 2**53 for c in above]
    return FloatBalls(middle.T, ((EPS * np.abs(middle) + TINY) * inexact).T)


@lru_cache(32)
def _binomials(count: int) -> tuple[Any, Any, Any, Any]:
    """(k over j) at (j, k), and k - j; k!/(k - d)! at (d, k) for d < 3, and k - d; differences that are not negative."""
    k = np.arange(count)
    over = np.array([[float(math.comb(a, j)) for a in range(count)] for j in range(count)])
    falling = np.array([[float(math.perm(a, d)) for a in range(count)] for d in range(3)])
    gaps = (np.maximum(k - np.arange(m)[:, None], 0) for m in (count, 3))
    return over, next(gaps), falling, next(gaps)


def _expanded(
    functions: FloatBalls, middle: float, radius: float
) -> tuple[list[FloatBalls], list[FloatBalls]]:
    """Polynomials and their first two derivatives: at a float, and in balls at all points within a radius of it.

    With c_j' = sum over k of (k over j) x^(k - j) c_k, the d-th derivative at x + t is the sum of
    k!/(k - d)! t^(k - d) c_k'. The powers are rounded as often as there are factors in them.
    """
    count = functions.middle.shape[0]
    over, gap, falling, apart = _binomials(count)
    slack = (4 * count + 16) * EPS
    powers = np.cumprod([1.0, *[middle] * (count - 1)])
    turn = over * powers[gap]
    size = np.abs(functions.middle)
    center = turn @ functions.middle
    spread = np.abs(turn) @ (functions.radius + slack * size)
    spread = (spread + TINY * (over @ (functions.radius + size))) * (1 + slack) + count * TINY
    powers = np.cumprod([1.0, *[radius] * (count - 1)])
    reach = falling * powers[apart]
    beyond = reach * (apart > 0)
    size = np.abs(center)
    around = reach @ spread + beyond @ size
    around = (around + TINY * (falling @ (spread + size))) * (1 + slack) + count * TINY
    here, near = [], []
    for d, factor in enumerate((1.0, 1.0, 2.0)):
        row = center[d] * factor if d < count else np.zeros(center.shape[1])
        here.append(FloatBalls(row, spread[d] * factor if d < count else row))
        near.append(FloatBalls(row, around[d] if d < count else row))
    return here, near


def _value_and_slope(N: list[FloatBalls], D: list[FloatBalls]) -> tuple[FloatBalls, FloatBalls]:
    """N/D and its derivative N'/D - N D'/D^2."""
    q = D[0].inverse()
    value = N[0] * q
    return value, (N[1] - value * D[1]) * q


def _bend(N: list[FloatBalls], D: list[FloatBalls]) -> FloatBalls:
    """The second derivative of N/D, by Leibniz: of 1/D they are -D'/D^2 and 2 D'^2/D^3 - D''/D^2."""
    q = D[0].inverse()
    q1 = -(D[1] * q * q)
    q2 = -((D[1] * q1).scaled(2.0) * q) - D[2] * q * q
    return N[2] * q + (N[1] * q1).scaled(2.0) + N[0] * q2
