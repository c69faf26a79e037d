"""How an array of floats is kept: dense, or sparse where it is large and mostly zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.ways import Way
from obliquetd.errors import SizeError

__all__ = [
    "SPARSE_FROM",
    "compact",
    "dense_array",
    "gathered",
    "is_compact",
    "listed",
    "most_at_one_place",
    "placed",
    "row_sizes",
    "row_sums",
    "trimmed",
    "unit_array",
    "worth_keeping_sparse",
]

SPARSE_FROM: Way[int] = 512
"""Square matrices from this size on are sparse where under a tenth is filled."""
LARGEST_DENSE = 50_000_000
"""Entries of a dense matrix that may come out of sparse input (400 MB)."""


def dense_array(array: Any) -> npt.NDArray[np.float64]:
    """The same entries as a numpy array.

    Raises
    ------
    SizeError
        Where it was sparse, and this would fill the memory.
    """
    if isinstance(array, np.ndarray):
        return array
    m, n = array.shape
    if m * n > LARGEST_DENSE:
        raise SizeError(
            f"a dense {m} by {n} matrix takes {8 * m * n:,} bytes; ask for the products you "
            "need (v_pi, xi, best, fixed points) in place of the matrix"
        )
    return array.toarray()  # type: ignore[no-any-return]


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


def most_at_one_place(shape: tuple[int, int], rows: Any, columns: Any) -> int:
    """How many entries :func:`gathered` adds up at one place, at most.

    Examples
    --------
    >>> most_at_one_place((2, 2), np.array([0, 1, 1]), np.array([0, 1, 1]))
    2
    """
    places = np.sort(rows.astype(np.int64) * shape[1] + columns)
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    return int(np.diff(starts, append=len(places)).max(initial=1))


def placed(values: npt.NDArray[Any], places: Any, n: int) -> npt.NDArray[Any]:
    """An array of n rows that has the given ones at these places, and zeros."""
    full = np.zeros((n, values.shape[1]))
    full[np.asarray(places, dtype=np.intp)] = values
    return full


def row_sums(array: Any) -> npt.NDArray[Any]:
    """The sums of rows, dense or sparse, as a column."""
    return np.asarray(array.sum(axis=1)).reshape(-1, 1)


def row_sizes(array: Any) -> npt.NDArray[Any]:
    """The largest absolute value of each row, dense or sparse."""
    largest = abs(array).max(axis=1)
    found = largest if isinstance(largest, np.ndarray) else largest.toarray()
    return np.asarray(found).ravel()


def trimmed(array: Any) -> Any:
    """The array in the memory that it needs: scipy leaves sums of sparse ones in what they might have taken."""
    if isinstance(array, np.ndarray):
        return array
    whole = array.data.base
    return array if whole is None or whole.size <= array.data.size else array.copy()


def compact(matrix: Any) -> Any:
    """A CSR array with its entries in order, in little memory: read-only, in short indices where they fit.

    Where all entries are one number, they are kept as one. The entries of each row have to be in order.

    Examples
    --------
    >>> import scipy.sparse as sparse
    >>> compact(sparse.csr_array(np.eye(3))).data.strides
    (0,)
    """
    import scipy.sparse as sparse

    data = matrix.data
    if len(data) and (data == data[0]).all():
        one = np.array(data[0])
        one.flags.writeable = False
        data = np.broadcast_to(one, data.shape)
    fits = max(*matrix.shape, matrix.nnz) <= np.iinfo(np.int32).max
    kind = np.int32 if fits else np.int64
    indices, indptr = (x.astype(kind, copy=False) for x in (matrix.indices, matrix.indptr))
    for part in (data, indices, indptr):
        part.flags.writeable = False
    found = sparse.csr_array((data, indices, indptr), matrix.shape)
    found.has_canonical_format = True
    return found


def is_compact(matrix: Any) -> bool:
    """Whether it is such an array, of numbers that nobody can change, and of no zero."""
    return (
        matrix.format == "csr"
        and matrix.dtype == float
        and all(_fixed(part) for part in (matrix.data, matrix.indices, matrix.indptr))
        and matrix.has_canonical_format
        and bool((matrix.data[:1] if matrix.data.strides == (0,) else matrix.data).all())
    )


def _fixed(part: Any) -> bool:
    """Whether neither an array nor any that it is a view of can be written."""
    while isinstance(part, np.ndarray):
        if part.flags.writeable:
            return False
        part = part.base
    return part is None
