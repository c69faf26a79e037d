"""The exact second moments of theta_t - theta*, and of its sums, with any schedule of step sizes.

As in :mod:`obliquetd.dynamics.moments` an outcome maps y = (1, x) to N y, and (1, x, s) with the
running sum s to (1, x', s + x), and the second moments Y of these are iterated exactly. For exact
numbers x is theta, whose maps are short, and theta* is subtracted at the end; for floats x is
theta - theta*, so that no large numbers are subtracted where the error is small.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from obliquetd.algebra import FLOAT, Matrix, parse_number
from obliquetd.dynamics.moments import JumpSystem

__all__ = ["Recorded", "error_moments"]


class Recorded:
    """What an endless iterator yields, by its place; nothing is computed twice."""

    def __init__(self, source: Iterator[Any]) -> None:
        self._source, self._known = source, list[Any]()

    def __getitem__(self, place: int) -> Any:
        while len(self._known) <= place:
            self._known.append(next(self._source))
        return self._known[place]


def error_moments(
    system: JumpSystem,
    start: Matrix,
    star: Matrix,
    step_at: Callable[[int], Any],
    *,
    summed: bool = False,
) -> Iterator[Matrix]:
    """E[e e'] for t = 0, 1, ...; with ``summed`` that of e_0 + ... + e_{t-1}, (d, d) each."""
    arithmetic, d = system.ops.arithmetic, system.size
    floats = arithmetic.kind == "float"
    origin = star if floats else star - star
    y = [arithmetic.one, *(start - origin).entries(), *([arithmetic.zero] * d if summed else [])]
    size = len(y)
    square = arithmetic.matrix([[a * b for b in y] for a in y], (size, size))
    still, moving = (
        [_shifted(rows, origin, summed=summed) for _, _, _, rows in system.maps(alpha)]
        for alpha in (arithmetic.zero, arithmetic.one)
    )
    steps = [
        _Step(s, n, weight, at_0, at_1 - at_0)
        for (s, n, weight, _, _), at_0, at_1 in zip(system.outcomes, still, moving, strict=True)
    ]
    iterate = _float_totals if floats else _exact_totals
    for t, total in enumerate(iterate(steps, square, system.start(), step_at)):
        yield _centred(total, star - origin, t if summed else None)


def _centred(Y: Matrix, away: Matrix, t: int | None) -> Matrix:
    """E[u u'] of u = x - away, or of s - t away, from the second moments of (1, x) or (1, x, s)."""
    arithmetic, d = Y.arithmetic, away.shape[0]
    times = arithmetic.one if t is None else arithmetic.scalar(parse_number(t))
    first = 1 if t is None else 1 + d
    rows = [
        [
            -times * away_i,
            *(arithmetic.one if j == first + i else arithmetic.zero for j in range(1, Y.shape[0])),
        ]
        for i, away_i in enumerate(away.entries())
    ]
    T = arithmetic.matrix(rows, (d, Y.shape[0]))
    return T @ Y @ T.T


class _Step(NamedTuple):
    """One outcome: y to (fixed + alpha slope) y."""

    s: int
    n: int
    weight: Any
    fixed: Matrix
    slope: Matrix


def _exact_totals(
    steps: list[_Step], square: Matrix, chances: list[Any], step_at: Callable[[int], Any]
) -> Iterator[Matrix]:
    nothing = square - square
    Y = [square.scaled(chance) for chance in chances]
    for t in itertools.count():
        total: Matrix = Y[0]
        for part in Y[1:]:
            total = total + part
        yield total
        new = [nothing for _ in Y]
        for step in steps:
            N = step.fixed + step.slope.scaled(step_at(t))
            new[step.n] = new[step.n] + (N @ Y[step.s] @ N.T).scaled(step.weight)
        Y = new


def _float_totals(
    steps: list[_Step], square: Matrix, chances: list[Any], step_at: Callable[[int], Any]
) -> Iterator[Matrix]:
    """All outcomes of a step in one batch of small products."""
    source, ends = np.array([step.s for step in steps]), np.array([step.n for step in steps])
    weights = np.array([step.weight for step in steps])
    fixed = np.array([step.fixed.rows() for step in steps])
    slope = np.array([step.slope.rows() for step in steps])
    Y = np.multiply.outer(np.array(chances), np.array(square.rows()))
    for t in itertools.count():
        yield FLOAT.matrix(Y.sum(axis=0), square.shape)
        N = fixed + step_at(t) * slope
        moved = weights[:, None, None] * (N @ Y[source] @ N.transpose(0, 2, 1))
        Y = np.zeros_like(Y)
        np.add.at(Y, ends, moved)


def _shifted(rows: list[list[Any]], star: Matrix, *, summed: bool) -> Matrix:
    """The map of (1, theta - star), or of that and its sum, of a map of (1, theta)."""
    arithmetic, x = star.arithmetic, star.entries()
    d, zero, one = len(x), arithmetic.zero, arithmetic.one
    moved = []
    for i, row in enumerate(rows):
        constant = row[0] + sum((a * b for a, b in zip(row[1:], x, strict=True)), zero)
        moved.append([constant - (x[i - 1] if i else zero), *row[1:]])
    if summed:
        moved = [[*row, *[zero] * d] for row in moved]
        for i in range(d):
            moved.append([one if j in (1 + i, 1 + d + i) else zero for j in range(1 + 2 * d)])
    size = len(moved)
    return arithmetic.matrix(moved, (size, size))
