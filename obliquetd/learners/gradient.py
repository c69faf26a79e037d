"""GTD(lambda), GTD2(lambda) and TDC(lambda): gradient descent without double sampling.

With e_t = rho_t (gamma_t lambda e_{t-1} + phi_t) and secondary weights w, which track
E[delta e] in GTD, and C^-1 E[delta e] in the two others:

    GTD, GTD2:  theta += alpha (phi - g phi') (e . w)
    TDC:        theta += alpha (delta e - g (1 - lambda) (e . w) phi')
    GTD:        w += alpha mu (delta e - w)
    GTD2, TDC:  w += alpha mu (delta e - (phi . w) phi)

GTD descends the norm of the expected update, |E[delta e]|^2, the others the projected Bellman
error, E[delta e]' C^-1 E[delta e]; where A is regular, all three lead to the fixed point of
TD(lambda), A theta = b, and to w = 0. With that A, and weights in the order theta, w, their
expected updates have the matrices

    GTD:   [[0, -A'], [mu A, mu I]]
    GTD2:  [[0, -A'], [mu A, mu C]]
    TDC:   [[A, C - A'], [mu A, mu C]]

for every lambda: along a trajectory E[e (phi - g lambda phi')'] = E[phi phi'] = C, since
what e_t hands on to phi_{t+1} is what e_{t+1} got.

For lambda = 0 the secondary update is (rho delta - phi . w) phi, which is what the
gradient derivation gives (Maei 2011; White and White 2016): C = E[phi phi'] under the
behaviour. Other code and Sutton and Barto (2018, Section 11.7) write rho (delta - phi . w)
phi, whose matrix is E[rho phi phi']. Both are offered, ``secondary="plain"`` and
``"weighted"``. Since E[rho | s] = 1 and phi is a function of the state, the two matrices
are equal: the expected updates coincide, and only the noise differs (E[rho^2] enters).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

from obliquetd.learners.base import Learner, StepSize, choice, ratio, unit
from obliquetd.learners.state import ThetaW, Trace
from obliquetd.learners.words import difference, phi, phi_next

__all__ = ["GTD", "GTD2", "TDC", "MuLam"]


class MuLam(NamedTuple):
    """mu = beta / alpha, and the trace parameter."""

    mu: Any
    lam: Any


class MuLamSecondary(NamedTuple):
    """mu = beta / alpha, the trace parameter, and 1 where the secondary update is weighted."""

    mu: Any
    lam: Any
    secondary: Any


# The rules differ in a line or two. They are texts of their own since their first loop reads each feature
# once and leaves three sums: handed back by a helper, these cost a third of a step at d = 8. Each array is then
# written in a loop of its own. Where one loop writes several, the compiler reads wider registers in it than the
# first loop wrote, and the processor waits until that has reached its memory (a third of a step at d = 8); of
# three, it finds too many pairs that may overlap to use vector registers for all of it (a sixth at d = 201).


def gtd(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of GTD(lambda)."""
    theta, w, e = x.theta, x.w, m.e
    delta = t.reward
    e_w = 0 * t.g
    for i in range(len(theta)):
        delta += (t.g * phi_next(t, i) - phi(t, i)) * theta[i]
        e[i] = t.rho * (e[i] + phi(t, i))
        e_w += e[i] * w[i]
    beta = alpha * p.mu
    for i in range(len(theta)):
        theta[i] += alpha * difference(t, i) * e_w
    for i in range(len(theta)):
        w[i] += beta * (delta * e[i] - w[i])
    for i in range(len(theta)):
        e[i] = t.g * p.lam * e[i]
    return delta


