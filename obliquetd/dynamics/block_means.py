"""A of many problems of one shape at once: for a search that looks at thousands.

What the rule makes of the outcomes of all blocks (:mod:`obliquetd.dynamics.blocks`) is added up block by block: the
terms c <u, v> z whose z and v are rows of the tables T and S add

    T' M S,    M[i, j] = sum of the weights xi p c of the outcomes whose rows these are,

as in :mod:`obliquetd.dynamics.sums`, where the same is done for one problem with all that rounding can have
done. Nothing is proved here: what a search finds is decided exactly afterwards. Where a trace's equation is
singular, or nearly, or a number leaves the range of floats, the block is *in doubt*, and its A is 0.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from obliquetd.dynamics.blocks import BlockRule, Floats
from obliquetd.dynamics.terms import Slot, Term, feeding_order, split
from obliquetd.learners.forms import NoFormError, is_feature

__all__ = ["BlockMeans", "Placed"]

NEARLY_SINGULAR = 1e-10
"""A determinant beside the product of the lengths of the rows, below which a trace's equation is in doubt."""
ROUNDING = 1e-14
"""An A beside the sum of its terms' sizes that is nothing but rounding."""


class Placed(NamedTuple):
    """Outcomes' numbers c that stand for c times the row of one table times that of another.

    ``slot`` moves with ``by``, a slot of the weights or None for what does not depend on them; ``left`` and
    ``other`` are vectors, None for the number 1. With ``left`` in the weights, c multiplies the identity.
    """

    slot: Slot
    by: Slot | None
    left: Any
    other: Any


