"""The residual gradient, from one sample and from two, and the Bellman error."""

from __future__ import annotations

from typing import Any

import sympy as sp

from obliquetd.claims.assumptions import (
    DISCOUNT,
    FULL_RANK,
    ON_POLICY,
    ONE_DISCOUNT,
    POSITIVE_WEIGHTS,
    STATIONARY,
    VALUES_EXIST,
    dynamics,
)
from obliquetd.claims.claim import Observed, Outcome
from obliquetd.claims.setting import Setting
from obliquetd.claims.stable import not_stable
from obliquetd.errors import SingularError
from obliquetd.folklore.errors import TVR
from obliquetd.folklore.judge import decide, drawn, error, meeting, squared
from obliquetd.folklore.pack import PACK
from obliquetd.learners import (
    TD,
    DoubleSampledResidualGradient,
    Learner,
    ResidualGradient,
)
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []


def _bellman_minimiser(problem: PolicyEvaluation) -> sp.Matrix:
    """The minimiser of |T Phi theta - Phi theta|^2, from the normal equations."""
    M = problem.L_pi * problem.Phi
    xi = sp.diag(*problem.xi)
    normal = M.T * xi * M
    if normal.det() == 0:
        raise SingularError("the Bellman error has many minimisers")
    return normal.inv() * M.T * xi * problem.r_pi


def _not_minimiser(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    found, right = dynamics(problem, learner).fixed_point(), _bellman_minimiser(problem)
    return None if found == right else {"fixed point": found, "minimiser": right}


@PACK.claim(
    "one-sample-residual-gradient",
    cites=("Baird 1995",),
    where="which asks for two samples",
    topic="corrected",
    title="The residual gradient from one sample finds the minimiser of the Bellman error",
    statement=r"E[\rho\,\delta\,(\phi - \gamma\phi')] = 0 \iff \theta = \arg\min\|T\Phi\theta - \Phi\theta\|_\xi",
    setting=Setting(TVR, learner=ResidualGradient()),
)
def one_sample_residual_gradient(learner: Learner = ResidualGradient()) -> Outcome:  # noqa: B008 - a frozen record
    """It descends E[rho delta^2], which is the Bellman error and the variance of delta."""
    given = Setting(TVR)
    return decide(
        meeting(drawn(60, on_policy=True), given), lambda p: _not_minimiser(p, learner), learner=learner,
        proof="two independent samples have the product of their means" if learner.key != "residual-gradient" else "",
    )  # fmt: skip


@PACK.claim(
    "double-sampled-residual-gradient",
    cites=("Baird 1995",),
    topic="corrected",
    title="The residual gradient from two samples is stable off-policy, and finds the minimiser of the Bellman error",
    statement=r"A = (L\Phi)^\top\Xi L\Phi \succ 0",
    setting=Setting(
        (FULL_RANK, POSITIVE_WEIGHTS, VALUES_EXIST),
        fails=lambda p, learner: not_stable(p, learner) or _not_minimiser(p, learner),
        learner=DoubleSampledResidualGradient(),
    ),
    formal="norms",
)
def double_sampled_residual_gradient(learner: Learner = DoubleSampledResidualGradient()) -> Outcome:  # noqa: B008
    """The mean of a product of independent factors, E[rho delta | s] E[rho'' (phi - g'' phi'') | s]."""
    return decide(
        drawn(40), lambda p: not_stable(p, learner) or _not_minimiser(p, learner), learner=learner,
        proof="its mean update is (L Phi)'Xi (r - L Phi theta), and (L Phi)'Xi L Phi is positive definite where Phi has full rank, "
        "xi > 0 and L is non-singular",
    )  # fmt: skip


def _nearer(problem: PolicyEvaluation, near: Learner, far: Learner) -> Observed | None:
    """``near`` is claimed to be no farther from v than ``far``."""
    a, b = error(problem, near), error(problem, far)
    return {f"squared error of {near.name}": a, f"of {far.name}": b} if a > b else None


@PACK.claim(
    "td-no-worse-than-residual",
    cites=("Scherrer 2010",),
    where="which finds that it is so more often than not, and far from so in other examples",
    topic="errors",
    title="On-policy TD's fixed point is no farther from the values than the minimiser of the Bellman error",
    statement=r"\|\Phi\theta_{TD} - v\|_\xi \le \|\Phi\theta_{BR} - v\|_\xi",
    setting=Setting(TVR, learner=TD()),
)
def td_no_worse_than_residual(swap: bool = False, discount: str = "") -> Outcome:
    """Either may be the nearer one; at the discount 0 they are the same."""
    pair: tuple[Learner, Learner] = (TD(), DoubleSampledResidualGradient())
    problems = drawn(200, on_policy=True, first=40)
    if discount:
        return decide(
            (p.replace(discount=discount) for p in drawn(20, on_policy=True)),
            lambda p: _nearer(p, *pair), proof="at the discount 0 both are the best approximation",
        )  # fmt: skip
    if swap:
        pair = (pair[1], pair[0])
        problems = drawn(200, on_policy=True)
    return decide(
        meeting(problems, Setting(TVR), TD()), lambda p: _nearer(p, *pair), learner=pair[0]
    )


@PACK.claim(
    "bellman-error-bounds-error",
    cites=("Williams and Baird 1993",),
    where="in the largest norm; asked in the weighted one",
    topic="errors",
    title="On-policy the error of any estimate is at most its Bellman error over 1 - gamma",
    statement=r"\|\hat v - v\|_\xi \le \frac{1}{1 - \gamma}\|T\hat v - \hat v\|_\xi",
    setting=Setting(
        (ON_POLICY, STATIONARY, DISCOUNT, ONE_DISCOUNT),
        fails=lambda p, _l: _beyond_residual(p, 1),
    ),
    formal="norms",
)
def bellman_error_bounds_error(scale: Any = 1) -> Outcome:
    """v_hat - v = (I - gamma P)^-1 (v_hat - T v_hat), whose norm is at most 1/(1 - gamma)."""
    return decide(
        drawn(60, on_policy=True), lambda p: _beyond_residual(p, scale),
        proof="v_hat - v = sum of (gamma P)^k (v_hat - T v_hat), and |P u| <= |u| on-policy. Tried with v_hat = 0, features, and "
        "a constant away from v, where it is attained",
    )  # fmt: skip


def _beyond_residual(problem: PolicyEvaluation, scale: Any) -> Observed | None:
    n, gamma = len(problem.states), problem.discount
    for v_hat in (sp.zeros(n, 1), problem.Phi[:, 0], problem.v_pi + sp.ones(n, 1)):
        residual = squared(problem, problem.r_pi - problem.L_pi * v_hat)
        found = squared(problem, v_hat - problem.v_pi)
        if found * (1 - gamma) ** 2 > scale * residual:
            return {"v_hat": v_hat, "squared error": found, "squared Bellman error": residual}
    return None
