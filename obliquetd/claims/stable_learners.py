"""Why TD and ETD are stable, for every lambda and every size: what follows from dissipation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy as sp

from obliquetd.algebra import Matrix, parse_number
from obliquetd.claims.assumptions import (
    COVERAGE,
    DISCOUNT,
    FULL_RANK,
    ON_POLICY,
    POSITIVE_WEIGHTS,
    STATIONARY,
    VALUES_EXIST,
    Assumption,
)
from obliquetd.claims.battery import decide_identity, letters, off_policy_battery
from obliquetd.claims.claim import Counterexample, Outcome, Verdict, refuted, told
from obliquetd.claims.gallery import gallery
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.claims.stable import not_stable, on_moved_span
from obliquetd.domains.random_problem import random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.learners import ETD, TD, Learner
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation
from obliquetd.words import Theory, letter

__all__: list[str] = []

LAMBDAS = tuple(sp.Rational(k, 4) for k in range(5))
"""The trace parameters that are tested."""


def single_action(discount: str = "9/10") -> PolicyEvaluation:
    """On-policy w to 2w with weights of the user's own, (1/2, 1/2), which no policy has."""
    mdp = MDP.from_transitions([("left", "a", "right", 1, 0), ("right", "a", "right", 1, 0)])
    return PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features=[[1], [2]], discount=discount, xi=["1/2", "1/2"]
    )


def _with_lambdas(make: Callable[..., Learner]) -> tuple[Learner, ...]:
    return tuple(make(lam=lam) for lam in LAMBDAS)


MOVED = (
    "Modulo what no data moves, xi > 0 and independent columns are not needed: on the span of the phi(s) with "
    "xi(s) > 0, into which A maps, v'Av is bounded below by a positive multiple of the sum of xi_s v_s^2, which is "
    "0 for no v there but 0"
)


def _stable_where_moved(learner: Learner, given: Sequence[Assumption]) -> int:
    """Problems that meet the assumptions but for xi > 0 and full rank; A is stable on the moved span."""
    others = [a for a in given if a not in (POSITIVE_WEIGHTS, FULL_RANK)]
    problems = [
        p for p in gallery()
        if all(a.holds(p, learner) for a in others)
        and not (POSITIVE_WEIGHTS.holds(p) and FULL_RANK.holds(p))
    ][:30]  # fmt: skip
    for problem in problems:
        if on_moved_span(problem, learner) in ("unstable", "marginal"):
            raise AssertionError(
                f"{learner.name} is not stable where data moves it, on {problem!r}"
            )
    return len(problems)


def _resolvent() -> None:
    """N (I - G) = I - (1 - lambda) N G for N = (I - lambda G)^-1: with lambda free, and on values at 1/2."""
    lam = sp.Symbol("lambda")
    N, G, one = letter("N", "n n"), letters.P, letters.Id
    rule = (N @ G, (1 / lam) * (N - one))
    left, right = N @ (one - G), one - (1 - lam) * (N @ G)
    at = {lam: sp.Rational(1, 2)}

    def resolvent(problem: PolicyEvaluation, values: dict[str, Matrix]) -> None:
        unit = problem.native.arithmetic.identity(problem.native.n)
        half = problem.native.arithmetic.scalar(parse_number(at[lam]))
        values["N"] = (unit - values["P"].scaled(half)).solve(unit)

    tested = decide_identity(
        [("the resolvent", left.subs(at), right.subs(at))],
        rules=[(rule[0], rule[1].subs(at))],
        extra=resolvent,
        problems=off_policy_battery(),
    )
    if not (Theory([rule]).proves(left, right) and tested.verdict is Verdict.PROVED):
        raise AssertionError("the resolvent identity is not proved")


TD_GIVEN = (ON_POLICY, STATIONARY, POSITIVE_WEIGHTS, FULL_RANK, DISCOUNT)
ETD_GIVEN = (COVERAGE, STATIONARY, POSITIVE_WEIGHTS, FULL_RANK, VALUES_EXIST)


def _on_policy() -> list[PolicyEvaluation]:
    drawn = [p for p in gallery() if not Setting(TD_GIVEN).unmet(p)][:12]
    return [
        *(
            random_problem(n, d, seed=50 + n + d, on_policy=True, deterministic=det)
            for n, d, det in ((2, 1, False), (3, 2, False), (4, 3, False), (3, 3, True))
        ),
        *drawn,
    ]


