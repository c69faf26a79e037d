"""How good an approximation is: errors, distances, angles, worst cases.

All use the target policy's operator T v = r_pi + P_gamma v, whatever the behaviour.
Norms are public: an exact one is the root of a rational (of 41/2: sqrt(82)/2), and a float
one never squares a number that could overflow.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import FloatMatrix, Matrix, exact_root, is_long
from obliquetd.algebra.factoring import factored
from obliquetd.algebra.roots import real_roots
from obliquetd.algebra.ways import Way
from obliquetd.errors import KindError, SignUndecidedError, SingularError
from obliquetd.problem.native import Operators
from obliquetd.problem.projection import BestApproximation
from obliquetd.problem.requests import read_values
from obliquetd.problem.spans import float_angle
from obliquetd.problem.sums import Moves, discounted_sum
from obliquetd.problem.td_errors import accurate_td_errors, settled_variance

__all__ = [
    "ValueMetrics",
    "bellman_residual",
    "criterion",
    "expected_update",
    "extreme_eigenvalue",
    "mean_squared_td_error",
    "return_variance",
    "root_mean_squared_bellman_error",
    "root_mean_squared_error",
    "root_mean_squared_projected_bellman_error",
    "spread_of_projection",
    "subspace_angle",
    "weighted_norm",
]

NEARLY_PARALLEL: Way[float] = 1e-6
"""The square of a sine from which on a cosine keeps most of its digits."""


def weighted_norm(ops: Operators, u: Matrix) -> Any:
    """||u||_Xi, the root of the sum of xi(s) u(s)^2, public."""
    return ops.arithmetic.weighted_norm(ops.xi, u)


def bellman_residual(ops: Operators, v: Matrix) -> Matrix:
    """T v - v = r_pi - L_pi v."""
    return ops.r_pi - ops.L_pi @ v


def root_mean_squared_error(ops: Operators, v: Matrix) -> Any:
    """||v - v_pi||_Xi."""
    return weighted_norm(ops, v - ops.v_pi)


def root_mean_squared_bellman_error(ops: Operators, v: Matrix) -> Any:
    """||T v - v||_Xi."""
    return weighted_norm(ops, bellman_residual(ops, v))


def root_mean_squared_projected_bellman_error(ops: Operators, v: Matrix) -> Any:
    """||Pi (T v - v)||_Xi, whose square is g' C^+ g with g = Phi' Xi (T v - v) (Sutton et al. 2009).

    For v in span(Phi), where Pi v = v, this is the paper's RMSPBE.
    """
    theta = BestApproximation(ops).fit(bellman_residual(ops, v)).theta
    return weighted_norm(ops, ops.Phi @ theta)


def expected_update(ops: Operators, v: Matrix) -> Any:
    """||Phi' Xi (T v - v)||, the norm of the expected TD update."""
    return ops.arithmetic.frobenius_norm(ops.Xi_Phi.cross(bellman_residual(ops, v)))


def td_errors(ops: Operators, v: Matrix) -> tuple[Any, Any]:
    """r + g v(s') - v(s) of each row of the table, in units of the second answer."""
    value = np.array(v.entries(), dtype=ops.reward.dtype if len(ops.reward) else object)
    delta = ops.reward + ops.row_discount * value[ops.next_state] - value[ops.state]
    unit = ops.arithmetic.magnitude(ops.arithmetic.column(delta.tolist()))
    return delta / unit, unit


def mean_squared_td_error(ops: Operators, v: Matrix) -> Any:
    """sum over s, a, s' of xi(s) pi(a|s) p (r + g v(s') - v(s))^2."""
    delta, unit = td_errors(ops, v)
    mean = (ops.xi.T @ ops.by_state(ops.pi * ops.probability * delta * delta)).item()
    return mean * ops.arithmetic.squared(unit)


def return_variance(ops: Operators) -> Matrix:
    """The variance of the return from each state (Sobel 1982).

    With delta = r + g v(s') - v(s) of each outcome, whose mean is 0 in every state,

    Var(s) = sum of pi p (delta^2 + g^2 Var(s')).

    It is M - v^2 for the second moment M, without the difference of two squares that
    loses every digit of it near discount 1.
    """
    weight = ops.pi * ops.probability
    kernel = ops.square(weight * ops.row_discount * ops.row_discount)
    d = ops.row_discount
    leak = ops.by_state(weight, -(d - ops.arithmetic.one), d + ops.arithmetic.one)
    moves = Moves(kernel, leak)

    def total(squares: Any) -> Matrix:
        source = ops.by_state(weight * squares)
        return discounted_sum(
            ops, moves, source, "the second-moment system", "the variance of the return"
        )

    if ops.arithmetic.kind == "float":
        delta, error, unit = accurate_td_errors(ops)
        variance = total(delta * delta)
        bound = total((2 * np.abs(delta) + error) * error)
        variance = settled_variance(variance, bound, ops.exactly(return_variance))
    else:
        delta, unit = td_errors(ops, ops.v_pi)
        variance = total(delta * delta)
    return variance.scaled(ops.arithmetic.squared(unit))


