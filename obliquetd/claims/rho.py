"""Section III-D: the terms with rho - 1, and the shift of the index."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import number_text
from obliquetd.claims.assumptions import COVERAGE, ON_POLICY, STATIONARY, VALUES_EXIST
from obliquetd.claims.battery import off_policy_battery
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.gallery import gallery
from obliquetd.claims.registry import claim
from obliquetd.claims.samples import Samples, follow, state_weights
from obliquetd.claims.setting import Setting
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.native import Operators

__all__: list[str] = []


@claim(
    "rho-minus-one",
    formal="means",
    where="Section III-D, after the identities",
    origin="paper",
    setting=Setting((COVERAGE,)),
    title="E[(rho_t - 1) phi_t'theta] = 0",
    statement=r"\mathbb E[(\rho_t - 1)\phi_t^\top\theta] = "
    r"\sum_s\xi(s)(\sum_a\pi(a|s) - \sum_a\pi_b(a|s))\phi_t^\top\theta = 0",
)
def rho_minus_one(shift: int = 1) -> Outcome:
    """In each state the sum over a of mu (pi/mu - 1) is 1 - 1, given coverage."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        x = Samples(problem)
        mean = sum(x.weight * (x.rho - shift) * x.value, x.ops.arithmetic.zero)
        return {"the mean": x.ops.arithmetic.public(mean)} if mean else None

    found = Counterexample.find(off_policy_battery(), violation)
    if found is not None:
        return refuted(found)
    return Outcome(
        Verdict.PROVED,
        "in each state the sum over covered actions of mu (pi/mu - 1) is 1 - 1 = 0; exact on "
        f"{len(off_policy_battery())} off-policy problems",
    )


