"""One learner on the way: its weights and memory between stretches of compiled steps."""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from obliquetd.experiments.streams import Drawn, Floats, Outcomes
from obliquetd.learners import Learner
from obliquetd.learners.active import ENDED, FULL, drive_active, is_local
from obliquetd.learners.compiled import compiled_driver
from obliquetd.learners.state import LINE, Vector, floats, shapes
from obliquetd.learners.words import TWIN
from obliquetd.progress import said

__all__ = ["Steps", "steps_of"]


class Steps(Protocol):
    """A learner that goes on from where the stretch before ended."""

    def advance(
        self, drawn: Drawn, alphas: Floats, every: int, limit: float, record: Floats
    ) -> int:
        """Run over ``drawn``; write theta each ``every`` steps into record[1], ..., and into the last.

        Returns the number of steps after which the weights are beyond the limit, where it ends; -1
        if they never are.
        """

    @property
    def theta(self) -> Floats:
        """The weights now."""


def steps_of(learner: Learner, numbers: Any, outcomes: Outcomes, first: Floats) -> Steps:
    """On slots where the features are sparse and the rule is local, else over all features.

    A rule with a number for each state has to know which state it is, and slots do not say.
    """
    by_state = any(np.ndim(value) for value in numbers)
    if outcomes.sparse and not by_state and is_local(learner):
        return ActiveSteps(learner, numbers, outcomes, first)
    return WholeSteps(learner, numbers, first)


class WholeSteps:
    """Steps over all features."""

    def __init__(self, learner: Learner, numbers: Any, first: Floats) -> None:
        self.rule, self.name, self.numbers = learner.rule, learner.name, numbers
        self.weights, self.x = floats(learner.weights, len(first), numbers)
        self.memory, self.m = floats(learner.memory, len(first), numbers)
        self.x.theta[:] = first

    @property
    def theta(self) -> Floats:
        """The weights now."""
        found: Floats = self.x.theta
        return found

    def advance(
        self, drawn: Drawn, alphas: Floats, every: int, limit: float, record: Floats
    ) -> int:
        """See :class:`Steps`."""
        outcomes = drawn.outcomes
        features, expected = outcomes.dense
        arguments = (
            self.x.theta, self.weights, self.x, self.memory, self.m, self.numbers, features, expected,
            outcomes.state, outcomes.next_state, outcomes.reward, outcomes.discount, outcomes.own,
            outcomes.pi, outcomes.mu, outcomes.rho, outcomes.rho_expected, drawn.rows, drawn.twins,
            drawn.fresh, alphas, every, limit, record,
        )  # fmt: skip
        ended: int = ready(compiled_driver(self.rule), arguments, self.name)(*arguments)
        return ended


COMPILING = Lock()
"""Threads that run the same learner wait for one of them to compile it."""


def ready(run: Any, arguments: tuple[Any, ...], name: str) -> Any:
    """The compiled loop, compiled for such arguments; says so where that takes its time.

    The first run in a process compiles, which takes seconds; for the package's own learners the code is
    kept in a file, and later processes read it.
    """
    if not run.signatures:
        from numba import typeof

        with (
            COMPILING,
            said(f"compiling the rule of {name}: once, and later runs start at once ..."),
        ):
            if not run.signatures:
                run.compile(tuple(typeof(x) for x in arguments))
    return run


class Slots(NamedTuple):
    """Room for some features: what the rule sees in place of all of them."""

    weights: Floats
    x: Any
    memory: Floats
    m: Any
    features: Floats
    which: npt.NDArray[np.int64]


class ActiveSteps:
    """Steps over the features that are active; see :mod:`obliquetd.learners.active`."""

    def __init__(self, learner: Learner, numbers: Any, outcomes: Outcomes, first: Floats) -> None:
        self.learner, self.numbers = learner, numbers
        self.names = [_vectors(part, numbers) for part in (learner.weights, learner.memory)]
        self.names[0].sort(key="theta".__ne__)  # theta's first
        self.full = np.zeros((len(self.names[0]), len(first)))
        self.full[0] = first
        self.where = np.full(len(first), -1, dtype=np.int64)
        self.outside = np.array([np.abs(first).sum()])
        self.twin = bool(learner.reads & TWIN)
        self.late = outcomes.late
        widest = int(np.diff(outcomes.table.first).max(initial=0))
        self.slots = self._room(4 * max(widest, LINE // 2))

    def _room(self, count: int) -> Slots:
        weights, x = floats(self.learner.weights, count, self.numbers)
        memory, m = floats(self.learner.memory, count, self.numbers)
        return Slots(
            weights, x, memory, m, np.zeros((4, count)), np.full(count, -1, dtype=np.int64)
        )

    def _grow(self) -> None:
        """Twice as many slots; what stands in the old ones keeps its place."""
        old = self.slots
        count = len(old.which)
        new = self._room(2 * count)
        for before, after in ((old.x, new.x), (old.m, new.m)):
            for a, b in zip(before, after, strict=True):
                b[: len(a)] = a
        new.which[:count] = old.which
        self.slots = new

    @property
    def theta(self) -> Floats:
        """The weights now."""
        theta: Floats = self.full[0].copy()
        taken = self.slots.which >= 0
        theta[self.slots.which[taken]] = self.slots.x.theta[taken]
        return theta

    def advance(
        self, drawn: Drawn, alphas: Floats, every: int, limit: float, record: Floats
    ) -> int:
        """See :class:`Steps`."""
        outcomes = drawn.outcomes
        table, offset = outcomes.table, len(outcomes.features.indptr) - 1 if self.late else 0
        at = np.array([0, 0, every], dtype=np.int64)
        run = compiled_driver(self.learner.rule, drive_active)
        while True:
            slots = self.slots
            starts = [
                np.array([_start(getattr(state, name), flat) for name in names], dtype=np.int64)
                for names, state, flat in zip(
                    self.names, (slots.x, slots.m), (slots.weights, slots.memory), strict=True
                )
            ]
            arguments = (
                self.full, slots.weights, slots.x, slots.memory, slots.m, self.numbers, *starts,
                self.where, slots.which, slots.features, *table, offset, self.twin,
                outcomes.state, outcomes.next_state, outcomes.reward, outcomes.discount, outcomes.own,
                outcomes.pi, outcomes.mu, outcomes.rho, outcomes.rho_expected, drawn.rows, drawn.twins,
                drawn.fresh, alphas, every, limit, record, at, self.outside, *_work(len(slots.which)),
            )  # fmt: skip
            code = ready(run, arguments, self.learner.name)(*arguments)
            if code != FULL:
                return int(at[0]) if code == ENDED else -1
            self._grow()


def _work(slots: int) -> tuple[npt.NDArray[Any], ...]:
    """The arrays that a stretch of steps works in; compiled code makes none of its own."""
    whole = np.int64
    lines, of = np.arange(4, dtype=whole), np.full(4, -1, dtype=whole)
    return lines, of, np.empty((4, slots), whole), np.empty(slots + 1, whole), np.empty(slots)


def _vectors(state: type, numbers: Any) -> list[str]:
    """The declared arrays with one entry a feature; a local rule's others have one entry."""
    return [
        name for name, shape in shapes(state, 2, numbers).items() if shape == Vector.of(2, numbers)
    ]


def _start(part: Floats, flat: Floats) -> int:
    """Where a view begins in the array that it is a view of."""
    return int(part.ctypes.data - flat.ctypes.data) // flat.itemsize
