"""Proofs about eigenvalues in floats, of many matrices at once, with bounds on what was rounded.

With a symmetric K and S = A'K + KA positive definite, A has as many eigenvalues with positive (negative) real part
as K has positive (negative) ones, and none on the axis (Ostrowski and Schneider 1962). K is a guess in floats;
whatever it is, it is an exact matrix, and what has to be proved is that S is positive definite, for all A within
their radii.

1. K A in floats is within n u |K| |A| of the product, u = 2^-53, for sums in any order (Higham 2002, (3.13)), and
   K times a radius R within |K| R; 2 n EPS |K| |A|, with EPS = 2u, is four times as much.
2. S is positive definite where S - c in floats has a Cholesky factor in floats, for a c above n times the rounding of
   the factorisation, (n + 1) u trace S / (1 - (n + 1) u), and above the norm of what S may be off by
   (Rump 2006, "Verification of positive definiteness").
3. K has a negative eigenvalue where v'Kv < 0 for some v; the sum in floats is within 2 n u |v|'|K||v|.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.float_balls import TINY, FloatBalls
from obliquetd.algebra.rounding import EPS
from obliquetd.algebra.ways import Way

__all__ = ["by_lyapunov", "proved_by", "sides_between"]

Floats = npt.NDArray[Any]
WELL_SPREAD: Way[float] = 1e6
"""The product of the norms of a basis of eigenvectors and of its inverse, up to which they are trusted to be one."""


def sides_between(*ends: FloatBalls) -> list[int | None]:
    """For each k, 1 (-1) where all (not all) eigenvalues are right of the axis, for every matrix between the k-th ones.

    S is linear in A, so that where it is positive definite for two matrices it is so between them.

    Parameters
    ----------
    *ends : FloatBalls of shape (m, n, n)

    Returns
    -------
    list of m
        None where that is open: no K that was tried serves all, or an eigenvalue is on the axis.

    Examples
    --------
    >>> A = np.array([np.diag(v) for v in ([1.0, 2.0], [1.0, -2.0], [1.0, 0.05])])
    >>> sides_between(FloatBalls(A, np.full((3, 2, 2), 0.1)))
    [1, -1, None]
    """
    middle = sum(A.middle for A in ends) / len(ends)
    found: list[int | None] = [None] * len(middle)
    finite = np.all(
        [np.isfinite(x).all(axis=(1, 2)) for A in ends for x in (A.middle, A.radius)], axis=0
    )
    waiting = np.flatnonzero(finite)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # nearly singular: K is a guess
        guesses = _Guesses(middle[waiting])
        for guess in (guesses.by_signs, guesses.by_lyapunov, guesses.balanced):
            if not len(waiting):
                break
            K, at = guess()
            part = waiting[at]
            sides = proved_by(K, [(A.middle[part], A.radius[part]) for A in ends])
            for k, side in zip(part.tolist(), sides, strict=True):
                found[k] = side
            guesses.leave(np.array([found[k] is None for k in waiting.tolist()], dtype=bool))
            waiting = waiting[[found[k] is None for k in waiting.tolist()]]
    return found


class _Guesses:
    """Guesses of K for some matrices, from their eigenvectors R and the inverse L of R: stacks, and where they belong."""

    def __init__(self, A: Floats) -> None:
        self.A = A
        try:
            self.values, self.right = np.linalg.eig(A)
        except np.linalg.LinAlgError:
            self.values = self.right = np.full(A.shape, np.nan)
            self.values = self.values[:, :, 0]
        self.left = _inverses(self.right)

    def leave(self, rest: Any) -> None:
        """Go on with some of the matrices."""
        for name in ("A", "values", "right", "left"):
            setattr(self, name, getattr(self, name)[rest])

    @property
    def _all(self) -> Any:
        return np.arange(len(self.A))

    def by_signs(self) -> tuple[Floats, Any]:
        """K = L* D L with the signs of the eigenvalues' real parts on the diagonal of D.

        In these coordinates A'K + KA is diagonal with 2 |Re lambda|: small eigenvalues are not hidden by large ones.
        """
        weighed = self._turned * np.sign(self.values.real)[:, None, :]
        return _symmetric((weighed @ self.left).real), self._all

    def by_lyapunov(self) -> tuple[Floats, Any]:
        """K with A'K + KA = 1: K = L* Y L, Y with the entries of R*R over those of conj(lambda_i) + lambda_j."""
        sums = self.values.conj()[:, :, None] + self.values[:, None, :]
        Y = np.swapaxes(self.right.conj(), 1, 2) @ self.right / sums
        return _symmetric((self._turned @ Y @ self.left).real), self._all

    def balanced(self) -> tuple[Floats, Any]:
        """The same by Schur vectors, in coordinates that balance A, where eigenvectors are nearly dependent."""
        size = np.linalg.norm(self.right, axis=(1, 2)) * np.linalg.norm(self.left, axis=(1, 2))
        at = np.flatnonzero(~(size < WELL_SPREAD))
        return np.array([by_lyapunov(A) for A in self.A[at]]).reshape(-1, *self.A.shape[1:]), at

    @property
    def _turned(self) -> Floats:
        return np.swapaxes(self.left.conj(), 1, 2)


