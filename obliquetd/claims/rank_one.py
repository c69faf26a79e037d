"""Section III-C: the rank-one lemmas, and what is built on them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import Matrix
from obliquetd.algebra.factoring import factored
from obliquetd.claims.assumptions import NONZERO_FEATURES, Assumption
from obliquetd.claims.battery import battery, decide_identity
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.domains.two_state import two_state
from obliquetd.learners import Learner
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation
from obliquetd.words import Theory, Word, identity, letter

__all__: list[str] = []

p, q = letter("p", "n 1"), letter("q", "n 1")
c, s = sp.symbols("c s")

FACTORS = Assumption(
    "p != 0, q != 0",
    "both factors are nonzero, so that the matrix has rank one",
    lambda problem, _: all(any(column) for column in zip(*problem.native.Phi.rows(), strict=True)),
)
"""The two columns of Phi carry p and q."""


def carrier(rows: list[list[int]]) -> PolicyEvaluation:
    """A problem that carries two vectors: they are its two features."""
    mdp = MDP.from_transitions([(i, "a", (i + 1) % len(rows), 1, 0) for i in range(len(rows))])
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), features=rows, discount="9/10")


def _factors(problem: PolicyEvaluation) -> tuple[sp.Matrix, sp.Matrix]:
    return sp.Matrix(problem.Phi[:, 0]), sp.Matrix(problem.Phi[:, 1])


def _carriers() -> list[PolicyEvaluation]:
    """Pairs of vectors of two to four entries, with p'q zero and not."""
    rng = np.random.default_rng(3)
    drawn = [rng.integers(-3, 4, size=(n, 2)).tolist() for n in (2, 3, 4) for _ in range(4)]
    known = [[[1, 1], [0, 1]], [[1, 0], [0, 1]], [[1, 2], [1, 1]]]
    return [x for x in map(carrier, [*known, *drawn]) if FACTORS.holds(x)]


def _give_factors(_problem: PolicyEvaluation, values: dict[str, Matrix]) -> None:
    phi = values["Phi"]
    rows = range(phi.shape[0])
    values["p"], values["q"] = phi.submatrix(rows, [0]), phi.submatrix(rows, [1])


def _count_gap(problem: PolicyEvaluation, nonzero: str) -> Observed | None:
    a, b = _factors(problem)
    matrix = a * b.T
    x = sp.Symbol("x")
    inner = (a.T * b)[0]
    assert matrix.charpoly(x).as_expr().expand() == (x ** (len(a) - 1) * (x - inner)).expand()
    count = int(inner != 0)
    if count == 1 or nonzero == "at most one":
        return None
    return {"p": a, "q": b, "p'q": inner, "nonzero eigenvalues": count}


@claim(
    "lemma-rank-one-eigenvalues",
    where="Lemma 3",
    origin="paper",
    title="A rank-one G = p q' has exactly one nonzero eigenvalue, p'q, equal to its trace",
    statement=r"\lambda(pq^\top) = \{p^\top q, 0, 0, \dots\},\ \text{only one nonzero}",
    setting=Setting((FACTORS,)),
)
def rank_one_eigenvalues(nonzero: str = "exactly one") -> Outcome:
    """G G = (p'q) G, so every eigenvalue is 0 or c = p'q; tr G = c, so c occurs once if c != 0.

    The trace is the sum of the eigenvalues, each 0 or c: with multiplicity m of c, m c = c.
    """
    found = Counterexample.find(_carriers(), lambda x: _count_gap(x, nonzero))
    theory = _scalar_products(
        [("G G", p @ q.T @ p @ q.T, c * (p @ q.T))], [(q.T @ p, c * identity())]
    )
    proof = (
        "with q'p = c, rewriting proves p q' p q' = c p q', so every eigenvalue is 0 or c, and the "
        "trace is c"
    )
    if found is None:
        return Outcome(theory.verdict, f"{proof}; exact on {len(_carriers())} pairs of vectors")
    return Outcome(
        Verdict.CORRECTED,
        f"{proof}; but {told(found.observed)}: that matrix is nilpotent",
        found.observed,
        found,
        "A rank-one pq' has at most one nonzero eigenvalue: p'q where p'q != 0, none where "
        "p'q = 0. The list {p'q, 0, 0, ...} and the trace are right.",
    )


def _scalar_products(
    equations: list[tuple[str, Word, Word]], rules: list[tuple[Word, Word]]
) -> Outcome:
    """Prove with symbols for inner products; tested on one pair, where c = 3 and s = 5."""
    example = carrier([[1, 1], [2, 1]])  # p = (1, 2), q = (1, 1)
    numbers = {c: 3, s: 5}
    tested = decide_identity(
        [(name, a.subs(numbers), b.subs(numbers)) for name, a, b in equations],
        rules=[(a, b.subs(numbers)) for a, b in rules],
        extra=_give_factors,
        problems=[example],
    )
    if tested.verdict is not Verdict.PROVED:
        return tested
    theory = Theory(rules)
    proved = all(theory.proves(a, b) for _, a, b in equations)
    return Outcome(Verdict.PROVED if proved else Verdict.VERIFIED, tested.evidence)


