"""Sums of columns at the places of a matrix, and columns of some outcomes; for :mod:`obliquetd.dynamics.sums`."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from obliquetd.algebra import Arithmetic, FieldArithmetic, FloatMatrix, Matrix
from obliquetd.algebra.rounding import roundings
from obliquetd.algebra.storage import gathered, trimmed, worth_keeping_sparse
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.monomials import Monomial
from obliquetd.dynamics.terms import Term
from obliquetd.learners.forms import is_feature

__all__ = ["diagonal", "folded", "gather", "gather_named", "joined"]


def gather(
    arithmetic: Arithmetic, shape: tuple[int, int], parts: Iterable[Sequence[Any]]
) -> Matrix:
    """The sums of columns at places; a column of formulas may be a tuple, of factors."""
    rows, places, columns = zip(*parts, strict=True)
    if arithmetic.kind == "float" and worth_keeping_sparse(shape, sum(map(len, rows))):
        return _part_by_part(shape, rows, places, columns)
    if isinstance(arithmetic, FieldArithmetic) and arithmetic.kind == "symbolic":
        factors = [c if isinstance(c, tuple) else (c,) for c in columns]
        return arithmetic.assemble_sums(shape, zip(rows, places, factors, strict=True))
    i, j = chained(rows), chained(places)
    if arithmetic.kind != "float":
        return arithmetic.assemble(shape, i, j, chained(columns))
    value = chained([c.value for c in columns])
    rounding = _rounding(_most(shape, i, j))
    found = gathered(shape, i, j, value)
    if all(c.relative is not None for c in columns):
        factor = max(c.relative for c in columns) + rounding
        one_sign = not (value.min(initial=0.0) < 0 < value.max(initial=0.0))
        size = abs(found) if one_sign else gathered(shape, i, j, np.abs(value))
        return FloatMatrix(found, error=size * factor)
    size = chained([c.error for c in columns]) + np.abs(value) * rounding
    return FloatMatrix(found, error=gathered(shape, i, j, size))


def gather_named(
    arithmetic: Arithmetic, named: Any, shape: tuple[int, int], parts: Iterable[Sequence[Any]]
) -> Matrix:
    """:func:`gather` of columns that a key for their places stands before; what has names is kept by them."""
    others, found = [], []
    for key, i, j, column in parts:
        if named is None or not isinstance(column, Monomial):
            others.append((i, j, column))
            continue

        def made(at: Any, column: Any, i: Any = i, j: Any = j) -> Matrix:
            places = (i, j) if at is None else (i[at], j[at])
            return gather(arithmetic, shape, [(*places, column)])

        found.append(named.total(column, ("at places", shape, key), made))
    if others:
        found.append(gather(arithmetic, shape, others))
    total: Matrix = functools.reduce(operator.add, found)
    return total


COUNTED: Way[int] = 10**7
"""Places of a matrix up to which what is added at each is counted (80 MB), and not what is added in its row."""


def _most(shape: tuple[int, int], i: Any, j: Any) -> int:
    """How many numbers are added at one place of a matrix, at most: no more than in its row."""
    few = shape[0] * shape[1] < COUNTED
    return int(np.bincount(i * shape[1] + j if few else i).max(initial=0))


def _rounding(most: int) -> float:
    return roundings(most) if most > 1 else 0.0


def _part_by_part(
    shape: tuple[int, int], rows: Sequence[Any], places: Sequence[Any], columns: Sequence[Any]
) -> FloatMatrix:
    """The sums of columns of floats as a sparse matrix, one column after the other: each is as large as the data."""
    listed = list(zip(rows, places, columns, strict=True))
    rounding = _rounding(sum(_most(shape, i, j) for i, j, _ in listed))
    value: Any = None
    bound: Any = None
    for i, j, c in listed:
        found = gathered(shape, i, j, c.value)
        if c.relative is None:
            error = gathered(shape, i, j, c.error + np.abs(c.value) * rounding)
        else:
            one_sign = not (c.value.min(initial=0.0) < 0 < c.value.max(initial=0.0))
            size = abs(found) if one_sign else gathered(shape, i, j, np.abs(c.value))
            error = size * (c.relative + rounding)
        value = found if value is None else value + found
        bound = error if bound is None else bound + error
    return FloatMatrix(trimmed(value), error=trimmed(bound))


def diagonal(arithmetic: Any, number: Matrix, ones: Matrix) -> Matrix:
    """A multiple of the identity."""
    if isinstance(number, FloatMatrix):
        eye = np.eye(ones.shape[0])
        return FloatMatrix(eye * number.dense()[0, 0], error=eye * number.dense_error()[0, 0])
    return arithmetic.identity(ones.shape[0]).scaled(number.item())  # type: ignore[no-any-return]


def chained(parts: Sequence[Any]) -> Any:
    """Arrays end to end; one alone as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def folded(terms: list[Term], stays: Any = None) -> list[Term]:
    """Terms of outcomes that stay in their state, at these places or by columns of all: there phi' is phi.

    So what cancels exactly, as phi - phi' without discount, leaves no rounding.
    """
    found: dict[Any, Any] = {}

    def here(vector: Any) -> Any:
        if is_feature(vector) and vector[1:] == ("now", "n"):
            return (*vector[:2], "s")
        return vector

    for term in terms:
        factors = tuple(
            (f[0], *sorted(map(here, f[1:3])), f[3]) if f[0] == "dot" else f for f in term.factors
        )
        key = here(term.left), factors
        column = term.column
        if stays is not None and len(column) > 1:
            column = column[stays]
        found[key] = found[key] + column if key in found else column
    return [Term(left, factors, column) for (left, factors), column in found.items()]


def side_by_side(blocks: Sequence[Sequence[Any]]) -> FloatMatrix:
    """A matrix of float matrices; ``numpy.block`` takes longer than all else for small ones."""
    heights = [line[0].shape[0] for line in blocks]
    widths = [x.shape[1] for x in blocks[0]]
    value, error = np.empty((2, sum(heights), sum(widths)))
    top = 0
    for line, height in zip(blocks, heights, strict=True):
        start = 0
        for x, width in zip(line, widths, strict=True):
            at = slice(top, top + height), slice(start, start + width)
            value[at], error[at] = x.dense(), x.dense_error()
            start += width
        top += height
    return FloatMatrix(value, error=error)


def joined(arithmetic: Arithmetic, blocks: Sequence[Sequence[Any]]) -> Matrix:
    """A matrix of matrices."""
    if arithmetic.kind == "float":
        return side_by_side(blocks)
    if len(blocks) == 1 and len(blocks[0]) == 1:
        return blocks[0][0]  # type: ignore[no-any-return]
    rows = [
        [x for part in parts for x in part]
        for line in blocks
        for parts in zip(*(x.rows() for x in line), strict=True)
    ]
    return arithmetic.matrix(rows, (len(rows), len(rows[0])))
