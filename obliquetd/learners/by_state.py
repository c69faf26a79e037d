"""Settings that may depend on the state: one number, {state: number}, or a function of the problem."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import parse_number
from obliquetd.errors import LearnerError, ObliqueTDError
from obliquetd.learners.base import Learner, Parameter, parameters
from obliquetd.learners.words import Transition

__all__ = ["by_state", "entry", "same", "state_numbers"]


def by_state(default: Any, domain: sp.Set, expected: str, meaning: str) -> Any:
    """A setting that may depend on the state; each of its numbers lies in the domain."""
    about = {"domain": domain, "expected": expected, "meaning": meaning, "by_state": True}
    return dataclasses.field(default=default, metadata=about)


def same(values: Any, t: Any) -> Any:
    """In a rule: the number of a setting that is the same in all states."""
    return values


def entry(values: Any, t: Any) -> Any:
    """In a rule: the number of the state that is left."""
    return values[t.s]


def state_numbers(learner: Learner, name: str, problem: Any, *, lone: bool) -> tuple[Any, ...]:
    """A number for each state of a problem, in its order.

    Parameters
    ----------
    learner : Learner
    name : str
        One of its settings: a mapping, or a function of the problem that gives a mapping or a
        sequence.
    problem : PolicyEvaluation
    lone : bool
        Whether the function may give one number for all states.

    Raises
    ------
    LearnerError
        Where that is not what it gives.
    """
    parameter = next(p for p in parameters(type(learner)) if p.name == name)
    found = getattr(learner, name)
    what = f"the {name} of {learner.name}"
    if callable(found):
        found = _called(found, problem, what)
    n = len(problem.states)
    if isinstance(found, Mapping):
        return tuple(_read(parameter, x) for x in _in_order(found, problem.states, what))
    if isinstance(found, np.ndarray | sp.MatrixBase) and n > 1 and found.shape == (n, n):
        raise LearnerError(
            f"{what} is a matrix of {n} by {n}; give its diagonal, a number for each state"
        )
    numbers = list(_flat(found))
    if len(numbers) == 1 and lone:
        numbers *= n
    if len(numbers) != n:
        raise LearnerError(
            f"{what} gave {len(numbers)} numbers for {n} states; expected one for each, as in "
            "{state: number}"
        )
    return tuple(_read(parameter, x) for x in numbers)


def _called(function: Any, problem: Any, what: str) -> Any:
    try:
        return function(problem)
    except ObliqueTDError:
        raise
    except Exception as error:  # a function of the user's own
        raise LearnerError(
            f"{what} is a function that raises {type(error).__name__} ({error}) when it is given the "
            "problem; it has to return {state: number}. An emphasis that is a function of a transition "
            f"may read {', '.join(Transition._fields)}"
        ) from error


def _in_order(
    found: Mapping[Hashable, Any], states: Iterable[Hashable], what: str
) -> Iterator[Any]:
    known = list(states)
    for s in known:
        if s not in found:
            raise LearnerError(f"{what} has no number for the state {s!r}; give one for each state")
    for s in found:
        if s not in known:
            raise LearnerError(
                f"{what} has a number for {s!r}, which is no state of the problem; its states are "
                f"{', '.join(map(repr, known[:8]))}{', ...' if len(known) > 8 else ''}"
            )
    return (found[s] for s in known)


def _flat(found: Any) -> Iterator[Any]:
    if isinstance(found, sp.MatrixBase):
        found = found.flat()
    if isinstance(found, str) or not isinstance(found, Iterable):
        yield found
        return
    for x in found:
        yield from _flat(x)


def _read(parameter: Parameter, value: Any) -> Any:
    return parameter.read(value if isinstance(value, sp.Basic | str) else parse_number(value))
