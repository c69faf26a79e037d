"""What the span of the features can do: realizable, complete, larger, in another basis."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from obliquetd.claims.assumptions import (
    A_NONSINGULAR,
    DISCOUNT,
    FULL_RANK,
    POSITIVE_WEIGHTS,
    VALUES_EXIST,
    Assumption,
    dynamics,
)
from obliquetd.claims.claim import Observed, Outcome
from obliquetd.claims.setting import Setting
from obliquetd.claims.stable import not_stable, unstable
from obliquetd.domains.baird import baird_star
from obliquetd.domains.random_problem import random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.errors import SingularError
from obliquetd.folklore.errors import OFF_POLICY, STABLE, TVR
from obliquetd.folklore.judge import decide, drawn, error, meeting, squared
from obliquetd.folklore.pack import PACK
from obliquetd.learners import TD, Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["COMPLETE", "REALIZABLE", "complete"]


def _in_span(Phi: sp.Matrix, columns: sp.Matrix) -> bool:
    return bool(sp.Matrix.hstack(Phi, columns).rank() == Phi.rank())


REALIZABLE = Assumption(
    "v in the span",
    "the values are a combination of the features",
    lambda problem, _learner: _in_span(problem.Phi, problem.v_pi),
)
COMPLETE = Assumption(
    "complete span",
    "T maps the span of the features into itself",
    lambda problem, _learner: _in_span(
        problem.Phi,
        sp.Matrix.hstack(problem.r_pi, problem.Phi - problem.L_pi * problem.Phi),
    ),
)
INVARIANT = Assumption(
    "P maps the span into itself",
    "P_gamma Phi is in the span of the features",
    lambda p, _l: _in_span(p.Phi, p.Phi - p.L_pi * p.Phi),
)
ORTHOGONAL = Assumption(
    "C = c I",
    "Phi'Xi Phi is a positive multiple of the identity",
    lambda p, _l: p.C[0, 0] > 0 and (p.C - p.C[0, 0] * sp.eye(p.C.rows)).is_zero_matrix,
)


def complete(seed: int, discount: Any = "9/10") -> PolicyEvaluation:
    """Four states in two classes, whose transitions and rewards depend on the class alone.

    The features are a random basis of the functions of the class, so T maps their span into itself. The
    weights are drawn, which no policy need have: the sentence is about all of them.
    """
    rng = np.random.default_rng(seed)
    between = [[int(k), 5 - int(k)] for k in rng.integers(1, 5, size=2)]
    rows = []
    for s in range(4):
        row = []
        for c in range(2):
            k = int(rng.integers(0, 4))
            row += [sp.Rational(between[s // 2][c] * x, 15) for x in (k, 3 - k)]
        rows.append(row)
    rewards = rng.integers(-3, 4, size=2)
    while True:
        basis = rng.integers(-3, 4, size=(2, 2))
        if abs(int(basis[0, 0] * basis[1, 1] - basis[0, 1] * basis[1, 0])):
            break
    return PolicyEvaluation.from_chain(
        rows, [int(rewards[s // 2]) for s in range(4)], discount=discount,
        features=[[int(x) for x in basis[s // 2]] for s in range(4)],
        xi=[int(x) for x in rng.integers(1, 9, size=4)],
    )  # fmt: skip


def _along(problem: PolicyEvaluation) -> tuple[sp.Matrix, ...]:
    """Matrices X: those of TD and of the residual gradient, and one drawn for the problem."""
    n, d = problem.Phi.shape
    seed = sum((k + 1) * int(sp.numer(x)) for k, x in enumerate(problem.Phi)) % 1000
    draw = sp.Matrix(np.random.default_rng(seed).integers(-3, 4, size=(n, d)).tolist())
    xi = sp.diag(*problem.xi)
    return xi * problem.Phi, xi * problem.L_pi * problem.Phi, draw


def _not_exact(problem: PolicyEvaluation, _learner: Learner | None = None) -> Observed | None:
    """The first X whose projected equation has a solution other than v."""
    for X in _along(problem):
        try:
            v_hat = problem.fixed_point(X=X).v_hat
        except SingularError:
            continue  # this projection has no fixed point
        if v_hat != problem.v_pi:
            return {"X": X, "v_hat": v_hat, "v": problem.v_pi}
    return None


EVERY_X = (FULL_RANK, POSITIVE_WEIGHTS, VALUES_EXIST)


@PACK.claim(
    "realizable-exact",
    cites=("Scherrer 2010",),
    where="by its view of the fixed points as oblique projections",
    topic="errors",
    title="Where the values are in the span of the features, every oblique projection that has a fixed point finds them",
    statement=r"v = \Phi t,\ \det X^\top L\Phi \neq 0 \implies \Phi\theta_X = v",
    setting=Setting((*EVERY_X, REALIZABLE), fails=_not_exact),
    formal="folklore",
)
def realizable_exact(tilt: int = 0) -> Outcome:
    """X'L Phi theta = X'r = X'L v = X'L Phi t, whose one solution is t."""
    return decide(
        (_realizable(k, tilt) for k in range(40)), _not_exact,
        proof="X'L Phi theta = X'r = X'L v = X'L Phi t, so theta = t where X'L Phi is non-singular. TD's X, the residual "
        "gradient's and a random one each",
    )  # fmt: skip


def _realizable(seed: int, tilt: int = 0) -> PolicyEvaluation:
    """A drawn problem whose first feature is v, off by ``tilt`` in the first state."""
    base = random_problem(3, 2, seed=seed, deterministic=seed % 2 == 0)
    v, Phi = base.v_pi, base.Phi
    first = [x + (tilt if s == 0 else 0) for s, x in enumerate(v)]
    columns = sp.Matrix([[a, b] for a, b in zip(first, Phi[:, 1], strict=True)])
    if columns.rank() < 2:
        columns[0, 1] += 1
    return base.replace(features=columns.tolist())


@PACK.claim(
    "complete-span-exact",
    cites=("Munos and Szepesvari 2008",),
    where="whose inherent Bellman error is 0 then",
    topic="errors",
    title="Where the Bellman operator maps the span into itself, every oblique method is exact",
    statement=r"T\,\mathrm{span}(\Phi) \subseteq \mathrm{span}(\Phi),\ \det X^\top L\Phi \neq 0 \implies \Phi\theta_X = v",
    setting=Setting((*EVERY_X, COMPLETE), fails=_not_exact),
    formal="folklore",
)
def complete_span_exact(change: str = "none") -> Outcome:
    """T 0 = r is in the span and so is P Phi; L maps the span into itself, one to one, hence onto it: v = L^-1 r is in it."""
    problems = (complete(k) for k in range(40))
    if change == "basis":  # one feature of one state moved: T leads out of the span
        problems = (p.replace(features=_moved(p.Phi)) for p in problems)
    return decide(
        problems, _not_exact,
        proof="r = T 0 and P Phi are in the span, so L maps the span into itself, one to one and so onto: v = L^-1 r is in "
        "it, and realizable-exact says the rest",
    )  # fmt: skip


def _moved(Phi: sp.Matrix) -> list[list[Any]]:
    rows: list[list[Any]] = Phi.tolist()
    rows[0] = [rows[0][0] + 1, rows[0][1]]
    return rows


@PACK.claim(
    "realizable-td-converges",
    cites=("Baird 1995",),
    where="whose star shows the contrary",
    topic="stability",
    title="Where the values are in the span of the features, TD is stable",
    statement=r"v \in \mathrm{span}(\Phi) \implies \mathrm{Re}\,\lambda(A) > 0",
    setting=Setting((*OFF_POLICY, REALIZABLE), learner=TD()),
)
def realizable_td_converges(policy: str = "off-policy") -> Outcome:
    """The values themselves as the only feature. Baird's star has v = 0, and more features than states."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        return unstable(problem, TD())

    if policy == "on-policy":
        return decide(
            drawn(30, on_policy=True), violation, proof="on-policy TD is stable with any features"
        )
    if unstable(baird_star(), TD()) is None:
        raise AssertionError("TD is not unstable on Baird's star")
    values = (p.replace(features=p.v_pi.tolist()) for p in drawn(400, first=170) if any(p.v_pi))
    return decide(
        meeting(values, Setting((*OFF_POLICY, REALIZABLE)), TD()), violation, learner=TD(),
        says="the only feature is v itself, so that the weight 1 is exact; Baird's star shows it with dependent features and v = 0",
    )  # fmt: skip


