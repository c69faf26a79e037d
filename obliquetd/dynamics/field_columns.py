"""The numbers of outcomes by columns: rationals, as arrays of objects, and formulas.

A product of formulas stays split into integers and few formulas
(:mod:`~obliquetd.algebra.split_columns`) until it is added up.
"""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

import numpy as np

from obliquetd.algebra import Arithmetic, FieldArithmetic, Matrix
from obliquetd.algebra.split_columns import SplitColumn, once
from obliquetd.dynamics.feature_tables import features_of
from obliquetd.dynamics.terms import OneRun
from obliquetd.learners.forms import Form, NoFormError
from obliquetd.problem.native import Operators

__all__ = ["FieldColumns", "FormulaColumns"]


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
        self.ops = ops
        self.arithmetic: Arithmetic = ops.arithmetic
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

    def part(self, outcomes: Any) -> FieldColumns:
        """New columns of some of the outcomes, by their places."""
        places = {name: rows[outcomes] for name, rows in self.places.items()}
        return type(self)(self.ops, places, strict=self.strict)

    def _dots(self, a: Any, b: Any) -> Any:
        (left, i), (right, j) = ((x[1], self.places[x[2]]) for x in (a, b))
        known = _gram(self.ops, left, right)
        out = np.empty(len(i), dtype=object)
        for k, pair in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
            out[k] = known[pair]
        return out


class FormulaColumns(FieldColumns):
    """Rational functions, split into integers and few formulas where they were not added up."""

    arithmetic: FieldArithmetic

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
