"""Where symbols may be, for a problem and a learner to be ones: the limits of all formulas of the two.

Everything over a symbol is looked at in its domain, the preimage of the ranges of all formulas that have it
(:mod:`obliquetd.algebra.preimage`): each probability of the model and of the policies is in [0, 1], each discount too (that of
the problem below 1, unless it is said where to look), each weight xi is 0 or more, each setting of the learner in
its declared range, and no formula has a pole.

Of several symbols that a formula couples, no one has a domain of its own: the plane of two is cut at all limits
(:mod:`obliquetd.dynamics.plane`), and where one is looked at by itself, formulas count that have it alone.
"""

from __future__ import annotations

import itertools
from typing import Any

import sympy as sp

from obliquetd.algebra.preimage import Limit
from obliquetd.dynamics.rule import setting_ranges
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["domain_of", "limits_of"]


def limits_of(problem: PolicyEvaluation, learner: Any) -> tuple[Limit, ...]:
    """What has to hold of the symbols for problem and learner to be ones."""
    settings = setting_ranges(_bound(learner, problem))
    return tuple(dict.fromkeys(itertools.chain(problem.inputs.limits(), settings)))


def domain_of(
    problem: PolicyEvaluation, learner: Any, symbol: sp.Symbol, given: sp.Set | None = None
) -> sp.Set:
    """Where a symbol is looked at: everywhere that there is a problem and a learner, or there of ``given``.

    A reward or a feature may be any number.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import TD
    >>> r, l = sp.symbols("r l")
    >>> domain_of(two_state(reward="r"), TD(), r), domain_of(two_state("1/(1 + r)"), TD(), r)
    (Interval(-oo, oo), Interval.open(0, oo))
    >>> domain_of(two_state(), TD(lam="2*l"), l), domain_of(two_state("l/2"), TD(lam="2*l"), l)
    (Interval(0, 1/2), Interval(0, 1/2))
    """
    return problem.inputs.domain(symbol, given, setting_ranges(_bound(learner, problem)))


def _bound(learner: Any, problem: PolicyEvaluation) -> Any:
    return learner.bound(problem) if isinstance(learner, Learner) else learner
