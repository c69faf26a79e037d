"""TD(lambda) and SETD(lambda), of one rule with ETD(lambda), whose one difference is the emphasis m.

    e_t = rho_t (gamma_t lambda e_{t-1} + m_t phi_t),   theta += alpha delta_t e_t

========  ===========================================================================
TD        m = 1
SETD      m = omega(phi_t, phi_{t+1}) = max(Delta phi . phi / |Delta phi|^2, 0)
          (Lyu et al. 2018, Algorithms 1 and 2)
ETD       m = lambda i + (1 - lambda) F: :mod:`obliquetd.learners.follow_on`
weighted  m of your own: :mod:`obliquetd.learners.weighted`
========  ===========================================================================

gamma_t is the discount of the transition that arrived in s_t; delta_t and Delta phi
use that of the transition that leaves it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, final

from obliquetd.learners.base import Learner, StepSize, choice, positive, unit
from obliquetd.learners.state import Theta, Trace
from obliquetd.learners.words import emphatic, omega, td_error

__all__ = ["SETD", "TD"]


class Lam(NamedTuple):
    """The trace parameter."""

    lam: Any


class LamCap(NamedTuple):
    """The trace parameter, and the most that an emphasis may be."""

    lam: Any
    cap: Any


def td(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of TD(lambda): the emphasis is 1."""
    return emphatic(x.theta, m.e, t, 1 + 0 * t.g, alpha, p.lam)


def setd(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of SETD(lambda): the emphasis is omega of the transition."""
    return emphatic(x.theta, m.e, t, omega(t), alpha, p.lam)


def full(t: Any, p: Any) -> Any:
    """Omega of the transition."""
    return omega(t)


def at_most(t: Any, p: Any) -> Any:
    """Omega of the transition, no more than the cap."""
    weight = omega(t)
    if weight > p.cap:
        return p.cap + 0 * weight
    return weight


def with_capped_ratios(theta: Any, e: Any, t: Any, m: Any, alpha: Any, lam: Any) -> Any:
    """The emphatic rule with Retrace's trace, which decays by min(1, rho).

    e_t = gamma_t lambda min(1, rho_{t-1}) e_{t-1} + m_t phi_t,   theta += alpha rho_t delta_t e_t
    """
    delta = td_error(theta, t)
    ratio = t.rho
    if ratio > 1:
        ratio = 1 + 0 * ratio
    for i in range(len(theta)):
        trace = e[i] + m * t.features[t.s, i]
        theta[i] += alpha * t.rho * delta * trace
        e[i] = t.g * lam * ratio * trace
    return delta


@cache
def setd_with(weight: Callable[..., Any], update: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of SETD(lambda) with a cap, with capped ratios, or both."""

    def setd_capped(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
        return update(x.theta, m.e, t, weight(t, p), alpha, p.lam)

    return setd_capped


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
    cap : number or symbol, optional
        The most that omega may be; it has no bound of its own, since Delta phi may be small.
    ratios : {"full", "capped"}
        How the trace decays: by rho, as in Algorithm 2, or by min(1, rho), the capped ratio of
        Retrace(lambda). The paper leaves that combination to future work, so it is our reading:

            e_t = gamma_t lambda min(1, rho_{t-1}) e_{t-1} + omega_t phi_t
            theta += alpha rho_t delta_t e_t

        delta is multiplied by rho_t in full, so that a tabular fixed point is v_pi; with
        lambda = 0 it is SETD.

    Examples
    --------
    On the two-state example omega is 10 where the right state stays:

    >>> from obliquetd import mean_dynamics
    >>> from obliquetd.domains import two_state
    >>> [mean_dynamics(two_state(), SETD(cap=cap)).A[0] for cap in (None, 2)]
    [2, 2/5]
    """

    alpha: StepSize = None
    lam: Any = unit(0, "the trace parameter")
    cap: Any = positive(None, "the most that omega may be")
    ratios: str = choice("full", "capped", meaning="the ratios that the trace decays by")

    key, name, color, mark = "setd", "SETD", "#D55E00", "s"
    source = "Lyu et al. 2018, Algorithms 1 and 2"
    solves = "the fixed point of its tilted chain under the weights xi omega"
    weights, memory = Theta, Trace

    @property
    def numbers(self) -> type:  # type: ignore[override]
        """The trace parameter, and the cap where there is one."""
        return Lam if self.cap is None else LamCap

    @property
    def rule(self) -> Callable[..., Any]:  # type: ignore[override]
        """Algorithm 2, or what a cap or capped ratios make of it."""
        if self.cap is None and self.ratios == "full":
            return setd
        weight = full if self.cap is None else at_most
        return setd_with(weight, emphatic if self.ratios == "full" else with_capped_ratios)
