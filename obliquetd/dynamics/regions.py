"""For which values of one symbol is a learner stable? A union of intervals with exact end points.

1. SETD's max(., 0) is a case distinction. The rule is evaluated with every sign taken at
   one rational sample of a cell; the formulas whose signs were asked are kept, and the cell
   is split at their real roots until none of them changes sign inside.
2. On a cell, the span U of all updates has one dimension but for break points, which lie among the
   zeros and poles of its pivots. The characteristic polynomial p of A on U has coefficients that are
   rational functions of the symbol. An eigenvalue can reach the imaginary axis only where
   p(0) = 0 or where two roots of p add up to zero, that is where the resultant of the even
   and the odd part of p vanishes (Orlando's formula); or it jumps at a pole. Between two
   such points one rational sample decides for all.
3. For an outcome's memory that is not carried along, most of that need not be done: boxes prove the verdict on
   ranges (:mod:`obliquetd.algebra.boxes`), and only what they leave open is decided as above.
4. An end or break point is decided with its own number in place of the symbol: a rational, or a real
   algebraic number (:mod:`obliquetd.dynamics.algebraic`), since U may be smaller just there.
   An irrational point where only p changes is a root of p(0) or of that resultant, or a pole: A is not
   stable there.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from obliquetd.algebra import parse_number, public_number
from obliquetd.algebra.boxes import all_boxes
from obliquetd.algebra.intervals import holds, is_part
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.algebraic import stable_at_root
from obliquetd.dynamics.cases import dynamics_cases
from obliquetd.dynamics.function_field import Found, crossings, exactly
from obliquetd.dynamics.mean import MeanDynamics, mean_dynamics
from obliquetd.dynamics.sampling import resolve_sampling
from obliquetd.dynamics.stability import verdict_of
from obliquetd.dynamics.symbol import in_one_symbol
from obliquetd.errors import (
    CoverageError,
    DiscountError,
    InputError,
    MathematicalError,
    NumberError,
    ProbabilityError,
)
from obliquetd.learners import Learner, parameters, require_learner
from obliquetd.mdp.substitution import substitute
from obliquetd.problem import PolicyEvaluation, require_problem

__all__ = ["StabilityMap", "stability_map", "stability_region"]


def stability_region(
    problem: PolicyEvaluation,
    learner: Any,
    symbol: Any,
    *,
    domain: sp.Interval | None = None,
    sampling: str | None = None,
) -> sp.Set:
    """The values of a symbol for which a learner is stable (on the span of its updates).

    Parameters
    ----------
    problem : PolicyEvaluation
    learner : Learner, FQI or PFQI
        The symbol may be in the problem (the discount, a probability, a feature) or be the
        learner's ``lam`` or ``mu``. For the iterations FQI and PFQI it may be in ``alpha``, and stable
        means convergent from all weights (:meth:`obliquetd.dynamics.Iteration.is_convergent`).
    symbol : sympy.Symbol or str
        The only free symbol of the two.
    domain : sympy.Interval, optional
        Where to look: [0, 1) for the discount, [0, 1] for lam and for symbols in policies
        and transitions, (0, oo) for mu, else all reals.
    sampling : {"trajectory", "iid"}, optional
        As for :func:`mean_dynamics`.

    Returns
    -------
    sympy.Set
        A union of intervals and points with rational or algebraic end points, inside
        ``problem.valid_range(symbol)``.

    Raises
    ------
    InputError
        Where the symbol does not occur, or another one does.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import ETD, TD
    >>> stability_region(two_state("gamma"), TD(), "gamma")
    Interval.Ropen(0, 5/6)
    >>> stability_region(two_state("gamma"), ETD(), "gamma")
    Interval.Ropen(0, 1)
    >>> stability_region(two_state("9/10"), TD(lam="l"), "l")
    Interval.Lopen(4/9, 1)
    """
    return region_of(learner, problem, symbol, domain, sampling)


@functools.singledispatch
def region_of(
    learner: Any,
    problem: PolicyEvaluation,
    symbol: Any,
    domain: sp.Interval | None,
    sampling: str | None,
) -> sp.Set:
    """The region of a learner, or of what another module registers, as the iterations do."""
    require_learner(learner)
    found = the_symbol(problem, learner, symbol)
    sampling = resolve_sampling(problem.native, learner, sampling, mean_only=True)
    inside = domain_of(problem, learner, found) if domain is None else domain
    pieces, points, breaks = _by_boxes(problem, learner, found, sampling, inside) or exactly(
        problem, learner, found, sampling, inside
    )
    edges = [e for e in points | breaks if (e.is_Rational or e in breaks) and holds(inside, e)]
    kept = [edge for edge in edges if _stable_at(problem, learner, found, edge, sampling)]
    points = {x for x in kept if not any(holds(piece, x) for piece in pieces)}
    parts = [*pieces, sp.FiniteSet(*points)] if points else pieces
    region = parts[0] if len(parts) == 1 else sp.Union(*parts)
    if found not in problem.symbols:
        return region
    valid = problem.valid_range(found)
    return region if is_part(region, valid) else region & valid


def _by_boxes(
    problem: PolicyEvaluation,
    learner: Learner,
    symbol: sp.Symbol,
    sampling: str | None,
    inside: sp.Interval,
) -> Way[Found | None]:
    """The same by boxes (:mod:`obliquetd.algebra.boxes`), and :func:`exactly` where they leave a gap.

    None where that is for all of it.
    """
    start, end = inside.start, inside.end
    if not (start.is_Rational and end.is_Rational and start < end):
        return None
    family = in_one_symbol(problem, learner, symbol, sampling, start, end)
    if family is None:
        return None
    known = all_boxes(family)
    pieces: list[sp.Set] = []
    stable: list[tuple[Any, Any, bool, bool]] = []
    decided = {end for end in known.decided if holds(inside, end)}
    breaks = {start, end, *known.jumps, *known.narrowed} - decided
    points = {*breaks, *known.singular}
    for box in known.boxes:
        if box.side is None:
            gap = sp.Interval.open(box.low, box.high)
            more, some, others = exactly(problem, learner, symbol, sampling, gap)
            pieces, points, breaks = pieces + more, points | some, breaks | others
        elif box.side > 0:
            opens = (not box.closed or end in breaks for end in (box.low, box.high))
            first, last = opens
            if stable and stable[-1][1] == box.low and not (stable[-1][3] and first):
                low, _, first, _ = stable.pop()
                stable.append((low, box.high, first, last))
            else:
                stable.append((box.low, box.high, first, last))
    return [*pieces, *(sp.Interval(*x) for x in stable)], points, breaks


def the_symbol(problem: PolicyEvaluation, learner: Learner, symbol: Any) -> sp.Symbol:
    """The symbol of a name; InputError where it is not the only one of problem and learner."""
    return the_only_one(
        {*require_problem(problem).symbols, *learner.bound(problem).symbols}, symbol
    )


def the_only_one(symbols: set[sp.Symbol], symbol: Any) -> sp.Symbol:
    """The symbol of a name, where it is the only one that is free."""
    known = {str(s): s for s in symbols}
    name = str(symbol)
    if name not in known:
        raise InputError(
            f"the symbol {name} occurs neither in the problem nor in the learner; the symbols are "
            f"{', '.join(sorted(known)) or 'none'}"
        )
    if len(known) > 1:
        others = sorted(set(known) - {name})
        raise InputError(
            f"a region needs {name} to be the only symbol; {', '.join(others)} is free too. "
            "Substitute numbers with problem.subs"
        )
    return known[name]


def _has(setting: Any, symbol: sp.Symbol) -> bool:
    """Whether a learner's setting is a formula in the symbol."""
    if callable(setting):
        return False
    if isinstance(setting, Mapping):
        return any(_has(x, symbol) for x in setting.values())
    try:
        return bool(sp.sympify(public_number(parse_number(setting))).has(symbol))
    except NumberError:  # a word to choose from
        return False


