"""The oblique projection behind a fixed point, as an object: how far it can lead astray, and where.

v_hat = Q v with Q = Phi (Y'Phi)^-1 Y' and Y = L'X. It projects onto span Phi, along what is orthogonal
to Y. In the norm ||u||^2 = sum of xi u^2, with Pi the orthogonal projection and xi > 0,

||v_hat - v|| <= ||Q|| ||v - Pi v||                                     (Scherrer 2010),

because v_hat - v = (Q - I) w with w = v - Pi v, and Q w is orthogonal to w, so that
||v_hat - v||^2 = ||w||^2 + ||Q w||^2. It is attained: among w orthogonal to Phi, ||Q w|| / ||w|| is
largest for w = (I - Pi) Xi^-1 Y c, where c is the eigenvector of H S with its largest eigenvalue
||Q||^2 - 1, for H = (Phi'Y)^-1 Phi'Xi Phi (Y'Phi)^-1 and S = Y'Xi^-1 Y - Y'Phi (Phi'Xi Phi)^-1 Phi'Y.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import Matrix
from obliquetd.algebra.roots import real_roots
from obliquetd.errors import KindError, UndefinedError
from obliquetd.problem import metrics
from obliquetd.problem.evaluation import PolicyEvaluation
from obliquetd.problem.fixed_point import FixedPoint
from obliquetd.problem.projection import BestApproximation, project_obliquely
from obliquetd.problem.required import require_problem

__all__ = ["ProjectionAnalysis", "projection_analysis"]


class ProjectionAnalysis:
    """Q of a fixed point, made by :func:`projection_analysis`.

    Attributes
    ----------
    point : FixedPoint
    """

    def __init__(self, point: FixedPoint) -> None:
        self.point, self._ops = point, point.native
        if self._ops.unvisited:
            raise UndefinedError(
                f"the states {self._ops.names(self._ops.unvisited)[:8]} have weight zero, and the norm of "
                "errors does not see them; give positive weights with xi=",
                self._ops.names(self._ops.unvisited),
            )
        self._X = point._X

    @cached_property
    def _Y(self) -> Matrix:
        return self._ops.L_pi.T @ self._X

    @cached_property
    def Q(self) -> Any:
        """The projection with v_hat = Q v for every reward, (n, n)."""
        return project_obliquely(self._ops.Phi, self._Y).public()

    @cached_property
    def norm(self) -> Any:
        """||Q|| in the xi-norm: the most that the error can exceed the best one by. 1 where it is best.

        It is the square root of an algebraic number for exact problems; ``sympy.N`` gives its decimal.
        """
        return self.point.worst_case

    @cached_property
    def angles(self) -> list[Any]:
        """The principal angles between span X and span X*, in radians, largest first (Euclidean)."""
        return metrics.principal_angles(self._X, self._ops.X_star)

    @cached_property
    def weighted_angles(self) -> list[Any]:
        """The principal angles between span Xi^-1 Y and span Phi in the xi-norm, in radians.

        The cosine of the largest is 1/||Q||.
        """
        weights = self._ops.xi
        return metrics.principal_angles(
            self._Y.scale_rows(self._inverse_weights), self._ops.Phi, weights
        )

    @property
    def _inverse_weights(self) -> Matrix:
        one = self._ops.arithmetic.one
        return self._ops.arithmetic.column([one / w for w in self._ops.xi.entries()])

    @cached_property
    def best_error(self) -> Any:
        """||v - Pi v||, which no weights can fall below."""
        left = self._off(self._ops.v_pi)
        return self._ops.arithmetic.weighted_norm(self._ops.xi, left)

    @property
    def error(self) -> Any:
        """||v_hat - v||, exactly."""
        return self.point.rmse

    @cached_property
    def bound(self) -> Any:
        """||Q|| ||v - Pi v||, which the error does not exceed."""
        return self.norm * self.best_error

    @cached_property
    def worst_reward(self) -> Any:
        """An expected reward for each state, n of them, with which the bound is attained.

        Exact where ||Q||^2 is rational or a root of a quadratic; in floats otherwise. Zero where Q is
        the orthogonal projection, for which every reward attains it.

        Raises
        ------
        KindError
            Where the problem has symbols.
        """
        ops = self._ops
        if ops.arithmetic.kind == "symbolic":
            raise KindError("the worst reward needs numbers; substitute them with problem.subs")
        Phi, Y = ops.Phi.column_basis(), self._Y.column_basis()
        gram = Phi.T @ Phi.scale_rows(ops.xi)
        cross = Y.T @ Phi
        spread = Y.T @ Y.scale_rows(self._inverse_weights)
        S = spread - cross @ gram.solve(cross.T)
        H = cross.T.solve(gram) @ cross.solve(ops.arithmetic.identity(gram.shape[0]))
        raised = Y.scale_rows(self._inverse_weights)
        to_reward = (ops.L_pi @ self._off(raised)).public()
        c = _top_eigenvector((H @ S).public())
        if isinstance(to_reward, np.ndarray) or isinstance(c, np.ndarray):
            return np.asarray(to_reward, dtype=float) @ np.asarray(c, dtype=float).ravel()
        return (to_reward * c).applyfunc(sp.radsimp)

    def _off(self, v: Matrix) -> Matrix:
        """v - Pi v, column by column."""
        return v - self._ops.Phi @ BestApproximation(self._ops).fit(v).theta

    def __repr__(self) -> str:
        return f"ProjectionAnalysis({self.point.name!r}, {self._ops.n} states)"


def _top_eigenvector(M: Any) -> Any:
    """Of a matrix with real eigenvalues: sympy where the eigenvalue is simple to write, else floats."""
    if isinstance(M, np.ndarray):
        values, vectors = np.linalg.eig(M)
        return vectors[:, int(np.argmax(values.real))].real
    if M.rows == 1:
        return sp.Matrix([[1]])
    roots = real_roots(sp.Poly(M.charpoly().all_coeffs(), sp.Dummy("x")))
    largest = roots[-1]
    if largest.is_Rational or (M.rows == 2 and not isinstance(largest, sp.CRootOf)):
        null = (M - largest * sp.eye(M.rows)).nullspace(simplify=True)
        return null[0]
    return _top_eigenvector(np.array(M, dtype=float))


def projection_analysis(problem: PolicyEvaluation, method: Any) -> ProjectionAnalysis:
    """How far a fixed point can be from v_pi, whatever the rewards are, and how far it is.

    Parameters
    ----------
    problem : PolicyEvaluation
        With positive weights xi.
    method : name, X, Omega or fixed point
        All that ``problem.fixed_point`` takes and that has an X.

    Returns
    -------
    ProjectionAnalysis

    Raises
    ------
    UndefinedError
        Where a state has weight zero, and for the fixed point of a learner, which has no X.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> found = projection_analysis(two_state(reward=1), "td")
    >>> found.Q, found.norm
    (Matrix([
    [-5/2, 7/4],
    [  -5, 7/2]]), sqrt(745)/4)
    >>> float(found.error) <= float(found.bound)
    True
    """
    return ProjectionAnalysis(require_problem(problem).fixed_point(method))
