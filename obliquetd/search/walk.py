"""Walks of the search, side by side, and the shrinking of what they find.

A walk tries its changes one after the other and keeps one where the score falls. Which changes it tries does not
depend on what it keeps (:mod:`obliquetd.search.stream`), so that several are judged at a time, each from the genome
that the walk is at, for all walks together; what follows the first that is kept is judged again.

A candidate on which something has no mean dynamics (a trace that nothing decays, a sign that
floats cannot tell) is passed over and counted; what cannot be right for any candidate is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from obliquetd.algebra import exactify, serial_number
from obliquetd.algebra.rounding import SAME, UNSTABLE
from obliquetd.dynamics import mean_dynamics
from obliquetd.errors import MathematicalError
from obliquetd.learners import Learner
from obliquetd.learners.functions import digest
from obliquetd.search.families import Family, Genome
from obliquetd.search.scores import runs_in_blocks, scores
from obliquetd.search.stream import Streams

__all__ = ["End", "Quest", "confirmed", "shrink", "walks"]

WALK = 150
"""Changes tried in one walk."""
TOGETHER = 300
"""Candidates that are worth judging at a time."""
CLEAR = 1e-4
"""A score that far from 0 has the sign of the exact one."""


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

    @property
    def side_by_side(self) -> bool:
        """Whether many candidates are judged in the time of a few."""
        return runs_in_blocks(self.family, self.learner)


class End(NamedTuple):
    """How a walk ended: what it found, if anything; ``blind`` says why, where it judged nothing."""

    genome: Genome | None
    tried: int
    passed_over: int
    blind: str = ""


def walks(quest: Quest, numbers: Sequence[int]) -> list[End]:
    """The ends of walks, up to the first that found something.

    A walk ends at a genome that is exactly what was asked for, or after 150 changes.
    """
    if quest.side_by_side:
        return _SideBySide(quest, numbers).run()
    ends: list[End] = []
    for k in numbers:
        ends += _SideBySide(quest, [k]).run()
        if ends[-1].genome is not None:
            break
    return ends


class _SideBySide:
    """Walks of which each is at a genome, and has tried some of its changes."""

    def __init__(self, quest: Quest, numbers: Sequence[int]) -> None:
        self.quest = quest
        count = len(numbers)
        self.streams = Streams(quest.seed, numbers, quest.family.genes, WALK)
        self.genomes = self.streams.first.copy()
        self.best = np.full(count, np.inf)
        self.tried = np.zeros(count, dtype=int)  # changes that were judged
        self.since = np.zeros(count, dtype=int)  # those since the last that was kept
        self.passed_over = np.zeros(count, dtype=int)
        self.first_error: list[str] = [""] * count
        self.seen = np.zeros(count, dtype=bool)
        self.ends: list[End | None] = [None] * count

    def run(self) -> list[End]:
        """Walk until every walk has ended, up to the first that found something."""
        everyone = np.arange(len(self.ends))
        found = scores(self.quest.family, self.quest.learner, self.genomes)
        self._count(everyone, found.judged, found.errors)
        self.best = found.values
        self._look_at(everyone)
        while (active := self._active()).size:
            self._try(active)
        last = next((k for k, end in enumerate(self.ends) if end and end.genome is not None), None)
        return [end for end in self.ends[: None if last is None else last + 1] if end is not None]

    def _active(self) -> Any:
        """The walks that go on: none behind one that found something."""
        out = []
        for k, end in enumerate(self.ends):
            if end is not None and end.genome is not None:
                break
            if end is None and self.tried[k] >= WALK - 1:
                blind = "" if self.seen[k] else self.first_error[k]
                self.ends[k] = End(None, WALK, int(self.passed_over[k]), blind)
            elif end is None:
                out.append(k)
        return np.array(out, dtype=int)

    def _look_at(self, arrived: Any) -> None:
        """Decide exactly whether walks that came to a new genome have found something."""
        for k in arrived.tolist():
            if self.best[k] < -UNSTABLE:
                genome: Genome = tuple(self.genomes[k].tolist())
                if confirmed(self.quest, genome):
                    tried = int(self.tried[k]) + 1
                    self.ends[k] = End(genome, tried, int(self.passed_over[k]))
                    return

    def _count(self, walks: Any, judged: Any, errors: dict[int, str]) -> None:
        self.seen[walks[judged]] = True
        for i, error in errors.items():
            k = int(walks[i])
            self.passed_over[k] += 1
            self.first_error[k] = self.first_error[k] or error

    def _try(self, active: Any) -> None:
        """Judge some of the next changes of each walk, and keep the first that is better."""
        ahead = self._ahead(active)
        walks = np.repeat(active, ahead)
        within = np.arange(len(walks)) - np.repeat(np.cumsum(ahead) - ahead, ahead)
        change = self.tried[walks] + within
        candidates = self.streams.neighbours(self.genomes[walks], walks, change)
        found = scores(self.quest.family, self.quest.learner, candidates)
        low = self.best[walks] < -UNSTABLE
        # what differs by rounding is no better, so that the answer is the same on every machine
        better = found.values < self.best[walks] - SAME
        # where the learner is unstable but another one is too, walk on
        event = better | (low & (found.values < -UNSTABLE))
        none = len(walks)
        first = np.full(len(self.ends), none)
        np.minimum.at(first, walks[event], np.flatnonzero(event))
        counted = np.arange(len(walks)) <= first[walks]
        errors = {i: error for i, error in found.errors.items() if counted[i]}
        self._count(walks, found.judged & counted, errors)
        self.tried[active] += ahead
        self.since[active] += ahead
        arrived = []
        for k in active[first[active] < none].tolist():
            i = int(first[k])
            self.tried[k] = change[i] + 1
            if better[i] or self.streams.coin(k, int(self.tried[k])) < 0.5:
                self.genomes[k], self.best[k], self.since[k] = candidates[i], found.values[i], 0
                arrived.append(k)
        self._look_at(np.array(arrived, dtype=int))

    def _ahead(self, active: Any) -> Any:
        """How many changes each walk is judged ahead: as many as it has gone without a better one."""
        left = WALK - 1 - self.tried[active]
        if not self.quest.side_by_side:
            return np.minimum(left, 1)
        least = 1 + TOGETHER // len(active)
        return np.minimum(left, np.maximum(self.since[active], least))


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
        at, smaller = 0, _smaller(quest, genome, 0)
        while at < len(smaller):
            candidate, hopeful = smaller[at]
            at, tried = at + 1, tried + 1
            if hopeful and confirmed(quest, candidate):
                place = next(k for k, x in enumerate(candidate) if x != genome[k])
                genome, changed = candidate, True
                at, smaller = 0, _smaller(quest, genome, place + 1)
    return genome, tried


def _smaller(quest: Quest, genome: Genome, first: int) -> list[tuple[Genome, bool]]:
    """The genome with one integer nearer to 0, from one on, each with whether it may be confirmed."""
    made = [
        (*genome[:k], value, *genome[k + 1 :])
        for k, (low, high) in enumerate(quest.family.genes)
        if k >= first
        for value in sorted(range(low, high + 1), key=abs)
        if abs(value) < abs(genome[k])
    ]
    return list(zip(made, _hopeful(quest, made), strict=True))


def _hopeful(quest: Quest, genomes: list[Genome]) -> Any:
    """Which genomes the exact verdicts may confirm: the others' scores are far on the wrong side."""
    out = np.ones(len(genomes), dtype=bool)
    for learner in (quest.learner, *quest.stable):
        if len(genomes) and runs_in_blocks(quest.family, learner):
            found = scores(quest.family, learner, np.array(genomes))
            wrong = found.values > CLEAR if learner is quest.learner else found.values < -CLEAR
            out &= ~(found.judged & wrong)
            out &= found.judged | np.isin(np.arange(len(out)), list(found.errors))
    return out


def _settings(learner: Learner) -> str:
    numbers = {k: serial_number(exactify(v)) for k, v in learner.values.items()}
    derived = {k: getattr(learner, k, None) for k in learner.derives}
    taken = {k: digest(v) if isinstance(v, FunctionType) else repr(v) for k, v in derived.items()}
    return f"{learner.name} {digest(learner.rule)} {numbers}" + (f" {taken}" if taken else "")