@PACK.claim(
    "complete-span-td-stable",
    cites=("Ghosh and Bellemare 2020",),
    where="which asks for an orthogonal basis as well",
    topic="stability",
    title="Where the Bellman operator maps the span into itself, TD is stable for all weights xi > 0",
    statement=r"T\,\mathrm{span}(\Phi) \subseteq \mathrm{span}(\Phi) \implies \mathrm{Re}\,\lambda(A) > 0",
    setting=Setting((FULL_RANK, POSITIVE_WEIGHTS, VALUES_EXIST, COMPLETE), learner=TD()),
)
def complete_span_td_stable(basis: str = "drawn") -> Outcome:
    """A = C (I - M) with P Phi = Phi M. Both factors have eigenvalues of positive real part, the product need not."""
    if basis == "orthonormal":
        return decide(
            problems_with_unit_C(40), lambda p: unstable(p, TD()),
            proof="C = I gives A = I - M, and the eigenvalues of M are some of gamma P's, inside the unit circle",
        )  # fmt: skip
    return decide(
        (complete(k) for k in range(200, 2000)), lambda p: unstable(p, TD()), learner=TD()
    )


def _complete_and_unstable() -> PolicyEvaluation:
    """The first complete problem on which TD is unstable."""
    return next(p for k in range(200, 2000) if unstable(p := complete(k), TD()))