class BlockMeans:
    """The expected update of a learner on each of many problems.

    Parameters
    ----------
    run : BlockRule
    """

    def __init__(self, run: BlockRule) -> None:
        self.run, self.blocks = run, run.blocks

    def table(self, vector: Any) -> Floats:
        """The rows that a vector is one of, in each block: (B, n, d), or (B, 1, 1) of the number 1."""
        if vector is None:
            return np.ones((len(self.blocks), 1, 1))
        return self.blocks.features if is_feature(vector) else self._memories[0][vector]

    def _size(self, vector: Any) -> Any:
        """The largest entry of a vector's table, for each block."""
        key = ("features",) if is_feature(vector) else vector
        if key not in self._sizes:
            table = self.table(vector)
            self._sizes[key] = np.abs(table).reshape(len(table), -1).T.max(axis=0)
        return self._sizes[key]

    @cached_property
    def _sizes(self) -> dict[Any, Any]:
        return {}

    def _matrix(self, left: Any, other: Any, heights: tuple[int, int], numbers: Floats) -> Floats:
        """M of the preface, from a number of each outcome."""
        count = len(self.blocks)
        block = np.arange(count)[:, None]
        at = (block * heights[0] + left) * heights[1] + other
        size = count * heights[0] * heights[1]
        found: Any = np.bincount(at.ravel(), weights=numbers, minlength=size)
        out: Floats = found.reshape(count, *heights)
        return out

    def _full(self) -> Floats:
        return np.zeros(self.run.chance.shape)

    # --- the memory ---------------------------------------------------------------------------

    @cached_property
    def _memories(self) -> tuple[dict[Slot, Floats], dict[Slot, Floats], Any]:
        """E[m 1{s}] of the vectors and of the numbers in the memory; and the blocks in doubt."""
        vectors: dict[Slot, Floats] = {}
        numbers: dict[Slot, Floats] = {}
        doubt = np.zeros(len(self.blocks), dtype=bool)
        memory = self.run.memory
        for slots in feeding_order(self.run.groups, memory):
            found = self._solved(slots, memory, vectors, numbers, doubt)
            for slot, rows in zip(slots, found, strict=True):
                if memory[slot]:
                    vectors[slot] = rows
                else:
                    numbers[slot] = rows[:, :, 0]
        return vectors, numbers, doubt

    def _solved(
        self, slots: list[Slot], memory: dict[Slot, bool], vectors: Any, numbers: Any, doubt: Any
    ) -> list[Floats]:
        """Memories that feed each other in turn: Z = K' Z + B Phi in each block."""
        count, n, d = self.blocks.features.shape
        place, high = {slot: i for i, slot in enumerate(slots)}, len(slots) * n
        state, following = (self.run.row(("features", "now", row)).ravel() for row in ("s", "n"))
        inner: dict[Any, Floats] = {}
        sources: dict[Any, Floats] = {}
        for group in self.run.groups:
            o = group.outcomes
            for slot in slots:
                for term in group.handed.get(slot, ()):
                    memories = split(term)[1]
                    if memories and memories[0] in place:
                        alone = () if memory[slot] else (("number", *memories[0]),)
                        if term.factors != alone:
                            raise NoFormError("a memory whose parts depend on each other in turn")
                        into = inner.setdefault((slot, memories[0]), self._full())
                        into[o] += self.run.chance[o] * term.column
                        continue
                    into = sources.setdefault((slot, term.left), self._full())
                    into[o] += self._weighted(term, o, memories, numbers)
        width = d if memory[slots[0]] else 1
        total: Floats = np.zeros((count, high, width))
        for (slot, left), column in sources.items():
            T = vectors[left] if left in vectors else self.table(left)
            at = self.run.row(left).ravel().reshape(count, -1)
            into = (place[slot] * n + following).reshape(count, -1)
            total += self._matrix(into, at, (high, T.shape[1]), column) @ T
        if inner:
            system: Floats = np.broadcast_to(np.eye(high), (count, high, high)).copy()
            for (slot, fed), column in inner.items():
                into, at = (
                    (place[key] * n + rows).reshape(count, -1)
                    for key, rows in ((slot, following), (fed, state))
                )
                system -= self._matrix(into, at, (high, high), column)
            total = _solve(system, total, doubt)
        return [total[:, i * n : (i + 1) * n] for i in range(len(slots))]

    @cached_property
    def _weight(self) -> Floats:
        """xi times the chance of each outcome."""
        weight: Floats = self.blocks.xi.ravel()[self.run.places["s"]] * self.run.chance
        return weight

    def _weighted(self, term: Term, o: Any, memories: list[Slot], numbers: Any) -> Any:
        """The column of a term times the weight of each outcome: its chance, and xi or a mean memory."""
        if not memories:
            return self._weight[o] * term.column
        state = self.run.places["s"][o]
        out = self.run.chance[o] * term.column
        for factor in term.factors:
            if factor[0] == "number" and factor[1] == "memory":
                out = out * numbers[factor[1:]].ravel()[state]
            elif factor[0] == "dot" and not any(v[0] == "weights" for v in factor[1:3]):
                raise NoFormError("an inner product of a memory and features")
        return out

    # --- A ------------------------------------------------------------------------------------

    def placed(self, *, weighted: bool) -> dict[Placed, Floats]:
        """The update's terms by where they go, with a number for each outcome.

        Weighted they add up to b - A x; else they are the updates themselves, of an empty memory.
        """
        out: dict[Placed, Floats] = {}
        for group in self.run.groups:
            o = group.outcomes
            for slot, terms in group.update.items():
                for term in terms:
                    weights, memories = split(term)
                    if memories and not weighted:
                        continue
                    by, other = weights or (None, None)
                    if term.left is not None and term.left[0] == "weights":
                        if weights:
                            raise NoFormError("an update that is not affine in the weights")
                        by = term.left
                    into = out.setdefault(Placed(slot, by, term.left, other), self._full())
                    into[o] += (
                        self._weighted(term, o, memories, self._memories[1])
                        if weighted
                        else term.column
                    )
        return out

    @cached_property
    def A(self) -> Floats:
        """The matrix of the expected update of each block, (B, D, D)."""
        with np.errstate(all="ignore"):
            return self._total

    @cached_property
    def _total(self) -> Floats:
        count, size = len(self.blocks), self.run.size
        A, largest = np.zeros((count, size, size)), np.zeros(count)
        for where, column in self.placed(weighted=True).items():
            if where.by is None:  # of b
                continue
            into = A[:, self.run.weights[where.slot], self.run.weights[where.by]]
            total = np.abs(column).reshape(count, -1).sum(axis=1)
            if where.left is not None and where.left[0] == "weights":
                into -= np.eye(into.shape[1]) * column.reshape(count, -1).sum(axis=1)[:, None, None]
                largest += total
                continue
            T, S = self.table(where.left), self.table(where.other)
            rows = self.run.row(where.left), self.run.row(where.other)
            M = self._matrix(*rows, (T.shape[1], S.shape[1]), column)
            into -= T.transpose(0, 2, 1) @ (M @ S)
            largest += total * self._size(where.left) * self._size(where.other)
        A[self.in_doubt] = 0.0
        A[np.abs(A).max(axis=(1, 2)) <= ROUNDING * largest] = 0.0  # terms that cancel
        wild = ~np.isfinite(A).all(axis=(1, 2))
        self.in_doubt[wild] = True
        A[wild] = 0.0
        return A

    @property
    def in_doubt(self) -> Any:
        """The blocks whose A is not known, once it has been asked for: (B,) bool."""
        return self._memories[2]

    # --- the updates themselves -----------------------------------------------------------------

    def updates(self, which: Any) -> dict[Any, Floats]:
        """The updates c + G x of all outcomes of some blocks, memory empty: the columns of G by slot, and c by None.

        (blocks, outcomes, D, columns) each.
        """
        count, m = len(self.blocks), self.run.row(None).shape[1]
        columns: dict[Any, Floats] = {}
        for where, numbers in self.placed(weighted=False).items():
            c = numbers.reshape(count, m)[which]
            place = None if where.by is None else self.run.weights[where.by]
            width = 1 if place is None else place.stop - place.start
            if where.by not in columns:
                columns[where.by] = np.zeros((len(which), m, self.run.size, width))
            part = columns[where.by][:, :, self.run.weights[where.slot]]
            if where.left is not None and where.left[0] == "weights":
                part += c[..., None, None] * np.eye(width)
                continue
            left, other = (
                np.take_along_axis(self.table(v)[which], self.run.row(v)[which][..., None], axis=1)
                for v in (where.left, where.other)
            )
            part += c[..., None, None] * left[..., :, None] * other[..., None, :]
        return columns

    def sizes(self) -> Floats:
        """For each outcome how large the parts are of which G is the sum, memory empty."""
        total = self._full()
        for where, numbers in self.placed(weighted=False).items():
            if where.by is None:
                continue
            size = np.abs(numbers)
            if where.left is None or where.left[0] != "weights":
                for vector in (where.left, where.other):
                    rows = np.abs(self.table(vector)).max(axis=2)
                    size = size * np.take_along_axis(rows, self.run.row(vector), axis=1).ravel()
            total += size
        return total

    def gram(self, which: Any) -> Floats:
        """G G' of some blocks, where the columns of G are the updates of all outcomes, memory empty."""
        total: Floats = np.zeros((len(which), self.run.size, self.run.size))
        for found in self.updates(which).values():
            total += np.einsum("bmij,bmkj->bik", found, found)
        return total

    def least_rank(self, which: Any) -> Any:
        """From what rank of G on its columns surely span all updates: memories may reach more than it shows."""
        if not self.run.carried:
            return 0
        features = np.linalg.matrix_rank(self.blocks.features[which])
        total = np.zeros(len(which), dtype=int)
        for slot, place in self.run.weights.items():
            lefts = [t.left for group in self.run.groups for t in group.update[slot]]
            along = all(v is not None and (is_feature(v) or v[0] == "memory") for v in lefts)
            width = place.stop - place.start
            total += features if along and width > 1 else width
        return total


def _solve(system: Floats, right: Floats, doubt: Any) -> Floats:
    """The solutions, 0 where the system is nearly singular, which is noted."""
    lengths = np.linalg.norm(system, axis=2).prod(axis=1)
    sizes = np.abs(np.linalg.det(system))
    doubt |= ~(sizes > NEARLY_SINGULAR * lengths)
    system[doubt] = np.eye(system.shape[1])
    right[doubt] = 0.0
    found: Any = np.linalg.solve(system, right)
    out: Floats = found
    return out
