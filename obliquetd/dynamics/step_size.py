"""How large a constant step size may be, exactly where the problem is small.

The second moments of a jump system (:mod:`obliquetd.dynamics.moments`) are mapped
linearly, S_t <- sum of w M S_s M'. In mean square the learner is stable where this map T,
taken modulo ker Phi, has spectral radius below one. T maps positive semidefinite matrices
to such, so its radius is an eigenvalue (Krein and Rutman), and the step size at which
stability ends is the smallest positive root of det(1 - T(alpha)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import sympy as sp

from obliquetd.algebra import Matrix, parse_number, public_number
from obliquetd.algebra.interpolation import coefficients_through
from obliquetd.dynamics.mean import mean_dynamics
from obliquetd.dynamics.moments import JumpSystem
from obliquetd.dynamics.quotient import quotient_basis
from obliquetd.errors import InputError, SignUndecidedError
from obliquetd.learners import Learner, require_learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["step_size_limit"]

LARGEST_EXACT = 30
"""Size of T up to which the limit is an exact root; beyond, floats bisect."""


def step_size_limit(
    problem: PolicyEvaluation,
    learner: Learner,
    *,
    sampling: str = "trajectory",
    sense: str = "mean square",
) -> Any:
    """The largest constant step size up to which a learner is stable.

    Parameters
    ----------
    problem : PolicyEvaluation
    learner : Learner
        Without a trace; its step size does not matter. For gradient learners beta =
        alpha mu moves along.
    sampling : {"trajectory", "iid"}
    sense : {"mean square", "mean"}
        Whether E[x x'] or E[x] has to stay bounded, modulo ker Phi.

    Returns
    -------
    number
        0 where no step size is stable (the mean dynamics is not). An exact algebraic
        number for small exact problems, else a float; oo where every step size is stable.

    Raises
    ------
    InputError
        For a learner with a trace.
    SignUndecidedError
        For floats where the stability of the mean dynamics is too close to call.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import SETD, TD
    >>> step_size_limit(two_state(), SETD(), sampling="iid"), step_size_limit(two_state(), TD())
    (1/4, 0)
    """
    require_learner(learner)
    if sense not in ("mean square", "mean"):
        raise InputError(f"sense is {sense!r}; expected 'mean square' or 'mean'")
    system = JumpSystem(problem, learner, sampling)
    ops = system.ops
    verdict = mean_dynamics(problem, learner, sampling=sampling).stability.verdict
    if verdict == "undecided":
        raise SignUndecidedError(
            "the stability of the mean dynamics is too close to call in floats"
        )
    exact = ops.arithmetic.kind == "exact"
    if verdict != "stable":
        return sp.Integer(0) if exact else 0.0
    _, B, left = quotient_basis(ops, learner.two_timescale)
    pencils = (
        _pencils(system, B, left) if sense == "mean square" else [_mean_pencil(system, B, left)]
    )
    groups = system.groups if sense == "mean square" else 1
    m = len(pencils[0].constant)
    if exact and groups * m * (m + 1) // 2 <= LARGEST_EXACT:
        return _exact_limit(pencils, m, groups)
    return _float_limit(pencils, m, groups)


@dataclass(frozen=True)
class Pencil:
    """One outcome of a jump system modulo ker Phi: x in group s goes to M x in group t.

    M = constant + alpha slope, native scalars.
    """

    s: int
    t: int
    weight: Any
    constant: list[list[Any]]
    slope: list[list[Any]]


def _pencils(system: JumpSystem, B: Matrix, left: Matrix) -> list[Pencil]:
    arithmetic, size = system.ops.arithmetic, system.size
    identity = arithmetic.identity(B.shape[1]).rows()
    return [
        Pencil(s, t, weight, identity, (left @ arithmetic.matrix(G, (size, size)) @ B).rows())
        for s, t, weight, _, G in system.outcomes
    ]


def _mean_pencil(system: JumpSystem, B: Matrix, left: Matrix) -> Pencil:
    """E[x 1{s}] over all groups as one vector x, with its map M.

    The radius of M is below one if and only if that of S -> M S M' is, again a positive map.
    """
    zero, m = system.ops.arithmetic.zero, B.shape[1]
    size = system.groups * m
    constant, slope = ([[zero] * size for _ in range(size)] for _ in range(2))
    for p in _pencils(system, B, left):
        for whole, part in ((constant, p.constant), (slope, p.slope)):
            for i, row in enumerate(part):
                for j, value in enumerate(row):
                    at = whole[p.t * m + i]
                    at[p.s * m + j] = at[p.s * m + j] + p.weight * value
    return Pencil(0, 0, system.ops.arithmetic.one, constant, slope)


def _exact_limit(pencils: list[Pencil], m: int, groups: int) -> Any:
    """The smallest positive root of det(1 - T(alpha)), interpolated from integer samples."""
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    size = groups * len(pairs)
    degree = 2 * size
    points = range(degree + 1)
    identity = flint.fmpq_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
    values = [[(identity - _second_order(pencils, point, pairs, size)).det()] for point in points]
    solved = [c for (c,) in coefficients_through(points, values)]
    polynomial = sp.Poly([public_number(parse_number(c)) for c in solved[::-1]], sp.Dummy("alpha"))
    positive = [r for f, _ in polynomial.factor_list()[1] for r in f.real_roots() if r > 0]
    return min(positive, key=lambda r: sp.N(r, 40)) if positive else sp.oo


def _second_order(
    pencils: list[Pencil], alpha: int, pairs: list[tuple[int, int]], size: int
) -> Any:
    """S -> sum of w M S M' on symmetric matrices, in the coordinates S_ij, i <= j."""
    k = len(pairs)
    T = flint.fmpq_mat(size, size)
    for p in pencils:
        M = [
            [c + alpha * g for c, g in zip(a, b, strict=True)]
            for a, b in zip(p.constant, p.slope, strict=True)
        ]
        for row, (i, j) in enumerate(pairs):
            for column, (a, b) in enumerate(pairs):
                value = M[i][a] * M[j][b] + (M[i][b] * M[j][a] if a != b else 0)
                if value:
                    at = (p.t * k + row, p.s * k + column)
                    T[at] = T[at] + p.weight * value
    return T


def _float_limit(pencils: list[Pencil], m: int, groups: int) -> float:
    """Double the step size until the spectral radius passes one, then bisect."""

    def table(values: list[Any]) -> npt.NDArray[Any]:
        return np.array(
            [[[float(public_number(v)) for v in row] for row in rows] for rows in values]
        )

    constant, slope = table([p.constant for p in pencils]), table([p.slope for p in pencils])
    weights = np.array([float(public_number(p.weight)) for p in pencils])[:, None, None]
    k = m * m

    def radius(alpha: float) -> float:
        M = constant + alpha * slope
        blocks = weights * np.einsum("kab,kcd->kacbd", M, M).reshape(len(M), k, k)
        T: npt.NDArray[Any] = np.zeros((groups * k, groups * k))
        for p, block in zip(pencils, blocks, strict=True):
            T[p.t * k : (p.t + 1) * k, p.s * k : (p.s + 1) * k] += block
        return float(np.abs(np.linalg.eigvals(T)).max())

    high = 1e-6
    while radius(high) < 1.0:
        high *= 2.0
        if high > 1e9:
            return np.inf
    low = high / 2.0
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (middle, high) if radius(middle) < 1.0 else (low, middle)
    return low
