"""How a sentence is decided: random problems, and one way to say what was found on them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import sympy as sp

from obliquetd.claims.claim import Counterexample, Observed, Outcome, Verdict, told
from obliquetd.claims.setting import Setting
from obliquetd.domains.random_problem import random_problem
from obliquetd.errors import InputError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["ENOUGH", "decide", "drawn", "error", "meeting", "squared", "values_of"]

ENOUGH = 200
"""Random problems on which a sentence is tested that is not proved."""

WITH_PROOF = 24
"""Problems at most that a proved sentence is tested on: they guard the argument, and carry nothing."""

DISCOUNTS = ("9/10", "1/2", "99/100", "3/4")
SHAPES = ((2, 1), (3, 1), (3, 2), (4, 2), (4, 3))


@cache
def _drawn(k: int, on_policy: bool) -> PolicyEvaluation:
    return random_problem(
        *SHAPES[k % 5], seed=1000 + k, on_policy=on_policy, deterministic=k % 3 == 2,
        discount=DISCOUNTS[k % 4],
    )  # fmt: skip


def drawn(
    count: int = ENOUGH, *, on_policy: bool = False, first: int = 0
) -> Iterator[PolicyEvaluation]:
    """Random rational problems of two to four states, in turn of each shape and discount, from the ``first`` on."""
    return (_drawn(k, on_policy) for k in range(first, first + count))


def meeting(
    problems: Iterable[PolicyEvaluation], setting: Setting, learner: Learner | None = None
) -> Iterator[PolicyEvaluation]:
    """The problems that meet the assumptions of a setting."""
    return (p for p in problems if not setting.unmet(p, learner))


Violation = Callable[[PolicyEvaluation], Observed | None]


def decide(
    problems: Iterable[PolicyEvaluation],
    violation: Violation,
    *,
    proof: str = "",
    says: str = "",
    learner: Learner | None = None,
    setting: Setting | None = None,
    right: str = "",
) -> Outcome:
    """Refuted (or corrected, given what is right) at the first violation; else proved, or verified.

    Parameters
    ----------
    problems : iterable of PolicyEvaluation
    violation : callable
        What contradicts the sentence on a problem, or None.
    proof : str
        Why it holds for every size; without it at least :data:`ENOUGH` problems are needed.
    says : str
        What is said of the counterexample, before what was observed.
    setting : Setting, optional
        The assumptions, where the check chooses them.

    Raises
    ------
    InputError
        For too few problems.
    """
    tried = itertools.count()
    if proof:
        problems = itertools.islice(problems, WITH_PROOF)
    found = Counterexample.find(
        (p for p, _ in zip(problems, tried, strict=False)), violation, learner
    )
    number = next(tried)
    if found is not None:
        evidence = f"{says or f'on {found.problem()!r}'}: {told(found.observed)}"
        if right:
            return Outcome(Verdict.CORRECTED, evidence, found.observed, found, right, setting)
        return Outcome(Verdict.REFUTED, evidence, found.observed, found, setting=setting)
    if not proof and number < ENOUGH:
        raise InputError(
            f"a sentence without a proof is tested on {ENOUGH} problems at least; got {number}"
        )
    if not number:
        raise InputError("there is no problem to test the sentence on")
    tested = f"exact on {number} problems"
    if proof:
        return Outcome(Verdict.PROVED, f"{proof}. Also {tested}", setting=setting)
    return Outcome(Verdict.VERIFIED, tested.capitalize(), setting=setting)


def squared(problem: PolicyEvaluation, u: sp.Matrix) -> Any:
    """The sum of xi(s) u(s)^2."""
    return sum((w * x * x for w, x in zip(problem.xi, u, strict=True)), sp.Integer(0))


def values_of(problem: PolicyEvaluation, learner: Learner | None) -> sp.Matrix:
    """Phi theta at the fixed point of the learner's own rule."""
    from obliquetd.claims.assumptions import dynamics

    return problem.Phi * dynamics(problem, learner).fixed_point()


def error(problem: PolicyEvaluation, learner: Learner | None) -> Any:
    """The squared error of a learner's fixed point."""
    return squared(problem, values_of(problem, learner) - problem.v_pi)
