"""A problem in floats as the one in rationals that these floats are.

Every float is a rational. Where bounds on rounding leave an answer open, or where floats have no bounds to offer,
the exact route on those rationals has it. Only probabilities that do not sum to one, which is no model, are divided
by what they sum to: each is moved by less than its own rounding.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from sympy import QQ

from obliquetd.algebra import FieldArithmetic
from obliquetd.mdp import Policy
from obliquetd.problem.native import Operators
from obliquetd.problem.places import NOBODY

__all__ = ["RATIONALS", "OnRationals", "Rationals"]


class Rationals(FieldArithmetic):
    """Exact arithmetic that takes a float for the rational that it is, and not for what its author wrote.

    Examples
    --------
    >>> str(RATIONALS.scalar(0.1))
    '3602879701896397/36028797018963968'
    """

    def __init__(self) -> None:
        super().__init__()

    def __reduce__(self) -> tuple[Any, ...]:
        return Rationals, ()

    def scalar(self, value: Any) -> Any:
        if isinstance(value, float):
            return QQ(*value.as_integer_ratio())
        return super().scalar(value)


RATIONALS = Rationals()


class OnRationals(Operators):
    """What follows from a problem's inputs where its floats are rationals.

    Examples
    --------
    >>> from obliquetd.domains import random_problem
    >>> problem = random_problem(3, 1, seed=1).replace(arithmetic="float")
    >>> sums = OnRationals(problem.inputs).P_b.rows()
    >>> [str(sum(row)) for row in sums]
    ['1', '1', '1']
    """

    def __init__(self, inputs: Any) -> None:
        super().__init__(inputs, RATIONALS)

    def __reduce__(self) -> tuple[Any, ...]:
        return OnRationals, (self.inputs,)

    @cached_property
    def probability(self) -> Any:
        """p of each row, given its state and action."""
        found = self.arithmetic.scalars(self._table.probability)
        starts = self._table.starts
        totals = np.add.reduceat(found, starts)
        return found / np.repeat(totals, np.diff(starts, append=len(found)))

    def _chance(self, policy: Policy, state: int, row: int, action: int) -> Any:
        chance = super()._chance(policy, state, row, action)
        if state == NOBODY:
            return chance
        return chance / sum(map(self.arithmetic.scalar, policy.numbered(row).values()))
