"""Witnesses that a symmetric matrix is positive definite, as whole numbers that are cheap to check.

K is positive definite where V K V' has a strictly dominant diagonal, for some square matrix V: so is a
matrix with such a diagonal, and V is then invertible. With K = L D L', the inverse of L serves for V,
and so does what is near it: a few digits are mostly enough, and then the check multiplies small numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

__all__ = ["Whole", "dominant_basis", "is_dominant", "product", "transposed"]

Whole = list[list[int]]
BITS = (10, 20, 40, 60)
"""Digits of V that are tried."""


def dominant_basis(K: Whole) -> Whole | None:
    """V with a strictly dominant diagonal of V K V', or None where K is not positive definite.

    Parameters
    ----------
    K : list of rows
        Symmetric.

    Examples
    --------
    >>> V = dominant_basis([[2, 1], [1, 1]])
    >>> is_dominant(product(product(V, [[2, 1], [1, 1]]), transposed(V)))
    True
    >>> dominant_basis([[1, 2], [2, 1]]) is None
    True
    """
    for bits in BITS:
        V = _rounded(K, bits)
        if V is not None and is_dominant(product(product(V, K), transposed(V))):
            return V
    return _exact(K)


def is_dominant(N: Whole) -> bool:
    """Whether each entry of the diagonal is more than the sizes of the others in its row together."""
    return all(sum(abs(x) for x in row) < 2 * row[i] for i, row in enumerate(N))


def product(A: Whole, B: Whole) -> Whole:
    """A B."""
    columns = transposed(B)
    return [[sum(x * y for x, y in zip(r, c, strict=True)) for c in columns] for r in A]


def transposed(A: Sequence[Sequence[int]]) -> Whole:
    """A'."""
    return [list(column) for column in zip(*A, strict=True)]


def _rounded(K: Whole, bits: int) -> Whole | None:
    """The inverse of L in floats, to so many digits; None where floats find no L."""
    if any(row[i] <= 0 for i, row in enumerate(K)):
        return None
    # powers of two bring the diagonal near 1, so that neither size nor spread of K matters
    half = [-(row[i].bit_length() // 2) for i, row in enumerate(K)]
    scaled = np.array(
        [
            [float(x * Fraction(2) ** (half[i] + half[j])) if abs(x) else 0.0 for j, x in enumerate(row)]
            for i, row in enumerate(K)
        ]
    )  # fmt: skip
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(scaled))
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(inverse).all():
        return None
    rows = []
    for row in inverse:
        shift = bits - math.frexp(float(np.abs(row).max()))[1] - min(half)
        rows.append(
            [round(Fraction(float(x)) * Fraction(2) ** (h + shift)) for x, h in zip(row, half, strict=True)]
        )  # fmt: skip
    return rows


def _exact(K: Whole) -> Whole | None:
    """The inverse of L by elimination, each row times what makes it whole: V K V' is diagonal."""
    n = len(K)
    rows = [
        [*map(Fraction, row), *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(K)
    ]
    for k, row in enumerate(rows):
        if row[k] <= 0:
            return None
        for other in rows[k + 1 :]:
            factor = other[k] / row[k]
            if factor:
                for j in range(k, n + k + 1):
                    other[j] -= factor * row[j]
    found = []
    for row in rows:
        common = math.lcm(*(x.denominator for x in row[n:]))
        found.append([int(x * common) for x in row[n:]])
    return found