def _decide(
    problems: Sequence[PolicyEvaluation],
    learners: Sequence[Learner],
    given: Sequence[Assumption],
    proof: str,
) -> Outcome:
    """Refuted where a learner is not stable; else proved, with the count of what was tested."""
    for learner in learners:
        found = Counterexample.find(problems, lambda p, one=learner: not_stable(p, one), learner)  # type: ignore[misc]
        if found is not None:
            return refuted(found, f"{learner!r} on {found.problem()!r}: {told(found.observed)}")
    rest = _stable_where_moved(learners[-1], given)
    return Outcome(
        Verdict.PROVED,
        f"{proof}. Also exact on {len(problems)} problems, from the rule, and on {rest} without xi > 0 or independent "
        "columns, where A is stable on the span that data moves",
    )


@claim(
    "td-on-policy-stable",
    formal="dissipation",
    where="Section I ('TD converges when samples are drawn on-policy')",
    origin="paper",
    title="TD is stable on-policy: every eigenvalue of Phi'Xi L Phi has a positive real part",
    statement=r"\pi = \pi_b \implies x^\top\Xi(I - \gamma P_\pi)x > 0\ (x \neq 0)",
    setting=Setting(
        TD_GIVEN,
        fails=not_stable,
        learner=TD(),
        without={"xi stationary": lambda: (single_action(), TD())},
    ),
    beside=MOVED,
)
def td_on_policy_stable(policy: str = "on-policy") -> Outcome:
    """The dissipation identity with f = xi (Tsitsiklis and Van Roy 1997 have the theorem).

    Let G = P with each transition times its discount, at most gamma < 1. Then (G1)_i <= gamma, and
    (G'xi)_i <= gamma xi_i as xi is stationary for P, so
    v'Xi(I - G)v >= 1/2 sum ((2 - gamma) xi_i - gamma xi_i) v_i^2 = (1 - gamma) sum xi_i v_i^2, which is positive for
    v = Phi x, x != 0, where xi > 0 and the columns are independent. A real matrix with x'Ax > 0 has
    eigenvalues of positive real part only. Discounts of single transitions are allowed.
    """
    problems = _on_policy() if policy == "on-policy" else [two_state()]
    return _decide(
        problems, (TD(),), TD_GIVEN,
        "by dissipation-identity-per-transition with f = xi, v'Xi(I - G)v >= (1 - gamma) sum of xi_i v_i^2, since G1 <= "
        "gamma and G'xi <= gamma xi",
    )  # fmt: skip


@claim(
    "td-lambda-on-policy-stable",
    formal="dissipation",
    where="Section I ('TD converges when samples are drawn on-policy'), for TD(lambda)",
    title="TD(lambda) is stable on-policy for every lambda",
    statement=r"\pi = \pi_b \implies x^\top\Xi(I - \lambda\gamma P_\pi)^{-1}(I - \gamma P_\pi)x > 0\ (x \neq 0)",
    setting=Setting(
        TD_GIVEN,
        fails=not_stable,
        learner=TD(lam=LAMBDAS[2]),
        others=_with_lambdas(TD),
        without={"xi stationary": lambda: (single_action(), TD())},
    ),
    beside=MOVED,
)
def td_lambda_on_policy_stable(policy: str = "on-policy") -> Outcome:
    """The same with G_lambda = (1 - lambda) N G in place of G, N = (I - lambda G)^-1.

    (1) A = Phi'Xi N (I - G) Phi (trace-form), and N (I - G) = I - G_lambda, by rewriting. (2) N = sum of
    (lambda G)^k, so G_lambda = (1 - lambda) sum of lambda^k G^(k+1) is nonnegative. (3) From G1 <= gamma 1,
    G_lambda 1 <= c 1 with c = (1 - lambda) gamma/(1 - lambda gamma) < 1; from G'xi <= gamma xi, G_lambda'xi <= c xi.
    So v'Xi(I - G_lambda)v >= (1 - c) sum xi_i v_i^2. At lambda = 1, G_lambda = 0 and the form is |v|_Xi^2.
    """
    _resolvent()
    problems = _on_policy() if policy == "on-policy" else [two_state()]
    learners = _with_lambdas(TD) if policy == "on-policy" else (TD(lam=LAMBDAS[1]),)
    return _decide(
        problems, learners, TD_GIVEN,
        "rewriting proves N (I - G) = I - (1 - lambda) N G for N = (I - lambda G)^-1; G_lambda = (1 - lambda) N G is "
        "nonnegative, its rows sum to c < 1 at most and G_lambda'xi <= c xi, so the identity gives v'Xi(I - G_lambda)v "
        ">= (1 - c) sum of xi_i v_i^2. Tested at lambda = 0, 1/4, 1/2, 3/4, 1",
    )  # fmt: skip


