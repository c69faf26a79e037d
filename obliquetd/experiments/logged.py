"""Logged transitions as a stream: arrays, a Gymnasium environment, or a log with its labels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from obliquetd.algebra import FLOAT, parse_number
from obliquetd.errors import FeatureError, InputError
from obliquetd.experiments.columns import (
    Column,
    Ratios,
    read_column,
    read_flags,
    read_ratios,
    read_table,
)
from obliquetd.experiments.labels import feature_rows, has_features, policy_row
from obliquetd.experiments.streams import Drawn, Outcomes, Stream
from obliquetd.formats import Log
from obliquetd.mdp import Policy
from obliquetd.mdp.environments import plain_observation
from obliquetd.problem.checks import parse_discount

__all__ = ["LoggedData", "LoggedNumbers"]

CLOSE = 1e-6
"""How far, relative to its largest entry, a row may be from the one before it and go on from it."""


class LoggedNumbers(NamedTuple):
    """The numbers of a log as they were given, rationals exact: T of each, and T rows of d.

    ``pi`` and ``mu`` are the probabilities that the ratios are made of, None where only ratios are known.
    """

    phi: list[list[Any]]
    phi_next: list[list[Any]]
    reward: list[Any]
    discount: list[Any]
    rho: list[Any]
    pi: list[Any] | None
    mu: list[Any] | None


class LoggedData(Stream):
    """A log of transitions, replayed in its order.

    An episode that *ends* has discount 0, and nothing is worth anything after it. One that is
    *cut*, by a limit of time or because the next row is from another place, keeps its discount,
    and the row after it has ``first``.

    Parameters
    ----------
    phi, phi_next : array (T, d)
        Features before and after.
    reward : array (T,)
    discount : number or array (T,)
        0 where an episode ended.
    rho : number or array (T,), optional
        Importance ratios; or give ``target`` and ``behavior`` probabilities of the
        actions taken. On-policy, 1, without any of them.
    target, behavior : array (T,), optional
    first : array (T,) of bool, optional
        Where an episode begins, so that traces start afresh; by default the first row and each
        after a discount of 0. Every other row has to go on from the one before it.

    Attributes
    ----------
    outcomes : Outcomes
        Arrays of floats, ``outcomes.rho`` among them.
    first : array (T,) of bool

    Raises
    ------
    FeatureError
        Where rows disagree in length.
    CoverageError
        Where a logged action has behaviour probability 0; gives the row.
    NumberError, KindError
        Where an entry is not a finite number, or has symbols.
    InputError
        Where a discount, ratio or probability is out of range, ``rho`` comes beside
        probabilities, or a row without ``first`` does not go on from the one before.

    Examples
    --------
    >>> log = LoggedData([[1, 0], [0, 1]], [[0, 1], [1, 0]], [1, "1/3"], "9/10", rho=[2, "1/2"])
    >>> log.outcomes.rho.tolist(), log.numbers.reward
    ([2.0, 0.5], [1, 1/3])
    """

    varies: ClassVar[bool] = False

    @property
    def knows_policies(self) -> bool:
        return not np.isnan(self.outcomes.pi).any()

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
        before, after = read_table(phi, "phi"), read_table(phi_next, "phi_next")
        if before.floats.shape != after.floats.shape:
            raise FeatureError(
                f"phi has shape {before.floats.shape} and phi_next {after.floats.shape}"
            )
        steps = len(before.floats)
        self._build(
            before,
            after,
            read_column(reward, "reward", steps),
            read_column(discount, "discount", steps),
            read_ratios(rho, target, behavior, steps),
            None if first is None else read_flags(first, "first", steps),
        )
        self._check_order()

    def _build(
        self, before: Column, after: Column, reward: Column, discount: Column, ratios: Ratios, first: Any
    ) -> None:  # fmt: skip
        g, steps = discount.floats, len(before.floats)
        discount.check((g >= 0) & (g <= 1), "a number in [0, 1]", lambda k: f"discount[{k}]")
        self._columns = before, after, reward, discount, *ratios
        unknown = np.full(steps, np.nan)
        features = np.ascontiguousarray(np.vstack([before.floats, after.floats]))
        rho = ratios.rho.floats
        self.outcomes = Outcomes(
            features,
            np.arange(steps, dtype=np.int64),
            np.arange(steps, 2 * steps, dtype=np.int64),
            reward.floats,
            g,
            (g != 0).astype(float),  # a log does not tell a transition's own discount from gamma
            unknown if ratios.pi is None else ratios.pi.floats,
            unknown if ratios.mu is None else ratios.mu.floats,
            rho,
            features,
            rho,
        )
        begins = np.concatenate([[True], g[:-1] == 0])
        self.first = begins if first is None else begins | first

    def _check_order(self) -> None:
        """InputError where a row neither begins an episode nor goes on from the row before it."""
        steps = len(self.first)
        before, after = self.outcomes.features[:steps], self.outcomes.features[steps:]
        gap = np.abs(before[1:] - after[:-1]).max(axis=1)
        size = np.maximum(np.abs(before[1:]).max(axis=1), np.abs(after[:-1]).max(axis=1))
        jumps = np.flatnonzero((gap > CLOSE * size) & ~self.first[1:])
        if jumps.size:
            k = int(jumps[0]) + 1
            raise InputError(
                f"phi[{k}] is not phi_next[{k - 1}], so row {k} does not go on from the row before it, "
                "and a trace would credit it to another episode. Say with first= where episodes begin; "
                f"where rows are independent that is first=[True] * {steps}"
            )

    @classmethod
    def collect(
        cls,
        env: Any,
        behavior: Policy,
        features: Mapping[Hashable, Any] | Any,
        steps: int,
        seed: int,
        *,
        target: Policy | None = None,
        discount: Any = 1,
    ) -> LoggedData:
        """Run a policy in a Gymnasium environment with discrete observations.

        An episode that the environment terminates ends; one that it truncates is cut.

        Parameters
        ----------
        env : gymnasium.Env
            Observations are numbers, text, or tuples of those, as Blackjack's.
        behavior, target : Policy
            Over the environment's observations and actions; target None is on-policy.
        features : mapping of observation to vector, or matrix with a row for each
            An observation at which episodes end needs none: its value is 0.
        steps, seed : int
        discount : number

        Raises
        ------
        InputError
            Steps or a seed that cannot be, or observations that are not discrete.
        LabelError, FeatureError
            An observation without a policy's row, or without features.
        """
        for name, value, least in (("steps", steps, 1), ("seed", seed, 0)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise InputError(f"{name} is {value!r}; expected an integer of at least {least}")
        g = parse_discount(discount)
        rng = np.random.default_rng(seed)
        target = behavior if target is None else target
        rows: list[tuple[Any, ...]] = []
        state, first = plain_observation(env.reset(seed=int(rng.integers(2**31)))[0]), True
        for _ in range(steps):
            row = policy_row(behavior, state, "behaviour")
            actions = list(row)
            chances = np.array([FLOAT.scalar(row[a]) for a in actions])
            action = actions[int(rng.choice(len(actions), p=chances / chances.sum()))]
            seen, reward, terminated, truncated, _ = env.step(action)
            after = plain_observation(seen)
            pi = policy_row(target, state, "target").get(action, 0)
            rows.append((state, after, float(reward), bool(terminated), pi, row[action], first))
            first = bool(terminated or truncated)
            state = plain_observation(env.reset()[0]) if first else after
        states, afters, rewards, ends, pis, mus, firsts = zip(*rows, strict=True)
        before, after_rows = feature_rows(features, states, afters, ends)
        return cls._of_labels(
            before, after_rows, rewards, [0 if end else g for end in ends],
            read_ratios(None, pis, mus, steps), firsts,
        )  # fmt: skip

    @classmethod
    def from_log(
        cls,
        log: Log,
        features: Mapping[Hashable, Any],
        *,
        discount: Any,
        target: Policy | None = None,
        behavior: Policy | None = None,
        rho: Any = None,
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
            In place of the logged probabilities of that name; a side without either is an
            error unless both are, which is on-policy.
        rho : number or array (T,), optional
            Importance ratios of a log that has not both probabilities; ``rho=1``, which is
            on-policy, stands in place of them too.

        Raises
        ------
        FeatureError, LabelError
            For a state without features, or without a policy's row; gives the line.
        InputError
            For a line without a probability that the others have, for one side alone, for
            ratios beside both columns of probabilities, or for a line that neither begins an episode nor goes on from the one before.
        CoverageError
            For a logged action that the behaviour never takes.

        Examples
        --------
        >>> from obliquetd.formats.log import Log, LoggedStep
        >>> step = LoggedStep("s", "a", "s", 1, False, True, "1/3", "1/2", 2)
        >>> log = LoggedData.from_log(Log((step,)), {"s": [1]}, discount="9/10")
        >>> log.numbers.rho, log.numbers.discount
        ([2/3], [9/10])
        """
        if not isinstance(log, Log):
            raise InputError(f"the log is {type(log).__name__}; expected what read_log gives")
        if not log.steps:
            raise InputError("the log holds no transition")
        lines = [step.line for step in log.steps]
        for previous, step in zip(log.steps, log.steps[1:], strict=False):
            if not (step.first or previous.done or previous.next_state == step.state):
                raise InputError(
                    f"{log.unit} {step.line} starts in {step.state!r}, but the {log.unit} before ended in "
                    f"{previous.next_state!r}; mark ends with done, or beginnings with first"
                )
        for step in log.steps:
            for state in (step.state,) if step.done else (step.state, step.next_state):
                if not has_features(features, state):
                    raise FeatureError(
                        f"{log.unit} {step.line}: there are no features for state {state!r}"
                    )
        sides: dict[str, Any] = {"target": target, "behavior": behavior}
        for name, policy in sides.items():
            if rho is None or policy is not None:
                sides[name] = _chances(log, name, policy)
        if rho is not None and not _is_one(rho) and all(_has(log, name) for name in sides):
            raise InputError(
                "rho came beside the log's own target and behavior probabilities; leave rho out to have "
                "their ratio, or read the log without one of these columns. rho=1 is on-policy"
            )
        places = {
            name: (lambda k, name=name: f"{log.unit} {lines[k]}: {name}")
            for name in ("rho", "target", "behavior")
        }
        ratios = read_ratios(rho, **sides, steps=len(lines), places=places)
        g = parse_discount(discount)
        before, after = feature_rows(
            features, *zip(*((s.state, s.next_state, s.done) for s in log.steps), strict=True)
        )
        return cls._of_labels(
            before, after, [s.reward for s in log.steps], [0 if s.done else g for s in log.steps],
            ratios, [s.first for s in log.steps],
        )  # fmt: skip

    @classmethod
    def _of_labels(
        cls, before: Any, after: Any, reward: Any, discount: Any, ratios: Ratios, first: Any
    ) -> LoggedData:
        """From rows whose order was checked by their labels."""
        found = cls.__new__(cls)
        steps = len(before)
        found._build(
            read_table(before, "phi"),
            read_table(after, "phi_next"),
            read_column(reward, "reward", steps),
            read_column(discount, "discount", steps),
            ratios,
            read_flags(first, "first", steps),
        )
        return found

    @cached_property
    def numbers(self) -> LoggedNumbers:
        """What was given, in the package's own numbers: rationals are exact."""
        *always, pi, mu = (None if c is None else c.numbers() for c in self._columns)
        phi, phi_next, reward, discount, rho = (numbers or [] for numbers in always)
        return LoggedNumbers(phi, phi_next, reward, discount, rho, pi, mu)

    @cached_property
    def is_exact(self) -> bool:
        """Whether none of its numbers is a float, so that what follows from them is exact."""
        return not any(column.has_floats for column in self._columns if column is not None)

    @property
    def width(self) -> int:
        return int(self.outcomes.features.shape[1])

    @property
    def length(self) -> int:
        return len(self.first)

    def identity(self) -> bytes:
        shape = str(self.outcomes.features.shape).encode()
        return shape + self.first.tobytes() + self.outcomes.identity()

    def draw(self, steps: int, rng: np.random.Generator, twins: bool = True) -> Drawn:
        rows = np.arange(steps, dtype=np.int64)
        return Drawn(self.outcomes, rows, rows, self.first[:steps])


def _is_one(rho: Any) -> bool:
    """Whether it is the one number 1: on-policy, whatever was logged."""
    scalar = isinstance(rho, str) or not hasattr(rho, "__len__") or getattr(rho, "ndim", 1) == 0
    return scalar and bool(parse_number(rho, "rho") == 1)


def _has(log: Log, name: str) -> bool:
    """Whether a line of the log has that probability."""
    return any(getattr(step, name) is not None for step in log.steps)


def _chances(log: Log, name: str, policy: Policy | None) -> list[Any] | None:
    """Probabilities of the logged actions: of a policy, of the log's own column, or None."""
    role = {"target": "target", "behavior": "behaviour"}[name]
    if policy is not None:
        return [
            policy_row(policy, s.state, role, f"{log.unit} {s.line}: ").get(s.action, 0)
            for s in log.steps
        ]
    column = [getattr(step, name) for step in log.steps]
    gaps = [step.line for step, p in zip(log.steps, column, strict=True) if p is None]
    if len(gaps) == len(column):
        return None
    if gaps:
        raise InputError(
            f"{log.unit} {gaps[0]} has no {name} probability, but other lines have; fill it in, or give "
            f"{name}=, a Policy"
        )
    return column
