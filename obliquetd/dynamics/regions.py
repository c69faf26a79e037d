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
from collections.abc import Callable
from typing import Any

import sympy as sp

from obliquetd.algebra.boxes import all_boxes
from obliquetd.algebra.factoring import public_factors
from obliquetd.algebra.intervals import SignRange, holds, parts_of
from obliquetd.algebra.preimage import Limit
from obliquetd.algebra.rays import Ray, has_limit
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.algebraic import stable_at_root
from obliquetd.dynamics.cases import dynamics_cases
from obliquetd.dynamics.domain import domain_of, formulas_of, limits_of
from obliquetd.dynamics.fitting import Fitting
from obliquetd.dynamics.function_field import Found, crossings, exactly
from obliquetd.dynamics.mean import MeanDynamics, mean_dynamics
from obliquetd.dynamics.sampling import resolve_sampling
from obliquetd.dynamics.stability import verdict_of
from obliquetd.dynamics.symbol import in_one_symbol
from obliquetd.dynamics.values import NO_PROBLEM, put_in
from obliquetd.errors import InputError
from obliquetd.learners import Learner, require_learner
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
        Where to look. Unless given, everywhere that there is a problem, with a discount below 1, and a
        learner: where the formulas that have the symbol lie in their ranges, as a probability or lam
        does in [0, 1], and mu in (0, oo). A domain of your own is cut to where the two are ones.
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

    A symbol may be anywhere that its formula allows; the interest rate r makes the discount 1/(1 + r):

    >>> stability_region(two_state("1/(1 + r)"), TD(), "r")
    Interval.open(1/5, oo)
    """
    if isinstance(learner, Fitting):
        from obliquetd.dynamics.iteration import region_of_fitting  # which takes from this file

        return region_of_fitting(learner, problem, symbol, domain, sampling)
    require_learner(learner)
    found = the_symbol(problem, learner, symbol)
    sampling = resolve_sampling(problem.native, learner, sampling, mean_only=True)
    inside = parts_of(domain_of(problem, learner, found, domain))
    parts = [x for part in inside for x in _on_part(problem, learner, found, sampling, part)]
    return parts[0] if len(parts) == 1 else sp.Union(*parts)


def _on_part(
    problem: PolicyEvaluation,
    learner: Learner,
    symbol: sp.Symbol,
    sampling: str | None,
    inside: sp.Set,
) -> list[sp.Set]:
    """The stable ranges and points of an interval, or of a single point."""
    if isinstance(inside, sp.FiniteSet):
        (value,) = inside
        return [inside] if _stable_at(problem, learner, symbol, value, sampling) else []
    one_end = inside.start.is_finite != inside.end.is_finite
    if one_end and all(map(has_limit, formulas_of(problem, learner, symbol))):
        return _on_ray(problem, learner, symbol, sampling, inside)
    pieces, points, breaks = _by_boxes(problem, learner, symbol, sampling, inside) or exactly(
        problem, learner, symbol, sampling, inside
    )
    pieces = [x for piece in pieces for x in parts_of(_common(piece, inside))]
    breaks = {*breaks, inside.start, inside.end}
    edges = [e for e in points | breaks if (e.is_Rational or e in breaks) and holds(inside, e)]
    kept = [edge for edge in edges if _stable_at(problem, learner, symbol, edge, sampling)]
    points = {x for x in kept if not any(holds(piece, x) for piece in pieces)}
    return [*pieces, sp.FiniteSet(*points)] if points else pieces


def _on_ray(
    problem: PolicyEvaluation,
    learner: Learner,
    symbol: sp.Symbol,
    sampling: str | None,
    inside: sp.Interval,
) -> list[sp.Set]:
    """The same of a range that is bounded on one side, by that of a bounded one (:mod:`obliquetd.algebra.rays`).

    Where a formula grows beyond all bounds on the other side, so does A, and no box reaches that end.
    """
    (end,) = (x for x in (inside.start, inside.end) if x.is_finite)
    if not end.is_Rational:  # what is beside the end is bounded, and the rest begins at a rational
        cut = sp.floor(end) + (1 if inside.start == end else 0)
        parts = [
            sp.Interval(inside.start, cut, inside.left_open),
            sp.Interval(cut, inside.end, False, inside.right_open),
        ]
        return [x for part in parts for x in _on_part(problem, learner, symbol, sampling, part)]
    ray = Ray(inside, symbol)
    moved = put_in(problem, learner, symbol, ray.formula)
    return [ray.back(x) for x in _on_part(*moved, symbol, sampling, ray.inside)]


def _common(piece: sp.Interval, inside: sp.Interval) -> sp.Set:
    """What a piece has inside; it may reach a little beyond an irrational end."""
    rational = inside.start.is_Rational and inside.end.is_Rational
    return piece if rational or not inside.start.is_finite else piece & inside


def _by_boxes(
    problem: PolicyEvaluation,
    learner: Learner,
    symbol: sp.Symbol,
    sampling: str | None,
    inside: sp.Interval,
) -> Way[Found | None]:
    """The same by boxes (:mod:`obliquetd.algebra.boxes`), and :func:`exactly` where they leave a gap.

    None where that is for all of it. Boxes have rational ends: for an irrational one they go on a little.
    """
    outer = SignRange.of(inside).widened()
    start, end = outer.low, outer.high
    if not (start.is_finite and end.is_finite):
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
    proved = {x: b.side > 0 for b in known.boxes if b.side and b.closed for x in (b.low, b.high)}
    proved = {x: side for x, side in proved.items() if x not in points}
    for box in known.boxes:
        if box.side is None:
            gap = sp.Interval.open(max(box.low, inside.start), min(box.high, inside.end))
            if gap is sp.S.EmptySet:
                continue
            more, some, others = exactly(problem, learner, symbol, sampling, gap)
            _require_agreement(symbol, gap, more, proved)
            pieces, points = pieces + more, points | (some - proved.keys())
            breaks |= others - proved.keys()
        elif box.side > 0:
            opens = (not box.closed or end in breaks for end in (box.low, box.high))
            first, last = opens
            if stable and stable[-1][1] == box.low and not (stable[-1][3] and first):
                low, _, first, _ = stable.pop()
                stable.append((low, box.high, first, last))
            else:
                stable.append((box.low, box.high, first, last))
    return [*pieces, *(sp.Interval(*x) for x in stable)], points, breaks


def _require_agreement(
    symbol: sp.Symbol, gap: sp.Interval, stable: list[sp.Set], proved: dict[Any, bool]
) -> None:
    """Raise where a gap next to its end is not what a box proves there: A is continuous, so a region cannot end at a box."""
    for end in (gap.start, gap.end):
        beside = any(end in (piece.start, piece.end) for piece in stable)
        if end in proved and proved[end] != beside:
            raise AssertionError(
                f"two proofs contradict each other at {symbol} = {end}: a mistake in obliquetd, not in the model; please "
                "report it with the model"
            )


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
        The exact verdict there, False where there is no problem or no learner; no point of a boundary
        is stable.
    limits : tuple of Limit
        What has to hold for there to be a problem and a learner.
    """

    boundary: tuple[Any, ...]
    first: list[Any]
    second: list[Any]
    stable: list[list[bool]]
    symbols: tuple[sp.Symbol, sp.Symbol]
    at: Callable[[Any, Any], bool]
    limits: tuple[Limit, ...] = ()


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
    factors = {factor for candidate in candidates for factor in public_factors(candidate)}
    axes = [
        [sp.nsimplify(low) + (sp.nsimplify(high) - sp.nsimplify(low)) * sp.Rational(2 * k + 1, 2 * resolution)
         for k in range(resolution)]
        for low, high in ranges
    ]  # fmt: skip
    a, b = (known[str(s)] for s in symbols)
    limits = limits_of(problem, learner)

    def stable_at(u: Any, v: Any) -> bool:
        at = {a: u, b: v}
        if not all(limit.holds_at(at) for limit in limits):
            return False
        here = next((ps for where, ps in cases if where.subs(at) == sp.true), [])
        verdicts = [verdict_of([c.subs(at) for c in p]) for p in here]
        return bool(verdicts) and all(found == "stable" for found in verdicts)

    stable = [[stable_at(u, v) for v in axes[1]] for u in axes[0]]
    boundary = tuple(sorted(factors, key=sp.default_sort_key))
    return StabilityMap(boundary, axes[0], axes[1], stable, (a, b), stable_at, limits)


def _polynomials(dyn: MeanDynamics) -> list[list[Any]]:
    """The characteristic polynomial of A on U for each closed class where something moves."""
    return [
        [dyn.public(c) for c in each.expectation.charpoly()]
        for each in dyn.classes
        if each.expectation.span.dimension
    ]
