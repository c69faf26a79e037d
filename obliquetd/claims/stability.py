"""Who is stable: the paper's sentences on convergence, decided on the expected update.

The counterexamples to SETD's stability are model files of the package, found by
``obliquetd search`` and shrunk to the smallest integers it could reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import Matrix
from obliquetd.claims.battery import letters, off_policy_battery
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.registry import claim
from obliquetd.claims.words import Theory, Word, letter
from obliquetd.domains.baird import baird_star
from obliquetd.domains.random_problem import random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.dynamics import check_certificate, mean_dynamics, stability_region
from obliquetd.dynamics.stability import definiteness
from obliquetd.errors import ObliqueTDError
from obliquetd.formats import load_model
from obliquetd.learners import GTD2, SETD, TD, TDC, Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["shipped_model"]


def shipped_model(name: str) -> PolicyEvaluation:
    """A counterexample that the package ships: ``"setd_off_policy"`` or ``"setd_on_policy"``."""
    with resources.as_file(resources.files("obliquetd.claims") / "models" / f"{name}.json") as path:
        return load_model(path)


def _unstable(
    learner: Learner, but_stable: Learner | None = None
) -> Callable[[PolicyEvaluation], Observed | None]:
    """What shows that a learner is unstable, with a certificate that was checked."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        dyn = mean_dynamics(problem, learner)
        if dyn.stability.verdict != "unstable" or not check_certificate(dyn.certificate()):
            return None
        seen: dict[str, Any] = {"Phi": problem.Phi, "P_pi": problem.P_pi, "A": dyn.A}
        if but_stable is not None:
            other = mean_dynamics(problem, but_stable)
            if not other.is_stable():
                return None
            seen[f"A of {but_stable.name}, stable"] = other.A
        return seen

    return violation


def _hunt(problems: Sequence[PolicyEvaluation], other: Learner | None, where: str) -> Outcome:
    found = Counterexample.find(problems, _unstable(SETD(), other))
    if found is None:
        return Outcome(Verdict.VERIFIED, f"stable on {len(problems)} problems, {where}")
    return refuted(
        found,
        f"{where}, {found.problem()!r}: {told(found.observed)}; an eigenvalue of A has a negative real "
        "part (the certificate was checked with fractions alone). The paper's text holds no proof",
    )


@claim(
    "setd-off-policy-stable",
    where="Section I ('The off-policy stability is rigorously proved'), Conclusion (1)",
    title="SETD is off-policy stable",
    statement=r"\forall(\pi,\pi_b,\Phi):\ \mathrm{Re}\,\lambda(A_{SETD}) > 0",
)
def setd_off_policy_stable(model: str = "setd_off_policy") -> Outcome:
    """Three states, two features, uniform xi, a deterministic target, where TD is stable."""
    problem = two_state() if model == "two-state" else shipped_model(model)
    return _hunt([problem], TD(), "off-policy")


@claim(
    "setd-on-policy-stable",
    where="Section V ('on-policy efficiency')",
    title="SETD is stable on-policy, where TD is",
    statement=r"\pi = \pi_b \implies \mathrm{Re}\,\lambda(A_{SETD}) > 0",
)
def setd_on_policy_stable(model: str = "setd_on_policy") -> Outcome:
    """Three states, two features, on-policy."""
    problem = (
        random_problem(3, 2, seed=5, on_policy=True) if model == "random" else shipped_model(model)
    )
    return _hunt([problem], TD(), "on-policy")


