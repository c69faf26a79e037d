"""Square matrices of floats, factored for solving, and how far they let errors grow."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.float_digits import ENTRYWISE
from obliquetd.algebra.ways import Way

__all__ = ["Factored"]

Array = npt.NDArray[Any]

EXPLICIT: Way[int] = 64
"""Up to this size the inverse is formed for its absolute values; above, they are estimated."""
ONE_THREAD: Way[int] = 1024
"""Entries of right-hand sides up to which OpenBLAS takes one thread for a triangle."""


class Factored(ABC):
    """A nonsingular square matrix, factored."""

    @staticmethod
    def of(array: Any) -> Factored | None:
        """The factors; None where a pivot vanishes or an entry is not finite."""
        if isinstance(array, np.ndarray):
            return _Dense.of_array(array)
        from obliquetd.algebra.krylov import MonotoneSystem

        return MonotoneSystem.of_matrix(array) or Factored.by_factors(array)

    @staticmethod
    def by_factors(array: Any) -> Factored | None:
        """The same of a sparse matrix, whatever its size."""
        return _Sparse.of_matrix(array)

    @abstractmethod
    def solve(self, b: Array) -> Array:
        """A^-1 b."""

    @abstractmethod
    def solve_transposed(self, b: Array) -> Array:
        """A^-T b."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of rows."""

    @cached_property
    def _inverse(self) -> Array:
        return np.abs(self.solve(np.eye(self.size)))

    def growth(self, weights: Array) -> Array:
        """``|A^-1| w`` for each column w >= 0; above :data:`ENTRYWISE` its largest entry, throughout."""
        if self.size <= ENTRYWISE:
            return self._inverse @ weights
        return np.broadcast_to(self.largest_growths(weights), weights.shape).copy()

    def largest_growth(self, weights: Array) -> float:
        """The largest entry of ``|A^-1| w`` for w >= 0; above :data:`EXPLICIT` of :meth:`largest_growths`."""
        if not np.isfinite(weights).all():  # which a 0 of the inverse would make NaN
            return math.inf
        if self.size <= EXPLICIT:
            return float((self._inverse @ weights).max())
        return float(self.largest_growths(weights.reshape(-1, 1))[0])

    def largest_growths(self, weights: Array) -> Array:
        """The largest entry of ``|A^-1| w`` for each column w >= 0.

        It is the 1-norm of diag(w) A^-T, which Hager's method estimates by a few solves with
        A and A' (Higham 2002, Algorithm 15.1): a lower bound that is nearly always attained. The
        columns go on together until each is settled.
        """
        n, count = weights.shape
        x = np.full((n, count), 1.0 / n)
        best, going = np.zeros(count), np.arange(count)
        last = np.full(count, -1)
        for _ in range(5):
            w = weights[:, going]
            y = w * self.solve_transposed(x)
            best[going] = np.maximum(best[going], np.abs(y).sum(axis=0))
            z = self.solve(w * np.sign(y))
            k = np.abs(z).argmax(axis=0)
            here = np.arange(len(going))
            more = (k != last) & ~(np.abs(z[k, here]) <= (z * x).sum(axis=0))
            going, last = going[more], k[more]
            if not len(going):
                break
            x = np.zeros((n, len(going)))
            x[last, np.arange(len(going))] = 1.0
        return best


@dataclass(frozen=True, eq=False)
class _Dense(Factored):
    """P A = L U, with L and U in one array, and the row of A that comes to each place.

    Solved by the two triangles and not by LAPACK's ``getrs``: OpenBLAS takes all threads for that even of a
    3 by 3 matrix, and on a busy machine they wait for each other for a hundredth of a second.
    """

    lu: Array
    order: Array

    @classmethod
    def of_array(cls, array: Array) -> _Dense | None:
        from scipy.linalg import lapack

        if not np.isfinite(array).all():
            return None
        lu, pivots, failed = lapack.dgetrf(array)
        if failed:
            return None
        order = list(range(len(lu)))
        for i, k in enumerate(pivots.tolist()):
            order[i], order[k] = order[k], order[i]
        return cls(lu, np.array(order, dtype=np.intp))

    def solve(self, b: Array) -> Array:
        return self._by_parts(b, self._solve)

    def solve_transposed(self, b: Array) -> Array:
        return self._by_parts(b, self._solve_transposed)

    def _by_parts(self, b: Array, solve: Callable[[Array], Array]) -> Array:
        columns = b.reshape(self.size, -1)
        count = columns.shape[1]
        step = max(1, ONE_THREAD // self.size if self.size <= EXPLICIT else count)
        parts = [solve(columns[:, k : k + step]) for k in range(0, count, step)]
        return np.concatenate(parts or [columns], axis=1).reshape(b.shape)

    def _solve(self, b: Array) -> Array:
        from scipy.linalg import blas

        y = blas.dtrsm(1.0, self.lu, b[self.order], lower=1, diag=1)
        return np.asarray(blas.dtrsm(1.0, self.lu, y, lower=0))

    def _solve_transposed(self, b: Array) -> Array:
        from scipy.linalg import blas

        y = blas.dtrsm(1.0, self.lu, b, lower=0, trans_a=1)
        y = blas.dtrsm(1.0, self.lu, y, lower=1, diag=1, trans_a=1)
        out = np.empty(y.shape)
        out[self.order] = y
        return out

    @property
    def size(self) -> int:
        return len(self.lu)


@dataclass(frozen=True, eq=False)
class _Sparse(Factored):
    lu: Any

    @classmethod
    def of_matrix(cls, matrix: Any) -> _Sparse | None:
        import scipy.sparse.linalg as linalg

        if not np.isfinite(matrix.data).all():
            return None
        try:
            return cls(linalg.splu(matrix.tocsc()))
        except RuntimeError:
            return None

    def solve(self, b: Array) -> Array:
        return np.asarray(self.lu.solve(b))

    def solve_transposed(self, b: Array) -> Array:
        return np.asarray(self.lu.solve(b, trans="T"))

    @property
    def size(self) -> int:
        return int(self.lu.shape[0])
