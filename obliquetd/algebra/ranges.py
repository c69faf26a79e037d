"""A matrix function of one variable on ranges, each with one formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import flint
import numpy as np

from obliquetd.algebra.factored import FactoredFunctions
from obliquetd.algebra.factored_polynomials import FactoredPolynomials
from obliquetd.algebra.float_balls import TINY, FloatBalls
from obliquetd.algebra.functions import (
    FunctionMatrix,
    determinant_above,
    in_ball,
    independent,
    value_at,
)
from obliquetd.algebra.rounding import EPS

__all__ = ["InOneSymbol", "OnRange", "ends_in_floats"]


@dataclass(frozen=True)
class OnRange:
    """A on W on a closed range where no formula changes, by its formulas.

    ``updates`` are vectors that span U, in coordinates of W, or a function that gives some
    that do so at a rational.
    """

    low: Any
    high: Any
    size: int
    parts: Sequence[FunctionMatrix | FactoredFunctions | FactoredPolynomials]
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


def ends_in_floats(
    ranges: Sequence[OnRange], boxes: Sequence[Sequence[tuple[Any, Any]]]
) -> tuple[FloatBalls, FloatBalls] | None:
    """:meth:`OnRange.ends` in floats with radii, of boxes of each range, all in one: (m, size, size).

    None where the parts, or floats, do not allow that. What several ranges share is evaluated once for all.
    """
    try:
        a, b = (
            np.array([float(box[k]) for listed in boxes for box in listed], dtype=float)
            for k in (0, 1)
        )
    except OverflowError:
        return None
    middle = (a + b) / 2
    radius = np.maximum(b - middle, middle - a) * (1 + 4 * EPS)
    radius += 4 * EPS * np.maximum(np.abs(a), np.abs(b)) + TINY
    size, begin = ranges[0].size, 0
    shared: dict[int, tuple[Any, list[int], list[Any]]] = {}
    for part_of, listed in zip(ranges, boxes, strict=True):
        rows = list(range(begin, begin + len(listed)))
        begin += len(listed)
        for part in part_of.parts if rows else ():
            if not part.is_zero:
                found = shared.setdefault(id(part.whole), (part.whole, [], []))
                found[1].extend(rows)
                found[2].extend([part.chosen] * len(rows))
    with np.errstate(over="ignore", invalid="ignore"):
        zeros = np.zeros((3, begin, size, size))
        total = FloatBalls(zeros, zeros.copy())
        for whole, rows, chosen in shared.values():
            mask = None
            if any(x is not None for x in chosen):
                width = next(len(x) for x in chosen if x is not None)
                mask = np.array([np.ones(width, bool) if x is None else x for x in chosen])
            three = whole.in_floats(middle[rows], radius[rows], mask)
            if three is None:
                return None
            for k, x in enumerate(three):
                added = total[k, rows] + x
                total.middle[k, rows], total.radius[k, rows] = added.middle, added.radius
        value, slope, bend = (total[k] for k in range(3))
        radius = radius[:, None, None]
        half = radius * radius / 4 * (1 + 4 * EPS) + TINY
        rest = bend * FloatBalls(half, half * (1 + 4 * EPS))
        shift = slope.scaled(radius)
        return value - shift + rest, value + shift + rest


@dataclass(frozen=True)
class InOneSymbol:
    """A on W range by range, from left to right, and between which of them it may jump.

    At the ``regular`` ones of its two ends the formulas beside them are those of the learner there.
    """

    ranges: list[OnRange]
    jumps: list[Any]
    regular: frozenset[Any] = frozenset()
