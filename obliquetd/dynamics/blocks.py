"""A rule run once on the outcomes of many problems of one shape, in floats without error bounds.

Problems with n states, d features and k outcomes a state are disjoint blocks of one long list of outcomes, on which
a rule runs as on those of one problem (:class:`~obliquetd.dynamics.terms.RuleOnColumns`).
:mod:`obliquetd.dynamics.block_means` adds up block by block what it makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FLOAT
from obliquetd.dynamics.tapes import Recorded, may_be_recorded
from obliquetd.dynamics.terms import Group, OneRun, RuleOnColumns, Slot
from obliquetd.learners import Learner
from obliquetd.learners.forms import Form, NoFormError, is_feature
from obliquetd.learners.wholes import is_of_wholes
from obliquetd.learners.words import TWIN

__all__ = ["BlockRule", "Blocks", "Floats"]

Floats = npt.NDArray[np.float64]
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


class FloatsByColumn(OneRun):
    """The numbers of some outcomes, plain floats; see :class:`obliquetd.learners.forms.Columns`."""

    def __init__(self, features: Floats, places: dict[str, Any], *, strict: bool) -> None:
        super().__init__(places, strict=strict)
        self.features = features
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

    def product(self, a: Any, b: Any) -> Any:
        """The product for each outcome."""
        return a * b

    def signs(self, column: Any) -> Any:
        """-1, 0 or 1 for each outcome."""
        return np.sign(column)

    def zeros(self, column: Any) -> Any:
        """Whether the number is 0, for each outcome."""
        return column == 0.0

    def is_zero(self, column: Any) -> bool:
        """Whether a column is 0 for every outcome."""
        return column.flat[0] == 0.0 and not column.any()

    def inner(self, u: Form, v: Form, half: int | None) -> Any:
        """Row by row of the combinations themselves: their parts may cancel."""

        def made() -> Any:
            return self.dots(*([(k[0], c) for k, c in x.terms.items()] for x in (u, v)))

        return self.halved(self.kept(u, v, made), half)

    def dots(self, u: Any, v: Any) -> Any:
        """The inner products of two combinations, each of rows of features with columns beside them."""
        return np.einsum("oi,oi->o", self._combined(u), self._combined(v))

    def part(self, outcomes: Any) -> FloatsByColumn:
        """The columns of some of the outcomes, by their places."""
        places = {name: rows[outcomes] for name, rows in self.places.items()}
        return FloatsByColumn(self.features, places, strict=self.strict)

    def _combined(self, parts: Any) -> Any:
        total: Any = None
        for (_, _, row), column in parts:
            if row not in self._rows:
                self._rows[row] = self.features.take(self.places[row], axis=0)
            part = self._rows[row]
            if len(column) > 1:
                part = column[:, None] * part
            elif column[0] != 1.0:
                part = column[0] * part
            total = part if total is None else total + part
        return total


@dataclass(frozen=True, eq=False)
class BlockRule:
    """A learner's rule on each of many problems.

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
        read = self.learner.values
        if any(isinstance(v, tuple) for v in read.values()):
            raise NoFormError("a number for each state")
        values = {name: float(FLOAT.scalar(v)) for name, v in read.items()}
        flat = self.blocks.features.reshape(-1, self.blocks.features.shape[2])

        def columns(places: dict[str, Any], *, strict: bool) -> FloatsByColumn:
            return FloatsByColumn(flat, places, strict=strict)

        rows, given, _ = self._outcomes
        numbers = self.learner.numbers(**values)
        kind = Recorded if may_be_recorded(self.learner) else RuleOnColumns
        return kind(
            self.learner, values, numbers, rows, given, columns, late=False, listed=float,
            everything=np.arange(len(rows["s"])),
        )  # fmt: skip

    @cached_property
    def _found(self) -> tuple[list[Group], set[Slot]]:
        with np.errstate(all="ignore"):
            chance = self._outcomes[2]
            every = self.rule.everything if chance.all() else np.flatnonzero(chance)
            return self.rule.groups(every, carried=self.carried)

    @property
    def groups(self) -> list[Group]:
        """What the rule makes of the outcomes."""
        return self._found[0]

    @property
    def places(self) -> dict[str, Any]:
        """For each outcome its states, counted through all blocks, by the names of rows."""
        return self._outcomes[0]

    @property
    def chance(self) -> Floats:
        """Of each outcome, given its state; with that of its twin where the rule reads one."""
        found: Floats = self._outcomes[2]
        return found

    @property
    def memory(self) -> dict[Slot, bool]:
        """What of the memory is ever filled, and whether it is a vector."""
        return {s: over for s, over in self.rule.slots()[1].items() if s in self._found[1]}

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
            strict, plain = (
                rule.run(rule.columns(rule.places(at), strict=way), at, filled)
                for way in (True, False)
            )
            pairs = zip(strict, plain, strict=True)
            if not all(is_of_wholes(mine, theirs, _alike) for mine, theirs in pairs):
                return False
        return True

    def row(self, vector: Any) -> Any:
        """For each outcome the row of a vector's table, counted from the start of its block: (B, m).

        A memory stands in the row of the state that is left; the number 1, for None, in row 0.
        """
        name = "" if vector is None else vector[2] if is_feature(vector) else "s"
        if name not in self._rows:
            count, n = len(self.blocks), self.blocks.features.shape[1]
            rows = self._outcomes[0]["s" if vector is None else name].reshape(count, -1)
            rows = rows * 0 if vector is None else rows - np.arange(0, count * n, n)[:, None]
            self._rows[name] = rows
        return self._rows[name]

    @cached_property
    def _rows(self) -> dict[str, Any]:
        return {}


def _alike(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=1e-9, atol=0.0))
