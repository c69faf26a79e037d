"""A square matrix U' M(x) V with polynomials at places of M and rational U and V."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import flint
import numpy as np

from obliquetd.algebra.entries import Block, every, rows_in_floats
from obliquetd.algebra.float_balls import FloatBalls
from obliquetd.algebra.float_functions import LARGEST_DEGREE, Three, three_of
from obliquetd.algebra.functions import FunctionMatrix
from obliquetd.algebra.quotients import ONE

__all__ = ["FactoredPolynomials"]


class FactoredPolynomials:
    """U' M(x) V with polynomials at places of M: in floats quickly, and exact as a matrix of polynomials when asked for.

    Parameters
    ----------
    blocks : sequence of Block
        Without denominators.
    left, right : list of rows
        U and V, of rationals.
    """

    chosen = None
    is_zero = False

    def __init__(self, blocks: Sequence[Block], left: Any, right: Any, size: int) -> None:
        self._blocks, self._left, self._right, self.size = list(blocks), left, right, size

    @property
    def whole(self) -> FactoredPolynomials:
        """Itself: it has no entries that are evaluated as part of more."""
        return self

    @cached_property
    def exact(self) -> FunctionMatrix:
        """The same with its entries added up."""
        wide = len(self._right)
        sums: list[list[Any]] = []
        for block in self._blocks:
            places = (block.left * wide + block.right).tolist()
            for power, values in enumerate(block.above):
                if len(sums) <= power:
                    sums.append([flint.fmpq(0)] * (len(self._left) * wide))
                total = sums[power]
                for place, value in zip(
                    places, every(values * block.weight, len(places)), strict=True
                ):
                    total[place] = total[place] + value
        left, right = (flint.fmpq_mat(x) for x in (self._left, self._right))
        powers = [left.transpose() * flint.fmpq_mat(len(self._left), wide, x) * right for x in sums]
        return FunctionMatrix({"1": (ONE, powers)}, self.size)

    @property
    def denominators(self) -> list[Any]:
        """The different ones: 1."""
        return self.exact.denominators

    @property
    def growth(self) -> int:
        """The degree."""
        return self.exact.growth

    def at(self, point: Any) -> Any:
        """The matrix at a rational."""
        return self.exact.at(point)

    def over(self, ball: Any, order: int = 0) -> Any:
        """A matrix of balls that holds the values, or derivatives up to the second, at all points of a ball."""
        return self.exact.over(ball, order)

    @cached_property
    def _floats(self) -> FloatBalls | None:
        """The coefficients of all entries of the matrix."""
        count = max(len(block.above) for block in self._blocks)
        if count > LARGEST_DEGREE:
            return None
        try:
            left, right = (rows_in_floats(x, self.size) for x in (self._left, self._right))
            zero = np.zeros((count, self.size, self.size))
            total = FloatBalls(zero, zero.copy())
            known: dict[int, FloatBalls] = {}
            for block in self._blocks:
                u, v = block.weighed(left, known).T, right[block.right]
                for power, values in enumerate(block.above):
                    part = (u * FloatBalls.of_rationals(values, (1, len(values)))) @ v
                    added = total[power] + part
                    total.middle[power], total.radius[power] = added.middle, added.radius
        except OverflowError:
            return None
        return total.shaped((count, self.size**2))

    def in_floats(self, middle: Any, radius: Any, chosen: Any = None) -> Three | None:  # noqa: ARG002
        """As :meth:`obliquetd.algebra.factored.FactoredFunctions.in_floats`."""
        if self._floats is None:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            three = three_of(self._floats, self.size**2, middle, radius)
        value, slope, bend = (x.shaped((*np.shape(middle), self.size, self.size)) for x in three)
        return value, slope, bend
