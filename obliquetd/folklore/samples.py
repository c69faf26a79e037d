"""Samples, step sizes and noise: LSTD, averaging, constant steps, traces."""

from __future__ import annotations

from itertools import chain, islice
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.claims.assumptions import (
    A_NONSINGULAR,
    DISCOUNT,
    FULL_RANK,
    ONE_CLASS,
    POSITIVE_WEIGHTS,
    STATIONARY,
    dynamics,
)
from obliquetd.claims.claim import Observed, Outcome
from obliquetd.claims.samples import Samples
from obliquetd.claims.setting import Setting
from obliquetd.domains.two_state import two_state
from obliquetd.dynamics import efficiency, exact_moments, stationary_moments
from obliquetd.estimators import LSTD
from obliquetd.folklore.errors import OFF_POLICY, STABLE, TVR
from obliquetd.folklore.judge import decide, drawn, meeting
from obliquetd.folklore.pack import PACK
from obliquetd.learners import TD, Learner, Retrace, TreeBackup, TrueOnlineTD
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

HALF = sp.Rational(1, 2)


def _by_rows(problem: PolicyEvaluation) -> tuple[sp.Matrix, sp.Matrix]:
    """LSTD's limits by summing over the rows of the table: E[rho phi (phi - g phi')'] and E[rho phi r]."""
    s = Samples(problem)
    A = s.matrix_mean(s.rho, s.phi).public().T
    b = s.mean(s.rho * s.ops.reward).public()
    return A, b


