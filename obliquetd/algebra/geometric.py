"""Sums of the powers of a chain's moves, accurate however rarely the chain is left."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.accuracy import SolveReport, finite
from obliquetd.algebra.float_digits import ENTRYWISE
from obliquetd.algebra.floating import FloatMatrix
from obliquetd.algebra.matrix import Matrix
from obliquetd.algebra.rounding import EPS
from obliquetd.algebra.watched import watched
from obliquetd.errors import SingularError

__all__ = ["geometric_sum"]

Floats = npt.NDArray[Any]


def geometric_sum(
    kernel: Matrix, leak: Matrix, right: Matrix, what: str, *, transposed: bool = False
) -> Matrix:
    """The sum over k of kernel^k right, the X with (I - kernel) X = right.

    Parameters
    ----------
    kernel : Matrix (n, n)
        Entries of 0 and more.
    leak : Matrix (n, 1)
        What the rows of the kernel miss of one. Floats have it from elsewhere: 1 - (1 - 1e-15) is known to one
        digit, and 1e-15 to all.
    right : Matrix (n, k)
    what : str
        What an error calls I - kernel.
    transposed : bool
        The sum of powers of the transposed kernel instead.

    Raises
    ------
    SingularError
        Where a class of states is never left.

    Notes
    -----
    Floats are eliminated as Grassmann, Taksar and Heyman (1985) do: in place of 1 - kernel(k, k) stands the sum of the
    leak and of the moves elsewhere, so that nothing is subtracted. Every entry of (I - kernel)^-1 then keeps its digits,
    and changes by 2 n delta at most, relatively, where entries and leaks do by delta (O'Cinneide 1993); of roundings, which
    are nearly independent, the square root of n counts, as everywhere (:mod:`obliquetd.algebra.rounding`). Systems of
    more than :data:`~obliquetd.algebra.float_digits.ENTRYWISE` rows are solved as any other.
    """
    n = kernel.shape[0]
    if isinstance(kernel, FloatMatrix) and 0 < n <= ENTRYWISE:
        assert isinstance(leak, FloatMatrix)
        assert isinstance(right, FloatMatrix)
        return _by_elimination(kernel, leak, right, what, transposed)
    system = kernel.arithmetic.identity(n) - kernel
    return (system.T if transposed else system).solve(right, what)


def _by_elimination(
    kernel: FloatMatrix, leak: FloatMatrix, right: FloatMatrix, what: str, transposed: bool
) -> FloatMatrix:
    n, k = kernel.shape[0], right.shape[1]
    moves, out = finite(kernel.dense()), finite(leak.dense())
    chain = np.zeros((n + 1, n + 1))  # state 0 is outside, where the leak leads
    chain[1:, 1:], chain[1:, :1] = moves, out
    with np.errstate(all="ignore"):
        found, leaving = watched(chain)
    if not (leaving[1:] > 0).all():
        raise SingularError(
            f"{what} is singular{kernel.arithmetic.caveat}: a class of states is never left, or with a chance below "
            "the range of floats (1e-308)",
            None,
        )
    factors = np.eye(n) - np.triu(found[1:, 1:], 1)
    rest = np.diag(leaving[1:]) - np.tril(found[1:, 1:], -1)
    b, error = finite(right.dense()), right.dense_error()
    with np.errstate(all="ignore"):
        both = _solved(factors, rest, np.hstack([b, np.abs(b), error]), transposed)
        x, size, spread = both[:, :k], both[:, k : 2 * k], both[:, 2 * k :]
        delta = _relative(kernel) + _relative(leak) + EPS
        bound = (2 * math.sqrt(n) * delta + (8 + 4 * math.sqrt(n)) * EPS) * size + spread
        largest = np.abs(x).max(initial=0.0)
        gap = np.abs(x - (moves.T if transposed else moves) @ x - b).max(initial=0.0)
        scale = 2 * largest + np.abs(b).max(initial=0.0)
        condition = bound.max(initial=0.0) / (EPS * largest) if largest else 1.0
    report = SolveReport(float(gap / scale) if scale else 0.0, max(1.0, float(condition)))
    return FloatMatrix(finite(x), report, bound)


def _solved(factors: Floats, rest: Floats, right: Floats, transposed: bool) -> Floats:
    """By the two triangles that the elimination leaves, or by those turned round."""
    from scipy.linalg import solve_triangular

    def solve(triangle: Floats, b: Floats, lower: bool) -> Floats:
        found = solve_triangular(
            triangle, b, lower=lower, trans="T" if transposed else "N", check_finite=False
        )
        return np.asarray(found)

    if transposed:
        return solve(factors, solve(rest, right, True), False)
    return solve(rest, solve(factors, right, False), True)


def _relative(matrix: FloatMatrix) -> float:
    """The largest relative error of its entries."""
    if matrix.relative is not None:
        return matrix.relative
    x, error = np.abs(matrix.dense()), matrix.dense_error()
    there = error > 0
    return float((error[there] / x[there]).max(initial=0.0))
