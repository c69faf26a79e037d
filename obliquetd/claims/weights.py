"""Section III-C: the weights omega."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from obliquetd.claims.assumptions import (
    C_NONSINGULAR,
    NONZERO_FEATURES,
    POSITIVE_WEIGHTS,
    VALUES_EXIST,
    Assumption,
)
from obliquetd.claims.battery import battery
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.domains.random_problem import random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.errors import UndefinedError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__: list[str] = []

STEPS = Assumption(
    "Delta phi != 0",
    "no Delta phi is zero",
    lambda problem, _: all(any(row) for row in problem.native.Lambda.rows()),
)


@claim(
    "omega-closed-form",
    formal="weights",
    where="Section III-C, Eq. (9)",
    origin="paper",
    setting=Setting((STEPS,), fails=lambda p, _: _formula_gap(p)),
    title="omega = max(Delta phi . phi / |Delta phi|^2, 0) minimises |omega Delta phi - phi|, omega >= 0",
    statement=r"\omega_i = \max\Big(\frac{\Delta\phi_i^\top\phi_i}{\|\Delta\phi_i\|^2}, 0\Big) = "
    r"\arg\min_{\omega \ge 0} \|\omega\Delta\phi_i - \phi_i\|",
)
def omega_closed_form(
    formula: Callable[[Any, Any], Any] = lambda a, b: b / a,
) -> Outcome:
    """Complete the square, for every dimension at once.

    With a = |Delta phi|^2 > 0, b = Delta phi . phi, c = |phi|^2 the objective is
    q(omega) = a omega^2 - 2 b omega + c. (1) q(omega) - q(b/a) = a (omega - b/a)^2, so b/a
    is the only minimiser. (2) For b <= 0 and omega >= 0, q(omega) - q(0) =
    a omega^2 + 2 (-b) omega >= 0 with equality at 0 only. ``formula`` gives the claimed
    unconstrained minimiser from a and b.
    """
    a, b, c, w = sp.symbols("a b c omega")

    def q(x: Any) -> Any:
        return a * x**2 - 2 * b * x + c

    free = sp.simplify(q(w) - q(formula(a, b)) - a * (w - formula(a, b)) ** 2) == 0
    bound = sp.expand(q(w) - q(0) - (a * w**2 + 2 * (-b) * w)) == 0
    phi, delta = sp.Matrix(sp.symbols("f0:3")), sp.Matrix(sp.symbols("g0:3"))
    objective = (w * delta - phi).dot(w * delta - phi)
    named = q(w).subs({a: delta.dot(delta), b: delta.dot(phi), c: phi.dot(phi)})
    if sp.expand(objective - named) != 0 or not bound:
        raise AssertionError("the objective is not the parabola it is said to be")
    if not free:
        found = Counterexample.find(
            [two_state()], lambda p: _better_omega(p, lambda x, y: formula(x, y))
        )
        return Outcome(Verdict.REFUTED, "not the vertex", counterexample=found)
    return Outcome(
        Verdict.PROVED,
        "q(omega) = |omega Delta phi - phi|^2 is the parabola a omega^2 - 2 b omega + c with "
        "a = |Delta phi|^2: q(omega) - q(b/a) = a (omega - b/a)^2, and for b <= 0 <= omega, "
        "q(omega) - q(0) = a omega^2 - 2 b omega >= 0. Both hold in every dimension, where "
        "Delta phi != 0",
    )


def _formula_gap(problem: PolicyEvaluation) -> Observed | None:
    """A state where the closed form says nothing."""
    for state, row in zip(problem.states, problem.Lambda.tolist(), strict=True):
        if not any(row):
            return {"state": str(state), "Delta phi . phi / |Delta phi|^2": "0/0"}
    return None


def _better_omega(problem: PolicyEvaluation, formula: Callable[[Any, Any], Any]) -> Observed | None:
    """A state of the problem where b/a beats the formula."""
    for phi, delta in zip(problem.Phi.tolist(), problem.Lambda.tolist(), strict=True):
        a, b = sum(x * x for x in delta), sum(x * y for x, y in zip(delta, phi, strict=True))
        claimed, vertex = (sp.Max(0, w) for w in (formula(a, b), b / a))
        worse, best = (
            sum((w * x - y) ** 2 for x, y in zip(delta, phi, strict=True))
            for w in (claimed, vertex)
        )
        if worse > best:
            return {"objective at the formula": worse, "at b/a": best}
    return None


@claim(
    "omega-always-defined",
    where="Section III-C, Eq. (9) ('for all i')",
    origin="paper",
    setting=Setting((C_NONSINGULAR, VALUES_EXIST, NONZERO_FEATURES)),
    title="The closed form gives a weight for every transition",
    statement=r"\|\Delta\phi_i\| \neq 0",
)
def omega_always_defined(discount: str = "1/2") -> Outcome:
    """Delta phi = phi - gamma phi' can vanish where phi does not."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        try:
            _ = problem.Omega_S
        except UndefinedError as error:
            return {"state": str(error.states[0]), "discount": problem.discount}
        return None

    found = Counterexample.find([two_state(discount=discount)], violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, f"defined on the two-state example at {discount}")
    return Outcome(
        Verdict.CORRECTED,
        f"on the two-state example ({told(found.observed)}) the expected Delta phi is 0 while phi is "
        "not: the formula is 0/0, and every omega minimises the objective",
        found.observed,
        found,
        "The closed form holds where Delta phi != 0. Where Delta phi = 0 every omega is a "
        "minimiser; the choice changes b (not A) and has to be stated.",
    )