def gtd2(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of GTD2(lambda)."""
    theta, w, e = x.theta, x.w, m.e
    delta = t.reward
    e_w = 0 * t.g
    phi_w = 0 * t.g
    for i in range(len(theta)):
        delta += (t.g * phi_next(t, i) - phi(t, i)) * theta[i]
        e[i] = t.rho * (e[i] + phi(t, i))
        e_w += e[i] * w[i]
        phi_w += phi(t, i) * w[i]
    if p.secondary > 0:
        phi_w = t.rho * phi_w
    beta = alpha * p.mu
    for i in range(len(theta)):
        theta[i] += alpha * difference(t, i) * e_w
    for i in range(len(theta)):
        w[i] += beta * (delta * e[i] - phi_w * phi(t, i))
    for i in range(len(theta)):
        e[i] = t.g * p.lam * e[i]
    return delta


def tdc(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of TDC(lambda)."""
    theta, w, e = x.theta, x.w, m.e
    delta = t.reward
    e_w = 0 * t.g
    phi_w = 0 * t.g
    for i in range(len(theta)):
        delta += (t.g * phi_next(t, i) - phi(t, i)) * theta[i]
        e[i] = t.rho * (e[i] + phi(t, i))
        e_w += e[i] * w[i]
        phi_w += phi(t, i) * w[i]
    if p.secondary > 0:
        phi_w = t.rho * phi_w
    beta = alpha * p.mu
    for i in range(len(theta)):
        theta[i] += alpha * (delta * e[i] - t.g * (1 - p.lam) * e_w * phi_next(t, i))
    for i in range(len(theta)):
        w[i] += beta * (delta * e[i] - phi_w * phi(t, i))
    for i in range(len(theta)):
        e[i] = t.g * p.lam * e[i]
    return delta


@final
@dataclass(frozen=True)
class GTD(Learner):
    """GTD(lambda): descends the norm of TD's expected update (Sutton, Szepesvari and Maei 2008).

    It converges to the fixed point of TD(lambda).

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
    >>> mean_dynamics(two_state(), GTD(mu=2)).A
    Matrix([
    [   0, 1/5],
    [-2/5,   2]])
    """

    alpha: StepSize = None
    mu: Any = ratio(1, "the second step size divided by the first")
    lam: Any = unit(0, "the trace parameter lambda")

    key, name, color, mark = "gtd", "GTD", "#CC79A7", "<"
    source = "Sutton, Szepesvari and Maei 2008; with lambda, Maei 2011"
    listed = False
    solves = "the TD(lambda) fixed point under the weights xi"
    weights, memory, numbers, rule = ThetaW, Trace, MuLam, staticmethod(gtd)


@final
@dataclass(frozen=True)
class GTD2(Learner):
    """GTD2(lambda) (Sutton et al. 2009; Maei 2011); it converges to TD(lambda)'s fixed point.

    Parameters
    ----------
    alpha : number or callable, optional
    mu : number or symbol
        beta / alpha.
    lam : number or symbol
    secondary : {"plain", "weighted"}
        (rho delta - phi . w) phi, or rho (delta - phi . w) phi.
    """

    alpha: StepSize = None
    mu: Any = ratio(1, "the second step size divided by the first")
    lam: Any = unit(0, "the trace parameter lambda")
    secondary: str = choice("plain", "weighted", meaning="the update of the secondary weights")

    key, name, color, mark = "gtd2", "GTD2", "#CC79A7", "D"
    source = "Sutton et al. 2009; Maei 2011"
    solves = "the TD(lambda) fixed point under the weights xi"
    weights, memory, numbers, rule = ThetaW, Trace, MuLamSecondary, staticmethod(gtd2)


@final
@dataclass(frozen=True)
class TDC(Learner):
    """TDC(lambda), also called GTD(lambda) (Sutton et al. 2009; Maei 2011).

    It converges to the fixed point of TD(lambda).

    Parameters
    ----------
    alpha : number or callable, optional
    mu : number or symbol
        beta / alpha.
    lam : number or symbol
    secondary : {"plain", "weighted"}
        (rho delta - phi . w) phi, or rho (delta - phi . w) phi.
    """

    alpha: StepSize = None
    mu: Any = ratio(1, "the second step size divided by the first")
    lam: Any = unit(0, "the trace parameter lambda")
    secondary: str = choice("plain", "weighted", meaning="the update of the secondary weights")

    key, name, color, mark = "tdc", "TDC", "#E69F00", "v"
    source = "Sutton et al. 2009; Maei 2011"
    solves = "the TD(lambda) fixed point under the weights xi"
    weights, memory, numbers, rule = ThetaW, Trace, MuLamSecondary, staticmethod(tdc)
