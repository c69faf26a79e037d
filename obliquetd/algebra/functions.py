"""Matrices of rational functions of one variable that are evaluated, exactly or in balls.

A sum of fractions is kept by its denominators: the matrix is the sum over them of N_0 + N_1 x + ... over
the denominator, with rational matrices N_k.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

import flint
import numpy as np
import sympy as sp

from obliquetd.algebra.enclosures import rational
from obliquetd.algebra.evaluation import coefficients_through
from obliquetd.algebra.factoring import irreducible_factors
from obliquetd.algebra.float_balls import FloatBalls
from obliquetd.algebra.float_functions import LARGEST_DEGREE, Three, coefficients, three_of
from obliquetd.algebra.numbers import public_number, simplest_between
from obliquetd.algebra.quotients import ONE, Quotient, may_be_between, parts_of
from obliquetd.algebra.roots import real_roots
from obliquetd.algebra.ways import Way

__all__ = [
    "Basis",
    "FunctionMatrix",
    "columns_of",
    "constant_span",
    "determinant_above",
    "in_ball",
    "independent",
    "is_finite",
    "over_ball",
    "rank_of",
    "rational_inside",
    "root_between",
    "value_at",
]

LARGEST_NUMERATOR: Way[int] = 150
"""The degree of a determinant's numerator that is interpolated."""


