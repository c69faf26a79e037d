"""Matrices of integer polynomials, by entries or by the matrix that each power has.

A(x) = A_0 + A_1 x + A_2 x^2 + ... with FLINT's integer matrices A_k: sums and products of matrices
of low degree are a few of theirs, without a step of Python for an entry. Either form is made of the
other when it is first wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import flint

from obliquetd.algebra.polynomial_ring import PolynomialRing
from obliquetd.algebra.ways import Way

__all__ = ["Layers", "PolynomialMatrix"]

Layers = dict[tuple[int, ...], Any]
"""The integer matrix of each exponent; one that is missing is 0."""
FEW: Way[int] = 4
"""Up to so many powers a product goes by powers, above by entries."""


class PolynomialMatrix:
    """A matrix over ZZ[x, y, ...].

    Parameters
    ----------
    ring : PolynomialRing
    shape : pair of int
    entries : list, optional
        Row after row.
    layers : Layers, optional
        In place of the entries.
    """

    def __init__(
        self,
        ring: PolynomialRing,
        shape: tuple[int, int],
        entries: list[Any] | None = None,
        layers: Layers | None = None,
    ) -> None:
        self.ring, self.shape = ring, shape
        if entries is not None:
            self.__dict__["entries"] = entries
        if layers is not None:
            self.__dict__["layers"] = layers

    def _new(self, **parts: Any) -> PolynomialMatrix:
        return PolynomialMatrix(self.ring, self.shape, **parts)

    @cached_property
    def entries(self) -> list[Any]:
        """The entries row after row."""
        m, n = self.shape
        terms: list[dict[tuple[int, ...], Any]] = [{} for _ in range(m * n)]
        for power, layer in self.layers.items():
            for at, c in zip(terms, layer.entries(), strict=True):
                if c:
                    at[power] = c
        return [self.ring.from_terms(t) for t in terms]

    @cached_property
    def layers(self) -> Layers:
        """The integer matrix of each exponent that occurs."""
        found: dict[tuple[int, ...], list[Any]] = {}
        size = self.shape[0] * self.shape[1]
        for place, p in enumerate(self.entries):
            for power, c in self.ring.terms(p):
                if power not in found:
                    found[power] = [0] * size
                found[power][place] = c
        return {power: flint.fmpz_mat(*self.shape, flat) for power, flat in found.items()}

    @cached_property
    def degrees(self) -> list[tuple[int, ...]]:
        """The degrees of each entry in each symbol."""
        return [self.ring.degrees(p) for p in self.entries]

    def rows(self) -> list[list[Any]]:
        """The entries by rows."""
        m, n = self.shape
        return [self.entries[i * n : (i + 1) * n] for i in range(m)]

    @property
    def T(self) -> PolynomialMatrix:
        """The transpose."""
        m, n = self.shape
        if "layers" in self.__dict__:
            turned = {power: layer.transpose() for power, layer in self.layers.items()}
            return PolynomialMatrix(self.ring, (n, m), layers=turned)
        flat = [self.entries[i * n + j] for j in range(n) for i in range(m)]
        return PolynomialMatrix(self.ring, (n, m), flat)

    def __add__(self, other: PolynomialMatrix) -> PolynomialMatrix:
        total = dict(self.layers)
        for power, layer in other.layers.items():
            total[power] = total[power] + layer if power in total else layer
        return self._new(layers=total)

    def __matmul__(self, other: PolynomialMatrix) -> PolynomialMatrix:
        shape = (self.shape[0], other.shape[1])
        if 0 in (*self.shape, *other.shape):
            return PolynomialMatrix(self.ring, shape, [self.ring.zero] * (shape[0] * shape[1]))
        if min(len(self.layers), len(other.layers)) <= FEW:
            total: Layers = {}
            for a, left in self.layers.items():
                for b, right in other.layers.items():
                    power = tuple(i + j for i, j in zip(a, b, strict=True))
                    product = left * right
                    total[power] = total[power] + product if power in total else product
            return PolynomialMatrix(self.ring, shape, layers=total)
        columns = other.T.rows()
        zero = self.ring.zero
        dots = [
            sum((x * y for x, y in zip(row, column, strict=True) if x != 0 and y != 0), zero)
            for row in self.rows()
            for column in columns
        ]
        return PolynomialMatrix(self.ring, shape, dots)

    def times(self, factor: Any) -> PolynomialMatrix:
        """Every entry times one polynomial."""
        if factor == 1:
            return self
        if "layers" in self.__dict__:
            total: Layers = {}
            for power, c in self.ring.terms(factor):
                for at, layer in self.layers.items():
                    place = tuple(i + j for i, j in zip(power, at, strict=True))
                    moved = layer * c
                    total[place] = total[place] + moved if place in total else moved
            return self._new(layers=total)
        return self._new(entries=[p * factor for p in self.entries])

    def rows_by(self, column: PolynomialMatrix) -> PolynomialMatrix:
        """Every row times the polynomial of a column that stands beside it."""
        if min(len(self.layers), len(column.layers)) > FEW:
            return self.row_times(column.entries)
        total: Layers = {}
        width = self.shape[1]
        for a, factors in column.layers.items():
            along = [f for f in factors.entries() for _ in range(width)]
            for b, layer in self.layers.items():
                power = tuple(i + j for i, j in zip(a, b, strict=True))
                flat = [f * x for f, x in zip(along, layer.entries(), strict=True)]
                part = flint.fmpz_mat(*self.shape, flat)
                total[power] = total[power] + part if power in total else part
        return self._new(layers=total)

    def row_times(self, factors: Sequence[Any]) -> PolynomialMatrix:
        """Every row times a polynomial of its own."""
        rows = zip(self.rows(), factors, strict=True)
        return self._new(entries=[p * f for row, f in rows for p in row])

    def part(self, rows: Sequence[int], columns: Sequence[int]) -> PolynomialMatrix:
        """The entries in the given rows and columns."""
        n, shape = self.shape[1], (len(rows), len(columns))
        if "entries" not in self.__dict__:
            found = {}
            for power, layer in self.layers.items():
                known = layer.entries()
                found[power] = flint.fmpz_mat(
                    *shape, [known[i * n + j] for i in rows for j in columns]
                )
            return PolynomialMatrix(self.ring, shape, layers=found)
        flat = [self.entries[i * n + j] for i in rows for j in columns]
        return PolynomialMatrix(self.ring, shape, flat)

    def support(self) -> list[int]:
        """Where entries are not 0, counted row by row."""
        if "entries" in self.__dict__:
            return [k for k, p in enumerate(self.entries) if p != 0]
        found = {k for layer in self.layers.values() for k, x in enumerate(layer.entries()) if x}
        return sorted(found)

    def is_zero(self) -> bool:
        """Whether every entry is 0."""
        return all(p == 0 for p in self.entries)
