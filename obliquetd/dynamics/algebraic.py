"""The verdict at an irrational value of a symbol: the whole expectation over a number field.

At a real algebraic number the rule is run, the span found and the characteristic polynomial
computed in QQ(root) (:mod:`obliquetd.algebra.number_field`).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from obliquetd.algebra.number_field import Real, RootArithmetic
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.dynamics.stability import routh_is_positive
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["stable_at_root"]


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
