"""The fixed point of one oblique projected Bellman equation, with all that is asked of it."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

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
from obliquetd.learners import LEARNERS, Learner
from obliquetd.problem import metrics
from obliquetd.problem.native import Operators
from obliquetd.problem.piecewise import PiecewiseFixedPoint
from obliquetd.problem.projection import Solution, project_obliquely, solve_projected
from obliquetd.problem.requests import read_matrix, read_weighting, read_weights
from obliquetd.problem.spans import spanning_X_star
from obliquetd.problem.weightings import METHODS, WEIGHTINGS

__all__ = ["FixedPoint", "HasLimit", "fixed_point_of", "label_of", "point_of_own"]

OF_LEARNERS = "obliquetd.dynamics.learner_point"
"""The module that finds a learner's fixed point, below this one; imported where it is asked."""


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
        again: Callable[[Operators], FixedPoint] | None = None,
    ) -> None:
        self.native, self.name, self._given, self._noise, self._again = ops, name, X, noise, again
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
        return self.native.Phi @ self._solution.theta

    @cached_property
    def _projection(self) -> Matrix:
        _ = self.native.row_space  # refuses features whose rank floats do not see
        return project_obliquely(self.native.Phi, self._X)

    def _exactly(self, of: Callable[[FixedPoint], Matrix]) -> Callable[[], Matrix] | None:
        """What decides the zeros of a float answer: that of the same fixed point in rationals."""
        again = self._again
        return again and self.native.exactly(lambda ops: of(again(ops)))

    @property
    def theta(self) -> Any:
        """Coefficients, d of them; in the row space of Phi where Phi lacks full column rank."""
        if self._is_warned:
            return self._solution.theta.public_vector()
        exactly = self._exactly(lambda point: point._solution.theta)
        return self._solution.theta.told_vector(f"theta of {self.name}", exactly)

    @property
    def _is_warned(self) -> bool:
        """Whether it was said that there are few digits when theta was solved for."""
        return bool(self.accuracy and self.accuracy.warned)

    @property
    def v_hat(self) -> Any:
        """Phi theta, a value for each state (n of them)."""
        if self._is_warned:
            return self._v_hat.public_vector()
        exactly = self._exactly(lambda point: point._v_hat)
        reward = self.native.largest_reward
        return self._v_hat.told_vector(f"v_hat of {self.name}", exactly, reward)

    @property
    def values(self) -> dict[Hashable, Any]:
        """v_hat by state label."""
        v_hat = self.v_hat
        listed = v_hat.tolist() if isinstance(v_hat, np.ndarray) else list(v_hat)
        return dict(zip(self.native.labels, listed, strict=True))

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
        return self._X.told(f"X of {self.name}", self._exactly(lambda point: point._X))

    @cached_property
    def projection(self) -> Any:
        """Pi_Phi^X, shape (n, n); SingularError where X' Phi is singular."""
        exactly = self._exactly(lambda point: point._projection)
        return self._projection.told(f"the projection of {self.name}", exactly)

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


class HasLimit(ABC):
    """What leads somewhere on a problem and says itself where, as every estimator does; abstract."""

    @abstractmethod
    def limit(self, problem: Any) -> FixedPoint:
        """The fixed point on a problem."""

    def efficiency_on(self, problem: Any, sampling: Any, theta0: Any, arithmetic: Any) -> Any:  # noqa: ARG002
        """How noisy it is there, an ``Efficiency``; None where that is not known."""
        return None


def fixed_point_of(given: Any, problem: Any) -> FixedPoint:
    """The fixed point that a name, an X, weights Omega, a fixed point, a learner or an estimator means.

    Each kind is told by its class, and what it needs is imported here: nothing has to be loaded before.
    """
    if isinstance(given, str):
        return _named(given, problem)
    if isinstance(given, FixedPoint):
        return _of_this_problem(given, problem)
    if isinstance(given, Learner):
        found: FixedPoint = import_module(OF_LEARNERS).point_of_learner(given, problem)
        return found
    if isinstance(given, HasLimit):
        return given.limit(problem)
    _refuse_class(given)
    return _of_weighting(given, problem.native)


def _of_weighting(given: Any, ops: Operators) -> FixedPoint:
    """The fixed point of a matrix or of weights on the operators of a problem."""
    name, found = read_weighting(ops, given)
    X = ops.Xi_Phi.scale_rows(found) if name == "Omega" else found
    return FixedPoint(ops, name, X, again=functools.partial(_of_weighting, given))


def _refuse_class(given: Any) -> None:
    """InputError for a class in place of one of its objects, such as TD for TD()."""
    if not isinstance(given, type):
        return
    learner = issubclass(given, Learner | HasLimit)
    way_out = f"make a learner, {given.__name__}(), or give" if learner else "give a learner, or"
    raise InputError(
        f"{given.__name__} is a class; {way_out} one of the names {', '.join(METHODS)}"
    )


def _named(given: str, problem: Any) -> FixedPoint:
    if given not in WEIGHTINGS:
        named = {kind.__name__: kind for kind in LEARNERS.values()}
        if kind := LEARNERS.get(given) or named.get(given):
            raise InputError(
                f"{given!r} names a learner and no weighting; give the learner, {kind.__name__}(), or one of the names "
                f"{', '.join(METHODS)}"
            )
        raise InputError(
            f"no fixed point is called {given!r}; {did_you_mean(given, METHODS)}expected one of {', '.join(METHODS)}, or X= or "
            "Omega="
        )

    on = functools.partial(_of_name, given)
    ops = problem.native
    if ops.many and ops.arithmetic.kind != "symbolic":
        return FixedPoint(ops, given, lambda: WEIGHTINGS[given](ops))
    try:
        return on(ops)
    except SignUndecidedError as error:
        if error.factor is None:
            raise
    cases = sign_cases(ops.arithmetic, lambda arithmetic: on(ops.over(arithmetic)))
    several: Any = PiecewiseFixedPoint(given, cases)  # has what a FixedPoint is asked for
    return cases[0].value if len(cases) == 1 else several


def _of_name(given: str, ops: Operators) -> FixedPoint:
    """The fixed point of a weighting that has a name, likewise."""
    return FixedPoint(ops, given, WEIGHTINGS[given](ops), again=functools.partial(_of_name, given))


def _of_this_problem(given: FixedPoint, problem: Any) -> FixedPoint:
    if given.native.inputs is not problem.inputs:
        raise InputError(
            f"the fixed point {given!r} is of another problem; make it with problem.fixed_point of "
            "this one"
        )
    return given


def point_of_own(ops: Operators, X: Any, Omega: Any) -> FixedPoint:
    """The fixed point of an X of the user's own, or where that is None of weights Omega."""
    again = functools.partial(point_of_own, X=X, Omega=Omega)
    if X is not None:
        return FixedPoint(ops, "X", read_matrix(ops, X, "X"), again=again)
    return FixedPoint(ops, "Omega", ops.Xi_Phi.scale_rows(read_weights(ops, Omega)), again=again)


def label_of(given: Any, problem: Any) -> str:
    """What a row of a comparison is called whose user gave no label."""
    if isinstance(given, str):
        return given
    if isinstance(given, FixedPoint):
        return given.name
    _refuse_class(given)
    label = getattr(given, "label", None)
    return label if isinstance(label, str) else read_weighting(problem.native, given)[0]
