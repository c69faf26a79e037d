"""The fixed point of one oblique projected Bellman equation, with all that is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import cached_property, singledispatch
from typing import Any

from obliquetd.algebra import Matrix, SolveReport, number_text
from obliquetd.algebra.sign_cases import sign_cases
from obliquetd.display import Equations, Names
from obliquetd.errors import (
    InputError,
    ObliqueTDError,
    SignUndecidedError,
    UndefinedError,
    did_you_mean,
)
from obliquetd.problem import metrics
from obliquetd.problem.native import Operators
from obliquetd.problem.piecewise import PiecewiseFixedPoint
from obliquetd.problem.projection import Solution, project_obliquely, solve_projected
from obliquetd.problem.requests import read_weighting
from obliquetd.problem.spans import spanning_X_star
from obliquetd.problem.weightings import METHODS, WEIGHTINGS

__all__ = ["FixedPoint", "fixed_point_of", "label_of"]


class FixedPoint(Equations):
    """The solution of v = Pi_Phi^X T_pi v, made by ``problem.fixed_point(...)``.

    Vectors and matrices are public: sympy for exact and symbolic problems (vectors
    are columns), numpy for floats (vectors have one axis).

    Attributes
    ----------
    name : str
        ``"td"``, ``"rg"``, ``"setd"``, ``"etd"``, ``"best"``, ``"X"`` / ``"Omega"``, or the
        label of a learner, whose mean update leads there.
    """

    def __init__(
        self,
        ops: Operators,
        name: str,
        X: Matrix | Callable[[], Matrix] | None,
        solution: Solution | None = None,
        noise: Callable[[], Any] | None = None,
    ) -> None:
        self.native, self.name, self._given, self._noise = ops, name, X, noise
        what = f"the fixed-point equation of {name}"
        self._solution = solution or solve_projected(ops, self._X, what)

    @property
    def _X(self) -> Matrix:
        if self._given is None:
            raise UndefinedError(
                f"the fixed point of {self.name} was found from the learner's mean update, not from a "
                "matrix X; ask for a weighting by name, or pass X= or Omega=, for what depends on X"
            )
        return self._given if isinstance(self._given, Matrix) else self._given()

    @cached_property
    def _v_hat(self) -> Matrix:
        v_hat = self.native.Phi @ self._solution.theta
        report = self.accuracy
        if report and not report.warned:  # else that was said when theta was solved for
            v_hat.T.check_digits(f"v_hat of {self.name}", self.native.largest_reward)
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
        return dict(zip(self.native.labels, self._v_hat.public_list(), strict=True))

    @property
    def undetermined(self) -> tuple[Hashable, ...]:
        """States of weight zero whose value the equation leaves open.

        v_hat gives them the value of the theta of least norm (0 with tabular features).
        """
        return tuple(self.native.names(self._solution.free_states))

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
        """The matrix X, shape (n, d): the projection is orthogonal to its span.

        UndefinedError for the fixed point of a learner, which has none.
        """
        return self._X.public()

    @cached_property
    def projection(self) -> Any:
        """Pi_Phi^X, shape (n, n); SingularError where X' Phi is singular."""
        return project_obliquely(self.native.Phi, self._X).public()

    @property
    def accuracy(self) -> SolveReport | None:
        """Residual and condition of the solve, for floats."""
        return self._solution.theta.report  # type: ignore[no-any-return]

    @cached_property
    def rmse(self) -> Any:
        """||v_hat - v_pi||_Xi."""
        return metrics.root_mean_squared_error(self.native, self._v_hat)

    @cached_property
    def rmspbe(self) -> Any:
        """||v_hat - Pi T v_hat||_Xi; 0 for TD."""
        return metrics.root_mean_squared_projected_bellman_error(self.native, self._v_hat)

    @cached_property
    def rmsbe(self) -> Any:
        """||v_hat - T v_hat||_Xi; smallest for the residual gradient."""
        return metrics.root_mean_squared_bellman_error(self.native, self._v_hat)

    @cached_property
    def mstde(self) -> Any:
        """The mean squared TD error, over xi, the target policy and the transitions."""
        return self.native.arithmetic.public(
            metrics.mean_squared_td_error(self.native, self._v_hat)
        )

    @cached_property
    def neu(self) -> Any:
        """||Phi' Xi (T v_hat - v_hat)||, the norm of TD's expected update there."""
        return metrics.expected_update(self.native, self._v_hat)

    @cached_property
    def distance(self) -> Any:
        """||X - X*||_F; depends on the scale of X, which the fixed point does not."""
        return self.native.arithmetic.frobenius_norm(self._X - self.native.X_star)

    @cached_property
    def criterion(self) -> Any:
        """||Lambda' X - C||_F^2, the paper's computable criterion."""
        return self.native.arithmetic.public(metrics.criterion(self.native, self._X))

    @cached_property
    def angle(self) -> Any:
        """The largest principal angle between span(X) and span(X*), in radians."""
        return metrics.subspace_angle(self._X, spanning_X_star(self.native))

    @cached_property
    def worst_case(self) -> Any:
        """sup over rewards of ||v_hat - v||_Xi / ||best - v||_Xi (Scherrer 2010)."""
        return metrics.spread_of_projection(self.native, self._X)

    @cached_property
    def bias(self) -> Any:
        """||v_hat - v_pi||_Xi^2, which no number of samples removes."""
        return self.rmse**2

    @property
    def variance(self) -> Any:
        """The limit of t E||Phi (theta_t - theta)||_Xi^2, for the average of a learner or for LSTD."""
        return self._of_noise("variance")

    @property
    def rate(self) -> Any:
        """What 1/t is multiplied by in the mean squared error of LSTD or LS-ETD after t steps."""
        return self._of_noise("rate")

    def _of_noise(self, what: str) -> Any:
        if self._noise is None:
            raise UndefinedError(
                f"{self.name} is an equation and makes no steps, so it has no {what}; ask for a learner or "
                "an estimator, as in otd.compare(problem, [otd.TD(), otd.LSTD()])"
            )
        return getattr(self._noise(), what)

    def equations(self) -> list[tuple[str, Callable[[], Any]]]:
        return [
            (r"\theta", lambda: self.theta), (r"\hat v", lambda: self.v_hat), ("X", lambda: self.X),
            (r"\mathrm{RMSE}", lambda: self.rmse), (r"\mathrm{RMSPBE}", lambda: self.rmspbe),
        ]  # fmt: skip

    def names(self) -> Mapping[str, Names]:
        return dict.fromkeys((r"\hat v", "X"), (self.native.labels, ()))

    def __repr__(self) -> str:
        try:
            theta = ", ".join(number_text(x) for x in self._solution.theta.public_list()[:8])
            more = ", ..." if self._solution.theta.shape[0] > 8 else ""
            free = self._solution.null_space.shape[1]
            told = f", not unique: {free} free direction{'s' if free > 1 else ''}" if free else ""
            return f"FixedPoint({self.name!r}, theta = ({theta}{more}){told})"
        except ObliqueTDError as error:  # a repr must not raise
            return f"FixedPoint({self.name!r}: {error})"


