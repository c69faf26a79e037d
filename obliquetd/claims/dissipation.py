"""Why TD and ETD are stable: one identity, and what follows from it, for every size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import Matrix, parse_number
from obliquetd.claims.assumptions import (
    COVERAGE,
    DISCOUNT,
    FULL_RANK,
    ONE_DISCOUNT,
    ON_POLICY,
    POSITIVE_WEIGHTS,
    STATIONARY,
    VALUES_EXIST,
    Assumption,
)
from obliquetd.claims.battery import decide_identity, letters, off_policy_battery
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.gallery import gallery
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.claims.stable import not_stable, on_moved_span
from obliquetd.claims.words import Theory, letter
from obliquetd.domains.random_problem import random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.learners import ETD, TD, Learner
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

LAMBDAS = tuple(sp.Rational(k, 4) for k in range(5))


def _form(F: Any, G: Any, v: Any) -> Any:
    """v'F(I - G)v, entry by entry."""
    n = len(v)
    return sum(F[i] * v[i] * ((v[i] if i == j else 0) - G[i][j] * v[j]) for i in range(n) for j in range(n))


def _dissipated(F: Any, G: Any, v: Any) -> Any:
    """Half the sum of f_i G_ij (v_i - v_j)^2, and of [(2 - (G1)_i) f_i - (G'f)_i] v_i^2."""
    n = len(v)
    flow = sum(F[i] * G[i][j] * (v[i] - v[j]) ** 2 for i in range(n) for j in range(n)) / 2
    rest = sum(
        ((2 - sum(G[i])) * F[i] - sum(G[k][i] * F[k] for k in range(n))) * v[i] ** 2 for i in range(n)
    )
    return flow + rest / 2


def _one_discount(F: Any, P: Any, v: Any, d: Any, gamma: Any, beta: Any) -> Any:
    """(gamma/2) sum f_i P_ij (v_i - v_j)^2 + sum ((1 - gamma/2) f_i - (gamma/(2 beta)) (f_i - d_i)) v_i^2."""
    n = len(v)
    flow = sum(F[i] * P[i][j] * (v[i] - v[j]) ** 2 for i in range(n) for j in range(n))
    own = [(1 - gamma / 2) * F[i] - gamma / (2 * beta) * (F[i] - d[i]) for i in range(n)]
    return gamma / 2 * flow + sum(a * x**2 for a, x in zip(own, v, strict=True))


def _draw(n: int, rng: np.random.Generator, stochastic: bool) -> tuple[Any, Any, Any]:
    """P with rows that sum to one (or to anything), weights d, and values v: small rationals."""
    rows = rng.integers(0, 5, size=(n, n))
    rows[:, 0] += 1
    P = [[sp.Rational(int(x), int(row.sum()) if stochastic else 3) for x in row] for row in rows]
    d, v = (
        [sp.Rational(int(x), 3) for x in rng.integers(low, 7, size=n)] for low in (1, -6)
    )
    return P, d, v


def _identity_gap(problem: PolicyEvaluation) -> Observed | None:
    """Both sides with the problem's own kernel, d = xi, beta = 2/3 and v = 1, 2, 3, ..."""
    n, gamma, beta = len(problem.states), problem.discount, sp.Rational(2, 3)
    P, d, v = problem.P_pi.tolist(), list(problem.xi), [sp.Integer(i + 1) for i in range(n)]
    f = list((sp.eye(n) - beta * problem.P_pi.T).LUsolve(problem.xi))
    left = _form(f, (sp.eye(n) - problem.L_pi).tolist(), v)
    right = _one_discount(f, P, v, d, gamma, beta)
    return None if left == right else {"left side": left, "right side": right}


def _carried(gap: Any) -> Counterexample:
    """A gap in a formula, carried by the two-state example."""
    found = Counterexample.find([two_state()], lambda _: {"gap": gap})
    assert found is not None
    return found


@claim(
    "dissipation-identity",
    where="Sections I and IV (who is stable)",
    title="v'F(I - gamma P)v is a sum of squares and of v_i^2 with explicit weights (one discount)",
    statement=r"v^\top F(I - \gamma P)v = \tfrac{\gamma}{2}\sum_{ij} f_iP_{ij}(v_i - v_j)^2 + "
    r"\sum_i\big((1 - \tfrac{\gamma}{2})f_i - \tfrac{\gamma}{2\beta}(f_i - d_i)\big)v_i^2,\quad "
    r"f = d + \beta P^\top f,\ P1 = 1,\ \beta > 0",
    setting=Setting((ONE_DISCOUNT,), fails=lambda p, _: _identity_gap(p)),
)
def dissipation_identity(half: Any = sp.Rational(1, 2)) -> Outcome:
    """Insert -v_i v_j = ((v_i - v_j)^2 - v_i^2 - v_j^2)/2 into each term f_i gamma P_ij v_i v_j.

    The squares v_i^2 collect gamma/2 f_i (P1)_i = gamma/2 f_i; the v_j^2 collect gamma/2 (P'f)_j, and
    P'f = (f - d)/beta. So it is one polynomial identity in v_i and v_j, summed: it holds for every size.
    At beta = gamma, with d = xi, the second weight is ((1 - gamma) f_i + xi_i)/2 > 0, which is ETD; with f = xi
    stationary, d = (1 - beta) xi, it is (1 - gamma) xi_i, which is TD on-policy. ``half`` is the factor in the
    inserted identity.
    """
    a, b = sp.symbols("v_i v_j")
    term = sp.expand(-a * b - half * ((a - b) ** 2 - a**2 - b**2))
    if term != 0:
        return refuted(_carried(term), f"v_i v_j is not what is inserted: the gap is {term}")
    rng = np.random.default_rng(8)
    sizes = (1, 2, 3, 4, 5, 6)
    gamma, beta = sp.Rational(9, 10), sp.Rational(2, 3)
    for n in sizes:
        P, d, v = _draw(n, rng, stochastic=True)
        f = list((sp.eye(n) - beta * sp.Matrix(P).T).LUsolve(sp.Matrix(d)))
        G = [[gamma * x for x in row] for row in P]
        whole = _form(f, G, v)
        if not whole == _one_discount(f, P, v, d, gamma, beta) == _dissipated(f, G, v):
            raise AssertionError("the identity fails on an instance")
    return Outcome(
        Verdict.PROVED,
        "-v_i v_j = ((v_i - v_j)^2 - v_i^2 - v_j^2)/2 in each term, P1 = 1 and P'f = (f - d)/beta; exact on random "
        f"instances of sizes {sizes}, gamma = 9/10, beta = 2/3",
    )