@dataclass(frozen=True)
class Basis:
    """A space by a basis as rows, which are the identity at the pivots; ``rows`` is None for all of it."""

    rows: list[list[Any]] | None
    pivots: list[int]

    def restricted(self, columns: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """The columns of Q with A B = B Q, from the columns of an A that maps into the space."""
        if self.rows is None:
            return [list(column) for column in columns]
        return [
            [_sum(b * columns[j][i] for j, b in enumerate(row) if b) for i in self.pivots]
            for row in self.rows
        ]


def _sum(values: Iterable[Any]) -> Any:
    total = flint.fmpq(0)
    for value in values:
        total = total + value
    return total


def constant_span(vectors: Sequence[Sequence[Any]], size: int, point: Any) -> Basis | None:
    """The constant space that holds vectors of functions everywhere, if they span it at a point.

    The point is the given one, or, where one of the functions has a pole there, one close by that none
    of them has.

    Examples
    --------
    >>> one, zero = flint.fmpq(1), flint.fmpq(0)
    >>> constant_span([[one, one]], 2, zero).pivots, constant_span([[one, zero], [one, one]], 2, zero).rows
    ([0], None)
    """
    rank = len(independent(_off_poles(vectors, point), size))
    if not rank:
        return None
    if rank == size:
        return Basis(None, list(range(size)))
    coefficients = [row for v in vectors for row in _coefficients(v)]
    reduced, dimension = flint.fmpq_mat(coefficients).rref()
    if dimension != rank:
        return None
    rows = reduced.tolist()[:rank]
    return Basis(rows, [next(j for j, x in enumerate(row) if x) for row in rows])


def _off_poles(vectors: Sequence[Sequence[Any]], point: Any) -> list[list[Any]]:
    """The values of functions, each with finitely many poles, at the first point without one."""
    for k in itertools.count(1):
        try:
            return [[value_at(x, point) for x in v] for v in vectors]
        except ZeroDivisionError:
            point = point + flint.fmpq(1, 1000 + k)
    raise AssertionError


def in_ball(value: Any, ball: Any) -> Any:
    """A ball that holds a function's values at all points of a ball."""
    above, below = parts_of(value)
    return _over(above, ball) / _over(below, ball)


def independent(rows: Sequence[Sequence[Any]], size: int) -> list[int]:
    """The places of the first rows of rationals that are independent, ``size`` of them at most."""
    kept: list[int] = []
    for k, row in enumerate(rows):
        if any(row) and flint.fmpq_mat([*(rows[i] for i in kept), row]).rank() > len(kept):
            kept.append(k)
            if len(kept) == size:
                break
    return kept


def rank_of(rows: Sequence[Sequence[Any]]) -> int:
    """The rank of a matrix of rationals, by its rows."""
    return int(flint.fmpq_mat([list(row) for row in rows]).rank()) if rows else 0


def columns_of(matrices: Sequence[Any], below: Any, sample: Any) -> list[list[Any]]:
    """The columns of N_0 + N_1 x + ... over a polynomial, as functions."""
    return [
        [Quotient(flint.fmpq_poly([M[i, j] for M in matrices]), below, sample) for i in range(matrices[0].nrows())]
        for j in range(matrices[0].ncols())
    ]  # fmt: skip


def value_at(value: Any, point: Any) -> Any:
    """A function, or a rational, at a rational; ZeroDivisionError at a pole."""
    above, below = parts_of(value)
    return above(point) / below(point)


def _coefficients(vector: Sequence[Any]) -> list[list[Any]]:
    """The coefficients, as vectors, of the vector times its common denominator."""
    parts = [parts_of(x) for x in vector]
    common = ONE
    for _, below in parts:
        common = common * (below // common.gcd(below))
    cleared = [above * (common // below) for above, below in parts]
    return [[p[k] for p in cleared] for k in range(1 + max(p.degree() for p in cleared))]


class FunctionMatrix:
    """A square matrix of rational functions: sums of polynomials of matrices over polynomials."""

    chosen = None

    def __init__(self, terms: dict[str, tuple[Any, list[Any]]], size: int) -> None:
        self._terms, self.size = list(terms.values()), size
        self._in_balls: list[tuple[tuple[Any, ...], list[list[Any]]]] | None = None

    @classmethod
    def of_sum(cls, weighted: Iterable[tuple[Any, Any]], basis: Basis) -> FunctionMatrix:
        """The sum of weight times the matrix with the given columns, restricted to a space."""
        size = len(basis.pivots)
        sums: dict[str, tuple[Any, dict[int, list[Any]]]] = {}
        for weight, columns in weighted:
            for j, column in enumerate(basis.restricted(columns)):
                for i, x in enumerate(column):
                    if not x:
                        continue
                    above, below = parts_of(weight * x)
                    lead = below[below.degree()]
                    above, below = above / lead, below / lead
                    entries = sums.setdefault(str(below), (below, {}))[1]
                    place = i * size + j
                    entries[place] = entries.get(place, 0) + above
        return cls(
            {key: (below, _matrices(entries, size)) for key, (below, entries) in sums.items()}, size
        )

    @property
    def whole(self) -> FunctionMatrix:
        """Itself: it has no entries that are evaluated as part of more."""
        return self

    @property
    def is_zero(self) -> bool:
        """Whether it has no entry."""
        return not self._terms

    @property
    def denominators(self) -> list[Any]:
        """The different ones."""
        return [below for below, _ in self._terms]

    @property
    def growth(self) -> int:
        """By how much the degree of an entry is above that of its denominator, or 0."""
        return max((max(len(N) - 1 - below.degree(), 0) for below, N in self._terms), default=0)

    def at(self, point: Any) -> Any:
        """The matrix at a rational; ZeroDivisionError at a pole."""
        total = flint.fmpq_mat(self.size, self.size)
        for below, matrices in self._terms:
            value = flint.fmpq_mat(self.size, self.size)
            for N in matrices[::-1]:
                value = value * point + N
            total += value * (1 / below(point))
        return total

    def over(self, ball: Any, order: int = 0) -> Any:
        """A matrix of balls that holds the values, or derivatives up to the second, at all points of a ball."""
        if self._in_balls is None:
            self._in_balls = [
                (
                    (below, below.derivative(), below.derivative().derivative()),
                    [_derived([flint.arb_mat(N) for N in matrices], k) for k in range(3)],
                )
                for below, matrices in self._terms
            ]
        total = flint.arb_mat(self.size, self.size)
        for belows, matrices in self._in_balls:
            if belows[0].degree() == 0:
                total += self._horner(matrices[order], ball)
                continue
            inverses = _inverses(belows, ball)
            for k in range(order + 1):  # Leibniz, of N and 1/D
                factor = inverses[k] * (2 if (order, k) == (2, 1) else 1)
                total += self._horner(matrices[order - k], ball) * factor
        return total

    @cached_property
    def _floats(self) -> list[FloatBalls] | None:
        """Of each term the coefficients of all entries, and of the denominator unless it is 1; None beyond floats."""
        found = []
        for below, matrices in self._terms:
            count = max(len(matrices), 1 + below.degree())
            if count > LARGEST_DEGREE:
                return None
            zero = flint.fmpq_mat(self.size, self.size)
            powers = [*matrices, *[zero] * (count - len(matrices))]
            try:
                functions = FloatBalls.of_rationals(
                    [x for N in powers for x in N.entries()], (count, self.size**2)
                )
                if below != ONE:
                    functions = FloatBalls.joined([functions, coefficients([below], count)], axis=1)
            except OverflowError:
                return None
            found.append(functions)
        return found

    def in_floats(self, middle: Any, radius: Any, chosen: Any = None) -> Three | None:  # noqa: ARG002
        """As :meth:`obliquetd.algebra.factored.FactoredFunctions.in_floats`."""
        if not self._floats:
            return None
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            parts = [three_of(x, self.size**2, middle, radius) for x in self._floats]
            value, slope, bend = (reduce(operator.add, x) for x in zip(*parts, strict=True))
        shape = (*np.shape(middle), self.size, self.size)
        return value.shaped(shape), slope.shaped(shape), bend.shaped(shape)

    def _horner(self, matrices: list[Any], ball: Any) -> Any:
        value = flint.arb_mat(self.size, self.size)
        for N in matrices[::-1]:
            value = value * ball + N
        return value


def _derived(matrices: list[Any], order: int) -> list[Any]:
    """The coefficients of a derivative of a polynomial with matrices for coefficients."""
    for _ in range(order):
        matrices = [N * k for k, N in enumerate(matrices)][1:]
    return matrices


def is_finite(matrix: Any) -> bool:
    """Whether no entry of a matrix of balls is unbounded."""
    return all(x.is_finite() for x in matrix.entries())


def determinant_above(parts: Sequence[Any], size: int) -> Any | None:
    """The numerator of the determinant of a sum, and maybe more factors; None of a large degree."""
    below = ONE
    for part in parts:
        for denominator in part.denominators:
            below = below * (denominator // below.gcd(denominator))
    degree = size * (below.degree() + max(part.growth for part in parts))
    if degree > LARGEST_NUMERATOR:
        return None
    points: list[int] = []
    values: list[list[Any]] = []
    point = 0
    while len(points) <= degree:
        factor = below(flint.fmpq(point))
        if factor:
            matrix = flint.fmpq_mat(size, size)
            for part in parts:
                matrix += part.at(flint.fmpq(point))
            points.append(point)
            values.append([matrix.det() * factor**size])
        point += 1
    return flint.fmpq_poly([c for (c,) in coefficients_through(points, values)])


def root_between(polynomial: Any, low: Any, high: Any) -> Any | None:
    """The only real root between two rationals, as sympy numbers it; None where there is not just one.

    Examples
    --------
    >>> root_between(flint.fmpq_poly([-2, 0, 1]) * flint.fmpq_poly([5, 1]), flint.fmpq(1), flint.fmpq(2))
    sqrt(2)
    """
    x, found = sp.Dummy("x"), []
    a, b = public_number(low), public_number(high)
    for factor in irreducible_factors(polynomial):
        if any(may_be_between(root, low, high) for root, _ in factor.complex_roots()):
            integers = [int(c) for c in factor.coeffs()[::-1]]
            found += [r for r in real_roots(sp.Poly(integers, x)) if a < r < b]
    return found[0] if len(found) == 1 else None


def rational_inside(low: Any, high: Any) -> Any:
    """The native rational of the smallest denominator strictly between two others."""
    a, b = (Fraction(int(x.p), int(x.q)) for x in (low, high))
    return rational(simplest_between(a, b, closed=False))


def over_ball(above: Any, below: Any, ball: Any, order: int = 0) -> Any:
    """A ball that holds a fraction, or a derivative of it up to the second, at all points of a ball."""
    (N, *more), (D, *others) = (
        [p, p.derivative(), p.derivative().derivative()] for p in (above, below)
    )
    if D.degree() == 0:
        return _over([N, *more][order], ball) / D[0]
    inverses = _inverses((D, *others), ball)
    return sum(
        (_over([N, *more][order - k], ball) * inverses[k] * (2 if (order, k) == (2, 1) else 1)
         for k in range(order + 1)),
        flint.arb(0),
    )  # fmt: skip


def _inverses(belows: Sequence[Any], ball: Any) -> tuple[Any, Any, Any]:
    """Balls of 1/D and of its first two derivatives, from D and its own."""
    D, D1, D2 = (_over(p, ball) for p in belows)
    q = 1 / D
    return q, -D1 * q * q, (2 * D1 * D1 - D * D2) * q * q * q


def _over(polynomial: Any, ball: Any) -> Any:
    """A polynomial on a ball, by its Taylor series about the middle: its own terms do not cancel there."""
    middle = ball.mid()
    return flint.arb_poly(polynomial)(flint.arb_poly([middle, 1]))(ball - middle)


def _matrices(entries: dict[int, Any], size: int) -> list[Any]:
    degree = max(p.degree() for p in entries.values())
    return [
        flint.fmpq_mat(size, size, [
            entries[k][power] if k in entries else flint.fmpq(0) for k in range(size * size)
        ])
        for power in range(degree + 1)
    ]  # fmt: skip
