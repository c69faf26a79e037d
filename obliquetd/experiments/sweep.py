"""Many learners, many runs: tasks, the store they go to, and what they say together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from obliquetd.algebra import FLOAT, parse_number
from obliquetd.errors import InputError
from obliquetd.experiments.experiment import Experiment, measured_problem, positive
from obliquetd.experiments.grid import columns_of, label, setting_text, settings_of
from obliquetd.experiments.identity import (
    bound_learners,
    learner_identity,
    named_learners,
    schedule_identity,
    step_sizes,
)
from obliquetd.experiments.logged import LoggedData
from obliquetd.experiments.parallel import check_workers, run_tasks
from obliquetd.experiments.simulate import Simulation, standard_error
from obliquetd.experiments.store import Store
from obliquetd.experiments.tasks import Task, Work, check_shape, curves_of
from obliquetd.learners import Learner, parameters
from obliquetd.learners.compiled import driver_digest
from obliquetd.problem import PolicyEvaluation

__all__ = ["CRITERIA", "CRITERION", "Setting", "Sweep", "run", "sweep"]

BLOCK = 25
"""Runs in a task unless said otherwise."""

RUNS = 20
"""Runs of a sweep unless said otherwise; a log is one."""

CRITERIA: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "whole": lambda errors: errors.mean(axis=1),
    "end": lambda errors: errors[:, -max(1, errors.shape[1] // 10) :].mean(axis=1),
}
"""What a run is judged by: its mean error over all records, or over the last tenth of them."""

CRITERION = "whole"
"""By which learners are ranked unless said otherwise, in tables and in pictures: as the paper's plots do."""

Progress = Callable[[int, int], None]


