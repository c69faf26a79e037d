"""TD(lambda) with an emphasis of your own: m in e = rho (gamma lam e + m phi)."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, final

import numpy as np
import sympy as sp

from obliquetd.learners.base import Learner, StepSize, unit
from obliquetd.learners.by_state import by_state, entry, same, state_numbers
from obliquetd.learners.emphatic import Lam
from obliquetd.learners.functions import kept
from obliquetd.learners.state import ByState, Theta, Trace
from obliquetd.learners.words import Transition, emphatic

__all__ = ["WeightedTD"]


class LamEmphasis(NamedTuple):
    """The trace parameter, and the emphasis where it is one number, or one for each state."""

    lam: Any
    emphasis: Any


@cache
def weighted(weight: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of TD(lambda) whose emphasis is one of its numbers."""

    def weighted_td(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
        return emphatic(x.theta, m.e, t, weight(p.emphasis, t), alpha, p.lam)

    return weighted_td


@cache
def weighted_by(emphasis: Callable[[Any], Any]) -> Callable[..., Any]:
    """The rule of TD(lambda) whose emphasis is a function of the transition."""

    def weighted_td(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
        return emphatic(x.theta, m.e, t, emphasis(t), alpha, p.lam)

    return weighted_td


@kept
def is_of_the_problem(emphasis: Callable[[Any], Any]) -> bool:
    """Whether a function is one of the problem, and not of a transition.

    A function of a transition gives a number for one. Nothing that a transition has is called as
    anything that a problem has, so that a function of the problem cannot be mistaken.
    """
    if not isinstance(emphasis, types.FunctionType):
        return True
    at = Transition(np.array([[1.0, 2.0], [3.0, 5.0]]), 0, 1, 1.0, 0.5, 1.0, 0.5, 0.5, 1.0, 1, 0.5, 1.0)  # fmt: skip
    try:
        found = emphasis(at)
    except AttributeError as error:
        return isinstance(error.obj, Transition)
    except Exception:  # the check of the rule says what it raises
        return False
    return isinstance(found, Iterable | sp.MatrixBase)


@final
@dataclass(frozen=True)
class WeightedTD(Learner):
    """TD(lambda) with an emphasis of your own, m in e = rho (gamma lam e + m phi).

    Parameters
    ----------
    alpha : number or callable, optional
    lam : number or symbol
    emphasis : number, {state: number} or function
        The function is one of a :class:`~obliquetd.learners.Transition`, written in the words of
        a rule, or one of the problem, which gives a number for each state, in the order of
        ``problem.states``, or a mapping. Ready-made ones of the problem are in
        :mod:`obliquetd.learners.emphases`: a power series between TD and ETD, the batch
        minimiser, and Omega*.

    Examples
    --------
    An emphasis for each state, and SETD's with a cap:

    >>> from obliquetd import mean_dynamics
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import emphases, omega
    >>> mean_dynamics(two_state(), WeightedTD(emphasis={"left": 1, "right": 19})).A[0]
    17/5
    >>> def capped(t):
    ...     weight = omega(t)
    ...     return weight if 2 > weight else 2 + 0 * t.g
    >>> mean_dynamics(two_state(), WeightedTD(emphasis=capped)).A[0]
    2/5
    >>> mean_dynamics(two_state(), WeightedTD(emphasis=emphases.omega_star)).A[0]
    5/2
    """

    alpha: StepSize = None
    lam: Any = unit(0, "the trace parameter lambda")
    emphasis: Any = by_state(
        1,
        sp.S.Reals,
        "a number, {state: number}, or a function of the problem or of a transition",
        "the emphasis of a transition",
    )

    key, name, color, mark = "weighted-td", "WeightedTD", "#999999", "X"
    source, listed = "this toolkit", False
    solves = "the TD(lambda) fixed point under the weights xi m"
    weights, memory = Theta, Trace

    @property
    def _of_a_transition(self) -> bool:
        return callable(self.emphasis) and not is_of_the_problem(self.emphasis)

    @property
    def numbers(self) -> type:  # type: ignore[override]
        """The trace parameter, and the emphasis where it is a number or one for each state."""
        return Lam if self._of_a_transition else LamEmphasis

    @property
    def derives(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The emphasis, where it depends on the state."""
        by_state = callable(self.emphasis) or isinstance(self.emphasis, ByState)
        return {"emphasis": (1, "1/2", -2, 3)} if by_state and not self._of_a_transition else {}

    def derive(self, problem: Any) -> Mapping[str, Any]:
        return {"emphasis": state_numbers(self, "emphasis", problem, lone=False)}

    @property
    def rule(self) -> Callable[..., Any]:  # type: ignore[override]
        """TD(lambda) with the emphasis in its place."""
        if self._of_a_transition:
            return weighted_by(self.emphasis)
        return weighted(entry if self.derives else same)
