"""Stability as a claim means it, and modulo what no data moves.

*Stable* is the paper's word: every eigenvalue of A has a positive real part. Where the
features are dependent, or live on states of weight zero alone, A is singular, although no
data moves the weights in those directions; :func:`on_moved_span` judges A on the rest.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from obliquetd.claims.assumptions import dynamics
from obliquetd.claims.claim import Observed
from obliquetd.dynamics.stability import verdict_of
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["not_stable", "on_moved_span", "unstable", "verdict_on"]


def verdict_on(A: Any) -> str:
    """Of all eigenvalues of an exact matrix: stable, marginal or unstable."""
    return verdict_of(sp.Matrix(A).charpoly().all_coeffs())


def not_stable(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    """A with an eigenvalue whose real part is not positive; None where there is none."""
    A = dynamics(problem, learner).A
    verdict = verdict_on(A)
    return None if verdict == "stable" else {"A": A, "it is": verdict}


def unstable(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    """A with an eigenvalue whose real part is negative; None where there is none."""
    seen = not_stable(problem, learner)
    return seen if seen is not None and seen["it is"] == "unstable" else None


def on_moved_span(problem: PolicyEvaluation, learner: Learner) -> str:
    """The verdict on A restricted to the span of phi(s), xi(s) > 0, into which A maps.

    For TD and ETD: every update is a multiple of a combination of such phi.
    """
    seen = sp.Matrix([phi for phi, w in zip(problem.Phi.tolist(), problem.xi, strict=True) if w])
    rows = seen.rowspace()
    if not rows:
        return "nothing moves"
    B = sp.Matrix.hstack(*[row.T for row in rows])
    A = dynamics(problem, learner).A
    return verdict_on((B.T * B).inv() * B.T * A * B)
