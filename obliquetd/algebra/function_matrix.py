"""Matrices over QQ(x, y, ...): integer polynomials over one denominator.

Sums and products keep the denominator in common and cancel nothing; a solve takes out what the
rows and the columns have in common, goes by values at integers (:mod:`~obliquetd.algebra.evaluation`)
and reduces once. Entries become sympy's fractions, each in lowest terms, where they are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import flint
import numpy as np
from sympy import QQ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

from obliquetd.algebra.elimination import eliminated
from obliquetd.algebra.evaluation import (
    SingularEverywhereError,
    characteristic,
    cramer,
    cramer_with,
    generic_rank,
    points_of,
)
from obliquetd.algebra.field_matrix import FieldMatrix
from obliquetd.algebra.integer_solve import solve_by_integers
from obliquetd.algebra.matrix import GeneralSolution, Indices
from obliquetd.algebra.polynomial_matrix import PolynomialMatrix
from obliquetd.algebra.split_columns import SplitColumn, added_at_places
from obliquetd.algebra.ways import Way

if TYPE_CHECKING:
    from obliquetd.algebra.field import FieldArithmetic
    from obliquetd.algebra.polynomial_ring import PolynomialRing

__all__ = ["FunctionMatrix"]

MOST_POINTS: Way[int] = 2_000
"""Above, a system in several symbols is solved by elimination: few of so many terms occur."""

FEWER: Way[int] = 8
"""Points that are worth a guess."""


class FunctionMatrix(FieldMatrix):
    """A dense matrix of rational functions.

    Parameters
    ----------
    arithmetic : FieldArithmetic
    above : PolynomialMatrix
    below : polynomial
        The denominator of all entries.
    """

    def __init__(self, arithmetic: FieldArithmetic, above: PolynomialMatrix, below: Any) -> None:
        self.arithmetic = arithmetic
        self._above, self._below = above, below

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).of_fractions, (self.arithmetic, self.rows(), self.shape)

    @classmethod
    def of_fractions(
        cls, arithmetic: FieldArithmetic, rows: list[list[Any]], shape: tuple[int, int]
    ) -> FunctionMatrix:
        """From sympy's fractions."""
        ring = _ring(arithmetic)
        parts = [ring.parts(x) for row in rows for x in row]
        below = ring.multiple(q for _, q in parts)
        above = [p if q == below else p * (below // q) for p, q in parts]
        made = cls(arithmetic, PolynomialMatrix(ring, shape, above), below)
        made.__dict__["_fractions"] = rows
        return made

    @classmethod
    def of_sums(
        cls,
        arithmetic: FieldArithmetic,
        shape: tuple[int, int],
        parts: Sequence[tuple[Indices, Indices, Sequence[SplitColumn]]],
    ) -> FunctionMatrix:
        """The products of several columns of numbers, at their places; those at one place are added."""
        listed = [
            (i * shape[1] + j, math.prod(factors[1:], start=factors[0])) for i, j, factors in parts
        ]
        return cls(arithmetic, *added_at_places(_ring(arithmetic), shape, listed))

    @classmethod
    def identity(cls, arithmetic: FieldArithmetic, n: int) -> FunctionMatrix:
        """The n by n identity."""
        ring = _ring(arithmetic)
        eye = flint.fmpz_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
        layers = {(0,) * ring.dimension: eye}
        return cls(arithmetic, PolynomialMatrix(ring, (n, n), layers=layers), ring.one)

    def in_powers(self) -> tuple[list[Any], Any]:
        """Of one symbol: the rational matrices N_0, N_1, ... and the polynomial D with N_0 + N_1 x + ... over D."""
        layers = self._above.layers
        count = 1 + max((power for (power,) in layers), default=0)
        zero = flint.fmpq_mat(*self.shape)
        powers = [flint.fmpq_mat(layers[k,]) if (k,) in layers else zero for k in range(count)]
        below = {power: c for (power,), c in self._ring.terms(self._below)}
        return powers, flint.fmpq_poly([below.get(k, 0) for k in range(1 + max(below))])

    def _of_numbers(self, matrix: DomainMatrix) -> FunctionMatrix:
        """A matrix over QQ in the arithmetic of this one."""
        flat = [x for row in matrix.to_list() for x in row]
        below = math.lcm(*(int(x.denominator) for x in flat))
        whole = [int(x.numerator) * (below // int(x.denominator)) for x in flat]
        layers = {(0,) * self._ring.dimension: flint.fmpz_mat(*matrix.shape, whole)}
        above = PolynomialMatrix(self._ring, matrix.shape, layers=layers)
        return self._over(above, self._ring.constant(below))

    def _over(self, above: PolynomialMatrix, below: Any) -> FunctionMatrix:
        return FunctionMatrix(self.arithmetic, above, below)

    def _new(self, matrix: DomainMatrix) -> FunctionMatrix:
        return self.of_fractions(self.arithmetic, matrix.to_list(), matrix.shape)

    @property
    def _ring(self) -> PolynomialRing:
        return self._above.ring

    @cached_property
    def _m(self) -> DomainMatrix:
        return DomainMatrix(self.rows(), self.shape, self.arithmetic.domain)

    @cached_property
    def _fractions(self) -> list[list[Any]]:
        fraction, below = self._ring.fraction, self._below
        return [[fraction(p, below) for p in row] for row in self._above.rows()]

    def rows(self) -> list[list[Any]]:
        return [list(row) for row in self._fractions]

    @property
    def shape(self) -> tuple[int, int]:
        return self._above.shape

    @property
    def T(self) -> FunctionMatrix:
        turned = self._over(self._above.T, self._below)
        if "_fractions" in self.__dict__ and self.shape[0]:
            turned.__dict__["_fractions"] = [list(c) for c in zip(*self._fractions, strict=True)]
        return turned

    def __matmul__(self, other: FunctionMatrix) -> FunctionMatrix:  # type: ignore[override]
        return self._over(self._above @ other._above, self._below * other._below)

    def __add__(self, other: FunctionMatrix) -> FunctionMatrix:  # type: ignore[override]
        below = self._ring.multiple([self._below, other._below])
        left = self._above.times(below // self._below)
        return self._over(left + other._above.times(below // other._below), below)

    def __sub__(self, other: FunctionMatrix) -> FunctionMatrix:  # type: ignore[override]
        return self + other._over(other._above.times(self._ring.constant(-1)), other._below)

    def scaled(self, factor: Any) -> FunctionMatrix:
        p, q = self._ring.parts(factor)
        return self._over(self._above.times(p), self._below * q)

    def scale_rows(self, factors: FunctionMatrix) -> FunctionMatrix:  # type: ignore[override]
        return self._over(self._above.rows_by(factors._above), self._below * factors._below)

    def row_dots(self, other: FunctionMatrix) -> FunctionMatrix:  # type: ignore[override]
        zero = self._ring.zero
        dots = [
            sum((x * y for x, y in zip(a, b, strict=True) if x != 0 and y != 0), zero)
            for a, b in zip(self._above.rows(), other._above.rows(), strict=True)
        ]
        above = PolynomialMatrix(self._ring, (len(dots), 1), dots)
        return self._over(above, self._below * other._below)

    def submatrix(self, rows: Sequence[int], columns: Sequence[int]) -> FunctionMatrix:
        part = self._over(self._above.part(rows, columns), self._below)
        if "_fractions" in self.__dict__:
            part.__dict__["_fractions"] = [[self._fractions[i][j] for j in columns] for i in rows]
        return part

    def support(self) -> tuple[Indices, Indices]:
        n = max(1, self.shape[1])
        flat = np.array(self._above.support(), dtype=np.intp)
        return flat // n, flat % n

    def divided_by_sum(self) -> FunctionMatrix:
        return self._reduced(self._above, sum(self._above.entries, self._ring.zero))

    def _reduced(self, above: PolynomialMatrix, below: Any) -> FunctionMatrix:
        """Without what the denominator and all numerators have in common."""
        common = self._ring.common(above.entries, below)
        if common == 1:
            return self._over(above, below)
        whole = [p // common for p in above.entries]
        return self._over(PolynomialMatrix(self._ring, above.shape, whole), below // common)

    @cached_property
    def _primitive(self) -> tuple[list[Any], PolynomialMatrix, list[Any]]:
        """g, P and h with numerators diag(g) P diag(h): what rows and columns have in common."""
        ring = self._ring
        rows = self._above.rows()
        up = [ring.common(row) for row in rows]
        if any(g == 0 for g in up):
            raise DMNonInvertibleMatrixError
        rows = [[p // g for p in row] for row, g in zip(rows, up, strict=True)]
        along = [ring.common(column) for column in zip(*rows, strict=True)]
        if any(h == 0 for h in along):
            raise DMNonInvertibleMatrixError
        flat = [p // h for row in rows for p, h in zip(row, along, strict=True)]
        return up, PolynomialMatrix(ring, self.shape, flat), along

    def _solution(self, right: FunctionMatrix) -> FunctionMatrix:  # type: ignore[override]
        """P/p X = Q/q, with P = diag(g) P' diag(h): X = diag(1/h) P'^-1 diag(1/g) Q p/q."""
        ring, m = self._ring, right.shape[1]
        if 0 in self.shape:
            nothing = PolynomialMatrix(ring, (self.shape[1], m), [ring.zero] * (self.shape[1] * m))
            return self._over(nothing, ring.one)
        if self._numbers is not None and right._numbers is not None:
            return self._of_numbers(solve_by_integers(self._numbers, right._numbers))
        up, inner, along = self._primitive
        common, wide = ring.multiple(up), ring.multiple(along)
        sides = right._above.row_times([common // g for g in up])
        shared = ring.common(sides.entries)
        if shared != 0 and shared != 1:
            sides = PolynomialMatrix(ring, sides.shape, [p // shared for p in sides.entries])
        else:
            shared = ring.one
        try:
            found, det = self._by_factor(inner, sides) or _cramer(inner, sides)
        except SingularEverywhereError:
            raise DMNonInvertibleMatrixError from None
        above, below = self._below * shared, right._below * det * common * wide
        lowest = above.gcd(below)
        factor = above // lowest
        scaled = found.row_times([wide // h * factor for h in along])
        return self._reduced(scaled, below // lowest)

    def general_solution(self, right: FunctionMatrix, what: str = "the system") -> GeneralSolution:  # type: ignore[override]
        n = self.shape[1]
        if self.shape[0] == n == generic_rank(self._above):  # so nothing has to be taken out
            none = PolynomialMatrix(self._ring, (n, 0), [])
            return GeneralSolution(self._solution(right), self._over(none, self._ring.one))
        return super().general_solution(right, what)

    def _by_factor(
        self, inner: PolynomialMatrix, sides: PolynomialMatrix
    ) -> Way[tuple[PolynomialMatrix, Any] | None]:
        """:func:`cramer_with` the denominator of all entries, where that saves most points.

        A matrix X' diag(1/q) Y over the product p of all q has minors that are sums of products of
        different 1/q (Cauchy and Binet): p once, not n times, brings them to polynomials, and p^(n-1)
        is left in those of its numerators.
        """
        n, ring = self.shape[0], self._ring
        if ring.dimension > 1 or (n - 1) * max(ring.degrees(self._below)) < FEWER:
            return None
        shared = (self._below // self._below.content()) ** (n - 1)
        up, _, along = self._primitive
        for taken in (*up, *along):
            shared = shared // shared.gcd(taken)
        if 2 * max(ring.degrees(shared)) < points_of(inner, sides):
            return None
        return cramer_with(inner, sides, shared // shared.content())

    @property
    def _eliminated(self) -> DomainMatrix:
        """The matrix for elimination: over QQ where no symbol occurs, which is far quicker."""
        return self._m if self._numbers is None else self._numbers

    @cached_property
    def _numbers(self) -> DomainMatrix | None:
        """The matrix over QQ; None where a symbol occurs."""
        origin = (0,) * self._ring.dimension
        constant = set(self._ring.degrees(self._below)) == {0}
        if not constant or not set(self._above.layers) <= {origin}:
            return None
        below = int(self._below.coeffs()[0])
        layer = self._above.layers.get(origin, flint.fmpz_mat(*self.shape))
        flat = [QQ(int(x), below) for x in layer.entries()]
        n = self.shape[1]
        rows = [flat[i * n : (i + 1) * n] for i in range(self.shape[0])]
        return DomainMatrix(rows, self.shape, QQ).to_dense()

    def null_space(self) -> FunctionMatrix:
        found = self._eliminated.nullspace(divide_last=True).transpose().to_dense()
        return self._new(found.convert_to(self.arithmetic.domain))

    def column_basis(self) -> FunctionMatrix:
        if 0 < self.shape[1] == generic_rank(self._above):
            return self
        return self.submatrix(range(self.shape[0]), self._eliminated.rref()[1])

    def rank(self) -> int:
        if min(self.shape) == generic_rank(self._above):
            return min(self.shape)
        return int(self._eliminated.rank())

    def det(self) -> Any:
        n, ring = self.shape[0], self._ring
        try:
            up, inner, along = self._primitive
            det = _cramer(inner, PolynomialMatrix(ring, (n, 0), []))[1] if n else ring.one
        except (DMNonInvertibleMatrixError, SingularEverywhereError):
            return self.arithmetic.zero
        for factor in (*up, *along):
            det = det * factor
        return ring.fraction(det, self._below**n)

    def charpoly(self) -> list[Any]:
        if not self.shape[0]:
            return [self.arithmetic.one]
        if not _few(self._above, PolynomialMatrix(self._ring, (self.shape[0], 0), [])):
            return super().charpoly()
        coefficients = characteristic(self._above)
        return [self._ring.fraction(c, self._below**k) for k, c in enumerate(coefficients)]


def _few(a: PolynomialMatrix, b: PolynomialMatrix) -> bool:
    """Whether to go by values at points."""
    return a.ring.dimension == 1 or points_of(a, b) <= MOST_POINTS


def _cramer(a: PolynomialMatrix, b: PolynomialMatrix) -> tuple[PolynomialMatrix, Any]:
    return (cramer if _few(a, b) else eliminated)(a, b)


def _ring(arithmetic: FieldArithmetic) -> PolynomialRing:
    assert arithmetic.ring is not None
    return arithmetic.ring
