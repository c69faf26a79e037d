"""Families of small problems, and their members up to symmetry.

A member is a chain, n rows of probabilities that are multiples of 1/k, and an n by d matrix of integer
features of rank d. On-policy, the chain is irreducible, and both policies follow it. Off-policy, action t leads
to state t; the behaviour takes each with probability 1/n, so that the weights xi are uniform, and the target
takes them with the chain's probabilities: for k = 1, a deterministic target. Rewards are 0.

Two members that differ in the names of their states, in the order of their features, or in the signs of these
have the same verdicts: for a learner whose rule asks for no state by its number, and whose update of P'phi
with a signed permutation P is P' times that of phi (:mod:`obliquetd.atlas.tables` tests both). So one member
of each orbit is judged, and counts for as many as its orbit has: a chain is taken where no renaming of the states makes it
smaller, and a feature matrix where no renaming that leaves the chain, and no signed permutation, does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import factorial
from typing import Any

import numpy as np

from obliquetd.atlas.integers import Integers, determinant
from obliquetd.errors import InputError
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["Chain", "Family", "Members"]

Chain = tuple[tuple[int, ...], ...]
"""For each state the numbers of k-ths with which the next one comes."""
MOST_CHAINS = 1_000_000
MOST_CODES = 10**10


@dataclass(frozen=True)
class Members:
    """Feature matrices that go with one chain, one for each orbit.

    Attributes
    ----------
    codes : array of int64
        The matrices as numbers; :meth:`Family.features` has them written out.
    problems : array of int64
        How many problems each stands for.
    """

    codes: Any
    problems: Any


@dataclass(frozen=True)
class Family:
    """All problems of a shape.

    Parameters
    ----------
    states, features : int
    largest : int
        Features are integers from -largest to largest.
    parts : int
        Probabilities are multiples of 1 / parts; 1 is deterministic.
    on_policy : bool
    symmetric : bool
        Whether one member of each orbit stands for all. False lists every member.

    Examples
    --------
    >>> family = Family(3, 2)
    >>> len(family.chains), family.count
    (7, 405648)
    """

    states: int
    features: int
    largest: int = 2
    parts: int = 1
    on_policy: bool = False
    symmetric: bool = True

    def __post_init__(self) -> None:
        for name, least in (("states", 2), ("features", 1), ("largest", 1), ("parts", 1)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise InputError(f"{name} is {value!r}; expected an integer of at least {least}")
        if self.features > self.states:
            raise InputError(
                f"{self.features} features on {self.states} states are dependent; expected at most "
                f"{self.states}"
            )
        if self.codes > MOST_CODES or self._rows**self.states > MOST_CHAINS:
            raise InputError(
                f"{self._rows**self.states:,} chains with {self.codes:,} feature matrices are too many; "
                f"expected at most {MOST_CHAINS:,} and {MOST_CODES:,}: lower states, features, largest or "
                "parts"
            )

    @property
    def vectors(self) -> int:
        """How many feature vectors a state can have."""
        return int((2 * self.largest + 1) ** self.features)

    @property
    def codes(self) -> int:
        """How many feature matrices there are, of any rank."""
        return int(self.vectors**self.states)

    @property
    def _rows(self) -> int:
        n, k = self.states, self.parts
        return factorial(n + k - 1) // (factorial(k) * factorial(n - 1))

    @cached_property
    def chains(self) -> list[tuple[Chain, int]]:
        """The chains, one for each orbit, and how many each stands for."""
        n = self.states
        rows = [
            r for r in itertools.product(range(self.parts + 1), repeat=n) if sum(r) == self.parts
        ]
        orders = list(itertools.permutations(range(n))) if self.symmetric else [tuple(range(n))]
        out = []
        for chain in itertools.product(rows, repeat=n):
            if self.on_policy and not _is_irreducible(chain):
                continue
            if not any(_renamed(chain, order) < chain for order in orders):  # most fail soon
                out.append((chain, len({_renamed(chain, order) for order in orders})))
        return out

    @cached_property
    def count(self) -> int:
        """How many problems there are."""
        ranked = sum(len(self._of_rank(np.arange(*part))) for part in self.parts_of_codes(2**18))
        return int(ranked * sum(size for _, size in self.chains))

    def parts_of_codes(self, size: int) -> Iterator[tuple[int, int]]:
        """The feature matrices in parts, each from one number up to another."""
        for low in range(0, self.codes, size):
            yield low, min(low + size, self.codes)

    def rows_of(self, codes: Any) -> Any:
        """The vectors of each state by their numbers, (N, n)."""
        places = self.vectors ** np.arange(self.states - 1, -1, -1, dtype=np.int64)
        return codes[:, None] // places % self.vectors

    @cached_property
    def alphabet(self) -> Any:
        """The feature vectors by their numbers, (V, d)."""
        base = 2 * self.largest + 1
        places = base ** np.arange(self.features - 1, -1, -1, dtype=np.int64)
        return np.arange(self.vectors)[:, None] // places % base - self.largest

    def numbers_of(self, vectors: Any) -> Any:
        """The numbers of some vectors (N, d)."""
        base = 2 * self.largest + 1
        places = base ** np.arange(self.features - 1, -1, -1, dtype=np.int64)
        return (vectors + self.largest) @ places

    def matrices(self, codes: Any) -> Any:
        """The feature matrices, (N, n, d)."""
        return self.alphabet[self.rows_of(codes)]

    def _of_rank(self, codes: Any) -> Any:
        """Those with independent columns: det Phi'Phi is not 0."""
        Phi = Integers(self.matrices(codes), self.largest)
        turned = Integers(Phi.values.transpose(0, 2, 1), self.largest)
        return codes[determinant(turned @ Phi).values != 0]

    @cached_property
    def signed_permutations(self) -> list[Any]:
        """The d by d matrices with one entry of 1 or -1 in each row and column."""
        d = self.features
        return [
            np.diag(signs)[:, list(order)]
            for order in itertools.permutations(range(d))
            for signs in itertools.product((1, -1), repeat=d)
        ]

    @cached_property
    def _on_vectors(self) -> list[Any]:
        """What each signed permutation makes of each vector, by numbers."""
        turns = (
            self.signed_permutations if self.symmetric else [np.eye(self.features, dtype=np.int64)]
        )
        return [self.numbers_of(self.alphabet @ P) for P in turns]

    def members(self, chain: Chain, low: int, high: int) -> Members:
        """The feature matrices from one number up to another that stand for their orbits.

        Parameters
        ----------
        chain : one of :attr:`chains`
        low, high : int
        """
        n = self.states
        orders = itertools.permutations(range(n)) if self.symmetric else [tuple(range(n))]
        kept = [order for order in orders if _renamed(chain, order) == chain]
        places = self.vectors ** np.arange(n - 1, -1, -1, dtype=np.int64)
        codes = np.arange(low, high, dtype=np.int64)
        fixed = np.zeros(len(codes), dtype=np.int64)
        for order in kept:
            for turn in self._on_vectors:
                moved = turn[self.rows_of(codes)[:, list(order)]] @ places
                still = moved >= codes
                fixed = (fixed + (moved == codes))[still]
                codes = codes[still]
        whole = len(kept) * len(self._on_vectors)
        size = dict(self.chains)[chain]
        ranked = np.isin(codes, self._of_rank(codes), assume_unique=True)
        return Members(codes[ranked], size * (whole // fixed[ranked]))

    def representative(self, chain: Sequence[Sequence[int]], features: Any) -> tuple[int, int]:
        """The number of the chain, and of the feature matrix, that stand for a problem.

        Raises
        ------
        InputError
            For a chain or features that no problem of the family has.
        """
        n, listed = self.states, tuple(tuple(map(int, row)) for row in chain)
        Phi = np.asarray(features)
        known = {rows: k for k, (rows, _) in enumerate(self.chains)}
        renamings = itertools.permutations(range(n)) if self.symmetric else [tuple(range(n))]
        fits = [len(row) == n for row in listed] == [True] * n
        orders = [o for o in renamings if _renamed(listed, o) in known] if fits else []
        if not orders:
            raise InputError(f"the chain {listed} is not of the family")
        integers = Phi.shape == (n, self.features) and np.issubdtype(Phi.dtype, np.integer)
        if not integers or np.abs(Phi).max() > self.largest:
            raise InputError(
                f"the features are {Phi.tolist()}; expected {n} rows of {self.features} integers up to "
                f"{self.largest}"
            )
        numbers = self.numbers_of(Phi)
        places = self.vectors ** np.arange(n - 1, -1, -1, dtype=np.int64)
        codes = [int(turn[numbers[list(o)]] @ places) for o in orders for turn in self._on_vectors]
        return known[_renamed(listed, orders[0])], min(codes)

    def problem(self, chain: Chain, features: Any, discount: Any) -> PolicyEvaluation:
        """One member, exact.

        Examples
        --------
        >>> Family(2, 1).problem(((0, 1), (0, 1)), [[1], [2]], "9/10")
        PolicyEvaluation(2 states, 1 feature, off-policy, discount 9/10, exact)
        """
        n, k = self.states, self.parts
        chances = [{t: Fraction(p, k) for t, p in enumerate(row) if p} for row in chain]
        if self.on_policy:
            rows = [(s, "go", t, p, 0) for s in range(n) for t, p in chances[s].items()]
            target, behavior = Policy({s: {"go": 1} for s in range(n)}), None
        else:
            rows = [(s, f"to {t}", t, Fraction(1), 0) for s in range(n) for t in range(n)]
            target = Policy({s: {f"to {t}": p for t, p in chances[s].items()} for s in range(n)})
            behavior = Policy({s: {f"to {t}": Fraction(1, n) for t in range(n)} for s in range(n)})
        return PolicyEvaluation(
            MDP.from_transitions(rows, states=range(n)), target=target, behavior=behavior,
            features=[[int(x) for x in row] for row in features], discount=discount,
        )  # fmt: skip


def _renamed(chain: Chain, order: tuple[int, ...]) -> Chain:
    """The chain in which state i is what state order[i] was."""
    return tuple(tuple(chain[i][j] for j in order) for i in order)


def _is_irreducible(chain: Chain) -> bool:
    """Whether every state leads to every other."""
    n = len(chain)
    reached = np.array(chain) > 0
    for _ in range(n):
        reached = reached | (reached @ reached)
    return bool(reached.all())
