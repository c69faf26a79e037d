"""Section II-B: oblique projections, as the Definition and the text around it have them."""

from __future__ import annotations

from obliquetd.algebra import Matrix
from obliquetd.claims.assumptions import C_NONSINGULAR, FULL_RANK
from obliquetd.claims.battery import battery, decide_identity, letters, problem_values
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.gallery import gallery
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.problem import PolicyEvaluation
from obliquetd.words import Word, identity, inverse_of, letter

__all__ = ["PI", "PROJECTION"]

Phi, X, Xi, L, V, r, Id = (
    letters.Phi, letters.X, letters.Xi, letters.L, letters.V, letters.r, letters.Id
)  # fmt: skip

G = inverse_of("G", X.T @ Phi)[0]  # (X' Phi)^-1
K = inverse_of("K", Phi.T @ Xi @ Phi)[0]  # (Phi' Xi Phi)^-1
PROJECTION = Phi @ G @ X.T  # Pi_Phi^X
PI = Phi @ K @ Phi.T @ Xi  # the Xi-orthogonal projector
G_FOR = {"G": X.T @ Phi}
IN_SPAN = Phi @ letter("theta", "d 1")


@claim(
    "projection-idempotent",
    formal="words",
    where="Section II-B, after Definition 1",
    origin="paper",
    title="The oblique projection is idempotent",
    statement=r"(\Pi_\Phi^X)^2 = \Pi_\Phi^X,\quad \Pi_\Phi^X = \Phi (X^\top \Phi)^{-1} X^\top",
)
def projection_idempotent(projection: Word = PROJECTION) -> Outcome:
    """Square it."""
    return decide_identity(
        [("the square", projection @ projection, projection)],
        inverses=G_FOR,
        premise="Where X'Phi is non-singular",
    )


@claim(
    "projection-range-and-null-space",
    formal="words",
    where="Definition 1 (II-B)",
    origin="paper",
    title="It projects onto span(Phi), orthogonally to span(X)",
    statement=r"\Pi_\Phi^X \Phi = \Phi,\quad X^\top \Pi_\Phi^X = X^\top",
)
def projection_range(projection: Word = PROJECTION) -> Outcome:
    """The range is span(Phi), since Pi Phi = Phi; the residual is orthogonal to span(X)."""
    return decide_identity(
        [("the range", projection @ Phi, Phi), ("the residual", X.T @ projection, X.T)],
        inverses=G_FOR,
        premise="Where X'Phi is non-singular",
    )


def _asymmetry(problem: PolicyEvaluation, mixed: bool, spans: Word) -> Observed | None:
    """Whether Pi_Phi^X is symmetric without span(X) = span(spans), or the other way round."""
    values = problem_values(problem)
    phi, x = values["Phi"], values["X"]
    d = phi.shape[1]
    if mixed:  # X = Phi M
        x = phi @ x.submatrix(range(d), range(d))
    if not (x.T @ phi).det():
        return None
    projection = phi @ (x.T @ phi).solve(x.T)
    symmetric = (projection - projection.T).is_zero()
    named = spans.evaluate(values, phi)
    joint = problem.native.arithmetic.matrix(
        [[*a, *b] for a, b in zip(named.rows(), x.rows(), strict=True)], (phi.shape[0], 2 * d)
    )
    same = joint.rank() == named.rank() == x.rank()
    if symmetric == same:
        return None
    return {"X": x.public(), "symmetric": str(symmetric), "of that span": str(same)}


@claim(
    "projection-orthogonal",
    formal="existence",
    where="Section II-B, after Definition 1 ('reduces to an orthogonal projection')",
    origin="paper",
    title="It is an orthogonal projection exactly where span(X) = span(Phi)",
    statement=r"\Pi_\Phi^X = (\Pi_\Phi^X)^\top \iff \mathrm{span}(X) = \mathrm{span}(\Phi)",
)
def projection_orthogonal(spans: Word = Phi) -> Outcome:
    """X = Phi M makes it symmetric; if S = S' and X'S = X' then X = S X lies in span(Phi).

    Both directions for every size: (=>) with S = Pi symmetric, X = (X'S)' = S X = Phi (G X'X),
    so span(X) is in span(Phi), and both have dimension d, since X'Phi is non-singular. (<=)
    with X = Phi M, M is non-singular, and Phi (M'Phi'Phi)^-1 M'Phi' = Phi F Phi' with
    F = (Phi'Phi)^-1, which is symmetric. ``spans`` is the matrix whose span is claimed.
    """
    problems = [p for p in battery() if not p.symbols]
    problems += [p for p in gallery()[:60] if FULL_RANK.holds(p)]
    for mixed in (False, True):
        found = Counterexample.find(problems, lambda p, m=mixed: _asymmetry(p, m, spans))  # type: ignore[misc]
        if found is not None:
            return refuted(found)
    M, N = letter("M", "d d"), letter("N", "d d")
    F, Mi = letter("F", "d d", symmetric=True), letter("M^-1", "d d")
    symmetric = Phi @ N @ M.T @ Phi.T
    forward = decide_identity(
        [("the transpose", symmetric.T, symmetric)],
        rules=[(N, F @ Mi.T), (Mi @ M, identity()), (M @ Mi, identity())],
        extra=_square_m,
        problems=[p for p in battery() if not p.symbols],
        premise="With X = Phi M, N = (M'Phi'Phi)^-1 and F = (Phi'Phi)^-1",
        assumptions=(FULL_RANK,),
    )
    S = letter("S", "n n", symmetric=True)
    backward = decide_identity(
        [("X", S @ X, X)],
        rules=[(X.T @ S, X.T)],
        extra=_symmetric_projection,
        problems=[p for p in battery() if not p.symbols],
        premise="If S is the projection and symmetric",
        assumptions=(FULL_RANK,),
    )
    worst = forward if forward.verdict is not Verdict.PROVED else backward
    either = decide_identity([("the residual", X.T @ PROJECTION, X.T)], inverses=G_FOR)
    return Outcome(
        worst.verdict,
        f"{forward.evidence}. {backward.evidence}. Both directions also exact on {len(problems)} "
        "problems, each with an X of another span and with one of the same",
        counterexample=worst.counterexample,
        setting=either.setting,
    )


