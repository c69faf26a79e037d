"""Ranges of one symbol inside which no sign changes: the one place that splits at roots.

A function of one symbol changes its sign at its real roots and poles alone. They are isolated
exactly, and between two of them one rational sample decides. What is to be computed on a cell
is run with every sign taken at the sample; the formulas whose signs were asked for are kept, and
the cell is split at their roots and poles until none of them lies inside.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import sympy as sp

from obliquetd.algebra.field import FieldArithmetic
from obliquetd.algebra.roots import in_order, rational_between, real_roots
from obliquetd.algebra.signs import KnownSigns

__all__ = [
    "Cell",
    "CellArithmetic",
    "SampledSigns",
    "break_points",
    "rational_between",
    "sign_cells",
]

Value = TypeVar("Value")


def break_points(left: Any, right: Any, expressions: Iterable[Any], symbol: sp.Symbol) -> list[Any]:
    """The two end points, and between them every real root or pole of the expressions.

    Examples
    --------
    >>> g = sp.Symbol("g")
    >>> break_points(0, 1, [(2 * g - 1) / (3 * g - 1), g - 5], g)
    [0, 1/3, 1/2, 1]
    """
    inner: set[Any] = set()
    for expression in expressions:
        for part in sp.fraction(sp.together(expression)):
            polynomial = sp.Poly(part, symbol)
            if polynomial.degree() > 0:
                inner |= {root for root in real_roots(polynomial) if left < root < right}
    return [left, *in_order(inner), right]


@dataclass
class SampledSigns:
    """The signs of functions of one symbol at a sample; ``asked`` has those that were wanted."""

    symbol: sp.Symbol
    sample: Any
    asked: set[Any] = field(default_factory=set)

    def of(self, expression: Any) -> int:
        """The sign at the sample of a public expression; 0 at a pole, where its cell is split."""
        if not expression.is_Rational:
            self.asked.add(expression)
            expression = expression.subs(self.symbol, self.sample)
        return int(sp.sign(expression)) if expression.is_finite else 0


class KnownAtSample(KnownSigns):
    """Every sign is known: it is that at a sample."""

    def __init__(self, signs: SampledSigns, public: Callable[[Any], Any]) -> None:
        super().__init__()
        object.__setattr__(self, "_sign", lambda fraction: signs.of(public(fraction)))

    def of_fraction(self, fraction: Any) -> int | None:
        return self._sign(fraction)  # type: ignore[attr-defined,no-any-return]


class CellArithmetic(FieldArithmetic):
    """Functions of one symbol whose signs are those at a sample."""

    def __init__(self, signs: SampledSigns) -> None:
        super().__init__([signs.symbol], KnownAtSample(signs, self.public))
        self.signs = signs

    def __eq__(self, other: object) -> bool:
        return self is other  # another sample has other signs

    __hash__ = object.__hash__

    def sign(self, scalar: Any) -> int:
        return self.signs.of(self.public(scalar))


@dataclass(frozen=True)
class Cell(Generic[Value]):
    """An open range on which no sign changes that was asked for, and what was computed there."""

    left: Any
    right: Any
    sample: Any
    value: Value


def sign_cells(
    left: Any, right: Any, symbol: sp.Symbol, compute: Callable[[SampledSigns], Value]
) -> list[Cell[Value]]:
    """The cells of a range from left to right.

    Parameters
    ----------
    left, right : real number
        The end points; either may be infinite.
    symbol : sympy.Symbol
    compute : function of SampledSigns
        What is wanted of a cell; it takes every sign from its argument.

    Examples
    --------
    >>> g = sp.Symbol("g")
    >>> found = sign_cells(0, 1, g, lambda signs: signs.of(2 * g - 1))
    >>> [(cell.left, cell.right, cell.value) for cell in found]
    [(0, 1/2, -1), (1/2, 1, 1)]
    """
    waiting = [(left, right)]
    done = []
    while waiting:
        left, right = waiting.pop()
        signs = SampledSigns(symbol, rational_between(left, right))
        value = compute(signs)
        ends = break_points(left, right, signs.asked, symbol)
        if len(ends) == 2:
            done.append(Cell(left, right, signs.sample, value))
        else:
            waiting += reversed(list(itertools.pairwise(ends)))
    return done
