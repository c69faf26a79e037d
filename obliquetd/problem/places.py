"""What the rows of a problem stand for: states, or pairs of a state and an action.

Both hold the same columns of outcomes, and differ in where the action of a row is chosen:

======  ======================  ================  ===========================
over    outcome                 p                 pi and mu of
======  ======================  ================  ===========================
states  s -> s'                 p(s' | s, a)      a at s, before the step
pairs   (s, a) -> (s', a')      p(s' | s, a)      a' at s', after the step
======  ======================  ================  ===========================

Either way P_pi is the sum of pi p, P_b that of mu p, and rho = pi / mu, so that whatever is
built of the columns is one text. An MDP with a policy cannot draw a' after s': the pairs are
no MDP, and are made here of the outcomes of one.

A terminal state offers no action. Its one pair is (state, None), of value 0, and a move into it
has chance 1 under every policy. Where episodes begin anew, the move leads on to a pair that
the target (in P_pi) or the behaviour (in P_b) begins with. Nothing that the move earns depends
on that pair, so a learner is told pi = mu = rho = 1, as of an episode that none follows.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obliquetd.errors import InputError, LabelError
from obliquetd.mdp import MDP
from obliquetd.mdp.imports import shown
from obliquetd.mdp.start import start_distribution
from obliquetd.mdp.table import Table

__all__ = ["NOBODY", "OVER", "Choices", "Places", "Start", "alike", "members", "places_of"]

OVER = ("states", "pairs")
"""What a problem may be over."""

NOBODY = -1
"""The index of the state in which nobody chose."""

Indices = npt.NDArray[np.intp]


class Start(NamedTuple):
    """Where episodes begin: the chances of labels, parsed and not zero.

    ``chooses`` says that the labels are states whose first action is yet to be chosen.
    """

    chances: dict[Hashable, Any]
    chooses: bool


class Choices(NamedTuple):
    """Who chose the rows of a table: the indices of a state (or NOBODY) and of an action there.

    ``ended`` marks rows that a learner is told nobody chose.
    """

    state: Indices
    action: Indices
    ended: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Places:
    """The labels of all rows, and the outcomes between them.

    Attributes
    ----------
    mdp : MDP
    labels : tuple of n hashable
    state : (n,)
        The index of the state of each.
    action : (n,) or None
        The index of the action of each pair, NOBODY where it has none; None over states.
    table : Table
        The outcomes, before episodes begin anew; ``table.action`` is the one chosen, or over
        pairs the number of actions where none was.
    """

    mdp: MDP
    labels: tuple[Hashable, ...]
    state: Indices
    action: Indices | None
    table: Table

    def __reduce__(self) -> tuple[Any, ...]:
        return places_of, (self.mdp, self.over)

    @property
    def late(self) -> bool:
        """Whether the action of a row is chosen in the place that is reached."""
        return self.action is not None

    @property
    def over(self) -> str:
        """One of :data:`OVER`."""
        return OVER[self.late]

    @property
    def noun(self) -> str:
        """What one label is, for people."""
        return self.over[:-1]

    @cached_property
    def index(self) -> Mapping[Hashable, int]:
        """Position of each label."""
        return MappingProxyType({x: i for i, x in enumerate(self.labels)})

    @cached_property
    def terminal(self) -> tuple[int, ...]:
        """The indices of the labels at which episodes end."""
        ends = [self.mdp.index[s] for s in self.mdp.terminal]
        return tuple(np.flatnonzero(np.isin(self.state, ends)).tolist())

    @cached_property
    def spare(self) -> frozenset[Hashable]:
        """Labels that features and weights may leave out, which stands for zeros."""
        return frozenset() if not self.late else frozenset(self._names(self.terminal))

    def _names(self, indices: Any) -> list[Hashable]:
        return [self.labels[i] for i in indices]

    @property
    def choice_of_pair(self) -> tuple[Indices, Indices]:
        """The state (or NOBODY) and the action of each pair."""
        assert self.action is not None
        return np.where(self.action == NOBODY, NOBODY, self.state), self.action

    def require(self, label: Any, who: str) -> int:
        """The position of a label.

        Raises
        ------
        LabelError
            Where there is none.
        """
        if label in self.index:
            return self.index[label]
        if not self.late:
            raise LabelError(f"{who} the state {label!r}, which the MDP does not have")
        if label in self.mdp.index:
            pairs = [x for x, s in zip(self.labels, self.state, strict=True)
                     if s == self.mdp.index[label]]  # fmt: skip
            raise LabelError(
                f"{who} the state {label!r}, but action values have a row for each pair "
                f"(state, action); those of this state are {shown(pairs)}"
            )
        if isinstance(label, tuple) and len(label) == 2 and label[0] in self.mdp.index:
            raise LabelError(
                f"{who} the pair {label!r}, but state {label[0]!r} offers "
                f"{list(self.mdp.offered[label[0]]) or 'no action, and its one pair has None for it'}"
            )
        raise LabelError(
            f"{who} {label!r}, which is no pair (state, action) of the MDP; its pairs are "
            f"{shown(self.labels)}"
        )

    def filled(self, values: Any, empty: Any) -> list[Any]:
        """A list in the order of the labels, with ``empty`` for those that were left out."""
        listed = list(values)
        if not self.spare or len(listed) != len(self.labels) - len(self.spare):
            return listed
        rest = iter(listed)
        return [empty if x in self.spare else next(rest) for x in self.labels]

    def read_start(self, start: Any) -> Start:
        """A checked distribution over states, or over pairs.

        Raises
        ------
        InputError, LabelError, NumberError, ProbabilityError
        """
        mdp = self.mdp
        if self.late and isinstance(start, Mapping):
            pairs = [x in self.index and x not in mdp.index for x in start]
            if any(pairs) and not all(pairs):
                raise InputError(
                    "start names both states and pairs; expected {state: probability}, where the "
                    "behaviour takes the first action, or {(state, action): probability}"
                )
            if any(pairs):
                ends = self._names(self.terminal)
                return Start(start_distribution(start, self.labels, ends), chooses=False)
        chances = start_distribution(start, mdp.states, mdp.terminal)
        return Start(chances, chooses=self.late)

    def beginnings(self, start: Start) -> dict[int, Any]:
        """The chance of each place to begin an episode, or of its state where an action is chosen."""
        if not start.chooses:
            return {self.index[x]: p for x, p in start.chances.items()}
        chance = {self.mdp.index[s]: p for s, p in start.chances.items()}
        return {i: chance[s] for i, s in enumerate(self.state.tolist()) if s in chance}

    def closed(self, start: Start | None) -> tuple[Table, Choices]:
        """The outcomes with a row for every place, and who chose them."""
        begin = None if start is None else self.beginnings(start)
        table = self.table.closed(self.terminal, begin)
        if self.action is None and not self.terminal:
            return table, Choices(table.state, table.action, np.zeros(len(table), dtype=bool))
        over = np.isin(table.state, self.terminal)
        if self.action is None:
            state = np.where(over, NOBODY, table.state)
            return table, Choices(state, table.action, over)
        ended = over | (table.action == len(self.mdp.actions))
        action = self.action[table.next_state]
        nobody = (action == NOBODY) | (ended & (start is None or not start.chooses))
        return table, Choices(np.where(nobody, NOBODY, self.state[table.next_state]), action, ended)


def places_of(mdp: MDP, over: str) -> Places:
    """The states of an MDP, or its pairs in the order of states and of actions.

    Raises
    ------
    InputError
        For a word that is not in :data:`OVER`.
    """
    if over not in OVER:
        raise InputError(f"over is {over!r}; expected 'states' or 'pairs'")
    if over == "states":
        every = np.arange(len(mdp.states), dtype=np.intp)
        return Places(mdp, mdp.states, every, None, mdp.table)
    number = {a: k for k, a in enumerate(mdp.actions)}
    offered = [[number[a] for a in mdp.offered[s]] or [NOBODY] for s in mdp.states]
    state = np.repeat(np.arange(len(offered), dtype=np.intp), [len(row) for row in offered])
    action = np.array([k for row in offered for k in row], dtype=np.intp)
    names = (*mdp.actions, None)  # NOBODY is the last
    labels = tuple((mdp.states[s], names[k]) for s, k in zip(state, action, strict=True))
    return Places(mdp, labels, state, action, _between_pairs(mdp, state, action))


def _between_pairs(mdp: MDP, state: Indices, action: Indices) -> Table:
    """The outcomes (s, a) -> (s', a'): each s -> s' for each a' at s', in canonical order."""
    table, none = mdp.table, len(mdp.actions)
    at = np.zeros((len(mdp.states), none + 1), dtype=np.intp)
    at[state, action] = np.arange(len(state))
    row, after = members(state, table.next_state)
    before = at[table.state, table.action][row]
    chosen = np.where(action[after] == NOBODY, none, action[after])
    order = np.lexsort((after, chosen, before))
    row = row[order]
    return Table(before[order], chosen[order], after[order], *(c[row] for c in table.numbers))


def members(state: Indices, wanted: Indices) -> tuple[Indices, Indices]:
    """Each place of each wanted state: the position in ``wanted``, and the place.

    ``state`` is the state of each place, in ascending order.

    Examples
    --------
    >>> members(np.array([0, 0, 1]), np.array([1, 0]))
    (array([0, 1, 1]), array([2, 0, 1]))
    """
    first = np.searchsorted(state, wanted)
    count = np.searchsorted(state, wanted, side="right") - first
    position = np.repeat(np.arange(len(wanted)), count)
    within = np.arange(len(position)) - np.repeat(np.cumsum(count) - count, count)
    return position, first[position] + within


def alike(numbers: Indices) -> tuple[Indices, Indices]:
    """A place of each distinct number, its first, and which of these numbers each is.

    Examples
    --------
    >>> alike(np.array([7, 3, 7]))
    (array([1, 0]), array([1, 0, 1]))
    """
    if len(numbers) and (numbers == numbers[0]).all():
        return np.zeros(1, dtype=np.intp), np.zeros(len(numbers), dtype=np.intp)
    _, first, each = np.unique(numbers, return_index=True, return_inverse=True)
    return first, each
