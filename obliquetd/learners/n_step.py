"""n-step TD, as a trace that forgets after n steps.

    e_t = rho_t (phi_t + gamma_t rho_{t-1} phi_{t-1} + gamma_t gamma_{t-1} rho_{t-1} rho_{t-2} phi_{t-2}
          + ...), n terms,   theta += alpha delta_t e_t

A state is credited with the n TD errors that follow its visit, each with the product of the
ratios and discounts on the way: the error of the n-step return with control variates (Sutton and
Barto 2018, Equation 7.13; De Asis and Sutton 2018),

    G_t^n - v(s_t) = sum over k < n of (gamma_{t+1} rho_t ... gamma_{t+k} rho_{t+k-1}) rho_{t+k} delta_{t+k}

but each TD error with the weights at its own time, which changes the update by O(alpha^2) only. A
termination has discount 0 and ends the sum, so each of the last states of an episode is credited
with what is left of it. With P_gamma the target's discounted chain,

    A = Phi' Xi (I - P_gamma^n) Phi,   b = Phi' Xi (I + ... + P_gamma^(n-1)) r_pi
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

from obliquetd.learners.base import Learner, StepSize, whole
from obliquetd.learners.state import Slots, Theta
from obliquetd.learners.words import phi, td_error

__all__ = ["NStepTD"]


class Recent(NamedTuple):
    """Row k: the features of k steps ago, times the discounts and ratios since; row 0 is empty."""

    slots: Slots


class Steps(NamedTuple):
    """The number of steps."""

    n: Any


def n_step(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of n-step TD."""
    theta, slots = x.theta, m.slots
    delta = td_error(theta, t)
    step = alpha * t.rho * delta
    decay = t.g * t.rho
    for i in range(len(theta)):
        slots[0, i] = phi(t, i)
    for k in range(len(slots) - 1, 0, -1):
        for i in range(len(theta)):
            theta[i] += step * slots[k, i]
        for i in range(len(theta)):
            slots[k, i] = decay * slots[k - 1, i]
    for i in range(len(theta)):
        theta[i] += step * slots[0, i]
        slots[0, i] = 0 * t.g
    return delta


@final
@dataclass(frozen=True)
class NStepTD(Learner):
    """n-step TD with control variates, by a trace (De Asis and Sutton 2018; Sutton and Barto 2018, Section 7.4).

    It credits each TD error at once, with the weights at that error's own time. The book waits n steps and takes the
    weights at the time of the update for the whole return, which is another step: with one feature, discount 1,
    n = 2, alpha = 1/2 and theta = 0, the rows 1 -> 1 (reward 1) and 1 -> end (reward 0) make 1/4 there and 0 here. The
    two have the same expected update, to first order in alpha, and so the same A, b and fixed point; learning
    curves differ.

    Where its matrix is stable it converges to the solution of A theta = b given above, which
    in the tabular case is v_pi. With n = 1 it is TD(0). It remembers n d numbers, and a step
    takes a time in proportion to them.

    Parameters
    ----------
    alpha : number or callable, optional
    n : int

    Examples
    --------
    >>> from obliquetd import mean_dynamics
    >>> from obliquetd.domains import two_state
    >>> [mean_dynamics(two_state(), NStepTD(n=n)).A[0] for n in (1, 2)]
    [-1/5, 7/100]
    """

    alpha: StepSize = None
    n: int = whole(2, "the number of steps n before it bootstraps", least=1)

    key, name, color, mark = "n-step-td", "NStepTD", "#0072B2", ">"
    source = "De Asis and Sutton 2018, by a trace"
    listed = False
    solves = "the fixed point of the projected n-step Bellman equation under the weights xi"
    weights, memory, numbers, rule = Theta, Recent, Steps, staticmethod(n_step)
