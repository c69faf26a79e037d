"""Where the expected update leads from x_0: to x_0 + u with u in the span U of all updates.

With u = B z for a basis B of U and A B = B Q, b = A (x_0 + u) reads Q z = (b - A x_0), both
sides in the coordinates of U.
"""

from __future__ import annotations

from typing import NoReturn

from obliquetd.algebra import Matrix, number_text
from obliquetd.dynamics.expectation import Expectation
from obliquetd.errors import NoSolutionError, NotUniqueError

__all__ = ["limit_of"]


def limit_of(dynamics: Expectation, x0: Matrix, what: str) -> Matrix:
    """The only x in x_0 + U whose theta solves b = A x.

    Floats are judged by what rounding may have done to them: a Q that is no further than that
    from a singular one counts as singular.

    Raises
    ------
    NotUniqueError
        Where A is singular on U and that leaves theta open; carries a null vector.
    NoSolutionError
        Where A is singular on U and b - A x_0 is outside its range.
    """
    update = dynamics.b - dynamics.A @ x0  # refused first where it is beyond the range of floats
    span = dynamics.span
    if span.dimension == 0:
        return x0
    right = span.coordinates(update)
    solution = dynamics.Q.general_solution(right, what)
    null = span.basis @ solution.null_space
    theta = range(dynamics.rule.d)
    moved = null.submatrix(theta, range(null.shape[1]))
    if solution.particular is None or not moved.is_zero():
        _refuse(what, null, solution.particular is None)
    x: Matrix = x0 + span.basis @ solution.particular
    x.report = solution.particular.report
    return x


def _refuse(what: str, null: Matrix, no_solution: bool) -> NoReturn:
    vector = null.submatrix(range(null.shape[0]), [0]).public_list() if null.shape[1] else []
    told = ", ".join(number_text(v) for v in vector[:8]) + (", ..." if len(vector) > 8 else "")
    singular = f"A is singular on the span of the updates{null.arithmetic.caveat}, A x = 0 for x = ({told})"
    if no_solution:
        raise NoSolutionError(
            f"{what} has no fixed point: {singular}, and b lies outside its range", null.public()
        )
    raise NotUniqueError(f"{what} has many fixed points: {singular}", null.public())
