"""The step size at which second moments cease to be stable, by a chain of certificates, in floats.

T(alpha) = T_0 + alpha T_1 + alpha^2 T_2 maps positive semidefinite matrices, one for each state, to such.
Its radius is below 1 if and only if X - T(alpha) X = I has a positive definite solution, and X still
proves that at alpha + delta as long as

I - delta (T_1 + 2 alpha T_2) X - delta^2 T_2 X > 0.

So each X certifies a whole interval. From a step size below which there is no root at all, by the norm of
the pencil N (:mod:`obliquetd.dynamics.float_step_size`), intervals are joined until one step size fails, and
between the two the root of 1 / trace X, which changes its sign there, is found by bracketing. It counts
where the trace has a pole there: near a singular matrix of features its sign changes by rounding, too. A linear
system and the eigenvalues of small blocks take the place of the eigenvalues of a matrix of twice the size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.ways import Way

__all__ = ["first_root"]

STEPS = 100
"""Certificates after which the chain is given up."""
WITHIN = 0.995
"""The certificate's interval is used up to this part of it."""
NEAR = 0.99
"""The chain ends where it has come so near to the root."""
CLOSE = 1e-6
"""A distance from the root, relative to it, at which a certificate and a pole are asked for."""
Floats = npt.NDArray[np.float64]


def first_root(T: Sequence[Floats], N: Sequence[Floats], m: int) -> Way[float | None]:
    """The smallest alpha > 0 at which the radius of T(alpha) is 1; None where the chain does not reach it.

    Parameters
    ----------
    T : three arrays, (n k, n k)
        On the upper halves of symmetric matrices, k = m (m + 1) / 2, as ``np.triu_indices`` has them.
    N : three arrays, (n k, n k)
        The pencil N_0 + alpha N_1 + alpha^2 N_2 with the roots of 1 - T(alpha) but 0.
    m : int
    """
    from scipy.optimize import brentq

    moments = _Moments(T, m)
    reached = _below_all_roots(*N)
    failing = math.inf
    root = math.nan
    for _ in range(STEPS):
        step = moments.certified(reached)
        if step is None:
            return None
        reached += WITHIN * step
        if failing == math.inf:
            ahead = 2 * reached
            if moments.certified(ahead) is None:
                failing = ahead
            continue
        if math.isnan(root):
            middle = (reached + failing) / 2
            if moments.certified(middle) is None:
                failing = middle
            if moments.trace(reached) > 0 > moments.trace(failing):
                root, found = brentq(
                    lambda a: 1 / moments.trace(a), reached, failing,
                    xtol=1e-300, rtol=1e-13, full_output=True, disp=False,
                )  # fmt: skip
                if not (found.converged and moments.has_pole(root)):
                    return None
        elif reached >= NEAR * root:
            return root if moments.certified(root * (1 - CLOSE)) is not None else None
        elif reached > root:
            return None
    return None


class _Moments:
    """X(alpha) with X - T(alpha) X = I."""

    def __init__(self, T: Sequence[Floats], m: int) -> None:
        self.T, self.m = T, m
        self.i, self.j = np.triu_indices(m)
        self.groups = len(T[0]) // len(self.i)
        self.identity = np.tile((self.i == self.j).astype(float), self.groups)

    def solution(self, alpha: float) -> Floats:
        """X as upper halves."""
        T0, T1, T2 = self.T
        system = np.eye(len(T0)) - T0 - alpha * T1 - alpha**2 * T2
        return np.linalg.solve(system, self.identity)

    def trace(self, alpha: float) -> float:
        """The sum of the traces; infinite at a root."""
        try:
            return float(self.identity @ self.solution(alpha))
        except np.linalg.LinAlgError:
            return math.inf

    def has_pole(self, root: float) -> bool:
        """Whether the trace grows towards a root as a simple pole does, ten times in a tenth of the way.

        Rounding changes signs without that; and of a pole of higher order few digits are known.
        """
        near, far = (
            [self.trace(root * (1 + side * times * CLOSE)) for side in (-1, 1)] for times in (1, 10)
        )
        return all(5 * abs(f) < abs(n) < 20 * abs(f) for n, f in zip(near, far, strict=True))

    def blocks(self, halves: Floats) -> Floats:
        """Symmetric matrices from their halves."""
        out = np.empty((self.groups, self.m, self.m))
        out[:, self.i, self.j] = out[:, self.j, self.i] = halves.reshape(self.groups, -1)
        return out

    def certified(self, alpha: float) -> float | None:
        """How far beyond alpha its X proves stability; None where it is not positive definite."""
        try:
            x = self.solution(alpha)
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(x).all() or np.linalg.eigvalsh(self.blocks(x)).min() <= 0:
            return None
        _, T1, T2 = self.T
        bent = T2 @ x
        first, second = (
            np.linalg.eigvalsh(self.blocks(v)).max(axis=1)
            for v in (T1 @ x + 2 * alpha * bent, bent)
        )
        below = first + np.sqrt(first**2 + 4 * np.maximum(second, 0))
        return float((2 / below[below > 0]).min(initial=math.inf)) if (below > 0).any() else None


def _below_all_roots(N0: Floats, N1: Floats, N2: Floats) -> float:
    """An alpha > 0 below which N_0 + alpha N_1 + alpha^2 N_2 is regular: a N_1' + a^2 N_2' has norm below 1."""
    X: Any = np.linalg.solve(N0, np.hstack([N1, N2]))
    a, b = (float(np.abs(part).sum(axis=1).max()) for part in np.hsplit(X, 2))
    return WITHIN * 2 / (a + math.sqrt(a * a + 4 * b))