def _at(setting: Any, values: dict[Any, Any]) -> Any:
    """A learner's setting with values put in for symbols."""
    if isinstance(setting, Mapping):
        return {s: _at(x, values) for s, x in setting.items()}
    return public_number(substitute(parse_number(setting), values))


def domain_of(problem: PolicyEvaluation, learner: Learner, symbol: sp.Symbol) -> sp.Interval:
    """Where a symbol is looked at unless the user says: the range of what it stands for.

    A reward or a feature may be any number; the chances and discounts of the table are in [0, 1].

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import TD
    >>> domain_of(two_state(reward="r"), TD(), sp.Symbol("r"))
    Interval(-oo, oo)
    """
    if problem.discount == symbol:
        return sp.Interval.Ropen(0, 1)
    for parameter in parameters(type(learner)):
        value = getattr(learner, parameter.name)
        if parameter.domain is not None and _has(value, symbol):
            return parameter.domain
    bounded = any(
        entry.role in ("probability", "discount") and _has(entry.value, symbol)
        for entry in problem.inputs.entries()
    )
    return sp.Interval(0, 1) if bounded else sp.Interval(-sp.oo, sp.oo)


NO_PROBLEM = (ProbabilityError, DiscountError, CoverageError, NumberError, MathematicalError)
"""What says that there is no problem, or no expected update, at a value of the symbol."""


def _stable_at(
    problem: PolicyEvaluation,
    learner: Learner,
    symbol: sp.Symbol,
    value: Any,
    sampling: str | None,
) -> bool:
    """The exact verdict with a value put in; False where there is no update at all."""
    try:
        if not value.is_Rational:
            return stable_at_root(problem, learner, symbol, value, sampling)
        try:
            there, changed = put_in(problem, learner, symbol, value)
        except InputError:  # a setting is out of its range: there is no such learner
            return False
        return mean_dynamics(there, changed, sampling=sampling).is_stable()
    except NO_PROBLEM:
        return False


