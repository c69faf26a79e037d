"""Proofs about the eigenvalues of a matrix in ball arithmetic: each number is known to lie in its ball.

A ball of FLINT's Arb (Johansson 2017) holds its number whatever was rounded on the way, so what
is said of a matrix of balls holds of every matrix in them. None is returned where they leave it open.

With a symmetric K and S = A'K + KA positive definite, A has as many eigenvalues with positive (negative)
real part as K has positive (negative) ones, and none on the axis (Ostrowski and Schneider 1962): one K
that serves all of a matrix of balls decides for all of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import flint
import numpy as np
import numpy.typing as npt

from obliquetd.algebra.float_proofs import by_lyapunov, proved_by
from obliquetd.algebra.rounding import EPS
from obliquetd.algebra.ways import Way

__all__ = [
    "PRECISION",
    "balls",
    "form_side",
    "form_sign",
    "lyapunov_form",
    "lyapunov_side",
    "rational",
    "side_of_axis",
    "side_of_spectrum",
    "side_within",
]

Balls = list[list[Any]]
LARGEST_IN_BALLS: Way[int] = 40
"""Size up to which balls judge a matrix of floats; beyond, floats with bounds on their rounding do."""
PRECISION = 128
"""Bits; four times as many are tried before the answer is that balls leave it open."""


def balls(values: npt.NDArray[Any], radii: npt.NDArray[Any]) -> Balls:
    """A matrix of floats, each known to within a radius.

    Examples
    --------
    >>> balls(np.eye(1), np.full((1, 1), 0.5))[0][0].contains(1.5)
    True
    """
    return [
        [flint.arb(v, r) for v, r in zip(*rows, strict=True)]
        for rows in zip(values.tolist(), radii.tolist(), strict=True)
    ]


def side_of_axis(rows: Sequence[Sequence[Any]]) -> Way[int | None]:
    """1 where all eigenvalues of a rational matrix are right of the imaginary axis, -1 where one is left.

    Examples
    --------
    >>> one = flint.fmpq(1)
    >>> side_of_axis([[one, -one], [one, one]]), side_of_axis([[0 * one, one], [one, 0 * one]])
    (1, -1)
    >>> side_of_axis([[0 * one, one], [-one, 0 * one]])  # +-i: no ball excludes the axis
    """
    return _with_more_bits(side_of_spectrum, rows)


def form_side(rows: Sequence[Sequence[Any]]) -> Way[int | None]:
    """:func:`form_sign` of a symmetric matrix of rationals."""
    return _with_more_bits(form_sign, rows)


def lyapunov_form(
    rows: Sequence[Sequence[Any]], K: Sequence[Sequence[Any]], rate: Any
) -> tuple[int | None, int | None]:
    """:func:`form_side` of S = Q'K + KQ + 2 rate K, and of the symmetric K; all of rationals.

    Examples
    --------
    >>> one = flint.fmpq(1)
    >>> lyapunov_form([[one]], [[one / 2]], 0), lyapunov_form([[-one]], [[one / 2]], 0)
    ((1, 1), (-1, 1))
    """
    k = flint.fmpq_mat([[rational(x) for x in row] for row in K])
    half = k * flint.fmpq_mat([[rational(x) for x in row] for row in rows])
    S = half + half.transpose() + k * (2 * rational(rate))
    return form_side(S.tolist()), form_side(k.tolist())


def _with_more_bits(
    decide: Callable[[Balls], int | None], rows: Sequence[Sequence[Any]]
) -> int | None:
    for bits in (PRECISION, 4 * PRECISION):
        with flint.ctx.workprec(bits):
            found = decide([[flint.arb(rational(x)) for x in row] for row in rows])
        if found is not None:
            return found
    return None


def side_of_spectrum(matrix: Balls) -> int | None:
    """:func:`side_of_axis` for a matrix of balls, from an enclosure of each eigenvalue."""
    values = eigenvalues(matrix)
    if any(v.real < 0 for v in values):
        return -1
    return 1 if values and all(v.real > 0 for v in values) else None


def eigenvalues(matrix: Balls) -> list[Any]:
    """Balls that hold the eigenvalues, each as often as it counts; none where they are not found."""
    size = len(matrix)
    complex_balls = flint.acb_mat(size, size, [flint.acb(x) for row in matrix for x in row])
    try:
        return list(complex_balls.eig(multiple=True))
    except (ValueError, ZeroDivisionError):
        return []


def lyapunov_side(*matrices: Balls) -> int | None:
    """:func:`side_of_axis` for matrices of balls and all between them, from one K that serves all.

    S = A'K + KA is linear in A, so that where it is positive definite for two matrices it is so between them.

    Examples
    --------
    >>> near = np.full((2, 2), 0.1)
    >>> [lyapunov_side(balls(np.diag(v), near)) for v in ([1.0, 2.0], [1.0, -2.0], [1.0, 0.05])]
    [1, -1, None]
    """
    middle = np.mean([[[float(x.mid()) for x in row] for row in A] for A in matrices], axis=0)
    if not np.isfinite(middle).all():
        return None
    return _first_proof(middle, lambda K: _side_by(K, matrices))


def side_within(A: npt.NDArray[Any], radius: npt.NDArray[Any]) -> int | None:
    """:func:`side_of_axis` for all matrices within a radius of one of floats, entry by entry.

    Examples
    --------
    >>> [side_within(np.array([[v]]), np.array([[0.5]])) for v in (1.0, -1.0, 0.25)]
    [1, -1, None]
    """
    if not (np.isfinite(A).all() and np.isfinite(radius).all()):
        return None
    found = _within(A, radius)
    if found is None:  # some eigenvalues may be on either side while others are left for sure
        for shift in _gaps(np.linalg.eigvals(A).real):
            moved = radius + EPS * (np.abs(np.diag(np.diag(A))) + shift * np.eye(len(A)))
            if _within(A + shift * np.eye(len(A)), moved) == -1:
                return -1
    return found


def _gaps(real_parts: npt.NDArray[Any]) -> list[float]:
    """Shifts that take the axis into the middle of the widest gaps between negative real parts."""
    left = np.sort(-real_parts[real_parts < 0])
    ends = np.concatenate([[0.0], left])
    widest = np.argsort(-np.diff(ends), kind="stable")[:2]
    return [float((ends[k] + ends[k + 1]) / 2) for k in widest]


def _within(A: npt.NDArray[Any], radius: npt.NDArray[Any]) -> int | None:
    if len(A) > LARGEST_IN_BALLS:
        return _first_proof(A, lambda K: proved_by(K[None], [(A[None], radius[None])])[0])
    with flint.ctx.workprec(PRECISION):
        matrix = balls(A, radius)
        found = lyapunov_side(matrix)
        return side_of_spectrum(matrix) if found is None else found


def _first_proof(
    A: npt.NDArray[Any], proves: Callable[[npt.NDArray[Any]], int | None]
) -> int | None:
    for guess in (_by_eigenvectors, by_lyapunov):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # nearly singular: K is a guess
            try:
                K = guess(A)
            except (np.linalg.LinAlgError, ValueError):
                continue
            side = proves(K) if np.isfinite(K).all() else None
        if side is not None:
            return side
    return None


def _side_by(K: npt.NDArray[Any], matrices: Sequence[Balls]) -> int | None:
    exact = [[flint.arb(v) for v in row] for row in K.tolist()]
    for A in matrices:
        KA = (flint.arb_mat(exact) * flint.arb_mat(A)).tolist()
        S = [
            [x + y for x, y in zip(*rows, strict=True)]
            for rows in zip(KA, zip(*KA, strict=True), strict=True)
        ]
        if form_sign(S) != 1:
            return None
    return form_sign(exact)


def _by_eigenvectors(A: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """K = W* D W with the rows of W the left eigenvectors, D the signs of the eigenvalues' real parts.

    In these coordinates A'K + KA is diagonal with 2 |Re lambda|: small eigenvalues are not hidden by large ones.
    """
    values, right = np.linalg.eig(A)
    left = np.linalg.inv(right)
    K = ((left.conj().T * np.sign(values.real)) @ left).real
    return np.asarray((K + K.T) / 2)


def form_sign(S: Balls) -> int | None:
    """1 where a symmetric matrix of balls is positive definite, -1 where it has a negative eigenvalue.

    By elimination: the first pivot that is not positive is the ratio of two leading minors, of which
    the first is positive.

    Examples
    --------
    >>> [form_sign([[flint.arb(v)]]) for v in (2, -1, 0)]
    [1, -1, None]
    """
    rest = [list(row) for row in S]
    size = len(rest)
    for k, row in enumerate(rest):
        pivot = row[k]
        if not pivot > 0:
            return -1 if pivot < 0 else None
        for i in range(k + 1, size):
            factor = row[i] / pivot
            other = rest[i]
            for j in range(i, size):
                other[j] -= factor * row[j]
    return 1


def rational(x: Any) -> Any:
    """A native rational as FLINT has it."""
    return x if isinstance(x, flint.fmpq) else flint.fmpq(int(x.numerator), int(x.denominator))