@claim(
    "etd-off-policy-stable",
    formal="dissipation",
    where="Abstract ('emphatic TD algorithms are off-policy stable')",
    origin="paper",
    title="ETD is stable for every behaviour with coverage",
    statement=r"x^\top\mathrm{diag}(f)(I - \gamma P_\pi)x > 0\ (x \neq 0),\quad f = (I - \gamma P_\pi^\top)^{-1}\xi",
    setting=Setting(ETD_GIVEN, fails=not_stable, learner=ETD()),
    beside=MOVED,
)
def etd_off_policy_stable(learner: Learner = ETD()) -> Outcome:  # noqa: B008 - a frozen record
    """The dissipation identity with f = xi + G'f (Sutton, Mahmood and White 2016 have the theorem).

    f = sum of (G')^k xi >= xi, and (G'f)_i = f_i - xi_i, (G1)_i <= 1, so
    v'F(I - G)v >= 1/2 sum ((1 - (G1)_i) f_i + xi_i) v_i^2 >= 1/2 sum xi_i v_i^2. It holds for
    discounts up to 1 where the values exist, and for discounts of single transitions.
    """
    return _decide(
        _off_policy(), (learner,), ETD_GIVEN,
        "by dissipation-identity-per-transition with f = xi + G'f, v'F(I - G)v >= 1/2 sum of xi_i v_i^2, since f >= xi "
        "and G1 <= 1",
    )  # fmt: skip


def _off_policy() -> list[PolicyEvaluation]:
    return [*off_policy_battery(), *[p for p in gallery() if not Setting(ETD_GIVEN).unmet(p)][:12]]


@claim(
    "etd-lambda-off-policy-stable",
    formal="dissipation",
    where="Abstract ('emphatic TD algorithms are off-policy stable'), for ETD(lambda)",
    title="ETD(lambda) is stable for every lambda and every behaviour with coverage",
    statement=r"x^\top M(I - P^\lambda_\pi)x > 0\ (x \neq 0),\quad m = (I - P_\pi^{\lambda\top})^{-1}\xi",
    setting=Setting(
        ETD_GIVEN, fails=not_stable, learner=ETD(lam=LAMBDAS[2]), others=_with_lambdas(ETD)
    ),
    beside=MOVED,
)
def etd_lambda_off_policy_stable(make: Callable[..., Learner] = ETD) -> Outcome:
    """As for ETD, with G_lambda in place of G: m = xi + G_lambda'm (etd-lambda-forward-view).

    G_lambda >= 0 and G_lambda 1 <= (1 - lambda) sum of lambda^k = 1; its eigenvalues (1 - lambda) g/(1 - lambda g) are
    inside the unit circle where those g of G are, so m = sum of (G_lambda')^k xi >= xi exists, and
    v'M(I - G_lambda)v >= 1/2 sum xi_i v_i^2. At lambda = 1, m = xi.
    """
    _resolvent()
    return _decide(
        _off_policy(), _with_lambdas(make), ETD_GIVEN,
        "A = Phi'M(I - G_lambda)Phi with m = xi + G_lambda'm (etd-lambda-forward-view), G_lambda = (1 - lambda) (I - lambda "
        "G)^-1 G nonnegative with rows of sum 1 at most, so m >= xi and the identity gives v'M(I - G_lambda)v >= 1/2 sum of "
        "xi_i v_i^2. Tested at lambda = 0, 1/4, 1/2, 3/4, 1",
    )  # fmt: skip
