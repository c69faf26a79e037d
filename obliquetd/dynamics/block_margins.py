"""The smallest real part of an eigenvalue of each of many A, on the span of the updates of each.

A maps into the span U of all updates (:mod:`obliquetd.dynamics.span`). So where A is invertible, U is everything.
Elsewhere U is found from the updates themselves: with G the updates of all outcomes as columns, an eigenvector of
G G' belongs to U or to its complement, by its eigenvalue. Where that does not tell, the block is in doubt.

A matrix of two rows has the eigenvalues m +- sqrt(h^2 + b c), m and h half the sum and half the difference of
its diagonal. One of three or four has all of them right of t where the polynomial of tI - A has its roots left of 0,
which the signs of a few combinations of its coefficients tell (Hurwitz 1895). So most blocks are known to be no
better than what they are compared with.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Means", "margins"]

Floats = npt.NDArray[np.float64]
INVERTIBLE = 1e-3
"""The modulus of an eigenvalue beside the norm of A above which it is surely not 0, in a Jordan block either."""
SPANNED, ROUNDING = 1e-10, 1e-13
"""Eigenvalues of G G' beside the largest: those of U, and those of nothing but rounding."""
SURELY = 1e-9
"""A coefficient of the polynomial of a matrix of norm 1 above which it is surely positive."""


class Means(Protocol):
    """What is known of many expected updates."""

    @property
    def A(self) -> Floats:
        """(B, D, D)."""

    @property
    def in_doubt(self) -> Any:
        """The blocks whose A is not known, once it has been asked for: (B,) bool."""

    def gram(self, which: Any) -> Floats:
        """G G' of some blocks."""

    def least_rank(self, which: Any) -> Any:
        """From what rank of G on its columns surely span U."""


def margins(means: Means, below: Floats | None = None) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The smallest real part over the norm of A, for each block; and the blocks in doubt.

    It is infinite where nothing moves, or where A is 0, as it is for what cannot be unstable; and it may be where it
    is no less than a number of ``below``, (B,), if these are given.
    """
    with np.errstate(all="ignore"):
        A, doubt = means.A, means.in_doubt
        columns = A.reshape(len(A), -1).T  # contiguous where the blocks are those of a table
        sizes = np.sqrt(np.square(columns).sum(axis=0))
        if not sizes.sum() < np.inf:  # squares beyond floats
            doubt = doubt | ~np.isfinite(sizes)
        if len(columns) == 4:
            out, flat = _of_two(columns, sizes)
        else:
            A = A / sizes[:, None, None]
            out, flat = _of_more(A, below)
        nothing = sizes == 0
        out[nothing] = np.inf
        which = (flat > (nothing | doubt)).nonzero()[0]
        if len(which):
            doubt = doubt.copy()
            if len(columns) == 4:
                trace = (columns[0, which] + columns[3, which]) / sizes[which]
                both, doubt[which] = _span_is_everything(means, which)
                out[which] = np.where(both, out[which], trace)  # A on one direction is its trace
            else:
                out[which], doubt[which] = _on_the_span(means, A[which], which)
    return out, doubt


def _of_two(columns: Floats, sizes: Floats) -> tuple[Floats, Any]:
    """The smallest real part over the norm, from the entries row by row; and whether A may be singular."""
    a, b, c, d = columns
    half, bc = (a - d) / 2, b * c
    root = np.sqrt(np.maximum(half * half + bc, 0.0))
    out = ((a + d) / 2 - root) / sizes
    return out, np.abs(a * d - bc) <= INVERTIBLE * sizes * sizes


def _of_more(A: Floats, below: Floats | None) -> tuple[Floats, Any]:
    """The smallest real part, infinite where it is surely none that is asked for; and whether A may be singular."""
    if A.shape[1] == 1:
        return A[:, 0, 0].copy(), np.zeros(len(A), dtype=bool)
    out, flat = np.full(len(A), np.inf), np.zeros(len(A), dtype=bool)
    left = np.isfinite(A[:, 0, 0])  # of A = 0 there is none
    if below is not None:
        left &= ~_all_right_of(A, below)
    if left.any():
        eigenvalues = np.linalg.eigvals(A[left])
        out[left] = eigenvalues.real.min(axis=1)
        flat[left] = np.abs(eigenvalues).min(axis=1) <= INVERTIBLE
    return out, flat


def _all_right_of(A: Floats, t: Floats) -> Any:
    """Whether all eigenvalues surely have real parts above t, where that is soon told: (B,) bool.

    With x^n + c_1 x^(n-1) + ... the polynomial of tI - A it is so for n = 3 where all c > 0 and c_1 c_2 > c_3, and
    for n = 4 where all c > 0 and c_1 c_2 c_3 > c_3^2 + c_1^2 c_4.
    """
    n = A.shape[1]
    if n not in (3, 4):
        return np.zeros(len(A), dtype=bool)
    known = np.isfinite(t)
    # a norm of about 1, however far t is: what is beyond 1 is beyond all eigenvalues
    M = -A + np.where(known, np.clip(t, -2, 2), 2.0)[:, None, None] * np.eye(n)
    sums = [np.einsum("bii->b", M)]
    power = M
    for _ in range(n - 1):
        power = power @ M
        sums.append(np.einsum("bii->b", power))
    c: list[Any] = [1.0]
    for k in range(1, n + 1):  # Newton's identities
        c.append(-sum(c[k - i] * sums[i - 1] for i in range(1, k + 1)) / k)
    tests = c[1:]
    if n == 3:
        tests.append(c[1] * c[2] - c[3])
    elif n == 4:
        tests.append(c[1] * c[2] * c[3] - c[3] * c[3] - c[1] * c[1] * c[4])
    return known & (np.minimum.reduce(tests) > SURELY)


def _span_is_everything(means: Means, which: Any) -> tuple[Any, Any]:
    """Whether U has two directions and not one, for blocks of two weights; and where that is not known.

    Of the eigenvalues p >= q of G G', pq is its determinant and (p + q)^2 between p^2 and 4 p^2.
    """
    a, b, _, d = means.gram(which).reshape(-1, 4).T
    product, square = a * d - b * b, (a + d) ** 2
    both = product > SPANNED * square
    unsure = ~(both | (product <= ROUNDING / 4 * square)) | (square == 0)
    return both, unsure | (1 + both < means.least_rank(which))


def _on_the_span(means: Means, A: Floats, which: Any) -> tuple[Floats, Any]:
    """The smallest real part on U of some blocks, and those of which U is not known."""
    values, vectors = np.linalg.eigh(means.gram(which))
    largest = values[:, -1:]
    inside, outside = values > SPANNED * largest, values <= ROUNDING * largest
    unsure = ~(inside | outside).all(axis=1) | (largest[:, 0] <= 0)
    ranks = inside.sum(axis=1)
    unsure |= ranks < means.least_rank(which)
    out = np.zeros(len(which))
    for rank in np.unique(ranks[~unsure]):
        chosen = np.flatnonzero((ranks == rank) & ~unsure)
        V = vectors[chosen][:, :, -rank:]
        Q = V.transpose(0, 2, 1) @ A[chosen] @ V
        out[chosen] = np.linalg.eigvals(Q).real.min(axis=1)
    return out, unsure
