"""What a matrix of floats does to each entry by itself, with the bound on its error."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from obliquetd.algebra.accuracy import dropped, quiet
from obliquetd.algebra.float_digits import ENTRYWISE, LEAST_DIGITS, check_digits
from obliquetd.algebra.rounding import EPS, NORMAL, SMALLEST, negligible, power_of_two
from obliquetd.algebra.storage import row_sizes

__all__ = ["Entrywise", "underflow"]


def underflow(left: Any, right: Any, bound: Any) -> Any:
    """What a product may have lost below the range of floats, where that counts beside its bound: nothing of zeros."""
    if bound.min(initial=NORMAL) >= NORMAL:
        return 0.0
    if max(bound.shape) > ENTRYWISE:  # where no entry is judged by itself
        return SMALLEST * left.shape[1]
    a, b = (abs(x.array) + x.error != 0 for x in (left, right))
    there = (a.astype(float) @ b.astype(float)) != 0
    return SMALLEST * left.shape[1] * there


class Entrywise:
    """The part of :class:`~obliquetd.algebra.floating.FloatMatrix` that looks at entries alone; abstract."""

    def _made(self: Any, *given: Any, **named: Any) -> Any:
        """A matrix of the same kind."""
        kind: Any = type(self)
        return kind(*given, **named)

    def settled(self: Any, what: str, exactly: Any = None, at_least: Any = 0) -> Any:
        """As :meth:`obliquetd.algebra.matrix.Matrix.settled`."""
        if self.relative is not None and self.relative <= LEAST_DIGITS:
            return self
        zeros = check_digits(what, self.array, self.error, exactly, float(at_least))
        return self if zeros is None else self._without(zeros)

    def _without(self: Any, zeros: Any) -> Any:
        """The matrix with 0 at some places."""
        array, error = self.dense().copy(), self.dense_error().copy()
        array[zeros] = error[zeros] = 0.0
        return self._made(array, self.report, error)

    def over(self: Any, other: Any) -> Any:
        """As :meth:`obliquetd.algebra.matrix.Matrix.over`."""
        a, b, a_error, b_error = (
            self.dense(),
            other.dense(),
            self.dense_error(),
            other.dense_error(),
        )
        found = quiet(lambda: np.divide(a, b, out=np.zeros_like(b), where=b != 0))

        def error() -> Any:
            below = np.abs(b) - b_error
            spread = a_error + np.abs(found) * b_error
            known = np.divide(spread, below, out=np.full_like(found, math.inf), where=below > 0)
            known += np.abs(found) * EPS + SMALLEST * (a != 0)
            return np.where((b == 0) & (b_error == 0), 0.0, known)

        return self._made(found, error=error)

    def positive_part(self: Any, leading: Any, sign: Any) -> Any:  # noqa: ARG002
        """As :meth:`obliquetd.algebra.matrix.Matrix.positive_part`."""
        x, e = self.dense(), self.dense_error()
        return self._made(np.maximum(x, 0.0), error=np.where(x + e > 0, e, 0.0))

    def kept(self: Any, mask: Any) -> Any:
        """As :meth:`obliquetd.algebra.matrix.Matrix.kept`."""
        error = np.where(mask, self.dense_error().T, 0.0).T
        return self._made(np.where(mask, self.dense().T, 0.0).T, error=error)

    def row_outer(self: Any, other: Any) -> Any:
        """As :meth:`obliquetd.algebra.matrix.Matrix.row_outer`."""
        a, b, a_error, b_error = (
            self.dense(),
            other.dense(),
            self.dense_error(),
            other.dense_error(),
        )

        def outer(x: Any, y: Any) -> Any:
            return (x[:, :, None] * y[:, None, :]).reshape(len(x), -1)

        found = quiet(lambda: outer(a, b))
        size_a, size_b = np.abs(a), np.abs(b)
        error = outer(size_a, b_error) + outer(a_error, size_b + b_error) + np.abs(found) * EPS
        there = outer(size_a + a_error > 0, size_b + b_error > 0)
        return self._made(found, error=error + SMALLEST * there)

    def flattened(self: Any) -> Any:
        """As :meth:`obliquetd.algebra.matrix.Matrix.flattened`."""
        return self._made(self.dense().reshape(-1, 1), error=self.dense_error().reshape(-1, 1))

    def as_weights(self: Any, what: str) -> Any:
        """As :meth:`obliquetd.algebra.matrix.Matrix.as_weights`."""
        values = self.dense()
        kept = dropped(values, (values > 0) & (values < NORMAL), what)
        return self._made(kept, self.report, lambda: np.where(kept == 0, 0.0, self.dense_error()))

    def as_chosen(self: Any) -> Any:
        """As :meth:`obliquetd.algebra.matrix.Matrix.as_chosen`."""
        return self._made(self.array, self.report, abs(self.array) * 0.0)

    def cleaned(self: Any) -> Any:
        """As :meth:`obliquetd.algebra.matrix.Matrix.cleaned`."""
        if self.sparse:
            return self
        zero = negligible(self.array, self.error)
        return self._made(np.where(zero, 0.0, self.array), error=lambda: self.error)

    def row_units(self: Any) -> Any:
        """As :meth:`obliquetd.algebra.matrix.Matrix.row_units`."""
        units = 1.0 / power_of_two(row_sizes(self.array))
        return self._made(units.reshape(-1, 1), error=np.zeros((len(units), 1)))

    def unbounded(self: Any) -> Any:
        """As :meth:`obliquetd.algebra.matrix.Matrix.unbounded`."""
        return self._made(np.where(np.isnan(self.dense()), math.inf, self.dense()))
