"""Large integer systems A X = B by p-adic lifting, told step by step and open to Ctrl-C.

Dixon (1982): with C = A^-1 modulo a prime p and R_0 = B, the digits X_k = C R_k mod p and
R_(k+1) = (R_k - A X_k) / p give X modulo p^k. By Cramer's rule and Hadamard's bound every numerator
and the common denominator are at most some H; where p^k > 2 H^2 only one such fraction has the
residue, so that the result is proved. FLINT does the same inside one call, which no signal reaches.
"""

from __future__ import annotations

import math
from typing import Any

import flint

from obliquetd.algebra.pencil import hadamard, primes
from obliquetd.algebra.waiting import Waiting

__all__ = ["solve_by_lifting"]

SMALL = 1 << 46
"""Primes below leave room for sums of products in a machine word."""


def solve_by_lifting(a: Any, b: Any) -> tuple[list[int], int]:
    """Numerators, row after row, and the common denominator of the X with ``a X = b``.

    Parameters
    ----------
    a : fmpz_mat (n, n)
    b : fmpz_mat (n, m)

    Raises
    ------
    ZeroDivisionError
        Where ``a`` is singular.
    """
    p, inverse = _inverse(a)
    bound = hadamard(a, b)
    count = math.ceil((2 * bound.bit_length() + 2) / (p.bit_length() - 1))
    digits: list[list[int]] = []
    rest = b
    with Waiting("solving exactly", count) as step:
        for _ in range(count):
            found = [int(x) for x in (inverse * flint.nmod_mat(rest, p)).entries()]
            rest = (rest - a * flint.fmpz_mat(b.nrows(), b.ncols(), found)) / flint.fmpz(p)
            digits.append(found)
            step()
    values = [int(flint.fmpz_poly(list(column))(p)) for column in zip(*digits, strict=True)]
    return _fractions(values, p**count, bound)


def _inverse(a: Any) -> tuple[int, Any]:
    for p in primes(SMALL):
        try:
            return p, flint.nmod_mat(a, p).inv()
        except ZeroDivisionError:
            if a.rank() < a.nrows():
                raise
    raise AssertionError


def _fractions(values: list[int], modulus: int, bound: int) -> tuple[list[int], int]:
    """Numerators of at most the bound over one denominator, which grows where an entry needs it."""
    below = 1
    above: list[int] = []
    for value in values:
        found = _symmetric(value * below, modulus)
        if abs(found) > bound:
            found, more = _fraction(found % modulus, modulus, bound)
            above = [x * more for x in above]
            below *= more
        above.append(found)
    return above, below


def _fraction(value: int, modulus: int, bound: int) -> tuple[int, int]:
    """The fraction of this residue, by Euclid's algorithm halfway (Wang 1981)."""
    r, s, u, v = modulus, value, 0, 1
    while s > bound:
        q = r // s
        r, s, u, v = s, r - q * s, v, u - q * v
    return (s, v) if v > 0 else (-s, -v)


def _symmetric(value: int, modulus: int) -> int:
    value %= modulus
    return value - modulus if 2 * value > modulus else value