@claim(
    "setd-one-feature-never-unstable",
    where="Section III-C, Eq. (omega-i) with d = 1",
    title="With one feature SETD's expected update is never unstable",
    statement=r"d = 1 \implies A_{SETD} = \sum \xi\,\pi\,P\,\phi^2\,[\phi\,\Delta\phi > 0] \ge 0",
)
def setd_one_feature(features: int = 1) -> Outcome:
    """omega phi Delta phi = max(phi/Delta phi, 0) phi Delta phi, which is phi^2 or 0."""
    phi, delta = sp.symbols("phi delta")
    term = sp.cancel(delta * phi / delta**2 * phi * delta - phi**2)

    def violation(problem: PolicyEvaluation) -> Observed | None:
        try:
            return _unstable(SETD())(problem)
        except ObliqueTDError:
            return None

    problems = [random_problem(n, 1, seed=40 + n) for n in (2, 3, 4)] + [two_state()]
    if features != 1:
        problems = [shipped_model("setd_off_policy")]
    found = Counterexample.find(problems, violation)
    if found is not None:
        return refuted(found)
    if term != 0:
        raise AssertionError("omega phi Delta phi is not phi^2")
    return Outcome(
        Verdict.PROVED,
        "a sampled term of A is omega phi Delta phi = phi^2 where phi Delta phi > 0 and 0 elsewhere, and "
        "its weight xi pi P is nonnegative, so A >= 0; A = 0 (marginal) only where no transition has "
        f"phi Delta phi > 0. Also exact on {len(problems)} problems",
    )


one = letter("1", "n 1")
Xi, L, Phi = letters.Xi, letters.L, letters.Phi
P1 = letter("P", "n n")
gamma = sp.Symbol("gamma")


def _dominant(key: Word, theory: Theory, rows: Word, columns: Word) -> bool:
    """Whether rewriting gives the claimed row sums K 1 and column sums 1'K of a key matrix K."""
    return theory.proves(key @ one, rows) and theory.proves(one.T @ key, columns)


def _definite(
    problems: Sequence[PolicyEvaluation], weights: Callable[[PolicyEvaluation], Matrix]
) -> Counterexample | None:
    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem._ops
        key = ops.L_pi.scale_rows(weights(problem))
        form = ops.Phi.T @ key @ ops.Phi
        kind = definiteness(form)
        return None if kind == "positive definite" else {"Phi' K Phi": form.public(), "it is": kind}

    return Counterexample.find(problems, violation)


@claim(
    "td-on-policy-stable",
    where="Section I ('TD converges when samples are drawn on-policy')",
    title="TD is stable on-policy: Phi'Xi L Phi is positive definite (one discount below 1)",
    statement=r"\pi = \pi_b,\ \gamma < 1 \implies x^\top\Xi(I - \gamma P_\pi)x > 0",
)
def td_on_policy_stable(policy: str = "on-policy") -> Outcome:
    """Row and column sums of Xi (I - gamma P) are (1 - gamma) xi (Tsitsiklis and Van Roy 1997).

    Its entries off the diagonal are <= 0, so the symmetric part is strictly diagonally
    dominant with a positive diagonal wherever xi > 0: positive definite for every size.
    """
    problems = [
        random_problem(n, d, seed=50 + n + d, on_policy=True, deterministic=det)
        for n, d, det in ((2, 1, False), (3, 2, False), (4, 3, False), (3, 3, True))
    ]
    if policy != "on-policy":
        problems = [two_state()]
    found = _definite(problems, lambda p: p._ops.xi)
    if found is not None:
        return refuted(found)
    theory = Theory([(P1 @ one, one), (one.T @ Xi @ P1, one.T @ Xi)])
    key = Xi - gamma * (Xi @ P1)
    proved = _dominant(key, theory, (1 - gamma) * (Xi @ one), (1 - gamma) * (one.T @ Xi))
    return Outcome(
        Verdict.PROVED if proved else Verdict.VERIFIED,
        "with P 1 = 1 and xi'P = xi', rewriting proves that rows and columns of K = Xi (I - gamma P) "
        "sum to (1 - gamma) xi > 0; entries off the diagonal are <= 0, so K + K' is strictly "
        f"diagonally dominant. Also exact on {len(problems)} on-policy problems",
    )


