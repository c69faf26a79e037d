"""How large a constant step size may be for the mean of the weights to stay bounded.

With independent transitions E[z] is mapped by 1 - alpha Q, whose eigenvalues are inside the unit circle
exactly for alpha < 2 Re(lambda) / |lambda|^2 for every eigenvalue lambda of Q. Along a trajectory the means
m_s = E[z 1{s}] are mapped by M(alpha) = C + alpha S, all in one vector; the first alpha at which an
eigenvalue reaches the circle is a root of det(1 + M) or det(1 - M), or a pair reaches it in between.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from obliquetd.algebra import EXACT, FieldMatrix, public_number
from obliquetd.algebra.polynomials import (
    Factor,
    characteristic_factors,
    determinant_polynomial,
    nearest_root,
)
from obliquetd.algebra.rounding import EIGENVALUE, NEARLY_REAL, negligible
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.jumps import Jump, linear_system
from obliquetd.dynamics.pencil import Pencil, balanced, exact_limit
from obliquetd.errors import MathematicalError, SizeError

__all__ = ["limit_in_the_mean", "limit_of_update"]

Floats = npt.NDArray[Any]
LARGEST_EXACT: Way[int] = 7
"""Size of M up to which all crossings are roots of one exact polynomial."""
LARGEST_PAIRS: Way[int] = 6
"""Degree of a factor up to which a crossing of a complex pair is an exact root."""
LARGEST_DEGREE: Way[int] = 12
"""Degree of a factor up to which a crossing of a real eigenvalue is an exact root."""
LARGEST = 2_000
WORK = 10_000
"""Points at which a trajectory's M is looked at on the way to the limit, times its size."""
SLOWEST = 1e-5


def limit_in_the_mean(pencils: list[Pencil], exact: bool) -> Any:
    """The largest alpha up to which E[z] stays bounded; exact where that is in reach."""
    m = len(pencils[0].G)
    groups = 1 + max(p.s for p in pencils)
    if groups == 1:
        if exact:
            return limit_of_update(_drift(pencils, m), exact=True)
        G, unit, _ = balanced(_floats(pencils))
        weights = np.array([float(public_number(p.weight)) for p in pencils])
        values = np.linalg.eigvals(-np.einsum("k,kij->ij", weights, G))
        return unit * float((2 * values.real / np.abs(values) ** 2).min())
    if exact and groups * m <= LARGEST_EXACT:
        size = groups * m
        return exact_limit(
            [(0, 0, EXACT.one, lambda a: _joint(pencils, m, groups, a).rows())], size, 1
        )
    return _along_a_trajectory(pencils, m, groups, exact)


def limit_of_update(Q: list[list[Any]], exact: bool) -> Any:
    """The largest alpha with all eigenvalues of 1 - alpha Q inside the unit circle, of a stable Q.

    Parameters
    ----------
    Q : rows of native numbers
    exact : bool
        Whether they are rationals.
    """
    if exact:
        return _exact_independent(Q)
    values = np.linalg.eigvals(np.array([[float(public_number(x)) for x in row] for row in Q]))
    return float((2 * values.real / np.abs(values) ** 2).min())


def _floats(pencils: list[Pencil]) -> Floats:
    return np.array([[[float(public_number(v)) for v in row] for row in p.G] for p in pencils])


def _drift(pencils: list[Pencil], m: int) -> list[list[Any]]:
    """Q = -(sum of w G)."""
    Q = [[EXACT.zero] * m for _ in range(m)]
    for p in pencils:
        for i, row in enumerate(p.G):
            for j, g in enumerate(row):
                if g:
                    Q[i][j] = Q[i][j] - p.weight * g
    return Q


def _joint(pencils: list[Pencil], m: int, groups: int, alpha: Any) -> FieldMatrix:
    """M(alpha), from all m_s to all m_t."""
    jumps = [Jump(p.s, p.t, p.weight, p.at(alpha)) for p in pencils]
    size = groups * m
    system = linear_system(EXACT, jumps, groups, m)[0]
    return EXACT.identity(size) - EXACT.matrix(system, (size, size))


