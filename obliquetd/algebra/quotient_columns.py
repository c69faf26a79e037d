"""Columns of rational functions of one symbol, by their coefficients: one call is for all entries.

A column has one entry for each outcome. Its numerators are arrays of rationals, one for each power of the symbol;
its denominators are too, or it has none. Fractions are brought to lowest terms where an entry is
taken out, and not on the way: the greatest common divisors would cost more than all else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import flint
import numpy as np

from obliquetd.algebra.quotients import ONE, Quotient, Sample, parts_of

__all__ = [
    "QuotientColumn",
    "no_root_inside",
    "polynomial_of",
    "row_products",
    "signs_of",
    "values_of",
]

Coefficients = list[Any]
"""Of polynomials, from the constant on: arrays of rationals, of one entry or of one for each outcome."""


class QuotientColumn:
    """A column; entries are :class:`~obliquetd.algebra.quotients.Quotient` or rationals.

    Examples
    --------
    >>> sample = Sample(flint.fmpq(1, 2))
    >>> g = QuotientColumn.of([Quotient(flint.fmpq_poly([0, 1]), ONE, sample)], sample)
    >>> one = QuotientColumn.of([flint.fmpq(1), flint.fmpq(2)], sample)
    >>> found = (one - g * g) / (one - g)
    >>> [str(parts_of(x)[0]) for x in found.tolist()], len(found)
    (['x + 1', '(-1)*x^2 + 2'], 2)
    """

    __slots__ = ("above", "below", "sample")
    __array_ufunc__ = None

    def __init__(self, above: Coefficients, below: Coefficients | None, sample: Sample) -> None:
        self.above, self.below, self.sample = above, below, sample

    @classmethod
    def of(cls, values: Sequence[Any], sample: Sample) -> QuotientColumn:
        """The column of some entries."""
        if Quotient not in set(map(type, values)):
            return cls([_array(values)], None, sample)
        parts = [parts_of(x) for x in values]
        below = None
        if any(under is not ONE and under != ONE for _, under in parts):
            below = _coefficients([under for _, under in parts])
        return cls(_coefficients([over for over, _ in parts]), below, sample)

    def __len__(self) -> int:
        return max(len(x) for x in (*self.above, *(self.below or ())))

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, int | np.integer):
            return self._entry(int(at))
        return self._each(lambda x: x if len(x) == 1 else x[at])

    def _each(self, function: Any) -> QuotientColumn:
        below = self.below and [function(x) for x in self.below]
        return QuotientColumn([function(x) for x in self.above], below, self.sample)

    def _entry(self, k: int) -> Any:
        above = [x[k if len(x) > 1 else 0] for x in self.above]
        if self.below is None:
            if not any(above[1:]):
                return above[0]
            return Quotient(flint.fmpq_poly(above), ONE, self.sample)
        under = [x[k if len(x) > 1 else 0] for x in self.below]
        return _reduced(flint.fmpq_poly(above), flint.fmpq_poly(under), self.sample)

    def tolist(self) -> list[Any]:
        """The entries, in lowest terms."""
        return [self._entry(k) for k in range(len(self))]

    @property
    def is_polynomial(self) -> bool:
        """Whether no entry has a denominator."""
        return self.below is None

    @property
    def is_zero(self) -> bool:
        """Whether every entry is 0 throughout."""
        return not any(map(any, self.above))

    def without_factors(self) -> QuotientColumn:
        """The same with no common factors that have a real zero; in lowest terms, unless no denominator has one."""
        if self.below is None:
            return self
        if len(self.below) == 3:
            c, b, a = self.below
            if (signs_of(b * b - 4 * (a * c)) < 0).all():
                return self
        return QuotientColumn.of(self.tolist(), self.sample)

    def zeros(self) -> Any:
        """Which entries are 0 throughout."""
        found: Any = True
        for x in self.above:
            found = found & np.array([not c for c in x.tolist()])
            if not found.any():
                break
        return np.broadcast_to(found, len(self))

    def __add__(self, other: QuotientColumn) -> QuotientColumn:
        if self.below is other.below:
            return QuotientColumn(_sum(self.above, other.above), self.below, self.sample)
        mine = self.above if other.below is None else _product(self.above, other.below)
        theirs = other.above if self.below is None else _product(other.above, self.below)
        return QuotientColumn(_sum(mine, theirs), _both(self.below, other.below), self.sample)

    def __neg__(self) -> QuotientColumn:
        return QuotientColumn([-x for x in self.above], self.below, self.sample)

    def __sub__(self, other: QuotientColumn) -> QuotientColumn:
        return self + -other

    def __mul__(self, other: QuotientColumn) -> QuotientColumn:
        above = _product(self.above, other.above)
        return QuotientColumn(above, _both(self.below, other.below), self.sample)

    def times(self, numbers: Any) -> QuotientColumn:
        """Each entry times a rational."""
        return QuotientColumn([x * numbers for x in self.above], self.below, self.sample)

    def __truediv__(self, other: QuotientColumn) -> QuotientColumn:
        if other.below is None and len(other.above) == 1:
            return self.times(1 / other.above[0])
        if any(other.zeros()):
            raise ZeroDivisionError
        above = self.above if other.below is None else _product(self.above, other.below)
        return QuotientColumn(above, _both(self.below, other.above), self.sample)


def _array(values: Sequence[Any]) -> Any:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _coefficients(polynomials: Sequence[Any]) -> Coefficients:
    count = max(1, 1 + max(p.degree() for p in polynomials))
    return [_array([p[k] for p in polynomials]) for k in range(count)]


def _reduced(above: Any, below: Any, sample: Sample) -> Any:
    common = above.gcd(below)
    if common.degree() > 0:
        above, below = above // common, below // common
    if below.degree() == 0:
        above, below = above / below[0], ONE
        if above.degree() <= 0:
            return above[0]
    return Quotient(above, below, sample)


def _sum(a: Coefficients, b: Coefficients) -> Coefficients:
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    total = [x + y for x, y in zip(short, long, strict=False)] + long[len(short) :]
    while len(total) > 1 and not any(total[-1].tolist()):
        total.pop()
    return total


def _product(a: Coefficients, b: Coefficients) -> Coefficients:
    out: list[Any] = [None] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            part = x * y
            out[i + j] = part if out[i + j] is None else out[i + j] + part
    return out


def _both(a: Coefficients | None, b: Coefficients | None) -> Coefficients | None:
    if a is None or b is None:
        return b if a is None else a
    return _product(a, b)


def polynomial_of(part: Coefficients, k: int) -> Any:
    """The k-th of the polynomials."""
    return flint.fmpq_poly([x[k if len(x) > 1 else 0] for x in part])


def values_of(part: Coefficients, points: Any) -> Any:
    """The polynomials at a rational for each, or at one for all."""
    if not isinstance(points, np.ndarray) and not points:
        return part[0]
    total = part[-1]
    for x in part[-2::-1]:
        total = total * points + x
    return total


def row_products(left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> Any | None:
    """The inner products of all rows of two tables of rationals, (n, m); None where a function is among them."""
    if {type(x) for rows in (left, right) for row in rows for x in row} != {flint.fmpq}:
        return None
    entries = (flint.fmpq_mat(left) * flint.fmpq_mat(right).transpose()).entries()
    return _array(entries).reshape(len(left), len(right))


def signs_of(values: Any) -> Any:
    """-1, 0 or 1 for each of an array of rationals; by floats, where they are not 0: they are quicker to compare.

    Examples
    --------
    >>> signs_of(np.array([flint.fmpq(-1, 3), flint.fmpq(0), flint.fmpq(1, 10) ** 400])).tolist()
    [-1, 0, 1]
    """
    listed = values.tolist()
    try:
        found = np.sign(list(map(float, listed))).astype(int)
    except OverflowError:
        return np.array([(x > 0) - (x < 0) for x in listed])
    for k in np.flatnonzero(found == 0).tolist():  # of what is below the range of floats too
        found[k] = (listed[k] > 0) - (listed[k] < 0)
    return found


def no_root_inside(part: Coefficients, lows: Any, highs: Any) -> Any:
    """Where no polynomial has a zero strictly between two rationals without being 0 throughout; proved, if True.

    Of degree 2 a negative discriminant says so. Else the coefficients in Bernstein's basis do, where they
    have one sign: between the ends a polynomial is a sum of them with positive weights.
    """
    if len(part) == 1:
        return np.ones(len(part[0]), dtype=bool)
    sure: Any = False
    if len(part) == 3:
        c, b, a = part
        sure = signs_of(b * b - 4 * (a * c)) < 0
        if sure.all():
            return sure
    n, taylor = len(part) - 1, _taylor(part, lows, highs - lows)
    up = down = True
    for j in range(n + 1):
        found = taylor[0]
        for k in range(1, j + 1):
            found = found + taylor[k] * flint.fmpq(math.comb(j, k), math.comb(n, k))
        signs = signs_of(found)
        up, down = up & (signs >= 0), down & (signs <= 0)
    return np.asarray(up | down, dtype=bool) | sure


def _taylor(part: Coefficients, lows: Any, widths: Any) -> Coefficients:
    """The coefficients in t of polynomials at low + width t."""
    out = list(part)
    if isinstance(lows, np.ndarray) or lows:
        for first in range(len(out) - 1):
            for k in range(len(out) - 2, first - 1, -1):
                out[k] = out[k] + out[k + 1] * lows
    if not isinstance(widths, np.ndarray) and widths == 1:
        return out
    power = widths
    for k in range(1, len(out)):
        out[k] = out[k] * power
        power = power * widths
    return out
