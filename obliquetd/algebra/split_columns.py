"""Columns of rational functions as integers over one denominator, times one of few formulas.

A table has many numbers and few formulas: the discount of each outcome is a rational times gamma. So
products of columns are products of integers, and the sums of products at the places of a matrix are
integers for each power of the symbols; a fraction is made of an entry only where one asks for it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import flint
import numpy as np
import numpy.typing as npt

from obliquetd.algebra.matrix import Indices
from obliquetd.algebra.polynomial_matrix import PolynomialMatrix
from obliquetd.algebra.polynomial_ring import PolynomialRing
from obliquetd.algebra.ways import Way

if TYPE_CHECKING:
    from obliquetd.algebra.field import FieldArithmetic

__all__ = ["SplitColumn", "added_at_places", "once"]

Array = npt.NDArray[Any]
FEW: Way[int] = 8
"""Powers of the symbols up to which integers are added for each; above, polynomials are."""


class SplitColumn:
    """A column whose k-th number is ``whole[k] / below * kinds[codes[k]]``; of one number, one for all places.

    Parameters
    ----------
    arithmetic : FieldArithmetic
        With symbols.
    whole : array of int
    below : int
    codes : array of int
    kinds : list of native scalar
        None of them is 0.

    Examples
    --------
    >>> from sympy import Symbol
    >>> from obliquetd.algebra import FieldArithmetic
    >>> field = FieldArithmetic([Symbol("x")])
    >>> x = field.domain.gens[0]
    >>> column = SplitColumn.of(field, np.array([x / 2, 3 * x, field.one]))
    >>> column.whole.tolist(), column.below, column.kinds, (column * column).tolist()
    ([1, 6, 2], 2, [x, 1], [x**2/4, 9*x**2, 1])
    """

    __array_ufunc__ = None
    __slots__ = ("arithmetic", "below", "codes", "kinds", "whole")

    def __init__(
        self,
        arithmetic: FieldArithmetic,
        whole: Array,
        below: int,
        codes: Indices,
        kinds: list[Any],
    ) -> None:
        self.arithmetic, self.whole, self.below = arithmetic, whole, below
        self.codes, self.kinds = codes, kinds

    @classmethod
    def of(cls, arithmetic: FieldArithmetic, values: Array) -> SplitColumn:
        """From native scalars, of which a table repeats many."""
        ring = arithmetic.ring
        assert ring is not None
        listed = values.tolist()
        names: dict[Any, int] = {}
        kinds: list[Any] = []
        numbers: dict[int, Any] = {}
        codes: dict[int, int] = {}
        for key, value in {id(x): x for x in listed}.items():
            numbers[key], terms = ring.split(value)
            if terms not in names:
                names[terms] = len(kinds)
                kinds.append(arithmetic.one if terms is None else ring.quotient(*terms))
            codes[key] = names[terms]
        below = math.lcm(*{int(x.denominator) for x in numbers.values()})
        scaled = {k: int(x.numerator) * (below // int(x.denominator)) for k, x in numbers.items()}
        places = list(map(id, listed))
        whole = np.empty(len(listed), dtype=object)
        whole[:] = [scaled[key] for key in places]
        found = [0] if len(kinds) == 1 else [codes[key] for key in places]
        return cls(arithmetic, whole, below, np.array(found, dtype=np.intp), kinds)

    def _like(self, whole: Array, below: int) -> SplitColumn:
        return SplitColumn(self.arithmetic, whole, below, self.codes, self.kinds)

    def __len__(self) -> int:
        return len(self.whole)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, int | np.integer):
            code = self.codes[at if len(self.codes) > 1 else 0]
            return (
                self.arithmetic.constant(flint.fmpq(self.whole[at], self.below)) * self.kinds[code]
            )
        codes = self.codes[at] if len(self.codes) > 1 else self.codes
        return SplitColumn(self.arithmetic, self.whole[at], self.below, codes, self.kinds)

    def tolist(self) -> list[Any]:
        """The native scalars."""
        known: dict[tuple[int, int], Any] = {}
        out = []
        for key in zip(self.whole.tolist(), self._every_code().tolist(), strict=True):
            if key not in known:
                number, kind = (
                    self.arithmetic.constant(flint.fmpq(key[0], self.below)),
                    self.kinds[key[1]],
                )
                known[key] = number if kind is self.arithmetic.one else number * kind
            out.append(known[key])
        return out

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        out = np.empty(len(self), dtype=object)
        out[:] = self.tolist()
        return out

    def _every_code(self) -> Indices:
        return np.broadcast_to(self.codes, len(self)) if len(self.codes) == 1 else self.codes

    @property
    def formula(self) -> Any:
        """The only formula, where there is one."""
        return self.kinds[0] if len(self.kinds) == 1 else None

    @property
    def is_constant(self) -> bool:
        """Whether it is one number throughout."""
        return self.formula is not None and bool((self.whole == self.whole[0]).all())

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, SplitColumn):
            return once(operator.mul, self, other)
        whole, below = self.whole * other.whole, self.below * other.below
        one = self.arithmetic.one
        if other.formula is one:
            return self._like(whole, below)
        if self.formula is one:
            return other._like(whole, below)
        wide = len(other.kinds)
        together = self.codes * wide + other.codes
        found, codes = np.unique(together, return_inverse=True)
        kinds = [self.kinds[k // wide] * other.kinds[k % wide] for k in found.tolist()]
        return SplitColumn(self.arithmetic, whole, below, codes.reshape(together.shape), kinds)

    def __rmul__(self, other: Any) -> Any:
        return once(operator.mul, other, self)

    def __neg__(self) -> SplitColumn:
        return self._like(-self.whole, self.below)

    def __add__(self, other: Any) -> Any:
        alike = isinstance(other, SplitColumn) and self.formula is not None
        if not alike or self.formula != other.formula:
            return once(operator.add, self, other)
        below = math.lcm(self.below, other.below)
        left, right = (x.whole * (below // x.below) for x in (self, other))
        return self._like(left + right, below)

    def __radd__(self, other: Any) -> Any:
        return once(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return once(operator.sub, other, self)

    def __truediv__(self, other: Any) -> Any:
        return once(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return once(operator.truediv, other, self)


def once(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Array:
    """The function of two columns, called once for each pair of objects: a table repeats its numbers."""
    known: dict[tuple[int, int], Any] = {}
    a, b = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in (a, b)))
    out = np.empty(len(a), dtype=object)
    for k, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        key = id(x), id(y)
        if key not in known:
            known[key] = function(x, y)
        out[k] = known[key]
    return out


def added_at_places(
    ring: PolynomialRing, shape: tuple[int, int], parts: Sequence[tuple[Indices, SplitColumn]]
) -> tuple[PolynomialMatrix, Any]:
    """Numerators and denominator of the matrix of sums of columns at places, which count row by row.

    Examples
    --------
    >>> from sympy import Symbol
    >>> from obliquetd.algebra import FieldArithmetic
    >>> field = FieldArithmetic([Symbol("x")])
    >>> x = field.domain.gens[0]
    >>> column = SplitColumn.of(field, np.array([x / 2, 1 / x]))
    >>> above, below = added_at_places(field.ring, (1, 1), [(np.array([0, 0]), column)])
    >>> above.entries, below
    ([x^2 + 2], 2*x)
    """
    formulas = [[ring.parts(kind) for kind in c.kinds] for _, c in parts]
    shared = ring.multiple(q for each in formulas for _, q in each)
    common = math.lcm(*(c.below for _, c in parts))
    terms = [[dict(ring.terms(p * (shared // q))) for p, q in each] for each in formulas]
    powers = {power for each in terms for found in each for power in found}
    size = shape[0] * shape[1]
    if len(powers) > FEW:
        return _by_entries(ring, shape, parts, terms, common), shared * common
    layers = {power: np.zeros(size, dtype=object) for power in powers}
    for (places, column), each in zip(parts, terms, strict=True):
        whole = column.whole if common == column.below else column.whole * (common // column.below)
        for power, layer in layers.items():
            factors = [found.get(power, 0) for found in each]
            if len(factors) == 1:
                if factors[0]:
                    _add(layer, places, whole if factors[0] == 1 else whole * int(factors[0]))
                continue
            by = np.empty(len(factors), dtype=object)
            by[:] = list(map(int, factors))
            codes = np.broadcast_to(column.codes, len(places))
            whole = np.broadcast_to(whole, len(places))
            chosen = by.astype(bool)[codes]
            _add(layer, places[chosen], whole[chosen] * by[codes[chosen]])
    common, found = _lowest(common, layers)
    made = {power: flint.fmpz_mat(*shape, layer.tolist()) for power, layer in found.items()}
    return PolynomialMatrix(ring, shape, layers=made), shared * common


def _add(into: Array, places: Indices, values: Array) -> None:
    """Add values at places, of which some may be the same."""
    if not len(places):
        return
    order = np.argsort(places, kind="stable")
    at = places[order]
    first = np.flatnonzero(np.diff(at, prepend=at[0] - 1))
    values = np.broadcast_to(values, len(places))[order]
    into[at[first]] += np.add.reduceat(values, first) if len(first) < len(at) else values


def _lowest(common: int, layers: dict[Any, Array]) -> tuple[int, dict[Any, Array]]:
    """Without what all integers and the denominator have in common; layers that are 0 are left out."""
    kept = {power: layer for power, layer in layers.items() if layer.any()}
    factor = common
    for layer in kept.values():
        for x in layer.tolist():
            if x:
                factor = math.gcd(factor, x)
                if factor == 1:
                    return common, kept
    return common // factor, {power: layer // factor for power, layer in kept.items()}


def _by_entries(
    ring: PolynomialRing, shape: tuple[int, int], parts: Any, terms: Any, common: int
) -> PolynomialMatrix:
    """The numerators by polynomials, where their powers are many."""
    entries = [ring.zero] * (shape[0] * shape[1])
    for (places, column), each in zip(parts, terms, strict=True):
        polynomials = [ring.from_terms(found) for found in each]
        scale = common // column.below
        of_column = (np.broadcast_to(x, len(places)) for x in (column.whole, column.codes))
        rows = zip(places.tolist(), *(x.tolist() for x in of_column), strict=True)
        for place, number, code in rows:
            entries[place] = entries[place] + polynomials[code] * (number * scale)
    return PolynomialMatrix(ring, shape, entries)
