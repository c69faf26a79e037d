"""Numbers that a learner's rule can run on: the problem's own, with a sign that can be asked.

A rule compares with 0. Rationals and floats can; a rational function's sign depends on
its symbol. :class:`Signed` passes the arithmetic through and asks the problem's
arithmetic for the sign, which answers or raises ``SignUndecidedError``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import Arithmetic

__all__ = ["Signed", "signed_array", "unsigned"]


class Signed:
    """A native scalar of symbolic arithmetic with comparisons to 0 that do not lie."""

    __slots__ = ("arithmetic", "value")

    def __init__(self, value: Any, arithmetic: Arithmetic) -> None:
        self.value, self.arithmetic = value, arithmetic

    def _other(self, other: Any) -> Any:
        return other.value if isinstance(other, Signed) else other * self.arithmetic.one

    def __add__(self, other: Any) -> Signed:
        return Signed(self.value + self._other(other), self.arithmetic)

    def __sub__(self, other: Any) -> Signed:
        return Signed(self.value - self._other(other), self.arithmetic)

    def __rsub__(self, other: Any) -> Signed:
        return Signed(self._other(other) - self.value, self.arithmetic)

    def __mul__(self, other: Any) -> Signed:
        return Signed(self.value * self._other(other), self.arithmetic)

    def __truediv__(self, other: Any) -> Signed:
        return Signed(self.value / self._other(other), self.arithmetic)

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other: object) -> bool:
        return not (self - other).value

    def __gt__(self, other: Any) -> bool:
        return self.arithmetic.sign((self - other).value) > 0

    def __hash__(self) -> int:
        return hash(self.value)


def signed_array(values: Any, arithmetic: Arithmetic) -> npt.NDArray[Any]:
    """Native scalars as an array that a rule can run on."""
    if arithmetic.kind == "float":
        return np.array(values, dtype=float)
    out = np.empty(np.shape(values), dtype=object)
    wrap = arithmetic.kind == "symbolic"
    for place in np.ndindex(*out.shape):
        x = values[place] if isinstance(values, np.ndarray) else _at(values, place)
        out[place] = Signed(x, arithmetic) if wrap else x
    return out


def _at(values: Any, place: tuple[int, ...]) -> Any:
    for i in place:
        values = values[i]
    return values


def unsigned(value: Any, arithmetic: Arithmetic) -> Any:
    """The native scalar in a rule's answer."""
    return value.value if isinstance(value, Signed) else value * arithmetic.one
