"""Linear equations for a symmetric matrix, in the package's own arithmetic."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from obliquetd.algebra import FloatMatrix, Matrix
from obliquetd.dynamics.scalars import bounded_matrix, rounded_entries, rounded_rows

__all__ = ["solve_lyapunov", "solve_stein"]

Terms = Iterable[tuple[Any, int, int]]
"""Coefficients of the entries (a, b) of the unknown."""


def solve_lyapunov(Q: Matrix, right: Matrix) -> Matrix:
    """The S with Q S + S Q' = right, for a symmetric right-hand side.

    Raises
    ------
    SingularError
        Where two eigenvalues of Q add up to 0.

    Examples
    --------
    >>> from obliquetd.algebra import EXACT
    >>> two = EXACT.identity(1).scaled(EXACT.one + EXACT.one)
    >>> solve_lyapunov(two, EXACT.identity(1)).public()
    Matrix([[1/4]])
    """
    if isinstance(Q, FloatMatrix):
        assert isinstance(right, FloatMatrix)
        if not (right.dense().any() or right.dense_error().any()):
            return right  # 0 for certain, of which no step below the range of floats makes a doubt
        to, back = _balancing(Q)
        balanced = _solve_lyapunov(to @ Q @ back, to @ right @ to)
        return back @ balanced @ back
    return _solve_lyapunov(Q, right)


def _balancing(Q: FloatMatrix) -> tuple[Matrix, Matrix]:
    """Powers of two D^-1 and D for which D^-1 Q D has rows and columns alike, so that no entry hides another."""
    from scipy.linalg import matrix_balance

    scale: Any = matrix_balance(Q.dense(), permute=False, separate=True)[1][0]
    return FloatMatrix(np.diag(1 / scale), error=0.0), FloatMatrix(np.diag(scale), error=0.0)


def _solve_lyapunov(Q: Matrix, right: Matrix) -> Matrix:
    q, m = rounded_rows(Q), Q.shape[0]

    def terms(i: int, j: int) -> Terms:  # sum over l of q_il S_lj + q_jl S_il
        for k in range(m):
            yield q[i][k], k, j
            yield q[j][k], i, k

    return _solve_symmetric(right, terms, "the Lyapunov equation")


def solve_stein(F: Matrix) -> Matrix:
    """The K with K - F'KF = I.

    Raises
    ------
    SingularError
        Where two eigenvalues of F have the product 1.

    Examples
    --------
    >>> from obliquetd.algebra import EXACT
    >>> solve_stein(EXACT.identity(1).scaled(EXACT.one / 2)).public()
    Matrix([[4/3]])
    """
    f, m, one = rounded_rows(F), F.shape[0], F.arithmetic.one

    def terms(i: int, j: int) -> Terms:  # K_ij - sum over a, b of f_ai K_ab f_bj
        yield one, i, j
        for a, b in itertools.product(range(m), repeat=2):
            yield -(f[a][i] * f[b][j]), a, b

    return _solve_symmetric(F.arithmetic.identity(m), terms, "the Stein equation")


def _solve_symmetric(right: Matrix, terms: Callable[[int, int], Terms], what: str) -> Matrix:
    """The symmetric S with sum of c S_ab over ``terms(i, j)`` = right_ij: a system for its upper triangle."""
    m, arithmetic = right.shape[0], right.arithmetic
    if not m:
        return right
    wanted = rounded_rows(right)
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    place = {pair: k for k, pair in enumerate(pairs)}
    system = [[arithmetic.zero] * len(pairs) for _ in pairs]
    for row, (i, j) in zip(system, pairs, strict=True):
        for coefficient, a, b in terms(i, j):
            column = place[min(a, b), max(a, b)]
            row[column] = row[column] + coefficient
    left = bounded_matrix(system, (len(pairs), len(pairs)), arithmetic)
    known = bounded_matrix([[wanted[i][j]] for i, j in pairs], (len(pairs), 1), arithmetic)
    units = left.row_units()
    found = rounded_entries(left.scale_rows(units).solve(known.scale_rows(units), what))
    return bounded_matrix(
        [[found[place[min(i, j), max(i, j)]] for j in range(m)] for i in range(m)],
        (m, m),
        arithmetic,
    )
