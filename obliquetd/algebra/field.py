"""Exact and symbolic arithmetic: the fields QQ and QQ(x, y, ...).

Over QQ the dense representation is FLINT's ``fmpq_mat``. Over a function field a matrix is
one of integer polynomials over one denominator
(:mod:`~obliquetd.algebra.function_matrix`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp
from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from obliquetd.algebra import pickling  # noqa: F401  (function fields that pickle)
from obliquetd.algebra.factoring import factored_fraction
from obliquetd.algebra.field_matrix import FieldMatrix
from obliquetd.algebra.function_matrix import FunctionMatrix
from obliquetd.algebra.integer_solve import added_up, fractions_added_up, over_one_denominator
from obliquetd.algebra.matrix import Arithmetic, Indices
from obliquetd.algebra.numbers import exact_root, exactify, public_number
from obliquetd.algebra.polynomial_ring import PolynomialRing
from obliquetd.algebra.signs import KnownSigns
from obliquetd.algebra.split_columns import SplitColumn
from obliquetd.algebra.ways import Way
from obliquetd.errors import KindError, SignUndecidedError, SizeError

__all__ = ["FieldArithmetic", "FieldMatrix"]

LARGEST_EXACT = 4_000
LARGEST_SYMBOLIC = 200
REMEMBERED: Way[int] = 16
"""Columns of a table that are kept as integers and formulas."""


class FieldArithmetic(Arithmetic):
    """Arithmetic in QQ, or in the field of rational functions of some symbols.

    Parameters
    ----------
    symbols : iterable of sympy.Symbol
        Empty for exact arithmetic. Sorted by name, so that equal sets of symbols
        give equal fields.
    known : KnownSigns, optional
        Where the symbols range, and with it the signs that formulas have throughout.
    """

    def __init__(self, symbols: Iterable[sp.Symbol] = (), known: KnownSigns | None = None) -> None:
        self.symbols: tuple[sp.Symbol, ...] = tuple(sorted(set(symbols), key=str))
        self.kind = "symbolic" if self.symbols else "exact"
        self.domain: Any = QQ.frac_field(*self.symbols) if self.symbols else QQ
        self.ring = PolynomialRing(self.domain) if self.symbols else None
        self.known = known or KnownSigns()
        self._seen: dict[Any, Any] = {}
        self._columns: dict[int, tuple[Any, SplitColumn]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return FieldArithmetic, (self.symbols, self.known)

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and self.symbols == other.symbols
            and self.known.says_as(other.known)
        )

    def __hash__(self) -> int:
        return hash(self.symbols)

    @property
    def zero(self) -> Any:
        return self.domain.zero

    @property
    def one(self) -> Any:
        return self.domain.one

    def scalar(self, value: Any) -> Any:
        value = exactify(value)
        if self.domain is QQ and not isinstance(value, sp.Basic):
            return value
        if not isinstance(value, sp.Basic):
            key = value.numerator, value.denominator
            found = self._seen.get(key)
            if found is None:
                found = self._seen[key] = self.constant(value)
            return found
        if value not in self._seen:
            extra = value.free_symbols - set(self.symbols)
            if extra:
                raise KindError(
                    f"the formula {value} has the symbol {min(map(str, extra))}, but the "
                    "arithmetic is exact; substitute a number for it, or ask for 'symbolic'"
                )
            self._seen[value] = self.domain.from_sympy(value)
        return self._seen[value]

    def constant(self, value: Any) -> Any:
        """A rational as a function; what sympy converts to, without the gcd that it takes."""
        ground, field = self.domain.field.ring.ground_new, self.domain.field
        return field.raw_new(ground(QQ(value.numerator)), ground(QQ(value.denominator)))

    def scalars(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self.domain is QQ and set(map(type, values.tolist())) <= {QQ.dtype}:
            return values
        return _each(self.scalar, values)

    def split(self, values: Any) -> SplitColumn:
        """A column of functions as integers and formulas; those of a table are asked for again and again."""
        if isinstance(values, SplitColumn):
            return values
        known = self._columns.get(id(values))
        if known is None or known[0] is not values:
            if len(self._columns) >= REMEMBERED:
                self._columns.clear()
            known = self._columns[id(values)] = values, SplitColumn.of(self, values)
        return known[1]

    def multiples(self, values: npt.NDArray[Any], factor: Any) -> npt.NDArray[Any]:
        return _each(lambda value: value * factor, values)

    def public(self, scalar: Any) -> Any:
        if self.domain is QQ:
            return public_number(scalar)
        return factored_fraction(scalar)

    def sign(self, scalar: Any) -> int:
        if self.domain is QQ:
            return int(scalar > 0) - int(scalar < 0)
        found = self.known.inside.of_fraction(scalar)
        if found is not None:
            return found
        expr = self.public(scalar)
        raise SignUndecidedError(
            f"the sign of {expr} depends on {', '.join(sorted(map(str, expr.free_symbols)))}",
            expr,
            self.known.inside.undecided(scalar),
        )

    def sqrt(self, scalar: Any) -> Any:
        if not self.symbols or not scalar:
            return exact_root(self.public(scalar))
        outside, inside = self.known.inside.split_square(scalar)
        if outside == 1:
            return exact_root(self.public(scalar))
        return outside * exact_root(self.public(inside))

    def check_size(self, n: int) -> None:
        limit = LARGEST_SYMBOLIC if self.symbols else LARGEST_EXACT
        if n > limit:
            raise SizeError(
                f"{self.kind} arithmetic on n = {n} states would build dense {n} by {n} matrices "
                f"of {'rational functions' if self.symbols else 'rationals'}; the limit is "
                f"{limit}. Use arithmetic='float'"
                + (", or substitute numbers for the symbols" if self.symbols else "")
            )

    def matrix(self, rows: Sequence[Sequence[Any]], shape: tuple[int, int]) -> FieldMatrix:
        listed = [list(row) for row in rows]
        if self.ring is not None:
            return FunctionMatrix.of_fractions(self, listed, shape)
        return FieldMatrix(self, DomainMatrix(listed, shape, self.domain).to_dense())

    def assemble(
        self, shape: tuple[int, int], rows: Indices, columns: Indices, values: npt.NDArray[Any]
    ) -> FieldMatrix:
        self.check_size(max(shape))
        if self.ring is not None:
            return FunctionMatrix.of_sums(
                self, shape, [(rows, columns, [SplitColumn.of(self, values)])]
            )
        listed: list[Any] = values.tolist()
        places = np.asarray(rows) * shape[1] + columns
        if self.domain is QQ:
            whole = over_one_denominator(listed)
            if whole is not None:
                return FieldMatrix(self, added_up(shape, places.tolist(), *whole))
            return FieldMatrix(self, fractions_added_up(shape, places, values))
        out = [self.zero] * (shape[0] * shape[1])
        for place, value in zip(places.tolist(), listed, strict=True):
            out[place] = out[place] + value
        width = shape[1]
        return self.matrix([out[i * width : (i + 1) * width] for i in range(shape[0])], shape)

    def assemble_products(
        self, shape: tuple[int, int], rows: Indices, columns: Indices, factors: Sequence[Any]
    ) -> FieldMatrix:
        if self.ring is None:
            return super().assemble_products(shape, rows, columns, factors)  # type: ignore[return-value]
        return self.assemble_sums(shape, [(rows, columns, factors)])

    def assemble_sums(
        self, shape: tuple[int, int], parts: Iterable[tuple[Indices, Indices, Sequence[Any]]]
    ) -> FieldMatrix:
        """The sum of several of :meth:`assemble_products`, of functions."""
        self.check_size(max(shape))
        return FunctionMatrix.of_sums(
            self, shape, [(i, j, [self.split(f) for f in factors]) for i, j, factors in parts]
        )

    def identity(self, n: int) -> FieldMatrix:
        self.check_size(n)
        if self.ring is not None:
            return FunctionMatrix.identity(self, n)
        return FieldMatrix(self, DomainMatrix.eye(n, self.domain).to_dense())


def _each(function: Callable[[Any], Any], values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The function of each entry, called once for each object: a table repeats its numbers."""
    if values.strides == (0,) and len(values):  # one number throughout
        return np.full(len(values), function(values[0]), dtype=object)
    seen: dict[int, Any] = {}
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values.tolist()):
        key = id(value)
        if key not in seen:
            seen[key] = function(value)
        out[i] = seen[key]
    return out
