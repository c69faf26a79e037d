"""Fitted iterations: FQI, target networks, averagers."""

from __future__ import annotations

import sympy as sp

from obliquetd.claims.assumptions import (
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
from obliquetd.claims.stable import unstable, verdict_on
from obliquetd.domains.random_problem import random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.dynamics import FQI, PFQI, iteration
from obliquetd.errors import SingularError
from obliquetd.estimators import Averager
from obliquetd.folklore.aggregation import SOFT, soft_two_state
from obliquetd.folklore.errors import OFF_POLICY
from obliquetd.folklore.judge import decide, drawn, meeting
from obliquetd.folklore.pack import PACK
from obliquetd.learners import TD
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []


def _fqi(problem: PolicyEvaluation) -> bool:
    return iteration(problem, FQI()).is_convergent()


def _td(problem: PolicyEvaluation) -> bool:
    return verdict_on(dynamics(problem, TD()).A) == "stable"


def _seen(problem: PolicyEvaluation) -> Observed:
    return {"A": dynamics(problem, TD()).A, "I - C^-1 A": iteration(problem, FQI()).factor}


@PACK.claim(
    "fqi-on-policy",
    cites=("Bertsekas and Yu 2009",),
    topic="iterations",
    title="On-policy fitted Q-iteration with linear features converges",
    statement=r"\pi = \pi_b \implies \rho(I - C^{-1}A) < 1",
    setting=Setting(
        (ON_POLICY, STATIONARY, POSITIVE_WEIGHTS, FULL_RANK, DISCOUNT),
        fails=lambda p, _l: None if _fqi(p) else _seen(p),
    ),
    formal="norms",
)
def fqi_on_policy(policy: str = "on-policy") -> Outcome:
    """Phi theta' = Pi T Phi theta, and Pi T contracts in the norm of xi."""
    return decide(
        [two_state()] if policy == "off-policy" else drawn(40, on_policy=True),
        lambda p: None if _fqi(p) else _seen(p),
        proof="Phi theta' = Pi T Phi theta; on-policy T contracts by gamma in the norm of xi, and Pi does not expand",
    )  # fmt: skip


@PACK.claim(
    "fqi-diverges-where-td-does",
    topic="iterations",
    title="Where off-policy TD diverges, so does fitted Q-iteration",
    statement=r"\rho(I - C^{-1}A) < 1 \implies \mathrm{Re}\,\lambda(A) > 0",
    setting=Setting(OFF_POLICY, learner=TD()),
)
def fqi_diverges_where_td_does(features: str = "several") -> Outcome:
    """C^-1 A may be stable where A is not; with one feature it is a / c, with the sign of a."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        return _seen(problem) if _fqi(problem) and unstable(problem, TD()) else None

    problems = drawn(400, first=2410)
    if features == "one":
        return decide(
            (p for p in drawn(100) if p.Phi.shape[1] == 1), violation,
            proof="with one feature |1 - a/c| < 1 and c > 0 give a > 0",
        )  # fmt: skip
    return decide(meeting(problems, Setting(OFF_POLICY)), violation, learner=TD())


@PACK.claim(
    "td-diverges-where-fqi-does",
    topic="iterations",
    title="Where fitted Q-iteration diverges, so does off-policy TD",
    statement=r"\mathrm{Re}\,\lambda(A) > 0 \implies \rho(I - C^{-1}A) < 1",
    setting=Setting(OFF_POLICY, learner=TD()),
)
def td_diverges_where_fqi_does(policy: str = "off-policy") -> Outcome:
    """TD may take small steps, and fitted iteration takes whole ones: a > 2 c."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        return _seen(problem) if _td(problem) and not _fqi(problem) else None

    if policy == "on-policy":
        return decide(drawn(20, on_policy=True), violation, proof="by fqi-on-policy")
    return decide(meeting(drawn(400, first=225), Setting(OFF_POLICY)), violation, learner=TD())


# --- target networks ----------------------------------------------------------------------------


COPIES = (1, 2, 4, 8, 16, 64, 256, 1024)


def _never(problem: PolicyEvaluation) -> Observed | None:
    """A factor above 1 for each number of inner updates."""
    factors = {k: iteration(problem, PFQI("1/10", k)).factor[0] for k in COPIES}
    if min(abs(f) for f in factors.values()) < 1:
        return None
    return {
        "factor of FQI": iteration(problem, FQI()).factor[0],
        **{f"factor of {k} updates": sp.N(factors[k], 8) for k in (1, 16, 1024)},
    }


@PACK.claim(
    "target-network-stabilises",
    cites=("Mnih et al. 2015", "Van Hasselt et al. 2018"),
    where="as a rule of thumb",
    topic="iterations",
    title="A target network that is copied rarely enough makes off-policy TD converge",
    statement=r"\exists k_0\ \forall k \ge k_0:\quad \rho(I - M_kA) < 1",
    setting=Setting(OFF_POLICY),
)
def target_network_stabilises(discount: str = "9/10") -> Outcome:
    """With one feature the factor of k updates is 1 - (1 - (1 - alpha c)^k) a/c, above 1 for every k where a < 0."""
    problem = two_state(discount)
    k, alpha = 7, sp.Rational(1, 10)
    a, c = dynamics(problem, TD()).A[0], problem.C[0]
    assert iteration(problem, PFQI(alpha, k)).factor[0] == 1 - (1 - (1 - alpha * c) ** k) * a / c
    assert iteration(problem, FQI()).factor[0] == 6 * sp.Rational(discount) / 5
    return decide(
        [problem], _never,
        says="as k grows it becomes FQI, whose factor on the two-state example is 6 gamma/5; before, it is 1 - (1 - (1 - "
        "alpha c)^k) a/c with a < 0, above 1 for every k",
        proof="" if a < 0 else "6 gamma/5 < 1 on the two-state example",
    )  # fmt: skip


def _large_k(problem: PolicyEvaluation, updates: int = 512) -> Observed | None:
    alpha = 1 / problem.C.trace()  # at most 1 over the largest eigenvalue of C
    it = iteration(problem, PFQI(alpha, updates))
    if it.is_convergent():
        return None
    return {"updates": updates, "alpha": alpha, "FQI converges": str(_fqi(problem))}


FQI_CONVERGES = Assumption(
    "FQI converges",
    "every eigenvalue of I - C^-1 A is inside the unit circle",
    lambda p, _l: _fqi(p),
)


@PACK.claim(
    "target-network-when",
    topic="iterations",
    title="A target network that is copied rarely enough converges where fitted Q-iteration does, for alpha below 2 over the "
    "largest eigenvalue of C",
    statement=r"\rho(I - C^{-1}A) < 1,\ 0 < \alpha < 2/\lambda_{\max}(C) \implies \exists k_0\ \forall k \ge k_0:\ "
    r"\rho(I - M_kA) < 1",
    setting=Setting(
        (FULL_RANK, POSITIVE_WEIGHTS, FQI_CONVERGES), fails=lambda p, _l: _large_k(p),
        without={"FQI converges": lambda: (two_state(), None)},
    ),
    informal="it is a statement about a limit, and mathcomp's algebra has no limits",
)  # fmt: skip
def target_network_when(converges: bool = True) -> Outcome:
    """M_k = (I - (I - alpha C)^k) C^-1 tends to C^-1, and a spectral radius is continuous. Tested at k = 512."""
    problems = [p for p in drawn(40) if p.Phi.shape[1] < 3 and _fqi(p)]
    return decide(
        problems if converges else [two_state()], _large_k,
        proof="M_k = (I - (I - alpha C)^k) C^-1 tends to C^-1 as k grows, so I - M_k A tends to FQI's factor, and spectral radii are "
        "continuous. Tested at k = 512",
    )  # fmt: skip


@PACK.claim(
    "copying-more-rarely-is-safer",
    cites=("Van Hasselt et al. 2018",),
    where="as a rule of thumb",
    topic="iterations",
    title="Where a target network that is copied every k updates converges, so does one that is copied more rarely",
    statement=r"\rho(I - M_kA) < 1,\ k \le k' \implies \rho(I - M_{k'}A) < 1",
    setting=Setting(OFF_POLICY),
)
def copying_more_rarely_is_safer(policy: str = "off-policy") -> Outcome:
    """Where TD is stable and FQI is not."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        alpha = 1 / (20 * max(problem.C.trace(), 1))
        found = {k: iteration(problem, PFQI(alpha, k)).is_convergent() for k in (1, 8, 64, 512)}
        for a, b in zip(found, list(found)[1:], strict=False):
            if found[a] and not found[b]:
                return {"alpha": alpha, "converges": f"for k = {a}", "diverges": f"for k = {b}"}
        return None

    if policy == "on-policy":
        return decide(
            (p for p in drawn(20, on_policy=True) if p.Phi.shape[1] == 1), violation,
            proof="with one feature, on-policy, 0 < a/c <= 1 + gamma, and the factor is between those of TD and FQI",
        )  # fmt: skip
    return decide(meeting(drawn(400, first=225), Setting(OFF_POLICY)), violation)


# --- averagers ----------------------------------------------------------------------------------


def _averager(seed: int) -> PolicyEvaluation:
    """A drawn off-policy problem with random nonnegative features whose rows sum to 1."""
    import numpy as np

    base = random_problem(4, 2, seed=3000 + seed, discount="99/100")
    rows = np.random.default_rng(seed).integers(0, 5, size=(4, 2)) + np.eye(4, 2, dtype=int)
    total = [int(max(row.sum(), 1)) for row in rows]
    return base.replace(
        features=[[sp.Rational(int(x), t) for x in row] for row, t in zip(rows, total, strict=True)]
    )


def _sweep_factor(problem: PolicyEvaluation) -> sp.Matrix:
    """D^-1 Phi'Xi P_gamma Phi, D the masses of the features, from the definition."""
    xi = sp.diag(*problem.xi)
    ahead = problem.Phi.T * xi * (sp.eye(len(problem.states)) - problem.L_pi) * problem.Phi
    mass = problem.Phi.T * problem.xi
    if not all(mass):
        raise SingularError("a feature has no mass")
    return sp.diag(*[1 / m for m in mass]) * ahead


def _expands(problem: PolicyEvaluation) -> Observed | None:
    F = _sweep_factor(problem)
    largest = max(sum(abs(x) for x in row) for row in F.tolist())
    if largest <= problem.discount:
        if all(x >= 0 for x in F) and Averager().contraction(problem) != largest:
            raise AssertionError("the estimator's contraction is another number")
        return None
    return {"factor": F, "largest row sum": largest}


@PACK.claim(
    "averagers-never-diverge",
    cites=("Gordon 1995",),
    topic="iterations",
    title="Fitted iteration with an averager never diverges: a sweep contracts by the discount in the largest norm, on- and "
    "off-policy",
    statement=r"\phi \ge 0,\ \textstyle\sum_j\phi_j \le 1 \implies \|D^{-1}\Phi^\top\Xi\gamma P\Phi\|_\infty \le \gamma",
    setting=Setting(
        (SOFT, FULL_RANK, POSITIVE_WEIGHTS, DISCOUNT), fails=lambda p, _l: _expands(p),
        without={"averager": lambda: (two_state(reward=1), None)},
    ),
    formal="folklore",
)  # fmt: skip
def averagers_never_diverge(fit: str = "average") -> Outcome:
    """D^-1 Phi'Xi has rows that sum to 1, P_gamma to gamma at most, and Phi to 1 at most, all nonnegative."""
    if fit == "least squares":
        return decide(
            [soft_two_state()],
            lambda p: None if _fqi(p) else _seen(p),
            says="least squares with the same features is FQI",
        )  # fmt: skip
    return decide(
        (_averager(k) for k in range(40)), _expands,
        proof="D^-1 Phi'Xi, P_gamma and Phi are nonnegative, and their rows sum to 1, gamma and 1 at most",
    )  # fmt: skip
