"""Section IV: what the order of the samples, and their episodes, matter to TD's relatives."""

from __future__ import annotations

import sympy as sp

from obliquetd.claims.assumptions import (
    COVERAGE,
    DISCOUNT,
    FULL_RANK,
    LAMBDA_0,
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


def _order_matters(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    """The expected update on a trajectory against that on independent transitions."""
    assert learner is not None
    ordered = mean_dynamics(problem, learner)
    shuffled = mean_dynamics(problem, learner, sampling="iid")
    if ordered.A == shuffled.A and ordered.b == shuffled.b:
        return None
    return {"A, samples in order": ordered.A, "A, samples independent": shuffled.A}


def _shuffled_etd(problem: PolicyEvaluation) -> Observed | None:
    """ETD whose trace runs on through independent samples: A is TD's over 1 - gamma."""
    ops = problem.native
    one = ops.arithmetic.one
    shuffled = (ops.Xi_Phi.T @ ops.Lambda).scaled(one / (one - ops.discount)).public()
    ordered = mean_dynamics(problem, ETD()).A
    return None if shuffled == ordered else {"A, in order": ordered, "A, shuffled": shuffled}


@claim(
    "sequential-sampling",
    where="Section IV ('requires the sequential sampling condition ... alleviated for the SETD algorithm')",
    origin="paper",
    title="SETD needs no sequential sampling; ETD does",
    statement=r"\text{samples drawn independently: } A_{SETD} \text{ unchanged},\ "
    r"A_{ETD} = \tfrac{1}{1-\gamma}A_{TD}",
    setting=Setting(
        (LAMBDA_0,), fails=_order_matters, learner=SETD(), others=(SETD(lam=sp.Rational(1, 2)),)
    ),
)
def sequential_sampling(learner: Learner = SETD()) -> Outcome:  # noqa: B008 - a frozen record
    """SETD(0) has no memory: its update is a function of one transition, whose law is the same.

    So its expected update does not depend on the order, for every size. With independent
    samples ETD's follow-on trace is independent of the state that it weighs, so
    E[F] = 1 + gamma E[rho] E[F] = 1/(1 - gamma) in every state, and A is TD's, scaled; if the trace is
    begun anew for each sample, F = 1 and A is TD's. ``learner`` is the one claimed to need no order.
    """
    problems = [p for p in gallery()[12:60] if STATIONARY.holds(p) and DISCOUNT.holds(p)]
    problems = [two_state(), *problems]
    found = Counterexample.find(problems, lambda p: _order_matters(p, learner), learner)
    if found is not None:
        return refuted(found)
    assert not learner.has_memory
    emphatic, fresh = _shuffled_etd(two_state()), _order_matters(two_state(), ETD())
    assert emphatic is not None
    assert fresh is not None
    return Outcome(
        Verdict.PROVED,
        "SETD (Algorithm 1) carries no memory, so its expected update is a mean over one transition; A and b "
        f"from the rule agree in order and shuffled on {len(problems)} problems. ETD on the two-state example: "
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
