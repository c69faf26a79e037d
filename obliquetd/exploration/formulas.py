"""Exact rational functions as plain data: integer polynomials, each kept once.

A formula n/d is a pair of polynomials with integer coefficients. At rational values p_v / q_v of the symbols the
page evaluates the homogenised polynomial

    sum over terms of c * product over v of p_v^(i_v) q_v^(deg_v - i_v)

in integers of any length, so the number that it shows is the exact one, whatever the degree and however near a root.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import public_number

__all__ = ["FormulaTable", "Polynomial"]

Polynomial = tuple[tuple[tuple[int, ...], int], ...]
"""Terms (exponents of the symbols, integer coefficient), in order."""
PRIME = 2_147_483_629
"""Below 2^31, so that a product of residues fits 64 bits."""


class FormulaTable:
    """Formulas in some symbols by number; equal polynomials are kept once.

    Parameters
    ----------
    symbols : sequence of sympy.Symbol
        In the order of the sliders.

    Examples
    --------
    >>> from obliquetd.algebra import FieldArithmetic
    >>> g = sp.Symbol("g")
    >>> table, field = FormulaTable([g]), FieldArithmetic([g])
    >>> table.add(field.scalar(3 / (5 - 6 * g)), field), table.add(field.scalar(g / 2), field)
    (0, 1)
    >>> table.polynomials[:2], table.formulas
    ([(((0,), -3),), (((0,), -5), ((1,), 6))], [(0, 1), (2, 3)])
    """

    def __init__(self, symbols: Sequence[sp.Symbol]) -> None:
        self.symbols = tuple(symbols)
        self.polynomials: list[Polynomial] = []
        self.formulas: list[tuple[int, int]] = []
        self._polynomials: dict[Polynomial, int] = {}
        self._formulas: dict[tuple[int, int], int] = {}

    def add(self, scalar: Any, arithmetic: Any) -> int:
        """The number of the formula that a native scalar of an exact or symbolic arithmetic is."""
        numerator, denominator = _parts(scalar, arithmetic, self.symbols)
        pair = (self.polynomial(numerator), self.polynomial(denominator))
        if pair not in self._formulas:
            self._formulas[pair] = len(self.formulas)
            self.formulas.append(pair)
        return self._formulas[pair]

    def polynomial(self, terms: Polynomial) -> int:
        """The number of a polynomial."""
        if terms not in self._polynomials:
            self._polynomials[terms] = len(self.polynomials)
            self.polynomials.append(terms)
        return self._polynomials[terms]

    @property
    def denominators(self) -> set[int]:
        """The numbers of the polynomials that stand below a line."""
        return {denominator for _, denominator in self.formulas}

    def to_data(self) -> dict[str, Any]:
        """What the page reads; integers of any length are text."""
        return {
            "polynomials": [_data(p, len(self.symbols)) for p in self.polynomials],
            "formulas": self.formulas,
        }


def _data(terms: Polynomial, count: int) -> list[Any]:
    degrees = [max((e[v] for e, _ in terms), default=0) for v in range(count)]
    return [degrees, [str(c) for _, c in terms], [list(e) for e, _ in terms]]


def _parts(
    scalar: Any, arithmetic: Any, symbols: Sequence[sp.Symbol]
) -> tuple[Polynomial, Polynomial]:
    """Numerator and denominator with integer coefficients."""
    if not arithmetic.symbols:
        number = public_number(scalar)
        nothing = (0,) * len(symbols)
        constant: Polynomial = ((nothing, int(number.p)),) if number.p else ()
        return constant, ((nothing, int(number.q)),)
    places = [arithmetic.symbols.index(s) if s in arithmetic.symbols else None for s in symbols]
    sides = [
        [(tuple(0 if k is None else int(m[k]) for k in places), public_number(c)) for m, c in part.terms()]
        for part in (scalar.numer, scalar.denom)
    ]  # fmt: skip
    common = math.lcm(*(int(c.q) for side in sides for _, c in side))
    whole = [[(m, int(c * common)) for m, c in side if c] for side in sides]
    shared = math.gcd(*(c for side in whole for _, c in side))
    above, below = (tuple(sorted((m, c // shared) for m, c in side)) for side in whole)
    return above, below


def zeros_among(polynomial: Polynomial, places: Sequence[sp.Rational]) -> Iterator[int]:
    """The numbers of those places at which a polynomial in one symbol is 0.

    Residues sort out nearly all of them; the others are decided in integers.

    Examples
    --------
    >>> list(zeros_among((((0,), -5), ((1,), 6)), [sp.Rational(k, 12) for k in range(12)]))
    [10]
    """
    if not polynomial:
        yield from range(len(places))
        return
    coefficients = dict(polynomial)
    degree = max(e[0] for e, _ in polynomial)
    dense = [coefficients.get((k,), 0) for k in range(degree, -1, -1)]
    x = np.array([int(p.p) * pow(int(p.q), -1, PRIME) % PRIME for p in places], dtype=np.int64)
    value = np.zeros(len(places), dtype=np.int64)
    for c in dense:
        value = (value * x + c % PRIME) % PRIME
    for i in np.flatnonzero(value == 0).tolist():
        p, q = int(places[i].p), int(places[i].q)
        exact, power = 0, 1
        for c in dense:
            exact, power = exact * p + c * power, power * q
        if exact == 0:
            yield i
