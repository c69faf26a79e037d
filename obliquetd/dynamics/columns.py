"""The numbers of all outcomes by columns, for a rule that runs on them once.

Exact numbers and formulas are arrays of objects. Floats carry the bounds on their errors along, as
:class:`~obliquetd.dynamics.scalars.Rounded` does for one number, in the same arithmetic and order.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from obliquetd.algebra import FloatMatrix, Matrix
from obliquetd.algebra.rounding import BLOCK, EPS, roundings
from obliquetd.algebra.split_columns import SplitColumn, once
from obliquetd.algebra.tall import blocks
from obliquetd.dynamics.scalars import DYADIC, NORMAL, SMALLEST, UNIT
from obliquetd.dynamics.terms import OneRun
from obliquetd.learners.forms import Form, NoFormError
from obliquetd.problem.native import Operators

__all__ = ["FieldColumns", "FloatColumns", "FormulaColumns", "RoundedColumn", "columns_of", "datum", "features_of"]


class RoundedColumn:
    """Floats with a bound on the error of each; see :class:`~obliquetd.dynamics.scalars.Rounded`.

    A product of data has one *relative* bound for all of its entries, from which the bounds are
    made where they are asked for; a sum, whose terms may cancel, has a bound for each.
    """

    __array_ufunc__ = None
    __slots__ = ("_error", "relative", "value")

    def __init__(self, value: Any, error: Any = None, relative: float | None = None) -> None:
        self.value, self._error, self.relative = value, error, relative

    @property
    def error(self) -> Any:
        """The bound on the error of each entry."""
        if self._error is None:
            return abs(self.value) * self.relative  # not kept: it is as large as the data
        return self._error

    def __getitem__(self, at: Any) -> RoundedColumn:
        if self.relative is not None:
            return RoundedColumn(self.value[at], None, self.relative)
        return RoundedColumn(self.value[at], self.error[at])

    def __len__(self) -> int:
        return len(self.value)

    def __add__(self, other: RoundedColumn) -> RoundedColumn:
        value = self.value + other.value
        return RoundedColumn(value, self.error + other.error + UNIT * abs(value))

    def __neg__(self) -> RoundedColumn:
        return RoundedColumn(-self.value, self._error, self.relative)

    def __sub__(self, other: RoundedColumn) -> RoundedColumn:
        return self + -other

    def __mul__(self, other: RoundedColumn) -> RoundedColumn:
        a, b = self.value, other.value
        value = a * b
        size = abs(value)
        tiny = size < NORMAL
        lost = tiny.any() and tiny & ((a != 0) | (self.error != 0)) & (
            (b != 0) | (other.error != 0)
        )
        if self.relative is not None and other.relative is not None and not np.any(lost):
            both = self.relative + other.relative + self.relative * other.relative
            return RoundedColumn(value, None, both + UNIT)
        error = abs(a) * other.error + abs(b) * self.error + self.error * other.error + UNIT * size
        return RoundedColumn(value, error + SMALLEST * lost)

    def __truediv__(self, other: RoundedColumn) -> RoundedColumn:
        value = self.value / other.value
        if self.relative is not None and other.relative is not None:
            if not other.value.all():
                raise NoFormError("a division by what may be 0")
            both = (self.relative + other.relative) / (1 - other.relative)
            return RoundedColumn(value, None, both + UNIT)
        below = abs(other.value) - other.error
        if not (below > 0).all():
            raise NoFormError("a division by what may be 0")
        error = (self.error + abs(value) * other.error) / below
        return RoundedColumn(value, error + UNIT * abs(value))


def datum(values: Any) -> RoundedColumn:
    """Floats that came in: 0.5 is exact, 0.1 is not."""
    array = np.asarray(values, dtype=float)
    exact = _dyadic(array)
    if exact.all():
        return RoundedColumn(array, None, 0.0)
    if not (exact & (array != 0)).any():
        return RoundedColumn(array, None, UNIT)
    return RoundedColumn(array, np.where(exact, 0.0, abs(array) * UNIT))


@lru_cache(256)
def _one_number(value: float) -> RoundedColumn:
    """A column of one number, the same one each time: a rule asks for its constants again and again."""
    return datum([value])


def _dyadic(array: Any) -> Any:
    """Which floats have so few binary digits that they are taken to be meant."""
    return (abs(array) < 1e9) & (np.floor(array * DYADIC) == array * DYADIC)


def features_of(ops: Operators, table: str) -> Matrix:
    """A table of features; floats with the bounds of what came in. It is kept with the operators."""
    known = ops.__dict__.setdefault("_tables", {})
    if table not in known:
        known[table] = _read(ops.Phi if table == "now" else ops.features_next)
    return known[table]  # type: ignore[no-any-return]


def _read(found: Matrix) -> Matrix:
    if not isinstance(found, FloatMatrix):
        return found
    if not found.sparse and found.shape[0] > BLOCK:
        exact = [_dyadic(found.array[p]) for p in blocks(found.shape[0])]
        if all(x.all() for x in exact):
            return FloatMatrix(found.array, error=0.0)
        if not any(x.any() for x in exact):
            return FloatMatrix(found.array, error=UNIT)
    if found.sparse:
        array = found.array.tocsr(copy=True)
        array.data = datum(array.data).error
        return FloatMatrix(found.array, error=array)
    entries = datum(found.array)
    return FloatMatrix(
        found.array, error=entries.error if entries.relative is None else entries.relative
    )


class FieldColumns(OneRun):
    """Rationals, or rational functions, of some outcomes.

    Parameters
    ----------
    ops : Operators
    places : dict of str to array of int
        The rows of the features, by the name of a row.
    strict : bool
    """

    def __init__(self, ops: Operators, places: dict[str, Any], *, strict: bool) -> None:
        super().__init__(places, strict=strict)
        self.ops, self.arithmetic = ops, ops.arithmetic
        self._constants: dict[Any, Any] = {}

    def constant(self, value: Any) -> Any:
        """A column with one number, of a rule's text or of a column."""
        if isinstance(value, float):
            raise NoFormError("a float meets exact numbers")
        if isinstance(value, Fraction | int):
            if value not in self._constants:
                self._constants[value] = self._lifted(value)
            return self._constants[value]
        return self.native(value)

    def _lifted(self, value: Any) -> Any:
        one = self.arithmetic.one
        if isinstance(value, Fraction):
            return self.native(one * value.numerator / (one * value.denominator))
        return self.native(one * value)

    def native(self, value: Any) -> Any:
        """A column with one native number."""
        out = np.empty(1, dtype=object)
        out[0] = value
        return out

    def column(self, values: Any) -> Any:
        """A column of native numbers; of one, where they are all the same."""
        if not len(values):
            return values
        first = values[0]
        same = all(x is first or x == first for x in values.tolist())
        return values[:1] if same else values

    def product(self, a: Any, b: Any) -> Any:
        """The product for each outcome; of formulas, each pair of which is multiplied once."""
        return a * b if self.arithmetic.kind == "exact" else once(operator.mul, a, b)

    def quotient(self, a: Any, b: Any) -> Any:
        """The same for a quotient."""
        return a / b if self.arithmetic.kind == "exact" else once(operator.truediv, a, b)

    def signs(self, column: Any) -> Any:
        """-1, 0 or 1 for each outcome."""
        return np.array([self.arithmetic.sign(x) if x else 0 for x in column.tolist()])

    def zeros(self, column: Any) -> Any:
        """Whether the number is 0, for each outcome."""
        return np.array([not x for x in column.tolist()])

    def is_zero(self, column: Any) -> bool:
        """Whether a column is 0 for every outcome."""
        return not any(column.tolist())

    def inner(self, u: Form, v: Form, half: int | None) -> Any:
        """From the inner products of rows, each computed once."""

        def made() -> Any:
            total = self.constant(0)
            for (a, _), x in u.terms.items():
                for (b, _), y in v.terms.items():
                    total = total + x * y * self._dots(a, b)
            return total

        return self.halved(self.kept(u, v, made), half)

    def _dots(self, a: Any, b: Any) -> Any:
        (left, i), (right, j) = ((x[1], self.places[x[2]]) for x in (a, b))
        known = _gram(self.ops, left, right)
        out = np.empty(len(i), dtype=object)
        for k, pair in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
            out[k] = known[pair]
        return out


