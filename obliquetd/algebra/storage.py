"""How an array of floats is kept: dense, or sparse where it is large and mostly zero."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["SPARSE_FROM", "gathered", "listed", "unit_array", "worth_keeping_sparse"]

SPARSE_FROM = 512
"""Square matrices from this size on are sparse where under a tenth is filled."""


def listed(array: Any) -> list[Any]:
    """The rows of an array, dense or sparse, as lists."""
    rows: list[Any] = (array if isinstance(array, np.ndarray) else array.toarray()).tolist()
    return rows


def worth_keeping_sparse(shape: tuple[int, int], filled: int) -> bool:
    """Whether an array is large, and under a tenth of it filled."""
    return max(shape) >= SPARSE_FROM and 10 * filled <= shape[0] * shape[1]


def gathered(shape: tuple[int, int], rows: Any, columns: Any, values: Any) -> Any:
    """The array with the given entries; entries at one place are added.

    Examples
    --------
    >>> gathered((1, 2), [0, 0], [1, 1], [2.0, 3.0])
    array([[0., 5.]])
    """
    if not worth_keeping_sparse(shape, len(values)):
        flat = np.asarray(rows) * shape[1] + columns
        found = np.bincount(flat, weights=values, minlength=shape[0] * shape[1])
        return found.reshape(shape)
    import scipy.sparse as sparse

    return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape))


def unit_array(n: int) -> Any:
    """The n by n identity."""
    if n < SPARSE_FROM:
        return np.eye(n)
    import scipy.sparse as sparse

    return sparse.csr_array(sparse.eye_array(n))
