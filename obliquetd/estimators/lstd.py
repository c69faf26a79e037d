"""LSTD(lambda) and LS-ETD(lambda): the root of a learner's summed update, found at once.

    (ridge I + A) theta = ridge theta_0 + b,   A = sum_t e_t (phi_t - g_t phi_{t+1})',   b = sum_t e_t r_t

(Boyan 1999; off-policy, Yu 2010), with the trace e of TD(lambda) or of ETD(lambda). A/T tends to the
A of their expected update and b/T to the b, so the limit is their fixed point; it is reached whether
or not they are stable there.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, final

from obliquetd.errors import InputError
from obliquetd.estimators.base import Equation, Estimator, Fitted, Vector, equation_of
from obliquetd.estimators.rows import PLACES, Errors, Rows
from obliquetd.estimators.running import RunningInverse
from obliquetd.estimators.traces import emphasis_of, traces
from obliquetd.learners import ETD, TD, Learner
from obliquetd.learners.base import choice, number, unit
from obliquetd.problem import PolicyEvaluation

__all__ = ["LSETD", "LSTD", "LeastSquares"]


@dataclass(frozen=True)
class LeastSquares(Estimator):
    """What LSTD and LS-ETD share: all but the trace."""

    lam: Any = unit(0, "the trace parameter")
    rho: str = choice(*PLACES, meaning="where the importance ratio stands")
    recursive: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.recursive, bool):
            raise InputError(f"recursive is {self.recursive!r}; expected True or False")

    @property
    @abstractmethod
    def learner(self) -> Learner:
        """The learner whose expected update is zero at the limit."""

    @abstractmethod
    def trace(self, rows: Rows) -> Any:
        """z_t for each row, (T, d)."""

    def efficiency_on(self, problem: Any, sampling: Any, theta0: Any, arithmetic: Any) -> Any:
        from obliquetd.estimators.efficiency import LeastSquaresEfficiency  # which knows this class

        return LeastSquaresEfficiency(problem, self, sampling, theta0, arithmetic)

    def equation(self, problem: PolicyEvaluation) -> Equation:
        return equation_of(problem, self.learner)

    def updates(self, rows: Rows) -> list[tuple[Any, Errors]]:
        return [(self.trace(rows), rows.errors(self.rho))]

    def fit(self, rows: Rows, theta0: Vector) -> Fitted:
        scalar = rows.arithmetic.scalar
        ridge, z, errors = scalar(self.read("ridge")), self.trace(rows), rows.errors(self.rho)
        first = theta0 * ridge
        path = self._path(rows, ridge, first, z, errors) if self.recursive else []
        A, b = rows.sums(z, errors)
        A, b = A + rows.matrix(rows.identity(ridge)), b + rows.matrix(first)
        if path and path[-1][0] == len(rows):
            return Fitted(rows.matrix(path[-1][1]), A, b, path)
        return Fitted(self.solve_sums(A, b, rows), A, b, path)

    def _path(
        self, rows: Rows, ridge: Any, first: Vector, z: Any, errors: Errors
    ) -> list[tuple[int, Vector]]:
        """theta_t = S_t^-1 b_t with S_t^-1 kept up (Bradtke and Barto 1996, RLS TD), where there is one."""
        inverse, b, path = RunningInverse(rows, ridge), first, []
        for t in range(len(rows)):
            u = z[t] * (errors.scale[t] * rows.weight[t])
            inverse.add(u, errors.Delta[t])
            b = b + u * errors.y[t]
            if inverse.inverse is not None:
                path.append((t + 1, inverse.inverse @ b))
        return path


@final
@dataclass(frozen=True)
class LSTD(LeastSquares):
    """LSTD(lambda): the fixed point of TD(lambda), from all of the data at once.

    Parameters
    ----------
    ridge : number
        A positive one makes (ridge I + A) theta = ridge theta_0 + b of A theta = b.
    lam : number or symbol
    rho : {"error", "target"}
        Where the importance ratio stands: before the whole TD error, or before its target
        alone (Yu 2010). The limit is the same, and what a log gives is not.
    recursive : bool
        Whether the inverse is kept up row by row (Bradtke and Barto 1996), for the weights on the
        way: ``path`` of the estimate. The last are those of the batch; exactly, on a log of rationals.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> two_state(reward=1).fixed_point(LSTD())
    FixedPoint('LSTD', theta = (-15/2))
    """

    key, name = "lstd", "LSTD"
    source = "Bradtke and Barto 1996; lambda, Boyan 1999; off-policy, Yu 2010"
    solves = "the fixed point of TD(lambda), stable or not"

    @property
    def learner(self) -> Learner:
        """TD(lambda)."""
        return TD(lam=self.lam)

    def trace(self, rows: Rows) -> Any:
        """z_t = g_{t-1} lambda rho_{t-1} z_{t-1} + phi_t."""
        return traces(rows, rows.arithmetic.scalar(self.read("lam")))


@final
@dataclass(frozen=True)
class LSETD(LeastSquares):
    """LS-ETD(lambda): the fixed point of ETD(lambda), from all of the data at once (Yu 2015).

    The trace is ETD's, with the follow-on F_t = i + g_{t-1} rho_{t-1} F_{t-1} and the emphasis
    m_t = lambda i + (1 - lambda) F_t before phi_t. The interest i is the same in every state, and the
    limit does not depend on it.

    Parameters
    ----------
    ridge, lam, rho, recursive
        As for :class:`LSTD`.
    interest : number
        Beside a ridge, how much the data count.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> two_state(reward=1).fixed_point(LSETD())
    FixedPoint('LS-ETD', theta = (195/34))
    """

    interest: Any = number(1, "the interest in every state")

    key, name = "lsetd", "LS-ETD"
    source = "Yu 2015 (ELSTD); the emphasis, Sutton, Mahmood and White 2016"
    solves = "the fixed point of ETD(lambda)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.read("interest") == 0:
            raise InputError("interest is 0, so that no state would count; expected another number")

    @property
    def learner(self) -> Learner:
        """ETD(lambda)."""
        return ETD(lam=self.lam)

    def trace(self, rows: Rows) -> Any:
        """z_t = g_{t-1} lambda rho_{t-1} z_{t-1} + m_t phi_t."""
        lam, interest = (rows.arithmetic.scalar(self.read(k)) for k in ("lam", "interest"))
        return traces(rows, lam, emphasis_of(rows, lam, interest))
