"""What rounding can have done: the one place that decides what is zero among floats.

A float matrix carries, entry by entry, a bound on its distance from what exact arithmetic
would have made of the same data: a number that came in is known to its last place
(:data:`EPS` of itself), and every operation passes the bounds of its operands on and adds
its own rounding. So a difference that cancels keeps the bound of what it was the
difference of, and is recognised as zero whatever the scale of the data; no tolerance is
absolute.

A sum of k products counts sqrt(k) roundings, not k: rounding errors are nearly
independent (Higham and Mary 2019, "A new approach to probabilistic rounding error
analysis").
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.ways import Way

__all__ = [
    "EIGENVALUE",
    "EPS",
    "NEARLY_REAL",
    "NORMAL",
    "NO_DESCENT",
    "SAFETY",
    "SAME",
    "SMALLEST",
    "STATIONARY",
    "UNSTABLE",
    "dots_bound",
    "negligible",
    "power_of_two",
    "product_bound",
    "roundings",
    "scaled_bound",
]

EPS = float(np.finfo(float).eps)
SMALLEST = float(np.finfo(float).smallest_subnormal)
"""What a product loses at most where it falls below the range of floats."""
NORMAL = float(np.finfo(float).smallest_normal)
"""Below it floats lose their digits one by one, down to :data:`SMALLEST`."""
SAFETY = 2.0
"""An entry is taken as zero up to this many times its bound."""
FEW_DIGITS = 6.0
"""A solve that keeps fewer correct digits than this warns."""

# Tolerances where no bound on the error is known; each is relative to a size that is named there.
SAME = 1e-9
"""What was computed twice is one number where it differs by no more."""
STATIONARY = 1e-9
"""Weights are stationary where a step changes none of them by more."""
UNSTABLE = 1e-9
"""An eigenvalue's real part beside the norm of A, from where a search asks for the exact verdict."""
NO_DESCENT = 1e-12
"""A gradient beside the right-hand side, below which a least-squares problem is solved."""
NEARLY_REAL = 1e-7
"""The imaginary part of an eigenvalue that is real but for rounding."""
EIGENVALUE = 1e-12
"""An eigenvalue's distance from 0, or of its modulus from 1, that rounding alone may make."""


def negligible(value: Any, size: Any, tolerance: float = SAFETY) -> Any:
    """Whether values are zero for all that is known.

    Parameters
    ----------
    value : float or array
    size : float or array
        The bounds on their errors; with a tolerance, what they are small beside.
    tolerance : float
        A named one of this module; the bounds are taken ``SAFETY`` times unless given.

    Examples
    --------
    >>> negligible(0.1 + 0.2 - 0.3, 0.6 * EPS), negligible(1e-200, 1e-216)
    (True, False)
    >>> negligible(1e-12, 0.5, STATIONARY)
    True
    """
    return abs(value) <= tolerance * size


def roundings(terms: int) -> float:
    """The relative rounding of a sum of ``terms`` products."""
    return EPS * (1.0 + math.sqrt(terms))


def power_of_two(sizes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The powers of two next to positive sizes (1 for 0): factors that never round.

    Examples
    --------
    >>> power_of_two(np.array([0.0, 5.0, 1e-3])).tolist()
    [1.0, 4.0, 0.0009765625]
    """
    exponents = np.frexp(np.where(sizes > 0, sizes, 1.0))[1] - 1
    return np.asarray(np.ldexp(1.0, np.clip(exponents, -1021, 1021)))


BLOCK: Way[int] = 2**14
"""Terms of a product whose bounds are taken at a time, so that what is on the way stays small."""


def product_bound(a: Any, a_error: Any, b: Any, b_error: Any, *, right: bool) -> Any:
    """A bound on the error of a @ b, in the format of the product.

    ``|a| (r |b|) + E_a (|b| + E_b)`` with r the rounding of its sums, and ``|a| E_b`` more where the
    errors of the right factor count (``right``) and do not travel on by themselves.
    """
    terms = roundings(a.shape[1])

    def of(a: Any, a_error: Any, b: Any, b_error: Any) -> Any:
        a, b = abs(a), abs(b)
        bound = a @ (b * terms) + a_error @ (b + b_error)
        return a @ b_error + bound if right else bound

    dense = isinstance(b, np.ndarray)
    if not dense or max(b.shape[0], a.shape[0]) <= BLOCK:
        return of(a, a_error, b, b_error)
    if isinstance(a, np.ndarray):
        parts = [slice(k, k + BLOCK) for k in range(0, len(b), BLOCK)]
        return sum(of(a[:, p], a_error[:, p], b[p], b_error[p]) for p in parts)
    out = np.empty((a.shape[0], b.shape[1]))
    for k in range(b.shape[1]):
        out[:, [k]] = of(a, a_error, b[:, [k]], b_error[:, [k]])
    return out


def scaled_bound(a: Any, a_error: Any, by: Any, by_error: Any, scaled: Any) -> Any:
    """A bound on the error of each row of a times a number of its own."""
    bound = a_error * abs(by)
    dense = isinstance(a, np.ndarray)
    for array, factor in ((a, by_error), (scaled, EPS)):
        part = abs(array) * factor
        bound = np.add(bound, part, out=bound) if dense else bound + part
    return np.add(bound, SMALLEST, out=bound) if dense else bound


def dots_bound(a: Any, a_error: Any, b: Any, b_error: Any) -> Any:
    """What the entries of a times those of b add to a bound on the sums of rows."""
    a, b = abs(a), abs(b)
    return a * b_error + a_error * (b + b_error) + a * b * roundings(a.shape[1])
