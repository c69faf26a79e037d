"""Checks at the door of a problem: policies, coverage, features, discount, weights, start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from obliquetd.algebra import (
    Arithmetic,
    number_text,
    parse_matrix,
    parse_number,
    public_number,
    quoted,
)
from obliquetd.algebra.rounding import NORMAL
from obliquetd.algebra.storage import compact, is_compact, worth_keeping_sparse
from obliquetd.errors import (
    CoverageError,
    DiscountError,
    FeatureError,
    InputError,
    LabelError,
    NumberError,
    ProbabilityError,
)
from obliquetd.mdp import MDP, Policy
from obliquetd.problem.places import Places, Start, alike

__all__ = [
    "check_coverage",
    "check_policy",
    "check_sizes",
    "check_start",
    "feature_rows",
    "parse_discount",
    "parse_weights",
]

Floats = npt.NDArray[np.float64]


def check_policy(policy: Any, mdp: MDP, role: str) -> Policy:
    """A policy that speaks of every state that offers actions, and of no others.

    Raises
    ------
    LabelError
        A state or action that the MDP does not have, or a state that is missing.
    """
    if not isinstance(policy, Policy):
        if not isinstance(policy, Mapping):
            table = (
                ""
                if isinstance(policy, str) or not hasattr(policy, "__len__")
                else (
                    "; a table with a row for each state and a column for each action is "
                    "Policy({s: dict(zip(mdp.actions, row)) for s, row in zip(mdp.states, table) if mdp.offered[s]})"
                )
            )
            raise InputError(
                f"{role} is {policy!r}; expected a Policy, as in Policy.uniform(mdp) or "
                f"Policy({{state: {{action: probability}}}}){table}"
            )
        policy = Policy(policy)
    checked: Policy = policy
    states = checked.states
    at: Any = slice(None)
    if states is not mdp.states and states != mdp.states:
        at = np.array([mdp.require_state(s) for s in states], dtype=np.intp)
    choices, each = mdp.offers
    numbers = checked.row_numbers(states)
    # states share rows, and what they offer: of each pair the first state stands for all
    offers = each[at]
    for k in sorted(alike(numbers * len(choices) + offers)[0].tolist()):
        state, offered = states[k], choices[offers[k]]
        for action, p in checked.numbered(numbers[k]).items():
            if action not in offered and (p != 0 or action not in mdp.actions):
                raise LabelError(
                    f"the {role} policy takes action {action!r} in state {state!r}, which offers "
                    f"{list(offered)}"
                )
    silent = np.ones(len(each), dtype=bool)
    silent[at] = False
    for k in np.flatnonzero(silent).tolist():
        if offered := choices[each[k]]:
            raise LabelError(
                f"the {role} policy says nothing of state {mdp.states[k]!r}, which offers {list(offered)}"
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
    choices, each = mdp.offers
    mine, theirs = (1 + policy.row_numbers(mdp.states) for policy in (target, behavior))
    # as above: of states alike in what they offer and in both rows, the first stands for all
    _, kind = alike(each * (1 + mine.max()) + mine)
    first, kind = alike(kind * (1 + theirs.max()) + theirs)
    missing = []
    for k in first.tolist():
        wanted, taken = target.numbered(mine[k] - 1), behavior.numbered(theirs[k] - 1)
        missing.append(
            [a for a in choices[each[k]] if wanted.get(a, 0) != 0 and taken.get(a, 0) == 0]
        )
    if any(missing):
        kinds = zip(mdp.states, kind.tolist(), strict=True)
        pairs = [(s, a) for s, number in kinds for a in missing[number]]
        s, a = pairs[0]
        more = f" (and {len(pairs) - 1} more)" if len(pairs) > 1 else ""
        raise CoverageError(
            f"the target policy takes action {a!r} in state {s!r} with probability "
            f"{number_text(target.parsed(s)[a])} but the behaviour policy never does{more}; the "
            "importance ratio is undefined. Give the behaviour policy a positive probability "
            "there, as in behavior.mix(target, '1/10')",
            pairs,
        )


def feature_rows(features: Any, places: Places) -> Any:
    """The rows of Phi in parsed numbers, in the order of the labels; None is tabular.

    An array of floats stays one, read-only, and a copy; so does a large sparse matrix of floats.

    Raises
    ------
    FeatureError
        A missing or ragged row, or a matrix with another number of rows.
    LabelError
        A feature row for a state or pair that does not exist.
    NumberError
        An entry that is NaN, infinite, or no number.
    """
    if features is None:
        return None
    if hasattr(features, "toarray"):
        if _stays_sparse(features, len(places.labels)):
            return _sparse_rows(features, places)
        features = features.toarray()
    noun = places.noun
    order = (
        "mdp.states"
        if noun == "state"
        else "problem.states (those of terminal states may be left out)"
    )
    if isinstance(features, Mapping):
        for x in features:
            places.require(x, "features name")
        missing = [x for x in places.labels if x not in features and x not in places.spare]
        if missing:
            raise FeatureError(
                f"no feature row for {noun} {missing[0]!r}"
                + (f" and {len(missing) - 1} more" if len(missing) > 1 else "")
                + f"; every {noun} needs one"
            )
        rows = [features.get(x) for x in places.labels]
        if _float_vectors(rows):
            return _float_rows(np.array(rows, dtype=float), places)
    elif _float_array(features, len(places.labels)):
        return _float_rows(np.array(features, dtype=float), places)
    else:
        rows = places.filled(_matrix_rows(features), None)
        if len(rows) != len(places.labels):
            raise FeatureError(
                f"the feature matrix has {len(rows)} rows for {len(places.labels)} {noun}s; expected "
                f"one row a {noun}, in the order of {order}"
            )
    given = [
        (x, _vector(row)) for x, row in zip(places.labels, rows, strict=True) if row is not None
    ]
    if not given:
        raise FeatureError("there is no feature row; expected one at least")
    width = len(given[0][1])
    for x, vector in given:
        if len(vector) != width:
            raise FeatureError(
                f"the feature row of {noun} {x!r} has {len(vector)} entries, that of {noun} "
                f"{given[0][0]!r} has {width}; all rows need the same number"
            )
    if not width:
        raise FeatureError("the feature rows are empty; expected at least one feature")
    parsed = {
        x: [parse_number(entry, f"feature {j} of {noun} {x!r}") for j, entry in enumerate(vector)]
        for x, vector in given
    }
    return [parsed.get(x, [parse_number(0)] * width) for x in places.labels]


def _float_array(features: Any, n: int) -> bool:
    """Whether an array needs no reading number by number; what is wrong with others is said there."""
    return (
        isinstance(features, np.ndarray)
        and features.dtype.kind == "f"
        and features.ndim in (1, 2)
        and len(features) == n
        and features.size > 0
    )


def _stays_sparse(features: Any, n: int) -> bool:
    """Whether a matrix of scipy.sparse is of floats, one row a label, and worth keeping sparse."""
    return (
        features.dtype.kind == "f"
        and features.ndim == 2
        and features.shape[0] == n
        and worth_keeping_sparse(features.shape, features.nnz)
    )


def _sparse_rows(features: Any, places: Places) -> Any:
    """The matrix in the CSR form without zeros, its numbers checked: a copy, unless nobody can change it."""
    import scipy.sparse as sparse

    if is_compact(features):
        kept = features
    else:
        kept = sparse.csr_array(features, dtype=float, copy=True)
        kept.sum_duplicates()
        kept.eliminate_zeros()
        kept = compact(kept)
    if not np.isfinite(kept.data).all():
        k = int(np.flatnonzero(~np.isfinite(kept.data))[0])
        i, j = int(np.searchsorted(kept.indptr, k, side="right")) - 1, int(kept.indices[k])
        parse_number(kept.data[k], f"feature {j} of {places.noun} {places.labels[i]!r}")
    return kept


def _float_vectors(rows: list[Any]) -> bool:
    width = len(rows[0]) if isinstance(rows[0], np.ndarray) and rows[0].ndim == 1 else 0
    return width > 0 and all(
        isinstance(row, np.ndarray) and row.dtype == float and row.shape == (width,) for row in rows
    )


def _float_rows(array: Floats, places: Places) -> Floats:
    """The array with a row for each label, its numbers checked."""
    array = array.reshape(len(array), -1)
    if not np.isfinite(array).all():
        i, j = np.argwhere(~np.isfinite(array))[0].tolist()
        parse_number(array[i, j], f"feature {j} of {places.noun} {places.labels[i]!r}")
    array.flags.writeable = False
    return array


def _matrix_rows(features: Any) -> list[Any]:
    if isinstance(features, sp.MatrixBase):
        return list(features.tolist())
    if not isinstance(features, Iterable):
        raise FeatureError(
            f"features is {features!r}; expected {{state: vector}}, or one row for each state"
        )
    return list(features)


def _vector(row: Any) -> list[Any]:
    if isinstance(row, sp.MatrixBase | np.ndarray):
        return list(np.array(row, dtype=object).ravel().tolist())
    if isinstance(row, list | tuple):
        return list(row)
    return [row]


def check_sizes(
    mdp: MDP, rows: list[list[Any]] | Floats | None, xi: Any, arithmetic: Arithmetic
) -> None:
    """Floats that are next to the smallest one have lost their digits before anything is computed.

    A feature that is so small in every state, or rewards or weights that all are, could be told
    from nothing but noise.

    Raises
    ------
    NumberError
    """

    def sizes(values: Any) -> Any:
        return np.abs(np.array([arithmetic.scalar(x) for x in values], dtype=float))

    rewards = arithmetic.scalars(mdp.table.reward)
    largest_reward = max(rewards.max(initial=0.0), -rewards.min(initial=0.0))
    found: dict[str, Any] = {"the rewards": np.array([largest_reward])}
    if rows is not None and not isinstance(rows, list):
        if isinstance(rows, np.ndarray):
            largest = np.abs(rows[0])  # which settles most matrices, without a pass over all rows
            if (largest < NORMAL).any():
                largest = np.maximum(rows.max(axis=0), -rows.min(axis=0))
        else:
            largest = abs(rows).max(axis=0).toarray().ravel()
        found |= {f"feature {j}": largest[j] for j in np.flatnonzero(largest < NORMAL).tolist()}
    else:
        found |= {
            f"feature {j}": sizes(column) for j, column in enumerate(zip(*rows or [], strict=True))
        }
    if isinstance(xi, list):
        found["the weights xi"] = sizes(xi)
    for name, values in found.items():
        largest = float(values.max(initial=0.0))
        if 0 < largest < NORMAL:
            raise NumberError(
                f"{name}: the largest size is {largest:.1e}, below the smallest float that keeps its "
                "digits (2.2e-308); multiply by a power of ten, or use arithmetic='exact'"
            )


def parse_discount(value: Any) -> Any:
    """The discount as a parsed number in [0, 1], or a formula."""
    gamma = parse_number(value, "the discount")
    if not isinstance(gamma, sp.Basic) and not 0 <= gamma <= 1:
        raise DiscountError(f"the discount is {quoted(gamma)}; expected a number in [0, 1]")
    return gamma


def parse_weights(xi: Any, places: Places) -> list[Any] | None:
    """Weights in the order of the labels: nonnegative, not all zero.

    Raises
    ------
    LabelError, InputError, ProbabilityError
    """
    if xi is None:
        return None
    noun = places.noun
    if isinstance(xi, str):
        raise InputError(
            f"xi is {xi!r}; expected a weight for each {noun}, 'occupancy' (with start=), or None "
            "for the stationary distribution of the behaviour"
        )
    if isinstance(xi, Mapping):
        for s in xi:
            places.require(s, "xi names")
        missing = [s for s in places.labels if s not in xi and s not in places.spare]
        if missing:
            raise LabelError(f"xi has no weight for {noun} {missing[0]!r}; every {noun} needs one")
        xi = [xi.get(s, 0) for s in places.labels]
    rows = parse_matrix(xi, "xi")
    if len(rows) == 1 and len(rows[0]) != 1:
        rows = [[x] for x in rows[0]]
    rows = places.filled(rows, [parse_number(0)])
    if len(rows) != len(places.labels) or any(len(row) != 1 for row in rows):
        raise InputError(f"xi has {len(rows)} weights for {len(places.labels)} {noun}s")
    weights = [row[0] for row in rows]
    for s, w in zip(places.labels, weights, strict=True):
        if not isinstance(w, sp.Basic) and w < 0:
            raise ProbabilityError(
                f"xi gives {noun} {s!r} the weight {quoted(w)}; expected 0 or more",
                state=s,
                total=public_number(w),
            )
    if all(w == 0 for w in weights):
        raise ProbabilityError("every weight in xi is zero; expected at least one above", total=0)
    return weights


def check_start(mdp: MDP, start: Start | None, xi: Any) -> None:
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
