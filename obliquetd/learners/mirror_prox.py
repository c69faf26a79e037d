"""GTD2-MP(lambda) and TDC-MP(lambda): gradient TD by mirror-prox (Liu et al. 2015).

A saddle point is sought by extragradient steps. From x = (theta, w) half a step leads to

    theta~ = theta + alpha d(x),   w~ = w + alpha mu (delta e - (phi . w) phi)

and the step is taken with the TD error delta~ of theta~, and with w~:

    theta += alpha d(x~),   w += alpha mu (delta~ e - (phi . w~) phi)
    GTD2-MP:  d(x) = (e . w) Delta phi                      Delta phi = phi - g phi'
    TDC-MP:   d(x) = delta e - g (1 - lambda) (e . w) phi'

To first order in alpha they are GTD2(lambda) and TDC(lambda), with those matrices, and lead to
TD(lambda)'s fixed point. The terms in alpha^2, which are the point of the method, count in moments
and simulations.

Half a step is along phi, phi' and e alone, so that delta~, e . w~ and phi . w~ follow from
inner products of these, and theta~ and w~ are never kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from obliquetd.learners.base import Learner, StepSize, ratio, unit
from obliquetd.learners.gradient import MuLam
from obliquetd.learners.state import ThetaW, Trace
from obliquetd.learners.words import difference, phi, phi_next

__all__ = ["GTD2MP", "TDCMP"]


def gtd2_mp(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of GTD2-MP(lambda)."""
    theta, w, e = x.theta, x.w, m.e
    delta = t.reward
    e_w, phi_w, e_e, phi_e, phi_phi, gap_gap = 0 * t.g, 0 * t.g, 0 * t.g, 0 * t.g, 0 * t.g, 0 * t.g
    for i in range(len(theta)):
        gap = difference(t, i)
        delta -= gap * theta[i]
        e[i] = t.rho * (e[i] + phi(t, i))
        e_w += e[i] * w[i]
        phi_w += phi(t, i) * w[i]
        e_e += e[i] * e[i]
        phi_e += phi(t, i) * e[i]
        phi_phi += phi(t, i) * phi(t, i)
        gap_gap += gap * gap
    beta = alpha * p.mu
    half_delta = delta - alpha * e_w * gap_gap
    half_e_w = e_w + beta * (delta * e_e - phi_w * phi_e)
    half_phi_w = phi_w + beta * (delta * phi_e - phi_w * phi_phi)
    decay = t.g * p.lam
    for i in range(len(theta)):
        theta[i] += alpha * half_e_w * difference(t, i)
    for i in range(len(theta)):
        w[i] += beta * (half_delta * e[i] - half_phi_w * phi(t, i))
    for i in range(len(theta)):
        e[i] = decay * e[i]
    return delta


def tdc_mp(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of TDC-MP(lambda)."""
    theta, w, e = x.theta, x.w, m.e
    delta = t.reward
    e_w, phi_w, e_e, phi_e, phi_phi = 0 * t.g, 0 * t.g, 0 * t.g, 0 * t.g, 0 * t.g
    gap_e, gap_next = 0 * t.g, 0 * t.g
    for i in range(len(theta)):
        gap = difference(t, i)
        delta -= gap * theta[i]
        e[i] = t.rho * (e[i] + phi(t, i))
        e_w += e[i] * w[i]
        phi_w += phi(t, i) * w[i]
        e_e += e[i] * e[i]
        phi_e += phi(t, i) * e[i]
        phi_phi += phi(t, i) * phi(t, i)
        gap_e += gap * e[i]
        gap_next += gap * phi_next(t, i)
    beta = alpha * p.mu
    correction = t.g * (1 - p.lam)
    half_delta = delta - alpha * (delta * gap_e - correction * e_w * gap_next)
    half_e_w = e_w + beta * (delta * e_e - phi_w * phi_e)
    half_phi_w = phi_w + beta * (delta * phi_e - phi_w * phi_phi)
    decay = t.g * p.lam
    for i in range(len(theta)):
        theta[i] += alpha * (half_delta * e[i] - correction * half_e_w * phi_next(t, i))
    for i in range(len(theta)):
        w[i] += beta * (half_delta * e[i] - half_phi_w * phi(t, i))
    for i in range(len(theta)):
        e[i] = decay * e[i]
    return delta


@final
@dataclass(frozen=True)
class GTD2MP(Learner):
    """GTD2-MP(lambda), GTD2 by mirror-prox; it converges to TD(lambda)'s fixed point.

    Parameters
    ----------
    alpha : number or callable, optional
    mu : number or symbol
        beta / alpha.
    lam : number or symbol

    Examples
    --------
    >>> from obliquetd import GTD2, mean_dynamics
    >>> from obliquetd.domains import two_state
    >>> mean_dynamics(two_state(), GTD2MP()).A == mean_dynamics(two_state(), GTD2()).A
    True
    """

    alpha: StepSize = None
    mu: Any = ratio(1, "the second step size divided by the first")
    lam: Any = unit(0, "the trace parameter lambda")

    key, name, color, mark = "gtd2-mp", "GTD2MP", "#CC79A7", "d"
    source, listed = "Liu et al. 2015; Mahadevan et al. 2014", False
    solves = "the TD(lambda) fixed point under the weights xi"
    weights, memory, numbers, rule = ThetaW, Trace, MuLam, staticmethod(gtd2_mp)


@final
@dataclass(frozen=True)
class TDCMP(Learner):
    """TDC-MP(lambda), TDC by mirror-prox; it converges to TD(lambda)'s fixed point.

    Parameters
    ----------
    alpha : number or callable, optional
    mu : number or symbol
        beta / alpha.
    lam : number or symbol

    Examples
    --------
    >>> from obliquetd import TDC, mean_dynamics
    >>> from obliquetd.domains import two_state
    >>> mean_dynamics(two_state(), TDCMP()).A == mean_dynamics(two_state(), TDC()).A
    True
    """

    alpha: StepSize = None
    mu: Any = ratio(1, "the second step size divided by the first")
    lam: Any = unit(0, "the trace parameter lambda")

    key, name, color, mark = "tdc-mp", "TDCMP", "#E69F00", "d"
    source, listed = "Liu et al. 2015; Mahadevan et al. 2014", False
    solves = "the TD(lambda) fixed point under the weights xi"
    weights, memory, numbers, rule = ThetaW, Trace, MuLam, staticmethod(tdc_mp)
