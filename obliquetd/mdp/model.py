"""Finite Markov decision processes."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sympy as sp

from obliquetd.algebra import Kind, number_text, public_number, serial_number
from obliquetd.display import HtmlTable
from obliquetd.errors import InputError, LabelError
from obliquetd.frames import Tabular
from obliquetd.mdp import imports
from obliquetd.mdp.probabilities import check_table, normalized, parse_tolerance
from obliquetd.mdp.sources import Sources
from obliquetd.mdp.start import start_distribution
from obliquetd.mdp.substitution import Entry, check_substitution, substitution, table_entries
from obliquetd.mdp.table import Table

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["MDP", "Transition"]


class Transition(NamedTuple):
    """One outcome, in labels and public numbers."""

    state: Any
    action: Any
    next_state: Any
    probability: Any
    reward: Any
    discount: Any


class MDP(Sources, HtmlTable, Tabular):
    """A finite MDP: states, actions, and a table of outcomes.

    Build one with :meth:`from_transitions`, :meth:`from_arrays`, :meth:`from_graph`,
    :meth:`from_gymnasium` or :meth:`from_json`. The discount of a row is its own
    (1 unless given; 0 is a termination) and is multiplied by the discount of the
    problem. A state with no outgoing row is terminal: its value is 0.

    Attributes
    ----------
    states, actions : tuple of hashable
        Rows of every matrix follow ``states``: in the order in which their own rows begin,
        then those that are only arrived at. Actions in order of first appearance.
    table : Table
        The canonical transition table.

    Examples
    --------
    >>> mdp = MDP.from_transitions([("s", "go", "t", 1, 2), ("t", "stay", "t", 1, 0)])
    >>> mdp.states, mdp.actions
    (('s', 't'), ('go', 'stay'))
    >>> MDP.from_graph(mdp.graph) == mdp
    True
    """

    def __init__(
        self,
        states: Sequence[Hashable],
        actions: Sequence[Hashable],
        table: Table,
        *,
        normalize: bool = False,
        tolerance: Any = None,
    ) -> None:
        if not states:
            raise InputError("the model has no state; expected at least one transition")
        self.states, self.actions = tuple(states), tuple(actions)
        limit = parse_tolerance(tolerance)
        divide = normalize or limit is not None
        self.table = normalized(table, limit) if divide else table
        check_table(self.table, self.states, self.actions, limit)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: labels as they are, exact numbers as text, floats as floats."""
        return {
            "states": list(self.states),
            "actions": list(self.actions),
            "transitions": [
                [*row[:3], *(serial_number(x) for x in row[3:])] for row in self.transitions
            ],
        }

    def to_json(self) -> str:
        """Strict JSON; labels must be text, numbers, or tuples of those."""
        data = self.to_dict()
        imports.check_json_labels((*self.states, *self.actions))
        return json.dumps(data, allow_nan=False)

    @property
    def transitions(self) -> Iterator[Transition]:
        """The rows in canonical order, in labels and public numbers."""
        for s, a, u, *numbers in self.table.rows():
            yield Transition(
                self.states[s], self.actions[a], self.states[u], *map(public_number, numbers)
            )

    @property
    def graph(self) -> nx.MultiDiGraph[Any]:
        """The MDP as a networkx MultiDiGraph of your own, built anew each time.

        Edge key = action; attributes ``probability``, ``reward``, ``discount``. Where one
        action has several outcomes between the same two states, the further ones
        have a key of their own and the attribute ``action``.
        """
        return imports.graph_from_rows(self.transitions, self.states, self.actions)

    @cached_property
    def index(self) -> Mapping[Hashable, int]:
        """Position of each state."""
        return MappingProxyType({s: i for i, s in enumerate(self.states)})

    @cached_property
    def offers(self) -> tuple[list[tuple[Hashable, ...]], npt.NDArray[np.intp]]:
        """Every choice of actions that some state offers, and the number of that of each state."""
        begin = self.table.starts  # in canonical order, so by states and then by actions
        actions = self.table.action[begin]
        counts = np.bincount(self.table.state[begin], minlength=len(self.states))
        if len(counts) and counts.min() == counts.max():
            table = actions.reshape(len(counts), -1)
            if (table == table[0]).all():
                choices, each = table[:1], np.zeros(len(counts), dtype=np.intp)
            else:
                choices, each = np.unique(table, axis=0, return_inverse=True)
            named = [tuple(self.actions[a] for a in row) for row in choices.tolist()]
            return named, _fixed(each.ravel())
        ends = np.cumsum(counts)
        parts = zip((ends - counts).tolist(), ends.tolist(), strict=True)
        known: dict[bytes, int] = {}
        numbers = [known.setdefault(actions[i:j].tobytes(), len(known)) for i, j in parts]
        rows = [np.frombuffer(key, dtype=actions.dtype).tolist() for key in known]
        return [tuple(self.actions[a] for a in row) for row in rows], _fixed(
            np.array(numbers, dtype=np.intp)
        )

    @cached_property
    def offered(self) -> Mapping[Hashable, tuple[Hashable, ...]]:
        """The actions that each state offers, in the order of ``actions``."""
        choices, each = self.offers  # states that offer the same share a tuple
        found = map(choices.__getitem__, each.tolist())
        return MappingProxyType(dict(zip(self.states, found, strict=True)))

    @cached_property
    def terminal(self) -> tuple[Hashable, ...]:
        """The states without an outgoing row."""
        choices, each = self.offers
        none = [k for k, offered in enumerate(choices) if not offered]
        return tuple(self.states[i] for i in np.flatnonzero(np.isin(each, none)).tolist())

    @property
    def kind(self) -> set[Kind]:
        """The kinds of number that occur."""
        return self.table.kind

    @property
    def symbols(self) -> set[sp.Symbol]:
        """The free symbols of all numbers."""
        return {x for v in self.table.formulas if isinstance(v, sp.Basic) for x in v.free_symbols}

    def subs(self, values: Mapping[Any, Any]) -> MDP:
        """Numbers for symbols (by symbol or by name), put in at once and checked anew.

        Raises
        ------
        NumberError, ProbabilityError, DiscountError
            Where a formula divides by zero or leaves its range; names every such entry.
        """
        check_substitution(self.entries(), values)
        return MDP(self.states, self.actions, self.table.replace_numbers(substitution(values)))

    def entries(self) -> Iterator[Entry]:
        """Every formula of the table with its place, in the package's own form."""
        return table_entries(self.table, self.states, self.actions)

    def to_exact(self, *, normalize: bool = False) -> MDP:
        """Each float as the shortest decimal that prints it.

        Where the decimals of a (state, action) miss one by rounding, the simplest fractions
        nearby that do not: three of 0.3333333333333333 are thirds.

        Raises
        ------
        ProbabilityError
            Where exact numbers beside the floats leave a (state, action) off one, unless
            ``normalize`` is set.
        """
        return MDP(self.states, self.actions, self.table.exact(), normalize=normalize)

    def with_restarts(self, start: Mapping[Any, Any]) -> MDP:
        """Close the chain: every move into a terminal state restarts instead.

        The move keeps its reward and gets discount 0; the next state is drawn from
        ``start``. The terminal states leave the model, so the stationary
        distribution of the result is the episodic weighting: expected visits an
        episode, normalised. ``PolicyEvaluation(start=...)`` does the same and keeps the
        terminal states, so that policies and features stay as they are.

        Parameters
        ----------
        start : mapping of state to number
            The initial distribution; no terminal state in it.

        Examples
        --------
        >>> chain = MDP.from_transitions([("a", "go", "b", 1, 0), ("b", "go", "end", 1, 1)])
        >>> [tuple(row) for row in chain.with_restarts({"a": 1}).transitions][1]
        ('b', 'go', 'a', 1, 1, 0)
        """
        weights = start_distribution(start, self.states, self.terminal)
        ends = [self.index[s] for s in self.terminal]
        table = self.table.closed(ends, {self.index[s]: p for s, p in weights.items()})
        kept = [s for s in self.states if self.offered[s]]
        return MDP(kept, self.actions, table.without(ends))

    def require_state(self, state: Any) -> int:
        """The position of a state; LabelError where there is none."""
        try:
            return self.index[state]
        except (KeyError, TypeError):
            raise LabelError(
                f"the MDP has no state {state!r}; its states are {imports.shown(self.states)}"
            ) from None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MDP)
            and self.states == other.states
            and self.actions == other.actions
            and self.table.same_as(other.table)
        )

    def __hash__(self) -> int:
        return hash((self.states, self.actions))

    def __reduce__(self) -> tuple[Any, ...]:
        return MDP, (self.states, self.actions, self.table)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row an outcome, with the fields of :class:`Transition`.

        Examples
        --------
        >>> MDP.from_transitions([("s", "go", "s", 1, 2)]).to_frame().loc[0].to_list()
        ['s', 'go', 's', 1, 2, 1]
        """
        return (row._asdict() for row in self.transitions)

    def _table(self) -> tuple[str, Sequence[Any], Iterable[Sequence[Any]]]:
        rows = ([str(x) for x in row[:3]] + list(row[3:]) for row in self.transitions)
        return repr(self), Transition._fields, rows

    def __repr__(self) -> str:
        return (
            f"MDP({len(self.states)} states, {len(self.actions)} actions, "
            f"{len(self.table)} transitions, {'/'.join(sorted(self.kind))})"
        )

    def __str__(self) -> str:
        lines = [repr(self)]
        lines += [
            f"  {s!r} --{a!r}--> {t!r}  p = {number_text(p)}, r = {number_text(r)}"
            + ("" if d == 1 else f", discount {number_text(d)}")
            for s, a, t, p, r, d in list(self.transitions)[:12]
        ]
        return "\n".join(lines) + ("\n  ..." if len(self.table) > 12 else "")


def _fixed(array: Any) -> Any:
    array.flags.writeable = False
    return array
