"""One walk of the search, and the shrinking of what it finds.

A candidate on which something has no mean dynamics (a trace that nothing decays, a sign that
floats cannot tell) is passed over and counted; what cannot be right for any candidate is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import NamedTuple

import numpy as np

from obliquetd.algebra import FLOAT, exactify, serial_number
from obliquetd.algebra.rounding import UNSTABLE
from obliquetd.dynamics import mean_dynamics
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.errors import MathematicalError
from obliquetd.learners import Learner
from obliquetd.learners.functions import digest
from obliquetd.search.families import Family, Genome

__all__ = ["End", "Quest", "confirmed", "score", "shrink", "walk"]

WALK = 150
"""Changes tried in one walk."""


@dataclass(frozen=True)
class Quest:
    """What is looked for."""

    family: Family
    learner: Learner
    stable: tuple[Learner, ...]
    seed: int

    @property
    def identity(self) -> str:
        """The same in every process; a learner is its rule and numbers, its step size is none."""
        learners = [_settings(x) for x in (self.learner, *self.stable)]
        return f"{self.family!r} seed {self.seed} {'; '.join(learners)}"


class End(NamedTuple):
    """How a walk ended: what it found, if anything; ``blind`` says why, where it judged nothing."""

    genome: Genome | None
    tried: int
    passed_over: int
    blind: str = ""


def walk(quest: Quest, number: int) -> End:
    """One walk: it ends at a genome that is exactly what was asked for, or after 150 changes."""
    rng = np.random.default_rng([quest.seed, number])
    family = quest.family
    errors: list[MathematicalError] = []
    seen = False

    def judged(genome: Genome) -> float:
        nonlocal seen
        try:
            found = score(quest, genome)
        except MathematicalError as error:  # this candidate has no mean dynamics; others may
            errors.append(error)
            found = None
        seen = seen or found is not None
        return np.inf if found is None else found

    genome = family.draw(rng)
    best = judged(genome)
    for tried in range(1, WALK + 1):
        if best < -UNSTABLE and confirmed(quest, genome):
            return End(genome, tried, len(errors))
        neighbour = family.change(genome, rng)
        value = judged(neighbour) if tried < WALK else np.inf
        # where the learner is unstable but another one is too, walk on
        if value < best or (best < -UNSTABLE and value < -UNSTABLE and rng.random() < 0.5):
            genome, best = neighbour, value
    return End(None, WALK, len(errors), str(errors[0]) if errors and not seen else "")


def score(quest: Quest, genome: Genome) -> float | None:
    """The smallest real part of an eigenvalue of A in floats, over the norm of A; None of no problem."""
    problem = quest.family.build(genome)
    if problem is None:
        return None
    dyn = MeanDynamics(problem, quest.learner, "trajectory", FLOAT)
    margin = dyn.stability.margin
    size = float(np.linalg.norm(np.asarray(dyn.A)))
    return np.inf if margin is None or size == 0.0 else margin / size


def confirmed(quest: Quest, genome: Genome) -> bool:
    """The exact verdicts: unstable for the learner, stable for the others."""
    problem = quest.family.build(genome)
    if problem is None:
        return False
    try:
        return mean_dynamics(problem, quest.learner).stability.verdict == "unstable" and all(
            mean_dynamics(problem, other).is_stable() for other in quest.stable
        )
    except MathematicalError:  # no verdict is none of those that were asked for
        return False


def shrink(quest: Quest, genome: Genome) -> tuple[Genome, int]:
    """Bring integers towards 0, one at a time, while the exact verdict stands."""
    tried = 0
    changed = True
    while changed:
        changed = False
        for k, (low, high) in enumerate(quest.family.genes):
            for value in sorted(range(low, high + 1), key=abs):
                if abs(value) >= abs(genome[k]):
                    break
                candidate = (*genome[:k], value, *genome[k + 1 :])
                tried += 1
                if confirmed(quest, candidate):
                    genome, changed = candidate, True
                    break
    return genome, tried


def _settings(learner: Learner) -> str:
    numbers = {k: serial_number(exactify(v)) for k, v in learner.values.items()}
    derived = {k: getattr(learner, k, None) for k in learner.derives}
    taken = {k: digest(v) if isinstance(v, FunctionType) else repr(v) for k, v in derived.items()}
    return f"{learner.name} {digest(learner.rule)} {numbers}" + (f" {taken}" if taken else "")
