"""Sliders: for each symbol the rational places at which it can stand, the break points among them."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from obliquetd.algebra import parse_number
from obliquetd.dynamics.domain import domain_of
from obliquetd.errors import InputError, ObliqueTDError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["STEPS", "Slider", "holds", "in_sliders_order", "sliders_of"]

STEPS = 1000
"""Parts into which the range of a slider is divided."""
UNBOUNDED = 4
"""How long a range is shown where it has no end."""


@dataclass
class Slider:
    """A symbol, and where it can stand.

    Attributes
    ----------
    symbol : sympy.Symbol
    places : list of sympy.Rational
        From left to right.
    start : int
        The number of the place at which it stands first.
    valid : sympy.Set
        Where there is a model.
    domain : sympy.Interval
        From end to end; an open end is no place.
    """

    symbol: sp.Symbol
    places: list[Any]
    start: int
    valid: Any
    domain: Any

    def include(self, numbers: Iterable[Any]) -> None:
        """Add rational places inside the range, such as break points."""
        here, kept = self.places[self.start], set(self.places)
        kept |= {x for x in numbers if x.is_Rational and self.places[0] <= x <= self.places[-1]}
        self.places = _sorted(kept)
        self.start = self.places.index(here)

    def index_of(self, number: Any) -> float:
        """Where a real number stands among the places: a whole number, or between two of them."""
        at = bisect.bisect_right(self.places, number) - 1
        if at < 0 or at + 1 == len(self.places):
            return float(min(max(at, 0), len(self.places) - 1))
        low, high = self.places[at], self.places[at + 1]
        return float(at + (number - low) / (high - low))


def in_sliders_order(problem: PolicyEvaluation, learners: Sequence[Learner]) -> list[sp.Symbol]:
    """Every free symbol, the discount first and the others by name."""
    free = {*problem.symbols, *(s for x in learners for s in x.bound(problem).symbols)}
    return sorted(free, key=lambda s: (s != problem.discount, str(s)))


def sliders_of(
    problem: PolicyEvaluation,
    learners: Sequence[Learner],
    symbols: Sequence[sp.Symbol],
    ranges: Mapping[Any, tuple[Any, Any]],
    start: Mapping[sp.Symbol, Any],
) -> list[Slider]:
    """A slider for each symbol.

    Parameters
    ----------
    ranges : mapping of symbol, or name, to (low, high)
        In place of the range of what the symbol stands for.
    start : mapping of symbol to number
        Where a slider stands first; the middle unless given.

    Raises
    ------
    InputError
        For a range of no symbol, or an empty one.
    """
    given = {str(name): pair for name, pair in ranges.items()}
    unknown = set(given) - {str(s) for s in symbols}
    if unknown:
        raise InputError(
            f"a range is given for {min(unknown)}, which is no symbol here; the symbols are "
            f"{', '.join(map(str, symbols)) or 'none'}"
        )
    return [
        _slider(problem, learners, s, given.get(str(s)), start.get(s), alone=len(symbols) == 1)
        for s in symbols
    ]


def _slider(
    problem: PolicyEvaluation, learners: Sequence[Learner], symbol: sp.Symbol, given: Any, start: Any, *,
    alone: bool,
) -> Slider:  # fmt: skip
    ending = start == 1 and symbol == problem.discount  # episodes need no discount below 1
    looked = sp.S.Reals if ending else None
    domains = [domain_of(problem, x, symbol, looked) for x in learners]
    valid: Any = sp.Intersection(problem.inputs.domain(symbol, looked), *domains)
    inside = valid if given is None else _read(symbol, given)
    low, high = inside.inf, inside.sup
    if low == -sp.oo:
        low = -sp.Rational(UNBOUNDED, 2) if high == sp.oo else high - UNBOUNDED
    high = low + UNBOUNDED if high == sp.oo else high
    if not (inside and low < high and low.is_Rational and high.is_Rational):
        raise InputError(
            f"the range of {symbol} is {inside}; a slider needs two rational ends. Give others with "
            f"ranges={{'{symbol}': (low, high)}}, or --range {symbol}=LOW:HIGH"
        )
    places = {low + (high - low) * sp.Rational(k, STEPS) for k in range(STEPS + 1)}
    ends = {low, high}
    if alone or given is not None:
        lost = {x for x in ends if x not in inside}
    else:
        lost = {x for x in ends if x not in inside or not _is_model(problem, symbol, x)}
    places -= lost
    if start is not None and low <= start <= high:
        places.add(start)
    ordered = _sorted(places)
    first = ordered.index(start) if start in places else len(ordered) // 2
    shown = sp.Interval(low, high, low in lost, high in lost)
    return Slider(symbol, ordered, first, valid, shown)


def _sorted(numbers: Iterable[Any]) -> list[Any]:
    return sorted(numbers, key=lambda x: Fraction(int(x.p), int(x.q)))  # sympy compares slowly


def holds(found: Any, x: Any) -> bool:
    """Whether a rational is in a union of intervals and points; sympy asks that slowly.

    Examples
    --------
    >>> region = sp.Union(sp.Interval(0, 1), sp.FiniteSet(2))
    >>> holds(region, sp.Rational(1, 2)), holds(region, 2), holds(region, sp.Rational(3, 2))
    (True, True, False)
    """
    if isinstance(found, sp.Union):
        return any(holds(part, x) for part in found.args)
    if isinstance(found, sp.Interval):
        return bool(found.inf < x < found.sup) or (x in (found.inf, found.sup) and x in found)
    return bool(x in found)


def _read(symbol: sp.Symbol, given: Any) -> Any:
    try:
        low, high = (sp.sympify(parse_number(x)) for x in given)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the range of {symbol} is {given!r}; expected a pair (low, high)"
        ) from error
    if not (low.is_Rational and high.is_Rational and low < high):
        raise InputError(
            f"the range of {symbol} is {low} to {high}; expected two exact numbers, the smaller first"
        )
    return sp.Interval(low, high)


def _is_model(problem: PolicyEvaluation, symbol: sp.Symbol, value: Any) -> bool:
    """Whether a problem is left with a number in place of one of several symbols."""
    if symbol not in problem.symbols:
        return True
    try:
        problem.subs({symbol: value}).native.xi  # noqa: B018
    except ObliqueTDError:
        return False
    return True
