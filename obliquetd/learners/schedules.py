"""Step sizes: a positive number, or a schedule of the step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import sympy as sp

from obliquetd.algebra import parse_number, public_number, quoted
from obliquetd.errors import InputError, NumberError

__all__ = ["Harmonic", "RobbinsMonro", "StepSize", "check_step_size"]

StepSize = Any
"""A positive number, or a callable of the step 0, 1, 2, ..."""


@dataclass(frozen=True)
class RobbinsMonro:
    """The schedule c (t + 1)^-p.

    Its sum diverges and the sum of its squares converges for 1/2 < p <= 1 (Robbins and
    Monro 1951).

    Examples
    --------
    >>> RobbinsMonro(0.5, 1)(3)
    0.125
    """

    c: float
    p: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.c) and self.c > 0 and 0 <= self.p <= 1):
            raise InputError(f"RobbinsMonro({self.c}, {self.p}); expected c > 0 and 0 <= p <= 1")

    def __call__(self, t: int) -> float:
        return float(self.c * (t + 1.0) ** -self.p)


@dataclass(frozen=True)
class Harmonic:
    """The schedule c / (offset + t), which theorems on the rate 1/t are stated for.

    Its numbers may be exact, and stay so where a bound is computed from them.

    Examples
    --------
    >>> Harmonic("1/2", 4)(6), Harmonic("1/2", 4).at(6)
    (0.05, 1/20)
    """

    c: Any
    offset: Any

    def __post_init__(self) -> None:
        for name in ("c", "offset"):
            found = parse_number(getattr(self, name), name)
            if isinstance(found, sp.Basic) or not found > 0:
                raise NumberError(
                    f"{name} of a harmonic schedule is {quoted(found)}; expected a positive number"
                )

    def at(self, t: int) -> Any:
        """The step size at step t, a public number."""
        c, offset = (public_number(parse_number(x)) for x in (self.c, self.offset))
        return c / (offset + t)

    def __call__(self, t: int) -> float:
        return float(self.at(t))


def check_step_size(value: StepSize, name: str) -> None:
    """A positive number, a symbol, a callable, or None."""
    if value is None or callable(value):
        return
    found = parse_number(value, name)
    if not isinstance(found, sp.Basic) and not found > 0:
        raise NumberError(f"{name} is {quoted(found)}; expected a positive step size")
