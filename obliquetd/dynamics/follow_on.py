"""The second moment of ETD's follow-on trace: exact, and exactly where it is infinite."""

from __future__ import annotations

from typing import Any

import sympy as sp

from obliquetd.algebra import Matrix, parse_number
from obliquetd.dynamics.memory_moments import is_contraction
from obliquetd.dynamics.rule import operators_for
from obliquetd.dynamics.sampling import is_stationary
from obliquetd.errors import InputError, UndefinedError
from obliquetd.learners import ETD
from obliquetd.problem import PolicyEvaluation, require_problem
from obliquetd.problem.native import Operators

__all__ = ["follow_on_second_moment", "second_moment_is_finite", "second_moment_kernel"]


def second_moment_kernel(problem: PolicyEvaluation, beta: Any = None) -> Any:
    """K(s, s') = sum over a of mu(a|s) p (g rho)^2, public, (n, n).

    Given beta, g is beta times the row's own discount, as in ETD(lambda, beta).

    The second moment of F_t = 1 + g rho F_{t-1} is carried by K; it is finite exactly
    where the spectral radius of K is below 1 (K has no negative entry).
    """
    return _kernel(*_decays(problem, beta)).public()


def _decays(problem: PolicyEvaluation, beta: Any) -> tuple[Operators, Any]:
    """The operators, and what F decays by on each row besides rho."""
    if beta is None:
        return require_problem(problem).native, problem.native.row_discount
    ops = operators_for(problem, ETD(beta=beta))
    return ops, ops.own_discount * ops.arithmetic.scalar(parse_number(beta))


def _weighted(ops: Operators, decays: Any, power: int) -> Any:
    """mu p (g rho)^power for every row; 0 where mu is."""
    zero = ops.arithmetic.zero
    out = ops.probability.copy()
    for i, (mu, pi, p, g) in enumerate(zip(ops.mu, ops.pi, ops.probability, decays, strict=True)):
        out[i] = mu * p * (g * pi / mu) ** power if mu else zero
    return out


def _kernel(ops: Operators, decays: Any) -> Matrix:
    return ops.square(_weighted(ops, decays, 2))


def second_moment_is_finite(problem: PolicyEvaluation, beta: Any = None) -> bool:
    """Whether the second moment of ETD's follow-on trace F_t stays bounded, decided without computing an eigenvalue.

    It does if and only if the kernel of :func:`second_moment_kernel` is a contraction. Given beta, it is
    that of ETD(lambda, beta).

    Raises
    ------
    SignUndecidedError
        Where it depends on a symbol.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> [second_moment_is_finite(two_state(), beta) for beta in (None, "7/10", "71/100")]
    [False, True, False]
    """
    ops, decays = _decays(problem, beta)
    return is_contraction(_kernel(ops, decays))


def follow_on_second_moment(problem: PolicyEvaluation, beta: Any = None) -> Any:
    """E[F_t^2 | S_t = s], stationary, of ETD's follow-on trace F_t: n of them; oo everywhere if infinite.

    With zeta(s) = E[F 1{s}] = f(s) and q(s) = E[F^2 1{s}],
    q(s') = xi(s') + 2 sum of mu p g rho f(s) + sum of mu p (g rho)^2 q(s).

    Given beta, g is beta times the row's own discount, here and in f, as in ETD(lambda, beta). In a terminal state,
    after which an episode begins anew, there is no trace, and the entry is 0.

    Raises
    ------
    UndefinedError
        At other states that the behaviour never visits.
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
    ops, decays = _decays(problem, beta)
    if not is_stationary(ops):
        raise InputError(
            "the follow-on trace is carried along a trajectory, whose states are distributed as the "
            "behaviour chain's stationary distribution; the weights xi that were given are not "
            "stationary. Leave xi out"
        )
    missing = [i for i in ops.unvisited if i not in set(ops.terminal)]
    if missing:
        raise UndefinedError(
            f"the states {ops.names(missing)[:8]} are never visited, so that there is no trace in them; leave "
            "them out of the model",
            ops.names(missing),
        )
    if not second_moment_is_finite(problem, beta):
        return sp.ImmutableDenseMatrix([sp.oo] * ops.n)
    two = ops.arithmetic.one + ops.arithmetic.one
    moved, identity = ops.square(_weighted(ops, decays, 1)).T, ops.arithmetic.identity(ops.n)
    f = ops.f if beta is None else (identity - moved).solve(ops.xi, "the mean follow-on trace")
    source = ops.xi + (moved @ f).scaled(two)
    q = (identity - _kernel(ops, decays)).T.solve(source, "I - K'")
    return q.scale_rows(ops.over_xi).public_vector()