class FormulaColumns(FieldColumns):
    """Rational functions, split into integers and few formulas where they were not added up."""

    def constant(self, value: Any) -> Any:
        return value if isinstance(value, SplitColumn) else super().constant(value)

    def native(self, value: Any) -> Any:
        return self.arithmetic.split(super().native(value))

    def column(self, values: Any) -> Any:
        if not len(values):
            return values
        found = self.arithmetic.split(values)
        return found[:1] if found.is_constant else found

    def product(self, a: Any, b: Any) -> Any:
        if isinstance(a, SplitColumn) and isinstance(b, SplitColumn):
            return a * b
        return super().product(a, b)

    def quotient(self, a: Any, b: Any) -> Any:
        return self.arithmetic.split(super().quotient(a, b))

    def is_zero(self, column: Any) -> bool:
        if isinstance(column, SplitColumn):
            return not column.whole.any()
        return super().is_zero(column)


class _Gram(dict):  # type: ignore[type-arg]
    """The inner products of rows of two tables, each computed when it is first asked for."""

    def __init__(self, left: Matrix, right: Matrix, zero: Any) -> None:
        self.left, self.right, self.zero = left.rows(), right.rows(), zero

    def __missing__(self, pair: tuple[int, int]) -> Any:
        rows = zip(self.left[pair[0]], self.right[pair[1]], strict=True)
        self[pair] = found = sum((x * y for x, y in rows if x and y), self.zero)
        return found


