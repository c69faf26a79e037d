"""Section IV: what the order of the samples, and their episodes, matter to TD's relatives."""

from __future__ import annotations

import sympy as sp

from obliquetd.claims.assumptions import (
    COVERAGE,
    DISCOUNT,
    FULL_RANK,
    LAMBDA_0,
    ONE_CLASS,
    ONE_DISCOUNT,
    POSITIVE_WEIGHTS,
    STATIONARY,
)
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.gallery import gallery
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.domains.random_problem import random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.dynamics import mean_dynamics
from obliquetd.learners import ETD, SETD, Learner
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

GIVEN = (LAMBDA_0, STATIONARY, ONE_CLASS, ONE_DISCOUNT, DISCOUNT, COVERAGE)


def _along_a_trajectory(problem: PolicyEvaluation) -> PolicyEvaluation:
    """The problem with the weights that a long trajectory has, where the given ones are not stationary."""
    if STATIONARY.holds(problem):
        return problem
    return PolicyEvaluation(
        problem.mdp, target=problem.target, behavior=problem.behavior, discount=problem.discount,
        features=problem.Phi.tolist(),
    )  # fmt: skip


def _order_matters(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    """The expected update on a trajectory, in each closed class, against that on independent transitions."""
    assert learner is not None
    ordered = mean_dynamics(_along_a_trajectory(problem), learner, sampling="trajectory")
    shuffled = mean_dynamics(problem, learner, sampling="iid")
    for each in ordered.classes:
        if (each.A, each.b) != (shuffled.A, shuffled.b):
            return {"A, samples in order": each.A, "A, samples independent": shuffled.A}
    return None


def _trace_of_independent_samples(problem: PolicyEvaluation) -> Observed | None:
    """E[F] = 1 + E[rho g] E[F], the discount g of the transition before, against 1/(1 - gamma)."""
    ops = problem.native
    one = ops.arithmetic.one
    xi = ops.xi.entries()
    decay = sum(
        (xi[s] * pi * p * g for s, pi, p, g in zip(
            ops.state.tolist(), ops.pi, ops.probability, ops.row_discount, strict=True)),
        ops.arithmetic.zero,
    )  # fmt: skip
    public = ops.arithmetic.public
    if decay >= one:
        return {"E[rho g], which is not below 1": public(decay)}
    A = ops.Xi_Phi.T @ ops.Lambda
    right, claimed = (A.scaled(one / (one - g)).public() for g in (decay, ops.discount))
    return None if right == claimed else {"A of ETD": right, "A of TD over 1 - gamma": claimed}


def _fails(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    """Either half of the sentence."""
    return _order_matters(problem, learner) or _trace_of_independent_samples(problem)


def _shuffled_etd(problem: PolicyEvaluation) -> Observed | None:
    """ETD whose trace runs on through independent samples: A is TD's over 1 - gamma."""
    ops = problem.native
    one = ops.arithmetic.one
    shuffled = (ops.Xi_Phi.T @ ops.Lambda).scaled(one / (one - ops.discount)).public()
    ordered = mean_dynamics(problem, ETD()).A
    return None if shuffled == ordered else {"A, in order": ordered, "A, shuffled": shuffled}


@claim(
    "sequential-sampling",
    informal="it is a statement about the law of a trajectory and about the memory of the shipped rule, which is a program in Python",
    where="Section IV ('requires the sequential sampling condition ... alleviated for the SETD algorithm')",
    origin="paper",
    title="SETD needs no sequential sampling; ETD does",
    statement=r"\text{samples drawn independently: } A_{SETD} \text{ unchanged},\ "
    r"A_{ETD} = \tfrac{1}{1-\gamma}A_{TD}",
    setting=Setting(GIVEN, fails=_fails, learner=SETD(), others=(SETD(lam=sp.Rational(1, 2)),)),
)
def sequential_sampling(learner: Learner = SETD()) -> Outcome:  # noqa: B008 - a frozen record
    """SETD(0) has no memory: its update is a function of one transition, whose law is the same.

    In order that law is the stationary one of the closed class that the trajectory is in, so xi has to
    be it, and the class the only one. Then the expected update does not depend on the order, for every
    size. With independent samples ETD's follow-on trace is independent of the state that it weighs, so
    E[F] = 1 + E[rho g] E[F] in every state, where E[rho g] = gamma for one discount; so E[F] = 1/(1 - gamma),
    and A is TD's, scaled; if the trace is begun anew for each sample, F = 1 and A is TD's. ``learner`` is
    the one claimed to need no order.
    """
    problems = [p for p in gallery()[12:60] if not Setting(GIVEN).unmet(p, SETD())]
    problems = [two_state(), *problems]
    found = Counterexample.find(problems, lambda p: _fails(p, learner), learner)
    if found is not None:
        return refuted(found)
    assert not learner.has_memory
    emphatic, fresh = _shuffled_etd(two_state()), _order_matters(two_state(), ETD())
    assert emphatic is not None
    assert fresh is not None
    return Outcome(
        Verdict.PROVED,
        "SETD (Algorithm 1) carries no memory, so its expected update is a mean over one transition; A and b "
        f"from the rule agree on a trajectory and on independent transitions on {len(problems)} problems. ETD on the two-state example: "
        f"{told(emphatic)}: in order it is stable, shuffled it is TD's, scaled, and unstable. "
        "SETD(lambda > 0), Algorithm 2, has a trace and does need the order",
    )


def _episodes_fit(problem: PolicyEvaluation, order: str) -> Observed | None:
    """ETD on a trajectory of many episodes: its A is the emphatic one, and stable."""
    ops = problem.native
    ends = [g == 0 for g, q in zip(ops.row_discount, ops.mu, strict=True) if q]
    if not any(ends):
        return None
    dyn = mean_dynamics(problem, ETD(), sampling="trajectory" if order == "kept" else "iid")
    emphatic = (ops.Phi.scale_rows(ops.f).T @ ops.Lambda).public()
    if emphatic != dyn.A or not dyn.is_stable():
        return None
    return {"A of ETD over many episodes": dyn.A, "Phi'diag(f) L Phi": emphatic}


@claim(
    "etd-many-episodes",
    where="Section IV ('which is not suitable for a set of samples collected from many episodes')",
    origin="paper",
    title="ETD is not suitable for samples from many episodes",
    statement=r"\text{many episodes} \implies A_{ETD} \neq \Phi^\top\mathrm{diag}(f)L_\pi\Phi",
    setting=Setting((STATIONARY, COVERAGE, POSITIVE_WEIGHTS, FULL_RANK)),
)
def etd_many_episodes(order: str = "kept") -> Outcome:
    """An episode's end is a transition of discount 0, which sets the trace to 1: nothing else is needed.

    Within each episode the order has to be kept (``order="lost"``: sequential-sampling).
    """
    problems = [random_problem(3, 2, seed=k, restarts=True) for k in range(3, 8)]
    found = Counterexample.find(problems, lambda p: _episodes_fit(p, order))
    if found is None:
        return Outcome(
            Verdict.VERIFIED, f"on {len(problems)} problems with episodes, order {order}"
        )
    return refuted(
        found,
        f"on {found.problem()!r}, whose episodes end and begin anew: {told(found.observed)}, and stable. The "
        "end of an episode has discount 0 and sets the follow-on trace to 1, so a set of episodes will do, "
        "each kept in order; independent single transitions will not (sequential-sampling)",
    )
