"""FPKF(lambda): the fixed-point Kalman filter (Choi and Van Roy 2006).

Each row is a regression on targets that are not revised afterwards:

    theta_i = argmin_w ridge |w - theta_0|^2 + sum_{j <= i} (w'phi_j - y_{ij})^2,
    y_{ij} = phi_j'theta_{j-1} + sum_{k=j}^{i} (prod_{l=j}^{k-1} g_l lambda rho_l) delta_k(theta_{j-1})

(lambda and off-policy: Geist and Scherrer 2014, Section 3). Row by row, with Z_i the trace of z that
remembers the weights of its time,

    Z_i = g_{i-1} lambda rho_{i-1} Z_{i-1} + phi_i theta_{i-1}',
    q_i = q_{i-1} + phi_i phi_i'theta_{i-1} + z_i rho_i r_i - Z_i rho_i (phi_i - g_i phi_{i+1}),
    theta_i = (ridge I + sum_j phi_j phi_j')^-1 q_i.

The gain is that of least squares, about C^-1 / i, so the weights follow theta' = C^-1 (b - A theta) in
the time log i (with A and b of TD(lambda), C = Phi' Xi Phi).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from obliquetd.estimators.base import Equation, Estimator, Fitted, Vector, equation_of
from obliquetd.estimators.convergence import require_stable_flow
from obliquetd.estimators.rows import PLACES, Rows
from obliquetd.estimators.running import RunningInverse
from obliquetd.estimators.traces import decays, traces
from obliquetd.learners import TD
from obliquetd.learners.base import choice, unit
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.projection import Solution

__all__ = ["FPKF"]


@final
@dataclass(frozen=True)
class FPKF(Estimator):
    """FPKF(lambda), the fixed-point Kalman filter: recursive regression on targets that are never revised.

    Parameters
    ----------
    lam : number or symbol
    rho : {"error", "target"}
        As for :class:`~obliquetd.estimators.LSTD`.
    ridge : number
        Where it is 0, theta_0 stays until the features seen make sum phi phi' regular.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> two_state(discount="1/2", reward=1).fixed_point(FPKF())
    FixedPoint('FPKF', theta = (3/2))
    """

    lam: Any = unit(0, "the trace parameter")
    rho: str = choice(*PLACES, meaning="where the importance ratio stands")

    key, name = "fpkf", "FPKF"
    source = "Choi and Van Roy 2006; lambda and off-policy, Geist and Scherrer 2014"
    solves = "the fixed point of TD(lambda), if C^-1 A has all eigenvalues in the right half-plane"

    def equation(self, problem: PolicyEvaluation) -> Equation:
        return equation_of(problem, TD(lam=self.lam))

    def solve(self, equation: Equation) -> Solution:
        require_stable_flow(equation, self.label)
        return super().solve(equation)

    def fit(self, rows: Rows, theta0: Vector) -> Fitted:
        lam, ridge = (rows.arithmetic.scalar(self.read(name)) for name in ("lam", "ridge"))
        z, errors, carried = traces(rows, lam), rows.errors(self.rho), decays(rows) * lam
        N, q, theta = RunningInverse(rows, ridge), theta0 * ridge, theta0
        Z = rows.identity(rows.arithmetic.zero)
        path = []
        for t in range(len(rows)):
            phi, w = rows.phi[t], rows.weight[t]
            Z = Z * carried[t] + phi[:, None] * theta
            N.add(phi * w, phi)
            change = (z[t] * errors.y[t] - Z @ errors.Delta[t]) * errors.scale[t]
            q = q + (phi * (phi @ theta) + change) * w
            if N.inverse is not None:
                theta = N.inverse @ q
                path.append((t + 1, theta))
        if not path:
            null = rows.matrix(N.sum).null_space()
            self.refuse("C = sum phi phi' is singular", "C", null, rows)
        A, b = rows.sums(z, errors)
        return Fitted(rows.matrix(theta), A, b, path)
