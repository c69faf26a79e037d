"""Mountain car with the Fourier basis: the environment of Gymnasium, under a good policy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obliquetd.errors import InputError, how_to_install
from obliquetd.features import fourier_basis

__all__ = ["CarLog", "MountainCar"]

Floats = npt.NDArray[np.float64]
ACTIONS = 3
"""Push left, none, push right."""


class CarLog(NamedTuple):
    """Transitions of the car, as :class:`obliquetd.LoggedData` takes them.

    ``phi`` and ``phi_next`` (T, d), ``reward`` and ``discount`` (T,), the discount 0 where
    the goal was reached, and ``first`` (T,), true where an episode begins.
    """

    phi: Floats
    phi_next: Floats
    reward: Floats
    discount: Floats
    first: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class MountainCar:
    """Evaluation of a policy that pumps energy: push the way the car moves.

    It reaches the goal from every start, in some 120 steps. With the chance ``epsilon`` a
    push is drawn at random instead. The reward is -1 a step; an episode ends at the goal, or
    is cut after ``horizon`` steps (a cut is no termination: values go on).

    Parameters
    ----------
    order : int
        Of the Fourier basis on position and velocity, so (order + 1)^2 features.
    epsilon, discount : float
    horizon : int

    Raises
    ------
    InputError
        Where Gymnasium is not installed (extra ``gym``), or a number is out of range.

    Notes
    -----
    The environment is Gymnasium's MountainCar-v0 (Moore 1990; Sutton and Barto 2018,
    Example 10.1); the basis is that of Konidaris, Osentoski and Thomas (2011). The paper
    gives neither the order nor the discount nor its policy. Order 2 is the largest at which none
    of its step sizes diverges; 0.99 and the policy are ours.

    Examples
    --------
    >>> car = MountainCar()
    >>> log = car.log(300, seed=0)
    >>> log.phi.shape, set(log.reward.tolist()), int(log.first.sum())
    ((300, 9), {-1.0}, 3)
    """

    order: int = 2
    epsilon: float = 0.1
    discount: float = 0.99
    horizon: int = 200

    def __post_init__(self) -> None:
        for name, value in (("order", self.order), ("horizon", self.horizon)):
            if not isinstance(value, int) or value < 1:
                raise InputError(f"{name} is {value!r}; expected a positive integer")
        for name, number in (("epsilon", self.epsilon), ("discount", self.discount)):
            if not 0 <= number <= 1:
                raise InputError(f"{name} is {number!r}; expected a number in [0, 1]")

    @cached_property
    def env(self) -> Any:
        """The environment, without Gymnasium's wrappers."""
        try:
            import gymnasium
        except ImportError:
            raise InputError(
                "mountain car needs the package gymnasium, which is not installed; "
                + how_to_install("gymnasium>=1.0", "gym")
            ) from None
        return gymnasium.make("MountainCar-v0").unwrapped

    def features(self, states: Floats) -> Floats:
        """The Fourier basis at rows (position, velocity), scaled to [0, 1]."""
        low, high = self.env.low.astype(float), self.env.high.astype(float)
        return fourier_basis((np.asarray(states, dtype=float) - low) / (high - low), self.order)

    def log(self, steps: int, seed: int) -> CarLog:
        """On-policy transitions, episode after episode."""
        before, after, ends, first = self.trajectory(steps, seed)
        return CarLog(
            self.features(before),
            self.features(after),
            np.full(steps, -1.0),
            np.where(ends, 0.0, self.discount),
            first,
        )

    def trajectory(
        self, steps: int, seed: int
    ) -> tuple[Floats, Floats, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """States before and after (T, 2), where the goal was reached, and where episodes begin."""
        env, rng = self.env, np.random.default_rng(seed)
        random, pushes = self._choices(steps, rng)
        before, after = np.empty((steps, 2)), np.empty((steps, 2))
        ends, first = np.zeros(steps, dtype=np.bool_), np.zeros(steps, dtype=np.bool_)
        env.reset(seed=int(rng.integers(2**31)))
        age = 0
        for t in range(steps):
            first[t] = age == 0
            before[t] = env.state
            ends[t] = self._step(env, random[t], pushes[t])
            after[t] = env.state
            age += 1
            if ends[t] or age == self.horizon:
                env.reset()
                age = 0
        return before, after, ends, first

    def values(self, states: Floats, runs: int = 100, *, seed: int) -> tuple[Floats, Floats]:
        """Monte Carlo values of the states, and their standard errors.

        Parameters
        ----------
        states : array (m, 2)
        runs : int
            From each state, of at most ``horizon`` steps.
        seed : int

        Returns
        -------
        mean, standard_error : array (m,)
        """
        env, rng = self.env, np.random.default_rng(seed)
        env.reset(seed=0)
        lengths = np.empty((len(states), runs))
        for i, state in enumerate(states):
            for k in range(runs):
                env.state = np.array(state)
                random, pushes = self._choices(self.horizon, rng)
                length = 0
                while length < self.horizon:
                    length += 1
                    if self._step(env, random[length - 1], pushes[length - 1]):
                        break
                lengths[i, k] = length
        g = self.discount
        returns = -lengths if g == 1 else -(1 - g**lengths) / (1 - g)
        return returns.mean(axis=1), returns.std(axis=1, ddof=1) / np.sqrt(runs)

    def _choices(self, count: int, rng: np.random.Generator) -> tuple[list[bool], list[int]]:
        """For each of the next steps, whether to push at random, and which push."""
        random = rng.random(count) < self.epsilon
        return random.tolist(), rng.integers(ACTIONS, size=count).tolist()

    @staticmethod
    def _step(env: Any, random: bool, push: int) -> bool:
        """One step under the policy; true at the goal."""
        action = push if random else 2 * int(env.state[1] >= 0)
        return bool(env.step(action)[2])
