"""A of many problems of one shape at once, in floats without error bounds: for a search that looks at thousands.

Problems with n states, d features and k outcomes a state are disjoint blocks of one long list of outcomes. The
rule runs once on that list (:class:`~obliquetd.dynamics.terms.RuleOnColumns`), and what it makes of the outcomes
is added up block by block: the terms c <u, v> z whose z and v are rows of the tables T and S add

    T' M S,    M[i, j] = sum of the weights xi p c of the outcomes whose rows these are,

as in :mod:`obliquetd.dynamics.sums`, where the same is done for one problem with all that rounding can have
done. Nothing is proved here: what a search finds is decided exactly afterwards. Where a trace's equation is
singular, or nearly, or a number leaves the range of floats, the block is *in doubt*, and its A is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FLOAT
from obliquetd.dynamics.terms import Group, RuleOnColumns, Slot, Term, feeding_order, split
from obliquetd.learners import Learner
from obliquetd.learners.forms import Form, NoFormError, is_feature
from obliquetd.learners.wholes import is_of_wholes
from obliquetd.learners.words import TWIN

__all__ = ["BlockMeans", "Blocks", "Placed"]

Floats = npt.NDArray[np.float64]
UNIT = "unit"
"""The table of one number, 1, for what is no vector."""
NEARLY_SINGULAR = 1e-10
"""A determinant beside the product of the lengths of the rows, below which a trace's equation is in doubt."""
ROUNDING = 1e-14
"""An A beside the sum of its terms' sizes that is nothing but rounding."""
HELD = 5
"""Outcomes of a group that are run in the strict mode."""


class Blocks(NamedTuple):
    """B problems over states, with rewards of 0 and no episode that ends.

    Attributes
    ----------
    next_state : int (B, n, k)
        Where each outcome of each state leads.
    chance : (B, n, k)
        mu(a|s) p; an outcome of chance 0 is none.
    pi, mu : (B, n, k)
        The chances of its action, mu positive.
    features : (B, n, d)
    xi : (B, n)
        The stationary distribution.
    discount : float
    """

    next_state: npt.NDArray[np.intp]
    chance: Floats
    pi: Floats
    mu: Floats
    features: Floats
    xi: Floats
    discount: float

    def __len__(self) -> int:
        return len(self.features)


class FloatsByColumn:
    """The numbers of some outcomes, plain floats; see :class:`obliquetd.learners.forms.Columns`."""

    def __init__(self, features: Floats, places: dict[str, Any], *, strict: bool) -> None:
        self.features, self.places, self.strict = features, places, strict
        self._rows: dict[str, Floats] = {}
        self._constants: dict[float, Floats] = {}

    def constant(self, value: Any) -> Any:
        """A column with one number, of a rule's text or of a column."""
        if isinstance(value, np.ndarray):
            return value
        number = float(value)
        if number not in self._constants:
            self._constants[number] = np.array([number])
        return self._constants[number]

    native = constant

    def signs(self, column: Any) -> Any:
        """-1, 0 or 1 for each outcome."""
        return np.sign(column)

    def is_zero(self, column: Any) -> bool:
        """Whether a column is 0 for every outcome."""
        return column.flat[0] == 0.0 and not column.any()

    def inner(self, u: Form, v: Form, half: int | None) -> Any:
        """Row by row of the combinations themselves: their parts may cancel."""
        whole = np.einsum("oi,oi->o", self._combined(u), self._combined(v))
        if half is None:
            return whole
        if self.is_zero(whole):
            return self.constant(1 - 2 * half)
        return 2 * whole if half == 0 else -whole

    def _combined(self, form: Form) -> Any:
        total: Any = None
        for ((_, _, row), _), column in form.terms.items():
            if row not in self._rows:
                self._rows[row] = self.features.take(self.places[row], axis=0)
            part = self._rows[row]
            if len(column) > 1:
                part = column[:, None] * part
            elif column[0] != 1.0:
                part = column[0] * part
            total = part if total is None else total + part
        return total


class Placed(NamedTuple):
    """Outcomes' numbers c that stand for c times the row of one table times that of another.

    ``slot`` moves with ``by``, a slot of the weights or None for what does not depend on them; ``left`` and
    ``other`` are vectors, None for the number 1. With ``left`` in the weights, c multiplies the identity.
    """

    slot: Slot
    by: Slot | None
    left: Any
    other: Any


