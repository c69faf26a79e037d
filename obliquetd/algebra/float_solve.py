"""Solving linear systems in floats, each answer with a report and a bound on its error."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.accuracy import SolveReport, Spread, finite, quiet, warn_of_few_digits
from obliquetd.algebra.factors import Factored
from obliquetd.algebra.rounding import BLOCK, EPS, power_of_two, roundings
from obliquetd.algebra.singular import equilibrate
from obliquetd.algebra.tall import blocks, column_sizes, gram
from obliquetd.algebra.ways import Way
from obliquetd.errors import SingularError

if TYPE_CHECKING:
    from obliquetd.algebra.floating import FloatMatrix

__all__ = ["LARGEST_NULL_VECTOR", "column_basis", "solve_any", "solve_square", "surely_independent"]

LARGEST_NULL_VECTOR = 512
"""Rows up to which the error of a singular system carries a null vector."""

TALL: Way[int] = 64
"""Rows a column from which the rank is first asked of the small matrix X'X."""
SURELY = 1e-8
"""An eigenvalue of X'X beside the largest, from which on no rounding of the data makes it 0."""

FRAMES = 5
"""From a warning up to who asked for the solve: one more than for a matrix's own methods."""

Floats = npt.NDArray[np.float64]


def solve_square(
    A: FloatMatrix, right: FloatMatrix, what: str
) -> tuple[Floats, SolveReport, Callable[[], Any], Callable[[Any], FloatMatrix] | None]:
    """x with A x = right, its report, the bound on its error, and what makes some of its rows with theirs.

    Raises
    ------
    SingularError
        Where A may be singular for all that is known of its entries.
    """
    factored = Factored.of(finite(A.array))
    b = finite(right.dense())
    x = quiet(lambda: factored.solve(b)) if factored else np.full(b.shape, np.nan)
    if factored and not np.isfinite(x).all():
        x = factored.solve(b / A.arithmetic.magnitude(right))
        if np.isfinite(x).all():  # only the size of b was too much
            finite(math.inf)
    if factored is None or not np.isfinite(x).all():
        raise SingularError(f"{what} is singular{A.arithmetic.caveat}", _null_vector(A))
    errors = (_ByColumns if A.sparse and x.size > BLOCK else _Errors)(A, right, b, x)
    growth = factored.largest_growth(errors.from_matrix)
    if not growth < 1.0:  # nor where a bound is infinite
        raise SingularError(f"{what} is singular{A.arithmetic.caveat}", _null_vector(A))
    total = factored.largest_growth(errors.from_data)
    warned = warn_of_few_digits(f"{what} is nearly singular", growth, FRAMES)
    report = SolveReport(errors.backward_error, max(1.0, total / EPS), warned)
    return x, report, *errors.bounds(factored)


class _Errors:
    """What errors of A and b, and what is left of them, make of x, over the largest entry of each column."""

    def __init__(self, A: FloatMatrix, right: FloatMatrix, b: Floats, x: Floats) -> None:
        self.A, self.right, self.b, self.x = A, right, b, x
        sizes = column_sizes(x)
        self.sizes = np.where(sizes > 0, sizes, 1.0)

    @cached_property
    def _of_matrix(self) -> Floats:
        return np.asarray(self.A.error @ np.abs(self.x)) / self.sizes

    @property
    def from_matrix(self) -> Floats:
        """The largest of each row, from errors of A."""
        found: Floats = self._of_matrix.max(axis=1)
        return found

    @property
    def from_data(self) -> Floats:
        """The same from errors of A and b."""
        found: Floats = (self._of_matrix + self.right.dense_error() / self.sizes).max(axis=1)
        return found

    @property
    def _left(self) -> float:
        """The largest entry of ``|A x - b|``."""
        return float(np.abs(self.A.array @ self.x - self.b).max(initial=0.0))

    @property
    def backward_error(self) -> float:
        """That, over what A and b are as large as."""
        norm = abs(self.A.array).sum(axis=1).max()
        largest = column_sizes(self.b).max(initial=0.0)
        scale = norm * column_sizes(self.x).max(initial=0.0) + largest
        return float(self._left / scale) if scale else 0.0

    def bounds(self, factored: Factored) -> tuple[Callable[[], Any], Any]:
        """A bound on the error of each entry of x, and what makes some rows of it."""

        def error() -> Any:
            gap = np.abs(self.A.array @ self.x - self.b)
            weight = self._of_matrix * self.sizes + self.right.error + gap
            return factored.growth(weight) + np.abs(self.x) * EPS

        return error, None


