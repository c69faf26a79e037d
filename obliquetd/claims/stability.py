"""Is SETD stable? The paper's sentence, decided on the expected update.

The counterexamples are model files of the package, found by ``obliquetd search`` and shrunk to
the smallest integers it could reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

from obliquetd.claims.assumptions import (
    COVERAGE,
    DISCOUNT,
    FULL_RANK,
    LAMBDA_0,
    ON_POLICY,
    POSITIVE_WEIGHTS,
    STATIONARY,
)
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.domains.random_problem import random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.dynamics import check_certificate, mean_dynamics
from obliquetd.formats import load_model
from obliquetd.learners import SETD, TD, Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["shipped_model"]

GIVEN = (STATIONARY, POSITIVE_WEIGHTS, FULL_RANK, DISCOUNT, LAMBDA_0)
"""Everything that one could ask of a problem for the sentence to hold."""


def shipped_model(name: str) -> PolicyEvaluation:
    """A counterexample that the package ships: ``"setd_off_policy"`` or ``"setd_on_policy"``."""
    with resources.as_file(resources.files("obliquetd.claims") / "models" / f"{name}.json") as path:
        return load_model(path)


def _unstable(
    learner: Learner, but_stable: Learner | None = None
) -> Callable[[PolicyEvaluation], Observed | None]:
    """What shows that a learner is unstable, with a certificate that was checked."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        dyn = mean_dynamics(problem, learner)
        if dyn.stability.verdict != "unstable" or not check_certificate(dyn.certificate()):
            return None
        seen: dict[str, Any] = {"Phi": problem.Phi, "P_pi": problem.P_pi, "A": dyn.A}
        if but_stable is not None:
            other = mean_dynamics(problem, but_stable)
            if not other.is_stable():
                return None
            seen[f"A of {but_stable.name}, stable"] = other.A
        return seen

    return violation


def _hunt(problems: Sequence[PolicyEvaluation], other: Learner | None, where: str) -> Outcome:
    found = Counterexample.find(problems, _unstable(SETD(), other), SETD())
    if found is None:
        return Outcome(Verdict.VERIFIED, f"stable on {len(problems)} problems, {where}")
    return refuted(
        found,
        f"{where}, {found.problem()!r}: {told(found.observed)}; an eigenvalue of A has a negative real "
        "part (the certificate was checked with fractions alone). The paper's text holds no proof",
    )


@claim(
    "setd-off-policy-stable",
    where="Section I ('The off-policy stability is rigorously proved'); Section V, last paragraph, (1)",
    origin="paper",
    setting=Setting((*GIVEN, COVERAGE), learner=SETD()),
    title="SETD is off-policy stable",
    statement=r"\forall(\pi,\pi_b,\Phi):\ \mathrm{Re}\,\lambda(A_{SETD}) > 0",
)
def setd_off_policy_stable(model: str = "setd_off_policy") -> Outcome:
    """Three states, two features, uniform xi, a deterministic target, where TD is stable."""
    problem = two_state() if model == "two-state" else shipped_model(model)
    return _hunt([problem], TD(), "off-policy")


@claim(
    "setd-on-policy-stable",
    where="Section V-A (the paper runs SETD on-policy, and does not say that it is stable)",
    setting=Setting((*GIVEN, ON_POLICY), learner=SETD()),
    title="SETD is stable on-policy, where TD is",
    statement=r"\pi = \pi_b \implies \mathrm{Re}\,\lambda(A_{SETD}) > 0",
)
def setd_on_policy_stable(model: str = "setd_on_policy") -> Outcome:
    """Three states, two features, on-policy."""
    problem = (
        random_problem(3, 2, seed=5, on_policy=True) if model == "random" else shipped_model(model)
    )
    return _hunt([problem], TD(), "on-policy")
