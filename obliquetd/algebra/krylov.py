"""Large sparse systems I - G with G >= 0, solved by iteration where factors would fill in.

The matrices of values, emphases and stationary weights have positive diagonals and no positive
entry elsewhere. Such an A with a vector y >= 0 for which A y > 0 is a nonsingular M-matrix
(Berman and Plemmons 1994, Theorem 6.2.3): its inverse has no negative entry, and

    A y >= w / 2  and  w >= 0   imply   |A^-1| w = A^-1 w <= 2 y.

So one more solve proves how far the errors of A and b can have moved a solution, and an iteration
that has converged to a wrong answer, as it does where a chain hardly ever leaves one of its
parts, is found out. What does not converge is an error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.factors import Factored
from obliquetd.algebra.rounding import EPS, roundings
from obliquetd.algebra.ways import Way
from obliquetd.errors import ConvergenceError

__all__ = ["LARGEST_FACTORED", "MonotoneSystem", "layout"]

Array = npt.NDArray[Any]

LARGEST_FACTORED: Way[int] = 2_000
"""Rows of a sparse system up to which it is always factored."""
CHEAP_BAND: Way[float] = 2e9
"""Operations, n times the square of the bandwidth, up to which factors are cheap."""
LARGEST_BAND: Way[float] = 1e12
"""The same up to which they are tried at last, where no iteration converges."""
LARGEST_FILL: Way[float] = 5e7
"""Entries that the factors may then have."""
BASIS, RESTARTS, REFINEMENTS = 40, 4, 12
"""Vectors of a Krylov space, spaces for one correction, and corrections."""
PART = 1e-8
"""What a correction leaves of the residual."""
ROUGHLY = 1e-6
"""The same where it is to be below half of what is solved for, in every entry."""
AT_ROUNDING, AT_MOST = 4.0, 64.0
"""Backward errors, in units of EPS, that end a solve, and that are let pass where it stands still."""
FLOOR = 1e-3
"""Weights of a bound are raised to this part of the largest, so that a residual can be below them."""
SHAPE: Way[float] = 8.0
"""A bound for other weights serves where it is at most this many times too wide."""


def layout(matrix: Any) -> tuple[Array, int]:
    """The order of Cuthill and McKee (1969), reversed, and the largest ``|i - j|`` of an entry in it."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    ones = csr_array((np.ones(len(matrix.data)), matrix.indices, matrix.indptr), matrix.shape)
    both = (ones + ones.T).tocsr()  # the routine looks for neighbours along rows alone
    order = np.asarray(reverse_cuthill_mckee(both, symmetric_mode=True), dtype=np.intp)
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    i, j = matrix.nonzero()
    return order, int(np.abs(place[i] - place[j]).max(initial=0))


