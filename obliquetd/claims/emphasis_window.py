"""ETD with a decay beta of its own for the follow-on trace, and how small it may be.

Hallak, Tamar, Munos and Mannor (2016): f = xi + beta P'f, and A = Phi'diag(f)(I - gamma P)Phi.
beta = gamma is ETD, beta = 0 is TD; a smaller beta has less variance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from obliquetd.algebra.factoring import factored
from obliquetd.claims.assumptions import COVERAGE, DISCOUNT, FULL_RANK, POSITIVE_WEIGHTS
from obliquetd.claims.battery import off_policy_battery
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.gallery import gallery
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.claims.stable import verdict_on
from obliquetd.domains.two_state import two_state
from obliquetd.errors import SingularError
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

GIVEN = (COVERAGE, POSITIVE_WEIGHTS, FULL_RANK, DISCOUNT)

NO_WINDOW = (
    "f = xi + beta P'f sums to 1/(1 - beta), so max (f - xi)/f >= beta, that is 1 - kappa >= beta: gamma^2 (1 - kappa) < beta "
    "is met for no beta < 1 at gamma = 1, where nothing is stated"
)

Beta = Callable[[Any], Any]


def _emphasis(problem: PolicyEvaluation, beta: Any) -> sp.Matrix:
    """f = (I - beta P')^-1 xi."""
    system = sp.eye(len(problem.states)) - beta * problem.P_pi.T
    if system.det() == 0:
        raise SingularError(f"f = xi + beta P'f has no solution at beta = {beta}")
    return system.LUsolve(sp.Matrix(problem.xi))


def _key(problem: PolicyEvaluation, beta: Any) -> sp.Matrix:
    """A = Phi'diag(f)(I - gamma P)Phi."""
    return problem.Phi.T * sp.diag(*_emphasis(problem, beta)) * problem.L_pi * problem.Phi


def _fails(problem: PolicyEvaluation, beta: Beta) -> Observed | None:
    at = beta(problem.discount)
    A = _key(problem, at)
    verdict = verdict_on(A)
    return None if verdict == "stable" else {"beta": at, "A": A, "it is": verdict}


def _window_ends(problem: PolicyEvaluation, beta: Any) -> tuple[Any, int]:
    """gamma^2 (1 - kappa) with kappa = min xi/f over the states with f != 0, and 1."""
    f = _emphasis(problem, beta)
    kappa = min(w / x for w, x in zip(problem.xi, f, strict=True) if x)
    return problem.discount**2 * (1 - kappa), 1


def in_window(problem: PolicyEvaluation, beta: Any) -> bool:
    """The premise gamma^2 (1 - kappa) < beta < 1."""
    low, high = _window_ends(problem, beta)
    return bool(low < beta < high)


def _fails_inside(problem: PolicyEvaluation, _learner: Any = None) -> Observed | None:
    """The implication, at some beta of its window."""
    gamma = problem.discount
    for beta in (gamma**2, (1 + gamma**2) / 2, sp.Rational(1, 2)):
        if 0 < beta < 1 and in_window(problem, beta):
            seen = _fails(problem, lambda _, at=beta: at)  # type: ignore[misc]
            if seen is not None:
                return seen
    return None


def _square(gamma: Any) -> Any:
    return gamma**2


def _windows(problem: PolicyEvaluation) -> dict[str, sp.Set]:
    """For one feature: the exact window of beta in (0, 1), Hallak's, and that of dissipation-identity."""
    beta, gamma = sp.Symbol("beta", positive=True), problem.discount
    f = _emphasis(problem, beta)
    inside = sp.Interval.open(0, 1)

    def where(*positive: Any) -> sp.Set:
        solved = [sp.solveset(sp.together(e) > 0, beta, inside) for e in positive]
        return sp.Intersection(*solved)

    # kappa = min xi/f; each bound has to hold for every state
    loss = [1 - w / x for w, x in zip(problem.xi, f, strict=True)]
    return {
        "exact": where(factored(_key(problem, beta)[0])),
        "gamma^2 (1 - kappa) < beta": where(*[beta - gamma**2 * x for x in loss]),
        "gamma (1 - kappa)/(2 - gamma) < beta": where(
            *[beta - gamma / (2 - gamma) * x for x in loss]
        ),
    }


@claim(
    "etd-beta-window",
    formal="dissipation",
    where="Section IV, with Hallak, Tamar, Munos and Mannor (2016)",
    title="ETD(0, beta) is stable for every beta from gamma^2 up to, but without, 1",
    statement=r"0 < \beta < 1,\ \gamma^2(1 - \kappa) < \beta,\ \kappa = \min_s \xi(s)/f(s) \implies "
    r"x^\top\mathrm{diag}(f)(I - \gamma P_\pi)x > 0,\quad f = \xi + \beta P_\pi^\top f",
    setting=Setting(GIVEN, fails=_fails_inside, implied={"discount < 1": NO_WINDOW}),
    beside="beta < 1 is part of the premise: on the two-state example at beta = 2, kappa = -1/3 and gamma^2 (1 - kappa) = "
    "27/25 < 2, and A = -1. kappa > 0, so the window holds gamma^2; it is sufficient, and the exact one depends on the problem",
)
def etd_beta_window(beta: Beta = _square) -> Outcome:
    """P is a contraction in the f-norm, up to a factor (Hallak et al. 2016, Lemma 1). For every size.

    (1) By Jensen, (Pv)_i^2 <= sum_j P_ij v_j^2, so |Pv|_f^2 <= sum_j (P'f)_j v_j^2 = (1/beta) sum (f_j - xi_j) v_j^2
    <= ((1 - kappa)/beta) |v|_f^2. (2) With G the discounted chain, |Gv| <= gamma P|v| entry by entry, so by
    Cauchy and Schwarz v'F G v <= gamma sqrt((1 - kappa)/beta) |v|_f^2. (3) Hence v'F(I - G)v > 0 for
    v != 0 where gamma^2 (1 - kappa) < beta < 1, which holds for beta >= gamma^2, since kappa > 0 where xi > 0
    (f is finite for beta < 1). dissipation-identity gives the smaller window gamma (1 - kappa)/(2 - gamma) < beta.
    The file for Coq needs no root: g v_i v_j <= (v_i^2 + gamma^2 v_j^2)/2 for a discount g up to gamma, and
    f_i P_ij summed over i is (f_j - xi_j)/beta, so twice the form is at least sum (f_j - gamma^2 (f_j - xi_j)/beta) v_j^2.
    ``beta`` makes the claimed beta of gamma.
    """
    problems = [*off_policy_battery(), *[p for p in gallery() if not Setting(GIVEN).unmet(p)][:30]]
    found = Counterexample.find(problems, lambda p: _fails(p, beta))
    if found is not None:
        return refuted(found, f"on {found.problem()!r}: {told(found.observed)}")
    windows = _windows(two_state())
    return Outcome(
        Verdict.PROVED,
        "|Pv|_f^2 <= ((1 - kappa)/beta) |v|_f^2 by Jensen and f = xi + beta P'f, so v'F(I - gamma P)v >= (1 - gamma sqrt((1 - "
        f"kappa)/beta)) |v|_f^2. Also exact at beta = gamma^2 on {len(problems)} problems. On the two-state example the "
        "windows of beta are " + "; ".join(f"{name}: {window}" for name, window in windows.items()),
    )
