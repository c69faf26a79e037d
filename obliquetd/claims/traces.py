"""Sections III-C and III-D: importance weighting, and the extension to eligibility traces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import Matrix, number_text
from obliquetd.claims.battery import (
    battery,
    decide_identity,
    letters,
    off_policy_battery,
)
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.registry import claim
from obliquetd.claims.words import Word, letter
from obliquetd.learners.emphatic import omega as sampled_omega
from obliquetd.operators import Operators
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

Phi, Xi, L, P, V, r, Id = (
    letters.Phi, letters.Xi, letters.L, letters.P, letters.V, letters.r, letters.Id
)  # fmt: skip


class Samples:
    """All transitions of a problem with their sampled quantities, exact, row by row.

    Each row (s, a, s') of the table carries phi, phi', Delta phi = phi - g phi', the
    ratio rho = pi/mu, and the sampled omega = max(Delta phi . phi / |Delta phi|^2, 0) (0
    where Delta phi = 0). Rows that the behaviour never takes carry weight 0.
    """

    def __init__(self, problem: PolicyEvaluation) -> None:
        ops = self.ops = problem._ops
        phi = np.array(ops.Phi.rows(), dtype=object)
        self.phi, self.phi_next = phi[ops.state], phi[ops.next_state]
        self.delta_phi = self.phi - ops.row_discount[:, None] * self.phi_next
        one, zero = ops.arithmetic.one, ops.arithmetic.zero
        self.rho = np.array(
            [p / m if m else zero for p, m in zip(ops.pi, ops.mu, strict=True)], dtype=object
        )
        self.omega = np.array(
            [
                sampled_omega(phi, s, t, g)
                for s, t, g in zip(ops.state, ops.next_state, ops.row_discount, strict=True)
            ],
            dtype=object,
        )
        xi = np.array(ops.xi.entries(), dtype=object)
        self.weight = xi[ops.state] * ops.mu * ops.probability  # the behaviour's frequencies
        theta = np.array([one] * phi.shape[1], dtype=object)
        self.value = self.phi @ theta
        self.td_error = ops.reward - self.delta_phi @ theta

    def mean(self, scalars: Any) -> Matrix:
        """The stationary mean under the behaviour of scalar times phi."""
        total = (self.weight * scalars) @ self.phi
        return self.ops.arithmetic.column(list(total))

    def target_mean(self, scalars: Any) -> Matrix:
        """The same with actions of the target, at the behaviour's states."""
        ops = self.ops
        xi = np.array(ops.xi.entries(), dtype=object)
        total = (xi[ops.state] * ops.pi * ops.probability * scalars) @ self.phi
        return ops.arithmetic.column(list(total))


@claim(
    "importance-weighting",
    where="Section III-C, before Eq. (theta-diag)",
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
        "The sentence before it swaps the names: pi is the target policy and pi_b the behaviour. "
        "Replacing the stationary weights of pi by xi (the sign ~ in the text) is a change of "
        "objective, not an estimate",
    )


@claim(
    "lambda-td-equation",
    where="Section III-D, after the definition of T^{lambda rho}",
    title="b - A theta = Phi'Xi Omega R - Phi'Xi Omega Lambda theta = Phi'Xi Omega (T^lambda V - V)",
    statement=r"\Phi^\top\Xi\Omega_S R - \Phi^\top\Xi\Omega_S\Lambda\theta = "
    r"\Phi^\top\Xi\Omega_S(T_\pi^{\lambda\rho}V_\theta - V_\theta)",
)
def lambda_td_equation(trace: str = "1/2") -> Outcome:
    """T^lambda v - v = (I - lambda P_gamma)^-1 (r - L v), which is r - L v for lambda = 0 only."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem._ops
        lam = ops.arithmetic.scalar(sp.Rational(trace))
        theta = ops.arithmetic.column([ops.arithmetic.one] * ops.Phi.shape[1])
        one_step = ops.r_pi - ops.Lambda @ theta
        many = (ops.arithmetic.identity(ops.n) - ops.P_gamma.scaled(lam)).solve(one_step)
        left, right = (ops.Xi_Phi.T @ x for x in (one_step, many))
        if (left - right).is_zero():
            return None
        return {"one-step side": left.public(), "lambda side": right.public(), "lambda": trace}

    found = Counterexample.find([p for p in battery() if not p.symbols], violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, f"the two sides agree at lambda = {trace}")
    return Outcome(
        Verdict.CORRECTED,
        f"at lambda = {trace}, Omega = I, theta = 1: {told(found.observed)}",
        found.observed,
        found,
        "The first form is the equation of lambda = 0. For lambda > 0, "
        "A = Phi'Xi Omega (I - lambda gamma P)^-1 L Phi and "
        "b = Phi'Xi Omega (I - lambda gamma P)^-1 R.",
    )


@claim(
    "lambda-return-expectation",
    where="Section III-D, definition of T^{lambda rho}",
    title="V(s) = E[G^{lambda rho}(V) | S = s, pi]: the weighted return, averaged over pi",
    statement=r"V_\pi(s) = \mathbb E[G_t^{\lambda\rho}(V_\pi) \mid S_t = s, \pi]",
)
def lambda_return_expectation(actions_of: str = "pi") -> Outcome:
    """G already carries rho, so averaging over pi counts the ratio twice; lambda = 0 shows it."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops, x = problem._ops, Samples(problem)
        policy = ops.pi if actions_of == "pi" else ops.mu
        value = np.array(ops.v_pi.entries(), dtype=object)
        target = ops.reward + ops.row_discount * value[ops.next_state]
        mean = ops.by_state(policy * ops.probability * x.rho * target)
        gap = mean - ops.v_pi
        if gap.is_zero():
            return None
        return {"mean of rho (r + gamma V')": mean.public(), "V": ops.v_pi.public()}

    found = Counterexample.find(off_policy_battery(), violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, f"exact with actions of {actions_of}, lambda = 0")
    return Outcome(
        Verdict.CORRECTED,
        f"already for lambda = 0: {told(found.observed)}",
        found.observed,
        found,
        "The expectation is over the behaviour policy: V(s) = E[G^{lambda rho}(V) | S = s, pi_b]. "
        "The same slip is in the definition of the operator P_xi^pi.",
    )


@claim(
    "delta-recursion",
    where="Section III-D ('Consider the following identities')",
    title="delta_t^{lambda rho} = rho delta_t + rho gamma lambda delta_{t+1}^{lambda rho} + (rho - 1) phi'theta",
    statement=r"\delta_t^{\lambda\rho} = \rho_t\delta_t + \rho_t\gamma\lambda\delta_{t+1}^{\lambda\rho}"
    r" + (\rho_t - 1)\phi_t^\top\theta",
)
def delta_recursion(last: str = "(rho - 1)*x") -> Outcome:
    """A polynomial identity in rho, r, gamma, lambda, phi'theta, phi_next'theta and G_next."""
    rho, reward, gamma, lam, x, x_next, G = sp.symbols("rho r gamma lam x y G")
    left = rho * (reward + gamma * ((1 - lam) * x_next + lam * G)) - x
    delta = reward + gamma * x_next - x
    extra = sp.sympify(last, locals={"rho": rho, "x": x})
    right = rho * delta + rho * gamma * lam * (G - x_next) + extra
    gap = sp.expand(left - right)
    if gap == 0:
        return Outcome(Verdict.PROVED, "both sides are one polynomial in seven free symbols")
    found = Counterexample.find(off_policy_battery()[:1], lambda _: {"left minus right": gap})
    return Outcome(Verdict.REFUTED, f"the sides differ by {gap}", {"gap": gap}, found)


@claim(
    "rho-minus-one",
    where="Section III-D",
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
    where="Section III-D, the step from line 4 to line 5 of 'Hence, we can get'",
    title="The (rho - 1) term still vanishes with omega_t phi_t as a factor",
    statement=r"\mathbb E[(\rho_t - 1)(\phi_t^\top\theta)\,\omega_t\phi_t] = 0",
)
def rho_minus_one_with_omega(omega: str = "sampled") -> Outcome:
    """It does for omega a function of the state; omega_t depends on the action through phi_{t+1}."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        x = Samples(problem)
        weights = x.omega if omega == "sampled" else _state_omega(x.ops)[x.ops.state]
        mean = x.mean((x.rho - 1) * x.value * weights)
        if mean.is_zero():
            return None
        labels = [
            (x.ops.labels[i], x.ops.labels[j])
            for i, j in zip(x.ops.state, x.ops.next_state, strict=True)
        ]
        samples = {
            f"{s} to {t}": f"rho {number_text(rho)}, omega {number_text(w)}"
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


def _state_omega(ops: Operators) -> Any:
    """A weight for each state: 1, 2, 3, ..."""
    return np.array([ops.arithmetic.scalar(sp.Integer(i + 1)) for i in range(ops.n)], dtype=object)


@claim(
    "trace-form",
    where="Section III-D, last line of 'Hence, we can get'",
    title="Forward view and eligibility trace agree: E[delta^{lambda rho} omega phi] = E[delta_t e_t]",
    statement=r"\Phi^\top\Xi\Omega(T_\pi^{\lambda}V_\theta - V_\theta) = \mathbb E[\delta_t e_t],\quad "
    r"e_t = \rho_t(\omega_t\phi_t + \gamma\lambda e_{t-1})",
)
def trace_form(decay: Word = P) -> Outcome:
    """Let Z(s)' = xi(s) E[e_t / rho_t | S_t = s], so that Z = Xi Omega Phi + lambda P_gamma' Z.

    Then E[delta e] = Z'(r - L Phi theta), and with B = (I - lambda P_gamma)^-1 the forward
    view is Phi'Omega Xi B (r - L Phi theta). ``decay`` is the matrix claimed in Z's equation.
    """
    Omega = letter("Omega", "n n", symmetric=True)
    D, B, Z = (
        letter("D", "n n"),
        letter("B", "n n"),
        letter("Z", "n d"),
    )  # D = I - lambda P, B = D^-1
    residual = letter("r", "n 1") - L @ V @ letter("one", "1 1")

    def trace_mean(problem: PolicyEvaluation, values: dict[str, Matrix]) -> None:
        ops = problem._ops
        unit, lam = ops.arithmetic.identity(ops.n), ops.arithmetic.scalar(sp.Rational(1, 2))
        weights = ops.arithmetic.column(list(_state_omega(ops)))
        values["Omega"] = unit.scale_rows(weights)
        values["one"] = ops.arithmetic.identity(1).scaled(lam)
        values["D"] = unit - values["P"].scaled(lam)
        values["B"] = values["D"].solve(unit)
        kernel = unit - decay.evaluate(values, unit).scaled(lam)
        values["Z"] = kernel.T.solve(values["Xi"] @ values["Omega"] @ values["Phi"])

    rational = [p for p in battery() if not p.symbols]
    unwound = (B.T @ D.T @ Z).T @ residual
    first = decide_identity(
        [("E[delta e]", Z.T @ residual, unwound)],
        rules=[(D @ B, Id), (B @ D, Id)],
        extra=trace_mean,
        problems=rational,
        premise="For omega a function of the state",
    )
    second = decide_identity(
        [("E[delta e]", unwound, Phi.T @ Omega @ Xi @ B @ residual)],
        rules=[(D.T @ Z, Xi @ Omega @ Phi)],
        extra=trace_mean,
        problems=rational,
        premise="With Z - lambda P'Z = Xi Omega Phi, the stationary trace (tested at lambda = 1/2)",
    )
    worst = second if first.verdict is Verdict.PROVED else first
    if worst.verdict is not Verdict.PROVED:
        return worst
    return Outcome(
        Verdict.PROVED,
        f"{first.evidence}. {second.evidence}. For an omega that depends on the sampled transition "
        "the forward view loses its (rho - 1) term: see rho-minus-one-with-omega",
    )


@claim(
    "trace-unrolled",
    where="Section III-D, the series before e_t",
    title="rho_t (omega_t phi_t + rho_{t-1} gamma lambda omega_{t-1} phi_{t-1} + ...) is the trace e_t",
    statement=r"e_t = \rho_t\big(\omega_t\phi_t + \sum_{k\ge1}(\gamma\lambda)^k\rho_{t-1}\cdots"
    r"\rho_{t-k}\,\omega_{t-k}\phi_{t-k}\big)",
)
def trace_unrolled(steps: int = 5, inner_ratio: int = 1) -> Outcome:
    """One step of the recursion turns the series to t - 1 into the series to t."""
    gl = sp.Symbol("g")
    rho = sp.symbols(f"rho0:{steps}")
    y = sp.symbols(f"y0:{steps}")  # omega phi at each time
    e = sp.Integer(0)
    for t in range(steps):
        e = sp.expand(rho[t] * (y[t] + gl * e))
        series = rho[t] * sum(
            gl**k * sp.prod([rho[t - j] ** inner_ratio for j in range(1, k + 1)]) * y[t - k]
            for k in range(t + 1)
        )
        if sp.expand(e - series) != 0:
            gap = sp.factor(e - series)
            found = Counterexample.find(off_policy_battery()[:1], lambda _, gap=gap: {"gap": gap})  # type: ignore[misc]
            return Outcome(Verdict.REFUTED, f"at t = {t} the gap is {gap}", {}, found)
    return Outcome(Verdict.VERIFIED, f"for the first {steps} steps, all quantities free")
