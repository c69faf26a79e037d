"""One number at a time: reading it in, naming its kind, writing it out.

A number read by :func:`parse_number` is one of three things, and stays it:

========  =======================================================  =================
kind      what came in                                             what is kept
========  =======================================================  =================
exact     int, Fraction, Decimal, sympy Rational, ``"9/10"``        an element of QQ
symbolic  anything with a sympy symbol in it, ``"gamma*p"``         a sympy expression
float     a Python or numpy float                                  a Python float
========  =======================================================  =================
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import sympy as sp
from sympy import QQ

from obliquetd.algebra.expressions import MAX_DECIMAL_EXPONENT, parse_expression
from obliquetd.algebra.ways import Way
from obliquetd.errors import NumberError

__all__ = [
    "Kind",
    "exact_distribution",
    "exact_root",
    "exactify",
    "in_domain",
    "is_long",
    "join_kinds",
    "kind_of",
    "misses_one_by_rounding",
    "parse_number",
    "public_number",
    "simplest_fraction",
]

Kind = Literal["exact", "symbolic", "float"]
"""What a number is: a rational, an expression with symbols, or a floating-point number."""
QQ_TYPE = QQ.dtype
ZERO = QQ(0)

_PLAIN = re.compile(
    r"(-?[0-9]{1,40})(?:/([0-9]{1,40}))?|(-?[0-9]{1,40})\.?([0-9]{0,40})(?:[eE]([+-]?[0-9]{1,3}))?"
)

ROW_ROUNDING = 64 * float(np.finfo(float).eps)
"""A float row of k entries may miss one by this times k: rounding, not a defect."""
LONGEST_FACTORED: Way[int] = 128
"""Bits of a rational up to which square factors are taken out of its root."""


def parse_number(value: Any, where: str = "a number") -> Any:
    """Read one number; ``where`` goes into the error.

    Raises
    ------
    NumberError
        For NaN, infinities, ``"1/0"``, text that is no formula, irrational constants.

    Examples
    --------
    >>> parse_number("0.1"), parse_number(0.1)
    (1/10, 0.1)
    """
    if type(value) is QQ_TYPE:
        return value
    if isinstance(value, bool | np.bool_):
        raise NumberError(f"{where} is {value!r}, a truth value; expected a number")
    if isinstance(value, int | np.integer):
        return QQ(int(value))
    if isinstance(value, Fraction):
        return QQ(value.numerator, value.denominator)
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            raise NumberError(f"{where} is {float(value)}; expected a finite number")
        return float(value)
    if isinstance(value, str):
        plain = _plain(value)
        if plain is not None:
            return plain
        try:
            return _from_expression(parse_expression(value), where)
        except NumberError as error:
            raise NumberError(f"{where}: {error}") from None
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise NumberError(f"{where} is {value}; expected a finite number")
        if value and abs(value.adjusted()) > MAX_DECIMAL_EXPONENT:
            raise NumberError(
                f"{where} is a Decimal with the exponent {value.adjusted()}, which is beyond "
                f"{MAX_DECIMAL_EXPONENT}"
            )
        return parse_number(Fraction(value), where)
    if isinstance(value, sp.Expr):
        return _from_expression(value, where)
    if hasattr(value, "p") and hasattr(value, "q"):  # a FLINT or gmpy rational
        return QQ(int(value.p), int(value.q))
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return parse_number(value.item(), where)
    raise NumberError(
        f"{where} is {value!r} of type {type(value).__name__}; expected an int, Fraction, "
        "float, sympy expression, or text such as '9/10'"
    )


def _plain(text: str) -> Any:
    """The fraction or decimal that a text is, None for any other: most numbers of most files."""
    found = _PLAIN.fullmatch(text)
    if found is None:
        return None
    up, down, whole, part, power = found.groups()
    if up is not None:
        return QQ(int(up), int(down)) if down and int(down) else None if down else QQ(int(up))
    digits = int(whole + part)
    shift = int(power or 0) - len(part)
    return QQ(digits * 10**shift) if shift >= 0 else QQ(digits, 10**-shift)


def _from_expression(expr: sp.Expr, where: str) -> Any:
    if isinstance(expr, sp.Rational):
        return QQ(int(expr.p), int(expr.q))
    if isinstance(expr, sp.Float):
        return parse_number(float(expr), where)
    if expr.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
        raise NumberError(f"{where} is {expr}; expected a finite number")
    if expr.free_symbols:
        if expr.has(sp.Float):
            raise NumberError(
                f"{where} is {expr}, a symbol and a float in one formula; write the float as a "
                "fraction, as in Rational(9, 10) or '9/10'"
            )
        if not expr.is_rational_function(*expr.free_symbols) or not _rational_constants(expr):
            raise NumberError(
                f"{where} is {expr}; expected a quotient of polynomials with rational "
                "coefficients. Give the irrational part a symbol of its own"
            )
        return expr
    rational = sp.nsimplify(expr) if expr.is_rational else None
    if isinstance(rational, sp.Rational):
        return QQ(int(rational.p), int(rational.q))
    raise NumberError(
        f"{where} is {expr}, which is not rational; use a float, or a symbol to be "
        "substituted later"
    )


def _rational_constants(expr: sp.Expr) -> bool:
    return all(isinstance(a, sp.Rational | sp.Symbol) for a in expr.atoms()) and all(
        isinstance(p.exp, sp.Integer) for p in expr.atoms(sp.Pow)
    )


def kind_of(value: Any) -> Kind:
    """The kind of a number that :func:`parse_number` returned."""
    if isinstance(value, float):
        return "float"
    return "symbolic" if isinstance(value, sp.Basic) else "exact"


def join_kinds(kinds: Iterable[Kind]) -> set[Kind]:
    """The distinct kinds present, exact left out where another is there."""
    found = set(kinds)
    if len(found) > 1:
        found.discard("exact")
    return found or {"exact"}


def simplest_fraction(value: float, slack: int = 0) -> Fraction:
    """The fraction of smallest denominator that rounds to ``value``.

    With ``slack``, to within that many units in the last place of it.

    The reals that round to a double form an interval around it; the first node
    of the Stern-Brocot tree inside the interval is the fraction meant by nearly
    everyone who typed a decimal or divided by three.

    Examples
    --------
    >>> simplest_fraction(0.9), simplest_fraction(1 / 3), simplest_fraction(-0.1)
    (Fraction(9, 10), Fraction(1, 3), Fraction(-1, 10))
    """
    if value < 0:
        return -simplest_fraction(-value, slack)
    exact = Fraction(value)
    if exact.denominator == 1:
        return exact
    low = (exact + Fraction(math.nextafter(value, -math.inf))) / 2
    high = (exact + Fraction(math.nextafter(value, math.inf))) / 2
    # Ties go to the even mantissa, so the end points belong to the interval only then.
    closed = float(low) == value and float(high) == value
    if slack:
        unit = Fraction(math.ulp(value))
        low, high = max(low - slack * unit, low / 2), high + slack * unit
    return simplest_between(low, high, closed)


def simplest_between(low: Fraction, high: Fraction, closed: bool) -> Fraction:
    """Continued-fraction descent to the simplest fraction in (low, high) or [low, high]."""
    whole = math.floor(low)
    if low == whole and closed:
        return Fraction(whole)
    if whole + 1 < high or (closed and whole + 1 == high):
        return Fraction(whole + 1)
    rest_low, rest_high = low - whole, high - whole
    if rest_low == 0:  # open at an integer: 1/k for the smallest k with 1/k < rest_high
        return whole + Fraction(1, math.floor(1 / rest_high) + 1)
    return whole + 1 / simplest_between(1 / rest_high, 1 / rest_low, closed)


def exactify(value: Any) -> Any:
    """A float becomes the shortest decimal that prints it; others stay.

    Examples
    --------
    >>> exactify(0.9), exactify(0.999999999999), exactify(1e-8)
    (9/10, 999999999999/1000000000000, 1/100000000)
    """
    if isinstance(value, float):
        decimal = Fraction(repr(value))
        return QQ(decimal.numerator, decimal.denominator)
    return value


WRITTEN = 17
"""Characters up to which a float prints what somebody may have typed: 0. and 15 digits."""
SMALL = 1_000
"""A denominator that a person means, for floats of full length."""
NEARBY = (0, 1, 2, 4, 8)
"""Units in the last place by which a float of a row may miss the fraction it stands for."""


def exact_distribution(values: Sequence[Any]) -> list[Any]:
    """The fractions that the floats of one distribution stand for.

    1. Each float is the shortest decimal that prints it. Where these sum to one, as
       0.1 and 0.9 do, that is what was written.
    2. Otherwise the floats were computed: 1/3 is stored as 0.3333333333333333, and
       ``(1 - 1/3) / 2`` is one unit off. The simplest fractions that round to them, or lie
       within 1, 2, 4 or 8 units in the last place, are taken at the first width where the
       sum is one.
    3. Where no width does, but the floats sum to one to within rounding (as weights do that
       were divided by their sum), the largest gives way: it is one less the decimals of
       the others.

    Anything else is a defect of the row; the decimals stand, for the caller to refuse. By
    accident 0.6666666666666667 and 0.3333333333333333 sum to one as decimals; nobody wrote
    those, so full-length decimals give way to small fractions too.

    Examples
    --------
    >>> exact_distribution([1 / 3, (1 - 1 / 3) / 2, 1 / 3])
    [1/3, 1/3, 1/3]
    >>> exact_distribution([0.99999999, 1e-8])
    [99999999/100000000, 1/100000000]
    """
    decimals = [exactify(v) for v in values]
    floats = [i for i, v in enumerate(values) if isinstance(v, float)]
    if not floats or any(isinstance(v, sp.Basic) for v in values):
        return decimals
    total = sum(decimals, ZERO)
    written = total == 1 and all(len(repr(values[i])) <= WRITTEN for i in floats)
    if written or not misses_one_by_rounding(float(public_number(total)), len(values)):
        return decimals
    tries = (_nearby_fractions(values, slack) for slack in NEARBY)
    fractions = next((row for row in tries if row is not None), None)
    if fractions and (total != 1 or max(q.denominator for q in fractions) <= SMALL):
        return fractions
    largest = max(floats, key=lambda i: decimals[i])
    decimals[largest] -= total - 1
    return decimals


def _nearby_fractions(values: Sequence[Any], slack: int) -> list[Any] | None:
    """The simplest fractions within ``slack`` units in the last place, where they sum to one."""
    simple = [simplest_fraction(v, slack) if isinstance(v, float) else v for v in values]
    read = [parse_number(f) for f in simple]
    return read if sum(read, ZERO) == 1 else None


def misses_one_by_rounding(total: float, terms: int) -> bool:
    """Whether floats of this sum, ``terms`` of them, miss one by no more than rounding."""
    return abs(total - 1.0) <= ROW_ROUNDING * max(terms, 2)


def public_number(value: Any) -> Any:
    """What the user gets: a sympy Rational, a sympy expression, or a float."""
    if type(value) is QQ_TYPE:
        return QQ.to_sympy(value)
    return float(value) if isinstance(value, np.floating) else value


@lru_cache(maxsize=1000)
def in_domain(number: sp.Rational, domain: sp.Set) -> bool:
    """Whether a set holds a number; kept, since sympy thinks about it anew each time.

    Examples
    --------
    >>> in_domain(sp.Rational(1, 2), sp.Interval(0, 1)), in_domain(sp.Integer(2), sp.Interval(0, 1))
    (True, False)
    """
    return bool(domain.contains(number) == sp.true)


def exact_root(value: sp.Expr) -> sp.Expr:
    """The square root of a nonnegative exact number or a formula.

    ``sympy.sqrt`` looks for square factors by factoring, which never ends on the long
    rationals that solves produce; those are left under the root.

    Examples
    --------
    >>> exact_root(sp.Rational(41, 2)), exact_root(sp.Rational(49, 4))
    (sqrt(82)/2, 7/2)
    """
    if not isinstance(value, sp.Rational):
        return sp.Pow(value, sp.Rational(1, 2), evaluate=not is_long(value))
    p, q = int(value.p), int(value.q)
    if (
        p >= 0
        and (root := (math.isqrt(p), math.isqrt(q)))
        and (root[0] ** 2, root[1] ** 2) == (p, q)
    ):
        return sp.Rational(*root)
    return sp.Pow(value, sp.Rational(1, 2), evaluate=not is_long(value))


def is_long(value: sp.Expr) -> bool:
    """Whether a constant has a rational too long for sympy to look for its factors."""
    return not value.free_symbols and any(
        max(abs(int(r.p)), int(r.q)).bit_length() > LONGEST_FACTORED
        for r in value.atoms(sp.Rational)
    )