def _exact_independent(Q: list[list[Any]]) -> Any:
    """The least 2 Re(lambda) / |lambda|^2 = 1/lambda + 1/conjugate(lambda), as an exact number.

    A float where that is a root of a polynomial of a high degree.
    """
    best: tuple[float, Factor, bool] | None = None
    for candidate in characteristic_factors(Q):
        for a, b in candidate.roots:
            value = float((2 * a / (a * a + b * b)).mid())
            if best is None or value < best[0]:
                best = value, candidate, b == 0
    assert best is not None
    value, factor, real = best
    y, t = sp.Dummy("y"), sp.Dummy("t")
    descending, n = factor.coefficients, factor.degree
    if n == 1:
        return -2 * descending[0] / descending[1]
    if n == 2 and not real:
        return -descending[1] / descending[2]
    if n > (LARGEST_DEGREE if real else LARGEST_PAIRS):
        return value
    inverse = sp.Poly(descending[::-1], y).as_expr()
    if real:
        return 2 * nearest_root(sp.Poly(descending[::-1], y), value / 2)
    return nearest_root(sp.Poly(sp.resultant(inverse, inverse.subs(y, t - y), y), t), value)


def _along_a_trajectory(pencils: list[Pencil], m: int, groups: int, exact: bool) -> Any:
    size = groups * m
    if size > LARGEST:
        raise SizeError(
            f"the means have {size} unknowns; eigenvalues of at most {LARGEST} are computed"
        )
    G, unit, _ = balanced(_floats(pencils))
    C: Floats = np.zeros((groups, m, groups, m))
    S: Floats = np.zeros((groups, m, groups, m))
    for p, g in zip(pencils, G, strict=True):
        w = float(public_number(p.weight))
        C[p.t, :, p.s, :] += w * np.eye(m)
        S[p.t, :, p.s, :] += w * g
    C, S = C.reshape(size, size), S.reshape(size, size)

    def radius(alpha: float) -> float:
        return float(np.abs(np.linalg.eigvals(C + alpha * S)).max())

    real, sign = min(_real_crossings(C, S), default=(math.inf, 0))
    high = real if math.isfinite(real) else 1.0
    while not math.isfinite(real) and radius(high) <= 1 + EIGENVALUE:
        high *= 2.0
        if high > 2.0**60:
            return sp.oo if exact else math.inf
    points = min(400, max(16, WORK // size))
    grid = high * np.arange(1, points) / points
    first = next((k for k, a in enumerate(grid) if radius(a) > 1 + EIGENVALUE), None)
    if first is None and math.isfinite(real):
        found: Any = real
        if exact and size <= LARGEST_DEGREE**2:
            return _exact_crossing(pencils, m, groups, sign, real * unit)
    else:
        low, high = (
            (grid[first - 1] if first else 0.0, grid[first])
            if first is not None
            else (grid[-1], high)
        )
        for _ in range(45):
            middle = (low + high) / 2.0
            low, high = (middle, high) if radius(middle) <= 1 + EIGENVALUE else (low, middle)
        found = low
    if found < SLOWEST or radius(found * (1 - 1e-6)) > 1 + 1e3 * EIGENVALUE:
        raise MathematicalError(
            "floats cannot confirm a step-size limit here: some weights move too slowly beside "
            "others. Use arithmetic='exact', or bring the features to one scale"
        )
    return float(unit * found)


def _real_crossings(C: Floats, S: Floats) -> list[tuple[float, int]]:
    """alpha > 0 with det(z - C - alpha S) = 0 at z = -1: the smallest."""
    from scipy.linalg import eigvals

    out = []
    values: Floats = np.asarray(eigvals(-np.eye(len(C)) - C, S))
    finite = values[np.isfinite(values)]
    near = finite[
        negligible(finite.imag, np.abs(finite), NEARLY_REAL) & (finite.real > EIGENVALUE)
    ].real
    if near.size:
        out.append((float(near.min()), -1))
    return out


def _exact_crossing(pencils: list[Pencil], m: int, groups: int, sign: int, value: float) -> Any:
    """The root of det(z - M(alpha)) next to a value, z = -1."""
    size = groups * m
    z = EXACT.identity(size).scaled(sign * EXACT.one)
    polynomial = determinant_polynomial(
        lambda alpha: (z - _joint(pencils, m, groups, alpha)).rows(), size
    )
    return nearest_root(polynomial, sp.Float(value, 30))