def _inverses(matrices: Floats) -> Floats:
    try:
        return np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        out = np.full_like(matrices, np.nan)
        for k, M in enumerate(matrices):
            if np.isfinite(M).all() and np.linalg.matrix_rank(M) == len(M):
                out[k] = np.linalg.inv(M)
        return out


def _symmetric(K: Floats) -> Floats:
    return (K + np.swapaxes(K, 1, 2)) / 2


def by_lyapunov(A: Floats) -> Floats:
    """K with A'K + KA = 1 but for rounding, in coordinates that balance A; not finite where there is none."""
    from scipy.linalg import matrix_balance, solve_continuous_lyapunov

    try:
        B, (scale, _) = matrix_balance(A, permute=False, separate=True)
        K = solve_continuous_lyapunov(B.T, np.eye(len(A)))
    except (np.linalg.LinAlgError, ValueError):
        return np.full_like(A, np.nan)
    return np.asarray((K + K.T) / scale[:, None] / scale[None, :])


def proved_by(K: Floats, matrices: list[tuple[Floats, Floats]]) -> list[int | None]:
    """What symmetric K prove of the matrices within radii of some, all of shape (m, n, n): 1, -1 or None.

    Examples
    --------
    >>> one = np.ones((1, 1, 1))
    >>> [proved_by(one, [(A, one / 2)]) for A in (one, -one)], proved_by(-one, [(-one, one / 2)])
    ([[1], [None]], [-1])
    """
    n = K.shape[-1]
    size = np.abs(K)
    proved: Any = np.isfinite(K).all(axis=(1, 2))
    for A, radius in matrices:
        product = K @ A
        off = 2 * n * EPS * (size @ np.abs(A)) + size @ radius * (1 + 2 * n * EPS) + n * TINY
        S = product + np.swapaxes(product, 1, 2)
        spread = (off + np.swapaxes(off, 1, 2)) * (1 + 4 * EPS) + EPS * np.abs(S)
        proved = _positive(S, spread, proved)
    positive = _positive(K, np.zeros_like(K), proved)
    return [
        1 if positive[k] else -1 if proved[k] and _has_negative(K[k]) else None
        for k in range(len(K))
    ]


def _has_negative(K: Floats) -> bool:
    v = np.linalg.eigh(K)[1][:, 0]
    bound = 4 * len(K) * EPS * (np.abs(v) @ np.abs(K) @ np.abs(v)) + TINY
    return bool(v @ K @ v + bound < 0)


def _positive(S: Floats, radius: Floats, wanted: Any) -> Any:
    """Which of the wanted are proved positive definite with all symmetric matrices within the radius."""
    from scipy.linalg.lapack import dpotrf

    n = S.shape[-1]
    sizes = np.diagonal(S, axis1=1, axis2=2)
    # powers of two near 1 / sqrt(size), which never round, so that no row hides another
    unit = np.ldexp(1.0, -np.frexp(sizes)[1] // 2)
    scale = unit[:, :, None] * unit[:, None, :]
    S, radius = S * scale, radius * scale
    c = 4 * (n + 3) * EPS * np.trace(S, axis1=1, axis2=2)
    c = c + (1 + n * n * EPS) * np.sqrt((radius * radius).sum(axis=(1, 2))) * 1.001
    shifted = S - c[:, None, None] * np.eye(n)
    found = wanted & (sizes > 0).all(axis=1) & np.isfinite(shifted).all(axis=(1, 2))
    for k in np.flatnonzero(found).tolist():
        factor, failed = dpotrf(shifted[k], lower=1, clean=0)
        found[k] = not failed and np.isfinite(factor.diagonal()).all()
    return found
