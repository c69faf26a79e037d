"""Vectors of rationals by numbers, and which of them are parallel."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Indices", "NumberedVectors"]

Indices = npt.NDArray[np.intp]


class NumberedVectors:
    """Vectors in the order in which they came.

    Attributes
    ----------
    listed : list of list of rationals
    """

    def __init__(self) -> None:
        self.listed: list[list[Any]] = []
        self._numbers: dict[Hashable, int] = {}
        self._directions: list[tuple[int, Any]] = []
        self._alike: dict[tuple[float, ...], list[tuple[list[Any], int]]] = {}
        self._ways: Any = ()

    def find(self, key: Hashable) -> int | None:
        """The number of the vector of a name."""
        return self._numbers.get(key)

    def add(self, key: Hashable, vector: list[Any]) -> int:
        """A vector with a name that is new; its number."""
        self._numbers[key] = len(self.listed)
        self.listed.append(vector)
        return len(self.listed) - 1

    def direction(self, v: int) -> tuple[int, Any]:
        """A number that parallel vectors share, and the first entry that is not 0; -1 and None for a vector of 0."""
        for vector in self.listed[len(self._directions) :]:
            first = next((x for x in vector if x), None)
            number = -1
            if first is not None:
                unit = [x / first for x in vector]
                # by floats first: rationals of FLINT are slow to hash
                alike = self._alike.setdefault(tuple(map(float, unit)), [])
                known = next((k for u, k in alike if u == unit), None)
                number = len(self._directions) if known is None else known
                if known is None:
                    alike.append((unit, number))
            self._directions.append((number, first))
        return self._directions[v]

    @property
    def ways(self) -> Any:
        """The directions of all vectors."""
        if self.listed:
            self.direction(-1)
        if len(self._ways) < len(self._directions):
            self._ways = np.array([d for d, _ in self._directions])
        return self._ways

    def ratio(self, v: int, u: int) -> Any:
        """The number c with v = c u for parallel vectors; 1 for those of 0."""
        first = self.direction(v)[1]
        return 1 if first is None else first / self.direction(u)[1]

    def ratios(self, mine: Indices, theirs: Indices) -> Any:
        """:meth:`ratio` for each pair."""
        out = np.empty(len(mine), dtype=object)
        out[:] = [self.ratio(*pair) for pair in zip(mine.tolist(), theirs.tolist(), strict=True)]
        return out
