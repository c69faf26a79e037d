"""Transition rows from the tables of Gymnasium's toy-text environments, and of those built like them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from obliquetd.algebra.rounding import SAME
from obliquetd.errors import InputError
from obliquetd.mdp.table import product

__all__ = ["plain_observation", "rows_from_gymnasium"]

Row = tuple[Any, Any, Any, Any, Any, Any]

HARMLESS = frozenset(
    ["Autoreset", "HumanRendering", "OrderEnforcing", "PassiveEnvChecker", "RecordEpisodeStatistics",
     "RecordVideo", "RenderCollection", "TimeLimit"]
)  # fmt: skip
"""Gymnasium's wrappers that define ``step`` and change neither states, actions nor rewards.

A time limit truncates an episode; it is no transition of the process.
"""
STEPS_TRIED = 300


def rows_from_gymnasium(env: Any) -> tuple[list[Row], list[Any], list[Any]]:
    """Transition rows, states and actions of an environment with a table ``P``.

    Raises
    ------
    InputError
        Where there is no table, it has not the form of one, or the environment does more than it says.
    """
    bare = getattr(env, "unwrapped", env)
    table = getattr(bare, "P", None)
    if table is None:
        raise InputError(
            f"{env!r} has no transition table P; from_gymnasium reads toy-text environments "
            "such as FrozenLake, CliffWalking and Taxi"
        )
    _check_wrappers(env)
    if getattr(bare, "fickle_passenger", False) and getattr(bare, "fickle_probability", 1):
        raise InputError(
            f"{env!r} has a fickle passenger, who changes the destination outside the table P, so the "
            "table is another process; make it with fickle_passenger=False"
        )
    try:
        cells = [
            (_plain(s), _plain(a), [_outcome(o, s, a) for o in outcomes])
            for s, a, outcomes in _cells(table)
        ]
    except (TypeError, KeyError, IndexError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"the table P of {env!r} has not the form P[state][action] = [(probability, next_state, "
            f"reward, done), ...]: {error}"
        ) from None
    for s, a, outcomes in cells:
        if not outcomes:
            raise InputError(
                f"the table P of {env!r} has no outcome for state {s!r} and action {a!r}; leave out an "
                "action that is not offered"
            )
    states = _in_order(s for s, _, _ in cells)
    actions = _in_order(a for _, a, _ in cells)
    done = any(o[3] for _, _, outcomes in cells for o in outcomes)
    start = _start(env, bare, states) if done else {}
    rows: list[Row] = []
    for s, a, outcomes in cells:
        for p, t, r, ended in outcomes:
            if ended:
                rows += [(s, a, u, product(p, q), r, 0) for u, q in start.items()]
            else:
                rows.append((s, a, t, p, r, 1))
    _replay(bare, {(s, a): outcomes for s, a, outcomes in cells})
    return rows, states, actions


def _cells(table: Any) -> Iterator[tuple[Any, Any, Sequence[Any]]]:
    """State, action and outcomes, of mappings, lists or arrays, by state and action or by pairs."""
    for s, row in _items(table):
        if isinstance(s, tuple) and len(s) == 2 and _is_outcome(next(iter(row), None)):
            yield (*s, row)
        else:
            for a, outcomes in _items(row):
                yield s, a, outcomes


def _items(table: Any) -> Iterator[tuple[Any, Any]]:
    return iter(table.items() if isinstance(table, Mapping) else enumerate(table))


def _is_outcome(entry: Any) -> bool:
    return isinstance(entry, tuple | list) and bool(entry) and np.isscalar(entry[0])


def _outcome(entry: Any, s: Any, a: Any) -> tuple[float, Any, float, bool]:
    if not isinstance(entry, Sequence | np.ndarray) or len(entry) not in (3, 4):
        raise InputError(
            f"an outcome of state {s!r} and action {a!r} is {entry!r}; expected (probability, "
            "next_state, reward, done), or without done"
        )
    p, t, r, *done = entry
    return float(p), _plain(t), float(r), bool(done and done[0])


def plain_observation(value: Any) -> Hashable:
    """An observation as a label: Python's numbers and tuples in place of numpy's.

    Raises
    ------
    InputError
        Where it is not discrete.

    Examples
    --------
    >>> plain_observation(np.int64(3)), plain_observation((np.int64(14), 10, 0))
    (3, (14, 10, 0))
    """
    floats = isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.floating)
    label = _plain(value)
    if floats or not isinstance(label, Hashable):
        raise InputError(
            f"the observation {value!r} is not discrete: a {type(value).__name__}. Expected a number, "
            "text, or a tuple of those; for others build phi and phi_next yourself and give them to "
            "LoggedData"
        )
    return label


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return _plain(tuple(value)) if value.ndim else value.item()
    return tuple(map(_plain, value)) if isinstance(value, tuple | list) else value


def _in_order(labels: Iterator[Any]) -> list[Any]:
    """Labels as they first appear; integers by size."""
    found = list(dict.fromkeys(labels))
    return sorted(found) if all(isinstance(x, int) for x in found) else found


def _start(env: Any, bare: Any, states: Sequence[Any]) -> dict[Any, float]:
    """Where episodes begin: a mapping, or an array in the order of the states."""
    initial = getattr(bare, "initial_state_distrib", None)
    if initial is None:
        raise InputError(f"{env!r} has no initial_state_distrib, so episodes cannot restart")
    if isinstance(initial, Mapping):
        return {_plain(s): float(p) for s, p in initial.items() if p}
    chances = np.asarray(initial, dtype=float).ravel().tolist()
    if len(chances) != len(states):
        raise InputError(
            f"initial_state_distrib of {env!r} has {len(chances)} entries for {len(states)} states"
        )
    return {s: p for s, p in zip(states, chances, strict=True) if p}


def _check_wrappers(env: Any) -> None:
    """Refuse wrappers that may change what the table says.

    Raises
    ------
    InputError
    """
    layer = env
    while layer is not getattr(layer, "unwrapped", layer):
        kind = type(layer)
        own = kind.__module__.partition(".")[0] in ("gymnasium", "gym")
        if not (own and kind.__name__ in HARMLESS) and (
            _changes(kind, "step") or _changes(kind, "reset")
        ):
            raise InputError(
                f"the environment is wrapped in {kind.__name__}, which may change what its table P says, "
                "and the table is all that is read; pass env.unwrapped for the process without the "
                "wrapper, or build the changed one with MDP.from_transitions"
            )
        layer = getattr(layer, "env", layer.unwrapped)


def _changes(kind: type, method: str) -> bool:
    """Whether a wrapper has its own version of a method of ``gymnasium.Wrapper``."""
    owner = next((c for c in kind.__mro__ if method in vars(c)), None)
    return owner is not None and owner.__name__ != "Wrapper"


def _replay(bare: Any, cells: Mapping[tuple[Any, Any], Sequence[Any]]) -> None:
    """Run a copy of an environment that is not Gymnasium's own, and hold it to its table.

    Raises
    ------
    InputError
        For a step that the table does not know.
    """
    if type(bare).__module__.startswith(("gymnasium.envs.toy_text", "gym.envs.toy_text")):
        return
    step: Callable[[Any], Any] | None = getattr(bare, "step", None)
    if step is None or not hasattr(bare, "reset"):
        return
    actions: dict[Any, list[Any]] = {}
    for s, a in cells:
        actions.setdefault(s, []).append(a)
    rng = np.random.default_rng(0)
    try:
        trial = copy.deepcopy(bare)
        state = _plain(trial.reset(seed=0)[0])
        for _ in range(STEPS_TRIED):
            if state not in actions:
                return  # observations are not the states of the table: nothing to compare
            action = actions[state][int(rng.integers(len(actions[state])))]
            after, reward, ended, cut, _ = trial.step(action)
            seen = (_plain(after), float(reward), bool(ended))
            if not any(_same(seen, outcome) for outcome in cells[state, action]):
                break
            state = _plain(trial.reset()[0]) if ended or cut else seen[0]
        else:
            return
    except Exception:  # an environment that cannot be copied or run has its table alone
        return
    raise InputError(
        f"{bare!r} goes from state {state!r} with action {action!r} to {seen[0]!r} with reward {seen[1]}, "
        f"{'ended' if seen[2] else 'not ended'}, which its table P does not have; the table is another "
        "process. Correct P, or build the process with MDP.from_transitions"
    )


def _same(seen: tuple[Any, float, bool], outcome: tuple[float, Any, float, bool]) -> bool:
    p, t, r, done = outcome
    return p > 0 and (t, done) == (seen[0], seen[2]) and math.isclose(r, seen[1], abs_tol=SAME)