@singledispatch
def fixed_point_of(given: Any, problem: Any) -> FixedPoint:
    """The fixed point that a name, an X, weights Omega, a fixed point or a learner means.

    A generic function: a room below adds a kind of its own with ``fixed_point_of.register``, as
    :mod:`obliquetd.dynamics` does for learners. This one reads a matrix.
    """
    _refuse_class(given)
    name, found = read_weighting(problem.native, given)
    X = problem.native.Xi_Phi.scale_rows(found) if name == "Omega" else found
    return FixedPoint(problem.native, name, X)


def _refuse_class(given: Any) -> None:
    """InputError for a class in place of one of its objects, such as TD for TD()."""
    if not isinstance(given, type):
        return
    read = fixed_point_of.dispatch(given) is not fixed_point_of.dispatch(object)
    learner = read and not issubclass(given, str | FixedPoint)
    way_out = f"make a learner, {given.__name__}(), or give" if learner else "give a learner, or"
    raise InputError(
        f"{given.__name__} is a class; {way_out} one of the names {', '.join(METHODS)}"
    )


@fixed_point_of.register
def _(given: str, problem: Any) -> FixedPoint:
    if given not in WEIGHTINGS:
        raise InputError(
            f"no fixed point is called {given!r}; {did_you_mean(given, METHODS)}expected one of {', '.join(METHODS)}, or X= or "
            "Omega="
        )

    def on(arithmetic: Any) -> FixedPoint:
        ops = problem.native.over(arithmetic)
        return FixedPoint(ops, given, WEIGHTINGS[given](ops))

    ops = problem.native
    if ops.many and ops.arithmetic.kind != "symbolic":
        return FixedPoint(ops, given, lambda: WEIGHTINGS[given](ops))
    try:
        return FixedPoint(ops, given, WEIGHTINGS[given](ops))
    except SignUndecidedError as error:
        if error.factor is None:
            raise
    cases = sign_cases(ops.arithmetic, on)
    several: Any = PiecewiseFixedPoint(given, cases)  # has what a FixedPoint is asked for
    return cases[0].value if len(cases) == 1 else several


@fixed_point_of.register
def _(given: FixedPoint, problem: Any) -> FixedPoint:
    if given.native.inputs is not problem.inputs:
        raise InputError(
            f"the fixed point {given!r} is of another problem; make it with problem.fixed_point of "
            "this one"
        )
    return given


def label_of(given: Any, problem: Any) -> str:
    """What a row of a comparison is called whose user gave no label."""
    if isinstance(given, str):
        return given
    if isinstance(given, FixedPoint):
        return given.name
    _refuse_class(given)
    label = getattr(given, "label", None)
    return label if isinstance(label, str) else read_weighting(problem.native, given)[0]
