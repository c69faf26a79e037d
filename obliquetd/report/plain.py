"""Formulas as a person types them: ``9 gamma^2``, ``(2 + gamma)/(2 (1 - gamma))``, ``0 <= gamma < 1/2``."""

from __future__ import annotations

import re
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from obliquetd.algebra import cell_text, number_text, public_number
from obliquetd.report.usual import split_roots, turned

__all__ = ["alternatives", "condition_text", "formula_text", "plain_cell", "plain_prose"]

SUM, PRODUCT, POWER = 0, 1, 2
"""How tightly what is written is bound: a looser one is put in brackets."""
NAMES = {"acos": "arccos", "asin": "arcsin", "Max": "max", "Abs": "abs"}
HALF = sp.Rational(1, 2)
QUOTED = re.compile(r"""((?<![\w)])'[^']*'(?!\w)|"[^"]*")""")
"""What a message quotes, such as a label of the user's, is kept as it is; the prime in X'Phi begins no quotation."""
RAISED = re.compile(r"(?<=[\w)])\*\*(?=[\w(])")
TIMES = re.compile(r"(?<=[\w)])\*(?=[\w(])")


def formula_text(value: Any) -> str:
    """A number or a formula in the usual form; numbers alone as ``number_text`` has them.

    Examples
    --------
    >>> g = sp.Symbol("gamma")
    >>> formula_text(sp.factor((g + 2) / (2 - 2 * g))), formula_text(9 * g**2), formula_text(sp.Rational(9, 10))
    ('(gamma + 2)/(2 (1 - gamma))', '9 gamma^2', '9/10')
    >>> formula_text(3 * sp.sqrt(g) / 2 - 1), formula_text((0 <= g) & (g < sp.Rational(1, 2)))
    ('3 sqrt(gamma)/2 - 1', '0 <= gamma < 1/2')
    """
    if isinstance(value, sp.logic.boolalg.Boolean):
        return condition_text(value)
    number = value if isinstance(value, sp.Basic) else public_number(value)
    if isinstance(number, float) or not number.free_symbols:
        return number_text(number)
    if "long coefficients" in number_text(number):
        return number_text(number)
    return _text(split_roots(number))[0]


def plain_cell(value: Any, width: int = 14, *, beside: bool = True) -> str:
    """``cell_text`` with formulas in the usual form."""
    if getattr(value, "free_symbols", None):
        return formula_text(value)
    return cell_text(value, width, beside=beside)


def plain_prose(text: str) -> str:
    """A message with formulas as Python writes them, and with them as a person does.

    Examples
    --------
    >>> plain_prose("the sign of -1/(2*gamma**2 - 1) depends on gamma; the state 'a**2' is not reached")
    "the sign of -1/(2 gamma^2 - 1) depends on gamma; the state 'a**2' is not reached"
    >>> plain_prose("X'Phi, Phi'Phi and **options; *.csv")
    "X'Phi, Phi'Phi and **options; *.csv"
    """
    parts = QUOTED.split(text)
    parts[::2] = [TIMES.sub(" ", RAISED.sub("^", part)) for part in parts[::2]]
    return "".join(parts)


def _text(expr: Any) -> tuple[str, int]:
    """The text, and how tightly it is bound."""
    if isinstance(expr, sp.Piecewise):
        return "; ".join(f"{_text(v)[0]} where {condition_text(c)}" for v, c in expr.args), SUM
    if expr.is_Add:
        return _sum(expr), SUM
    if expr.is_Mul or (expr.is_Pow and expr.exp.is_negative):
        return _product(expr)
    if expr.is_Rational:
        return str(expr), POWER if expr.is_Integer and expr >= 0 else PRODUCT
    if expr.is_Pow:
        if expr.exp == HALF:
            return f"sqrt({_text(expr.base)[0]})", POWER
        return f"{_inside(expr.base, POWER)}^{_inside(expr.exp, POWER)}", POWER
    if expr.is_Function:
        name = NAMES.get(expr.func.__name__, expr.func.__name__)
        return f"{name}({', '.join(_text(x)[0] for x in expr.args)})", POWER
    return str(expr), POWER


