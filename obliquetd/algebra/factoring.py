"""The one seam for factors of polynomials: by FLINT, and unfactored where it gives up.

A polynomial in several symbols is factored as one with rational coefficients: those with integer ones put their
factors in order by machine words, and fail with ``OverflowError`` where a coefficient is longer than one. Where FLINT
gives up for another reason, the polynomial is its own only factor.

So what is made of factors has to be right for any product of them. A formula may be shown in fewer factors, and a sign
may be left open; :func:`irreducible_factors`, of one symbol, are always found.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import flint
import sympy as sp
from sympy import QQ

__all__ = ["factored", "factored_fraction", "factors_of", "irreducible_factors", "public_factors"]


def irreducible_factors(polynomial: Any) -> list[Any]:
    """The irreducible factors, with integer coefficients, of FLINT's rational polynomial in one symbol.

    Examples
    --------
    >>> [str(p) for p in irreducible_factors(flint.fmpq_poly([-1, 0, 4]) / 3)]
    ['2*x + (-1)', '2*x + 1']
    """
    return [factor for factor, _ in (polynomial * polynomial.denom()).numer().factor()[1]]


@lru_cache(maxsize=4096)
def factors_of(polynomial: Any) -> tuple[Any, tuple[tuple[Any, int], ...]]:
    """A native polynomial as a number and factors with whole coefficients, each with its power.

    They are irreducible, positive in their first coefficient, and sorted from simple to complex; where FLINT gives up
    there is one, the polynomial without its content. One problem has the same polynomials again and again: entries of a
    vector share a denominator, and the errors of a fixed point and the noise of its learner a numerator.

    Examples
    --------
    >>> from sympy import ring
    >>> R, x, y = ring("x, y", QQ)
    >>> factors_of((x - y / 2) * (1 - x) ** 2 * 3)
    (3/2, ((2*x - y, 1), (x - 1, 2)))
    >>> factors_of((x + 10**20 * y) * (x - y))[1]
    ((x - y, 1), (x + 100000000000000000000*y, 1))
    """
    if not polynomial:
        return polynomial.ring.domain.zero, ()
    number, found = polynomial.LC, []
    for factor, power in _by_flint(polynomial):
        whole = _whole(factor)
        number /= whole.LC**power
        if not whole.is_ground:
            found.append((whole, power))
    found.sort(key=lambda f: (max(map(sum, f[0].monoms())), f[1], f[0].terms()))
    return number, tuple(found)


def _by_flint(polynomial: Any) -> list[tuple[Any, int]]:
    """Factors up to a number, as polynomials of the same ring, with their powers."""
    ring = polynomial.ring
    rational = {k: flint.fmpq(int(c.numerator), int(c.denominator)) for k, c in polynomial.terms()}
    try:
        if len(ring.symbols) == 1:
            dense = [rational.get((k,), 0) for k in range(polynomial.degree() + 1)]
            parts = flint.fmpq_poly(dense).factor()[1]
            terms = [({(k,): c for k, c in enumerate(p.coeffs()) if c}, k) for p, k in parts]
        else:
            names = tuple(f"x{k}" for k in range(len(ring.symbols)))
            several = flint.fmpq_mpoly_ctx.get(names, "lex").from_dict(rational)
            terms = [(p.to_dict(), k) for p, k in several.factor()[1]]
    except (RuntimeError, OverflowError):  # what FLINT says of a polynomial that is too large
        return [(polynomial, 1)]
    return [(ring.from_dict({k: QQ(c.p, c.q) for k, c in x.items()}), int(n)) for x, n in terms]


def _whole(factor: Any) -> Any:
    """The multiple with whole coefficients that have nothing in common, the first one positive."""
    plain = factor.clear_denoms()[1].primitive()[1]
    return plain if plain.LC > 0 else -plain


def factored_fraction(fraction: Any) -> sp.Expr:
    """``sympy.factor`` of a native rational function, from its polynomials (some four times faster)."""
    if not fraction:
        return sp.S.Zero
    above, numerator = factors_of(fraction.numer)
    below, denominator = factors_of(fraction.denom)
    coefficient = QQ.to_sympy(above) / QQ.to_sympy(below)
    product = sp.Mul(
        *(p.as_expr() ** k for p, k in numerator), *(p.as_expr() ** -k for p, k in denominator)
    )
    if product.is_Add and abs(coefficient) != 1:  # keep 2*(x + 1) from becoming 2*x + 2
        return sp.Mul(coefficient, product, evaluate=False)
    return coefficient * product


def _native(expression: Any) -> Any:
    """A rational function of symbols, or a rational, in its field."""
    value = sp.sympify(expression)
    symbols = sorted(value.free_symbols, key=str)
    return QQ.frac_field(*symbols).from_sympy(value) if symbols else value


def factored(expression: Any) -> sp.Expr:
    """A rational function of symbols over QQ in lowest terms, numerator and denominator factored.

    Examples
    --------
    >>> p, q = sp.symbols("p q")
    >>> factored((p**2 - q**2) / (2 * p - 2 * q) - 1), factored(sp.Rational(1, 2))
    ((p + q - 2)/2, 1/2)
    """
    value = _native(expression)
    return value if isinstance(value, sp.Basic) else factored_fraction(value)


def public_factors(expression: Any) -> list[sp.Expr]:
    """The different factors, without numbers, of the numerator of a rational function and then of its denominator.

    Examples
    --------
    >>> p, q = sp.symbols("p q")
    >>> public_factors((p**2 - q**2) / (1 - p) ** 2)
    [p - q, p + q, p - 1]
    """
    value = _native(expression)
    if isinstance(value, sp.Basic):
        return []
    return [p.as_expr() for part in (value.numer, value.denom) for p, _ in factors_of(part)[1]]