@claim(
    "dissipation-identity-per-transition",
    where="Sections I and IV (who is stable)",
    title="The same for a discount of each transition: G in place of gamma P, rows of any sum",
    statement=r"v^\top F(I - G)v = \tfrac12\sum_{ij} f_iG_{ij}(v_i - v_j)^2 + "
    r"\tfrac12\sum_i\big((2 - (G1)_i)f_i - (G^\top f)_i\big)v_i^2",
)
def dissipation_per_transition(columns: int = 1) -> Outcome:
    """As dissipation-identity, with nothing assumed of G and f: G_ij = sum over a of pi(a|i) p g.

    With f = d + G'f the second weight is ((1 - (G1)_i) f_i + d_i)/2, which is positive where d > 0, f >= 0
    and no discount exceeds 1. ``columns`` multiplies G'f.
    """
    n = 2
    v = sp.symbols("v1:3")
    f = sp.symbols("f1:3")
    G = [list(sp.symbols(f"g1{i} g2{i}")) for i in (1, 2)]
    shift = (columns - 1) * sum(sum(G[k][i] * f[k] for k in range(n)) * v[i] ** 2 for i in range(n)) / 2
    gap = sp.expand(_form(f, G, v) - _dissipated(f, G, v) + shift)
    if gap != 0:
        return refuted(_carried(gap), f"for two states the gap is {gap}")
    rng = np.random.default_rng(9)
    sizes = (1, 2, 3, 4, 5, 6)
    for size in sizes:
        P, d, values = _draw(size, rng, stochastic=False)
        if _form(d, P, values) != _dissipated(d, P, values):
            raise AssertionError("the identity fails on an instance")
    return Outcome(
        Verdict.PROVED,
        "the same polynomial identity in each term, with nothing assumed of G; with all entries free for two states, "
        f"and exact on random instances of sizes {sizes}",
    )


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
            raise AssertionError(f"{learner.name} is not stable where data moves it, on {problem!r}")
    return len(problems)


def _resolvent() -> None:
    """N (I - G) = I - (1 - lambda) N G for N = (I - lambda G)^-1: with lambda free, and on values at 1/2."""
    lam = sp.Symbol("lambda")
    N, G, one = letter("N", "n n"), letters.P, letters.Id
    rule = (N @ G, (1 / lam) * (N - one))
    left, right = N @ (one - G), one - (1 - lam) * (N @ G)
    at = {lam: sp.Rational(1, 2)}

    def resolvent(problem: PolicyEvaluation, values: dict[str, Matrix]) -> None:
        unit = problem._ops.arithmetic.identity(problem._ops.n)
        half = problem._ops.arithmetic.scalar(parse_number(at[lam]))
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
    problems: Sequence[PolicyEvaluation], learners: Sequence[Learner], given: Sequence[Assumption], proof: str
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
    where="Section I ('TD converges when samples are drawn on-policy')",
    origin="paper",
    title="TD is stable on-policy: every eigenvalue of Phi'Xi L Phi has a positive real part",
    statement=r"\pi = \pi_b \implies x^\top\Xi(I - \gamma P_\pi)x > 0\ (x \neq 0)",
    setting=Setting(
        TD_GIVEN, fails=not_stable, learner=TD(), without={"xi stationary": lambda: (single_action(), TD())}
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
    where="Section I ('TD converges when samples are drawn on-policy'), for TD(lambda)",
    title="TD(lambda) is stable on-policy for every lambda",
    statement=r"\pi = \pi_b \implies x^\top\Xi(I - \lambda\gamma P_\pi)^{-1}(I - \gamma P_\pi)x > 0\ (x \neq 0)",
    setting=Setting(
        TD_GIVEN, fails=not_stable, learner=TD(lam=LAMBDAS[2]), others=_with_lambdas(TD),
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
    where="Abstract ('emphatic TD algorithms are off-policy stable'), for ETD(lambda)",
    title="ETD(lambda) is stable for every lambda and every behaviour with coverage",
    statement=r"x^\top M(I - P^\lambda_\pi)x > 0\ (x \neq 0),\quad m = (I - P_\pi^{\lambda\top})^{-1}\xi",
    setting=Setting(ETD_GIVEN, fails=not_stable, learner=ETD(lam=LAMBDAS[2]), others=_with_lambdas(ETD)),
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
