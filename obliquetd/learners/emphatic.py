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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, final

import sympy as sp

from obliquetd.errors import UndefinedError
from obliquetd.learners.base import Learner, StepSize, choice, positive, unit
from obliquetd.learners.state import Theta, Trace
from obliquetd.learners.words import emphatic, omega, td_error

__all__ = ["SETD", "TD"]


class Lam(NamedTuple):
    """The trace parameter."""

    lam: Any


class LamCap(NamedTuple):
    """The trace parameter, and the most that omega may be."""

    lam: Any
    cap: Any


class LamExpected(NamedTuple):
    """The trace parameter, and the weight of each state before its negative values become 0."""

    lam: Any
    expected: Any


class LamExpectedCap(NamedTuple):
    """All three."""

    lam: Any
    expected: Any
    cap: Any


def td(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of TD(lambda): the emphasis is 1."""
    return emphatic(x.theta, m.e, t, 1 + 0 * t.g, alpha, p.lam)


def setd(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of SETD(lambda): the emphasis is omega of the transition."""
    return emphatic(x.theta, m.e, t, omega(t), alpha, p.lam)


def of_the_sample(t: Any, p: Any) -> Any:
    """Omega of the transition."""
    return omega(t)


def of_the_state(t: Any, p: Any) -> Any:
    """Omega_S of the state."""
    weight = p.expected[t.s]
    if weight > 0:
        return weight
    return 0 * weight


def as_it_is(weight: Any, p: Any) -> Any:
    """The weight without a cap."""
    return weight


def at_most(weight: Any, p: Any) -> Any:
    """The weight, no more than the cap."""
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
def setd_with(
    weight: Callable[..., Any], limit: Callable[..., Any], update: Callable[..., Any]
) -> Callable[..., Any]:
    """The rule of SETD(lambda) with a weight, a limit to it, and a way to update."""

    def setd_general(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
        return update(x.theta, m.e, t, limit(weight(t, p), p), alpha, p.lam)

    return setd_general


def projections(problem: Any) -> list[Any]:
    """Lambda_s . phi_s / |Lambda_s|^2 for each state, of which Omega_S is the positive part.

    In numbers it is Omega_S itself. Where phi_s is 0 or the state has no weight, it is 0.
    """
    if not problem.symbols:
        return [problem.Omega_S[i, i] for i in range(len(problem.states))]
    out = []
    for s, xi, gap, phi in zip(
        problem.states, problem.xi, problem.Lambda.tolist(), problem.Phi.tolist(), strict=True
    ):
        size = sp.cancel(sum(x * x for x in gap))
        if not xi or not any(phi):
            out.append(sp.Integer(0))
        elif not size:
            raise UndefinedError(
                f"Omega_S is undefined in state {s!r}: its expected Delta phi is zero, so that every "
                "weight minimises the paper's criterion; use omega='sampled', or give a weight for each "
                "state with WeightedTD(emphasis=...)",
                [s],
            )
        else:
            out.append(sp.cancel(sum(x * y for x, y in zip(gap, phi, strict=True)) / size))
    return out


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
    lam: Any = unit(0, "the trace parameter lambda")

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

        delta is multiplied by rho_t in full, so that a tabular fixed point is v_pi where the
        emphasis does not depend on the next state; with lambda = 0 it is SETD.
    omega : {"sampled", "expected"}
        Whether omega is that of the sampled Delta phi, or of the expected one given the state: the
        paper's Omega_S, for which the model is asked. That evaluates the target itself, where the
        sampled one evaluates a tilted chain if transitions are stochastic.

    Examples
    --------
    On the two-state example omega is 10 where the right state stays:

    >>> from obliquetd import mean_dynamics
    >>> from obliquetd.domains import two_state
    >>> [mean_dynamics(two_state(), SETD(cap=cap)).A[0] for cap in (None, 2)]
    [2, 2/5]
    """

    alpha: StepSize = None
    lam: Any = unit(0, "the trace parameter lambda")
    cap: Any = positive(None, "the largest value that omega may take")
    ratios: str = choice(
        "full", "capped", meaning="the importance ratios by which the trace decays"
    )
    omega: str = choice(
        "sampled", "expected", meaning="the feature difference that omega is computed from"
    )

    key, name, color, mark = "setd", "SETD", "#D55E00", "s"
    source = "Lyu et al. 2018, Algorithms 1 and 2"
    solves = "the fixed point of its tilted chain under the weights xi omega"
    weights, memory = Theta, Trace

    @property
    def numbers(self) -> type:  # type: ignore[override]
        """The trace parameter, and what else the rule reads."""
        if self.derives:
            return LamExpected if self.cap is None else LamExpectedCap
        return Lam if self.cap is None else LamCap

    @property
    def derives(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The weight of each state, where that is the emphasis."""
        return {"expected": (1, "1/2", -2, 3)} if self.omega == "expected" else {}

    def derive(self, problem: Any) -> Mapping[str, Any]:
        return {"expected": projections(problem)}

    @property
    def rule(self) -> Callable[..., Any]:  # type: ignore[override]
        """Algorithm 2, or what the settings make of it."""
        if self.cap is None and self.ratios == "full" and self.omega == "sampled":
            return setd
        return setd_with(
            of_the_sample if self.omega == "sampled" else of_the_state,
            as_it_is if self.cap is None else at_most,
            emphatic if self.ratios == "full" else with_capped_ratios,
        )
