"""Walks of the search, side by side, and the shrinking of what they find.

A walk tries its changes one after the other and keeps one where the score falls. Which changes it tries does not
depend on what it keeps (:mod:`obliquetd.search.stream`), so that several are judged at a time, each from the genome
that the walk is at, for all walks together; what follows the first that is kept is judged again.

A score far from 0 has the sign of the exact eigenvalue, and stands for the exact verdict on the way. Where a walk
ends, and where the shrinking does, the verdict is exact; if it is another, the way is gone again with exact verdicts.

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
from obliquetd.dynamics import MeanDynamics, mean_dynamics
from obliquetd.errors import MathematicalError
from obliquetd.learners import Learner
from obliquetd.learners.functions import digest
from obliquetd.problem import PolicyEvaluation
from obliquetd.search.families import Family, Genome
from obliquetd.search.scores import Scores, runs_in_blocks, scores, table_of
from obliquetd.search.stream import Streams

__all__ = ["Decided", "End", "Quest", "confirmed", "decided", "shrink", "walks"]

WALK = 150
"""Changes tried in one walk."""
TOGETHER = {"one by one": 1, "blocks": 300, "table": 600}
"""Candidates that are worth judging at a time, by how they are judged."""
MORE = 4
"""How many more changes of a walk are judged ahead than it has gone without a better one."""
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
    def route(self) -> str:
        """How candidates are judged: "one by one", in "blocks" by the rule, or in blocks by a "table" of pairs."""
        if not runs_in_blocks(self.family, self.learner):
            return "one by one"
        return "blocks" if table_of(self.family, self.learner) is None else "table"


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
    ends: list[End] = []
    for some in [numbers] if quest.route != "one by one" else [[k] for k in numbers]:
        found = _SideBySide(quest, some).run()
        if found[-1].genome is not None and not confirmed(quest, found[-1].genome):
            found = _SideBySide(quest, some, trusting=False).run()  # a score misled it
        ends += found
        if ends[-1].genome is not None:
            break
    return ends


class _SideBySide:
    """Walks of which each is at a genome, and has tried some of its changes.

    Scores far from 0 stand for the exact verdicts where they are trusted.
    """

    def __init__(self, quest: Quest, numbers: Sequence[int], *, trusting: bool = True) -> None:
        self.quest, self.together, self.trusting = quest, TOGETHER[quest.route], trusting
        count = len(numbers)
        self.streams = Streams(quest.seed, numbers, quest.family.genes, WALK)
        self.genomes = self.streams.first.T.copy()  # (genes, walks)
        self.best = np.full(count, np.inf)
        self.tried = np.zeros(count, dtype=int)  # changes that were judged
        self.since = np.zeros(count, dtype=int)  # those since the last that was kept
        self.passed_over = np.zeros(count, dtype=int)
        self.first_error: list[str] = [""] * count
        self.seen = np.zeros(count, dtype=bool)
        self.going = np.ones(count, dtype=bool)
        self.ends: list[End | None] = [None] * count

    def run(self) -> list[End]:
        """Walk until every walk has ended, up to the first that found something."""
        everyone = np.arange(len(self.ends))
        found = scores(self.quest.family, self.quest.learner, self.genomes.T)
        self._count(everyone, found, everyone, everyone)
        self.best = found.values
        self._look_at(everyone)
        while (active := self._active()).size:
            self._try(active)
        last = next((k for k, end in enumerate(self.ends) if end and end.genome is not None), None)
        return [end for end in self.ends[: None if last is None else last + 1] if end is not None]

    def _active(self) -> Any:
        """The walks that go on: none behind one that found something."""
        done = self.going & (self.tried >= WALK - 1)
        for k in done.nonzero()[0].tolist():
            blind = "" if self.seen[k] else self.first_error[k]
            self.ends[k] = End(None, WALK, int(self.passed_over[k]), blind)
        self.going &= ~done
        return self.going.nonzero()[0]

    def _look_at(self, arrived: Any) -> None:
        """Decide whether walks that came to a new genome have found something."""
        low = arrived[self.best[arrived] < -UNSTABLE].tolist()
        genomes: list[Genome] = [tuple(self.genomes[:, k].tolist()) for k in low]
        expected = _expected(self.quest, genomes)
        for k, genome, verdict in zip(low, genomes, expected, strict=True):
            if verdict != "no" and (
                (self.trusting and verdict == "yes") or confirmed(self.quest, genome)
            ):
                self.ends[k] = End(genome, int(self.tried[k]) + 1, int(self.passed_over[k]))
                self.going[k:] = False
                return

    def _count(self, walks: Any, found: Scores, who: Any, events: Any) -> None:
        """Note which walks have seen a score, and the errors; those behind the event of a walk do not count."""
        if found.judged.all():
            self.seen[walks] = True
            return
        last = np.full(len(self.ends), len(walks))
        last[who] = events
        counted = np.arange(len(walks)) <= last[walks]
        self.seen[walks[found.judged & counted]] = True
        for i, error in found.errors.items():
            if counted[i]:
                k = int(walks[i])
                self.passed_over[k] += 1
                self.first_error[k] = self.first_error[k] or error

    def _try(self, active: Any) -> None:
        """Judge some of the next changes of each walk, and keep the first that is better."""
        ahead = self._ahead(active)
        walks = active.repeat(ahead)
        change = np.arange(len(walks)) + (self.tried[active] - ahead.cumsum() + ahead).repeat(ahead)
        candidates = self.genomes.take(walks, axis=1)
        self.streams.change(candidates, walks, change)
        # what differs by rounding is no better, so that the answer is the same on every machine;
        # where the learner is unstable but another one is too, walk on
        best = self.best[active]
        least = np.where(best < -UNSTABLE, -UNSTABLE, best - SAME).repeat(ahead)
        found = scores(self.quest.family, self.quest.learner, candidates.T, least)
        events = (found.values < least).nonzero()[0]
        who = walks[events]
        ahead_of_it = np.ones(len(who), dtype=bool)
        ahead_of_it[1:] = who[1:] != who[:-1]
        events, who = events[ahead_of_it], who[ahead_of_it]  # the first event of each walk
        self._count(walks, found, who, events)
        self.tried[active] += ahead
        self.since[active] += ahead
        self.tried[who] = change[events] + 1
        better = found.values[events] < self.best[who] - SAME
        for i in (~better).nonzero()[0].tolist():
            k = int(who[i])
            better[i] = self.streams.coin(k, int(self.tried[k])) < 0.5
        arrived, events = who[better], events[better]
        self.genomes[:, arrived] = candidates[:, events]
        self.best[arrived] = found.values[events]
        self.since[arrived] = 0
        self._look_at(arrived)

    def _ahead(self, active: Any) -> Any:
        """How many changes each walk is judged ahead: some more than it has gone without a better one."""
        left = WALK - 1 - self.tried[active]
        if self.together == 1:
            return np.minimum(left, 1)
        least = 1 + self.together // len(active)
        return np.minimum(left, np.maximum(self.since[active] + MORE, least))


class Decided(NamedTuple):
    """A problem on which the exact verdicts are those that were asked for, and the expected updates that show it."""

    problem: PolicyEvaluation
    unstable: MeanDynamics
    stable: tuple[MeanDynamics, ...]


def decided(quest: Quest, genome: Genome) -> Decided | None:
    """The exact verdicts, where they are unstable for the learner, stable for the others."""
    problem = quest.family.build(genome)
    if problem is None:
        return None
    try:
        unstable = mean_dynamics(problem, quest.learner)
        if unstable.stability.verdict != "unstable":
            return None
        stable = tuple(mean_dynamics(problem, other) for other in quest.stable)
        return Decided(problem, unstable, stable) if all(x.is_stable() for x in stable) else None
    except MathematicalError:  # no verdict is none of those that were asked for
        return None


def confirmed(quest: Quest, genome: Genome) -> bool:
    """Whether the exact verdicts are those that were asked for."""
    return decided(quest, genome) is not None


def shrink(quest: Quest, genome: Genome) -> tuple[Genome, int, Decided]:
    """Bring integers towards 0, one at a time, while the verdict stands; the last one is exact.

    On the way a score that is far from 0 stands for the exact verdict. Where the last one shows that one did not, all
    are asked for.

    Returns
    -------
    The genome, how many were tried, and what is decided about it.
    """
    for trusting in (True, False):
        small, tried = _shrunk(quest, genome, trusting=trusting)
        found = decided(quest, small)
        if found is not None:
            return small, tried, found
    raise AssertionError(f"{genome} was confirmed before")


def _shrunk(quest: Quest, genome: Genome, *, trusting: bool) -> tuple[Genome, int]:
    tried = 0
    changed = True
    while changed:
        changed = False
        at, smaller = 0, _smaller(quest, genome, 0)
        while at < len(smaller):
            candidate, verdict = smaller[at]
            at, tried = at + 1, tried + 1
            if verdict == "no" or not (
                (trusting and verdict == "yes") or confirmed(quest, candidate)
            ):
                continue
            place = next(k for k, x in enumerate(candidate) if x != genome[k])
            genome, changed = candidate, True
            at, smaller = 0, _smaller(quest, genome, place + 1)
    return genome, tried


def _smaller(quest: Quest, genome: Genome, first: int) -> list[tuple[Genome, str]]:
    """The genome with one integer nearer to 0, from one on, each with what its scores say of it."""
    made = [
        (*genome[:k], value, *genome[k + 1 :])
        for k, (low, high) in enumerate(quest.family.genes)
        if k >= first
        for value in sorted(range(low, high + 1), key=abs)
        if abs(value) < abs(genome[k])
    ]
    return list(zip(made, _expected(quest, made), strict=True))


def _expected(quest: Quest, genomes: list[Genome]) -> list[str]:
    """Whether the exact verdicts are those that were asked for, by scores far from 0: "yes", "no" or "perhaps"."""
    if not genomes:
        return []
    yes, no = (np.full(len(genomes), value) for value in (True, False))
    for learner in (quest.learner, *quest.stable):
        if not runs_in_blocks(quest.family, learner):
            yes[:] = False
            continue
        found = scores(quest.family, learner, np.array(genomes))
        low, high = found.values < -CLEAR, found.values > CLEAR  # infinite: it cannot be unstable
        settled = high & np.isfinite(found.values)
        right, wrong = (low, high) if learner is quest.learner else (settled, low)
        yes &= found.judged & right
        no |= found.judged & wrong
        no |= ~found.judged & ~np.isin(np.arange(len(genomes)), list(found.errors))
    return ["no" if n else "yes" if y else "perhaps" for y, n in zip(yes, no, strict=True)]


def _settings(learner: Learner) -> str:
    numbers = {k: serial_number(exactify(v)) for k, v in learner.values.items()}
    derived = {k: getattr(learner, k, None) for k in learner.derives}
    taken = {k: digest(v) if isinstance(v, FunctionType) else repr(v) for k, v in derived.items()}
    return f"{learner.name} {digest(learner.rule)} {numbers}" + (f" {taken}" if taken else "")
