"""Numbers rounded to the safe side, where a theorem holds for them as well and exact ones are unwieldy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import Matrix, is_long, parse_number

__all__ = ["cut", "distances", "product", "rounded"]

DIGITS = 30
"""Digits of a number that is rounded."""
BITS = 400
"""Binary places of means on the way to the stationary ones."""


def rounded(value: Any, *, up: bool) -> Any:
    """A rational of 30 digits, not below (or above) a positive exact number; a float as it is.

    Examples
    --------
    >>> found = rounded(sp.sqrt(2), up=True)
    >>> bool(found > sp.sqrt(2)), float(found), rounded(sp.Rational(1, 3), up=True)
    (True, 1.4142135623730951, 1/3)
    """
    if isinstance(value, float) or (value.is_Rational and not is_long(value)) or not value:
        return value
    place = DIGITS - 1 - math.floor(sp.log(sp.N(value, 10), 10))
    near = sp.Rational(sp.floor(sp.N(value, DIGITS + 10) * sp.Integer(10) ** place))
    return (near + 1 if up else near - 1) / sp.Integer(10) ** place


def product(value: Any, factor: Any) -> Any:
    """A number times a rational, without a search for the factors of what is long."""
    if isinstance(value, float) or value.is_Rational or not (is_long(value) or is_long(factor)):
        return value * factor
    return sp.Mul(value, factor, evaluate=False)


def cut(M: Matrix) -> tuple[Matrix, Any]:
    """A matrix, long exact entries cut off after 400 binary places, and how far that moves eigenvalues.

    Of a symmetric matrix each moves by no more than the Frobenius norm of the change.
    """
    if M.arithmetic.kind == "float":
        return M, 0.0
    if not any(is_long(v) for v in M.public()):
        return M, sp.Integer(0)
    rows = [[parse_number(Fraction(_floor(v), 2**BITS)) for v in row] for row in M.rows()]
    return M.arithmetic.matrix(rows, M.shape), sp.Rational(M.shape[0], 2**BITS)


def distances(P: Matrix, values: Matrix, mean: list[Any], split: int) -> Iterator[Any]:
    """For k = 1, 2, ...: how far a row of P^k V can be from a mean, squared, in each of two parts.

    It is the larger Euclidean norm of a row's first ``split`` entries and of the others. P is
    stochastic. Exact numbers are cut off after 400 binary places: each step adds at most one unit
    of that, since P passes errors on without making them larger, and the units are counted.
    """
    if P.arithmetic.kind == "float":
        kernel, ahead = (np.array(M.rows(), dtype=float) for M in (P, values))
        middle, units, scale = np.array(mean, dtype=float), 0, 1.0
        common: Any = 1.0
    else:
        rows = [[_fraction(p) for p in row] for row in P.rows()]
        lcm = [math.lcm(*(p.denominator for p in row)) for row in rows]
        kernel = np.array(
            [[int(p * m) for p in row] for row, m in zip(rows, lcm, strict=True)], object
        )
        ahead = np.array([[_floor(v) for v in row] for row in values.rows()], dtype=object)
        middle, units, scale = np.array([_floor(m) for m in mean], dtype=object), 2, 2**BITS
        common = np.array(lcm, dtype=object)[:, None]
    while True:
        ahead = kernel @ ahead / common if units == 0 else kernel @ ahead // common
        units += bool(units)
        gaps = abs(ahead - middle) + units
        sizes = [(part * part).sum(axis=1).max() for part in (gaps[:, :split], gaps[:, split:])]
        worst = max(sizes)
        yield float(worst) if units == 0 else sp.Rational(int(worst), scale**2)


def _fraction(scalar: Any) -> Fraction:
    return Fraction(int(scalar.p), int(scalar.q))


def _floor(scalar: Any) -> int:
    found: int = int(scalar.p) * 2**BITS // int(scalar.q)
    return found
