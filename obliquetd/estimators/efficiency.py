"""How noisy LSTD and LS-ETD are: to order 1/t, with the bias that a quotient of averages has.

theta_t = A_t^-1 b_t, with averages over t steps of what each samples of A and b. With N_k = b_k - A_k x*,

theta_t - x* = A_t^-1 (N_0 + ... + N_{t-1}) / t,

so that t Cov tends to A^-1 Sigma A^-T, and t E[theta_t - x*] to

beta = - A^-1 sum over all integers k of E[(A_0 - A) A^-1 N_k],

from a stationary start; for independent transitions k = 0 counts alone. The mean squared error is

|Phi x* - v|^2 + (2 (Phi x* - v)' Xi Phi beta + trace(C A^-1 Sigma A^-T)) / t

up to smaller terms. None of it needs a stable A: a non-singular one will do.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NoReturn

from obliquetd.algebra import Arithmetic, Matrix
from obliquetd.dynamics.at_weights import mean_A, moments_with_A
from obliquetd.dynamics.efficiency import Efficiency
from obliquetd.dynamics.long_run import long_run_covariance, single_covariance
from obliquetd.dynamics.scalars import bounded_matrix, rounded_rows
from obliquetd.errors import KindError, MathematicalError, NotUniqueError
from obliquetd.estimators.lstd import LeastSquares
from obliquetd.problem import PolicyEvaluation

__all__ = ["LeastSquaresEfficiency"]


class LeastSquaresEfficiency(Efficiency):
    """The noise of LSTD or LS-ETD; made by :func:`obliquetd.efficiency`.

    Attributes
    ----------
    estimator : LSTD or LSETD

    Examples
    --------
    >>> from obliquetd import efficiency
    >>> from obliquetd.domains import random_problem
    >>> from obliquetd.estimators import LSTD
    >>> found = efficiency(random_problem(2, 1, seed=1), LSTD())
    >>> float(found.mse(10**9) - found.squared_bias) < 1e-6
    True
    """

    def __init__(
        self,
        problem: PolicyEvaluation,
        estimator: LeastSquares,
        sampling: str | None,
        theta0: Any,
        arithmetic: Arithmetic | None = None,
    ) -> None:
        if estimator.read("ridge"):
            raise KindError(
                f"{estimator.label} has a ridge, which vanishes in the limit; its efficiency is that of "
                "the same estimator without one"
            )
        if estimator.rho != "error":
            raise KindError(
                f"the noise of {estimator.label} is known where the ratio stands before the whole error; "
                "use rho='error', which is the default"
            )
        super().__init__(problem, estimator.learner, sampling, theta0, arithmetic)
        self.estimator, self.name = estimator, estimator.label
        span = self._expectation.span
        if span.dimension < self._expectation.rule.size:
            raise NotUniqueError(
                f"{self.name} needs a non-singular A, and no data moves some of the weights; leave out "
                "features that depend on others",
                span.complement().public(),
            )

    def _need_stable(self) -> None:
        """A non-singular A is enough, without which there is no fixed point."""
        _ = self._x

    @cached_property
    def _constant_step(self) -> Matrix:
        """KindError: there is no step size."""
        self._no_step_size()

    def _schedule(self, c: Any) -> Matrix:  # noqa: ARG002
        """KindError: there is no step size."""
        self._no_step_size()

    def _no_step_size(self) -> NoReturn:
        raise KindError(
            f"{self.name} has no step size; its covariance is .averaged / t. Ask a learner, as in "
            f"otd.efficiency(problem, {self.learner!r})"
        )

    @cached_property
    def _beta(self) -> Matrix:
        """The limit of t E[theta_t - x*], (d, 1)."""
        if self._infinite:
            _ = self.sigma  # which says why
        moments = moments_with_A(self._expectation, self._x)
        if moments.infinite:
            raise MathematicalError(
                f"the bias of {self.name} is infinite at order 1/t: the second moment of "
                f"{' and '.join(self._names(moments.infinite))} is"
            )
        of = long_run_covariance if self.sampling == "trajectory" else single_covariance
        covariance = rounded_rows(of(moments))
        d, arithmetic = self._d, self._ops.arithmetic
        A = mean_A(self._expectation)
        inverse = rounded_rows(A.solve(arithmetic.identity(d), "A"))
        crossed = [
            sum(
                (covariance[d + a * d + b][c] * inverse[b][c] for b in range(d) for c in range(d)),
                arithmetic.zero,
            )
            for a in range(d)
        ]
        return A.solve(bounded_matrix([[-w] for w in crossed], (d, 1), arithmetic), "A")

    @property
    def bias_rate(self) -> Any:
        """beta, the limit of t E[theta_t - theta*], d of them."""
        return self._beta.public_vector()

    @property
    def rate(self) -> Any:
        """What 1/t is multiplied by in :meth:`mse`."""
        return self._ops.arithmetic.public(self._rate)

    @cached_property
    def _rate(self) -> Any:
        two = self._ops.arithmetic.one + self._ops.arithmetic.one
        weighted = self._gap.scale_rows(self._ops.xi)
        cross = (weighted.T @ self._ops.Phi @ self._beta).item()
        return two * cross + self._spread

    def mse(self, t: int) -> Any:
        """E|Phi theta_t - v_pi|^2 in the weights xi after t steps, up to terms smaller than 1/t.

        Raises
        ------
        MathematicalError
            Where the noise is infinite.
        """
        return self._ops.arithmetic.public(self._bias + self._rate / self._steps(t))
