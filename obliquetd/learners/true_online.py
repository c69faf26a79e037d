"""True-online learners: at every step the weights of a forward view, exactly.

The forward view (van Hasselt, Mahmood and Sutton 2014; van Seijen et al. 2016). At time t, with
data up to s_t, begin again at theta_0 and move once towards each interim target,

    theta^t_{k+1} = theta^t_k + alpha_k rho_k m_k (G^t_k - phi_k . theta^t_k) phi_k + x_k,  k < t,

and theta_t := theta^t_t. The ratio rho_k of the own action multiplies the whole step; those of
later actions are in the interim lambda-return, on what is corrected beyond the next state,

    G^t_k = r_{k+1} + gamma_{k+1} ((1 - lambda rho_{k+1}) phi_{k+1} . theta_k + lambda rho_{k+1} G^t_{k+1})
    G^t_{t-1} = r_t + gamma_t phi_t . theta_{t-1}.

Without ratios, G is the familiar mixture of n-step returns. The emphasis m is 1 for TD, the
emphasis of the follow-on trace for ETD, omega(phi_k, phi_{k+1}) for SETD; x_k, which does not
depend on t, is 0 but for TrueOnlineGTD.

The derivation, the same for all. With G^k_k := phi_k . theta_{k-1}, one datum more changes the
target by

    G^{t+1}_k - G^t_k = (gamma_{k+1} lambda rho_{k+1}) ... (gamma_t lambda rho_t) delta'_t,
    delta'_t = r_{t+1} + gamma_{t+1} phi_{t+1} . theta_t - phi_t . theta_{t-1}.

Let eta_k = alpha_k rho_k m_k. Subtracting the forward views at t + 1 and at t, D_k = theta^{t+1}_k -
theta^t_k obeys D_0 = 0, D_{k+1} = (I - eta_k phi_k phi_k') D_k + eta_k (G^{t+1}_k - G^t_k) phi_k: x_k has
cancelled. Hence D_t = gamma_t lambda rho_t delta'_t e_{t-1}, where the trace collects

    e_t = rho_t (gamma_t lambda e_{t-1} + alpha_t m_t (1 - rho_t gamma_t lambda phi_t . e_{t-1}) phi_t),

and the last move, from theta_t + D_t with the target phi_t . theta_{t-1} + delta'_t, gives

    theta_{t+1} = theta_t + delta'_t e_t + eta_t (phi_t . theta_{t-1} - phi_t . theta_t) phi_t + x_t
                = theta_t + delta_t e_t + (theta_t - theta_{t-1}) . phi_t (e_t - eta_t phi_t) + x_t.

The slope of e in alpha at 0 is the trace of TD(lambda), ETD(lambda) or SETD(lambda): so A and b are
theirs. The rules keep that trace too (``plain``): what is of the order of alpha is 0 where the
expected update is taken, and e is made of it there. Where an episode ends, gamma = 0 empties the
trace, and the forward views of the next episode begin at theta_t.

For SETD this is the paper's future work. The paper's forward view is omega_k (rho_k (r_{k+1} + ...) -
phi_k . theta) phi_k, which differs from the one above in terms (rho - 1) phi . theta of mean zero. It
drops those to reach Algorithm 2, and so does the view above: its error
rho_k (delta_k + gamma_{k+1} lambda (its own at k + 1)) is what Algorithm 2 sums up. omega_k is known at
time k + 1, with the first target that its step has, and never changes afterwards, which is all
that the derivation asks of m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

from obliquetd.learners.base import Learner, StepSize, ratio, unit
from obliquetd.learners.emphatic import Lam
from obliquetd.learners.gradient import MuLam
from obliquetd.learners.state import Number, Theta, ThetaW, Vector
from obliquetd.learners.words import omega, phi, phi_next, td_error

__all__ = ["TrueOnlineETD", "TrueOnlineGTD", "TrueOnlineSETD", "TrueOnlineTD"]


class Dutch(NamedTuple):
    """gamma lambda times the trace without alpha, and times e; (theta_t - theta_{t-1}) . phi_t; alpha."""

    plain: Vector
    e: Vector
    moved: Number
    before: Number


class DutchFollowOn(NamedTuple):
    """The same, and gamma rho F."""

    plain: Vector
    e: Vector
    moved: Number
    before: Number
    F: Number


class GradientDutch(NamedTuple):
    """The same, and gamma lambda rho times the trace of the secondary weights."""

    plain: Vector
    e: Vector
    e_w: Vector
    moved: Number
    before: Number


def dutch(theta: Any, m: Any, t: Any, weight: Any, alpha: Any, lam: Any) -> Any:
    """One transition of the preface with emphasis ``weight``; ``moved`` is then theta's along phi_{t+1}."""
    delta = td_error(theta, t)
    first = m.before[0] == 0
    e_phi = 0 * t.g
    for i in range(len(theta)):
        if first:
            m.e[i] = alpha * m.plain[i]
        e_phi += m.e[i] * phi(t, i)
    moved = m.moved[0]
    change = 0 * t.g
    for i in range(len(theta)):
        own = t.rho * weight * phi(t, i)
        older = t.rho * (m.e[i] - alpha * e_phi * own)
        step = delta * (older + alpha * own) + moved * older
        theta[i] += step
        change += step * phi_next(t, i)
        m.e[i] = t.g * lam * (older + alpha * own)
        m.plain[i] = t.g * lam * (t.rho * m.plain[i] + own)
    m.moved[0] = change
    m.before[0] = alpha
    return delta


