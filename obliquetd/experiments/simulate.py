"""Learning curves: many runs of compiled learners, all on the same transitions."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FLOAT, parse_number
from obliquetd.errors import InputError
from obliquetd.experiments.streams import Floats, LoggedData, Stream, TableStream, dense, floating
from obliquetd.learners import Learner
from obliquetd.learners.compiled import compiled_driver
from obliquetd.problem import PolicyEvaluation
from obliquetd.projection import BestApproximation

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
        The weights at the recorded steps, infinite after a divergence; no runs in it
        unless ``keep_path`` was asked for.
    """

    learner: Learner
    rmse: Floats
    rmspbe: Floats
    theta: Floats
    diverged_at: tuple[int | None, ...]
    path: Floats

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
class Simulation:
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
    for name, value in (("steps", steps), ("runs", runs), ("every", every)):
        if not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"{name} is {value!r}; expected a positive integer")
    named = _named(learners)
    source: Stream = stream if isinstance(stream, LoggedData) else _table(problem, stream, start)
    d = source.outcomes.features.shape[1]
    measure = _measure(problem, d)
    first = _first_weights(theta0, d)
    alphas = {
        name: np.array([learner.step_size(t) for t in range(steps)])
        if callable(learner.alpha)
        else np.full(steps, learner.step_size(0))
        for name, learner in named.items()
    }
    children = np.random.SeedSequence(seed).spawn(runs)

    def one(run: int) -> dict[str, tuple[Any, ...]]:
        drawn = source.draw(steps, np.random.default_rng(children[run]))
        return {
            name: _run(learner, source, drawn, alphas[name], first, every, measure)
            for name, learner in named.items()
        }

    results = _all(one, runs, workers or os.cpu_count() or 1, steps * runs * len(named) > LONG)
    curves = {}
    for name, learner in named.items():
        rmse, rmspbe, theta, diverged, record = zip(*(r[name] for r in results), strict=True)
        path = np.array(record) if keep_path else np.empty((0, *record[0].shape))
        curves[name] = Curve(
            learner, np.array(rmse), np.array(rmspbe), np.array(theta), diverged, path
        )
    return Simulation(np.arange(steps // every + 1, dtype=np.int64) * every, curves)


def _named(learners: Sequence[Learner] | Mapping[str, Learner]) -> dict[str, Learner]:
    if isinstance(learners, Mapping):
        named = dict(learners)
    else:
        named = {}
        for learner in learners:
            base = getattr(learner, "name", str(learner))
            count = sum(key.split(" ")[0] == base for key in named)
            named[base if not count else f"{base} {count + 1}"] = learner
    if not named:
        raise InputError("there is no learner to simulate")
    for learner in named.values():
        if not isinstance(learner, Learner):
            raise InputError(f"{learner!r} is no learner; expected one such as TD(0.1)")
    return named


def _table(
    problem: PolicyEvaluation | None, stream: str, start: Mapping[Any, Any] | None
) -> TableStream:
    if problem is None:
        raise InputError("without a problem, stream must be LoggedData")
    return TableStream(problem, stream, start)


def _first_weights(theta0: Any, d: int) -> Floats:
    if theta0 is None:
        return np.zeros(d)
    first = np.array([FLOAT.scalar(parse_number(x, "theta0")) for x in list(theta0)])
    if first.shape != (d,):
        raise InputError(f"theta0 has {len(first)} entries; the features have {d}")
    return first


Measure = Callable[[Floats], tuple[Floats, Floats]]


def _measure(problem: PolicyEvaluation | None, d: int) -> Measure:
    """RMSE and RMSPBE of rows of weights."""
    if problem is None:
        return lambda _: (np.empty(0), np.empty(0))
    ops = floating(problem)
    Phi = dense(ops.Phi)
    if Phi.shape[1] != d:
        raise InputError(f"the log has {d} features, the problem {Phi.shape[1]}")
    root = np.sqrt(np.array(ops.xi.entries()))[:, None]
    v = dense(ops.v_pi)
    Lambda, r = dense(ops.Lambda), dense(ops.r_pi)
    projector = root * (Phi @ dense(BestApproximation(ops).fit(FLOAT.identity(ops.n)).theta))

    def measure(record: Floats) -> tuple[Floats, Floats]:
        with np.errstate(over="ignore", invalid="ignore"):
            error = root * (Phi @ record.T - v)
            residual = projector @ (r - Lambda @ record.T)
            return np.sqrt((error**2).sum(axis=0)), np.sqrt((residual**2).sum(axis=0))

    return measure


def _run(
    learner: Learner, source: Stream, drawn: Any, alphas: Floats, first: Floats, every: int,
    measure: Measure,
) -> tuple[Floats, Floats, Floats, int | None, Floats]:  # fmt: skip
    """One learner on one run's transitions."""
    outcomes = source.outcomes
    rows, twins, fresh = drawn
    d = len(first)
    theta, w, memory = first.copy(), np.zeros(d), np.zeros(d + 1)
    record = np.full((len(rows) // every + 1, d), np.inf)
    record[0] = first
    lam, ratio = (float(FLOAT.scalar(parse_number(x))) for x in (learner.lam, learner.ratio))
    ended = compiled_driver(learner.rule)(
        learner.code, theta, w, memory, outcomes.features, outcomes.state, outcomes.next_state,
        outcomes.reward, outcomes.discount, outcomes.rho, rows, twins, fresh, alphas, ratio, lam,
        every, record,
    )  # fmt: skip
    kept = len(record) if ended < 0 else ended // every + 1
    rmse, rmspbe = measure(record[:kept])
    blank = np.full(len(record) - kept if rmse.size else 0, np.inf)
    last = theta if ended < 0 else record[kept - 1]
    return (
        np.concatenate([rmse, blank]),
        np.concatenate([rmspbe, blank]),
        last,
        None if ended < 0 else int(ended),
        record,
    )


def _all(one: Callable[[int], Any], runs: int, workers: int, long: bool) -> list[Any]:
    """Every run, on threads (the compiled loops hold no lock), with a bar where it takes long."""
    if long and sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        bar: Any = Progress(console=Console(stderr=True), transient=True)
    else:
        bar = nullcontext()
    with bar as progress, ThreadPoolExecutor(min(workers, runs)) as pool:
        results = []
        task = progress.add_task("simulating", total=runs) if progress is not None else None
        for result in pool.map(one, range(runs)):
            results.append(result)
            if progress is not None:
                progress.advance(task)
        return results
