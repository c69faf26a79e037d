"""Real roots of polynomials with rational coefficients, exactly, wherever they lie.

sympy numbers the real roots of an irreducible polynomial by isolating all of them, and refines each
by continued fractions, in numbers of steps that grow in proportion to how far apart they are: with
roots near 1/3 and near 10^12 neither ends. FLINT encloses all complex roots at once, to any number
of digits, and says which are real. So roots of very different sizes are of a class of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import flint
import sympy as sp

from obliquetd.algebra.ways import Way

__all__ = ["RealRoot", "first_positive_root", "in_order", "rational_between", "real_roots"]

FAR: Way[int] = 2**10
"""Roots all of whose sizes are within this factor of one are left to sympy."""
LONG: Way[int] = 400
"""Binary digits of a coefficient up to which they are: with those of floats it takes minutes, and FLINT a moment."""
DIGITS = 60
"""Decimals by which exact numbers are put in order."""
GUARD = 10
"""Bits beyond those that are asked for."""


class RealRoot(sp.Expr):
    """A real root of an irreducible polynomial, numbered from left to right as ``sympy.CRootOf`` does.

    It computes and compares as any number of sympy's, and prints as the ``CRootOf`` that it equals.

    Parameters
    ----------
    polynomial : sympy.PurePoly
        Irreducible, with integer coefficients.
    index : int
        From 0, among the real roots.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> far = RealRoot(sp.PurePoly(x**3 - x + 10**40, x), 0)
    >>> far.n(20), bool(far < -(10**13))
    (-21544346900318.837218, True)
    >>> far
    CRootOf(x**3 - x + 10000000000000000000000000000000000000000, 0)
    """

    is_commutative = True
    is_number = True
    is_real = True
    is_algebraic = True
    is_rational = False

    def __new__(cls, polynomial: sp.PurePoly, index: Any) -> Any:
        return sp.Expr.__new__(cls, polynomial, sp.Integer(index))

    @property
    def free_symbols(self) -> set[Any]:
        """None: the polynomial's variable is bound."""
        return set()

    def _eval_evalf(self, prec: int) -> Any:
        polynomial, index = self.args
        coefficients = tuple(int(c) for c in polynomial.all_coeffs()[::-1])
        middle = enclosures(coefficients, prec + GUARD)[int(index)].mid()
        mantissa, exponent = middle.man_exp()
        return sp.Float(sp.Integer(int(mantissa)) * sp.Integer(2) ** int(exponent), precision=prec)

    def _sympystr(self, printer: Any) -> str:
        polynomial, index = self.args
        return f"CRootOf({printer.doprint(polynomial.as_expr())}, {index})"

    _sympyrepr = _sympystr

    def _latex(self, printer: Any) -> str:
        polynomial, index = self.args
        inside = f"{printer.doprint(polynomial.as_expr())}, {index}"
        return rf"\operatorname{{CRootOf}} {{\left({inside}\right)}}"


def in_order(numbers: Iterable[Any]) -> list[Any]:
    """Exact real numbers from left to right."""
    return sorted(numbers, key=lambda r: sp.N(r, DIGITS))


def rational_between(left: Any, right: Any) -> sp.Rational:
    """A rational strictly between two reals, either of which may be infinite.

    Examples
    --------
    >>> rational_between(sp.sqrt(2), sp.Rational(3, 2)), rational_between(1, sp.oo)
    (1457/1000, 2)
    """
    if left == -sp.oo and right == sp.oo:
        return sp.Integer(0)
    if left == -sp.oo:
        return sp.floor(right) - 1
    if right == sp.oo:
        return sp.ceiling(left) + 1
    precision = 4
    while True:
        middle = sp.Rational(str(sp.N((left + right) / 2, precision)))
        if left < middle < right:
            return middle
        precision *= 2


def real_roots(polynomial: sp.Poly) -> list[Any]:
    """The real roots from left to right, as often as they occur.

    Rational numbers, and others as sympy writes them (surds, ``CRootOf``); each a :class:`RealRoot`
    where the roots of an irreducible factor are of very different sizes, or far from one, or its coefficients are long.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> real_roots(sp.Poly((x - 3) ** 2 * (2 * x + 1) * (x**2 - 2), x))
    [-sqrt(2), -1/2, sqrt(2), 3, 3]
    >>> spread = real_roots(sp.Poly((x - 1) * (10**12 * x - 3) * (x - 10**12) + 1, x))
    >>> [float(r) for r in spread]
    [2.999999999999e-12, 1.0, 1000000000000.0]
    """
    roots: list[Any] = []
    for factor, times in polynomial.factor_list()[1]:
        roots += _of_irreducible(factor) * times
    return in_order(roots)


def first_positive_root(polynomial: sp.Poly) -> Any:
    """The smallest positive root, oo where there is none.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> [first_positive_root(sp.Poly(p, x)) for p in ((x + 1) * (2 * x - 1) * (x - 3), x + 1)]
    [1/2, oo]
    """
    return next((root for root in real_roots(polynomial) if root > 0), sp.oo)


def _of_irreducible(f: sp.Poly) -> list[Any]:
    if f.degree() <= 2:
        return list(f.real_roots())
    found = enclosures(tuple(int(c) for c in f.all_coeffs()[::-1]), flint.ctx.prec)
    digits = max(int(c).bit_length() for c in f.all_coeffs())
    if digits <= LONG and all(1 < abs(r) * FAR < FAR**2 for r in found):
        return list(f.real_roots())
    return [RealRoot(sp.PurePoly(f), index) for index in range(len(found))]


@functools.lru_cache(maxsize=128)
def enclosures(coefficients: tuple[int, ...], bits: int) -> list[Any]:
    """The real roots of an irreducible polynomial from left to right, each as a ball that holds no other.

    Parameters
    ----------
    coefficients : tuple of int
        From the constant one up.
    bits : int
        The relative precision.

    Examples
    --------
    >>> [round(float(ball), 6) for ball in enclosures((-2, 0, 0, 1), 53)]
    [1.259921]
    """
    with flint.ctx.workprec(bits):
        roots = flint.fmpz_poly(list(coefficients)).complex_roots()
        # a real root's imaginary part is exactly 0, and the balls of different roots are apart
        return sorted((r.real for r, _ in roots if r.imag == 0), key=lambda ball: ball.mid())