@claim(
    "omega-positive",
    where="Section III-C, after Eq. (8) (the paper calls positive weights desirable)",
    setting=Setting((C_NONSINGULAR, VALUES_EXIST, POSITIVE_WEIGHTS)),
    title="The weights are positive",
    statement=r"\forall s:\ \Omega_S(s,s) > 0",
)
def omega_positive(discount: str = "9/10") -> Outcome:
    """The constraint is omega >= 0, and it binds in the paper's own example."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        diagonal = list(problem.Omega_S.diagonal())
        zero = [s for s, w in zip(problem.states, diagonal, strict=True) if w <= 0]
        return {f"omega({zero[0]})": diagonal[problem.states.index(zero[0])]} if zero else None

    found = Counterexample.find([two_state(discount=discount)], violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, f"on the two-state example at discount {discount}")
    return Outcome(
        Verdict.REFUTED,
        f"in the two-state example {told(found.observed)}: the expected update with Omega_S never "
        "uses that state",
        found.observed,
        found,
    )


@claim(
    "relaxation-is-batch-minimizer",
    where="Section III-C, after Eq. (8) (the paper calls the objective relaxed)",
    setting=Setting((C_NONSINGULAR, VALUES_EXIST)),
    title="The relaxed (sample-separable) weights minimise the batch objective",
    statement=r"\Omega_S^{\mathrm{relaxed}} \in \arg\min_\Omega "
    r"\|\Lambda^\top\Xi\Omega\Phi - C\|_F",
)
def relaxation_is_batch_minimizer(candidate: str = "relaxed") -> Outcome:
    """Compare the criterion at Omega_S with its exact minimum, also under omega >= 0."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        weights = problem.Omega_S if candidate == "relaxed" else problem.Omega_S_batch
        at = problem.fixed_point(Omega=weights).criterion
        least = problem.batch_minimizers(nonnegative=candidate == "relaxed").objective
        if not at > least:
            return None
        best = problem.batch_minimizers(nonnegative=candidate == "relaxed").omega
        return {
            "criterion at Omega_S": at,
            "Omega_S": sp.Matrix(weights.diagonal()),
            "least over omega >= 0": least,
            "attained at": best.T,
        }

    found = Counterexample.find([two_state(), random_problem(3, 2, seed=2)], violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, "the criterion is at its minimum on every problem tried")
    return Outcome(
        Verdict.REFUTED,
        f"on the two-state example: {told(found.observed)}. The triangle inequality bounds the "
        "objective from above; a minimiser of the bound need not minimise it",
        found.observed,
        found,
    )


