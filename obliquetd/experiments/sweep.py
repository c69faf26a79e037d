"""Many learners, many runs: tasks, the store they go to, and what they say together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from obliquetd.errors import InputError
from obliquetd.experiments.experiment import Experiment, Run, check_learners, positive
from obliquetd.experiments.grid import label
from obliquetd.experiments.logged import LoggedData
from obliquetd.experiments.parallel import check_workers, run_tasks
from obliquetd.experiments.simulate import Curve, Simulation
from obliquetd.experiments.store import Store
from obliquetd.learners import Learner
from obliquetd.learners.compiled import rules_digest
from obliquetd.problem import PolicyEvaluation

__all__ = ["CRITERIA", "Setting", "Sweep", "run", "sweep"]

BLOCK = 25
"""Runs in a task unless said otherwise."""

CRITERIA: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "whole": lambda errors: errors.mean(axis=1),
    "end": lambda errors: errors[:, -max(1, errors.shape[1] // 10) :].mean(axis=1),
}
"""What a run is judged by: its mean error over all records, or over the last tenth of them."""

Progress = Callable[[int, int], None]


class Task(NamedTuple):
    """Runs first, ..., last - 1 of one learner."""

    name: str
    learner: Learner
    first: int
    last: int

    @property
    def key(self) -> str:
        """The task's name in the store: the learner in full, whatever it is called here."""
        return f"{self.learner!r} runs {self.first}-{self.last - 1}"


class Setting(NamedTuple):
    """How one learner did: mean of the criterion over the runs, its standard error, divergences."""

    name: str
    learner: Learner
    value: float
    standard_error: float
    diverged: int


