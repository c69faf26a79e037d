"""Text to exact numbers and formulas, without ``eval`` and without surprises.

``sympify("beta")`` is a special function, ``sympify("S")`` a registry and
``sympify("lambda")`` a syntax error. Here every name is a plain
:class:`sympy.Symbol`, every decimal is the fraction it is written as, and
nothing but ``+ - * / **`` and parentheses is understood.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
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

# Guards: a model file must not be able to hang the reader. What is bounded is the result,
# as one quotient of polynomials: how a text comes by it does not matter.
MAX_TEXT = 100_000
MAX_DECIMAL_EXPONENT = 5_000
MAX_BITS = 1_000_000
"""Bits of a number, and of all the coefficients of a formula together."""
MAX_TERMS = 1_500
"""Terms above or below the bar of a formula, multiplied out."""
MAX_DEGREE = 500
"""Of one symbol, above or below the bar."""
MAX_SYMBOLS = 100


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
        return _evaluate(tree.body, leaves, text)[0]
    except (RecursionError, MemoryError):
        raise _bad(text, "it is too long, or nested too deep") from None
    except (SyntaxError, ValueError) as error:
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
    sign, digits = "-" * exponent.startswith("-"), exponent.lstrip("+-0")
    if len(digits) > 9 or int(digits or 0) > MAX_DECIMAL_EXPONENT:
        shown = digits if len(digits) <= 24 else f"{digits[:12]}... of {len(digits)} digits"
        raise _bad(text, f"the exponent {sign}{shown} is beyond {sign}{MAX_DECIMAL_EXPONENT}")
    if len(token) > 4000:  # int() of longer text is refused by CPython
        import flint

        whole, _, fraction = mantissa.partition(".")
        return sp.Rational(int(flint.fmpz(whole + fraction)), 10 ** len(fraction)) * sp.Rational(
            10
        ) ** int(exponent or 0)
    return sp.Rational(token)


@dataclass(frozen=True)
class _Polynomial:
    """Bounds on a polynomial with integer coefficients, before anything is multiplied out.

    Attributes
    ----------
    degrees : dict of symbol to int
    total : int
        The degree of all symbols together.
    terms : int
    bits : int
        Of a coefficient, less one: 0 for the coefficient 1.
    """

    degrees: dict[Any, int]
    total: int
    terms: int
    bits: int

    def times(self, other: _Polynomial) -> _Polynomial:
        grown = min(self.most_terms(), other.most_terms()).bit_length() - 1
        return _Polynomial(
            _joined(self.degrees, other.degrees, operator.add), self.total + other.total,
            self.terms * other.terms, self.bits + other.bits + grown,
        )  # fmt: skip

    def plus(self, other: _Polynomial) -> _Polynomial:
        return _Polynomial(
            _joined(self.degrees, other.degrees, max), max(self.total, other.total),
            self.terms + other.terms, max(self.bits, other.bits) + 1,
        )  # fmt: skip

    def power(self, k: int) -> _Polynomial:
        terms = self.terms if k == 1 else min(self.terms, MAX_TERMS + 1) ** min(k, 64)
        grown = (self.bits + self.most_terms().bit_length() - 1) * k
        raised = {s: d * k for s, d in self.degrees.items()}
        return _Polynomial(raised, self.total * k, terms, grown)

    def most_terms(self) -> int:
        """A polynomial has no more terms than its degrees allow."""
        if not self.degrees:
            return 1
        if len(self.degrees) > MAX_SYMBOLS or self.total > MAX_DEGREE * len(self.degrees):
            return self.terms
        boxed = math.prod(d + 1 for d in self.degrees.values())
        return min(self.terms, boxed, math.comb(self.total + len(self.degrees), self.total))


ONE = _Polynomial({}, 0, 1, 0)


@dataclass(frozen=True)
class _Size:
    """Bounds on a formula as one quotient of polynomials."""

    above: _Polynomial
    below: _Polynomial

    @classmethod
    def of(cls, leaf: sp.Expr) -> _Size:
        if isinstance(leaf, sp.Rational):
            bits = (max(int(abs(x)).bit_length() - 1, 0) for x in (leaf.p, leaf.q))
            return cls(*(_Polynomial({}, 0, 1, b) for b in bits))
        return cls(_Polynomial({leaf: 1}, 1, 1, 0), ONE)

    def plus(self, other: _Size) -> _Size:
        crossed = self.above.times(other.below).plus(other.above.times(self.below))
        return _Size(crossed, self.below.times(other.below))

    def times(self, other: _Size) -> _Size:
        return _Size(self.above.times(other.above), self.below.times(other.below))

    def inverse(self) -> _Size:
        return _Size(self.below, self.above)

    def power(self, k: int) -> _Size:
        size = self if k >= 0 else self.inverse()
        return _Size(size.above.power(abs(k)), size.below.power(abs(k)))

    def check(self, text: str) -> None:
        for part in (self.above, self.below):
            if max(part.degrees.values(), default=0) > MAX_DEGREE:
                raise _bad(text, f"multiplied out, the formula is of a degree over {MAX_DEGREE}")
            if len(part.degrees) > MAX_SYMBOLS:
                raise _bad(text, f"the formula has over {MAX_SYMBOLS} symbols")
            terms = part.most_terms()
            if terms > MAX_TERMS:
                raise _bad(text, f"multiplied out, the formula has over {MAX_TERMS} terms")
            if terms * part.bits > MAX_BITS:
                raise _bad(text, f"multiplied out, the result has over {MAX_BITS} bits")


def _joined(a: dict[Any, int], b: dict[Any, int], how: Callable[[int, int], int]) -> dict[Any, int]:
    return {s: how(a.get(s, 0), b.get(s, 0)) for s in a.keys() | b.keys()}


def _evaluate(node: ast.AST, leaves: dict[str, sp.Expr], text: str) -> tuple[Any, _Size]:
    """The value of a tree and the size it has multiplied out, checked before it is made."""
    if isinstance(node, ast.Name):
        leaf = leaves[node.id]
        return leaf, _Size.of(leaf)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        value, size = _evaluate(node.operand, leaves, text)
        return (-value if isinstance(node.op, ast.USub) else value), size
    if not isinstance(node, ast.BinOp):
        raise _bad(text, "only + - * / ** and parentheses are understood")
    (left, a), (right, b) = (_evaluate(side, leaves, text) for side in (node.left, node.right))
    if isinstance(node.op, ast.Add | ast.Sub):
        size = a.plus(b)
    elif isinstance(node.op, ast.Mult):
        size = a.times(b)
    elif isinstance(node.op, ast.Div):
        if _vanishes(right):
            raise _bad(text, "it divides by zero")
        size = a.times(b.inverse())
    elif isinstance(node.op, ast.Pow):
        if not isinstance(right, sp.Integer):
            raise _bad(text, f"the exponent {str(right)[:40]} is not an integer")
        if right < 0 and _vanishes(left):
            raise _bad(text, "it divides by zero")
        size = a.power(int(right))
    else:
        raise _bad(text, "only + - * / ** and parentheses are understood")
    size.check(text)
    value = _OPERATIONS[type(node.op)](left, right)
    return value, _Size.of(value) if isinstance(value, sp.Rational) else size


_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def _vanishes(value: sp.Expr) -> bool:
    """Whether a formula is zero identically: not where it is not at some rational point."""
    if isinstance(value, sp.Rational):
        return bool(value == 0)
    points = {s: sp.Rational(7 * k + 3, 5 * k + 11) for k, s in enumerate(_symbols(value))}
    there = value.subs(points, simultaneous=True)
    if there.is_Rational and there != 0:
        return False
    return bool(sp.cancel(value) == 0)


def _symbols(value: sp.Expr) -> list[sp.Symbol]:
    return sorted(value.free_symbols, key=str)
