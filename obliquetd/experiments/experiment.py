"""One experiment: transitions, first weights and errors, so that a run is a number k.

Everything is arrays, so that an experiment can be sent to another process. Run k draws from
the k-th child of the seed, whoever computes it and whenever.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FLOAT
from obliquetd.errors import InputError, SizeError
from obliquetd.experiments.identity import numbers_of, step_sizes
from obliquetd.experiments.logged import LoggedData
from obliquetd.experiments.measure import ErrorMeasure
from obliquetd.experiments.running import steps_of
from obliquetd.experiments.streams import (
    Drawn,
    Floats,
    Stream,
    TableStream,
    dense,
    floating,
)
from obliquetd.learners import Learner
from obliquetd.learners.words import TWIN
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.native import Operators
from obliquetd.problem.requests import read_theta

__all__ = ["DIVERGED", "MOST_BYTES", "Experiment", "Run", "measured_problem", "positive"]

DIVERGED = 1e150
"""How many times the scale of an experiment its weights may reach before the run has diverged."""

LARGEST_WEIGHT = 1e300
"""The same, whatever the scale: close to where floats end."""

STEP_BYTES = 64
"""Memory of one drawn step: states, random numbers, outcomes, twins, step size."""

RECORD_BYTES = 2**21
"""Memory of the weights whose errors are measured together: what a cache holds."""

MOST_BYTES = 16 * 2**30
"""Memory that one experiment may ask for."""


class Run(NamedTuple):
    """One learner's run.

    Errors at the recorded steps, the last weights, the step at which it diverged (see
    :meth:`Experiment.run`), and, where asked for, the weights at the recorded steps.
    """

    rmse: Floats
    rmspbe: Floats
    theta: Floats
    diverged_at: int | None
    path: Floats | None


class Ready(NamedTuple):
    """A learner, with its step sizes and numbers as the compiled loop gets them."""

    learner: Learner
    alphas: Floats
    numbers: Any

    @classmethod
    def of(cls, learner: Learner, steps: int) -> Ready:
        return cls(learner, step_sizes(learner, steps), numbers_of(learner))


@dataclass(frozen=True, eq=False)
class Experiment:
    """What a run of a learner needs.

    Attributes
    ----------
    stream : Stream
    measure : ErrorMeasure or None
        None records no errors.
    first : array (d,)
        The first weights.
    steps, seed : int
    every : int
        Errors are recorded each that many steps, and after the last.
    tag : str
        Stands in :meth:`identity` for what the measure was made of.
    """

    stream: Stream
    measure: ErrorMeasure | None
    first: Floats
    steps: int
    seed: int
    every: int = 1
    tag: str = ""

    def __post_init__(self) -> None:
        positive("steps", self.steps)
        positive("every", self.every)
        if not _is_integer(self.seed) or self.seed < 0:
            raise InputError(f"seed is {self.seed!r}; expected a nonnegative integer")

    @classmethod
    def of(
        cls,
        problem: PolicyEvaluation | None,
        steps: int,
        seed: int = 0,
        *,
        stream: str | LoggedData = "trajectory",
        start: Mapping[Any, Any] | None = None,
        theta0: Any = None,
        every: int = 1,
    ) -> Experiment:
        """An experiment on a problem, or on a log; see :func:`obliquetd.simulate`.

        Examples
        --------
        >>> from obliquetd.domains import two_state
        >>> from obliquetd.learners import SETD
        >>> experiment = Experiment.of(two_state(reward=1), steps=1000, seed=0)
        >>> run = experiment.run({"SETD": SETD(0.01)}, 0)["SETD"]
        >>> bool(run.rmse[-1] < run.rmse[0]), run.diverged_at
        (True, None)
        """
        source: Stream
        if isinstance(stream, LoggedData):
            if start is not None:
                raise InputError("a log has its own beginnings; leave start out")
            source = stream
        elif problem is None:
            raise InputError("without a problem, stream must be LoggedData")
        else:
            problem = measured_problem(problem, stream, start)
            source = TableStream(problem, stream, start)
        measure = None if problem is None else ErrorMeasure.of(problem)
        if measure is not None and measure.width != source.width:
            raise InputError(f"the log has {source.width} features, the problem {measure.width}")
        tag = "" if problem is None else _digest(floating(problem), isinstance(source, LoggedData))
        return cls(source, measure, _first_weights(theta0, source.width), steps, seed, every, tag)

    @property
    def recorded(self) -> npt.NDArray[np.int64]:
        """The recorded steps: 0, every, 2 every, ..., and the last."""
        marks = np.arange(0, self.steps + 1, self.every, dtype=np.int64)
        return marks if marks[-1] == self.steps else np.append(marks, self.steps)

    def check(
        self,
        learners: Mapping[str, Learner],
        runs: int = 1,
        *,
        at_once: int = 1,
        keep_path: bool = False,
    ) -> None:
        """Whether so many runs of these learners can be done, before anything is.

        Raises
        ------
        InputError
            Where the stream cannot serve a learner, or has no such number of steps or runs.
        SizeError
            Where that needs more than 16 GiB; says how many steps would fit.
        """
        self.stream.check(self.steps, runs, learners)
        records = self.steps // self.every + 2
        d = len(self.first)
        measured = min(records, self._together) * (2 * d + 2) * 8
        drawn = at_once * (self.steps * STEP_BYTES + measured)
        kept = runs * len(learners) * records * (2 + d * keep_path) * 8
        if drawn + kept > MOST_BYTES:
            fit = int(self.steps * MOST_BYTES // (drawn + kept))
            raise SizeError(
                f"{runs:,} runs of {self.steps:,} steps, {records:,} of them recorded, need about "
                f"{(drawn + kept) / 2**30:,.0f} GiB of memory; at most {MOST_BYTES / 2**30:.0f} are "
                f"asked for. With these settings {fit:,} steps fit; a larger every or fewer runs "
                "need less"
            )

    def run(
        self, learners: Mapping[str, Learner], k: int, keep_path: bool = False
    ) -> dict[str, Run]:
        """The k-th run, of every learner on the same transitions.

        A run has diverged at the first step after which its weights (theta, and w of gradient
        learners) are no longer finite, or their sizes add up to more than 1e150 times the scale
        of the experiment: the largest first weight, or the largest reward over the largest
        feature where that is more. That does not depend on which steps are recorded.
        """
        return self.runner(learners, keep_path)(k)

    def runner(
        self, learners: Mapping[str, Learner], keep_path: bool = False
    ) -> Callable[[int], dict[str, Run]]:
        """:meth:`run` as a function of k: what all runs share is read once."""
        self.check(learners, keep_path=keep_path)
        ready = {name: Ready.of(learner, self.steps) for name, learner in learners.items()}
        twins = any(learner.reads & TWIN for learner in learners.values())

        def run(k: int) -> dict[str, Run]:
            child = np.random.SeedSequence(self.seed, spawn_key=(k,))
            drawn = self.stream.draw(self.steps, np.random.default_rng(child), twins)
            limit = self._limit(drawn)
            return {
                name: self._run(learner, drawn, limit, keep_path) for name, learner in ready.items()
            }

        return run

    def _limit(self, drawn: Drawn) -> float:
        """The size of weights beyond which a run has diverged."""
        outcomes = drawn.outcomes
        largest = [float(abs(x).max()) for x in (outcomes.reward, outcomes.features)]
        with np.errstate(over="ignore"):
            natural = np.divide(largest[0], largest[1]) if largest[1] else 0.0
        scale = max(float(np.abs(self.first).max()), float(natural))
        return min(DIVERGED * (scale or 1.0), LARGEST_WEIGHT)

    def _run(self, ready: Ready, drawn: Drawn, limit: float, keep_path: bool) -> Run:
        """In stretches of some records, so that the weights of all of them never stand side by side."""
        recorded, d = self.recorded, len(self.first)
        steps = steps_of(ready.learner, ready.numbers, drawn.outcomes, self.first)
        path = np.full((len(recorded), d), np.inf) if keep_path else None
        errors = (
            np.full((2, len(recorded)), np.inf) if self.measure is not None else np.empty((2, 0))
        )
        together, last, ended = self._together, self.first, -1
        for begin in range(0, len(recorded) - 1, together):
            marks = recorded[begin : begin + together + 1]
            block = np.empty((len(marks), d))
            block[0] = steps.theta
            ended = steps.advance(
                drawn.part(marks[0], marks[-1]),
                ready.alphas[marks[0] : marks[-1]],
                self.every,
                limit,
                block,
            )
            done = begin + (len(marks) if ended < 0 else int((marks < marks[0] + ended).sum()))
            block = block[: done - begin]
            last = block[-1]
            if path is not None:
                path[begin:done] = block
            if self.measure is not None:
                errors[:, begin:done] = self.measure(block)
            if ended >= 0:
                ended += int(marks[0])
                break
        return Run(errors[0], errors[1], last.copy(), None if ended < 0 else ended, path)

    @property
    def _together(self) -> int:
        """How many records are measured at once."""
        return max(1, RECORD_BYTES // (8 * len(self.first)))

    def identity(self) -> str:
        """A digest of everything that the numbers depend on, besides the learner and the run."""
        numbers = f"{self.tag} {self.steps} {self.seed} {self.every}"
        parts = [self.stream.identity(), self.first.tobytes(), numbers.encode()]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()


def measured_problem(
    problem: PolicyEvaluation, stream: str | LoggedData, start: Mapping[Any, Any] | None
) -> PolicyEvaluation:
    """The problem whose weights count in errors, and in what a learner takes from it.

    Episodes from a start weigh states by their steps, where nothing else was said.
    """
    if isinstance(stream, str) and stream == "episodes" and start is not None:
        return problem.replace(start=start) if _weightless(problem) else problem
    return problem


def _weightless(problem: PolicyEvaluation) -> bool:
    """Whether episodes end for good and no weights were given."""
    given = problem.inputs
    return bool(problem.mdp.terminal) and given.xi is None and given.start is None


def positive(name: str, value: Any) -> None:
    """InputError unless the value is a positive integer."""
    if not _is_integer(value) or value < 1:
        raise InputError(f"{name} is {value!r}; expected a positive integer")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _digest(ops: Operators, logged: bool) -> str:
    """A digest of what the errors depend on: the model, unless the stream is drawn from it."""
    arrays = [np.array(ops.xi.entries(), dtype=float)]
    if logged:
        arrays += [ops.state, ops.next_state, ops.probability, ops.reward, ops.row_discount]
        arrays += [ops.pi, ops.mu, dense(ops.Phi)]
    parts = [np.ascontiguousarray(a, dtype=float).tobytes() for a in arrays]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _first_weights(theta0: Any, d: int) -> Floats:
    """d floats, out of a vector or a column."""
    if theta0 is None:
        return np.zeros(d)
    first = np.array([FLOAT.scalar(x) for x in read_theta(theta0, d)], dtype=float)
    if np.abs(first).max() >= LARGEST_WEIGHT:
        raise InputError(f"theta0 holds {np.abs(first).max()}; expected sizes below 1e300")
    return first
