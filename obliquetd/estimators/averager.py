"""The averager: fitted value iteration that cannot diverge (Gordon 1995).

Features that are nonnegative and sum to at most 1 in every state average: Phi theta is nowhere
above the largest |theta_j|. Fit each theta_j by an average too, of the targets of the data,

    theta_j <- sum_t phi_j(s_t) rho_t (r_t + g_t phi_{t+1}'theta) / sum_t phi_j(s_t) rho_t,

and v <- M T v with M = Phi D of nonnegative rows that sum to at most 1: M is no expansion in the
largest norm, on any data, on- or off-policy (Gordon 1995), and M T contracts like T. In
the limit D = diag(Phi' xi)^-1 Phi' Xi and

    (diag(Phi' xi) - Phi' Xi P_gamma Phi) theta = Phi' Xi r_pi:

TD's equation with C replaced by the diagonal matrix of its row sums. For state aggregation, where each
row of Phi is a unit vector, the two are the same; for soft aggregation see Singh, Jaakkola and
Jordan (1995). A ridge gives theta_0 a weight in each average: Gordon's constants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from obliquetd.algebra import Arithmetic, number_text
from obliquetd.errors import FeatureError, KindError, NotUniqueError
from obliquetd.estimators.base import Equation, Estimator, Fitted, Vector
from obliquetd.estimators.rows import Errors, Rows
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.projection import Solution

__all__ = ["Averager"]

ROUNDING = 1e-12
"""How far above 1 rounding may bring the sum of a state's float features."""


@final
@dataclass(frozen=True)
class Averager(Estimator):
    """Gordon's averager, with the features as its weights.

    Parameters
    ----------
    ridge : number

    Examples
    --------
    Off-policy TD diverges on the two-state example, and fitted averages do not:

    >>> from obliquetd.domains import two_state
    >>> problem = two_state(reward=1).replace(features=[["1/2"], [1]])
    >>> problem.fixed_point(Averager()), Averager().contraction(problem)
    (FixedPoint('Averager', theta = (10)), 9/10)
    """

    key, name = "averager", "Averager"
    source = "Gordon 1995"
    solves = (
        "the fixed point of v = M T v, M an average of states; always there with a discount below 1"
    )

    def equation(self, problem: PolicyEvaluation) -> Equation:
        ops = problem.native
        _check_features(ops.Phi.rows(), ops.arithmetic, [f"state {s!r}" for s in ops.labels])
        mass = ops.Phi.T @ ops.xi
        ahead = ops.C - ops.Xi_Phi.T @ ops.Lambda
        diagonal = ops.arithmetic.identity(mass.shape[0]).scale_rows(mass)
        return Equation(ops, diagonal - ahead, ops.Xi_Phi.T @ ops.r_pi)

    def solve(self, equation: Equation) -> Solution:
        """The theta of the equation, in all of R^d even where features depend on each other.

        A feature that no visited state has stays at theta_0 = 0, which leaves states of weight zero open.
        """
        A, ops = equation.A, equation.ops
        found = A.general_solution(equation.b, f"the equation of {self.label}")
        null = found.null_space
        if not null.shape[1]:
            return Solution(found.particular, (), null)
        open_states = sorted(set((ops.Phi @ null).cleaned().support()[0].tolist()))
        seen = ops.names([s for s in open_states if s not in set(ops.unvisited)])
        if seen or found.particular is None:
            raise NotUniqueError(
                f"{self.label} has no one fixed point: the values of {seen[:6] or 'some states'} stay open, "
                "since nothing discounts them, or they lead to states that the data never visit. Use a "
                "discount below 1, or leave out xi",
                null.public(),
            )
        theta = found.particular - null @ (null.T @ null).solve(null.T @ found.particular)
        theta.report = found.particular.report
        return Solution(theta, tuple(open_states), null)

    def contraction(self, problem: PolicyEvaluation) -> Any:
        """By how much a sweep brings any two theta together at least, in the largest norm.

        It is the largest row sum of D P_gamma Phi, never above the discount.

        Raises
        ------
        KindError
            Where the problem has symbols.
        """
        ops = problem.native
        if ops.arithmetic.kind == "symbolic":
            raise KindError(
                "the largest of several row sums depends on the symbols; substitute numbers with "
                "problem.subs"
            )
        self.equation(problem)
        ones = ops.arithmetic.column([ops.arithmetic.one] * ops.Phi.shape[1])
        ahead = (ops.C - ops.Xi_Phi.T @ ops.Lambda) @ ones
        mass = (ops.Phi.T @ ops.xi).entries()
        ratios = [x / m for x, m in zip(ahead.entries(), mass, strict=True) if m]
        return ops.arithmetic.public(max(ratios, default=ops.arithmetic.zero))

    def updates(self, rows: Rows) -> list[tuple[Any, Errors]]:
        ahead = rows.phi_next * -rows.discount[:, None]
        return [(rows.phi, Errors(rows.rho, rows.reward, ahead, own=True))]

    def fit(self, rows: Rows, theta0: Vector) -> Fitted:
        for name, table in (("phi", rows.phi), ("phi_next", rows.phi_next)):
            places = [f"{name}[{t}]" for t in range(len(rows))]
            _check_features(table.tolist(), rows.arithmetic, places)
        ridge, (A, b) = rows.arithmetic.scalar(self.read("ridge")), self.sums(rows)
        A, b = A + rows.matrix(rows.identity(ridge)), b + rows.matrix(theta0 * ridge)
        return Fitted(self.solve_sums(A, b, rows), A, b)


def _check_features(rows: list[list[Any]], arithmetic: Arithmetic, places: list[str]) -> None:
    """FeatureError for a row that is no average: with a negative entry, or a sum above 1."""
    slack = ROUNDING if arithmetic.kind == "float" else 0
    for row, place in zip(rows, places, strict=True):
        total = sum(row, arithmetic.zero)
        if (
            any(arithmetic.sign(x) < 0 for x in row)
            or arithmetic.sign(arithmetic.one + slack - total) < 0
        ):
            told = ", ".join(number_text(arithmetic.public(x)) for x in row[:8])
            raise FeatureError(
                f"the features of {place} are ({told}); an averager needs features of 0 or more whose sum "
                "is at most 1 in every state. Divide all features by one number, or use LSTD()"
            )
