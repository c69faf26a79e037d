"""The verdict at an irrational value of a symbol: the whole expectation over a number field.

At a real algebraic number the rule is run, the span found and the characteristic polynomial
computed in QQ(root), where zero is decided exactly; the sign of what is not zero is that of its
decimal, taken to enough digits.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy import QQ

from obliquetd.algebra import FieldArithmetic, exactify
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.dynamics.stability import routh_is_positive
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["stable_at_root"]


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
        value = exactify(value)
        if not isinstance(value, sp.Basic):
            return self.domain.convert_from(value, QQ)
        above, below = (self._evaluated(part) for part in sp.fraction(sp.together(value)))
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
    """A number of QQ(root) with its order, for Routh's table."""

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


def stable_at_root(
    problem: PolicyEvaluation, learner: Learner, symbol: sp.Symbol, root: Any, sampling: str | None
) -> bool:
    """Whether the learner is stable with the root in place of the symbol."""
    arithmetic = RootArithmetic(symbol, root)
    dyn = MeanDynamics(problem, learner, sampling, arithmetic)
    verdicts = []
    for found in (each.expectation for each in dyn.classes):
        if found.span.dimension:
            p = found.charpoly()
            reflected = [c if i % 2 == 0 else -c for i, c in enumerate(p)]
            verdicts.append(routh_is_positive([Real(c, arithmetic) for c in reflected]))
    return bool(verdicts) and all(verdicts)