@claim(
    "etd-off-policy-stable",
    where="Abstract ('emphatic TD algorithms are off-policy stable')",
    title="ETD's key matrix is positive definite for every behaviour with coverage",
    statement=r"x^\top\mathrm{diag}(f)(I - \gamma P_\pi)x > 0,\quad f = (I - \gamma P_\pi^\top)^{-1}\xi",
)
def etd_off_policy_stable(weights: str = "f") -> Outcome:
    """Column sums f'L = xi', row sums (1 - gamma) f (Sutton, Mahmood and White 2016).

    Both are positive where xi > 0, since f >= xi; entries off the diagonal are <= 0.
    """
    problems = off_policy_battery()
    choose: Callable[[PolicyEvaluation], Matrix] = (
        (lambda p: p._ops.f) if weights == "f" else (lambda p: p._ops.xi)
    )
    found = _definite(problems, choose)
    if found is not None:
        return refuted(found)
    F = letter("F", "n n", symmetric=True)  # diag(f)
    # f'L = xi' reads 1'F - gamma 1'F P = 1'Xi; the rule carries gamma on its right side
    theory = Theory([(P1 @ one, one), (one.T @ F @ P1, (1 / gamma) * (one.T @ F - one.T @ Xi))])
    key = F - gamma * (F @ P1)
    proved = _dominant(key, theory, (1 - gamma) * (F @ one), one.T @ Xi)
    return Outcome(
        Verdict.PROVED if proved else Verdict.VERIFIED,
        "with P 1 = 1 and f'(I - gamma P) = xi', rewriting proves that the columns of K = diag(f)(I - "
        "gamma P) sum to xi > 0 and its rows to (1 - gamma) f >= (1 - gamma) xi > 0; entries off the "
        f"diagonal are <= 0, so K + K' is strictly diagonally dominant. Also exact on {len(problems)} "
        "problems",
    )


def _gradient(
    learner: Callable[[str], Learner], problems: Sequence[PolicyEvaluation]
) -> tuple[PolicyEvaluation, sp.Set] | None:
    """The first problem on which the learner is not stable for every mu > 0, with the region."""
    for problem in problems:
        region = stability_region(problem, learner("mu"), "mu")
        if region != sp.Interval.open(0, sp.oo):
            return problem, region
    return None


def _for_every_mu(make: Callable[..., Learner]) -> Outcome:
    problems = [
        two_state(),
        baird_star(corners=2),
        random_problem(3, 2, seed=61),
        random_problem(3, 1, seed=62),
    ]
    failed = _gradient(lambda mu: make(mu=mu), problems)
    if failed is None:
        return Outcome(
            Verdict.VERIFIED,
            f"the region of stability in mu is (0, oo), exactly, on {len(problems)} problems",
        )
    problem, region = failed
    inside = sp.Rational(str(np.format_float_positional(float(region.inf) / 2)))

    def violation(candidate: PolicyEvaluation) -> Observed | None:
        dyn = mean_dynamics(candidate, make(mu=inside))
        return None if dyn.is_stable() else {"mu": inside, "A": dyn.A}

    found = Counterexample.find([problem], violation)
    return Outcome(
        Verdict.CORRECTED,
        f"on {problem!r} it is stable exactly for mu in {region}",
        {},
        found,
        "TDC is stable once mu = beta/alpha is large enough; the threshold depends on the problem. "
        "GTD2 is stable for every mu > 0 (gtd2-off-policy-stable).",
    )


@claim(
    "gtd2-off-policy-stable",
    where="Abstract ('gradient TD ... off-policy stable')",
    title="GTD2 is stable for every ratio mu of its step sizes",
    statement=r"\mathrm{Re}\,\lambda\begin{bmatrix}0&-A^\top\\ \mu A&\mu C\end{bmatrix} > 0"
    r"\quad \forall\mu > 0",
)
def gtd2_off_policy_stable(make: Callable[..., Learner] = GTD2) -> Outcome:
    """Decide the region in mu."""
    return _for_every_mu(make)


@claim(
    "tdc-off-policy-stable",
    where="Abstract ('gradient TD ... off-policy stable')",
    title="TDC is stable for every ratio mu of its step sizes",
    statement=r"\mathrm{Re}\,\lambda\begin{bmatrix}A&C - A^\top\\ \mu A&\mu C\end{bmatrix} > 0"
    r"\quad \forall\mu > 0",
)
def tdc_off_policy_stable(make: Callable[..., Learner] = TDC) -> Outcome:
    """Decide the region in mu."""
    return _for_every_mu(make)
