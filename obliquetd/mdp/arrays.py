"""Transition tables from arrays, dense and sparse, as other MDP toolboxes hold them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from obliquetd.algebra import parse_number
from obliquetd.errors import InputError, NumberError
from obliquetd.mdp.table import Column, Table, column, constant_column

__all__ = ["chain_arrays", "table_from_arrays"]


def _is_sparse(x: Any) -> bool:
    return hasattr(x, "tocoo")


def _layers(x: Any, name: str) -> list[Any]:
    """A matrix for each action: sparse ones as they are, dense ones as arrays."""
    if _is_sparse(x):
        raise InputError(f"{name} is one sparse matrix; expected a list with one for each action")
    if (listed := _sparse_list(x, name)) is not None:
        return listed
    return list(_array(x, name))


def _sparse_list(x: Any, name: str) -> list[Any] | None:
    """The matrices of a list, tuple or object array that holds sparse ones; None for all else."""
    if isinstance(x, dict):
        raise InputError(
            f"{name} is a mapping; expected an array or a list, with one for each action"
        )
    if isinstance(x, np.ndarray) and (x.dtype != object or x.ndim != 1):
        return None
    if not isinstance(x, list | tuple | np.ndarray) or not any(_is_sparse(layer) for layer in x):
        return None
    for a, layer in enumerate(x):
        if np.ndim(layer) != 2 and not _is_sparse(layer):
            raise InputError(f"{name}[{a}] is no matrix, beside sparse ones; expected shape (S, S)")
    from scipy.sparse import coo_array  # here, so that importing the package stays light

    return [layer if _is_sparse(layer) else coo_array(np.asarray(layer)) for layer in x]


def _array(x: Any, name: str) -> npt.NDArray[Any]:
    try:
        array = x if isinstance(x, np.ndarray) else np.array(x, dtype=object)
    except ValueError:  # arrays of shapes that do not fit together
        array = np.array([[]], dtype=object)
    if array.ndim == 0:
        raise InputError(f"{name} is {x!r}; expected an array, or a list with one for each action")
    if array.dtype == object and (
        not array.size or any(isinstance(v, list | tuple | np.ndarray) for v in array.ravel())
    ):
        why = "ragged: its rows have different lengths" if len(x) else "empty"
        raise InputError(f"{name} is {why}")
    return array


def table_from_arrays(P: Any, R: Any, discount: Any) -> tuple[Table, int, int]:
    """The canonical table, the number of states and the number of actions."""
    layers = _layers(P, "P")
    if not layers:
        raise InputError("P has no action; expected shape (A, S, S)")
    n = layers[0].shape[0] if np.ndim(layers[0]) == 2 else -1
    for a, layer in enumerate(layers):
        if not hasattr(layer, "shape"):
            raise InputError(f"P[{a}] is {layer!r}; expected a matrix of shape (S, S)")
        if layer.shape != (n, n):
            raise InputError(
                f"P[{a}] has shape {layer.shape}; expected P of shape (A, S, S), or a list of A "
                "sparse (S, S) matrices"
            )
    at, p = _in_order([_nonzero(layer, f"P[{a}]") for a, layer in enumerate(layers)], n)
    size = (n, len(layers))
    reward = _lookup(R, "R", at, size)
    if discount is None:
        own = constant_column(parse_number(1), len(p))
    else:
        own = _lookup(discount, "discount", at, size)
    return Table(at[0], at[1], at[2], p, reward, own), n, len(layers)


def chain_arrays(P: Any, r: Any) -> tuple[Any, Any]:
    """P and r of a Markov chain in the form of :func:`table_from_arrays`: one action.

    Raises
    ------
    InputError
        Where P is no square matrix, or r is neither a vector nor a matrix of its size.
    """
    P, r = (x.tolist() if isinstance(x, sp.MatrixBase) else x for x in (P, r))
    chain: Any = P if _is_sparse(P) else _array(P, "P")
    if chain.ndim != 2 or chain.shape[0] != chain.shape[1]:
        raise InputError(f"P has shape {chain.shape}; expected a square matrix, one row a state")
    n = chain.shape[0]
    reward: Any = r if _is_sparse(r) else _array(r, "r")
    if reward.shape in ((n, 1), (1, n)) and not _is_sparse(r):
        reward = reward.reshape(n)
    if reward.shape not in ((n,), (n, n)):
        raise InputError(f"r has shape {reward.shape}; expected ({n},) or ({n}, {n})")
    by_move = reward.ndim == 2
    return [chain] if _is_sparse(P) else chain[None], [reward] if by_move else reward


def _in_order(layers: list[tuple[Any, Any, Column]], n: int) -> tuple[list[Any], Column]:
    """State, action and next state of all layers by state and action, and their probabilities.

    Each layer is in order, so each of its rows has its place among those of the others: nothing
    has to be sorted.
    """
    if len(layers) == 1:
        (s, t, p), one = layers[0], np.zeros((), dtype=np.intp)
        return [s, np.broadcast_to(one, s.shape), t], p
    counts = np.array([np.bincount(s, minlength=n) for s, _, _ in layers]).T
    ends = np.cumsum(counts)
    begin = (ends - counts.ravel()).reshape(counts.shape)
    own = np.cumsum(counts, axis=0) - counts
    to = [np.arange(len(s)) + (begin - own)[s, a] for a, (s, _, _) in enumerate(layers)]
    p = _join([p for _, _, p in layers])
    at = [np.empty(len(p), dtype=np.intp) for _ in range(3)]
    ordered = np.empty_like(p)
    ordered[np.concatenate(to)] = p
    for a, (s, t, _) in enumerate(layers):
        for whole, values in zip(at, (s, a, t), strict=True):
            whole[to[a]] = values
    return at, ordered


def _join(parts: list[Column]) -> Column:
    if all(p.dtype == float for p in parts):
        return np.concatenate(parts)
    return column([v for p in parts for v in p.tolist()])


def _nonzero(layer: Any, name: str) -> tuple[Any, Any, Column]:
    """Rows, columns and numbers of the entries other than 0, in the order of a table."""
    if _is_sparse(layer):
        s, t, values = _entries(layer)
        if not (keep := values != 0).all():
            s, t, values = s[keep], t[keep], values[keep]
    else:
        if layer.dtype == object:
            layer = _parsed(layer, name)
        s, t = np.nonzero(layer)
        values = layer[s, t]
    return s.astype(np.intp, copy=False), t.astype(np.intp), _numbers(values, name)


def _entries(layer: Any) -> tuple[Any, Any, Any]:
    """Rows, columns and copied values of a sparse matrix in order, entries at one place added."""
    if layer.format == "csr":
        columns, first = layer.indices[: layer.nnz], layer.indptr
        grows = np.ones(len(columns) + 1, dtype=bool)
        np.greater(columns[1:], columns[:-1], out=grows[1:-1])
        grows[first] = True  # a row begins
        if grows.all():
            rows = np.arange(layer.shape[0], dtype=np.intp)
            return np.repeat(rows, np.diff(first)), columns, layer.data[: layer.nnz].copy()
    tidy = layer.tocoo(copy=True)
    tidy.sum_duplicates()
    order = np.lexsort((tidy.col, tidy.row))
    return tidy.row[order], tidy.col[order], tidy.data[order]


def _parsed(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    out = np.empty(array.shape, dtype=object)
    for place in np.ndindex(*array.shape):
        out[place] = parse_number(array[place], f"{name}[{', '.join(map(str, place))}]")
    return out


def _numbers(values: npt.NDArray[Any], name: str) -> Column:
    """The column of an array that nobody else holds."""
    if np.issubdtype(values.dtype, np.floating):
        if not np.isfinite(values).all():
            bad = ~np.isfinite(values)
            raise NumberError(f"{name} holds {values[bad][0]}; expected finite numbers")
        return values.astype(float, copy=False)
    if values.dtype.kind in "iu":  # each integer is read once
        found, at = np.unique(values, return_inverse=True)
        return column([parse_number(v, name) for v in found.tolist()])[at.ravel()]
    return column([parse_number(v, name) for v in values.tolist()])


def _lookup(R: Any, name: str, where: Any, size: tuple[int, int]) -> Column:
    """R at each transition, for the three shapes in use."""
    s, a, t = where
    n, k = size
    if (layers := _sparse_list(R, name)) is not None:
        if len(layers) != k or any(layer.shape != (n, n) for layer in layers):
            raise InputError(
                f"{name} is a list of {len(layers)} sparse matrices; expected {k} of ({n}, {n})"
            )
        values = np.zeros(len(s))
        for action, layer in enumerate(layers):
            mask = a == action
            values[mask] = np.asarray(layer.tocsr()[s[mask], t[mask]]).ravel()
        return _placed(values, name, where)
    array = _array(R.toarray() if _is_sparse(R) else R, name)
    shapes = {(n,): (s,), (n, k): (s, a), (k, n, n): (a, s, t)}
    if array.shape not in shapes:
        turned = f"; give {name}.T" if array.shape == (k, n) else ""
        raise InputError(
            f"{name} has shape {array.shape}; expected ({n},), ({n}, {k}) or ({k}, {n}, {n}){turned}"
        )
    places = shapes[array.shape]
    if array.dtype == float and len(places) == 1 and np.isfinite(array).all():
        return array[s]  # type: ignore[no-any-return]  # n numbers to look at, and not one a row
    return _placed(array[places], name, where)


def _placed(values: npt.NDArray[Any], name: str, where: Any) -> Column:
    """Numbers that stand at transitions; one that is none is named with its transition."""
    if values.dtype.kind == "f" and np.isfinite(values).all():
        return values.astype(float, copy=False)
    if values.dtype == object:
        bad = [isinstance(v, float) and not math.isfinite(v) for v in values.tolist()]
    elif values.dtype.kind == "f":
        bad = ~np.isfinite(values)
    else:
        bad = []
    for i in np.flatnonzero(bad)[:1].tolist():
        s, a, t = (int(x[i]) for x in where)
        raise NumberError(
            f"{name} is {float(values[i])} for the transition {s} -> {t} under action {a} (counted "
            "from 0); expected a finite number"
        )
    return _numbers(values, name)
