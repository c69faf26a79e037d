"""A learner's rule on every pair of feature vectors that can come, once; problems look up what it makes of theirs.

Where the entries of features are small integers, few vectors phi_s and phi_n are there to lead from and to. What a
rule makes of an outcome depends on these two and on the chances pi and mu of its action. So it is run on all of
them (:mod:`obliquetd.dynamics.blocks`), and the outcomes of a problem are rows of a table. Where the update reads no
memory, an entry of the table is G of the update c + G x, and

    A = -sum of xi p G     over the outcomes of a problem,

p the chance of the outcome given its state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obliquetd.dynamics.block_means import ROUNDING, BlockMeans
from obliquetd.dynamics.blocks import BlockRule, Blocks, Floats
from obliquetd.dynamics.terms import Group, RuleOnColumns, Slot, Term, split
from obliquetd.learners import Learner
from obliquetd.learners.forms import NoFormError
from obliquetd.learners.words import TWIN

__all__ = ["Arrows", "PairMeans", "PairTable"]

Pairs = npt.NDArray[np.intp]


class Arrows(NamedTuple):
    """Where outcomes of one kind of action lead, of B problems.

    Attributes
    ----------
    pairs : int (m, B)
        The vector that is left times V plus the one that is reached, of V vectors; m outcomes a problem.
    weight : (m, B), or broadcast to it
        xi times the chance of the outcome given its state.
    """

    pairs: Pairs
    weight: Any


class PairTable:
    """What a rule makes of all pairs of feature vectors.

    Parameters
    ----------
    learner : Learner
        Whose rule is a function of what it is given, as the package's own are.
    vectors : (V, d)
    kinds : sequence of (float, float)
        pi and mu of an action.
    discount : float

    Raises
    ------
    NoFormError, or what Python raises
        For a rule that reads more of an outcome, or has to be run outcome by outcome.
    """

    def __init__(self, learner: Learner, vectors: Floats, kinds: Any, discount: float) -> None:
        if learner.reads & TWIN:
            raise NoFormError("a rule that reads a second outcome")
        self.height, self.kinds = len(vectors), len(kinds)
        pi, mu = np.repeat(np.array(kinds, dtype=float).T, self.height, axis=1)
        every = (1, self.height, self.kinds * self.height)
        leads = np.tile(np.arange(self.height), self.kinds)
        self.run = BlockRule(
            learner,
            Blocks(
                np.broadcast_to(leads, every), np.ones(every), pi, mu, vectors[None],
                np.ones(every[:2]), discount,
            ),
        )  # fmt: skip

    @property
    def filled(self) -> set[Slot]:
        """What of the memory is ever filled."""
        return set(self.run.memory)

    @cached_property
    def reads_memory(self) -> bool:
        """Whether an update, or the memory that is handed on, depends on a memory."""
        return any(
            split(term)[1]
            for group in self.run.groups
            for part in (group.update, group.handed)
            for terms in part.values()
            for term in terms
        )

    @cached_property
    def moving(self) -> dict[int, tuple[Floats, Floats]]:
        """For each kind of action that moves anything: the entries of -G and then its size; and those of G G', c in G.

        (D D + 1, V V) and (D D, V V). Where the update reads no memory.
        """
        means, m, D = BlockMeans(self.run), self.run.chance.size, self.run.size
        table, gram = np.zeros((m, D * D + 1)), np.zeros((m, D, D))
        with np.errstate(all="ignore"):
            for by, (part,) in means.updates(np.array([0])).items():
                gram += np.einsum("mij,mkj->mik", part, part)
                if by is not None:
                    table[:, :-1].reshape(m, D, D)[:, :, self.run.weights[by]] -= part
            table[:, -1] = means.sizes()

        def of_kind(whole: Floats, k: int) -> Floats:
            apart = whole.reshape(self.height, self.kinds, self.height, -1)
            return apart[:, k].reshape(self.height**2, -1).T.copy()

        parts = {k: (of_kind(table, k), of_kind(gram, k)) for k in range(self.kinds)}
        return {k: v for k, v in parts.items() if v[0].any() or v[1].any()}

    @cached_property
    def columns(self) -> tuple[dict[Any, Floats], dict[Any, Floats]]:
        """The numbers of all outcomes by what they stand before, of the update and of the memory handed on."""
        found: tuple[dict[Any, Floats], dict[Any, Floats]] = {}, {}
        for group in self.run.groups:
            for into, part in zip(found, (group.update, group.handed), strict=True):
                for slot, terms in part.items():
                    for left, factors, column in terms:
                        key = (slot, left, factors)
                        into.setdefault(key, np.zeros(self.run.chance.size))
                        into[key][group.outcomes] += column
        return found

    def groups(self, outcomes: Any, at: Any) -> list[Group]:
        """What the rule makes of outcomes whose rows in the table are known: one group."""
        update: dict[Slot, list[Term]] = {}
        handed: dict[Slot, list[Term]] = {}
        for into, columns in zip((update, handed), self.columns, strict=True):
            for (slot, left, factors), column in columns.items():
                into.setdefault(slot, []).append(Term(left, factors, column[at]))
        return [Group(outcomes, update, handed, ())]


class PairMeans:
    """The expected update of a learner on each of many problems whose outcomes are looked up.

    Parameters
    ----------
    table : PairTable
        Of a rule whose update reads no memory.
    arrows : mapping of int to Arrows
        For each kind in ``table.moving``.
    count : int
        B, the problems.
    """

    def __init__(self, table: PairTable, arrows: Mapping[int, Arrows], count: int) -> None:
        self.table, self.arrows, self.count = table, arrows, count
        self.in_doubt = np.zeros(count, dtype=bool)

    @cached_property
    def A(self) -> Floats:
        """The matrix of the expected update of each problem, (B, D, D)."""
        with np.errstate(all="ignore"):
            return self._total

    @property
    def _total(self) -> Floats:
        D = self.table.run.size
        total: Any = np.zeros((D * D + 1, self.count))
        for kind, (entries, _) in self.table.moving.items():
            pairs, weight = self.arrows[kind]
            found = entries.take(pairs, axis=1)
            if weight.size == 1:
                total += found.sum(axis=1) * weight
            else:
                total += np.einsum("imb,mb->ib", found, weight)
        A = total[:-1]
        largest = np.abs(A).max(axis=0)
        A *= largest > ROUNDING * total[-1]  # terms that cancel
        if not largest.sum() < np.inf:
            self.in_doubt = ~np.isfinite(largest)
            A[:, self.in_doubt] = 0.0
        out: Floats = A.T.reshape(-1, D, D)
        return out

    def gram(self, which: Any) -> Floats:
        """G G' of some problems, where the columns of G are the updates of all outcomes."""
        D = self.table.run.size
        total: Any = np.zeros((D * D, len(which)))
        for kind, (_, entries) in self.table.moving.items():
            pairs, weight = self.arrows[kind]
            found = entries.take(pairs[:, which], axis=1)
            if weight.size > 1:
                found *= weight[:, which] > 0
            total += found.sum(axis=1)
        out: Floats = total.T.reshape(-1, D, D)
        return out

    def least_rank(self, which: Any) -> Any:  # noqa: ARG002
        """From what rank of G on its columns surely span all updates: always."""
        return 0


@dataclass(frozen=True, eq=False)
class LookedUp(BlockRule):
    """A rule on each of many problems, of whose outcomes the rows in a table are known.

    Parameters
    ----------
    table : PairTable
    codes : int (B, n)
        Which of the table's vectors each state has.
    kinds : int (k,)
        Which kind each outcome of a state is of.
    """

    table: PairTable
    codes: npt.NDArray[np.intp]
    kinds: npt.NDArray[np.intp]

    @cached_property
    def rule(self) -> RuleOnColumns:
        """The rule on the outcomes of the table."""
        return self.table.run.rule

    @cached_property
    def _found(self) -> tuple[list[Group], set[Slot]]:
        height, codes = self.table.height, self.codes.ravel()
        kinds = np.tile(self.kinds * height, codes.size)
        at = codes[self.places["s"]] * (self.table.kinds * height) + kinds + codes[self.places["n"]]
        if self.chance.all():
            return self.table.groups(slice(None), at), self.table.filled
        some = np.flatnonzero(self.chance)
        return self.table.groups(some, at[some]), self.table.filled
