"""Numbers that a learner's rule can run on: the problem's own, with what has to be known of them.

A rule compares with 0. Rationals can; a rational function's sign depends on its symbol:
:class:`Signed` passes the arithmetic through and asks the problem's arithmetic for the sign,
which answers or raises ``SignUndecidedError``. A float has a sign, but may be nothing but
rounding noise: :class:`Rounded` carries a bound on that along.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import Arithmetic, FloatMatrix, Matrix
from obliquetd.dynamics.rounded import Rounded, bare
from obliquetd.errors import NumberError
from obliquetd.learners.dual import Dual

__all__ = [
    "Lifted",
    "Rounded",
    "Signed",
    "bare",
    "bounded_matrix",
    "lifted",
    "native_matrix",
    "plain",
    "rounded_entries",
    "rounded_rows",
    "unsigned",
]

LEAST = 1e-280
"""Results that are all smaller have lost digits to the floor of the floats."""


class Signed:
    """A native scalar of symbolic arithmetic with comparisons that do not lie."""

    __slots__ = ("arithmetic", "value")

    def __init__(self, value: Any, arithmetic: Arithmetic) -> None:
        self.value, self.arithmetic = value, arithmetic

    def _other(self, other: Any) -> Any:
        if isinstance(other, Signed):
            return other.value
        if isinstance(other, Dual | np.ndarray):
            return NotImplemented
        if isinstance(other, float):
            raise TypeError(f"the float {other} meets a formula")
        return other * self.arithmetic.one

    def _with(self, other: Any, operation: Any) -> Any:
        value = self._other(other)
        if value is NotImplemented:
            return value
        return Signed(operation(self.value, value), self.arithmetic)

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b / a)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Signed:
        return Signed(-self.value, self.arithmetic)

    def __pos__(self) -> Signed:
        return self

    def __abs__(self) -> Signed:
        return self if self.sign() >= 0 else -self

    def sign(self) -> int:
        """-1, 0 or 1, or SignUndecidedError."""
        return self.arithmetic.sign(self.value) if self.value else 0

    def _minus(self, other: Any) -> Signed:
        found: Signed = self - other
        return found

    def __eq__(self, other: object) -> bool:
        return not self._minus(other).value

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.arithmetic.public(self.value))

    def __gt__(self, other: Any) -> bool:
        return self._minus(other).sign() > 0

    def __lt__(self, other: Any) -> bool:
        return self._minus(other).sign() < 0

    def __ge__(self, other: Any) -> bool:
        return self._minus(other).sign() >= 0

    def __le__(self, other: Any) -> bool:
        return self._minus(other).sign() <= 0

    def __hash__(self) -> int:
        return hash(self.value)


def lifted(value: Any, arithmetic: Arithmetic) -> Any:
    """A native scalar as a number that a rule runs on."""
    if arithmetic.kind == "float":
        return value if isinstance(value, Rounded) else Rounded.datum(value)
    return Signed(value, arithmetic) if arithmetic.kind == "symbolic" else value


class Lifted:
    """A matrix as an array of two axes that a rule runs on, whose rows are made when they are asked for.

    A rule on numbers is run at a few states of many, and a row of objects takes forty times the
    memory of one of floats.
    """

    def __init__(self, matrix: Matrix, arithmetic: Arithmetic) -> None:
        self.matrix, self.arithmetic = matrix, arithmetic
        self.shape = matrix.shape
        self._rows: dict[int, npt.NDArray[Any]] = {}

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        if type(key) is tuple and len(key) == 2 and type(key[0]) is int:  # what rules ask for
            known = self._rows.get(key[0])
            if known is not None:
                return known[key[1]]
        at, *rest = key if isinstance(key, tuple) else (key,)
        if not isinstance(at, int | np.integer):
            return np.stack([self._row(i) for i in range(len(self))])[key]
        row = self._row(range(len(self))[at])
        return row[rest[0]] if rest else row

    def _row(self, i: int) -> npt.NDArray[Any]:
        if i not in self._rows:
            self._rows[i] = row = np.empty(self.shape[1], dtype=object)
            row[:] = [lifted(x, self.arithmetic) for x in self._native(i)]
        return self._rows[i]

    def _native(self, i: int) -> Any:
        if isinstance(self.matrix, FloatMatrix):
            return self.matrix.part(slice(i, i + 1)).dense()[0].tolist()
        return self._all[i]

    @cached_property
    def _all(self) -> list[list[Any]]:
        return self.matrix.rows()


def unsigned(value: Any, arithmetic: Arithmetic) -> Any:
    """What the expectation computes with in a rule's answer: native, or for floats ``Rounded``."""
    if isinstance(value, Signed):
        return value.value
    if isinstance(value, Rounded):
        return value
    return Rounded(float(value)) if arithmetic.kind == "float" else value * arithmetic.one


def plain(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Native scalars; for floats without their error bounds.

    Raises
    ------
    NumberError
        Where floats overflowed, or where all that is not zero is next to the smallest float.
    """
    flat = [x for row in rows for x in row]
    if not any(isinstance(x, Rounded) for x in flat):
        return [list(row) for row in rows]
    sizes = [abs(float(x)) for x in flat]
    if not all(map(math.isfinite, sizes)):
        raise NumberError(
            "the numbers of the update are beyond the range of floats (1.8e308); divide the features "
            "and rewards by a power of ten, or use arithmetic='exact'"
        )
    bounds = [x.error for x in flat if isinstance(x, Rounded)]
    largest = max(bounds)
    if max(sizes) < LEAST and (0 < largest < LEAST or math.isinf(largest)):
        raise NumberError(
            "the numbers of the update are below the range of floats (2.2e-308), where they lose their "
            "digits or become 0; multiply the features by a power of ten, or use arithmetic='exact'"
        )
    return [[float(x) for x in row] for row in rows]


def native_matrix(
    rows: Sequence[Sequence[Any]], shape: tuple[int, int], arithmetic: Arithmetic
) -> Matrix:
    """A matrix of the arithmetic; for floats one that carries the error bounds on, in their range."""
    plain(rows)  # refuses what is out of range
    return bounded_matrix(rows, shape, arithmetic)


def bounded_matrix(
    rows: Sequence[Sequence[Any]], shape: tuple[int, int], arithmetic: Arithmetic
) -> Matrix:
    """A matrix of the arithmetic; for floats one that carries the error bounds on, of whatever size."""
    if arithmetic.kind != "float":
        return arithmetic.matrix(rows, shape)
    bounds = [[x.error if isinstance(x, Rounded) else 0.0 for x in row] for row in rows]
    values = np.array([[float(x) for x in row] for row in rows], dtype=float).reshape(shape)
    return FloatMatrix(values, error=np.array(bounds, dtype=float).reshape(shape))


def rounded_rows(matrix: Matrix) -> list[list[Any]]:
    """The rows of a matrix, for floats with their error bounds: what :func:`bounded_matrix` takes."""
    if not isinstance(matrix, FloatMatrix):
        return matrix.rows()
    bounds = matrix.dense_error().tolist()
    return [
        [Rounded(v, e) for v, e in zip(*row, strict=True)]
        for row in zip(matrix.rows(), bounds, strict=True)
    ]


def rounded_entries(column: Matrix) -> list[Any]:
    """The entries of a column, for floats with their error bounds."""
    if not isinstance(column, FloatMatrix):
        return column.entries()
    bounds = column.dense_error().ravel().tolist()
    return [Rounded(v, e) for v, e in zip(column.entries(), bounds, strict=True)]