def put_in(
    problem: PolicyEvaluation, learner: Learner, symbol: sp.Symbol, value: Any
) -> tuple[PolicyEvaluation, Learner]:
    """The problem and the learner with a rational in place of the symbol."""
    values = {symbol: value}
    fields = {
        p.name: _at(getattr(learner, p.name), values)
        for p in parameters(type(learner))
        if _has(getattr(learner, p.name), symbol)
    }
    there = problem.subs(values) if symbol in problem.symbols else problem
    return there, dataclasses.replace(learner, **fields)  # type: ignore[type-var]


@dataclasses.dataclass(frozen=True, eq=False)
class StabilityMap:
    """What :func:`stability_map` returns.

    Attributes
    ----------
    boundary : tuple of sympy expressions
        Polynomials in the two symbols; stability changes only where one of them vanishes.
    first, second : list of sympy.Rational
        The grid's values of the two symbols.
    stable : list of list of bool
        ``stable[i][j]`` at (first[i], second[j]), decided exactly.
    symbols : pair of sympy.Symbol
    at : function of two rationals
        The exact verdict there; no point of a boundary is stable.
    """

    boundary: tuple[Any, ...]
    first: list[Any]
    second: list[Any]
    stable: list[list[bool]]
    symbols: tuple[sp.Symbol, sp.Symbol]
    at: Callable[[Any, Any], bool]


def stability_map(
    problem: PolicyEvaluation,
    learner: Learner,
    symbols: tuple[Any, Any],
    ranges: tuple[tuple[Any, Any], tuple[Any, Any]],
    *,
    resolution: int = 25,
) -> StabilityMap:
    """Stability over two symbols: the boundary polynomials, and an exact grid for a picture.

    Parameters
    ----------
    problem : PolicyEvaluation
    learner : Learner
    symbols : pair of sympy.Symbol or str
        The only free symbols of problem and learner.
    ranges : pair of (low, high)
        Where the grid lies; its points are the centres of resolution by resolution cells.
    resolution : int

    Raises
    ------
    InputError
        Where the symbols are not exactly those that are free.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import TD
    >>> found = stability_map(two_state("gamma"), TD(lam="l"), ("gamma", "l"), ((0, 1), (0, 1)), resolution=4)
    >>> found.boundary
    (gamma*l - 1, gamma*l - 6*gamma + 5)
    >>> found.stable[3]
    [False, True, True, True]
    """
    require_learner(learner)
    known = {str(s): s for s in {*problem.symbols, *learner.bound(problem).symbols}}
    if sorted(map(str, symbols)) != sorted(known):
        raise InputError(
            f"a map needs exactly the free symbols; they are {', '.join(sorted(known)) or 'none'}, given "
            f"were {', '.join(map(str, symbols))}"
        )
    if not isinstance(resolution, int) or resolution < 1:
        raise InputError(f"resolution is {resolution!r}; expected a positive integer")
    cases = [
        (case.condition, _polynomials(case.value)) for case in dynamics_cases(problem, learner)
    ]
    candidates = [c for _, ps in cases for p in ps for c in crossings(p)]
    candidates += [
        side.lhs - side.rhs
        for where, _ in cases
        for side in where.atoms(sp.core.relational.Relational)
    ]
    factors = {
        factor
        for candidate in candidates
        for factor, _ in sp.factor_list(candidate)[1]
        if factor.free_symbols
    }
    axes = [
        [sp.nsimplify(low) + (sp.nsimplify(high) - sp.nsimplify(low)) * sp.Rational(2 * k + 1, 2 * resolution)
         for k in range(resolution)]
        for low, high in ranges
    ]  # fmt: skip
    a, b = (known[str(s)] for s in symbols)

    def stable_at(u: Any, v: Any) -> bool:
        at = {a: u, b: v}
        here = next((ps for where, ps in cases if where.subs(at) == sp.true), [])
        verdicts = [verdict_of([c.subs(at) for c in p]) for p in here]
        return bool(verdicts) and all(found == "stable" for found in verdicts)

    stable = [[stable_at(u, v) for v in axes[1]] for u in axes[0]]
    boundary = tuple(sorted(factors, key=sp.default_sort_key))
    return StabilityMap(boundary, axes[0], axes[1], stable, (a, b), stable_at)


def _polynomials(dyn: MeanDynamics) -> list[list[Any]]:
    """The characteristic polynomial of A on U for each closed class where something moves."""
    return [
        [dyn.public(c) for c in each.expectation.charpoly()]
        for each in dyn.classes
        if each.expectation.span.dimension
    ]
