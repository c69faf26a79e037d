"""What a learner is called in an experiment, and what its numbers depend on.

A name is for people and tells learners apart. An identity is for files: two learners have the
same one where the compiled loop is handed the same rule and the same numbers, the step sizes
alpha(0), ..., alpha(T - 1) among them, in whatever process and however they were written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FLOAT
from obliquetd.errors import InputError
from obliquetd.learners import Learner, require_learner, require_learners
from obliquetd.learners.base import each, require_bound
from obliquetd.learners.check import require_runnable
from obliquetd.learners.compiled import float_numbers
from obliquetd.learners.functions import digest
from obliquetd.problem import PolicyEvaluation

__all__ = [
    "bound_learners",
    "learner_identity",
    "named_learners",
    "numbers_of",
    "schedule_identity",
    "step_sizes",
]

Floats = npt.NDArray[np.float64]


def named_learners(
    learners: Learner | Iterable[Learner] | Mapping[str, Learner],
    name_of: Callable[[Learner], str],
) -> dict[str, Learner]:
    """Learners by name; one alone is a list of one, and a name that is taken gets a number.

    Raises
    ------
    InputError
        Where there is none, or something else among them.
    """
    if isinstance(learners, Mapping):
        named = {name: require_learner(learner) for name, learner in learners.items()}
    else:
        named = {}
        for learner in require_learners(learners):
            base = name = name_of(learner)
            count = 1
            while name in named:
                count += 1
                name = f"{base} {count}"
            named[name] = learner
    for learner in named.values():
        require_runnable(learner)
    if not named:
        raise InputError("there is no learner; give at least one, such as TD(0.1)")
    return named


def bound_learners(
    learners: Mapping[str, Learner], problem: PolicyEvaluation | None
) -> dict[str, Learner]:
    """Each learner with the numbers that its rule takes from the problem.

    Raises
    ------
    InputError
        Where there is no problem, and one needs it.
    """
    for name, learner in learners.items():
        if problem is None and learner.derives:
            raise InputError(
                f"the rule of {name} reads {' and '.join(learner.derives)}, which follows from a "
                "problem, and a log was given without one; give the problem too"
            )
    return {
        name: learner if problem is None else learner.bound(problem)
        for name, learner in learners.items()
    }


def step_sizes(learner: Learner, steps: int) -> Floats:
    """alpha(0), ..., alpha(steps - 1), shape (steps,).

    Raises
    ------
    InputError
        Where there is none, or a schedule gives something that is no step size.
    """
    if callable(learner.alpha):
        return np.array([learner.step_size(t) for t in range(steps)])
    return np.full(steps, learner.step_size(0))


def schedule_identity(alphas: Floats) -> str:
    """A digest of step sizes; a schedule that never changes has that of the constant."""
    first = alphas[:1]
    numbers = first if (alphas == first).all() else alphas
    return hashlib.sha256(numbers.tobytes()).hexdigest()


def numbers_of(learner: Learner) -> Any:
    """What the rule reads, as the compiled loop gets it."""
    values = require_bound(learner).values
    return float_numbers(
        learner, {k: each(lambda x: float(FLOAT.scalar(x)), v) for k, v in values.items()}
    )


def learner_identity(learner: Learner, alphas: Floats) -> str:
    """A digest of all that a run depends on besides its transitions and first weights."""
    numbers = [x.hex() for row in numbers_of(learner) for x in np.ravel(row).tolist()]
    text = f"{digest(learner.rule)} {numbers} {schedule_identity(alphas)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
