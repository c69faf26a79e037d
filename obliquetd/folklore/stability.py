"""What makes TD stable: actions and weights, discounts, traces, steps."""

from __future__ import annotations

from typing import Any

import sympy as sp

from obliquetd.claims.assumptions import (
    COVERAGE,
    DISCOUNT,
    FULL_RANK,
    ON_POLICY,
    POSITIVE_WEIGHTS,
    STATIONARY,
    Assumption,
    dynamics,
)
from obliquetd.claims.claim import Observed, Outcome
from obliquetd.claims.setting import Setting
from obliquetd.claims.stable import not_stable, unstable, verdict_on
from obliquetd.claims.stable_learners import single_action
from obliquetd.domains.two_state import two_state
from obliquetd.folklore.errors import OFF_POLICY, TVR
from obliquetd.folklore.judge import decide, drawn, error, meeting
from obliquetd.folklore.pack import PACK
from obliquetd.learners import TD, Learner, NStepTD
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

HALF = sp.Rational(1, 2)
OF_A_POLICY = (STATIONARY, POSITIVE_WEIGHTS, FULL_RANK, DISCOUNT)


@PACK.claim(
    "on-policy-td-stable",
    cites=("Tsitsiklis and Van Roy 1997",),
    topic="stability",
    title="On-policy TD is stable with any independent features",
    statement=r"\pi = \pi_b \implies \mathrm{Re}\,\lambda(\Phi^\top\Xi(I - \gamma P)\Phi) > 0",
    setting=Setting(
        (ON_POLICY, *OF_A_POLICY), fails=not_stable, learner=TD(),
        without={"xi stationary": lambda: (single_action(), TD())},
    ),
    formal="norms",
)  # fmt: skip
def td_on_policy_stable(policy: str = "on-policy") -> Outcome:
    """u'Xi(I - gamma P)u >= (1 - gamma)|u|^2, since |P u| <= |u| where xi is stationary for P."""
    problems = [two_state()] if policy == "off-policy" else drawn(40, on_policy=True)
    return decide(
        problems, lambda p: not_stable(p, TD()), learner=TD(),
        proof="u'Xi(I - gamma P)u >= |u|^2 - gamma |u||P u| >= (1 - gamma)|u|^2 in the norm of xi",
    )  # fmt: skip


@PACK.claim(
    "on-policy-actions-suffice",
    cites=("Tsitsiklis and Van Roy 1997", "Sutton and Barto 2018"),
    where="both of which say that the states must be the policy's, too",
    topic="stability",
    title="It suffices that the actions are the target's: TD is stable then for any weights of the states",
    statement=r"\pi = \pi_b,\ \xi > 0 \implies \mathrm{Re}\,\lambda(A) > 0",
    setting=Setting((ON_POLICY, POSITIVE_WEIGHTS, FULL_RANK, DISCOUNT), learner=TD()),
)
def on_policy_actions_suffice(discount: str = "9/10") -> Outcome:
    """w and 2w with equal weights: A = 5/2 - 3 gamma."""
    return decide(
        [single_action(discount)], lambda p: unstable(p, TD()), learner=TD(),
        says=f"w leads to 2w, which stays, in equal weights, with the discount {discount}",
        proof="" if sp.Rational(discount) > sp.Rational(5, 6) else "A = (5 - 6 gamma)/2 on w to 2w, positive below 5/6",
    )  # fmt: skip


@PACK.claim(
    "td-small-discount-stable",
    topic="stability",
    title="Off-policy TD is stable where the discount is below 1/2",
    statement=r"\gamma < \tfrac12 \implies \mathrm{Re}\,\lambda(A) > 0",
    setting=Setting((*OFF_POLICY,), learner=TD()),
)
def td_small_discount_stable(discount: str = "49/100", size: int = 20) -> Outcome:
    """A = xi_0 (1 - gamma b) + xi_1 b^2 (1 - gamma) has the sign of 1 - gamma b for a small xi_1: no discount but 0 is safe."""
    problem = _fan(discount, size)
    return decide(
        [problem], lambda p: unstable(p, TD()), learner=TD(),
        says=f"the target goes to the second of two states, where the behaviour is {size} times less often; phi = 1 and 3",
        proof="A is positive on the fan of this size" if size == 1 else "",
    )  # fmt: skip


