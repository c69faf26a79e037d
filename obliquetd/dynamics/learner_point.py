"""The fixed point of a learner, for ``problem.fixed_point`` and ``compare``: where its mean update leads."""

from __future__ import annotations

import functools
from typing import Any

from obliquetd.dynamics.efficiency import efficiency
from obliquetd.dynamics.mean import mean_dynamics
from obliquetd.dynamics.rule import operators_for
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.fixed_point import FixedPoint
from obliquetd.problem.native import Operators
from obliquetd.problem.projection import Solution

__all__ = ["point_of_learner"]


def point_of_learner(given: Learner, problem: Any) -> FixedPoint:
    """Where a learner goes from weights 0: theta with A theta = b, free where A maps to zero.

    Raises
    ------
    NotUniqueError, NoSolutionError, MathematicalError
        As for :meth:`obliquetd.dynamics.MeanDynamics.fixed_point`.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import TD
    >>> two_state(reward=1).fixed_point(TD())
    FixedPoint('TD', theta = (-15/2))
    """
    dynamics = mean_dynamics(problem, given)
    ops = operators_for(problem, dynamics.learner)
    theta = dynamics.limit()
    kernel = dynamics.expectation.A.null_space()
    null = kernel.submatrix(range(ops.Phi.shape[1]), range(kernel.shape[1]))
    null = null.column_basis() if null.shape[1] else null
    free = sorted(set((ops.Phi @ null).cleaned().support()[0].tolist()))
    solution = Solution(theta, tuple(free), null)
    return FixedPoint(
        ops, given.label, None, solution, lambda: efficiency(problem, given),
        functools.partial(_again, given),
    )  # fmt: skip


def _again(given: Learner, ops: Operators) -> FixedPoint:
    return point_of_learner(given, PolicyEvaluation.of(ops.inputs))
