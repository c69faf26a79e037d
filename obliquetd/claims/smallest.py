"""How small can an unstable SETD be? Three states and two features, and no smaller."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from obliquetd.claims.assumptions import (
    LAMBDA_0,
    ONE_FEATURE,
    POSITIVE_WEIGHTS,
    STATIONARY,
    TWO_STATES,
    dynamics,
)
from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, refuted, told
from obliquetd.claims.gallery import gallery
from obliquetd.claims.registry import claim
from obliquetd.claims.setting import Setting
from obliquetd.claims.stability import shipped_model
from obliquetd.claims.stable import unstable
from obliquetd.domains.two_state import two_state
from obliquetd.dynamics import check_certificate, mean_dynamics
from obliquetd.learners import SETD, Learner
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["rising_chain"]

HALF = sp.Rational(1, 2)
TRACED = SETD(lam=HALF)


def rising_chain() -> PolicyEvaluation:
    """Target 0 -> 1 -> 2 -> 2, uniform xi, one feature 10, 11, 20, discount 9/10.

    ``solid`` follows the target, ``dashed`` leads to one of the other states; the behaviour takes
    solid with 1/3, so that every state comes next with 1/3.
    """
    rows: list[Any] = []
    for s, successor in enumerate((1, 2, 2)):
        rows.append((s, "solid", successor, 1, 0))
        rows += [(s, "dashed", t, Fraction(1, 2), 0) for t in range(3) if t != successor]
    third = Fraction(1, 3)
    return PolicyEvaluation(
        MDP.from_transitions(rows, states=range(3)),
        target=Policy.deterministic(dict.fromkeys(range(3), "solid")),
        behavior=Policy({s: {"solid": third, "dashed": 1 - third} for s in range(3)}),
        features=[[10], [11], [20]],
        discount="9/10",
    )


def _negative_trace(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    A = dynamics(problem, learner).A
    return {"A": A, "tr A": A.trace()} if A.trace() < 0 else None


def _term() -> bool:
    """omega phi . Delta phi = (phi . Delta phi)^2/|Delta phi|^2 where the inner product is positive."""
    inner, size = sp.symbols("inner size", positive=True)
    return bool(sp.cancel(inner / size * inner - inner**2 / size) == 0)


def _small(learner: Learner, *assumptions: Any) -> list[PolicyEvaluation]:
    return [p for p in (two_state(), *gallery()) if all(a.holds(p, learner) for a in assumptions)]


@claim(
    "setd-trace-nonnegative",
    formal="weights",
    where="Section III-C, Eqs. (9) and (15)",
    title="The trace of SETD(0)'s A is never negative, for any state weights",
    statement=r"\mathrm{tr}\,A_{SETD} = \sum \xi\,\pi\,P\,\frac{\max(\Delta\phi^\top\phi, 0)^2}{\|\Delta\phi\|^2} \ge 0",
    setting=Setting(
        (LAMBDA_0,),
        fails=_negative_trace,
        learner=SETD(),
        others=(TRACED,),
        without={"lambda = 0": lambda: (rising_chain(), TRACED)},
    ),
)
def setd_trace_nonnegative(learner: Learner = SETD()) -> Outcome:  # noqa: B008 - a frozen record
    """A is the mean of rho omega phi Delta phi', whose trace is omega phi . Delta phi, for every size.

    With omega = max(phi . Delta phi, 0)/|Delta phi|^2 that is max(phi . Delta phi, 0)^2/|Delta phi|^2, and 0 where
    Delta phi = 0; its weight xi mu p rho = xi pi p is nonnegative, whatever xi is. So the
    eigenvalues of A cannot all have negative real parts. It fails for lambda > 0, where the trace of the past is added.
    """
    problems = _small(learner)
    problems = [rising_chain(), *problems] if learner.has_memory else problems
    if learner.has_memory:
        problems = [p for p in problems if STATIONARY.holds(p)]
    found = Counterexample.find(problems, lambda p: _negative_trace(p, learner), learner)
    if found is not None:
        return refuted(found)
    if not _term():
        raise AssertionError("a term of the trace is not the square it is said to be")
    return Outcome(
        Verdict.PROVED,
        "each term of the trace is a nonnegative weight times max(phi . Delta phi, 0)^2/|Delta phi|^2. Also exact, from the "
        f"rule, on {len(problems)} problems",
    )


@claim(
    "setd-one-feature-never-unstable",
    formal="weights",
    where="Section III-C, Eq. (9) with d = 1",
    title="With one feature SETD(0)'s expected update is never unstable (lambda = 0)",
    statement=r"d = 1,\ \lambda = 0 \implies A_{SETD} = \sum \xi\,\pi\,P\,\phi^2\,[\phi\,\Delta\phi > 0] \ge 0",
    setting=Setting(
        (ONE_FEATURE, LAMBDA_0),
        fails=unstable,
        learner=SETD(),
        others=(TRACED,),
        without={
            "one feature": lambda: (shipped_model("setd_off_policy"), SETD()),
            "lambda = 0": lambda: (rising_chain(), TRACED),
        },
    ),
)
def setd_one_feature(features: int = 1) -> Outcome:
    """A is its own trace (setd-trace-nonnegative), whose terms are phi^2 or 0 with d = 1."""
    phi, delta = sp.symbols("phi delta")
    term = sp.cancel(delta * phi / delta**2 * phi * delta - phi**2)
    problems = _small(SETD(), ONE_FEATURE)
    if features != 1:
        problems = [shipped_model("setd_off_policy")]
    found = Counterexample.find(problems, lambda p: unstable(p, SETD()), SETD())
    if found is not None:
        return refuted(found)
    if term != 0:
        raise AssertionError("omega phi Delta phi is not phi^2")
    return Outcome(
        Verdict.PROVED,
        "a sampled term of A is omega phi Delta phi = phi^2 where phi Delta phi > 0 and 0 elsewhere, and its weight "
        "xi pi P is nonnegative, so A >= 0; A = 0 (marginal) only where no transition has phi Delta phi > 0. For lambda > 0 "
        f"it fails (setd-lambda-one-feature-never-unstable). Also exact on {len(problems)} problems",
    )


@claim(
    "setd-lambda-one-feature-never-unstable",
    where="Section III-D, Algorithm 2 with d = 1",
    title="With one feature SETD(lambda)'s expected update is never unstable",
    statement=r"d = 1 \implies A_{SETD(\lambda)} \ge 0",
    setting=Setting((ONE_FEATURE, STATIONARY, POSITIVE_WEIGHTS), learner=TRACED),
)
def setd_lambda_one_feature(lam: Any = HALF) -> Outcome:
    """The trace carries phi of the past into the error of a later step, with any sign of phi . Delta phi."""
    learner = SETD(lam=lam)

    def violation(problem: PolicyEvaluation) -> Observed | None:
        seen = unstable(problem, learner)
        if seen is None or not check_certificate(mean_dynamics(problem, learner).certificate()):
            return None
        return {"lambda": sp.sympify(lam), "A": seen["A"]}

    found = Counterexample.find([rising_chain()], violation, learner)
    if found is None:
        return Outcome(Verdict.VERIFIED, f"not unstable at lambda = {lam} on the chain tried")
    return refuted(
        found,
        "target 0 to 1 to 2 to 2, uniform xi, features 10, 11, 20, discount 9/10: "
        f"{told(found.observed)}, unstable (the certificate was checked with fractions alone)",
    )


def _determinant() -> bool:
    """For n = 2: det D = (p1 p2 + p1 b + p2 a) with D = [[a + p1, -a], [-b, b + p2]], all of a, b, p >= 0."""
    a, b, p1, p2 = sp.symbols("a b p1 p2", nonnegative=True)
    D = sp.Matrix([[a + p1, -a], [-b, b + p2]])
    phi = sp.Matrix(2, 2, sp.symbols("f0:4"))
    return bool(
        sp.expand(D.det() - (p1 * p2 + p1 * b + p2 * a)) == 0
        and sp.expand((phi.T * D * phi).det() - D.det() * phi.det() ** 2) == 0
    )


@claim(
    "setd-two-states-never-unstable",
    formal="weights",
    where="Section III-C, Eqs. (9) and (15), |S| = 2",
    title="On two states SETD(0)'s expected update is never unstable, for any features and weights",
    statement=r"|\mathcal S| = 2,\ \lambda = 0 \implies \mathrm{Re}\,\lambda(A_{SETD}) \ge 0",
    setting=Setting(
        (TWO_STATES, LAMBDA_0),
        fails=unstable,
        learner=SETD(),
        others=(TRACED,),
        without={"two states": lambda: (shipped_model("setd_off_policy"), SETD())},
    ),
)
def setd_two_states(states: int = 2) -> Outcome:
    """Trace and determinant are not negative.

    (1) A = Phi'D Phi with D_ss' = sum over rows of w (1{s' = s} - g), w = xi pi p omega >= 0: off the diagonal
    D <= 0, and its rows sum to sum of w (1 - g) >= 0. So D = [[a + p1, -a], [-b, b + p2]] with a, b, p1, p2 >= 0,
    and det D = p1 p2 + p1 b + p2 a >= 0. (2) The eigenvalues of A other than zeros are those of D Phi Phi', whose
    determinant is det D det(Phi Phi') >= 0 and whose trace is tr A >= 0 (setd-trace-nonnegative). (3) A real 2 by 2
    matrix with trace and determinant not negative has no eigenvalue of negative real part: a pair of complex ones has
    the real part tr/2, and two real ones cannot have a negative one without the product or the sum being so.
    """
    problems = _small(SETD(), TWO_STATES) if states == 2 else [shipped_model("setd_off_policy")]
    found = Counterexample.find(problems, lambda p: unstable(p, SETD()), SETD())
    if found is not None:
        return refuted(found)
    if not (_determinant() and _term()):
        raise AssertionError("an identity of the proof fails")
    return Outcome(
        Verdict.PROVED,
        "A = Phi'D Phi with D = [[a + p1, -a], [-b, b + p2]], all four nonnegative, so det D = p1 p2 + p1 b + p2 a >= 0; "
        "trace and determinant of D Phi Phi' are not negative, and a 2 by 2 matrix with both so is not unstable. Also exact, "
        f"from the rule, on {len(problems)} problems",
    )


@claim(
    "setd-smallest-counterexample",
    informal="it joins two other claims to one computed example, whose certificate has a checker of its own",
    where="Section I ('The off-policy stability is rigorously proved')",
    title="Three states and two features are the smallest on which SETD(0) is unstable",
    statement=r"\min\{(|\mathcal S|, d) : A_{SETD}\ \text{unstable}\} = (3, 2)",
    setting=Setting(
        (LAMBDA_0,),
        fails=lambda p, learner: _smaller(p, learner),
        learner=SETD(),
        others=(TRACED,),
        without={"lambda = 0": lambda: (rising_chain(), TRACED)},
    ),
)
def setd_smallest(states: int = 3, features: int = 2) -> Outcome:
    """No one feature (setd-one-feature-never-unstable), no two states; and the shipped one has three and two."""
    example = shipped_model("setd_off_policy")
    size = len(example.states), example.Phi.cols
    found = Counterexample.find([example], lambda p: unstable(p, SETD()), SETD())
    below = [setd_one_feature.check(), setd_two_states.check()]
    if found is None or any(o.verdict is not Verdict.PROVED for o in below):
        return Outcome(Verdict.OPEN, "a part of the proof is missing")
    if size != (states, features):
        return refuted(
            found, f"{size[0]} states and {size[1]} features will do: {told(found.observed)}"
        )
    return Outcome(
        Verdict.PROVED,
        "with one feature, or on two states, SETD(0) is never unstable (setd-one-feature-never-unstable, "
        f"setd-two-states-never-unstable); on three states with two features it is: {told(found.observed)}",
        found.observed,
    )


def _smaller(problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
    """An unstable problem with fewer states or fewer features."""
    if len(problem.states) >= 3 and problem.Phi.rank() >= 2:
        return None
    return unstable(problem, learner)
