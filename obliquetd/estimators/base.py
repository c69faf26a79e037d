"""What every estimator is: settings, the equation that it solves in the limit, a fit to a log.

An estimator makes weights theta out of data as a whole, with no step size that has to shrink. In
the limit of infinite data it solves A theta = b, with A and b from a problem
(:meth:`Estimator.limit`); on a log it does what its paper says (:func:`obliquetd.replay`).
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import sympy as sp

from obliquetd.algebra import Matrix, number_text, parse_number, public_number
from obliquetd.dynamics import efficiency, mean_dynamics
from obliquetd.dynamics.rule import operators_for
from obliquetd.dynamics.sampling import is_stationary
from obliquetd.errors import InputError, NoSolutionError, NotUniqueError, SingularError
from obliquetd.estimators.rows import Errors, Rows
from obliquetd.learners import Learner
from obliquetd.learners.base import Parameter, nonnegative
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.fixed_point import FixedPoint, HasLimit
from obliquetd.problem.native import Operators
from obliquetd.problem.projection import Solution, solve_in_row_space

__all__ = ["Equation", "Estimator", "Fitted", "Vector", "equation_of"]

Vector = Any
"""An array of native scalars with one axis."""


@dataclass(frozen=True, eq=False)
class Equation:
    """A theta = b, in the arithmetic of the operators."""

    ops: Operators
    A: Matrix
    b: Matrix


@dataclass(frozen=True, eq=False)
class Fitted:
    """What an estimator made of a log, native.

    Attributes
    ----------
    theta : Matrix (d, 1)
    A, b : Matrix (d, d), (d, 1), or None
        The sums over the rows; a learner has none.
    path : list of (int, array of d)
        The weights after so many rows, of an estimator that goes row by row.
    """

    theta: Matrix
    A: Matrix | None
    b: Matrix | None
    path: list[tuple[int, Vector]] = dataclasses.field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Estimator(HasLimit):
    """Settings, an equation and a fit; abstract. Each estimator is a frozen dataclass.

    A class names itself for people (``name``), for the command line (``key``) and its ``source``, and
    says what infinite data leads it to (``solves``).

    Attributes
    ----------
    ridge : number
        How much the first weights count beside the data. It vanishes in the limit.
    """

    ridge: Any = nonnegative(0, "how much the first weights count beside the data")

    key: ClassVar[str] = ""
    name: ClassVar[str] = ""
    source: ClassVar[str] = ""
    solves: ClassVar[str] = ""
    twins: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in self.settings():
            self.read(name)

    @classmethod
    def settings(cls) -> dict[str, Parameter]:
        """The declared numbers and choices, by name."""
        return {
            f.name: Parameter(
                f.name, f.default, f.metadata.get("domain"),
                f.metadata["expected"], f.metadata.get("choices", ()), f.metadata.get("meaning", ""),
            )
            for f in dataclasses.fields(cls)
            if "expected" in f.metadata
        }  # fmt: skip

    def read(self, name: str) -> Any:
        """A setting as a parsed number (of a choice: its index).

        Raises
        ------
        InputError, NumberError
            Outside its domain.
        """
        return self.settings()[name].read(getattr(self, name))

    @property
    def label(self) -> str:
        """The name, with every setting that is not its default."""
        fields = [(f.name, getattr(self, f.name), f.default) for f in dataclasses.fields(self)]
        return " ".join([self.name, *(f"{k}={_text(v)}" for k, v, usual in fields if v != usual)])

    @property
    def symbols(self) -> set[sp.Symbol]:
        """The free symbols of the settings."""
        found = (public_number(self.read(name)) for name in self.settings())
        return {s for x in found if isinstance(x, sp.Basic) for s in x.free_symbols}

    @abstractmethod
    def equation(self, problem: PolicyEvaluation) -> Equation:
        """A and b in the limit of infinite data."""

    @abstractmethod
    def fit(self, rows: Rows, theta0: Vector) -> Fitted:
        """The weights that a log leads to."""

    def updates(self, rows: Rows) -> list[tuple[Any, Errors]]:
        """The parts that the rows have in A theta = b, (T, d) vectors with the errors that they are multiplied by.

        Raises
        ------
        InputError
            Where the estimate is no root of sums over rows, as of one that goes from row to row.
        """
        raise InputError(
            f"{self.label} goes from row to row, and its weights are no root of sums over the {len(rows)} rows; "
            "LSTD, LSETD, BRM and Averager have such sums"
        )

    def sums(self, rows: Rows) -> tuple[Matrix, Matrix]:
        """A and b summed over the rows, without a ridge: linear in their weights."""
        A, b = zip(*(rows.sums(*update) for update in self.updates(rows)), strict=True)
        return functools.reduce(operator.add, A), functools.reduce(operator.add, b)

    def solve(self, equation: Equation) -> Solution:
        """The theta of an equation; an iterative estimator makes sure that it gets there."""
        what = f"the equation of {self.label}"
        return solve_in_row_space(equation.ops, equation.A, equation.b, what)

    def limit(self, problem: PolicyEvaluation) -> FixedPoint:
        """Where infinite data of the behaviour leads, exactly; also ``problem.fixed_point(estimator)``.

        Parameters
        ----------
        problem : PolicyEvaluation

        Returns
        -------
        FixedPoint

        Raises
        ------
        NotUniqueError, NoSolutionError
            Where A is singular; the error carries a null vector.
        MathematicalError
            Where an iterative estimator does not converge, or a trajectory stays in one of several
            closed classes.
        InputError
            For what is no problem.
        """
        if not isinstance(problem, PolicyEvaluation):
            raise InputError(
                f"{type(problem).__name__} is no PolicyEvaluation; the limit of {self.name} is that of "
                "a problem. For a log there is otd.replay(log, estimator)"
            )
        equation = self.equation(problem)
        solution = self.solve(equation)
        noise = functools.partial(efficiency, problem, self)
        return FixedPoint(equation.ops, self.label, None, solution, noise)

    def solve_sums(self, A: Matrix, b: Matrix, rows: Rows) -> Matrix:
        """The theta with A theta = b, where the sums over a log determine it.

        Raises
        ------
        NotUniqueError, NoSolutionError
            Where they do not; the error carries a null vector.
        """
        solution = A.general_solution(b, f"the equation of {self.label}")
        if solution.particular is None or solution.null_space.shape[1]:
            unsolved = solution.particular is None
            wanting = (
                "no theta solves A theta = b" if unsolved else "A theta = b has many solutions"
            )
            self.refuse(
                wanting,
                "A",
                solution.null_space,
                rows,
                NoSolutionError if unsolved else NotUniqueError,
            )
        return solution.particular  # type: ignore[no-any-return]

    def refuse(
        self,
        wanting: str,
        letter: str,
        null: Matrix,
        rows: Rows,
        kind: type[SingularError] = NotUniqueError,
    ) -> NoReturn:
        """The error of a log whose sums are singular, with the way out that a ridge is."""
        told = ""
        if null.shape[1]:
            vector = null.submatrix(range(null.shape[0]), [0]).public_list()
            shown = ", ".join(number_text(x) for x in vector[:8])
            told = f", since {letter} x = 0 for x = ({shown}{', ...' if len(vector) > 8 else ''})"
        silent = [i for i, column in enumerate(rows.phi.T.tolist()) if not any(column)]
        unseen = f"; feature {silent[0]} is 0 in all of them" if silent else ""
        precision = " to the precision of floats" if null.arithmetic.kind == "float" else ""
        raise kind(
            f"{len(rows)} rows do not determine the weights of {self.label}: {wanting}{precision}{told}"
            f"{unseen}. Replay more data, leave out features that depend on others, or let the first "
            f"weights count with a positive ridge, as in {type(self).__name__}(ridge='1/1000')",
            null.public() if null.shape[1] else None,
        )


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | bool) else number_text(parse_number(value))


def equation_of(problem: PolicyEvaluation, learner: Learner) -> Equation:
    """A and b of a learner's mean update, whose root a least-squares method finds at once.

    Raises
    ------
    MathematicalError
        For a trajectory in one of several closed classes, each with its own.
    InputError
        For a trace along a trajectory with weights xi that are not stationary.
    """
    if learner.has_memory and not is_stationary(problem.native):
        raise InputError(
            f"a trace like that of {learner.label} is carried along a trajectory, whose states are "
            "distributed as the behaviour's stationary distribution; the weights xi that were given are "
            "not stationary. Leave xi out, or take LSTD() with lam=0, which has no trace"
        )
    dynamics = mean_dynamics(problem, learner)
    if len(dynamics.classes) > 1:
        dynamics.limit()  # which says what to do
    found = dynamics.expectation
    return Equation(operators_for(problem, learner), found.A, found.b)
