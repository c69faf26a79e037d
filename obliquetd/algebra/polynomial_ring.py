"""Polynomials with integer coefficients, by FLINT, and their quotients as sympy's fractions.

A polynomial in one symbol is an ``fmpz_poly``, in several an ``fmpz_mpoly``. Both add, multiply,
divide without rest (``//``) and have ``gcd``; the ring knows what differs. Exponents are tuples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import flint
from sympy.polys.domains import FractionField

from obliquetd.algebra.ways import Way

__all__ = ["PolynomialRing"]

REMEMBERED: Way[int] = 10_000
"""Fractions whose parts are kept: the numbers of a table come again and again."""


class PolynomialRing:
    """ZZ[x, y, ...] for a field QQ(x, y, ...) of sympy's.

    Parameters
    ----------
    domain : sympy domain
        ``QQ.frac_field(x, y, ...)``.
    """

    def __init__(self, domain: FractionField) -> None:
        self.domain = domain
        self.dimension = len(domain.symbols)
        self._context = None
        if self.dimension > 1:
            names = [f"x{k}" for k in range(self.dimension)]
            self._context = flint.fmpz_mpoly_ctx.get(names, "lex")
        self.zero, self.one = self.constant(0), self.constant(1)
        self._read: dict[int, tuple[Any, tuple[Any, Any]]] = {}
        self._split: dict[int, tuple[Any, tuple[Any, Any]]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return PolynomialRing, (self.domain,)

    def constant(self, number: Any) -> Any:
        """An integer as a polynomial."""
        if self._context is None:
            return flint.fmpz_poly([number])
        return self._context.constant(number)

    def from_terms(self, terms: Mapping[tuple[int, ...], Any]) -> Any:
        """The polynomial with the given coefficients by exponents."""
        if self._context is not None:
            return self._context.from_dict(dict(terms))
        coefficients = [0] * (1 + max((k for (k,) in terms), default=0))
        for (k,), c in terms.items():
            coefficients[k] = c
        return flint.fmpz_poly(coefficients)

    def terms(self, polynomial: Any) -> Iterable[tuple[tuple[int, ...], Any]]:
        """Exponents and coefficients of the terms that are not 0."""
        if self._context is None:
            return [((k,), c) for k, c in enumerate(polynomial.coeffs()) if c]
        return polynomial.to_dict().items()  # type: ignore[no-any-return]

    def degrees(self, polynomial: Any) -> tuple[int, ...]:
        """The degree in each symbol; -1 for the polynomial 0."""
        if self._context is None:
            return (polynomial.degree(),)
        return tuple(int(k) for k in polynomial.degrees())

    def common(self, polynomials: Iterable[Any], known: Any = None) -> Any:
        """The greatest common divisor; of none, 0."""
        found = self.zero if known is None else known
        for p in polynomials:
            if p != 0:
                found = found.gcd(p)
                if found == 1:
                    return found
        return found

    def multiple(self, polynomials: Iterable[Any]) -> Any:
        """The least common multiple, up to sign; of none, 1."""
        found = self.one
        for p in polynomials:
            if p != 1 and p != found:
                found = found * (p // found.gcd(p))
        return found

    def parts(self, fraction: Any) -> tuple[Any, Any]:
        """Numerator and denominator of sympy's fraction, whose coefficients are integers."""
        key = id(fraction)
        known = self._read.get(key)
        if known is not None and known[0] is fraction:
            return known[1]
        above, below = (
            self.from_terms({k: int(c.numerator) for k, c in polynomial.terms()})
            for polynomial in (fraction.numer, fraction.denom)
        )
        if len(self._read) >= REMEMBERED:
            self._read.clear()
        self._read[key] = fraction, (above, below)
        return above, below

    def split(self, fraction: Any) -> tuple[Any, Any]:
        """A rational and the terms of two primitive polynomials: the fraction is the rational times their quotient.

        None in place of the terms where the fraction is the rational.
        """
        key = id(fraction)
        known = self._split.get(key)
        if known is not None and known[0] is fraction:
            return known[1]
        above, below = self.parts(fraction)
        if above == 0:
            found: tuple[Any, Any] = flint.fmpq(0), None
        elif above.is_constant() and below.is_constant():
            found = flint.fmpq(above.coeffs()[0], below.coeffs()[0]), None
        else:
            p, q = above.content(), below.content()
            terms = tuple(tuple(self.terms(x)) for x in (above // p, below // q))
            found = flint.fmpq(p, q), terms
        if len(self._split) >= REMEMBERED:
            self._split.clear()
        self._split[key] = fraction, found
        return found

    def quotient(self, above: Any, below: Any) -> Any:
        """Sympy's fraction from the terms of two polynomials, which have nothing in common."""
        ring, number = self.domain.field.ring, self.domain.field.ring.domain
        parts = ({k: number(int(c)) for k, c in terms} for terms in (above, below))
        return self.domain.field.raw_new(*map(ring.from_dict, parts))

    def fraction(self, above: Any, below: Any) -> Any:
        """Sympy's fraction in lowest terms, of positive leading coefficient below."""
        if above == 0:
            return self.domain.zero
        common = above.gcd(below)
        leading = below.coeffs()[-1 if self._context is None else 0]
        if (leading < 0) != (common.coeffs()[-1 if self._context is None else 0] < 0):
            common = -common
        return self.domain.field.raw_new(self._sympy(above // common), self._sympy(below // common))

    def _sympy(self, polynomial: Any) -> Any:
        ring = self.domain.field.ring
        number = ring.domain
        return ring.from_dict({k: number(int(c)) for k, c in self.terms(polynomial)})
