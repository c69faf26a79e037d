"""A square matrix function U' M(x) V, with a few functions at places of M and rational U and V.

The products of rows of U and V are made once, of numbers, and not of functions: at a rational, in balls, or
in floats with radii (:class:`~obliquetd.algebra.float_balls.FloatBalls`) for all functions at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import flint
import numpy as np

from obliquetd.algebra.entries import Block, Entry, rows_in_floats
from obliquetd.algebra.float_balls import TINY, FloatBalls
from obliquetd.algebra.float_functions import LARGEST_DEGREE, Three, coefficients, three_of
from obliquetd.algebra.functions import over_ball
from obliquetd.algebra.quotients import ONE
from obliquetd.algebra.rounding import EPS
from obliquetd.algebra.ways import Way

__all__ = ["FactoredFunctions"]

MOST_FLOATS: Way[int] = 2**22
"""Entries of the products of rows of U and V that are kept in floats."""


class FactoredFunctions:
    """The matrix, with the interface of :class:`~obliquetd.algebra.functions.FunctionMatrix`.

    Parameters
    ----------
    entries : sequence of Entry
        Those at one place are added.
    left, right : list of rows
        U and V, of rationals.
    blocks : sequence of Block
        More of them.
    """

    whole: FactoredFunctions
    chosen: Any

    def __init__(
        self, entries: Sequence[Entry], left: Any, right: Any, size: int, blocks: Sequence[Block] = ()
    ) -> None:  # fmt: skip
        self._single, self._blocks, self.size = list(entries), list(blocks), size
        self._left, self._right = left, right
        self.whole, self.chosen = self, None

    @cached_property
    def entries(self) -> list[Entry]:
        """All of them."""
        found = [*self._single, *(e for block in self._blocks for e in block.entries())]
        return found if self.chosen is None else [found[k] for k in np.flatnonzero(self.chosen)]

    def some(self, chosen: Any) -> FactoredFunctions:
        """The same with some of its entries, which are a mask. In floats they are evaluated as part of all."""
        if chosen.all():
            return self
        made = FactoredFunctions(self._single, self._left, self._right, self.size, self._blocks)
        made.whole, made.chosen = self, chosen
        return made

    @property
    def is_zero(self) -> bool:
        """Whether it has no entry."""
        if self.chosen is not None:
            return not self.chosen.any()
        return not (self._single or self._blocks)

    @property
    def denominators(self) -> list[Any]:
        """The different ones."""
        monic = (e.below / e.below[e.below.degree()] for e in self.entries)
        return list({str(p): p for p in monic}.values())

    @property
    def growth(self) -> int:
        """By how much the degree of an entry is above that of its denominator, or 0."""
        return max((max(e.above.degree() - e.below.degree(), 0) for e in self.entries), default=0)

    def _between(self, kind: Any, values: Sequence[Any]) -> Any:
        """U' M V with values in the place of the functions."""
        wide = len(self._right)
        flat: list[Any] = [0] * (len(self._left) * wide)
        for entry, value in zip(self.entries, values, strict=True):
            place = entry.left * wide + entry.right
            flat[place] = flat[place] + value
        if not flat:
            return kind(self.size, self.size)
        left, right = (flint.fmpq_mat(x) for x in (self._left, self._right))
        return kind(left.transpose()) * kind(len(self._left), wide, flat) * kind(right)

    def at(self, point: Any) -> Any:
        """The matrix at a rational; ZeroDivisionError at a pole."""
        return self._between(
            flint.fmpq_mat, [e.above(point) / e.below(point) for e in self.entries]
        )

    def over(self, ball: Any, order: int = 0) -> Any:
        """A matrix of balls that holds the values, or derivatives up to the second, at all points of a ball."""
        return self._between(
            flint.arb_mat, [over_ball(e.above, e.below, ball, order) for e in self.entries]
        )

    @cached_property
    def _floats(self) -> tuple[FloatBalls, FloatBalls] | None:
        """Numerators, with denominators unless all are 1, and what each function multiplies; None beyond floats."""
        above, below = [e.above for e in self._single], [e.below for e in self._single]
        degrees = [p.degree() for p in (*above, *below)]
        degrees += [len(p) - 1 for block in self._blocks for p in (block.above, block.below or [1])]
        count = 1 + max(0, *degrees)
        places = [
            np.concatenate(
                [[e[k] for e in self._single], *(b[k - 2] for b in self._blocks)]
            ).astype(int)
            for k in (2, 3)
        ]
        if count > LARGEST_DEGREE or len(places[0]) * self.size**2 > MOST_FLOATS:
            return None
        try:
            numerators, denominators = (
                FloatBalls.joined(
                    [coefficients(single, count), *(_in_floats(p, b.left, count) for p, b in many)],
                    axis=1,
                )
                for single, many in (
                    (above, [(b.above, b) for b in self._blocks]),
                    (below, [(b.below or [], b) for b in self._blocks]),
                )
            )
            left, right = (rows_in_floats(x, self.size) for x in (self._left, self._right))
            single = left[[e.left for e in self._single]]
            known: dict[int, FloatBalls] = {}
            u = FloatBalls.joined([single, *(b.weighed(left, known) for b in self._blocks)])
            v = right[places[1]]
        except OverflowError:
            return None
        products = u[:, :, None] * v[:, None, :]
        polynomial = not self._blocks and all(p is ONE for p in below)
        flat = products.shaped((len(places[0]), self.size**2))
        if not polynomial:
            numerators = FloatBalls.joined([numerators, denominators], axis=1)
        return numerators, flat

    def in_floats(self, middle: Any, radius: Any, chosen: Any = None) -> Three | None:
        """Values and slopes at floats, and second derivatives within a radius of each; None beyond floats.

        Each is of shape (..., size, size) for arrays (...), and unbounded where there may be a pole.
        Of all entries some are ``chosen`` for each float: a mask (..., m).
        """
        if self._floats is None:
            return None
        if chosen is None:
            chosen = self.chosen
        functions, products = self._floats
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            three = three_of(functions, len(products.middle), middle, radius)
            if chosen is not None:
                three = (three[0].where(chosen), three[1].where(chosen), three[2].where(chosen))
            flat = [f @ products for f in three]
        shape = (*np.shape(middle), self.size, self.size)
        value, slope, bend = (x.shaped(shape) for x in flat)
        return value, slope, bend


def _in_floats(part: list[Any], entries: Any, count: int) -> FloatBalls:
    """Coefficients of a block, a column each: (count, m)."""
    middle = np.zeros((count, len(entries)))
    for row, values in zip(middle, part, strict=False):
        row[:] = list(map(float, values.tolist()))
    radius = EPS * np.abs(middle) + TINY
    radius[len(part) :] = 0.0
    return FloatBalls(middle, radius)
