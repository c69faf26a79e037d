"""Exact and symbolic matrices: sympy's ``DomainMatrix`` over QQ or QQ(x, y, ...).

Over QQ the dense representation is FLINT's ``fmpq_mat``. Over a function field of
one symbol, solves go through FLINT at sample points (see
:mod:`~obliquetd.algebra.interpolation`); with several symbols the rows are cleared
of denominators and solved without fractions over the polynomial ring, because
elimination in the fraction field spends its time in gcds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp
from sympy import QQ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

from obliquetd.algebra import pickling  # noqa: F401  (function fields that pickle)
from obliquetd.algebra.integer_solve import divided_by_sum, solve_by_integers
from obliquetd.algebra.interpolation import SingularEverywhereError, solve_by_interpolation
from obliquetd.algebra.matrix import Arithmetic, GeneralSolution, Indices, Matrix
from obliquetd.algebra.numbers import exact_root, exactify, public_number
from obliquetd.algebra.writing import is_long, number_text
from obliquetd.errors import KindError, SignUndecidedError, SingularError, SizeError

__all__ = ["FieldArithmetic", "FieldMatrix"]

LARGEST_EXACT = 4_000
LARGEST_SYMBOLIC = 200


class FieldArithmetic(Arithmetic):
    """Arithmetic in QQ, or in the field of rational functions of some symbols.

    Parameters
    ----------
    symbols : iterable of sympy.Symbol
        Empty for exact arithmetic. Sorted by name, so that equal sets of symbols
        give equal fields.
    """

    def __init__(self, symbols: Iterable[sp.Symbol] = ()) -> None:
        self.symbols: tuple[sp.Symbol, ...] = tuple(sorted(set(symbols), key=str))
        self.kind = "symbolic" if self.symbols else "exact"
        self.domain: Any = QQ.frac_field(*self.symbols) if self.symbols else QQ
        self._seen: dict[Any, Any] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldArithmetic) and self.symbols == other.symbols

    def __hash__(self) -> int:
        return hash(self.symbols)

    @property
    def zero(self) -> Any:
        return self.domain.zero

    @property
    def one(self) -> Any:
        return self.domain.one

    def scalar(self, value: Any) -> Any:
        value = exactify(value)
        if not isinstance(value, sp.Basic):
            return value if self.domain is QQ else self.domain.convert_from(value, QQ)
        if value not in self._seen:
            extra = value.free_symbols - set(self.symbols)
            if extra:
                raise KindError(
                    f"the formula {value} has the symbol {min(map(str, extra))}, but the "
                    "arithmetic is exact; substitute a number for it, or ask for 'symbolic'"
                )
            self._seen[value] = self.domain.from_sympy(value)
        return self._seen[value]

    def scalars(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self.domain is QQ and all(type(v) is QQ.dtype for v in values.tolist()):
            return values
        out = np.empty(len(values), dtype=object)
        for i, value in enumerate(values.tolist()):
            out[i] = self.scalar(value)
        return out

    def public(self, scalar: Any) -> Any:
        if self.domain is QQ:
            return public_number(scalar)
        return _factored(scalar)

    def sign(self, scalar: Any) -> int:
        if self.domain is QQ:
            return int(scalar > 0) - int(scalar < 0)
        expr = self.domain.to_sympy(scalar)
        if expr.is_Rational:
            return int(sp.sign(expr))
        raise SignUndecidedError(
            f"the sign of {sp.factor(expr)} depends on "
            f"{', '.join(sorted(map(str, expr.free_symbols)))}",
            sp.factor(expr),
        )

    def sqrt(self, scalar: Any) -> Any:
        return exact_root(self.public(scalar))

    def check_size(self, n: int) -> None:
        limit = LARGEST_SYMBOLIC if self.symbols else LARGEST_EXACT
        if n > limit:
            raise SizeError(
                f"{self.kind} arithmetic on n = {n} states would build dense {n} by {n} matrices "
                f"of {'rational functions' if self.symbols else 'rationals'}; the limit is "
                f"{limit}. Use arithmetic='float'"
                + (", or substitute numbers for the symbols" if self.symbols else "")
            )

    def matrix(self, rows: Sequence[Sequence[Any]], shape: tuple[int, int]) -> FieldMatrix:
        listed = [list(row) for row in rows]
        return FieldMatrix(self, _dense(DomainMatrix(listed, shape, self.domain)))

    def assemble(
        self, shape: tuple[int, int], rows: Indices, columns: Indices, values: npt.NDArray[Any]
    ) -> FieldMatrix:
        self.check_size(max(shape))
        zero = self.zero
        out = [[zero] * shape[1] for _ in range(shape[0])]
        for i, j, value in zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True):
            row = out[i]
            row[j] = row[j] + value
        return self.matrix(out, shape)

    def identity(self, n: int) -> FieldMatrix:
        self.check_size(n)
        return FieldMatrix(self, _dense(DomainMatrix.eye(n, self.domain)))


def _factored(fraction: Any) -> sp.Expr:
    """``sympy.factor`` of a rational function, from its polynomials (some four times faster)."""
    if not fraction:
        return sp.S.Zero
    above, numerator = fraction.numer.factor_list()
    below, denominator = fraction.denom.factor_list()
    coefficient = QQ.to_sympy(above) / QQ.to_sympy(below)
    product = sp.Mul(
        *(p.as_expr() ** k for p, k in numerator), *(p.as_expr() ** -k for p, k in denominator)
    )
    if product.is_Add and abs(coefficient) != 1:  # keep 2*(x + 1) from becoming 2*x + 2
        return sp.Mul(coefficient, product, evaluate=False)
    return coefficient * product


def _dense(matrix: DomainMatrix) -> DomainMatrix:
    return matrix.to_dense()


class FieldMatrix(Matrix):
    """A dense matrix over QQ or a rational function field."""

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

    def rows(self) -> list[list[Any]]:
        return self._m.to_list()  # type: ignore[no-any-return]

    def support(self) -> tuple[Indices, Indices]:
        hits = [(i, j) for i, row in enumerate(self.rows()) for j, x in enumerate(row) if x]
        found = np.array(hits, dtype=np.intp).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def solve(self, right: FieldMatrix, what: str = "the system") -> FieldMatrix:
        try:
            return self._new(self._solve(right._m))
        except (DMNonInvertibleMatrixError, SingularEverywhereError):
            null = self.null_space()
            vector = null.submatrix(range(self.shape[1]), [0]).public()
            raise SingularError(f"{what} is singular", vector) from None

    def _solve(self, right: DomainMatrix) -> DomainMatrix:
        if 0 in self.shape:
            return DomainMatrix.zeros((self.shape[1], right.shape[1]), self._m.domain)
        symbols = len(self.arithmetic.symbols)
        if self._m.domain is QQ:
            return solve_by_integers(self._m, right)
        if symbols == 0:
            return self._m.lu_solve(right)
        if symbols == 1:
            return solve_by_interpolation(self._m, right)
        return _solve_without_fractions(self._m, right)

    def general_solution(
        self,
        right: FieldMatrix,
        what: str = "the system",  # noqa: ARG002
    ) -> GeneralSolution:
        """Zero rows and columns are taken out first; then a solve, and only if it fails an rref."""
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
                return self._new(self._solve(right._m)), none
            except (DMNonInvertibleMatrixError, SingularEverywhereError):
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
        return self._new(_dense(self._m.nullspace(divide_last=True).transpose()))

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
        entries = [self.arithmetic.public(x) for row in self.rows() for x in row]
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


def _solve_without_fractions(a: DomainMatrix, b: DomainMatrix) -> DomainMatrix:
    """Solve over K = QQ(x, y, ...) by clearing each row's denominators first."""
    field = a.domain
    ring = field.get_ring()
    n, m = a.shape[0], b.shape[1]
    cleared = []
    for left, right in zip(a.to_list(), b.to_list(), strict=True):
        row = [*left, *right]
        common = ring.one
        for x in row:
            common = ring.lcm(common, x.denom)
        cleared.append([x.numer * ring.quo(common, x.denom) for x in row])
    left_ring = DomainMatrix([row[:n] for row in cleared], (n, n), ring)
    right_ring = DomainMatrix([row[n:] for row in cleared], (n, m), ring)
    numerator, denominator = left_ring.solve_den(right_ring)
    below = field.convert_from(denominator, ring)
    return DomainMatrix(
        [[field.convert_from(x, ring) / below for x in row] for row in numerator.to_list()],
        (n, m),
        field,
    )
