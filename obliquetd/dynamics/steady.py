"""Where a constant step size leaves the weights: the stationary mean and covariance."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import Arithmetic, FieldArithmetic, parse_number
from obliquetd.algebra.factoring import factored
from obliquetd.dynamics.jumps import Jump, linear_system, one_plus
from obliquetd.dynamics.limit import limit_of
from obliquetd.dynamics.moments import JumpSystem, constant_step_size
from obliquetd.dynamics.moments_by_step import Moments
from obliquetd.dynamics.pencil import contracts, coordinates_on, restricted_to
from obliquetd.dynamics.step_size import is_small, step_size_limit
from obliquetd.errors import (
    KindError,
    MathematicalError,
    ObliqueTDError,
    PrecisionWarning,
    SizeError,
)
from obliquetd.learners import Learner, require_learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.rationals import OnRationals

__all__ = ["StationaryMoments", "stationary_moments"]

LARGEST = 1_200
"""Unknowns of the second-moment equation."""
FAR_BELOW = 0.9
"""A step size below this part of the limit is below it whatever its last digits are."""


@dataclass(frozen=True, eq=False)
class StationaryMoments(Moments):
    """What :func:`stationary_moments` returns.

    Attributes
    ----------
    fixed_point : vector of d
        theta*, where the expected update is 0.
    symbol : sympy.Symbol or None
        The step size, where it is a symbol.
    off : vector of d
        E[theta] - theta*, as it was solved for: the difference of the two would lose its digits.
    """

    fixed_point: Any
    symbol: sp.Symbol | None
    off: Any

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row: the columns of :meth:`Moments.rows` without the step, and ``bias_0``, ``bias_1``, ..."""
        yield {**self._row(0), **{f"bias_{i}": x for i, x in enumerate(self.bias[0])}}

    @cached_property
    def bias(self) -> list[Any]:
        """E[theta] - theta*, which a constant step size leaves along a trajectory."""
        return [self.off if self.symbol is None else self.off.applyfunc(factored)]

    @cached_property
    def slope(self) -> Any:
        """The derivative of the bias in the step size at 0, d of them."""
        alpha = self._symbol("slope")
        return self.bias[0].applyfunc(lambda x: sp.cancel(x / alpha).subs(alpha, 0))

    @cached_property
    def extrapolated_bias(self) -> Any:
        """What Richardson-Romberg extrapolation leaves, 2 bias(alpha) - bias(2 alpha): O(alpha^2)."""
        alpha = self._symbol("extrapolated bias")
        return self.bias[0].applyfunc(lambda x: factored(2 * x - x.subs(alpha, 2 * alpha)))

    def _symbol(self, what: str) -> sp.Symbol:
        if self.symbol is None:
            raise KindError(
                f"the {what} is of the step size; give a symbol for it, as in TD('alpha')"
            )
        return self.symbol


