"""Matrices over a field: sympy's ``DomainMatrix``, which over QQ is FLINT's ``fmpq_mat``."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from sympy import QQ, ZZ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

from obliquetd.algebra.integer_solve import (
    divided_by_sum,
    solve_by_integers,
    stationary_by_integers,
)
from obliquetd.algebra.matrix import GeneralSolution, Indices, Matrix
from obliquetd.algebra.writing import is_long, number_text
from obliquetd.errors import SingularError

if TYPE_CHECKING:
    from obliquetd.algebra.field import FieldArithmetic

__all__ = ["FieldMatrix", "public_matrix"]


class FieldMatrix(Matrix):
    """A dense matrix over QQ, or another field of numbers."""

    arithmetic: FieldArithmetic

    def __init__(self, arithmetic: FieldArithmetic, matrix: DomainMatrix) -> None:
        self.arithmetic, self._m = arithmetic, matrix

    def _new(self, matrix: DomainMatrix) -> FieldMatrix:
        return FieldMatrix(self.arithmetic, matrix)

    @property
    def shape(self) -> tuple[int, int]:
        return (int(self._m.shape[0]), int(self._m.shape[1]))

    @property
    def T(self) -> FieldMatrix:
        return self._new(self._m.transpose())

    def __matmul__(self, other: FieldMatrix) -> FieldMatrix:
        return self._new(self._m * other._m)

    def __add__(self, other: FieldMatrix) -> FieldMatrix:
        return self._new(self._m + other._m)

    def __sub__(self, other: FieldMatrix) -> FieldMatrix:
        return self._new(self._m - other._m)

    def scaled(self, factor: Any) -> FieldMatrix:
        return self._new(self._m * factor)

    def scale_rows(self, factors: FieldMatrix) -> FieldMatrix:
        scaled = [
            [f * x if x else x for x in row]
            for f, row in zip(factors.entries(), self.rows(), strict=True)
        ]
        return self.arithmetic.matrix(scaled, self.shape)

    def row_dots(self, other: FieldMatrix) -> FieldMatrix:
        zero = self.arithmetic.zero
        dots = [
            [sum((x * y for x, y in zip(a, b, strict=True) if x and y), zero)]
            for a, b in zip(self.rows(), other.rows(), strict=True)
        ]
        return self.arithmetic.matrix(dots, (len(dots), 1))

    def submatrix(self, rows: Sequence[int], columns: Sequence[int]) -> FieldMatrix:
        entries = self.rows()
        return self.arithmetic.matrix(
            [[entries[i][j] for j in columns] for i in rows], (len(rows), len(columns))
        )

    def denominator(self) -> Any:
        if self.arithmetic.domain is not QQ:
            return self.arithmetic.one
        return self.arithmetic.one * math.lcm(
            *(int(x.denominator) for row in self.rows() for x in row)
        )

    def rows(self) -> list[list[Any]]:
        return self._m.to_list()  # type: ignore[no-any-return]

    def support(self) -> tuple[Indices, Indices]:
        m, n = self.shape
        flat = itertools.chain.from_iterable(self.rows())
        hits = np.flatnonzero(np.fromiter(map(bool, flat), dtype=bool, count=m * n))
        return hits // max(1, n), hits % max(1, n)

    def solve(self, right: FieldMatrix, what: str = "the system") -> FieldMatrix:
        try:
            return self._solution(right)
        except DMNonInvertibleMatrixError:
            null = self.null_space()
            vector = null.submatrix(range(self.shape[1]), [0]).public()
            raise SingularError(f"{what} is singular", vector) from None

    def _solution(self, right: FieldMatrix) -> FieldMatrix:
        """The X of a square system; DMNonInvertibleMatrixError where it is singular."""
        if 0 in self.shape:
            nothing = DomainMatrix.zeros((self.shape[1], right.shape[1]), self._m.domain)
            return self._new(nothing)
        solve = solve_by_integers if self._m.domain is QQ else DomainMatrix.lu_solve
        return self._new(solve(self._m, right._m))

    def stationary(self) -> FieldMatrix | None:
        """The weights x of sum 1 with x' P = x' of a chain; None where they are left to :meth:`solve`."""
        if self._m.domain is not QQ or self.shape[0] < 2:
            return None
        try:
            found = stationary_by_integers(self._m)
        except DMNonInvertibleMatrixError:
            return None
        return self.arithmetic.column(found)  # type: ignore[return-value]

    def general_solution(
        self,
        right: FieldMatrix,
        what: str = "the system",  # noqa: ARG002
    ) -> GeneralSolution:
        """Every X with ``self @ X = right``: zero rows and columns are taken out, then it is solved by elimination."""
        m, n = self.shape
        zero, one = self.arithmetic.zero, self.arithmetic.one
        i, j = self.support()
        kept_rows, kept_columns = sorted(set(i.tolist())), sorted(set(j.tolist()))
        dropped = sorted(set(range(m)) - set(kept_rows))
        if any(x for k in dropped for x in right.rows()[k]):
            return GeneralSolution(None, self.null_space())
        core = self.submatrix(kept_rows, kept_columns)
        core_right = right.submatrix(kept_rows, range(right.shape[1]))
        x, null = core._core_solution(core_right)
        free = sorted(set(range(n)) - set(kept_columns))
        place = {k: position for position, k in enumerate(kept_columns)}
        null_rows = null.rows()
        basis = self.arithmetic.matrix(
            [
                [
                    *(null_rows[place[k]] if k in place else [zero] * null.shape[1]),
                    *(one if k == f else zero for f in free),
                ]
                for k in range(n)
            ],
            (n, null.shape[1] + len(free)),
        )
        if x is None:
            return GeneralSolution(None, basis)
        x_rows = x.rows()
        particular = self.arithmetic.matrix(
            [x_rows[place[k]] if k in place else [zero] * right.shape[1] for k in range(n)],
            (n, right.shape[1]),
        )
        return GeneralSolution(particular, basis)

    def _core_solution(self, right: FieldMatrix) -> tuple[FieldMatrix | None, FieldMatrix]:
        m, n = self.shape
        none = self.arithmetic.matrix([[]] * n, (n, 0))
        if m == n:
            try:
                return self._solution(right), none
            except DMNonInvertibleMatrixError:
                pass
        reduced, pivots = self._m.hstack(right._m).rref()
        null = self.null_space()
        if any(p >= n for p in pivots):
            return None, null
        rows = self._new(reduced).rows()
        zero = self.arithmetic.zero
        out = [[zero] * right.shape[1] for _ in range(n)]
        for row, pivot in zip(rows, pivots, strict=False):
            out[pivot] = list(row[n:])
        return self.arithmetic.matrix(out, (n, right.shape[1])), null

    def divided_by_sum(self) -> FieldMatrix:
        if self._m.domain is QQ:
            return self.arithmetic.column(divided_by_sum(self.entries()))  # type: ignore[return-value]
        return super().divided_by_sum()

    def null_space(self) -> FieldMatrix:
        return self._new(self._m.nullspace(divide_last=True).transpose().to_dense())

    def column_basis(self) -> FieldMatrix:
        pivots = self._m.rref()[1]
        return self.submatrix(range(self.shape[0]), pivots)

    def rank(self) -> int:
        return int(self._m.rank())

    def det(self) -> Any:
        return self._m.det()

    def charpoly(self) -> list[Any]:
        return list(self._m.charpoly())

    def public(self) -> Any:
        listed = [x for row in self.rows() for x in row]
        if self.arithmetic.domain is QQ and not any(
            max(abs(x.numerator), x.denominator) >= PRINTED for x in listed
        ):
            whole = all(x.denominator == 1 for x in listed)  # as sympy keeps what is entered so
            return (self._m.convert_to(ZZ) if whole else self._m).to_Matrix().as_immutable()
        entries = [self.arithmetic.public(x) for x in listed]
        return public_matrix(*self.shape, entries)


class _LongMatrix(sp.ImmutableDenseMatrix):
    """A matrix with numbers that CPython would not print: shown in short, exact inside."""

    def _short(self, form: str = "{}") -> sp.ImmutableDenseMatrix:
        words = [sp.Symbol(form.format(number_text(x))) for x in self.flat()]
        return sp.ImmutableDenseMatrix(*self.shape, words)

    def __str__(self) -> str:
        return str(self._short())

    __repr__ = __str__

    def _sympystr(self, printer: Any) -> str:
        return str(printer.doprint(self._short()))

    def _sympyrepr(self, printer: Any) -> str:
        return str(printer.doprint(self._short()))

    def _latex(self, printer: Any) -> str:
        return str(printer.doprint(self._short(r"\text{{{}}}")))

    def _pretty(self, printer: Any) -> Any:
        return printer._print(self._short())


PRINTED = 10**4300
"""From here on ``str`` of an integer is an error (``sys.get_int_max_str_digits``)."""


def public_matrix(m: int, n: int, entries: list[Any]) -> sp.ImmutableDenseMatrix:
    """What the user gets: sympy's matrix, which prints whatever its numbers are."""
    long = any(
        is_long(a, PRINTED)
        for x in entries
        for a in ([x] if x.is_Rational else x.atoms(sp.Rational))
    )
    return (_LongMatrix if long else sp.ImmutableDenseMatrix)(m, n, entries)
