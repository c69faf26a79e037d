"""Where MDPs come from: rows, arrays, graphs, Gymnasium, JSON."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from obliquetd.mdp import imports
from obliquetd.mdp.arrays import table_from_arrays
from obliquetd.mdp.environments import rows_from_gymnasium
from obliquetd.mdp.table import Table

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Sources"]


class Sources(ABC):
    """The ways to build an MDP; :class:`obliquetd.MDP` checks what they make."""

    @abstractmethod
    def __init__(
        self, states: Sequence[Hashable], actions: Sequence[Hashable], table: Table, **checks: Any
    ) -> None: ...

    @classmethod
    def from_transitions(
        cls,
        rows: Iterable[Sequence[Any]],
        *,
        states: Sequence[Hashable] | None = None,
        actions: Sequence[Hashable] | None = None,
        terminal: Iterable[Hashable] = (),
        normalize: bool = False,
        tolerance: Any = None,
    ) -> Self:
        """From rows ``(state, action, next_state, probability, reward[, discount])``.

        Parameters
        ----------
        rows : iterable of sequences of 5 or 6
            Labels are any hashable. Outcomes that agree in all but probability are added.
        states, actions : sequence of hashable, optional
            An order of your own. The default: states in the order in which their own rows
            begin, then those that are only arrived at; actions as they first appear.
        terminal : iterable of hashable
            States to be taken as terminal: a self-loop without reward is taken out,
            anything else that leaves them is an error.
        normalize : bool
            Divide each (state, action) by its sum. Never done unless asked for.
        tolerance : number, optional
            Divide by their sum those rows only that miss one by at most this, as rows of
            rounded decimals do; a row further off is an error.

        Raises
        ------
        ProbabilityError, NumberError, DiscountError, LabelError, InputError

        Examples
        --------
        >>> from obliquetd.mdp import MDP
        >>> MDP.from_transitions([(0, "a", 3, 1, 0), (1, "a", 0, 1, 0)]).states
        (0, 1, 3)
        """
        parsed = imports.parse_rows(rows)
        found = itertools.chain((r[0] for r in parsed), (r[2] for r in parsed))
        table_states = imports.label_order(found, states)
        table_actions = imports.label_order((r[1] for r in parsed), actions, "action")
        kept = imports.drop_terminal_loops(parsed, terminal, table_states)
        index = {s: i for i, s in enumerate(table_states)}
        action_index = {a: i for i, a in enumerate(table_actions)}
        table = Table.from_rows(
            (index[s], action_index[a], index[t], p, r, d) for s, a, t, p, r, d in kept
        )
        return cls(table_states, table_actions, table, normalize=normalize, tolerance=tolerance)

    @classmethod
    def from_arrays(
        cls,
        P: Any,
        R: Any,
        *,
        states: Sequence[Hashable] | None = None,
        actions: Sequence[Hashable] | None = None,
        discount: Any = None,
        normalize: bool = False,
        tolerance: Any = None,
    ) -> Self:
        """From arrays, as other MDP toolboxes hold them.

        Parameters
        ----------
        P : array (A, S, S), or list of A scipy sparse (S, S) matrices
            ``P[a][s, t]`` is the probability of s to t under a. A row of zeros means
            that the state does not offer the action. Object arrays may hold
            fractions, strings or symbols. Sparse input is never made dense.
        R : array (S,), (S, A) or (A, S, S), or list of A sparse (S, S)
            Expected reward by state, by state and action, or by transition.
        states, actions : sequence, optional
            Labels; the default is 0, 1, 2, ...
        discount : array (A, S, S), optional
            Each transition's own discount; 1 where not given.
        normalize, tolerance
            As for :meth:`from_transitions`: rows of float32 miss one by some 1e-8.

        Raises
        ------
        InputError
            Where the shapes do not fit; the message gives them.

        Examples
        --------
        >>> from obliquetd.mdp import MDP
        >>> mdp = MDP.from_arrays([[["1/2", "1/2"], [0, 1]]], [1, 0])
        >>> [tuple(row) for row in mdp.transitions][0]
        (0, 0, 0, 1/2, 1, 1)
        """
        table, n, k = table_from_arrays(P, R, discount)
        labels = imports.labels_for(n, states, "states"), imports.labels_for(k, actions, "actions")
        return cls(*labels, table, normalize=normalize, tolerance=tolerance)

    @classmethod
    def from_graph(
        cls, graph: nx.MultiDiGraph[Any], *, normalize: bool = False, tolerance: Any = None
    ) -> Self:
        """From a networkx MultiDiGraph whose edge keys are the actions.

        Edge attributes: ``probability``, ``reward`` and optionally ``discount``. Parallel edges of one action between the same two states need distinct keys;
        an edge attribute ``action`` then names the action. Nodes without outgoing
        edges are terminal.

        Raises
        ------
        InputError
            Where the graph is no MultiDiGraph, or an edge lacks an attribute.
        """
        rows, states, actions = imports.rows_from_graph(graph)
        return cls.from_transitions(
            rows, states=states, actions=actions, normalize=normalize, tolerance=tolerance
        )

    @classmethod
    def from_gymnasium(cls, env: Any, *, normalize: bool = False, tolerance: Any = None) -> Self:
        """From a Gymnasium toy-text environment's table ``env.unwrapped.P``.

        A row marked ``done`` restarts from the environment's initial distribution
        with discount 0, so that the chain goes on and a stationary distribution
        exists; outcomes listed twice are added. Numbers stay floats; ask the problem
        for ``arithmetic="exact"`` to read 0.333... as 1/3. The table may be of mappings, lists
        or pairs (state, action), its outcomes without ``done`` where nothing ever ends.

        Raises
        ------
        InputError
            Where the environment has no table or no initial distribution, or does what the table
            does not say: wrappers that change rewards, a fickle passenger, a step of its own.
        """
        rows, states, actions = rows_from_gymnasium(env)
        return cls.from_transitions(
            rows, states=states, actions=actions, normalize=normalize, tolerance=tolerance
        )

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], *, normalize: bool = False, tolerance: Any = None
    ) -> Self:
        """From what :meth:`to_dict` returned."""
        return cls.from_transitions(
            data["transitions"], states=data["states"], actions=data["actions"],
            normalize=normalize, tolerance=tolerance,
        )  # fmt: skip

    @classmethod
    def from_json(cls, text: str, *, normalize: bool = False, tolerance: Any = None) -> Self:
        """From the JSON text that :meth:`to_json` returned; exact numbers stay exact."""
        data = imports.table_from_json(text)
        return cls.from_dict(data, normalize=normalize, tolerance=tolerance)
