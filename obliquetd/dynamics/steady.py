"""Where a constant step size leaves the weights: the stationary mean and covariance."""

from __future__ import annotations

import math
from typing import Any

from obliquetd.algebra import Arithmetic
from obliquetd.dynamics.jumps import Jump, linear_system, one_plus
from obliquetd.dynamics.moments import JumpSystem, Moments, constant_step_size
from obliquetd.dynamics.step_size import step_size_limit
from obliquetd.errors import MathematicalError, SizeError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["stationary_moments"]

LARGEST = 1_200
"""Unknowns of the second-moment equation."""


def stationary_moments(
    problem: PolicyEvaluation,
    learner: Learner,
    theta0: Any = None,
    *,
    sampling: str | None = None,
) -> Moments:
    """The moments that :func:`exact_moments` tends to from theta_0.

    With x = x_0 + B z, B a basis of the span of all updates, each outcome maps z to M z + c; the means
    m_s = E[z 1{s}] and second moments S_s = E[z z' 1{s}] solve

    m_s' = sum of w (M m_s + c p_s),   S_s' = sum of w (M S_s M' + M m_s c' + c m_s' M' + c c' p_s).

    Parameters
    ----------
    problem : PolicyEvaluation
    learner : Learner
        Without a trace, with a constant step size below :func:`step_size_limit`.
    theta0 : vector of d, optional
        Zero unless given; the limit depends on it only where some weights never move.
    sampling : {"trajectory", "iid"}, optional
        A stationary trajectory, which None means too, or independent transitions, states in
        proportion to xi.

    Returns
    -------
    Moments
        With lists of one entry; its ``covariance`` is the stationary covariance.

    Raises
    ------
    MathematicalError
        Where the step size is too large for a stationary second moment, and where a trajectory
        is in one of several closed classes, each with moments of its own.
    SizeError
        Where the equation has over 1200 unknowns.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import SETD
    >>> stationary_moments(two_state(reward=1), SETD("1/10")).mean[0]
    Matrix([[5]])
    """
    system = JumpSystem(problem, learner, sampling)
    ops, groups = system.ops, system.groups
    alpha = constant_step_size(ops, learner)
    if len(system.expectations) > 1:
        raise MathematicalError(
            f"a trajectory stays in one of {len(system.expectations)} closed classes, and each has "
            "stationary moments of its own; build the problem with xi=problem.chain."
            "stationary_by_class[k]"
        )
    span = system.expectations[0].span
    B, m = span.basis, span.dimension
    x0 = ops.arithmetic.column(system.start_weights(theta0))
    if groups * m * m > LARGEST:
        raise SizeError(
            f"the second moments have {groups * m * m} unknowns; at most {LARGEST} are solved for"
        )
    limit = step_size_limit(problem, learner, sampling=sampling) if m else math.inf
    if not ops.arithmetic.public(alpha) < limit:
        raise MathematicalError(
            f"the step size {ops.arithmetic.public(alpha)} of {learner.name} has no stationary second "
            f"moment: the limit in mean square is {limit}"
        )
    arithmetic, size, chances = ops.arithmetic, system.size, system.start()
    steps = []
    for s, t, weight, c, gradient in system.outcomes:
        G = ops.arithmetic.matrix(gradient, (size, size))
        update = ops.arithmetic.column(c) + G @ x0
        drift = [alpha * v for v in span.coordinates(update).entries()]
        slope = span.restrict(G).rows()
        steps.append((s, t, weight, drift, one_plus(arithmetic, alpha, slope)))
    first = [Jump(s, t, w, M, [w * (c_i * chances[s]) for c_i in c]) for s, t, w, c, M in steps]
    means = _fixed_point(arithmetic, first, groups, m)
    second = []
    for s, t, w, c, M in steps:
        mean = means[s * m : (s + 1) * m]
        moved = [sum((a * b for a, b in zip(row, mean, strict=True)), arithmetic.zero) for row in M]
        source = [
            w * (moved[i] * c[j] + c[i] * moved[j] + c[i] * c[j] * chances[s])
            for i in range(m)
            for j in range(m)
        ]
        kron = [
            [M[i][a] * M[j][b] for a in range(m) for b in range(m)]
            for i in range(m)
            for j in range(m)
        ]
        second.append(Jump(s, t, w, kron, source))
    spreads = _fixed_point(arithmetic, second, groups, m * m)
    mean = [sum((means[g * m + i] for g in range(groups)), arithmetic.zero) for i in range(m)]
    total = [
        sum((spreads[g * m * m + k] for g in range(groups)), arithmetic.zero) for k in range(m * m)
    ]
    S = B @ arithmetic.matrix([total[i * m : (i + 1) * m] for i in range(m)], (m, m)) @ B.T
    u = B @ arithmetic.column(mean)
    return system.moments([(x0 + u, S + x0 @ u.T + u @ x0.T + x0 @ x0.T)])


def _fixed_point(arithmetic: Arithmetic, jumps: list[Jump], groups: int, k: int) -> list[Any]:
    """The u of a linear jump system, k entries a group."""
    system, right = linear_system(arithmetic, jumps, groups, k)
    matrix = arithmetic.matrix(system, (len(right), len(right)))
    return matrix.solve(arithmetic.column(right), "the stationary moment equation").entries()
