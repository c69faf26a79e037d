"""What theorems on TD speak of, computed on one problem: gamma, kappa, omega, theta*, errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from obliquetd.algebra import Matrix, exact_root, is_long, parse_number
from obliquetd.dynamics.bounds.outward import rounded
from obliquetd.dynamics.mean import mean_dynamics
from obliquetd.dynamics.moments import JumpSystem
from obliquetd.errors import KindError
from obliquetd.learners import Harmonic, Learner, require_learner
from obliquetd.problem import PolicyEvaluation, metrics, require_problem
from obliquetd.problem.projection import BestApproximation

__all__ = ["Setting"]


class Setting:
    """A problem and a learner; numbers come out public, and weights of states sum to one.

    Attributes
    ----------
    sampling : str or None
        As it was given: None is whatever a theorem is stated for.
    visited : list of int
        The states of positive weight.
    """

    def __init__(
        self, problem: PolicyEvaluation, learner: Learner, theta0: Any, sampling: str | None
    ) -> None:
        self.learner = require_learner(learner).bound(require_problem(problem))
        if problem.arithmetic == "symbolic" or self.learner.symbols:
            raise KindError(
                "bounds need numbers; substitute them for the symbols with problem.subs, and give the "
                "learner numbers"
            )
        self.problem, self.ops, self.sampling = problem, problem.native, sampling
        self.theta0 = theta0
        self._systems: dict[str, JumpSystem] = {}
        self.visited = [s for s, w in enumerate(self.ops.xi.entries()) if w]

    # --- numbers of the learner -------------------------------------------------------------

    @property
    def alpha(self) -> Any:
        """The constant step size, public; None where there is none."""
        given = self.learner.alpha
        if given is None or callable(given):
            return None
        scalar = self.ops.arithmetic.scalar(parse_number(given, "alpha"))
        return self.ops.arithmetic.public(scalar)

    @property
    def lam(self) -> Any:
        """The trace parameter, public; 0 for a learner without one."""
        scalar = self.ops.arithmetic.scalar(self.learner.values.get("lam", 0))
        return self.ops.arithmetic.public(scalar)

    # --- numbers of the problem -------------------------------------------------------------

    @cached_property
    def xi(self) -> Matrix:
        """The weights over their sum."""
        weights = self.ops.xi.entries()
        total = sum(weights, self.ops.arithmetic.zero)
        return self.ops.arithmetic.column([w / total for w in weights])

    @cached_property
    def gamma(self) -> Any:
        """The largest discount of a transition that happens."""
        ops, seen = self.ops, set(self.visited)
        chances = ops.mu * ops.probability
        rows = zip(ops.state.tolist(), chances, ops.row_discount, strict=True)
        found = [g for s, chance, g in rows if s in seen and chance]
        return ops.arithmetic.public(max(found, default=ops.arithmetic.zero))

    @cached_property
    def kappa(self) -> Any:
        """gamma (1 - lambda) / (1 - gamma lambda), of which T^lambda is a contraction."""
        return self.gamma * (1 - self.lam) / (1 - self.gamma * self.lam)

    @cached_property
    def C(self) -> Matrix:
        """Phi' Xi Phi, with weights that sum to one."""
        return self.ops.Phi.T @ self.ops.Phi.scale_rows(self.xi)

    @cached_property
    def omega(self) -> Any:
        """The smallest eigenvalue of C, 0 where features depend on each other.

        Where its exact form is long it is rounded down to 30 digits: all that is used of it is
        that e'C e >= omega |e|^2.
        """
        if len(self.independent) < self.ops.Phi.shape[1]:
            return self.ops.arithmetic.public(self.ops.arithmetic.zero)
        found = self.extreme(self.C, smallest=True)
        short = isinstance(found, float) or not is_long(found)
        return found if short else rounded(found, up=False)

    def extreme(self, symmetric: Matrix, *, smallest: bool) -> Any:
        """An extreme eigenvalue of a matrix that is similar to a symmetric one, public."""
        if self.ops.arithmetic.kind == "float":
            values = np.linalg.eigvals(np.asarray(symmetric.public(), dtype=float)).real
            return float(values.min() if smallest else values.max())
        return metrics.extreme_eigenvalue(symmetric, smallest=smallest)

    def root(self, squared: Any) -> Any:
        """The square root of a nonnegative public number."""
        return math.sqrt(max(0.0, squared)) if isinstance(squared, float) else exact_root(squared)

    @cached_property
    def independent(self) -> list[int]:
        """The first features that span all of them on the states of positive weight."""
        kept: list[int] = []
        for j in range(self.ops.Phi.shape[1]):
            if self.ops.Phi.submatrix(self.visited, [*kept, j]).rank() > len(kept):
                kept.append(j)
        return kept

    @cached_property
    def largest_feature(self) -> Any:
        """The largest |phi(s)|^2 of a state of positive weight."""
        rows = self.ops.Phi.submatrix(self.visited, range(self.ops.Phi.shape[1]))
        sizes = rows.row_dots(rows).entries()
        return self.ops.arithmetic.public(max(sizes, default=self.ops.arithmetic.zero))

    # --- the fixed point --------------------------------------------------------------------

    @cached_property
    def theta_star(self) -> Matrix:
        """Where the mean update of the learner leads, (d, 1), from the rule that runs."""
        sampling = None if self.learner.has_memory else "iid"
        return mean_dynamics(self.problem, self.learner, sampling=sampling).limit()

    @cached_property
    def squared_error(self) -> Any:
        """||Phi theta* - v||^2, public."""
        return self._squared(self.theta_star)

    @cached_property
    def squared_best(self) -> Any:
        """||Pi v - v||^2, public."""
        return self._squared(BestApproximation(self.ops).solution.theta)

    def _squared(self, theta: Matrix) -> Any:
        gap = (self.ops.Phi @ theta - self.ops.v_pi).cleaned()
        return self.ops.arithmetic.weighted_norm(self.xi, gap) ** 2

    @cached_property
    def X(self) -> Matrix:
        """The X of TD(lambda): A = X' L Phi with X = (I - lambda P_gamma)^-T Xi Phi."""
        ops = self.ops
        lam = ops.arithmetic.scalar(self.learner.values.get("lam", 0))
        right = ops.Phi.scale_rows(self.xi)
        if not lam:
            return right
        kernel = ops.arithmetic.identity(ops.n) - ops.P_gamma.scaled(lam)
        return kernel.T.solve(right, "I - lambda P_gamma'")

    @cached_property
    def spread(self) -> Any:
        """||Q||, the exact worst case over all rewards of error / best error, public."""
        return metrics.spread_of_projection(self.ops, self.X)

    # --- the updates ------------------------------------------------------------------------

    def system(self, sampling: str) -> JumpSystem:
        """The outcomes as affine maps of theta."""
        if sampling not in self._systems:
            self._systems[sampling] = JumpSystem(self.problem, self.learner, sampling)
        return self._systems[sampling]

    @cached_property
    def start_error(self) -> Any:
        """|theta_0 - theta*|^2, public."""
        start = self.ops.arithmetic.column(self.system("iid").start_weights(self.theta0))
        return self.ops.arithmetic.public((start - self.theta_star).frobenius_squared())

    def updates_at_star(
        self, system: JumpSystem
    ) -> Iterator[tuple[int, Any, list[Any], list[Any]]]:
        """State, weight, matrix A_z by rows and update A_z theta* + b_z of each outcome, native."""
        star = self.theta_star.entries()
        for s, _, weight, constant, gradient in system.outcomes:
            update = [
                c + sum((g * x for g, x in zip(row, star, strict=True)), self.ops.arithmetic.zero)
                for c, row in zip(constant, gradient, strict=True)
            ]
            yield s, weight, [v for row in gradient for v in row], update

    @cached_property
    def sigma2(self) -> Any:
        """E|g(theta*)|^2, the mean squared size of the update at the fixed point, public."""
        arithmetic, d = self.ops.arithmetic, self.ops.Phi.shape[1]
        if arithmetic.kind == "float":
            parts = self.updates_at_star(self.system("iid"))
            return sum(weight * u * u for _, weight, _, update in parts for u in update)
        total = arithmetic.matrix([[arithmetic.zero] * (d + 1)] * (d + 1), (d + 1, d + 1))
        for _, _, weight, constant, gradient in self.system("iid").outcomes:
            rows = [[c, *row] for c, row in zip(constant, gradient, strict=True)]
            R = arithmetic.matrix(rows, (d, d + 1))
            total = total + (R.T @ R).scaled(weight)
        y = arithmetic.column([arithmetic.one, *self.theta_star.entries()])
        return arithmetic.public((y.T @ total @ y).item())

    def step_at(self) -> Callable[[int], Any]:
        """The step size at step t, native."""
        scalar, given = self.ops.arithmetic.scalar, self.learner.alpha
        if isinstance(given, Harmonic):
            return lambda t: scalar(parse_number(given.at(t), "alpha"))
        constant = scalar(parse_number(given, "alpha"))
        return lambda t: constant  # noqa: ARG005
