"""The Markov chain that a policy makes of an MDP: classes, periods, stationary distributions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from obliquetd.algebra import Matrix, geometric_sum, parse_number, stationary
from obliquetd.algebra.ways import Way
from obliquetd.errors import InputError, LabelError, StationaryError

__all__ = ["ChainClass", "MarkovChain", "discount_free_classes"]


@dataclass(frozen=True)
class ChainClass:
    """A communicating class.

    Attributes
    ----------
    states : tuple of hashable
    closed : bool
        Whether the chain cannot leave it (a recurrent class).
    period : int
        The greatest common divisor of the lengths of its cycles; 0 where it has none.
    """

    states: tuple[Hashable, ...]
    closed: bool
    period: int


SMALL: Way[int] = 64
"""States up to which a chain's graph is searched without scipy, which takes longer to load."""


def _mutually_reached(n: int, i: Any, j: Any) -> Any:
    """Numbers 0, 1, ... for the states, the same for those that reach each other by moves from i to j."""
    if len(i) == n * n:  # from everywhere to everywhere
        return np.zeros(n, dtype=np.intp)
    if n <= SMALL:
        reach = np.eye(n, dtype=bool)
        reach[i, j] = True
        for _ in range(n.bit_length()):
            reach = reach @ reach
        first = (reach & reach.T).argmax(axis=1)
        return np.unique(first, return_inverse=True)[1]
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(i), dtype=np.int8), (i, j)), shape=(n, n)).tocsr()
    return connected_components(graph, connection="strong")[1]


def _levels(n: int, i: Any, j: Any, first: Any) -> Any:
    """The number of moves to each state from the nearest first one; every state is reached from one."""
    if n <= SMALL:
        level = np.full(n, n + 1, dtype=np.int64)
        level[first] = 0
        for _ in range(n):
            np.minimum.at(level, j, level[i] + 1)
        return level
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    # A state above all, from which every class is entered: one search serves them all.
    up, down = np.r_[i, np.full(len(first), n)], np.r_[j, first]
    graph = coo_array((np.ones(len(up), dtype=np.int8), (up, down)), (n + 1, n + 1)).tocsr()
    order, before = breadth_first_order(graph, n)
    place, level = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    place[order] = np.arange(len(order))
    parents = place[before[order[1:]]]  # in order too: a search over breadth goes level by level
    begin, end, depth = 0, 1, 0
    while begin < end:
        level[order[begin:end]] = depth - 1
        begin, end, depth = end, 1 + int(np.searchsorted(parents, end)), depth + 1
    return level[:n]