@dataclass(frozen=True, eq=False)
class BlockMeans:
    """The expected update of a learner on each of many problems.

    Parameters
    ----------
    learner : Learner
        Whose numbers are numbers, the same for every state.
    blocks : Blocks

    Raises
    ------
    NoFormError, or what Python raises
        For a rule that has to be run outcome by outcome.
    """

    learner: Learner
    blocks: Blocks

    @cached_property
    def carried(self) -> bool:
        """Whether a memory is carried from one transition to the next."""
        return self.learner.has_memory

    @cached_property
    def _outcomes(self) -> tuple[dict[str, Any], dict[str, Any], Any]:
        """The rows and the numbers of all outcomes, one block after the other, and their chances."""
        blocks = self.blocks
        count, n, k = blocks.chance.shape
        paired = bool(self.learner.reads & TWIN)  # each outcome with each of the same state

        def flat(values: Any, *, second: bool = False) -> Any:
            if values.size == 1:
                return values.ravel()
            if paired:
                values = np.broadcast_to(values, (count, n, k))
                values = values[..., None, :] if second else values[..., :, None]
            return np.broadcast_to(values, (count, n, k, k) if paired else (count, n, k)).ravel()

        start = np.arange(0, count * n, n)[:, None, None]
        state, following = flat(start + np.arange(n)[:, None]), blocks.next_state + start
        rows = {"s": state, "n": flat(following)}
        ratio = blocks.pi / blocks.mu
        rho, g = flat(ratio), np.array([blocks.discount])
        given = {
            "reward": np.zeros(1), "g": g, "g_twin": g, "own": np.ones(1),
            "pi": flat(blocks.pi), "mu": flat(blocks.mu), "rho": rho, "rho_expected": rho,
        }  # fmt: skip
        chance = flat(blocks.chance)
        if not paired:
            return {**rows, "twin": rows["n"]}, {**given, "rho_twin": rho}, chance
        rows["twin"], given["rho_twin"] = flat(following, second=True), flat(ratio, second=True)
        return rows, given, chance * flat(blocks.chance, second=True)

    @cached_property
    def rule(self) -> RuleOnColumns:
        """The rule on the outcomes."""
        if any(isinstance(v, tuple) for v in self.learner.values.values()):
            raise NoFormError("a number for each state")
        values = {name: float(FLOAT.scalar(v)) for name, v in self.learner.values.items()}
        flat = self.blocks.features.reshape(-1, self.blocks.features.shape[2])

        def columns(places: dict[str, Any], *, strict: bool) -> FloatsByColumn:
            return FloatsByColumn(flat, places, strict=strict)

        rows, given, _ = self._outcomes
        numbers = self.learner.numbers(**values)
        return RuleOnColumns(
            self.learner, values, numbers, rows, given, columns, late=False, listed=float
        )

    @cached_property
    def _found(self) -> tuple[list[Group], set[Slot]]:
        with np.errstate(all="ignore"):
            return self.rule.groups(np.flatnonzero(self._outcomes[2]), carried=self.carried)

    @property
    def groups(self) -> list[Group]:
        """What the rule makes of the outcomes."""
        return self._found[0]

    @cached_property
    def weights(self) -> dict[Slot, slice]:
        """Where each of the weights stands among all of them."""
        out, start = {}, 0
        for slot, over in self.rule.slots()[0].items():
            width = self.blocks.features.shape[2] if over else 1
            out[slot] = slice(start, start + width)
            start += width
        return out

    @property
    def size(self) -> int:
        """D, the number of weights."""
        return int(max(place.stop for place in self.weights.values()))

    def is_of_wholes(self) -> bool:
        """Whether some outcomes of each group come out alike in the strict mode: see :mod:`obliquetd.learners.forms`."""
        rule, filled = self.rule, self._found[1]
        for group in self.groups:
            at = group.outcomes[np.linspace(0, len(group.outcomes) - 1, HELD).astype(int)]
            pairs = zip(
                rule.run(at, filled, strict=True), rule.run(at, filled, strict=False), strict=True
            )
            if not all(is_of_wholes(mine, theirs, _alike) for mine, theirs in pairs):
                return False
        return True

    # --- places -------------------------------------------------------------------------------

    def table(self, vector: Any) -> Floats:
        """The rows that a vector is one of, in each block: (B, n, d), or (B, 1, 1) of the number 1."""
        if vector is None:
            return np.ones((len(self.blocks), 1, 1))
        return self.blocks.features if is_feature(vector) else self._memories[0][vector]

    def row(self, vector: Any) -> Any:
        """For each outcome the row of that table, counted from the start of its block: (B, m)."""
        name = UNIT if vector is None else vector[2] if is_feature(vector) else "s"
        if name not in self._rows:
            count, n = len(self.blocks), self.blocks.features.shape[1]
            rows = self._outcomes[0]["s" if vector is None else name].reshape(count, -1)
            rows = rows * 0 if vector is None else rows - np.arange(0, count * n, n)[:, None]
            self._rows[name] = rows
        return self._rows[name]

    @cached_property
    def _rows(self) -> dict[str, Any]:
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
        return np.zeros(self._outcomes[2].shape)

    # --- the memory ---------------------------------------------------------------------------

    @cached_property
    def _memories(self) -> tuple[dict[Slot, Floats], dict[Slot, Floats], Any]:
        """E[m 1{s}] of the vectors and of the numbers in the memory; and the blocks in doubt."""
        vectors: dict[Slot, Floats] = {}
        numbers: dict[Slot, Floats] = {}
        doubt = np.zeros(len(self.blocks), dtype=bool)
        memory = {s: over for s, over in self.rule.slots()[1].items() if s in self._found[1]}
        for slots in feeding_order(self.groups, memory):
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
        state, following = (self.row(("features", "now", row)).ravel() for row in ("s", "n"))
        inner: dict[Any, Floats] = {}
        sources: dict[Any, Floats] = {}
        for group in self.groups:
            o = group.outcomes
            for slot in slots:
                for term in group.handed.get(slot, ()):
                    memories = split(term)[1]
                    if memories and memories[0] in place:
                        alone = () if memory[slot] else (("number", *memories[0]),)
                        if term.factors != alone:
                            raise NoFormError("a memory whose parts depend on each other in turn")
                        into = inner.setdefault((slot, memories[0]), self._full())
                        into[o] += self._outcomes[2][o] * term.column
                        continue
                    into = sources.setdefault((slot, term.left), self._full())
                    into[o] += self._weighted(term, o, memories, numbers)
        width = d if memory[slots[0]] else 1
        total: Floats = np.zeros((count, high, width))
        for (slot, left), column in sources.items():
            T = vectors[left] if left in vectors else self.table(left)
            at = self.row(left).ravel().reshape(count, -1)
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
        weight: Floats = self.blocks.xi.ravel()[self._outcomes[0]["s"]] * self._outcomes[2]
        return weight

    def _weighted(self, term: Term, o: Any, memories: list[Slot], numbers: Any) -> Any:
        """The column of a term times the weight of each outcome: its chance, and xi or a mean memory."""
        if not memories:
            return self._weight[o] * term.column
        state = self._outcomes[0]["s"][o]
        out = self._outcomes[2][o] * term.column
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
        for group in self.groups:
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
        count, size = len(self.blocks), self.size
        A, largest = np.zeros((count, size, size)), np.zeros(count)
        for where, column in self.placed(weighted=True).items():
            if where.by is None:  # of b
                continue
            into = A[:, self.weights[where.slot], self.weights[where.by]]
            total = np.abs(column).reshape(count, -1).sum(axis=1)
            if where.left is not None and where.left[0] == "weights":
                into -= np.eye(into.shape[1]) * column.reshape(count, -1).sum(axis=1)[:, None, None]
                largest += total
                continue
            T, S = self.table(where.left), self.table(where.other)
            rows = self.row(where.left), self.row(where.other)
            M = self._matrix(*rows, (T.shape[1], S.shape[1]), column)
            into -= T.transpose(0, 2, 1) @ (M @ S)
            largest += total * np.abs(T).max(axis=(1, 2)) * np.abs(S).max(axis=(1, 2))
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


def _alike(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=1e-9, atol=0.0))
