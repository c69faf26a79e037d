"""The outcomes of a problem, by columns in one arithmetic; see :mod:`obliquetd.problem.places`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from obliquetd.algebra import Arithmetic, Matrix
from obliquetd.mdp import Policy
from obliquetd.mdp.table import run_starts
from obliquetd.problem.inputs import Inputs
from obliquetd.problem.places import NOBODY, Start, alike, members

__all__ = ["Rows"]


class Rows:
    """One row an outcome: places, chances, reward, discounts, and both policies; abstract.

    :class:`obliquetd.problem.native.Operators` makes matrices of them. ``row_discount`` is gamma
    times ``own_discount``.
    """

    def __init__(self, inputs: Inputs, arithmetic: Arithmetic | None = None) -> None:
        self.inputs, self.mdp, self.places = inputs, inputs.mdp, inputs.places
        self.arithmetic = inputs.arithmetic if arithmetic is None else arithmetic
        self.labels, self.noun = self.places.labels, self.places.noun
        self.arithmetic.check_size(len(self.labels))
        self.terminal = self.places.terminal
        self.discount = self.arithmetic.scalar(inputs.discount)
        table, self.choices = self.places.closed(inputs.start)
        self.state, self.next_state = table.state, table.next_state
        self._table = table

    @cached_property
    def probability(self) -> Any:
        """p of each row, given its state and action."""
        return self.arithmetic.scalars(self._table.probability)

    @cached_property
    def reward(self) -> Any:
        """The reward of each row."""
        return self.arithmetic.scalars(self._table.reward)

    @cached_property
    def own_discount(self) -> Any:
        """The discount of each row, before gamma."""
        return self.arithmetic.scalars(self._table.discount)

    @cached_property
    def row_discount(self) -> Any:
        """The discount of each row."""
        return self.arithmetic.multiples(self.own_discount, self.discount)

    @cached_property
    def pi(self) -> Any:
        """pi(a | s) of each row."""
        return self._chances(
            self.inputs.target, self.choices.state, self.choices.action, self._starts
        )

    @cached_property
    def mu(self) -> Any:
        """mu(a | s) of each row; the same object as :attr:`pi` on-policy."""
        if self.inputs.behavior is None:
            return self.pi
        return self._chances(
            self.inputs.behavior, self.choices.state, self.choices.action, self._starts
        )

    @cached_property
    def _starts(self) -> Any:
        """Where the outcomes of each choice begin, which stand together."""
        state, action = self.choices.state, self.choices.action
        return self._table.starts if state is self._table.state else run_starts(state, action)

    def _chances(self, policy: Policy, state: Any, action: Any, starts: Any = None) -> Any:
        """pi(a | s) for arrays of states and actions; 1 where nobody chose."""
        wide, count = 1 + len(self.mdp.actions), len(state)
        if starts is None:
            starts = run_starts(state, action)
        state, action = state[starts], action[starts]
        # states share rows: of each row and action the chance is read once
        numbers = policy.row_numbers(self.mdp.states)
        nobody = 1 + numbers.max(initial=-1)
        row = np.where(state == NOBODY, nobody, numbers[state])
        first, each = alike((1 + row) * wide + 1 + action)
        out = np.empty(len(first), dtype=float if self.arithmetic.kind == "float" else object)
        out[:] = [self._chance(policy, int(state[k]), int(row[k]), int(action[k])) for k in first]
        if len(first) == 1:
            return np.broadcast_to(out, count)
        return np.repeat(out[each], np.diff(starts, append=count))

    def _chance(self, policy: Policy, state: int, row: int, action: int) -> Any:
        if state == NOBODY:
            return self.arithmetic.one
        p = policy.numbered(row).get(self.mdp.actions[action])
        return self.arithmetic.zero if p is None else self.arithmetic.scalar(p)

    def _told(self, chances: Any) -> Any:
        if not self.choices.ended.any():
            return chances
        return np.where(self.choices.ended, self.arithmetic.one, chances)

    @cached_property
    def told_pi(self) -> Any:
        """pi of each row as a learner is told it: 1 after the end of an episode."""
        return self._told(self.pi)

    @cached_property
    def told_mu(self) -> Any:
        """mu of each row as a learner is told it."""
        return self.told_pi if self.mu is self.pi else self._told(self.mu)

    @cached_property
    def start(self) -> dict[int, Any] | None:
        """The chance of each place to begin an episode of the behaviour."""
        return None if self.inputs.start is None else self.chances_of(self.inputs.start)

    def chances_of(self, start: Start) -> dict[int, Any]:
        """The chance of each place to begin an episode, where the behaviour takes a first action."""
        places, behavior = self.places, self.inputs.behavior or self.inputs.target
        found = {i: self.arithmetic.scalar(p) for i, p in places.beginnings(start).items()}
        if start.chooses and places.action is not None:
            taken = self._chances(behavior, *places.choice_of_pair)
            found = {i: p * taken[i] for i, p in found.items()}
        return {i: found[i] for i in sorted(found) if found[i]}

    @property
    def n(self) -> int:
        """The number of places: of states, or of pairs."""
        return len(self.labels)

    def square(self, *factors: Any) -> Matrix:
        """The sums of a value of each row of the table over its (s, s'), as a matrix (n, n).

        The value is the product of the factors.
        """
        shape, places = (self.n, self.n), (self.state, self.next_state)
        return self.arithmetic.assemble_products(shape, *places, factors)

    def by_state(self, *factors: Any) -> Matrix:
        """The sums over each state's rows of the table, as a column."""
        at = np.zeros(len(self.state), dtype=np.intp)
        return self.arithmetic.assemble_products((self.n, 1), self.state, at, factors)

    @cached_property
    def neighbours(self) -> Matrix:
        """Over pairs, the chance pi(a | s) of each pair of a state, in the row of every one of it."""
        places = self.places
        chance = self._chances(self.inputs.target, *places.choice_of_pair)
        i, j = members(places.state, places.state)
        return self.arithmetic.assemble((self.n, self.n), i, j, chance[j])

    def names(self, indices: Sequence[int]) -> list[Hashable]:
        """Labels of states."""
        return [self.labels[i] for i in indices]
