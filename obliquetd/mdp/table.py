"""The one canonical form of an MDP inside: a transition table by columns.

A row is an outcome: state, action, next state (as indices), probability, reward
and discount. Rows are sorted by state, action and next state. Two rows of one
(state, action, next state) stay apart where reward or discount differ, because
the TD error they cause differs; rows that agree in all but probability are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from obliquetd.algebra import (
    Kind,
    exact_distribution,
    exactify,
    join_kinds,
    kind_of,
    parse_number,
    public_number,
    simplest_fraction,
)

__all__ = ["Column", "Table", "map_column", "outcome_sum", "product"]

Column = npt.NDArray[Any]
"""float64 where every entry is a float, else an object array of parsed numbers."""


def column(values: Sequence[Any]) -> Column:
    """A column from numbers that ``parse_number`` returned."""
    if values and all(isinstance(v, float) for v in values):
        return np.array(values, dtype=float)
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out


def constant_column(value: Any, length: int) -> Column:
    """A column of one parsed number throughout, which takes the memory of one."""
    out = np.empty((), dtype=object)
    out[()] = value
    return np.broadcast_to(out, (length,))


def distinct(values: Column) -> Column:
    """The column, or its first entry alone where it is a :func:`constant_column`."""
    return values[:1] if values.strides == (0,) else values


def run_starts(*columns: Column) -> npt.NDArray[np.intp]:
    """Where the rows begin that are not as the row before them in all of these columns.

    Examples
    --------
    >>> run_starts(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 6]))
    array([0, 2, 3])
    """
    jumps = np.ones(len(columns[0]), dtype=bool)
    jumps[1:] = False
    for values in columns:
        if values.strides != (0,):
            jumps[1:] |= values[1:] != values[:-1]
    return np.flatnonzero(jumps)


def map_column(function: Callable[[Any], Any], values: Column) -> Column:
    """``function`` over a column, each distinct object once where that is cheap."""
    return column([function(v) for v in values.tolist()])


def column_kinds(values: Column) -> set[Kind]:
    """The kinds of number in a column."""
    if values.dtype == float:
        return {"float"}
    # a number's kind is that of its type, of which there are few
    listed = distinct(values).tolist()
    return {kind_of(v) for v in dict(zip(map(type, listed), listed, strict=True)).values()}


def outcome_sum(values: Iterable[Any]) -> Any:
    """The sum, where floats are added as the fractions they stand for and rounded once.

    Adding three stored thirds one after the other would leave 0.9999999999999999.
    """
    listed = list(values)
    if len(listed) > 1 and all(isinstance(v, float) for v in listed):
        return float(sum((simplest_fraction(v) for v in listed), Fraction(0)))
    total = listed[0]
    for value in listed[1:]:
        total = plus(total, value)
    return total


def plus(a: Any, b: Any) -> Any:
    if isinstance(a, sp.Basic) or isinstance(b, sp.Basic):
        # A float beside a formula is the decimal that it prints: it could be nothing else.
        return parse_number(public_number(exactify(a)) + public_number(exactify(b)))
    if isinstance(a, float) or isinstance(b, float):
        return float(public_number(a)) + float(public_number(b))
    return a + b


def product(a: Any, b: Any) -> Any:
    """A product; two floats are multiplied as the fractions they stand for, rounded once."""
    if isinstance(a, float) and isinstance(b, float):
        return float(public_number(exactify(a) * exactify(b)))
    if isinstance(a, float | sp.Basic) or isinstance(b, float | sp.Basic):
        return parse_number(public_number(a) * public_number(b))
    return a * b


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, read-only; see the module's preface."""

    state: npt.NDArray[np.intp]
    action: npt.NDArray[np.intp]
    next_state: npt.NDArray[np.intp]
    probability: Column
    reward: Column
    discount: Column

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            getattr(self, name).flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, tuple(getattr(self, name) for name in self.__dataclass_fields__)

    @property
    def numbers(self) -> tuple[Column, Column, Column]:
        """The three columns that hold numbers."""
        return self.probability, self.reward, self.discount

    @cached_property
    def _kinds(self) -> tuple[set[Kind], ...]:
        return tuple(map(column_kinds, self.numbers))

    @property
    def kind(self) -> set[Kind]:
        """The kinds of number that occur."""
        return join_kinds(k for kinds in self._kinds for k in kinds)

    @property
    def formulas(self) -> list[Any]:
        """The numbers of the columns in which a formula occurs."""
        return [
            v
            for c, kinds in zip(self.numbers, self._kinds, strict=True)
            if "symbolic" in kinds
            for v in distinct(c).tolist()
        ]

    def __len__(self) -> int:
        return len(self.state)

    def rows(self) -> Iterator[tuple[int, int, int, Any, Any, Any]]:
        """The rows as tuples, in parsed numbers."""
        return zip(
            self.state.tolist(), self.action.tolist(), self.next_state.tolist(),
            *(c.tolist() for c in self.numbers), strict=True,
        )  # fmt: skip

    def same_as(self, other: Table) -> bool:
        """Equality row by row; floats to the bit, formulas by structure."""
        return len(self) == len(other) and all(
            np.array_equal(getattr(self, f), getattr(other, f)) for f in self.__dataclass_fields__
        )

    def replace_numbers(self, change: Callable[[Any], Any]) -> Table:
        """The table with ``change`` applied to every number; zero probabilities dropped."""
        changed = [map_column(change, c) for c in self.numbers]
        keep = np.array([bool(p != 0) for p in changed[0].tolist()], dtype=bool)
        return Table(
            self.state[keep],
            self.action[keep],
            self.next_state[keep],
            *(c[keep] for c in changed),
        )

    def exact(self) -> Table:
        """Each float as the shortest decimal that prints it, row sums in mind."""
        probabilities: list[Any] = []
        for begin, end in self.pairs():
            probabilities += exact_distribution(self.probability[begin:end].tolist())
        return Table(
            self.state,
            self.action,
            self.next_state,
            column(probabilities),
            map_column(exactify, self.reward),
            map_column(exactify, self.discount),
        )

    def closed(self, ends: Sequence[int], start: Mapping[int, Any] | None) -> Table:
        """The table in which every state has a row: what becomes of an episode that ends.

        Without a start, a terminal state goes to itself with reward 0 and discount 0 (the
        absorbing state of Sutton and Barto, Section 3.4), and a move into it has discount 0.
        With one, the process begins anew: a move into a terminal state keeps its reward,
        has discount 0 and leads to a state drawn from ``start``; so does the terminal state
        itself, with reward 0.

        Parameters
        ----------
        ends : sequence of int
            The states without a row.
        start : mapping of int to parsed number, or None
        """
        if not ends:
            return self
        zero = parse_number(0)
        targets = None if start is None else list(start.items())
        rows: list[tuple[int, int, int, Any, Any, Any]] = []
        into = set(ends)
        for s, a, t, p, r, d in self.rows():
            if t not in into:
                rows.append((s, a, t, p, r, d))
            elif targets is None:
                rows.append((s, a, t, p, r, zero))
            else:
                rows += [(s, a, u, product(p, q), r, zero) for u, q in targets]
        for end in ends:
            rows += [(end, 0, u, q, zero, zero) for u, q in targets or [(end, parse_number(1))]]
        return Table.from_rows(rows)

    def without(self, states: Sequence[int]) -> Table:
        """The table with some states' rows taken out and the others counted anew; none leads there."""
        keep = ~np.isin(self.state, states)
        old = np.setdiff1d(np.arange(1 + max(self.state.max(), self.next_state.max())), states)
        columns = (getattr(self, name)[keep] for name in self.__dataclass_fields__)
        state, action, next_state, *numbers = columns
        return Table(
            np.searchsorted(old, state), action, np.searchsorted(old, next_state), *numbers
        )

    def pairs(self) -> list[tuple[int, int]]:
        """Where the rows of each (state, action) begin and end."""
        starts = self.starts.tolist()
        return list(zip(starts, [*starts[1:], len(self)], strict=True)) if starts else []

    @cached_property
    def starts(self) -> npt.NDArray[np.intp]:
        """Where the rows of each (state, action) begin."""
        found = run_starts(self.state, self.action)
        found.flags.writeable = False
        return found

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[int, int, int, Any, Any, Any]]) -> Table:
        """Sort, merge outcomes that differ in probability alone, drop impossible ones."""
        cells: dict[tuple[int, int, int], list[tuple[Any, Any, Any]]] = {}
        for s, a, t, p, r, d in rows:
            outcome = (p, r, d)
            found = cells.get((s, a, t))
            if found is None:
                cells[s, a, t] = [outcome]
            else:
                found.append(outcome)
        kept = [
            (place, outcome)
            for place in sorted(cells)
            for outcome in (cells[place] if len(cells[place]) == 1 else _merged(cells[place]))
            if outcome[0] != 0
        ]
        index = np.array([place for place, _ in kept], dtype=np.intp).reshape(-1, 3)
        return cls(
            index[:, 0],
            index[:, 1],
            index[:, 2],
            *(column([outcome[k] for _, outcome in kept]) for k in range(3)),
        )


def _merged(outcomes: Sequence[tuple[Any, Any, Any]]) -> list[tuple[Any, Any, Any]]:
    """Outcomes of one state, action and next state; those of equal reward and discount are added."""
    sums: dict[tuple[Any, ...], list[Any]] = {}
    for p, r, d in outcomes:
        sums.setdefault((type(r), r, type(d), d), []).append(p)
    return [(outcome_sum(ps), key[1], key[3]) for key, ps in sums.items()]
