"""Linear systems over QQ(x), solved by FLINT at integers and interpolated.

Let A(x) X = B(x) with polynomial entries after each row has been cleared of
denominators. By Cramer's rule X = N(x) / det A(x), where det A and every entry of N
are minors of [A | B], so their degrees are at most the sum over rows of the largest
degree in the row. That many points plus one determine them: the result is exact,
with no probabilistic step. A point where det A vanishes gives no X and is passed
over; A is singular everywhere as soon as more points than the degree bound vanish.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import flint
from sympy.polys.matrices import DomainMatrix

__all__ = ["SingularEverywhereError", "coefficients_through", "solve_by_interpolation"]


class SingularEverywhereError(ArithmeticError):
    """The determinant is the zero polynomial."""


def solve_by_interpolation(a: DomainMatrix, b: DomainMatrix) -> DomainMatrix:
    """The X with ``a X = b``, for matrices over a field of functions of one symbol."""
    field = a.domain
    n, m = a.shape[0], b.shape[1]
    rows, scales = _polynomial_rows(a.to_list(), b.to_list(), n, m)
    bound = sum(max(0, *(p.degree() for p in row)) for row in rows)
    points, values = _samples(rows, n, m, bound)
    numerators = _interpolate(points, values)
    determinant = numerators.pop()
    out = [
        [_reduced(numerators[i * m + j], determinant * scales[j], field) for j in range(m)]
        for i in range(n)
    ]
    return DomainMatrix(out, (n, m), field)


def _integer_poly(poly: Any) -> Any:
    coefficients = [0] * (poly.degree() + 1 if poly else 1)
    for (power,), c in poly.terms():
        coefficients[power] = int(c.numerator)
    return flint.fmpz_poly(coefficients)


def _polynomial_rows(
    left: list[list[Any]], right: list[list[Any]], n: int, m: int
) -> tuple[list[list[Any]], list[int]]:
    """[A | B] with integer polynomials, and the factor by which each column of B grew.

    Each row is multiplied by the least common multiple of its denominators. What is
    numeric in B's denominators is cleared by columns instead: otherwise long weights in
    B would enter the determinant, one factor a row. sympy keeps a fraction over QQ with
    integer coefficients above and below.
    """
    cleared = []
    for row, tail in zip(left, right, strict=True):
        entries = [(_integer_poly(x.numer), *_split(_integer_poly(x.denom))) for x in (*row, *tail)]
        common = flint.fmpz_poly([1])
        for _, _, primitive in entries:
            common = common * (primitive // common.gcd(primitive))
        number = flint.fmpz(math.lcm(*(int(content) for _, content, _ in entries[:n])))
        cleared.append(
            [
                (numer * (common // primitive) * number, content)
                for numer, content, primitive in entries
            ]
        )
    scales = [math.lcm(*(int(row[n + j][1]) for row in cleared)) for j in range(m)]
    rows = [
        [
            *(p // flint.fmpz_poly([c]) for p, c in row[:n]),
            *(p * (s // int(c)) for (p, c), s in zip(row[n:], scales, strict=True)),
        ]
        for row in cleared
    ]
    return rows, scales


def _split(poly: Any) -> tuple[Any, Any]:
    """Content and primitive part."""
    content = poly.content()
    return content, poly // flint.fmpz_poly([content])


def _samples(rows: list[list[Any]], n: int, m: int, bound: int) -> tuple[list[int], list[Any]]:
    points: list[int] = []
    values: list[Any] = []
    misses = 0
    candidate = 0
    while len(points) <= bound:
        a = flint.fmpz_mat(n, n, [p(candidate) for row in rows for p in row[:n]])
        det = a.det()
        if det == 0:
            misses += 1
            if misses > bound:
                raise SingularEverywhereError
        else:
            b = flint.fmpz_mat(n, m, [p(candidate) for row in rows for p in row[n:]])
            points.append(candidate)
            values.append([*((a.solve(b)) * det).entries(), flint.fmpq(det)])
        candidate = -candidate if candidate > 0 else 1 - candidate
    return points, values


def coefficients_through(points: Sequence[int], values: list[list[Any]]) -> Any:
    """Coefficients, lowest first, of the polynomial through each column of values: one solve."""
    size = len(points)
    vandermonde = flint.fmpq_mat(
        size, size, [flint.fmpz(x) ** k for x in points for k in range(size)]
    )
    right = flint.fmpq_mat(size, len(values[0]), [v for row in values for v in row])
    return vandermonde.solve(right).tolist()


def _interpolate(points: list[int], values: list[Any]) -> list[Any]:
    """One integer polynomial for each column of values."""
    table = coefficients_through(points, values)
    return [flint.fmpz_poly([int(row[j].p) for row in table]) for j in range(len(values[0]))]


def _reduced(numerator: Any, denominator: Any, field: Any) -> Any:
    common = numerator.gcd(denominator)
    if denominator.coeffs()[-1] < 0:
        common = -common
    ring = field.field.ring

    def poly(p: Any) -> Any:
        return ring.from_dict({(k,): ring.domain(int(c)) for k, c in enumerate(p.coeffs()) if c})

    if numerator == 0:
        return field.zero
    return field.field.raw_new(poly(numerator // common), poly(denominator // common))
