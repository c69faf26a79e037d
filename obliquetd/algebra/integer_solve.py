"""Linear systems over QQ as systems of small integers.

A row of L = I - gamma P has a small denominator, its own; L' mixes all of them in every row, so
that clearing rows would make every entry as long as their least common multiple. The unknowns are
scaled there instead: A x = b is (A C) y = b with x = C y. Right sides are brought to one
denominator a column, so that long weights in b do not enter the matrix.
"""

from __future__ import annotations

import math
from typing import Any

import flint
from sympy import QQ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices._dfm import DFM
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

from obliquetd.algebra.lifting import solve_by_lifting

__all__ = [
    "added_up",
    "common_denominator",
    "divided_by_sum",
    "over_one_denominator",
    "solve_by_integers",
]

LARGE = 800
"""From this size a solve takes seconds."""


def solve_by_integers(a: DomainMatrix, b: DomainMatrix) -> DomainMatrix:
    """The X with ``a X = b`` over QQ: rows or unknowns scaled, whichever leaves the shorter integers.

    Raises
    ------
    DMNonInvertibleMatrixError
        Where ``a`` is singular.
    """
    n, m = a.shape[0], b.shape[1]
    left, right = a.to_list(), b.to_list()
    up = [_common_denominator(row) for row in left]
    along = [_common_denominator(column) for column in zip(*left, strict=True)]
    if sum(x.bit_length() for x in up) <= sum(x.bit_length() for x in along):
        whole = [_whole(x, s) for row, s in zip(left, up, strict=True) for x in row]
        right = [[x * s for x in row] for row, s in zip(right, up, strict=True)]
        along = [1] * n
    else:
        whole = [_whole(x, s) for row in left for x, s in zip(row, along, strict=True)]
    below = [_common_denominator(column) for column in zip(*right, strict=True)]
    sides = [_whole(x, s) for row in right for x, s in zip(row, below, strict=True)]
    try:
        found, common = _solved(flint.fmpz_mat(n, n, whole), flint.fmpz_mat(n, m, sides))
    except ZeroDivisionError:
        raise DMNonInvertibleMatrixError from None
    values = iter(found)
    number = a.domain.dtype
    rows = [[number(next(values) * s, common * t) for t in below] for s in along]
    return DomainMatrix(rows, (n, m), a.domain).to_dense()


def _solved(a: Any, b: Any) -> tuple[Any, Any]:
    """Numerators row after row, and one denominator."""
    if a.nrows() >= LARGE:
        return solve_by_lifting(a, b)
    above, common = a.solve(b).numer_denom()
    return above.entries(), common


def divided_by_sum(column: list[Any]) -> list[Any]:
    """Rationals over their sum, which one denominator for all makes integers first."""
    common = _common_denominator(column)
    whole = [_whole(x, common) for x in column]
    total = sum(whole)
    return [type(x)(w, total) for x, w in zip(column, whole, strict=True)]


def common_denominator(numbers: list[Any]) -> Any:
    """A denominator that rationals have in common, no longer than twice the longest; None where there is none.

    Sums of rationals with long denominators take a gcd for every term; of whole numbers over one
    denominator they take one for the sum.

    Examples
    --------
    >>> int(common_denominator([QQ(1, 6), QQ(1, 4), QQ(2)]))
    12
    """
    return _short_multiple({x.denominator for x in numbers})


def _short_multiple(belows: set[Any]) -> Any:
    found, most = flint.fmpz(1), 64
    for below in belows:
        if found % below:
            found = found.lcm(below)
            most = max(most, below.bit_length())
            if found.bit_length() > 2 * most:
                return None
    return found


def over_one_denominator(numbers: list[Any]) -> tuple[list[Any], Any] | None:
    """Rationals as integers over :func:`common_denominator`; None where there is none."""
    belows = [x.denominator for x in numbers]
    different = set(belows)
    common = _short_multiple(different)
    if common is None:
        return None
    factors = {below: common // below for below in different}
    return [x.numerator * factors[below] for x, below in zip(numbers, belows, strict=True)], common


def added_up(
    shape: tuple[int, int], places: list[int], whole: list[Any], common: Any
) -> DomainMatrix:
    """The matrix of integers over one denominator, those at one place added; places count row by row.

    Examples
    --------
    >>> added_up((1, 2), [1, 1], [1, 2], 6).to_list()
    [[0, 1/2]]
    """
    out = [0] * (shape[0] * shape[1])
    for place, value in zip(places, whole, strict=True):
        out[place] += value
    if not out:
        return DomainMatrix.zeros(shape, QQ).to_dense()
    found = flint.fmpq_mat(flint.fmpz_mat(*shape, out)) / flint.fmpq(common)
    return DomainMatrix.from_rep(DFM._new(found, shape, QQ))


def _common_denominator(numbers: Any) -> int:
    return math.lcm(*{int(x.denominator) for x in numbers})


def _whole(x: Any, scale: int) -> int:
    return int(x.numerator) * (scale // int(x.denominator))
