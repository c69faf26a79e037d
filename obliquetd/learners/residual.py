"""Residual gradient (Baird 1995), naive and with double sampling.

    naive:   theta += alpha rho delta (phi - g phi')
    double:  theta += alpha rho delta rho'' (phi - g'' phi'')

with (rho'', g'', phi'') from a second, independent transition out of the same state. The
naive rule descends E[rho delta^2] and not the Bellman error: its two factors share one
sample, so the variance of the next state is minimised along with the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from obliquetd.learners.base import Learner, StepSize
from obliquetd.learners.state import Nothing, Theta
from obliquetd.learners.words import difference, phi, td_error

__all__ = ["DoubleSampledResidualGradient", "ResidualGradient"]


def naive(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of the residual gradient from one sample."""
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * t.rho * delta * difference(t, i)
    return delta


def double_sampled(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of the residual gradient from two samples."""
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        second = phi(t, i) - t.g_twin * t.features[t.twin, i]
        x.theta[i] += alpha * t.rho * delta * t.rho_twin * second
    return delta


@final
@dataclass(frozen=True)
class ResidualGradient(Learner):
    """Residual gradient from one sample.

    Parameters
    ----------
    alpha : number or callable, optional
    """

    alpha: StepSize = None

    key, name = "residual-gradient", "ResidualGradient"
    color, mark = "#56B4E9", "P"
    source = "Baird 1995"
    solves = "the minimum of the mean squared TD error"
    weights, memory, numbers, rule = Theta, Nothing, Nothing, staticmethod(naive)


@final
@dataclass(frozen=True)
class DoubleSampledResidualGradient(Learner):
    """Residual gradient from two independent samples: descends the Bellman error.

    Parameters
    ----------
    alpha : number or callable, optional
    """

    alpha: StepSize = None

    key, name = "double-sampled-residual-gradient", "DoubleSampledResidualGradient"
    color, mark = "#7A5C00", "*"
    source = "Baird 1995"
    solves = "the minimum of the mean squared Bellman error"
    weights, memory, numbers, rule = Theta, Nothing, Nothing, staticmethod(double_sampled)
