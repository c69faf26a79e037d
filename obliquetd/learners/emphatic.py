"""TD(lambda), SETD(lambda) and ETD(lambda): one rule, and one difference.

    e_t = rho_t (gamma_t lambda e_{t-1} + m_t phi_t),   theta += alpha delta_t e_t

========  ===========================================================================
TD        m = 1
SETD      m = omega(phi_t, phi_{t+1}) = max(Delta phi . phi / |Delta phi|^2, 0)
          (Lyu et al. 2018, Algorithms 1 and 2)
ETD       m = lambda + (1 - lambda) F_t, F_t = 1 + gamma_t rho_{t-1} F_{t-1}
          (Sutton, Mahmood and White 2016, interest 1)
========  ===========================================================================

gamma_t is the discount of the transition that arrived in s_t; delta_t and Delta phi
use that of the transition that leaves it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from obliquetd.learners.base import Learner, StepSize

__all__ = ["ETD", "SETD", "TD", "emphasis", "emphatic_step", "omega"]

TD_CODE, SETD_CODE, ETD_CODE = 0, 1, 2


def omega(features: Any, s: int, n: int, g: Any) -> Any:
    """SETD's weight of the transition from row s to row n of the features (Eq. omega-i).

    Where Delta phi = 0 every weight is a minimiser, and 0 is taken: such a transition
    says nothing of theta. After a termination (g = 0), Delta phi = phi and the weight is 1.
    """
    up = 0 * g
    down = 0 * g
    for i in range(features.shape[1]):
        difference = features[s, i] - g * features[n, i]
        up += difference * features[s, i]
        down += difference * difference
    if down == 0:
        return up
    if up > 0:
        return up / down
    return 0 * up


def emphasis(code: int, features: Any, s: int, n: int, g: Any, follow_on: Any, lam: Any) -> Any:
    """The one difference between the three learners."""
    if code == SETD_CODE:
        return omega(features, s, n, g)
    if code == ETD_CODE:
        return lam + (1 - lam) * follow_on
    return 1 + 0 * g


def emphatic_step(
    code: int, theta: Any, w: Any, memory: Any, features: Any, s: int, n: int, reward: Any,
    g: Any, rho: Any, twin: int, g_twin: Any, rho_twin: Any, alpha: Any, beta: Any, lam: Any,
) -> Any:  # fmt: skip
    """One transition of TD, SETD or ETD; see the module's preface."""
    d = len(theta)
    delta = reward
    for i in range(d):
        delta += (g * features[n, i] - features[s, i]) * theta[i]
    follow_on = 1 + 0 * g
    if code == ETD_CODE:
        follow_on += memory[d]
        memory[d] = g * rho * follow_on
    m = emphasis(code, features, s, n, g, follow_on, lam)
    for i in range(d):
        trace = rho * (memory[i] + m * features[s, i])
        theta[i] += alpha * delta * trace
        memory[i] = g * lam * trace
    return delta


@dataclass(frozen=True)
class _Emphatic(Learner):
    """The shared rule."""

    alpha: StepSize = None
    lam: Any = 0

    @property
    def rule(self) -> Callable[..., Any]:
        return emphatic_step


@dataclass(frozen=True)
class TD(_Emphatic):
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

    name: ClassVar[str] = "TD"

    @property
    def code(self) -> int:
        return TD_CODE


@dataclass(frozen=True)
class SETD(_Emphatic):
    """SETD(lambda): the emphasis is omega of the sampled transition (Algorithms 1 and 2).

    Parameters
    ----------
    alpha : number or callable, optional
    lam : number or symbol
    """

    name: ClassVar[str] = "SETD"

    @property
    def code(self) -> int:
        return SETD_CODE


@dataclass(frozen=True)
class ETD(_Emphatic):
    """ETD(lambda): the emphasis is made of the follow-on trace (Sutton et al. 2016).

    Parameters
    ----------
    alpha : number or callable, optional
    lam : number or symbol
    """

    name: ClassVar[str] = "ETD"
    follow_on: ClassVar[bool] = True

    @property
    def code(self) -> int:
        return ETD_CODE
