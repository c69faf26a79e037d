"""The fixed point of one oblique projected Bellman equation, with all that is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

from obliquetd import metrics
from obliquetd.algebra import Matrix, SolveReport, number_text
from obliquetd.display import Equations
from obliquetd.errors import ObliqueTDError
from obliquetd.operators import Operators
from obliquetd.projection import Solution, project_obliquely, solve_projected

__all__ = ["FixedPoint"]


class FixedPoint(Equations):
    """The solution of v = Pi_Phi^X T_pi v, made by ``problem.fixed_point(...)``.

    Vectors and matrices are public: sympy for exact and symbolic problems (vectors
    are columns), numpy for floats (vectors have one axis).

    Attributes
    ----------
    name : str
        ``"td"``, ``"rg"``, ``"setd"``, ``"etd"``, ``"best"``, or ``"X"`` / ``"Omega"``.
    """

    def __init__(
        self, ops: Operators, name: str, X: Matrix, solution: Solution | None = None
    ) -> None:
        self._ops, self.name, self._X = ops, name, X
        self._solution = solution or solve_projected(ops, X, f"the fixed-point equation of {name}")

    @cached_property
    def _v_hat(self) -> Matrix:
        v_hat = self._ops.Phi @ self._solution.theta
        report = self.accuracy
        if report and not report.warned:  # else that was said when theta was solved for
            v_hat.T.check_digits(f"v_hat of {self.name}", self._ops.largest_reward)
        return v_hat

    @property
    def theta(self) -> Any:
        """Coefficients, d of them; in the row space of Phi where Phi lacks full column rank."""
        return self._solution.theta.public_vector()

    @property
    def v_hat(self) -> Any:
        """Phi theta, a value for each state (n of them)."""
        return self._v_hat.public_vector()

    @property
    def values(self) -> dict[Hashable, Any]:
        """v_hat by state label."""
        return dict(zip(self._ops.labels, self._v_hat.public_list(), strict=True))

    @property
    def undetermined(self) -> tuple[Hashable, ...]:
        """States of weight zero whose value the equation leaves open.

        v_hat gives them the value of the theta of least norm (0 with tabular features).
        """
        return tuple(self._ops.names(self._solution.free_states))

    @property
    def is_unique(self) -> bool:
        """Whether these are the only weights that solve the equation.

        Where they are not, ``theta`` is the solution of least norm and :attr:`null_space`
        has the others. The values v_hat are unique but for the :attr:`undetermined` states.
        """
        return self._solution.null_space.shape[1] == 0

    @property
    def null_space(self) -> Any:
        """Directions in which theta may move and still solve the equation, (d, k).

        Examples
        --------
        >>> from obliquetd.domains import two_state
        >>> point = two_state().replace(features=[[1, 1], [2, 2]]).fixed_point("td")
        >>> point.null_space.T, point
        (Matrix([[-1, 1]]), FixedPoint('td', theta = (0, 0), not unique: 1 free direction))
        """
        return self._solution.null_space.public()

    @property
    def X(self) -> Any:
        """The matrix X, shape (n, d): the projection is orthogonal to its span."""
        return self._X.public()

    @cached_property
    def projection(self) -> Any:
        """Pi_Phi^X, shape (n, n); SingularError where X' Phi is singular."""
        return project_obliquely(self._ops.Phi, self._X).public()

    @property
    def accuracy(self) -> SolveReport | None:
        """Residual and condition of the solve, for floats."""
        return self._solution.theta.report  # type: ignore[no-any-return]

    @cached_property
    def rmse(self) -> Any:
        """||v_hat - v_pi||_Xi."""
        return metrics.root_mean_squared_error(self._ops, self._v_hat)

    @cached_property
    def rmspbe(self) -> Any:
        """||v_hat - Pi T v_hat||_Xi; 0 for TD."""
        return metrics.root_mean_squared_projected_bellman_error(self._ops, self._v_hat)

    @cached_property
    def rmsbe(self) -> Any:
        """||v_hat - T v_hat||_Xi; smallest for the residual gradient."""
        return metrics.root_mean_squared_bellman_error(self._ops, self._v_hat)

    @cached_property
    def mstde(self) -> Any:
        """The mean squared TD error, over xi, the target policy and the transitions."""
        return self._ops.arithmetic.public(metrics.mean_squared_td_error(self._ops, self._v_hat))

    @cached_property
    def neu(self) -> Any:
        """||Phi' Xi (T v_hat - v_hat)||, the norm of TD's expected update there."""
        return metrics.expected_update(self._ops, self._v_hat)

    @cached_property
    def distance(self) -> Any:
        """||X - X*||_F; depends on the scale of X, which the fixed point does not."""
        return self._ops.arithmetic.frobenius_norm(self._X - self._ops.X_star)

    @cached_property
    def criterion(self) -> Any:
        """||Lambda' X - C||_F^2, the paper's computable criterion."""
        return self._ops.arithmetic.public(metrics.criterion(self._ops, self._X))

    @cached_property
    def angle(self) -> Any:
        """The largest principal angle between span(X) and span(X*), in radians."""
        return metrics.subspace_angle(self._X, self._ops.X_star)

    @cached_property
    def worst_case(self) -> Any:
        """sup over rewards of ||v_hat - v||_Xi / ||best - v||_Xi (Scherrer 2010)."""
        return metrics.spread_of_projection(self._ops, self._X)

    def _equations(self) -> list[tuple[str, Callable[[], Any]]]:
        return [
            (r"\theta", lambda: self.theta), (r"\hat v", lambda: self.v_hat), ("X", lambda: self.X),
            (r"\mathrm{RMSE}", lambda: self.rmse), (r"\mathrm{RMSPBE}", lambda: self.rmspbe),
        ]  # fmt: skip

    def __repr__(self) -> str:
        try:
            theta = ", ".join(number_text(x) for x in self._solution.theta.public_list()[:8])
            more = ", ..." if self._solution.theta.shape[0] > 8 else ""
            free = self._solution.null_space.shape[1]
            told = f", not unique: {free} free direction{'s' if free > 1 else ''}" if free else ""
            return f"FixedPoint({self.name!r}, theta = ({theta}{more}){told})"
        except ObliqueTDError as error:  # a repr must not raise
            return f"FixedPoint({self.name!r}: {error})"