def _not_lstd(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    A, b = _by_rows(problem)
    lstd = problem.fixed_point(LSTD()).theta
    td = dynamics(problem, learner)
    if A * lstd == b and td.fixed_point() == lstd:
        return None
    return {"LSTD": lstd, "TD": td.fixed_point()}


@PACK.claim(
    "lstd-is-td-fixed-point",
    cites=("Bradtke and Barto 1996",),
    where="on-policy",
    topic="noise",
    title="LSTD's limit is TD's fixed point, on- and off-policy, stable or not, where the frequencies of the states tend to xi",
    statement=r"\hat\xi_t \to \xi \implies \lim \hat A_t^{-1}\hat b_t = A^{-1}b",
    setting=Setting((A_NONSINGULAR, FULL_RANK), fails=_not_lstd, learner=TD()),
    informal="it is a statement about a limit, and mathcomp's algebra has no limits",
)
def lstd_is_td_fixed_point(learner: Learner = TD()) -> Outcome:  # noqa: B008 - a frozen record
    """The means of LSTD's sums are the A and b of TD's mean update. Three routes: rule, estimator, table."""
    return decide(
        meeting(drawn(60), Setting((A_NONSINGULAR, FULL_RANK)), learner), lambda p: _not_lstd(p, learner),
        learner=learner,
        proof="by the law of large numbers, since LSTD averages rho phi (phi - g phi')' and rho r phi, whose means are the A and b of TD's mean update, b - A theta; "
        "from the rule, the estimator, and the rows of the table",
    )  # fmt: skip


def _differs(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    """The limit covariance of averaged TD(lambda) against LSTD(lambda)'s."""
    lam = getattr(learner, "lam", 0)
    a, b = (efficiency(problem, x) for x in (learner, LSTD(lam=lam)))
    return None if a.averaged == b.averaged else {"averaged TD": a.averaged, "LSTD": b.averaged}


EFFICIENT = (STATIONARY, ONE_CLASS, FULL_RANK, POSITIVE_WEIGHTS, STABLE)


@PACK.claim(
    "averaged-td-as-efficient-as-lstd",
    cites=("Polyak and Juditsky 1992",),
    where="for the limit covariance",
    topic="noise",
    title="Averaged TD has the limit covariance of LSTD, where TD is stable",
    statement=r"\lim t\,\mathrm{Cov}(\bar\theta_t) = A^{-1}\Sigma A^{-\top} = \lim t\,\mathrm{Cov}(\hat\theta_t)",
    setting=Setting(EFFICIENT, fails=_differs, learner=TD()),
    scope="the theorem of Polyak and Juditsky is about a limit in distribution, which is taken from them; what is tested "
    "is that both sides, computed apart, are equal",
)
def averaged_td_as_efficient_as_lstd(lams: tuple[Any, Any] = (0, 0)) -> Outcome:
    """The long-run covariance of the update at the fixed point, and of LSTD's residual, computed apart."""
    left, right = lams

    def violation(problem: PolicyEvaluation) -> Observed | None:
        a, b = (efficiency(problem, x).averaged for x in (TD(lam=left), LSTD(lam=right)))
        return None if a == b else {"averaged TD": a, "LSTD": b}

    on, off = (meeting(drawn(600, on_policy=x), Setting(EFFICIENT), TD()) for x in (True, False))
    problems = chain(islice(on, 100), islice(off, 100))
    return decide(problems, violation, learner=TD(lam=left))


def _start_matters(problem: PolicyEvaluation, alpha: Any, steps: int = 60) -> Observed | None:
    """The part of the mean squared error that is linear in the mean error, of two starts; i.i.d. samples.

    E|Phi avg - v|^2 has the term 2 (Phi theta* - v)'Xi Phi E[avg - theta*], and
    t E[avg - theta*] = (I - (I - alpha A)^t) (alpha A)^-1 (theta_0 - theta*).
    """
    found = dynamics(problem, TD())
    star = found.fixed_point()
    d = len(star)
    cross = 2 * (problem.Phi * star - problem.v_pi).T * sp.diag(*problem.xi) * problem.Phi
    at = {}
    for start in (0, 1):
        theta0 = [start] * d
        moments = exact_moments(problem, TD(alpha), steps, theta0, sampling="iid")
        total = sum((m - star for m in moments.mean[:steps]), sp.zeros(d, 1))
        F = sp.eye(d) - alpha * found.A
        closed = (sp.eye(d) - F**steps) * (alpha * found.A).inv() * (sp.Matrix(theta0) - star)
        if total != closed:
            raise AssertionError("the mean of the average is another one")
        limit = (cross * (alpha * found.A).inv() * (sp.Matrix(theta0) - star))[0]
        at[f"limit of t times the cross term, from theta_0 = {start}"] = limit
    return at if len(set(at.values())) > 1 else None


@PACK.claim(
    "averaged-td-mse-is-lstds",
    cites=("Polyak and Juditsky 1992",),
    where="read as a statement on the mean squared error",
    topic="noise",
    title="The mean squared error of averaged TD about the values is LSTD's, up to terms smaller than 1/t",
    statement=r"E\|\Phi\bar\theta_t - v\|_\xi^2 - E\|\Phi\hat\theta_t - v\|_\xi^2 = o(1/t)",
    setting=Setting(TVR, learner=TD("1/50")),
)
def averaged_td_mse_is_lstds(features: str = "drawn") -> Outcome:
    """It depends on the start and on the step size at the order 1/t, LSTD's does not."""
    problem = next(drawn(1, on_policy=True, first=5))
    if features == "tabular":
        problem = problem.replace(features=None)
    return decide(
        [problem], lambda p: _start_matters(p, sp.Rational(1, 50)), learner=TD("1/50"),
        says="with a constant step the average's mean error is of the order 1/t and depends on the start, and it counts at that "
        "order where Phi theta* is not the best approximation; LSTD's error has no start",
        proof="the cross term vanishes where Phi theta* is the best approximation" if features == "tabular" else "",
        right="with step sizes that decrease slower than 1/t the limit covariances are equal (averaged-td-as-efficient-as-lstd). The "
        "mean squared errors about the values are equal to the order 1/t, of independent samples, where Phi theta* is the best "
        "approximation; else the mean error of the weights counts at that order, and depends on the start and on the step sizes",
    )  # fmt: skip


def _biased(problem: PolicyEvaluation, sampling: str, alpha: Any) -> Observed | None:
    found = stationary_moments(problem, TD(alpha), sampling=sampling)
    bias = sp.Matrix(found.bias[0])
    return None if bias.is_zero_matrix else {"alpha": sp.sympify(alpha), "bias": bias}


def _small(problem: PolicyEvaluation) -> Any:
    """A step size below the limit on these problems: 1/400 over the size of a feature vector."""
    largest = max(sum(x * x for x in row) for row in problem.Phi.tolist())
    return sp.Rational(1, 400) / max(largest, 1)


@PACK.claim(
    "constant-step-bias-iid",
    cites=("Bhandari et al. 2018",),
    where="asked of its mean: with a constant step its bounds have a floor",
    topic="noise",
    title="With independent samples a constant step size leaves the mean of TD's weights off the fixed point",
    statement=r"\theta_{t+1} = \theta_t + \alpha\delta_t\phi_t,\ (s_t, s_{t+1}) \text{ i.i.d.} \implies "
    r"\lim E[\theta_t] \neq \theta^*",
    setting=Setting(TVR, learner=TD("1/4000")),
)
def constant_step_bias_iid(sampling: str = "iid") -> Outcome:
    """theta_t is independent of the sample, so E[theta_{t+1}] = E[theta_t] + alpha (b - A E[theta_t])."""
    alpha = sp.Rational(1, 4000)

    def violation(problem: PolicyEvaluation) -> Observed | None:
        if _biased(problem, sampling, alpha):
            return None
        return {"alpha": alpha, "bias": sp.zeros(problem.Phi.shape[1], 1)}

    problems = meeting(drawn(20, on_policy=True), Setting(TVR), TD())
    return decide(
        (p for p in problems if p.Phi.shape[1] == 1), violation, learner=TD("1/4000"),
        says="the mean has no bias at all",
        proof="along a trajectory there is one" if sampling == "trajectory" else "",
        right="with independent samples the mean tends to theta* itself, for every step size with which it converges; what a "
        "constant step leaves is a variance, of order alpha. A bias is left along a trajectory (constant-step-bias-trajectory)",
    )  # fmt: skip


def _bias_by_hand(problem: PolicyEvaluation, alpha: Any) -> tuple[Any, Any]:
    """The bias at alpha and its slope at 0, of two states and one feature, by the rule of Cramer.

    y_s = E[(theta - theta*) 1{s}] solves (I - K) y = alpha c, K(s', s) = P(s, s') (1 - alpha a(s, s')) and
    c(s') = sum of xi(s) P(s, s') n(s, s'), with a = phi (phi - gamma phi') and n = delta phi at theta*. The determinant is
    alpha D_1 + alpha^2 D_2, so alpha cancels, and the adjugate is linear in the entries.
    """
    P, xi, gamma = problem.P_pi, problem.xi, problem.discount
    phi, r = problem.Phi, problem.r_pi
    star = dynamics(problem, TD()).fixed_point()[0]
    a = sp.Matrix(2, 2, lambda s, t: phi[s] * (phi[s] - gamma * phi[t]))
    n = sp.Matrix(2, 2, lambda s, t: r[s] * phi[s] - a[s, t] * star)
    c = sp.Matrix([sum(xi[s] * P[s, t] * n[s, t] for s in range(2)) for t in range(2)])
    still, moving = sp.eye(2) - P.T, P.multiply_elementwise(a).T
    ones = sp.ones(1, 2)
    d_1 = (
        still[0, 0] * moving[1, 1]
        + still[1, 1] * moving[0, 0]
        - still[0, 1] * moving[1, 0]
        - still[1, 0] * moving[0, 1]
    )
    at_0, slope = ((ones * M.adjugate() * c)[0] for M in (still, moving))
    if at_0 != 0:
        raise AssertionError("the bias does not vanish with alpha")
    return alpha * slope / (d_1 + alpha * moving.det()), slope / d_1


def _not_linear(problem: PolicyEvaluation, sampling: str, compared: bool) -> Observed | None:
    """The slope of the bias at alpha = 0 where it is 0; the bias by hand against the stationary moments."""
    at = _small(problem)
    by_hand, slope = _bias_by_hand(problem, at)
    if compared or sampling == "iid":
        exact = stationary_moments(problem, TD(at), sampling=sampling).bias[0][0]
        if exact != by_hand:
            return {"bias": exact, "alpha times the slope, and so on": by_hand}
    return {"slope at 0": slope} if slope == 0 else None


@PACK.claim(
    "constant-step-bias-trajectory",
    cites=("Huo, Chen and Xie 2023",),
    topic="noise",
    title="Along a trajectory a constant step size leaves TD a bias that is linear in it: alpha times a vector that is not 0 in "
    "general, up to alpha^2",
    statement=r"\lim_t E[\theta_t] = \theta^* + \alpha B + O(\alpha^2)",
    scope="the theorem is Huo, Chen and Xie's, for a chain with one class; the slope is not 0 on any of these random problems, of two "
    "states and one feature, whose samples are correlated, and is 0 on others",
)
def constant_step_bias_trajectory(sampling: str = "trajectory") -> Outcome:
    """The bias is a rational function of alpha, by hand and, on every tenth problem, from the stationary moments."""
    compared = [_one_feature(k) for k in range(0, 200, 10)]
    return decide(
        (_one_feature(k) for k in range(200)),
        lambda p: _not_linear(p, sampling, p in compared),
        learner=TD(),
    )


def _one_feature(k: int) -> PolicyEvaluation:
    """Two states whose next state depends on the state, so that the samples are correlated."""
    rng = np.random.default_rng(k)
    p, q = (sp.Rational(int(x), 16) for x in rng.integers(1, 16, size=2))
    if p + q == 1:  # the next state would not depend on the state
        q /= 2
    reward, feature = int(rng.integers(1, 9)), int(rng.integers(2, 12))
    return PolicyEvaluation.from_chain(
        [[1 - p, p], [q, 1 - q]], [reward, -reward - int(rng.integers(0, 5))],
        discount=("1/2", "9/10")[k % 2], features=[[1], [feature]],
    )  # fmt: skip


@PACK.claim(
    "larger-lambda-noisier",
    cites=("Kearns and Singh 2000", "Sutton and Barto 2018"),
    where="as a rule of thumb",
    topic="noise",
    title="On-policy a larger lambda makes TD(lambda) noisier: the limit variance of the average grows",
    statement=r"\lambda \le \lambda' \implies \mathrm{tr}(C\,\Gamma_\lambda) \le \mathrm{tr}(C\,\Gamma_{\lambda'})",
    setting=Setting((*TVR, ONE_CLASS), learner=TD(lam=HALF)),
)
def larger_lambda_noisier(pair: tuple[Any, Any] = (0, HALF)) -> Outcome:
    """About each learner's own fixed point, from exact long-run covariances."""
    small, large = (TD(lam=x) for x in pair)

    def violation(problem: PolicyEvaluation) -> Observed | None:
        a, b = (efficiency(problem, x).variance for x in (small, large))
        return {f"variance, lambda = {pair[0]}": a, f"lambda = {pair[1]}": b} if b < a else None

    return decide(
        meeting(drawn(100, on_policy=True, first=8), Setting((*TVR, ONE_CLASS)), large), violation,
        learner=large, proof="equal" if pair[0] == pair[1] else "",
    )  # fmt: skip


def _other_mean(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    lam = getattr(learner, "lam", 0)
    a, b = dynamics(problem, learner), dynamics(problem, TD(lam=lam))
    return None if a.A == b.A and a.b == b.b else {"A": a.A, "A of TD": b.A}


@PACK.claim(
    "true-online-same-mean",
    cites=("Van Seijen et al. 2016",),
    topic="noise",
    title="True online TD(lambda) has the mean update of TD(lambda), to first order in the step size",
    statement=r"E[\Delta\theta] = \alpha(b - A\theta) + O(\alpha^2)\quad\text{with TD}(\lambda)\text{'s } A, b",
    informal="it is read from the derivative in alpha of the shipped rule, which is a program in Python",
)
def true_online_same_mean(lam: Any = None) -> Outcome:
    """The two rules differ by terms of the order alpha^2."""
    learner = TrueOnlineTD(lam=HALF)

    def violation(problem: PolicyEvaluation) -> Observed | None:
        if lam is None:
            return _other_mean(problem, learner)
        a, b = dynamics(problem, learner), dynamics(problem, TD(lam=lam))
        return None if a.A == b.A else {"A": a.A, "A of TD": b.A}

    return decide(
        [*drawn(16, on_policy=True), *drawn(16)], violation, learner=learner,
        proof="its trace differs from TD's by alpha times a term with a finite mean, and the correction alpha (theta_t - theta_{t-1})'phi (e - phi) "
        "is of the order alpha^2, so the slope in alpha at 0 is TD's. Read from the rule itself",
    )  # fmt: skip


def _infinite(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    found = efficiency(problem, learner)
    return None if found.is_finite else {"noise": found.reason}


@PACK.claim(
    "importance-weighted-trace-finite",
    cites=("Munos et al. 2016",),
    where="which cuts traces since it is not so",
    topic="noise",
    title="The noise of off-policy TD(lambda) at its fixed point is finite for every lambda",
    statement=r"\lambda \le 1 \implies \mathrm{tr}\,\Sigma_{TD(\lambda)} < \infty",
    setting=Setting(OFF_POLICY, learner=TD(lam=1)),
)
def importance_weighted_trace_finite(lam: Any = 1) -> Outcome:
    """e is multiplied by gamma lam rho, whose square has the mean 2 (gamma lam)^2 on the two-state example."""
    learner = TD(lam=lam)
    return decide(
        [two_state(reward=1).replace(features=[[1], [3]])], lambda p: _infinite(p, learner), learner=learner,
        says=f"TD({lam}) on the two-state example with reward 1 and the features 1 and 3",
        proof="2 (gamma lambda)^2 < 1 on the two-state example" if 2 * (sp.Rational(9, 10) * lam) ** 2 < 1 else "",
    )  # fmt: skip


@PACK.claim(
    "cut-traces-finite",
    cites=("Munos et al. 2016",),
    topic="noise",
    title="The traces of Retrace and Tree Backup are bounded, so their noise at the fixed point is finite",
    statement=r"\|e_t\| \le \max_s\|\phi(s)\|/(1 - \gamma)",
    setting=Setting(
        (DISCOUNT, A_NONSINGULAR), fails=_infinite,
        learner=Retrace(lam=1), others=(TreeBackup(lam=1),),
    ),
    informal="that the noise is finite is a statement about the long run of a trajectory, and mathcomp's algebra has no such laws",
)  # fmt: skip
def cut_traces_finite(learner: Learner | None = None) -> Outcome:
    """e_t = phi_t + gamma c_{t-1} e_{t-1} with 0 <= c <= 1."""
    problems = [two_state(reward=1).replace(features=[[1], [3]])]
    for one in (Retrace(lam=1), TreeBackup(lam=1)) if learner is None else (learner,):
        given = Setting((A_NONSINGULAR, FULL_RANK))
        outcome = decide(
            [*problems, *meeting(drawn(12), given, one)], lambda p, x=one: _infinite(p, x), learner=one,  # type: ignore[misc]
            proof="e_t = phi_t + gamma c e_{t-1} with 0 <= c <= 1 is bounded by max |phi|/(1 - gamma)",
        )  # fmt: skip
        if outcome.counterexample is not None:
            return outcome
    return outcome
