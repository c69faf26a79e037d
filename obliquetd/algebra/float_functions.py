"""Rational functions of one variable in floats with radii, many functions on many ranges in one call.

A range is a float and a radius. Of each function its value and slope at the float are known, and its second
derivative within the radius of it, each as a ball (:class:`~obliquetd.algebra.float_balls.FloatBalls`); where a
denominator may be 0 there the balls are unbounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from obliquetd.algebra.float_balls import TINY, FloatBalls
from obliquetd.algebra.rounding import EPS
from obliquetd.algebra.ways import Way

__all__ = ["LARGEST_DEGREE", "Three", "coefficients", "expanded", "three_of"]

Three = tuple[FloatBalls, FloatBalls, FloatBalls]
"""Values and slopes, and second derivatives."""
LARGEST_DEGREE: Way[int] = 200
"""Of polynomials in floats: their binomial coefficients are in range."""


def three_of(functions: FloatBalls, fractions: int, middle: Any, radius: Any) -> Three:
    """Of m fractions on ranges, from the coefficients of their polynomials: each of shape (..., m).

    Parameters
    ----------
    functions : FloatBalls of shape (degree + 1, m + k)
        Coefficients of the numerators and then of the denominators, of which there are m, one or none.
    fractions : int
        m.
    middle, radius : array (...)
    """
    here, near = expanded(functions, middle, radius)
    if fractions == functions.middle.shape[1]:
        return here[0], here[1], near[2]
    N, D, over, under = (
        [x[..., part] for x in listed]
        for listed in (here, near)
        for part in (slice(fractions), slice(fractions, None))
    )
    value, slope, _ = _quotient(N, D, 1)
    return value, slope, _quotient(over, under, 2)[2]


def coefficients(polynomials: Sequence[Any], count: int) -> FloatBalls:
    """The coefficients of all, a column each, from the constant on down: (count, m).

    OverflowError beyond the range of floats.
    """
    listed = []
    sure = True
    for p in polynomials:
        below, above = int(p.denom()), [int(c) for c in p.numer().coeffs()]
        sure = sure and below == 1 and all(-(2**53) <= c <= 2**53 for c in above)
        listed.append([*(c / below for c in above), *[0.0] * (count - len(above))])
    middle = np.array(listed, dtype=float).reshape(len(listed), count).T
    if sure:
        return FloatBalls(middle, np.zeros_like(middle))
    return FloatBalls(middle, EPS * np.abs(middle) + TINY)


@lru_cache(32)
def _binomials(count: int) -> tuple[Any, Any, Any, Any]:
    """(k over j) at (j, k), and k - j; k!/(k - d)! at (d, k) for d < 3, and k - d; differences that are not negative."""
    k = np.arange(count)
    over = np.array([[float(math.comb(a, j)) for a in range(count)] for j in range(count)])
    falling = np.array([[float(math.perm(a, d)) for a in range(count)] for d in range(3)])
    gaps = (np.maximum(k - np.arange(m)[:, None], 0) for m in (count, 3))
    return over, next(gaps), falling, next(gaps)


def _powers(base: Any, count: int) -> Any:
    base = np.asarray(base, dtype=float)[..., None]
    ones = np.ones_like(base)
    return np.cumprod(np.concatenate([ones, *[base] * (count - 1)], axis=-1), axis=-1)


def expanded(
    functions: FloatBalls, middle: Any, radius: Any
) -> tuple[list[FloatBalls], list[FloatBalls]]:
    """Polynomials and their first two derivatives: at a float, and in balls at all points within a radius of it.

    With c_j' = sum over k of (k over j) x^(k - j) c_k, the d-th derivative at x + t is the sum of
    k!/(k - d)! t^(k - d) c_k'. The powers are rounded as often as there are factors in them; what is lost below
    the range of floats is bounded for all functions at once.
    """
    count = functions.middle.shape[0]
    over, gap, falling, apart = _binomials(count)
    slack = (4 * count + 16) * EPS
    turn = over * _powers(middle, count)[..., gap]
    size = np.abs(functions.middle)
    center = turn @ functions.middle
    spread = np.abs(turn) @ (functions.radius + slack * size)
    lost = TINY * (count + over.sum() * float((functions.radius + size).max(initial=0.0)))
    spread = (spread + lost) * (1 + slack)
    reach = falling * _powers(radius, count)[..., apart]
    beyond = reach * (apart > 0)
    size = np.abs(center)
    around = reach @ spread + beyond @ size
    lost = TINY * (count + falling.sum() * float((spread + size).max(initial=0.0)))
    around = (around + lost) * (1 + slack)
    here, near = [], []
    for d, factor in enumerate((1.0, 1.0, 2.0)):
        row = center[..., d, :] * factor if d < count else np.zeros_like(center[..., 0, :])
        here.append(FloatBalls(row, spread[..., d, :] * factor if d < count else row))
        near.append(FloatBalls(row, around[..., d, :] if d < count else row))
    return here, near


def _quotient(N: list[FloatBalls], D: list[FloatBalls], order: int) -> Any:
    """f = N/D, f' = (N' - f D')/D and f'' = (N'' - 2 f' D' - f D'')/D, as many as asked for."""
    q = D[0].inverse()
    f = N[0] * q
    f1 = (N[1] - f * D[1]) * q
    return f, f1, None if order < 2 else (N[2] - (f1 * D[1]).scaled(2.0) - f * D[2]) * q
