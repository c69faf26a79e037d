"""Mountain car as an experiment: a new log for each run, Monte Carlo values as the reference."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from obliquetd.domains import MountainCar
from obliquetd.experiments import Experiment, LoggedData
from obliquetd.experiments.measure import ErrorMeasure
from obliquetd.experiments.streams import Drawn, Stream

__all__ = ["CarStream", "car_experiment", "noise_floor"]

STATES = 50
"""States whose values are estimated, drawn from those that the policy visits."""
RUNS = 100
"""Monte Carlo runs from each of them, of at most 200 steps (the paper's numbers)."""
VISITS = 50_000
"""Steps from which those states are drawn, and A, b and C of the projected error estimated."""
REFERENCE_SEED = 2018
"""The reference is the same for every seed of the experiment."""


@dataclass(frozen=True)
class CarStream(Stream):
    """The policy in the environment; every run is another log."""

    car: MountainCar

    @property
    def width(self) -> int:
        return (self.car.order + 1) ** 2

    def identity(self) -> bytes:
        return repr(self.car).encode()

    def draw(self, steps: int, rng: np.random.Generator, twins: bool = True) -> Drawn:
        return _log(self.car, steps, int(rng.integers(2**63))).draw(steps, rng, twins)


@lru_cache(maxsize=64)
def _log(car: MountainCar, steps: int, seed: int) -> LoggedData:
    """One run's log; learner after learner meets the same runs."""
    return LoggedData(**car.log(steps, seed)._asdict())


@lru_cache(maxsize=2)
def reference(car: MountainCar) -> tuple[ErrorMeasure, float]:
    """The errors of weights, and the root mean square of the values' standard errors.

    The RMSE is over states that the policy visits. The RMSPBE takes A, b and C from a log of
    50,000 steps, A = mean of phi (phi - g phi')', b = mean of r phi.
    """
    before, after, ends, _ = car.trajectory(VISITS, REFERENCE_SEED)
    rng = np.random.default_rng(REFERENCE_SEED)
    states = before[np.sort(rng.choice(VISITS, STATES, replace=False))]
    values, errors = car.values(states, RUNS, seed=REFERENCE_SEED)
    phi, phi_next = car.features(before), car.features(after)
    g = np.where(ends, 0.0, car.discount)[:, None]
    A, b = phi.T @ (phi - g * phi_next) / VISITS, -phi.mean(axis=0)
    on_states = ErrorMeasure.from_arrays(
        car.features(states), np.full(STATES, 1 / STATES), values, A, b
    )
    on_log = ErrorMeasure.from_arrays(phi, np.full(VISITS, 1 / VISITS), np.zeros(VISITS), A, b)
    maps = on_states.maps[0], on_log.maps[1]
    targets = on_states.targets[0], on_log.targets[1]
    return ErrorMeasure(maps, targets, on_states.floor), float(np.sqrt((errors**2).mean()))


def car_experiment(car: MountainCar, steps: int, seed: int, every: int = 1) -> Experiment:
    """On-policy evaluation of the car's policy, from weights of zero."""
    measure, _ = reference(car)
    stream = CarStream(car)
    return Experiment(stream, measure, np.zeros(stream.width), steps, seed, every, repr(car))


def noise_floor(experiment: Experiment) -> float:
    """The standard error of the Monte Carlo values, root mean square over the states."""
    stream = experiment.stream
    return reference(stream.car)[1] if isinstance(stream, CarStream) else 0.0
