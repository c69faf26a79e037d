"""Section IV: the power series, the follow-on trace, and what the emphasis is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from obliquetd.algebra import Matrix
from obliquetd.claims.battery import (
    decide_identity,
    letters,
    off_policy_battery,
)
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.registry import claim
from obliquetd.claims.words import Word, letter
from obliquetd.domains.two_state import two_state
from obliquetd.operators import Operators
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

P, Phi, Xi, Id = letters.P, letters.Phi, letters.Xi, letters.Id


@claim(
    "power-series",
    where="Section IV",
    title="L^-1 is the sum of the powers of gamma P",
    statement=r"(I - \gamma P_\pi)^{-1} = \sum_{k=0}^\infty (\gamma P_\pi)^k",
)
def power_series(step: Word = P) -> Outcome:
    """By induction, with S the sum of the first k powers and Q the k-th.

    L S = I - Q turns into L (S + Q) = I - P Q; and the k-th power has row sums at most
    gamma^k, so for gamma < 1 it vanishes and S tends to L^-1. ``step`` multiplies the
    last power to give the next.
    """
    S, Q = letter("S", "n n"), letter("Q", "n n")

    def third_power(problem: PolicyEvaluation, values: dict[str, Matrix]) -> None:
        p = values["P"]
        one = problem._ops.arithmetic.identity(problem._ops.n)
        values["S"], values["Q"] = one + p + p @ p, p @ p @ p

    induction = decide_identity(
        [("the induction step", (Id - P) @ (S + Q), Id - step @ Q)],
        rules=[(P @ S, S - Id + Q)],
        extra=third_power,
        premise="If P S = S - I + Q",
    )
    return Outcome(
        induction.verdict,
        induction.evidence + ". The remainder Q has row sums at most gamma^k, which vanish for "
        "gamma < 1",
        counterexample=induction.counterexample,
    )


@claim(
    "f-is-limit-of-trace",
    where="Section IV, after Eq. (followon)",
    title="f(s) = xi(s) lim E[Omega_E(t,t) | S_t = s] for the follow-on trace",
    statement=r"f_i = \xi(i)\lim_{t\to\infty}\mathbb E[\Omega_E(t,t) \mid S_t = s_i],\quad "
    r"f = (I - \gamma P_\pi^\top)^{-1}\xi",
)
def f_is_limit(ratio: Callable[[Any, Any], Any] = lambda pi, mu: pi / mu) -> Outcome:
    """Every history of three steps, one by one, against the series; then the series' limit."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem._ops
        paths = _trace_by_histories(ops, 3, ratio)
        series = ops.xi
        for _ in range(3):
            series = ops.xi + ops.P_gamma.T @ series
        if not (paths - series).is_zero():
            return {"by histories": paths.public(), "by the series": series.public()}
        gap = ops.f - ops.xi - ops.P_gamma.T @ ops.f
        return None if gap.is_zero() else {"f - xi - gamma P'f": gap.public()}

    problems = off_policy_battery()[:4]
    found = Counterexample.find(problems, violation)
    if found is not None:
        return refuted(found)
    return Outcome(
        Verdict.VERIFIED,
        f"on {len(problems)} off-policy problems the mean of the trace over all histories of three "
        "steps is the sum of (gamma P')^k xi, k = 0..3, whose limit is f (power-series)",
    )


def _trace_by_histories(ops: Operators, steps: int, ratio: Callable[[Any, Any], Any]) -> Matrix:
    """E[F_t 1{S_t = s}] by following every history from the stationary distribution.

    F_0 = 1, F_t = 1 + g rho F_{t-1}, with the discount g of the transition that arrived.
    """
    zero, one = ops.arithmetic.zero, ops.arithmetic.one
    moves: dict[int, list[tuple[int, Any, Any]]] = {i: [] for i in range(ops.n)}
    for s, t, p, mu, pi, g in zip(
        ops.state.tolist(), ops.next_state.tolist(), ops.probability, ops.mu, ops.pi,
        ops.row_discount, strict=True,
    ):  # fmt: skip
        if mu:
            moves[s].append((t, mu * p, g * ratio(pi, mu)))
    histories = [(s, w, one) for s, w in enumerate(ops.xi.entries())]
    for _ in range(steps):
        histories = [
            (t, w * q, one + weight * trace)
            for s, w, trace in histories
            for t, q, weight in moves[s]
        ]
    total = [zero] * ops.n
    for s, w, trace in histories:
        total[s] = total[s] + w * trace
    return ops.arithmetic.column(total)


