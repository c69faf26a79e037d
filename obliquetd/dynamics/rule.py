"""A learner's rule on the numbers of a problem: every outcome, and the update that it causes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from obliquetd.algebra import FieldArithmetic, Matrix, parse_number
from obliquetd.dynamics.scalars import signed_array, unsigned
from obliquetd.errors import InputError, KindError
from obliquetd.learners import Learner
from obliquetd.operators import Operators
from obliquetd.problem import PolicyEvaluation

__all__ = ["RuleOnNumbers", "Sample", "check_stationary", "is_zero", "operators_for"]


@dataclass(frozen=True)
class Sample:
    """One outcome of one step: a row of the table (and its twin) with its conditional chance."""

    state: int
    next_state: int
    chance: Any  # mu(a|s) p, given the state
    arguments: tuple[Any, ...]  # s, n, reward, g, rho, twin, g_twin, rho_twin


class RuleOnNumbers:
    """A learner's rule evaluated on the numbers of a problem, at alpha = 1 and beta = mu."""

    def __init__(self, ops: Operators, learner: Learner) -> None:
        self.ops, self.learner = ops, learner
        arithmetic = ops.arithmetic
        self.d = ops.Phi.shape[1]
        self.size = 2 * self.d if learner.two_timescale else self.d
        self.memory_size = self.d + int(learner.follow_on)
        scalar = arithmetic.scalar
        lam, mu = scalar(parse_number(learner.lam)), scalar(parse_number(learner.ratio))
        one = arithmetic.one
        self.alpha, self.beta, self.lam = signed_array([one, mu, lam], arithmetic)
        self.features = signed_array(ops.Phi.rows(), arithmetic)

    def samples(self) -> Iterator[Sample]:
        """Every outcome that the behaviour can produce."""
        ops = self.ops
        rows = [i for i in range(len(ops.state)) if ops.mu[i]]
        numbers = signed_array(
            [[ops.reward[i], ops.row_discount[i], ops.pi[i] / ops.mu[i]] for i in rows],
            ops.arithmetic,
        )
        parts = [
            (int(ops.state[i]), int(ops.next_state[i]), ops.mu[i] * ops.probability[i], *numbers[k])
            for k, i in enumerate(rows)
        ]
        for s, t, chance, reward, g, rho in parts:
            twins = (
                [(t2, chance * c2, g2, rho2) for s2, t2, c2, _, g2, rho2 in parts if s2 == s]
                if self.learner.double_sampling
                else [(t, chance, g, rho)]
            )
            for t2, joint, g2, rho2 in twins:
                yield Sample(
                    s, t, joint,
                    (s, t, reward, g, rho, t2, g2, rho2),
                )  # fmt: skip

    def run(self, sample: Sample, weights: Any, memory: Any) -> tuple[list[Any], list[Any]]:
        """The update of the weights and the memory handed on, native scalars."""
        arithmetic = self.ops.arithmetic
        x = signed_array(weights, arithmetic)
        theta, w = x[: self.d].copy(), x[self.d :].copy()
        carried = signed_array(memory, arithmetic)
        self.learner.rule(
            self.learner.code,
            theta,
            w,
            carried,
            self.features,
            *sample.arguments,
            self.alpha,
            self.beta,
            self.lam,
        )
        after = [*theta, *w]
        return (
            [unsigned(b, arithmetic) - a for a, b in zip(weights, after, strict=True)],
            [unsigned(m, arithmetic) for m in carried],
        )


def is_zero(matrix: Matrix) -> bool:
    """Whether every entry is zero (for floats: up to rounding)."""
    if matrix.arithmetic.kind == "float":
        return all(abs(x) < 1e-9 for row in matrix.rows() for x in row)
    return matrix.is_zero()


def check_stationary(ops: Operators, learner: Learner) -> None:
    """InputError where the weights xi are not stationary, as a trace along a trajectory needs."""
    gap = ops.P_b.T @ ops.xi - ops.xi
    size = ops.arithmetic.magnitude(ops.xi)
    if not is_zero(gap.scaled(ops.arithmetic.one / size)):
        raise InputError(
            f"{learner.name} carries a trace along a trajectory, whose states are distributed as the "
            "behaviour chain's stationary distribution; the weights xi that were given are not "
            "stationary. Leave xi out, or use sampling='iid'"
        )


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
