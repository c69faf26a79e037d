"""A learner's rule on the numbers of a problem: every outcome, and the update that it causes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from obliquetd.algebra import FieldArithmetic, parse_number
from obliquetd.dynamics.scalars import Rounded, Slope, lifted, signed_array, unsigned
from obliquetd.errors import KindError
from obliquetd.learners import Learner
from obliquetd.operators import Operators
from obliquetd.problem import PolicyEvaluation

__all__ = ["RuleOnNumbers", "Sample", "operators_for"]

PROBE = 2.0**200
"""Floats: a probe of the memory of this size leaves nothing of what an outcome adds to it."""

MOST_KEPT = 1_000_000
"""Numbers of updates that are kept, since A and the span of the updates both need them."""


@dataclass(frozen=True)
class Sample:
    """One outcome of one step: a row of the table (and its twin) with its conditional chance."""

    state: int
    next_state: int
    chance: Any  # mu(a|s) p, given the state
    reward: Any
    arguments: tuple[Any, ...]  # s, n, and after the reward g, rho, twin, g_twin, rho_twin


class RuleOnNumbers:
    """A learner's rule on the numbers of a problem: its slope in alpha at 0, where beta = alpha mu.

    What comes out is native, or for floats a ``Rounded`` with its error bound.
    """

    def __init__(self, ops: Operators, learner: Learner) -> None:
        self.ops, self.learner = ops, learner
        arithmetic = ops.arithmetic
        self.d = ops.Phi.shape[1]
        self.size = 2 * self.d if learner.two_timescale else self.d
        self.memory_size = self.d + int(learner.follow_on)
        scalar = arithmetic.scalar
        lam, mu = scalar(parse_number(learner.lam)), scalar(parse_number(learner.ratio))
        self.zero, self.one = (
            unsigned(lifted(x, arithmetic), arithmetic) for x in (arithmetic.zero, arithmetic.one)
        )
        none, one, mu, self.lam = signed_array(
            [arithmetic.zero, arithmetic.one, mu, lam], arithmetic
        )
        self._kept: dict[int, tuple[list[Any], list[list[Any]]]] = {}
        self.alpha, self.beta = Slope(none, one), Slope(none, mu)
        self.features = signed_array(ops.Phi.rows(), arithmetic)

    @property
    def nothing(self) -> list[Any]:
        """A memory that has been emptied."""
        return [self.zero] * self.memory_size

    def unit(self, j: int, size: int) -> list[Any]:
        """The j-th unit vector."""
        return [self.one if i == j else self.zero for i in range(size)]

    @cached_property
    def samples(self) -> list[Sample]:
        """Every outcome that the behaviour can produce."""
        return list(self._outcomes())

    def _outcomes(self) -> Iterator[Sample]:
        ops, arithmetic = self.ops, self.ops.arithmetic
        rows = [i for i in range(len(ops.state)) if ops.mu[i]]
        parts = []
        for i in rows:
            pi, mu, p, g, reward = (
                unsigned(lifted(x[i], arithmetic), arithmetic)
                for x in (ops.pi, ops.mu, ops.probability, ops.row_discount, ops.reward)
            )
            reward, g, rho = signed_array([reward, g, pi / mu], arithmetic)
            parts.append((int(ops.state[i]), int(ops.next_state[i]), mu * p, reward, g, rho))
        for s, t, chance, reward, g, rho in parts:
            twins = (
                [(t2, chance * c2, g2, rho2) for s2, t2, c2, _, g2, rho2 in parts if s2 == s]
                if self.learner.double_sampling
                else [(t, chance, g, rho)]
            )
            for t2, joint, g2, rho2 in twins:
                yield Sample(s, t, joint, reward, (s, t, g, rho, t2, g2, rho2))

    def run(
        self, sample: Sample, weights: Sequence[Any], memory: Sequence[Any], *, rewarded: bool
    ) -> tuple[list[Any], list[Any]]:
        """The update of the weights and the memory handed on, with the reward or with 0 for it."""
        arithmetic = self.ops.arithmetic
        none = lifted(self.zero, arithmetic)
        x = np.empty(self.size, dtype=object)
        for i, value in enumerate(weights):
            x[i] = Slope(lifted(value, arithmetic), none)
        theta, w = x[: self.d], x[self.d :]
        carried = signed_array(memory, arithmetic)
        s, n, *rest = sample.arguments
        self.learner.rule(
            self.learner.code, theta, w, carried, self.features, s, n,
            sample.reward if rewarded else none, *rest, self.alpha, self.beta, self.lam,
        )  # fmt: skip
        return (
            [unsigned(v.slope, arithmetic) for v in x],
            [unsigned(m, arithmetic) for m in carried],
        )

    def constant(self, sample: Sample, memory: Sequence[Any]) -> list[Any]:
        """c of the update c + G x."""
        return self.run(sample, [self.zero] * self.size, memory, rewarded=True)[0]

    def slopes(self, sample: Sample, memory: Sequence[Any]) -> list[list[Any]]:
        """The columns of G of the update c + G x.

        G is taken from runs with reward 0: the difference of two runs with it would lose
        the digits of G behind a large reward.
        """
        at_zero = self.run(sample, [self.zero] * self.size, memory, rewarded=False)[0]
        columns = []
        for j in range(self.size):
            column = self.run(sample, self.unit(j, self.size), memory, rewarded=False)[0]
            columns.append([u - v if v else u for u, v in zip(column, at_zero, strict=True)])
        return columns

    def at_rest(self, sample: Sample) -> tuple[list[Any], list[list[Any]]]:
        """c and the columns of G where the memory is empty; kept, unless they are many."""
        if id(sample) in self._kept:
            return self._kept[id(sample)]
        found = self.constant(sample, self.nothing), self.slopes(sample, self.nothing)
        if len(self.samples) * self.size**2 <= MOST_KEPT:
            self._kept[id(sample)] = found
        return found

    def carried(self, sample: Sample) -> tuple[list[Any], list[list[Any]]]:
        """The memory handed on as c + M m: c and the columns of M.

        For floats M is probed with memories so large that c is rounding beside them.
        """
        x = [self.zero] * self.size
        start = self.run(sample, x, self.nothing, rewarded=False)[1]
        probe = self.one
        if self.ops.arithmetic.kind == "float":
            largest = max((abs(float(c)) for c in start), default=0.0)
            probe = Rounded(PROBE * 2.0 ** max(0, math.frexp(largest)[1]))
        columns = []
        for j in range(self.memory_size):
            memory = [probe if i == j else self.zero for i in range(self.memory_size)]
            end = self.run(sample, x, memory, rewarded=False)[1]
            columns.append([(u - c) / probe for u, c in zip(end, start, strict=True)])
        return start, columns


def operators_for(problem: PolicyEvaluation, learner: Learner) -> Operators:
    """The problem's operators, over a field that has the learner's symbols too."""
    ops = problem._ops
    extra = learner.symbols - set(problem.symbols)
    if not extra:
        return ops
    if problem.arithmetic == "float":
        raise KindError(
            f"{learner.name} has the symbol {min(map(str, extra))} but the problem is in floats"
        )
    return ops.over(FieldArithmetic(itertools.chain(problem.symbols, extra)))
