"""Section III-B: the criterion and Proposition 1."""

from __future__ import annotations

from obliquetd.algebra import Matrix
from obliquetd.claims.assumptions import FULL_ROW_RANK, POSITIVE_WEIGHTS, VALUES_EXIST
from obliquetd.claims.battery import decide_identity, letters, off_policy_battery
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.domains.random_problem import random_problem
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.words import Word, inverse_of, letter

__all__: list[str] = []

Phi, Xi, L, V = letters.Phi, letters.Xi, letters.L, letters.V
Y = letter("Y", "n d")
Li = inverse_of("L^-1", L)[0]
X_STAR = Li.T @ Xi @ Phi


@claim(
    "criterion-of-x-star",
    formal="words",
    where="Section III-B, Eq. (7)",
    origin="paper",
    title="Lambda'X* = C",
    statement=r"\Lambda^\top X^* = \Phi^\top\Xi\Phi = C,\quad \Lambda = L_\pi\Phi",
)
def criterion_of_x_star(X_star: Word = X_STAR) -> Outcome:
    """Phi' L' L^-T Xi Phi."""
    return decide_identity(
        [("Lambda'X*", (L @ Phi).T @ X_star, Phi.T @ Xi @ Phi)],
        inverses={"L^-1": L},
        premise="Where L is non-singular",
    )


def _square_problems() -> list[PolicyEvaluation]:
    return [random_problem(n, n, seed=10 + n) for n in (2, 3)]


def _another_Y(problem: PolicyEvaluation, _learner: Learner | None) -> Observed | None:
    """N with N'Xi L Phi = 0: then Y* + N meets the criterion as well as Y*."""
    null = (problem.native.Lambda.scale_rows(problem.native.xi).T).null_space()
    return {"N' with N'Xi L Phi = 0": null.public().T} if null.shape[1] else None


@claim(
    "proposition-1",
    formal="existence",
    where="Proposition 1",
    origin="paper",
    setting=Setting((FULL_ROW_RANK, VALUES_EXIST, POSITIVE_WEIGHTS), fails=_another_Y),
    title="If Y'Xi L Phi = C and Phi has full row rank, then Y = Y*",
    statement=r"Y^\top\Xi L_\pi\Phi = C,\ \mathrm{rank}(\Phi) = |\mathcal S| \implies "
    r"Y = \Xi^{-1} L_\pi^{-\top}\Xi\Phi",
)
def proposition_1(conclusion: Word | None = None) -> Outcome:
    """Multiply by a right inverse R of Phi: Y'Xi L = Y'Xi L Phi R = C R = Phi'Xi."""
    Xii = inverse_of("Xi^-1", Xi)[0]
    R = letter("R", "d n")
    claimed = Xii @ X_STAR if conclusion is None else conclusion

    def solve_for_Y(problem: PolicyEvaluation, values: dict[str, Matrix]) -> None:
        ops = problem.native
        values["Y"] = (ops.Lambda.T @ values["Xi"]).solve(ops.C.T)
        values["R"] = values["Phi"].solve(ops.arithmetic.identity(ops.n))

    def with_inverses(problem: PolicyEvaluation, values: dict[str, Matrix]) -> None:
        solve_for_Y(problem, values)
        for name, of in (("L^-1", "L"), ("Xi^-1", "Xi")):
            values[name] = values[of].solve(problem.native.arithmetic.identity(problem.native.n))

    first = decide_identity(
        [("Y'Xi L", Y.T @ Xi @ L, Y.T @ Xi @ L @ Phi @ R)],
        rules=[(Phi @ R, letters.Id)],
        extra=solve_for_Y,
        problems=_square_problems(),
        premise="With Phi R = I",
    )
    second = decide_identity(
        [("Y'Xi L Phi R", Y.T @ Xi @ L @ Phi @ R, Phi.T @ Xi)],
        rules=[(Y.T @ Xi @ L @ Phi, Phi.T @ Xi @ Phi), (Phi @ R, letters.Id)],
        extra=solve_for_Y,
        problems=_square_problems(),
        premise="By hypothesis",
    )
    third = decide_identity(
        [("Y", Y, Xii @ Li.T @ L.T @ Xi @ Y)],
        inverses={"L^-1": L, "Xi^-1": Xi},
        extra=solve_for_Y,
        problems=_square_problems(),
        premise="Transposed, with L and Xi non-singular",
    )
    fourth = decide_identity(
        [("Y", Xii @ Li.T @ L.T @ Xi @ Y, claimed)],
        rules=[(L.T @ Xi @ Y, Xi @ Phi)],
        extra=with_inverses,
        problems=_square_problems(),
        premise="Since L'Xi Y = Xi Phi",
    )
    steps = (first, second, third, fourth)
    worst = next((o for o in steps if o.verdict is not Verdict.PROVED), None)
    return worst or Outcome(Verdict.PROVED, ". ".join(o.evidence for o in steps))


@claim(
    "proposition-1-and-lemma-1",
    where="Proposition 1 with Lemma 1",
    setting=Setting((FULL_ROW_RANK, VALUES_EXIST)),
    title="Proposition 1 can apply where Lemma 1 does (V outside span(Phi))",
    statement=r"\mathrm{rank}(\Phi) = |\mathcal S| \ \text{and}\ V_\pi \notin \mathrm{span}(\Phi)",
)
def proposition_1_and_lemma_1(rank: str = "full") -> Outcome:
    """With Phi R = I every V is Phi (R V), so the two premises exclude each other."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        ops = problem.native
        if rank == "full" and ops.Phi.rank() < ops.n:
            return None
        solution = ops.Phi.general_solution(ops.v_pi)
        if solution.particular is None:
            return None
        return {"theta with Phi theta = V": solution.particular.public()}

    problems = _square_problems() if rank == "full" else list(off_policy_battery())
    found = Counterexample.find(problems, violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, f"V is outside span(Phi) on {len(problems)} problems")
    R = letter("R", "d n")
    proof = decide_identity(
        [("V", Phi @ R @ V, V)],
        rules=[(Phi @ R, letters.Id)],
        extra=lambda p, values: values.__setitem__(
            "R", values["Phi"].solve(p.native.arithmetic.identity(p.native.n))
        ),
        problems=_square_problems(),
        premise="With Phi R = I",
    )
    return Outcome(
        Verdict.REFUTED,
        "a Phi of rank |S| spans everything, so V is always in span(Phi) and there is nothing to "
        f"approximate: Pi = I, v* = V ({proof.verdict}: {proof.evidence}). The rank condition also "
        "needs d >= |S| features, and C is non-singular only for d = |S|",
        found.observed,
        found,
    )
