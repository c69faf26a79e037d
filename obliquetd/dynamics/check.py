"""Re-check a stability certificate with the standard library alone.

This file is meant to be read by a sceptic. It imports nothing but ``fractions``; every
number the verdict rests on is read from the certificate and re-derived here.

Let x' = b - A x. A certificate is a dict with

``"claim"``     ``"stable"``, ``"unstable"``, ``"singular"`` or ``"convergent"``
``"A"``         a square matrix of fractions as text
``"basis"``     d rows of r entries, the matrix B of rank r: the weights move in its span
``"quotient"``  the r by r matrix Q with A B = B Q: A on that span
``"K"``         a symmetric r by r matrix          (all but singular)
``"rate"``      a fraction e >= 0                  (unstable)
``"vector"``    a vector v of r entries            (unstable and singular)
``"format"``, ``"made_by"``, ``"model"``, ``"learner"``, ``"sampling"``, ``"iteration"``, ``"about"``
                where A comes from, and remarks; not looked at

What is checked, and why it suffices
------------------------------------
stable      K and S = Q'K + KQ are positive definite. Then V(x) = x'Kx falls along z' = -Qz
            (V' = -z'Sz < 0), so every solution tends to 0: all eigenvalues of Q are in the
            open right half plane (Lyapunov).
unstable    S = Q'K + KQ + 2eK is positive definite and v'Kv < 0. Along z' = -Qz,
            V' = -z'(Q'K + KQ)z < 2eV <= 0 while V < 0, so the solution from v has V <= V(v)
            e^(2et) and never tends to 0: V stays below V(v) < 0 (Chetaev).
            In both cases K is fixed by the numbers given; nothing is solved for.
singular    Q v = 0 and v is not 0: 0 is an eigenvalue, so Q is not stable.
convergent  Here x_{t+1} = A x_t. K and K - Q'KQ are positive definite, so V(z) = z'Kz falls along
            z_{t+1} = Q z_t, and every solution tends to 0: all eigenvalues of Q are inside the unit
            circle (Stein).

The claim is one about A on the span of B. Whose matrix A is, and whether all weights move in that span,
no certificate can say: ``otd.check_certificate(certificate, problem, learner)`` recomputes both.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

__all__ = ["check_certificate", "fraction", "matrix"]

Rows = list[list[Fraction]]

LONGEST = 1_000_000
"""Characters of one number."""


def check_certificate(certificate: Any) -> bool:
    """Whether a certificate proves its claim.

    Parameters
    ----------
    certificate : dict
        As ``MeanDynamics.certificate`` returns it, or read from JSON.

    Returns
    -------
    bool
        True, or False; a malformed certificate proves nothing and is False.

    Examples
    --------
    >>> good = {"claim": "stable", "A": [["2"]], "basis": [["1"]], "quotient": [["2"]], "K": [["1/4"]]}
    >>> check_certificate(good), check_certificate({**good, "A": [["-2"]]})
    (True, False)
    """
    try:
        return _check(certificate)
    except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError):
        return False


def _check(certificate: dict[str, Any]) -> bool:
    A = matrix(certificate["A"])
    d = len(A)
    if any(len(row) != d for row in A):
        return False
    B = matrix(certificate["basis"])
    Q = matrix(certificate["quotient"])
    m = len(Q)
    if m == 0 or any(len(row) != m for row in Q):
        return False
    if len(B) != d or any(len(row) != m for row in B) or not _independent(B, m):
        return False
    if _product(A, B) != _product(B, Q):
        return False
    claim = certificate["claim"]
    if claim == "singular":
        v = [fraction(x) for x in certificate["vector"]]
        return len(v) == m and any(v) and not any(_dot(row, v) for row in Q)
    K = matrix(certificate["K"])
    if len(K) != m or any(len(row) != m for row in K) or _transpose(K) != K:
        return False
    if claim == "convergent":
        after = _product(_transpose(Q), _product(K, Q))
        fall = [[K[i][j] - after[i][j] for j in range(m)] for i in range(m)]
        return _positive_definite(K) and _positive_definite(fall)
    KQ = _product(K, Q)
    S = [[KQ[i][j] + KQ[j][i] for j in range(m)] for i in range(m)]
    if claim == "stable":
        return _positive_definite(K) and _positive_definite(S)
    if claim == "unstable":
        rate = fraction(certificate["rate"])
        v = [fraction(x) for x in certificate["vector"]]
        shifted = [[S[i][j] + 2 * rate * K[i][j] for j in range(m)] for i in range(m)]
        falls = len(v) == m and _dot(v, [_dot(row, v) for row in K]) < 0
        return rate >= 0 and falls and _positive_definite(shifted)
    return False


def fraction(text: Any) -> Fraction:
    """An integer or p/q in decimal digits; no exponent, by which short text names a huge number."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise TypeError("numbers are text, of bounded length")
    above, slash, below = text.partition("/")
    sign = -1 if above.startswith("-") else 1
    return Fraction(sign * _digits(above.removeprefix("-")), _digits(below) if slash else 1)


def _digits(text: str) -> int:
    """A number of any length; ``int`` alone refuses more than 4300 digits."""
    if not (text.isascii() and text.isdigit()):
        raise ValueError("expected decimal digits")
    value = 0
    for k in range(0, len(text), 4000):
        chunk = text[k : k + 4000]
        value = value * 10 ** len(chunk) + int(chunk)
    return value


def matrix(rows: Any) -> Rows:
    """A list of rows of text as fractions; TypeError or ValueError for anything else."""
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise TypeError("a matrix is a list of rows")
    return [[fraction(x) for x in row] for row in rows]


def _dot(u: list[Fraction], v: list[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(u, v, strict=True)), Fraction(0))


def _transpose(A: Rows) -> Rows:
    return [list(column) for column in zip(*A, strict=True)]


def _product(A: Rows, B: Rows) -> Rows:
    columns = _transpose(B)
    return [[_dot(row, column) for column in columns] for row in A]


def _positive_definite(S: Rows) -> bool:
    """Gaussian elimination without pivoting: every pivot of a symmetric S is positive."""
    S = [row[:] for row in S]
    for k, row in enumerate(S):
        if row[k] <= 0:
            return False
        for other in S[k + 1 :]:
            factor = other[k] / row[k]
            for j in range(k, len(S)):
                other[j] -= factor * row[j]
    return True


def _independent(rows: Rows, m: int) -> bool:
    """Gaussian elimination: whether each of the m columns has a pivot of its own."""
    rows = [row[:] for row in rows]
    for j in range(m):
        pivot = next((i for i in range(j, len(rows)) if rows[i][j]), None)
        if pivot is None:
            return False
        rows[j], rows[pivot] = rows[pivot], rows[j]
        for i in range(j + 1, len(rows)):
            factor = rows[i][j] / rows[j][j]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[j], strict=True)]
    return True