def _fan(discount: Any, size: int) -> PolicyEvaluation:
    """A target that goes to the last state, and a behaviour that is seldom there.

    phi = 1 in the first state and b = 3 in the last; xi(last) = 1/(size + 1).
    A = xi_0 (1 - gamma b) + xi_1 b^2 (1 - gamma).
    """
    from obliquetd.mdp import MDP, Policy

    rows = [(s, a, int(a == "on"), 1, 1) for s in range(2) for a in ("back", "on")]
    chance = sp.Rational(1, size + 1)
    mdp = MDP.from_transitions(rows)
    return PolicyEvaluation(
        mdp, target=Policy.deterministic({0: "on", 1: "on"}),
        behavior=Policy({s: {"on": chance, "back": 1 - chance} for s in range(2)}),
        features=[[1], [3]], discount=discount,
    )  # fmt: skip


def _steps_bound(problem: PolicyEvaluation, n: int, scale: Any) -> bool:
    return bool(problem.discount ** (2 * n) < scale * min(problem.xi))


def _needs_steps(problem: PolicyEvaluation, learner: Learner | None) -> bool:
    return _steps_bound(problem, getattr(learner, "n", 1), 1)


STEPS_ENOUGH = Assumption(
    "gamma^2n < min xi", "gamma^(2n) is below the smallest weight of a state", _needs_steps
)


@PACK.claim(
    "td-some-discount-stable",
    topic="stability",
    title="On each problem off-policy TD is stable for all discounts below some positive one: gamma^2 < min xi will do",
    statement=r"\gamma^2 < \min_s \xi(s) \implies \mathrm{Re}\,\lambda(A) > 0",
    setting=Setting(
        (POSITIVE_WEIGHTS, FULL_RANK, STEPS_ENOUGH),
        fails=not_stable,
        learner=TD(),
        without={"gamma^2n < min xi": lambda: (two_state("99/100"), TD())},
    ),
    formal="norms",
)
def td_some_discount_stable(scale: Any = 1) -> Outcome:
    """n-steps-stabilise with n = 1."""
    return _enough_steps((1,), scale)


def _enough_steps(steps: tuple[int, ...], scale: Any = 1) -> Outcome:
    for n in steps:
        problems = [two_state()] if scale != 1 else []
        problems += [
            p.replace(discount=g)
            for p, g in zip(drawn(40), ("1/10", "3/10", "1/5", "1/2") * 10, strict=True)
        ]
        chosen = [p for p in problems if _steps_bound(p, n, scale)]
        outcome = decide(
            chosen, lambda p, k=n: not_stable(p, NStepTD(n=k)), learner=NStepTD(n=n),  # type: ignore[misc]
            proof="(xi P^n)(s) <= 1 gives |P^n u|^2 <= |u|^2/min xi in the norm of xi, so u'Xi(I - gamma^n P^n)u >= "
            "(1 - gamma^n/sqrt(min xi))|u|^2 > 0",
        )  # fmt: skip
        if outcome.counterexample is not None:
            return outcome
    return outcome


@PACK.claim(
    "n-steps-stabilise",
    cites=("Van Hasselt et al. 2018", "Sutton and Barto 2018"),
    where="as a rule of thumb; the bound is ours",
    topic="stability",
    title="Enough steps make off-policy n-step TD stable: gamma^(2n) < min xi will do",
    statement=r"\gamma^{2n} < \min_s \xi(s) \implies \mathrm{Re}\,\lambda(\Phi^\top\Xi(I - \gamma^n P_\pi^n)\Phi) > 0",
    setting=Setting(
        (POSITIVE_WEIGHTS, FULL_RANK, STEPS_ENOUGH),
        fails=not_stable,
        learner=NStepTD(n=2),
        without={"gamma^2n < min xi": lambda: (two_state("99/100"), NStepTD(n=1))},
    ),
    formal="norms",
)
def n_steps_stabilise(scale: Any = 1) -> Outcome:
    """For stochastic P: |P^n u|_xi^2 <= sum over s of (xi P^n)(s) u(s)^2 <= |u|_xi^2 / min xi, by Jensen."""
    return _enough_steps((1, 2, 4), scale)


