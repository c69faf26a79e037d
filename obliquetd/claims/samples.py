"""What the behaviour produces: transitions, row by row, and histories, followed one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import Matrix
from obliquetd.learners import Transition, omega
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.native import Operators

__all__ = ["Samples", "follow", "state_weights", "trace_by_histories"]


class Samples:
    """All transitions of a problem with their sampled quantities, exact, row by row.

    Each row (s, a, s') of the table carries phi, phi', Delta phi = phi - g phi', the
    ratio rho = pi/mu, and the sampled omega = max(Delta phi . phi / |Delta phi|^2, 0) (0
    where Delta phi = 0). Rows that the behaviour never takes carry weight 0.
    """

    def __init__(self, problem: PolicyEvaluation) -> None:
        ops = self.ops = problem.native
        phi = np.array(ops.Phi.rows(), dtype=object)
        self.phi, self.phi_next = phi[ops.state], phi[ops.next_state]
        self.delta_phi = self.phi - ops.row_discount[:, None] * self.phi_next
        one, zero = ops.arithmetic.one, ops.arithmetic.zero
        self.rho = np.array(
            [p / m if m else zero for p, m in zip(ops.pi, ops.mu, strict=True)], dtype=object
        )
        self.omega = np.array(
            [
                omega(Transition(phi, s, n, 0, g, 1, 1, 1, 1, n, g, 1))
                for s, n, g in zip(ops.state, ops.next_state, ops.row_discount, strict=True)
            ],
            dtype=object,
        )
        xi = np.array(ops.xi.entries(), dtype=object)
        self.weight = xi[ops.state] * ops.mu * ops.probability  # the behaviour's frequencies
        theta = np.array([one] * phi.shape[1], dtype=object)
        self.value = self.phi @ theta
        self.td_error = ops.reward - self.delta_phi @ theta

    def mean(self, scalars: Any) -> Matrix:
        """The stationary mean under the behaviour of scalar times phi."""
        total = (self.weight * scalars) @ self.phi
        return self.ops.arithmetic.column(list(total))

    def target_mean(self, scalars: Any) -> Matrix:
        """The same with actions of the target, at the behaviour's states."""
        ops = self.ops
        xi = np.array(ops.xi.entries(), dtype=object)
        total = (xi[ops.state] * ops.pi * ops.probability * scalars) @ self.phi
        return ops.arithmetic.column(list(total))

    def matrix_mean(self, scalars: Any, right: Any) -> Matrix:
        """The stationary mean of scalar times Delta phi times a row vector."""
        weighted = (self.weight * scalars)[:, None] * self.delta_phi
        d = self.phi.shape[1]
        rows = weighted.T @ right
        return self.ops.arithmetic.matrix([list(row) for row in rows], (d, d))


def state_weights(ops: Operators) -> Matrix:
    """A weight for each state: 1, 2, 3, ..."""
    return ops.arithmetic.column([ops.arithmetic.scalar(sp.Integer(i + 1)) for i in range(ops.n)])


def follow(
    ops: Operators, steps: int, start: Callable[[int], Any], step: Callable[..., Any]
) -> list[tuple[int, Any, Any]]:
    """Every history of some steps under the behaviour, from states distributed as xi.

    Parameters
    ----------
    ops : Operators
    steps : int
    start : callable
        The memory in the first state.
    step : callable
        Takes the memory, the row of the table, and the state that is reached.

    Returns
    -------
    list of (state, probability, memory)
        One for each history.
    """
    moves: dict[int, list[tuple[int, int, Any]]] = {i: [] for i in range(ops.n)}
    for k, (s, t) in enumerate(zip(ops.state.tolist(), ops.next_state.tolist(), strict=True)):
        if ops.mu[k] and ops.probability[k]:
            moves[s].append((k, t, ops.mu[k] * ops.probability[k]))
    histories = [(s, w, start(s)) for s, w in enumerate(ops.xi.entries()) if w]
    for _ in range(steps):
        histories = [
            (t, w * chance, step(memory, k, t))
            for s, w, memory in histories
            for k, t, chance in moves[s]
        ]
    return histories


def trace_by_histories(
    ops: Operators,
    steps: int,
    lam: Any,
    weights: Matrix,
    ratio: Callable[[Any, Any], Any] = lambda pi, mu: pi / mu,
) -> Matrix:
    """E[(m_t phi_t + g lam rho_{t-1} (m_{t-1} phi_{t-1} + ...)) 1{S_t = s}], a row for each state.

    The weight m is a function of the state; the trace is empty before the first state, and ``ratio``
    makes rho of pi and mu.
    """
    phi, m = ops.Phi.rows(), weights.entries()
    decay = [
        g * ratio(p, q) * lam if q else None
        for g, p, q in zip(ops.row_discount, ops.pi, ops.mu, strict=True)
    ]

    def fresh(s: int) -> list[Any]:
        return [m[s] * x for x in phi[s]]

    def step(trace: list[Any], k: int, t: int) -> list[Any]:
        return [decay[k] * e + x for e, x in zip(trace, fresh(t), strict=True)]

    d = ops.Phi.shape[1]
    total = [[ops.arithmetic.zero] * d for _ in range(ops.n)]
    for s, w, trace in follow(ops, steps, fresh, step):
        total[s] = [x + w * e for x, e in zip(total[s], trace, strict=True)]
    return ops.arithmetic.matrix(total, (ops.n, d))
