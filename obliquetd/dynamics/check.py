"""Re-check a stability certificate with the standard library alone.

This file is meant to be read by a sceptic. It imports nothing but ``fractions`` and ``re``; every
number the verdict rests on is read from the certificate and re-derived here.

Let x' = b - A x. A certificate is a dict with

``"claim"``     ``"stable"``, ``"unstable"`` or ``"singular"``
``"A"``         a square matrix of fractions as text
``"kernel"``    k columns N (a list of k vectors) with A N = 0; the claim is modulo their span
``"rows"``      m = d - k rows R of rank m with R N = 0: coordinates of the quotient
``"quotient"``  the m by m matrix Q with R A = Q R: A on the quotient
``"K"``         a symmetric m by m matrix          (stable and unstable)
``"rate"``      a fraction e >= 0                  (unstable)
``"vector"``    a vector v of m entries            (unstable and singular)
``"about"``     remarks; not looked at

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
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

__all__ = ["check_certificate"]

Rows = list[list[Fraction]]


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
    >>> good = {"claim": "stable", "A": [["2"]], "kernel": [], "rows": [["1"]],
    ...         "quotient": [["2"]], "K": [["1/4"]]}
    >>> check_certificate(good), check_certificate({**good, "A": [["-2"]]})
    (True, False)
    """
    try:
        return _check(certificate)
    except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError):
        return False


def _check(certificate: dict[str, Any]) -> bool:
    A = _matrix(certificate["A"])
    d = len(A)
    if d == 0 or any(len(row) != d for row in A):
        return False
    N = _matrix(certificate["kernel"])
    R = _matrix(certificate["rows"])
    Q = _matrix(certificate["quotient"])
    m = d - len(N)
    if any(len(v) != d for v in N) or len(R) != m or any(len(row) != d for row in R):
        return False
    if len(Q) != m or any(len(row) != m for row in Q) or m == 0:
        return False
    if any(any(_dot(row, v) for row in A) for v in N):  # A N = 0
        return False
    if any(_dot(row, v) for row in R for v in N):  # R N = 0
        return False
    if _rank(R) != m or _rank(N) != len(N):
        return False
    if _product(R, A) != _product(Q, R):
        return False
    claim = certificate["claim"]
    if claim == "singular":
        v = [_fraction(x) for x in certificate["vector"]]
        return len(v) == m and any(v) and not any(_dot(row, v) for row in Q)
    K = _matrix(certificate["K"])
    if len(K) != m or any(len(row) != m for row in K) or _transpose(K) != K:
        return False
    KQ = _product(K, Q)
    S = [[KQ[i][j] + KQ[j][i] for j in range(m)] for i in range(m)]
    if claim == "stable":
        return _positive_definite(K) and _positive_definite(S)
    if claim == "unstable":
        rate = _fraction(certificate["rate"])
        v = [_fraction(x) for x in certificate["vector"]]
        shifted = [[S[i][j] + 2 * rate * K[i][j] for j in range(m)] for i in range(m)]
        falls = len(v) == m and _dot(v, [_dot(row, v) for row in K]) < 0
        return rate >= 0 and falls and _positive_definite(shifted)
    return False


_WRITTEN = re.compile(r"(-?[0-9]+)(?:/([0-9]+))?")
CHUNK = 4_000
LONGEST = 1_000_000
"""Characters of a number in a certificate."""


def _fraction(text: Any) -> Fraction:
    if not isinstance(text, str):
        raise TypeError("numbers are text")
    written = _WRITTEN.fullmatch(text)
    if not written or len(text) > LONGEST:
        raise ValueError(f"expected an integer or a fraction such as '-1/3', got {text[:40]!r}")
    above, below = written.groups()
    return Fraction(_integer(above), _integer(below or "1"))


def _integer(digits: str) -> int:
    """``int`` of any length; CPython's own stops at 4300 digits."""
    number = 0
    for start in range(0, len(digits.lstrip("-")), CHUNK):
        chunk = digits.lstrip("-")[start : start + CHUNK]
        number = number * 10 ** len(chunk) + int(chunk)
    return -number if digits.startswith("-") else number


def _matrix(rows: Any) -> Rows:
    if not isinstance(rows, list):
        raise TypeError("a matrix is a list of rows")
    return [[_fraction(x) for x in row] for row in rows]


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


def _rank(rows: Rows) -> int:
    rows = [row[:] for row in rows]
    rank = 0
    for j in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][j]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][j] / rows[rank][j]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank
