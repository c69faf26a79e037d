"""Feature matrices: a vector phi(s) for each state.

Every maker returns what ``features=`` takes: a mapping of state to vector, to be combined with
plain Python, or a sparse matrix with a row for each state where almost all entries are 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.storage import compact
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
    "tile_coding",
    "tiles",
]

if TYPE_CHECKING:
    import scipy.sparse as sparse

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
    values = fourier_basis(_points(mdp, coordinates), order)
    return dict(zip(mdp.states, values.tolist(), strict=True))


def _points(
    mdp: MDP, coordinates: Callable[[Any], Sequence[float]] | None
) -> npt.NDArray[np.float64]:
    """A point for each state; by default its position over n - 1."""
    last = max(1, len(mdp.states) - 1)
    point = coordinates or (lambda s: (mdp.index[s] / last,))
    return np.array([point(s) for s in mdp.states], dtype=float)


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


def tiles(
    mdp: MDP,
    bins: int,
    tilings: int = 8,
    coordinates: Callable[[Any], Sequence[float]] | None = None,
) -> sparse.csr_array:
    """Tile coding of a point for each state; see :func:`tile_coding`.

    Parameters
    ----------
    mdp : MDP
    bins, tilings : int
    coordinates : callable, optional
        A point of [0, 1]^k for each state; the default is its position over n - 1.

    Returns
    -------
    scipy.sparse.csr_array (n, tilings (bins + 1)^k)
        Its rows are in the order of ``mdp.states``; ``features=`` takes it as it is.

    Raises
    ------
    FeatureError
        A point outside the unit box, or a count that is no positive integer.
    """
    return tile_coding(_points(mdp, coordinates), bins, tilings)


def tile_coding(points: npt.NDArray[np.float64], bins: int, tilings: int = 8) -> sparse.csr_array:
    """One active tile of each tiling for each row x of ``points`` (Sutton and Barto 2018, 9.5.4).

    A tiling cuts the unit box into tiles of width 1 / bins. Tiling j is displaced by j (1, 3, 5, ...)
    / tilings tile widths, modulo one tile, so that each has bins + 1 tiles a dimension, and points
    share as many active tiles as they are close.

    Parameters
    ----------
    points : array (m, k)
        In [0, 1]^k.
    bins, tilings : int

    Returns
    -------
    scipy.sparse.csr_array (m, tilings (bins + 1)^k)
        Of ones and zeros, read-only: all its ones are one number, and a problem takes it as it is.
        Its ``copy()`` can be changed.

    Raises
    ------
    FeatureError
        A point outside the unit box, or a count that is no positive integer.

    Examples
    --------
    >>> tile_coding(np.array([[0.0], [0.3], [1.0]]), bins=2, tilings=2).toarray().astype(int)
    array([[1, 0, 0, 1, 0, 0],
           [1, 0, 0, 0, 1, 0],
           [0, 0, 1, 0, 0, 1]])
    """
    import scipy.sparse as sparse

    for name, value in (("bins", bins), ("tilings", tilings)):
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
            raise FeatureError(f"{name} is {value!r}; expected a positive integer")
    points = np.asarray(points, dtype=float)
    if points.ndim != 2:
        raise FeatureError(
            f"the points have shape {points.shape}; expected a row of k coordinates for each point, "
            "as in [[0.5], [0.7]]"
        )
    outside = np.argwhere(~((points >= 0) & (points <= 1)))
    if len(outside):
        i, j = map(int, outside[0])
        raise FeatureError(
            f"coordinate {j} of point {i} is {float(points[i, j])!r}; tiles cover [0, 1], so scale each "
            "coordinate by its range, as in (x - low) / (high - low)"
        )
    m, k = points.shape
    a_tiling = (bins + 1) ** k
    shifts = np.arange(tilings)[:, None] * (2 * np.arange(k) + 1) / tilings % 1
    places = np.floor(points[:, None, :] * bins + shifts).astype(np.int64)  # (m, tilings, k)
    active = places @ (bins + 1) ** np.arange(k) + a_tiling * np.arange(tilings)
    shape = (m, tilings * a_tiling)
    ones = np.ones(m * tilings)
    found = sparse.csr_array((ones, active.ravel(), np.arange(m + 1) * tilings), shape)
    small: sparse.csr_array = compact(found)
    return small
