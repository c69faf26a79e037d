"""The second moment of ETD's follow-on trace: exact, and exactly where it is infinite."""

from __future__ import annotations

from typing import Any

import sympy as sp

from obliquetd.algebra import Matrix
from obliquetd.dynamics.sampling import is_stationary
from obliquetd.errors import InputError, SingularError, UndefinedError
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.native import Operators

__all__ = ["follow_on_second_moment", "second_moment_is_finite", "second_moment_kernel"]


def second_moment_kernel(problem: PolicyEvaluation) -> Any:
    """K(s, s') = sum over a of mu(a|s) p (g rho)^2, public, (n, n).

    The second moment of F_t = 1 + g rho F_{t-1} is carried by K; it is finite exactly
    where the spectral radius of K is below 1 (K has no negative entry).
    """
    return _kernel(problem.native).public()


def _weighted(ops: Operators, power: int) -> Any:
    """mu p (g rho)^power for every row; 0 where mu is."""
    zero = ops.arithmetic.zero
    out = ops.probability.copy()
    for i, (mu, pi, p, g) in enumerate(
        zip(ops.mu, ops.pi, ops.probability, ops.row_discount, strict=True)
    ):
        out[i] = mu * p * (g * pi / mu) ** power if mu else zero
    return out


def _kernel(ops: Operators) -> Matrix:
    return ops.square(_weighted(ops, 2))


def second_moment_is_finite(problem: PolicyEvaluation) -> bool:
    """Whether E[F_t^2] stays bounded, decided without computing an eigenvalue.

    For a nonnegative K, the spectral radius is below 1 if and only if (I - K) x = 1 has
    a solution with all entries positive.

    Raises
    ------
    SignUndecidedError
        Where it depends on a symbol.
    """
    ops = problem.native
    ones = ops.arithmetic.column([ops.arithmetic.one] * ops.n)
    try:
        x = (ops.arithmetic.identity(ops.n) - _kernel(ops)).solve(ones, "I - K")
    except SingularError:
        return False
    return all(ops.arithmetic.sign(v) > 0 for v in x.entries())


def follow_on_second_moment(problem: PolicyEvaluation) -> Any:
    """E[F_t^2 | S_t = s] in the stationary distribution, n of them; oo everywhere if infinite.

    With zeta(s) = E[F 1{s}] = f(s) and q(s) = E[F^2 1{s}],
    q(s') = xi(s') + 2 sum of mu p g rho f(s) + sum of mu p (g rho)^2 q(s).

    Raises
    ------
    UndefinedError
        At states that the behaviour never visits.
    InputError
        For weights xi that are not stationary.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> follow_on_second_moment(two_state(discount="1/2"))
    Matrix([
    [ 1],
    [11]])
    >>> follow_on_second_moment(two_state(discount="9/10"))[0]
    oo
    """
    ops = problem.native
    if not is_stationary(ops):
        raise InputError(
            "the follow-on trace is carried along a trajectory, whose states are distributed as the "
            "behaviour chain's stationary distribution; the weights xi that were given are not "
            "stationary. Leave xi out"
        )
    if ops.unvisited:
        raise UndefinedError(
            f"the states {ops.names(ops.unvisited)[:8]} are never visited", ops.names(ops.unvisited)
        )
    if not second_moment_is_finite(problem):
        return sp.ImmutableDenseMatrix([sp.oo] * ops.n)
    two = ops.arithmetic.one + ops.arithmetic.one
    linear = ops.square(_weighted(ops, 1)).T @ ops.f
    source = ops.xi + linear.scaled(two)
    q = (ops.arithmetic.identity(ops.n) - _kernel(ops)).T.solve(source, "I - K'")
    inverse = [ops.arithmetic.one / w for w in ops.xi.entries()]
    return q.scale_rows(ops.arithmetic.column(inverse)).public_vector()
