"""The stationary distribution of an irreducible chain, for each kind of number."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.floating import FloatMatrix, SolveReport
from obliquetd.algebra.matrix import Matrix

__all__ = ["stationary"]


def stationary(P: Matrix) -> Matrix:
    """The probability vector xi with xi' P = xi', for an irreducible P.

    Exact and symbolic: with xi(k) = 1 at a reference state k, the others solve
    (I - P_RR)' x = P_kR', and the whole is divided by its sum. Dense floats: the
    elimination of Grassmann, Taksar and Heyman (1985), which never subtracts, so that
    every entry is accurate in relative terms however rare the transition. Sparse
    floats: the same elimination on sparse rows, and where that fills in too much the
    same system as the exact one by sparse LU, with a warning where digits are lost.

    Parameters
    ----------
    P : Matrix of shape (n, n)
        Irreducible and stochastic; may be periodic.

    Returns
    -------
    Matrix of shape (n, 1)
    """
    if isinstance(P, FloatMatrix):
        xi, condition = _sparse(P.array) if P.sparse else (_dense(P.array), 1.0)
        gap = np.abs(P.array.T @ xi - xi).max()
        return FloatMatrix(xi.reshape(-1, 1), SolveReport(float(gap / xi.max()), condition))
    n = P.shape[0]
    others = range(n - 1)
    arithmetic = P.arithmetic
    inner = arithmetic.identity(n - 1) - P.submatrix(others, others)
    x = inner.T.solve(P.submatrix([n - 1], others).T, "I - P without its last state")
    weights = [*x.entries(), arithmetic.one]
    total = sum(weights, arithmetic.zero)
    return arithmetic.column([w / total for w in weights])


def _dense(P: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Grassmann, Taksar and Heyman: eliminate state after state, keeping the chain watched on the states that remain."""
    watched = np.array(P, dtype=float)
    n = len(watched)
    for k in range(n - 1, 0, -1):
        watched[:k, k] /= watched[k, :k].sum()  # in place of 1 - P(k, k), without subtraction
        watched[:k, :k] += np.outer(watched[:k, k], watched[k, :k])
    xi = np.empty(n)
    xi[0] = 1.0
    for k in range(1, n):
        xi[k] = xi[:k] @ watched[:k, k]
    return xi / xi.sum()  # type: ignore[no-any-return]


def _sparse(P: Any) -> tuple[npt.NDArray[Any], float]:
    """The distribution and a condition number (1 where no subtraction was needed)."""
    xi = _sparse_elimination(P)
    if xi is not None:
        return xi, 1.0
    n = P.shape[0]
    inner = (sparse_identity(n) - FloatMatrix(P)).submatrix(range(n - 1), range(n - 1))
    right = FloatMatrix(P[[n - 1], : n - 1].toarray().reshape(-1, 1))
    solved = inner.T.solve(right, "I - P without its last state")
    xi = np.append(solved.array.ravel(), 1.0)
    return xi / xi.sum(), solved.report.condition


def sparse_identity(n: int) -> FloatMatrix:
    """The identity in sparse form whatever its size."""
    import scipy.sparse as sparse

    return FloatMatrix(sparse.csr_array(sparse.eye_array(n)))


MOST_UPDATES = 2_000_000
"""Fill-in that the sparse elimination may cause before sparse LU takes over."""


def _sparse_elimination(P: Any) -> npt.NDArray[Any] | None:
    """Grassmann, Taksar and Heyman on rows of dictionaries, cheapest state first.

    Eliminating k adds p(i,k) p(k,j) / (sum of p(k, .) elsewhere) to every pair of a
    predecessor i and a successor j. None where the fill-in passes :data:`MOST_UPDATES`.
    """
    coo = P.tocoo()
    n = P.shape[0]
    out: list[dict[int, float]] = [{} for _ in range(n)]
    into: list[set[int]] = [set() for _ in range(n)]
    for i, j, p in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True):
        if i != j and p:
            out[i][j] = p
            into[j].add(i)
    queue = [(len(into[k]) * len(out[k]), k) for k in range(n)]
    heapq.heapify(queue)
    eliminated: list[tuple[int, dict[int, float]]] = []
    gone = bytearray(n)
    updates = 0
    while len(eliminated) < n - 1:
        cost, k = heapq.heappop(queue)
        now = len(into[k]) * len(out[k])
        if gone[k] or cost != now:
            if not gone[k]:
                heapq.heappush(queue, (now, k))
            continue
        updates += now
        if updates > MOST_UPDATES:
            return None
        gone[k] = 1
        leaving = sum(out[k].values())
        shares: dict[int, float] = {}
        for i in into[k]:
            share = shares[i] = out[i].pop(k) / leaving
            for j, p in out[k].items():
                if j != i:
                    out[i][j] = out[i].get(j, 0.0) + share * p
                    into[j].add(i)
        for j in out[k]:
            into[j].discard(k)
        eliminated.append((k, shares))
    xi = np.zeros(n)
    xi[gone.index(0)] = 1.0
    for k, shares in reversed(eliminated):
        xi[k] = sum(xi[i] * share for i, share in shares.items())
    return xi / xi.sum()  # type: ignore[no-any-return]