def _norm_gap(problem: PolicyEvaluation, squared: Callable[[Any, Any], Any]) -> Observed | None:
    """||M||_F^2 and the number of nonzero singular values of M = p q', against the claim."""
    a, b = _factors(problem)
    M = a * b.T
    sigma, actual = squared((a.T * a)[0], (b.T * b)[0]), (M.T * M).trace()
    if M.rank() != 1:
        return {"p": a, "q": b, "nonzero singular values": M.rank()}
    return None if sigma == actual else {"claimed sigma^2": sigma, "||M||_F^2": actual}


@claim(
    "lemma-rank-one-norms",
    informal="mathcomp's algebra has no singular values, in which the norms are defined",
    where="Lemma 4, Eq. (10)",
    origin="paper",
    title="M = u v' has one nonzero singular value |u||v|; trace and Frobenius norm equal it",
    statement=r"\|uv^\top\|_* = \|uv^\top\|_F = \sigma_{\max} = \|u\|_2\|v\|_2",
    setting=Setting(
        (FACTORS,),
        fails=lambda x, _: _norm_gap(x, lambda u, v: u * v),
        without={"p != 0, q != 0": lambda: (carrier([[0, 1], [0, 2]]), None)},
    ),
)
def rank_one_norms(squared: Callable[[Any, Any], Any] = lambda u, v: u * v) -> Outcome:
    """M'M = v (u'u) v', which is rank one: by Lemma 3 its one nonzero eigenvalue is |u|^2 |v|^2.

    It is the square of the one nonzero singular value; the sum of the singular values (trace
    norm) and the root of the sum of their squares (Frobenius) are that one. ``squared``
    gives the claimed sigma^2 from |u|^2 and |v|^2.
    """
    problems = _carriers()
    found = Counterexample.find(problems, lambda x: _norm_gap(x, squared))
    if found is not None:
        return refuted(found)
    gram = _scalar_products(
        [("M'M", (p @ q.T).T @ (p @ q.T), s * (q @ q.T))], [(p.T @ p, s * identity())]
    )
    return Outcome(
        gram.verdict,
        "with u'u = s, rewriting proves M'M = s v v', whose one nonzero eigenvalue is s v'v = |u|^2 "
        f"|v|^2 (Lemma 3, and v'v > 0). Also exact on {len(problems)} pairs of vectors",
    )


def _minimisers(problem: PolicyEvaluation, _learner: Learner | None) -> Observed | None:
    """The minimisers of the two objectives in every state: a number, or every omega."""
    for i, (phi, delta) in enumerate(
        zip(problem.Phi.tolist(), problem.Lambda.tolist(), strict=True)
    ):
        size = sum(x * x for x in phi)
        a = sum(x * x for x in delta)
        b = sum(x * y for x, y in zip(delta, phi, strict=True))
        matrix, vector = ("every omega" if not weight * a else str(b / a) for weight in (size, 1))
        if matrix != vector:
            return {
                "state": str(problem.states[i]), "phi": sp.Matrix([phi]), "Delta phi": sp.Matrix([delta]),
                "of the matrix norms": matrix, "of the vector norm": vector,
            }  # fmt: skip
    return None


