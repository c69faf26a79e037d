"""The random choices of many walks, as arrays.

Each walk has a stream of its own: the raw words of a PCG64 generator that is seeded with the seed of the search and
the number of the walk. Each choice among r integers takes half a word u, 0 <= u < 2^32, and is floor(r u / 2^32)
(Lemire 2019, "Fast random integer generation in an interval", without its rejection, which r / 2^32 bounds); a coin
takes a whole one. A walk chooses a genome, then for each change how many integers it draws anew, one or two, and for
each of them which one, and its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["MOST", "Streams"]

MOST = 10**9
"""The largest integers that half a word draws evenly, but for one part in four."""
HALF = np.uint64(2**32 - 1)
SHIFT = np.uint64(32)

Words = npt.NDArray[np.uint64]


class Streams:
    """The genomes that walks begin at, and the changes that they try one after the other.

    Parameters
    ----------
    seed : int
    numbers : sequence of int
        Of the walks.
    genes : sequence of (int, int)
        The range of each integer of a genome, ends included.
    changes : int
        How many each walk tries.

    Attributes
    ----------
    first : int (W, genes)
        The genomes.
    places, values : int (W, changes, 2)
        The integers that a change draws anew, and what it puts there; one of them twice where it draws one.
    """

    def __init__(
        self, seed: int, numbers: Sequence[int], genes: Sequence[tuple[int, int]], changes: int
    ) -> None:
        self.low, high = np.array(genes, dtype=np.int64).T
        self.span = high - self.low + 1
        self.changes = changes
        length = (len(genes) + 5 * changes) // 2 + 2 + changes
        self.raw: Words = np.array(
            [np.random.PCG64([seed, k]).random_raw(length) for k in numbers], dtype=np.uint64
        ).reshape(len(numbers), length)
        self.first, self.at, self.places, self.values = self._choices(self.raw)

    def _choices(self, raw: Words) -> tuple[Any, Any, Any, Any]:
        count, genes = len(raw), len(self.low)
        halves = np.stack([raw & HALF, raw >> SHIFT], axis=2).reshape(count, -1)
        first = self.low + _below(halves[:, :genes], self.span)
        two = halves >> np.uint64(31)  # whether a change that begins here draws two integers
        following = np.arange(halves.shape[1]) + 3 + 2 * two.astype(np.int64)
        at = _followed(np.full((count, 1), genes), following, self.changes + 1)
        start = at[:, :-1]
        second = 2 * np.take_along_axis(two, start, axis=1).astype(np.int64)
        word = (start + 1)[..., None] + np.stack([0 * second, second], axis=2)
        rows = np.arange(count)[:, None, None]
        places = _below(halves[rows, word], np.int64(genes))
        values = self.low[places] + _below(halves[rows, word + 1], self.span[places])
        return first, at, places, values

    def coin(self, walk: int, tried: int) -> float:
        """A number below 1, drawn by a walk after so many changes; what follows is another word on."""
        word = (int(self.at[walk, tried]) + 1) // 2
        found = float(self.raw[walk, word] >> np.uint64(11)) * 2.0**-53
        kept = np.delete(self.raw[walk], word)
        self.raw[walk, :-1] = kept
        _, at, places, values = self._choices(self.raw[[walk]])
        self.at[walk], self.places[walk], self.values[walk] = at[0], places[0], values[0]
        return found

    def neighbours(self, genomes: Any, walks: Any, tried: Any) -> npt.NDArray[np.int64]:
        """Each genome after the given change of the given walk."""
        out: npt.NDArray[np.int64] = genomes.copy()
        rows = np.arange(len(out))
        for k in (0, 1):
            out[rows, self.places[walks, tried, k]] = self.values[walks, tried, k]
        return out


def _below(words: Words, bound: Any) -> npt.NDArray[np.int64]:
    return ((words * np.asarray(bound).astype(np.uint64)) >> SHIFT).astype(np.int64)


def _followed(start: Any, following: Any, length: int) -> Any:
    """``length`` places, each the one that follows the last; found by doubling."""
    following = np.minimum(following, following.shape[1] - 1)
    at = start
    while at.shape[1] < length:
        at = np.concatenate([at, np.take_along_axis(following, at, axis=1)], axis=1)
        if at.shape[1] < length:
            following = np.take_along_axis(following, following, axis=1)
    return at[:, :length]
