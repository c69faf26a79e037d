"""Sections II-A, III-C and III-D: sample means, and what they estimate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from obliquetd.claims.assumptions import COVERAGE, ON_POLICY, STATIONARY, VALUES_EXIST
from obliquetd.claims.battery import battery, off_policy_battery
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.gallery import gallery
from obliquetd.claims.registry import claim
from obliquetd.claims.samples import Samples, follow
from obliquetd.claims.setting import Setting
from obliquetd.domains.two_state import two_state
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []


def _covariance_gap(problem: PolicyEvaluation, steps: int = 0) -> Observed | None:
    """E[phi_t phi_t'] some steps after a state drawn from xi, against C."""
    ops = problem.native
    d = ops.Phi.shape[1]
    total = [[ops.arithmetic.zero] * d for _ in range(d)]
    for s, w, _ in follow(ops, steps, lambda _s: None, lambda *_: None):
        phi = ops.Phi.rows()[s]
        total = [
            [t + w * a * b for t, b in zip(row, phi, strict=True)]
            for row, a in zip(total, phi, strict=True)
        ]
    mean = ops.arithmetic.matrix(total, (d, d))
    return None if (mean - ops.C).is_zero() else {"E[phi phi']": mean.public(), "C": ops.C.public()}


@claim(
    "c-hat-unbiased",
    formal="means",
    where="Section II-A, last sentence ('an unbiased estimate of C')",
    origin="paper",
    title="phi_i phi_i' is an unbiased estimate of C",
    statement=r"s_i \sim \xi \implies \mathbb E[\phi_i\phi_i^\top] = \Phi^\top\Xi\Phi = C",
    beside="it needs no assumption, as the paper draws s_i from xi; along a trajectory, s_i has that law where xi is "
    "stationary and the first state is drawn from it",
)
def c_hat_unbiased(power: int = 1) -> Outcome:
    """E[phi phi'] = sum over s of Pr(s_i = s) phi(s) phi(s)', and Pr(s_i = s) = xi(s).

    That is C by the definition of the matrix product. Samples of a trajectory have
    Pr(s_i = s) = xi(s) where xi is stationary and the first state is drawn from it. ``power`` is that
    of xi in the mean that is claimed.
    """
    problems = [*(p for p in battery() if not p.symbols), *gallery()[:30]]

    def violation(problem: PolicyEvaluation) -> Observed | None:
        if power != 1:
            ops = problem.native
            squared = ops.Phi.T @ ops.Xi_Phi.scale_rows(ops.xi)
            return None if (squared - ops.C).is_zero() else {"Phi'Xi^2 Phi": squared.public()}
        return _covariance_gap(problem) or (
            _covariance_gap(problem, 2) if STATIONARY.holds(problem) else None
        )

    found = Counterexample.find(problems, violation)
    if found is not None:
        return refuted(found)
    return Outcome(
        Verdict.PROVED,
        "the mean of phi phi' over s drawn from xi is the sum of xi(s) phi(s) phi(s)', which is C; exact on "
        f"{len(problems)} problems, and, where xi is stationary, along a trajectory two steps in, by every history",
    )


def _lambda_estimate(problem: PolicyEvaluation, weighted: bool) -> Observed | None:
    """The mean of omega Delta phi phi', omega = 1, against Lambda'Xi Omega Phi."""
    x = Samples(problem)
    ratio = x.rho if weighted else x.rho * 0 + 1
    mean = x.matrix_mean(ratio, x.phi)
    wanted = x.ops.Lambda.T @ x.ops.Xi_Phi
    if (mean - wanted).is_zero():
        return None
    return {"mean of the samples": mean.public(), "Lambda'Xi Omega Phi": wanted.public()}


@claim(
    "sample-estimate-of-lambda",
    where="Section III-C, after Eq. (8) (the estimate of Lambda'Xi Omega Phi)",
    origin="paper",
    title="The mean of omega_i Delta phi_i phi_i' estimates Lambda'Xi Omega Phi",
    statement=r"\mathbb E[\omega_i(\phi_i - \gamma\phi_i')\phi_i^\top] = \Lambda^\top\Xi\Omega\Phi",
    setting=Setting((COVERAGE, STATIONARY, VALUES_EXIST)),
)
def sample_estimate_of_lambda(ratio: str = "none") -> Outcome:
    """Samples follow pi_b, and Lambda = (I - gamma P_pi) Phi the target: the ratio rho_i is missing.

    With it, E[rho omega Delta phi phi'] = sum of xi mu (pi/mu) p (phi - g phi') omega phi', which is
    Lambda'Xi Omega Phi; on-policy rho = 1.
    """
    problems = list(off_policy_battery())
    if ratio == "on-policy":
        problems = [p for p in gallery() if ON_POLICY.holds(p)]
    found = Counterexample.find(problems, lambda p: _lambda_estimate(p, ratio == "rho"))
    if found is None:
        return Outcome(Verdict.VERIFIED, f"exact on {len(problems)} problems, {ratio}")
    corrected = Counterexample.find(problems, lambda p: _lambda_estimate(p, weighted=True))
    if corrected is not None:
        raise AssertionError("with rho the estimate is still biased")
    return Outcome(
        Verdict.CORRECTED,
        f"on the two-state example with omega = 1: {told(found.observed)}. The samples follow the "
        "behaviour, and the ratio is missing, so off-policy the batch problem of the samples is "
        "another problem",
        found.observed,
        found,
        "The mean of rho_i omega_i Delta phi_i phi_i' is Lambda'Xi Omega Phi (exact on "
        f"{len(problems)} off-policy problems); on-policy rho_i = 1.",
    )


POLICIES = {"behavior": "pi", "target": "pi_b"}
"""The names as the sentence before Eq. (15) has them."""


@claim(
    "policy-names-swapped",
    where="Section III-C, before Eq. (15) ('between the behavior policy pi and the target policy pi_b')",
    origin="paper",
    title="pi is the behaviour policy and pi_b the target policy",
    statement=r"\rho_i = \pi(a_i|s_i)/\pi_b(a_i|s_i):\ \pi\ \text{behaviour},\ \pi_b\ \text{target}",
    setting=Setting((COVERAGE,)),
)
def policy_names_swapped(behavior: str = POLICIES["behavior"]) -> Outcome:
    """Read with these names, rho = behaviour/target, and E[rho] under the behaviour is not 1."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem.native
        pi, mu = (ops.pi, ops.mu) if behavior == "pi_b" else (ops.mu, ops.pi)
        taken = [
            (s, q * (p / q) * w)
            for s, p, q, m, w in zip(
                ops.state.tolist(), pi, mu, ops.mu, ops.probability, strict=True
            )
            if m and q
        ]
        totals = [sum((x for s, x in taken if s == i), ops.arithmetic.zero) for i in range(ops.n)]
        wrong = [i for i, t in enumerate(totals) if t != 1]
        if not wrong:
            return None
        i = wrong[0]
        return {"state": str(ops.labels[i]), "E[rho | s]": ops.arithmetic.public(totals[i])}

    found = Counterexample.find([two_state()], violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, "E[rho | s] = 1 in every state")
    return Outcome(
        Verdict.CORRECTED,
        f"with the names as they stand there, on the two-state example: {told(found.observed)}, and the "
        "ratio is not defined for what the target leaves out",
        found.observed,
        found,
        "Section II-A has them right: pi_b generates the data, pi is evaluated.",
    )


@claim(
    "importance-weighting",
    formal="means",
    where="Section III-C, the derivation before Eq. (15)",
    origin="paper",
    setting=Setting((COVERAGE,)),
    title="E_pi[delta omega phi] = E_b[rho delta omega phi], states weighted by xi in both",
    statement=r"\sum_s\xi(s)\sum_a\pi(a|s)\sum_{s'}P\,\delta\omega\phi = "
    r"\sum_s\xi(s)\sum_a\pi_b(a|s)\sum_{s'}P\,\rho\,\delta\omega\phi",
)
def importance_weighting(ratio: Callable[[Samples], Any] = lambda x: x.rho) -> Outcome:
    """Term by term: mu rho = pi where mu > 0, and pi = 0 where mu = 0 (coverage)."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        x = Samples(problem)
        left = x.target_mean(x.td_error * x.omega)
        right = x.mean(ratio(x) * x.td_error * x.omega)
        if (left - right).is_zero():
            return None
        return {"under pi": left.public(), "under b with the ratio": right.public()}

    found = Counterexample.find(off_policy_battery(), violation)
    if found is not None:
        return refuted(found)
    pi, mu, rest = sp.symbols("pi mu rest")
    termwise = sp.cancel(mu * (pi / mu) * rest - pi * rest) == 0
    return Outcome(
        Verdict.PROVED if termwise else Verdict.VERIFIED,
        "term by term mu (pi/mu) = pi, with coverage for mu = 0; exact on "
        f"{len(off_policy_battery())} off-policy problems with omega of the sampled transition. "
        "Replacing the stationary weights of pi by xi (the sign ~ in the text) is a change of "
        "objective, not an estimate",
    )
