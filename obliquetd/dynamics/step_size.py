"""How large a constant step size may be, exactly where the problem is small.

The second moments of a jump system (:mod:`obliquetd.dynamics.moments`) are mapped linearly,
S_t <- sum of w M S_s M', on the span U of all updates. In mean square the learner is stable
where this map T(alpha) has spectral radius below one. T maps positive semidefinite matrices to
such, so its radius is an eigenvalue (Krein and Rutman), and the step size at which stability ends
is the smallest positive root of det(1 - T(alpha)).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from obliquetd.dynamics.expectation import Expectation
from obliquetd.dynamics.float_step_size import LARGEST_EXACT, float_limit, proved_limit
from obliquetd.dynamics.mean import MeanDynamics, mean_dynamics
from obliquetd.dynamics.mean_step_size import LARGEST_EXACT as LARGEST_EXACT_MEAN
from obliquetd.dynamics.mean_step_size import limit_in_the_mean, limit_of_update
from obliquetd.dynamics.moments import JumpSystem
from obliquetd.dynamics.pencil import Pencil, exact_limit, maps_of, pencils_of
from obliquetd.dynamics.rule import RuleOnNumbers
from obliquetd.dynamics.sampling import classes_of, require_numbers
from obliquetd.dynamics.stability import NOTHING_MOVES, verdict_on
from obliquetd.dynamics.step_size_result import EXPECTED_UPDATE, LOWER_BOUND, StepSizeLimit
from obliquetd.dynamics.trace_step_size import certified_with_trace
from obliquetd.errors import InputError, MathematicalError, SignUndecidedError, SizeError
from obliquetd.learners import Learner, require_learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.rationals import OnRationals

__all__ = ["StepSizeLimit", "is_small", "step_size_limit"]


def step_size_limit(
    problem: PolicyEvaluation,
    learner: Learner,
    *,
    sampling: str | None = None,
    sense: str = "mean square",
) -> Any:
    """The largest constant step size up to which a learner is stable.

    Parameters
    ----------
    problem : PolicyEvaluation
    learner : Learner
        Its step size does not matter. For gradient learners beta = alpha mu moves along.
    sampling : {"trajectory", "iid"}, optional
        A stationary trajectory, which None means too, or independent transitions, states in
        proportion to xi.
    sense : {"mean square", "mean"}
        Whether E[x x'] or E[x] has to stay bounded, for x in the span of the updates.

    Returns
    -------
    number
        0 where no step size is stable (the mean dynamics is not). An exact number for small exact
        problems, else a float; oo where every step size is stable. An irrational number is a
        :class:`StepSizeLimit`, which prints as a decimal; its ``exact`` is the algebraic number.
        The least one where a trajectory may be in one of several closed classes.

        With a trace, whose moments obey no finite equation, it is a ``StepSizeLimit`` of another kind, and
        says so: "mean" gives the exact limit of the expected update, theta' = theta + alpha (b - A theta),
        which is no statement on E[x]; "mean square" gives a certified lower bound, below which every step
        size is stable (:mod:`obliquetd.dynamics.trace_step_size`).

    Raises
    ------
    InputError
        For a trajectory with weights that are not stationary; with a trace for independent transitions,
        and in mean square where the trace is not bounded.
    SignUndecidedError
        For floats where the stability of the mean dynamics is too close to call.
    MathematicalError
        Where no update moves any weight, and where floats cannot confirm the limit they found.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import SETD, TD
    >>> step_size_limit(two_state(), SETD(), sampling="iid"), step_size_limit(two_state(), TD())
    (1/4, 0)
    >>> step_size_limit(two_state("1/2"), TD(lam="1/2"), sense="mean")
    1.33333 (limit, expected update)
    >>> print(f"{step_size_limit(two_state('1/2'), TD(lam='1/2')):.3f}, below which all are stable")
    0.030, below which all are stable
    """
    require_learner(learner)
    if sense not in ("mean square", "mean"):
        raise InputError(f"sense is {sense!r}; expected 'mean square' or 'mean'")
    if learner.has_memory and sampling != "iid":
        return _with_trace(problem, learner, sampling, sense)
    system = JumpSystem(problem, learner, sampling)
    sampled = "iid" if system.iid else "trajectory"
    dynamics = mean_dynamics(problem, learner, sampling=sampled)
    if system.ops.arithmetic.kind == "float" and system.linear and is_small(system, sense):
        if not _decided(dynamics):
            return 0.0
        known = None if sense == "mean" else _proved(system)
        if known is None:
            rational = JumpSystem(problem, learner, sampling, OnRationals(problem.inputs))
            return _on_rationals(rational, sense)
        return known
    stable = _decided(dynamics)
    exact = system.ops.arithmetic.kind == "exact"
    if not stable:
        return sp.Integer(0) if exact else 0.0
    if not system.linear:
        return _told(_limit_of_a_polynomial(system, sense, exact), sense)
    return _told(_limit(system, sense, exact), sense)


def is_small(system: JumpSystem, sense: str) -> bool:
    """Whether the limit is a root of a polynomial that is in reach, whatever the numbers are.

    Where floats leave open what it is, they are then taken as the rationals that they are: eigenvalues may be as
    near to one as slow weights leave them. A user's own weights are stationary to rounding only.
    """
    if system.ops.inputs.xi is not None and not system.iid:
        return False
    moving = system.groups * system.size
    if sense == "mean":
        return moving <= LARGEST_EXACT_MEAN
    return moving * (system.size + 1) // 2 <= LARGEST_EXACT


def _proved(system: JumpSystem) -> float | None:
    """The limit in mean square, of a stable mean dynamics, in floats where they prove it."""
    limits = []
    for found in system.expectations:
        if found.span.dimension:
            pencils = pencils_of(system, found)
            groups = 1 + max(p.s for p in pencils)
            limits.append(proved_limit(pencils, len(pencils[0].G), groups))
    known = [x for x in limits if x is not None]
    return min(known) if known and len(known) == len(limits) else None


def _on_rationals(system: JumpSystem, sense: str) -> float:
    """The limit of a problem in floats as that of the rationals that these are."""
    moving = [found for found in system.expectations if found.span.dimension]
    if not moving:
        raise _nothing_moves(system.learner)
    if any(verdict_on(found.Q)[0] != "stable" for found in moving):
        return 0.0
    return float(_limit(system, sense, exact=True))


def _trace_on_rationals(problem: PolicyEvaluation, learner: Learner) -> float:
    """The limit of the expected update with a trace, likewise."""
    ops = OnRationals(problem.inputs)
    rule = RuleOnNumbers(ops, learner)
    found = [Expectation(rule, xi, carried=True) for xi in classes_of(ops)]
    moving = [each.Q for each in found if each.span.dimension]
    if not moving:
        raise _nothing_moves(learner)
    if any(verdict_on(Q)[0] != "stable" for Q in moving):
        return 0.0
    return float(_least([limit_of_update(Q.rows(), exact=True) for Q in moving]))


def _limit(system: JumpSystem, sense: str, exact: bool) -> Any:
    find = _limit_in_mean_square if sense == "mean square" else limit_in_the_mean
    limit: Any = sp.oo
    for found in system.expectations:  # no comprehension: whether it is a frame depends on Python
        if found.span.dimension:
            limit = _least([limit, find(pencils_of(system, found), exact)])
    return limit


def _least(limits: list[Any]) -> Any:
    return min(limits, key=lambda a: sp.N(a, 40) if isinstance(a, sp.Basic) else a)


def _told(limit: Any, sense: str) -> Any:
    """A limit as users get it: what would print as a long root prints as a decimal."""
    plain = isinstance(limit, float) or limit.is_Rational or limit is sp.oo
    return limit if plain else StepSizeLimit(limit, sense)


def _decided(dynamics: MeanDynamics) -> bool:
    """Whether the mean dynamics is stable; an error where that is not decided, or nothing moves."""
    verdict = dynamics.stability.verdict
    if verdict == "undecided":
        raise SignUndecidedError(
            "the stability of the mean dynamics is too close to call in floats; use "
            "arithmetic='exact'"
        )
    if verdict == NOTHING_MOVES:
        raise _nothing_moves(dynamics.learner)
    return verdict == "stable"


def _nothing_moves(learner: Learner) -> MathematicalError:
    return MathematicalError(
        f"no update of {learner.name} moves any weight here, whatever the step size"
    )


def _with_trace(
    problem: PolicyEvaluation, learner: Learner, sampling: str | None, sense: str
) -> Any:
    """The limit of the expected update, or a certified bound in mean square, along a trajectory."""
    require_numbers(problem, learner)
    dynamics = mean_dynamics(problem, learner, sampling=sampling or "trajectory")
    mean = sense == "mean"
    sense, kind = (EXPECTED_UPDATE, "limit") if mean else (sense, LOWER_BOUND)
    rule = dynamics.expectation.rule
    unknowns = rule.ops.n * (rule.size + rule.memory_size)
    if (
        problem.arithmetic == "float"
        and mean
        and unknowns <= LARGEST_EXACT
        and problem.inputs.xi is None
    ):
        return StepSizeLimit(_trace_on_rationals(problem, dynamics.learner), sense)
    exact = problem.arithmetic == "exact"
    if not _decided(dynamics):
        return StepSizeLimit(sp.Integer(0) if exact else 0.0, sense)
    found = [dyn.expectation for dyn in dynamics.classes if dyn.expectation.span.dimension]
    if not mean:
        return StepSizeLimit(min(map(certified_with_trace, found)), sense, kind)
    return StepSizeLimit(_least([limit_of_update(each.Q.rows(), exact) for each in found]), sense)


def _limit_of_a_polynomial(system: JumpSystem, sense: str, exact: bool) -> Any:
    """The limit in mean square for a rule that is a polynomial of a higher degree in alpha.

    Raises
    ------
    InputError
        In floats, in the mean, or for a rule that is no polynomial in alpha.
    SizeError
        Where the exact equation is too large.
    """
    learner, most = system.learner, system.degree
    if not exact or sense != "mean square" or most is None:
        raise InputError(
            f"one step of {learner.name} is not linear in its step size; the limit is computed for "
            "polynomials in alpha, in exact arithmetic and with sense='mean square' alone"
        )
    limits = []
    for found in system.expectations:
        m = found.span.dimension
        inside = [0] if system.iid else [s for s, w in enumerate(found.xi) if w]
        if len(inside) * m * (m + 1) // 2 > LARGEST_EXACT:
            raise SizeError(
                f"the second moments have {len(inside) * m * (m + 1) // 2} unknowns; for {learner.name} at "
                f"most {LARGEST_EXACT} are solved for"
            )
        if m:
            maps = maps_of(system, found, inside)
            limits.append(exact_limit(maps, m, len(inside), most))
    return _least(limits)


def _limit_in_mean_square(pencils: list[Pencil], exact: bool) -> Any:
    m = len(pencils[0].G)
    groups = 1 + max(p.s for p in pencils)
    if exact and groups * m * (m + 1) // 2 <= LARGEST_EXACT:
        return exact_limit([(p.s, p.t, p.weight, p.at) for p in pencils], m, groups)
    return float_limit(pencils, m, groups)