@claim(
    "norm-minimizers-agree",
    informal="mathcomp's algebra has no singular values, in which the norms are defined",
    where="Section III-C, Eqs. (11) to (14)",
    origin="paper",
    title="The trace-norm and the Frobenius minimisers of one sample's term coincide",
    statement=r"\arg\min_\omega \|(\omega\Delta\phi - \phi)\phi^\top\|_* = "
    r"\arg\min_\omega \|(\omega\Delta\phi - \phi)\phi^\top\|_F^2 = "
    r"\arg\min_\omega \|\omega\Delta\phi - \phi\|_2^2",
    setting=Setting((NONZERO_FEATURES,), fails=_minimisers),
)
def norm_minimizers_agree(second: str = "phi") -> Outcome:
    """Both norms are |q(omega)| |phi|, q = omega Delta phi - phi, by Lemma 4, in every dimension.

    |phi| does not depend on omega and is positive, so all three have the minimisers of |q|. For
    phi = 0 the matrix norms are 0 for every omega, and |q| is not. ``second`` names the right
    factor of the rank-one term: with one that depends on omega the minimisers part.
    """
    omega = sp.Symbol("omega", real=True)
    for d in (1, 2, 3):
        phi = sp.Matrix(sp.symbols(f"f0:{d}", real=True))
        delta = sp.Matrix(sp.symbols(f"g0:{d}", real=True))
        gap = omega * delta - phi
        right = phi if second == "phi" else phi + omega * delta
        product = sp.expand((gap.T * gap)[0] * (right.T * right)[0])
        ratio = sp.diff(product, omega) * (gap.T * gap)[0] - product * sp.diff(
            (gap.T * gap)[0], omega
        )
        if sp.expand(ratio) != 0:
            stationary = {"difference of the stationary equations": factored(ratio)}
            found = Counterexample.find([two_state()], lambda _, seen=stationary: seen)  # type: ignore[misc]
            assert found is not None
            return refuted(found, f"for d = {d} the stationary points differ by {factored(ratio)}")
    gram = _scalar_products(
        [("M'M", (p @ q.T).T @ (p @ q.T), s * (q @ q.T))], [(p.T @ p, s * identity())]
    )
    problems = [x for x in battery() if not x.symbols and NONZERO_FEATURES.holds(x)]
    found = Counterexample.find(problems, lambda x: _minimisers(x, None))
    if found is not None:
        return refuted(found)
    return Outcome(
        gram.verdict,
        "by Lemma 4 (M'M = |q|^2 phi phi', by rewriting) both matrix norms are |q(omega)| |phi|, and "
        "|phi| > 0 does not depend on omega, so all have the minimisers of |q|; with free entries for "
        f"d = 1, 2, 3, and exact in every state of {len(problems)} problems",
    )


def _terms(problem: PolicyEvaluation, seed: int = 0) -> list[list[Any]]:
    """The sentence's terms (omega_i Delta phi_i - phi_i) phi_i', one a transition, as flat vectors."""
    ops = problem.native
    rng = np.random.default_rng(seed)
    phi = ops.Phi.rows()
    out = []
    for i, j, g in zip(ops.state.tolist(), ops.next_state.tolist(), ops.row_discount, strict=True):
        w = ops.arithmetic.scalar(sp.Rational(int(rng.integers(0, 7)), 2))
        left = [w * (x - g * y) - x for x, y in zip(phi[i], phi[j], strict=True)]
        out.append([a * b for a in left for b in phi[i]])
    return out


def _pairs(problem: PolicyEvaluation, direction: int) -> Observed | None:
    """A pair of terms x, y with x . y > |x||y|, or, for the other direction, x . y < |x||y|."""
    for x, y in itertools.combinations(_terms(problem), 2):
        inner = sum(a * b for a, b in zip(x, y, strict=True))
        bound = sum(a * a for a in x) * sum(b * b for b in y)
        above, below = inner > 0 and inner**2 > bound, inner < 0 or inner**2 < bound
        if above if direction == 1 else below:
            public = problem.native.arithmetic.public
            return {"<x, y>": public(inner), "|x|^2 |y|^2": public(bound)}
    return None


@claim(
    "triangle-bound",
    formal="weights",
    where="Section III-C, after Eq. (8) ('using the triangle inequality')",
    origin="paper",
    title="The sample-separable objective bounds the batch objective from above",
    statement=r"\|\textstyle\sum_i(\omega_i\Delta\phi_i - \phi_i)\phi_i^\top\|_F \le "
    r"\sum_i\|(\omega_i\Delta\phi_i - \phi_i)\phi_i^\top\|_F",
)
def triangle_bound(direction: int = 1) -> Outcome:
    """(Sum of norms)^2 - (norm of the sum)^2 = sum over pairs of 2 (|x||y| - <x, y>) >= 0.

    Each pair is Cauchy and Schwarz, by Lagrange's identity: |x|^2 |y|^2 - <x, y>^2 =
    1/2 sum over (i, j) of (x_i y_j - x_j y_i)^2. That is one polynomial identity in four letters,
    summed over i and j, so it holds in every dimension. ``direction`` -1 turns the inequality round.
    """
    xi, xj, yi, yj = sp.symbols("x_i x_j y_i y_j")
    summand = (xi * yj - xj * yi) ** 2 / 2
    # summed over i and j: x_i^2 y_j^2 and x_j^2 y_i^2 both give |x|^2|y|^2, the product <x, y>^2
    grouped = (xi**2 * yj**2 + xj**2 * yi**2) / 2 - xi * yi * xj * yj
    if sp.expand(summand - grouped) != 0:
        raise AssertionError("Lagrange's identity fails")
    problems = [x for x in battery() if not x.symbols]
    found = Counterexample.find(problems, lambda x: _pairs(x, direction))
    if found is not None:
        return refuted(found)
    return Outcome(
        Verdict.PROVED,
        "squared, the gap is the sum over pairs of terms of 2 (|x||y| - <x, y>), each nonnegative by "
        "Lagrange's identity, whose summand is a polynomial identity. Also exact for every pair of the "
        f"sentence's terms, one a transition, with omega_i in 0, 1/2, ..., 3, on {len(problems)} problems",
    )
