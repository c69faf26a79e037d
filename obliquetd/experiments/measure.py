"""The errors of many weight vectors at once.

With W = Xi^1/2 Phi = U S V' (the thin singular value decomposition, zero singular values left
out), C^-1/2 = S^-1 V' on the row space of Phi, and

    RMSE^2    = ||U' W theta - U' Xi^1/2 v||^2 + ||(I - U U') Xi^1/2 v||^2
    RMSPBE^2  = (b - A theta)' C^+ (b - A theta) = ||S^-1 V' (b - A theta)||^2

(the paper's Section V; A = Phi' Xi L_pi Phi and b = Phi' Xi r_pi, both under the target
policy), so that an error costs rank(Phi) inner products of length d. From a model, S^-1 V' A is
U' Xi^1/2 L_pi Phi, and A is not made. Of sparse features, whose U would be
dense, ||W theta - Xi^1/2 v|| is taken as it is; and U U' = I - N N' for an orthonormal basis N of
the N'W = 0, so that RMSPBE = ||(I - N N') Xi^1/2 (r_pi - L_pi Phi theta)||, whose other matrices are
sparse as well. Where the rows of W are independent, N has no column.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.experiments.streams import dense, floating, stored
from obliquetd.problem import PolicyEvaluation

__all__ = ["ErrorMeasure"]

Floats = npt.NDArray[np.float64]

MOST_ROWS = 4_000
"""Visited states up to which their sparse features are tested for dependence."""
SURE = 1e-9
"""The least eigenvalue of normalised rows' inner products that rounding cannot make of 0."""
NONE = 1e-15
"""For each row or column, how far rounding lets N'W be from 0, the rows of length 1."""
APART = 1e-4
"""The least that is not 0 beside those that are, so that the space of the latter has its digits."""


@dataclass(frozen=True, eq=False)
class ErrorMeasure:
    """RMSE and RMSPBE of rows of weights: both are distances ||M theta - q|| plus a constant.

    Attributes
    ----------
    maps : two arrays (r, d)
        M for the value error and for the projected Bellman error.
    targets : two arrays (r,)
        q of each.
    floor : float
        The squared value error that no weights remove.
    beyond : array (r, k)
        N of the projected Bellman error: what is along its orthonormal columns is taken away.
    """

    maps: tuple[Any, Any]
    targets: tuple[Floats, Floats]
    floor: float
    beyond: Floats | None = None

    @property
    def width(self) -> int:
        """The number of features."""
        return int(self.maps[0].shape[1])

    @classmethod
    def of(cls, problem: PolicyEvaluation) -> ErrorMeasure:
        """The errors of a problem, from its model."""
        ops = floating(problem)
        xi, v = np.array(ops.xi.entries()), dense(ops.v_pi)[:, 0]
        kept = stored(ops.Phi)
        if not isinstance(kept, np.ndarray):
            found = cls.of_sparse(kept, stored(ops.Lambda), xi, dense(ops.r_pi)[:, 0], v)
            if found is not None:
                return found
        root = np.sqrt(xi)
        W = root[:, None] * dense(ops.Phi)
        U, _, _ = _thin(W)
        best = U.T @ (root * v)
        rest = root * v - U @ best
        # S^-1 V' A = U' Xi^1/2 L_pi Phi: no matrix (d, d), which may be far larger than Phi
        maps = U.T @ W, U.T @ (root[:, None] * dense(ops.Lambda))
        projected = U.T @ (root * dense(ops.r_pi)[:, 0])
        return cls(maps, (best, projected), float(rest @ rest))

    @classmethod
    def of_sparse(
        cls, Phi: Any, Lambda: Any, xi: Floats, r: Floats, v: Floats
    ) -> ErrorMeasure | None:
        """Without a matrix as large as dense features; None where rows depend in many ways, or nearly.

        With weights w, and states with the same features in one group g, Pi averages over a group:
        RMSPBE^2 is the sum over groups of (the sum of w delta in g)^2 / (the sum of w in g).
        """
        import scipy.sparse as sparse

        visited = np.flatnonzero(xi)
        root = np.sqrt(xi[visited])
        rows = sparse.csr_array(Phi)[visited]
        first, group = _groups(rows)
        weights, places = xi[visited], np.arange(len(visited))
        total = np.bincount(group, weights)
        beyond = _beyond(rows[first], np.sqrt(total))
        if beyond is None:
            return None
        mean = sparse.csr_array((weights / np.sqrt(total)[group], (group, places)))
        maps = (sparse.diags_array(root) @ rows, mean @ sparse.csr_array(Lambda)[visited])
        targets = root * v[visited], mean @ r[visited]
        sparse_maps = maps[0].tocsr(), maps[1].tocsr()
        return cls(sparse_maps, targets, 0.0, beyond if beyond.shape[1] else None)

    @classmethod
    def from_arrays(cls, Phi: Floats, xi: Floats, v: Floats, A: Floats, b: Floats) -> ErrorMeasure:
        """From features (m, d) of weighted states, their values, and A and b of TD."""
        root = np.sqrt(xi)
        W = root[:, None] * Phi
        U, s, Vt = _thin(W)
        half = Vt / s[:, None]
        best = U.T @ (root * v)
        rest = root * v - U @ best
        return cls((U.T @ W, half @ A), (best, half @ b), float(rest @ rest))

    def __call__(self, record: Floats) -> tuple[Floats, Floats]:
        """RMSE and RMSPBE of each row of ``record``, (k, d); infinite only beyond all floats."""
        value, projected = (
            _distances(record, M, q, N)
            for M, q, N in zip(self.maps, self.targets, (None, self.beyond), strict=True)
        )
        return np.hypot(value, np.sqrt(self.floor)), projected


