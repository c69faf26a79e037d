"""Arithmetic at a real algebraic number, where every formula in one symbol is evaluated.

Zero is decided exactly in QQ(root); the sign of what is not zero is that of its decimal, taken to
enough digits.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy import QQ

from obliquetd.algebra.field import FieldArithmetic
from obliquetd.algebra.numbers import exactify
from obliquetd.errors import UndefinedError

__all__ = ["Real", "RootArithmetic"]


class RootArithmetic(FieldArithmetic):
    """Arithmetic in QQ(root), which every formula in one symbol is evaluated in.

    Parameters
    ----------
    symbol : sympy.Symbol
    root : sympy number, real algebraic
    """

    def __init__(self, symbol: sp.Symbol, root: Any) -> None:
        super().__init__()
        self.kind = "symbolic"  # its scalars have no order of their own; sign() has
        self.symbol, self.root = symbol, root
        self.domain = QQ.algebraic_field(root)
        self._generator = self.domain.from_sympy(root)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RootArithmetic) and self.root == other.root

    def __hash__(self) -> int:
        return hash(self.root)

    def scalar(self, value: Any) -> Any:
        """A number, or a formula in the symbol, at the root; UndefinedError at a pole."""
        value = exactify(value)
        if not isinstance(value, sp.Basic):
            return self.domain.convert_from(value, QQ)
        above, below = (self._evaluated(part) for part in sp.fraction(sp.together(value)))
        if not below:
            raise UndefinedError(f"{value} has a pole at {self.symbol} = {self.root}")
        return above / below

    def _evaluated(self, expression: sp.Expr) -> Any:
        total = self.domain.zero
        for coefficient in sp.Poly(expression, self.symbol).all_coeffs():
            total = total * self._generator + self.domain.convert_from(
                QQ.from_sympy(coefficient), QQ
            )
        return total

    def public(self, scalar: Any) -> Any:
        return self.domain.to_sympy(scalar)

    def sign(self, scalar: Any) -> int:
        if not scalar:
            return 0
        number = self.domain.to_sympy(scalar)
        digits = 40
        while True:  # not zero, so that some digit tells
            value = sp.N(number, digits, maxn=10 * digits)
            if abs(value) > sp.Float(10) ** (-digits // 2):
                return int(sp.sign(value))
            digits *= 2


class Real:
    """A number of QQ(root) with its order, for algorithms that compare."""

    __slots__ = ("arithmetic", "value")

    def __init__(self, value: Any, arithmetic: RootArithmetic) -> None:
        self.value, self.arithmetic = value, arithmetic

    def __truediv__(self, other: Real) -> Real:
        return Real(self.value / other.value, self.arithmetic)

    def __mul__(self, other: Any) -> Real:
        return Real(
            self.value * (other.value if isinstance(other, Real) else other), self.arithmetic
        )

    def __sub__(self, other: Real) -> Real:
        return Real(self.value - other.value, self.arithmetic)

    def __gt__(self, zero: int) -> bool:
        return self.arithmetic.sign(self.value) > zero
