"""Determinants, solutions and characteristic polynomials over ZZ[x, y, ...], by their values at integers.

Let A X = B with polynomial entries. By Cramer's rule X = N / det A, where det A and every entry of
N are minors of [A | B]. Their degree in a symbol is at most the sum over rows of the largest degree
in the row, and at most the same sum over columns. Values at one more point than that determine
them: the result is exact, with no probabilistic step. With several symbols the last is given
values, at each of which the others are treated so. Where det A vanishes there is no X, and the
point is passed over; A is singular everywhere as soon as more points than the bound vanish.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import flint

from obliquetd.algebra.pencil import cramer_of_pencil
from obliquetd.algebra.polynomial_matrix import Layers, PolynomialMatrix
from obliquetd.algebra.polynomial_ring import PolynomialRing
from obliquetd.algebra.waiting import Waiting
from obliquetd.algebra.ways import Way

__all__ = [
    "SingularEverywhereError",
    "characteristic",
    "coefficients_through",
    "cramer",
    "cramer_with",
    "generic_rank",
    "points_of",
]

LARGE: Way[int] = 12
"""From this size a system that is linear in its one symbol is solved modulo primes."""


class SingularEverywhereError(ArithmeticError):
    """The determinant is the zero polynomial."""


def cramer(a: PolynomialMatrix, b: PolynomialMatrix) -> tuple[PolynomialMatrix, Any]:
    """N and a multiple D of the lowest denominator with ``A N = D B``: D = det A, unless A and B are constant.

    Raises
    ------
    SingularEverywhereError
        Where det A = 0.
    """
    n, m = b.shape
    by_primes = _by_primes(a, b) if n >= LARGE else None
    if by_primes is not None:
        return by_primes

    bounds = bounds_of(a, b)
    at = _numbers_at if m and not any(bounds) else _minors_at
    matrices = [(a.layers, a.shape), (b.layers, b.shape)]
    found = _through_points(a.ring, matrices, bounds, n * m + 1, at)
    det = found.pop()
    return PolynomialMatrix(a.ring, (n, m), found), det


class _NotSharedError(ArithmeticError):
    """The minors have no such factor in common."""


def cramer_with(
    a: PolynomialMatrix, b: PolynomialMatrix, shared: Any
) -> tuple[PolynomialMatrix, Any] | None:
    """:func:`cramer` in one symbol by fewer points, with N and det A both over ``shared``.

    None where they have no such factor in common. That they do is a guess, which A N = D B decides.
    """
    n, m = b.shape
    bounds = [max(0, bounds_of(a, b)[0] - max(a.ring.degrees(shared)))]
    factor = PolynomialMatrix(a.ring, (1, 1), [shared])

    def at(left: Any, right: Any, value: Any) -> Any:
        if value[0, 0] == 0:
            raise SingularEverywhereError
        row = [divmod(x, value[0, 0]) for x in _minors_at(left, right).entries()]
        if any(rest for _, rest in row):
            raise _NotSharedError
        return flint.fmpz_mat(1, len(row), [whole for whole, _ in row])

    matrices = [(x.layers, x.shape) for x in (a, b, factor)]
    try:
        found = _through_points(a.ring, matrices, bounds, n * m + 1, at)
    except (SingularEverywhereError, _NotSharedError):
        return None
    below = found.pop()
    above = PolynomialMatrix(a.ring, (n, m), found)
    proved = below != 0 and (a @ above).entries == b.times(below).entries
    return (above, below) if proved else None


def _minors_at(left: Any, right: Any) -> Any:
    """The numerators of Cramer's rule and the determinant, in a row."""
    det = left.det()
    if det == 0:
        raise SingularEverywhereError
    flat = (left.solve(right) * det).numer_denom()[0].entries() if right.ncols() else []
    return flint.fmpz_mat(1, len(flat) + 1, [*flat, det])


def _numbers_at(left: Any, right: Any) -> Any:
    """The solution over its lowest denominator: where nothing is interpolated, no determinant is needed."""
    try:
        above, below = left.solve(right).numer_denom()
    except ZeroDivisionError:
        raise SingularEverywhereError from None
    return flint.fmpz_mat(1, len(above.entries()) + 1, [*above.entries(), below])


def _by_primes(
    a: PolynomialMatrix, b: PolynomialMatrix
) -> Way[tuple[PolynomialMatrix, Any] | None]:
    """:func:`cramer` where A is A_0 + x A_1 with A_0 invertible and B has no symbol."""
    if set(a.layers) != {(0,), (1,)} or set(b.layers) != {(0,)}:
        return None
    found = cramer_of_pencil(a.layers[(0,)], a.layers[(1,)], b.layers[(0,)])
    if found is None:
        return None
    above = [flint.fmpz_poly(c) for c in found[0]]
    return PolynomialMatrix(a.ring, b.shape, above), flint.fmpz_poly(found[1])


def characteristic(a: PolynomialMatrix) -> list[Any]:
    """Coefficients of det(t I - A), leading one first."""
    n = a.shape[0]
    empty = PolynomialMatrix(a.ring, (n, 0), [])
    bounds = bounds_of(a, empty)
    return _through_points(
        a.ring, [(a.layers, a.shape)], bounds, n + 1,
        lambda matrix: flint.fmpz_mat(1, n + 1, matrix.charpoly().coeffs()[::-1]),
    )  # fmt: skip


def generic_rank(a: PolynomialMatrix) -> int:
    """The rank at one point, which the rank is at least."""
    layers = a.layers
    for k in range(a.ring.dimension):
        layers = _at(layers, 3 + 4 * k)
    return int(layers[()].rank()) if layers else 0


