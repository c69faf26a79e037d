r"""A finite-time bound for TD(0) along a trajectory, in the manner of Srikant and Ying (2019).

e = theta - theta* moves by e_{t+1} = e_t + alpha (A_t e_t + b_t), with matrices A_t of spectral norm at
most 1, |b_t| <= beta and mean Abar, 0. Let P solve Abar'P + P Abar = -I with eigenvalues between p_min and
p_max, and tau >= 1 a lag after which, whatever the state was, the mean of A_t and of b_t is within alpha of
the stationary one (here in the Frobenius norm). Where 75 alpha tau p_max <= 1/10,

    E|e_t|^2 <= (p_max / p_min) (1 - 9 alpha / (10 p_max))^(t - tau) (3/2 |e_0| + beta/2)^2
                + alpha tau p_max^2 (75 beta^2 + 8/5) / (9/10 p_min)          for t >= tau,

and |e_t| <= 3/2 |e_0| + beta/2 for t <= tau. The drift argument and the form are Srikant and Ying's; the
constants are of the proof below, which is not the paper's word for word.

**Proof.** Over tau steps with alpha tau <= 1/4, (1 + alpha)^tau <= 1 + 2 alpha tau, so that |e_tau| <=
3/2 |e_0| + beta/2 and D = |e_tau - e_0| <= 3/2 alpha tau (|e_0| + beta), hence with q = |e_tau| + beta,
D <= 12/5 alpha tau q <= 3/5 q and |e_0| <= 8/5 q. For W = e'P e, given the past up to step 0,

    W_{tau+1} - W_tau = -alpha |e_tau|^2 + 2 alpha e_tau'P (A_tau - Abar) e_tau + 2 alpha e_tau'P b_tau
                        + alpha^2 |A_tau e_tau + b_tau|_P^2.

Replace e_tau by e_0 in the second term: its mean is at most p_max alpha |e_0|^2, and what was changed
is at most 2 p_max (2 D |e_tau| + D^2); together 2 alpha p_max (64/25 alpha + 2 (12/5)(13/5) alpha tau) q^2 <=
30.1 alpha^2 tau p_max q^2. The third is in the mean at most 2 alpha p_max (alpha |e_0| + beta D) <=
2 alpha^2 tau p_max (8/5 q + 12/5 q^2) <= alpha^2 tau p_max (6.4 q^2 + 1.6), and the last at most
alpha^2 tau p_max q^2. With q^2 <= 2 |e_tau|^2 + 2 beta^2,

    E[W_{tau+1} - W_tau] <= -alpha (1 - 75 alpha tau p_max) |e_tau|^2 + alpha^2 tau p_max (75 beta^2 + 1.6),

and |e|^2 >= W / p_max. The same holds from any step to the one tau + 1 later; iterate from W_tau.
Since 1 = |Abar'P + P Abar| <= 2 p_max, alpha tau <= 1/4 follows from the condition.

Bounds on p_min, p_max, beta and |e_0| serve as well: irrational ones are rounded to the safe side, to
30 digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

from obliquetd.algebra import Matrix, number_text
from obliquetd.dynamics.bounds.hypotheses import Hypothesis, one_over
from obliquetd.dynamics.bounds.outward import cut, distances, rounded
from obliquetd.dynamics.bounds.squared_errors import Recorded
from obliquetd.dynamics.bounds.theorems.independent import FiniteTime
from obliquetd.dynamics.lyapunov import solve_lyapunov

__all__ = ["Trajectory"]

LONGEST_LAG = 300
"""Steps after which a chain that has not mixed counts as one that does not."""


class Trajectory(FiniteTime):
    """The bound along a stationary trajectory; see :mod:`.trajectory` for statement and proof."""

    name = "trajectory"
    source = "the drift argument of Srikant and Ying 2019, with constants proved here"
    sampling: ClassVar[str] = "trajectory"

    def _requires(self) -> Iterable[Hypothesis]:
        yield from super()._requires()
        yield self._bounded_matrices()
        yield self._small_step()

    # --- the outcomes -----------------------------------------------------------------------

    @cached_property
    def _outcomes(self) -> list[tuple[int, Any, list[Any], list[Any]]]:
        """State, chance, A_z by rows and b_z of each outcome."""
        return list(self.at.updates_at_star(self.at.system("trajectory")))

    @property
    def _d(self) -> int:
        return self.at.ops.Phi.shape[1]

    @cached_property
    def _by_state(self) -> Matrix:
        """The mean of A_z and b_z in each state, (n, d d + d)."""
        arithmetic, width = self.at.ops.arithmetic, self._d * (self._d + 1)
        rows = [[arithmetic.zero] * width for _ in range(self.at.ops.n)]
        for s, chance, *entries in self._outcomes:
            mean = zip(rows[s], [v for part in entries for v in part], strict=True)
            rows[s] = [total + chance * v for total, v in mean]
        return arithmetic.matrix(rows, (self.at.ops.n, width))

    @cached_property
    def _mean(self) -> list[Any]:
        """Abar by rows, and 0."""
        found: list[Any] = (self.at.xi.T @ self._by_state).rows()[0]
        return found

    def _largest(self, vectors: Iterable[list[Any]]) -> Any:
        """The largest norm, public."""
        arithmetic = self.at.ops.arithmetic
        sizes = [sum((v * v for v in vector), arithmetic.zero) for vector in vectors]
        return self.at.root(arithmetic.public(max(sizes)))

    def _bounded_matrices(self) -> Hypothesis:
        """|A_z| <= 1: A_z has rank one, so that its Frobenius norm is its spectral norm."""
        size = self._largest(A for _, _, A, _ in self._outcomes)
        scale = max(1, math.ceil(self.at.root(size)))
        return Hypothesis(
            "small features",
            "The matrix phi (g phi' - phi)' of every transition has norm at most 1.",
            bool(size <= 1),
            size,
            f"use problem.replace(features=problem.Phi / {scale})",
        )

    @cached_property
    def _beta(self) -> Any:
        """max |b_z|, public."""
        return rounded(self._largest(b for _, _, _, b in self._outcomes), up=True)

    @cached_property
    def _lyapunov(self) -> tuple[Any, Any]:
        """p_min and p_max, public."""
        at, d = self.at, self._d
        flat = [-v for v in self._mean[: d * d]]
        Q = at.ops.arithmetic.matrix([flat[i * d : (i + 1) * d] for i in range(d)], (d, d))
        P, moved = cut(solve_lyapunov(Q.T, at.ops.arithmetic.identity(d)))
        least, most = (at.extreme(P, smallest=smallest) for smallest in (True, False))
        return rounded(least - moved, up=False), rounded(most + moved, up=True)

    @cached_property
    def _distances(self) -> Recorded:
        """For each lag from 1 on, at least the largest squared distance from the mean, public."""
        at, seen = self.at, self.at.visited
        values = self._by_state.submatrix(seen, range(self._by_state.shape[1]))
        return Recorded(distances(at.ops.P_b.submatrix(seen, seen), values, self._mean, self._d**2))

    def _lag(self, alpha: Any) -> int | None:
        """The least lag after which all means are within alpha; None where there is none in reach."""
        lags = range(1, LONGEST_LAG + 1)
        return next((n for n in lags if self._distances[n - 1] <= alpha**2), None)

    @cached_property
    def _tau(self) -> int | None:
        return None if self.at.alpha is None else self._lag(self.at.alpha)

    def _fits(self, alpha: Any, lag: int | None) -> bool:
        return lag is not None and bool(750 * alpha * lag * self._lyapunov[1] <= 1)

    def _small_step(self) -> Hypothesis:
        alpha, tau, largest = self.at.alpha, self._tau, self._lyapunov[1]
        value = "no constant step size"
        if alpha is not None:
            value = f"alpha = {number_text(alpha)}, with tau = {tau or f'over {LONGEST_LAG}'}"
        holds = alpha is not None and self._fits(alpha, tau)
        return Hypothesis(
            "step size",
            "The step size is constant, and alpha tau at most 1 / (750 p_max) = "
            f"{number_text(1 / (750 * largest))}, tau being the lag after which the chain has mixed "
            "to within alpha.",
            holds,
            value,
            "" if holds else self._usable(),
        )

    def _usable(self) -> str:
        """A step size that is small enough, in words."""
        one = self.at.ops.arithmetic.public(self.at.ops.arithmetic.one)
        n = math.ceil(750 * self._lyapunov[1])
        while True:
            lag = self._lag(one / n)
            if lag is None:
                return (
                    f"the chain has not mixed after {LONGEST_LAG} steps, as where it is periodic; use the bounds "
                    "for independent transitions, with sampling='iid'"
                )
            if self._fits(one / n, lag):
                return f"use otd.TD('{one_over(one / n)}')"
            n *= 2

    # --- the bound --------------------------------------------------------------------------

    def _bound(self, t: Any) -> Any:
        at, (least, most), tau = self.at, self._lyapunov, self._tau
        assert tau is not None
        alpha = at.alpha
        unit = alpha / alpha
        early = (3 * unit / 2 * rounded(at.root(at.start_error), up=True) + self._beta / 2) ** 2
        if t <= tau:
            return early
        shrunk = (1 - 9 * alpha / (10 * most)) ** (t - tau)
        floor = alpha * tau * most**2 * (75 * self._beta**2 + 8 * unit / 5) * 10 / (9 * least)
        return most / least * shrunk * early + floor
