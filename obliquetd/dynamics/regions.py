"""For which values of one symbol is a learner stable? A union of intervals with exact end points.

1. SETD's max(., 0) is a case distinction. The rule is evaluated with every sign taken at
   one rational sample of a cell; the formulas whose signs were asked are kept, and the cell
   is split at their real roots until none of them changes sign inside.
2. On a cell the characteristic polynomial p of A modulo ker Phi has coefficients that are
   rational functions of the symbol. An eigenvalue can reach the imaginary axis only where
   p(0) = 0 or where two roots of p add up to zero, that is where the resultant of the even
   and the odd part of p vanishes (Orlando's formula); or it jumps at a pole. Between two
   such points one rational sample decides for all.
3. A rational end point is decided by substituting it. An irrational one is a root of those
   polynomials, so that A is not stable there, or a break point, where omega is undefined.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import sympy as sp

from obliquetd.algebra import FieldArithmetic, parse_number, public_number
from obliquetd.dynamics.mean import MeanDynamics, mean_dynamics
from obliquetd.dynamics.stability import verdict_of
from obliquetd.emphasis import rational_between
from obliquetd.errors import InputError, ObliqueTDError
from obliquetd.learners import Learner, require_learner
from obliquetd.mdp.substitution import substitute
from obliquetd.problem import PolicyEvaluation

__all__ = ["StabilityMap", "stability_map", "stability_region"]

y = sp.Dummy("y")


class CellArithmetic(FieldArithmetic):
    """Functions of one symbol whose signs are those at a sample; remembers what was asked."""

    def __init__(self, symbol: sp.Symbol, sample: sp.Rational) -> None:
        super().__init__([symbol])
        self.sample = sample
        self.asked: set[Any] = set()

    def sign(self, scalar: Any) -> int:
        expression = self.public(scalar)
        if not expression.is_Rational:
            self.asked.add(expression)
            expression = expression.subs(self.symbols[0], self.sample)
        return int(sp.sign(expression))


def stability_region(
    problem: PolicyEvaluation,
    learner: Learner,
    symbol: Any,
    *,
    domain: sp.Interval | None = None,
    sampling: str = "trajectory",
) -> sp.Set:
    """The values of a symbol for which a learner is stable (modulo ker Phi).

    Parameters
    ----------
    problem : PolicyEvaluation
    learner : Learner
        The symbol may be in the problem (the discount, a probability, a feature) or be the
        learner's ``lam`` or ``mu``.
    symbol : sympy.Symbol or str
        The only free symbol of the two.
    domain : sympy.Interval, optional
        Where to look: [0, 1) for the discount, [0, 1] for lam and for symbols in policies
        and transitions, (0, oo) for mu, else all reals.
    sampling : {"trajectory", "iid"}

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
    found = _the_symbol(problem, require_learner(learner), symbol)
    inside = _domain(problem, learner, found) if domain is None else domain
    pieces: list[sp.Set] = []
    edges = [inside.start, inside.end]
    for left, right, coefficients in _sign_cells(problem, learner, found, inside, sampling):
        polynomials = _crossings(coefficients)
        ends = _split(left, right, polynomials, found)
        edges += ends
        for a, b in itertools.pairwise(ends):
            at = {found: rational_between(a, b)}
            if verdict_of([c.subs(at) for c in coefficients]) == "stable":
                pieces.append(sp.Interval.open(a, b))
    points = [edge for edge in set(edges) if edge.is_Rational and edge in inside]
    kept = [edge for edge in points if _stable_at(problem, learner, found, edge, sampling)]
    region = sp.Union(*pieces, sp.FiniteSet(*kept))
    return region & problem.valid_range(found) if found in problem.symbols else region


def _the_symbol(problem: PolicyEvaluation, learner: Learner, symbol: Any) -> sp.Symbol:
    known = {str(s): s for s in {*problem.symbols, *learner.symbols}}
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


def _domain(problem: PolicyEvaluation, learner: Learner, symbol: sp.Symbol) -> sp.Interval:
    if problem.discount == symbol:
        return sp.Interval.Ropen(0, 1)
    if symbol in learner.symbols:
        is_lam = public_number(parse_number(learner.lam)).has(symbol)
        return sp.Interval(0, 1) if is_lam else sp.Interval.open(0, sp.oo)
    chances = problem.mdp.symbols | problem.target.symbols | problem.behavior.symbols
    return sp.Interval(0, 1) if symbol in chances else sp.Interval(-sp.oo, sp.oo)


