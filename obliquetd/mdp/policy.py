"""Policies: for each state, a distribution over actions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy as sp
from sympy import QQ

from obliquetd.algebra import (
    Kind,
    exact_distribution,
    join_kinds,
    kind_of,
    number_text,
    parse_number,
    public_number,
)
from obliquetd.display import HtmlTable
from obliquetd.errors import InputError, LabelError, ProbabilityError
from obliquetd.frames import Tabular
from obliquetd.mdp.probabilities import (
    parse_tolerance,
    say_sum,
    sums_to_one,
    within_tolerance,
)
from obliquetd.mdp.substitution import Entry, check_substitution, substitution
from obliquetd.mdp.table import outcome_sum

if TYPE_CHECKING:
    from obliquetd.mdp.model import MDP

__all__ = ["Policy"]


class Policy(Mapping[Any, Mapping[Any, Any]], HtmlTable, Tabular):
    """A stationary policy pi(a | s).

    Parameters
    ----------
    probabilities : mapping of state to mapping of action to number
        Every row sums to one; actions that are left out have probability 0.
        Numbers may be exact (``1``, ``"1/3"``), symbolic (``"p"``) or floats.
    normalize : bool
        Divide each row by its sum. Never done unless asked for.
    tolerance : number, optional
        Divide by their sum those rows only that miss one by at most this; a row further
        off is an error.

    Raises
    ------
    ProbabilityError
        Where a probability is negative or a row does not sum to one; names the
        state and the sum.
    NumberError
        Where an entry is NaN, infinite or no number.

    Examples
    --------
    >>> pi = Policy({"s": {"left": "1/3", "right": "2/3"}})
    >>> pi["s"]["right"]
    2/3
    >>> pi.mix(Policy.deterministic({"s": "left"}), "1/2")["s"]
    {'left': 2/3, 'right': 1/3}
    """

    def __init__(
        self,
        probabilities: Mapping[Any, Mapping[Any, Any]],
        *,
        normalize: bool = False,
        tolerance: Any = None,
    ) -> None:
        limit = parse_tolerance(tolerance)
        if not isinstance(probabilities, Mapping):
            raise InputError(
                f"a policy is a mapping of states to mappings of actions to probabilities; got "
                f"{type(probabilities).__name__}. For one action a state use "
                "Policy.deterministic({state: action})"
            )
        states, rows = list(probabilities), list(probabilities.values())
        read: dict[int, dict[Hashable, Any]] = {}  # a row that states share is read once
        for at in _firsts(rows):
            state, row = states[at], rows[at]
            if not isinstance(row, Mapping):
                raise InputError(
                    f"the policy in state {state!r} is {row!r}; expected a mapping of actions to "
                    "probabilities. For one action a state use Policy.deterministic"
                )
            parsed = {
                action: parse_number(p, f"the probability of action {action!r} in state {state!r}")
                for action, p in row.items()
            }
            checked = _checked(state, parsed, normalize or limit is not None, limit)
            read[id(row)] = checked
        if len(read) == 1:
            self._rows = dict.fromkeys(states, checked)
        else:
            self._rows = dict(zip(states, map(read.__getitem__, map(id, rows)), strict=True))

    @classmethod
    def deterministic(cls, actions: Mapping[Any, Any]) -> Policy:
        """The policy that takes one action in each state.

        Examples
        --------
        >>> Policy.deterministic({"s": "left"})["s"]
        {'left': 1}
        """
        if not isinstance(actions, Mapping):
            raise InputError(f"actions is {actions!r}; expected {{state: action}}")
        return cls({state: {action: 1} for state, action in actions.items()})

    @classmethod
    def uniform(cls, mdp: MDP) -> Policy:
        """Every action that a state offers, with equal (exact) probability."""
        if not hasattr(mdp, "offers"):
            raise InputError(f"{mdp!r} is no MDP; of a problem, give problem.mdp")
        choices, each = mdp.offers
        rows = [{a: QQ(1, len(offered)) for a in offered} for offered in choices]
        if len(rows) == 1 and rows[0]:
            return cls._of_numbered(mdp.states, rows, each)
        found = zip(mdp.states, map(rows.__getitem__, each.tolist()), strict=True)
        return cls({state: row for state, row in found if row})

    @classmethod
    def _of_numbered(
        cls,
        states: tuple[Hashable, ...],
        rows: list[dict[Hashable, Any]],
        each: npt.NDArray[np.intp],
    ) -> Policy:
        """Of checked rows, and the number of that of each state; the mapping is made when it is asked for."""
        policy = cls.__new__(cls)
        policy.states, policy._distinct, policy._each = states, rows, each
        return policy

    @cached_property
    def _rows(self) -> dict[Hashable, dict[Hashable, Any]]:
        found = map(self._distinct.__getitem__, self._each.tolist())
        return dict(zip(self.states, found, strict=True))

    @cached_property
    def states(self) -> tuple[Hashable, ...]:
        """The states that it speaks of."""
        return tuple(self._rows)

    @classmethod
    def random(
        cls, mdp: MDP, seed: int | np.random.Generator, *, largest: int = 9, full: bool = True
    ) -> Policy:
        """A random rational policy.

        Parameters
        ----------
        mdp : MDP
        seed : int or numpy.random.Generator
        largest : int
            Weights are integers from 0 (1 where ``full``) to this.
        full : bool
            Whether every action that a state offers has positive probability, so
            that the policy covers every target.
        """
        rng = np.random.default_rng(seed)
        rows: dict[Any, dict[Any, Any]] = {}
        for state, offered in mdp.offered.items():
            if not offered:
                continue
            weights = rng.integers(int(full), largest + 1, size=len(offered)).tolist()
            if not any(weights):
                weights[int(rng.integers(len(offered)))] = 1
            rows[state] = {
                a: QQ(w, sum(weights)) for a, w in zip(offered, weights, strict=True) if w
            }
        return cls(rows)

    def mix(self, other: Policy, epsilon: Any) -> Policy:
        """``(1 - epsilon) self + epsilon other``, state by state.

        Raises
        ------
        LabelError
            Where the two policies do not speak of the same states.
        """
        if not isinstance(other, Policy):
            raise InputError(f"the policy to mix in is {other!r}; expected a Policy")
        weight = public_number(parse_number(epsilon, "epsilon"))
        for mine, theirs in ((self, other), (other, self)):
            for state in mine:
                if state not in theirs:
                    raise LabelError(
                        f"state {state!r} is in one of the mixed policies and not in the other"
                    )
        return Policy(
            {
                state: {
                    a: (1 - weight) * row.get(a, 0) + weight * other[state].get(a, 0)
                    for a in dict.fromkeys([*row, *other[state]])
                }
                for state, row in self.items()
            }
        )

    def subs(self, values: Mapping[Any, Any]) -> Policy:
        """Numbers for symbols; what results is checked like any new policy.

        Raises
        ------
        NumberError, ProbabilityError
            Where a formula divides by zero or leaves [0, 1]; names every such entry.
        """
        check_substitution(self.entries(), values)
        new = substitution(values)
        return Policy({s: {a: new(p) for a, p in row.items()} for s, row in self._rows.items()})

    def to_exact(self, *, normalize: bool = False) -> Policy:
        """Each float as the shortest decimal that prints it.

        Where the decimals of a row do not sum to one because the floats were rounded, the
        simplest fractions nearby that do.

        Raises
        ------
        ProbabilityError
            Where exact numbers beside the floats leave a row off one, unless ``normalize``
            is set.
        """
        return Policy(
            {
                s: dict(zip(row, exact_distribution(list(row.values())), strict=True))
                for s, row in self._rows.items()
            },
            normalize=normalize,
        )

    def parsed(self, state: Any) -> Mapping[Any, Any]:
        """The row of a state in the package's own numbers, read-only."""
        return MappingProxyType(self._rows[state])

    def numbered(self, number: int) -> dict[Hashable, Any]:
        """The row of a number of :meth:`row_numbers`, to look at only; -1 has none."""
        return self._distinct[number] if number >= 0 else {}

    def __contains__(self, state: object) -> bool:
        return state in self._rows

    def entries(self, name: str = "policy") -> Iterator[Entry]:
        """Every probability with its place."""
        for state, row in self._rows.items():
            for action, p in row.items():
                where = f"the {name}'s probability of {action!r} in state {state!r}"
                yield Entry(where, "probability", p)

    @cached_property
    def _distinct(self) -> list[dict[Hashable, Any]]:
        """The rows, one that several states share once."""
        rows = list(self._rows.values())
        return [rows[at] for at in _firsts(rows)]

    @cached_property
    def _each(self) -> npt.NDArray[np.intp]:
        """Which of these each state has, in the order of the states."""
        number = {id(row): k for k, row in enumerate(self._distinct)}
        if len(number) == 1:
            return np.zeros(len(self._rows), dtype=np.intp)
        found = map(number.__getitem__, map(id, self._rows.values()))
        return np.fromiter(found, dtype=np.intp, count=len(self._rows))

    def row_numbers(self, states: Sequence[Hashable]) -> npt.NDArray[np.intp]:
        """A number for each state, the same for states that share a row; -1 where it has none."""
        if self.states is states or self.states == tuple(states):
            return self._each
        number = dict(zip(self.states, self._each.tolist(), strict=True))
        return np.array([number.get(s, -1) for s in states], dtype=np.intp)

    @property
    def kind(self) -> set[Kind]:
        """The kinds of number that occur."""
        return join_kinds(kind_of(p) for row in self._distinct for p in row.values())

    @property
    def symbols(self) -> set[sp.Symbol]:
        """The free symbols of all probabilities."""
        numbers = (p for row in self._distinct for p in row.values())
        return {x for p in numbers if isinstance(p, sp.Basic) for x in p.free_symbols}

    def __getitem__(self, state: Any) -> Mapping[Any, Any]:
        return {a: public_number(p) for a, p in self._rows[state].items()}

    def __iter__(self) -> Any:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row for each state and action: ``state``, ``action`` and ``probability``."""
        for state, actions in self.items():
            for action, p in actions.items():
                yield {"state": state, "action": action, "probability": p}

    def _table(self) -> tuple[str, list[str], list[list[Any]]]:
        actions = list(dict.fromkeys(a for row in self.values() for a in row))
        rows = [[str(s), *(row.get(a, 0) for a in actions)] for s, row in self.items()]
        return "policy", ["state", *map(str, actions)], rows

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{s!r}: {{{', '.join(f'{a!r}: {number_text(p)}' for a, p in row.items())}}}"
            for s, row in list(self._rows.items())[:6]
        )
        return f"Policy({{{shown}{', ...' if len(self._rows) > 6 else ''}}})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self._nonzero() == other._nonzero()

    def __hash__(self) -> int:
        # numbers of one value may hash apart in different kinds, so the states alone count
        return hash(frozenset(self._rows))

    def _nonzero(self) -> dict[Any, dict[Any, Any]]:
        return {s: {a: p for a, p in row.items() if p != 0} for s, row in self._rows.items()}


def _firsts(rows: list[Any]) -> list[int]:
    """Where each object of a list stands first."""
    if len(set(map(id, rows))) == 1:
        return [0]
    places = range(len(rows) - 1, -1, -1)
    return sorted(dict(zip(map(id, reversed(rows)), places, strict=True)).values())


def _checked(state: Any, row: dict[Any, Any], normalize: bool, tolerance: Any) -> dict[Any, Any]:
    if not row:
        raise ProbabilityError(f"the policy in state {state!r} has no action", state=state)
    _no_negative(state, row.items())
    total = outcome_sum(row.values())
    if normalize and total != 0 and within_tolerance(total, tolerance):
        return {a: parse_number(public_number(p) / public_number(total)) for a, p in row.items()}
    if not sums_to_one(total, len(row)):
        raise ProbabilityError(
            f"the policy in state {state!r}: the action probabilities {say_sum(total, tolerance)}. "
            "Correct them, or divide them by their sum with Policy(rows, normalize=True) (--normalize "
            "on the command line)",
            state=state,
            total=public_number(total),
        )
    return row


def _no_negative(state: Any, row: Iterable[tuple[Any, Any]]) -> None:
    for action, p in row:
        if not isinstance(p, sp.Basic) and p < 0:
            raise ProbabilityError(
                f"the policy in state {state!r} gives action {action!r} the probability "
                f"{number_text(p)}; expected a number between 0 and 1",
                state=state,
                action=action,
                total=public_number(p),
            )
