"""Section III-D: the extension to eligibility traces."""

from __future__ import annotations

import numpy as np
import sympy as sp

from obliquetd.algebra import Matrix, parse_number
from obliquetd.algebra.factoring import factored
from obliquetd.claims.assumptions import COVERAGE, STATIONARY, VALUES_EXIST
from obliquetd.claims.battery import (
    battery,
    decide_identity,
    letters,
    off_policy_battery,
    problem_values,
)
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.gallery import ring
from obliquetd.claims.registry import claim
from obliquetd.claims.samples import Samples, state_weights, trace_by_histories
from obliquetd.claims.setting import Setting
from obliquetd.dynamics import mean_dynamics
from obliquetd.learners import TD
from obliquetd.problem import PolicyEvaluation
from obliquetd.words import Word, letter

__all__: list[str] = []

Phi, Xi, L, P, V, r, Id = (
    letters.Phi, letters.Xi, letters.L, letters.P, letters.V, letters.r, letters.Id
)  # fmt: skip

HALF = sp.Rational(1, 2)


@claim(
    "lambda-td-equation",
    where="Section III-D ('we get the TD equation')",
    origin="paper",
    setting=Setting((VALUES_EXIST, COVERAGE)),
    title="b - A theta = Phi'Xi Omega R - Phi'Xi Omega Lambda theta = Phi'Xi Omega (T^lambda V - V)",
    statement=r"\Phi^\top\Xi\Omega_S R - \Phi^\top\Xi\Omega_S\Lambda\theta = "
    r"\Phi^\top\Xi\Omega_S(T_\pi^{\lambda\rho}V_\theta - V_\theta)",
)
def lambda_td_equation(trace: str = "1/2") -> Outcome:
    """T^lambda v - v = (I - lambda P_gamma)^-1 (r - L v), which is r - L v for lambda = 0 only."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem.native
        lam = ops.arithmetic.scalar(sp.Rational(trace))
        theta = ops.arithmetic.column([ops.arithmetic.one] * ops.Phi.shape[1])
        one_step = ops.r_pi - ops.Lambda @ theta
        many = (ops.arithmetic.identity(ops.n) - ops.P_gamma.scaled(lam)).solve(one_step)
        weighted = ops.arithmetic.matrix(
            [
                [ops.arithmetic.scalar(parse_number(x)) for x in row]
                for row in problem.Omega_S.tolist()
            ],
            (ops.n, ops.n),
        )
        left, right = ((weighted @ ops.Xi_Phi).T @ x for x in (one_step, many))
        if (left - right).is_zero():
            return None
        return {"one-step side": left.public(), "lambda side": right.public(), "lambda": trace}

    found = Counterexample.find([p for p in battery() if not p.symbols], violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, f"the two sides agree at lambda = {trace}")
    return Outcome(
        Verdict.CORRECTED,
        f"on {found.problem()!r} at lambda = {trace}, theta = 1, with Omega_S: {told(found.observed)}",
        found.observed,
        found,
        "The first form is the equation of lambda = 0. For lambda > 0, "
        "A = Phi'Xi Omega (I - lambda gamma P)^-1 L Phi and "
        "b = Phi'Xi Omega (I - lambda gamma P)^-1 R.",
    )


@claim(
    "lambda-return-expectation",
    where="Section III-D, the definition of T^{lambda rho}",
    origin="paper",
    setting=Setting((VALUES_EXIST, COVERAGE)),
    title="V(s) = E[G^{lambda rho}(V) | S = s, pi]: the weighted return, averaged over pi",
    statement=r"V_\pi(s) = \mathbb E[G_t^{\lambda\rho}(V_\pi) \mid S_t = s, \pi]",
)
def lambda_return_expectation(actions_of: str = "pi") -> Outcome:
    """G already carries rho, so averaging over pi counts the ratio twice; lambda = 0 shows it."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops, x = problem.native, Samples(problem)
        policy = ops.pi if actions_of == "pi" else ops.mu
        value = np.array(ops.v_pi.entries(), dtype=object)
        target = ops.reward + ops.row_discount * value[ops.next_state]
        mean = ops.by_state(policy * ops.probability * x.rho * target)
        gap = mean - ops.v_pi
        if gap.is_zero():
            return None
        return {"mean of rho (r + gamma V(s'))": mean.public(), "V": ops.v_pi.public()}

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
    formal="traces",
    where="Section III-D ('Consider the following identities')",
    origin="paper",
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


