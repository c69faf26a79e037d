"""Families of small integer problems that a search walks through.

A genome is a tuple of small integers; a family turns one into an exact problem, and many at once into
arrays of floats, where all have n outcomes a state. Every family has a unique stationary distribution by
construction or says so by returning None.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.dynamics.blocks import Blocks
from obliquetd.dynamics.pairs import Arrows
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["FAMILIES", "Family", "Genome"]

Genome = tuple[int, ...]


@dataclass(frozen=True)
class Family:
    """A shape of problem: n states, d features, integers up to a size; abstract.

    Attributes
    ----------
    states, features : int
    discount : str
    largest : int
        Sizes of feature entries and of transition weights.
    """

    states: int
    features: int
    discount: str
    largest: int = 3

    @property
    def genes(self) -> list[tuple[int, int]]:
        """The range of each integer, ends included."""
        span = (-self.largest, self.largest)
        return self.chain_genes + [span] * (self.states * self.features)

    @property
    def chain_genes(self) -> list[tuple[int, int]]:
        """The integers that make the chain."""
        raise TypeError("Family is abstract")

    def build(self, genome: Genome) -> PolicyEvaluation | None:
        """The problem of a genome, exact; None where it is not in the family."""
        raise TypeError("Family is abstract")

    def blocks(self, genomes: npt.NDArray[np.int64]) -> tuple[Blocks, npt.NDArray[np.bool_]]:
        """The problems of many genomes (B, genes) in floats, and which of them are in the family.

        In the place of the others stands some problem.
        """
        raise TypeError("Family is abstract")

    @property
    def kinds(self) -> list[tuple[float, float]]:
        """The chances pi and mu of the actions that there are."""
        raise TypeError("Family is abstract")

    @property
    def kind_of(self) -> list[int]:
        """Which of them each outcome of a state in :meth:`blocks` is of."""
        raise TypeError("Family is abstract")

    def arrows(
        self, genomes: npt.NDArray[np.int64], kinds: Iterable[int]
    ) -> tuple[dict[int, Arrows], npt.NDArray[np.bool_]]:
        """The outcomes of some kinds as pairs of feature vectors, and which genomes are in the family."""
        raise TypeError("Family is abstract")

    @property
    def vectors_count(self) -> int:
        """How many feature vectors a state can have."""
        return int((2 * self.largest + 1) ** self.features)

    def vectors(self) -> npt.NDArray[np.float64]:
        """All feature vectors that a state can have, in the order of their codes."""
        entries = np.arange(-self.largest, self.largest + 1.0)
        grid = np.meshgrid(*[entries] * self.features, indexing="ij")
        return np.stack(grid, axis=-1).reshape(-1, self.features)

    def codes(self, genomes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The number of each state's feature vector among all of them, (n, B)."""
        genes, first, d = genomes.T, len(self.chain_genes), self.features
        base = 2 * self.largest + 1
        out = genes[first::d]
        for j in range(1, d):
            out = out * base + genes[first + j :: d]
        return out + (self.vectors_count - 1) // 2  # the number of the vector 0

    def _floats(self, genomes: npt.NDArray[np.int64], **arrays: Any) -> Blocks:
        """Blocks with the features of the genomes."""
        flat = genomes[:, len(self.chain_genes) :].astype(float)
        features = flat.reshape(len(genomes), self.states, self.features)
        return Blocks(**arrays, features=features, discount=float(Fraction(self.discount)))

    def _features(self, genome: Genome) -> list[list[int]]:
        flat = genome[len(self.chain_genes) :]
        d = self.features
        return [list(flat[s * d : (s + 1) * d]) for s in range(self.states)]

    def _problem(
        self, rows: list[Any], target: Policy, behavior: Policy | None, genome: Genome
    ) -> PolicyEvaluation | None:
        mdp = MDP.from_transitions(rows, states=range(self.states))
        problem = PolicyEvaluation(
            mdp,
            target=target,
            behavior=behavior,
            features=self._features(genome),
            discount=self.discount,
        )
        return (
            problem if len(problem.chain.recurrent) == 1 and not problem.chain.transient else None
        )


