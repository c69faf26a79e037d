"""How far the fixed points are from the values, in the norm weighted by xi."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from obliquetd.claims.assumptions import (
    A_NONSINGULAR,
    COVERAGE,
    DISCOUNT,
    FULL_RANK,
    ON_POLICY,
    ONE_DISCOUNT,
    POSITIVE_WEIGHTS,
    STATIONARY,
    VALUES_EXIST,
    Assumption,
    dynamics,
)
from obliquetd.claims.claim import Observed, Outcome
from obliquetd.claims.setting import Setting
from obliquetd.claims.stable import verdict_on
from obliquetd.domains.random_problem import random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.folklore.judge import decide, drawn, error, meeting, squared, values_of
from obliquetd.folklore.pack import PACK
from obliquetd.learners import TD, Learner, RegularizedTD
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.projection import oblique_projection

__all__: list[str] = []

STABLE = Assumption(
    "stable",
    "every eigenvalue of the learner's A has a positive real part",
    lambda problem, learner: verdict_on(dynamics(problem, learner).A) == "stable",
)
TVR = (ON_POLICY, STATIONARY, POSITIVE_WEIGHTS, FULL_RANK, DISCOUNT, ONE_DISCOUNT)
LAMBDAS = tuple(sp.Rational(k, 4) for k in range(5))
HALF = sp.Rational(1, 2)


def _best(problem: PolicyEvaluation) -> Any:
    return squared(problem, problem.best - problem.v_pi)


def _kappa(problem: PolicyEvaluation, learner: Learner | None) -> Any:
    """gamma (1 - lambda) / (1 - gamma lambda)."""
    lam = sp.sympify(getattr(learner, "lam", 0))
    return problem.discount * (1 - lam) / (1 - problem.discount * lam)


def _beyond(
    problem: PolicyEvaluation, learner: Learner | None, squared_factor: Callable[[Any], Any]
) -> Observed | None:
    """An error above a factor of kappa times the best one, both squared."""
    found, best = error(problem, learner), _best(problem)
    factor = squared_factor(_kappa(problem, learner))
    if found <= factor * best:
        return None
    return {"squared error": found, "squared factor": factor, "squared error of the best": best}


def _contraction(kappa: Any) -> Any:
    return 1 / (1 - kappa) ** 2


def _pythagoras(kappa: Any) -> Any:
    return 1 / (1 - kappa**2)


def _bounded(factor: Callable[[Any], Any], proof: str) -> Outcome:
    for lam in LAMBDAS[::2]:
        learner = TD(lam=lam)
        outcome = decide(
            drawn(40, on_policy=True), lambda p, one=learner: _beyond(p, one, factor),  # type: ignore[misc]
            proof=f"{proof}. Tested at lambda = 0, 1/2, 1", learner=learner,
        )  # fmt: skip
        if outcome.counterexample is not None:
            return outcome
    return outcome


@PACK.claim(
    "td-bound-on-policy",
    cites=("Tsitsiklis and Van Roy 1997",),
    where="Theorem 1",
    topic="errors",
    title="On-policy the error of TD(lambda)'s fixed point is at most (1 - lambda gamma)/(1 - gamma) times the best one",
    statement=r"\|\Phi\theta^* - v\|_\xi \le \frac{1 - \lambda\gamma}{1 - \gamma}\|\Pi v - v\|_\xi",
    setting=Setting(TVR, fails=lambda p, learner: _beyond(p, learner, _contraction), learner=TD()),
    formal="norms",
)
def td_bound_on_policy(factor: Callable[[Any], Any] = _contraction) -> Outcome:
    """T^lambda contracts by kappa = gamma (1 - lambda)/(1 - lambda gamma), and Pi does not expand.

    v_hat = Pi T^lambda v_hat and v = T^lambda v give |v_hat - v| <= |Pi v - v| + kappa |v_hat - v|, and
    1/(1 - kappa) = (1 - lambda gamma)/(1 - gamma). On-policy |P u|_xi <= |u|_xi by Jensen's inequality, as xi is
    stationary for P.
    """
    return _bounded(
        factor,
        "on-policy |P u| <= |u| in the norm of xi, so T^lambda contracts by kappa = gamma (1 - lambda)/(1 - lambda gamma), "
        "Pi does not expand, and 1/(1 - kappa) is the factor",
    )


@PACK.claim(
    "td-bound-pythagoras",
    cites=("Bertsekas and Yu 2009", "Tsitsiklis and Van Roy 1997"),
    where="of which the second has the larger 1/(1 - kappa)",
    topic="errors",
    title="On-policy the factor is even 1/sqrt(1 - kappa^2), with kappa = gamma (1 - lambda)/(1 - gamma lambda)",
    statement=r"\|\Phi\theta^* - v\|_\xi \le \frac{1}{\sqrt{1 - \kappa^2}}\|\Pi v - v\|_\xi,\quad "
    r"\kappa = \frac{\gamma(1 - \lambda)}{1 - \gamma\lambda}",
    setting=Setting(TVR, fails=lambda p, learner: _beyond(p, learner, _pythagoras), learner=TD()),
    formal="norms",
)
def td_bound_pythagoras(factor: Callable[[Any], Any] = _pythagoras) -> Outcome:
    """v_hat - Pi v is in the span and Pi v - v is orthogonal to it: their squares add up."""
    return _bounded(
        factor,
        "|v_hat - v|^2 = |v_hat - Pi v|^2 + |Pi v - v|^2, and |v_hat - Pi v| = |Pi (T^lambda v_hat - T^lambda v)| <= kappa "
        "|v_hat - v|",
    )


OFF_POLICY = (COVERAGE, STATIONARY, POSITIVE_WEIGHTS, FULL_RANK, DISCOUNT, VALUES_EXIST)


def near_singular(k: int) -> PolicyEvaluation:
    """The two-state example with the feature (1, b), b below the root of A, 1 + b^2 = 9/10 (b + b^2), by 10^-k at most."""
    root = (sp.Rational(9, 10) - sp.sqrt(sp.Rational(41, 100))) * 5
    b = sp.Rational(sp.floor(root * 10**k), 10**k)
    return two_state(reward=1).replace(features=[[1], [b]])


@PACK.claim(
    "td-bound-off-policy",
    cites=("Kolter 2011",),
    where="which says that there is none",
    topic="errors",
    title="Off-policy, too, the error of a stable TD is at most a constant times the best one, at a given discount",
    statement=r"\exists K(\gamma):\quad \|\Phi\theta^* - v\|_\xi \le K(\gamma)\,\|\Pi v - v\|_\xi",
    setting=Setting((*OFF_POLICY, STABLE), learner=TD()),
)
def td_bound_off_policy(constant: int = 10**6, policy: str = "off-policy") -> Outcome:
    """At gamma = 9/10 fixed: with b -> root from below A -> 0+ and b does not vanish, so theta has no bound."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        found, best = error(problem, TD()), _best(problem)
        if found <= constant**2 * best:
            return None
        return {
            "squared error": found,
            "squared error of the best": best,
            "A": dynamics(problem, TD()).A,
        }

    if policy == "on-policy":
        problems = [p for p in drawn(40, on_policy=True) if p.discount <= sp.Rational(9, 10)]
        return decide(problems, violation, proof="by td-bound-on-policy, K = 10 will do")
    return decide(
        [near_singular(k) for k in (2, 4, 8, 12)], violation, learner=TD(),
        says=f"K = {constant} is too small, as any K is: with the features (1, b) of the two-state example, A = (1 + b^2)/2 "
        "- 9/20 (b + b^2) is positive below its root b = 1.298..., and tends to 0 there while v does not change",
    )  # fmt: skip


