"""Lemma 1: the best approximation, and the projection that has it as its fixed point."""

from __future__ import annotations

from typing import Any

from obliquetd.algebra import Matrix, parse_number
from obliquetd.claims.assumptions import (
    C_NONSINGULAR,
    FULL_RANK,
    ON_POLICY,
    VALUES_EXIST,
    X_STAR_CROSSES,
    Assumption,
)
from obliquetd.claims.battery import battery, decide_identity, letters
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.gallery import gallery, leaves_for_good
from obliquetd.claims.projections import PI, PROJECTION
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.domains.two_state import two_state
from obliquetd.mdp import MDP
from obliquetd.problem import PolicyEvaluation
from obliquetd.words import Word, inverse_of, letter

__all__ = ["C_FOLLOWS", "OUTSIDE"]

Phi, X, Xi, L, V = letters.Phi, letters.X, letters.Xi, letters.L, letters.V
Li = inverse_of("L^-1", L)[0]

C_FOLLOWS = "C v = 0 gives Xi Phi v = 0 and so v'Phi'Xi = 0: the other assumption implies it"

OUTSIDE = Assumption(
    "V outside span(Phi)",
    "V_pi does not lie in span(Phi)",
    lambda p, _: p.native.Phi.general_solution(p.native.v_pi).particular is None,
)


def _theta(_problem: PolicyEvaluation, values: dict[str, Matrix]) -> None:
    """Any weights, to compare the best ones with."""
    values["theta"] = values["Phi"].T @ values["r"]


@claim(
    "lemma-1-best",
    formal="words",
    where="Lemma 1 ('the \"best\" approximation')",
    origin="paper",
    title="Pi V is nearest to V in the Xi-norm among all Phi theta",
    statement=r"\|V - \Phi\theta\|_\Xi^2 = \|V - \Pi V\|_\Xi^2 + \|\Pi V - \Phi\theta\|_\Xi^2",
)
def lemma_1_best(best: Word = PI @ V) -> Outcome:
    """Pythagoras: the residual V - Pi V is Xi-orthogonal to the span.

    For every size, (V - Phi theta)'Xi(V - Phi theta) is the sum of the two squares. As Xi is
    nonnegative, no Phi theta is nearer; and where C is non-singular theta is unique. Nearest
    means in this norm; other norms have other nearest points.
    """
    theta = letter("theta", "d 1")
    whole, rest, gap = V - Phi @ theta, V - best, best - Phi @ theta
    return decide_identity(
        [("Pythagoras", whole.T @ Xi @ whole, rest.T @ Xi @ rest + gap.T @ Xi @ gap)],
        inverses={"K": Phi.T @ Xi @ Phi},
        extra=_theta,
        premise="Where C is non-singular, for any theta",
    )


@claim(
    "lemma-1-identity",
    formal="words",
    where="Lemma 1, proof (II-B)",
    origin="paper",
    title="The oblique fixed point is the projection of the value function along L'X",
    statement=r"\hat v = \Pi_\Phi^X T_\pi(\hat v) = \Pi_\Phi^{L_\pi^\top X} V",
)
def lemma_1_identity(along: Word = L.T @ X) -> Outcome:
    """v_hat = Phi (along' Phi)^-1 along' V solves v = Pi_Phi^X (r + V_hat - L v_hat), r = L V."""
    inverse = inverse_of("H", along.T @ Phi)[0]
    v_hat = Phi @ inverse @ along.T @ V
    backup = L @ V + v_hat - L @ v_hat
    return decide_identity(
        [("the fixed point", PROJECTION @ backup, v_hat)],
        inverses={"G": X.T @ Phi, "H": along.T @ Phi},
        premise="Where X'Phi and X'L Phi are non-singular, with T v = L V + v - L v",
    )


@claim(
    "lemma-1",
    formal="words",
    where="Lemma 1, Eq. (4)",
    origin="paper",
    title="Pi V is the fixed point of the oblique equation with X* = L^-T Xi Phi",
    statement=r"v^* = \Pi V_\pi = \Pi_\Phi^{X^*} T_\pi v^*,\quad X^* = L_\pi^{-\top} \Xi \Phi",
)
def lemma_1(X_star: Word = Li.T @ Xi @ Phi) -> Outcome:
    """Put v* = Pi V and T v* = L V + v* - L v* into the equation."""
    best = PI @ V
    inverse = inverse_of("G", X_star.T @ Phi)[0]
    return decide_identity(
        [("the fixed point", Phi @ inverse @ X_star.T @ (L @ V + best - L @ best), best)],
        inverses={"L^-1": L, "K": Phi.T @ Xi @ Phi, "G": X_star.T @ Phi},
        premise="Where X*'Phi is non-singular; the premise that V is outside span(Phi) is not "
        "needed",
        implied={"Phi'XiPhi non-singular": C_FOLLOWS},
    )