@claim(
    "emphasis-steady-state",
    where="Section IV, recursion for Omega_E(i, i)",
    title="The recursion's own steady state, per state, is Xi^-1 f",
    statement=r"m = \lim\mathbb E[\Omega_E \mid S = s]:\quad "
    r"\xi(s')m(s') = \xi(s') + \gamma\sum_s \xi(s)P_\pi(s,s')m(s)",
)
def emphasis_steady_state(candidate: str = "f/xi") -> Outcome:
    """Put the candidate into the stationary form of 1 + gamma rho Omega, given the next state."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem._ops
        weights = ops.xi.entries()
        f = ops.f.entries()
        m = [x / w for x, w in zip(f, weights, strict=True)] if candidate == "f/xi" else f
        weighted = ops.arithmetic.column([x * w for x, w in zip(m, weights, strict=True)])
        gap = weighted - ops.xi - ops.P_gamma.T @ weighted
        return None if gap.is_zero() else {"gap": gap.public()}

    found = Counterexample.find(off_policy_battery(), violation)
    if found is not None:
        return Outcome(
            Verdict.REFUTED, f"{candidate}: {told(found.observed)}", found.observed, found
        )
    return Outcome(
        Verdict.VERIFIED,
        f"f/xi solves the stationary equation on {len(off_policy_battery())} off-policy problems; on "
        f"the two-state example it is {tuple(two_state().Omega_E.diagonal())}",
    )


@claim(
    "f-is-diagonal-of-x",
    where="Section IV ('The diagonal elements of X_E are represented as a vector f')",
    title="f is the diagonal of X_E = Xi Omega_E Phi",
    statement=r"f = \mathrm{diag}(\hat X_E),\quad \hat X_E = \Xi\Omega_E\Phi",
)
def f_is_diagonal_of_x(matrix: str = "X_E") -> Outcome:
    """X_E has d columns; Xi Omega_E is square and has the diagonal f."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        weights = problem.Xi * problem.Omega_E
        candidate = weights * problem.Phi if matrix == "X_E" else weights
        if candidate.rows != candidate.cols:
            return {"rows": candidate.rows, "columns": candidate.cols}
        gap = candidate.diagonal().T - problem.f
        return None if gap.is_zero_matrix else {"gap": gap}

    found = Counterexample.find(off_policy_battery(), violation)
    if found is None:
        return Outcome(
            Verdict.VERIFIED, f"diag({matrix}) = f on {len(off_policy_battery())} problems"
        )
    return Outcome(
        Verdict.CORRECTED,
        f"on the two-state example X_E is not square: {told(found.observed)}",
        found.observed,
        found,
        "f is the diagonal of Xi Omega_E, as f_i = xi(i) lim E[Omega_E | S = s_i] says.",
    )


@claim(
    "td-identity",
    where="Section IV, before Table I",
    title="For TD the criterion is ||gamma Phi''Xi Phi||_F^2 with Phi' the expected next features",
    statement=r"\|\Lambda^\top\Xi\Phi - \Phi^\top\Xi\Phi\|_F^2 = \|\gamma\Phi'^\top\Xi\Phi\|_F^2,"
    r"\quad \Phi' = P_\pi\Phi",
)
def td_identity(next_features: Word = P @ Phi) -> Outcome:
    """Lambda = Phi - gamma P Phi, so the difference is -(gamma P Phi)'Xi Phi."""
    Lambda = Phi - P @ Phi
    return decide_identity(
        [
            ("Lambda'Xi Phi - C", Lambda.T @ Xi @ Phi - Phi.T @ Xi @ Phi,
             -1 * next_features.T @ Xi @ Phi),
        ],
        premise="With P standing for gamma P_pi",
    )  # fmt: skip