@dataclass(frozen=True, eq=False)
class MonotoneSystem(Factored):
    """A square matrix with positive diagonal and no positive entry elsewhere; see the preface.

    Attributes
    ----------
    matrix : csr_array
    may_factor : bool
        Whether factors are tried at last, where no iteration converges.
    """

    matrix: Any
    may_factor: bool
    _kept: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_matrix(cls, matrix: Any) -> MonotoneSystem | None:
        """The system; None where factors are cheap, or the matrix is not of this kind."""
        n = matrix.shape[0]
        if n <= LARGEST_FACTORED or not np.isfinite(matrix.data).all():
            return None
        rows = matrix.tocsr()
        diagonal = rows.diagonal()
        if not (diagonal > 0).all() or (rows.data > 0).sum() != n:
            return None
        wide = layout(rows)[1]
        if n * wide**2 <= CHEAP_BAND:
            return None
        return cls(rows, n * wide**2 <= LARGEST_BAND and n * wide <= LARGEST_FILL)

    @property
    def size(self) -> int:
        return int(self.matrix.shape[0])

    def solve(self, b: Array) -> Array:
        if "factors" in self._kept:
            return np.asarray(self._kept["factors"].solve(b))
        columns = b.reshape(self.size, -1)
        out = np.empty(columns.shape)
        for k in range(columns.shape[1]):
            out[:, k], error = _refined(self.matrix, columns[:, k])
            if error > AT_MOST * EPS:
                found = self._factors(f"with a backward error of {error:.1e}", error)
                return np.full(b.shape, np.nan) if found is None else found.solve(b)
        return out.reshape(b.shape)

    def solve_transposed(self, b: Array) -> Array:
        """Asked for by the estimate for factors alone; a bound of this class needs none."""
        found = self._kept.get("factors")
        return found.solve_transposed(b) if found else MonotoneSystem(
            self.matrix.T.tocsr(), self.may_factor
        ).solve(b)  # fmt: skip

    def _factors(self, how: str, error: float) -> Factored | None:
        """Factors at last; None where a pivot vanishes.

        Raises
        ------
        ConvergenceError
            Where they would fill the memory.
        """
        if not self.may_factor:
            raise ConvergenceError(
                f"the iteration for a sparse system of {self.size} equations stopped {how}: the chain "
                "mixes too slowly for an iteration, and its moves reach too far for elimination. Take "
                "fewer states, for values a smaller discount, or for weights pass xi=",
                error,
            )
        found = Factored.by_factors(self.matrix)
        if found:
            self._kept["factors"] = found
        return found

    def growth(self, weights: Array) -> Array:
        """Its largest entry, throughout: no inverse is formed of a system that is iterated."""
        return np.broadcast_to(self.largest_growths(weights), weights.shape).copy()

    def largest_growths(self, weights: Array) -> Array:
        return np.array([self.largest_growth(column) for column in weights.T])

    def largest_growth(self, weights: Array) -> float:
        """A proved bound of the largest entry of ``|A^-1| w``.

        The bound for weights w' is c times that for w wherever w' <= c w. Where nothing is proved,
        factors and the estimate for them take over.
        """
        if "factors" in self._kept:
            return float(self._kept["factors"].largest_growth(weights))
        largest = float(weights.max(initial=0.0))
        if largest == 0.0 or not math.isfinite(largest):
            return largest
        raised = np.maximum(weights / largest, FLOOR)
        for known, bound in self._kept.setdefault("bounds", []):
            factor = float((raised / known).max())
            if factor * known.sum() <= SHAPE * raised.sum():
                return float(factor * bound * largest)
        y, error = _gmres(self.matrix, raised, self.matrix.diagonal(), ROUGHLY), math.nan
        if not self._proves(y, raised):
            y, error = _refined(self.matrix, raised)
        if not self._proves(y, raised):
            found = self._factors("without a proof of its digits", error)
            return found.largest_growth(weights) if found else math.inf
        bound = 2.0 * float(y.max())
        self._kept["bounds"].append((raised, bound))
        return bound * largest

    def _proves(self, y: Array, weights: Array) -> bool:
        """Whether y >= 0 and A y >= w / 2, whatever the rounding of A y."""
        product = self.matrix @ y
        terms = roundings(int(np.diff(self.matrix.indptr).max()))
        rounding = terms * (2 * self.matrix.diagonal() * y - product)  # |A| y, as y >= 0
        return bool((y >= 0).all()) and bool((product - rounding >= weights / 2).all())


def _refined(A: Any, b: Array) -> tuple[Array, float]:
    """x with A x = b by iterative refinement on GMRES, and its normwise backward error."""
    scale = float(np.abs(b).max(initial=0.0))
    if scale == 0.0:
        return np.zeros(len(b)), 0.0
    if not math.isfinite(scale):
        return np.full(len(b), np.nan), 0.0
    b = b / scale
    diagonal = A.diagonal()
    norm = float(abs(A).sum(axis=1).max())
    x, best, error = np.zeros(len(b)), np.zeros(len(b)), math.inf
    for _ in range(REFINEMENTS):
        gap = b - A @ x
        now = float(np.abs(gap).max() / (norm * np.abs(x).max() + 1.0))
        if not now < error:
            break
        better = now < error / 2
        best, error = x, now
        if error <= AT_ROUNDING * EPS or not better:
            break
        x = x + _gmres(A, gap, diagonal)
    return best * scale, error


def _gmres(A: Any, b: Array, diagonal: Array, part: float = PART) -> Array:
    """A correction that takes most of b away (Saad and Schultz 1986), on A over its diagonal.

    The vectors are orthogonalised once: what that leaves undone the next correction takes. It is
    done by ``einsum``: the threads of a BLAS cost more than they bring where all is reading memory.
    """
    b = b / diagonal
    wanted = part * _norm(b)
    x, gap = np.zeros(len(b)), b
    for _ in range(RESTARTS):
        size = _norm(gap)
        if size <= wanted:
            break
        basis = np.empty((BASIS + 1, len(b)))
        basis[0] = gap / size
        H, right = np.zeros((BASIS + 1, BASIS)), np.zeros(BASIS + 1)
        right[0] = size
        for k in range(BASIS):
            w = (A @ basis[k]) / diagonal
            H[: k + 1, k] = np.einsum("ij,j->i", basis[: k + 1], w)
            w -= np.einsum("i,ij->j", H[: k + 1, k], basis[: k + 1])
            H[k + 1, k] = _norm(w)
            y, *_ = np.linalg.lstsq(H[: k + 2, : k + 1], right[: k + 2], rcond=None)
            left = _norm(right[: k + 2] - H[: k + 2, : k + 1] @ y)
            if left <= wanted or H[k + 1, k] <= EPS:
                break
            basis[k + 1] = w / H[k + 1, k]
        x += np.einsum("i,ij->j", y, basis[: len(y)])
        gap = b - (A @ x) / diagonal
    return x


def _norm(x: Array) -> float:
    return math.sqrt(float(np.einsum("i,i->", x, x)))