def _oblique(problem: PolicyEvaluation) -> tuple[sp.Matrix, sp.Matrix]:
    """I - Pi_X with TD's X = L'Xi Phi, and v - Pi v."""
    X = problem.L_pi.T * sp.diag(*problem.xi) * problem.Phi
    Q = sp.eye(len(problem.states)) - oblique_projection(problem.Phi, X)
    return Q, problem.v_pi - problem.best


def _not_oblique(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    Q, rest = _oblique(problem)
    left, right = problem.v_pi - values_of(problem, learner), Q * rest
    return None if left == right else {"v - v_hat": left, "(I - Pi_X)(v - Pi v)": right}


OBLIQUE_GIVEN = (FULL_RANK, VALUES_EXIST, A_NONSINGULAR, POSITIVE_WEIGHTS)


@PACK.claim(
    "oblique-bound",
    cites=("Scherrer 2010",),
    topic="errors",
    title="On- and off-policy the error of TD is the oblique projection of the best one, and at most its norm times as large",
    statement=r"v - \Phi\theta^* = (I - \Pi_\Phi^X)(v - \Pi v),\quad "
    r"\|v - \Phi\theta^*\|_\xi \le \|I - \Pi_\Phi^X\|_\xi\,\|v - \Pi v\|_\xi",
    setting=Setting(OBLIQUE_GIVEN, fails=_not_oblique, learner=TD()),
    formal="folklore",
)
def oblique_bound(learner: Learner = TD()) -> Outcome:  # noqa: B008 - a frozen record
    """Phi theta* = Pi_X v with X = L'Xi Phi, and Pi_X Pi = Pi."""
    return decide(
        [p for p in drawn(40) if not Setting(OBLIQUE_GIVEN).unmet(p, learner)],
        lambda p: _not_oblique(p, learner), learner=learner,
        proof="A theta* = b reads X'Phi theta* = X'v with X = L'Xi Phi, so Phi theta* = Pi_X v; Pi_X leaves Pi v, which is in "
        "the span, where it is. The identity is exact with the fixed point of TD's rule on the left",
    )  # fmt: skip


def _not_attained(problem: PolicyEvaluation) -> Observed | None:
    """The ratio of the squared errors against the squared norm of I - Pi_X on what is orthogonal to the span."""
    Q, _ = _oblique(problem)
    xi = sp.diag(*problem.xi)
    U = sp.Matrix.hstack(*(problem.Phi.T * xi).nullspace())
    # the largest z with det(U'Q'Xi Q U - z U'Xi U) = 0
    z = sp.Symbol("z")
    p = sp.Poly((U.T * Q.T * xi * Q * U - z * U.T * xi * U).det(), z)
    found, best = error(problem, TD()), _best(problem)
    top = found / best  # attained where it is the largest root: no root above it
    if p.eval(top) == 0 and p.count_roots(top, None) == 1:
        return None
    return {
        "squared ratio": top,
        "largest squared ratio of any reward": max(sp.N(r) for r in p.real_roots()),
    }


ONE_LESS = Assumption(
    "d = |S| - 1",
    "there is one feature less than states",
    lambda p, _learner: p.Phi.shape[1] == len(p.states) - 1,
)
NOT_EXACT = Assumption("v not in the span", "the best error is not 0", lambda p, _l: _best(p) != 0)


@PACK.claim(
    "oblique-bound-attained",
    cites=("Scherrer 2010",),
    where="the bound; when it is attained is ours",
    topic="errors",
    title="With one feature less than states the oblique bound is attained, whatever the rewards are",
    statement=r"d = |S| - 1 \implies \|v - \Phi\theta^*\|_\xi = \|I - \Pi_\Phi^X\|_\xi\,\|v - \Pi v\|_\xi",
    setting=Setting(
        (*OBLIQUE_GIVEN, ONE_LESS, NOT_EXACT),
        fails=lambda p, _learner: _not_attained(p),
        learner=TD(),
        without={"d = |S| - 1": lambda: (random_problem(3, 1, seed=2, discount="1/2"), TD())},
    ),
    formal="norms",
)
def oblique_bound_attained(missing: int = 1) -> Outcome:
    """v - Pi v is on the one line that is orthogonal to the span, so the ratio does not depend on v.

    On the span I - Pi_X is 0, so its norm is the largest ratio on vectors orthogonal to it.
    """
    given = Setting(OBLIQUE_GIVEN)
    problems = [
        p for p in drawn(60)
        if len(p.states) - p.Phi.shape[1] == missing and not given.unmet(p, TD()) and _best(p)
    ]  # fmt: skip
    return decide(
        problems, _not_attained, learner=TD(),
        proof="v - Pi v is a multiple of the one vector that is orthogonal to the span, and I - Pi_X is 0 on the span, so the "
        "ratio is the norm for every v. With more missing features some reward attains it, as every v is the value of "
        "r = L v, and others do not",
    )  # fmt: skip


def _worse_than_zero(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    found, zero = error(problem, learner), squared(problem, problem.v_pi)
    return {"squared error": found, "that of predicting 0": zero} if found > zero else None


def _seek(
    violation: Callable[[PolicyEvaluation], Observed | None],
    setting: Setting,
    *,
    on_policy: bool,
    learner: Learner | None = None,
    says: str = "",
    right: str = "",
) -> Outcome:
    """Decide on the drawn problems that meet a setting."""
    return decide(
        meeting(drawn(400, on_policy=on_policy), setting, learner), violation, learner=learner,
        says=says, right=right,
    )  # fmt: skip


ON_GIVEN = Setting((*TVR, STABLE), learner=TD())


@PACK.claim(
    "td-no-worse-than-zero",
    cites=("Manek and Kolter 2022",),
    where="which shows that it can be worse off-policy",
    topic="errors",
    title="Where TD is stable, its fixed point is no worse than predicting 0 everywhere",
    statement=r"\mathrm{Re}\,\lambda(A) > 0 \implies \|\Phi\theta^* - v\|_\xi \le \|v\|_\xi",
    setting=ON_GIVEN,
)
def td_no_worse_than_zero(policy: str = "on-policy", features: str = "drawn") -> Outcome:
    """False even on-policy, where the error is below |v|/sqrt(1 - gamma^2)."""
    if features == "tabular":
        problems = [p.replace(features=None) for p in drawn(40, on_policy=policy == "on-policy")]
        return decide(problems, lambda p: _worse_than_zero(p, TD()), proof="tabular TD finds v")
    return _seek(
        lambda p: _worse_than_zero(p, TD()), ON_GIVEN, on_policy=policy == "on-policy", learner=TD(),
    )  # fmt: skip


@PACK.claim(
    "regularised-td-no-worse-than-zero",
    cites=("Manek and Kolter 2022",),
    where="which shows the contrary",
    topic="errors",
    title="A regulariser that makes TD stable makes it better than predicting 0",
    statement=r"\mathrm{Re}\,\lambda(A + \eta I) > 0 \implies \|\Phi(A + \eta I)^{-1}b - v\|_\xi \le \|v\|_\xi",
    setting=Setting((*OFF_POLICY, STABLE), learner=RegularizedTD(eta="1/4")),
)
def regularised_td_no_worse_than_zero(eta: str = "1/4") -> Outcome:
    """On the two-state example it is stable from eta = 1/5 on, and better than 0 from 13/40 on."""
    learner = RegularizedTD(eta=eta)
    problem = two_state(reward=1)
    if sp.Rational(eta) > sp.Rational(13, 40):
        from obliquetd.dynamics import improvement_region

        region = improvement_region(problem, RegularizedTD(eta="eta"), "eta")
        assert region == sp.Interval.open(sp.Rational(13, 40), sp.oo)
        return decide(
            [problem], lambda p: _worse_than_zero(p, learner), learner=learner,
            proof=f"the two-state example is better than 0 for eta in {region}, exactly",
        )  # fmt: skip
    return decide(
        [problem], lambda p: _worse_than_zero(p, learner), learner=learner,
        says=f"on the two-state example with reward 1, eta = {eta} makes TD stable, as every eta above 1/5 does; it is worse "
        "than 0 up to 13/40",
    )  # fmt: skip