def problems_with_unit_C(count: int) -> list[PolicyEvaluation]:
    """Complete problems with one feature a class and weights such that Phi'Xi Phi is a multiple of I."""
    found = []
    for seed in range(count):
        p = complete(seed)
        found.append(
            p.replace(features=[[1, 1], [1, 1], [1, -1], [1, -1]], xi=["1/8", "3/8", "1/4", "1/4"])
        )
    return found


@PACK.claim(
    "invariant-orthonormal-td-stable",
    cites=("Ghosh and Bellemare 2020",),
    topic="stability",
    title="An orthonormal basis of a span that P maps into itself makes TD stable, on- and off-policy",
    statement=r"P\,\mathrm{span}(\Phi) \subseteq \mathrm{span}(\Phi),\ \Phi^\top\Xi\Phi = I \implies "
    r"\mathrm{Re}\,\lambda(A) > 0",
    setting=Setting(
        (INVARIANT, ORTHOGONAL, DISCOUNT), fails=not_stable, learner=TD(),
        without={
            "P maps the span into itself": lambda: (two_state(), TD()),
            "C = c I": lambda: (_complete_and_unstable(), TD()),
        },
    ),
    formal="largest",
)  # fmt: skip
def invariant_orthonormal_td_stable(shear: int = 0) -> Outcome:
    """P_gamma Phi = Phi M gives A = C (I - M) = c (I - M), and the eigenvalues of M are some of P_gamma's."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        M = problem.C.inv() * (problem.C - dynamics(problem, TD()).A)
        if problem.Phi * M != problem.Phi - problem.L_pi * problem.Phi:
            return {"M": M, "P Phi": "is not Phi M"}
        return not_stable(problem, TD())

    problems = problems_with_unit_C(40)
    if shear:
        problems = [p.replace(features=_moved(p.Phi)) for p in problems]
    return decide(
        problems, violation,
        proof="P_gamma Phi = Phi M gives A = Phi'Xi(I - P_gamma)Phi = C (I - M), which is c (I - M) where C = c I; an eigenvector x of "
        "M gives the eigenvector Phi x of P_gamma, so |eigenvalue| < 1 and Re(1 - eigenvalue) > 0",
    )  # fmt: skip


# --- bases and larger spans ---------------------------------------------------------------------


def _with_basis(problem: PolicyEvaluation, B: sp.Matrix) -> PolicyEvaluation:
    return problem.replace(features=(problem.Phi * B).tolist())


def _basis(d: int, k: int = 0) -> sp.Matrix:
    """An invertible matrix that is far from orthogonal."""
    return sp.Matrix(d, d, lambda i, j: 1 if i == j else (3 + k if i < j else 0))


@PACK.claim(
    "basis-does-not-matter-to-values",
    cites=("Scherrer 2010",),
    where="by its view of the fixed points as oblique projections",
    topic="errors",
    title="The values of TD's fixed point do not depend on the basis of the span",
    statement=r"\Phi' = \Phi B,\ \det B \neq 0 \implies \Phi'\theta'^* = \Phi\theta^*",
    setting=Setting(
        (FULL_RANK, A_NONSINGULAR),
        fails=lambda p, _learner: _other_values(p, _basis(p.Phi.shape[1])),
        learner=TD(),
    ),
    formal="folklore",
)
def basis_does_not_matter_to_values(change: str = "basis") -> Outcome:
    """B'A B theta' = B'b has the solution B^-1 theta*."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        d = problem.Phi.shape[1]
        if change == "weights":
            other = problem.replace(xi=list(range(1, len(problem.states) + 1)))
            a, b = (p.Phi * dynamics(p, TD()).fixed_point() for p in (problem, other))
            return None if a == b else {"v_hat": a, "with other weights": b}
        return _other_values(problem, _basis(d))

    return decide(
        meeting(drawn(40), Setting((FULL_RANK, A_NONSINGULAR)), TD()), violation,
        proof="with Phi B the equation is B'A B theta' = B'b, whose solution is B^-1 theta*, and Phi B B^-1 theta* = Phi "
        "theta*",
    )  # fmt: skip


