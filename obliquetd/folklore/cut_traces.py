"""Traces that are cut: Retrace, Tree Backup, V-trace."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.claims.assumptions import (
    COVERAGE,
    DISCOUNT,
    POSITIVE_WEIGHTS,
    STATIONARY,
    TABULAR,
    dynamics,
)
from obliquetd.claims.claim import Observed, Outcome
from obliquetd.claims.setting import Setting
from obliquetd.claims.stable import not_stable, unstable, verdict_on
from obliquetd.folklore.errors import OFF_POLICY
from obliquetd.folklore.judge import decide, drawn, meeting
from obliquetd.folklore.pack import PACK
from obliquetd.learners import (
    TD,
    Learner,
    Retrace,
    TreeBackup,
    VTrace,
)
from obliquetd.mdp import Policy
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

HALF = sp.Rational(1, 2)


@cache
def action_values(k: int) -> PolicyEvaluation:
    """A drawn problem over pairs of a state and an action, with one feature."""
    base = next(drawn(1, first=k))
    pairs = PolicyEvaluation.of_actions(
        base.mdp, target=base.target, behavior=base.behavior, discount=base.discount
    )
    draw = np.random.default_rng(k).integers(1, 5, size=len(pairs.states))
    return pairs.replace(features=[[int(x)] for x in draw])


def _td(k: int) -> str:
    """The verdict on TD for the action values of that number."""
    return str(verdict_on(dynamics(action_values(k), TD()).A))


def _cut(make: Callable[..., Learner], lam: Any, policy: str) -> Outcome:
    learner = make(lam=lam)
    if policy == "tabular":
        problems = (p.replace(features=None) for p in drawn(20))
        return decide(
            problems, lambda p: not_stable(p, learner), learner=learner,
            proof="tabular, its operator is a contraction in the largest norm",
        )  # fmt: skip
    return decide(
        meeting((action_values(k) for k in range(174, 400) if k % 3 < 2), Setting(OFF_POLICY), learner),
        lambda p: unstable(p, learner), learner=learner,
        says=f"action values with one feature, lambda = {lam}, where TD is {_td(174)}",
    )  # fmt: skip


@PACK.claim(
    "retrace-stable",
    cites=("Munos et al. 2016", "Touati et al. 2018"),
    where="of which the first proves it in the tabular case, and the second shows the contrary with features",
    topic="corrected",
    title="Retrace(lambda) is stable off-policy with linear features",
    statement=r"c_t = \lambda\min(1, \rho_t) \implies \mathrm{Re}\,\lambda(A) > 0",
    setting=Setting(OFF_POLICY, learner=Retrace(lam=1)),
)
def retrace_stable(features: str = "one", lam: Any = 1) -> Outcome:
    """Over pairs, from the rule itself."""
    return _cut(Retrace, lam, features)


@PACK.claim(
    "tree-backup-stable",
    cites=("Precup, Sutton and Singh 2000", "Touati et al. 2018"),
    where="of which the first proves it in the tabular case, and the second shows the contrary with features",
    topic="corrected",
    title="Tree Backup(lambda) is stable off-policy with linear features",
    statement=r"c_t = \lambda\pi(a_t | s_t) \implies \mathrm{Re}\,\lambda(A) > 0",
    setting=Setting(OFF_POLICY, learner=TreeBackup(lam=1)),
)
def tree_backup_stable(features: str = "one", lam: Any = 1) -> Outcome:
    """Over pairs, from the rule itself."""
    return _cut(TreeBackup, lam, features)


def _clipped_policy(problem: PolicyEvaluation, cap: Any) -> PolicyEvaluation:
    """The same with the target proportional to min(cap mu, pi)."""
    chances = {}
    for s in problem.states:
        pi, mu = problem.target.parsed(s), problem.behavior.parsed(s)
        raw = {
            a: min(cap * sp.sympify(str(mu.get(a, 0))), sp.sympify(str(x))) for a, x in pi.items()
        }
        total = sum(raw.values())
        chances[s] = {a: x / total for a, x in raw.items()}
    return problem.replace(target=Policy(chances))


def _not_value_of(problem: PolicyEvaluation, cap: Any) -> Observed | None:
    found = dynamics(problem, VTrace(rho_bar=cap, lam=HALF)).fixed_point()
    right = _clipped_policy(problem, cap).v_pi
    return None if found == right else {"V-trace": found, "v of the clipped policy": right}


@PACK.claim(
    "v-trace-fixed-point",
    cites=("Espeholt et al. 2018",),
    where="which says whose values they are",
    topic="corrected",
    title="V-trace with rho_bar = 1 has the target's values as its fixed point in the tabular case",
    statement=r"\bar\rho = 1,\ \Phi = I \implies \theta^* = v_\pi",
    setting=Setting((COVERAGE, STATIONARY, POSITIVE_WEIGHTS, DISCOUNT, TABULAR), learner=VTrace()),
)
def v_trace_fixed_point(cap: Any = 1) -> Outcome:
    """It is the value of the policy proportional to min(rho_bar mu, pi), from the rule, exactly."""
    learner = VTrace(rho_bar=cap, lam=HALF)
    tabular = [p.replace(features=None) for p in drawn(30)]
    if any(_not_value_of(p, 1) for p in tabular):
        raise AssertionError("V-trace does not find the values of the clipped policy")

    def violation(problem: PolicyEvaluation) -> Observed | None:
        found = dynamics(problem, learner).fixed_point()
        return None if found == problem.v_pi else {"V-trace": found, "v": problem.v_pi}

    return decide(
        tabular, violation, learner=learner,
        proof="no ratio exceeds the cap, so that min(rho_bar mu, pi) = pi" if cap > 50 else "",
        right="in the tabular case it is the value of the policy proportional to min(rho_bar mu, pi), which is v_pi where no ratio "
        f"exceeds rho_bar; exact on {len(tabular)} problems with rho_bar = 1",
    )  # fmt: skip
