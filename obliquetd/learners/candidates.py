"""Numbers for the symbols of a learner's settings, on which its rule can be tried."""

from __future__ import annotations

import random
from typing import Any

import sympy as sp

from obliquetd.algebra import parse_number
from obliquetd.errors import LearnerError
from obliquetd.learners.base import Parameter

__all__ = ["number_for"]

TRIES = 300
REACHES = (0, 1, -1, 3, -3, 10, -10, 100, -100, 1000, -1000)
"""What is added to the numbers between 0 and 1 that are tried for a symbol."""


def number_for(formula: Any, setting: Parameter | None, name: str, draw: random.Random) -> Any:
    """The formula at random rationals for its symbols, where it is a number of the setting's domain.

    Symbols are tried between 0 and 1 first, where most of them live; then, for those that have a
    pole or a change of sign there, ever further away.

    Raises
    ------
    LearnerError
        Where none was found.

    Examples
    --------
    >>> number_for(sp.sympify("1/(m - 1)"), None, "mu", random.Random(0)) != 0
    True
    """
    domain = None if setting is None else setting.domain
    for reach in range(TRIES):
        moved = REACHES[: 1 + reach * len(REACHES) // TRIES]
        numbers = {
            s: draw.choice(moved) + sp.Rational(draw.randint(1, 8), 9)
            for s in getattr(formula, "free_symbols", ())
        }
        found = sp.sympify(formula).subs(numbers)
        if found.is_Rational and (domain is None or domain.contains(found) == sp.true):
            return parse_number(found)
    raise LearnerError(
        f"no numbers were found for the symbols of {name} = {formula} that make it "
        f"{'rational' if setting is None else setting.expected}"
    )
