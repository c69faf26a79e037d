"""The numbers of a model that a log estimates, with what each rests on, and how they are moved one by one.

The letters, and what the moves are for, stand in :mod:`obliquetd.formats.log_confidence`.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obliquetd.formats.logged_steps import LoggedStep
from obliquetd.mdp import MDP, Policy

__all__ = ["Frequencies"]

Floats = npt.NDArray[np.float64]
STEP = 1e-6
"""How far a share moves for a difference: far above rounding, far below where an answer bends."""
REWARD_STEP = 1e-4
"""The same for the mean of rewards, in their standard deviations: answers are nearly straight in them."""


class Move(NamedTuple):
    """A step of one number: a term of V is ``weight`` times the square of the slope.

    Attributes
    ----------
    row : tuple
        What rests on the same observations has the same row.
    seen : int
        How many those are.
    weight, kurtosis : float
        A row whose terms are a_k has the kurtosis (sum of a_k^2 kurtosis_k) / (sum of a_k)^2.
    step : float
    after : Frequencies
    """

    row: tuple[Any, ...]
    seen: int
    weight: float
    kurtosis: float
    step: float
    after: Frequencies


@dataclass(frozen=True)
class Frequencies:
    """The numbers of a model that a log estimates, and what each rests on; one entry for each outcome of a pair.

    Attributes
    ----------
    outcomes : dict of (state, action) to list
        The next states; None is an end.
    p, m, v, kurtosis, n : dict of (state, action) to array
        By outcome. The variance v has n - 1 below; a reward that came once has no variance of its own, and gets that of
        all rewards of the log about the means of their outcomes.
    mu, q : dict of state to dict, dict
    """

    outcomes: dict[tuple[Any, Any], list[Any]]
    p: dict[tuple[Any, Any], Floats]
    m: dict[tuple[Any, Any], Floats]
    v: dict[tuple[Any, Any], Floats]
    kurtosis: dict[tuple[Any, Any], Floats]
    n: dict[tuple[Any, Any], Floats]
    mu: dict[Any, dict[Any, float]]
    q: dict[Any, float]
    begun: int

    @classmethod
    def of_steps(cls, steps: Iterable[LoggedStep]) -> Frequencies:
        """Those of the steps of a log."""
        rewards: dict[Any, dict[Any, list[float]]] = defaultdict(lambda: defaultdict(list))
        starts: dict[Any, int] = defaultdict(int)
        for step in steps:
            to = None if step.done else step.next_state  # no label is None
            rewards[step.state, step.action][to].append(float(step.reward))
            starts[step.state] += step.first
        n = {x: np.array([len(r) for r in rows.values()], float) for x, rows in rewards.items()}
        visits: dict[Any, dict[Any, float]] = defaultdict(dict)
        for (s, a), counts in n.items():
            visits[s][a] = float(counts.sum())
        begun = sum(starts.values())
        outcomes = [r for rows in rewards.values() for r in rows.values()]
        rest = sum(len(r) - 1 for r in outcomes)
        pooled = sum(len(r) * float(np.var(r)) for r in outcomes) / rest if rest else 0.0

        def variance(r: list[float]) -> float:
            return float(np.var(r, ddof=1)) if len(r) > 1 else pooled

        return cls(
            {x: list(rows) for x, rows in rewards.items()},
            {x: counts / counts.sum() for x, counts in n.items()},
            {x: np.array([np.mean(r) for r in rows.values()]) for x, rows in rewards.items()},
            {x: np.array([variance(r) for r in rows.values()]) for x, rows in rewards.items()},
            {x: np.array([_kurtosis(r) for r in rows.values()]) for x, rows in rewards.items()},
            n,
            {s: {a: k / sum(row.values()) for a, k in row.items()} for s, row in visits.items()},
            {s: k / begun for s, k in starts.items() if k},
            begun,
        )

    @cached_property
    def visits(self) -> dict[Any, float]:
        """How often each state was left."""
        found: dict[Any, float] = defaultdict(float)
        for (s, _), counts in self.n.items():
            found[s] += float(counts.sum())
        return found

    @property
    def ends(self) -> bool:
        """Whether an episode ended."""
        return any(None in found for found in self.outcomes.values())

    def mdp(self) -> MDP:
        """The model, in floats, with the mean reward of each outcome; an end begins anew, as in ``Log.model``."""
        rows: list[tuple[Any, ...]] = []
        for (s, a), outcomes in self.outcomes.items():
            for to, p, m in zip(outcomes, self.p[s, a], self.m[s, a], strict=True):
                if to is None:
                    rows += [(s, a, u, float(p) * q, float(m), 0) for u, q in self.q.items()]
                else:
                    rows.append((s, a, to, float(p), float(m)))
        return MDP.from_transitions(rows, states=list(self.mu))

    def behavior(self) -> Policy:
        """The shares of the actions."""
        return Policy(self.mu)

    def moved(self, *, counted: bool) -> Iterator[Move]:
        """The terms of V.

        ``counted`` says whether the behaviour is one of relative frequencies.
        """
        for x, p in self.p.items():
            seen = int(self.n[x].sum())
            for k in range(len(p)) if len(p) > 1 else ():
                row = (1 - STEP) * p + STEP * np.eye(len(p))[k]
                after = dataclasses.replace(self, p={**self.p, x: row})
                yield _share("next", x, seen, float(p[k]), after)
            for k in np.flatnonzero(self.v[x]).tolist():
                seen, v = int(self.n[x][k]), float(self.v[x][k])
                step = REWARD_STEP * v**0.5
                row = self.m[x] + step * np.eye(len(p))[k]
                after = dataclasses.replace(self, m={**self.m, x: row})
                told = float(self.kurtosis[x][k])
                yield Move(("reward", x, k), seen, v / seen, told, step, after)
        for s, shares in self.mu.items() if counted else ():
            for a, row in _moves(shares):
                after = dataclasses.replace(self, mu={**self.mu, s: row})
                yield _share("action", s, int(self.visits[s]), shares[a], after)
        if self.ends:
            for s, q in _moves(self.q):
                yield _share("start", None, self.begun, self.q[s], dataclasses.replace(self, q=q))


def _share(kind: str, of: Any, seen: int, share: float, after: Frequencies) -> Move:
    """The step of one share of a row that was seen so often."""
    return Move((kind, of), seen, share / (seen - 1), 1 / share, STEP, after)


def _kurtosis(rewards: list[float]) -> float:
    """The fourth central moment over the square of the second; 1, its least value, of what does not vary."""
    gap = np.array(rewards) - np.mean(rewards)
    second = float(np.mean(gap**2))
    return float(np.mean(gap**4)) / second**2 if second else 1.0


def _moves(shares: Mapping[Any, float]) -> Iterator[tuple[Any, dict[Any, float]]]:
    """The shares after a step to each of their members; none where there is one."""
    for chosen in shares if len(shares) > 1 else ():
        yield (
            chosen,
            {x: (1 - STEP) * share + STEP * (x == chosen) for x, share in shares.items()},
        )
