"""Gradient TD: GTD2 and TDC, for every size."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import public_number
from obliquetd.claims.assumptions import (
    A_NONSINGULAR,
    COVERAGE,
    DISCOUNT,
    FULL_RANK,
    LAMBDA_0,
    POSITIVE_WEIGHTS,
    STATIONARY,
    Assumption,
)
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.gallery import gallery
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.claims.stable import not_stable
from obliquetd.domains.baird import baird_star
from obliquetd.domains.random_problem import random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.dynamics import mean_dynamics, stability_region
from obliquetd.learners import GTD2, TD, TDC, Learner
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

A_TENTH_ABOVE = sp.Rational(11, 10)
RANK_FOLLOWS = (
    "Phi v = 0 gives Delta phi'v = 0 and so A v = 0: A non-singular implies it. So does it imply that C is "
    "non-singular: C v = 0 gives phi(s)'v = 0 where xi(s) > 0, and so v'A = 0"
)
MOVED = (
    "Modulo ker Phi, along which no value moves, independent columns are not needed: on the row space of Phi the same "
    "proof holds if A is non-singular there"
)


def _blocks(problem: PolicyEvaluation, learner: Learner) -> tuple[sp.Matrix, sp.Matrix, sp.Matrix]:
    """The whole matrix of (theta, w), and its blocks A and C over mu, for mu = 1 or a symbol."""
    whole = mean_dynamics(problem, learner).A
    d = problem.Phi.shape[1]
    mu = sp.sympify(public_number(learner.values["mu"]))
    return whole, whole[d:, :d] / mu, whole[d:, d:] / mu


def _schur(problem: PolicyEvaluation, learner: Learner, corrected: bool) -> bool:
    """det(zI - M) = det(z^2 I - z (mu C [+ A]) + mu A A'), the blocks taken from the rule."""
    z = sp.Symbol("z")
    whole, A, C = _blocks(problem, learner)
    mu, d = sp.sympify(public_number(learner.values["mu"])), A.rows
    left = (z * sp.eye(2 * d) - whole).det(method="berkowitz")
    middle = mu * C + (A if corrected else sp.zeros(d, d))
    right = (z**2 * sp.eye(d) - z * middle + mu * A * A.T).det(method="berkowitz")
    return bool(sp.expand(left - right) == 0)


def _half_plane() -> bool:
    """Re(z + c/z) = Re z (1 + c/|z|^2): for c > 0 its sign is that of Re z."""
    x, y, c = sp.symbols("x y c", real=True)
    size = x**2 + y**2
    reciprocal = (x - sp.I * y) / size  # 1/z
    return bool(
        sp.simplify(sp.re(sp.expand(x + sp.I * y + c * reciprocal)) - x * (1 + c / size)) == 0
    )


def _problems() -> list[PolicyEvaluation]:
    return [
        two_state(),
        baird_star(corners=2),
        random_problem(3, 2, seed=61),
        random_problem(3, 1, seed=62),
    ]


def _not_everywhere(make: Callable[..., Learner]) -> tuple[PolicyEvaluation, sp.Set] | None:
    """The first problem on which the learner is not stable for every mu > 0, with the region."""
    for problem in _problems():
        region = stability_region(problem, make(mu="mu"), "mu")
        if region != sp.Interval.open(0, sp.oo):
            return problem, region
    return None


def _inside(region: sp.Set) -> sp.Rational:
    """A ratio mu below the region."""
    return sp.Rational(str(np.format_float_positional(float(region.inf) / 2)))


@claim(
    "gtd2-off-policy-stable",
    formal="gradient",
    where="Abstract and Section I ('gradient TD ... off-policy stable'), for GTD2",
    origin="paper",
    title="GTD2 is stable for every ratio mu of its step sizes",
    statement=r"\mathrm{Re}\,\lambda\begin{bmatrix}0&-A^\top\\ \mu A&\mu C\end{bmatrix} > 0"
    r"\quad \forall\mu > 0",
    setting=Setting(
        (A_NONSINGULAR, FULL_RANK, COVERAGE),
        fails=not_stable,
        learner=GTD2(mu=1),
        others=(GTD2(mu=sp.Rational(1, 10)),),
        without={"A non-singular": lambda: (two_state(discount="5/6"), GTD2(mu=1))},
        implied={"full rank": RANK_FOLLOWS},
    ),
    beside=MOVED,
)
def gtd2_off_policy_stable(make: Callable[..., Learner] = GTD2) -> Outcome:
    """For every size, mu > 0 and lambda. Let (u, w) be an eigenvector with eigenvalue z.

    -A'w = z u and mu A u + mu C w = z w. (1) z != 0, since A is non-singular: z = 0 gives w = 0, then
    u = 0. (2) w != 0, else u = 0. (3) Multiply the second line by z and by w*, |w| = 1, and put in
    z u = -A'w: z^2 - mu z w*Cw + mu |A'w|^2 = 0. (4) w*Cw > 0, as A non-singular makes C positive definite, and
    |A'w|^2 > 0. (5) Divide by z: z + c/z = b with c = mu |A'w|^2 > 0 and b = mu w*Cw > 0, and
    Re(z + c/z) = Re z (1 + c/|z|^2), so Re z > 0. The elimination is det(zI - M) = det(z^2 I - mu z C + mu A A'),
    which is checked with z and mu free.
    """
    if not _half_plane():
        raise AssertionError("Re(z + c/z) is not Re z (1 + c/|z|^2)")
    failed = _not_everywhere(make)
    if failed is not None:
        problem, region = failed
        learner = make(mu=_inside(region))
        found = Counterexample.find([problem], lambda p: not_stable(p, learner), learner)
        assert found is not None
        return refuted(found, f"on {problem!r} it is stable exactly for mu in {region}")
    problems = [p for p in _problems() if p.native.Phi.shape[1] <= 2]
    if not all(_schur(p, make(mu="mu"), corrected=False) for p in problems):
        raise AssertionError("the elimination of u fails")
    return Outcome(
        Verdict.PROVED,
        "an eigenvector (u, w) has z^2 |w|^2 - mu z w*Cw + mu |A'w|^2 = 0 with w != 0, w*Cw > 0 and A'w != 0, so "
        "z + c/z = b with b, c > 0, and Re(z + c/z) = Re z (1 + c/|z|^2) gives Re z > 0. With z and mu free, det(zI - M) = "
        f"det(z^2 I - mu z C + mu A A') on {len(problems)} problems; the region in mu is (0, oo), exactly, on "
        f"{len(_problems())}",
    )


def _dominates(problem: PolicyEvaluation, learner: Learner | None) -> bool:
    """Whether mu C + (A + A')/2 is positive definite, by its leading minors."""
    assert learner is not None
    _, A, C = _blocks(problem, learner)
    H = sp.sympify(public_number(learner.values["mu"])) * C + (A + A.T) / 2
    return all(H[:k, :k].det() > 0 for k in range(1, H.rows + 1))


MU_LARGE = Assumption("mu large", "mu C + (A + A')/2 is positive definite", _dominates)
TDC_GIVEN = (A_NONSINGULAR, MU_LARGE, FULL_RANK, COVERAGE)
LAMBDAS = tuple(sp.Rational(k, 2) for k in range(3))


def _correction(problem: PolicyEvaluation, lam: sp.Rational) -> Observed | None:
    """TDC's block of w, (1 - lambda) E[g phi' e'] in its rule, against C - A' with A that of TD(lambda)."""
    whole, A, C = _blocks(problem, TDC(mu=1, lam=lam))
    d = A.rows
    td = mean_dynamics(problem, TD(lam=lam)).A
    if whole[:d, :d] == A == td and problem.C == C and whole[:d, d:] == C - td.T:
        return None
    return {"block of w": whole[:d, d:], "C - A'": C - td.T, "A of TD": td, "A of TDC": A}


@claim(
    "tdc-stable-for-large-mu",
    formal="gradient",
    where="Abstract and Section I ('gradient TD ... off-policy stable'), for TDC",
    origin="paper",
    title="TDC(lambda) is stable for every ratio mu with mu C + (A + A')/2 positive definite",
    statement=r"\mathrm{Re}\,\lambda\begin{bmatrix}A&C - A^\top\\ \mu A&\mu C\end{bmatrix} > 0"
    r"\quad\text{where}\ \mu C + \tfrac12(A + A^\top) \succ 0",
    setting=Setting(
        TDC_GIVEN,
        fails=not_stable,
        learner=TDC(mu=1),
        without={
            "A non-singular": lambda: (two_state(discount="5/6"), TDC(mu=1)),
            "mu large": lambda: (two_state(), TDC(mu=sp.Rational(1, 100))),
        },
        implied={"full rank": RANK_FOLLOWS},
    ),
    beside=MOVED
    + ". On-policy with xi > 0 and discounts below 1, A + A' is positive definite, and every mu > 0 will do",
)
def tdc_stable_for_large_mu(scale: Any = A_TENTH_ABOVE) -> Outcome:
    """As gtd2-off-policy-stable, with one more term. For every size and lambda.

    (0) TDC(lambda)'s blocks are A, C - A', mu A, mu C with A that of TD(lambda). Its rule subtracts
    (1 - lambda) g phi'(e'w). On a stationary trajectory e_t = rho_t (phi_t + lambda g_t e_{t-1}) and E[rho_t | past] = 1
    give E[phi e'] = C + lambda E[g phi' e']; so C - A' = C - E[phi e'] + E[g phi' e'] = (1 - lambda) E[g phi' e'].
    For lambda = 0 no trajectory is needed. (1)
    z u = A u + (C - A')w and z w = mu (A u + C w) give u = w/mu - A'w/z, and so
    z^2 - z (w*Aw + mu w*Cw) + mu |A'w|^2 = 0 for |w| = 1: z + c/z = b with c = mu |A'w|^2 > 0 and
    Re b = w*(mu C + (A + A')/2)w > 0, hence Re z > 0. Such mu exist, as C is positive definite: all
    above -lambda_min of C^-1 (A + A')/2. ``scale`` multiplies that bound in the test.
    """
    problems = [two_state(), random_problem(3, 2, seed=61), random_problem(3, 1, seed=62)]
    traced = [*problems, *(p for p in gallery()[:16] if STATIONARY.holds(p) and DISCOUNT.holds(p))]
    for lam in LAMBDAS:
        if any(_correction(p, lam) for p in traced):
            raise AssertionError(f"the blocks of TDC({lam}) are not A, C - A', mu A, mu C")
        drawn = problems if not lam else problems[::2]  # two features with mu free: once
        if not all(_schur(p, TDC(mu="mu", lam=lam), corrected=True) for p in drawn):
            raise AssertionError("the elimination of u fails")
    if not _half_plane():
        raise AssertionError("Re(z + c/z) is not Re z (1 + c/|z|^2)")
    tried = 0
    for (k, problem), lam in product(enumerate([*problems, *gallery()[:25]]), LAMBDAS):
        if (lam and k > 4) or not A_NONSINGULAR.holds(problem, TDC(mu=1, lam=lam)):
            continue
        bound = _bound(problem, lam)
        learner = TDC(mu=scale * bound if bound > 0 else sp.Rational(1, 100), lam=lam)
        if scale >= 1 and not MU_LARGE.holds(problem, learner):
            raise AssertionError("the bound on mu is not one")
        found = Counterexample.find([problem], lambda p, one=learner: not_stable(p, one), learner)  # type: ignore[misc]
        if found is not None:
            return refuted(found, f"{learner!r} on {problem!r}: {told(found.observed)}")
        tried += 1
    return Outcome(
        Verdict.PROVED,
        "on a stationary trajectory E[phi_t e_t'] = C + lambda E[g phi_{t+1} e_t'], so TDC(lambda)'s blocks are A, C - A', mu A, mu C with A "
        f"that of TD(lambda) (exact at lambda = 0, 1/2, 1 on {len(traced)} problems). An eigenvector has z + c/z = w*Aw + mu w*Cw for |w| = 1 and c = mu |A'w|^2 > 0, whose real part is that of "
        "w*(mu C + (A + A')/2)w > 0. With z and mu free, det(zI - M) = det(z^2 I - z (A + mu C) + mu A A') on "
        f"{len(problems)} problems; stable a tenth above the bound on mu in {tried} cases",
    )


def _bound(problem: PolicyEvaluation, lam: sp.Rational) -> sp.Rational:
    """A rational a little above -lambda_min of C^-1 (A + A')/2."""
    _, A, C = _blocks(problem, TDC(mu=1, lam=lam))
    H = np.array(((A + A.T) / 2).tolist(), float)
    least = np.linalg.eigvals(np.linalg.solve(np.array(C.tolist(), float), H)).real.min()
    return sp.Rational(str(round(-float(least) + 1e-6, 9)))


@claim(
    "tdc-off-policy-stable",
    where="Abstract and Section I ('gradient TD ... off-policy stable'), asked for every mu",
    title="TDC is stable for every ratio mu of its step sizes",
    statement=r"\mathrm{Re}\,\lambda\begin{bmatrix}A&C - A^\top\\ \mu A&\mu C\end{bmatrix} > 0"
    r"\quad \forall\mu > 0",
    setting=Setting(
        (A_NONSINGULAR, FULL_RANK, COVERAGE, STATIONARY, POSITIVE_WEIGHTS, DISCOUNT, LAMBDA_0),
        learner=TDC(mu=1),
    ),
)
def tdc_off_policy_stable(make: Callable[..., Learner] = TDC) -> Outcome:
    """Decide the region in mu."""
    failed = _not_everywhere(make)
    if failed is None:
        return Outcome(
            Verdict.VERIFIED,
            f"the region of stability in mu is (0, oo), exactly, on {len(_problems())} problems",
        )
    problem, region = failed
    learner = make(mu=_inside(region))

    def violation(candidate: PolicyEvaluation) -> Observed | None:
        seen = not_stable(candidate, learner)
        return (
            None
            if seen is None
            else {"mu": sp.sympify(public_number(learner.values["mu"])), **seen}
        )

    found = Counterexample.find([problem], violation, learner)
    return Outcome(
        Verdict.CORRECTED,
        f"on {problem!r} it is stable exactly for mu in {region}",
        {},
        found,
        "TDC is stable once mu = beta/alpha is large enough, where A is non-singular: mu C + (A + A')/2 positive "
        "definite suffices (tdc-stable-for-large-mu); the threshold depends on the problem. GTD2 is stable for every "
        "mu > 0 there (gtd2-off-policy-stable).",
    )
