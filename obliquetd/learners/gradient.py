"""GTD2(lambda) and TDC(lambda): gradient descent on the projected Bellman error.

With e_t = rho_t (gamma_t lambda e_{t-1} + phi_t) and secondary weights w, which track
C^-1 E[delta e]:

    GTD2:  theta += alpha (phi - g phi') (e . w)
    TDC:   theta += alpha (delta e - g (1 - lambda) (e . w) phi')
    both:  w += beta (delta e - (phi . w) phi),   beta = alpha mu

For lambda = 0 the secondary update is (rho delta - phi . w) phi, which is what the
gradient derivation gives (Maei 2011; White and White 2016): C = E[phi phi'] under the
behaviour. Other code and Sutton and Barto (2018, Section 11.7) write rho (delta - phi . w)
phi, whose matrix is E[rho phi phi']. Both are offered, ``secondary="plain"`` and
``"weighted"``. Since E[rho | s] = 1 and phi is a function of the state, the two matrices
are equal: the expected updates coincide, and only the noise differs (E[rho^2] enters).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp

from obliquetd.algebra import parse_number, quoted
from obliquetd.errors import InputError
from obliquetd.learners.base import Learner, StepSize

__all__ = ["GTD2", "TDC", "gradient_step"]

CORRECTED, WEIGHTED = 1, 2  # bits of the code


def gradient_step(
    code: int, theta: Any, w: Any, memory: Any, features: Any, s: int, n: int, reward: Any,
    g: Any, rho: Any, twin: int, g_twin: Any, rho_twin: Any, alpha: Any, beta: Any, lam: Any,
) -> Any:  # fmt: skip
    """One transition of GTD2 or TDC; see the module's preface."""
    d = len(theta)
    delta = reward
    trace_w = 0 * g
    phi_w = 0 * g
    for i in range(d):
        delta += (g * features[n, i] - features[s, i]) * theta[i]
        memory[i] = rho * (memory[i] + features[s, i])
        trace_w += memory[i] * w[i]
        phi_w += features[s, i] * w[i]
    if code & WEIGHTED:
        phi_w = rho * phi_w
    for i in range(d):
        trace = memory[i]
        if code & CORRECTED:
            theta[i] += alpha * (delta * trace - g * (1 - lam) * trace_w * features[n, i])
        else:
            theta[i] += alpha * (features[s, i] - g * features[n, i]) * trace_w
        w[i] += beta * (delta * trace - phi_w * features[s, i])
        memory[i] = g * lam * trace
    return delta


@dataclass(frozen=True)
class _Gradient(Learner):
    """The shared rule, and mu = beta / alpha."""

    alpha: StepSize = None
    mu: Any = 1
    lam: Any = 0
    secondary: str = "plain"

    two_timescale: ClassVar[bool] = True
    bits: ClassVar[int]

    def __post_init__(self) -> None:
        super().__post_init__()
        mu = parse_number(self.mu, "mu")
        if not isinstance(mu, sp.Basic) and not mu > 0:
            raise InputError(f"mu is {quoted(mu)}; expected a positive ratio beta / alpha")
        if self.secondary not in ("plain", "weighted"):
            raise InputError(f"secondary is {self.secondary!r}; expected 'plain' or 'weighted'")

    @property
    def rule(self) -> Callable[..., Any]:
        return gradient_step

    @property
    def code(self) -> int:
        return self.bits | (WEIGHTED if self.secondary == "weighted" else 0)

    @property
    def ratio(self) -> Any:
        return self.mu


@dataclass(frozen=True)
class GTD2(_Gradient):
    """GTD2(lambda) (Sutton et al. 2009; Maei 2011).

    Parameters
    ----------
    alpha : number or callable, optional
    mu : number or symbol
        beta / alpha.
    lam : number or symbol
    secondary : {"plain", "weighted"}
        (rho delta - phi . w) phi, or rho (delta - phi . w) phi.
    """

    name: ClassVar[str] = "GTD2"
    bits: ClassVar[int] = 0


@dataclass(frozen=True)
class TDC(_Gradient):
    """TDC(lambda), also called GTD(lambda) (Sutton et al. 2009; Maei 2011).

    Parameters
    ----------
    alpha : number or callable, optional
    mu : number or symbol
        beta / alpha.
    lam : number or symbol
    secondary : {"plain", "weighted"}
        (rho delta - phi . w) phi, or rho (delta - phi . w) phi.
    """

    name: ClassVar[str] = "TDC"
    bits: ClassVar[int] = CORRECTED
