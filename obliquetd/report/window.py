"""Where the symbols that decide on stability are looked at: their ranges, and those that decide nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from obliquetd.algebra.sign_cases import SignCase
from obliquetd.dynamics import MeanDynamics
from obliquetd.dynamics.domain import domain_of
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.report.intervals import interval_text

__all__ = ["UNBOUNDED", "Window", "idle_symbols", "window_of", "without"]

UNBOUNDED = 2
"""How far a plot or a plane goes where a symbol has no end."""
ANY = sp.Rational(1009, 997)
"""The value of a symbol that decides nothing: one for which no formula was made."""

Cases = Sequence[SignCase[MeanDynamics]]


@dataclass(frozen=True)
class Window:
    """Where the symbols of a problem and a learner are looked at.

    Attributes
    ----------
    problem : PolicyEvaluation
        With a number for each symbol that decides nothing.
    symbols : tuple of Symbol
        Those that decide.
    domains : tuple of sympy.Set
        Where each of them may be.
    idle : tuple of Symbol
        Those that decide nothing, such as one in the rewards.
    """

    problem: PolicyEvaluation
    symbols: tuple[sp.Symbol, ...]
    domains: tuple[sp.Set, ...]
    idle: tuple[sp.Symbol, ...]

    @property
    def ranges(self) -> tuple[tuple[Any, Any], ...]:
        """The part of each domain that is looked at, which has two ends."""
        ends = ((max(d.inf, -UNBOUNDED), min(d.sup, UNBOUNDED)) for d in self.domains)
        return tuple(pair if pair[0] < pair[1] else (0, 1) for pair in ends)

    @property
    def is_cut(self) -> bool:
        """Whether a symbol may be where it is not looked at."""
        spans = zip(self.domains, self.ranges, strict=True)
        return any(d.inf < low or d.sup > high for d, (low, high) in spans)

    @property
    def told(self) -> str:
        """Where it is looked at, in words."""
        parts = []
        for s, domain, (low, high) in zip(self.symbols, self.domains, self.ranges, strict=True):
            whole = (domain.inf, domain.sup) == (low, high)
            parts.append(
                f"{s} in {interval_text(domain)}" if whole else f"{s} between {low} and {high}"
            )
        return " and ".join(parts)

    @property
    def whatever(self) -> str:
        """What is added to a verdict for the symbols that decide nothing."""
        if not self.idle:
            return ""
        return f", whatever {' and '.join(map(str, self.idle))} {'are' if self.idle[1:] else 'is'}"


def window_of(problem: PolicyEvaluation, learner: Learner, cases: Cases) -> Window:
    """The window of a learner on a problem, from its mean dynamics in each case.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.dynamics.cases import dynamics_cases
    >>> from obliquetd.learners import TD
    >>> problem = two_state("gamma", reward="r")
    >>> found = window_of(problem, TD(lam="l"), dynamics_cases(problem, TD(lam="l")))
    >>> found.told, found.whatever, found.ranges
    ('gamma in [0, 1) and l in [0, 1]', ', whatever r is', ((0, 1), (0, 1)))
    """
    idle = idle_symbols(problem, cases)
    there = without(problem, idle)
    symbols = tuple(sorted({*there.symbols, *learner.bound(problem).symbols}, key=str))
    domains = tuple(domain_of(there, learner, s) for s in symbols)
    return Window(there, symbols, domains, idle)


def idle_symbols(
    problem: PolicyEvaluation, cases: Iterable[SignCase[MeanDynamics]]
) -> tuple[sp.Symbol, ...]:
    """The symbols of a problem that are in rewards alone, and in no matrix A and no condition of a case."""
    kept = [e.value for e in problem.inputs.entries() if e.role != "number"]  # chances, weights
    kept += list(problem.Phi)
    idle = set(problem.symbols).difference(*(getattr(x, "free_symbols", ()) for x in kept))
    for case in cases if idle else ():
        idle -= case.condition.free_symbols | case.value.A.free_symbols
    return tuple(sorted(idle, key=str))


def without(problem: PolicyEvaluation, symbols: Sequence[sp.Symbol]) -> PolicyEvaluation:
    """The problem with a number for each of these symbols."""
    return problem.subs(dict.fromkeys(symbols, ANY)) if symbols else problem
