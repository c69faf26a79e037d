"""Products of a problem's own columns of floats, known by the names of their factors until they are needed.

The columns that a rule makes of a problem's chances, discounts and rewards are mostly products of them, and the same
ones for most learners: rho, or rho times a reward. A :class:`Monomial` is such a product times a number. Two are
multiplied by putting their names together; and what all outcomes add up to for the names, weighted and between two
tables of features, is found once and kept with the problem, in :class:`Named`. So a second learner, or the
same one asked again, adds up a few small matrices where the first added up all outcomes.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from obliquetd.algebra import FloatMatrix
from obliquetd.algebra.rounding import EPS
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.rounded import NORMAL, SMALLEST, UNIT
from obliquetd.dynamics.rounded_columns import RoundedColumn

__all__ = ["PARTS", "Monomial", "Named", "kept_where"]

PARTS = ("all", "moving", "staying")
"""Of the outcomes: all, or those that lead to another state, or those that stay in theirs."""
MOST_WEIGHTS: Way[int] = 8
"""Weights of the outcomes that are kept with a problem."""
MOST_KEPT: Way[int] = 2**20
"""Entries of all sums that are kept with a problem."""


class Named:
    """Columns of all outcomes of some states, by name.

    Parameters
    ----------
    rows : dict of str to array of int
        For each outcome the states that its rows of features stand for.
    """

    def __init__(self, rows: dict[str, Any]) -> None:
        self.count = len(rows["s"])
        self._rows = rows
        self._columns: dict[str, RoundedColumn] = {}
        self._monomials: dict[int, Monomial] = {}
        self._weights: dict[int, tuple[RoundedColumn, dict[str, Any]]] = {}
        self._sums: dict[Any, FloatMatrix] = {}
        self._filled: dict[str, tuple[bool, bool]] = {}
        self.not_zero: set[tuple[str, ...]] = set()
        self.dots: dict[Any, RoundedColumn] = {}

    def has_all(self, places: dict[str, Any]) -> bool:
        """Whether rows are those of all outcomes."""
        return all(rows is self._rows.get(name) for name, rows in places.items())

    def named(self, name: str, column: Any) -> Any:
        """A column as a monomial; itself where it has one number for all outcomes."""
        if len(column) == 1 or len(column) != self.count:
            return column
        if id(column) not in self._monomials:
            self._columns[name] = column
            self._monomials[id(column)] = Monomial(self, (name,))
        return self._monomials[id(column)]

    @functools.cached_property
    def stays(self) -> Any:
        """Which outcomes stay in their state."""
        return self._rows["s"] == self._rows["n"]

    @functools.cached_property
    def parts(self) -> tuple[str, ...]:
        """The parts that count by themselves."""
        if not self.stays.any():
            return PARTS[:1]
        return PARTS[2:] if self.stays.all() else PARTS[1:]

    def weighed(self, weights: Any, part: str) -> Any:
        """Weights of the outcomes, and 0 of those that are not of a part."""
        known = self._weights.get(id(weights))
        if known is None:
            made = weights.made() if isinstance(weights, Monomial) else weights
            known = weights, {PARTS[0]: made}
            if len(self._weights) < MOST_WEIGHTS:
                self._weights[id(weights)] = known
        found = known[1]
        if part not in found:
            mask = self.stays if part == PARTS[2] else ~self.stays
            found[part] = kept_where(mask, found[PARTS[0]])
        if id(weights) in self._weights:
            return self.named(
                f"weight {list(self._weights).index(id(weights))} {part}", found[part]
            )
        return found[part]

    def column(self, name: str) -> RoundedColumn:
        """The column of a name."""
        return self._columns[name]

    def filled(self, name: str) -> tuple[bool, bool]:
        """Whether a column has an entry that is not 0, and whether it has no other."""
        if name not in self._filled:
            column = self._columns[name]
            known = bool(column.value.all())
            some = known or bool(
                column.value.any() or (column.relative is None and column.error.any())
            )
            self._filled[name] = some, known
        return self._filled[name]

    def total(self, monomial: Monomial, key: Any, make: Callable[[Any, RoundedColumn], Any]) -> Any:
        """What a monomial adds up to, kept by its names and a key.

        ``make`` is given the outcomes that count, None for all, and the product of the columns for them.
        """
        place = monomial.names, key
        found = self._sums.get(place)
        if found is None:
            few = any(name.endswith(PARTS[2]) for name in monomial.names)
            at = np.flatnonzero(self.stays) if few else None
            columns = (self._columns[name] for name in monomial.names)
            found = make(
                at,
                functools.reduce(operator.mul, columns if at is None else (c[at] for c in columns)),
            )
            found = FloatMatrix(found.dense(), error=found.dense_error())
            if sum(x.array.size for x in self._sums.values()) + found.array.size > MOST_KEPT:
                self._sums.clear()
            self._sums[place] = found
        return monomial.times(found)


class Monomial(RoundedColumn):
    """A number times a product of columns, by their names.

    Attributes
    ----------
    table : Named
    names : tuple of str
    factor : float
    rounded : float
        A bound on the relative error of the factor.
    """

    __slots__ = ("_whole", "factor", "names", "rounded", "table")

    def __init__(
        self, table: Named, names: tuple[str, ...], factor: float = 1.0, rounded: float = 0.0
    ) -> None:
        self.table, self.names, self.factor, self.rounded = table, names, factor, rounded
        self._whole: RoundedColumn | None = None

    def made(self) -> RoundedColumn:
        """The column itself."""
        if self._whole is None:
            found = functools.reduce(operator.mul, map(self.table.column, self.names))
            if self.factor == -1.0 and not self.rounded:
                found = -found
            elif self.factor != 1.0 or self.rounded:
                found = found * RoundedColumn(np.array([self.factor]), None, self.rounded)
            self._whole = found
        return self._whole

    def times(self, found: FloatMatrix) -> FloatMatrix:
        """The factor times what the columns alone add up to."""
        if self.factor == 1.0 and not self.rounded:
            return found
        value, size = found.array * self.factor, abs(self.factor)
        error = found.error * size
        if self.rounded or size != 1.0:
            error = error + np.abs(value) * (self.rounded + EPS) + SMALLEST * (found.array != 0)
        return FloatMatrix(value, error=error)

    @property
    def key(self) -> Any:
        """The names and the number."""
        return self.names, self.factor, self.rounded

    @property
    def value(self) -> Any:
        """The numbers of all outcomes."""
        return self.made().value

    @property
    def error(self) -> Any:
        """The bound on the error of each."""
        return self.made().error

    @property
    def relative(self) -> float | None:  # type: ignore[override]
        """The bound on all of their relative errors, where there is one."""
        return self.made().relative

    def is_zero(self) -> bool:
        """Whether it is 0 for every outcome."""
        if self.factor == 0.0:
            return True
        if self.names in self.table.not_zero:
            return False
        filled = [self.table.filled(name) for name in self.names]
        if all(some for some, _ in filled) and sum(not every for _, every in filled) <= 1:
            self.table.not_zero.add(self.names)
            return False
        found = self.made()
        return not (found.value.any() or (found.relative is None and found.error.any()))

    def __getitem__(self, at: Any) -> RoundedColumn:
        return self.made()[at]

    def __len__(self) -> int:
        return self.table.count

    def __neg__(self) -> Monomial:
        return Monomial(self.table, self.names, -self.factor, self.rounded)

    def __mul__(self, other: RoundedColumn) -> RoundedColumn:
        if isinstance(other, Monomial):
            if other.table is not self.table:
                return self.made() * other.made()
            names, factor, rounded = self.names + other.names, other.factor, other.rounded
            names = tuple(sorted(names))
        elif len(other) == 1 and other.relative is not None:
            names, factor, rounded = self.names, float(other.value[0]), other.relative
        else:
            return self.made() * other
        if self.factor and factor and not abs(self.factor * factor) >= NORMAL:  # digits are lost
            return self.made() * (other.made() if isinstance(other, Monomial) else other)
        both = self.rounded + rounded + self.rounded * rounded
        if abs(self.factor) != 1.0 and abs(factor) != 1.0:
            both += UNIT
        return Monomial(self.table, names, self.factor * factor, both)

    __rmul__ = __mul__

    def __add__(self, other: RoundedColumn) -> RoundedColumn:
        if not isinstance(other, Monomial):
            return self.made() + other
        if other.table is not self.table or other.names != self.names:
            return self.made() + other.made()
        factor = self.factor + other.factor
        error = abs(self.factor) * self.rounded + abs(other.factor) * other.rounded
        if factor == 0.0:
            if error:
                return self.made() + other.made()
            return Monomial(self.table, self.names, 0.0)
        return Monomial(self.table, self.names, factor, error / abs(factor) + UNIT)

    __radd__ = __add__

    def __truediv__(self, other: RoundedColumn) -> RoundedColumn:
        return self.made() / (other.made() if isinstance(other, Monomial) else other)

    def __rtruediv__(self, other: RoundedColumn) -> RoundedColumn:
        return other / self.made()


def kept_where(mask: Any, column: RoundedColumn) -> RoundedColumn:
    """A column with 0 where a mask is false."""
    value = np.where(mask, column.value, 0.0)
    if column.relative is not None:
        return RoundedColumn(value, None, column.relative)
    return RoundedColumn(value, np.where(mask, column.error, 0.0))