def _other_values(problem: PolicyEvaluation, B: sp.Matrix) -> Observed | None:
    a, b = (p.Phi * dynamics(p, TD()).fixed_point() for p in (problem, _with_basis(problem, B)))
    return None if a == b else {"v_hat": a, "in another basis": b}


@PACK.claim(
    "basis-does-not-matter-to-stability",
    cites=("Ghosh and Bellemare 2020",),
    where="which shows the contrary",
    topic="stability",
    title="Whether off-policy TD is stable does not depend on the basis of the span",
    statement=r"\mathrm{Re}\,\lambda(A) > 0 \iff \mathrm{Re}\,\lambda(B^\top AB) > 0",
    setting=Setting((*OFF_POLICY, STABLE), learner=TD()),
)
def basis_does_not_matter_to_stability(policy: str = "off-policy") -> Outcome:
    """B'A B is stable for every B if A + A' is positive definite, as on-policy."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        for k in range(-6, 7):
            B = _basis(problem.Phi.shape[1], k)
            seen = unstable(_with_basis(problem, B), TD())
            if seen:
                return {"A": dynamics(problem, TD()).A, "B": B, "B'AB": seen["A"]}
        return None

    if policy == "on-policy":
        return decide(
            meeting(drawn(30, on_policy=True), Setting(TVR), TD()), violation,
            proof="x'B'A B x = (Bx)'A(Bx) > 0 for x != 0",
        )  # fmt: skip
    problems = (p for p in drawn(2000, first=90) if p.Phi.shape[1] > 1)
    return decide(meeting(problems, Setting((*OFF_POLICY, STABLE)), TD()), violation, learner=TD())


@PACK.claim(
    "more-features-never-hurt",
    topic="errors",
    title="On-policy one more feature never makes TD's fixed point worse",
    statement=r"\mathrm{span}(\Phi) \subset \mathrm{span}(\Phi') \implies "
    r"\|\Phi'\theta'^* - v\|_\xi \le \|\Phi\theta^* - v\|_\xi",
    setting=Setting(TVR, learner=TD()),
)
def more_features_never_hurt(method: str = "td") -> Outcome:
    """The best approximation gets no worse; TD's fixed point may."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        fewer = problem.replace(features=problem.Phi[:, :-1].tolist())
        many, few = (
            error(p, TD()) if method == "td" else squared(p, p.best - p.v_pi)
            for p in (problem, fewer)
        )
        return {"squared error": many, "without the last feature": few} if many > few else None

    problems = (p for p in drawn(400, on_policy=True) if p.Phi.shape[1] > 1)
    return decide(
        meeting(problems, Setting(TVR), TD()), violation, learner=TD(),
        proof="the least distance to a larger space is no larger" if method == "best" else "",
    )  # fmt: skip
