"""The numbers of all outcomes by columns, for a rule that runs on them once.

Exact numbers and formulas are those of :mod:`~obliquetd.dynamics.field_columns`. Floats carry the bounds on their
errors along (:mod:`~obliquetd.dynamics.rounded_columns`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from obliquetd.algebra import FloatMatrix
from obliquetd.algebra.rounding import EPS, roundings
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.feature_tables import features_of
from obliquetd.dynamics.field_columns import FieldColumns, FormulaColumns
from obliquetd.dynamics.rounded import SMALLEST
from obliquetd.dynamics.rounded_columns import RoundedColumn, datum, one_number
from obliquetd.dynamics.terms import OneRun
from obliquetd.learners.forms import Form, NoFormError
from obliquetd.problem.native import Operators

__all__ = ["FloatColumns", "columns_of"]


class FloatColumns(OneRun):
    """Floats with error bounds, of some outcomes; parameters as for :class:`FieldColumns`.

    ``known_dots`` has inner products of these outcomes that were made before.
    """

    def __init__(
        self, ops: Operators, places: dict[str, Any], *, strict: bool, known_dots: Any = None
    ) -> None:
        super().__init__(places, strict=strict)
        self.ops, self.arithmetic = ops, ops.arithmetic
        self.known_dots: dict[Any, RoundedColumn] | None = known_dots

    def constant(self, value: Any) -> RoundedColumn:
        """A column with one number, of a rule's text or of a column."""
        return value if isinstance(value, RoundedColumn) else one_number(float(value))

    def native(self, value: Any) -> RoundedColumn:
        """A column with one native number."""
        return one_number(float(value))

    def column(self, values: Any) -> RoundedColumn:
        """A column of native numbers; of one, where they are all the same."""
        first = values[:1]
        return datum(first if len(first) and (values == first[0]).all() else values)

    def product(self, a: RoundedColumn, b: RoundedColumn) -> RoundedColumn:
        """The product for each outcome."""
        return a * b

    def quotient(self, a: RoundedColumn, b: RoundedColumn) -> RoundedColumn:
        """The quotient for each outcome; equal floats stand for one number, so that theirs is 1."""
        found, same = a / b, a.value == b.value
        if same.all():
            return one_number(1.0)
        return RoundedColumn(found.value, np.where(same, 0.0, found.error)) if same.any() else found

    def signs(self, column: RoundedColumn) -> Any:
        """-1, 0 or 1 for each outcome.

        What may be 0 for all that is known counts as positive: a positive part, max(x, 0), is then x with its
        bound, and not a 0 that hides it.
        """
        if not np.isfinite(column.value).all():
            raise NoFormError("beyond the range of floats")
        return np.where(_open(column), 1.0, np.sign(column.value))

    def zeros(self, column: RoundedColumn) -> Any:
        """Whether the number is 0, for each outcome."""
        if _open(column).any():
            raise NoFormError("a zero that the rounding of a float leaves open")
        return column.value == 0

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
        """The inner products of two combinations, each of rows of features with columns beside them.

        Those of all outcomes by numbers and columns with names are kept with the problem.
        """
        key = None if self.known_dots is None else (_key_of(u), _key_of(v))
        if key is None or None in key:
            return self._dots(u, v)
        assert self.known_dots is not None
        if key not in self.known_dots:
            if len(self.known_dots) >= MOST_DOTS:
                self.known_dots.clear()
            self.known_dots[key] = self._dots(u, v)
        return self.known_dots[key]

    def _dots(self, u: Any, v: Any) -> RoundedColumn:
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
            total, size, error = (
                np.asarray(x.sum(axis=1)).ravel() for x in (product, abs(product), bound)
            )
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
                bound = (
                    found.error[at].T * np.abs(by) + np.abs(value) * by_error + np.abs(part) * EPS
                )
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


def _key_of(parts: Any) -> Any:
    """What names a combination of rows of features: its vectors, and the names or numbers beside them."""
    names = [column.key for _, column in parts]
    return (
        None
        if None in names
        else tuple((vector, x) for (vector, _), x in zip(parts, names, strict=True))
    )


def _alike(u: Any, v: Any) -> bool:
    """Whether two combinations are of the same rows with the same columns."""
    return len(u) == len(v) and all(a == b and x is y for (a, x), (b, y) in zip(u, v, strict=True))


MOST_DOTS: Way[int] = 8
"""Columns of inner products that are kept with a problem."""
STRETCH: Way[int] = 2**14
"""Entries of the combinations of features that are made at a time: few enough for a processor's own memory."""


def _stretches(m: int, d: int) -> list[slice]:
    """The outcomes 0, ..., m - 1, as many at a time as :data:`STRETCH` allows."""
    step = max(1, STRETCH // max(1, d))
    return [slice(k, k + step) for k in range(0, m, step)] or [slice(0, 0)]


def columns_of(
    ops: Operators, places: dict[str, Any], *, strict: bool = False, named: Any = None
) -> Any:
    """The columns of the problem's kind of numbers, of which ``named`` keeps what has names."""
    if ops.arithmetic.kind == "float":
        known = named.dots if named is not None and named.has_all(places) else None
        return FloatColumns(ops, places, strict=strict, known_dots=known)
    kind = FieldColumns if ops.arithmetic.kind == "exact" else FormulaColumns
    return kind(ops, places, strict=strict)


def _open(column: RoundedColumn) -> Any:
    """For which outcomes the bounds leave open whether a number is 0."""
    if column.relative is not None:
        return np.zeros(len(column), dtype=bool)
    error = column.error
    return (error >= np.abs(column.value)) & (error > 0)
