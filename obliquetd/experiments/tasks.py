"""The tasks of a sweep: some runs of one learner, and the arrays that they leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from obliquetd.experiments.experiment import Experiment, Run
from obliquetd.experiments.simulate import Curve
from obliquetd.experiments.store import Store
from obliquetd.learners import Learner

__all__ = ["Task", "Work", "check_shape", "curves_of"]


class Task(NamedTuple):
    """Runs first, ..., last - 1 of one learner, whose numbers have the given identity."""

    name: str
    learner: Learner
    identity: str
    first: int
    last: int

    @property
    def key(self) -> str:
        """The task's name in the store: what it computes, whatever it is called here."""
        return f"{self.learner.name} {self.identity} runs {self.first}-{self.last - 1}"


class Work:
    """A task's runs as arrays; an object, so that the experiment is sent to a worker once."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment

    def __call__(self, task: Task) -> dict[str, np.ndarray]:
        run = self.experiment.runner({task.name: task.learner})
        runs = [run(k)[task.name] for k in range(task.first, task.last)]
        return {
            "rmse": np.array([r.rmse for r in runs]),
            "rmspbe": np.array([r.rmspbe for r in runs]),
            "theta": np.array([r.theta for r in runs]),
            "diverged_at": np.array(
                [-1 if r.diverged_at is None else r.diverged_at for r in runs], dtype=np.int64
            ),
        }


def check_shape(
    store: Store | None, task: Task, kept: dict[str, np.ndarray], experiment: Experiment
) -> None:
    """ResultsError for a file that reads, and yet is not what this task writes."""
    runs, records = task.last - task.first, len(experiment.recorded)
    measured = records if experiment.measure is not None else 0
    wanted = {
        "rmse": ((runs, measured), "f"),
        "rmspbe": ((runs, measured), "f"),
        "theta": ((runs, len(experiment.first)), "f"),
        "diverged_at": ((runs,), "i"),
    }
    if store and {name: (a.shape, a.dtype.kind) for name, a in kept.items()} != wanted:
        raise store.broken(store.path(task.key), "its arrays do not have the shapes of the task")


def curves_of(
    learners: Mapping[str, Learner], tasks: Sequence[Task], found: Mapping[int, Any]
) -> dict[str, Curve]:
    """Each learner's runs, out of the arrays of its tasks."""
    parts: dict[str, list[Run]] = {name: [] for name in learners}
    for i, task in enumerate(tasks):
        arrays = found[i]
        for rmse, rmspbe, theta, t in zip(
            arrays["rmse"], arrays["rmspbe"], arrays["theta"], arrays["diverged_at"].tolist(),
            strict=True,
        ):  # fmt: skip
            parts[task.name].append(Run(rmse, rmspbe, theta, None if t < 0 else t, None))
    return {name: Curve.gather(learner, parts[name]) for name, learner in learners.items()}