def stationary_moments(
    problem: PolicyEvaluation,
    learner: Learner,
    theta0: Any = None,
    *,
    sampling: str | None = None,
) -> StationaryMoments:
    """The moments that :func:`exact_moments` tends to from theta_0.

    With x = x* + B z, x* the fixed point and B a basis of the span of all updates, each outcome maps z to
    M z + c. Of each state s, p_s its chance, the mean mu_s = E[z | s] and V_s = E[(z - mu_s)(z - mu_s)' 1{s}]
    solve

    p_t mu_t = sum over s -> t of w p_s (M mu_s + c),
    V_t = sum over s -> t of w (M V_s M' + p_s e e'),   e = M mu_s + c - mu_t,

    and the covariance is the sum of V_s + p_s (mu_s - E z)(mu_s - E z)', terms that take nothing from each
    other: second moments less squares of means would lose the digits of a small covariance.

    Parameters
    ----------
    problem : PolicyEvaluation
    learner : Learner
        Without a trace, with a constant step size, or with a symbol for it: the answer then holds for
        all step sizes below :func:`step_size_limit`. Each of those has stationary moments, and some
        beyond it may have them again.
    theta0 : vector of d, optional
        Zero unless given; the limit depends on it only where some weights never move.
    sampling : {"trajectory", "iid"}, optional
        A stationary trajectory, which None means too, or independent transitions, states in
        proportion to xi.

    Returns
    -------
    StationaryMoments
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

    The bias of TD with a constant step size, to first order:

    >>> from obliquetd.domains import random_problem
    >>> from obliquetd.learners import TD
    >>> found = stationary_moments(random_problem(2, 1, seed=1), TD("a"))
    >>> found.bias[0].subs("a", 0), found.slope == found.bias[0].diff("a").subs("a", 0)
    (Matrix([[0]]), True)

    Notes
    -----
    A learner with a constant step size is a Markov jump linear system (Hu and Syed 2019); along a
    trajectory its mean is off the fixed point in proportion to alpha, which Richardson-Romberg
    extrapolation removes to first order (Huo, Chen and Xie 2023).
    """
    require_learner(learner)
    step = None if callable(learner.alpha) else parse_number(learner.alpha or 1, "alpha")
    symbol = step if isinstance(step, sp.Symbol) else None
    if symbol is not None and problem.arithmetic != "exact":
        raise KindError(
            f"the step size {symbol} is a symbol and the problem is {problem.arithmetic}; with a symbol "
            "for the step size the problem has to be exact"
        )
    wider = None if symbol is None else problem.native.over(FieldArithmetic([symbol]))
    system = JumpSystem(problem, learner, sampling, wider)
    floats = system.ops.arithmetic.kind == "float"
    if floats and system.linear and is_small(system, "mean square"):
        system = JumpSystem(problem, learner, sampling, OnRationals(problem.inputs))
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
    arithmetic, size, chances = ops.arithmetic, system.size, system.start()
    rows = [
        (*step[:4], arithmetic.matrix(step[4], (size, size))) for step in system.affine_steps(alpha)
    ]
    slopes = [restricted_to(system, span, D) for *_, D in rows]
    if m and symbol is None:
        maps = [
            (s, t, w, one_plus(arithmetic, arithmetic.one, Q))
            for (s, t, w, *_), Q in zip(rows, slopes, strict=True)
        ]
        _require_second_moment(problem, system, maps, m, sampling)
    star = limit_of(system.expectations[0], x0, f"the mean dynamics of {learner.name}")
    steps = []
    for (s, t, weight, constant, D), Q in zip(rows, slopes, strict=True):
        drift = coordinates_on(system, span, arithmetic.column(constant) + D @ star)
        steps.append((s, t, weight, drift, one_plus(arithmetic, arithmetic.one, Q)))
    first = [Jump(s, t, w, M, [w * (c_i * chances[s]) for c_i in c]) for s, t, w, c, M in steps]
    means = _fixed_point(arithmetic, first, groups, m)
    mean = [sum((means[g * m + i] for g in range(groups)), arithmetic.zero) for i in range(m)]
    centre = [
        [v / p for v in means[g * m : (g + 1) * m]] if p else means[g * m : (g + 1) * m]
        for g, p in enumerate(chances)
    ]
    second = []
    for s, t, w, c, M in steps:
        moved = [
            sum((a * b for a, b in zip(row, centre[s], strict=True)), arithmetic.zero) for row in M
        ]
        e = [moved[i] + c[i] - centre[t][i] for i in range(m)]
        source = [w * (chances[s] * (e[i] * e[j])) for i in range(m) for j in range(m)]
        kron = [
            [M[i][a] * M[j][b] for a in range(m) for b in range(m)]
            for i in range(m)
            for j in range(m)
        ]
        second.append(Jump(s, t, w, kron, source))
    within = _fixed_point(arithmetic, second, groups, m * m)
    off = [[v - u for v, u in zip(each, mean, strict=True)] for each in centre]
    total = [
        sum(
            (
                within[g * m * m + i * m + j] + p * (off[g][i] * off[g][j])
                for g, p in enumerate(chances)
            ),
            arithmetic.zero,
        )
        for i in range(m)
        for j in range(m)
    ]
    S = B @ arithmetic.matrix([total[i * m : (i + 1) * m] for i in range(m)], (m, m)) @ B.T
    u = B @ arithmetic.column(mean)
    found = system.moments([(star + u, S)])
    theta, off = (x.submatrix(range(ops.Phi.shape[1]), [0]).public_vector() for x in (star, u))
    fields = {**vars(found), "fixed_point": theta, "off": off}
    if floats and arithmetic.kind == "exact":
        fields = {name: _as_floats(name, value) for name, value in fields.items()}
    return StationaryMoments(**fields, symbol=symbol)


def _as_floats(name: str, value: Any) -> Any:
    """Exact numbers as the floats next to them: matrices, and vectors, which have one axis."""
    if isinstance(value, list):
        return [_as_floats(name, x) for x in value]
    if isinstance(value, sp.MatrixBase):
        found = np.array(value.tolist(), dtype=float)
        return found if name in ("second", "covariance") else found[:, 0]
    return float(value)


def _require_second_moment(
    problem: PolicyEvaluation, system: JumpSystem, maps: Any, m: int, sampling: str | None
) -> None:
    """MathematicalError where the second moments do not contract at the learner's step size.

    Below the limit they do, and beyond it they may again: there they are asked themselves.
    """
    learner, public = system.learner, system.ops.arithmetic.public
    alpha = public(constant_step_size(system.ops, learner))
    limit: Any = None
    if system.ops.arithmetic.kind == "float" and system.linear:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", PrecisionWarning)
            limit = step_size_limit(problem, learner, sampling=sampling)
        for each in told:  # digits of the limit matter near it alone
            if not alpha < FAR_BELOW * limit:
                warnings.warn(each.message, stacklevel=3)
        if alpha < limit:
            return
    if contracts(system.ops.arithmetic, maps, m, system.groups):
        return
    try:
        limit = step_size_limit(problem, learner, sampling=sampling) if limit is None else limit
        told_limit = f": the limit in mean square is {limit}"
    except ObliqueTDError:  # not every rule has one that can be computed
        told_limit = ""
    raise MathematicalError(
        f"the step size {alpha} of {learner.name} has no stationary second moment{told_limit}"
    )


def _fixed_point(arithmetic: Arithmetic, jumps: list[Jump], groups: int, k: int) -> list[Any]:
    """The u of a linear jump system, k entries a group."""
    system, right = linear_system(arithmetic, jumps, groups, k)
    matrix = arithmetic.matrix(system, (len(right), len(right)))
    return matrix.solve(arithmetic.column(right), "the stationary moment equation").entries()
