"""Learners that correct TD off-policy: emphasis, gradients, residuals, and traces that are cut."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
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
    TABULAR,
    VALUES_EXIST,
    Assumption,
    dynamics,
)
from obliquetd.claims.claim import Observed, Outcome, Verdict
from obliquetd.claims.gradient import A_TENTH_ABOVE, gtd2_off_policy_stable, tdc_stable_for_large_mu
from obliquetd.claims.setting import Setting
from obliquetd.claims.stable import not_stable, unstable
from obliquetd.domains.two_state import two_state
from obliquetd.dynamics import second_moment_is_finite
from obliquetd.errors import SingularError
from obliquetd.folklore.errors import OFF_POLICY, TVR
from obliquetd.folklore.judge import decide, drawn, error, meeting, squared
from obliquetd.folklore.pack import INFORMAL, PACK
from obliquetd.learners import (
    ETD,
    GTD2,
    HTD,
    TD,
    TDC,
    DoubleSampledResidualGradient,
    Learner,
    ResidualGradient,
    Retrace,
    TreeBackup,
    VTrace,
)
from obliquetd.mdp import Policy
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

HALF = sp.Rational(1, 2)
IN_PAPER = "Coq accepts its algebra in the pack of the paper, whose {} it is"


# --- emphatic TD ------------------------------------------------------------------------------


@PACK.claim(
    "etd-finite-variance",
    cites=("Sutton, Mahmood and White 2016",),
    where="which shows the contrary",
    topic="noise",
    title="The follow-on trace of ETD has a finite variance",
    statement=r"\sup_t E[F_t^2] < \infty",
    setting=Setting(OFF_POLICY, learner=ETD()),
)
def etd_finite_variance(discount: str = "9/10") -> Outcome:
    """E[F^2] is carried by sum of mu (gamma rho)^2, which is 2 gamma^2 on the two-state example."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        if second_moment_is_finite(problem):
            return None
        return {
            "discount": problem.discount,
            "carried by a matrix of spectral radius": 2 * problem.discount**2,
        }

    return decide(
        [two_state(discount)], violation, learner=ETD(),
        says=f"the second moment of F is infinite on the two-state example at the discount {discount}, as from 1/sqrt(2) on",
        proof="" if sp.Rational(discount) ** 2 > HALF else "2 gamma^2 < 1 on the two-state example",
    )  # fmt: skip


@PACK.claim(
    "etd-beta-small-stable",
    cites=("Hallak et al. 2016",),
    where="which asks beta to be large enough",
    topic="corrected",
    title="ETD(0, beta) is stable off-policy for every beta up to the discount",
    statement=r"0 \le \beta \le \gamma \implies \mathrm{Re}\,\lambda(A_\beta) > 0",
    setting=Setting(OFF_POLICY, learner=ETD(beta="1/10")),
)
def etd_beta_small_stable(beta: str = "1/10") -> Outcome:
    """At beta = 0 it is TD. On the two-state example it is stable from beta = 1/3 on."""
    learner = ETD(beta=beta)
    return decide(
        [two_state()], lambda p: unstable(p, learner), learner=learner,
        says=f"beta = {beta} on the two-state example at the discount 9/10, where it is stable for beta in (1/3, 1)",
        proof="" if sp.Rational(beta) < sp.Rational(1, 3) else "stable on the two-state example for beta in (1/3, 1)",
    )  # fmt: skip


# --- gradient TD ------------------------------------------------------------------------------


@PACK.claim(
    "gtd2-stable",
    cites=("Sutton et al. 2009",),
    topic="corrected",
    title="GTD2 is stable off-policy for every ratio of its step sizes, where A is non-singular",
    statement=r"\det A \neq 0,\ \mu > 0 \implies \mathrm{Re}\,\lambda\begin{bmatrix}0&-A^\top\\ \mu A&\mu C\end{bmatrix} > 0",
    setting=Setting(
        (A_NONSINGULAR, FULL_RANK, COVERAGE), fails=not_stable, learner=GTD2(),
        without={"A non-singular": lambda: (two_state(discount="5/6"), GTD2())},
        implied=gtd2_off_policy_stable.setting.implied,
    ),
    informal=IN_PAPER.format("gtd2-off-policy-stable"),
)  # fmt: skip
def gtd2_stable(make: Callable[..., Learner] = GTD2) -> Outcome:
    """z + c/z = b with b, c > 0 for an eigenvalue z: see the pack of the paper; here on other problems."""
    for mu in (sp.Rational(1, 50), 1, 20):
        learner = make(mu=mu)
        outcome = decide(
            [two_state(), *meeting(drawn(24), Setting((A_NONSINGULAR, FULL_RANK)), learner)],
            lambda p, one=learner: not_stable(p, one), learner=learner,  # type: ignore[misc]
            proof="an eigenvector (u, w), |w| = 1, has z^2 - mu z w*Cw + mu |A'w|^2 = 0, so Re z > 0. At mu = 1/50, 1, 20",
        )  # fmt: skip
        if outcome.counterexample is not None:
            return outcome
    return outcome


