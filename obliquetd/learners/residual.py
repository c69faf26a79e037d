"""Residual gradient (Baird 1995), naive and with double sampling.

    naive:   theta += alpha rho delta (phi - g phi')
    double:  theta += alpha rho delta rho'' (phi - g'' phi'')

with (rho'', g'', phi'') from a second, independent transition out of the same state. The
naive rule descends E[rho delta^2] and not the Bellman error: its two factors share one
sample, so the variance of the next state is minimised along with the error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from obliquetd.learners.base import Learner, StepSize

__all__ = ["DoubleSampledResidualGradient", "ResidualGradient", "residual_step"]

NAIVE_CODE, DOUBLE_CODE = 0, 1


def residual_step(
    code: int, theta: Any, w: Any, memory: Any, features: Any, s: int, n: int, reward: Any,
    g: Any, rho: Any, twin: int, g_twin: Any, rho_twin: Any, alpha: Any, beta: Any, lam: Any,
) -> Any:  # fmt: skip
    """One transition of the residual gradient; see the module's preface."""
    d = len(theta)
    delta = reward
    for i in range(d):
        delta += (g * features[n, i] - features[s, i]) * theta[i]
    for i in range(d):
        if code == DOUBLE_CODE:
            theta[i] += (
                alpha * rho * delta * rho_twin * (features[s, i] - g_twin * features[twin, i])
            )
        else:
            theta[i] += alpha * rho * delta * (features[s, i] - g * features[n, i])
    return delta


@dataclass(frozen=True)
class ResidualGradient(Learner):
    """Residual gradient from one sample.

    Parameters
    ----------
    alpha : number or callable, optional
    """

    alpha: StepSize = None
    lam: int = field(default=0, init=False, repr=False)

    name: ClassVar[str] = "RG"

    @property
    def rule(self) -> Callable[..., Any]:
        return residual_step

    @property
    def code(self) -> int:
        return NAIVE_CODE


@dataclass(frozen=True)
class DoubleSampledResidualGradient(ResidualGradient):
    """Residual gradient from two independent samples: descends the Bellman error.

    Parameters
    ----------
    alpha : number or callable, optional
    """

    name: ClassVar[str] = "RG2"
    double_sampling: ClassVar[bool] = True

    @property
    def code(self) -> int:
        return DOUBLE_CODE