@dataclass(frozen=True, eq=False)
class Sweep(Simulation):
    """What :func:`sweep` returns: a curve for each learner, and how they compare.

    Attributes
    ----------
    seed : int
    """

    seed: int = 0

    def settings(
        self, kind: str | None = None, error: str = "rmse", criterion: str = "end"
    ) -> list[Setting]:
        """Every learner (of one kind, by its name), judged; in the order of the grid.

        Parameters
        ----------
        kind : str, optional
            Such as ``"TD"``.
        error : {"rmse", "rmspbe"}
        criterion : {"end", "whole"}
            The mean error over the last tenth of the records, or over all.
        """
        if error not in ("rmse", "rmspbe") or criterion not in CRITERIA:
            raise InputError(
                f"error is {error!r} and criterion {criterion!r}; expected 'rmse' or 'rmspbe', and "
                f"one of {', '.join(map(repr, CRITERIA))}"
            )
        out = []
        for name, curve in self.curves.items():
            if kind in (None, curve.learner.name):
                values = CRITERIA[criterion](getattr(curve, error))
                with np.errstate(invalid="ignore"):
                    spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
                out.append(
                    Setting(
                        name, curve.learner, float(values.mean()), float(spread), curve.diverged
                    )
                )
        if not out:
            kinds = ", ".join(dict.fromkeys(c.learner.name for c in self.curves.values()))
            raise InputError(f"no learner of the sweep is called {kind!r}; there are {kinds}")
        return out

    def best(self, kind: str, error: str = "rmse", criterion: str = "end") -> Setting:
        """The setting with the least mean error; divergence counts as infinite.

        Raises
        ------
        InputError
            Where every setting diverged.
        """
        found = min(self.settings(kind, error, criterion), key=lambda s: s.value)
        if not np.isfinite(found.value):
            raise InputError(f"every setting of {kind} diverged; give smaller step sizes")
        return found

    def sensitivity(self, kind: str, error: str = "rmse", criterion: str = "end") -> list[Setting]:
        """For each step size alpha, in order, the best setting that has it."""
        best: dict[float, Setting] = {}
        for setting in self.settings(kind, error, criterion):
            alpha = setting.learner.step_size(0)
            if alpha not in best or setting.value < best[alpha].value:
                best[alpha] = setting
        return [best[alpha] for alpha in sorted(best)]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Tidy rows: learner, its settings, run, step, rmse, rmspbe; infinite once diverged."""
        for curve in self.curves.values():
            settings = _settings(curve.learner)
            for k, (rmse, rmspbe) in enumerate(zip(curve.rmse, curve.rmspbe, strict=True)):
                for step, e, p in zip(
                    self.steps.tolist(), rmse.tolist(), rmspbe.tolist(), strict=True
                ):
                    yield {**settings, "run": k, "step": step, "rmse": e, "rmspbe": p}


def sweep(
    problem: PolicyEvaluation,
    learners: Iterable[Learner],
    steps: int,
    runs: int = 20,
    seed: int = 0,
    *,
    stream: str | LoggedData = "trajectory",
    start: Mapping[Any, Any] | None = None,
    theta0: Any = None,
    every: int | None = None,
    **options: Any,
) -> Sweep:
    """Run many learners many times, on all cores or on a cluster; what is finished is kept.

    Parameters
    ----------
    problem : PolicyEvaluation
    learners : iterable of Learner
        Such as :func:`obliquetd.experiments.grid` makes.
    steps, runs, seed, stream, start, theta0
        As in :func:`obliquetd.simulate`; every learner meets the same transitions.
    every : int, optional
        Record errors each that many steps; a hundredth of the steps unless given.
    **options
        ``out``, ``workers``, ``backend``, ``scheduler``, ``block``, ``progress`` of
        :func:`obliquetd.experiments.run`.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.experiments import grid
    >>> from obliquetd.learners import SETD, TD
    >>> found = sweep(two_state(reward=1), grid([TD, SETD], [0.001, 0.01]), 2000, 4, workers=1)
    >>> found.best("SETD").name, found["TD alpha=0.01"].diverged
    ('SETD alpha=0.01', 0)
    """
    every = every or max(1, int(steps) // 100 if isinstance(steps, int | np.integer) else 1)
    experiment = Experiment.of(
        problem, steps, seed, stream=stream, start=start, theta0=theta0, every=every
    )
    return run(experiment, {label(x): x for x in learners}, runs, **options)


def run(
    experiment: Experiment,
    learners: Mapping[str, Learner],
    runs: int,
    *,
    out: str | Path | None = None,
    workers: int | None = None,
    backend: str = "cores",
    scheduler: str | None = None,
    block: int = BLOCK,
    progress: Progress | None = None,
) -> Sweep:
    """Every run of every learner, as tasks.

    Parameters
    ----------
    experiment : Experiment
    learners : mapping of name to Learner
    runs : int
    out : path, optional
        A folder for finished tasks. If it holds some, they are taken from there.
    workers, backend, scheduler
        As in :func:`obliquetd.experiments.parallel.run_tasks`. The result does not depend on
        them, nor on ``block``.
    block : int
        Runs in a task.
    progress : callable of (done, total), optional

    Raises
    ------
    ResultsError
        A folder that cannot be written, that belongs to another experiment, or with a corrupt
        file.
    BackendError
        Workers that cannot be reached or keep dying; finished tasks are in ``out``.
    """
    positive("runs", runs)
    positive("block", block)
    check_workers(workers, backend, scheduler)
    check_learners(learners, "run")
    for learner in learners.values():
        learner.step_size(0)
    store = None
    if out is not None:
        store = Store(out, {"experiment": experiment.identity(), "rules": rules_digest()})
    tasks = [
        Task(name, learner, first, min(first + block, runs))
        for first in range(0, runs, block)  # a worker meets the same runs one after the other
        for name, learner in learners.items()
    ]
    found: dict[int, dict[str, np.ndarray]] = {}
    for i, task in enumerate(tasks):
        kept = store.load(task.key) if store else None
        if kept is not None:
            _check_shape(store, task, kept, experiment)
            found[i] = kept
    todo = [i for i in range(len(tasks)) if i not in found]
    if progress:
        progress(len(found), len(tasks))
    if todo:
        results = run_tasks(
            _Work(experiment), [tasks[i] for i in todo], workers=workers, backend=backend,
            scheduler=scheduler,
        )  # fmt: skip
        for k, arrays in results:
            found[todo[k]] = arrays
            if store:
                store.save(tasks[todo[k]].key, arrays)
            if progress:
                progress(len(found), len(tasks))
    return Sweep(experiment.recorded, _curves(learners, tasks, found), int(experiment.seed))


class _Work:
    """A task's runs as arrays; an object, so that the experiment is sent to a worker once."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment

    def __call__(self, task: Task) -> dict[str, np.ndarray]:
        runs = [
            self.experiment.run({task.name: task.learner}, k)[task.name]
            for k in range(task.first, task.last)
        ]
        return {
            "rmse": np.array([r.rmse for r in runs]),
            "rmspbe": np.array([r.rmspbe for r in runs]),
            "theta": np.array([r.theta for r in runs]),
            "diverged_at": np.array(
                [-1 if r.diverged_at is None else r.diverged_at for r in runs], dtype=np.int64
            ),
        }


def _check_shape(
    store: Store | None, task: Task, kept: dict[str, np.ndarray], experiment: Experiment
) -> None:
    """A file that reads, and yet is not what this task writes, is corrupt as well."""
    runs, records = task.last - task.first, len(experiment.recorded)
    shapes = {
        "rmse": (runs, records),
        "rmspbe": (runs, records),
        "theta": (runs, len(experiment.first)),
        "diverged_at": (runs,),
    }
    if store and {name: a.shape for name, a in kept.items()} != shapes:
        raise store.broken(store.path(task.key), "its arrays do not have the shapes of the task")


def _curves(
    learners: Mapping[str, Learner], tasks: Sequence[Task], found: Mapping[int, Any]
) -> dict[str, Curve]:
    parts: dict[str, list[Run]] = {name: [] for name in learners}
    for i, task in enumerate(tasks):
        arrays = found[i]
        for rmse, rmspbe, theta, t in zip(
            arrays["rmse"], arrays["rmspbe"], arrays["theta"], arrays["diverged_at"].tolist(),
            strict=True,
        ):  # fmt: skip
            parts[task.name].append(Run(rmse, rmspbe, theta, None if t < 0 else t, None))
    return {name: Curve.gather(learner, parts[name]) for name, learner in learners.items()}


def _settings(learner: Learner) -> dict[str, Any]:
    def number(name: str) -> Any:
        value = getattr(learner, name, None)
        return value if callable(value) or value is None else float(value)

    return {"learner": learner.name, **{name: number(name) for name in ("alpha", "mu", "lam")}}
