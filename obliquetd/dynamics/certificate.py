"""Certificates of stability and of instability: rational matrices that anyone can check.

Both verdicts rest on one equation, Q'K + KQ + 2eK = S with S positive definite
(:mod:`obliquetd.dynamics.check` says why). It is solved in floats for S = I, and K is
rounded to small rationals; exact tests then decide whether the rounded K still does, and
if no rounding does, the equation is solved exactly.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FieldMatrix, Matrix, serial_number
from obliquetd.algebra.enclosures import lyapunov_form
from obliquetd.dynamics.check import check_certificate, fraction
from obliquetd.dynamics.lyapunov import solve_lyapunov
from obliquetd.errors import MathematicalError, SingularError

__all__ = ["DENOMINATORS", "LARGEST_EXACT", "as_floats", "as_text", "make_certificate", "rounded"]

DENOMINATORS = (10, 1000, 10**6, 10**9, 10**12)
LARGEST_EXACT = 8
"""Size of Q up to which K is solved for exactly where no rounding will do."""
RATES = tuple(Fraction(1, 4**k) for k in range(30))


def make_certificate(A: Matrix, basis: Matrix, Q: FieldMatrix, verdict: str) -> dict[str, Any]:
    """A certificate for a decided verdict; see :mod:`obliquetd.dynamics.check` for its form.

    Parameters
    ----------
    A, basis, Q : Matrix
        With A B = B Q.
    verdict : str

    Raises
    ------
    MathematicalError
        Where nothing moves; for a marginal verdict without the eigenvalue 0, which has no
        certificate here; and where none was found.
    """
    if Q.shape[0] == 0:
        raise MathematicalError(
            "there is nothing to certify: no update moves any weight (all features are zero, or the "
            "transitions that have a chance say nothing of them)"
        )
    base: dict[str, Any] = {"A": as_text(A), "basis": as_text(basis), "quotient": as_text(Q)}
    size = _power_of_two(Q)
    scaled = Q.scaled(Q.arithmetic.one / size)  # K of Q / c serves Q, with rates times c
    if verdict == "stable":
        for K in _lyapunov(scaled, Fraction(0)):
            found = {"claim": "stable", **base, "K": K}
            falls, positive = _sides(scaled, K, Fraction(0))
            if -1 in (falls, positive):
                continue
            if falls == positive == 1 or check_certificate(found):
                return found
    if verdict == "unstable":
        for rate in (Fraction(0), *RATES):
            witness = _unstable(base, scaled, rate, size)
            if witness is not None:
                return witness
    null = Q.null_space()
    if null.shape[1]:
        vector = [serial_number(v) for v in null.submatrix(range(null.shape[0]), [0]).public_list()]
        return {"claim": "singular", **base, "vector": vector}
    if verdict == "marginal":
        raise MathematicalError(
            "a marginal verdict has a certificate where 0 is an eigenvalue; here eigenvalues other "
            "than 0 lie on the imaginary axis"
        )
    raise MathematicalError(
        f"the verdict {verdict!r} is exact, but no certificate was found for it: no matrix K with "
        f"denominators up to {DENOMINATORS[-1]:.0e} proves it"
        + (
            f", and K is solved for exactly up to size {LARGEST_EXACT}"
            if Q.shape[0] > LARGEST_EXACT
            else ""
        )
    )


def _power_of_two(Q: FieldMatrix) -> Any:
    """The size of the largest entry, as a power of two in the field of Q."""
    exponents = [
        abs(int(x.numerator)).bit_length() - int(x.denominator).bit_length()
        for row in Q.rows()
        for x in row
        if x
    ]
    one = Q.arithmetic.one
    exponent = max(exponents, default=0)
    return one * 2**exponent if exponent >= 0 else one / 2**-exponent


def _unstable(
    base: dict[str, Any], Q: FieldMatrix, rate: Fraction, size: Any
) -> dict[str, Any] | None:
    for K in _lyapunov(Q, rate):
        falls = _sides(Q, K, rate)[0]
        if falls == -1:
            continue
        for vector in _falling(K):
            told = serial_number(
                Q.arithmetic.public(size * Q.arithmetic.domain(rate.numerator) / rate.denominator)
            )
            found = {"claim": "unstable", **base, "K": K, "rate": told, "vector": vector}
            if (falls == 1 and _value(K, vector) < 0) or check_certificate(found):
                return found
    return None


def _sides(Q: FieldMatrix, K: list[list[str]], rate: Fraction) -> tuple[int | None, int | None]:
    """What balls say of Q'K + KQ + 2 rate K and of K: enough to pass over most, and a proof where both are 1.

    :func:`check_certificate`, which a reader can follow, takes a hundred times longer on large matrices.
    """
    return lyapunov_form(Q.rows(), [[fraction(x) for x in row] for row in K], rate)


def as_text(matrix: Matrix) -> list[list[str]]:
    """The entries as text, as certificates have them."""
    return [[str(serial_number(matrix.arithmetic.public(v))) for v in row] for row in matrix.rows()]


def as_floats(matrix: Matrix) -> npt.NDArray[Any]:
    """The entries of a matrix of rationals as floats, 0 or infinite beyond them."""
    return np.array(
        [[_ratio(int(v.numerator), int(v.denominator)) for v in row] for row in matrix.rows()]
    )


def _ratio(p: int, q: int) -> float:
    """p / q as a float: 0 or infinite where it is beyond them."""
    try:
        return p / q
    except OverflowError:
        return math.copysign(math.inf, p)


def _lyapunov(Q: FieldMatrix, rate: Fraction) -> Iterator[list[list[str]]]:
    """Candidates K for Q'K + KQ + 2 rate K = I: rounded ones, the exact one last."""
    from scipy.linalg import solve_continuous_lyapunov

    A = as_floats(Q) + float(rate) * np.eye(Q.shape[0])
    with warnings.catch_warnings():
        # "nearly singular" is no news to the user: K is a guess, and the exact check decides
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            K = solve_continuous_lyapunov(A.T, np.eye(len(A)))
        except (np.linalg.LinAlgError, ValueError):
            K = np.full_like(A, np.nan)
    yield from rounded(K)
    if len(A) <= LARGEST_EXACT:
        exact = _exact_lyapunov(Q, rate)
        if exact is not None:
            yield exact