@PACK.claim(
    "more-steps-never-destabilise",
    topic="stability",
    title="Where n-step TD is stable off-policy, so is (n + 1)-step TD",
    statement=r"\mathrm{Re}\,\lambda(A_n) > 0 \implies \mathrm{Re}\,\lambda(A_{n+1}) > 0",
    setting=Setting((*OFF_POLICY,)),
)
def more_steps_never_destabilise(policy: str = "off-policy") -> Outcome:
    """The powers of P turn."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        verdicts = [verdict_on(dynamics(problem, NStepTD(n=n)).A) == "stable" for n in range(1, 5)]
        for n in range(1, 4):
            if verdicts[n - 1] and not verdicts[n]:
                A = dynamics(problem, NStepTD(n=n + 1)).A
                return {"n": n, "A of n + 1": A, "it is": verdict_on(A)}
        return None

    if policy == "on-policy":
        return decide(drawn(20, on_policy=True), violation, proof="on-policy all are stable")
    return decide(meeting(drawn(400, first=95), Setting(OFF_POLICY)), violation)


@PACK.claim(
    "td-1-best-and-stable",
    cites=("Tsitsiklis and Van Roy 1997", "Bertsekas and Yu 2009"),
    where="of which the first says it on-policy",
    topic="stability",
    title="TD(1) is stable off-policy, too, and its fixed point is the best approximation",
    statement=r"\lambda = 1 \implies A = \Phi^\top\Xi\Phi,\ \Phi\theta^* = \Pi v",
    setting=Setting(
        (COVERAGE, STATIONARY, POSITIVE_WEIGHTS, FULL_RANK, DISCOUNT),
        fails=lambda p, learner: _not_best(p, learner),
        learner=TD(lam=1),
    ),
    formal="norms",
)
def td_1_best_and_stable(lam: Any = 1) -> Outcome:
    """A = Phi'Xi (I - lambda P)^-1 (I - P) Phi, which is C for lambda = 1, and b = Phi'Xi v."""
    learner = TD(lam=lam)
    return decide(
        drawn(60), lambda p: _not_best(p, learner), learner=learner,
        proof="A = Phi'Xi (I - lambda G)^-1 (I - G)Phi and b = Phi'Xi (I - lambda G)^-1 r, with G = gamma P, are C and Phi'Xi v "
        "at lambda = 1",
    )  # fmt: skip


def _not_best(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    found = dynamics(problem, learner)
    if found.A == problem.C and problem.Phi * found.fixed_point() == problem.best:
        return None
    return {"A": found.A, "C": problem.C, "it is": verdict_on(found.A)}


@PACK.claim(
    "larger-lambda-better",
    cites=("Tsitsiklis and Van Roy 1997",),
    where="whose bound falls in lambda",
    topic="errors",
    title="On-policy a larger lambda never makes TD(lambda)'s fixed point worse",
    statement=r"\lambda \le \lambda' \implies \|\Phi\theta_{\lambda'} - v\|_\xi \le \|\Phi\theta_\lambda - v\|_\xi",
    setting=Setting(TVR, learner=TD(lam=HALF)),
)
def larger_lambda_better(pair: tuple[Any, Any] = (0, HALF)) -> Outcome:
    """The bound falls, the error need not; lambda = 1 is the best."""
    small, large = (TD(lam=x) for x in pair)

    def violation(problem: PolicyEvaluation) -> Observed | None:
        a, b = error(problem, small), error(problem, large)
        return (
            {f"squared error, lambda = {pair[0]}": a, f"lambda = {pair[1]}": b} if b > a else None
        )

    return decide(
        meeting(drawn(100, on_policy=True), Setting(TVR), large), violation, learner=large,
        proof="TD(1) has the best approximation (td-1-best-and-stable)" if pair[1] == 1 else "",
    )  # fmt: skip
