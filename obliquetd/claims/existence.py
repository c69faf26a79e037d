"""Section II-C: weighted oblique projections, the Bellman equation, and Lemma 2."""

from __future__ import annotations

from obliquetd.algebra import Matrix
from obliquetd.claims.assumptions import C_NONSINGULAR, DISCOUNT, FULL_RANK, VALUES_EXIST
from obliquetd.claims.battery import battery, decide_identity, letters
from obliquetd.claims.best import C_FOLLOWS
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted
from obliquetd.claims.projections import PI, PROJECTION
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.domains.two_state import two_state
from obliquetd.errors import NotUniqueError, SingularError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.words import ZERO, Word, inverse_of, letter

__all__: list[str] = []

Phi, X, Xi, L, r = letters.Phi, letters.X, letters.Xi, letters.L, letters.r
H = inverse_of("H", X.T @ L @ Phi)[0]  # (X' L Phi)^-1
SOLUTION = Phi @ H @ X.T @ r  # Phi theta of Lemma 2


def _values_not_unique(problem: PolicyEvaluation, _learner: Learner | None) -> Observed | None:
    """A direction that the Bellman equation leaves open, or a residual."""
    ops = problem.native
    null = ops.L_pi.null_space()
    if null.shape[1]:
        return {"(I - gamma P) v = 0 for v'": null.public().T}
    gap = ops.r_pi + ops.P_gamma @ ops.v_pi - ops.v_pi
    return None if gap.is_zero() else {"R + gamma P V - V": gap.public()}


@claim(
    "bellman-equation",
    formal="existence",
    where="Eq. (1)",
    origin="paper",
    title="V = R + gamma P V has exactly one solution for discount below 1",
    statement=r"V_\pi = T_\pi V_\pi = R_\pi + \gamma P_\pi V_\pi",
    setting=Setting((DISCOUNT,), fails=_values_not_unique),
)
def bellman_equation(sign: int = 1) -> Outcome:
    """A contraction, for every size: (I - gamma P) v = 0 gives max |v| <= gamma max |v|, so v = 0.

    Row s reads |v_s| = |sum of P(s, s') g v_s'| <= gamma max |v|, as the row of P is a
    distribution and every discount is at most gamma < 1. So I - gamma P is non-singular, and
    V = (I - gamma P)^-1 R is the one solution, which rewriting confirms. ``sign`` is that of
    gamma P in the equation.
    """
    Li = inverse_of("L^-1", L)[0]
    V = Li @ r
    solved = decide_identity(
        [("the equation", r + sign * (V - L @ V), V)],
        inverses={"L^-1": L},
        premise="With gamma P V = V - L V and V = L^-1 R",
    )
    if solved.verdict is not Verdict.PROVED:
        return solved
    problems = [p for p in battery() if not p.symbols]
    found = Counterexample.find(problems, lambda p: _values_not_unique(p, None))
    if found is not None:
        return refuted(found)
    return Outcome(
        Verdict.PROVED,
        "(I - gamma P) v = 0 gives max |v| <= gamma max |v|, so v = 0 and the matrix is non-singular. "
        f"{solved.evidence}",
    )


@claim(
    "y-td",
    formal="words",
    where="Section II-C, after Y*",
    origin="paper",
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
        implied={"Phi'XiPhi non-singular": C_FOLLOWS},
    )


@claim(
    "y-rg",
    formal="words",
    where="Section II-C, after Y*",
    origin="paper",
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
    formal="words",
    where="Lemma 2, Eq. (6)",
    origin="paper",
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
    where="Section II-C, the sentence before Lemma 2 ('necessary conditions')",
    origin="paper",
    setting=Setting((C_NONSINGULAR, VALUES_EXIST, FULL_RANK)),
    title="The conditions of Lemma 2 are necessary for a solution to exist",
    statement=r"\exists\theta:\ \Phi\theta = \Pi_\Phi^{\Xi Y}T_\pi\Phi\theta \implies "
    r"\det(Y^\top\Xi L_\pi\Phi) \neq 0",
)
def lemma_2_necessary(discount: str = "5/6") -> Outcome:
    """With reward 0, theta = 0 solves the equation whatever A is."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem.native
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
    "lemma-2-equivalences",
    formal="words",
    where="Lemma 2, proof (the chain of equivalences)",
    origin="paper",
    title="Each line of the proof of Lemma 2 is equivalent to the next",
    statement=r"\Phi\theta = \Pi_\Phi^X T\Phi\theta \iff X^\top\Phi\theta = X^\top T\Phi\theta \iff "
    r"X^\top L_\pi\Phi\theta = X^\top R \iff \theta = (X^\top L_\pi\Phi)^{-1}X^\top R",
)
def lemma_2_equivalences(back: Word = PROJECTION) -> Outcome:
    """Down: multiply by X', since X'Pi = X'. Up: multiply by Phi (X'Phi)^-1, since Pi Phi = Phi.

    The second step moves a term. The third multiplies by (X'L Phi)^-1, and back by X'L Phi.
    With any theta, and T v = r + v - L v. ``back`` is the matrix claimed to lead back up.
    """
    theta = letter("theta", "d 1")
    v = Phi @ theta
    backup = r + v - L @ v
    A = X.T @ L @ Phi
    return decide_identity(
        [
            ("1, down", X.T @ (v - PROJECTION @ backup), X.T @ (v - backup)),
            ("1, up", back @ (v - backup), v - PROJECTION @ backup),
            ("2", X.T @ (v - backup), A @ theta - X.T @ r),
            ("3, down", H @ (A @ theta - X.T @ r), theta - H @ X.T @ r),
            ("3, up", A @ (theta - H @ X.T @ r), A @ theta - X.T @ r),
        ],
        inverses={"G": X.T @ Phi, "H": X.T @ L @ Phi},
        extra=_some_theta,
        premise="Where X'Phi and X'L Phi are non-singular, for any theta",
    )


def _some_theta(_: PolicyEvaluation, values: dict[str, Matrix]) -> None:
    values["theta"] = values["Phi"].T @ values["r"]
