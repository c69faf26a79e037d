"""Functions at places of a matrix, one by one or by columns, with the rows of two tables that they multiply."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import flint

from obliquetd.algebra.float_balls import FloatBalls
from obliquetd.algebra.quotients import ONE, parts_of

__all__ = ["Block", "Entry", "every", "rows_in_floats"]


class Entry(NamedTuple):
    """A function, a polynomial over another, and the rows of U and V that it multiplies."""

    above: Any
    below: Any
    left: int
    right: int

    @classmethod
    def of(cls, value: Any, left: int, right: int) -> Entry:
        """With a denominator whose leading coefficient is 1."""
        above, below = parts_of(value)
        lead = below[below.degree()]
        return (
            cls(above / lead, below / lead, left, right)
            if lead != 1
            else cls(above, below, left, right)
        )


class Block(NamedTuple):
    """Entries by columns: the numbers of their rows of U and V, and coefficients of the numerators and denominators.

    Coefficients are arrays of rationals from the constant on, each of one number or of one for each entry;
    ``below`` is None for polynomials. ``weight`` has a rational that each is to be multiplied by.
    """

    left: Any
    right: Any
    above: list[Any]
    below: list[Any] | None
    weight: Any

    def entries(self) -> Iterator[Entry]:
        """One by one."""
        count = len(self.left)
        above = zip(*(every(x * self.weight, count) for x in self.above), strict=True)
        below = (
            None if self.below is None else zip(*(every(x, count) for x in self.below), strict=True)
        )
        for z, v, N in zip(self.left.tolist(), self.right.tolist(), above, strict=True):
            D = ONE if below is None else flint.fmpq_poly(list(next(below)))
            yield Entry(flint.fmpq_poly(list(N)), D, z, v)

    def weighed(self, left: FloatBalls, known: dict[int, FloatBalls]) -> FloatBalls:
        """The rows of U times the weights, in floats; weights that blocks share are read once."""
        if id(self.weight) not in known:
            known[id(self.weight)] = FloatBalls.of_rationals(self.weight, (len(self.weight), 1))
        return left[self.left] * known[id(self.weight)]


def every(values: Any, count: int) -> list[Any]:
    """The entries of an array of one or of all."""
    return values.tolist() * (count if len(values) == 1 else 1)  # type: ignore[no-any-return]


def rows_in_floats(rows: Any, size: int) -> FloatBalls:
    """A list of rows of rationals."""
    return FloatBalls.of_rationals([x for row in rows for x in row], (len(rows), size))
