"""Rational functions of one symbol on FLINT, with the signs that they have at a sample.

They serve to run a rule once and to evaluate what it made of the symbol many times, exactly or in balls
(:mod:`obliquetd.algebra.enclosures`). A number without the symbol stays FLINT's own rational.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import sympy as sp

from obliquetd.algebra.enclosures import rational
from obliquetd.algebra.factoring import irreducible_factors
from obliquetd.algebra.field import FieldArithmetic
from obliquetd.algebra.field_matrix import FieldMatrix
from obliquetd.algebra.matrix import Indices
from obliquetd.algebra.numbers import exactify

__all__ = ["Quotient", "QuotientArithmetic", "Sample", "may_be_between", "parts_of", "real_places"]

ONE = flint.fmpq_poly([1])
_RATIONALS = FieldArithmetic()


@dataclass
class Sample:
    """Where signs are taken, and the polynomials whose signs were."""

    at: Any
    asked: list[Any] = field(default_factory=list)


class Quotient:
    """A polynomial over a polynomial, without common factors.

    Examples
    --------
    >>> g = Quotient(flint.fmpq_poly([0, 1]), ONE, Sample(flint.fmpq(1, 2)))
    >>> f = (1 - g * g) / (1 - g)
    >>> str(f.above), str(f.below), f > 1, f < 1
    ('x + 1', '1', True, False)
    """

    __slots__ = ("above", "below", "sample")

    def __init__(self, above: Any, below: Any, sample: Sample) -> None:
        self.above, self.below, self.sample = above, below, sample

    def _reduced(self, above: Any, below: Any) -> Quotient:
        if below.degree() > 0:
            common = above.gcd(below)
            if common.degree() > 0:
                above, below = above // common, below // common
        if below.degree() == 0 and below != ONE:
            above, below = above / below[0], ONE
        return Quotient(above, below, self.sample)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Quotient):
            if self.below == other.below:
                return self._reduced(self.above + other.above, self.below)
            return self._reduced(
                self.above * other.below + other.above * self.below, self.below * other.below
            )
        if not isinstance(other, _NUMBERS):
            return NotImplemented
        return Quotient(self.above + self.below * other, self.below, self.sample)

    __radd__ = __add__

    def __neg__(self) -> Quotient:
        return Quotient(-self.above, self.below, self.sample)

    def __pos__(self) -> Quotient:
        return self

    def __sub__(self, other: Any) -> Any:
        return self + -other if isinstance(other, (Quotient, *_NUMBERS)) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Quotient):
            return self._reduced(self.above * other.above, self.below * other.below)
        if not isinstance(other, _NUMBERS):
            return NotImplemented
        if other == 0:
            return flint.fmpq(0)
        return Quotient(self.above * other, self.below, self.sample)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Quotient):
            if not other.above:
                raise ZeroDivisionError
            return self._reduced(self.above * other.below, self.below * other.above)
        return self * (1 / flint.fmpq(other)) if isinstance(other, _NUMBERS) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return other * Quotient(ONE, ONE, self.sample)._over(self)

    def _over(self, other: Quotient) -> Quotient:
        found: Quotient = self / other
        return found

    def sign(self) -> int:
        """At the sample: -1, 0 or 1; 0 at a pole."""
        for part in (self.above, self.below):
            if part.degree() > 0:
                self.sample.asked.append(part)
        at = self.sample.at
        product = self.above(at) * self.below(at)
        return int(product > 0) - int(product < 0)

    def __bool__(self) -> bool:
        return bool(self.above)

    def __abs__(self) -> Quotient:
        return self if self.sign() >= 0 else -self

    def __eq__(self, other: object) -> bool:
        return not self - other

    def __gt__(self, other: Any) -> bool:
        return _sign(self - other) > 0

    def __lt__(self, other: Any) -> bool:
        return _sign(self - other) < 0

    def __ge__(self, other: Any) -> bool:
        return _sign(self - other) >= 0

    def __le__(self, other: Any) -> bool:
        return _sign(self - other) <= 0

    __hash__ = None  # type: ignore[assignment]


_NUMBERS = (int, flint.fmpq, flint.fmpz)


def _sign(value: Any) -> int:
    return value.sign() if isinstance(value, Quotient) else int(value > 0) - int(value < 0)


class QuotientArithmetic(FieldArithmetic):
    """Scalars for a rule to run on: rationals, and a :class:`Quotient` where the symbol is in.

    Its matrices are tables of numbers alone, and its kind is exact because its scalars compare by themselves.
    """

    def __init__(self, symbol: sp.Symbol, sample: Sample) -> None:
        super().__init__()
        self.symbol, self.sample = symbol, sample

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def scalar(self, value: Any) -> Any:
        if type(value) is flint.fmpq:
            return value
        value = exactify(value)
        if not isinstance(value, sp.Basic):
            return rational(value)
        if isinstance(value, sp.Rational):
            return flint.fmpq(int(value.p), int(value.q))
        above, below = (
            flint.fmpq_poly([flint.fmpq(int(c.p), int(c.q)) for c in sp.Poly(part, self.symbol).all_coeffs()[::-1]])
            for part in sp.fraction(sp.together(value))
        )  # fmt: skip
        found = Quotient(above, ONE, self.sample)._over(Quotient(below, ONE, self.sample))
        return found if found.above.degree() > 0 or found.below.degree() > 0 else found.above[0]

    def matrix(self, rows: Sequence[Sequence[Any]], shape: tuple[int, int]) -> Any:
        return _Table([list(row) for row in rows], shape)

    def assemble(
        self, shape: tuple[int, int], rows: Indices, columns: Indices, values: npt.NDArray[Any]
    ) -> FieldMatrix:
        """A matrix of rationals alone, in their own arithmetic; TypeError where the symbol is in."""
        if Quotient in set(map(type, values.tolist())):
            raise TypeError("a matrix with the symbol")
        return _RATIONALS.assemble(shape, rows, columns, values)

    def identity(self, n: int) -> Any:
        one, zero = flint.fmpq(1), flint.fmpq(0)
        return self.matrix([[one if i == j else zero for j in range(n)] for i in range(n)], (n, n))

    def scalars(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if set(map(type, values.tolist())) <= {flint.fmpq}:
            return values
        out = np.empty(len(values), dtype=object)
        for i, value in enumerate(values.tolist()):
            out[i] = self.scalar(value)
        return out


@dataclass(frozen=True)
class _Table:
    listed: list[list[Any]]
    shape: tuple[int, int]

    def rows(self) -> list[list[Any]]:
        return self.listed


def parts_of(value: Any) -> tuple[Any, Any]:
    """Numerator and denominator of a :class:`Quotient` or of a rational."""
    if isinstance(value, Quotient):
        return value.above, value.below
    return flint.fmpq_poly([value]), ONE


def real_places(polynomial: Any, low: Any, high: Any) -> list[Any] | None:
    """The real roots strictly between two rationals; None where one of them is no rational.

    Examples
    --------
    >>> p = flint.fmpq_poly([-1, 2]) * flint.fmpq_poly([5, 1])
    >>> [str(r) for r in real_places(p, flint.fmpq(0), flint.fmpq(1))]
    ['1/2']
    >>> real_places(flint.fmpq_poly([-1, 0, 2]), flint.fmpq(0), flint.fmpq(1))
    """
    found = []
    if polynomial.degree() == 1:
        root = -polynomial[0] / polynomial[1]
        return [root] if low < root < high else []
    if polynomial.degree() == 2 and polynomial[1] ** 2 < 4 * polynomial[0] * polynomial[2]:
        return []
    for factor in irreducible_factors(polynomial):
        if factor.degree() == 1:
            root = -flint.fmpq(factor[0], factor[1])
            if low < root < high:
                found.append(root)
        elif any(may_be_between(root, low, high) for root, _ in factor.complex_roots()):
            return None
    return sorted(found)


def may_be_between(root: Any, low: Any, high: Any) -> bool:
    """Whether a root that FLINT isolated can be real and between two rationals."""
    return bool(root.imag == 0 and not (root.real < low or root.real > high))
