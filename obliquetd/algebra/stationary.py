"""The stationary distribution of an irreducible chain, for each kind of number."""

from __future__ import annotations

import heapq
import math
from typing import Any

import flint
import numpy as np
import numpy.typing as npt

from obliquetd.algebra.accuracy import dropped
from obliquetd.algebra.field_matrix import FieldMatrix
from obliquetd.algebra.floating import FloatMatrix, SolveReport
from obliquetd.algebra.krylov import layout
from obliquetd.algebra.large_chain import eliminated, walked
from obliquetd.algebra.matrix import Matrix
from obliquetd.algebra.rounding import EPS, NORMAL
from obliquetd.algebra.watched import watched
from obliquetd.algebra.ways import Way

__all__ = ["stationary"]


def stationary(P: Matrix) -> Matrix:
    """The probability vector xi with xi' P = xi', for an irreducible P.

    Exact and symbolic: with xi(k) = 1 at a reference state k, the others solve
    (I - P_RR)' x = P_kR', in rationals by the integers of each row
    (:func:`~obliquetd.algebra.integer_solve.stationary_by_integers`), and the whole is divided by its sum. Dense floats: the
    elimination of Grassmann, Taksar and Heyman (1985), which never subtracts, so that
    every entry is accurate in relative terms however rare the transition. Sparse
    floats: the same elimination on sparse rows, or where that would fill in too much first a walk, whose
    rounding is measured (:mod:`~obliquetd.algebra.large_chain`). At last the same system as
    the exact one by sparse LU, with a warning where digits are lost.

    Parameters
    ----------
    P : Matrix of shape (n, n)
        Irreducible and stochastic; may be periodic.

    Returns
    -------
    Matrix of shape (n, 1)
    """
    if isinstance(P, FloatMatrix):
        return _float_stationary(P)
    n = P.shape[0]
    others = range(n - 1)
    arithmetic = P.arithmetic
    by_integers = P.stationary() if isinstance(P, FieldMatrix) else None
    if by_integers is not None:
        return by_integers
    inner = arithmetic.identity(n - 1) - P.submatrix(others, others)
    x = inner.T.solve(P.submatrix([n - 1], others).T, "I - P without its last state")
    return arithmetic.column([*x.entries(), arithmetic.one]).divided_by_sum()


def _float_stationary(P: FloatMatrix) -> FloatMatrix:
    """The float routes in turn, the quick ones first; whatever comes out is finite.

    Weights of one chain may lie further apart than the range of floats (up 1/5 and down
    4/5 on 700 states: 4^-699). Where the quick elimination leaves that range, it is
    repeated with an exponent of any size, and weights below the smallest float that keeps its
    digits become 0 with a warning.
    """
    array = P.array
    condition = 1.0
    with np.errstate(all="ignore"):
        if P.sparse:
            xi, condition = _sparse(array)
        else:
            xi = _dense(array)
            if xi is not None and not _usable(xi):
                xi = _elimination(array, wide=True)
    if xi is None:
        xi, condition = _by_linear_solve(array)
    xi = dropped(xi, xi < NORMAL, "stationary weights")
    gap = np.abs(array.T @ xi - xi).max()
    n = len(xi)
    report = SolveReport(float(gap / xi.max()), condition)
    relative = (8 + 4 * math.sqrt(n)) * condition * EPS
    return FloatMatrix(xi.reshape(-1, 1), report, error=float(relative))


def _sparse(P: Any) -> tuple[npt.NDArray[Any] | None, float]:
    """xi and the condition of its computation: the bandwidth decides; None is left to a linear solve."""
    n = P.shape[0]
    order, reach = layout(P)
    if n * reach**2 <= MOST_UPDATES:
        xi = _elimination(P)
        if xi is not None and _usable(xi):
            return xi, 1.0
    if n * reach**2 <= CHEAP_BAND:
        xi = eliminated(P, order, reach)
        if xi is not None:
            return xi, 1.0
    if found := walked(P):
        return found
    if n * reach**2 > CHEAP_BAND:
        xi = eliminated(P, order, reach)
        if xi is not None:
            return xi, 1.0
    if n <= LARGEST_DENSE_CHAIN:
        xi = _dense(P.toarray())
        if _usable(xi):
            return xi, 1.0
    return None, 1.0


