"""A chain watched on fewer and fewer of its states: the elimination of Grassmann, Taksar and Heyman (1985)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.ways import Way

__all__ = ["watched"]

Floats = npt.NDArray[Any]

AT_ONCE: Way[int] = 16
"""States that the elimination takes together."""


def watched(P: Floats) -> tuple[Floats, Floats]:
    """Eliminate state after state but the first, keeping the chain watched on the states that remain.

    The moves among the states before a block are brought up to date once for its states together, by a matrix
    product. Nothing is subtracted, so that the order of the sums is no matter for their digits.

    Parameters
    ----------
    P : array (n, n)
        Entries of 0 and more, of which the diagonal is not asked.

    Returns
    -------
    found : array (n, n)
        Below the diagonal, the moves of each state to those before it, when it was eliminated; above, those of
        the states before it to it, each over what leaves it.
    leaving : array (n,)
        The sum of the moves of each state to those before it.
    """
    found = np.array(P, dtype=float)
    n = len(found)
    leaving = np.zeros(n)
    for end in range(n, 0, -AT_ONCE):
        begin = max(end - AT_ONCE, 0)
        rows, columns = found[begin:end, :end], found[:begin, begin:end]
        for k in range(end - 1, max(begin, 1) - 1, -1):
            j, moves = k - begin, found[k, :k]
            leaving[k] = moves.sum()
            found[:k, k] /= leaving[k]  # in place of 1 - P(k, k), without subtraction
            rows[:j, :k] += rows[:j, k, None] * moves
            if begin:
                columns[:, :j] += columns[:, j, None] * moves[begin:]
        if begin:
            found[:begin, :begin] += columns @ rows[:, :begin]
    return found, leaving
