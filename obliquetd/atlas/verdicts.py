"""The package's verdict on many matrices at once, in integers.

Weights move in the span U of all updates, A maps into it, and acts on it as Q
(:mod:`obliquetd.dynamics.stability`). Outside of U, A is 0 modulo U, so that with r = dim U

    det(xI - A) = x^(D - r) det(xI - Q),

and the verdict needs no basis of U: the characteristic polynomial of A and the number r decide. Let
x^e + ... be det(xI - A) without its factors x, and a_k its coefficients with the signs (-1)^k: all its roots
are in the open right half plane exactly where all a_k and all Hurwitz determinants are positive (Hurwitz
1895; Gantmacher, The Theory of Matrices, Section XV.6). Where a root is in the open left half plane, that
is unstable; and a polynomial without such a root is a limit of ones that pass that test, so that an a_k or a
determinant below 0 proves one. What is left has a determinant that is 0, and goes to
:func:`obliquetd.dynamics.stability.verdict_of`, which decides everything.

The dimension r of U comes from S, the sum over all outcomes of G G' for the matrices G whose columns are its updates:
the range of S is U, and S has no negative eigenvalue, so that r is the number of the last coefficient of
det(xI - S) that is not 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from obliquetd.atlas.integers import Integers, charpoly, determinant
from obliquetd.dynamics.stability import NOTHING_MOVES, verdict_of

__all__ = ["VERDICTS", "dimensions", "verdicts"]

VERDICTS = ("stable", "marginal", "unstable", NOTHING_MOVES)
"""The verdicts by their numbers in arrays."""
STABLE, MARGINAL, UNSTABLE, NOTHING = range(4)


def _last(coefficients: list[Integers]) -> Any:
    """The place of the last coefficient that is not 0."""
    out = np.zeros(len(coefficients[0].values), dtype=np.int64)
    for k, c in enumerate(coefficients):
        out[c.values != 0] = k
    return out


def dimensions(S: Integers) -> Any:
    """The rank of each of many symmetric matrices (N, D, D) without negative eigenvalues."""
    return _last(charpoly(S))


def verdicts(A: Integers, ranks: Any) -> Any:
    """The number of the verdict on each of many matrices (N, D, D), by :data:`VERDICTS`.

    Parameters
    ----------
    A : Integers
        Any positive multiples of the matrices.
    ranks : array of int
        The dimension of the span of the updates of each.

    Examples
    --------
    >>> A = Integers(np.array([[[2, 1], [0, 3]], [[0, 1], [-1, 0]], [[1, 0], [0, -1]], [[1, 0], [0, 0]]]))
    >>> verdicts(A, np.array([2, 2, 2, 1])).tolist(), verdicts(A, np.array([2, 2, 2, 2])).tolist()
    ([0, 1, 2, 0], [0, 1, 2, 1])
    """
    coefficients = charpoly(A)
    degrees = _last(coefficients)
    assert (degrees <= ranks).all(), "A does not map into the span of the updates"
    out = np.full(len(degrees), MARGINAL, dtype=np.uint8)
    for degree in np.unique(degrees).tolist():
        at = np.flatnonzero(degrees == degree)
        if not degree:
            continue
        part = [c[at].tight() for c in coefficients[: degree + 1]]
        found = _of_degree(part)
        whole = ranks[at] == degree
        out[at] = np.where((found == STABLE) & ~whole, MARGINAL, found)
    out[ranks == 0] = NOTHING
    return out


def _of_degree(coefficients: list[Integers]) -> Any:
    """Polynomials of one degree whose constants are not 0."""
    a = [c if k % 2 == 0 else -c for k, c in enumerate(coefficients)]
    signs = np.array([x.signs() for x in (*a[1:], *_hurwitz(a))])
    out = np.full(signs.shape[1], MARGINAL, dtype=np.uint8)
    out[(signs > 0).all(axis=0)] = STABLE
    out[(signs < 0).any(axis=0)] = UNSTABLE
    rest = np.flatnonzero((signs >= 0).all(axis=0) & (signs == 0).any(axis=0))
    known: dict[tuple[int, ...], int] = {}
    for i in rest.tolist():
        polynomial = tuple(int(c.values[i]) for c in coefficients)
        if polynomial not in known:
            known[polynomial] = VERDICTS.index(verdict_of(list(polynomial)))
        out[i] = known[polynomial]
    return out


def _hurwitz(a: list[Integers]) -> list[Integers]:
    """The Hurwitz determinants of order 2 to n - 1; that of order 1 is a_1, and the last a_n times the one before."""
    n, count = len(a) - 1, len(a[0].values)
    zero = np.zeros(count, dtype=np.int64)
    out = []
    for order in range(2, n):
        indices = [[2 * (j + 1) - (i + 1) for j in range(order)] for i in range(order)]
        used = [a[k] for row in indices for k in row if 0 <= k <= n]
        kind = object if any(x.values.dtype == object for x in used) else np.int64
        rows = [
            [(a[k].values if 0 <= k <= n else zero).astype(kind) for k in row] for row in indices
        ]
        matrix = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
        out.append(determinant(Integers(matrix, max(x.bound for x in used))))
    return out