def _usable(xi: npt.NDArray[Any]) -> bool:
    return bool(np.isfinite(xi).all() and (xi >= NORMAL).all())


def _dense(P: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Grassmann, Taksar and Heyman on all states, which are taken back in turn."""
    found, _ = watched(P)
    n = len(found)
    xi = np.empty(n)
    xi[0] = 1.0
    for k in range(1, n):
        xi[k] = xi[:k] @ found[:k, k]
    return xi / xi.sum()  # type: ignore[no-any-return]


def _by_linear_solve(P: Any) -> tuple[npt.NDArray[Any], float]:
    """By sparse LU, with the weight of one state as the unit, and the condition of the solve.

    The unit must not be a rare state, or the other weights would leave the range of
    floats: it is the state where some steps of the chain collect most weight.
    """
    n = P.shape[0]
    walk = np.full(n, 1.0 / n)
    for _ in range(POWER_STEPS):  # half lazily, so that a periodic chain settles too
        walk = (walk + P.T @ walk) / 2
    unit = int(walk.argmax())
    others = np.flatnonzero(np.arange(n) != unit)
    inner = (sparse_identity(n) - FloatMatrix(P)).submatrix(others.tolist(), others.tolist())
    right = FloatMatrix(P[[unit]][:, others].toarray().reshape(-1, 1))
    solved = inner.T.solve(right, "I - P without one state")
    weights = np.ones(n)
    weights[others] = np.maximum(solved.array.ravel(), 0.0)  # below 0 by rounding only
    xi = weights / weights.sum()
    assert solved.report is not None
    return xi, solved.report.condition


def sparse_identity(n: int) -> FloatMatrix:
    """The identity in sparse form whatever its size."""
    import scipy.sparse as sparse

    return FloatMatrix(sparse.csr_array(sparse.eye_array(n)))


MOST_UPDATES: Way[int] = 2_000_000
"""Fill-in that the sparse elimination may cause before sparse LU takes over."""
CHEAP_BAND: Way[float] = 2e8
"""Operations of an elimination in a band up to which it is quicker than a walk."""
LARGEST_DENSE_CHAIN: Way[int] = 3_000
"""States of a slow chain of far moves up to which the dense elimination takes it (20 s)."""
POWER_STEPS = 200
"""Steps of the chain that look for a state of large weight."""


def _elimination(P: Any, *, wide: bool = False) -> npt.NDArray[Any] | None:
    """Grassmann, Taksar and Heyman on rows of dictionaries, cheapest state first.

    Eliminating k adds p(i,k) p(k,j) / (sum of p(k, .) elsewhere) to every pair of a
    predecessor i and a successor j. None where the fill-in passes :data:`MOST_UPDATES`.
    With ``wide`` the numbers have exponents of any size (FLINT's) in place of a float's.
    """
    number: Any = flint.arb if wide else float
    i_all, j_all = (x.tolist() for x in P.nonzero())
    values = P[i_all, j_all]
    n = P.shape[0]
    out: list[dict[int, Any]] = [{} for _ in range(n)]
    into: list[set[int]] = [set() for _ in range(n)]
    for i, j, p in zip(i_all, j_all, np.asarray(values).ravel().tolist(), strict=True):
        if i != j:
            out[i][j] = number(p)
            into[j].add(i)
    queue = [(len(into[k]) * len(out[k]), k) for k in range(n)]
    heapq.heapify(queue)
    eliminated: list[tuple[int, dict[int, Any]]] = []
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
        if leaving == 0:  # only where a float has underflowed
            return np.full(n, np.nan)
        shares: dict[int, Any] = {}
        for i in into[k]:
            share = shares[i] = out[i].pop(k) / leaving
            for j, p in out[k].items():
                if j != i:
                    out[i][j] = out[i].get(j, 0) + share * p
                    into[j].add(i)
        for j in out[k]:
            into[j].discard(k)
        eliminated.append((k, shares))
    weights: list[Any] = [number(0)] * n
    weights[gone.index(0)] = number(1)
    for k, shares in reversed(eliminated):
        weights[k] = sum((weights[i] * share for i, share in shares.items()), number(0))
    total = sum(weights, number(0))
    return np.array([float(w / total) for w in weights])