@claim(
    "lemma-1-the-solution",
    formal="existence",
    where="Lemma 1 ('which is also the solution')",
    origin="paper",
    title="Pi V is the only solution of the oblique equation with X*",
    statement=r"\Phi\theta = \Pi_\Phi^{X^*}T_\pi\Phi\theta \implies \Phi\theta = \Pi V",
)
def lemma_1_the_solution(solution: Word = PI @ V) -> Outcome:
    """Multiply by X*': C theta = X*'r = Phi'Xi V, and C is non-singular, so theta is unique."""
    theta = letter("theta", "d 1")
    x_star = Li.T @ Xi @ Phi
    equation = (x_star.T @ (L @ V + Phi @ theta - L @ Phi @ theta), x_star.T @ Phi @ theta)
    normal = decide_identity(
        [
            (
                "the equation times X*'",
                equation[0] - equation[1],
                Phi.T @ Xi @ V - Phi.T @ Xi @ Phi @ theta,
            )
        ],
        inverses={"L^-1": L, "G": x_star.T @ Phi},
        extra=_theta,
        premise="Multiplied by X*', for any theta",
    )
    K = inverse_of("K", Phi.T @ Xi @ Phi)[0]
    unique = decide_identity(
        [("theta", Phi @ K @ Phi.T @ Xi @ Phi @ theta, solution)],
        inverses={"K": Phi.T @ Xi @ Phi},
        rules=[(Phi.T @ Xi @ V, Phi.T @ Xi @ Phi @ theta)],
        extra=lambda p, values: values.__setitem__(
            "theta", p.native.C.solve(p.native.Xi_Phi.T @ p.native.v_pi)
        ),
        premise="So C theta = Phi'Xi V",
    )
    worst = normal if normal.verdict is not Verdict.PROVED else unique
    return Outcome(
        worst.verdict, f"{normal.evidence}. {unique.evidence}", {}, worst.counterexample,
        setting=worst.setting if worst.counterexample else normal.setting,
    )  # fmt: skip


@claim(
    "lemma-1-let",
    where="Lemma 1, proof ('Let ..., we have L'X* = Xi Phi')",
    origin="paper",
    title="If the projection along L'X is Pi, then L'X = Xi Phi",
    statement=r"\Pi_\Phi^{L_\pi^\top X} = \Pi \implies L_\pi^\top X = \Xi\Phi",
    setting=Setting((C_NONSINGULAR, VALUES_EXIST, X_STAR_CROSSES, OUTSIDE)),
)
def lemma_1_let(conclusion: str = "L'X = Xi Phi") -> Outcome:
    """A projection knows the span of X only: X* M does as well, for every non-singular M."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem.native
        twice = ops.X_star.scaled(ops.arithmetic.scalar(parse_number(2)))
        along = ops.L_pi.T @ twice
        same = ops.Phi @ (along.T @ ops.Phi).solve(along.T)
        pi = ops.Phi @ ops.C.solve(ops.Xi_Phi.T)
        if not (same - pi).is_zero():
            return None
        gap = along - ops.Xi_Phi
        if conclusion == "one span":
            joint = ops.Xi_Phi @ ops.C.solve(ops.Xi_Phi.T @ ops.Phi)
            return None if (joint - ops.Xi_Phi).is_zero() else {"span": "differs"}
        return (
            None
            if gap.is_zero()
            else {"X": twice.public(), "L'X": along.public(), "Xi Phi": ops.Xi_Phi.public()}
        )

    found = Counterexample.find([two_state(reward=1), *battery()[1:3]], violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, "the two matrices have one span on every problem tried")
    return Outcome(
        Verdict.CORRECTED,
        f"on {found.problem()!r}, with X = 2 X*, the projection along L'X is Pi, and {told(found.observed)}",
        found.observed,
        found,
        "The projection is Pi exactly where L'X = Xi Phi M for a non-singular M, so X is X* M: the "
        "span is determined, and X* is one of the matrices that have it.",
    )


def _no_projection(problem: PolicyEvaluation) -> Observed | None:
    """X*'Phi singular although C is not."""
    ops = problem.native
    crossed = (ops.X_star.T @ ops.Phi).det()
    if crossed or not ops.C.det():
        return None
    return {
        "Phi'": problem.Phi.T,
        "xi'": problem.xi.T,
        "X*'Phi": ops.arithmetic.public(crossed),
        "C": problem.C[0],
        "V'": problem.v_pi.T,
        "theta of X*'L Phi theta = X*'r": problem.fixed_point("best").theta[0],
    }


