"""What the sampled rules really solve, against the formulas that the paper derives for them."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from obliquetd.algebra import Matrix, parse_number
from obliquetd.claims.battery import off_policy_battery
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.registry import claim
from obliquetd.domains.random_problem import random_mdp, random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.dynamics import mean_dynamics, second_moment_is_finite
from obliquetd.dynamics.follow_on import second_moment_kernel
from obliquetd.errors import SingularError
from obliquetd.learners import ETD, SETD
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

LAMBDA = sp.Rational(1, 2)


def _tabular(mdp: MDP, discount: str) -> PolicyEvaluation:
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=discount)


def _stochastic() -> list[PolicyEvaluation]:
    """The smallest stochastic chain, and random ones."""
    smallest = MDP.from_transitions(
        [(0, "a", 0, "1/2", 1), (0, "a", 1, "1/2", 1), (1, "a", 0, 1, 0)]
    )
    return [
        _tabular(smallest, "1/2"),
        *(_tabular(random_mdp(n, 1, n), "9/10") for n in (2, 3, 4)),
    ]


def _deterministic() -> list[PolicyEvaluation]:
    """Rings of two to four states with the discount free, and random deterministic chains."""
    rings = [
        MDP.from_transitions([(s, "a", (s + 1) % n, 1, f"r{s}") for s in range(n)])
        for n in (2, 3, 4)
    ]
    return [
        *(_tabular(ring, "gamma") for ring in rings),
        *(_tabular(random_mdp(n, 1, n, deterministic=True), "9/10") for n in (3, 4)),
    ]


def _off_policy(seed: int, transitions: str) -> list[PolicyEvaluation]:
    """Random off-policy problems of two to four states, the target's transitions as named."""
    return [
        random_problem(n, d, seed=seed + n + d, deterministic=transitions == "deterministic")
        for n, d in ((2, 1), (3, 1), (3, 2), (4, 2))
    ]


def _inconsistent(problem: PolicyEvaluation) -> Observed | None:
    """SETD's tabular fixed point against the value function."""
    dyn = mean_dynamics(problem, SETD())
    found = dyn.fixed_point()
    if (found - problem.v_pi).applyfunc(sp.cancel).is_zero_matrix:
        return None
    return {"SETD's fixed point": found, "v_pi": problem.v_pi, "tilted kernel": dyn.tilted_kernel}


def _consistency(problems: Sequence[PolicyEvaluation], holds: str) -> Outcome:
    found = Counterexample.find(problems, _inconsistent)
    if found is None:
        return Outcome(Verdict.VERIFIED, holds)
    return refuted(
        found,
        f"on {found.problem()!r}, on-policy: {told(found.observed)}. omega depends on the sampled "
        "next state, so outcomes with a larger omega count more, and SETD evaluates the tilted "
        "kernel in place of P_pi",
    )


@claim(
    "setd-consistent-deterministic",
    where="Section III-C, Algorithm 1 with Phi = I",
    title="Tabular on-policy SETD converges to v_pi where transitions are deterministic",
    statement=r"\Phi = I,\ \pi = \pi_b,\ P \in \{0,1\}:\quad A_{SETD}^{-1} b_{SETD} = V_\pi",
)
def setd_consistent_deterministic(transitions: str = "deterministic") -> Outcome:
    """From the rule: A = Xi Omega_S L and b = Xi Omega_S r with positive weights."""
    problems = _deterministic() if transitions == "deterministic" else _stochastic()
    return _consistency(
        problems,
        "the fixed point of the rule's expected update is v_pi on rings of 2, 3, 4 states with "
        "gamma and all rewards free, and on random deterministic chains",
    )


@claim(
    "setd-consistent-stochastic",
    where="Section III-C, Algorithm 1 with Phi = I",
    title="Tabular on-policy SETD converges to v_pi where transitions are stochastic",
    statement=r"\Phi = I,\ \pi = \pi_b:\quad A_{SETD}^{-1} b_{SETD} = V_\pi",
)
def setd_consistent_stochastic(transitions: str = "stochastic") -> Outcome:
    """From the rule; a self-loop and a move have different omega."""
    problems = _stochastic() if transitions == "stochastic" else _deterministic()
    return _consistency(problems, "exact on the problems tried")


def _forward(problem: PolicyEvaluation, weights: Matrix, lam: sp.Rational) -> sp.Matrix:
    """theta of Phi' diag(weights) (I - lam P_gamma)^-1 (r - L Phi theta) = 0."""
    ops = problem._ops
    damped = ops.arithmetic.identity(ops.n) - ops.P_gamma.scaled(ops.arithmetic.scalar(lam))
    X = damped.T.solve(ops.Phi.scale_rows(weights))
    return (X.T @ ops.Lambda).solve(X.T @ ops.r_pi, "the forward view").public()


def _column(problem: PolicyEvaluation, values: sp.Matrix) -> Matrix:
    scalar = problem._ops.arithmetic.scalar
    return problem._ops.arithmetic.column([scalar(parse_number(x)) for x in values])


