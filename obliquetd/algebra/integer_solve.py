"""Linear systems over QQ as systems of small integers.

A row of L = I - gamma P has a small denominator, its own; L' mixes all of them in every row, so
that clearing rows would make every entry as long as their least common multiple. The unknowns are
scaled there instead: A x = b is (A C) y = b with x = C y. Right sides are brought to one
denominator a column, so that long weights in b do not enter the matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
from sympy import QQ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices._dfm import DFM
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

from obliquetd.algebra.lifting import solve_by_lifting
from obliquetd.algebra.ways import Way

__all__ = [
    "added_up",
    "common_denominator",
    "divided_by_sum",
    "fractions_added_up",
    "over_one_denominator",
    "solve_by_integers",
    "stationary_by_integers",
    "whole_rows",
]

LARGE: Way[int] = 800
"""From this size a solve takes seconds."""
SAMPLE = 8
"""Rows, and columns, by which it is decided what is scaled."""
FEW: Way[int] = 64
"""Numbers that show whether a denominator of all of them would be long."""


def solve_by_integers(a: DomainMatrix, b: DomainMatrix) -> DomainMatrix:
    """The X with ``a X = b`` over QQ: rows or unknowns scaled, whichever leaves the shorter integers.

    Raises
    ------
    DMNonInvertibleMatrixError
        Where ``a`` is singular.
    """
    n, m = a.shape[0], b.shape[1]
    left, right = a.to_list(), b.to_list()
    if _shorter_by_rows(left):
        whole, up = whole_rows(left)
        right = [[x * s for x in row] for row, s in zip(right, up, strict=True)]
        system, along = flint.fmpz_mat(n, n, whole), [1] * n
    else:
        whole, along = whole_rows(zip(*left, strict=True))
        system = flint.fmpz_mat(n, n, whole).transpose()
    below = [_common_denominator(column) for column in zip(*right, strict=True)]
    sides = [_whole(x, s) for row in right for x, s in zip(row, below, strict=True)]
    try:
        found, common = _solved(system, flint.fmpz_mat(n, m, sides))
    except ZeroDivisionError:
        raise DMNonInvertibleMatrixError from None
    values = iter(found)
    number = a.domain.dtype
    rows = [[number(next(values) * s, common * t) for t in below] for s in along]
    return DomainMatrix(rows, (n, m), a.domain).to_dense()


def whole_rows(rows: Iterable[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
    """Rationals as integers, row after row, and the denominator of each row.

    Examples
    --------
    >>> whole_rows([[QQ(1, 6), QQ(1, 4)], [QQ(2), QQ(1)]])
    ([2, 3, 2, 1], [12, 1])
    """
    flat: list[Any] = []
    belows = []
    for row in rows:
        above, below = flint.fmpq_mat(1, len(row), row).numer_denom()
        flat += above.entries()
        belows.append(below)
    return flat, belows


def _shorter_by_rows(rows: list[list[Any]]) -> bool:
    """Whether rows, of which some are looked at, have shorter denominators than columns."""
    n = len(rows)
    some = sorted({k * n // SAMPLE for k in range(SAMPLE)})
    up = (rows[k] for k in some)
    along = ([row[k] for row in rows] for k in some)
    by_rows, by_columns = (
        sum(_common_denominator(x).bit_length() for x in each) for each in (up, along)
    )
    return by_rows <= by_columns


def stationary_by_integers(P: DomainMatrix) -> list[Any]:
    """The weights x with x P = x and sum 1 of an irreducible stochastic matrix over QQ.

    With N the integers of the rows of P and D their denominators, x_i = D_i y_i and y (diag(D) - N) = 0:
    a system of each row's own small integers, whatever the denominators of the others. y is 1 at the
    last state, and the weights are integers over their sum, which is the last step in rationals.
    """
    rows = P.to_list()
    n = len(rows)
    flat, belows = whole_rows(rows)
    inner = flint.fmpz_mat(
        n - 1, n - 1, [x for i in range(n - 1) for x in flat[i * n : i * n + n - 1]]
    )
    system = -inner.transpose()
    for i in range(n - 1):
        system[i, i] += belows[i]
    try:
        above, common = _solved(system, flint.fmpz_mat(n - 1, 1, flat[-n:-1]))
    except ZeroDivisionError:
        raise DMNonInvertibleMatrixError from None
    whole = [y * d for y, d in zip([*above, common], belows, strict=True)]
    return (flint.fmpq_mat(flint.fmpz_mat(n, 1, whole)) / sum(whole)).entries()  # type: ignore[no-any-return]


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


def over_one_denominator(numbers: list[Any]) -> Way[tuple[list[Any], Any] | None]:
    """Rationals as integers over :func:`common_denominator`; None where there is none."""
    some = numbers[:: max(1, len(numbers) // FEW)]
    if _short_multiple({x.denominator for x in some}) is None:
        return None
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


def fractions_added_up(
    shape: tuple[int, int], places: npt.NDArray[Any], values: npt.NDArray[Any]
) -> DomainMatrix:
    """The same of rationals that have no short denominator in common.

    Examples
    --------
    >>> fractions_added_up((1, 2), np.array([1, 1]), np.array([QQ(1, 3), QQ(1, 2)])).to_list()
    [[0, 5/6]]
    """
    flat = np.zeros(shape[0] * shape[1], dtype=object)
    if not len(flat):
        return DomainMatrix.zeros(shape, QQ).to_dense()
    if len(places):
        order = np.argsort(places, kind="stable")
        at = places[order]
        starts = np.flatnonzero(np.diff(at, prepend=-1))
        flat[at[starts]] = np.add.reduceat(values[order], starts)
    return DomainMatrix.from_rep(DFM._new(flint.fmpq_mat(*shape, flat.tolist()), shape, QQ))


def _common_denominator(numbers: Any) -> int:
    return math.lcm(*{int(x.denominator) for x in numbers})


def _whole(x: Any, scale: int) -> int:
    return int(x.numerator) * (scale // int(x.denominator))
