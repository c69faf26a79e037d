"""Feature matrices: a vector phi(s) for each state.

Every maker returns a mapping of state to vector, which is what ``features=``
takes; combine them with plain Python. :func:`feature_rows` reads what a user gave.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from obliquetd.algebra import parse_number
from obliquetd.errors import FeatureError, LabelError
from obliquetd.mdp import MDP

__all__ = [
    "aggregation",
    "constant",
    "feature_rows",
    "fourier",
    "fourier_basis",
    "polynomial",
    "random",
    "tabular",
]

Features = dict[Any, list[Any]]


def tabular(mdp: MDP) -> Features:
    """One indicator a state: Phi = I.

    Examples
    --------
    >>> tabular(MDP.from_transitions([("s", "a", "t", 1, 0), ("t", "a", "s", 1, 0)]))
    {'s': [1, 0], 't': [0, 1]}
    """
    n = len(mdp.states)
    return {s: [int(i == j) for j in range(n)] for i, s in enumerate(mdp.states)}


def constant(mdp: MDP) -> Features:
    """The single feature 1."""
    return {s: [1] for s in mdp.states}


def aggregation(mdp: MDP, groups: Mapping[Any, Any]) -> Features:
    """One indicator a group of states.

    Parameters
    ----------
    mdp : MDP
    groups : mapping of state to group label
        Groups are numbered in the order of the states.

    Raises
    ------
    FeatureError
        Where a state has no group.
    """
    for s in mdp.states:
        if s not in groups:
            raise FeatureError(f"state {s!r} has no group; every state needs one")
    order = {g: j for j, g in enumerate(dict.fromkeys(groups[s] for s in mdp.states))}
    return {s: [int(order[groups[s]] == j) for j in range(len(order))] for s in mdp.states}


def polynomial(mdp: MDP, degree: int, coordinate: Callable[[Any], Any] | None = None) -> Features:
    """1, x, x^2, ..., x^degree of a coordinate x(s).

    Parameters
    ----------
    mdp : MDP
    degree : int
    coordinate : callable, optional
        A number for each state; the default is its position 0, 1, 2, ...
    """
    x = coordinate or mdp.index.__getitem__
    return {s: [x(s) ** k for k in range(degree + 1)] for s in mdp.states}


def fourier(
    mdp: MDP, order: int, coordinates: Callable[[Any], Sequence[float]] | None = None
) -> Features:
    """The Fourier basis cos(pi c . x), c in {0, ..., order}^k (Konidaris et al. 2011).

    Parameters
    ----------
    mdp : MDP
    order : int
    coordinates : callable, optional
        A point of [0, 1]^k for each state; the default is its position over n - 1.

    Returns
    -------
    dict of state to list of (order + 1)^k floats
    """
    last = max(1, len(mdp.states) - 1)
    point = coordinates or (lambda s: (mdp.index[s] / last,))
    values = fourier_basis(np.array([point(s) for s in mdp.states]), order)
    return dict(zip(mdp.states, values.tolist(), strict=True))


def fourier_basis(points: npt.NDArray[np.float64], order: int) -> npt.NDArray[np.float64]:
    """cos(pi c . x) for each row x of ``points``, (m, k), and c in {0, ..., order}^k.

    Returns
    -------
    array (m, (order + 1)^k)

    Examples
    --------
    >>> fourier_basis(np.array([[0.0, 1.0]]), 1).tolist()
    [[1.0, -1.0, 1.0, -1.0]]
    """
    frequencies = list(itertools.product(range(order + 1), repeat=points.shape[1]))
    return np.asarray(np.cos(np.pi * (points @ np.array(frequencies, dtype=float).T)))


def random(
    mdp: MDP, dimension: int, seed: int | np.random.Generator, *, largest: int = 5
) -> Features:
    """Integer features drawn from -largest, ..., largest."""
    rng = np.random.default_rng(seed)
    return {s: rng.integers(-largest, largest + 1, size=dimension).tolist() for s in mdp.states}


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