class Setting(NamedTuple):
    """How one learner did: mean of the criterion over the runs, its standard error, divergences.

    The standard error is NaN for a single run, and where one diverged.
    """

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
        self, kind: str | None = None, error: str = "rmse", criterion: str = CRITERION
    ) -> list[Setting]:
        """Every learner (of one kind, by its name), judged; in the order of the grid.

        Parameters
        ----------
        kind : str, optional
            Such as ``"TD"``.
        error : {"rmse", "rmspbe"}
        criterion : {"whole", "end"}
            The mean error over all records, or over the last tenth of them.
        """
        if criterion not in CRITERIA:
            raise InputError(
                f"criterion is {criterion!r}; expected one of {', '.join(map(repr, CRITERIA))}"
            )
        out = []
        for name, curve in self.curves.items():
            if kind in (None, curve.learner.name):
                values = CRITERIA[criterion](curve.errors(error))
                out.append(
                    Setting(
                        name,
                        curve.learner,
                        float(values.mean()),
                        float(standard_error(values)),
                        curve.diverged,
                    )
                )
        if not out:
            kinds = ", ".join(dict.fromkeys(c.learner.name for c in self.curves.values()))
            raise InputError(f"no learner of the sweep is called {kind!r}; there are {kinds}")
        return out

    def best(
        self, kind: str | None = None, error: str = "rmse", criterion: str = CRITERION
    ) -> Setting:
        """The setting with the least mean error over the whole run, or by another criterion; of all kinds, or of one.

        A setting of which a run diverged counts as infinitely bad. Parameters are those of :meth:`settings`.

        Raises
        ------
        InputError
            Where every setting diverged, or no errors were measured.
        """
        found = min(self.settings(kind, error, criterion), key=lambda s: s.value)
        if not np.isfinite(found.value):
            raise InputError(
                f"every setting{f' of {kind}' if kind else ''} diverged; give smaller step sizes"
            )
        return found

    def sensitivity(
        self, kind: str, error: str = "rmse", criterion: str = CRITERION
    ) -> list[Setting]:
        """For each step size alpha, in order, the best setting that has it; judged as :meth:`best` judges.

        Schedules are told apart by all their numbers, and stand where their first one does.
        """
        best: dict[str, tuple[float, Setting]] = {}
        for setting in self.settings(kind, error, criterion):
            alphas = step_sizes(setting.learner, int(self.steps[-1]))
            key = schedule_identity(alphas)
            if key not in best or setting.value < best[key][1].value:
                best[key] = float(alphas[0]), setting
        return [setting for _, setting in sorted(best.values(), key=lambda pair: pair[0])]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Tidy rows: learner, its settings, run, step, rmse, rmspbe; infinite once diverged.

        The settings are alpha, every number that a learner of the sweep declares, and those
        words in which one differs from the default.
        """
        columns = dict.fromkeys(columns_of(type(c.learner) for c in self.curves.values()))
        for curve in self.curves.values():
            columns |= dict.fromkeys(settings_of(curve.learner))
        for curve in self.curves.values():
            settings = {"learner": curve.learner.name}
            settings |= {name: _setting(curve.learner, name) for name in columns}
            errors = curve.errors("rmse"), curve.errors("rmspbe")
            for k, (rmse, rmspbe) in enumerate(zip(*errors, strict=True)):
                for step, e, p in zip(
                    self.steps.tolist(), rmse.tolist(), rmspbe.tolist(), strict=True
                ):
                    yield {**settings, "run": k, "step": step, "rmse": e, "rmspbe": p}


def sweep(
    problem: PolicyEvaluation | None,
    learners: Learner | Iterable[Learner] | Mapping[str, Learner],
    steps: int,
    runs: int | None = None,
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
    problem : PolicyEvaluation or None
    learners : Learner, iterable of them, or mapping of name to Learner
        Such as :func:`obliquetd.experiments.grid` makes.
    steps, seed, stream, start, theta0
        As in :func:`obliquetd.simulate`; every learner meets the same transitions.
    runs : int, optional
        20 unless given; 1 of a log.
    every : int, optional
        Record errors each that many steps, and after the last; a hundredth of the steps unless
        given.
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
    if every is None:
        every = max(1, int(steps) // 100 if isinstance(steps, int | np.integer) else 1)
    experiment = Experiment.of(
        problem, steps, seed, stream=stream, start=start, theta0=theta0, every=every
    )
    if runs is None:
        runs = RUNS if experiment.stream.varies else 1
    named = bound_learners(
        named_learners(learners, label),
        None if problem is None else measured_problem(problem, stream, start),
    )
    return run(experiment, named, runs, **options)


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
    learners = named_learners(learners, label)
    experiment.check(learners, runs)
    steps = experiment.steps
    identities = {
        name: learner_identity(learner, step_sizes(learner, steps))
        for name, learner in learners.items()
    }
    store = None
    if out is not None:
        store = Store(
            out,
            {
                "seed": int(experiment.seed),
                "steps": int(steps),
                "every": int(experiment.every),
                "experiment": experiment.identity(),
                "rules": driver_digest(),
            },
        )
    tasks = [
        Task(name, learner, identities[name], first, min(first + block, runs))
        for first in range(0, runs, block)  # a worker meets the same runs one after the other
        for name, learner in learners.items()
    ]
    found: dict[int, dict[str, np.ndarray]] = {}
    for i, task in enumerate(tasks):
        kept = store.load(task.key) if store else None
        if kept is not None:
            check_shape(store, task, kept, experiment)
            found[i] = kept
    todo = [i for i in range(len(tasks)) if i not in found]
    if progress:
        progress(len(found), len(tasks))
    if todo:
        if store:
            store.check_writable()
        results = run_tasks(
            Work(experiment), [tasks[i] for i in todo], workers=workers, backend=backend,
            scheduler=scheduler,
        )  # fmt: skip
        for k, arrays in results:
            found[todo[k]] = arrays
            if store:
                store.save(tasks[todo[k]].key, arrays)
            if progress:
                progress(len(found), len(tasks))
    return Sweep(experiment.recorded, curves_of(learners, tasks, found), int(experiment.seed))


def _setting(learner: Learner, name: str) -> Any:
    """A number as a float, anything else as text, None where the learner has no such setting."""
    value = getattr(learner, name, None)
    if value is None:
        return None
    words = [p.name for p in parameters(type(learner)) if p.choices]
    if callable(value) or name in words or isinstance(value, Mapping):
        return setting_text(value)
    return FLOAT.scalar(parse_number(value))
