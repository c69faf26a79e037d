"""ETD(lambda): the emphasis is made of the follow-on trace (Sutton, Mahmood and White 2016).

    F_t = i(s_t) + gamma_t rho_{t-1} F_{t-1},   M_t = lambda i(s_t) + (1 - lambda) F_t
    e_t = rho_t (gamma_t lambda e_{t-1} + M_t phi_t),   theta += alpha delta_t e_t

and what tames the variance of F:

========  ===========================================================================
beta      F decays by beta times the transition's own discount (0 where an episode
          ends) in place of gamma_t, which is gamma times it: ETD(lambda, beta), Hallak,
          Tamar, Munos and Mannor (2016). It is TD(lambda) for beta = 0
clip      F_t is no more than clip, and so is handed on. F is then no linear recursion:
          no A and b, a simulation only
truncate  F_t is the sum of i(s_t) and what the last k steps hand on, k = truncate:
          i(s_t) + sum over j = 1..k of (gamma_t rho_{t-1}) ... (gamma_{t-j+1} rho_{t-j})
          i(s_{t-j}) (Zhang and Whiteson 2022). It is TD(lambda) for k = 0, interest 1
========  ===========================================================================
"""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, final

import sympy as sp

from obliquetd.learners.base import Learner, StepSize, positive, unit, whole
from obliquetd.learners.by_state import by_state, entry, same, state_numbers
from obliquetd.learners.emphatic import Lam
from obliquetd.learners.state import ByState, Number, Shape, Theta, Vector
from obliquetd.learners.words import emphatic

__all__ = ["ETD"]


class FollowOn(NamedTuple):
    """A trace, and gamma rho F as it arrives."""

    e: Vector
    F: Number


class Window(Shape):
    """A number for each of the last steps."""

    @staticmethod
    def of(d: int, numbers: Any) -> tuple[int, ...]:
        return (int(numbers.truncate),)


class WindowedFollowOn(NamedTuple):
    """A trace, and what each of the last steps hands on of its interest, the latest first."""

    e: Vector
    F: Window


def etd(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    """One transition of ETD(lambda) with interest 1."""
    F = 1 + m.F[0]
    m.F[0] = t.g * t.rho * F
    return emphatic(x.theta, m.e, t, p.lam + (1 - p.lam) * F, alpha, p.lam)


def by_discount(t: Any, p: Any) -> Any:
    """What F decays by, besides rho."""
    return t.g


def by_beta(t: Any, p: Any) -> Any:
    """What F decays by in ETD(lambda, beta), besides rho."""
    return p.beta * t.own


def whole_sum(F: Any, p: Any) -> Any:
    """F as it is."""
    return F


def clipped(F: Any, p: Any) -> Any:
    """F, no more than the clip."""
    if p.clip < F:
        return p.clip + 0 * F
    return F


def hand_on(kept: Any, interest: Any, F: Any, decay: Any) -> Any:
    """F is handed on as one number."""
    kept[0] = decay * F


def shift(kept: Any, interest: Any, F: Any, decay: Any) -> Any:
    """The interest of each of the last steps is handed on by itself, and the oldest is dropped."""
    for j in range(len(kept) - 1, 0, -1):
        kept[j] = decay * kept[j - 1]
    if len(kept) > 0:
        kept[0] = decay * interest


@cache
def etd_with(
    weight: Callable[..., Any],
    decay: Callable[..., Any],
    limit: Callable[..., Any],
    carry: Callable[..., Any],
) -> Callable[..., Any]:
    """The rule of ETD(lambda) with an interest, a decay, a limit and a way to carry F."""

    def etd_general(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
        interest = weight(p.interest, t)
        F = interest + 0 * t.g
        for j in range(len(m.F)):
            F += m.F[j]
        F = limit(F, p)
        carry(m.F, interest, F, decay(t, p) * t.rho)
        return emphatic(x.theta, m.e, t, p.lam * interest + (1 - p.lam) * F, alpha, p.lam)

    return etd_general


OPTIONAL = ("beta", "clip", "truncate")

NUMBERS = {
    given: namedtuple("_".join(("Numbers", *given)), ("lam", "interest", *given), module=__name__)
    for count in range(len(OPTIONAL) + 1)
    for given in itertools.combinations(OPTIONAL, count)
}
"""What the rule reads, by the settings that are given."""

globals().update(
    {kind.__name__: kind for kind in NUMBERS.values()}
)  # compiled code finds it by name


@final
@dataclass(frozen=True)
class ETD(Learner):
    """ETD(lambda): the emphasis is made of the follow-on trace (Sutton et al. 2016).

    Parameters
    ----------
    alpha : number or callable, optional
    lam : number or symbol
    beta : number or symbol, optional
        The follow-on trace decays by beta times the row's own discount; by the discount unless
        given.
    interest : number, {state: number} or function
        The interest i(s) >= 0; a function is one of the problem, and gives a number, one for
        each state, or a mapping.
    clip : number, optional
        The most that the follow-on trace may be.
    truncate : int, optional
        How many steps back the follow-on trace goes.

    Examples
    --------
    >>> from obliquetd import stability_region
    >>> from obliquetd.domains import two_state
    >>> stability_region(two_state(), ETD(beta="beta"), "beta")
    Interval.open(1/3, 1)
    """

    alpha: StepSize = None
    lam: Any = unit(0, "the trace parameter lambda")
    beta: Any = unit(
        None, "the factor by which the follow-on trace decays, in place of the discount"
    )
    interest: Any = by_state(
        1,
        sp.Interval(0, sp.oo),
        "a number that is 0 or more, {state: number}, or a function of the problem",
        "the interest in a state",
    )
    clip: Any = positive(None, "the largest value that the follow-on trace may take")
    truncate: Any = whole(None, "the number of past steps that the follow-on trace counts")

    key, name, color, mark = "etd", "ETD", "#009E73", "^"
    source = "Sutton, Mahmood and White 2016"
    solves = "the TD(lambda) fixed point under the emphasis f"
    weights = Theta

    @property
    def memory(self) -> type:  # type: ignore[override]
        """The trace and the follow-on trace, in one number or one for each step of its window."""
        return FollowOn if self.truncate is None else WindowedFollowOn

    @property
    def numbers(self) -> type:  # type: ignore[override]
        """The trace parameter, and the settings that are given."""
        if self._plain:
            return Lam
        return NUMBERS[tuple(n for n in OPTIONAL if getattr(self, n) is not None)]

    @property
    def _plain(self) -> bool:
        given = any(getattr(self, n) is not None for n in OPTIONAL)
        return isinstance(self.interest, int) and self.interest == 1 and not given

    @property
    def _depends_on_state(self) -> bool:
        return callable(self.interest) or isinstance(self.interest, ByState)

    @property
    def derives(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The interest, where it depends on the state."""
        return {"interest": (1, "1/2", 2, 0)} if self._depends_on_state else {}

    def derive(self, problem: Any) -> Mapping[str, Any]:
        return {"interest": state_numbers(self, "interest", problem, lone=True)}

    @property
    def rule(self) -> Callable[..., Any]:  # type: ignore[override]
        """The plain rule, or what the settings make of it."""
        if self._plain:
            return etd
        return etd_with(
            entry if self._depends_on_state else same,
            by_discount if self.beta is None else by_beta,
            whole_sum if self.clip is None else clipped,
            hand_on if self.truncate is None else shift,
        )
