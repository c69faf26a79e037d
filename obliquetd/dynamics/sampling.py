"""How transitions are sampled, and whether the state weights agree with it.

Along a trajectory the states are distributed as the stationary distribution of the closed
class that it stays in. Weights xi of the user's own that are not stationary can therefore
only mean independent transitions from xi; and where xi puts weight on several closed
classes, each trajectory knows one of them, so that they are judged one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from obliquetd.algebra import Matrix
from obliquetd.algebra.rounding import STATIONARY, negligible
from obliquetd.errors import InputError, KindError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.native import Operators

__all__ = [
    "SAMPLINGS",
    "check_sampling",
    "classes_of",
    "is_stationary",
    "moved_weights",
    "require_numbers",
    "resolve_sampling",
]

SAMPLINGS = ("trajectory", "iid")


def check_sampling(sampling: Any) -> None:
    """InputError for a word that names no sampling."""
    if sampling is not None and sampling not in SAMPLINGS:
        raise InputError(f"sampling is {sampling!r}; expected 'trajectory' or 'iid'")


def require_numbers(problem: PolicyEvaluation, learner: Learner) -> None:
    """KindError where a problem or a learner has symbols, and moments are asked for."""
    if problem.arithmetic == "symbolic" or learner.symbols:
        raise KindError("moments need numbers; substitute them for the symbols")


def is_stationary(ops: Operators) -> bool:
    """Whether one step of the behaviour chain leaves the weights as they are."""
    return next(moved_weights(ops), None) is None


def moved_weights(ops: Operators) -> Iterator[tuple[int, Any, Any]]:
    """The states whose weight one step of the behaviour chain changes, with it before and after."""
    if ops.inputs.xi is None:
        return
    exact = ops.arithmetic.kind != "float"
    pairs = zip(ops.xi.entries(), (ops.P_b.T @ ops.xi).entries(), strict=True)
    for i, (before, after) in enumerate(pairs):
        same = (
            before == after if exact else negligible(before - after, max(before, after), STATIONARY)
        )
        if not same:
            yield i, before, after


def resolve_sampling(
    ops: Operators, learner: Learner, sampling: str | None, *, mean_only: bool
) -> str:
    """The sampling that is meant: "trajectory" or "iid".

    Parameters
    ----------
    ops : Operators
    learner : Learner
    sampling : {"trajectory", "iid"} or None
        None is a trajectory where the weights are stationary.
    mean_only : bool
        Whether nothing but the expected update is asked for. Without a trace, that depends on
        the weights alone, so that None then means independent transitions from them.

    Raises
    ------
    InputError
        For a trajectory with weights that are not stationary.
    """
    check_sampling(sampling)
    if sampling == "iid" or is_stationary(ops):
        return sampling or "trajectory"
    if sampling is None and mean_only and not learner.has_memory:
        return "iid"
    why = (
        f"{learner.name} carries a trace along a trajectory, whose states"
        if learner.has_memory
        else f"along a trajectory {learner.name} meets states that"
    )
    raise InputError(
        f"{why} are distributed as the behaviour chain's stationary distribution; the weights xi "
        "that were given are not stationary. Leave xi out, or use sampling='iid' for independent "
        "transitions from them"
    )


def classes_of(ops: Operators) -> list[Matrix]:
    """The stationary distribution of each closed class that stationary weights put weight on."""
    if ops.inputs.xi is None:
        return [ops.xi]
    weights = ops.xi.entries()
    return [
        each
        for each in ops.chain.distributions
        if any(w and u for w, u in zip(weights, each.entries(), strict=True))
    ]
