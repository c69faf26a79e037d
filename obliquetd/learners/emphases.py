"""Ready-made emphases for :class:`~obliquetd.learners.WeightedTD`: functions of the problem.

===================  =====================================================================
power_series(k)      f_k / xi with f_k = xi + P_gamma' xi + ... + (P_gamma')^k xi: TD for k = 0,
                     ETD(0) for k to infinity (Lyu et al. 2018, Section IV); what ETD(0) with
                     ``truncate=k`` has in expectation
batch_minimizer      the diagonal Omega that minimises ||Lambda' Xi Omega Phi - C||_F, the one of
                     least norm where there are many (Eq. batch)
omega_star           the diagonal Omega that minimises ||Xi Omega Phi - X*||_F
===================  =====================================================================

They need the model. With lambda = 0 the fixed point is that of X = Xi Omega Phi. Omega_S, the fourth
of the paper's, is ``SETD(omega="expected")``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from obliquetd.errors import InputError, UndefinedError

__all__ = ["batch_minimizer", "omega_star", "power_series"]


@dataclass(frozen=True)
class power_series:  # noqa: N801 - it is called as a function is
    """The power series of the emphasis f = L_pi^-T xi, cut after its term of order k.

    Parameters
    ----------
    order : int
        k >= 0.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> [power_series(k)(two_state()) for k in (0, 1)]
    [[1, 1], [1, 14/5]]
    """

    order: int

    def __post_init__(self) -> None:
        if not isinstance(self.order, int) or isinstance(self.order, bool) or self.order < 0:
            raise InputError(
                f"the order is {self.order!r}; expected a whole number that is 0 or more"
            )

    @property
    def __name__(self) -> str:
        """For labels."""
        return repr(self)

    def __call__(self, problem: Any) -> list[Any]:
        """f_k(s) / xi(s) for each state; 0 where both are 0.

        Raises
        ------
        UndefinedError
            Where xi(s) is 0 and f_k(s) is not.
        """
        xi, L = problem.xi, problem.L_pi
        total = term = xi
        for _ in range(self.order):
            term = term - L.T @ term
            total = total + term
        out = []
        for s, weight, f in zip(problem.states, xi, total, strict=True):
            if not weight and f:
                raise UndefinedError(
                    f"the power series divides by zero at the state {s!r}, whose weight xi is 0 while "
                    "its emphasis is not; give the problem weights xi that are positive there",
                    [s],
                )
            out.append(f / weight if weight else weight)
        return out


def _diagonal(matrix: Any) -> list[Any]:
    return [matrix[i, i] for i in range(matrix.shape[0])]


def batch_minimizer(problem: Any) -> list[Any]:
    """The diagonal of ``problem.Omega_S_batch``."""
    return _diagonal(problem.Omega_S_batch)


def omega_star(problem: Any) -> list[Any]:
    """The diagonal of ``problem.Omega_star``."""
    return _diagonal(problem.Omega_star)
