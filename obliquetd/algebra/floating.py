"""Floating-point matrices: numpy where dense, scipy.sparse where sparse.

A matrix never changes from sparse to dense on its own; the one place that would
need it (a dense answer of over :data:`LARGEST_DENSE` entries) refuses by size.
Every solve measures its own quality: the relative residual and an estimate of the
1-norm condition number, collected in :class:`SolveReport`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.matrix import Arithmetic, GeneralSolution, Indices, Matrix
from obliquetd.errors import KindError, NumberError, PrecisionWarning, SingularError, SizeError

__all__ = ["FLOAT", "FloatArithmetic", "FloatMatrix", "SolveReport"]

EPS = float(np.finfo(float).eps)
SPARSE_FROM = 512
"""Square matrices from this size on are sparse where under a tenth is filled."""
LARGEST_DENSE = 50_000_000
"""Entries of a dense matrix that may come out of sparse input (400 MB)."""
FEW_DIGITS = 6.0
"""A solve that keeps fewer correct digits than this warns."""


@dataclass(frozen=True)
class SolveReport:
    """How good a floating-point solve was.

    Attributes
    ----------
    residual : float
        Largest ``|A x - b|`` over ``|A| |x| + |b|`` (a normwise backward error).
    condition : float
        Estimated 1-norm condition number.
    """

    residual: float
    condition: float

    @property
    def digits(self) -> float:
        """Correct decimal digits to be expected of the largest entries."""
        lost = math.log10(max(1.0, self.condition)) if math.isfinite(self.condition) else 16.0
        return max(0.0, -math.log10(max(self.residual, EPS)) - lost)


class FloatArithmetic(Arithmetic):
    """Double precision."""

    kind = "float"
    zero = 0.0
    one = 1.0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FloatArithmetic)

    def __hash__(self) -> int:
        return hash("float")

    def scalar(self, value: Any) -> float:
        if isinstance(value, float):
            return value
        try:
            return int(value.numerator) / int(value.denominator)
        except OverflowError:
            raise NumberError(
                "a number is beyond the range of floats; use exact arithmetic"
            ) from None
        except AttributeError:
            raise KindError(
                f"the formula {value} has symbols, but the arithmetic is 'float'; substitute "
                "numbers for them first, as in problem.subs({symbol: value})"
            ) from None

    def scalars(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if values.dtype == float:
            return values
        return np.array([self.scalar(v) for v in values.tolist()], dtype=float)

    def public(self, scalar: Any) -> float:
        return float(scalar)

    def sign(self, scalar: Any) -> int:
        return int(scalar > 0) - int(scalar < 0)

    def sqrt(self, scalar: Any) -> float:
        return math.sqrt(max(0.0, scalar))

    def check_size(self, n: int) -> None:
        pass

    def matrix(self, rows: Any, shape: tuple[int, int]) -> FloatMatrix:
        return FloatMatrix(np.asarray(rows, dtype=float).reshape(shape))

    def assemble(
        self, shape: tuple[int, int], rows: Indices, columns: Indices, values: npt.NDArray[Any]
    ) -> FloatMatrix:
        small = max(shape) < SPARSE_FROM
        if small or 10 * len(values) > shape[0] * shape[1]:
            dense = np.zeros(shape)
            np.add.at(dense, (rows, columns), values)
            return FloatMatrix(dense)
        import scipy.sparse as sparse

        return FloatMatrix(sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape)))

    def identity(self, n: int) -> FloatMatrix:
        if n < SPARSE_FROM:
            return FloatMatrix(np.eye(n))
        import scipy.sparse as sparse

        return FloatMatrix(sparse.csr_array(sparse.eye_array(n)))


FLOAT = FloatArithmetic()


class FloatMatrix(Matrix):
    """A numpy array of two dimensions, or a scipy.sparse ``csr_array``."""

    arithmetic = FLOAT

    def __init__(self, array: Any, report: SolveReport | None = None) -> None:
        self.array, self.report = array, report

    @property
    def sparse(self) -> bool:
        """Whether the representation is sparse."""
        return not isinstance(self.array, np.ndarray)

    def dense(self) -> npt.NDArray[np.float64]:
        """The entries as a numpy array, refused where that would fill the memory."""
        if not self.sparse:
            return self.array  # type: ignore[no-any-return]
        m, n = self.shape
        if m * n > LARGEST_DENSE:
            raise SizeError(
                f"a dense {m} by {n} matrix takes {8 * m * n:,} bytes; ask for the products you "
                "need (v_pi, xi, best, fixed points) in place of the matrix"
            )
        return self.array.toarray()  # type: ignore[no-any-return]

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape  # type: ignore[no-any-return]

    @property
    def T(self) -> FloatMatrix:
        return _wrap(self.array.T)

    def __matmul__(self, other: FloatMatrix) -> FloatMatrix:
        return _wrap(self.array @ other.array)

    def __add__(self, other: FloatMatrix) -> FloatMatrix:
        return _wrap(self.array + other.array)

    def __sub__(self, other: FloatMatrix) -> FloatMatrix:
        return _wrap(self.array - other.array)

    def scaled(self, factor: Any) -> FloatMatrix:
        return _wrap(self.array * factor)

    def scale_rows(self, factors: FloatMatrix) -> FloatMatrix:
        return _wrap(self.array * factors.dense())

    def row_dots(self, other: FloatMatrix) -> FloatMatrix:
        product = self.array * other.array
        return FloatMatrix(np.asarray(product.sum(axis=1)).reshape(-1, 1))

    def submatrix(self, rows: Sequence[int], columns: Sequence[int]) -> FloatMatrix:
        i, j = np.asarray(rows, dtype=np.intp), np.asarray(columns, dtype=np.intp)
        return _wrap(self.array[i][:, j])

    def rows(self) -> list[list[float]]:
        return self.dense().tolist()  # type: ignore[no-any-return]

    def entries(self) -> list[float]:
        return self.dense()[:, 0].tolist()  # type: ignore[no-any-return]

    def support(self) -> tuple[Indices, Indices]:
        i, j = self.array.nonzero()
        return np.asarray(i, dtype=np.intp), np.asarray(j, dtype=np.intp)

    def solve(self, right: FloatMatrix, what: str = "the system") -> FloatMatrix:
        if 0 in self.shape:
            return FloatMatrix(np.zeros((self.shape[1], right.shape[1])))
        x, condition = (self._solve_sparse if self.sparse else self._solve_dense)(right, what)
        solution = FloatMatrix(x, SolveReport(self._backward_error(x, right), condition))
        assert solution.report is not None
        if solution.report.digits < FEW_DIGITS:
            warnings.warn(
                f"{what} is nearly singular (condition {condition:.1e}): about "
                f"{solution.report.digits:.0f} correct digits are left; use arithmetic='exact'",
                PrecisionWarning,
                stacklevel=2,
            )
        return solution

    def _solve_dense(self, right: FloatMatrix, what: str) -> tuple[npt.NDArray[Any], float]:
        from scipy.linalg import lapack, lu_solve

        lu, pivots, failed = lapack.dgetrf(self.array)
        norm = float(np.linalg.norm(self.array, 1))
        reciprocal = lapack.dgecon(lu, norm)[0] if not failed else 0.0
        if failed or reciprocal < EPS:
            null = self._closest_null_vector()
            raise SingularError(f"{what} is singular to working precision", null)
        return lu_solve((lu, pivots), right.dense()), 1.0 / reciprocal

    def _closest_null_vector(self) -> npt.NDArray[Any]:
        vector: npt.NDArray[Any] = np.linalg.svd(self.dense())[2][-1]
        return vector

    def _solve_sparse(self, right: FloatMatrix, what: str) -> tuple[npt.NDArray[Any], float]:
        import scipy.sparse.linalg as linalg

        try:
            lu: Any = linalg.splu(self.array.tocsc())
        except RuntimeError:
            raise SingularError(f"{what} is singular to working precision") from None
        inverse: Any = linalg.LinearOperator(
            self.shape, matvec=lu.solve, rmatvec=lambda y: lu.solve(y, trans="T"), dtype=np.float64
        )
        condition = float(linalg.norm(self.array, 1)) * float(linalg.onenormest(inverse))
        return lu.solve(right.dense()), condition

    def _backward_error(self, x: npt.NDArray[Any], right: FloatMatrix) -> float:
        gap = np.abs(self.array @ x - right.array).max(initial=0.0)
        norm = abs(self.array).sum(axis=1).max()
        scale = norm * np.abs(x).max(initial=0.0) + np.abs(right.array).max()
        return float(gap / scale) if scale else 0.0

    def general_solution(self, right: FloatMatrix) -> GeneralSolution:
        if self.sparse and self.shape[0] == self.shape[1]:
            return GeneralSolution(self.solve(right), FloatMatrix(np.zeros((self.shape[1], 0))))
        i, j = self.support()
        kept_rows, kept = np.unique(i), np.unique(j)
        a, b = self.dense(), right.dense()
        u, s, vt = np.linalg.svd(a[np.ix_(kept_rows, kept)])
        rank = int((s > _tolerance(s, self.shape)).sum())
        free = np.setdiff1d(np.arange(self.shape[1]), kept)
        null = np.zeros((self.shape[1], len(kept) - rank + len(free)))
        null[kept, : len(kept) - rank] = vt[rank:].T
        null[free, len(kept) - rank :] = np.eye(len(free))
        x = np.zeros((self.shape[1], b.shape[1]))
        x[kept] = vt[:rank].T @ ((u[:, :rank].T @ b[kept_rows]) / s[:rank, None])
        gap = np.abs(a @ x - b).max(initial=0.0)
        scale = (s[0] if s.size else 0.0) * np.abs(x).max(initial=0.0) + np.abs(b).max(initial=0.0)
        condition = float(s[0] / s[rank - 1]) if rank else 1.0
        if gap > 1e3 * EPS * max(self.shape) * scale:
            return GeneralSolution(None, FloatMatrix(null))
        report = SolveReport(float(gap / scale) if scale else 0.0, condition)
        return GeneralSolution(FloatMatrix(x, report), FloatMatrix(null))

    def null_space(self) -> FloatMatrix:
        _, s, vt = np.linalg.svd(self.dense())
        return FloatMatrix(vt[int((s > _tolerance(s, self.shape)).sum()) :].T)

    def column_basis(self) -> FloatMatrix:
        u, s, _ = np.linalg.svd(self.dense(), full_matrices=False)
        return FloatMatrix(u[:, s > _tolerance(s, self.shape)])

    def rank(self) -> int:
        return int(np.linalg.matrix_rank(self.dense())) if 0 not in self.shape else 0

    def det(self) -> float:
        return float(np.linalg.det(self.dense()))

    def charpoly(self) -> list[float]:
        return np.poly(self.dense()).tolist()  # type: ignore[no-any-return]

    def public(self) -> Any:
        """A copy that cannot be written to, so that what a problem shows stays what it is."""
        out = self.array.copy()
        parts = (out.data, out.indices, out.indptr) if self.sparse else (out,)
        for part in parts:
            part.flags.writeable = False
        return out


def _tolerance(singular_values: npt.NDArray[Any], shape: tuple[int, int]) -> float:
    """numpy's rank rule: largest singular value times the larger side times machine epsilon."""
    return float(singular_values[0] * max(shape) * EPS) if singular_values.size else 0.0


def _wrap(array: Any) -> FloatMatrix:
    if isinstance(array, np.ndarray):
        return FloatMatrix(array)
    return FloatMatrix(array.tocsr())
