"""A matrix function of one variable on ranges, each with one formula."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import flint
import numpy as np

from obliquetd.algebra.factored import FactoredFunctions
from obliquetd.algebra.float_balls import FloatBalls
from obliquetd.algebra.functions import (
    FunctionMatrix,
    determinant_above,
    in_ball,
    independent,
    value_at,
)
from obliquetd.algebra.rounding import EPS

__all__ = ["InOneSymbol", "OnRange"]


@dataclass(frozen=True)
class OnRange:
    """A on W on a closed range where no formula changes, by its formulas.

    ``updates`` are vectors that span U, in coordinates of W, or a function that gives some
    that do so at a rational.
    """

    low: Any
    high: Any
    size: int
    parts: Sequence[FunctionMatrix | FactoredFunctions]
    updates: list[list[Any]] | Callable[[Any], list[list[Any]]]

    def over(self, low: Any, high: Any, order: int = 0) -> Any:
        """Balls that hold A(gamma), or a derivative of it, for low <= gamma <= high."""
        ball = flint.arb(low).union(flint.arb(high))
        total = flint.arb_mat(self.size, self.size)
        for part in self.parts:
            total += part.over(ball, order)
        return total

    def ends(self, low: Any, high: Any) -> tuple[Any, Any]:
        """Two matrices of balls between which A(gamma) is for low <= gamma <= high.

        A(m + t) = A(m) + t A'(m) + r with r in t^2/2 times the balls of A'': for each r a straight line in t.
        """
        middle, radius = (low + high) / 2, (high - low) / 2
        value, slope = self.over(middle, middle), self.over(middle, middle, 1)
        rest = self.over(low, high, 2) * flint.arb(radius**2 / 4, radius**2 / 4)
        return value - slope * radius + rest, value + slope * radius + rest

    def ends_in_floats(self, low: Any, high: Any) -> tuple[FloatBalls, FloatBalls] | None:
        """:meth:`ends` in floats with radii; None where the parts, or floats, do not allow that."""
        try:
            a, b = (int(x.p) / int(x.q) for x in (low, high))
        except OverflowError:
            return None
        middle = (a + b) / 2
        radius = max(b - middle, middle - a) * (1 + 4 * EPS) + 4 * EPS * max(abs(a), abs(b))
        found = []
        for part in self.parts:
            if not isinstance(part, FactoredFunctions):
                return None
            three = part.in_floats(middle, radius) if part.entries else None
            if three is not None:
                found.append(three)
            elif part.entries:
                return None
        if not found:
            return None
        value, slope, bend = (reduce(operator.add, x) for x in zip(*found, strict=True))
        half = radius * radius / 4 * (1 + 4 * EPS)
        rest = bend * FloatBalls(np.full((1, 1), half), np.full((1, 1), half * (1 + 4 * EPS)))
        shift = slope.scaled(radius)
        return value - shift + rest, value + shift + rest

    def at(self, point: Any) -> Any:
        """A at a rational; ZeroDivisionError at a pole."""
        total = flint.fmpq_mat(self.size, self.size)
        for part in self.parts:
            total += part.at(point)
        return total

    def determinant(self) -> Any | None:
        """A polynomial with the zeros of det A among its own; None where it is too large."""
        return determinant_above(self.parts, self.size)

    def spans(self, low: Any, high: Any) -> bool:
        """Whether U is proved to be all of W wherever low <= gamma <= high, by as many of the updates."""
        middle = (low + high) / 2
        updates = self.updates(middle) if callable(self.updates) else self.updates
        chosen = independent([[value_at(x, middle) for x in v] for v in updates], self.size)
        if len(chosen) < self.size:
            return False
        ball = flint.arb(low).union(flint.arb(high))
        rows = [[in_ball(x, ball) for x in updates[k]] for k in chosen]
        found = flint.arb_mat(rows).det()
        return bool(found > 0 or found < 0)


@dataclass(frozen=True)
class InOneSymbol:
    """A on W range by range, from left to right, and between which of them it may jump.

    At the ``regular`` ones of its two ends the formulas beside them are those of the learner there.
    """

    ranges: list[OnRange]
    jumps: list[Any]
    regular: frozenset[Any] = frozenset()
