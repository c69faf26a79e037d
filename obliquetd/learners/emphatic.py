"""TD(lambda), SETD(lambda) and ETD(lambda): one rule, and one difference.

    e_t = rho_t (gamma_t lambda e_{t-1} + m_t phi_t),   theta += alpha delta_t e_t

========  ===========================================================================
TD        m = 1
SETD      m = omega(phi_t, phi_{t+1}) = max(Delta phi . phi / |Delta phi|^2, 0)
          (Lyu et al. 2018, Algorithms 1 and 2)
ETD       m = lambda + (1 - lambda) F_t, F_t = 1 + gamma_t rho_{t-1} F_{t-1}
          (Sutton, Mahmood and White 2016, interest 1)
weighted  m of your own
========  ===========================================================================

gamma_t is the discount of the transition that arrived in s_t; delta_t and Delta phi
use that of the transition that leaves it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, final

from obliquetd.learners.base import Learner, StepSize, number, unit
from obliquetd.learners.state import Number, Theta, Trace, Vector
from obliquetd.learners.words import emphatic, omega

__all__ = ["ETD", "SETD", "TD", "WeightedTD"]


class FollowOn(NamedTuple):
    """A trace, and gamma rho F as it arrives."""

    e: Vector
    F: Number


class Lam(NamedTuple):
    """The trace parameter."""

    lam: Any


def td(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of TD(lambda): the emphasis is 1."""
    return emphatic(x.theta, m.e, t, 1 + 0 * t.g, alpha, p.lam)


def setd(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of SETD(lambda): the emphasis is omega of the transition."""
    return emphatic(x.theta, m.e, t, omega(t), alpha, p.lam)


def etd(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of ETD(lambda): the emphasis is made of the follow-on trace."""
    F = 1 + m.F[0]
    m.F[0] = t.g * t.rho * F
    return emphatic(x.theta, m.e, t, p.lam + (1 - p.lam) * F, alpha, p.lam)


@final
@dataclass(frozen=True)
class TD(Learner):
    """Off-policy TD(lambda) with importance ratios (emphasis 1).

    Parameters
    ----------
    alpha : number or callable, optional
    lam : number or symbol

    Examples
    --------
    >>> TD(0.1).has_memory, TD(0.1, lam="1/2").has_memory
    (False, True)
    """

    alpha: StepSize = None
    lam: Any = unit(0, "the trace parameter")

    key, name, color, mark = "td", "TD", "#0072B2", "o"
    source = "Sutton 1988; with importance ratios, Sutton, Mahmood and White 2016"
    solves = "the TD(lambda) fixed point under the weights xi"
    weights, memory, numbers, rule = Theta, Trace, Lam, staticmethod(td)


@final
@dataclass(frozen=True)
class SETD(Learner):
    """SETD(lambda): the emphasis is omega of the sampled transition (Algorithms 1 and 2).

    Parameters
    ----------
    alpha : number or callable, optional
    lam : number or symbol
    """

    alpha: StepSize = None
    lam: Any = unit(0, "the trace parameter")

    key, name, color, mark = "setd", "SETD", "#D55E00", "s"
    source = "Lyu et al. 2018, Algorithms 1 and 2"
    solves = "the fixed point of its tilted chain under the weights xi omega"
    weights, memory, numbers, rule = Theta, Trace, Lam, staticmethod(setd)


@final
@dataclass(frozen=True)
class ETD(Learner):
    """ETD(lambda): the emphasis is made of the follow-on trace (Sutton et al. 2016).

    Parameters
    ----------
    alpha : number or callable, optional
    lam : number or symbol
    """

    alpha: StepSize = None
    lam: Any = unit(0, "the trace parameter")

    key, name, color, mark = "etd", "ETD", "#009E73", "^"
    source = "Sutton, Mahmood and White 2016"
    solves = "the TD(lambda) fixed point under the emphasis f"
    weights, memory, numbers, rule = Theta, FollowOn, Lam, staticmethod(etd)


class LamEmphasis(NamedTuple):
    """The trace parameter, and the emphasis where it is one number."""

    lam: Any
    emphasis: Any


def weighted(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of TD(lambda) with one emphasis throughout."""
    return emphatic(x.theta, m.e, t, p.emphasis, alpha, p.lam)


@cache
def weighted_by(emphasis: Callable[[Any], Any]) -> Callable[..., Any]:
    """The rule of TD(lambda) whose emphasis is a function of the transition."""

    def weighted_td(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
        return emphatic(x.theta, m.e, t, emphasis(t), alpha, p.lam)

    return weighted_td


@final
@dataclass(frozen=True)
class WeightedTD(Learner):
    """TD(lambda) with an emphasis of your own, m in e = rho (gamma lam e + m phi).

    Parameters
    ----------
    alpha : number or callable, optional
    lam : number or symbol
    emphasis : number or function
        A number, or a function of a :class:`~obliquetd.learners.Transition` written in the
        words of a rule.

    Examples
    --------
    A cap on SETD's emphasis:

    >>> from obliquetd import mean_dynamics
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import omega
    >>> def capped(t):
    ...     weight = omega(t)
    ...     return weight if 2 > weight else 2 + 0 * t.g
    >>> mean_dynamics(two_state(), WeightedTD(emphasis=capped)).A[0]
    2/5
    """

    alpha: StepSize = None
    lam: Any = unit(0, "the trace parameter")
    emphasis: Any = number(1, "the emphasis")

    key, name, color, mark = "weighted-td", "WeightedTD", "#999999", "X"
    source, listed = "this toolkit", False
    solves = "the TD(lambda) fixed point under the weights xi m"
    weights, memory = Theta, Trace

    @property
    def numbers(self) -> type:  # type: ignore[override]
        """The trace parameter, and the emphasis where it is a number."""
        return Lam if callable(self.emphasis) else LamEmphasis

    @property
    def rule(self) -> Callable[..., Any]:  # type: ignore[override]
        """TD(lambda) with the emphasis in its place."""
        return weighted_by(self.emphasis) if callable(self.emphasis) else weighted
