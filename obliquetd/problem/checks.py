"""Checks at the door of a problem: policies, coverage, features, discount, weights, start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import number_text, parse_matrix, parse_number, public_number, quoted
from obliquetd.errors import (
    CoverageError,
    DiscountError,
    FeatureError,
    InputError,
    LabelError,
    ProbabilityError,
)
from obliquetd.mdp import MDP, Policy
from obliquetd.mdp.start import start_distribution

__all__ = [
    "check_coverage",
    "check_policy",
    "check_start",
    "feature_rows",
    "parse_discount",
    "parse_start",
    "parse_weights",
]


def check_policy(policy: Any, mdp: MDP, role: str) -> Policy:
    """A policy that speaks of every state that offers actions, and of no others.

    Raises
    ------
    LabelError
        A state or action that the MDP does not have, or a state that is missing.
    """
    if not isinstance(policy, Policy):
        if not isinstance(policy, Mapping):
            raise InputError(
                f"{role} is {policy!r}; expected a Policy, as in Policy.uniform(mdp) or "
                "Policy({state: {action: probability}})"
            )
        policy = Policy(policy)
    checked: Policy = policy
    for state in checked:
        mdp.require_state(state)
        for action, p in checked.parsed(state).items():
            if action not in mdp.offered[state] and (p != 0 or action not in mdp.actions):
                raise LabelError(
                    f"the {role} policy takes action {action!r} in state {state!r}, which offers "
                    f"{list(mdp.offered[state])}"
                )
    for state, offered in mdp.offered.items():
        if offered and state not in checked:
            raise LabelError(
                f"the {role} policy says nothing of state {state!r}, which offers {list(offered)}"
            )
    return checked


def check_coverage(target: Policy, behavior: Policy, mdp: MDP) -> None:
    """mu(a|s) > 0 wherever pi(a|s) > 0.

    Raises
    ------
    CoverageError
        Names the first uncovered state and action; all are in its ``pairs``.
    """
    if target is behavior:
        return
    pairs = [
        (s, a)
        for s, offered in mdp.offered.items()
        for a in offered
        if target.parsed(s).get(a, 0) != 0 and behavior.parsed(s).get(a, 0) == 0
    ]
    if pairs:
        s, a = pairs[0]
        more = f" (and {len(pairs) - 1} more)" if len(pairs) > 1 else ""
        raise CoverageError(
            f"the target policy takes action {a!r} in state {s!r} with probability "
            f"{number_text(target.parsed(s)[a])} but the behaviour policy never does{more}; the "
            "importance ratio is undefined. Give the behaviour policy a positive probability "
            "there, as in behavior.mix(target, '1/10')",
            pairs,
        )


def feature_rows(features: Any, mdp: MDP) -> list[list[Any]] | None:
    """The rows of Phi in parsed numbers, in the order of ``mdp.states``; None is tabular.

    Raises
    ------
    FeatureError
        A missing or ragged row, or a matrix with another number of rows.
    LabelError
        A feature row for a state that does not exist.
    NumberError
        An entry that is NaN, infinite, or no number.
    """
    if features is None:
        return None
    if isinstance(features, Mapping):
        for s in features:
            if s not in mdp.index:
                raise LabelError(f"features name the state {s!r}, which the MDP does not have")
        missing = [s for s in mdp.states if s not in features]
        if missing:
            raise FeatureError(
                f"no feature row for state {missing[0]!r}"
                + (f" and {len(missing) - 1} more" if len(missing) > 1 else "")
                + "; every state needs one"
            )
        rows = [features[s] for s in mdp.states]
    else:
        rows = _matrix_rows(features)
        if len(rows) != len(mdp.states):
            raise FeatureError(
                f"the feature matrix has {len(rows)} rows for {len(mdp.states)} states; expected "
                "one row a state, in the order of mdp.states"
            )
    vectors = [_vector(row) for row in rows]
    width = len(vectors[0])
    for s, vector in zip(mdp.states, vectors, strict=True):
        if len(vector) != width:
            raise FeatureError(
                f"the feature row of state {s!r} has {len(vector)} entries, that of state "
                f"{mdp.states[0]!r} has {width}; all rows need the same number"
            )
    if not width:
        raise FeatureError("the feature rows are empty; expected at least one feature")
    return [
        [parse_number(x, f"feature {j} of state {s!r}") for j, x in enumerate(vector)]
        for s, vector in zip(mdp.states, vectors, strict=True)
    ]


def _matrix_rows(features: Any) -> list[Any]:
    if hasattr(features, "toarray"):
        features = features.toarray()
    if isinstance(features, sp.MatrixBase):
        return list(features.tolist())
    return list(features)


def _vector(row: Any) -> list[Any]:
    if isinstance(row, sp.MatrixBase | np.ndarray):
        return list(np.array(row, dtype=object).ravel().tolist())
    if isinstance(row, list | tuple):
        return list(row)
    return [row]


def parse_discount(value: Any) -> Any:
    """The discount as a parsed number in [0, 1], or a formula."""
    gamma = parse_number(value, "the discount")
    if not isinstance(gamma, sp.Basic) and not 0 <= gamma <= 1:
        raise DiscountError(f"the discount is {quoted(gamma)}; expected a number in [0, 1]")
    return gamma


def parse_weights(xi: Any, mdp: MDP) -> list[Any] | None:
    """State weights in the order of the states: nonnegative, not all zero.

    Raises
    ------
    LabelError, InputError, ProbabilityError
    """
    if xi is None:
        return None
    if isinstance(xi, str):
        raise InputError(
            f"xi is {xi!r}; expected a weight for each state, 'occupancy' (with start=), or None "
            "for the stationary distribution of the behaviour"
        )
    if isinstance(xi, Mapping):
        for s in xi:
            mdp.require_state(s)
        missing = [s for s in mdp.states if s not in xi]
        if missing:
            raise LabelError(f"xi has no weight for state {missing[0]!r}; every state needs one")
        xi = [xi[s] for s in mdp.states]
    rows = parse_matrix(xi, "xi")
    if len(rows) == 1 and len(rows[0]) == len(mdp.states):
        rows = [[x] for x in rows[0]]
    if len(rows) != len(mdp.states) or any(len(row) != 1 for row in rows):
        raise InputError(f"xi has {len(rows)} weights for {len(mdp.states)} states")
    weights = [row[0] for row in rows]
    for s, w in zip(mdp.states, weights, strict=True):
        if not isinstance(w, sp.Basic) and w < 0:
            raise ProbabilityError(
                f"xi gives state {s!r} the weight {quoted(w)}; expected 0 or more",
                state=s,
                total=public_number(w),
            )
    if all(w == 0 for w in weights):
        raise ProbabilityError("every weight in xi is zero; expected at least one above", total=0)
    return weights


def parse_start(start: Any, mdp: MDP) -> list[Any] | None:
    """The chance of each state to begin an episode, in the order of the states.

    Raises
    ------
    InputError, LabelError, NumberError, ProbabilityError
    """
    if start is None:
        return None
    known = start_distribution(start, mdp.states, mdp.terminal)
    zero = parse_number(0)
    return [known.get(s, zero) for s in mdp.states]


def check_start(mdp: MDP, start: list[Any] | None, xi: Any) -> None:
    """A start that has a meaning, and one where the weights need it.

    Raises
    ------
    InputError
    """
    if start is None and isinstance(xi, str):
        raise InputError(
            f"xi={xi!r} counts visits from where episodes begin; pass start={{state: probability}} too"
        )
    if start is not None and not mdp.terminal and not isinstance(xi, str):
        raise InputError(
            "start= says where an episode begins anew that has ended, but the model has no terminal "
            "state (a state without an outgoing row). Name those that end an episode in "
            "MDP.from_transitions(..., terminal=[...]), pass xi='occupancy' for the weights of "
            "visits from start, or leave start out"
        )
