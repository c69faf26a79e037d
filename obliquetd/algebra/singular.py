"""Is a float matrix singular, for all that is known of it? Singular values and bounds.

With E a bound on the error of every entry of A, A is nonsingular whatever its entries
really are where the spectral radius of ``|A^-1| E`` is below 1 (Rump 1999), and the relative
change of a solution is that of ``|A^-1| E |x|``. A singular value s with vectors u and v is
zero for all that is known where s <= |u|' E |v|, to first order. Both are asked of the
equilibrated matrix: rows and columns are scaled by powers of two, which never round,
so that no verdict depends on the units of rewards, features or weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.accuracy import finite
from obliquetd.algebra.factors import Factored
from obliquetd.algebra.rounding import (
    EPS,
    NORMAL,
    SMALLEST,
    negligible,
    power_of_two,
    roundings,
)
from obliquetd.algebra.ways import Way

__all__ = ["equilibrate"]

Array = npt.NDArray[Any]

SWEEPS = 30
"""Passes over rows and columns after which their scales are good enough."""
GRADED: Way[float] = 2.0**26
"""Rows that differ in size by more than this are kept apart from orthogonal transformations."""


@dataclass(frozen=True, eq=False)
class Found:
    """A solution in the units of the caller, with bounds.

    Attributes
    ----------
    x : array (n, k)
    G : array (n, m)
    w : array (m, k)
        The errors of x are bounded by ``|G| w``.
    growth : float
        How far the errors of A move it, over its size.
    total : float
        The same with the errors of b.
    residual : float
    """

    x: Array
    G: Array
    w: Array
    growth: float
    total: float
    residual: float
    lost: Array
    """What each entry of x may have lost below the range of floats."""


def scales(size: Array) -> tuple[Array, Array]:
    """Powers of two by which rows and columns are divided, from the sizes of the entries.

    Means of logarithms are taken out of rows and columns in turn, which brings the logarithms
    of the entries that are not 0 next to 0 in the sense of least squares (Curtis and Reid 1972),
    and then the largest of each row and column to 1. That alone would depend on which of them
    comes first: of (1e20, 1), (1e20, 2), (0, 1), rows first, the first two become equal.
    """
    there = size > 0
    logs = np.log2(np.where(there, size, 1.0))
    up, along = np.zeros((len(size), 1)), np.zeros((1, size.shape[1]))
    counts = [np.maximum(there.sum(axis=axis, keepdims=True), 1) for axis in (1, 0)]
    for _ in range(SWEEPS):
        before = up
        up = np.where(there, logs - along, 0.0).sum(axis=1, keepdims=True) / counts[0]
        along = np.where(there, logs - up, 0.0).sum(axis=0, keepdims=True) / counts[1]
        if np.abs(up - before).max(initial=0.0) < 1.0:
            break
    up, along = np.round(up), np.round(along)
    rest = np.where(there, logs - up - along, -np.inf)
    for axis, total in ((1, up), (0, along)):
        step = np.floor(rest.max(axis=axis, keepdims=True, initial=-np.inf))
        step = np.where(np.isfinite(step), step, 0.0)
        total += step
        rest -= step
    shift = np.round((up.mean() - along.mean()) / 2) if size.size else 0.0
    rows, columns = (
        np.ldexp(1.0, np.clip(x, -1021, 1021).ravel().astype(int))
        for x in (up - shift, along + shift)
    )
    return rows, columns


class Equilibrated:
    """A = R C S with R and S diagonal powers of two, zero rows and columns of A left out of C."""

    @np.errstate(all="ignore")
    def __init__(self, array: Array, error: Array) -> None:
        self.shape = array.shape
        zero = negligible(array, error)
        self.rows = np.flatnonzero(~zero.all(axis=1))
        self.columns = np.flatnonzero(~zero.all(axis=0))
        place = np.ix_(self.rows, self.columns)
        core = array[place]
        size = np.where(zero[place], 0.0, np.abs(core))
        self.up, self.along = scales(size)
        both = np.frexp(self.up)[1][:, None] + np.frexp(self.along)[1] - 2
        self.core, self.error = np.ldexp(core, -both), np.ldexp(error[place], -both)

    @property
    def graded(self) -> bool:
        """Whether the rows differ so much in size that they must not be mixed."""
        return bool(self.up.size and self.up.max() / GRADED > self.up.min())

    @cached_property
    def _inverse(self) -> Array | None:
        """The inverse of C where it exists for every matrix within the bounds."""
        m, n = self.core.shape
        if m != n or not m:
            return None
        factored = Factored.of(self.core)
        if factored is None:
            return None
        with np.errstate(all="ignore"):
            inverse = factored.solve(np.eye(m))
            sure = (np.abs(inverse) @ self.error).sum(axis=1).max() < 1.0
        return inverse if sure else None

    @cached_property
    def _svd(self) -> tuple[Array, Array, Array]:
        """Without the vectors that belong to no singular value: of a d by n core they are n by n."""
        return np.linalg.svd(self.core, full_matrices=False)

    @property
    def _whole_svd(self) -> tuple[Array, Array, Array]:
        """With them, for null spaces."""
        return np.linalg.svd(self.core)

    @cached_property
    def rank(self) -> int:
        """The number of singular values that are not zero for all that is known."""
        if self._inverse is not None:
            return len(self.core)
        if not self.core.size:
            return 0
        u, s, vt = self._svd
        k = len(s)
        own = np.einsum("ik,ij,kj->k", np.abs(u[:, :k]), self.error, np.abs(vt[:k]))
        floor = s[0] * max(self.core.shape) * EPS
        return int((~(negligible(s, own) | (s <= floor))).sum())

    @np.errstate(all="ignore")
    def column_echelon(self) -> tuple[Array, Array]:
        """A basis of the columns of A that is the identity in some rows, and bounds on its errors.

        Columns and rows are taken by QR with pivoting. No row is mixed with another, so that each
        keeps its digits however small it is beside the others.
        """
        from scipy.linalg import qr

        def leading(matrix: Array) -> Array:
            return np.sort(qr(matrix, mode="r", pivoting=True)[1][: self.rank])

        chosen = leading(self.core)
        columns, error = self.core[:, chosen], self.error[:, chosen]
        pivots = leading(columns.T)
        inverse = np.linalg.inv(columns[pivots])
        reduced = columns @ inverse
        bound = (error + np.abs(reduced) @ error[pivots]) @ np.abs(inverse)
        bound += roundings(self.rank) * np.abs(reduced)
        reduced[pivots], bound[pivots] = np.eye(self.rank), 0.0
        places = np.frexp(self.up)[1]
        back = places[:, None] - places[pivots]
        full = np.zeros((2, self.shape[0], self.rank))
        full[:, self.rows] = np.ldexp(reduced, back), np.ldexp(bound, back)
        return full[0], full[1]

    @cached_property
    def _pseudo_inverse(self) -> Array:
        if self._inverse is not None:
            return self._inverse
        if not self.core.size:
            return np.zeros(self.core.shape[::-1])
        u, s, vt = self._svd
        r = self.rank
        return (vt[:r].T / s[:r]) @ u[:, :r].T

    @np.errstate(all="ignore")
    def null_space(self) -> tuple[Array, Array]:
        """An orthonormal basis of the kernel of A, and bounds on the errors of its entries."""
        n, kept = self.shape[1], self.columns
        inner = None
        if self.core.size and self._inverse is None:
            wide = self.core.shape[0] < self.core.shape[1]
            inner = (self._whole_svd if wide else self._svd)[2][self.rank :].T
        count = 0 if inner is None else inner.shape[1]
        free = np.setdiff1d(np.arange(n), kept)
        basis, error = np.zeros((n, count + len(free))), np.zeros((n, count + len(free)))
        basis[free, count:] = np.eye(len(free))
        if inner is not None and count:
            bound = np.abs(self._pseudo_inverse) @ (self.error @ np.abs(inner)) + 8 * EPS
            back = 1.0 / self.along
            back /= back.max()
            vectors, bound = finite(inner * back[:, None]), bound * back[:, None]
            vectors, mixed = np.linalg.qr(vectors)
            basis[kept, :count] = vectors
            error[kept, :count] = bound @ np.abs(np.linalg.pinv(mixed))
        return basis, error

    @np.errstate(all="ignore")  # what leaves the range is refused by the caller
    def solve(self, right: Array, right_error: Array) -> Found | None:
        """A solution of A x = b; None where b lies outside the range, by more than the bounds."""
        units = power_of_two(
            np.abs(right).max(axis=0, initial=0.0)
        )  # so that b / up leaves no range
        right, right_error = right / units, right_error / units
        b, e = (z[self.rows] / self.up[:, None] for z in (right, right_error))
        out = np.setdiff1d(np.arange(self.shape[0]), self.rows)
        if not negligible(right[out], right_error[out]).all():
            return None
        pseudo = self._pseudo_inverse
        x = pseudo @ b
        terms = roundings(max(self.shape))
        from_matrix = self.error @ np.abs(x)
        bound = from_matrix + e + terms * (np.abs(self.core) @ np.abs(x) + np.abs(b))
        gap = b - self.core @ x
        if self._inverse is None and self.core.size:
            # Of b itself, rows that are large beside the others would show how far rounding moved the vectors.
            tall = self.core.shape[0] > self.core.shape[1]
            left = (self._whole_svd if tall else self._svd)[0][:, self.rank :]
            if not negligible(left.T @ gap, np.abs(left).T @ bound).all():
                return None
        sizes = np.abs(x).max(axis=0, initial=0.0)
        sizes = np.where(sizes > 0, sizes, 1.0)
        spread = np.abs(pseudo)
        gap = np.abs(gap)
        norm = np.abs(self.core).sum(axis=1).max(initial=0.0)
        scale = norm * sizes.max(initial=0.0) + np.abs(b).max(initial=0.0)
        full, back = np.zeros((self.shape[1], x.shape[1])), np.zeros((self.shape[1], len(b)))
        full[self.columns] = x / self.along[:, None] * units
        lost = np.zeros(full.shape)
        lost[self.columns] = np.where(np.abs(full[self.columns]) < NORMAL, SMALLEST * (x != 0), 0.0)
        back[self.columns] = pseudo / self.along[:, None]
        return Found(
            full,
            back,
            (bound + gap) * units,
            float((spread @ (from_matrix / sizes)).max(initial=0.0)),
            float((spread @ ((from_matrix + e) / sizes)).max(initial=0.0)),
            float(gap.max(initial=0.0) / scale) if scale else 0.0,
            lost,
        )


def equilibrate(array: Array, error: Array) -> Equilibrated:
    """The matrix with its rows and columns scaled; see :class:`Equilibrated`."""
    return Equilibrated(array, error)
