"""Products of tall float matrices, by blocks of rows: nothing on the way is as large as they are.

A million states with 32 features are 256 MB. X' L Phi is 32 by 32, but made in one piece it
leaves L Phi, |X|, |L| |Phi| and the bounds on the errors of X and L Phi behind, each of that size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.rounding import BLOCK, SMALLEST, roundings
from obliquetd.algebra.ways import Way

if TYPE_CHECKING:
    from obliquetd.algebra.floating import FloatMatrix

__all__ = [
    "blocks",
    "column_sizes",
    "crossed",
    "gram",
    "is_tall",
    "row_products",
    "rows_of_product",
]

Floats = npt.NDArray[np.float64]

ONE_THREAD: Way[int] = 2**18
"""Multiplications in a product of matrices up to which a BLAS takes one thread for it."""
FEW_ROWS: Way[int] = 16
"""Rows in a part of such a product from which on the parts are worth their overhead."""


def blocks(n: int) -> Iterator[slice]:
    """The rows 0, ..., n - 1 in order, some thousands at a time.

    Examples
    --------
    >>> [(p.start, p.stop) for p in blocks(20_000)]
    [(0, 16384), (16384, 20000)]
    """
    return (slice(k, min(k + BLOCK, n)) for k in range(0, n, BLOCK))


def gram(x: Floats, y: Floats) -> Floats:
    """x'y for some thousands of rows and few columns, in pieces that a BLAS makes in one thread each.

    Threads bring little where all is reading memory, and on a machine that others use too, those of
    OpenBLAS wait for each other up to forty times as long as one thread takes for the whole.

    Examples
    --------
    >>> x = np.arange(6.0).reshape(3, 2)
    >>> bool((gram(x, x) == x.T @ x).all())
    True
    """
    step = ONE_THREAD // max(1, x.shape[1] * y.shape[1])
    whole = len(x) // max(1, step)
    if step < FEW_ROWS or not whole:  # of many columns the threads have something to do
        return np.asarray(x.T @ y)
    left, right = (a[: whole * step].reshape(whole, step, -1) for a in (x, y))
    rest = x[whole * step :].T @ y[whole * step :]
    return np.asarray((left.transpose(0, 2, 1) @ right).sum(axis=0) + rest)


def column_sizes(array: Any) -> Floats:
    """The largest absolute value of each column, dense or sparse, without a copy of the array."""
    if not array.shape[0]:
        return np.zeros(array.shape[1])
    high, low = array.max(axis=0), array.min(axis=0)
    if not isinstance(array, np.ndarray):
        high, low = high.toarray().ravel(), low.toarray().ravel()
    found: Floats = np.maximum(high, -low)
    return found


def is_tall(left: FloatMatrix, chain: tuple[FloatMatrix, ...]) -> Way[bool]:
    """Whether ``left' @ product of chain`` goes by blocks: dense and long, with at most one sparse between."""
    long = left.shape[0] > BLOCK and not left.sparse and not chain[-1].sparse
    return long and (len(chain) == 1 or (len(chain) == 2 and chain[0].sparse))


@np.errstate(all="ignore")  # what leaves the range is refused where it would come out
def crossed(
    left: FloatMatrix, chain: tuple[FloatMatrix, ...], units: Floats | None = None
) -> tuple[Floats, Floats]:
    """X' Y for Y = M R or R, and the bound on its error, each with one pass over the rows.

    Columns of X are divided by their ``units``, powers of two.

    The bound is ``|X|'(r |Y| + E_Y) + E_X'(|Y| + E_Y)`` with r the rounding of n sums, as for any product.
    """
    n, right = left.shape[0], chain[-1]
    value = np.zeros((left.shape[1], right.shape[1]))
    bound = np.zeros(value.shape)
    rows = _Products(*chain) if len(chain) > 1 else _Given(right)
    terms = roundings(n)
    for p in blocks(n):
        part = left.part(p)
        x, x_error = part.array, part.error
        if units is not None:
            x, x_error = x / units, x_error / units
        y, y_error = rows.of(p)
        size = np.abs(y)
        value += gram(x, y)
        bound += gram(np.abs(x), size * terms + y_error) + gram(x_error, size + y_error)
    return value, bound + SMALLEST * n


class _Given:
    """Rows of a matrix, with their bounds."""

    def __init__(self, right: FloatMatrix) -> None:
        self.right = right

    def of(self, p: slice) -> tuple[Floats, Floats]:
        part = self.right.part(p)
        return part.array, part.error


class _Products:
    """Rows of a sparse matrix times a dense one, with their bounds.

    ``|M| (r |R|) + E_M (|R| + E_R) + |M| E_R``, which for E_R = e |R| is one product with |R|. Of R
    the rows that the block reaches are taken out once for both products.
    """

    def __init__(self, M: FloatMatrix, right: FloatMatrix) -> None:
        self.M, self.right, self.terms = M, right, roundings(M.shape[1])

    def of(self, p: Any) -> tuple[Floats, Floats]:
        rows = self.M.part(p)
        m, m_error = rows.array, rows.error
        seen = np.zeros(self.M.shape[1], dtype=bool)
        seen[m.indices] = seen[m_error.indices] = True
        reached = np.flatnonzero(seen)
        place = np.empty(len(seen), dtype=m.indices.dtype)
        place[reached] = np.arange(len(reached))
        m, m_error = (_with_columns(x, place[x.indices], len(reached)) for x in (m, m_error))
        part, e = self.right.part(reached), self.right.relative
        size = np.abs(part.array)
        known = 0.0 if e is None else e
        bound = (abs(m) * (self.terms + known) + m_error * (1.0 + known)) @ size
        if e is None:
            bound += (abs(m) + m_error) @ part.error
        return m @ part.array, bound


def _with_columns(matrix: Any, indices: Any, n: int) -> Any:
    """A sparse matrix by rows with its columns renamed."""
    from scipy.sparse import csr_array

    return csr_array((matrix.data, indices, matrix.indptr), (matrix.shape[0], n))


def row_products(M: FloatMatrix, right: FloatMatrix) -> Iterator[tuple[slice, FloatMatrix]]:
    """The rows of M R by blocks, with their bounds."""
    rows = _rows(M, right)
    return ((p, rows(p)) for p in blocks(M.shape[0]))


def rows_of_product(M: FloatMatrix, right: FloatMatrix) -> Way[Callable[[Any], FloatMatrix] | None]:
    """What makes some rows of M R anew with their bounds; None where M is not sparse, or M R is small."""
    tall = M.shape[0] > BLOCK and M.sparse and not right.sparse and right.shape[1] > 1
    return _rows(M, right) if tall else None


def _rows(M: FloatMatrix, right: FloatMatrix) -> Callable[[Any], FloatMatrix]:
    product = _Products(M, right)

    def rows(p: Any) -> FloatMatrix:
        with np.errstate(all="ignore"):
            value, bound = product.of(p)
        return type(M)(value, error=bound)

    return rows