def _gram(ops: Operators, left: str, right: str) -> _Gram:
    found = ops.__dict__.setdefault("_grams", {})
    if (left, right) not in found:
        tables = features_of(ops, left), features_of(ops, right)
        found[left, right] = _Gram(*tables, ops.arithmetic.zero)
    return found[left, right]  # type: ignore[no-any-return]


class FloatColumns(OneRun):
    """Floats with error bounds, of some outcomes; parameters as for :class:`FieldColumns`."""

    def __init__(self, ops: Operators, places: dict[str, Any], *, strict: bool) -> None:
        super().__init__(places, strict=strict)
        self.ops, self.arithmetic = ops, ops.arithmetic

    def constant(self, value: Any) -> RoundedColumn:
        """A column with one number, of a rule's text or of a column."""
        return value if isinstance(value, RoundedColumn) else _one_number(float(value))

    def native(self, value: Any) -> RoundedColumn:
        """A column with one native number."""
        return _one_number(float(value))

    def column(self, values: Any) -> RoundedColumn:
        """A column of native numbers; of one, where they are all the same."""
        first = values[:1]
        return datum(first if len(first) and (values == first[0]).all() else values)

    def product(self, a: RoundedColumn, b: RoundedColumn) -> RoundedColumn:
        """The product for each outcome."""
        return a * b

    def quotient(self, a: RoundedColumn, b: RoundedColumn) -> RoundedColumn:
        """The quotient for each outcome."""
        return a / b

    def signs(self, column: RoundedColumn) -> Any:
        """-1, 0 or 1 for each outcome."""
        if not np.isfinite(column.value).all():
            raise NoFormError("beyond the range of floats")
        return np.sign(column.value)

    def zeros(self, column: RoundedColumn) -> Any:
        """Whether the number is 0, for each outcome."""
        return self.signs(column) == 0

    def is_zero(self, column: RoundedColumn) -> bool:
        """Whether a column is 0 for every outcome."""
        known = getattr(column, "is_zero", None)
        if known is not None:
            return bool(known())
        if len(column) and column.value[0]:
            return False
        return not (column.value.any() or (column.relative is None and column.error.any()))

    def inner(self, u: Form, v: Form, half: int | None) -> RoundedColumn:
        """Row by row of the combinations themselves: their parts may cancel."""

        def made() -> RoundedColumn:
            return self.dots(*([(k[0], c) for k, c in x.terms.items()] for x in (u, v)))

        found: RoundedColumn = self.halved(self.kept(u, v, made), half)
        return found

    def dots(self, u: Any, v: Any) -> RoundedColumn:
        """The inner products of two combinations, each of rows of features with columns beside them."""
        m = len(next(iter(self.places.values())))
        u, v = (u, u) if _alike(u, v) else (u, v)
        parts = [self._inner(u, v, p) for p in _stretches(m, self.ops.Phi.shape[1])]
        value, error = (np.concatenate(part) for part in zip(*parts, strict=True))
        return RoundedColumn(value, error)

    def part(self, outcomes: Any) -> FloatColumns:
        """The columns of some of the outcomes, by their places."""
        places = {name: rows[outcomes] for name, rows in self.places.items()}
        return FloatColumns(self.ops, places, strict=self.strict)

    def _inner(self, u: Any, v: Any, outcomes: slice) -> tuple[Any, Any]:
        """The same of some of the outcomes, so that what is on the way stays small."""
        d = self.ops.Phi.shape[1]
        if features_of(self.ops, u[0][0][1]).sparse:  # type: ignore[attr-defined]
            left = self._combined(u, outcomes)
            right = left if v is u else self._combined(v, outcomes)
            a, b = left.array, right.array
            product = a * b
            bound = abs(a) * right.error + left.error * (abs(b) + right.error)
            total, size, error = (np.asarray(x.sum(axis=1)).ravel() for x in (product, abs(product), bound))
            return total, error + roundings(d) * size
        with np.errstate(all="ignore"):
            a, a_error = self._turned(u, outcomes)
            b, b_error = (a, a_error) if v is u else self._turned(v, outcomes)
            product = a * b
            bound = np.abs(a) * b_error + a_error * (np.abs(b) + b_error)
            # over the first axis numpy adds one by one, as a rule's loop does
            total, error = (np.add.reduce(x, axis=0) for x in (product, bound))
            return total, error + roundings(d) * np.add.reduce(np.abs(product), axis=0)

    def _turned(self, parts: Any, outcomes: slice) -> tuple[Any, Any]:
        """Combinations of rows of dense features, an outcome a column, and the bounds on their errors."""
        total = error = None
        for (_, table, row), column in parts:
            found: Any = features_of(self.ops, table)
            at = self.places[row][outcomes]
            value = np.ascontiguousarray(found.array[at].T)
            by = column.value if len(column) == 1 else column.value[outcomes]
            unit = len(by) == 1 and by[0] == 1.0 and column.relative == 0.0
            part = value if unit else value * by
            if found.relative is not None and column.relative is not None:
                bound = np.abs(part) * (found.relative + column.relative + (0.0 if unit else EPS))
            else:
                by_error = column.error if len(column) == 1 else column.error[outcomes]
                bound = found.error[at].T * np.abs(by) + np.abs(value) * by_error + np.abs(part) * EPS
            bound += SMALLEST
            if total is None:
                total, error = part, bound
            else:
                total = total + part
                error = error + bound + np.abs(total) * EPS
        return total, error

    def _combined(self, parts: Any, outcomes: slice) -> FloatMatrix:
        total: Any = None
        for (_, table, row), column in parts:
            found = features_of(self.ops, table)
            assert isinstance(found, FloatMatrix)
            at = self.places[row][outcomes]
            value, error = (x if len(x) == 1 else x[outcomes] for x in (column.value, column.error))
            by = FloatMatrix(
                np.broadcast_to(value, len(at)).reshape(-1, 1),
                error=np.broadcast_to(error, len(at)).reshape(-1, 1),
            )
            part = found.part(at).scale_rows(by)
            total = part if total is None else total + part
        return total  # type: ignore[no-any-return]


def _alike(u: Any, v: Any) -> bool:
    """Whether two combinations are of the same rows with the same columns."""
    return len(u) == len(v) and all(a == b and x is y for (a, x), (b, y) in zip(u, v, strict=True))


STRETCH = 2**14
"""Entries of the combinations of features that are made at a time: few enough for a processor's own memory."""


def _stretches(m: int, d: int) -> list[slice]:
    """The outcomes 0, ..., m - 1, as many at a time as :data:`STRETCH` allows."""
    step = max(1, STRETCH // max(1, d))
    return [slice(k, k + step) for k in range(0, m, step)] or [slice(0, 0)]


def columns_of(ops: Operators, places: dict[str, Any], *, strict: bool = False) -> Any:
    """The columns of the problem's kind of numbers."""
    kind = {"float": FloatColumns, "exact": FieldColumns, "symbolic": FormulaColumns}
    return kind[ops.arithmetic.kind](ops, places, strict=strict)