def true_online_td(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of true-online TD(lambda)."""
    return dutch(x.theta, m, t, 1 + 0 * t.g, alpha, p.lam)


def true_online_setd(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of true-online SETD(lambda)."""
    return dutch(x.theta, m, t, omega(t), alpha, p.lam)


def true_online_etd(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of true-online ETD(lambda)."""
    F = 1 + m.F[0]
    m.F[0] = t.g * t.rho * F
    return dutch(x.theta, m, t, p.lam + (1 - p.lam) * F, alpha, p.lam)


def true_online_gtd(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of true-online GTD(lambda)."""
    theta, w, beta = x.theta, x.w, alpha * p.mu
    correction = 0 * t.g
    w_phi = 0 * t.g
    e_w_phi = 0 * t.g
    for i in range(len(theta)):
        if m.before[0] == 0:
            m.e_w[i] = beta * m.plain[i]
        correction += t.rho * (m.plain[i] + phi(t, i)) * w[i]
        w_phi += phi(t, i) * w[i]
        e_w_phi += m.e_w[i] * phi(t, i)
    delta = dutch(theta, m, t, 1 + 0 * t.g, alpha, p.lam)
    change = m.moved[0]
    for i in range(len(theta)):
        step = -alpha * t.g * (1 - p.lam) * correction * phi_next(t, i)
        theta[i] += step
        change += step * phi_next(t, i)
        trace = m.e_w[i] + beta * phi(t, i) - beta * e_w_phi * phi(t, i)
        w[i] += t.rho * delta * trace - beta * w_phi * phi(t, i)
        m.e_w[i] = t.g * p.lam * t.rho * trace
    m.moved[0] = change
    return delta


@final
@dataclass(frozen=True)
class TrueOnlineTD(Learner):
    """True-online TD(lambda): the forward view with emphasis 1, at every step.

    Parameters
    ----------
    alpha : number or callable, optional
    lam : number or symbol

    Notes
    -----
    On-policy it is van Seijen and Sutton's (2014); the ratios stand as in van Hasselt, Mahmood and
    Sutton (2014): see :mod:`obliquetd.learners.true_online`.

    Examples
    --------
    >>> from obliquetd import TD, mean_dynamics
    >>> from obliquetd.domains import two_state
    >>> [mean_dynamics(two_state(), kind(lam="1/2")).A[0] for kind in (TD, TrueOnlineTD)]
    [1/22, 1/22]
    """

    alpha: StepSize = None
    lam: Any = unit(0, "the trace parameter lambda")

    key, name, color, mark = "true-online-td", "TrueOnlineTD", "#004D7A", "h"
    source = "van Seijen and Sutton 2014; with ratios, van Hasselt, Mahmood and Sutton 2014"
    listed = False
    solves = "the TD(lambda) fixed point under the weights xi"
    weights, memory, numbers, rule = Theta, Dutch, Lam, staticmethod(true_online_td)


@final
@dataclass(frozen=True)
class TrueOnlineSETD(Learner):
    """True-online SETD(lambda): the forward view with emphasis omega, at every step.

    Parameters
    ----------
    alpha : number or callable, optional
    lam : number or symbol

    Notes
    -----
    The interim forward view of SETD(lambda) at time t is

        theta^t_{k+1} = theta^t_k + alpha_k rho_k omega_k (G^t_k - phi_k . theta^t_k) phi_k,  k < t,

    with the interim return G of :mod:`obliquetd.learners.true_online`, where it is derived that

        e_t = rho_t (gamma_t lambda e_{t-1} + alpha_t omega_t (1 - rho_t gamma_t lambda phi_t . e_{t-1}) phi_t)
        theta_{t+1} = theta_t + delta_t e_t
                      + (theta_t - theta_{t-1}) . phi_t (e_t - alpha_t rho_t omega_t phi_t)

    has theta_t = theta^t_t at every step. With lambda = 0 it is SETD.
    """

    alpha: StepSize = None
    lam: Any = unit(0, "the trace parameter lambda")

    key, name, color, mark = "true-online-setd", "TrueOnlineSETD", "#8A3C00", "H"
    source = "this toolkit; left to future work by Lyu et al. 2018"
    listed = False
    solves = "the fixed point of its tilted chain under the weights xi omega"
    weights, memory, numbers, rule = Theta, Dutch, Lam, staticmethod(true_online_setd)


@final
@dataclass(frozen=True)
class TrueOnlineETD(Learner):
    """True-online ETD(lambda): the forward view with ETD's emphasis, at every step.

    Parameters
    ----------
    alpha : number or callable, optional
    lam : number or symbol

    Notes
    -----
    The emphasis is lambda + (1 - lambda) F, with interest 1: see
    :mod:`obliquetd.learners.true_online`.
    """

    alpha: StepSize = None
    lam: Any = unit(0, "the trace parameter lambda")

    key, name, color, mark = "true-online-etd", "TrueOnlineETD", "#00604A", "8"
    source = "Mahmood, Yu, White and Sutton 2015"
    listed = False
    solves = "the TD(lambda) fixed point under the emphasis f"
    weights, memory, numbers, rule = Theta, DutchFollowOn, Lam, staticmethod(true_online_etd)


@final
@dataclass(frozen=True)
class TrueOnlineGTD(Learner):
    """True-online GTD(lambda) of van Hasselt, Mahmood and Sutton (2014).

    Parameters
    ----------
    alpha : number or callable, optional
    mu : number or symbol
        beta / alpha.
    lam : number or symbol

    Notes
    -----
    Their GTD(lambda) is :class:`~obliquetd.learners.TDC` here, so that A is TDC(lambda)'s and not
    that of the learner called GTD. The primary weights have the forward view of
    :mod:`obliquetd.learners.true_online` with emphasis 1 and the gradient correction

        x_k = -alpha_k gamma_{k+1} (1 - lambda) (w_k . e_k) phi_{k+1},  e_k = rho_k (gamma_k lambda e_{k-1} + phi_k);

    the secondary weights have

        w^t_{k+1} = w^t_k + beta_k (rho_k sum over j = k..t-1 of (gamma_{k+1} lambda rho_{k+1}) ...
                    (gamma_j lambda rho_j) delta_j - phi_k . w^t_k) phi_k,

    where rho_k multiplies the target alone: it is absent from phi_k . w, so that
    C = E[phi phi'] under the behaviour. A datum more changes that target by rho_k gamma_{k+1} lambda
    times what it changes the next one, so that

        e^w_t = rho_{t-1} gamma_t lambda e^w_{t-1} + beta_t (1 - rho_{t-1} gamma_t lambda phi_t . e^w_{t-1}) phi_t
        w_{t+1} = w_t + rho_t delta_t e^w_t - beta_t (phi_t . w_t) phi_t.
    """

    alpha: StepSize = None
    mu: Any = ratio(1, "the second step size divided by the first")
    lam: Any = unit(0, "the trace parameter lambda")

    key, name, color, mark = "true-online-gtd", "TrueOnlineGTD", "#8C6100", "<"
    source = "van Hasselt, Mahmood and Sutton 2014"
    listed = False
    solves = "the TD(lambda) fixed point under the weights xi"
    weights, memory, numbers, rule = ThetaW, GradientDutch, MuLam, staticmethod(true_online_gtd)