def _inside(expr: Any, level: int) -> str:
    text, own = _text(expr)
    return text if own >= level else f"({text})"


def _sum(expr: Any) -> str:
    terms = expr.as_ordered_terms()
    if terms[0].could_extract_minus_sign() and not terms[-1].could_extract_minus_sign():
        terms = terms[::-1]
    text = ""
    for k, term in enumerate(terms):
        minus = term.could_extract_minus_sign()
        body = _inside(-term if minus else term, PRODUCT)
        text += ((" - " if k else "-") if minus else (" + " if k else "")) + body
    return text


def _product(expr: Any) -> tuple[str, int]:
    """Factors side by side, over factors side by side."""
    sign, factors = turned(expr)
    if factors is None:
        coefficient, rest = expr.as_coeff_mul()
        if not coefficient.is_Rational:
            coefficient, rest = sp.Integer(1), (coefficient, *rest)
    else:
        coefficient, rest = sp.Integer(sign) * factors[0], factors[1]
    above = [f for f in rest if not f.as_base_exp()[1].is_negative]
    below = [1 / f for f in rest if f.as_base_exp()[1].is_negative]
    minus, size = coefficient < 0, abs(coefficient)
    top = _side([sp.Integer(size.p)] * (size.p != 1) + above)
    bottom = _side([sp.Integer(size.q)] * (size.q != 1) + below)
    text = top[0] or "1"
    if bottom[0]:
        text = f"({text})" if top[1] == SUM else text
        text += f"/({bottom[0]})" if len(bottom[2]) > 1 or bottom[1] < POWER else f"/{bottom[0]}"
    elif minus and top[1] == SUM:
        text = f"({text})"
    if top[1] == SUM and not bottom[0] and not minus:
        return text, SUM
    return ("-" if minus else "") + text, SUM if minus else PRODUCT


def _side(factors: list[Any]) -> tuple[str, int, list[Any]]:
    if len(factors) == 1:
        return (*_text(factors[0]), factors)
    ordered = sorted(
        factors, key=lambda f: (not f.is_number, f.is_Add or f.as_base_exp()[0].is_Add)
    )
    return " ".join(_inside(f, POWER) for f in ordered), PRODUCT, factors


def alternatives(where: Any) -> list[Any]:
    """The cases of which one has to hold, in the order of the numbers where they are ranges."""
    parts = where.args if isinstance(where, sp.Or) else (where,)
    return sorted(parts, key=lambda part: getattr(part, "rel_op", "") in (">", ">="))


def condition_text(where: Any) -> str:
    """Where something holds, as it is written by hand.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> condition_text((0 <= x) & (x < 1)), condition_text(x**2 > 2)
    ('0 <= x < 1', 'x^2 > 2')
    """
    if isinstance(where, sp.And):
        args = [c.reversed if getattr(c, "rel_op", "") in (">", ">=") else c for c in where.args]
        low = [c for c in args if getattr(c, "rel_op", "") in ("<", "<=") and c.lhs.is_number]
        high = [c for c in args if getattr(c, "rel_op", "") in ("<", "<=") and c.rhs.is_number]
        if len(low) == len(high) == 1 == len(where.args) - 1 and low[0].rhs == high[0].lhs:
            return f"{_text(low[0].lhs)[0]} {low[0].rel_op} {condition_text(high[0])}"
        return " and ".join(map(condition_text, where.args))
    if isinstance(where, sp.Or):
        return " or ".join(map(condition_text, alternatives(where)))
    if isinstance(where, Relational):
        return f"{_text(where.lhs)[0]} {where.rel_op} {_text(where.rhs)[0]}"
    return str(where)
