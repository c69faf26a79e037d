r"""Finite-time bounds for TD(0) on independent transitions (Bhandari, Russo and Singal 2018, Theorem 2).

g(theta) is the update of one transition without its step size, sigma^2 = E|g(theta*)|^2, omega the
smallest eigenvalue of C = Phi'Xi Phi, and ||.|| the xi-norm of values. The step sizes and rates are
the paper's; what follows proves each bound that is printed, with its constants.

**One step.** With e = theta - theta*, x = phi(s)'e and x' = phi(s')'e, x and x' have the same
distribution, E x^2 = e'C e, and every discount is at most gamma.

1. -e'E[g(theta)] = E[x (x - g x')] >= (1 - gamma) e'C e, by E|x x'| <= E x^2.
2. |g(theta) - g(theta*)| = |phi| |g x' - x| with |phi| <= 1, and E(g x' - x)^2 <= 4 e'C e, so that
   E|g(theta)|^2 <= 2 sigma^2 + 8 e'C e.
3. For alpha <= (1 - gamma) / 8 therefore
   E|e_{t+1}|^2 <= E|e_t|^2 - alpha (1 - gamma) E[e_t'C e_t] + 2 alpha^2 sigma^2.

The paper has one discount for all transitions and the largest is used here: (1) and (2) hold for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

import sympy as sp

from obliquetd.algebra import number_text, parse_number, public_number
from obliquetd.dynamics.bounds.bound import Bound
from obliquetd.dynamics.bounds.hypotheses import (
    Hypothesis,
    below_one,
    constant_step,
    independent_features,
    is_td,
    no_trace,
    on_policy,
    sampled,
    small_features,
    stationary_weights,
)
from obliquetd.dynamics.bounds.squared_errors import Recorded, error_moments
from obliquetd.learners import Harmonic

__all__ = ["AveragedIterate", "DecayingStep", "FiniteTime", "LastIterate"]


class FiniteTime(Bound):
    """A bound on the squared error of the weights of TD(0) at each step; abstract.

    It holds the exact moments of the steps that were asked for.
    """

    quantity = "E|theta_t - theta*|^2"
    sampling: ClassVar[str] = "iid"
    summed: ClassVar[bool] = False

    def _requires(self) -> Iterable[Hypothesis]:
        at = self.at
        yield is_td(at)
        yield no_trace(at)
        yield sampled(at, self.sampling)
        yield on_policy(at)
        yield stationary_weights(at)
        yield below_one(at)
        yield independent_features(at)

    @cached_property
    def _second(self) -> Recorded:
        at = self.at
        system = at.system(self.sampling)
        start = at.ops.arithmetic.column(system.start_weights(at.theta0))
        return Recorded(
            error_moments(system, start, at.theta_star, at.step_at(), summed=self.summed)
        )

    def _exact(self, t: Any) -> Any:
        arithmetic = self.at.ops.arithmetic
        S = self._second[t].rows()
        return arithmetic.public(sum((S[i][i] for i in range(len(S))), arithmetic.zero))


class IndependentTransitions(FiniteTime):
    """A part of the theorem; abstract."""

    source: ClassVar[str] = "Bhandari, Russo and Singal 2018, Theorem 2"

    def _requires(self) -> Iterable[Hypothesis]:
        yield from super()._requires()
        yield small_features(self.at)

    @property
    def _drift(self) -> Any:
        """(1 - gamma) omega."""
        return (1 - self.at.gamma) * self.at.omega


class AveragedIterate(IndependentTransitions):
    r"""E||Phi (mean of theta_0, ..., theta_{T-1}) - Phi theta*||^2, without omega.

    Part (a) is for alpha = 1 / sqrt(T) and T >= (8 / (1 - gamma))^2, where the bound is
    (|theta_0 - theta*|^2 + 2 sigma^2) / ((1 - gamma) sqrt(T)). For any alpha <= (1 - gamma) / 8 and
    any T, its proof gives

        |theta_0 - theta*|^2 / (alpha (1 - gamma) T) + 2 alpha sigma^2 / (1 - gamma),

    which is that at T = 1 / alpha^2, and is what is printed. Proof: sum (3) over t < T, and
    the norm is convex.
    """

    name = "averaged"
    quantity = "E||Phi (average of theta_0, ..., theta_{t-1} - theta*)||^2_xi"
    source = "Bhandari, Russo and Singal 2018, Theorem 2 (a), for every t"
    first: ClassVar[Any] = 1
    summed = True

    def _requires(self) -> Iterable[Hypothesis]:
        yield from super()._requires()
        yield constant_step(self.at, (1 - self.at.gamma) / 8, "(1 - gamma) / 8")

    def _bound(self, t: Any) -> Any:
        at, room = self.at, 1 - self.at.gamma
        return at.start_error / (at.alpha * room * t) + 2 * at.alpha * at.sigma2 / room

    def _exact(self, t: Any) -> Any:
        arithmetic = self.at.ops.arithmetic
        inner = sum(self.at.C.row_dots(self._second[t]).entries(), arithmetic.zero)
        return arithmetic.public(inner) / t**2


class LastIterate(IndependentTransitions):
    r"""exp(-alpha (1 - gamma) omega t) |theta_0 - theta*|^2 + 2 alpha sigma^2 / ((1 - gamma) omega).

    Part (b), for constant alpha <= omega (1 - gamma) / 8. Proof: e'C e >= omega |e|^2 in (3) gives
    E|e_t|^2 <= (1 - alpha (1 - gamma) omega)^t |e_0|^2 + 2 alpha sigma^2 / ((1 - gamma) omega).
    """

    name = "last"
    source = "Bhandari, Russo and Singal 2018, Theorem 2 (b)"

    def _requires(self) -> Iterable[Hypothesis]:
        yield from super()._requires()
        yield constant_step(self.at, self._drift / 8, "omega (1 - gamma) / 8")

    def _bound(self, t: Any) -> Any:
        at, drift = self.at, self._drift
        shrunk = sp.exp(-at.alpha * drift * t)
        if isinstance(drift, float):
            shrunk = float(shrunk)
        return shrunk * at.start_error + 2 * at.alpha * at.sigma2 / drift


class DecayingStep(IndependentTransitions):
    r"""nu / (offset + t), with nu = max(8 sigma^2 / ((1 - gamma)^2 omega^2), offset |theta_0 - theta*|^2).

    Part (c), for alpha_t = c / (offset + t) with c = 2 / ((1 - gamma) omega) and
    offset = 16 / ((1 - gamma)^2 omega). Nothing else being used, any positive number of at most omega
    may be omega's place, and the offset may be larger: so c and the offset can be rational. The
    schedule is ``Harmonic(c, offset)``.

    Proof by induction on (3), which holds since alpha_0 <= (1 - gamma) / 8: with u = offset + t,
    E|e_{t+1}|^2 <= (1 - 2/u) nu/u + 2 c^2 sigma^2 / u^2 <= (u - 1) nu / u^2 <= nu / (u + 1).
    """

    name = "decaying"
    source = "Bhandari, Russo and Singal 2018, Theorem 2 (c)"

    def _requires(self) -> Iterable[Hypothesis]:
        yield from super()._requires()
        yield self._schedule()

    def _numbers(self) -> tuple[Any, Any]:
        """c and the offset, public."""
        given, arithmetic = self.at.learner.alpha, self.at.ops.arithmetic
        c, offset = (
            arithmetic.public(arithmetic.scalar(parse_number(x))) for x in (given.c, given.offset)
        )
        return c, offset

    def _schedule(self) -> Hypothesis:
        at, room = self.at, 1 - self.at.gamma
        least = 2 / self._drift
        c = (
            sp.ceiling(sp.N(least, 30))
            if not isinstance(least, float)
            else sp.Integer(int(least) + 1)
        )
        wanted = sp.ceiling(8 * c / sp.nsimplify(room, rational=True))
        if isinstance(room, float):
            wanted += 1  # 1 - gamma among floats may be the last place below what it stands for
        holds, value = False, "a constant or no step size"
        if isinstance(at.learner.alpha, Harmonic):
            found, offset = self._numbers()
            holds = bool(found >= least) and bool(offset >= 8 * found / room)
            value = f"Harmonic({number_text(found)}, {number_text(offset)})"
        elif callable(at.learner.alpha):
            value = "another schedule"
        return Hypothesis(
            "step size",
            "The step size is c / (offset + t), with c at least 2 / ((1 - gamma) omega) = "
            f"{number_text(public_number(least))} and offset at least 8 c / (1 - gamma).",
            holds,
            value,
            f"use otd.TD(otd.Harmonic({c}, {wanted}))",
        )

    def _bound(self, t: Any) -> Any:
        at = self.at
        c, offset = self._numbers()
        nu = max(2 * c**2 * at.sigma2, offset * at.start_error)
        return nu / (offset + t)
