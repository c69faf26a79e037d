"""Certificates of convergence: rational matrices K with K - F'KF positive definite (Stein)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from obliquetd.algebra import FieldMatrix, Matrix, serial_number
from obliquetd.dynamics.certificate import DENOMINATORS, LARGEST_EXACT
from obliquetd.dynamics.check import check_certificate
from obliquetd.errors import MathematicalError

__all__ = ["stein_certificate"]


def stein_certificate(F: FieldMatrix) -> dict[str, Any]:
    """A certificate that F^k tends to 0; see :mod:`obliquetd.dynamics.check` for its form.

    Raises
    ------
    MathematicalError
        Where none is found.

    Examples
    --------
    >>> from obliquetd.algebra import EXACT
    >>> half = EXACT.identity(1).scaled(EXACT.one / 2)
    >>> check_certificate(stein_certificate(half))
    True
    """
    identity = _text(F.arithmetic.identity(F.shape[0]))
    base = {"claim": "convergent", "A": _text(F), "basis": identity, "quotient": _text(F)}
    for K in _candidates(F):
        if check_certificate({**base, "K": K}):
            return {**base, "K": K}
    raise MathematicalError(
        "the iteration converges, but no certificate was found for it: no matrix K with denominators up "
        f"to {DENOMINATORS[-1]:.0e} proves it, and K is solved for exactly up to size {LARGEST_EXACT}"
    )


def _text(matrix: Matrix) -> list[list[str]]:
    return [[str(serial_number(matrix.arithmetic.public(v))) for v in row] for row in matrix.rows()]


def _candidates(F: FieldMatrix) -> Iterator[list[list[str]]]:
    """K with K - F'KF = I: rounded ones, the exact one last."""
    from scipy.linalg import solve_discrete_lyapunov

    m = F.shape[0]
    floats = np.array([[float(F.arithmetic.public(v)) for v in row] for row in F.rows()])
    try:
        K = solve_discrete_lyapunov(floats.T, np.eye(m))
    except (np.linalg.LinAlgError, ValueError):
        K = np.full((m, m), np.nan)
    if np.isfinite(K).all():
        for denominator in DENOMINATORS:
            yield [
                [str(Fraction(float(v)).limit_denominator(denominator)) for v in row]
                for row in (K + K.T) / 2
            ]
    if m <= LARGEST_EXACT:
        yield _text(solve_stein(F))


def solve_stein(F: Matrix) -> Matrix:
    """The K with K - F'KF = I: a system for its upper triangle."""
    m, arithmetic = F.shape[0], F.arithmetic
    f, identity = F.rows(), arithmetic.identity(m).rows()
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    place = {pair: k for k, pair in enumerate(pairs)}
    system = [[arithmetic.zero] * len(pairs) for _ in pairs]
    for k, (i, j) in enumerate(pairs):  # (F'KF)_ij = sum over a, b of f_ai K_ab f_bj
        system[k][k] = arithmetic.one
        for a in range(m):
            for b in range(m):
                column = place[min(a, b), max(a, b)]
                system[k][column] = system[k][column] - f[a][i] * f[b][j]
    left = arithmetic.matrix(system, (len(pairs), len(pairs)))
    right = arithmetic.column([identity[i][j] for i, j in pairs])
    found = left.solve(right, "the Stein equation").entries()
    return arithmetic.matrix(
        [[found[place[min(i, j), max(i, j)]] for j in range(m)] for i in range(m)], (m, m)
    )
