"""The smallest real part of an eigenvalue of each of many A, on the span of the updates of each.

A maps into the span U of all updates (:mod:`obliquetd.dynamics.span`). So where A is invertible, U is everything.
Elsewhere U is found from the updates themselves: with G the updates of all outcomes as columns, an eigenvector of
G G' belongs to U or to its complement, by its eigenvalue. Where that does not tell, the block is in doubt.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.dynamics.block_means import BlockMeans
from obliquetd.learners.forms import is_feature

__all__ = ["margins"]

Floats = npt.NDArray[np.float64]
INVERTIBLE = 1e-3
"""The modulus of an eigenvalue beside the norm of A above which it is surely not 0, in a Jordan block either."""
SPANNED, ROUNDING = 1e-10, 1e-13
"""Eigenvalues of G G' beside the largest: those of U, and those of nothing but rounding."""


def margins(means: BlockMeans) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The smallest real part over the norm of A, for each block; and the blocks in doubt.

    It is infinite where nothing moves, or where A is 0, as it is for what cannot be unstable.
    """
    A = means.A
    sizes = np.linalg.norm(A, axis=(1, 2))
    doubt = means.in_doubt.copy()
    eigenvalues = np.linalg.eigvals(A)
    out = eigenvalues.real.min(axis=1)
    flat = np.abs(eigenvalues).min(axis=1) <= INVERTIBLE * sizes
    which = np.flatnonzero(flat & (sizes > 0) & ~doubt)
    if len(which):
        out[which], unsure = _on_the_span(means, which)
        doubt[which] |= unsure
    with np.errstate(all="ignore"):
        return np.where(sizes > 0, out / sizes, np.inf), doubt


def _on_the_span(means: BlockMeans, which: Any) -> tuple[Floats, Any]:
    """The smallest real part on U of some blocks, and those of which U is not known."""
    gram = _gram(means, which)
    values, vectors = np.linalg.eigh(gram)
    largest = values[:, -1:]
    inside, outside = values > SPANNED * largest, values <= ROUNDING * largest
    unsure = ~(inside | outside).all(axis=1) | (largest[:, 0] <= 0)
    ranks = inside.sum(axis=1)
    if means.run.carried:  # what is reached with a memory may be more
        unsure |= ranks < _most(means, which)
    out = np.zeros(len(which))
    for rank in np.unique(ranks[~unsure]):
        chosen = np.flatnonzero((ranks == rank) & ~unsure)
        V = vectors[chosen][:, :, -rank:]
        Q = V.transpose(0, 2, 1) @ means.A[which[chosen]] @ V
        out[chosen] = np.linalg.eigvals(Q).real.min(axis=1)
    return out, unsure


def _gram(means: BlockMeans, which: Any) -> Floats:
    """G G' of some blocks, G the columns of the updates c + G x of all outcomes, memory empty."""
    count, m = len(means.blocks), means.run.row(None).shape[1]
    columns: dict[Any, Floats] = {}
    for where, numbers in means.placed(weighted=False).items():
        c = numbers.reshape(count, m)[which]
        width = 1 if where.by is None else _width(means.run.weights[where.by])
        if where.by not in columns:
            columns[where.by] = np.zeros((len(which), m, means.run.size, width))
        part = columns[where.by][:, :, means.run.weights[where.slot]]
        if where.left is not None and where.left[0] == "weights":
            part += c[..., None, None] * np.eye(width)
            continue
        left, other = (
            np.take_along_axis(means.table(v)[which], means.run.row(v)[which][..., None], axis=1)
            for v in (where.left, where.other)
        )
        part += c[..., None, None] * left[..., :, None] * other[..., None, :]
    total = np.zeros((len(which), means.run.size, means.run.size))
    for found in columns.values():
        total += np.einsum("bmij,bmkj->bik", found, found)
    return total


def _width(place: slice) -> int:
    return int(place.stop - place.start)


def _most(means: BlockMeans, which: Any) -> Any:
    """A bound on the dimension of U: slots move along features, or freely."""
    features = np.linalg.matrix_rank(means.blocks.features[which])
    total = np.zeros(len(which), dtype=int)
    for slot, place in means.run.weights.items():
        lefts = [t.left for group in means.run.groups for t in group.update[slot]]
        along = all(v is not None and (is_feature(v) or v[0] == "memory") for v in lefts)
        total += features if along and _width(place) > 1 else _width(place)
    return total