class MarkovChain:
    """A finite Markov chain over labelled states.

    A transition whose probability is a formula counts as possible unless it is
    identically zero.

    Parameters
    ----------
    P : Matrix of shape (n, n)
        A stochastic matrix in any arithmetic.
    labels : sequence of n hashable
    """

    def __init__(self, P: Matrix, labels: Sequence[Hashable]) -> None:
        self.P, self.labels = P, tuple(labels)

    @cached_property
    def _moves(self) -> tuple[Any, Any]:
        """Where each possible move leaves from and leads to."""
        return self.P.support()

    @cached_property
    def _class_of(self) -> tuple[Any, Any]:
        """The class of each state, numbered by their first states, and which classes are closed."""
        i, j = self._moves
        n = len(self.labels)
        found = _mutually_reached(n, i, j)
        first, name = np.unique(found, return_index=True)[1], np.empty(n, dtype=np.intp)
        name[np.argsort(first)] = np.arange(len(first))
        label = name[found]
        closed = np.ones(len(first), dtype=bool)
        closed[label[i[label[i] != label[j]]]] = False
        return label, closed

    @cached_property
    def components(self) -> list[tuple[list[int], bool]]:
        """Sorted members and closedness of each class, in the order of the states."""
        label, closed = self._class_of
        order = np.argsort(label, kind="stable")
        ends = np.cumsum(np.bincount(label, minlength=len(closed)))[:-1]
        return [
            (members.tolist(), is_closed)
            for members, is_closed in zip(np.split(order, ends), closed.tolist(), strict=True)
        ]

    @cached_property
    def classes(self) -> tuple[ChainClass, ...]:
        """Every communicating class, in the order of the states."""
        return tuple(
            ChainClass(tuple(map(self.labels.__getitem__, members)), closed, period)
            for (members, closed), period in zip(
                self.components, self._periods.tolist(), strict=True
            )
        )

    @property
    def closed(self) -> list[list[int]]:
        """The sorted members of each closed class, by their numbers."""
        return [members for members, is_closed in self.components if is_closed]

    @property
    def recurrent(self) -> tuple[ChainClass, ...]:
        """The closed classes."""
        return tuple(c for c in self.classes if c.closed)

    @property
    def transient(self) -> tuple[Hashable, ...]:
        """The states outside every closed class."""
        return tuple(s for c in self.classes if not c.closed for s in c.states)

    @cached_property
    def _periods(self) -> Any:
        """Of each class the gcd of level(u) + 1 - level(v) over the moves u -> v inside it.

        The level is the number of moves from the first state of the class: one search over
        breadth for each class, in the graph of the moves that stay inside.
        """
        label, closed = self._class_of
        i, j = self._moves
        inside = label[i] == label[j]
        i, j = i[inside], j[inside]
        level = _levels(len(label), i, j, np.unique(label, return_index=True)[1])
        gaps = np.abs(level[i] + 1 - level[j])
        at = np.argsort(label[i], kind="stable")
        periods = np.zeros(len(closed), dtype=np.int64)
        if len(at):
            of, begin = np.unique(label[i][at], return_index=True)
            periods[of] = np.gcd.reduceat(gaps[at], begin)
        return periods

    @property
    def stationary_by_class(self) -> tuple[Any, ...]:
        """One stationary distribution for each closed class, zero elsewhere: public vectors."""
        return tuple(d.public_vector() for d in self.distributions)

    @cached_property
    def distributions(self) -> tuple[Matrix, ...]:
        """:attr:`stationary_by_class` in the package's own arithmetic, shape (n, 1)."""
        out = []
        n = len(self.labels)
        for members in self.closed:
            if len(members) == n:
                out.append(stationary(self.P))
                continue
            inside = stationary(self.P.submatrix(members, members))
            out.append(self.P.arithmetic.embedded(inside, members, n))
        return tuple(out)

    @property
    def stationary(self) -> Matrix:
        """The stationary distribution, where it is unique.

        Raises
        ------
        StationaryError
            Where the chain has several closed classes; lists them.
        """
        if len(self.closed) > 1:
            classes = [c.states for c in self.recurrent]
            shown = "; ".join(
                str(list(c[:8]))[:-1] + (", ...]" if len(c) > 8 else "]") for c in classes[:6]
            )
            raise StationaryError(
                f"the behaviour chain has {len(classes)} recurrent classes, {shown}"
                f"{' ...' if len(classes) > 6 else ''}; each has a stationary distribution and "
                "none is unique. Pass xi= (a weight for each state), one of problem.chain."
                "stationary_by_class, or, where episodes end, start= (where they begin anew)",
                classes,
            )
        return self.distributions[0]

    @cached_property
    def _transient(self) -> list[int]:
        return sorted(i for members, closed in self.components if not closed for i in members)

    def _until_absorbed(self, inside: list[list[Any]], right: Matrix, what: str) -> Matrix:
        """Rows of closed classes as given, those of transient states the sum over k of Q^k right.

        Q are the moves among transient states, and what its rows miss of one are those into closed classes.
        """
        states = self._transient
        if states:
            members = [i for m, closed in self.components if closed for i in m]
            ones = self.P.arithmetic.column([self.P.arithmetic.one] * len(members))
            Q, leak = self.P.submatrix(states, states), self.P.submatrix(states, members) @ ones
            solved = geometric_sum(Q, leak, right, what)
            for i, row in zip(states, solved.rows(), strict=True):
                inside[i] = row
        return self.P.arithmetic.matrix(inside, (len(inside), right.shape[1]))

    @cached_property
    def absorption(self) -> Matrix:
        """:attr:`absorption_probabilities` in the package's own arithmetic."""
        zero, one = self.P.arithmetic.zero, self.P.arithmetic.one
        classes = [members for members, closed in self.components if closed]
        rows = [[zero] * len(classes) for _ in self.labels]
        for k, members in enumerate(classes):
            for i in members:
                rows[i][k] = one
        entered = self.P @ self.P.arithmetic.matrix(rows, (len(rows), len(classes)))
        right = entered.submatrix(self._transient, range(len(classes)))
        return self._until_absorbed(rows, right, "the absorption equation")

    @property
    def absorption_probabilities(self) -> Any:
        """The chance to end in each closed class, (n, k), in the order of :attr:`recurrent`.

        With Q the moves among transient states and R(s, c) the chance to step from s into
        class c, the rows of transient states solve (I - Q) B = R (Kemeny and Snell 1960,
        Theorem 3.3.7).

        Examples
        --------
        >>> from obliquetd import PolicyEvaluation
        >>> ruin = PolicyEvaluation.from_chain(
        ...     [[1, 0, 0, 0], ["2/3", 0, "1/3", 0], [0, "2/3", 0, "1/3"], [0, 0, 0, 1]], [0] * 4)
        >>> ruin.chain.absorption_probabilities.row(1), ruin.chain.absorption_times.T
        (Matrix([[6/7, 1/7]]), Matrix([[0, 12/7, 15/7, 0]]))
        """
        return self.absorption.public()

    @property
    def absorption_times(self) -> Any:
        """The expected number of steps until a closed class is entered, n of them.

        0 inside closed classes; (I - Q) t = 1 elsewhere (Kemeny and Snell 1960, Theorem 3.3.5).
        """
        arithmetic = self.P.arithmetic
        right = arithmetic.column([arithmetic.one] * len(self._transient))
        inside = [[arithmetic.zero] for _ in self.labels]
        return self._until_absorbed(inside, right, "the equation of times").public_vector()

    def long_run_average(self, values: Any) -> Any:
        """The limit of the average of values(S_0), ..., values(S_t) from each state, n of them.

        Parameters
        ----------
        values : mapping of state to number, or vector of n
            A state that a mapping leaves out counts 0.

        Raises
        ------
        LabelError
            For a state that the chain does not have.
        InputError
            For another number of values.

        Examples
        --------
        >>> from obliquetd import PolicyEvaluation
        >>> coin = PolicyEvaluation.from_chain([[0, 1], ["1/2", "1/2"]], [0, 0], discount="1/2")
        >>> coin.chain.long_run_average({0: 3}).T
        Matrix([[1, 1]])
        """
        if isinstance(values, Mapping):
            for state in values:
                if state not in self.labels:
                    raise LabelError(
                        f"values has {state!r}, which is no state of the chain; its states are "
                        f"{', '.join(map(repr, list(self.labels)[:8]))}"
                    )
            values = [values.get(state, 0) for state in self.labels]
        listed = list(values) if isinstance(values, Iterable) else [values]
        if len(listed) != len(self.labels):
            raise InputError(
                f"values has {len(listed)} entries; the chain has {len(self.labels)} states, expected "
                "{state: number} or one number a state"
            )
        arithmetic = self.P.arithmetic
        column = arithmetic.column([arithmetic.scalar(parse_number(v)) for v in listed])
        return self.averaged(column).public_vector()

    def averaged(self, values: Matrix) -> Matrix:
        """:meth:`long_run_average` in the package's own arithmetic, (n, 1)."""
        averages = [(d.T @ values).item() for d in self.distributions]
        return self.absorption @ self.P.arithmetic.column(averages)


def discount_free_classes(P_gamma: Matrix, leak: Matrix) -> list[list[int]]:
    """The closed sets of states on which no discount is ever applied.

    Parameters
    ----------
    P_gamma : Matrix of shape (n, n)
        P_pi with each transition times its discount.
    leak : Matrix of shape (n, 1)
        What its rows miss of one, 0 only where no discount is applied.

    Returns
    -------
    list of sorted lists of state indices
        I - P_gamma is singular exactly where this is not empty.
    """
    missing = leak.entries()
    if all(missing):
        return []
    chain = MarkovChain(P_gamma, range(P_gamma.shape[0]))
    return [m for m, closed in chain.components if closed and not any(missing[i] for i in m)]
