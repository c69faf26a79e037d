"""A step-size limit that says what it is: it prints as a decimal, and has the algebraic number beside it."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import Any

import sympy as sp

from obliquetd.algebra.writing import number_text

__all__ = ["EXPECTED_UPDATE", "LOWER_BOUND", "StepSizeLimit", "rounded_down"]

EXPECTED_UPDATE = "expected update"
"""The sense of a limit of theta' = theta + alpha (b - A theta), the expected update taken again and again."""
LOWER_BOUND = "certified lower bound"


@functools.total_ordering
@dataclass(frozen=True, eq=False)
class StepSizeLimit:
    """A step size up to which a learner is stable; it counts, compares and computes as a number.

    A limit prints rounded to the nearest decimal, a certified bound rounded down.

    Attributes
    ----------
    exact : number
        An exact algebraic number where it is one, else a float: what arithmetic on it works with.
    sense : {"mean square", "mean", "expected update"}
        What stays bounded below it. The last is no statement on the random weights: it is for
        theta' = theta + alpha (b - A theta), the expected update taken again and again.
    kind : {"limit", "certified lower bound"}
        Whether no larger step size will do, or whether it is only proved that smaller ones do.

    Examples
    --------
    >>> found = StepSizeLimit(sp.sqrt(2) / 3, "mean", "limit")
    >>> found, found.exact, found < 1, 2 * found
    (0.471405 (limit, mean), sqrt(2)/3, True, 2*sqrt(2)/3)
    """

    exact: Any
    sense: str
    kind: str = "limit"

    def __float__(self) -> float:
        return float(self.exact)

    def _sympy_(self) -> Any:
        return sp.sympify(self.exact)

    def __str__(self) -> str:
        if self.exact in (0, sp.oo):
            return number_text(self.exact)
        near = float(self.exact)
        if self.kind == LOWER_BOUND and 0 < near < math.inf:
            return rounded_down(near)
        return number_text(near) if 0 < near < math.inf else str(sp.N(self.exact, 6))

    def __repr__(self) -> str:
        return f"{self} ({self.kind}, {self.sense})"

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copying and pickling ask before there is anything to ask
            raise AttributeError(name)
        return getattr(object.__getattribute__(self, "exact"), name)

    def __eq__(self, other: object) -> bool:
        return bool(self.exact == _bare(other))

    def __lt__(self, other: Any) -> bool:
        return bool(self.exact < _bare(other))

    def __hash__(self) -> int:
        return hash(self.exact)

    def __bool__(self) -> bool:
        return bool(self.exact != 0)

    def __add__(self, other: Any) -> Any:
        return self.exact + _bare(other)

    def __radd__(self, other: Any) -> Any:
        return _bare(other) + self.exact

    def __sub__(self, other: Any) -> Any:
        return self.exact - _bare(other)

    def __rsub__(self, other: Any) -> Any:
        return _bare(other) - self.exact

    def __mul__(self, other: Any) -> Any:
        return self.exact * _bare(other)

    def __rmul__(self, other: Any) -> Any:
        return _bare(other) * self.exact

    def __truediv__(self, other: Any) -> Any:
        return self.exact / _bare(other)

    def __rtruediv__(self, other: Any) -> Any:
        return _bare(other) / self.exact

    def __pow__(self, other: Any) -> Any:
        return self.exact ** _bare(other)

    def __neg__(self) -> Any:
        return -self.exact

    def __abs__(self) -> Any:
        return abs(self.exact)


def rounded_down(number: float, digits: int = 6) -> str:
    """A positive number with some digits, none above it: what is certified of it stays so.

    Examples
    --------
    >>> rounded_down(2 / 3), rounded_down(1.9999999e-9), rounded_down(0.25)
    ('0.666666', '1.99999e-09', '0.25')
    """
    last = math.floor(math.log10(number)) + 1 - digits
    below = Decimal(number).quantize(Decimal(1).scaleb(last), ROUND_FLOOR)
    return number_text(float(below))


def _bare(value: Any) -> Any:
    """The number of a limit, another number as it is."""
    return value.exact if isinstance(value, StepSizeLimit) else value
