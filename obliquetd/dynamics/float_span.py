"""Whether rounded vectors span all that they can: every vector of the coordinates that they touch."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np

from obliquetd.dynamics.at_rest import SAFETY, Vector
from obliquetd.dynamics.rounded import UNIT

__all__ = ["all_coordinates"]

ATTEMPTS = 4
"""How often more vectors are asked for, twice as many each time."""


def all_coordinates(vectors: Iterable[Vector], most: int) -> list[int]:
    """The coordinates that the vectors touch, where they span all of those and those are the most.

    With the vectors as the rows of V + E, entries of E at most as large as the error bounds, the
    rank is full where the least singular value of V is above the norm of E, which is Weyl's
    inequality. Powers of two as units of the rows and columns leave the rank as it is.

    Parameters
    ----------
    vectors : iterable of dict of Rounded
    most : int
        A bound on the dimension of what all of them span.

    Returns
    -------
    list of int
        Of length ``most``; empty where no such thing is found.

    Examples
    --------
    >>> from obliquetd.dynamics.scalars import Rounded
    >>> one, least = Rounded(1.0), Rounded(1e-30)
    >>> all_coordinates([{0: one, 2: one}, {2: least}], 2)
    [0, 2]
    >>> all_coordinates([{0: one, 2: one}, {0: one, 2: one}], 2)
    []
    """
    source = iter(vectors)
    kept: list[Vector] = []
    for attempt in range(ATTEMPTS):
        more = list(islice(source, 2 * most * 2**attempt))
        kept += more
        touched = sorted({i for vector in kept for i in vector})
        if len(touched) == most > 0 and _full_rank(kept, touched):
            return touched
        if not more:
            break
    return []


def _full_rank(vectors: list[Vector], touched: list[int]) -> bool:
    """Whether the rank is proved to be the number of columns."""
    if len(vectors) < len(touched):
        return False
    place = {i: k for k, i in enumerate(touched)}
    value, error = np.zeros((2, len(vectors), len(touched)))
    for row, vector in enumerate(vectors):
        for i, x in vector.items():
            value[row, place[i]], error[row, place[i]] = x.value, x.error
    for axis in (1, 0):
        largest = np.abs(value).max(axis=axis, keepdims=True)
        unit = np.where(largest > 0, 2.0 ** -np.frexp(largest)[1].clip(-1000, 1000), 1.0)
        value, error = value * unit, error * unit
    if not (np.isfinite(value).all() and np.isfinite(error).all()):
        return False
    singular = np.linalg.svd(value, compute_uv=False)
    rounding = 8 * max(value.shape) * UNIT * np.linalg.norm(value)
    return bool(singular[-1] > rounding + SAFETY * np.linalg.norm(error))
