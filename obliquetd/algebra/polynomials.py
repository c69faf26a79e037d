"""Polynomials and matrices of rationals by FLINT: determinants, factors, roots, common divisors.

Coefficients of what comes in and goes out stand with the leading one first, as in a
characteristic polynomial; numbers are native rationals, or what ``parse_number`` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flint
import sympy as sp

from obliquetd.algebra.evaluation import coefficients_through
from obliquetd.algebra.factoring import irreducible_factors
from obliquetd.algebra.numbers import parse_number, public_number
from obliquetd.algebra.roots import real_roots

__all__ = [
    "Factor",
    "characteristic_factors",
    "determinant_polynomial",
    "even_part",
    "nearest_root",
    "squares_of_pairs_only",
    "turn_right",
]


class Factor:
    """An irreducible factor over the integers of a rational polynomial.

    Attributes
    ----------
    coefficients : list of sympy.Integer
        The leading one first.
    roots : list of pairs of float balls
        Real and imaginary part of each complex root, isolated.
    """

    def __init__(self, polynomial: Any) -> None:
        self.coefficients = [sp.Integer(int(c)) for c in polynomial.coeffs()[::-1]]
        self.roots = [(root.real, root.imag) for root, _ in polynomial.complex_roots()]

    @property
    def degree(self) -> int:
        """The degree."""
        return len(self.coefficients) - 1


def characteristic_factors(matrix: Sequence[Sequence[Any]]) -> list[Factor]:
    """The irreducible factors of the characteristic polynomial of a square rational matrix.

    Examples
    --------
    >>> half = parse_number("1/2")
    >>> sorted(f.coefficients for f in characteristic_factors([[half, 0], [0, 3 * half / half]]))
    [[1, -3], [2, -1]]
    """
    size = len(matrix)
    whole = flint.fmpq_mat(size, size, [x for row in matrix for x in row]).charpoly()
    return [Factor(factor) for factor in irreducible_factors(whole)]


def determinant_polynomial(
    matrix_at: Callable[[int], Sequence[Sequence[Any]]], degree: int
) -> sp.Poly:
    """det M(alpha), of at most the given degree in alpha, interpolated from integer samples.

    Parameters
    ----------
    matrix_at : function of an integer
        M there, square, of native rationals.
    degree : int

    Examples
    --------
    >>> one = parse_number(1)
    >>> determinant_polynomial(lambda a: [[a * one, one], [one, a * one]], 2).all_coeffs()
    [1, 0, -1]
    """
    points = range(degree + 1)
    values = []
    for point in points:
        rows = matrix_at(point)
        flat = [x for row in rows for x in row]
        values.append([flint.fmpq_mat(len(rows), len(rows), flat).det()])
    solved = [c for (c,) in coefficients_through(points, values)]
    return sp.Poly([public_number(parse_number(c)) for c in solved[::-1]], sp.Dummy("alpha"))


def nearest_root(polynomial: sp.Poly, value: Any) -> Any:
    """The exact real root that is nearest to a number."""
    return min(real_roots(polynomial), key=lambda r: abs(sp.N(r, 40) - value))


def even_part(coefficients: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """p / h and u, where h = gcd(p(x), p(-x)) = x^m u(x^2) has the roots that come in pairs +-z.

    ``u`` is square-free.

    Examples
    --------
    >>> p, u = even_part([parse_number(c) for c in (1, -2, 1, -2)])  # (x - 2) (x^2 + 1)
    >>> [str(c) for c in p], [str(c) for c in u]
    (['1', '-2'], ['1', '1'])
    """
    n = len(coefficients) - 1
    p = _polynomial(coefficients)
    mirror = _polynomial([c * (-1) ** (n - i) for i, c in enumerate(coefficients)])
    h = p.gcd(mirror)
    paired = h.coeffs()
    zeros = next(m for m, c in enumerate(paired) if c != 0)
    u = flint.fmpq_poly(paired[zeros::2])
    square_free = u // u.gcd(u.derivative()) if u.degree() > 0 else u
    return (p // h).coeffs()[::-1], square_free.coeffs()[::-1]


def turn_right(coefficients: Sequence[Any]) -> bool:
    """Whether all roots are right of the imaginary axis, for a polynomial that has none on it.

    Examples
    --------
    >>> [turn_right([parse_number(c) for c in p]) for p in ((1, -3, 2), (1, 0, -1), (5,))]
    [True, False, True]
    """
    p = _polynomial(coefficients)
    bits = 64
    while True:  # none is on the axis, so that some precision tells
        with flint.ctx.workprec(bits):
            roots = [root.real for root, _ in (p * p.denom()).numer().complex_roots()]
            if any(r < 0 for r in roots):
                return False
            if all(r > 0 for r in roots):
                return True
        bits *= 2


def squares_of_pairs_only(coefficients: Sequence[Any]) -> bool:
    """Whether all roots of a square-free u, which has no root 0, are negative: u(z^2) has pairs +-iy alone.

    Examples
    --------
    >>> [squares_of_pairs_only([parse_number(c) for c in u]) for u in ((1, 1), (1, -1), (1, 0, 1))]
    [True, False, False]
    """
    u = _polynomial(coefficients)
    roots = (u * u.denom()).numer().complex_roots()  # a real root's imaginary part is exactly 0
    return all(root.imag == 0 and root.real < 0 for root, _ in roots)


def _polynomial(coefficients: Sequence[Any]) -> Any:
    return flint.fmpq_poly(
        [flint.fmpq(int(c.numerator), int(c.denominator)) for c in coefficients[::-1]]
    )
