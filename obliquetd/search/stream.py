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

from obliquetd.algebra.ways import Way

__all__ = ["MOST", "Streams"]

MOST = 10**9
"""The largest integers that half a word draws evenly, but for one part in four."""
STEPPED: Way[int] = 48
"""Walks whose changes are followed side by side sooner than one after the other."""
AT_A_TIME = 64
"""Walks whose changes are made at a time, which stay in a processor's cache."""
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
    """

    def __init__(
        self, seed: int, numbers: Sequence[int], genes: Sequence[tuple[int, int]], changes: int
    ) -> None:
        self.low, high = np.array(genes, dtype=np.int64).T
        self.span = (high - self.low + 1).astype(np.uint64)
        self.changes = changes
        length = (len(genes) + 5 * changes) // 2 + 2 + changes
        self.raw: Words = np.array(
            [np.random.PCG64([seed, k]).random_raw(length) for k in numbers], dtype=np.uint64
        ).reshape(len(numbers), length)
        halves = _halves(self.raw)[:, : len(genes)]
        self.first = self.low + _below(halves, self.span)
        self.at, self.places, self.values = self._choices(self.raw)

    def _choices(self, raw: Words) -> tuple[Any, Any, Any]:
        """Where each change begins, and the one or two integers that it draws anew: which, and what they become.

        (W, changes + 1), and twice (2, W, changes); one of them twice where a change draws one.
        """
        genes, halves = np.uint64(len(self.low)), _halves(raw)
        # whether a change that begins here draws two integers: the highest bit says
        two = halves.view(np.int8)[:, 3::4] < 0
        at = _followed(3 + 2 * two.view(np.uint8), len(self.low), self.changes + 1)
        places, values = (np.empty((2, len(raw), self.changes), dtype=np.int64) for _ in range(2))
        for k in range(0, len(raw), AT_A_TIME):
            some = slice(k, k + AT_A_TIME)
            start, flat = at[some, :-1].copy(), halves[some].ravel()
            start += halves.shape[1] * np.arange(len(start))[:, None] + 1
            for j in range(2):
                places[j, some] = drawn = _below(flat.take(start), genes)
                values[j, some] = _below(flat.take(start + 1), self.span.take(drawn))
                values[j, some] += self.low.take(drawn)
                start += 2 * two[some].take(start - 1)  # of the second integer, or of the same
        return at, places, values

    def coin(self, walk: int, tried: int) -> float:
        """A number below 1, drawn by a walk after so many changes; what follows is another word on."""
        word = (int(self.at[walk, tried]) + 1) // 2
        found = float(self.raw[walk, word] >> np.uint64(11)) * 2.0**-53
        kept = np.delete(self.raw[walk], word)
        self.raw[walk, :-1] = kept
        (self.at[walk],), places, values = self._choices(self.raw[[walk]])
        self.places[:, walk], self.values[:, walk] = places[:, 0], values[:, 0]
        return found

    def change(self, genomes: Any, walks: Any, tried: Any) -> None:
        """Make of each genome, (genes, B), what the given change of the given walk makes of it."""
        which = walks * self.changes + tried
        flat, columns = genomes.ravel(), np.arange(genomes.shape[1])
        for places, values in zip(self.places, self.values, strict=True):
            flat[places.ravel().take(which) * len(columns) + columns] = values.ravel().take(which)


def _halves(raw: Words) -> npt.NDArray[np.uint32]:
    """The words in halves, the lower one first."""
    return raw.astype("<u8", copy=False).view("<u4")


def _below(halves: Any, bound: Any) -> npt.NDArray[np.int64]:
    found: npt.NDArray[np.int64] = ((halves * bound) >> SHIFT).view(np.int64)
    return found


def _followed(following: npt.NDArray[np.uint8], first: int, length: int) -> npt.NDArray[np.int64]:
    """For each row ``length`` places, each so far behind the last as the row says there."""
    count, width = following.shape
    if count < STEPPED:
        return np.array([_each(row.tobytes(), first, length) for row in following])
    out = np.empty((length, count), dtype=np.int64)
    flat, start = following.ravel(), width * np.arange(count)
    out[0] = first
    for k in range(1, length):
        np.add(out[k - 1], flat.take(out[k - 1] + start), out=out[k])
    return np.ascontiguousarray(out.T)


def _each(following: bytes, at: int, length: int) -> list[int]:
    places = []
    for _ in range(length):
        places.append(at)
        at += following[at]
    return places
