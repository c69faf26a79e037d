"""Section II: oblique projections, the best projection, existence."""

from __future__ import annotations

import sympy as sp

from obliquetd.algebra import Matrix
from obliquetd.claims.battery import battery, decide_identity, letters
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, claim, told
from obliquetd.claims.words import ZERO, Word, identity, inverse_of, letter
from obliquetd.domains.two_state import two_state
from obliquetd.errors import NotUniqueError, SingularError
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

Phi, X, Xi, L, V, r, Id = (
    letters.Phi, letters.X, letters.Xi, letters.L, letters.V, letters.r, letters.Id
)  # fmt: skip

G = inverse_of("G", X.T @ Phi)[0]  # (X' Phi)^-1
H = inverse_of("H", X.T @ L @ Phi)[0]  # (X' L Phi)^-1
K = inverse_of("K", Phi.T @ Xi @ Phi)[0]  # (Phi' Xi Phi)^-1
Li = inverse_of("Li", L)[0]  # L^-1
PROJECTION = Phi @ G @ X.T  # Pi_Phi^X
PI = Phi @ K @ Phi.T @ Xi  # the Xi-orthogonal projector
G_FOR = {"G": X.T @ Phi}
IN_SPAN = Phi @ letter("theta", "d 1")
SOLUTION = Phi @ H @ X.T @ r  # Phi theta of Lemma 2