def criterion(ops: Operators, X: Matrix) -> Any:
    """||Lambda' X - C||_F^2, the paper's computable criterion with X = Xi Omega Phi."""
    gap = ops.Lambda.T @ X - ops.C
    unit = ops.arithmetic.magnitude(gap)
    return gap.scaled(ops.arithmetic.one / unit).frobenius_squared() * ops.arithmetic.squared(unit)


def subspace_angle(X: Matrix, Y: Matrix) -> Any:
    """The largest principal angle between span(X) and span(Y), public, in radians.

    sin(angle) = ||P_X - P_Y||_2; spans of different dimensions are at pi/2. In one
    dimension cos^2 = (x . y)^2 / (|x|^2 |y|^2). In general cos^2 is the smallest
    eigenvalue of (X'X)^-1 X'Y (Y'Y)^-1 Y'X, an algebraic number for exact input.

    Raises
    ------
    SignUndecidedError
        For symbolic spans of dimension above two: which eigenvalue is smallest
        depends on the symbols.
    """
    if isinstance(X, FloatMatrix) and isinstance(Y, FloatMatrix):
        return float_angle(X, Y)
    X, Y = X.column_basis(), Y.column_basis()
    if X.shape[1] != Y.shape[1]:
        return sp.pi / 2
    if X.shape[1] == 0:
        return sp.Integer(0)
    cross = X.T @ Y
    squared = (X.T @ X).solve(cross) @ (Y.T @ Y).solve(cross.T)
    if squared.shape[0] == 1 and squared.arithmetic.kind == "symbolic":
        return sp.acos(squared.arithmetic.sqrt(squared.item()))
    return _angle_of(extreme_eigenvalue(squared, smallest=True))


def principal_angles(X: Matrix, Y: Matrix, weights: Matrix | None = None) -> list[Any]:
    """All principal angles between span(X) and span(Y), public, in radians, largest first.

    cos^2 are the eigenvalues of (X'WX)^-1 X'WY (Y'WY)^-1 Y'WX, with W = I unless weights are given.
    There are as many as the smaller of the two dimensions.

    Raises
    ------
    KindError
        For symbols, where there is more than one.
    """
    X, Y = sorted((M.column_basis() for M in (X, Y)), key=lambda M: M.shape[1])
    if not X.shape[1]:
        return []
    if isinstance(X, FloatMatrix) and isinstance(Y, FloatMatrix):
        from scipy.linalg import subspace_angles

        root = np.ones((1, 1))
        if weights is not None:
            root = np.sqrt(np.array(weights.entries()))[:, None]
        return [float(a) for a in subspace_angles(root * X.dense(), root * Y.dense())]
    scaled = [M if weights is None else M.scale_rows(weights) for M in (X, Y)]
    cross = scaled[0].T @ Y
    squared = (scaled[0].T @ X).solve(cross) @ (scaled[1].T @ Y).solve(cross.T)
    coefficients = [X.arithmetic.public(c) for c in squared.charpoly()]
    if len(coefficients) == 2:
        return [_angle_of(factored(-coefficients[1]))]
    if any(c.free_symbols for c in coefficients):
        raise KindError("several principal angles need numbers; substitute them with problem.subs")
    return [_angle_of(root) for root in real_roots(sp.Poly(coefficients, sp.Dummy("x")))]


def _angle_of(squared: sp.Expr) -> sp.Expr:
    """The angle of which this is cos^2.

    Near 0 an angle is told from 1 - cos^2: digits of the cosine that are cut off are digits of
    the angle. ``sympy.acos`` and ``asin`` look for tabulated values by factoring, which long
    numbers are spared.
    """
    opposite = 1 - squared
    if not squared.free_symbols and 0 < sp.N(opposite) < NEARLY_PARALLEL:
        return sp.asin(exact_root(opposite), evaluate=not is_long(opposite))
    return sp.acos(exact_root(squared), evaluate=not is_long(squared))


