"""The stationary distribution of an irreducible chain, for each kind of number."""

from __future__ import annotations

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
    floats: the same system as the exact one, by sparse LU with diagonal pivots.

    Parameters
    ----------
    P : Matrix of shape (n, n)
        Irreducible and stochastic; may be periodic.

    Returns
    -------
    Matrix of shape (n, 1)
    """
    if P.shape[0] == 1:
        return P.arithmetic.column([P.arithmetic.one])
    if isinstance(P, FloatMatrix):
        xi = _sparse(P.array) if P.sparse else _grassmann_taksar_heyman(P.array)
        gap = np.abs(P.array.T @ xi - xi).max()
        return FloatMatrix(xi.reshape(-1, 1), SolveReport(float(gap / xi.max()), 1.0))
    n = P.shape[0]
    others = range(n - 1)
    arithmetic = P.arithmetic
    inner = arithmetic.identity(n - 1) - P.submatrix(others, others)
    x = inner.T.solve(P.submatrix([n - 1], others).T, "I - P without its last state")
    weights = [*x.entries(), arithmetic.one]
    total = sum(weights, arithmetic.zero)
    return arithmetic.column([w / total for w in weights])


def _grassmann_taksar_heyman(P: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Eliminate state after state, keeping the chain watched on the states that remain."""
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


def _sparse(P: Any) -> npt.NDArray[Any]:
    import scipy.sparse as sparse
    import scipy.sparse.linalg as linalg

    n = P.shape[0]
    inner = sparse.csc_array((sparse.eye_array(n) - P).T)[: n - 1, : n - 1]
    right = np.asarray(P[[n - 1], : n - 1].toarray()).ravel()
    lu = linalg.splu(
        inner.tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    xi = np.append(lu.solve(right), 1.0)
    return xi / xi.sum()  # type: ignore[no-any-return]