@claim(
    "sequential-sampling",
    where="Section IV ('ETD requires the sequential sampling condition ... alleviated for SETD')",
    title="SETD needs no sequential sampling; ETD does",
    statement=r"\text{samples drawn independently: } X_{SETD} \text{ unchanged},\ "
    r"X_{ETD} = \tfrac{1}{1-\gamma}\Xi\Phi \neq \mathrm{diag}(f)\Phi",
)
def sequential_sampling(trace: str = "follow-on") -> Outcome:
    """With independent samples the follow-on trace is independent of the state it weighs.

    Then E[F] = 1 + gamma E[rho] E[F] = 1/(1 - gamma) in every state, and ETD's expected
    update is TD's, scaled. SETD(0) has no memory, so only the law of one sample counts.
    """

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem._ops
        if trace == "none":
            independent = ops.Xi_Phi
            sequential = ops.Xi_Phi
        else:
            ratio = ops.arithmetic.one / (ops.arithmetic.one - ops.discount)
            independent, sequential = ops.Xi_Phi.scaled(ratio), ops.Phi.scale_rows(ops.f)
        if (independent - sequential).is_zero():
            return None
        shuffled, ordered = (X.T @ ops.Lambda for X in (independent, sequential))
        if ops.arithmetic.sign(shuffled.item()) >= 0 or ops.arithmetic.sign(ordered.item()) <= 0:
            return None
        return {"A, samples shuffled": shuffled.public(), "A, samples in order": ordered.public()}

    found = Counterexample.find([two_state()], violation)
    if found is None:
        return Outcome(Verdict.REFUTED, "no difference", counterexample=_always(two_state()))
    return Outcome(
        Verdict.VERIFIED,
        f"ETD on the two-state example: {told(found.observed)}: in order it is stable, shuffled it "
        "is that of TD, scaled, and unstable. SETD (Algorithm 1) is a function of one transition, so its "
        "expected update is the same in any order. SETD(lambda > 0), Algorithm 2, has a trace and "
        "does need the order",
        found.observed,
        found,
    )


def _always(problem: PolicyEvaluation) -> Counterexample:
    """The problem itself, as the witness that nothing differs."""
    found = Counterexample.find([problem], lambda p: {"xi": p.xi})
    if found is None:
        raise AssertionError("a witness was not made")
    return found


@claim(
    "td-diverges-two-state",
    where="Section IV ('though TD will diverge on this domain')",
    title="TD diverges on the two-state example with discount 9/10",
    statement=r"A = \Phi^\top\Xi L_\pi\Phi < 0",
)
def td_diverges(discount: str = "9/10") -> Outcome:
    """One feature: the expected update is theta <- (1 - alpha A) theta + alpha b, and A is a number."""
    problem = two_state(discount=discount)
    A = (problem.Phi.T * problem.Xi * problem.L_pi * problem.Phi)[0]
    symbolic = two_state(discount="gamma")
    general = sp.factor((symbolic.Phi.T * symbolic.Xi * symbolic.L_pi * symbolic.Phi)[0])
    if A < 0:
        gamma = symbolic.discount
        where = sp.solveset(general < 0, gamma, sp.Interval(0, 1))
        return Outcome(
            Verdict.VERIFIED,
            f"A = {A} < 0, so |1 - alpha A| > 1 for every alpha > 0; for any discount A = {general}, "
            f"negative for gamma in {where}",
            {"A": A},
        )
    found = Counterexample.find([problem], lambda p: {"A": (p.Phi.T * p.Xi * p.Lambda)[0]})
    return Outcome(Verdict.REFUTED, f"A = {A} >= 0", {"A": A}, found)
