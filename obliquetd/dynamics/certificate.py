"""Certificates of stability and of instability: rational matrices that anyone can check.

Both verdicts rest on one equation, Q'K + KQ + 2eK = S with S positive definite
(:mod:`obliquetd.dynamics.check` says why). It is solved in floats for S = I, and K is
rounded to small rationals; exact tests then decide whether the rounded K still does, and
if no rounding does, the equation is solved exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FieldMatrix, Matrix, serial_number
from obliquetd.dynamics.check import check_certificate
from obliquetd.errors import MathematicalError, SingularError

__all__ = ["make_certificate"]

DENOMINATORS = (10, 1000, 10**6, 10**9, 10**12)
RATES = tuple(Fraction(1, 4**k) for k in range(30))


def make_certificate(
    A: Matrix, kernel: Matrix, rows: Matrix, quotient: FieldMatrix, verdict: str
) -> dict[str, Any]:
    """A certificate for a decided verdict; see :mod:`obliquetd.dynamics.check` for its form.

    Raises
    ------
    MathematicalError
        For a marginal verdict without the eigenvalue 0, which has no certificate here.
    """
    if quotient.shape[0] == 0:
        raise MathematicalError("there is nothing to certify: all features are zero")
    base: dict[str, Any] = {
        "A": _text(A),
        "kernel": _text(kernel.T),
        "rows": _text(rows),
        "quotient": _text(quotient),
    }
    if verdict == "stable":
        for K in _lyapunov(quotient, Fraction(0)):
            found = {"claim": "stable", **base, "K": K}
            if check_certificate(found):
                return found
    if verdict == "unstable":
        for rate in (Fraction(0), *RATES):
            witness = _unstable(base, quotient, rate)
            if witness is not None:
                return witness
    null = quotient.null_space()
    if null.shape[1]:
        vector = [serial_number(v) for v in null.submatrix(range(null.shape[0]), [0]).public_list()]
        return {"claim": "singular", **base, "vector": vector}
    raise MathematicalError(
        f"no certificate was found for the verdict {verdict!r}: eigenvalues on or next to the "
        "imaginary axis"
    )


def _unstable(base: dict[str, Any], Q: FieldMatrix, rate: Fraction) -> dict[str, Any] | None:
    for K in _lyapunov(Q, rate):
        for vector in _falling(K):
            found = {"claim": "unstable", **base, "K": K, "rate": str(rate), "vector": vector}
            if check_certificate(found):
                return found
    return None


def _text(matrix: Matrix) -> list[list[str]]:
    return [[str(serial_number(matrix.arithmetic.public(v))) for v in row] for row in matrix.rows()]


def _floats(matrix: Matrix) -> npt.NDArray[Any]:
    return np.array([[float(matrix.arithmetic.public(v)) for v in row] for row in matrix.rows()])


def _lyapunov(Q: FieldMatrix, rate: Fraction) -> Iterator[list[list[str]]]:
    """Candidates K for Q'K + KQ + 2 rate K = I: rounded ones, the exact one last."""
    from scipy.linalg import solve_continuous_lyapunov

    A = _floats(Q) + float(rate) * np.eye(Q.shape[0])
    try:
        K = solve_continuous_lyapunov(A.T, np.eye(len(A)))
    except (np.linalg.LinAlgError, ValueError):
        K = np.full_like(A, np.nan)
    if np.isfinite(K).all():
        K = (K + K.T) / 2
        for denominator in DENOMINATORS:
            yield [
                [str(Fraction(float(v)).limit_denominator(denominator)) for v in row] for row in K
            ]
    if len(A) <= 8:
        exact = _exact_lyapunov(Q, rate)
        if exact is not None:
            yield exact


def _exact_lyapunov(Q: FieldMatrix, rate: Fraction) -> list[list[str]] | None:
    """The exact K, from the linear system for its upper triangle."""
    m, arithmetic = Q.shape[0], Q.arithmetic
    q = Q.rows()
    shift = arithmetic.domain(rate.numerator) / arithmetic.domain(rate.denominator)
    for i in range(m):
        q[i][i] = q[i][i] + shift
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    place = {pair: k for k, pair in enumerate(pairs)}
    system = [[arithmetic.zero] * len(pairs) for _ in pairs]
    for k, (i, j) in enumerate(pairs):  # (Q'K + KQ)_ij = sum_l q_li K_lj + K_il q_lj
        for t in range(m):
            for coefficient, a, b in ((q[t][i], t, j), (q[t][j], i, t)):
                column = place[min(a, b), max(a, b)]
                system[k][column] = system[k][column] + coefficient
    right = [[arithmetic.one if i == j else arithmetic.zero] for i, j in pairs]
    size = len(pairs)
    try:
        left = arithmetic.matrix(system, (size, size))
        solved = left.solve(arithmetic.matrix(right, (size, 1))).public_list()
    except SingularError:
        return None
    return [
        [str(serial_number(solved[place[min(i, j), max(i, j)]])) for j in range(m)]
        for i in range(m)
    ]


def _falling(K: list[list[str]]) -> Iterator[list[str]]:
    """Vectors v with v'Kv < 0, rounded from the eigenvector of the smallest eigenvalue."""
    numbers = np.array([[float(Fraction(v)) for v in row] for row in K])
    values, vectors = np.linalg.eigh(numbers)
    if values[0] >= 0:
        return
    v = vectors[:, 0] / np.abs(vectors[:, 0]).max()
    for denominator in DENOMINATORS:
        yield [str(Fraction(float(t)).limit_denominator(denominator)) for t in v]
