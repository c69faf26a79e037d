"""One experiment: transitions, first weights and errors, so that a run is a number k.

Everything is arrays, so that an experiment can be sent to another process. Run k draws from
the k-th child of the seed, whoever computes it and whenever.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FLOAT, parse_number
from obliquetd.errors import InputError
from obliquetd.experiments.logged import LoggedData
from obliquetd.experiments.measure import ErrorMeasure
from obliquetd.experiments.streams import (
    Drawn,
    Floats,
    Stream,
    TableStream,
    dense,
    floating,
)
from obliquetd.learners import Learner
from obliquetd.learners.compiled import compiled_driver
from obliquetd.operators import Operators
from obliquetd.problem import PolicyEvaluation

__all__ = ["Experiment", "Run", "check_learners", "positive"]


class Run(NamedTuple):
    """One learner's run.

    Errors at the recorded steps, the last weights, where it diverged, and, where asked for,
    the weights at the recorded steps.
    """

    rmse: Floats
    rmspbe: Floats
    theta: Floats
    diverged_at: int | None
    path: Floats | None


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
        Errors are recorded each that many steps.
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
        if not isinstance(self.seed, int | np.integer) or self.seed < 0:
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
            source = stream
        elif problem is None:
            raise InputError("without a problem, stream must be LoggedData")
        else:
            if stream == "episodes" and start is not None and _weightless(problem):
                problem = problem.replace(start=start)  # errors count by the steps of an episode
            source = TableStream(problem, stream, start)
        measure = None if problem is None else ErrorMeasure.of(problem)
        if measure is not None and measure.maps.shape[2] != source.width:
            raise InputError(
                f"the log has {source.width} features, the problem {measure.maps.shape[2]}"
            )
        tag = "" if problem is None else _digest(floating(problem), isinstance(source, LoggedData))
        return cls(source, measure, _first_weights(theta0, source.width), steps, seed, every, tag)

    @property
    def recorded(self) -> npt.NDArray[np.int64]:
        """The recorded steps, 0 first."""
        return np.arange(self.steps // self.every + 1, dtype=np.int64) * self.every

    def run(
        self, learners: Mapping[str, Learner], k: int, keep_path: bool = False
    ) -> dict[str, Run]:
        """The k-th run, of every learner on the same transitions."""
        sizes = {name: _step_sizes(learner, self.steps) for name, learner in learners.items()}
        child = np.random.SeedSequence(self.seed, spawn_key=(k,))
        twins = any(learner.double_sampling for learner in learners.values())
        drawn = self.stream.draw(self.steps, np.random.default_rng(child), twins)
        return {
            name: self._run(learner, drawn, sizes[name], keep_path)
            for name, learner in learners.items()
        }

    def _run(self, learner: Learner, drawn: Drawn, alphas: Floats, keep_path: bool) -> Run:
        outcomes = drawn.outcomes
        d = len(self.first)
        theta, w, memory = self.first.copy(), np.zeros(d), np.zeros(d + 1)
        path = np.full((len(self.recorded), d), np.inf)
        path[0] = self.first
        lam, ratio = (float(FLOAT.scalar(parse_number(x))) for x in (learner.lam, learner.ratio))
        ended = compiled_driver(learner.rule)(
            learner.code, theta, w, memory, outcomes.features, outcomes.state,
            outcomes.next_state, outcomes.reward, outcomes.discount, outcomes.rho, drawn.rows,
            drawn.twins, drawn.fresh, alphas, ratio, lam, self.every, path,
        )  # fmt: skip
        kept = len(path) if ended < 0 else ended // self.every + 1
        rmse, rmspbe = np.empty(0), np.empty(0)
        if self.measure is not None:
            blank = np.full(len(path) - kept, np.inf)
            rmse, rmspbe = (np.concatenate([e, blank]) for e in self.measure(path[:kept]))
        last = theta if ended < 0 else path[kept - 1]
        return Run(
            rmse, rmspbe, last, None if ended < 0 else int(ended), path if keep_path else None
        )

    def identity(self) -> str:
        """A digest of everything that the numbers depend on, besides the learner and the run."""
        numbers = f"{self.tag} {self.steps} {self.seed} {self.every}"
        parts = [self.stream.identity(), self.first.tobytes(), numbers.encode()]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _weightless(problem: PolicyEvaluation) -> bool:
    """Whether episodes end for good and no weights were given."""
    given = problem.inputs
    return bool(problem.mdp.terminal) and given.xi is None and given.start is None


def check_learners(learners: Mapping[str, Learner], verb: str) -> None:
    """InputError where there is none, or something else among them."""
    if not learners:
        raise InputError(f"there is no learner to {verb}")
    for learner in learners.values():
        if not isinstance(learner, Learner):
            raise InputError(f"{learner!r} is no learner; expected one such as TD(0.1)")


def positive(name: str, value: Any) -> None:
    """InputError unless the value is a positive integer."""
    if not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} is {value!r}; expected a positive integer")


def _digest(ops: Operators, logged: bool) -> str:
    """A digest of what the errors depend on: the model, unless the stream is drawn from it."""
    arrays = [np.array(ops.xi.entries(), dtype=float)]
    if logged:
        arrays += [ops.state, ops.next_state, ops.probability, ops.reward, ops.row_discount]
        arrays += [ops.pi, ops.mu, dense(ops.Phi)]
    parts = [np.ascontiguousarray(a, dtype=float).tobytes() for a in arrays]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _step_sizes(learner: Learner, steps: int) -> Floats:
    if callable(learner.alpha):
        return np.array([learner.step_size(t) for t in range(steps)])
    return np.full(steps, learner.step_size(0))


def _first_weights(theta0: Any, d: int) -> Floats:
    if theta0 is None:
        return np.zeros(d)
    first = np.array([FLOAT.scalar(parse_number(x, "theta0")) for x in list(theta0)])
    if first.shape != (d,):
        raise InputError(f"theta0 has {len(first)} entries; the features have {d}")
    return first