def _thin(W: Floats) -> tuple[Floats, Floats, Floats]:
    """The thin singular value decomposition, without the singular values that are zero."""
    U, s, Vt = np.linalg.svd(W, full_matrices=False)
    rank = int((s > s[0] * max(W.shape) * np.finfo(float).eps).sum())
    return U[:, :rank], s[:rank], Vt[:rank]


def _groups(rows: Any) -> tuple[Any, Any]:
    """The first of the rows that are the same, and for each row the number of its group."""
    rows.sort_indices()
    names: dict[bytes, int] = {}
    first: list[int] = []
    group = np.empty(rows.shape[0], dtype=np.intp)
    for i, (a, b) in enumerate(itertools.pairwise(rows.indptr.tolist())):
        row = rows.indices[a:b].tobytes() + rows.data[a:b].tobytes()
        if row not in names:
            names[row] = len(first)
            first.append(i)
        group[i] = names[row]
    return first, group


def _beyond(rows: Any, root: Floats) -> Floats | None:
    """An orthonormal basis N of the vectors with N'W = 0, W the rows times ``root``; None where it is not sure.

    It comes from rows of length 1, and is turned into that of W: N = root^-1 length^-1 N_1, made
    orthonormal.
    """
    import scipy.sparse as sparse

    count, columns = rows.shape
    if count > MOST_ROWS:
        return None
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    lengths[lengths == 0] = 1.0
    unit = sparse.diags_array(1 / lengths) @ rows
    gram = (unit @ unit.T).toarray()
    values = np.linalg.eigvalsh(gram)
    lost = int((values <= SURE).sum())
    if not lost:
        return np.zeros((count, 0))
    if 2 * lost > columns or (lost < count and values[lost] < APART):
        return None  # the matrices of a dense decomposition are smaller, or more exact
    found = np.linalg.eigh(gram)[1][:, :lost]
    if np.abs(unit.T @ found).max(initial=0.0) > NONE * max(rows.shape):
        return None  # rows that are nearly dependent: the squares in gram have lost what is between
    basis: Floats = np.linalg.qr(found / (root * lengths)[:, None])[0]
    return basis


def _distances(record: Floats, M: Any, q: Floats, beyond: Floats | None = None) -> Floats:
    """||(I - N N') (M theta - q)|| of each row theta."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        gap = record @ M.T
        gap -= q
        if beyond is not None:
            gap -= (gap @ beyond) @ beyond.T
        squares = np.einsum("kr,kr->k", gap, gap)
        lengths: Floats = np.sqrt(squares)
        far = ~((squares > 1e-290) & (squares < 1e300))
        if far.any():  # squares leave the range of floats before lengths do
            size = np.maximum(np.abs(record[far]).max(axis=1, initial=0), np.abs(q).max(initial=0))
            size[size == 0] = 1.0
            gap = record[far] / size[:, None] @ M.T - q / size[:, None]
            if beyond is not None:
                gap -= (gap @ beyond) @ beyond.T
            most = np.abs(gap).max(axis=1, initial=0)
            most[most == 0] = 1.0
            gap /= most[:, None]
            lengths[far] = np.sqrt(np.einsum("kr,kr->k", gap, gap)) * most * size
    return lengths
