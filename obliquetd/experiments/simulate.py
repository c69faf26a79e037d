"""Learning curves: many runs of compiled learners, all on the same transitions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.display import HtmlTable
from obliquetd.errors import InputError, did_you_mean
from obliquetd.experiments.experiment import Experiment, Run, measured_problem, positive
from obliquetd.experiments.identity import bound_learners, named_learners
from obliquetd.experiments.logged import LoggedData
from obliquetd.experiments.parallel import check_workers
from obliquetd.experiments.streams import Floats
from obliquetd.frames import Tabular
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.progress import progress

__all__ = ["Curve", "Simulation", "simulate"]

MOST_WEIGHTS = 12
"""Weights of a learner that a table shows."""
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
        For each run the step at which it diverged: the first after which its weights are not
        finite or 1e150 times the scale of the experiment, whatever is recorded (see
        :meth:`obliquetd.experiments.Experiment.run`).
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

    def errors(self, error: str = "rmse") -> Floats:
        """The errors of every run, shape (runs, records).

        Raises
        ------
        InputError
            For an error of another name, or where a log was replayed without a problem.
        """
        if error not in ("rmse", "rmspbe"):
            raise InputError(f"error is {error!r}; expected 'rmse' or 'rmspbe'")
        values: Floats = getattr(self, error)
        if not values.size:
            raise InputError(
                "no errors were measured, because a log was replayed without a problem; give the "
                "problem too, or read the weights from theta and path"
            )
        return values

    def mean(self, error: str = "rmse") -> Floats:
        """The mean error over the runs: infinite once any of them has diverged."""
        average: Floats = self.errors(error).mean(axis=0)
        return average

    def standard_error(self, error: str = "rmse") -> Floats:
        """The standard error of :meth:`mean`; NaN once a run has diverged, and of one run, which has none."""
        spread: Floats = standard_error(self.errors(error))
        return spread

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The mean errors and weights at each record by name, with standard errors of several runs."""
        found: dict[str, npt.NDArray[Any]] = {}
        for error in ("rmse", "rmspbe") if self.rmse.size else ():
            found[error] = self.mean(error)
            if len(self.rmse) > 1:
                found[f"{error}_standard_error"] = self.standard_error(error)
        return found | (self.weights(self.path) if self.path.size else {})

    def weights(self, path: Floats) -> dict[str, npt.NDArray[Any]]:
        """The mean over the runs of each weight of a path (runs, records, d), by name."""
        with np.errstate(invalid="ignore", over="ignore"):
            mean = path.mean(axis=0)
        return {f"theta_{i}": mean[:, i] for i in range(mean.shape[1])}


def standard_error(values: Floats) -> Any:
    """Of the mean over the first axis; NaN where that cannot be told from one run, or none ends."""
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    with np.errstate(invalid="ignore", over="ignore"):
        return values.std(axis=0, ddof=1) / np.sqrt(len(values))


