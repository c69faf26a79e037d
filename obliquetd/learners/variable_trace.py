"""Retrace(lambda), Tree Backup(lambda), V-trace and ABTD(zeta): traces that an action cuts.

    e_t = c_{t-1} gamma_t e_{t-1} + phi_t,   theta += alpha k_t delta_t e_t

============  ==================  ======================================================
learner       k_t                 c_t, of the action that was taken in s_t
============  ==================  ======================================================
Retrace       rho                 lambda min(1, rho) (Munos et al. 2016)
Tree Backup   rho                 lambda pi(a | s) (Precup, Sutton and Singh 2000)
V-trace       min(rho_bar, rho)   lambda min(c_bar, rho) (Espeholt et al. 2018)
ABTD          rho                 nu pi(a | s), nu = min(psi, 1 / max(mu(a | s), pi(a | s)))
                                  (Mahmood, Yu and Sutton 2017)
============  ==================  ======================================================

V-trace is defined for state values, as it stands here: k_t delta_t and the products of c
from the state that is credited to the one before s_t (Espeholt et al., Equation 1). The three
others are defined for action values, where delta_t takes the sum over a' of
pi(a' | s_{t+1}) q(s_{t+1}, a') and needs no ratio. That form is what they are on a problem over pairs
(``PolicyEvaluation.of_actions``): k = 1, and c is that of the action which is taken next. Their form for
state values is our reading: delta_t = r + g v(s_{t+1}) - v(s_t) samples an action of the behaviour,
and is multiplied by rho_t to have the target's expectation, as the TD error of off-policy TD is
(Sutton, Mahmood and White 2016). V-trace has no form for action values of its own: over pairs, its k
and c are those of the action taken next, and its delta samples that.

So what they converge to in the tabular case is v_pi, or q_pi over pairs; V-trace's is the value of the policy
proportional to min(rho_bar mu, pi), which is v_pi where rho never exceeds rho_bar. With
features, each has a fixed point of its own. With K(s, s') the sum of mu(a|s) p g c over the
outcomes from s to s', and E(s, s') that of mu(a|s) p g k, their matrix is

    A = Phi' (I - K')^-1 Xi (D - E) Phi,   D = diag(sum over a of mu(a|s) k)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple, final

from obliquetd.errors import SignUndecidedError
from obliquetd.learners.base import Learner, StepSize, positive, unit
from obliquetd.learners.emphatic import Lam
from obliquetd.learners.state import Theta, Trace
from obliquetd.learners.words import expected_td_error, phi, td_error

__all__ = ["ABTD", "Retrace", "TreeBackup", "VTrace"]


class Caps(NamedTuple):
    """The trace parameter, the cap of the TD error's ratio and that of the trace's."""

    lam: Any
    rho_bar: Any
    c_bar: Any


class Psi(NamedTuple):
    """zeta, and the psi of zeta = 1/2 and of zeta = 1, which follow from the problem."""

    zeta: Any
    psi_0: Any
    psi_max: Any


def least(a: Any, b: Any) -> Any:
    """The smaller of two numbers."""
    if a > b:
        return b
    return a


def cut(x: Any, m: Any, t: Any, delta: Any, step: Any, c: Any) -> Any:
    """One transition with delta_t, alpha k_t and c_t as given."""
    theta, e = x.theta, m.e
    for i in range(len(theta)):
        trace = e[i] + phi(t, i)
        theta[i] += step * delta * trace
        e[i] = t.g * c * trace
    return delta


def retrace(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of Retrace(lambda)."""
    delta = expected_td_error(x.theta, t)
    return cut(x, m, t, delta, alpha * t.rho_expected, p.lam * least(t.rho, 1 + 0 * t.g))


