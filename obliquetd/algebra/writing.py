"""Numbers written out: in full for files, in short for people."""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from sympy.printing.str import StrPrinter

from obliquetd.algebra.numbers import public_number

__all__ = [
    "cell_text",
    "decimal_text",
    "is_long",
    "number_text",
    "quoted",
    "serial_number",
    "shortened",
]

LONGEST_SHOWN = 40
"""Digits of a numerator or denominator beyond which people get a decimal instead."""
GUARD = 10
"""Digits of a root beyond those that are shown, so that rounding twice is rounding once."""


def serial_number(value: Any) -> str | float:
    """What a JSON file gets: exact text for exact numbers, of any length; a float as it is."""
    if isinstance(value, float | np.floating):
        return float(value)
    value = value if isinstance(value, sp.Basic) else public_number(value)
    if isinstance(value, sp.Rational):
        p, q = _digits(int(value.p)), _digits(int(value.q))
        return p if q == "1" else f"{p}/{q}"
    return str(_Exact().doprint(value))


class _Exact(StrPrinter):
    """Formulas as text with every digit of their numbers."""

    def _print_Integer(self, expr: Any) -> str:
        return _digits(int(expr.p))

    def _print_Rational(self, expr: Any) -> str:
        return f"{_digits(int(expr.p))}/{_digits(int(expr.q))}"


def _digits(integer: int) -> str:
    """Decimal digits of an integer of any length (CPython's ``str`` stops at 4300)."""
    if integer.bit_length() < 14_000:
        return str(integer)
    import flint

    return str(flint.fmpz(integer))


def number_text(value: Any, digits: int = 6) -> str:
    """What a person reads: short, and never an exception.

    A rational with a numerator or denominator over 40 digits is shown as a
    decimal with the number of digits of its exact form.

    Examples
    --------
    >>> number_text(sp.Rational(-1, 3)), number_text(0.1), number_text(sp.sqrt(82) / 2)
    ('-1/3', '0.1', 'sqrt(82)/2')
    >>> number_text(sp.Integer(2) ** 20000 / (sp.Integer(2) ** 20000 + sp.Integer(3) ** 12618))
    '0.657856 (exact, 6021 digits)'
    """
    value = sp.Integer(value) if isinstance(value, int) else public_number(value)
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, sp.Rational):
        longest = max(abs(int(value.p)), int(value.q))
        if longest < 10**LONGEST_SHOWN:
            return str(value)
        size = int(longest.bit_length() * math.log10(2)) + 1
        if 10 ** (size - 1) > longest:
            size -= 1
        return (
            f"{_decimal_text(Fraction(int(value.p), int(value.q)), digits)} (exact, {size} digits)"
        )
    if any(is_long(a, 10**LONGEST_SHOWN) for a in value.atoms(sp.Rational)):
        return (
            f"{_root_text(value, digits)} (exact form is long)"
            if not value.free_symbols
            else f"formula in {', '.join(sorted(map(str, value.free_symbols)))} with long coefficients"
        )
    return _written(value)


@lru_cache(maxsize=512)
def _written(value: sp.Expr) -> str:
    """The text of a formula, which a page asks for each time it wants to know how long it is."""
    return str(value)


def decimal_text(value: Any, digits: int) -> str | None:
    """A number as a decimal with so many digits, rounded to the nearest; None where it has none.

    Formulas with symbols, infinite and complex numbers have none.

    Examples
    --------
    >>> decimal_text(sp.Rational(2, 3), 4), decimal_text(sp.Integer(1), 4), decimal_text(sp.sqrt(2), 30)
    ('0.6667', '1', '1.41421356237309504880168872421')
    >>> decimal_text(sp.Rational(1, 3) * sp.Integer(10) ** 400, 3)
    '3.33e+399'
    """
    with localcontext(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN) as context:
        if isinstance(value, sp.Rational):  # one division, so one rounding
            rounded = context.divide(Decimal(int(value.p)), Decimal(int(value.q)))
        else:
            near = sp.N(value, digits + GUARD)
            if not near.is_Float:
                return None
            rounded = context.create_decimal(str(near))
        return f"{rounded.normalize():.{digits}g}"


def shortened(expression: sp.Expr) -> sp.Expr:
    """The expression with each number too long to be shown as a decimal of six digits.

    For eyes only: printers of sympy, and CPython above 4300 digits, fail on the long form.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> shortened(x / 2 + sp.Rational(1, 2**2000)), shortened(sp.sqrt(2))
    (x/2 + 8.70981e-603, sqrt(2))
    """
    long = {a: sp.N(a, 6) for a in expression.atoms(sp.Rational) if is_long(a, 10**LONGEST_SHOWN)}
    return expression.xreplace(long) if long else expression


def is_long(rational: sp.Rational, limit: int) -> bool:
    """Whether a numerator or denominator reaches ``limit``."""
    return max(abs(int(rational.p)), int(rational.q)) >= limit


def quoted(value: Any) -> str:
    """What an error quotes: as :func:`number_text`, but no digit of a float is rounded away.

    Examples
    --------
    >>> quoted(1.0000001), number_text(1.0000001), quoted(sp.Rational(1, 3))
    ('1.0000001', '1', '1/3')
    """
    return repr(float(value)) if isinstance(value, float) else number_text(value)


def cell_text(value: Any, width: int = 14, *, beside: bool = True) -> str:
    """What fits a table cell: exact where that is short, else a decimal after ``~``.

    A short root is followed by its decimal, unless ``beside`` is False.

    Examples
    --------
    >>> import sympy as sp
    >>> cell_text(sp.Rational(9, 10)), cell_text(sp.sqrt(82) / 2), cell_text(sp.Rational(10**20, 3))
    ('9/10', 'sqrt(82)/2 = 4.52769', '~3.33333e+19')
    """
    digits = 6 if width >= 14 else 4
    text = number_text(value, digits)
    number = sp.Integer(value) if isinstance(value, int) else public_number(value)
    if isinstance(number, float) or number.free_symbols or number in (sp.oo, -sp.oo):
        return text  # not is_infinite: sympy would factor the long numbers under a root
    if number.is_Rational:
        if len(text) <= width:
            return text
        return "~" + _decimal_text(Fraction(int(number.p), int(number.q)), digits)
    decimal = _root_text(number, digits)
    if len(text) > width:
        return f"~{decimal}"
    return f"{text} = {decimal}" if beside else text


def _root_text(value: sp.Expr, digits: int) -> str:
    """The decimal of a number that is no rational, however small or large."""
    decimal = sp.N(value, digits)
    approximate = float(decimal)
    inside = math.isfinite(approximate) and (approximate or not decimal)
    return f"{approximate:.{digits}g}" if inside else str(decimal).lower()


def _decimal_text(value: Fraction, digits: int) -> str:
    try:
        approximate = float(value)
    except OverflowError:
        approximate = math.inf
    if approximate and math.isfinite(approximate):
        return f"{approximate:.{digits}g}"
    return str(sp.N(sp.Rational(value.numerator, value.denominator), digits))
