"""The step size at which second moments cease to be stable, in floats, to the digits that are known.

T(alpha) of :mod:`obliquetd.dynamics.step_size` is quadratic in alpha, and T(0) = 1 on the matrices
xi(s) S, so that det(1 - T) has a root at 0 that hides small ones. It goes where one block of equations
of 1 - T is replaced by the sum of all, which alpha divides: there

    N(alpha) = N_0 + alpha N_1 + alpha^2 N_2,   N_0 regular where the mean dynamics is stable,

and 1/alpha is the largest positive eigenvalue of the pencil (Tisseur and Meerbergen 2001).

Where roots coincide, as those of a learner's two vectors do, eigenvalues in floats keep a half, a third
or a quarter of their digits. So what was found is asked for: the radius of T is below one just before it,
and above one just behind. Where that holds only far away, the floats are taken as the rationals that they
are, and N's determinant is a polynomial with a certain root; where N is too large for that, a warning says
how many digits are left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import parse_number, public_number
from obliquetd.algebra.accuracy import warn_of_few_digits
from obliquetd.algebra.polynomials import determinant_polynomial
from obliquetd.algebra.roots import first_positive_root
from obliquetd.algebra.rounding import EPS, NEARLY_REAL, negligible
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.certified_step import first_root
from obliquetd.dynamics.pencil import Pencil, balanced
from obliquetd.errors import MathematicalError, SizeError

__all__ = ["LARGEST_EXACT", "float_limit"]

LARGEST_EXACT: Way[int] = 30
"""Size of T up to which a limit is a root of a polynomial with rational coefficients."""
SMALL: Way[int] = 150
"""Size of T up to which all eigenvalues of its pencil are found at once, and beyond a chain of certificates."""
LARGEST = 4_000
"""Size of T up to which floats find its eigenvalues."""
WITHIN = (1e-9, 1e-7, 1e-5, 1e-3, 1e-2)
"""Distances from a root, relative to it, at which the radius of T is asked for in turn."""
TOO_SLOW = (
    "floats cannot confirm a step-size limit here: some weights move too slowly beside others. Use "
    "arithmetic='exact', or bring the features to one scale"
)
FRAMES = 5
"""From a warning up to who asked for the limit."""
Floats = npt.NDArray[np.float64]


def float_limit(pencils: list[Pencil], m: int, groups: int) -> float:
    """The smallest positive root of the pencil N, in the unit of step size that G suggests.

    Raises
    ------
    SizeError
        Where T is too large for eigenvalues.
    MathematicalError
        Where floats cannot confirm what they found.
    """
    size = groups * (m * (m + 1) // 2)
    if size > LARGEST:
        raise SizeError(
            f"the second moments have {size} unknowns; eigenvalues of at most {LARGEST} are "
            "computed. Use fewer features, or sense='mean'"
        )
    T, unit = _quadratic(pencils, m, groups)
    N = _without_zero(T, groups)
    certified = first_root(T, N, m) if size > SMALL else None
    if certified is not None:
        return unit * certified
    root = _smallest_root(*N)
    if math.isfinite(root):
        within = _confirmed(root, T)
        if within > WITHIN[0] and size <= LARGEST_EXACT:
            root = _rational_root(T, groups)
        else:
            warn_of_few_digits("the step-size limit is nearly a multiple root", within, FRAMES)
    return unit * root


def _quadratic(pencils: list[Pencil], m: int, groups: int) -> tuple[list[Floats], float]:
    """T_0, T_1 and T_2 on the upper halves of symmetric matrices, in units of step size."""
    i, j = np.triu_indices(m)
    k = len(i)
    G = np.array([[[float(public_number(v)) for v in row] for row in p.G] for p in pencils])
    G, unit = balanced(G)
    weights = np.array([float(public_number(p.weight)) for p in pencils])[:, None, None]
    into: Any = [p.t for p in pencils], slice(None), [p.s for p in pencils]
    T = [np.zeros((groups, k, groups, k)) for _ in range(3)]
    same = np.broadcast_to(np.eye(m), G.shape)
    np.add.at(T[0], into, weights * np.eye(k))
    np.add.at(T[1], into, weights * (_pairs(same, G, i, j) + _pairs(G, same, i, j)))
    np.add.at(T[2], into, weights * _pairs(G, G, i, j))
    return [part.reshape(groups * k, groups * k) for part in T], unit


def _pairs(M: Floats, N: Floats, i: Any, j: Any) -> Floats:
    """S -> M S N' on symmetric S, half of it, of many: with (N, M) it gives the symmetric sum."""
    ii, jj = (slice(None), *np.ix_(i, i)), (slice(None), *np.ix_(j, j))
    ij, ji = (slice(None), *np.ix_(i, j)), (slice(None), *np.ix_(j, i))
    straight, crossed = M[ii] * N[jj], M[ij] * N[ji]
    return np.asarray(straight + np.where(i != j, crossed, 0.0))


