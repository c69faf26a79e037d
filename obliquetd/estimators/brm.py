"""BRM: Bellman residual minimisation, from one sample of each transition or from two.

    one    min over theta of sum_t rho_t delta_t^2                        (Schweitzer and Seidmann 1985)
    two    the root of the gradient of sum_t rho_t delta_t rho''_t delta''_t    (Baird 1995)

with delta'' of a second, independent transition out of s_t. The mean of the first is the Bellman
error and the variance of the TD error with it, so its minimiser is that of the residual
gradient from one sample; that of the second is the minimiser of the Bellman error,
Lambda' Xi Lambda theta = Lambda' Xi r_pi, which the double-sampled residual gradient has. They
agree where each state has one outcome under the target and the behaviour.

With the ratio at the target the first is sum_t (rho_t (r_t + g_t phi_{t+1}'theta) - phi_t'theta)^2
(Geist and Scherrer 2014, lambda = 0), whose bias off-policy has the variance of rho in it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from obliquetd.errors import InputError
from obliquetd.estimators.base import Equation, Estimator, Fitted, Vector
from obliquetd.estimators.rows import PLACES, Errors, Rows
from obliquetd.learners.base import choice
from obliquetd.problem import PolicyEvaluation

__all__ = ["BRM"]


@final
@dataclass(frozen=True)
class BRM(Estimator):
    """Bellman residual minimisation.

    Parameters
    ----------
    samples : {1, 2}
        Of each transition. A log has one; a second comes with ``replay(..., twin=)``.
    rho : {"error", "target"}
        Where the importance ratio stands. With one sample the limits differ off-policy.
    ridge : number

    Examples
    --------
    Where the next state is a toss of a coin, one sample shrinks the differences of values:

    >>> from obliquetd import PolicyEvaluation
    >>> problem = PolicyEvaluation.from_chain(
    ...     [["1/2", "1/2"], ["1/2", "1/2"]], [1, 0], discount="1/2", features=[[1], [2]]
    ... )
    >>> [problem.fixed_point(e).theta[0] for e in (BRM(1), BRM(2), "rg")]
    [1/7, 2/13, 2/13]
    """

    samples: int = 1
    rho: str = choice(*PLACES, meaning="where the importance ratio stands")

    key, name = "brm", "BRM"
    source = "Schweitzer and Seidmann 1985; Baird 1995; off-policy, Geist and Scherrer 2014"
    solves = "the least Bellman error from two samples; from one, it with the variance of the error"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.samples, bool) or self.samples not in (1, 2):
            raise InputError(f"samples is {self.samples!r}; expected 1 or 2")

    @property
    def twins(self) -> bool:  # type: ignore[override]
        """Whether it needs a second sample of each transition."""
        return self.samples == 2

    def equation(self, problem: PolicyEvaluation) -> Equation:
        """Sums over the rows of the table: with chance xi mu p, and pi = mu rho.

        E[rho (phi - g phi')(phi - g phi')'] = C - B - B' + Phi' D Phi with B = Phi' Xi P_gamma Phi and
        D(s') = sum over rows into s' of xi pi p g^2; rho more of it with the ratio at the target.
        """
        ops = problem.native
        X = ops.Lambda.scale_rows(ops.xi)
        if self.samples == 2:
            return Equation(ops, X.T @ ops.Lambda, X.T @ ops.r_pi)
        g, chance = (
            ops.row_discount,
            np.array(ops.xi.entries())[ops.state] * ops.pi * ops.probability,
        )
        more = chance
        if self.rho == "target":
            taken = ops.pi != 0
            more = chance.copy()
            more[taken] = chance[taken] * (ops.pi[taken] / ops.mu[taken])
        arrivals = ops.arithmetic.assemble
        at = np.zeros(len(ops.state), dtype=np.intp)
        D, reward = (
            arrivals((ops.n, 1), ops.next_state, at, values)
            for values in (more * g * g, more * g * ops.reward)
        )
        B = ops.C - ops.Xi_Phi.T @ ops.Lambda
        A = ops.C - B - B.T + ops.Phi.T @ ops.Phi.scale_rows(D)
        return Equation(ops, A, ops.Xi_Phi.T @ ops.r_pi - ops.Phi.T @ reward)

    def updates(self, rows: Rows) -> list[tuple[Any, Errors]]:
        errors = rows.errors(self.rho)
        if rows.twin is None:
            return [(errors.Delta, errors)]
        half = rows.arithmetic.one / (rows.arithmetic.one + rows.arithmetic.one)
        other = rows.twin.errors(self.rho)
        return [
            (other.Delta * other.scale[:, None] * half, errors),
            (errors.Delta * errors.scale[:, None] * half, other),
        ]

    def fit(self, rows: Rows, theta0: Vector) -> Fitted:
        ridge, (A, b) = rows.arithmetic.scalar(self.read("ridge")), self.sums(rows)
        A, b = A + rows.matrix(rows.identity(ridge)), b + rows.matrix(theta0 * ridge)
        return Fitted(self.solve_sums(A, b, rows), A, b)