def tree_backup(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of Tree Backup(lambda)."""
    delta = expected_td_error(x.theta, t)
    return cut(x, m, t, delta, alpha * t.rho_expected, p.lam * t.pi)


def v_trace(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of V-trace."""
    delta = td_error(x.theta, t)
    return cut(x, m, t, delta, alpha * least(t.rho, p.rho_bar), p.lam * least(t.rho, p.c_bar))


def abtd(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of ABTD(zeta)."""
    most = t.pi
    if t.mu > t.pi:
        most = t.mu
    psi = 2 * p.zeta * p.psi_0
    beyond = 2 * p.zeta - 1
    if beyond > 0:
        psi += beyond * (p.psi_max - 2 * p.psi_0)
    delta = expected_td_error(x.theta, t)
    return cut(x, m, t, delta, alpha * t.rho_expected, least(psi, 1 / most) * t.pi)


@final
@dataclass(frozen=True)
class Retrace(Learner):
    """Retrace(lambda), for action values, and in our reading for state values (Munos et al. 2016).

    In the tabular case it converges to q_pi, or v_pi. With lambda = 0 it is TD(0).

    Parameters
    ----------
    alpha : number or callable, optional
    lam : number or symbol

    Examples
    --------
    >>> from obliquetd import mean_dynamics
    >>> from obliquetd.domains import two_state
    >>> mean_dynamics(two_state(), Retrace(lam=1)).A[0]
    1/22
    """

    alpha: StepSize = None
    lam: Any = unit(0, "the trace parameter lambda")

    key, name, color, mark = "retrace", "Retrace", "#332288", "p"
    source, listed = "Munos et al. 2016; read for state values", False
    solves = "its own fixed point; q_pi or v_pi in the tabular case"
    weights, memory, numbers, rule = Theta, Trace, Lam, staticmethod(retrace)


@final
@dataclass(frozen=True)
class TreeBackup(Learner):
    """Tree Backup(lambda), also in our reading for state values (Precup, Sutton and Singh 2000).

    In the tabular case it converges to q_pi, or v_pi. With lambda = 0 it is TD(0).

    Parameters
    ----------
    alpha : number or callable, optional
    lam : number or symbol

    Examples
    --------
    >>> from obliquetd import mean_dynamics
    >>> from obliquetd.domains import two_state
    >>> mean_dynamics(two_state(), TreeBackup(lam=1)).A[0]
    1/22
    """

    alpha: StepSize = None
    lam: Any = unit(0, "the trace parameter lambda")

    key, name, color, mark = "tree-backup", "TreeBackup", "#117733", "8"
    source, listed = "Precup, Sutton and Singh 2000; read for state values", False
    solves = "its own fixed point; q_pi or v_pi in the tabular case"
    weights, memory, numbers, rule = Theta, Trace, Lam, staticmethod(tree_backup)


@final
@dataclass(frozen=True)
class VTrace(Learner):
    """V-trace (Espeholt et al. 2018, Equation 1 and Remark 2).

    In the tabular case it converges to the value of the policy proportional to
    min(rho_bar mu, pi). The source takes rho_bar >= c_bar; the fixed point does not ask for it.

    Parameters
    ----------
    alpha : number or callable, optional
    lam : number or symbol
    rho_bar, c_bar : number or symbol
        The caps of the ratios, of the TD error's and of the trace's.

    Examples
    --------
    >>> from obliquetd import mean_dynamics
    >>> from obliquetd.domains import two_state
    >>> [mean_dynamics(two_state(), VTrace(rho_bar=cap)).A[0] for cap in (1, 2)]
    [-1/10, -1/5]
    """

    alpha: StepSize = None
    lam: Any = unit(0, "the trace parameter lambda")
    rho_bar: Any = positive(1, "the largest importance ratio that the TD error is multiplied by")
    c_bar: Any = positive(1, "the largest importance ratio that the trace is multiplied by")

    key, name, color, mark = "v-trace", "VTrace", "#88CCEE", "v"
    source = "Espeholt et al. 2018"
    listed = False
    solves = "its own; in the tabular case the value of the policy like min(rho_bar mu, pi)"
    weights, memory, numbers, rule = Theta, Trace, Caps, staticmethod(v_trace)


@final
@dataclass(frozen=True)
class ABTD(Learner):
    """ABTD(zeta), action-dependent bootstrapping, and in our reading for state values.

    From the problem it derives psi, with m(s, a) = max(mu(a|s), pi(a|s)) over the pairs of a
    state and an action that the behaviour can take:

        psi_0 = 1 / max m,   psi_max = 1 / min m
        psi = 2 zeta psi_0 + max(2 zeta - 1, 0) (psi_max - 2 psi_0)

    so that zeta = 0, 1/2 and 1 give psi = 0 (which is TD(0)), psi_0 and psi_max. A log is
    replayed with a problem, from which these are taken; with a symbol in a policy they exist where
    the order of the m does not depend on it. In the tabular case it converges to q_pi, or v_pi.

    Parameters
    ----------
    alpha : number or callable, optional
    zeta : number or symbol

    References
    ----------
    Mahmood, Yu and Sutton, 2017, "Multi-step off-policy learning without importance sampling
    ratios".

    Examples
    --------
    >>> from obliquetd import mean_dynamics
    >>> from obliquetd.domains import two_state
    >>> mean_dynamics(two_state(), ABTD()).numbers
    {'zeta': 1/2, 'psi_0': 1, 'psi_max': 2}
    """

    alpha: StepSize = None
    zeta: Any = unit(Fraction(1, 2), "how far the trace reaches, from 0 (as TD(0)) to 1")

    key, name, color, mark = "abtd", "ABTD", "#AA4499", "H"
    source = "Mahmood, Yu and Sutton 2017; read for state values"
    listed = False
    solves = "its own fixed point; q_pi or v_pi in the tabular case"
    weights, memory, numbers, rule = Theta, Trace, Psi, staticmethod(abtd)
    derives = MappingProxyType({"psi_0": "4/3", "psi_max": 4})

    def derive(self, problem: Any) -> dict[str, Any]:
        """psi_0 and psi_max; 1 where no action can be taken at all."""
        try:
            psi_0, psi_max = self._extremes(problem)
        except SignUndecidedError as error:
            raise SignUndecidedError(
                f"ABTD takes psi_0 and psi_max from the largest and the smallest chance of an action, and "
                f"{error}; put a number in its place, as in problem.subs({{'p': '1/3'}})",
                error.expression,
            ) from None
        return {"psi_0": psi_0, "psi_max": psi_max}

    @staticmethod
    def _extremes(problem: Any) -> tuple[Any, Any]:
        arithmetic, mdp = problem.native.arithmetic, problem.mdp
        behavior = problem.target if problem.behavior is None else problem.behavior
        sizes = []
        for s in mdp.states:
            if s in mdp.terminal:
                continue
            target = problem.target.parsed(s)
            for action, chance in behavior.parsed(s).items():
                pi, mu = (arithmetic.scalar(x) for x in (target.get(action, 0), chance))
                if mu:
                    sizes.append(pi if arithmetic.sign(pi - mu) > 0 else mu)
        low = high = sizes[0] if sizes else arithmetic.one
        for m in dict.fromkeys(sizes):
            low = m if arithmetic.sign(low - m) > 0 else low
            high = m if arithmetic.sign(m - high) > 0 else high
        return arithmetic.public(arithmetic.one / high), arithmetic.public(arithmetic.one / low)
