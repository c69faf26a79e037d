"""The step size at which second moments cease to be stable, in floats, to the digits that are known.

T(alpha) of :mod:`obliquetd.dynamics.step_size` is quadratic in alpha, and T(0) = 1 on the matrices
xi(s) S, so that det(1 - T) has a root at 0 that hides small ones. It goes where one block of equations
of 1 - T is replaced by the sum of all, which alpha divides: there

    N(alpha) = N_0 + alpha N_1 + alpha^2 N_2,   N_0 regular where the mean dynamics is stable,

and 1/alpha is the largest positive eigenvalue of the pencil (Tisseur and Meerbergen 2001).

Where roots coincide, as those of a learner's two vectors do, eigenvalues in floats keep a half, a third
or a quarter of their digits, and where weights move slowly they may have none. So what was found has to be proved:
the radius of T is below one just before it, and not behind (:mod:`obliquetd.dynamics.radius`). How near to the root
that can be proved is how many digits it has, of which a warning tells where they are few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import public_number
from obliquetd.algebra.accuracy import warn_of_few_digits
from obliquetd.algebra.rounding import EPS, NEARLY_REAL, negligible
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.certified_step import first_root
from obliquetd.dynamics.pencil import Pencil, balanced
from obliquetd.dynamics.radius import Maps, proved_side
from obliquetd.errors import MathematicalError, SizeError

__all__ = ["LARGEST_EXACT", "float_limit", "proved_limit"]

LARGEST_EXACT: Way[int] = 30
"""Size of T up to which a limit is a root of a polynomial with rational coefficients."""
SMALL: Way[int] = 150
"""Size of T up to which all eigenvalues of its pencil are found at once, and beyond a chain of certificates."""
LARGEST = 4_000
"""Size of T up to which floats find its eigenvalues."""
WITHIN = (1e-9, 1e-7, 1e-5, 1e-3, 1e-2)
"""Distances from a root, relative to it, at which a proof is sought in turn."""
ENOUGH = 1e-7
"""A proof this near to a root leaves it the digits that users count on."""
TOO_SLOW = (
    "floats cannot confirm a step-size limit here: some weights move too slowly beside others. Use "
    "arithmetic='exact', or bring the features to one scale"
)
FRAMES = 6
"""From a warning up to who asked for the limit."""
Floats = npt.NDArray[np.float64]


def float_limit(pencils: list[Pencil], m: int, groups: int) -> float:
    """The smallest positive root of the pencil N; a warning tells where few digits of it are proved.

    Raises
    ------
    SizeError
        Where T is too large for eigenvalues.
    MathematicalError
        Where floats cannot confirm what they found.
    """
    limit, within = _found(pencils, m, groups)
    if within == math.inf:
        raise MathematicalError(TOO_SLOW)
    warn_of_few_digits("the step-size limit is nearly a multiple root", within, FRAMES)
    return limit


def proved_limit(pencils: list[Pencil], m: int, groups: int) -> float | None:
    """The same where enough digits of it are proved, else None."""
    limit, within = _found(pencils, m, groups)
    return limit if within <= ENOUGH else None


def _found(pencils: list[Pencil], m: int, groups: int) -> tuple[float, float]:
    """The root, in the unit of step size that G suggests, and how near to it a proof comes."""
    size = groups * (m * (m + 1) // 2)
    if size > LARGEST:
        raise SizeError(
            f"the second moments have {size} unknowns; eigenvalues of at most {LARGEST} are "
            "computed. Use fewer features, or sense='mean'"
        )
    T, unit, maps = _quadratic(pencils, m, groups)
    N = _without_zero(T, groups)
    certified = first_root(T, N, m) if size > SMALL else None
    root = _smallest_root(*N) if certified is None else certified
    return unit * root, 0.0 if root == math.inf else _confirmed(root, T, maps)


def _quadratic(pencils: list[Pencil], m: int, groups: int) -> tuple[list[Floats], float, Maps]:
    """T_0, T_1 and T_2 on the upper halves of symmetric matrices, in units of step size, and their maps."""
    i, j = np.triu_indices(m)
    k = len(i)
    G = np.array([[[float(public_number(v)) for v in row] for row in p.G] for p in pencils])
    G, unit, factors = balanced(G)
    chances = np.array([float(public_number(p.weight)) for p in pencils])
    errors = np.array([p.weight_error for p in pencils])
    maps = Maps(
        [p.s for p in pencils], [p.t for p in pencils], chances, G,
        errors, np.array([p.G_error * factors for p in pencils]),
    )  # fmt: skip
    weights = chances[:, None, None]
    into: Any = [p.t for p in pencils], slice(None), [p.s for p in pencils]
    T = [np.zeros((groups, k, groups, k)) for _ in range(3)]
    same = np.broadcast_to(np.eye(m), G.shape)
    np.add.at(T[0], into, weights * np.eye(k))
    np.add.at(T[1], into, weights * (_pairs(same, G, i, j) + _pairs(G, same, i, j)))
    np.add.at(T[2], into, weights * _pairs(G, G, i, j))
    return [part.reshape(groups * k, groups * k) for part in T], unit, maps


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
    """The smallest alpha > 0 with det(N_0 + alpha N_1 + alpha^2 N_2) = 0, infinite if none, nan for a singular N_0."""
    try:
        X = np.linalg.solve(N0, np.hstack([N1, N2]))
    except np.linalg.LinAlgError:
        return math.nan
    size = len(N0)
    companion = np.zeros((2 * size, 2 * size))
    companion[:size] = -X
    companion[size:, :size] = np.eye(size)
    mu = np.linalg.eigvals(companion)
    real = mu[(mu.real > 0) & (negligible(mu.imag, np.abs(mu), NEARLY_REAL))].real
    largest = float(real.max(initial=0.0))
    return 1.0 / largest if largest > EPS * float(np.abs(mu).max(initial=0.0)) else math.inf


def _confirmed(root: float, T: Sequence[Floats], maps: Maps) -> float:
    """The least of some distances from a root at which the radius of T is surely below and above one, or oo."""
    m = maps.G.shape[1]
    i, j = np.triu_indices(m)
    identity = np.tile((i == j).astype(float), len(T[0]) // len(i))

    def side(alpha: float) -> int:
        try:
            halves = np.linalg.solve(
                np.eye(len(T[0])) - T[0] - alpha * T[1] - alpha**2 * T[2], identity
            )
        except np.linalg.LinAlgError:
            return 0
        X = np.empty((len(T[0]) // len(i), m, m))
        X[:, i, j] = X[:, j, i] = halves.reshape(len(X), -1)
        return proved_side(maps, alpha, X)

    for within in WITHIN:
        if side((1 - within) * root) > 0 > side((1 + within) * root):
            return within
    return math.inf