def points_of(a: PolynomialMatrix, b: PolynomialMatrix) -> int:
    """At how many points :func:`cramer` solves."""
    return math.prod(bound + 1 for bound in bounds_of(a, b))


def bounds_of(a: PolynomialMatrix, b: PolynomialMatrix) -> list[int]:
    """The degrees in each symbol that det A and the entries of N do not pass."""
    n, m = b.shape
    out = []
    for k in range(a.ring.dimension):
        left = [max(0, d[k]) for d in a.degrees]
        right = [max(0, d[k]) for d in b.degrees]
        up = [max(left[i * n : (i + 1) * n]) for i in range(n)]
        along = [max(left[j::n]) for j in range(n)]
        sides = [max(right[i * m : (i + 1) * m], default=0) for i in range(n)]
        by_rows = sum(up) + max(0, *(s - u for s, u in zip(sides, up, strict=True)))
        by_columns = sum(along) + max(0, max(sides) - min(along))
        out.append(min(by_rows, by_columns))
    return out


def _through_points(
    ring: PolynomialRing,
    matrices: list[tuple[Layers, tuple[int, int]]],
    bounds: list[int],
    size: int,
    at: Callable[..., Any],
) -> list[Any]:
    """The polynomials of which ``at`` gives the row of values at any point."""
    shapes = [shape for _, shape in matrices]

    def found(layers: list[Layers], dimension: int) -> dict[tuple[int, ...], Any]:
        if not dimension:
            whole = zip(layers, shapes, strict=True)
            row = at(*(x[()] if x else flint.fmpz_mat(*shape) for x, shape in whole))
            step()
            return {(): row}
        points: list[int] = []
        rows: list[dict[tuple[int, ...], Any]] = []
        bound, candidate, misses = bounds[dimension - 1], 0, 0
        while len(points) <= bound:
            try:
                rows.append(found([_at(x, candidate) for x in layers], dimension - 1))
                points.append(candidate)
            except SingularEverywhereError:
                misses += 1
                if misses > bound:
                    raise
            candidate = -candidate if candidate > 0 else 1 - candidate
        return _interpolated(points, rows, size)

    with Waiting("solving in symbols", math.prod(b + 1 for b in bounds)) as step:
        coefficients = found([layers for layers, _ in matrices], ring.dimension)
    terms: list[dict[tuple[int, ...], Any]] = [{} for _ in range(size)]
    for power, row in coefficients.items():
        for place, c in zip(terms, row.entries(), strict=True):
            if c:
                place[power] = c
    return [ring.from_terms(t) for t in terms]


def _at(layers: Layers, value: int) -> Layers:
    """The matrices once the last symbol has a value."""
    total: Layers = {}
    for power, layer in layers.items():
        scaled = layer * flint.fmpz(value) ** power[-1]
        rest = power[:-1]
        total[rest] = total[rest] + scaled if rest in total else scaled
    return total


def _interpolated(
    points: list[int], rows: list[dict[tuple[int, ...], Any]], size: int
) -> dict[tuple[int, ...], Any]:
    zero = [0] * size
    out = {}
    through = _by_differences if 2 * size < len(points) else _by_lagrange
    for rest in {power for row in rows for power in row}:
        values = [row[rest].entries() if rest in row else zero for row in rows]
        flat = through(points, values)
        for k in range(len(points)):
            part = flat[k * size : (k + 1) * size]
            if any(part):
                out[(*rest, k)] = flint.fmpz_mat(1, size, part)
    return out


def _by_lagrange(points: list[int], values: list[list[Any]]) -> list[Any]:
    """Coefficients of the integer polynomials through columns of values: those of one power after another."""
    basis, below = _lagrange(tuple(points))
    flat = [v for row in values for v in row]
    return ((basis * flint.fmpz_mat(len(points), len(values[0]), flat)) / below).entries()  # type: ignore[no-any-return]


def _by_differences(points: list[int], values: list[list[Any]]) -> list[Any]:
    """The same by Newton's differences, sooner for few columns; of integer polynomials they are integers."""
    size = len(points)
    columns = []
    for column in zip(*values, strict=True):
        c = list(map(flint.fmpz, column))
        for j in range(1, size):
            for i in range(size - 1, j - 1, -1):
                c[i] = (c[i] - c[i - 1]) // (points[i] - points[i - j])
        p = flint.fmpz_poly([c[-1]])
        for x, difference in zip(points[-2::-1], c[-2::-1], strict=True):
            p = p * flint.fmpz_poly([-x, 1]) + difference
        columns.append(p)
    return [p[k] for k in range(size) for p in columns]


@functools.lru_cache(maxsize=8)
def _lagrange(points: tuple[int, ...]) -> tuple[Any, Any]:
    """Integers T and d: values v at the points are those of the polynomial of coefficients T v / d."""
    whole = flint.fmpz_poly([1])
    for x in points:
        whole = whole * flint.fmpz_poly([-x, 1])
    parts = [whole // flint.fmpz_poly([-x, 1]) for x in points]
    heights = [p(x) for p, x in zip(parts, points, strict=True)]
    below = flint.fmpz(math.lcm(*map(int, heights)))
    columns = [(p * (below // h)).coeffs() for p, h in zip(parts, heights, strict=True)]
    size = len(points)
    columns = [[*c, *[0] * (size - len(c))] for c in columns]
    return flint.fmpz_mat(size, size, [x for column in columns for x in column]).transpose(), below


def coefficients_through(points: Sequence[int], values: list[list[Any]]) -> Any:
    """Coefficients, lowest first, of the polynomial through each column of rational values."""
    basis, below = _lagrange(tuple(points))
    flat = [v for row in values for v in row]
    table = flint.fmpq_mat(basis) * flint.fmpq_mat(len(points), len(values[0]), flat)
    return (table / below).tolist()
