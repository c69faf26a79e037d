"""The routes that symbolic matrices took before: sympy's fields, and interpolation by row-cleared systems."""

import math

import flint
from sympy.polys.matrices import DomainMatrix

from obliquetd.algebra import FieldArithmetic


class FieldOfFractions(FieldArithmetic):
    """Functions as sympy's ``DomainMatrix`` over its field of fractions, every sum in lowest terms."""

    def __init__(self, symbols, known=None):
        super().__init__(symbols, known)
        self.ring = None


class SingularEverywhereError(ArithmeticError):
    """The determinant is the zero polynomial."""


def solve_by_interpolation(a, b):
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


def _integer_poly(poly):
    coefficients = [0] * (poly.degree() + 1 if poly else 1)
    for (power,), c in poly.terms():
        coefficients[power] = int(c.numerator)
    return flint.fmpz_poly(coefficients)


def _polynomial_rows(left, right, n, m):
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


def _split(poly):
    """Content and primitive part."""
    content = poly.content()
    return content, poly // flint.fmpz_poly([content])


def _samples(rows, n, m, bound):
    points = []
    values = []
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


def coefficients_through(points, values):
    """Coefficients, lowest first, of the polynomial through each column of values: one solve."""
    size = len(points)
    vandermonde = flint.fmpq_mat(
        size, size, [flint.fmpz(x) ** k for x in points for k in range(size)]
    )
    right = flint.fmpq_mat(size, len(values[0]), [v for row in values for v in row])
    return vandermonde.solve(right).tolist()


def _interpolate(points, values):
    """One integer polynomial for each column of values."""
    table = coefficients_through(points, values)
    return [flint.fmpz_poly([int(row[j].p) for row in table]) for j in range(len(values[0]))]


def _reduced(numerator, denominator, field):
    common = numerator.gcd(denominator)
    if denominator.coeffs()[-1] < 0:
        common = -common
    ring = field.field.ring

    def poly(p):
        return ring.from_dict({(k,): ring.domain(int(c)) for k, c in enumerate(p.coeffs()) if c})

    if numerator == 0:
        return field.zero
    return field.field.raw_new(poly(numerator // common), poly(denominator // common))


def solve_without_fractions(a, b):
    """Solve over K = QQ(x, y, ...) by clearing each row's denominators first."""
    field = a.domain
    ring = field.get_ring()
    n, m = a.shape[0], b.shape[1]
    cleared = []
    for left, right in zip(a.to_list(), b.to_list(), strict=True):
        row = [*left, *right]
        common = ring.one
        for x in row:
            common = ring.lcm(common, x.denom)
        cleared.append([x.numer * ring.quo(common, x.denom) for x in row])
    left_ring = DomainMatrix([row[:n] for row in cleared], (n, n), ring)
    right_ring = DomainMatrix([row[n:] for row in cleared], (n, m), ring)
    numerator, denominator = left_ring.solve_den(right_ring)
    below = field.convert_from(denominator, ring)
    return DomainMatrix(
        [[field.convert_from(x, ring) / below for x in row] for row in numerator.to_list()],
        (n, m),
        field,
    )
