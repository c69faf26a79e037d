"""LSPE(lambda): policy evaluation by repeated least squares (Nedic and Bertsekas 2003).

    theta_t = theta_{t-1} + alpha C_t^-1 (b_t - A_t theta_{t-1}),   C_t = ridge I + sum_k phi_k phi_k'

with A_t and b_t the sums of LSTD(lambda). In the limit theta is mapped by
I - alpha C^-1 A, C = Phi' Xi Phi: with alpha = 1 that is the projected value iteration
Phi theta <- Pi T^lambda Phi theta, a contraction on-policy (Bertsekas, Borkar and Nedic 2004), and
not so off-policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from obliquetd.estimators.base import Equation, Estimator, Fitted, Vector, equation_of
from obliquetd.estimators.convergence import require_contraction
from obliquetd.estimators.rows import PLACES, Rows
from obliquetd.estimators.running import RunningInverse
from obliquetd.estimators.traces import traces
from obliquetd.learners import TD
from obliquetd.learners.base import choice, positive, unit
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.projection import Solution

__all__ = ["LSPE"]


@final
@dataclass(frozen=True)
class LSPE(Estimator):
    """LSPE(lambda), least-squares policy evaluation: after each row, one step towards LSTD's solution.

    Parameters
    ----------
    alpha : number or symbol
        The step size, constant.
    lam : number or symbol
    rho : {"error", "target"}
        As for :class:`~obliquetd.estimators.LSTD`.
    ridge : number
        Where it is 0, theta_0 stays until the features seen make C_t regular.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> two_state(discount="1/2", reward=1).fixed_point(LSPE())
    FixedPoint('LSPE', theta = (3/2))
    """

    alpha: Any = positive(1, "the step size")
    lam: Any = unit(0, "the trace parameter")
    rho: str = choice(*PLACES, meaning="where the importance ratio stands")

    key, name = "lspe", "LSPE"
    source = "Nedic and Bertsekas 2003; off-policy, Geist and Scherrer 2014"
    solves = (
        "the fixed point of TD(lambda), if I - alpha C^-1 A has all eigenvalues in the unit disc"
    )

    def equation(self, problem: PolicyEvaluation) -> Equation:
        return equation_of(problem, TD(lam=self.lam))

    def solve(self, equation: Equation) -> Solution:
        require_contraction(equation, self.read("alpha"), self.label)
        return super().solve(equation)

    def fit(self, rows: Rows, theta0: Vector) -> Fitted:
        alpha, lam, ridge = (
            rows.arithmetic.scalar(self.read(name)) for name in ("alpha", "lam", "ridge")
        )
        z, errors = traces(rows, lam), rows.errors(self.rho)
        C = RunningInverse(rows, ridge)
        A, b, theta = rows.identity(rows.arithmetic.zero), theta0 * rows.arithmetic.zero, theta0
        path = []
        for t in range(len(rows)):
            u = z[t] * (errors.scale[t] * rows.weight[t])
            A, b = A + u[:, None] * errors.Delta[t], b + u * errors.y[t]
            C.add(rows.phi[t] * rows.weight[t], rows.phi[t])
            if C.inverse is not None:
                theta = theta + C.inverse @ (b - A @ theta) * alpha
                path.append((t + 1, theta))
        if not path:
            null = rows.matrix(C.sum).null_space()
            self.refuse("C = sum phi phi' is singular", "C", null, rows)
        return Fitted(rows.matrix(theta), rows.matrix(A), rows.matrix(b), path)
