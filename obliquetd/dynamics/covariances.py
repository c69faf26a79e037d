"""Covariances that leave the package: in floats with a word where rounding may have taken their digits.

Entries are judged in units in which weights, rewards and features are of size one: a weight counts in rewards over
the size of its feature, an update in rewards times that. So a feature in millimetres and one in parsecs are alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FloatMatrix, Matrix
from obliquetd.algebra.accuracy import warn_of_few_digits
from obliquetd.algebra.rounding import SAFETY
from obliquetd.algebra.tall import column_sizes
from obliquetd.problem.native import Operators

__all__ = ["check_covariance", "public_covariance", "total_of", "units_of", "without_nothing"]

ENOUGH = 1e-6
"""The part of the largest entry that one which is not told from 0 may be off by."""
FRAMES = 5
"""From a warning up to who asked for a property that is a covariance."""


def public_covariance(ops: Operators, matrix: Matrix, what: str, *, of_updates: bool) -> Any:
    """The covariance of weights, or of updates of theirs, public, after :func:`check_covariance`."""
    if isinstance(matrix, FloatMatrix):
        check_covariance(matrix, units_of(ops, matrix.shape[0], of_updates=of_updates), what)
    return matrix.public()


def without_nothing(noise: Matrix, exactly: Callable[[], Matrix] | None) -> Matrix:
    """The covariance, 0 throughout where floats do not tell it from 0 and exact arithmetic says that it is.

    So it is for SETD on the two-state example, whose every update is 0 at the fixed point.
    """
    if exactly is None or not isinstance(noise, FloatMatrix):
        return noise
    found, error = np.diag(noise.dense()), np.diag(noise.dense_error())
    if not error.any() or (found > SAFETY * error).any() or not exactly().is_zero():
        return noise
    return FloatMatrix(np.zeros(noise.shape), error=0.0)


def units_of(ops: Operators, size: int, *, of_updates: bool) -> npt.NDArray[np.float64]:
    """The units of weights, theta and what a learner has beside it, or of updates of them."""
    assert isinstance(ops.Phi, FloatMatrix)
    sizes = column_sizes(ops.Phi.array)
    sizes = np.resize(np.where(sizes > 0, sizes, 1.0), size)
    return np.asarray(ops.largest_reward * (sizes if of_updates else 1 / sizes))


def total_of(ops: Operators, parts: Matrix, what: str) -> Any:
    """The sum of a column, a mean square of values, native, after the same check."""
    total = sum(parts.entries(), ops.arithmetic.zero)
    if isinstance(parts, FloatMatrix):
        found = FloatMatrix(np.array([[total]]), error=parts.dense_error().sum(keepdims=True))
        check_covariance(found, np.array([ops.largest_reward]), what)
    return total


def check_covariance(matrix: FloatMatrix, units: Any, what: str, frames: int = FRAMES) -> bool:
    """PrecisionWarning, and True, where an entry keeps few digits.

    Entry (i, j) is known beside the roots of entries (i, i) and (j, j). Where one of those is not told from 0
    (the noise of what does not move at the fixed point, as theta of gradient learners), what it is off by
    counts beside the largest entry.

    Examples
    --------
    >>> found = FloatMatrix(np.diag([1.0, 1e-16]), error=np.full((2, 2), 1e-15))
    >>> check_covariance(found, np.ones(2), "the covariance")
    False
    """
    with np.errstate(all="ignore"):
        found, error = (
            x / units[:, None] / units[None, :] for x in (matrix.dense(), matrix.dense_error())
        )
        sizes = np.sqrt(np.abs(np.diag(found)))
        told = np.diag(found) > SAFETY * np.diag(error)
        growth = error / sizes[:, None] / sizes[None, :]
    largest = np.abs(found[np.ix_(told, told)]).max(initial=0.0)
    known = told[:, None] & told[None, :]
    small = error <= ENOUGH * largest
    growth = np.where((error == 0) | (~known & small), 0.0, growth)
    most = float(np.nan_to_num(growth, nan=np.inf).max(initial=0.0))
    return warn_of_few_digits(f"{what} is a difference of nearly equal numbers", most, frames)
