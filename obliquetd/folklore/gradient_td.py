"""Gradient TD: GTD2, TDC and hybrid TD."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from obliquetd.claims.assumptions import (
    A_NONSINGULAR,
    COVERAGE,
    FULL_RANK,
    ON_POLICY,
    dynamics,
)
from obliquetd.claims.claim import Observed, Outcome, Verdict
from obliquetd.claims.gradient import A_TENTH_ABOVE, gtd2_off_policy_stable, tdc_stable_for_large_mu
from obliquetd.claims.setting import Setting
from obliquetd.claims.stable import not_stable, unstable
from obliquetd.domains.two_state import two_state
from obliquetd.folklore.errors import TVR
from obliquetd.folklore.judge import decide, drawn, meeting
from obliquetd.folklore.pack import PACK
from obliquetd.learners import (
    GTD2,
    HTD,
    TD,
    TDC,
    Learner,
)
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

IN_PAPER = "Coq accepts its algebra in the pack of the paper, whose {} it is"


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
    formal="folklore",
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
    formal="folklore",
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
