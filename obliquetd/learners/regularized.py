"""TD with its weights drawn to 0: A + eta I in the place of A.

    theta += alpha (rho delta phi - eta theta)

Where A + eta I is stable it converges to (A + eta I)^-1 b, with TD's A and b, which is no
fixed point of a projected Bellman equation unless eta = 0. A large enough eta makes every A
stable; what comes out may then still be worse than the prediction 0 (Manek and Kolter 2022):
:func:`obliquetd.improvement_region` has the eta for which it is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

from obliquetd.learners.base import Learner, StepSize, nonnegative
from obliquetd.learners.state import Nothing, Theta
from obliquetd.learners.words import phi, td_error

__all__ = ["RegularizedTD"]


class Eta(NamedTuple):
    """The regulariser."""

    eta: Any


def regularized(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of regularised TD."""
    theta = x.theta
    delta = td_error(theta, t)
    for i in range(len(theta)):
        theta[i] += alpha * (t.rho * delta * phi(t, i) - p.eta * theta[i])
    return delta


@final
@dataclass(frozen=True)
class RegularizedTD(Learner):
    """TD(0) with an l2 regulariser; its fixed point is (A + eta I)^-1 b.

    Parameters
    ----------
    alpha : number or callable, optional
    eta : number or symbol

    Examples
    --------
    >>> from obliquetd import mean_dynamics, stability_region
    >>> from obliquetd.domains import two_state
    >>> mean_dynamics(two_state(), RegularizedTD(eta="eta")).A
    Matrix([[(5*eta - 1)/5]])
    >>> stability_region(two_state(), RegularizedTD(eta="eta"), "eta")
    Interval.open(1/5, oo)
    """

    alpha: StepSize = None
    eta: Any = nonnegative(1, "the strength of the l2 regulariser of the weights")

    key, name, color, mark = "regularized-td", "RegularizedTD", "#0072B2", "d"
    source = "Manek and Kolter 2022"
    listed = False
    solves = "(A + eta I)^-1 b, with A and b of TD(0)"
    weights, memory, numbers, rule = Theta, Nothing, Eta, staticmethod(regularized)
