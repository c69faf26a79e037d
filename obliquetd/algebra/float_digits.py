"""Whether the entries of an answer in floats keep their digits, said on that answer.

An entry x with a bound e on its error is known to six digits where e <= 1e-6 |x|. Where it is not, x is
either a number of few digits, or it is 0 for all that is known: then floats do not tell a 0 of the
algebra, which is right as it stands, from a number that rounding has taken. Rationals do, so a small
problem is asked for its zeros in exact arithmetic. A larger one is judged by the norm: what may be 0 is
taken as 0 where its bound is far below the largest entry of its row or column.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.rounding import EPS, FEW_DIGITS, negligible
from obliquetd.algebra.ways import Way
from obliquetd.errors import PrecisionWarning

__all__ = ["ENTRYWISE", "LEAST_DIGITS", "check_digits"]

Floats = npt.NDArray[Any]

LEAST_DIGITS = 10.0**-FEW_DIGITS
"""The relative error of an entry from which on it keeps few digits."""
ENTRYWISE: Way[int] = 512
"""Rows and columns up to which a solve bounds every entry of its own, by the inverse (30 ms of 512 rows)."""


def check_digits(
    what: str, value: Any, error: Any, exactly: Callable[[], Any] | None, at_least: float
) -> tuple[Floats, Floats] | None:
    """PrecisionWarning where some entry of an answer keeps few correct digits.

    Parameters
    ----------
    what : str
        What the answer is called.
    value, error : array, or sparse array
        The entries and the bounds on their errors.
    exactly : function, optional
        The same answer in exact arithmetic, which is asked which entries are 0.
    at_least : float
        A size beside which an entry that may be 0 is judged too where there is no ``exactly``.

    Returns
    -------
    tuple of two arrays of int, or None
        The rows and columns of the entries that ``exactly`` says are 0.
    """
    with np.errstate(all="ignore"):
        rows, columns, x, e, largest = _doubtful(value, error)
        if not len(x):
            return None
        growth = np.where(x != 0, e / np.abs(x), np.inf)
        may_be_zero = negligible(x, e) | ~np.isfinite(e)
        if max(value.shape) > ENTRYWISE:
            may_be_zero[:] = True
        if exactly is None:
            told = e <= LEAST_DIGITS * np.maximum(largest, at_least)
        else:
            told = np.ones(len(x), dtype=bool)
            if may_be_zero.any():
                i, j = exactly().support()
                there = set(zip(i.tolist(), j.tolist(), strict=True))
                told = np.array([k not in there for k in zip(rows, columns, strict=True)])
    growth = np.where(may_be_zero & told, 0.0, growth)
    worst = int(growth.argmax())
    if growth[worst] > 0:
        _warn(what, (int(rows[worst]), int(columns[worst])), value.shape, x[worst], growth[worst])
    zero = told & may_be_zero
    return (np.array(rows)[zero], np.array(columns)[zero]) if exactly and zero.any() else None


def _doubtful(value: Any, error: Any) -> tuple[list[int], list[int], Floats, Floats, Floats]:
    """The entries of few digits: their places, values, bounds, and the largest of their row and column."""
    doubt = (
        ~(error <= LEAST_DIGITS * abs(value))
        if isinstance(value, np.ndarray)
        else (error - LEAST_DIGITS * abs(value) > 0)
    )
    i, j = doubt.nonzero()
    if not len(i):
        empty = np.empty(0)
        return [], [], empty, empty, empty
    x, e = (np.asarray(a[i, j]).ravel() for a in (value, error))
    size = abs(value)
    by_row, by_column = (
        np.asarray(m if isinstance(m, np.ndarray) else m.toarray()).ravel()
        for m in (size.max(axis=1), size.max(axis=0))
    )
    return i.tolist(), j.tolist(), x, e, np.maximum(by_row[i], by_column[j])


def _warn(
    what: str, place: tuple[int, int], shape: tuple[int, int], x: float, growth: float
) -> None:
    digits = max(0.0, -math.log10(max(growth, EPS)))
    at = place[0] if shape[1] == 1 else place
    entry = "" if shape == (1, 1) else f" in its entry {at}, which comes out as {x:.3g}"
    warnings.warn(
        f"{what} keeps about {digits:.0f} correct digits{entry}: it is a difference of nearly equal "
        "numbers, or below the range of floats; use arithmetic='exact'",
        PrecisionWarning,
        stacklevel=5,
    )