def extreme_eigenvalue(M: Matrix, *, smallest: bool) -> Any:
    """The smallest or largest eigenvalue of a matrix whose eigenvalues are all real, public.

    An algebraic number for exact input.

    Raises
    ------
    SignUndecidedError
        Where that depends on symbols.
    """
    native = M.charpoly()
    degree = len(native) - 1
    public = M.arithmetic.public
    if degree == 1:
        return public(-native[1])
    if degree == 2:  # by native numbers, which are some times faster than sympy's expressions
        half, one = -native[1] / 2, M.arithmetic.one
        square = M.arithmetic.matrix([[half, native[2]], [one, half]], (2, 2)).det()
        root = exact_root(public(square))  # of half^2 - det: FLINT's, also for functions
        return public(half) - root if smallest else public(half) + root
    coefficients = [public(c) for c in native]
    if any(c.free_symbols for c in coefficients):
        raise SignUndecidedError(
            f"which of {degree} eigenvalues is the extreme one depends on the symbols; "
            "substitute numbers with problem.subs"
        )
    roots = real_roots(sp.Poly(coefficients, sp.Dummy("x")))
    return roots[0] if smallest else roots[-1]


def spread_of_projection(ops: Operators, X: Matrix) -> Any:
    """sup over rewards of ||v_hat - v||_Xi / ||Pi v - v||_Xi, public.

    v_hat = Q v with Q = Pi_Phi^{L'X}, and the supremum is the operator norm ||Q||_Xi
    (Scherrer 2010): with Z = L'X, it squares to the largest eigenvalue of
    (Phi' Xi Phi) (Z'Phi)^-1 (Z' Xi^-1 Z) (Phi'Z)^-1. It is infinite where a state of
    weight zero influences v_hat, and 1 where span(Phi) is everything.
    """
    Z, Phi = (ops.L_pi.T @ X.balanced()).cleaned(), ops.Phi
    numeric = ops.arithmetic.kind == "float"
    if set(Z.support()[0].tolist()) & set(ops.unvisited):
        return math.inf if numeric else sp.oo
    seen = sorted(set(range(ops.n)) - set(ops.unvisited))
    Z, Phi = (M.submatrix(seen, range(M.shape[1])).column_basis() for M in (Z, Phi))
    if Phi.shape[1] == 0:
        return 1.0 if numeric else sp.Integer(1)
    weights = [ops.xi.entries()[i] for i in seen]
    gram = Phi.T @ Phi.scale_rows(ops.arithmetic.column(weights))
    inverse_weights = ops.arithmetic.column([ops.arithmetic.one / w for w in weights])
    spread = Z.T @ Z.scale_rows(inverse_weights)
    cross = Z.T @ Phi
    if cross.shape[0] != cross.shape[1]:
        raise SingularError("span(L' X) and span(Phi) have different dimensions")
    M = cross.T.solve(gram, "Phi' L' X") @ cross.solve(spread, "X' L Phi")
    if numeric:
        M.settled("the operator of the worst case")
        largest = float(np.linalg.eigvals(np.asarray(M.public())).real.max())
        return math.sqrt(max(1.0, largest))  # no projection has a smaller norm
    if M.shape[0] == 1:
        return M.arithmetic.sqrt(M.item())
    return exact_root(extreme_eigenvalue(M, smallest=False))


class ValueMetrics:
    """The errors of any value function, public numbers; abstract: a problem has the operators."""

    native: Operators

    def rmse(self, v: Any) -> Any:
        """||v - v_pi||_Xi, for any vector v of n values."""
        return root_mean_squared_error(self.native, read_values(self.native, v))

    def rmsbe(self, v: Any) -> Any:
        """||T v - v||_Xi."""
        return root_mean_squared_bellman_error(self.native, read_values(self.native, v))

    def rmspbe(self, v: Any) -> Any:
        """||Pi (T v - v)||_Xi."""
        values = read_values(self.native, v)
        return root_mean_squared_projected_bellman_error(self.native, values)

    def mstde(self, v: Any) -> Any:
        """The mean squared TD error (not its root)."""
        squared = mean_squared_td_error(self.native, read_values(self.native, v))
        return self.native.arithmetic.public(squared)

    def neu(self, v: Any) -> Any:
        """||Phi' Xi (T v - v)||, the norm of the expected update."""
        return expected_update(self.native, read_values(self.native, v))

    def weighted_norm(self, u: Any) -> Any:
        """||u||_Xi, for any vector of n values."""
        return weighted_norm(self.native, read_values(self.native, u))
