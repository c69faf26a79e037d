"""The values of one symbol for which a learner ends up better than given weights.

On the range of stability, and between two sign changes of its rule, the fixed point theta of a
learner is a rational function of the symbol, and so is the gap of two squared errors

    sum over s of xi(s) { (phi(s) . theta - v_pi(s))^2 - (phi(s) . theta_0 - v_pi(s))^2 }

It changes its sign at its real roots and poles alone: they are isolated exactly, one rational
sample decides between two of them, and the points themselves are decided with their own numbers. So
are the points where the updates may span less: there theta is another one.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import sympy as sp

from obliquetd.algebra.cells import (
    CellArithmetic,
    SampledSigns,
    break_points,
    rational_between,
    sign_cells,
)
from obliquetd.algebra.intervals import parts_of
from obliquetd.algebra.number_field import RootArithmetic
from obliquetd.dynamics.domain import domain_of
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.dynamics.regions import NO_PROBLEM, put_in, stability_region, the_symbol
from obliquetd.errors import InputError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["improvement_region"]


def improvement_region(
    problem: PolicyEvaluation,
    learner: Learner,
    symbol: Any,
    *,
    theta0: Any = None,
    domain: sp.Interval | None = None,
    sampling: str | None = None,
) -> sp.Set:
    """The values of a symbol for which a learner is stable, and its fixed point better than theta0.

    Better is nearer to v_pi in the norm weighted by xi, strictly.

    Parameters
    ----------
    problem : PolicyEvaluation
    learner : Learner
    symbol : sympy.Symbol or str
        The only free symbol of the two, in the problem or in the learner.
    theta0 : vector of d, optional
        The weights to be better than, and those that the learner starts from; 0 unless given, which
        predicts 0 in every state.
    domain : sympy.Interval, optional
        Where to look; as for :func:`stability_region`.
    sampling : {"trajectory", "iid"}, optional
        As for :func:`mean_dynamics`.

    Returns
    -------
    sympy.Set
        A union of intervals and points with rational or algebraic end points, inside
        ``stability_region(problem, learner, symbol)``.

    Raises
    ------
    InputError
        Where the symbol does not occur, or another one does.
    MathematicalError
        Where a trajectory is in one of several closed classes, each with a fixed point of its own.

    Examples
    --------
    A regulariser of more than 1/5 makes TD stable, and only a larger one makes it useful:

    >>> from obliquetd import stability_region
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import RegularizedTD
    >>> problem, learner = two_state(reward=1), RegularizedTD(eta="eta")
    >>> stability_region(problem, learner, "eta"), improvement_region(problem, learner, "eta")
    (Interval.open(1/5, oo), Interval.open(13/40, oo))
    """
    stable = stability_region(problem, learner, symbol, domain=domain, sampling=sampling)
    found = the_symbol(problem, learner, symbol)
    on_cell = functools.partial(_gap_on_cell, problem, learner, sampling, theta0)
    better: list[sp.Set] = []
    points: set[Any] = set()
    for inside in parts_of(domain_of(problem, learner, found, domain)):
        if isinstance(inside, sp.FiniteSet):
            points |= {end for end in inside if end in stable}
            continue
        for cell in sign_cells(inside.start, inside.end, found, on_cell):
            gap, critical = cell.value
            ends = break_points(cell.left, cell.right, [gap, *critical], found)
            points |= {end for end in ends if end in stable}
            better += [
                sp.Interval.open(a, b)
                for a, b in itertools.pairwise(ends)
                if gap.subs(found, rational_between(a, b)) < 0
            ]
    kept = [end for end in points if _is_better_at(problem, learner, found, end, sampling, theta0)]
    return stable & sp.Union(*better, sp.FiniteSet(*kept))


def _gap(dynamics: MeanDynamics, theta0: Any) -> Any:
    """The squared error of the fixed point less that of theta0, native."""
    ops = dynamics.operators
    start = dynamics.first_weights(theta0)
    ours, theirs = (
        (ops.Phi @ theta - ops.v_pi).entries() for theta in (dynamics.limit(theta0), start)
    )
    return sum(
        (w * (a * a - b * b) for w, a, b in zip(ops.xi.entries(), ours, theirs, strict=True)),
        ops.arithmetic.zero,
    )


def _gap_on_cell(
    problem: PolicyEvaluation,
    learner: Learner,
    sampling: str | None,
    theta0: Any,
    signs: SampledSigns,
) -> tuple[Any, list[Any]]:
    """The gap, and formulas outside whose zeros and poles the updates span no less."""
    arithmetic = CellArithmetic(signs)
    dynamics = MeanDynamics(problem, learner, sampling, arithmetic)
    gap = sp.sympify(arithmetic.public(_gap(dynamics, theta0)))
    return gap, [arithmetic.public(c) for c in dynamics.expectation.span.critical]


def _is_better_at(
    problem: PolicyEvaluation,
    learner: Learner,
    symbol: sp.Symbol,
    value: Any,
    sampling: str | None,
    theta0: Any,
) -> bool:
    """The comparison with a value put in; False where there is no fixed point."""
    try:
        if value.is_Rational:
            dynamics = MeanDynamics(*put_in(problem, learner, symbol, value), sampling)
        else:
            dynamics = MeanDynamics(problem, learner, sampling, RootArithmetic(symbol, value))
        return dynamics.operators.arithmetic.sign(_gap(dynamics, theta0)) < 0
    except (InputError, *NO_PROBLEM):
        return False