@dataclass(frozen=True, eq=False)
class Simulation(HtmlTable, Tabular):
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
                f"no curve is called {name!r}; {did_you_mean(name, self.curves)}there are {list(self.curves)}"
            ) from None

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row for each learner and recorded step: the mean errors over the runs.

        The columns are ``learner``, ``alpha`` (the first step size), ``step``, ``rmse``, ``rmspbe`` and
        ``diverged``, the number of runs that diverged up to that step; where there are several runs,
        ``rmse_standard_error`` and ``rmspbe_standard_error``, too. A mean is infinite, and its standard
        error is NaN, once a run has diverged. With ``keep_path``, ``theta_0``, ``theta_1``, ... are the
        mean weights. A log that was replayed without a problem has no errors; without ``keep_path``
        it has one row for each learner then, with the last weights.

        Examples
        --------
        >>> from obliquetd.domains import two_state
        >>> from obliquetd.learners import TD
        >>> found = simulate(two_state(reward=1), TD(0.25), steps=2, keep_path=True)
        >>> [row["step"] for row in found.rows()]
        [0, 1, 2]
        >>> [row["theta_0"] for row in found.rows()] == found["TD"].path[0, :, 0].tolist()
        True
        """
        for name, curve in self.curves.items():
            steps, columns = self.steps, curve.columns()
            if not columns:  # neither errors nor paths: the last weights are all there is
                steps, columns = steps[-1:], curve.weights(curve.theta[:, None])
            lost = np.array([t for t in curve.diverged_at if t is not None])
            columns["diverged"] = (lost[:, None] <= steps).sum(axis=0)
            told = {"learner": name, "alpha": curve.learner.step_size(0)}
            cells = [column.tolist() for column in (steps, *columns.values())]
            for row in zip(*cells, strict=True):
                yield {**told, **dict(zip(("step", *columns), row, strict=True))}

    def _rows(self) -> list[list[str]]:
        return [
            [name, *(f"{x:.4g}" for e in ("rmse", "rmspbe") for x in curve.mean(e)[[0, -1]]),
             str(curve.diverged)]
            for name, curve in self.curves.items()
            if curve.rmse.size
        ]  # fmt: skip

    def _weights(self) -> tuple[str, list[str], list[list[str]]]:
        """The last weights: what there is where no error could be measured."""
        most = max(curve.theta.shape[1] for curve in self.curves.values())
        shown = min(most, MOST_WEIGHTS)
        heading = [
            "learner",
            *(f"theta[{j}]" for j in range(shown)),
            *(["..."] if shown < most else []),
        ]
        rows = [
            [name if len(curve.theta) == 1 else f"{name}, run {k}",
             *(f"{x:.6g}" for x in theta[:shown]), *(["..."] if shown < most else [])]
            for name, curve in self.curves.items()
            for k, theta in enumerate(curve.theta)
        ]  # fmt: skip
        return (
            f"weights after {self.steps[-1]} steps of a log; no problem, so no errors",
            heading,
            rows,
        )

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        if not any(curve.rmse.size for curve in self.curves.values()):
            return self._weights()
        runs = len(next(iter(self.curves.values())).theta)
        heading = ["learner", "RMSE, first", "last", "RMSPBE, first", "last", "diverged"]
        told = f"mean of {runs} runs" if runs > 1 else "one run, which has no standard error"
        return f"{self.steps[-1]} steps, {told}", heading, self._rows()

    def __str__(self) -> str:
        caption, heading, rows = self._table()
        widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
        lines = [
            "  ".join(x.ljust(w) for x, w in zip(r, widths, strict=True)).rstrip()
            for r in [heading, *rows]
        ]
        return "\n".join([caption, *lines])

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON data: where runs diverged, and mean errors, where measured (null: infinite)."""
        return {
            "steps": self.steps.tolist(),
            "learners": {
                name: {
                    "diverged": curve.diverged,
                    "diverged_at": list(curve.diverged_at),
                    "theta": [
                        [float(x) if np.isfinite(x) else None for x in row] for row in curve.theta
                    ],
                    **{
                        error: [float(x) if np.isfinite(x) else None for x in curve.mean(error)]
                        for error in ("rmse", "rmspbe")
                        if curve.rmse.size
                    },
                }
                for name, curve in self.curves.items()
            },
        }


def simulate(
    problem: PolicyEvaluation | None,
    learners: Learner | Iterable[Learner] | Mapping[str, Learner],
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
    learners : Learner, iterable of them, or mapping of name to Learner
        In an iterable, two of one kind are told apart by a number.
    steps, runs : int
        A log is one run.
    seed : int
        Run k draws from the k-th child of ``numpy.random.SeedSequence(seed)``.
    stream : {"trajectory", "iid", "episodes"} or LoggedData
        A trajectory visits states as the stationary distribution says; weights xi of the user's
        own that are not stationary go with "iid", or with ``start``.
    start : mapping of state to probability, optional
        Where a trajectory or the episodes begin.
    theta0 : vector of d, optional
        The first weights; zero unless given.
    every : int
        Record errors each that many steps, and after the last one.
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
        Steps, runs or every that are not positive; a learner without a step size, or one that
        the stream cannot serve; weights that contradict the stream.
    SizeError
        Where that many steps would not fit into memory.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import ETD, TD
    >>> found = simulate(two_state(reward=1), [TD(0.1), ETD(0.001)], steps=40000, runs=2, every=100)
    >>> found["TD"].diverged, found["ETD"].diverged
    (2, 0)
    """
    positive("runs", runs)
    check_workers(workers)
    named = named_learners(learners, lambda learner: learner.name)
    experiment = Experiment.of(
        problem, steps, seed, stream=stream, start=start, theta0=theta0, every=every
    )
    named = bound_learners(
        named, None if problem is None else measured_problem(problem, stream, start)
    )
    at_once = min(workers or os.cpu_count() or 1, runs)
    experiment.check(named, runs, at_once=at_once, keep_path=keep_path)
    long = steps * runs * len(named) > LONG
    results = _all(
        experiment.runner(named, keep_path),
        runs,
        at_once,
        long,
    )
    curves = {
        name: Curve.gather(learner, [result[name] for result in results])
        for name, learner in named.items()
    }
    return Simulation(experiment.recorded, curves)


def _all(one: Callable[[int], Any], runs: int, workers: int, long: bool) -> list[Any]:
    """Every run, on threads (the compiled loops hold no lock), with a bar where it takes long."""
    results: list[Any] = []
    with progress(show=long) as report, ThreadPoolExecutor(workers) as pool:
        for result in pool.map(one, range(runs)):
            results.append(result)
            report("simulating", len(results), runs)
    return results
