"""Why TD and ETD are stable: one identity, and what follows from it, for every size."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from obliquetd.claims.assumptions import (
    ONE_DISCOUNT,
)
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.domains.two_state import two_state
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

HALF = sp.Rational(1, 2)


def _form(F: Any, G: Any, v: Any) -> Any:
    """v'F(I - G)v, entry by entry."""
    n = len(v)
    return sum(
        F[i] * v[i] * ((v[i] if i == j else 0) - G[i][j] * v[j]) for i in range(n) for j in range(n)
    )


def _dissipated(F: Any, G: Any, v: Any) -> Any:
    """Half the sum of f_i G_ij (v_i - v_j)^2, and of [(2 - (G1)_i) f_i - (G'f)_i] v_i^2."""
    n = len(v)
    flow = sum(F[i] * G[i][j] * (v[i] - v[j]) ** 2 for i in range(n) for j in range(n)) / 2
    rest = sum(
        ((2 - sum(G[i])) * F[i] - sum(G[k][i] * F[k] for k in range(n))) * v[i] ** 2
        for i in range(n)
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
    d, v = ([sp.Rational(int(x), 3) for x in rng.integers(low, 7, size=n)] for low in (1, -6))
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
    formal="dissipation",
    where="Sections I and IV (who is stable)",
    title="v'F(I - gamma P)v is a sum of squares and of v_i^2 with explicit weights (one discount)",
    statement=r"v^\top F(I - \gamma P)v = \tfrac{\gamma}{2}\sum_{ij} f_iP_{ij}(v_i - v_j)^2 + "
    r"\sum_i\big((1 - \tfrac{\gamma}{2})f_i - \tfrac{\gamma}{2\beta}(f_i - d_i)\big)v_i^2,\quad "
    r"f = d + \beta P^\top f,\ P1 = 1,\ \beta > 0",
    setting=Setting((ONE_DISCOUNT,), fails=lambda p, _: _identity_gap(p)),
)
def dissipation_identity(half: Any = HALF) -> Outcome:
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
    formal="dissipation",
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
    shift = (
        (columns - 1) * sum(sum(G[k][i] * f[k] for k in range(n)) * v[i] ** 2 for i in range(n)) / 2
    )
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