def _square_m(_: PolicyEvaluation, values: dict[str, Matrix]) -> None:
    """A non-singular M, with N and F as named."""
    d = values["Phi"].shape[1]
    one = values["Phi"].arithmetic.identity(d)
    small = values["X"].submatrix(range(d), range(d))
    values["M"] = small if small.det() else small + one.scaled(one.arithmetic.scalar(7))
    values["M^-1"] = values["M"].solve(one)
    gram = values["Phi"].T @ values["Phi"]
    values["F"], values["N"] = gram.solve(one), (values["M"].T @ gram).solve(one)


def _symmetric_projection(_: PolicyEvaluation, values: dict[str, Matrix]) -> None:
    """X of the same span as Phi by other columns, and S the orthogonal projection onto it."""
    _square_m(_, values)
    values["X"] = values["Phi"] @ values["M"]
    values["S"] = values["Phi"] @ values["F"] @ values["Phi"].T


@claim(
    "least-squares-projection-is-oblique",
    formal="words",
    where="Section II-B, after Definition 1 ('For example')",
    origin="paper",
    title="The weighted least-squares projection is oblique with X = Xi Phi",
    statement=r"\Pi = \Phi(\Phi^\top\Xi\Phi)^{-1}\Phi^\top\Xi = \Pi_\Phi^{\Xi\Phi}",
)
def least_squares_is_oblique(X_of_Pi: Word = Xi @ Phi) -> Outcome:
    """Put X = Xi Phi into the definition."""
    return decide_identity(
        [("Pi", PI, Phi @ K @ X_of_Pi.T)],
        inverses={"K": Phi.T @ Xi @ Phi},
        premise="Where C is non-singular",
    )


BASES: dict[str, str] = {"rows-are-basis": "Phi", "rows-of-xi-phi-are-basis": "Xi Phi"}


def _register_basis(name: str, where: str, title: str, statement: str) -> None:
    """Register one of the two places where rows are called a basis."""

    @claim(
        name,
        where=where,
        origin="paper",
        title=title,
        statement=statement,
        setting=Setting((C_NONSINGULAR,)),
    )
    def check(axis: str = "rows") -> Outcome:
        return _rows_are_basis(axis, BASES[name])


def _rows_are_basis(axis: str, matrix: str) -> Outcome:
    """The space lies in R^n; a row lies in R^d."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem.native
        whole = ops.Phi if matrix == "Phi" else ops.Xi_Phi
        vectors = whole.T if axis == "rows" else whole
        length = vectors.shape[0]
        if length != ops.n:
            return {"length of the vectors": length, "dimension of the space": ops.n}
        projection = whole @ (whole.T @ whole).solve(whole.T)
        moved = projection @ vectors - vectors
        return None if moved.is_zero() else {"moved by the projection": moved.public()}

    found = Counterexample.find(battery(), violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, f"the {axis} lie in R^n and are fixed by the projection")
    return Outcome(
        Verdict.CORRECTED,
        f"on the two-state example, for the {axis} of {matrix}: {told(found.observed)}",
        counterexample=found,
        correction=f"The columns of {matrix} span the space; they are d vectors of n = |S| entries, "
        "and the n rows are vectors of d.",
    )


_register_basis(
    "rows-are-basis",
    "Section II-B, before Definition 1, and after it ('with basis')",
    "The rows of Phi are the basis vectors of the range, those of X of the complement",
    r"\mathrm{range}(\Pi_\Phi^X) = \mathrm{span}\{\phi(s)^\top : s \in \mathcal S\}",
)
_register_basis(
    "rows-of-xi-phi-are-basis",
    "Section II-B, after Definition 1 ('spanned by Xi Phi with basis')",
    "The vectors xi(s) phi(s) are a basis of span(Xi Phi)",
    r"\mathrm{span}(\Xi\Phi) = \mathrm{span}\{\xi(s)\phi(s) : s \in \mathcal S\}",
)


@claim(
    "rmspbe-two-forms",
    formal="words",
    where="Section V, definition of RMSPBE",
    title="For v in span(Phi), v - Pi T v = -Pi (T v - v)",
    statement=r"\hat v - \Pi T\hat v = \Pi(\hat v - T\hat v)\quad (\hat v \in \mathrm{span}\,\Phi)",
)
def rmspbe_two_forms(value: Word = IN_SPAN) -> Outcome:
    """Pi v = v on the span; off it the two forms differ."""

    def theta(_: PolicyEvaluation, values: dict[str, Matrix]) -> None:
        values["theta"] = values["Phi"].T @ values["r"]

    backup = r + value - L @ value
    return decide_identity(
        [("the error", value - PI @ backup, PI @ (value - backup))],
        inverses={"K": Phi.T @ Xi @ Phi},
        extra=theta,
        premise="Where C is non-singular",
    )
