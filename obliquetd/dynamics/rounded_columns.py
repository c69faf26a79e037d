"""Columns of floats with bounds on their errors, in the arithmetic and order of one number's.

See :class:`~obliquetd.dynamics.scalars.Rounded`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from obliquetd.dynamics.rounded import DYADIC, NORMAL, SMALLEST, UNIT
from obliquetd.learners.forms import NoFormError

__all__ = ["RoundedColumn", "datum", "dyadic", "one_number"]


class RoundedColumn:
    """Floats with a bound on the error of each.

    A product of data has one *relative* bound for all of its entries, from which the bounds are
    made where they are asked for; a sum, whose terms may cancel, has a bound for each.
    """

    __array_ufunc__ = None
    __slots__ = ("_error", "relative", "value")

    def __init__(self, value: Any, error: Any = None, relative: float | None = None) -> None:
        self.value, self._error, self.relative = value, error, relative

    @property
    def key(self) -> Any:
        """What tells it from others of the same outcomes: a number, or names; None where it has neither."""
        known = len(self.value) == 1 and self.relative is not None
        return (float(self.value[0]), self.relative) if known else None

    @property
    def error(self) -> Any:
        """The bound on the error of each entry."""
        if self._error is None:
            return abs(self.value) * self.relative  # not kept: it is as large as the data
        return self._error

    def __getitem__(self, at: Any) -> RoundedColumn:
        if self.relative is not None:
            return RoundedColumn(self.value[at], None, self.relative)
        return RoundedColumn(self.value[at], self.error[at])

    def __len__(self) -> int:
        return len(self.value)

    def __add__(self, other: RoundedColumn) -> RoundedColumn:
        value = self.value + other.value
        return RoundedColumn(value, self.error + other.error + UNIT * abs(value))

    def __neg__(self) -> RoundedColumn:
        return RoundedColumn(-self.value, self._error, self.relative)

    def __sub__(self, other: RoundedColumn) -> RoundedColumn:
        return self + -other

    def __mul__(self, other: RoundedColumn) -> RoundedColumn:
        a, b = self.value, other.value
        value = a * b
        size = abs(value)
        tiny = size < NORMAL
        lost = tiny.any() and tiny & ((a != 0) | (self.error != 0)) & (
            (b != 0) | (other.error != 0)
        )
        if self.relative is not None and other.relative is not None and not np.any(lost):
            both = self.relative + other.relative + self.relative * other.relative
            return RoundedColumn(value, None, both + UNIT)
        error = abs(a) * other.error + abs(b) * self.error + self.error * other.error + UNIT * size
        return RoundedColumn(value, error + SMALLEST * lost)

    def __truediv__(self, other: RoundedColumn) -> RoundedColumn:
        value = self.value / other.value
        if self.relative is not None and other.relative is not None:
            if not other.value.all():
                raise NoFormError("a division by what may be 0")
            both = (self.relative + other.relative) / (1 - other.relative)
            return RoundedColumn(value, None, both + UNIT)
        below = abs(other.value) - other.error
        if not (below > 0).all():
            raise NoFormError("a division by what may be 0")
        error = (self.error + abs(value) * other.error) / below
        return RoundedColumn(value, error + UNIT * abs(value))


def datum(values: Any) -> RoundedColumn:
    """Floats that came in: 0.5 is exact, 0.1 is not."""
    array = np.asarray(values, dtype=float)
    exact = dyadic(array)
    if exact.all():
        return RoundedColumn(array, None, 0.0)
    if not (exact & (array != 0)).any():
        return RoundedColumn(array, None, UNIT)
    return RoundedColumn(array, np.where(exact, 0.0, abs(array) * UNIT))


@lru_cache(256)
def one_number(value: float) -> RoundedColumn:
    """A column of one number, the same one each time: a rule asks for its constants again and again."""
    return datum([value])


def dyadic(array: Any) -> Any:
    """Which floats have so few binary digits that they are taken to be meant."""
    return (abs(array) < 1e9) & (np.floor(array * DYADIC) == array * DYADIC)