@claim(
    "rho-minus-one-with-omega",
    where="Section III-D, 'Hence, we can get': the line that drops the first (rho - 1) term",
    origin="paper",
    setting=Setting((COVERAGE, STATIONARY, VALUES_EXIST)),
    title="The (rho - 1) term still vanishes with omega_t phi_t as a factor",
    statement=r"\mathbb E[(\rho_t - 1)(\phi_t^\top\theta)\,\omega_t\phi_t] = 0",
)
def rho_minus_one_with_omega(omega: str = "sampled") -> Outcome:
    """It does for omega a function of the state; omega_t depends on the action through phi_{t+1}."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        x = Samples(problem)
        weights = (
            x.omega
            if omega == "sampled"
            else np.array(state_weights(x.ops).entries(), dtype=object)[x.ops.state]
        )
        mean = x.mean((x.rho - 1) * x.value * weights)
        if mean.is_zero():
            return None
        labels = [
            (x.ops.labels[i], x.ops.labels[j])
            for i, j in zip(x.ops.state, x.ops.next_state, strict=True)
        ]
        samples = {
            f"(rho, omega) from {s} to {t}": f"({number_text(rho)}, {number_text(w)})"
            for (s, t), rho, w in zip(labels, x.rho, weights, strict=True)
        }
        return {**samples, "the mean at theta = 1": mean.public()}

    found = Counterexample.find(off_policy_battery(), violation)
    if found is None:
        return Outcome(
            Verdict.VERIFIED,
            f"zero on {len(off_policy_battery())} off-policy problems with omega by {omega}",
        )
    return Outcome(
        Verdict.REFUTED,
        f"on the paper's own two-state example: {told(found.observed)}. The term vanishes for "
        "weights that are a function of the "
        "state, so the derivation of SETD(lambda) holds for those only",
        found.observed,
        found,
    )


def _shifted(ops: Operators, lam: Any) -> tuple[Any, Any]:
    """E[rho_t g lam X_{t+1} Y_t] and E[rho_{t-1} g lam X_t Y_{t-1}], with X, Y of the state reached.

    X = (i + 1)^2 and Y = omega phi_0, all histories of two steps from xi: the first from times 1
    and 2, the second from times 0 and 1.
    """
    phi = ops.Phi.rows()

    def y(k: int) -> Any:
        x = ops.arithmetic.scalar(sp.Integer((int(ops.next_state[k]) + 1) ** 2))
        return ops.row_discount[k] * lam * (ops.pi[k] / ops.mu[k]) * x * phi[int(ops.state[k])][0]

    steps = [
        follow(ops, n, lambda _s: None, lambda _memory, k, _t: k) for n in (2, 1)
    ]  # the last row taken
    zero = ops.arithmetic.zero
    later, earlier = (sum((w * y(k) for _, w, k in histories), zero) for histories in steps)
    return later, earlier


def _shift_gap(problem: PolicyEvaluation, _learner: Learner | None) -> Observed | None:
    ops = problem.native
    later, earlier = _shifted(ops, ops.arithmetic.scalar(sp.Rational(1, 2)))
    if later == earlier:
        return None
    public = ops.arithmetic.public
    return {"at t": public(later), "at t - 1": public(earlier)}


@claim(
    "index-shift",
    informal="it is a statement about the law of a stationary process, and mathcomp's algebra has no such laws",
    where="Section III-D, 'Hence, we can get': the line that moves the index from t + 1 to t",
    origin="paper",
    title="E[rho_t gamma lambda delta_{t+1} omega_t phi_t] = the same one step earlier",
    statement=r"\mathbb E[\rho_t\gamma\lambda\,\delta_{t+1}^{\lambda\rho}\omega_t\phi_t] = "
    r"\mathbb E[\rho_{t-1}\gamma\lambda\,\delta_t^{\lambda\rho}\omega_{t-1}\phi_{t-1}]",
    setting=Setting((STATIONARY,), fails=_shift_gap),
)
def index_shift(stationary: bool = True) -> Outcome:
    """The pair (transition t, what follows) has one law for every t where the chain is stationary.

    Both sides are the mean of one function of the process from time t on and from time t - 1
    on; a stationary process has the same law from either.
    """
    problems = [p for p in gallery() if STATIONARY.holds(p) == stationary][:60]
    found = Counterexample.find(problems, lambda p: _shift_gap(p, None))
    if found is not None:
        return refuted(found)
    return Outcome(
        Verdict.PROVED,
        "both sides are the mean of one function of a stationary process, begun at t and at t - 1. Also "
        f"exact, by every history, on {len(problems)} problems",
    )


def _second_term(problem: PolicyEvaluation, shift: int) -> Observed | None:
    """E[rho_{t-1} g lam (rho_t - 1) (phi_t'theta) omega_{t-1} phi_{t-1}] with the sampled omega, theta = 1."""
    x = Samples(problem)
    ops, phi = x.ops, x.ops.Phi.rows()
    d, zero, one = len(phi[0]), ops.arithmetic.zero, ops.arithmetic.one

    def step(memory: Any, k: int, t: int) -> Any:
        if memory is None:
            value = sum(phi[t], zero)
            return [
                x.rho[k] * ops.row_discount[k] * x.omega[k] * value * f
                for f in phi[int(ops.state[k])]
            ]
        return [(x.rho[k] - shift * one) * m for m in memory]

    total = [zero] * d
    for _, w, vector in follow(ops, 2, lambda _s: None, step):
        total = [t + w * v for t, v in zip(total, vector, strict=True)]
    mean = ops.arithmetic.column(total)
    return None if mean.is_zero() else {"the mean": mean.public()}


@claim(
    "second-rho-minus-one",
    formal="means",
    where="Section III-D, 'Hence, we can get': the line that drops the second (rho - 1) term",
    origin="paper",
    title="The (rho_t - 1) term with omega_{t-1} phi_{t-1} as a factor vanishes",
    statement=r"\mathbb E[\rho_{t-1}\gamma\lambda(\rho_t - 1)(\phi_t^\top\theta)"
    r"\omega_{t-1}\phi_{t-1}] = 0",
    setting=Setting((COVERAGE,)),
)
def second_rho_minus_one(shift: int = 1) -> Outcome:
    """omega_{t-1} is a function of s_{t-1} and s_t, rho_{t-1} one of s_{t-1} and a_{t-1}.

    Given s_{t-1}, a_{t-1} and s_t, E[rho_t - 1 | s_t] = 0, as a_t depends on s_t alone.

    So this step is right even for the sampled omega, unlike the first
    (rho-minus-one-with-omega), where omega_t depends on what rho_t depends on.
    """
    problems = list(off_policy_battery()) + [p for p in gallery() if not ON_POLICY.holds(p)][:40]
    found = Counterexample.find(problems, lambda p: _second_term(p, shift))
    if found is not None:
        return refuted(found)
    return Outcome(
        Verdict.PROVED,
        "given s_{t-1}, a_{t-1} and s_t the factor rho_{t-1} omega_{t-1} phi_{t-1} (phi_t'theta) is fixed, and the "
        f"mean of rho_t - 1 given s_t is 0. Also exact, by every history, on {len(problems)} problems",
    )
