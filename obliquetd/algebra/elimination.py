"""Systems over ZZ[x, y, ...] by elimination without fractions, for many symbols that occur in few terms.

Bareiss (1968): in a(i, j) = (a(k, k) a(i, j) - a(i, k) a(k, j)) / (the pivot before), done for all rows
but the pivot's, every division is exact and every entry a minor of [A | B]. In the end each pivot is
the same minor D, and what stands on the right is N with A N = D B.
"""

from __future__ import annotations

from typing import Any

from obliquetd.algebra.evaluation import SingularEverywhereError
from obliquetd.algebra.polynomial_matrix import PolynomialMatrix
from obliquetd.algebra.waiting import Waiting

__all__ = ["eliminated"]


def eliminated(a: PolynomialMatrix, b: PolynomialMatrix) -> tuple[PolynomialMatrix, Any]:
    """N and det A with ``A N = det(A) B``.

    Raises
    ------
    SingularEverywhereError
        Where det A = 0.
    """
    n, m = b.shape
    rows = [[*x, *y] for x, y in zip(a.rows(), b.rows(), strict=True)]
    before, odd = a.ring.one, False
    with Waiting("eliminating symbols", n) as step:
        for k in range(n):
            pivots = [i for i in range(k, n) if rows[i][k] != 0]
            if not pivots:
                raise SingularEverywhereError
            best = min(pivots, key=lambda i: len(rows[i][k]))
            if best != k:
                rows[k], rows[best] = rows[best], rows[k]
                odd = not odd
            top = rows[k]
            pivot = top[k]
            for i in range(n):
                if i != k:
                    row, factor = rows[i], rows[i][k]
                    for j in range(k + 1, n + m):
                        row[j] = (pivot * row[j] - factor * top[j]) // before
                    if i < k:
                        row[i] = pivot
            before = pivot
            step()
    found = PolynomialMatrix(a.ring, (n, m), [x for row in rows for x in row[n:]])
    return (found.times(a.ring.constant(-1)), -before) if odd else (found, before)
