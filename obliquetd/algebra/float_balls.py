"""Arrays of floats, each known to within a radius whatever was rounded: balls for many numbers at once.

A product of balls m and r is a ball about the product of the middles with |a| r_b + |b| r_a + r_a r_b and what
the floats round (Rump 1999, "Fast and parallel interval arithmetic"); every radius is enlarged by more than
what its own sum rounds. Where Arb's balls are exact about bits, these are quick: one call is for all entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from obliquetd.algebra.rounding import EPS, SMALLEST

__all__ = ["TINY", "FloatBalls"]

MORE = 1 + 8 * EPS
"""What the few roundings of a radius can have made it too small by."""
TINY = 16 * SMALLEST
"""What a few products lose where they fall below the range of floats."""


class FloatBalls:
    """An array of balls.

    Examples
    --------
    >>> x = FloatBalls(np.array([2.0]), np.array([0.5]))
    >>> y = x * x
    >>> y.middle.tolist(), bool(y.radius[0] >= 2.25)
    ([4.0], True)
    """

    __array_ufunc__ = None
    __slots__ = ("middle", "radius")

    def __init__(self, middle: Any, radius: Any) -> None:
        self.middle, self.radius = middle, radius

    @classmethod
    def of_rationals(cls, values: Any, shape: tuple[int, ...]) -> FloatBalls:
        """Rationals of FLINT, each in the float next to it; OverflowError beyond the range of floats."""
        middle = np.array(list(map(float, values)), dtype=float).reshape(shape)
        return cls(middle, EPS * np.abs(middle) + TINY)

    @property
    def is_finite(self) -> bool:
        """Whether no ball is unbounded."""
        return bool(np.isfinite(self.middle).all() and np.isfinite(self.radius).all())

    @property
    def T(self) -> FloatBalls:
        """The transpose."""
        return FloatBalls(self.middle.T, self.radius.T)

    def __getitem__(self, at: Any) -> FloatBalls:
        return FloatBalls(self.middle[at], self.radius[at])

    def __add__(self, other: FloatBalls) -> FloatBalls:
        middle = self.middle + other.middle
        radius = self.radius + other.radius + EPS * np.abs(middle)
        return FloatBalls(middle, radius * MORE)

    def __neg__(self) -> FloatBalls:
        return FloatBalls(-self.middle, self.radius)

    def __sub__(self, other: FloatBalls) -> FloatBalls:
        return self + -other

    def __mul__(self, other: FloatBalls) -> FloatBalls:
        a, b = np.abs(self.middle), np.abs(other.middle)
        middle = self.middle * other.middle
        radius = (a + self.radius) * other.radius + b * self.radius + EPS * np.abs(middle)
        return FloatBalls(middle, radius * MORE + TINY)

    def scaled(self, factor: float) -> FloatBalls:
        """Times a float that is known exactly."""
        middle = self.middle * factor
        radius = self.radius * abs(factor) + EPS * np.abs(middle)
        return FloatBalls(middle, radius * MORE + TINY)

    def inverse(self) -> FloatBalls:
        """1 over each; unbounded where a ball holds 0."""
        size = np.abs(self.middle)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            gap = size * (1 - EPS) - self.radius
            middle = 1 / self.middle
            radius = self.radius / (size * gap) + EPS * np.abs(middle)
        unbounded = ~(gap > 0)
        return FloatBalls(
            np.where(unbounded, 0.0, middle), np.where(unbounded, np.inf, radius * MORE + TINY)
        )

    def __matmul__(self, other: FloatBalls) -> FloatBalls:
        k = self.middle.shape[-1]
        a, b = np.abs(self.middle), np.abs(other.middle)
        rounded = (a + self.radius) @ other.radius + self.radius @ b + k * EPS * (a @ b)
        return FloatBalls(self.middle @ other.middle, rounded * (1 + (k + 8) * EPS) + k * TINY)

    @classmethod
    def joined(cls, parts: Sequence[FloatBalls], axis: int = 0) -> FloatBalls:
        """The balls of several arrays, one after the other."""
        found = (np.concatenate([getattr(x, name) for x in parts], axis) for name in cls.__slots__)
        return cls(*found)

    def where(self, mask: Any) -> FloatBalls:
        """The same balls where a mask says so, and 0 elsewhere."""
        return FloatBalls(np.where(mask, self.middle, 0.0), np.where(mask, self.radius, 0.0))

    def shaped(self, shape: tuple[int, ...]) -> FloatBalls:
        """The same balls in an array of another shape."""
        return FloatBalls(self.middle.reshape(shape), self.radius.reshape(shape))