@claim(
    "lemma-1-existence",
    where="Lemma 1 (it writes the projection along X* without a condition)",
    origin="paper",
    title="The projection along X* exists whenever the least-squares projection does",
    statement=r"\det C \neq 0 \implies \det(X^{*\top}\Phi) \neq 0",
    setting=Setting((C_NONSINGULAR, VALUES_EXIST, OUTSIDE)),
)
def lemma_1_existence(policy: str = "off-policy") -> Outcome:
    """X*'Phi = Phi' Xi L^-1 Phi need not be non-singular off-policy.

    On-policy it is: with u = L^-1 v, v'Xi L^-1 v = u'L'Xi u, which is positive for v != 0 in the
    span (td-on-policy-stable, where xi > 0).
    """
    problems = [*battery(), *gallery()]
    if policy == "on-policy":
        problems = [p for p in problems if not p.symbols and ON_POLICY.holds(p)]
    problems = [p for p in problems if VALUES_EXIST.holds(p) and C_NONSINGULAR.holds(p)]
    found = Counterexample.find([p for p in problems if OUTSIDE.holds(p)], _no_projection)
    if found is None:
        return Outcome(
            Verdict.VERIFIED, f"X*'Phi is non-singular on {len(problems)} problems, {policy}"
        )
    return Outcome(
        Verdict.CORRECTED,
        "two states, action l leads to the first and r to the second; the behaviour takes l with "
        f"5/9, the target takes r, discount 9/10: {told(found.observed)}. It is off-policy, and xi is "
        "the behaviour's own stationary distribution. The projection along X* does not exist, although "
        "the least-squares projection does and the equation of Lemma 2 still gives Pi V",
        found.observed,
        found,
        "Lemma 1 needs X*'Phi = Phi' Xi L^-1 Phi to be non-singular. On-policy with xi > 0 it is; "
        "off-policy it can vanish. The normal equation X'L Phi theta = X'r gives Pi V regardless.",
    )


def _not_unique(problem: PolicyEvaluation) -> Observed | None:
    """Weights that Pi V leaves open."""
    null = problem.native.C.null_space()
    if not null.shape[1]:
        return None
    return {"C": problem.C, "C v = 0 for v'": null.public().T}


@claim(
    "best-unique-and-stable",
    where="Section III-A ('Pi V ... is always unique and stable')",
    origin="paper",
    title="The best approximation is always unique and stable",
    statement=r"\forall(\pi,\pi_b):\ \Pi V\ \text{is unique}",
    setting=Setting((FULL_RANK, VALUES_EXIST)),
)
def best_unique_and_stable(weights: str = "any") -> Outcome:
    """With X*, A = X*'L Phi = C and b = Phi'Xi V, whatever the policies.

    C is symmetric and positive semidefinite, so no direction is unstable; it is positive
    definite, hence stable with one solution, exactly where no Phi v != 0 lives on states of
    weight zero. Else theta, and the values of states of weight zero, are left open.
    """
    problems: list[Any] = [leaves_for_good(), *battery()]
    if weights == "positive":
        problems = [p for p in battery() if not p.symbols]
    found = Counterexample.find(problems, _not_unique)
    if found is None:
        return Outcome(Verdict.VERIFIED, f"C is positive definite on {len(problems)} problems")
    return Outcome(
        Verdict.CORRECTED,
        f"on the chain 1 to 2 to 2, tabular, where state 1 has weight zero: {told(found.observed)}",
        found.observed,
        found,
        "With X*, A = C, which is positive semidefinite for every pair of policies, so nothing is "
        "unstable. Pi V is unique, and A stable, exactly where C is non-singular: independent "
        "columns, and no direction that only states of weight zero see.",
    )


def _near_and_unstable(problem: PolicyEvaluation) -> Observed | None:
    """TD's fixed point is Pi V itself, and TD diverges."""
    ops = problem.native
    A = ops.Xi_Phi.T @ ops.Lambda
    if A.shape != (1, 1) or not ops.arithmetic.sign(A.item()) < 0:
        return None
    td, best = problem.fixed_point("td"), problem.fixed_point("best")
    if td.v_hat != best.v_hat:
        return None
    return {"TD's v_hat": td.v_hat, "Pi V": best.v_hat, "A of TD": A.public()}


@claim(
    "closeness-means-stability",
    where="Section III-A ('achieve off-policy stability via forcing proximity to Pi V')",
    origin="paper",
    title="A solution close to Pi V is that of a stable method",
    statement=r"\hat v = \Pi V \implies \mathrm{Re}\,\lambda(A) > 0",
    setting=Setting((FULL_RANK, C_NONSINGULAR, VALUES_EXIST)),
)
def closeness_means_stability(discount: str = "9/10") -> Outcome:
    """Where the solution lies, and whether an iteration finds it, are two questions.

    For V in the span every X with X'L Phi non-singular has the fixed point V = Pi V, and
    rewards r = L Phi make V = Phi.
    """
    problem = _exact_values(discount)
    found = Counterexample.find([problem], _near_and_unstable)
    if found is None:
        return Outcome(Verdict.VERIFIED, f"TD is stable on the example at discount {discount}")
    return refuted(
        found,
        f"on the two-state example with rewards that make V = Phi: {told(found.observed)}. The "
        "distance is 0 and TD diverges: closeness of the solution says nothing of stability",
    )


def _exact_values(discount: str) -> PolicyEvaluation:
    """The two-state example with r = L Phi, so that V = Phi lies in the span."""
    base = two_state(discount=discount)
    wanted = base.L_pi * base.Phi
    rows = [
        (s, a, t, 1, str(wanted[base.states.index(s)]) if a == "right" else 0)
        for s in base.states
        for a, t in (("left", "left"), ("right", "right"))
    ]
    return PolicyEvaluation(
        MDP.from_transitions(rows),
        target=base.target,
        behavior=base.behavior,
        features={"left": [1], "right": [2]},
        discount=discount,
    )
