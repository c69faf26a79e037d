"""A square matrix function U' M(x) V, with a few functions at places of M and rational U and V.

The products of rows of U and V are made once, of numbers, and not of functions: at a rational, in balls, or
in floats with radii (:class:`~obliquetd.algebra.float_balls.FloatBalls`) for all functions at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import flint
import numpy as np

from obliquetd.algebra.float_balls import FloatBalls
from obliquetd.algebra.functions import over_ball
from obliquetd.algebra.quotients import ONE, parts_of
from obliquetd.algebra.rounding import EPS

__all__ = ["Entry", "FactoredFunctions"]

Three = tuple[FloatBalls, FloatBalls, FloatBalls]


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
        try:
            above, below = (_coefficients([e[k] for e in self.entries]) for k in (0, 1))
            left, right = (
                FloatBalls.of_rationals([x for row in rows for x in row], (len(rows), self.size))
                for rows in (self._left, self._right)
            )
        except OverflowError:
            return None
        shape = len(self._left), len(self._right)
        places = np.array([e.left * shape[1] + e.right for e in self.entries], dtype=np.intp)

        def matrix(values: FloatBalls) -> FloatBalls:
            M = values.added_at(places, shape[0] * shape[1])
            M = FloatBalls(M.middle.reshape(shape), M.radius.reshape(shape))
            return left.T @ (M @ right)

        def three(middle: float, radius: float) -> Three | None:
            N, D = (_taylor(p, middle) for p in (above, below))
            near = _around(D, radius)
            if not (np.abs(near[0].middle) > near[0].radius).all():
                return None  # there may be a pole
            value, slope = _fractions(_at_middle(N), _at_middle(D))[:2]
            return matrix(value), matrix(slope), matrix(_fractions(_around(N, radius), near)[2])

        return three

    def in_floats(self, middle: float, radius: float) -> Three | None:
        """The value and slope at a float, and the second derivative within a radius; None at a pole or beyond floats."""
        return None if self._floats is None else self._floats(middle, radius)


def _coefficients(polynomials: Sequence[Any]) -> list[FloatBalls]:
    """For each power, from the constant on, the coefficients of all."""
    degree = max((p.degree() for p in polynomials), default=0)
    return [
        FloatBalls.of_rationals([p[k] for p in polynomials], (len(polynomials),))
        for k in range(max(degree, 0) + 1)
    ]


def _taylor(coefficients: list[FloatBalls], middle: float) -> list[FloatBalls]:
    """The coefficients in powers of the distance from a float, by repeated division by it."""
    out = list(coefficients)
    for start in range(len(out) - 1):
        for k in range(len(out) - 2, start - 1, -1):
            out[k] = out[k] + out[k + 1].scaled(middle)
    return out


def _derivatives(coefficients: list[FloatBalls]) -> list[list[FloatBalls]]:
    """The coefficients of a polynomial and of its first two derivatives."""
    out = [coefficients]
    for _ in range(2):
        out.append([c.scaled(float(k)) for k, c in enumerate(out[-1])][1:])
    return out


def _at_middle(coefficients: list[FloatBalls]) -> list[FloatBalls]:
    zero = coefficients[0].scaled(0.0)
    return [p[0] if p else zero for p in _derivatives(coefficients)]


def _around(coefficients: list[FloatBalls], radius: float) -> list[FloatBalls]:
    """Balls of the polynomial and of its first two derivatives at all points within a radius."""
    zero, out = coefficients[0].scaled(0.0), []
    for p in _derivatives(coefficients):
        if not p:
            out.append(zero)
            continue
        spread, power = p[0].radius, 1.0
        for c in p[1:]:
            power = power * radius * (1 + EPS)
            spread = spread + power * (np.abs(c.middle) + c.radius)
        out.append(FloatBalls(p[0].middle, spread * (1 + 4 * (len(p) + 2) * EPS)))
    return out


def _fractions(N: list[FloatBalls], D: list[FloatBalls]) -> list[FloatBalls]:
    """N/D and its first two derivatives, by Leibniz: of 1/D they are -D'/D^2 and 2 D'^2/D^3 - D''/D^2."""
    q = D[0].inverse()
    q1 = -(D[1] * q * q)
    q2 = -((D[1] * q1).scaled(2.0) * q) - D[2] * q * q
    return [N[0] * q, N[1] * q + N[0] * q1, N[2] * q + (N[1] * q1).scaled(2.0) + N[0] * q2]