def _histories_gap(problem: PolicyEvaluation, decay: Word) -> Observed | None:
    """The trace by every history of three steps, against sum over k of (lambda decay')^k Xi Omega Phi."""
    ops = problem.native
    lam = ops.arithmetic.scalar(HALF)
    paths = trace_by_histories(ops, 3, lam, state_weights(ops))
    values = problem_values(problem)
    kernel = decay.evaluate(values, values["L"]).scaled(lam).T
    start = ops.Phi.scale_rows(state_weights(ops)).scale_rows(ops.xi)
    series = start
    for _ in range(3):
        series = start + kernel @ series
    if (paths - series).is_zero():
        return None
    return {"by histories": paths.public(), "by the series": series.public()}


def _rule_gap(problem: PolicyEvaluation, lam: sp.Rational = HALF) -> Observed | None:
    """TD(lambda)'s A, from its rule, against Phi'Xi (I - lambda gamma P)^-1 L Phi."""
    ops = problem.native
    damped = ops.arithmetic.identity(ops.n) - ops.P_gamma.scaled(ops.arithmetic.scalar(lam))
    formula = (ops.Xi_Phi.T @ damped.solve(ops.Lambda)).public()
    rule = mean_dynamics(problem, TD(lam=lam)).A
    return None if rule == formula else {"A of the rule": rule, "A of the formula": formula}


@claim(
    "trace-form",
    informal="it is a statement about a limit, and mathcomp's algebra has no limits; its finite steps are exact in the check",
    where="Section III-D, last line of 'Hence, we can get', for weights that are a function of the state",
    origin="paper",
    title="Forward view and eligibility trace agree: E[delta^{lambda rho} omega phi] = E[delta_t e_t]",
    statement=r"\Phi^\top\Xi\Omega(T_\pi^{\lambda}V_\theta - V_\theta) = \mathbb E[\delta_t e_t],\quad "
    r"e_t = \rho_t(\omega_t\phi_t + \gamma\lambda e_{t-1})",
    setting=Setting(
        (STATIONARY, VALUES_EXIST, COVERAGE),
        fails=lambda p, _: _histories_gap(p, P) or _rule_gap(p, sp.Integer(1)),
        without={"L_pi non-singular": lambda: (ring(2, 1), None)},
    ),
    beside="L_pi is I - lambda gamma P at lambda = 1, where it is needed; for lambda < 1 that matrix is non-singular anyhow",
)
def trace_form(decay: Word = P) -> Outcome:
    """Term by term, for every size.

    Let T_k(s) = E[(rho_{t-k} g) ... (rho_{t-1} g) omega(s_{t-k}) phi(s_{t-k}) 1{s_t = s}].
    (0) T_0 = Xi Omega Phi, as s_t has the law xi. (k -> k + 1) given s_t, the action and the
    next state do not depend on the past, and mu rho = pi, so T_{k+1}(s') = sum over s, a of
    mu(a|s) P(s'|s,a) rho g T_k(s): T_{k+1} = (gamma P)' T_k. Hence the trace's mean Z = sum of lambda^k T_k
    solves Z = Xi Omega Phi + lambda (gamma P)' Z. Given s_t, delta_t does not depend on the past either, so
    E[delta e] = Z'(r - L Phi theta) = Phi'Omega Xi B (r - L Phi theta) with B = (I - lambda gamma P)^-1,
    and B (r - L v) = T^lambda v - v. B exists for lambda < 1, and at lambda = 1 where L is non-singular. ``decay`` is the matrix claimed in place of gamma P.
    """
    rational = [p for p in battery() if not p.symbols and STATIONARY.holds(p)]
    found = Counterexample.find(rational, lambda p: _histories_gap(p, decay))
    if found is None:
        found = Counterexample.find(rational, lambda p: _rule_gap(p) or _rule_gap(p, sp.Integer(1)))
    if found is not None:
        return refuted(found)
    Omega = letter("Omega", "n n", symmetric=True)
    D, B, Z = (
        letter("D", "n n"),
        letter("B", "n n"),
        letter("Z", "n d"),
    )  # D = I - lambda P, B = D^-1
    residual = r - L @ V
    algebra = decide_identity(
        [("E[delta e]", (B.T @ D.T @ Z).T @ residual, Phi.T @ Omega @ Xi @ B @ residual)],
        rules=[(D.T @ Z, Xi @ Omega @ Phi)],
        extra=_mean_trace,
        problems=rational,
        premise="For Z = (B'D')Z, as D B = I",
    )
    return Outcome(
        algebra.verdict,
        "term by term, by induction on the steps back, the mean trace is the sum of (lambda gamma P')^k Xi "
        f"Omega Phi. {algebra.evidence}. The trace of every history of three steps, with weights 1, 2, 3, ..., "
        f"and A of the rules TD(1/2) and TD(1), agree exactly on {len(rational)} problems. For an omega that depends on "
        "the sampled transition the forward view loses its (rho - 1) term: see rho-minus-one-with-omega",
        counterexample=algebra.counterexample,
    )


