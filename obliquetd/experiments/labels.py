"""From the labels of a log to rows of numbers: observations, features, a policy's probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from obliquetd.algebra import parse_number
from obliquetd.errors import FeatureError, InputError, LabelError
from obliquetd.mdp import Policy

__all__ = ["feature_rows", "features_of", "has_features", "policy_row"]


def policy_row(policy: Any, state: Any, role: str, where: str = "") -> Mapping[Any, Any]:
    """A row of a Policy, or of a mapping by state, in native numbers; ``where`` opens an error.

    Raises
    ------
    InputError, LabelError
    """
    if not isinstance(policy, Mapping):
        raise InputError(f"the {role} policy is {policy!r}; expected a Policy")
    if state not in policy:
        raise LabelError(
            f"{where}the {role} policy does not know the observation {state!r}; give it an entry for "
            "each"
        )
    if isinstance(policy, Policy):
        return policy.parsed(state)
    return {a: parse_number(p, f"{role} of {state!r}, {a!r}") for a, p in policy[state].items()}


def feature_rows(
    features: Any, states: Sequence[Any], afters: Sequence[Any], ends: Sequence[bool]
) -> tuple[list[Any], list[Any]]:
    """The vectors before and after each step; an end that has none is worth 0."""
    known: dict[Any, list[Any]] = {}

    def vector(state: Any) -> list[Any]:
        if state not in known:
            known[state] = features_of(features, state)
        return known[state]

    before = [vector(s) for s in states]
    zero = [0] * len(before[0])
    after = [
        zero if end and not has_features(features, s) else vector(s)
        for s, end in zip(afters, ends, strict=True)
    ]
    return before, after


def has_features(features: Any, state: Any) -> bool:
    """Whether a mapping, or a matrix with a row for each integer, has a vector for a state."""
    if isinstance(features, Mapping):
        return state in features
    return isinstance(state, int) and 0 <= state < len(features)


def features_of(features: Any, state: Any) -> list[Any]:
    """The vector of a state, as a list; LabelError where there is none."""
    if not has_features(features, state):
        raise LabelError(
            f"the features do not know the observation {state!r}; give them a vector for each"
        )
    vector = features[state]
    if np.ndim(vector) == 0:
        raise FeatureError(f"the features of {state!r} are {vector!r}; expected a vector")
    return [x for row in vector for x in (row if np.ndim(row) else [row])]
