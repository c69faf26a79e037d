"""Linear equations for a symmetric matrix, in the package's own arithmetic."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from obliquetd.algebra import Matrix

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
    q, m = Q.rows(), Q.shape[0]

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
    f, m, one = F.rows(), F.shape[0], F.arithmetic.one

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
    wanted = right.rows()
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    place = {pair: k for k, pair in enumerate(pairs)}
    system = [[arithmetic.zero] * len(pairs) for _ in pairs]
    for row, (i, j) in zip(system, pairs, strict=True):
        for coefficient, a, b in terms(i, j):
            column = place[min(a, b), max(a, b)]
            row[column] = row[column] + coefficient
    left = arithmetic.matrix(system, (len(pairs), len(pairs)))
    found = left.solve(arithmetic.column([wanted[i][j] for i, j in pairs]), what).entries()
    return arithmetic.matrix(
        [[found[place[min(i, j), max(i, j)]] for j in range(m)] for i in range(m)], (m, m)
    )
