"""Section IV: the power series, the follow-on trace, and what the emphasis is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from obliquetd.algebra import Matrix
from obliquetd.algebra.factoring import factored
from obliquetd.claims.assumptions import (
    COVERAGE,
    DISCOUNT,
    FULL_RANK,
    ONE_DISCOUNT,
    POSITIVE_WEIGHTS,
    STATIONARY,
    VALUES_EXIST,
)
from obliquetd.claims.battery import battery, decide_identity, letters, off_policy_battery
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.gallery import gallery
from obliquetd.claims.registry import claim
from obliquetd.claims.samples import follow
from obliquetd.claims.setting import Setting
from obliquetd.domains.two_state import two_state
from obliquetd.dynamics import mean_dynamics
from obliquetd.learners import ETD, Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.native import Operators
from obliquetd.words import Word, letter

__all__: list[str] = []

P, Phi, Xi, Id = letters.P, letters.Phi, letters.Xi, letters.Id


def _no_limit(problem: PolicyEvaluation, _learner: Learner | None) -> Observed | None:
    """A vector that every power of gamma P keeps."""
    null = problem.native.L_pi.null_space()
    return {"gamma P v = v for v'": null.public().T} if null.shape[1] else None


@claim(
    "power-series",
    informal="it is a statement about a limit, and mathcomp's algebra has no limits; its finite steps are exact in the check",
    where="Section IV ('power series expansion')",
    origin="paper",
    setting=Setting((DISCOUNT,), fails=_no_limit),
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
        one = problem.native.arithmetic.identity(problem.native.n)
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


def _trace_by_follow_on(ops: Operators, steps: int, ratio: Callable[[Any, Any], Any]) -> Matrix:
    """E[F_t 1{S_t = s}] by every history: F_0 = 1, F_t = 1 + g rho F_{t-1}, g of the step that arrived."""
    one = ops.arithmetic.one
    decay = [
        g * ratio(p, q) if q else None
        for g, p, q in zip(ops.row_discount, ops.pi, ops.mu, strict=True)
    ]
    total = [ops.arithmetic.zero] * ops.n
    for s, w, F in follow(ops, steps, lambda _s: one, lambda F, k, _t: one + decay[k] * F):
        total[s] = total[s] + w * F
    return ops.arithmetic.column(total)


def _limit_gap(
    problem: PolicyEvaluation, ratio: Callable[[Any, Any], Any] = lambda pi, mu: pi / mu
) -> Observed | None:
    """Three steps by histories against the series, and f against its equation."""
    ops = problem.native
    paths = _trace_by_follow_on(ops, 3, ratio)
    series = ops.xi
    for _ in range(3):
        series = ops.xi + ops.P_gamma.T @ series
    if not (paths - series).is_zero():
        return {"by histories": paths.public(), "by the series": series.public()}
    gap = ops.f - ops.xi - ops.P_gamma.T @ ops.f
    return None if gap.is_zero() else {"f - xi - gamma P'f": gap.public()}


def _never_there(problem: PolicyEvaluation) -> Observed | None:
    """A state that the mean cannot be conditioned on."""
    missing = [s for s, w in zip(problem.states, problem.xi, strict=True) if w == 0]
    return {"E[Omega_E | S = s] is 0/0 at s": str(missing[0])} if missing else None


@claim(
    "f-is-limit-of-trace",
    informal="it is a statement about a limit, and mathcomp's algebra has no limits; its finite steps are exact in the check",
    where="Section IV ('It turns out that f_i = ...')",
    origin="paper",
    title="f(s) = xi(s) lim E[Omega_E(t,t) | S_t = s] for the follow-on trace",
    statement=r"f_i = \xi(i)\lim_{t\to\infty}\mathbb E[\Omega_E(t,t) \mid S_t = s_i],\quad "
    r"f = (I - \gamma P_\pi^\top)^{-1}\xi",
    setting=Setting(
        (STATIONARY, COVERAGE, DISCOUNT, POSITIVE_WEIGHTS),
        fails=lambda p, _: _limit_gap(p) or _never_there(p),
    ),
    beside="at a state with xi(s) = 0 there is no mean given S_t = s; f(s) = lim E[Omega_E 1{S_t = s}] = 0 holds there",
)
def f_is_limit(ratio: Callable[[Any, Any], Any] = lambda pi, mu: pi / mu) -> Outcome:
    """By induction, for every size: h_t(s) = E[F_t 1{S_t = s}] is the sum of (gamma P')^k xi, k = 0..t.

    h_0 = xi. Given S_t, the action and S_{t+1} do not depend on F_t, and mu rho = pi, so
    h_{t+1}(s') = Pr(S_{t+1} = s') + sum over s, a of mu(a|s) P(s'|s,a) g rho h_t(s), which is
    xi + (gamma P)'h_t where xi is stationary. The series tends to f for gamma < 1 (power-series).
    """
    problems = [p for p in off_policy_battery() if p.native.n < 4] + [
        p for p in gallery()[12:60] if STATIONARY.holds(p) and DISCOUNT.holds(p)
    ]
    found = Counterexample.find(problems, lambda p: _limit_gap(p, ratio))
    if found is not None:
        return refuted(found)
    return Outcome(
        Verdict.PROVED,
        "by induction h_{t+1} = xi + gamma P'h_t for h_t(s) = E[F_t 1{S_t = s}], from mu rho = pi and xi "
        "stationary, so h_t is a partial sum of the series of f (power-series). Also exact for all histories "
        f"of three steps on {len(problems)} problems",
    )


def _emphasis_of_rule(problem: PolicyEvaluation, candidate: str = "f/xi") -> Observed | None:
    """ETD's A with Phi = I, from its rule, is diag(xi m) L: so xi m = A L^-1, against the candidate."""
    tabular = PolicyEvaluation(
        problem.mdp, target=problem.target, behavior=problem.behavior,
        discount=problem.discount, xi=None if problem.native.inputs.xi is None else list(problem.xi),
    )  # fmt: skip
    weighted = mean_dynamics(tabular, ETD()).A * problem.L_pi.inv()
    f, xi = problem.f, problem.xi
    claimed = (
        sp.diag(*f)
        if candidate == "f/xi"
        else sp.diag(*[a * b for a, b in zip(f, xi, strict=True)])
    )
    if any(w == 0 for w in xi):
        return {"f/xi at a state of weight zero": "0/0"}
    if weighted == claimed:
        return None
    return {
        "xi m, from the rule": sp.Matrix(weighted.diagonal()),
        "claimed": sp.Matrix(claimed.diagonal()),
    }


@claim(
    "emphasis-steady-state",
    informal="it is a statement about a limit, and mathcomp's algebra has no limits; its finite steps are exact in the check",
    where="Section IV, the recursion for Omega_E",
    title="The recursion's own steady state, per state, is Xi^-1 f",
    statement=r"m = \lim\mathbb E[\Omega_E \mid S = s] = \Xi^{-1}f",
    setting=Setting(
        (POSITIVE_WEIGHTS, STATIONARY, COVERAGE, DISCOUNT), fails=lambda p, _: _emphasis_of_rule(p)
    ),
)
def emphasis_steady_state(candidate: str = "f/xi") -> Outcome:
    """f-is-limit-of-trace, divided by xi; and found from ETD's rule, which knows nothing of f.

    With Phi = I, ETD's expected update is A = diag(xi m) L, so A L^-1 shows xi m.
    """
    problems = [p for p in off_policy_battery() if POSITIVE_WEIGHTS.holds(p)]
    found = Counterexample.find(problems, lambda p: _emphasis_of_rule(p, candidate))
    if found is not None:
        return refuted(found, f"{candidate}: {told(found.observed)}")
    return Outcome(
        Verdict.PROVED,
        "it is f_i = xi(i) lim E[Omega_E | s_i] (f-is-limit-of-trace), divided by xi; the emphasis of the "
        f"shipped rule, A L^-1 for Phi = I, is the same on {len(problems)} off-policy problems; on "
        f"the two-state example it is {tuple(two_state().Omega_E.diagonal())}",
    )


@claim(
    "f-is-diagonal-of-x",
    where="Section IV ('The diagonal elements of X_E are represented as a vector f')",
    origin="paper",
    title="f is the diagonal of X_E = Xi Omega_E Phi",
    statement=r"f = \mathrm{diag}(\hat X_E),\quad \hat X_E = \Xi\Omega_E\Phi",
    setting=Setting((VALUES_EXIST, POSITIVE_WEIGHTS, FULL_RANK)),
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
        f"on the two-state example X_E is not square: {told(found.observed)}. The paper is inconsistent: it "
        "has f as the diagonal of X_E here, as xi(i) lim E[Omega_E | s_i] below, and as the diagonal of "
        "Omega_E in the example",
        found.observed,
        found,
        "f is the diagonal of Xi Omega_E, as f_i = xi(i) lim E[Omega_E | S = s_i] says.",
    )


@claim(
    "f-is-diagonal-of-omega",
    where="Section IV, two-state example ('f_ETD to represent the diagonal elements of matrix Omega_E')",
    origin="paper",
    title="f is the diagonal of Omega_E",
    statement=r"f_{ETD} = (I - \gamma P_\pi^\top)^{-1}\xi = \mathrm{diag}(\Omega_E)",
    setting=Setting((VALUES_EXIST, POSITIVE_WEIGHTS, STATIONARY)),
)
def f_is_diagonal_of_omega(matrix: str = "Omega_E") -> Outcome:
    """Omega_E by the paper's own recursion, in its steady state, from the shipped rule."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        tabular = PolicyEvaluation(
            problem.mdp, target=problem.target, behavior=problem.behavior, discount=problem.discount
        )
        weighted = mean_dynamics(tabular, ETD()).A * problem.L_pi.inv()
        omega = [x / w for x, w in zip(weighted.diagonal(), problem.xi, strict=True)]
        found = omega if matrix == "Omega_E" else list(weighted.diagonal())
        if found == list(problem.f):
            return None
        return {f"diagonal of {matrix}, by the recursion": sp.Matrix(found), "f": problem.f}

    found = Counterexample.find([two_state()], violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, f"f is the diagonal of {matrix} on the two-state example")
    return Outcome(
        Verdict.CORRECTED,
        f"on the two-state example {told(found.observed)}. The paper is inconsistent: the recursion for "
        "Omega_E and f_i = xi(i) lim E[Omega_E | s_i] contradict this sentence, on which Table I rests",
        found.observed,
        found,
        "f is the diagonal of Xi Omega_E; that of Omega_E is Xi^-1 f.",
    )


SCALED = letter("gamma P_pi", "n n")


def _next_features_gap(problem: PolicyEvaluation, _learner: Learner | None) -> Observed | None:
    """The two squared norms, with P_pi and the one gamma as they are printed."""
    ops = problem.native
    left = ops.Lambda.T @ ops.Xi_Phi - ops.C
    right = (ops.P_pi @ ops.Phi).scaled(ops.discount).T @ ops.Xi_Phi
    norms = [sp.expand(sum(x**2 for x in m.public())) for m in (left, right)]
    return None if norms[0] == norms[1] else {"left side": norms[0], "right side": norms[1]}


@claim(
    "td-identity",
    formal="existence",
    where="Section IV, the display before Table I",
    origin="paper",
    title="For TD the criterion is ||gamma (P_pi Phi)'Xi Phi||_F^2, P_pi Phi being the expected next features",
    statement=r"\|\Lambda^\top\Xi\Phi - \Phi^\top\Xi\Phi\|_F^2 = \|\gamma\Phi'^\top\Xi\Phi\|_F^2,"
    r"\quad \Phi' = P_\pi\Phi",
    setting=Setting((ONE_DISCOUNT,), fails=_next_features_gap),
)
def td_identity(next_features: Word = SCALED @ Phi) -> Outcome:
    """Lambda = Phi - G Phi with G = gamma P_pi for one discount, so the difference is -(gamma Phi')'Xi Phi."""
    Lambda = Phi - P @ Phi

    def scaled(problem: PolicyEvaluation, values: dict[str, Matrix]) -> None:
        values["gamma P_pi"] = problem.native.P_pi.scaled(problem.native.discount)

    algebra = decide_identity(
        [
            ("Lambda'Xi Phi - C", Lambda.T @ Xi @ Phi - Phi.T @ Xi @ Phi,
             -1 * next_features.T @ Xi @ Phi),
        ],
        rules=[(P, SCALED)],
        extra=scaled,
        problems=[p for p in battery() if ONE_DISCOUNT.holds(p)],
        premise="With P for P_pi, each transition times its discount",
    )  # fmt: skip
    return Outcome(algebra.verdict, algebra.evidence, counterexample=algebra.counterexample)


@claim(
    "td-diverges-two-state",
    where="Section IV, before Table I ('though TD will diverge on this domain')",
    origin="paper",
    scope="it is one example, computed exactly; there is no size",
    title="TD diverges on the two-state example with discount 9/10",
    statement=r"A = \Phi^\top\Xi L_\pi\Phi < 0",
)
def td_diverges(discount: str = "9/10") -> Outcome:
    """One feature: the expected update is theta <- (1 - alpha A) theta + alpha b, and A is a number."""
    problem = two_state(discount=discount)
    A = (problem.Phi.T * problem.Xi * problem.L_pi * problem.Phi)[0]
    symbolic = two_state(discount="gamma")
    general = factored((symbolic.Phi.T * symbolic.Xi * symbolic.L_pi * symbolic.Phi)[0])
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