def _on_cell(
    problem: PolicyEvaluation, learner: Learner, symbol: sp.Symbol, sample: Any, sampling: str
) -> tuple[list[Any], set[Any]]:
    """The characteristic polynomial with signs taken at the sample, and what was asked."""
    arithmetic = CellArithmetic(symbol, sample)
    dyn = MeanDynamics(problem, learner, sampling, arithmetic)
    coefficients = [arithmetic.public(c) for c in dyn.quotient_charpoly()]
    return coefficients, arithmetic.asked


def _sign_cells(
    problem: PolicyEvaluation,
    learner: Learner,
    symbol: sp.Symbol,
    inside: sp.Interval,
    sampling: str,
) -> list[tuple[Any, Any, list[Any]]]:
    """Open cells on which no sign that the rule asks for changes, with the polynomial there."""
    waiting = [(inside.start, inside.end)]
    done = []
    while waiting:
        left, right = waiting.pop()
        sample = rational_between(left, right)
        coefficients, asked = _on_cell(problem, learner, symbol, sample, sampling)
        ends = _split(left, right, list(asked), symbol)
        if len(ends) == 2:
            done.append((left, right, coefficients))
        else:
            waiting += itertools.pairwise(ends)
    return sorted(done, key=lambda cell: sp.N(cell[0], 40))


def _split(left: Any, right: Any, expressions: list[Any], symbol: sp.Symbol) -> list[Any]:
    """The end points, and between them every real root or pole of the expressions."""
    inner: set[Any] = set()
    for expression in expressions:
        for part in sp.fraction(sp.together(expression)):
            polynomial = sp.Poly(part, symbol)
            if polynomial.degree() > 0:
                for factor, _ in polynomial.factor_list()[1]:
                    inner |= {root for root in factor.real_roots() if left < root < right}
    return [left, *sorted(inner, key=lambda r: sp.N(r, 40)), right]


def _crossings(coefficients: list[Any]) -> list[Any]:
    """Formulas outside whose roots and poles stability cannot change on a cell."""
    common = sp.lcm_list([sp.fraction(c)[1] for c in coefficients])
    cleared = [sp.cancel(c * common) for c in coefficients]
    candidates = [common, cleared[-1]]
    if len(cleared) > 2:
        even = sum(c * y ** (i // 2) for i, c in enumerate(cleared[::-1]) if i % 2 == 0)
        odd = sum(c * y ** (i // 2) for i, c in enumerate(cleared[::-1]) if i % 2)
        candidates.append(sp.resultant(sp.Poly(even, y), sp.Poly(odd, y)))
    return [c for c in map(sp.sympify, candidates) if c.free_symbols]


def _stable_at(
    problem: PolicyEvaluation, learner: Learner, symbol: sp.Symbol, value: Any, sampling: str
) -> bool:
    """The exact verdict with a rational value put in; False where there is no update at all."""
    values = {symbol: value}
    fields = {
        f.name: public_number(substitute(parse_number(getattr(learner, f.name)), values))
        for f in dataclasses.fields(learner)  # type: ignore[arg-type]
        if f.name in ("lam", "mu") and f.init
    }
    try:
        there = problem.subs(values) if symbol in problem.symbols else problem
        changed: Learner = dataclasses.replace(learner, **fields)  # type: ignore[type-var]
        return mean_dynamics(there, changed, sampling=sampling).is_stable()
    except ObliqueTDError:
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
    """

    boundary: tuple[Any, ...]
    first: list[Any]
    second: list[Any]
    stable: list[list[bool]]


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
    SignUndecidedError
        For SETD, whose case distinctions need one symbol at a time.

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
    known = {str(s): s for s in {*problem.symbols, *require_learner(learner).symbols}}
    if sorted(map(str, symbols)) != sorted(known):
        raise InputError(
            f"a map needs exactly the free symbols; they are {', '.join(sorted(known)) or 'none'}, given "
            f"were {', '.join(map(str, symbols))}"
        )
    if not isinstance(resolution, int) or resolution < 1:
        raise InputError(f"resolution is {resolution!r}; expected a positive integer")
    dyn = mean_dynamics(problem, learner)
    coefficients = [dyn.public(c) for c in dyn.quotient_charpoly()]
    factors = {
        factor
        for candidate in _crossings(coefficients)
        for factor, _ in sp.factor_list(candidate)[1]
        if factor.free_symbols
    }
    axes = [
        [sp.nsimplify(low) + (sp.nsimplify(high) - sp.nsimplify(low)) * sp.Rational(2 * k + 1, 2 * resolution)
         for k in range(resolution)]
        for low, high in ranges
    ]  # fmt: skip
    a, b = (known[str(s)] for s in symbols)
    stable = [
        [verdict_of([c.subs({a: u, b: v}) for c in coefficients]) == "stable" for v in axes[1]]
        for u in axes[0]
    ]
    return StabilityMap(tuple(sorted(factors, key=sp.default_sort_key)), axes[0], axes[1], stable)
