"""The rank of a matrix of floats, taken as the rationals that they are."""

from __future__ import annotations

from typing import Any

import flint
import numpy as np

from obliquetd.algebra.ways import Way

__all__ = ["rank_of_doubles"]

LARGEST: Way[int] = 50_000
"""Entries up to which the rank is computed."""
DIGITS = 53
"""Bits of a double's fraction."""


def rank_of_doubles(array: Any) -> int | None:
    """The rank in exact arithmetic; None where the matrix has too many entries.

    A column times a power of two is one of integers, and the rank is the same.

    Parameters
    ----------
    array : ndarray (n, d) of finite floats

    Examples
    --------
    >>> import numpy as np
    >>> rank_of_doubles(np.array([[0.5, 1.0], [1.0, 2.0], [3.0, 6.0]]))
    1
    >>> rank_of_doubles(np.array([[1.0, 1e-300], [1.0, 2e-300]]))
    2
    """
    rows, columns = array.shape
    if array.size > LARGEST:
        return None
    fraction, exponent = np.frexp(array)
    whole = np.ldexp(fraction, DIGITS).astype(np.int64)
    shift = exponent - np.where(whole != 0, exponent, np.iinfo(np.int32).max).min(axis=0)
    entries = [
        int(x) << int(k) if x else 0 for x, k in zip(whole.ravel(), shift.ravel(), strict=True)
    ]
    return int(flint.fmpz_mat(rows, columns, entries).rank())
