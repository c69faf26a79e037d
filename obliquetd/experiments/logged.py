"""Logged transitions as a stream: arrays, a Gymnasium environment, or a log with its labels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import astuple
from typing import Any

import numpy as np

from obliquetd.algebra import FLOAT, parse_number
from obliquetd.errors import CoverageError, FeatureError, InputError, LabelError, NumberError
from obliquetd.experiments.streams import Drawn, Floats, Outcomes, Stream
from obliquetd.formats import Log
from obliquetd.mdp import Policy
from obliquetd.mdp.environments import plain_observation

__all__ = ["LoggedData"]


class LoggedData(Stream):
    """A log of transitions, replayed in its order.

    Parameters
    ----------
    phi, phi_next : array (T, d)
        Features before and after.
    reward : array (T,)
    discount : number or array (T,)
        0 where an episode ended.
    rho : array (T,), optional
        Importance ratios; or give ``target`` and ``behavior`` probabilities of the
        actions taken.
    target, behavior : array (T,), optional
    first : array (T,) of bool, optional
        Where an episode (or a run that was cut) begins, so that traces start afresh; by
        default the first transition and each after a discount of 0.

    Raises
    ------
    FeatureError
        Where rows disagree in length.
    CoverageError
        Where a logged action has behaviour probability 0; gives the row.
    NumberError
        Where a number is not finite.
    """

    def __init__(
        self,
        phi: Any,
        phi_next: Any,
        reward: Any,
        discount: Any,
        *,
        rho: Any = None,
        target: Any = None,
        behavior: Any = None,
        first: Any = None,
    ) -> None:
        before, after = _table(phi, "phi"), _table(phi_next, "phi_next")
        if before.shape != after.shape:
            raise FeatureError(f"phi has shape {before.shape} and phi_next {after.shape}")
        steps = len(before)
        if rho is None:
            rho = _ratios(target, behavior, steps)
        g = _vector(discount, "discount", steps)
        if ((g < 0) | (g > 1)).any():
            row = int(np.flatnonzero((g < 0) | (g > 1))[0])
            raise InputError(f"discount[{row}] is {g[row]}; expected a number in [0, 1]")
        self.outcomes = Outcomes(
            np.ascontiguousarray(np.vstack([before, after])),
            np.arange(steps, dtype=np.int64),
            np.arange(steps, 2 * steps, dtype=np.int64),
            _vector(reward, "reward", steps),
            g,
            _vector(rho, "rho", steps),
        )
        ended = np.concatenate([[True], g[:-1] == 0])
        self.first = (
            ended if first is None else np.asarray(first, dtype=np.bool_) | (np.arange(steps) == 0)
        )

    @classmethod
    def collect(
        cls,
        env: Any,
        behavior: Any,
        features: Mapping[Hashable, Any] | Any,
        steps: int,
        seed: int,
        *,
        target: Any = None,
        discount: float = 1.0,
    ) -> LoggedData:
        """Run a policy in a Gymnasium environment with discrete observations.

        Parameters
        ----------
        env : gymnasium.Env
            Observations are numbers, text, or tuples of those, as Blackjack's.
        behavior, target : Policy
            Over the environment's observations and actions; target None is on-policy.
        features : mapping of observation to vector
        steps, seed : int
        discount : float

        Raises
        ------
        LabelError
            For an observation that a policy or the features do not know.
        """
        rng = np.random.default_rng(seed)
        target = behavior if target is None else target
        rows: list[tuple[Any, ...]] = []
        state = plain_observation(env.reset(seed=int(rng.integers(2**31)))[0])
        first = True
        for _ in range(steps):
            row = _known(behavior, state, "the behaviour policy")
            actions = list(row)
            chances = np.array([float(row[a]) for a in actions])
            action = actions[int(rng.choice(len(actions), p=chances / chances.sum()))]
            observation, reward, terminated, truncated, _ = env.step(action)
            after = plain_observation(observation)
            pi = _known(target, state, "the target policy").get(action, 0)
            rho = float(pi / row[action])
            rows.append((state, after, reward, 0.0 if terminated else discount, rho, first))
            first = terminated or truncated
            state = plain_observation(env.reset()[0]) if first else after
        before, next_, rewards, discounts, rhos, firsts = zip(*rows, strict=True)
        phi = [list(_known(features, s, "the features")) for s in before]
        # What follows an end counts for nothing, so it needs no features of its own.
        ends = [isinstance(features, Mapping) and not g and s not in features
                for s, g in zip(next_, discounts, strict=True)]  # fmt: skip
        phi_next = [
            [0.0] * len(phi[0]) if end else list(_known(features, s, "the features"))
            for s, end in zip(next_, ends, strict=True)
        ]
        return cls(phi, phi_next, rewards, discounts, rho=rhos, first=firsts)

    @classmethod
    def from_log(
        cls,
        log: Log,
        features: Mapping[Hashable, Any],
        *,
        discount: Any,
        target: Policy | None = None,
        behavior: Policy | None = None,
    ) -> LoggedData:
        """A log of transitions, such as a CSV file holds, with a feature vector for each state.

        Parameters
        ----------
        log : Log
            From :func:`obliquetd.formats.read_log`.
        features : mapping of state to vector
        discount : number
            Of a transition that does not end the episode.
        target, behavior : Policy, optional
            In place of the logged probabilities; without either, the log is on-policy.

        Raises
        ------
        FeatureError
            For a state without features.
        """
        for step in log.steps:
            for state in (step.state,) if step.done else (step.state, step.next_state):
                if state not in features:
                    raise FeatureError(
                        f"line {step.line}: there are no features for state {state!r}"
                    )
        chances = [
            None if policy is None else [policy[s.state].get(s.action, 0) for s in log.steps]
            for policy in (target, behavior)
        ]
        if target is None and behavior is None and log.steps[0].target is not None:
            chances = [[s.target for s in log.steps], [s.behavior for s in log.steps]]
        g = float(FLOAT.scalar(parse_number(discount, "discount")))
        zero = [0.0] * len(list(features[log.steps[0].state]))
        return cls(
            [features[s.state] for s in log.steps],
            [features.get(s.next_state, zero) for s in log.steps],
            [float(s.reward) for s in log.steps],
            [0.0 if s.done else g for s in log.steps],
            target=chances[0],
            behavior=chances[1],
            first=[s.first for s in log.steps],
        )

    @property
    def width(self) -> int:
        return int(self.outcomes.features.shape[1])

    def identity(self) -> bytes:
        arrays = (self.first, *astuple(self.outcomes))
        return b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)

    def draw(self, steps: int, rng: np.random.Generator, twins: bool = True) -> Drawn:
        if steps > len(self.first):
            raise InputError(f"{steps} steps asked of a log of {len(self.first)} transitions")
        rows = np.arange(steps, dtype=np.int64)
        return Drawn(self.outcomes, rows, rows, self.first[:steps])


def _known(table: Any, state: Any, owner: str) -> Any:
    try:
        return table[state]
    except (KeyError, IndexError, TypeError):
        raise LabelError(
            f"{owner} does not know the observation {state!r}; give it an entry for each"
        ) from None


def _table(values: Any, name: str) -> Floats:
    try:
        table = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise FeatureError(f"{name} is ragged or holds no numbers; expected shape (T, d)") from None
    if table.ndim != 2 or not table.size:
        raise FeatureError(f"{name} has shape {table.shape}; expected (T, d)")
    _finite(table, name)
    return table


def _vector(values: Any, name: str, steps: int) -> Floats:
    if np.ndim(values) == 0:
        number = FLOAT.scalar(parse_number(values, name))
        return np.full(steps, number)
    vector = np.array(values, dtype=float)
    if vector.shape != (steps,):
        raise FeatureError(f"{name} has shape {vector.shape}; phi has {steps} rows")
    _finite(vector, name)
    return vector


def _finite(values: Floats, name: str) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        place = ", ".join(map(str, bad[0]))
        raise NumberError(f"{name}[{place}] is {values[tuple(bad[0])]}; expected a finite number")


def _ratios(target: Any, behavior: Any, steps: int) -> Floats:
    if target is None and behavior is None:
        return np.ones(steps)
    if target is None or behavior is None:
        raise InputError("give both target and behavior probabilities, or rho")
    pi, mu = _vector(target, "target", steps), _vector(behavior, "behavior", steps)
    if (mu <= 0).any():
        row = int(np.flatnonzero(mu <= 0)[0])
        raise CoverageError(
            f"behavior[{row}] is {mu[row]}, yet its action was taken; a logged action has a positive "
            "behaviour probability",
            [(row, None)],
        )
    return pi / mu
