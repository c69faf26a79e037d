"""Feature matrices: a vector phi(s) for each state.

Every maker returns a mapping of state to vector, which is what ``features=``
takes; combine them with plain Python.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.errors import FeatureError
from obliquetd.mdp import MDP

__all__ = [
    "aggregation",
    "constant",
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
