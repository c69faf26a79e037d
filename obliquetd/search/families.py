"""Families of small integer problems that a search walks through.

A genome is a tuple of small integers; a family turns it into a problem and knows how to
draw, change and shrink one. Every family has a unique stationary distribution by
construction or says so by returning None.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

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

    def draw(self, rng: np.random.Generator) -> Genome:
        """A random genome."""
        return tuple(int(rng.integers(low, high + 1)) for low, high in self.genes)

    def change(self, genome: Genome, rng: np.random.Generator) -> Genome:
        """A neighbour: one or two integers drawn anew."""
        new = list(genome)
        for _ in range(int(rng.integers(1, 3))):
            k = int(rng.integers(len(new)))
            low, high = self.genes[k]
            new[k] = int(rng.integers(low, high + 1))
        return tuple(new)

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


FAMILIES: dict[str, type[Family]] = {"off-policy": OffPolicy, "on-policy": OnPolicy}
"""The families by name."""