class _ByColumns(_Errors):
    """The same with nothing on the way that is as large as x."""

    def _largest(self, part: Callable[[Floats, int], Floats]) -> Floats:
        """For each row the largest over the columns of x, each over its size."""
        found = np.zeros(len(self.x))
        for k, size in enumerate(self.sizes):
            np.maximum(found, part(self.x[:, k], k) / size, out=found)
        return found

    @cached_property
    def from_matrix(self) -> Floats:
        return self._largest(lambda x, _: self.A.error @ np.abs(x))

    @cached_property
    def from_data(self) -> Floats:
        parts = (self.right.part(p).dense_error() / self.sizes for p in blocks(len(self.x)))
        rows: Floats = np.concatenate([part.max(axis=1) for part in parts])
        return self.from_matrix + rows

    @cached_property
    def _gap(self) -> Floats:
        return self._largest(lambda x, k: np.abs(self.A.array @ x - self.b[:, k]))

    @property
    def _left(self) -> float:
        return float(self._gap.max(initial=0.0) * self.sizes.max())

    def bounds(self, factored: Factored) -> tuple[Callable[[], Any], Any]:
        weights, sizes, x, kind = self.from_data + self._gap, self.sizes, self.x, type(self.A)
        found: list[Floats] = []

        def error(p: Any = slice(None)) -> Any:
            """Of a column the same for every entry, but for the last place of each."""
            if not found:
                found.append(factored.largest_growth(weights) * sizes)
            return found[0] + np.abs(x[p]) * EPS

        return error, lambda p: kind(x[p], error=error(p))


def _null_vector(A: FloatMatrix) -> Floats | None:
    if A.shape[0] > LARGEST_NULL_VECTOR:
        return None
    vector: Floats = np.linalg.svd(np.nan_to_num(A.dense()))[2][-1]
    return vector


def solve_any(
    A: FloatMatrix, right: FloatMatrix, what: str
) -> tuple[tuple[Any, SolveReport, Spread] | None, tuple[Any, Any]]:
    """A solution of least norm, if there is one, and the null space with its error.

    By singular values of the equilibrated matrix, each judged against its own bound.
    """
    system = equilibrate(finite(A.dense()), A.dense_error())
    null = system.null_space()
    found = system.solve(finite(right.dense()), right.dense_error())
    if found is None:
        return None, null
    x = finite(found.x)
    warned = warn_of_few_digits(f"{what} is nearly singular", found.growth, FRAMES)
    report = SolveReport(found.residual, max(1.0, found.total / EPS), warned)
    return (x, report, Spread(found.G, found.w, lambda: found.lost)), null


def column_basis(system: Any, columns: FloatMatrix) -> tuple[Floats, Floats]:
    """Independent columns with the span of all, and bounds on the errors of their entries.

    ``system`` is the equilibrated matrix, and ``columns`` the matrix with its columns balanced. Of its singular
    vectors U = C V / s, C V / s is taken as a product: each row is one of C, and a row of zeros stays one, where
    the rounding of a decomposition is as large as the largest row. Any V of full rank would do, so that its own
    rounding is no error.
    """
    if system.graded:  # an orthonormal basis would bury the small rows in rounding
        basis, error = system.column_echelon()
        return basis, error
    C = columns.dense()
    _, s, vt = np.linalg.svd(C, full_matrices=False)
    kept = slice(0, system.rank)
    combined = vt[kept].T / s[kept]
    rounded = columns.dense_error() + roundings(C.shape[1]) * np.abs(C)
    return C @ combined, rounded @ np.abs(combined)


def surely_independent(X: Floats) -> Way[bool]:
    """Whether the columns of data are independent, by X'X: a quick yes for tall matrices alone.

    Its eigenvalues know singular values down to 1e-8 of the largest, far above the
    rounding of the data; where they do not say yes, singular values are asked.

    Examples
    --------
    >>> surely_independent(np.c_[np.ones(200), np.arange(200)]), surely_independent(np.ones((200, 2)))
    (True, False)
    """
    if X.shape[0] < TALL * X.shape[1] or not X.size:
        return False
    sizes = column_sizes(X)
    if not np.isfinite(sizes).all():
        return False
    units = power_of_two(sizes)
    total = np.zeros((X.shape[1], X.shape[1]))
    for p in blocks(len(X)):
        part = X[p] / units
        total += gram(part, part)
    eigenvalues = np.linalg.eigvalsh(total)
    return bool(eigenvalues[0] > SURELY * eigenvalues[-1])