@claim(
    "projection-idempotent",
    where="Section II-B, after the Definition",
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
    where="Section II-B, Definition",
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


@claim(
    "projection-orthogonal",
    where="Section II-B, after the Definition",
    title="It is an orthogonal projection exactly where span(X) = span(Phi)",
    statement=r"\Pi_\Phi^X = (\Pi_\Phi^X)^\top \iff \mathrm{span}(X) = \mathrm{span}(\Phi)",
)
def projection_orthogonal(spans: Word = Phi) -> Outcome:
    """X = Phi M makes it symmetric; if S = S' and X'S = X' then X = S X lies in span(Phi)."""
    M = letter("M", "d d")
    S = letter("S", "n n", symmetric=True)

    def square_M(_: PolicyEvaluation, values: dict[str, Matrix]) -> None:
        d = values["Phi"].shape[1]
        values["M"] = values["X"].submatrix(range(d), range(d))

    N = inverse_of("N", M.T @ Phi.T @ spans)[0]
    symmetric = Phi @ N @ M.T @ spans.T
    forward = decide_identity(
        [("the transpose", symmetric.T, symmetric)],
        inverses={"N": M.T @ Phi.T @ spans, "Mi": M, "F": Phi.T @ Phi},
        rules=_expand_inverse(M, N),
        extra=square_M,
        premise="With X = Phi M",
    )
    if forward.verdict is not Verdict.PROVED:
        return forward
    backward = decide_identity(
        [("X", S @ X, X)],
        rules=[(X.T @ S, X.T)],
        extra=_symmetric_projection,
        premise="If S is the projection and symmetric",
    )
    return Outcome(backward.verdict, f"{forward.evidence}. {backward.evidence}")


def _expand_inverse(M: Word, N: Word) -> list[tuple[Word, Word]]:
    """N = (M' Phi' Phi)^-1 = F M'^-1 with F = (Phi' Phi)^-1, which is symmetric."""
    Mi = inverse_of("Mi", M)[0]
    F = letter("F", "d d", symmetric=True)
    return [(N, F @ Mi.T), (Mi @ M, identity()), (M @ Mi, identity())]


def _symmetric_projection(_: PolicyEvaluation, values: dict[str, Matrix]) -> None:
    """X of the same span as Phi, and S the orthogonal projection onto it."""
    values["X"] = values["Phi"]
    gram = values["Phi"].T @ values["Phi"]
    values["S"] = values["Phi"] @ gram.solve(values["Phi"].T)


@claim(
    "least-squares-projection-is-oblique",
    where="Section II-B",
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


@claim(
    "rows-are-basis",
    where="Section II-B, before the Definition",
    title="The rows of Phi are the basis vectors of the range, those of X of the complement",
    statement=r"\mathrm{range}(\Pi_\Phi^X) = \mathrm{span}\{\phi(s)^\top : s \in \mathcal S\}",
)
def rows_are_basis(axis: str = "rows") -> Outcome:
    """The range lies in R^n; a row of Phi lies in R^d."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem._ops
        vectors = ops.Phi.T if axis == "rows" else ops.Phi
        length = vectors.shape[0]
        if length != ops.n:
            return {"length of the vectors": length, "dimension of the space": ops.n}
        projection = ops.Phi @ (ops.Phi.T @ ops.Phi).solve(ops.Phi.T)
        moved = projection @ vectors - vectors
        return None if moved.is_zero() else {"moved by the projection": moved.public()}

    found = Counterexample.find(battery(), violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, f"the {axis} lie in R^n and are fixed by the projection")
    return Outcome(
        Verdict.CORRECTED,
        f"on the two-state example, for the {axis}: {told(found.observed)}",
        counterexample=found,
        correction="The columns of Phi span the range, and the columns of X the orthogonal "
        "complement of the null space; the d columns are vectors of n = |S| entries, the n rows "
        "phi(s)' are vectors of d.",
    )


@claim(
    "lemma-1-identity",
    where="Lemma 1, proof",
    title="The oblique fixed point is the projection of the value function along L'X",
    statement=r"\hat v = \Pi_\Phi^X T_\pi(\hat v) = \Pi_\Phi^{L_\pi^\top X} V",
)
def lemma_1_identity(along: Word = L.T @ X) -> Outcome:
    """v_hat = Phi (along' Phi)^-1 along' V solves v = Pi_Phi^X (r + V_hat - L v_hat), r = L V."""
    inverse = inverse_of("H", along.T @ Phi)[0]
    v_hat = Phi @ inverse @ along.T @ V
    backup = L @ V + v_hat - L @ v_hat
    return decide_identity(
        [("the fixed point", PROJECTION @ backup, v_hat)],
        inverses={"G": X.T @ Phi, "H": along.T @ Phi},
        premise="Where X'Phi and X'L Phi are non-singular, with T v = L V + v - L v",
    )


@claim(
    "lemma-1",
    where="Lemma 1, Eq. (5)",
    title="Pi V is the fixed point of the oblique equation with X* = L^-T Xi Phi",
    statement=r"v^* = \Pi V_\pi = \Pi_\Phi^{X^*} T_\pi v^*,\quad X^* = L_\pi^{-\top} \Xi \Phi",
)
def lemma_1(X_star: Word = Li.T @ Xi @ Phi) -> Outcome:
    """Put v* = Pi V and T v* = L V + v* - L v* into the equation."""
    best = PI @ V
    inverse = inverse_of("G", X_star.T @ Phi)[0]
    return decide_identity(
        [("the fixed point", Phi @ inverse @ X_star.T @ (L @ V + best - L @ best), best)],
        inverses={"Li": L, "K": Phi.T @ Xi @ Phi, "G": X_star.T @ Phi},
        premise="Where X*'Phi is non-singular; the premise that V is outside span(Phi) is not "
        "needed",
    )


def vanishing_best_projection() -> PolicyEvaluation:
    """Both states lead to the second; phi = (1, -1), xi = (5/9, 4/9): X*'Phi = 0."""
    mdp = MDP.from_transitions([(1, "a", 2, 1, 1), (2, "a", 2, 1, 0)])
    return PolicyEvaluation(
        mdp,
        target=Policy.uniform(mdp),
        features={1: [1], 2: [-1]},
        discount="9/10",
        xi={1: "5/9", 2: "4/9"},
    )


@claim(
    "lemma-1-existence",
    where="Lemma 1",
    title="The projection along X* exists whenever the least-squares projection does",
    statement=r"\det C \neq 0 \implies \det(X^{*\top}\Phi) \neq 0",
)
def lemma_1_existence(weights: tuple[str, str] = ("5/9", "4/9")) -> Outcome:
    """X*'Phi = Phi' Xi L^-1 Phi need not be non-singular off-policy."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem._ops
        crossed = (ops.X_star.T @ ops.Phi).det()
        if not crossed and ops.C.det():
            return {
                "Phi'": problem.Phi.T,
                "xi'": problem.xi.T,
                "X*'Phi": problem._ops.arithmetic.public(crossed),
                "C": problem.C[0],
                "theta of X*'L Phi theta = X*'r": problem.fixed_point("best").theta[0],
            }
        return None

    example = vanishing_best_projection().mdp
    problem = PolicyEvaluation(
        example,
        target=Policy.uniform(example),
        features={1: [1], 2: [-1]},
        discount="9/10",
        xi=list(weights),
    )
    found = Counterexample.find([*battery(), problem], violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, "X*'Phi is non-singular on every problem tried")
    return Outcome(
        Verdict.CORRECTED,
        "two states that both lead to the second, "
        f"{told(found.observed)}: the projection along X* does not exist, although the "
        "least-squares projection does and the equation of Lemma 2 still gives Pi V",
        found.observed,
        found,
        "Lemma 1 needs X*'Phi = Phi' Xi L^-1 Phi to be non-singular. On-policy it is; off-policy "
        "it can vanish. The normal equation X'L Phi theta = X'r gives Pi V regardless.",
    )


@claim(
    "y-td",
    where="Section II-C",
    title="TD is the weighted oblique projection with Y = Phi",
    statement=r"Y_{TD} = \Phi:\quad \hat v = \Pi T_\pi \hat v,\; "
    r"\hat v = \Phi(\Phi^\top\Xi L_\pi\Phi)^{-1}\Phi^\top\Xi R",
)
def y_td(Y: Word = Phi) -> Outcome:
    """The solution for Y solves the projected Bellman equation v = Pi T v."""
    inverse = inverse_of("H", Y.T @ Xi @ L @ Phi)[0]
    v_hat = Phi @ inverse @ Y.T @ Xi @ r
    return decide_identity(
        [("v = Pi T v", PI @ (r + v_hat - L @ v_hat), v_hat)],
        inverses={"H": Y.T @ Xi @ L @ Phi, "K": Phi.T @ Xi @ Phi},
        premise="Where Phi'Xi Phi and Phi'Xi L Phi are non-singular",
    )


@claim(
    "y-rg",
    where="Section II-C",
    title="Residual gradient is the weighted oblique projection with Y = L Phi",
    statement=r"Y_{RG} = L_\pi\Phi:\quad \nabla_\theta \|R - L_\pi\Phi\theta\|_\Xi^2 = 0",
)
def y_rg(Y: Word = L @ Phi) -> Outcome:
    """The gradient -2 (L Phi)' Xi (r - L Phi theta) of a convex function vanishes there."""
    inverse = inverse_of("H", Y.T @ Xi @ L @ Phi)[0]
    theta = inverse @ Y.T @ Xi @ r
    residual = r - L @ Phi @ theta
    return decide_identity(
        [("the gradient", (L @ Phi).T @ Xi @ residual, ZERO)],
        inverses={"H": Y.T @ Xi @ L @ Phi},
        premise="Where Y'Xi L Phi is non-singular",
    )


@claim(
    "lemma-2-sufficient",
    where="Lemma 2",
    title="With X'Phi and X'L Phi non-singular, theta = (X'L Phi)^-1 X'R solves the equation",
    statement=r"\theta = (Y^\top\Xi L_\pi\Phi)^{-1}Y^\top\Xi R \implies "
    r"\Phi\theta = \Pi_\Phi^{\Xi Y} T_\pi \Phi\theta",
)
def lemma_2_sufficient(solution: Word = SOLUTION) -> Outcome:
    """Put it in, with X = Xi Y; uniqueness is that of A theta = b."""
    backup = r + solution - L @ solution
    return decide_identity(
        [("the equation", PROJECTION @ backup, solution)],
        inverses={"G": X.T @ Phi, "H": X.T @ L @ Phi},
        premise="Where X'Phi and X'L Phi are non-singular",
    )


@claim(
    "lemma-2-necessary",
    where="Section II-C, before Lemma 2 ('necessary conditions')",
    title="The conditions of Lemma 2 are necessary for a solution to exist",
    statement=r"\exists\theta:\ \Phi\theta = \Pi_\Phi^{\Xi Y}T_\pi\Phi\theta \implies "
    r"\det(Y^\top\Xi L_\pi\Phi) \neq 0",
)
def lemma_2_necessary(discount: str = "5/6") -> Outcome:
    """With reward 0, theta = 0 solves the equation whatever A is."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem._ops
        A = ops.Xi_Phi.T @ ops.Lambda
        if A.det():
            return None
        try:
            problem.fixed_point("td")
        except NotUniqueError:
            return {
                "Phi'Xi L Phi": ops.arithmetic.public(A.det()),
                "Phi'Xi r": ops.arithmetic.public((ops.Xi_Phi.T @ ops.r_pi).item()),
            }
        except SingularError:
            return None
        return None

    found = Counterexample.find([two_state(discount=discount)], violation)
    if found is None:
        return Outcome(Verdict.OPEN, "no problem tried has a singular A and a solution")
    return Outcome(
        Verdict.REFUTED,
        f"on the two-state example with discount {discount} and TD's Y = Phi, A = Phi'Xi L Phi = 0 "
        "while the reward is 0: every theta solves the equation. The conditions are sufficient "
        "(lemma-2-sufficient) and give uniqueness; they are not necessary",
        found.observed,
        found,
    )


@claim(
    "rmspbe-two-forms",
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


@claim(
    "bellman-equation",
    where="Eq. (1)",
    title="V = R + gamma P V has exactly one solution for discount below 1",
    statement=r"V_\pi = T_\pi V_\pi = R_\pi + \gamma P_\pi V_\pi",
)
def bellman_equation(sign: int = 1) -> Outcome:
    """The residual vanishes, and det(I - gamma P) has no root in [0, 1)."""
    problem = two_state(discount="gamma", reward="r")
    v, P, gain = problem.v_pi, problem.P_pi, problem.discount
    residual = sp.simplify(problem.r_pi + sign * gain * P * v - v)
    det = sp.factor((sp.eye(2) - gain * P).det())
    roots = [
        root for root in sp.Poly(det, sp.Symbol("gamma")).real_roots() if 0 <= root < 1
    ]  # fmt: skip
    rows = [p for p in battery() if not p.symbols]
    exact = all((p._ops.L_pi @ p._ops.v_pi - p._ops.r_pi).is_zero() for p in rows)
    if residual != sp.zeros(2, 1) or roots or not exact:
        found = Counterexample.find([problem], lambda p: {"v": p.v_pi})
        return Outcome(Verdict.REFUTED, "the residual does not vanish", counterexample=found)
    return Outcome(
        Verdict.VERIFIED,
        f"on the two-state example det(I - gamma P) = {det} has no root in [0, 1); the residual "
        f"is 0 there and on {len(rows)} rational problems",
    )