@claim(
    "omega-by-zeroing-gradient",
    where="Section III-C, after Eq. (14) ('By zeroing the gradient ... we will have Eq. (9)')",
    origin="paper",
    title="The zero of the gradient of |omega Delta phi - phi|^2 is Eq. (9)",
    statement=r"\nabla_\omega\|\omega\Delta\phi - \phi\|^2 = 0 \iff "
    r"\omega = \max(\Delta\phi^\top\phi/\|\Delta\phi\|^2, 0)",
    setting=Setting((STEPS, NONZERO_FEATURES)),
)
def omega_by_zeroing_gradient(bound: str = "max") -> Outcome:
    """The zero is b/a, without a bound; the maximum with 0 comes from the constraint."""

    def violation(problem: PolicyEvaluation) -> Observed | None:
        for state, phi, delta in zip(
            problem.states, problem.Phi.tolist(), problem.Lambda.tolist(), strict=True
        ):
            a = sum(x * x for x in delta)
            b = sum(x * y for x, y in zip(delta, phi, strict=True))
            claimed = sp.Max(b / a, 0) if bound == "max" else b / a
            gradient = 2 * (a * claimed - b)
            if gradient != 0:
                return {
                    "state": str(state),
                    "omega": claimed,
                    "gradient there": gradient,
                    "its zero": b / a,
                }
        return None

    found = Counterexample.find([two_state()], violation)
    if found is None:
        return Outcome(Verdict.VERIFIED, "the gradient vanishes in each state of the example")
    return Outcome(
        Verdict.CORRECTED,
        f"in the two-state example: {told(found.observed)}",
        found.observed,
        found,
        "The gradient vanishes at Delta phi . phi / |Delta phi|^2 alone, the weight of phi's projection onto Delta phi. Eq. (9) is the minimiser under "
        "omega >= 0 (omega-closed-form): where that quotient is negative it is 0, and the gradient is not.",
    )


def _nearer(problem: PolicyEvaluation, _learner: Learner | None, shift: int = 0) -> Observed | None:
    """Whether another diagonal is as near to X* as the closed form."""
    ops = problem.native
    omega = problem.Omega_star
    x_star = ops.X_star.public()
    for i, (w, phi) in enumerate(zip(problem.xi, problem.Phi.tolist(), strict=True)):
        size = sum(x * x for x in phi) * w * w
        if size == 0:
            return {"state": str(problem.states[i]), "attained by": "every omega"}
        slope = sum(
            (w * (omega[i, i] + shift) * x - y) * w * x
            for x, y in zip(phi, x_star.row(i), strict=True)
        )
        if slope != 0:
            return {"state": str(problem.states[i]), "gradient at the formula": slope}
    return None


@claim(
    "omega-star-closed-form",
    formal="weights",
    where="Section III-C, before Eq. (8) (the paper gives Omega* as a minimiser)",
    title="Omega* is phi . x* / (xi |phi|^2), state by state, and nothing else",
    statement=r"\omega^*(s) = \frac{\phi(s)^\top x^*(s)}{\xi(s)\|\phi(s)\|^2} = "
    r"\arg\min \|\Xi\Omega\Phi - X^*\|_F",
    setting=Setting((POSITIVE_WEIGHTS, NONZERO_FEATURES, VALUES_EXIST), fails=_nearer),
)
def omega_star_closed_form(shift: int = 0) -> Outcome:
    """Row s is a parabola in omega(s): |xi omega phi - x*|^2, of slope 2 xi (xi omega |phi|^2 - phi . x*).

    The squared Frobenius norm is the sum over rows, and row s has omega(s) alone, so each is
    minimised by itself, for every size; the vertex is unique where xi |phi| > 0. ``shift`` is added
    to the formula.
    """
    w, o, a, b, k = sp.symbols("xi omega a b c")  # a = |phi|^2, b = phi . x*, c = |x*|^2
    objective = w**2 * o**2 * a - 2 * w * o * b + k
    vertex = b / (w * a) + shift
    square = sp.simplify(objective - objective.subs(o, vertex) - w**2 * a * (o - vertex) ** 2)
    problems = [p for p in battery() if not p.symbols and NONZERO_FEATURES.holds(p)]
    found = Counterexample.find(problems, lambda p: _nearer(p, None, shift))
    if found is not None:
        return refuted(found)
    if square != 0:
        raise AssertionError("the row is not the parabola it is said to be")
    return Outcome(
        Verdict.PROVED,
        "row by row the objective exceeds its value at the formula by xi^2 |phi|^2 (omega - omega*)^2. "
        f"Also exact on {len(problems)} problems",
    )
