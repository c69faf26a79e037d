"""The mean dynamics of a rule whose signs depend on symbols: one for each case.

SETD's max(., 0) asks for the sign of Delta phi . phi, which a discount or a probability may turn. In a
case no sign that the rule asks for changes, and A and b are matrices of rational functions there.
"""

from __future__ import annotations

from typing import Any, cast

from obliquetd.algebra import FieldArithmetic
from obliquetd.algebra.sign_cases import SignCase, sign_cases
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.dynamics.rule import operators_for
from obliquetd.errors import KindError
from obliquetd.learners import Learner, require_learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["dynamics_cases"]


def dynamics_cases(
    problem: PolicyEvaluation, learner: Learner, *, sampling: str | None = None
) -> list[SignCase[MeanDynamics]]:
    """The mean dynamics in each case of the signs that a rule asks for.

    Parameters
    ----------
    problem : PolicyEvaluation
    learner : Learner
    sampling : {"trajectory", "iid"}, optional
        As for :func:`obliquetd.mean_dynamics`.

    Returns
    -------
    list of SignCase
        With ``condition``, a sympy Boolean, and ``value``, the MeanDynamics where it holds. They
        leave out the points where a sign changes.

    Raises
    ------
    KindError
        Where nothing is symbolic.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import SETD
    >>> for case in dynamics_cases(two_state("gamma"), SETD()):
    ...     print(case.condition, case.value.A[0], case.value.stability.verdict)
    (0 <= gamma) & (gamma < 1/2) 5/2 stable
    (1/2 < gamma) & (gamma < 1) 2 stable
    """
    bound = require_learner(learner).bound(problem)
    arithmetic: Any = operators_for(problem, bound).arithmetic
    if arithmetic.kind != "symbolic":
        raise KindError(
            f"cases are told apart where there are symbols, and the problem is in {arithmetic.kind} "
            "arithmetic; use mean_dynamics"
        )

    def on(field: FieldArithmetic) -> MeanDynamics:
        found = MeanDynamics(problem, learner, sampling, field)
        for each in found.classes:
            _ = each.expectation.A, each.expectation.span
        return found

    return sign_cases(cast(FieldArithmetic, arithmetic), on)
