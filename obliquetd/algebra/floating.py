"""Floating-point matrices: numpy where dense, scipy.sparse where sparse.

A matrix never changes from sparse to dense on its own; the one place that would
need it (:func:`~obliquetd.algebra.storage.dense_array`) refuses by size.
Every matrix knows how far rounding can have moved its entries
(:mod:`~obliquetd.algebra.rounding`), and every solve measures its quality from that. No
solve returns an infinity, and no NaN leaves :meth:`FloatMatrix.public`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.accuracy import (
    OfSum,
    SolveReport,
    Spread,
    finite,
    never_nan,
    quiet,
)
from obliquetd.algebra.float_entries import Entrywise, underflow
from obliquetd.algebra.float_solve import column_basis, solve_any, solve_square, surely_independent
from obliquetd.algebra.matrix import Arithmetic, GeneralSolution, Indices, Matrix
from obliquetd.algebra.rounding import (
    EPS,
    dots_bound,
    power_of_two,
    product_bound,
    roundings,
    scaled_bound,
)
from obliquetd.algebra.singular import equilibrate
from obliquetd.algebra.storage import (
    dense_array,
    gathered,
    most_at_one_place,
    placed,
    row_sums,
    trimmed,
    unit_array,
)
from obliquetd.algebra.tall import column_sizes, crossed, is_tall, row_products, rows_of_product
from obliquetd.algebra.to_float import to_float
from obliquetd.errors import NumberError, SingularError

__all__ = ["FLOAT", "FloatArithmetic", "FloatMatrix", "SolveReport"]

LARGEST_DECOMPOSED = 2_000
"""Rows of a sparse singular system up to which its null space is sought."""


class FloatArithmetic(Arithmetic):
    """Double precision."""

    kind = "float"
    zero = 0.0
    one = 1.0
    caveat = " to the precision of floats (arithmetic='exact' decides)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FloatArithmetic)

    def __hash__(self) -> int:
        return hash("float")

    def scalar(self, value: Any) -> float:
        return to_float(value)

    def scalars(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if values.dtype == float:
            return values
        if values.strides == (0,) and len(values):  # one number throughout
            return np.broadcast_to(self.scalar(values[0]), len(values))
        return np.array([self.scalar(v) for v in values.tolist()], dtype=float)

    def public(self, scalar: Any) -> float:
        return float(finite(scalar, or_infinite=True))

    def sign(self, scalar: Any) -> int:
        return int(scalar > 0) - int(scalar < 0)

    def sqrt(self, scalar: Any) -> float:
        return math.sqrt(max(0.0, finite(scalar)))

    def magnitude(self, matrix: Matrix) -> float:
        """A power of two of about the size of the largest entry, so that dividing by it never rounds."""
        assert isinstance(matrix, FloatMatrix)
        array = matrix.array if isinstance(matrix.array, np.ndarray) else matrix.array.data
        finite(array)
        return float(power_of_two(max(array.max(initial=0.0), -array.min(initial=0.0))))

    def frobenius_norm(self, matrix: Matrix) -> float:
        unit = self.magnitude(matrix)
        return float(finite(unit * math.sqrt(matrix.scaled(1.0 / unit).frobenius_squared())))

    def squared(self, magnitude: float) -> float:
        square = magnitude * magnitude
        if square == 0 or not math.isfinite(square):
            raise NumberError(
                f"the square of a number of size {magnitude:.0e} is beyond the range of floats "
                "(1e-308 to 1e308); use arithmetic='exact', or scale the rewards or features"
            )
        return square

    def weighted_norm(self, weights: Matrix, vector: Matrix) -> float:
        """The root of sum w u^2; u is divided by its largest entry first, so that no square overflows."""
        largest = self.magnitude(vector)
        w, u = np.array(weights.entries()), np.array(vector.entries()) / largest
        return float(finite(largest * math.sqrt(float(w @ u**2))))

    def check_size(self, n: int) -> None:
        pass

    def matrix(self, rows: Any, shape: tuple[int, int]) -> FloatMatrix:
        return FloatMatrix(np.asarray(rows, dtype=float).reshape(shape))

    def column(self, values: Any) -> FloatMatrix:
        return FloatMatrix(np.array(values, dtype=float).reshape(-1, 1))

    def assemble(
        self, shape: tuple[int, int], rows: Indices, columns: Indices, values: npt.NDArray[Any]
    ) -> FloatMatrix:
        """Each value is a product of up to four numbers of the data, known to its last places."""
        found = gathered(shape, rows, columns, values)
        if not isinstance(found, np.ndarray) and found.nnz == len(
            values
        ):  # none was added to another
            return FloatMatrix(found, error=3 * EPS + roundings(1))

        def error() -> Any:
            size = gathered(shape, rows, columns, np.abs(values))
            return size * (3 * EPS + roundings(most_at_one_place(shape, rows, columns)))

        return FloatMatrix(found, error=error)

    def stacked(self, parts: Sequence[Any]) -> FloatMatrix:
        return FloatMatrix(
            np.concatenate([part.dense() for part in parts]),
            error=lambda: np.concatenate([part.dense_error() for part in parts]),
        )

    def embedded(self, part: Any, places: Sequence[int], n: int) -> Any:
        """Elsewhere it is 0 and no rounding makes it anything else, which a product would not know."""
        values = placed(part.dense(), places, n)
        return FloatMatrix(values, part.report, lambda: placed(part.dense_error(), places, n))

    def identity(self, n: int) -> FloatMatrix:
        return FloatMatrix(unit_array(n), error=0.0)


FLOAT = FloatArithmetic()
"""The arithmetic of floating-point numbers."""


class FloatMatrix(Entrywise, Matrix):
    """A numpy array of two dimensions, or a scipy.sparse ``csr_array``.

    Parameters
    ----------
    array : numpy.ndarray or scipy.sparse array
    report : SolveReport, optional
    error : array of that shape, float, or function that returns an array, optional
        A bound on the error of each entry, or on all of their relative errors; a function is
        called when it is first asked for. None is the last place of each entry, as for data.
    rows : function of a slice, or of indices, optional
        Makes some rows anew with their bounds, which for all rows would take as much memory again.
    """

    arithmetic = FLOAT

    def __init__(
        self,
        array: Any,
        report: SolveReport | None = None,
        error: Any | Callable[[], Any] = None,
        rows: Callable[[slice], FloatMatrix] | None = None,
    ) -> None:
        self.array, self.report, self._rows = array, report, rows
        self._error = EPS if error is None else error if callable(error) else never_nan(error)
        self._spread = error if isinstance(error, Spread) else None

    def __reduce__(self) -> tuple[Any, ...]:
        error = self.error if self.relative is None else self.relative
        return FloatMatrix, (self.array, self.report, error)

    @property
    def error(self) -> Any:
        """How far each entry may be from its value in exact arithmetic, in the same format."""
        if self.relative is not None:
            return abs(self.array) * self.relative  # not kept: it is as large as the data
        if callable(self._error):
            with np.errstate(all="ignore"):
                self._error = never_nan(self._error())
        return self._error

    @property
    def relative(self) -> float | None:
        """The bound on every relative error, where there is one for all."""
        return self._error if isinstance(self._error, float) else None

    def part(self, rows: Any) -> FloatMatrix:
        """Some of the rows, with bounds that are made for them alone where that can be."""
        if self._rows and callable(self._error):
            return self._rows(rows)
        error = self._error if self.relative is not None else self.error[rows]
        return FloatMatrix(self.array[rows], error=error)

    def cross(self, *chain: Any, balanced: bool = False) -> FloatMatrix:
        if not is_tall(self, chain):
            return super().cross(*chain, balanced=balanced)
        units = power_of_two(column_sizes(self.array)) if balanced else None
        value, bound = crossed(self, chain, units)
        return FloatMatrix(value, error=bound)

    def row_products(self, right: FloatMatrix) -> Iterator[tuple[slice, FloatMatrix]]:
        if not (self.sparse and is_tall(right, (right,))):
            return super().row_products(right)
        return row_products(self, right)

    @property
    def sparse(self) -> bool:
        """Whether the representation is sparse."""
        return not isinstance(self.array, np.ndarray)

    def dense(self) -> npt.NDArray[np.float64]:
        """The entries as a numpy array, refused where that would fill the memory."""
        return dense_array(self.array)

    def dense_error(self) -> npt.NDArray[np.float64]:
        """The bounds on the errors as a numpy array."""
        return dense_array(self.error)

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape  # type: ignore[no-any-return]

    @property
    def T(self) -> FloatMatrix:
        return _wrap(self.array.T, lambda: self.error.T)

    def __matmul__(self, other: FloatMatrix) -> FloatMatrix:
        def bound(right: bool) -> Any:
            """With the errors of the right factor, or what the product adds to them."""
            errors = self.error, other.array, other.error
            found = product_bound(self.array, *errors, right=right)
            return found + underflow(self, other, found) if isinstance(found, np.ndarray) else found

        product = _wrap(quiet(lambda: self.array @ other.array))
        product._error = (
            other._spread.through(self.array, lambda: bound(False))
            if other._spread
            else lambda: bound(True)
        )
        product._spread = product._error if isinstance(product._error, Spread) else None
        product._rows = None if product._spread else rows_of_product(self, other)
        return product

    def __add__(self, other: FloatMatrix) -> FloatMatrix:
        total = self.array + other.array
        return _wrap(total, OfSum(self, other, total))

    def __sub__(self, other: FloatMatrix) -> FloatMatrix:
        gap = self.array - other.array
        return _wrap(gap, OfSum(self, other, gap))

    def scaled(self, factor: Any) -> FloatMatrix:
        scaled = quiet(lambda: self.array * factor)
        if self.relative is not None:
            return _wrap(scaled, self.relative + EPS)
        return _wrap(scaled, lambda: self.error * abs(factor) + abs(scaled) * EPS)

    def scale_rows(self, factors: FloatMatrix) -> FloatMatrix:
        by = factors.dense()
        scaled = quiet(lambda: self.array * by)
        return _wrap(
            scaled,
            lambda: scaled_bound(self.array, self.error, by, factors.error, scaled),
            lambda rows: self.part(rows).scale_rows(factors.part(rows)),
        )

    def row_dots(self, other: FloatMatrix) -> FloatMatrix:
        return FloatMatrix(
            row_sums(quiet(lambda: self.array * other.array)),
            error=lambda: row_sums(dots_bound(self.array, self.error, other.array, other.error)),
        )

    def submatrix(self, rows: Sequence[int], columns: Sequence[int]) -> FloatMatrix:
        i, j = np.asarray(rows, dtype=np.intp), np.asarray(columns, dtype=np.intp)
        return _wrap(self.array[i][:, j], lambda: self.error[i][:, j])

    def rows(self) -> list[list[float]]:
        return self.dense().tolist()  # type: ignore[no-any-return]

    def entries(self) -> list[float]:
        return self.dense()[:, 0].tolist()  # type: ignore[no-any-return]

    def support(self) -> tuple[Indices, Indices]:
        i, j = self.array.nonzero()
        return np.asarray(i, dtype=np.intp), np.asarray(j, dtype=np.intp)

    def surely_independent(self) -> bool:
        data = not self.sparse and self.relative is not None
        return data and surely_independent(self.array)

    def balanced(self) -> FloatMatrix:
        if self.sparse:
            return self
        scale = power_of_two(column_sizes(self.array))

        def over(matrix: FloatMatrix, rows: Any = None) -> FloatMatrix:
            return FloatMatrix(matrix.array / scale, None, lambda: matrix.error / scale, rows)

        return over(self, lambda rows: over(self.part(rows)))

    # --- solving --------------------------------------------------------------------------

    def solve(self, right: FloatMatrix, what: str = "the system") -> FloatMatrix:
        if 0 in self.shape:
            return FloatMatrix(np.zeros((self.shape[1], right.shape[1])))
        return FloatMatrix(*solve_square(self, right, what))

    def general_solution(self, right: FloatMatrix, what: str = "the system") -> GeneralSolution:
        """Every X with ``self @ X = right``, by singular values that are each judged against a bound of their own."""
        if self.sparse and self.shape[0] == self.shape[1]:
            try:
                return GeneralSolution(
                    self.solve(right, what), FloatMatrix(np.zeros((self.shape[1], 0)))
                )
            except SingularError:
                if self.shape[0] > LARGEST_DECOMPOSED:
                    raise
        found, null = solve_any(self, right, what)
        return GeneralSolution(found and FloatMatrix(*found), _from_null(null))

    def null_space(self) -> FloatMatrix:
        return _from_null(self._system().null_space())

    def _system(self) -> Any:
        return equilibrate(finite(self.dense()), self.dense_error())

    def column_basis(self) -> FloatMatrix:
        basis, error = column_basis(self._system(), self.balanced())
        return FloatMatrix(basis, error=error)

    def rank(self) -> int:
        return int(self._system().rank)

    def det(self) -> float:
        return float(np.linalg.det(self.dense()))

    def charpoly(self) -> list[float]:
        return np.poly(self.dense()).tolist()  # type: ignore[no-any-return]

    def public(self) -> Any:
        """A copy that cannot be written to, so that what a problem shows stays what it is."""
        out = finite(self.array, or_infinite=True).copy()  # moments of a diverging learner are
        parts = (out.data, out.indices, out.indptr) if self.sparse else (out,)
        for part in parts:
            part.flags.writeable = False
        return out


def _wrap(array: Any, error: Any = None, rows: Any = None) -> FloatMatrix:
    kept = array if isinstance(array, np.ndarray) else trimmed(array.tocsr())
    return FloatMatrix(kept, error=error, rows=rows)


def _from_null(found: tuple[Any, Any]) -> FloatMatrix:
    vectors, error = found
    return FloatMatrix(vectors, error=error)