def _without_zero(T: Sequence[Any], groups: int) -> list[Any]:
    """N_0, N_1 and N_2: of 1 - T, with the last block of equations replaced by the sum of all over alpha."""
    k = len(T[0]) // groups
    sums = [part.reshape(groups, k, -1).sum(axis=0) for part in T]
    one = np.eye(len(T[0]), dtype=T[0].dtype)
    N = [one - T[0], -T[1], -T[2]]
    N[0][-k:], N[1][-k:], N[2][-k:] = -sums[1], -sums[2], 0 * sums[2]
    return N


def _smallest_root(N0: Floats, N1: Floats, N2: Floats) -> float:
    """The smallest alpha > 0 with det(N_0 + alpha N_1 + alpha^2 N_2) = 0, infinite if none."""
    try:
        X = np.linalg.solve(N0, np.hstack([N1, N2]))
    except np.linalg.LinAlgError:
        raise MathematicalError(TOO_SLOW) from None
    size = len(N0)
    companion = np.zeros((2 * size, 2 * size))
    companion[:size] = -X
    companion[size:, :size] = np.eye(size)
    mu = np.linalg.eigvals(companion)
    real = mu[(mu.real > 0) & (negligible(mu.imag, np.abs(mu), NEARLY_REAL))].real
    largest = float(real.max(initial=0.0))
    return 1.0 / largest if largest > EPS * float(np.abs(mu).max(initial=0.0)) else math.inf


def _confirmed(root: float, T: Sequence[Floats]) -> float:
    """The least of some distances from a root at which the radius of T is surely below and above one.

    Slow weights leave eigenvalues that are as good as one at every step size. They are known by
    their number at half of the root, and before the root there must be no more of them.
    """
    noise = 1e3 * len(T[0]) * EPS

    def moduli(alpha: float) -> tuple[Floats, Floats]:
        return _moduli(T[0] + alpha * T[1] + alpha * alpha * T[2])

    def unsure(alpha: float) -> int:
        found, error = moduli(alpha)
        return int((found + error >= 1.0).sum())

    slow = unsure(root / 2)
    for within in WITHIN[:-1]:
        found, error = moduli((1 + within) * root)
        if (found - error > 1.0).any() and unsure((1 - within) * root) <= slow:
            return within
    within = WITHIN[-1]
    below, above = (moduli((1 + s * within) * root)[0].max() for s in (-1, 1))
    if below > 1.0 + noise or above < 1.0 - noise:
        raise MathematicalError(TOO_SLOW)
    return within


def _moduli(A: Floats) -> tuple[Floats, Floats]:
    """The moduli of the eigenvalues, and how much of each rounding may be.

    The eigenvalues found are those of a matrix some 10 n eps |A| away. That moves a simple one, with left
    and right vectors y and x of length 1, by no more than so much over |y'x| in the first order (Golub
    and Van Loan 2013, section 7.2.2), which grows without bound where eigenvalues meet.
    """
    import scipy.linalg

    even: Any = scipy.linalg.matrix_balance(A)[0]
    found: Any = scipy.linalg.eig(even, left=True, right=True)
    values, left, right = found
    alike = np.abs((left.conj() * right).sum(axis=0))
    moved = 10 * len(A) * EPS * float(np.linalg.norm(even))
    return np.abs(values), moved / np.maximum(alike, EPS)


def _rational_root(T: Sequence[Floats], groups: int) -> float:
    """The smallest positive root of det N, where T's floats are taken as the rationals that they are."""
    exactly = np.vectorize(lambda v: parse_number(Fraction(float(v))), otypes=[object])
    N = _without_zero([exactly(part) for part in T], groups)
    polynomial = determinant_polynomial(
        lambda alpha: (N[0] + alpha * N[1] + alpha * alpha * N[2]).tolist(), 2 * len(T[0])
    )
    return float(first_positive_root(polynomial))
