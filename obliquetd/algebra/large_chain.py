"""The stationary distribution of a large sparse chain, by elimination in a band or by walking.

Which of the two is told by the bandwidth after reordering. A chain whose moves reach no further
than some b states keeps that shape when states are eliminated, in n b^2 operations, none of them a
subtraction: every weight has its digits however slowly the chain mixes. A chain of far moves
fills in, but mixes fast as a rule, and then a walk is as good: its steps do not subtract either,
and how much of their rounding stays is measured beside it (:func:`walked`).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.rounding import EPS
from obliquetd.algebra.ways import Way

__all__ = ["eliminated", "walked"]

Array = npt.NDArray[Any]

MOST_OPERATIONS: Way[float] = 2e10
"""Operations of an elimination in a band: some 20 s."""
MOST_ENTRIES: Way[float] = 5e7
"""Entries of a band (400 MB)."""
MOST_STEPS: Way[int] = 1_000
"""Steps after which a walk is given up."""
REST = 0.1
"""The chance to stay, mixed into each step, so that a periodic chain settles too."""
SETTLED = 4.0
"""Relative change of a weight in a step, in units of EPS, that its rounding alone makes."""
FORGOTTEN = 1e-13
"""What may remain of a difference between two walks."""


def eliminated(P: Any, order: Array, reach: int) -> Way[Array | None]:
    """Grassmann, Taksar and Heyman in the band ``|i - j| <= reach`` of the reordered chain.

    None where that takes too long, too much memory, or a product leaves the range of floats.
    """
    n = P.shape[0]
    if n * reach**2 > MOST_OPERATIONS or n * (2 * reach + 1) > MOST_ENTRIES:
        return None
    entries = P.tocoo()
    place = np.empty(n, dtype=np.int64)
    for turned in (
        order,
        order[::-1],
    ):  # from its rare end, a chain keeps within the range of floats
        place[turned] = np.arange(n)
        i, j = place[entries.row], place[entries.col]
        band = np.zeros((n, 2 * reach + 1))
        np.add.at(band, (i, j - i + reach), entries.data)
        weights, exponents = _compiled()(band)
        if np.isfinite(weights).all() and (weights > 0).all():
            below = np.maximum(exponents - exponents.max(), -2000).astype(np.int32)
            scaled = np.ldexp(weights, below)
            return np.asarray((scaled / scaled.sum())[place])
    return None


@cache
def _compiled() -> Any:
    """:func:`_eliminate`, compiled when it is first asked for."""
    import numba

    return numba.njit(nogil=True, error_model="numpy")(_eliminate)


def _eliminate(band: Any) -> Any:
    """Weights as mantissas and exponents, which may lie further apart than floats reach.

    ``band[i, j - i + b]`` is P(i, j). Eliminating k leaves the chain watched on the states before.
    """
    n, width = band.shape
    b = width // 2
    for k in range(n - 1, 0, -1):
        first = max(0, k - b)
        leaving = 0.0
        for j in range(first, k):
            leaving += band[k, j - k + b]
        for i in range(first, k):
            share = band[i, k - i + b] / leaving
            band[i, k - i + b] = share
            if share > 0.0:
                for j in range(first, k):
                    band[i, j - i + b] += share * band[k, j - k + b]
    weights, exponents = np.zeros(n), np.zeros(n, dtype=np.int64)
    weights[0] = 1.0
    for k in range(1, n):
        first = max(0, k - b)
        top, total = -(2**60), 0.0
        for i in range(first, k):
            if band[i, k - i + b] > 0.0:
                top = max(top, exponents[i])
        for i in range(first, k):
            if band[i, k - i + b] > 0.0:
                total += weights[i] * 2.0 ** max(exponents[i] - top, -1100) * band[i, k - i + b]
        power = max(-1000, min(1000, int(np.floor(np.log2(total))))) if total > 0.0 else 0
        total *= 2.0**-power
        weights[k], exponents[k] = total, top + power
    return weights, exponents


def walked(P: Any) -> Way[tuple[Array, float] | None]:
    """xi by steps x <- x P, and how often the rounding of one step counts in the end.

    Beside the walk x goes a random difference e of two walks, e <- e P with sum 0. The ratios e / x
    of one step are averages of those before, so the largest never grows; the sum of the largest over
    all steps, over the first, estimates what becomes of relative errors made on the way (the norm of
    the deviation matrix). The start is random, so that no part of the chain that is hardly ever left
    can hide: there the ratios stay what they were, and the walk is given up.

    Returns
    -------
    (array, float) or None
        None where the walk has not settled after :data:`MOST_STEPS`.
    """
    import scipy.sparse as sparse

    n = P.shape[0]
    step_back = ((1 - REST) * P.T + REST * sparse.eye_array(n)).tocsr()
    both = np.empty((n, 2))
    both[:, 0] = 1.0 / n
    e = np.random.default_rng(n).uniform(-1.0, 1.0, n) / n
    both[:, 1] = e - e.mean()
    x = both[:, 0]
    first = float(np.abs(both[:, 1] / x).max())
    counted, change = 0.0, math.inf
    for step in range(MOST_STEPS):
        both = step_back @ both
        following, e = both[:, 0], both[:, 1]
        following /= following.sum()
        e -= e.sum() / n
        if not (following > 0).all():
            return None
        change = float(np.abs(following - x).max() if step < 3 else np.abs(following / x - 1).max())
        x = following
        left = float(np.abs(e / x).max()) / first
        counted += left
        if left <= FORGOTTEN and change <= SETTLED * EPS:
            return x.copy(), 1.0 + 2.0 * counted
        if step == 200 and left > 0.5:  # a walk that long could not settle in time
            return None
    return None