def rounded(K: npt.NDArray[Any]) -> Iterator[list[list[str]]]:
    """A symmetric matrix of floats with ever larger denominators; nothing where it is not finite."""
    if np.isfinite(K).all():
        for denominator in DENOMINATORS:
            yield [
                [str(Fraction(float(v)).limit_denominator(denominator)) for v in row]
                for row in (K + K.T) / 2
            ]


def _exact_lyapunov(Q: FieldMatrix, rate: Fraction) -> list[list[str]] | None:
    """The exact K."""
    domain = Q.arithmetic.domain
    identity = Q.arithmetic.identity(Q.shape[0])
    shifted = Q + identity.scaled(domain(rate.numerator) / domain(rate.denominator))
    try:
        return as_text(solve_lyapunov(shifted.T, identity))
    except SingularError:
        return None


def _value(K: list[list[str]], vector: list[str]) -> Fraction:
    """v'Kv."""
    v = [fraction(x) for x in vector]
    terms = (
        a * fraction(k) * b
        for a, row in zip(v, K, strict=True)
        for k, b in zip(row, v, strict=True)
    )
    return sum(terms, Fraction(0))


def _falling(K: list[list[str]]) -> Iterator[list[str]]:
    """Vectors v with v'Kv < 0, rounded from the eigenvector of the smallest eigenvalue."""
    exact = [[fraction(v) for v in row] for row in K]
    size = max(abs(v) for row in exact for v in row)
    numbers = np.array([[_ratio(*(v / size).as_integer_ratio()) for v in row] for row in exact])
    values, vectors = np.linalg.eigh(numbers)
    if values[0] >= 0:
        return
    v = vectors[:, 0] / np.abs(vectors[:, 0]).max()
    for denominator in DENOMINATORS:
        yield [str(Fraction(float(t)).limit_denominator(denominator)) for t in v]
