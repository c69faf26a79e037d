"""Numbers of long tables, where equal ones are read once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from obliquetd.algebra import parse_number

__all__ = ["NumberReader"]


class NumberReader:
    """:func:`parse_number` that reads equal numbers once, for tables that repeat a few.

    Python takes 1 and 1.0 for the same key, so the type belongs to it; a Fraction is slow to hash
    by its value, so its two integers stand for it.
    """

    def __init__(self) -> None:
        self.read: dict[Any, Any] = {}

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if kind is float:
            return parse_number(value)
        if kind is Fraction:
            key: Any = (value.numerator, value.denominator)
        elif kind is int or kind is str:
            key = value
        elif kind is sp.Integer or kind is sp.Rational:
            key = (int(value.p), int(value.q))
        else:
            return parse_number(value)
        found = self.read.get(key)
        if found is None:
            found = self.read[key] = parse_number(value)
        return found
