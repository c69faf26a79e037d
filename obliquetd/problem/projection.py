"""Oblique projections, and the fixed points that they have.

The oblique projection onto span(Phi) orthogonal to span(X) is

    Pi_Phi^X = Phi (X' Phi)^-1 X'                                 (Definition, Section II-B)

and the oblique projected Bellman equation v = Pi_Phi^X T_pi v has the solution
(Lemma 2, with X = Xi Y)

    A theta = b,   A = X' L_pi Phi,   b = X' r_pi.

Only span(X) matters. Where Phi lacks full column rank, theta is taken in the row
space of Phi, which fixes it without changing v_hat = Phi theta.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from obliquetd.algebra import Matrix, number_text, read_matrices
from obliquetd.errors import FeatureError, NoSolutionError, NotUniqueError, SingularError
from obliquetd.problem.native import Operators
from obliquetd.problem.resting import resting_remark

__all__ = [
    "BestApproximation",
    "Solution",
    "oblique_projection",
    "project_obliquely",
    "solve_in_row_space",
    "solve_projected",
]


def oblique_projection(Phi: Any, X: Any) -> Any:
    """The oblique projection Phi (X' Phi)^-1 X' onto span(Phi) orthogonal to span(X).

    Parameters
    ----------
    Phi : matrix (n, d)
        Its columns span the range. Lists, numpy, sympy; any kind of number.
    X : matrix (n, k)
        Its columns span the orthogonal complement of the null space. Neither matrix
        needs full column rank: only the two spans matter.

    Returns
    -------
    sympy.ImmutableDenseMatrix or numpy.ndarray, shape (n, n)

    Raises
    ------
    SingularError
        Where X' Phi has a smaller rank than Phi or X; carries a null vector.
    FeatureError
        Where the numbers of rows differ or a row is ragged.

    Notes
    -----
    Definition in Section II-B of Lyu et al. (2018), after Saad (2003).

    Examples
    --------
    >>> oblique_projection([1, 2], [0, 1])
    Matrix([
    [0, 1/2],
    [0,   1]])
    """
    return project_obliquely(*read_matrices(Phi=Phi, X=X)).public()


def project_obliquely(Phi: Matrix, X: Matrix) -> Matrix:
    """Pi_Phi^X in the package's own arithmetic; see :func:`obliquetd.oblique_projection`.

    Phi and X are replaced by bases of their spans, so neither needs full column rank.

    Raises
    ------
    FeatureError
        Where Phi and X have different numbers of rows.
    SingularError
        Where X' Phi has a smaller rank than Phi: some combination of features is
        orthogonal to span(X).
    """
    if Phi.shape[0] != X.shape[0]:
        raise FeatureError(
            f"Phi has {Phi.shape[0]} rows and X has {X.shape[0]}; both need one row a state"
        )
    onto, along = Phi.column_basis(), X.column_basis()
    if onto.shape[1] != along.shape[1]:
        null = (X.T @ Phi).null_space()
        raise SingularError(
            f"span(Phi) has dimension {onto.shape[1]} and span(X) has {along.shape[1]}; a "
            "projection needs them equal",
            null.public() if null.shape[1] else None,
        )
    return onto @ (along.T @ onto).solve(along.T, "X' Phi")


@dataclass(frozen=True, eq=False)
class Solution:
    """A solution of A theta = b, and what is free in it.

    Attributes
    ----------
    theta : Matrix (d, 1)
    free_states : tuple of int
        States whose value the equation leaves open, all of weight zero; theta is the
        solution of least Euclidean norm, which settles them.
    null_space : Matrix (d, k)
        Directions in which theta may move: within the row space of Phi those that the
        equation leaves open, and the kernel of Phi.
    """

    theta: Matrix
    free_states: tuple[int, ...]
    null_space: Matrix


def solve_in_row_space(ops: Operators, A: Matrix, b: Matrix, what: str) -> Solution:
    """Solve A theta = b for theta in the row space of Phi, of least norm where free.

    Raises
    ------
    NoSolutionError
        Where b is outside the range of A.
    NotUniqueError
        Where two solutions differ in value on a state of positive weight.
    """
    basis = ops.row_space
    system = A if basis is None else A @ basis
    solution = system.general_solution(b, what)
    null = solution.null_space if basis is None else basis @ solution.null_space
    if solution.particular is None:
        raise NoSolutionError(
            f"{what} has no solution: A is singular{ops.arithmetic.caveat}"
            + (f" (A theta = 0 for theta = {_told(null)})" if null.shape[1] else "")
            + " and b lies outside its range",
            null.public() if null.shape[1] else None,
        )
    theta = solution.particular if basis is None else basis @ solution.particular
    theta.report = solution.particular.report
    every = null if basis is None else _beside(null, ops.Phi.null_space())
    if not null.shape[1]:
        return Solution(theta, (), every)
    free = _free_states(ops, null, what)
    least = theta - null @ (null.T @ null).solve(null.T @ theta)
    least.report = theta.report
    return Solution(least, free, every)


def _beside(left: Matrix, right: Matrix) -> Matrix:
    """The columns of both."""
    rows = [[*a, *b] for a, b in zip(left.rows(), right.rows(), strict=True)]
    return left.arithmetic.matrix(rows, (left.shape[0], left.shape[1] + right.shape[1]))


def _free_states(ops: Operators, null: Matrix, what: str) -> tuple[int, ...]:
    moved = ops.Phi @ null
    unvisited = set(ops.unvisited)
    for j in range(null.shape[1]):
        states = _support_rows(moved.submatrix(range(ops.n), [j]))
        seen = [i for i in states if i not in unvisited]
        vector = null.submatrix(range(null.shape[0]), [j])
        if not states:  # the row space has no such direction: floats hide what it moves
            raise NotUniqueError(
                f"{what} is singular{ops.arithmetic.caveat}: A theta = 0 for theta = {_told(vector)}, and what "
                "that does to the values is below their rounding",
                vector.public(),
            )
        if not seen:
            continue
        names = ops.names(seen[:6])
        remark = resting_remark(ops)
        raise NotUniqueError(
            f"{what} has many solutions{ops.arithmetic.caveat}: A theta = 0 for theta = "
            f"{_told(vector)}, which changes the value of {names}{' and others' if len(seen) > 6 else ''}"
            f"{'. ' if remark else ''}{remark}",
            vector.public(),
        )
    return tuple(_support_rows(moved))


def _told(vectors: Matrix) -> str:
    """The first column for an error message."""
    column = vectors.submatrix(range(min(8, vectors.shape[0])), [0])
    more = ", ..." if vectors.shape[0] > 8 else ""
    return f"({', '.join(number_text(x) for x in column.public_list())}{more})"


def _support_rows(matrix: Matrix) -> list[int]:
    """Rows that are not zero, for all that is known."""
    return sorted(set(matrix.cleaned().support()[0].tolist()))


def solve_projected(ops: Operators, X: Matrix, what: str) -> Solution:
    """theta with X' L_pi Phi theta = X' r_pi (Lemma 2); only span(X) matters."""
    A, b = (X.cross(*right, balanced=True) for right in (ops.Lambda_factors, (ops.r_pi,)))
    return solve_in_row_space(ops, A, b, what)


class BestApproximation:
    """Pi v_pi: the Xi-weighted least-squares approximation (Lemma 1).

    The normal equations C theta = Phi' Xi v are solved in the row space of Phi. A
    weighting with zeros leaves the values of unvisited states open where no feature
    ties them to visited ones.
    """

    def __init__(self, ops: Operators) -> None:
        self.ops = ops

    def fit(self, v: Matrix) -> Solution:
        """The coefficients of Pi v, for one vector or for each column of a matrix."""
        X = self.ops.Phi.balanced().scale_rows(self.ops.xi)
        return solve_in_row_space(
            self.ops, X.cross(self.ops.Phi), X.cross(v), "the least-squares problem"
        )

    @cached_property
    def solution(self) -> Solution:
        """The coefficients of Pi v_pi."""
        return self.fit(self.ops.v_pi)

    @cached_property
    def matrix(self) -> Matrix:
        """Pi itself, shape (n, n): idempotent, Xi-symmetric, with range in span(Phi)."""
        return self.ops.Phi @ self.fit(self.ops.arithmetic.identity(self.ops.n)).theta