@PACK.claim(
    "tdc-needs-mu-large",
    cites=("Sutton et al. 2009",),
    where="which has the second step size go to 0 the slower",
    topic="corrected",
    title="TDC is stable off-policy where its second step size is large enough: mu C + (A + A')/2 positive definite will do",
    statement=r"\mu C + \tfrac12(A + A^\top) \succ 0 \implies "
    r"\mathrm{Re}\,\lambda\begin{bmatrix}A&C - A^\top\\ \mu A&\mu C\end{bmatrix} > 0",
    setting=tdc_stable_for_large_mu.setting,
    informal=IN_PAPER.format("tdc-stable-for-large-mu"),
)
def tdc_needs_mu_large(scale: Any = A_TENTH_ABOVE) -> Outcome:
    """The bound is -lambda_min of C^-1 (A + A')/2; below it the two-state example is unstable for small mu."""
    given = tdc_stable_for_large_mu.setting
    tried = []
    for p in (two_state(), *meeting(drawn(30), Setting((A_NONSINGULAR, FULL_RANK)), TDC())):
        A = dynamics(p, TD()).A
        z = sp.Symbol("z")
        roots = sp.Poly((z * p.C - (A + A.T) / 2).det(), z).real_roots()
        bound = -min(float(r) for r in roots)
        mu = scale * sp.Rational(str(round(bound + 1e-3, 6))) if bound > 0 else sp.Rational(1, 100)
        tried.append((p, TDC(mu=mu)))
    for p, learner in tried:
        if scale >= 1 and given.unmet(p, learner):
            raise AssertionError(f"{learner!r} does not meet the bound")
        seen = decide(
            [p], lambda q, one=learner: not_stable(q, one), learner=learner, proof="it is stable"  # type: ignore[misc]
        )  # fmt: skip
        if seen.counterexample is not None:
            return seen
    small = unstable(two_state(), TDC(mu=sp.Rational(1, 100)))
    assert small is not None
    return Outcome(
        Verdict.PROVED,
        "an eigenvector (u, w), |w| = 1, has z + mu |A'w|^2/z = w*(A + mu C)w, whose real part is positive. Also exact a tenth "
        f"above the bound on {len(tried)} problems; needed, since mu = 1/100 is unstable on the two-state example",
    )


def _slower(problem: PolicyEvaluation, mu: Any) -> Observed | None:
    """GTD2's slowest rate against TD's at equal step sizes; both are least real parts of eigenvalues."""
    td = min(sp.re(z) for z in sp.Matrix(dynamics(problem, TD()).A).eigenvals())
    gtd = min(sp.re(z) for z in sp.Matrix(dynamics(problem, GTD2(mu=mu)).A).eigenvals())
    return {"rate of GTD2": gtd, "rate of TD": td} if gtd > td else None


@PACK.claim(
    "gtd2-slower-than-td",
    cites=("Sutton et al. 2009",),
    where="of its experiments on-policy",
    topic="corrected",
    title="At equal step sizes the mean of GTD2 converges slower than that of TD, where both converge, for every mu",
    statement=r"\min \mathrm{Re}\,\lambda\begin{bmatrix}0&-A^\top\\ \mu A&\mu C\end{bmatrix} \le \min \mathrm{Re}\,\lambda(A)",
    setting=Setting(TVR, learner=GTD2(mu=1)),
)
def gtd2_slower_than_td(feature: int = -1) -> Outcome:
    """One feature: z^2 - mu c z + mu a^2 = 0. The best mu = 4 a^2/c^2 has the rate 2 a^2/c, more than a where 2 a > c."""
    a, c, mu = sp.symbols("a c mu", positive=True)
    z = sp.Symbol("z")
    quadratic = z**2 - mu * c * z + mu * a**2
    double = quadratic.subs(mu, 4 * a**2 / c**2)
    assert sp.expand(double - (z - 2 * a**2 / c) ** 2) == 0
    problem = PolicyEvaluation.from_chain(
        [[0, 1], [1, 0]], [1, 0], discount="9/10", features=[[1], [feature]]
    )
    A, C = dynamics(problem, TD()).A[0], problem.C[0]
    best = 4 * A**2 / C**2
    return decide(
        [problem], lambda p: _slower(p, best), learner=GTD2(mu=best),
        says=f"two states in turn with the features 1 and {feature}, mu = {best}",
        proof="" if 2 * A > C else "with one feature and 2 a <= c the best mu has the rate 2 a^2/c <= a",
        right="with one feature, A = a and C = c, GTD2's best ratio mu = 4 a^2/c^2 has the rate 2 a^2/c: it is slower than TD "
        "for every mu exactly where 2 a <= c, that is, where gamma E[phi phi'] >= c/2, as where the features change little from "
        "state to state",
    )  # fmt: skip


