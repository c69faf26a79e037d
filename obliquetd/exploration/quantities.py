r"""What the page shows of one learner, in native numbers: A, b, eigenvalues, fixed point, errors.

On U, the span of all updates, A acts as Q; p is the characteristic polynomial of Q, whose roots are the eigenvalues
that decide (:mod:`obliquetd.dynamics.stability`). With the fixed point theta and g = Phi' Xi (T v_hat - v_hat),

.. math:: \mathrm{RMSE}^2 = \|\Phi\theta - v_\pi\|_\Xi^2, \qquad \mathrm{RMSPBE}^2 = g^\top C^+ g.

Squares are rational functions, roots of them are not: the page takes the root of the exact square.

Where a learner's equation is that of a weighting X, A = X' L_pi Phi and b = X' r_pi, it projects v_pi along the vectors
that are perpendicular to Z = L_pi' X, and in the plane of two states Z is shown by that line. It stays a line
where A is 0: there it is parallel to the span of the features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.errors import MathematicalError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.native import Operators
from obliquetd.problem.projection import BestApproximation
from obliquetd.problem.weightings import WEIGHTINGS

__all__ = ["Quantities", "Shared", "quantities_of", "shared_of"]


@dataclass(frozen=True)
class Shared:
    """What all learners share: state weights, features, values, and the best approximation."""

    xi: list[Any]
    Phi: list[list[Any]]
    v: list[Any]
    best: list[Any]
    best_error: Any
    arithmetic: Any


@dataclass(frozen=True)
class Quantities:
    """One learner; ``why`` says why it has no fixed point, where it has none.

    Attributes
    ----------
    A, b : lists of native scalars
    p : list
        The characteristic polynomial of A on U, leading coefficient first; [1] where nothing moves.
    critical : list
        Where one of these is 0 or has a pole, U may be smaller.
    theta : list or None
    error, projected : native scalar or None
        The squares of RMSE and of RMSPBE.
    normal : list or None
        Z, for two states and one feature.
    """

    A: list[list[Any]]
    b: list[Any]
    p: list[Any]
    critical: list[Any]
    theta: list[Any] | None
    error: Any
    projected: Any
    normal: list[Any] | None
    why: str
    verdict: str | None
    arithmetic: Any


def shared_of(problem: PolicyEvaluation, arithmetic: Any) -> Shared:
    """Of a problem, over an arithmetic that has its symbols."""
    ops = problem.native.over(arithmetic)
    best = BestApproximation(ops).fit(ops.v_pi).theta
    return Shared(
        ops.xi.entries(), ops.Phi.rows(), ops.v_pi.entries(), best.entries(),
        _square(ops, ops.Phi @ best - ops.v_pi), arithmetic,
    )  # fmt: skip


def quantities_of(
    problem: PolicyEvaluation, learner: Learner, arithmetic: Any, *, exact: bool = False
) -> Quantities:
    """Of a learner.

    Parameters
    ----------
    exact : bool
        Whether all is numbers, so that there is a verdict.

    Raises
    ------
    MathematicalError
        Where a trajectory is in one of several closed classes, each with its own A.
    """
    dynamics = MeanDynamics(problem, learner, None, arithmetic)
    if len(dynamics.classes) > 1:
        raise MathematicalError(
            f"a trajectory stays in one of {len(dynamics.classes)} closed classes, each with its own A"
        )
    found, ops = dynamics.expectation, dynamics.operators
    theta, why, error, projected = None, "", None, None
    try:
        solved = dynamics.limit()
    except MathematicalError as problem_there:
        why = str(problem_there)
    else:
        theta, v_hat = solved.entries(), ops.Phi @ solved
        error = _square(ops, v_hat - ops.v_pi)
        residual = BestApproximation(ops).fit(ops.r_pi - ops.L_pi @ v_hat).theta
        projected = _square(ops, ops.Phi @ residual)
    return Quantities(
        A=found.A.rows(), b=found.b.entries(),
        p=found.charpoly() if found.span.dimension else [arithmetic.one],
        critical=list(found.span.critical), theta=theta, error=error, projected=projected,
        normal=_normal(dynamics, ops), why=why,
        verdict=dynamics.stability.verdict if exact else None, arithmetic=arithmetic,
    )  # fmt: skip


def _square(ops: Operators, v: Any) -> Any:
    """||v||_Xi^2, native."""
    return (v.T @ v.scale_rows(ops.xi)).item()


def _normal(dynamics: MeanDynamics, ops: Operators) -> list[Any] | None:
    """Z = L' X, where the learner's equation is that of the weighting of its name."""
    key = dynamics.learner.key
    if ops.Phi.shape != (2, 1) or key not in WEIGHTINGS or dynamics.expectation.A.shape != (1, 1):
        return None
    try:
        X = WEIGHTINGS[key](ops)
    except MathematicalError:
        return None
    gaps = (dynamics.expectation.A - X.T @ ops.Lambda, dynamics.expectation.b - X.T @ ops.r_pi)
    return (ops.L_pi.T @ X).entries() if all(gap.is_zero() for gap in gaps) else None
