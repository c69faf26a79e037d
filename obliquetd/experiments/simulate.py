"""Learning curves: many runs of compiled learners, all on the same transitions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.display import HtmlTable
from obliquetd.errors import InputError
from obliquetd.experiments.experiment import Experiment, Run, check_learners, positive
from obliquetd.experiments.logged import LoggedData
from obliquetd.experiments.streams import Floats
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.progress import progress

__all__ = ["Curve", "Simulation", "simulate"]

LONG = 20_000_000
"""Learner steps from which on a progress bar is shown in a terminal."""


@dataclass(frozen=True, eq=False)
class Curve:
    """One learner's runs.

    Attributes
    ----------
    learner : Learner
    rmse, rmspbe : array (runs, records)
        Errors at the recorded steps; infinite from where a run diverged. Empty where a
        log was replayed without a problem.
    theta : array (runs, d)
        The last weights (of a diverged run, those at its last record).
    diverged_at : tuple of int or None
        For each run the step at which it diverged.
    path : array (runs, records, d)
        The weights at the recorded steps, infinite after a divergence; empty unless
        ``keep_path`` was asked for.
    """

    learner: Learner
    rmse: Floats
    rmspbe: Floats
    theta: Floats
    diverged_at: tuple[int | None, ...]
    path: Floats

    @classmethod
    def gather(cls, learner: Learner, runs: Sequence[Run]) -> Curve:
        """One curve out of many runs, in their order."""
        rmse, rmspbe, theta, diverged, path = (list(part) for part in zip(*runs, strict=True))
        return cls(
            learner,
            np.array(rmse),
            np.array(rmspbe),
            np.array(theta),
            tuple(diverged),
            np.array([p for p in path if p is not None]),
        )

    @property
    def diverged(self) -> int:
        """The number of runs that diverged."""
        return sum(t is not None for t in self.diverged_at)

    def mean(self, error: str = "rmse") -> Floats:
        """The mean error over the runs: infinite once any of them has diverged."""
        values: Floats = getattr(self, error)
        average: Floats = values.mean(axis=0)
        return average

    def standard_error(self, error: str = "rmse") -> Floats:
        """The standard error of :meth:`mean`, NaN once a run has diverged."""
        values: Floats = getattr(self, error)
        with np.errstate(invalid="ignore"):
            spread: Floats = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        return spread


@dataclass(frozen=True, eq=False)
class Simulation(HtmlTable):
    """What :func:`simulate` returns; index it by learner name.

    Attributes
    ----------
    steps : array (records,)
        The recorded steps, 0 first.
    curves : dict of str to Curve
    """

    steps: npt.NDArray[np.int64]
    curves: dict[str, Curve]

    def __getitem__(self, name: str) -> Curve:
        try:
            return self.curves[name]
        except KeyError:
            raise InputError(
                f"no curve is called {name!r}; there are {list(self.curves)}"
            ) from None

    def _rows(self) -> list[list[str]]:
        return [
            [name, *(f"{x:.4g}" for e in ("rmse", "rmspbe") for x in curve.mean(e)[[0, -1]]),
             str(curve.diverged)]
            for name, curve in self.curves.items()
            if curve.rmse.size
        ]  # fmt: skip

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        runs = len(next(iter(self.curves.values())).theta)
        heading = ["learner", "RMSE, first", "last", "RMSPBE, first", "last", "diverged"]
        return f"{self.steps[-1]} steps, mean of {runs} runs", heading, self._rows()

    def __str__(self) -> str:
        caption, heading, rows = self._table()
        widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
        lines = [
            "  ".join(x.ljust(w) for x, w in zip(r, widths, strict=True)).rstrip()
            for r in [heading, *rows]
        ]
        return "\n".join([caption, *lines])

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON data: mean errors (null where infinite) and where runs diverged."""
        return {
            "steps": self.steps.tolist(),
            "learners": {
                name: {
                    "diverged": curve.diverged,
                    "diverged_at": list(curve.diverged_at),
                    **{
                        error: [float(x) if np.isfinite(x) else None for x in curve.mean(error)]
                        for error in ("rmse", "rmspbe")
                    },
                }
                for name, curve in self.curves.items()
            },
        }


def simulate(
    problem: PolicyEvaluation | None,
    learners: Sequence[Learner] | Mapping[str, Learner],
    steps: int,
    runs: int = 1,
    seed: int = 0,
    *,
    stream: str | LoggedData = "trajectory",
    start: Mapping[Any, Any] | None = None,
    theta0: Any = None,
    every: int = 1,
    keep_path: bool = False,
    workers: int | None = None,
) -> Simulation:
    """Run learners on the same transitions, many times, and record their errors.

    Parameters
    ----------
    problem : PolicyEvaluation or None
        None only where a log is replayed; then no errors are recorded.
    learners : sequence or mapping of name to Learner
        In a sequence, two of one kind are told apart by a number.
    steps, runs : int
    seed : int
        Run k draws from the k-th child of ``numpy.random.SeedSequence(seed)``.
    stream : {"trajectory", "iid", "episodes"} or LoggedData
    start : mapping of state to probability, optional
    theta0 : vector of d, optional
        The first weights; zero unless given.
    every : int
        Record errors each that many steps.
    keep_path : bool
        Keep the weights at the recorded steps too.
    workers : int, optional
        Threads; the number of cores unless given. The result does not depend on it.

    Returns
    -------
    Simulation

    Raises
    ------
    InputError
        Steps, runs or every that are not positive; a learner without a step size.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import ETD, TD
    >>> found = simulate(two_state(reward=1), [TD(0.1), ETD(0.001)], steps=40000, runs=2, every=100)
    >>> found["TD"].diverged, found["ETD"].diverged
    (2, 0)
    """
    positive("runs", runs)
    named = _named(learners)
    experiment = Experiment.of(
        problem, steps, seed, stream=stream, start=start, theta0=theta0, every=every
    )
    long = steps * runs * len(named) > LONG
    results = _all(
        lambda run: experiment.run(named, run, keep_path),
        runs,
        workers or os.cpu_count() or 1,
        long,
    )
    curves = {
        name: Curve.gather(learner, [result[name] for result in results])
        for name, learner in named.items()
    }
    return Simulation(experiment.recorded, curves)


def _named(learners: Sequence[Learner] | Mapping[str, Learner]) -> dict[str, Learner]:
    if isinstance(learners, Mapping):
        named = dict(learners)
    else:
        named = {}
        for learner in learners:
            base = getattr(learner, "name", str(learner))
            count = sum(key.split(" ")[0] == base for key in named)
            named[base if not count else f"{base} {count + 1}"] = learner
    check_learners(named, "simulate")
    return named


def _all(one: Callable[[int], Any], runs: int, workers: int, long: bool) -> list[Any]:
    """Every run, on threads (the compiled loops hold no lock), with a bar where it takes long."""
    results: list[Any] = []
    with progress(show=long) as report, ThreadPoolExecutor(min(workers, runs)) as pool:
        for result in pool.map(one, range(runs)):
            results.append(result)
            report("simulating", len(results), runs)
    return results
