"""Dual numbers in the step size: a value at alpha = 0 and the slope there.

Running a rule once at alpha = Dual(0, 1) gives the weights as x + alpha U: U is the update
that the mean dynamics averages, whatever powers of alpha the rule also contains. Numbers
that alpha does not touch stay what they are, so the cost is that of the plain rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Dual", "slope_of", "value_of"]


class Dual:
    """value + alpha slope, with alpha^2 = 0.

    Comparisons are those for small positive alpha: by value, and by slope where values tie.

    Examples
    --------
    >>> x = 3 + Dual(0, 1) * 2
    >>> y = x * x / 3
    >>> y.value, y.slope
    (3.0, 4.0)
    """

    __slots__ = ("slope", "value")

    def __init__(self, value: Any, slope: Any) -> None:
        self.value, self.slope = value, slope

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return Dual(self.value + value_of(other), _sum(self, other))

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-1 * self.value, -1 * self.slope)

    def __pos__(self) -> Dual:
        return self

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return self + -1 * other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Dual):
            slope = self.value * other.slope + self.slope * other.value
            return Dual(self.value * other.value, slope)
        return Dual(self.value * other, self.slope * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Dual):
            value = self.value / other.value
            return Dual(value, (self.slope - value * other.slope) / other.value)
        return Dual(self.value / other, self.slope / other)

    def __rtruediv__(self, other: Any) -> Any:
        value = other / self.value
        return Dual(value, -1 * value * self.slope / self.value)

    def __pow__(self, power: int) -> Any:
        if not isinstance(power, int) or power < 0:
            return NotImplemented
        out: Any = 1
        for _ in range(power):
            out = out * self
        return out

    def __abs__(self) -> Any:
        return self if self > 0 else -self

    def _leading(self, other: Any) -> Any:
        """What decides the sign of self - other for small positive alpha."""
        gap = self.value - value_of(other)
        if gap == 0:
            return self.slope - slope_of(other) if isinstance(other, Dual) else self.slope
        return gap

    def __eq__(self, other: object) -> bool:
        return bool(self._leading(other) == 0)

    def __lt__(self, other: Any) -> bool:
        return bool(self._leading(other) < 0)

    def __gt__(self, other: Any) -> bool:
        return bool(self._leading(other) > 0)

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    __hash__ = None  # type: ignore[assignment]


def _sum(a: Dual, b: Any) -> Any:
    return a.slope + b.slope if isinstance(b, Dual) else a.slope


def value_of(x: Any) -> Any:
    """The value at alpha = 0."""
    return x.value if isinstance(x, Dual) else x


def slope_of(x: Any) -> Any:
    """The slope at alpha = 0; 0 for a number that alpha does not touch."""
    return x.slope if isinstance(x, Dual) else 0
