"""Emphatic TD."""

from __future__ import annotations

from typing import Any

import sympy as sp

from obliquetd.claims.assumptions import (
    COVERAGE,
    FULL_RANK,
    POSITIVE_WEIGHTS,
    STATIONARY,
    VALUES_EXIST,
)
from obliquetd.claims.claim import Observed, Outcome
from obliquetd.claims.setting import Setting
from obliquetd.claims.stable import not_stable, unstable
from obliquetd.domains.two_state import two_state
from obliquetd.dynamics import second_moment_is_finite
from obliquetd.folklore.errors import OFF_POLICY
from obliquetd.folklore.judge import decide, drawn
from obliquetd.folklore.pack import PACK
from obliquetd.learners import (
    ETD,
)
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

HALF = sp.Rational(1, 2)


def _interest(problem: PolicyEvaluation) -> list[int]:
    return [1 + k for k in range(len(problem.states))]


@PACK.claim(
    "etd-stable",
    cites=("Sutton, Mahmood and White 2016",),
    topic="stability",
    title="ETD(lambda) with beta = gamma and any positive interest is stable off-policy",
    statement=r"\beta = \gamma,\ i(s) > 0 \implies \mathrm{Re}\,\lambda(\Phi^\top M(I - P^\lambda_\pi)\Phi) > 0",
    setting=Setting((COVERAGE, STATIONARY, POSITIVE_WEIGHTS, FULL_RANK, VALUES_EXIST), fails=not_stable, learner=ETD()),
    informal="Coq accepts its algebra in the pack of the paper, as etd-lambda-off-policy-stable",
)  # fmt: skip
def etd_stable(beta: Any = None) -> Outcome:
    """v'M(I - G)v >= 1/2 sum of i xi v^2 with m = xi i + G'm, as in the pack of the paper."""
    learners = [
        ETD(lam=lam, **({} if beta is None else {"beta": beta}), **interest)
        for lam in (0, HALF)
        for interest in ({}, {"interest": _interest})
    ]
    for learner in learners:
        outcome = decide(
            [two_state(), *drawn(20)], lambda p, one=learner: not_stable(p, one), learner=learner,  # type: ignore[misc]
            proof="G = P^lambda >= 0 has row sums of 1 at most, and m = xi i + G'm >= xi i, so v'M(I - G)v >= 1/2 sum of xi i v^2. "
            "At lambda = 0 and 1/2, with interest 1 and 1 + s",
        )  # fmt: skip
        if outcome.counterexample is not None:
            return outcome
    return outcome


@PACK.claim(
    "etd-finite-variance",
    cites=("Sutton, Mahmood and White 2016",),
    where="which shows the contrary",
    topic="noise",
    title="The follow-on trace of ETD has a finite variance",
    statement=r"\sup_t E[F_t^2] < \infty",
    setting=Setting(OFF_POLICY, learner=ETD()),
)
def etd_finite_variance(discount: str = "9/10") -> Outcome:
    """E[F^2] is carried by sum of mu (gamma rho)^2, which is 2 gamma^2 on the two-state example."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        if second_moment_is_finite(problem):
            return None
        return {
            "discount": problem.discount,
            "carried by a matrix of spectral radius": 2 * problem.discount**2,
        }

    return decide(
        [two_state(discount)], violation, learner=ETD(),
        says=f"the second moment of F is infinite on the two-state example at the discount {discount}, as from 1/sqrt(2) on",
        proof="" if sp.Rational(discount) ** 2 > HALF else "2 gamma^2 < 1 on the two-state example",
    )  # fmt: skip


@PACK.claim(
    "etd-beta-small-stable",
    cites=("Hallak et al. 2016",),
    where="which asks beta to be large enough",
    topic="corrected",
    title="ETD(0, beta) is stable off-policy for every beta up to the discount",
    statement=r"0 \le \beta \le \gamma \implies \mathrm{Re}\,\lambda(A_\beta) > 0",
    setting=Setting(OFF_POLICY, learner=ETD(beta="1/10")),
)
def etd_beta_small_stable(beta: str = "1/10") -> Outcome:
    """At beta = 0 it is TD. On the two-state example it is stable from beta = 1/3 on."""
    learner = ETD(beta=beta)
    return decide(
        [two_state()], lambda p: unstable(p, learner), learner=learner,
        says=f"beta = {beta} on the two-state example at the discount 9/10, where it is stable for beta in (1/3, 1)",
        proof="" if sp.Rational(beta) < sp.Rational(1, 3) else "stable on the two-state example for beta in (1/3, 1)",
    )  # fmt: skip
