"""Solving linear systems in floats, each answer with a report and a bound on its error."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.accuracy import SolveReport, Spread, finite, quiet, warn_of_few_digits
from obliquetd.algebra.rounding import EPS, power_of_two
from obliquetd.algebra.singular import Factored, equilibrate
from obliquetd.algebra.tall import blocks, column_sizes, gram
from obliquetd.errors import SingularError

if TYPE_CHECKING:
    from obliquetd.algebra.floating import FloatMatrix

__all__ = ["LARGEST_NULL_VECTOR", "column_basis", "solve_any", "solve_square", "surely_independent"]

LARGEST_NULL_VECTOR = 512
"""Rows up to which the error of a singular system carries a null vector."""

TALL = 64
"""Rows a column from which the rank is first asked of the small matrix X'X."""
SURELY = 1e-8
"""An eigenvalue of X'X beside the largest, from which on no rounding of the data makes it 0."""

FRAMES = 5
"""From a warning up to who asked for the solve: one more than for a matrix's own methods."""

Floats = npt.NDArray[np.float64]


def solve_square(
    A: FloatMatrix, right: FloatMatrix, what: str
) -> tuple[Floats, SolveReport, Callable[[], Any]]:
    """x with A x = right, its report, and the bound on its error.

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
    sizes = np.abs(x).max(axis=0, initial=0.0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    from_matrix = np.asarray(A.error @ np.abs(x)) / sizes
    growth = factored.largest_growth(from_matrix.max(axis=1))
    if growth >= 1.0:
        raise SingularError(f"{what} is singular{A.arithmetic.caveat}", _null_vector(A))
    from_right = right.dense_error() / sizes
    total = factored.largest_growth((from_matrix + from_right).max(axis=1))
    warned = warn_of_few_digits(f"{what} is nearly singular", growth, FRAMES)
    report = SolveReport(_backward_error(A, x, right), max(1.0, total / EPS), warned)

    def error() -> Any:
        gap = np.abs(A.array @ x - b)
        weight = from_matrix * sizes + right.error + gap
        return factored.growth(weight) + np.abs(x) * EPS

    return x, report, error


def _null_vector(A: FloatMatrix) -> Floats | None:
    if A.shape[0] > LARGEST_NULL_VECTOR:
        return None
    vector: Floats = np.linalg.svd(np.nan_to_num(A.dense()))[2][-1]
    return vector


def _backward_error(A: FloatMatrix, x: Floats, right: FloatMatrix) -> float:
    gap = np.abs(A.array @ x - right.array).max(initial=0.0)
    norm = abs(A.array).sum(axis=1).max()
    scale = norm * np.abs(x).max(initial=0.0) + np.abs(right.array).max()
    return float(gap / scale) if scale else 0.0


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
    return (x, report, Spread(found.G, found.w)), null


def column_basis(system: Any, columns: FloatMatrix) -> tuple[Floats, Floats]:
    """Independent columns with the span of all, and bounds on the errors of their entries.

    ``system`` is the equilibrated matrix, and ``columns`` the matrix with its columns balanced.
    """
    if system.graded:  # an orthonormal basis would bury the small rows in rounding
        basis, error = system.column_echelon()
        return basis, error
    u, s, vt = np.linalg.svd(columns.dense(), full_matrices=False)
    kept = slice(0, system.rank)
    return u[:, kept], columns.error @ np.abs(vt[kept].T) / s[kept] + np.abs(u[:, kept]) * EPS


def surely_independent(X: Floats) -> bool:
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