def _mean_trace(problem: PolicyEvaluation, values: dict[str, Matrix]) -> None:
    """Omega, D, B and the mean trace at lambda = 1/2."""
    ops = problem.native
    unit, lam = ops.arithmetic.identity(ops.n), ops.arithmetic.scalar(HALF)
    values["Omega"] = unit.scale_rows(state_weights(ops))
    values["D"] = unit - values["P"].scaled(lam)
    values["B"] = values["D"].solve(unit)
    values["Z"] = values["B"].T @ values["Xi"] @ values["Omega"] @ values["Phi"]


@claim(
    "trace-unrolled",
    formal="traces",
    where="Section III-D, 'Hence, we can get': the series before e_t",
    origin="paper",
    title="rho_t (omega_t phi_t + rho_{t-1} gamma lambda omega_{t-1} phi_{t-1} + ...) is the trace e_t",
    statement=r"e_t = \rho_t\big(\omega_t\phi_t + \sum_{k\ge1}(\gamma\lambda)^k\rho_{t-1}\cdots"
    r"\rho_{t-k}\,\omega_{t-k}\phi_{t-k}\big)",
)
def trace_unrolled(steps: int = 5, inner_ratio: int = 1) -> Outcome:
    """By induction: rho_t (y_t + g S_{t-1}) is S_t for S_{t-1} = rho_{t-1} (y_{t-1} + tail).

    The tail of S_t is g S_{t-1} = g rho_{t-1} y_{t-1} + g rho_{t-1} tail, whatever the tail is: a polynomial
    identity in free symbols. ``inner_ratio`` is the power of the inner ratios in the series.
    """
    gl, tail = sp.symbols("g tail")
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
            gap = factored(e - series)
            found = Counterexample.find(off_policy_battery()[:1], lambda _, gap=gap: {"gap": gap})  # type: ignore[misc]
            return Outcome(Verdict.REFUTED, f"at t = {t} the gap is {gap}", {}, found)
    recursion = rho[1] * (y[1] + gl * rho[0] * (y[0] + tail))
    unrolled = rho[1] * (y[1] + gl * rho[0] * y[0] + gl * rho[0] * tail)
    proved = sp.expand(recursion - unrolled) == 0
    return Outcome(
        Verdict.PROVED if proved else Verdict.VERIFIED,
        "by induction: one step of the recursion turns the series to t - 1, with any tail, into the series to "
        f"t; and for the first {steps} steps, all quantities free",
    )
