"""HTD(lambda) and TDRC(lambda): gradient learners that are TD where TD does well.

With e_t = rho_t (gamma_t lambda e_{t-1} + phi_t), the behaviour's own trace
u_t = gamma_t lambda u_{t-1} + phi_t, Delta phi = phi - g phi', and secondary weights w:

    HTD:   theta += alpha (delta e + (e - u) . w Delta phi)
           w += alpha mu (delta e - (u . w) Delta phi)
    TDRC:  theta += alpha (delta e - g (1 - lambda) (e . w) phi')
           w += alpha mu (delta e - (phi . w) phi - kappa w)

On-policy e = u, and HTD moves theta as TD(lambda) does. TDRC is TDC(lambda) with its
secondary weights drawn to 0: as kappa grows it becomes TD(lambda), and for kappa = 0 it is TDC.
With A of TD(lambda) and A_mu of the behaviour's own TD(lambda), the matrices of their
expected updates are

    HTD:   [[A, (A_mu - A)'], [mu A, mu A_mu']]
    TDRC:  [[A, C - A'], [mu A, mu (C + kappa I)]]

in the order theta, w. Where they are regular, both lead to A theta = b, TD's fixed point, and w = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

from obliquetd.learners.base import Learner, StepSize, nonnegative, ratio, unit
from obliquetd.learners.gradient import MuLam
from obliquetd.learners.state import ThetaW, Trace, Vector
from obliquetd.learners.words import difference, phi, phi_next

__all__ = ["HTD", "TDRC"]


class Traces(NamedTuple):
    """The trace, and the behaviour's own u, as they arrive."""

    e: Vector
    u: Vector


class MuLamKappa(NamedTuple):
    """mu = beta / alpha, the trace parameter, and the regulariser of w."""

    mu: Any
    lam: Any
    kappa: Any


def htd(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of HTD(lambda)."""
    theta, w, e, u = x.theta, x.w, m.e, m.u
    delta = t.reward
    e_w = 0 * t.g
    u_w = 0 * t.g
    for i in range(len(theta)):
        delta -= difference(t, i) * theta[i]
        e[i] = t.rho * (e[i] + phi(t, i))
        u[i] = u[i] + phi(t, i)
        e_w += e[i] * w[i]
        u_w += u[i] * w[i]
    beta = alpha * p.mu
    decay = t.g * p.lam
    for i in range(len(theta)):
        theta[i] += alpha * (delta * e[i] + (e_w - u_w) * difference(t, i))
    for i in range(len(theta)):
        w[i] += beta * (delta * e[i] - u_w * difference(t, i))
    for i in range(len(theta)):
        e[i] = decay * e[i]
    for i in range(len(theta)):
        u[i] = decay * u[i]
    return delta


def tdrc(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of TDRC(lambda)."""
    theta, w, e = x.theta, x.w, m.e
    delta = t.reward
    e_w = 0 * t.g
    phi_w = 0 * t.g
    for i in range(len(theta)):
        delta -= difference(t, i) * theta[i]
        e[i] = t.rho * (e[i] + phi(t, i))
        e_w += e[i] * w[i]
        phi_w += phi(t, i) * w[i]
    beta = alpha * p.mu
    decay = t.g * p.lam
    for i in range(len(theta)):
        theta[i] += alpha * (delta * e[i] - t.g * (1 - p.lam) * e_w * phi_next(t, i))
    for i in range(len(theta)):
        w[i] += beta * (delta * e[i] - phi_w * phi(t, i) - p.kappa * w[i])
    for i in range(len(theta)):
        e[i] = decay * e[i]
    return delta


@final
@dataclass(frozen=True)
class HTD(Learner):
    """HTD(lambda), hybrid TD (Hackman 2012; White and White 2016).

    It converges to the fixed point of TD(lambda) where its matrix is stable, as it is on-policy.

    Parameters
    ----------
    alpha : number or callable, optional
    mu : number or symbol
        beta / alpha.
    lam : number or symbol

    Examples
    --------
    >>> from obliquetd import mean_dynamics
    >>> from obliquetd.domains import two_state
    >>> mean_dynamics(two_state(), HTD()).A
    Matrix([
    [-1/5, 27/40],
    [-1/5, 19/40]])
    """

    alpha: StepSize = None
    mu: Any = ratio(1, "the second step size divided by the first")
    lam: Any = unit(0, "the trace parameter lambda")

    key, name, color, mark = "htd", "HTD", "#882255", "h"
    source = "Hackman 2012; White and White 2016"
    listed = False
    solves = "the TD(lambda) fixed point under the weights xi"
    weights, memory, numbers, rule = ThetaW, Traces, MuLam, staticmethod(htd)


@final
@dataclass(frozen=True)
class TDRC(Learner):
    """TDRC(lambda), TD with regularised corrections (Ghiassian et al. 2020).

    It converges to the fixed point of TD(lambda) where its matrix is stable.

    Parameters
    ----------
    alpha : number or callable, optional
    mu : number or symbol
        beta / alpha.
    lam : number or symbol
    kappa : number or symbol
        How strongly the secondary weights are drawn to 0 (beta in the source).

    Examples
    --------
    >>> from obliquetd import mean_dynamics
    >>> from obliquetd.domains import two_state
    >>> mean_dynamics(two_state(), TDRC()).A
    Matrix([
    [-1/5, 27/10],
    [-1/5,   7/2]])
    """

    alpha: StepSize = None
    mu: Any = ratio(1, "the second step size divided by the first")
    lam: Any = unit(0, "the trace parameter lambda")
    kappa: Any = nonnegative(1, "the strength of the regulariser of the secondary weights")

    key, name, color, mark = "tdrc", "TDRC", "#E69F00", "^"
    source = "Ghiassian et al. 2020"
    listed = False
    solves = "the TD(lambda) fixed point under the weights xi"
    weights, memory, numbers, rule = ThetaW, Trace, MuLamKappa, staticmethod(tdrc)