@claim(
    "setd-expected-update",
    where="Section III-D ('we get the TD equation'), lambda = 0",
    title="SETD's expected update is Phi'Xi Omega_S (R - L Phi theta)",
    statement=r"\mathbb E[\rho_t\delta_t\omega_t\phi_t] = \Phi^\top\Xi\Omega_S(R - \Lambda\theta)",
)
def setd_expected_update(transitions: str = "stochastic") -> Outcome:
    """The rule's A against the formula's."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        rule = mean_dynamics(problem, SETD()).A
        formula = problem.Phi.T * problem.Xi * problem.Omega_S * problem.L_pi * problem.Phi
        return None if rule == formula else {"A of the rule": rule, "A of the formula": formula}

    problems = _off_policy(20, transitions)
    found = Counterexample.find(problems, violation)
    if found is None:
        return Outcome(
            Verdict.VERIFIED, f"equal on {len(problems)} problems, {transitions} transitions"
        )
    return Outcome(
        Verdict.CORRECTED,
        f"on {found.problem()!r}: {told(found.observed)}",
        found.observed,
        found,
        "omega is a function of the transition and not of the state. The expected update is "
        "Phi'Xi diag(m) (R_K - (I - gamma K) Phi theta) with K(s, s') proportional to P_pi(s, s') "
        "omega(s, s') and m the row sums; it is the formula where the target's transitions are "
        "deterministic.",
    )


@claim(
    "setd-lambda-forward-view",
    where="Section III-D, Algorithm 2",
    title="SETD(lambda)'s rule has the fixed point of the forward view it is derived from",
    statement=r"\mathbb E[\delta_t e_t] = 0 \iff "
    r"\Phi^\top\Xi\Omega_S(T_\pi^\lambda V_\theta - V_\theta) = 0",
)
def setd_lambda_forward_view(transitions: str = "stochastic") -> Outcome:
    """The rule's fixed point at lambda = 1/2 against that of the forward view with Omega_S."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        try:
            weights = _column(problem, (problem.Xi * problem.Omega_S).diagonal())
            forward = _forward(problem, weights, LAMBDA)
            backward = mean_dynamics(problem, SETD(lam=LAMBDA)).fixed_point()
        except SingularError:
            return None
        return None if forward == backward else {"forward": forward, "backward": backward}

    problems = _off_policy(30, transitions)
    found = Counterexample.find(problems, violation)
    if found is None:
        return Outcome(
            Verdict.VERIFIED, f"equal on {len(problems)} problems, {transitions} transitions"
        )
    return refuted(found, f"lambda = 1/2, {found.problem()!r}: theta {told(found.observed)}")


@claim(
    "etd-lambda-forward-view",
    where="Section IV, with Sutton, Mahmood and White (2016)",
    title="ETD(lambda)'s rule has the fixed point of its forward view, weighted by (I - P^lambda')^-1 xi",
    statement=r"\mathbb E[\delta_t e_t] = 0 \iff \Phi^\top M (T_\pi^\lambda V_\theta - V_\theta) = 0,"
    r"\quad m = (I - P_\pi^{\lambda\top})^{-1}\xi",
)
def etd_lambda_forward_view(weighting: str = "emphasis") -> Outcome:
    """The rule's fixed point at lambda = 1/2 against the closed form."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem._ops
        damped = ops.arithmetic.identity(ops.n) - ops.P_gamma.scaled(ops.arithmetic.scalar(LAMBDA))
        # I - P^lambda = (I - lambda P_gamma)^-1 L, so m = (I - lambda P_gamma)' L^-T xi
        m = damped.T @ ops.f if weighting == "emphasis" else ops.xi
        forward = _forward(problem, m, LAMBDA)
        backward = mean_dynamics(problem, ETD(lam=LAMBDA)).fixed_point()
        return None if forward == backward else {"forward": forward, "backward": backward}

    found = Counterexample.find(off_policy_battery(), violation)
    if found is None:
        return Outcome(
            Verdict.VERIFIED, f"equal on {len(off_policy_battery())} off-policy problems"
        )
    return refuted(found)


@claim(
    "etd-trace-second-moment",
    where="Section IV, two-state example",
    title="ETD's follow-on trace has a finite second moment on the two-state example",
    statement=r"\sup_t\ \mathbb E[\Omega_E(t,t)^2] < \infty",
)
def etd_trace_second_moment(discount: str = "9/10") -> Outcome:
    """The second moment is carried by K = sum of mu p (gamma rho)^2; finite iff radius(K) < 1."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        if second_moment_is_finite(problem):
            return None
        return {"K": second_moment_kernel(problem), "discount": problem.discount}

    symbolic = two_state(discount="gamma")
    gamma = symbolic.discount
    det = sp.factor((sp.eye(2) - second_moment_kernel(symbolic)).det())
    edge = min(root for root in sp.Poly(det, gamma).real_roots() if root > 0)
    found = Counterexample.find([two_state(discount=discount)], violation)
    where = f"det(I - K) = {det} for any discount: finite exactly below {edge} = {sp.N(edge, 5)}"
    if found is None:
        return Outcome(Verdict.VERIFIED, f"finite at {discount}; {where}")
    return refuted(
        found,
        f"{told(found.observed)}: E[F_t^2] grows without bound although E[F_t] converges; {where}. "
        "ETD's expected update is stable there, but its step noise has no finite variance",
    )