class OffPolicy(Family):
    """A deterministic target and a uniform xi, as in Baird's star.

    ``solid`` leads from s to its successor; ``dashed`` to one of the others at random; the
    behaviour takes solid with probability 1/n, so that every state comes next with
    probability 1/n. The target always takes solid.
    """

    @property
    def chain_genes(self) -> list[tuple[int, int]]:
        return [(0, self.states - 1)] * self.states

    def build(self, genome: Genome) -> PolicyEvaluation | None:
        n = self.states
        rows: list[Any] = []
        for s, successor in enumerate(genome[:n]):
            rows.append((s, "solid", successor, 1, 0))
            rows += [(s, "dashed", t, Fraction(1, n - 1), 0) for t in range(n) if t != successor]
        target = Policy.deterministic(dict.fromkeys(range(n), "solid"))
        share = Fraction(1, n)
        behavior = Policy({s: {"solid": share, "dashed": 1 - share} for s in range(n)})
        return self._problem(rows, target, behavior, genome)

    def blocks(self, genomes: npt.NDArray[np.int64]) -> tuple[Blocks, npt.NDArray[np.bool_]]:
        n, count = self.states, len(genomes)
        successor = genomes[:, :n, None]
        others = np.arange(n - 1)
        leads = np.concatenate([successor, others + (others >= successor)], axis=2)
        solid = np.arange(n) == 0
        found = self._floats(
            genomes,
            next_state=leads,
            chance=np.full((count, n, n), 1 / n),
            pi=solid.astype(float),
            mu=np.where(solid, 1 / n, (n - 1) / n),
            xi=np.full((count, n), 1 / n),  # each state comes next with probability 1/n
        )
        return found, np.ones(count, dtype=bool)

    @property
    def kinds(self) -> list[tuple[float, float]]:
        return [(1.0, 1 / self.states), (0.0, (self.states - 1) / self.states)]

    @property
    def kind_of(self) -> list[int]:
        return [0] + [1] * (self.states - 1)

    def arrows(
        self, genomes: npt.NDArray[np.int64], kinds: Iterable[int]
    ) -> tuple[dict[int, Arrows], npt.NDArray[np.bool_]]:
        n, count, codes = self.states, len(genomes), self.codes(genomes)
        left = codes * self.vectors_count
        solid = genomes.T[:n]
        weight = np.full((1, 1), 1 / n**2)  # xi and the chance of each next state are 1/n
        out = {}
        for kind in kinds:
            if kind == 0:
                reached = codes.ravel().take(solid * count + np.arange(count))
                out[kind] = Arrows(left + reached, weight)
            else:
                others = np.arange(n - 1)[:, None, None]
                to = others + (others >= solid)
                reached = codes.ravel().take(to * count + np.arange(count))
                out[kind] = Arrows((left + reached).reshape(-1, count), weight)
        return out, np.ones(count, dtype=bool)


class OnPolicy(Family):
    """One action, transition probabilities proportional to small integers."""

    @property
    def chain_genes(self) -> list[tuple[int, int]]:
        return [(0, self.largest)] * self.states**2

    def build(self, genome: Genome) -> PolicyEvaluation | None:
        n = self.states
        rows: list[Any] = []
        for s in range(n):
            weights = genome[s * n : (s + 1) * n]
            total = sum(weights)
            if not total:
                return None
            rows += [(s, "go", t, Fraction(w, total), 0) for t, w in enumerate(weights) if w]
        target = Policy({s: {"go": 1} for s in range(n)})
        return self._problem(rows, target, None, genome)

    def blocks(self, genomes: npt.NDArray[np.int64]) -> tuple[Blocks, npt.NDArray[np.bool_]]:
        n, count = self.states, len(genomes)
        P, inside = self._chains(genomes)
        found = self._floats(
            genomes,
            next_state=np.broadcast_to(np.arange(n), (count, n, n)),
            chance=P,
            pi=np.ones(1),
            mu=np.ones(1),
            xi=_stationary(P),
        )
        return found, inside

    def _chains(
        self, genomes: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """The transition matrices (B, n, n), and which genomes have one with one closed class that is everything."""
        n = self.states
        weights = genomes[:, : n * n].reshape(len(genomes), n, n).astype(float)
        inside = _irreducible(weights)
        weights[~inside] = 1.0
        return weights / weights.sum(axis=2, keepdims=True), inside

    @property
    def kinds(self) -> list[tuple[float, float]]:
        return [(1.0, 1.0)]

    @property
    def kind_of(self) -> list[int]:
        return [0] * self.states

    def arrows(
        self, genomes: npt.NDArray[np.int64], kinds: Iterable[int]
    ) -> tuple[dict[int, Arrows], npt.NDArray[np.bool_]]:
        count, codes = len(genomes), self.codes(genomes)
        P, inside = self._chains(genomes)
        pairs = (codes[:, None] * self.vectors_count + codes).reshape(-1, count)
        weight = (_stationary(P)[:, :, None] * P).reshape(count, -1).T
        return {kind: Arrows(pairs, weight) for kind in kinds}, inside


def _irreducible(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Whether every state leads to every other, for each of many chains (B, n, n)."""
    n = weights.shape[1]
    leads = ((weights > 0) | np.eye(n, dtype=bool)).astype(float)
    for _ in range((n - 1).bit_length()):
        leads = (leads @ leads > 0).astype(float)
    return np.asarray(leads.all(axis=(1, 2)) & (weights.sum(axis=2) > 0).all(axis=1))


def _stationary(P: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """xi with P' xi = xi and entries that add up to 1, for each of many irreducible chains."""
    n = P.shape[1]
    system = np.eye(n) - P.transpose(0, 2, 1)
    system[:, -1] = 1.0
    right = np.zeros((len(P), n, 1))
    right[:, -1] = 1.0
    return np.asarray(np.linalg.solve(system, right)[:, :, 0])


FAMILIES: dict[str, type[Family]] = {"off-policy": OffPolicy, "on-policy": OnPolicy}
"""The families by name."""