def _not_td(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    d = problem.Phi.shape[1]
    A = dynamics(problem, learner).A
    td = dynamics(problem, TD()).A
    if A[:d, :d] == td and A[:d, d:].is_zero_matrix:
        return None
    return {"A": A, "A of TD": td}


@PACK.claim(
    "htd-is-td-on-policy",
    cites=("Hackman 2012",),
    topic="corrected",
    title="On-policy hybrid TD is TD: its weights move as TD's do",
    statement=r"\pi = \pi_b \implies A_{\theta\theta} = A_{TD},\ A_{\theta w} = 0",
    setting=Setting((ON_POLICY,), fails=_not_td, learner=HTD(mu=1)),
    informal=INFORMAL,
)
def htd_is_td_on_policy(policy: str = "on-policy") -> Outcome:
    """theta += alpha (delta e + (phi - g phi')(e - e_mu)'w), and e = e_mu where rho = 1."""
    return decide(
        drawn(40, on_policy=policy == "on-policy"), lambda p: _not_td(p, HTD(mu=1)), learner=HTD(mu=1),
        proof="its correction is (e - e_mu)'w (phi - g phi'), and the two traces are equal where rho = 1",
    )  # fmt: skip


@PACK.claim(
    "gradient-td-same-fixed-point",
    cites=("Sutton et al. 2009",),
    topic="corrected",
    title="TD, GTD2 and TDC have the same fixed point",
    statement=r"\det A \neq 0 \implies \theta_{TD} = \theta_{GTD2} = \theta_{TDC} = A^{-1}b,\ w = 0",
    setting=Setting(
        (A_NONSINGULAR, FULL_RANK), fails=lambda p, _l: _other_point(p), learner=GTD2()
    ),
    informal=INFORMAL,
)
def gradient_td_same_fixed_point(other: type[Learner] = TDC) -> Outcome:
    """A'w = 0 and C w = b - A theta give w = 0 and A theta = b."""
    return decide(
        meeting(drawn(40), Setting((A_NONSINGULAR, FULL_RANK)), GTD2()), lambda p: _other_point(p, other),
        proof="A'w = 0 gives w = 0, and C w = b - A theta then A theta = b; TDC adds (C - A')w to the first",
    )  # fmt: skip


def _other_point(problem: PolicyEvaluation, other: type[Learner] = TDC) -> Observed | None:
    d = problem.Phi.shape[1]
    points = {kind.name: dynamics(problem, kind()).fixed_point()[:d] for kind in (TD, GTD2, other)}
    return None if len(set(map(tuple, points.values()))) == 1 else {
        name: sp.Matrix(list(point)) for name, point in points.items()
    }  # fmt: skip


# --- residual gradient ------------------------------------------------------------------------


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


ONE_OUTCOME = Assumption(
    "one outcome",
    "each state has one next state and reward, and one action, under the behaviour",
    lambda p, _l: (
        all(sum(x != 0 for x in row) == 1 for row in p.P_b.tolist())
        and all(len([1 for m in p.behavior.parsed(s).values() if m]) == 1 for s in p.states)
    ),
)


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
    informal=INFORMAL,
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
    where="which finds that it is so more often than not, with examples of the contrary",
    topic="errors",
    title="On-policy TD's fixed point is no farther from the values than the minimiser of the Bellman error",
    statement=r"\|\Phi\theta_{TD} - v\|_\xi \le \|\Phi\theta_{BR} - v\|_\xi",
    setting=Setting(TVR, learner=TD()),
)
def td_no_worse_than_residual(swap: bool = False, discount: str = "") -> Outcome:
    """Either may be the nearer one; at the discount 0 they are the same."""
    pair = (TD(), DoubleSampledResidualGradient())
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
    informal=INFORMAL,
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


# --- traces that are cut ----------------------------------------------------------------------


@cache
def action_values(k: int) -> PolicyEvaluation:
    """A drawn problem over pairs of a state and an action, with one feature."""
    base = next(drawn(1, first=k))
    pairs = PolicyEvaluation.of_actions(
        base.mdp, target=base.target, behavior=base.behavior, discount=base.discount
    )
    draw = np.random.default_rng(k).integers(1, 5, size=len(pairs.states))
    return pairs.replace(features=[[int(x)] for x in draw])


def _cut(make: Callable[..., Learner], lam: Any, policy: str) -> Outcome:
    learner = make(lam=lam)
    if policy == "tabular":
        problems = (p.replace(features=None) for p in drawn(20))
        return decide(
            problems, lambda p: not_stable(p, learner), learner=learner,
            proof="tabular, its operator is a contraction in the largest norm",
        )  # fmt: skip
    return decide(
        meeting((action_values(k) for k in range(200) if k % 3 < 2), Setting(OFF_POLICY), learner),
        lambda p: unstable(p, learner), learner=learner,
        says=f"action values with one feature, lambda = {lam}",
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
