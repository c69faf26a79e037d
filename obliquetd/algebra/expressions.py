"""Text to exact numbers and formulas, without ``eval`` and without surprises.

``sympify("beta")`` is a special function, ``sympify("S")`` a registry and
``sympify("lambda")`` a syntax error. Here every name is a plain
:class:`sympy.Symbol`, every decimal is the fraction it is written as, and
nothing but ``+ - * / **`` and parentheses is understood.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import sympy as sp

from obliquetd.errors import NumberError

__all__ = ["parse_expression"]

_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)|(?P<other>.)", re.DOTALL
)
_OPERATORS = set("+-*/()^ \t\n")

NOT_FINITE = {"nan", "inf", "infinity"}
"""Names that other programs write for what is no number; they are no symbols."""

# Guards: a model file must not be able to hang the reader.
MAX_TEXT = 100_000
MAX_DECIMAL_EXPONENT = 5_000
MAX_POWER_BITS = 1_000_000
MAX_SYMBOLIC_POWER = 64


def parse_expression(text: str) -> sp.Expr:
    """Parse a rational function of plain symbols.

    Parameters
    ----------
    text : str
        Integers, decimals, names, ``+ - * / ** ^`` and parentheses.

    Returns
    -------
    sympy.Expr
        An exact expression: ``"0.1"`` is 1/10.

    Raises
    ------
    NumberError
        Where the text is empty, malformed, divides by zero, or is unreasonably large.

    Examples
    --------
    >>> parse_expression("0.1 + 1/5")
    3/10
    >>> sorted(map(str, parse_expression("gamma*beta + S/lambda").free_symbols))
    ['S', 'beta', 'gamma', 'lambda']
    """
    if len(text) > MAX_TEXT:
        raise NumberError(f"an expression of {len(text)} characters; at most {MAX_TEXT} are read")
    leaves: dict[str, sp.Expr] = {}
    pieces: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if match.lastgroup == "other":
            if token not in _OPERATORS:
                raise _bad(text, f"the character {token!r} has no meaning here")
            pieces.append("**" if token == "^" else token)
        else:
            if token.lower() in NOT_FINITE:
                raise _bad(text, f"{token} is no finite number")
            key = f"v{len(leaves)}"
            leaves[key] = _decimal(token, text) if match.lastgroup == "number" else sp.Symbol(token)
            pieces.append(f" {key} ")
    try:
        tree = ast.parse("".join(pieces).strip(), mode="eval")
        return _evaluate(tree.body, leaves, text)
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        if isinstance(error, NumberError):
            raise
        raise _bad(text, "it is not an expression") from None


def _bad(text: str, reason: str) -> NumberError:
    shown = text if len(text) <= 60 else text[:57] + "..."
    return NumberError(
        f"cannot read {shown!r} as a number or formula: {reason}; expected something like "
        "'3', '-1/3', '0.9', '1e-3' or 'gamma*p'"
    )


def _decimal(token: str, text: str) -> sp.Rational:
    mantissa, _, exponent = token.lower().partition("e")
    if exponent and abs(int(exponent[:12])) > MAX_DECIMAL_EXPONENT:
        raise _bad(text, f"the exponent {exponent[:12]} is beyond {MAX_DECIMAL_EXPONENT}")
    if len(token) > 4000:  # int() of longer text is refused by CPython
        import flint

        whole, _, fraction = mantissa.partition(".")
        return sp.Rational(int(flint.fmpz(whole + fraction)), 10 ** len(fraction)) * sp.Rational(
            10
        ) ** int(exponent or 0)
    return sp.Rational(token)


def _evaluate(node: ast.AST, leaves: dict[str, sp.Expr], text: str) -> Any:
    if isinstance(node, ast.Name):
        return leaves[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        value = _evaluate(node.operand, leaves, text)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left, right = (_evaluate(side, leaves, text) for side in (node.left, node.right))
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            if sp.cancel(right) == 0:
                raise _bad(text, "it divides by zero")
            return left / right
        if isinstance(node.op, ast.Pow):
            return _power(left, right, text)
    raise _bad(text, "only + - * / ** and parentheses are understood")


def _power(base: sp.Expr, exponent: sp.Expr, text: str) -> sp.Expr:
    if not isinstance(exponent, sp.Integer):
        raise _bad(text, f"the exponent {exponent} is not an integer")
    if base == 0 and exponent < 0:
        raise _bad(text, "it divides by zero")
    if isinstance(base, sp.Rational):
        bits = max(int(base.p).bit_length(), int(base.q).bit_length())
        if bits > 1 and bits * abs(int(exponent)) > MAX_POWER_BITS:
            raise _bad(text, f"the power would have over {MAX_POWER_BITS} bits")
    elif abs(int(exponent)) > MAX_SYMBOLIC_POWER:
        raise _bad(text, f"a power of a formula above {MAX_SYMBOLIC_POWER}")
    return base**exponent
