"""A proof in floats that a map of second moments has a spectral radius below one, or not.

T X = sum of w M X M', into each group t from its s, maps positive semidefinite matrices, one a group, to such. With
X - T X = I + R for whatever X floats came to, and |R| <= 1/2 for all that rounding and the errors of M may do to R,

X positive definite: X - T X >= I / 2, and the radius is below 1;
X with a negative eigenvalue: were the radius below 1, X = (1 - T)^-1 (I + R) >= (1 - T)^-1 I / 2 > 0, so it is not.

No eigenvalue of T is asked, and none as near to 1 as slow weights leave them has to be told from it: X is as large
as they are slow, and the rounding of R grows with it, until nothing is proved.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.rounding import EPS

__all__ = ["Maps", "proved_side"]

Floats = npt.NDArray[np.float64]


class Maps:
    """1 + alpha G from group s to group t with a weight, many of them, with bounds on the errors.

    Parameters
    ----------
    s, t : sequences of int
    weights, G : arrays (k), (k, m, m)
    weight_errors, G_errors : arrays of these shapes
    """

    def __init__(
        self,
        s: Sequence[int],
        t: Sequence[int],
        weights: Floats,
        G: Floats,
        weight_errors: Floats,
        G_errors: Floats,
    ) -> None:
        self.s, self.t = list(s), list(t)
        self.w, self.w_errors = (x[:, None, None] for x in (weights, weight_errors))
        self.G, self.G_errors = G, G_errors

    def _gathered(self, parts: Floats, groups: int) -> Floats:
        out = np.zeros((groups, *parts.shape[1:]))
        np.add.at(out, self.t, parts)
        return out

    def missed(self, alpha: float, X: Floats) -> Floats:
        """A bound on the Frobenius norm of R in each group."""
        groups, m = X.shape[:2]
        one = np.eye(m)
        moved = alpha * self.G
        M = one + moved
        off = alpha * self.G_errors + EPS * (np.abs(moved) + np.abs(M))
        here, size = X[self.s], np.abs(X)[self.s]
        images = self._gathered(self.w * (M @ here @ M.transpose(0, 2, 1)), groups)
        A, above = np.abs(M), np.abs(M) + off
        plain = A @ size @ A.transpose(0, 2, 1)
        spread = above @ size @ above.transpose(0, 2, 1) - plain
        rounded = EPS * (2 * m + len(self.t) + 8) * plain
        doubt = self.w * (spread + rounded) + self.w_errors * (plain + spread)
        R = np.abs(X - images - one) + 4 * EPS * (np.abs(X) + np.abs(images) + one)
        total = R + self._gathered(doubt, groups) * (1 + 1e-6)
        return np.asarray(np.sqrt((total * total).sum(axis=(1, 2))))


def proved_side(maps: Maps, alpha: float, X: Floats) -> int:
    """1 (-1) where the radius is surely below (not below) one at a step size; 0 where X proves neither.

    Examples
    --------
    >>> zero = np.zeros((1, 1, 1))
    >>> maps = Maps([0], [0], np.ones(1), zero - 1, np.zeros(1), zero)
    >>> [proved_side(maps, alpha, zero + 1 / (1 - (1 - alpha) ** 2)) for alpha in (0.5, 1.9, 2.1)]
    [1, 1, -1]
    """
    if not np.isfinite(X).all() or not (maps.missed(alpha, X) <= 0.5).all():
        return 0
    values = np.linalg.eigvalsh(X)
    rounded = 10 * X.shape[1] * EPS * np.abs(values).max(axis=1)
    least = values[:, 0]
    if (least > rounded).all():
        return 1
    return -1 if (least < -rounded).any() else 0
