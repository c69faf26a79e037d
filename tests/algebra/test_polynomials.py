"""Determinants, factors and common divisors by FLINT, against sympy."""

import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from obliquetd.algebra import EXACT, parse_number
from obliquetd.algebra.polynomials import (
    characteristic_factors,
    determinant_polynomial,
    even_part,
    nearest_root,
)

x = sp.Symbol("x")
small = st.integers(-3, 3)
matrices = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.lists(small, min_size=n, max_size=n), min_size=n, max_size=n)
)


def native(rows):
    return [[parse_number(v) * EXACT.one for v in row] for row in rows]


def descending(coefficients, symbol=x):
    return sp.Poly([sp.Rational(str(c)) for c in coefficients], symbol)


@given(matrices)
def test_factors_of_the_characteristic_polynomial(rows):
    factors = characteristic_factors(native(rows))
    wanted = sp.Matrix(rows).charpoly(x).factor_list()[1]
    assert {tuple(f.coefficients) for f in factors} == {tuple(p.all_coeffs()) for p, _ in wanted}
    for factor in factors:
        assert len(factor.roots) == factor.degree


@given(matrices, matrices)
def test_a_determinant_as_a_polynomial(M, N):
    n = min(len(M), len(N))
    M, N = (sp.Matrix(A)[:n, :n] for A in (M, N))
    found = determinant_polynomial(lambda a: native((M + a * N).tolist()), n)
    assert sp.expand(found.as_expr().subs(found.gen, x) - (M + x * N).det()) == 0


@given(
    st.lists(small, min_size=1, max_size=3),
    st.lists(st.integers(1, 3), max_size=2),
    st.integers(0, 2),
)
def test_roots_in_pairs_are_taken_out(real, imaginary, zeros):
    p = sp.Poly(sp.prod([x - r for r in real] + [x**2 + k for k in imaginary]) * x**zeros, x)
    rest, u = even_part([parse_number(c) for c in p.all_coeffs()])
    mirror = sp.Poly(p.as_expr().subs(x, -x), x)
    h = sp.gcd(p, mirror)
    assert descending(rest).monic() == sp.quo(p, h).monic()
    odd = min(n for (n,) in h.monoms())
    paired = sp.Poly(
        sp.cancel(h.as_expr() / x**odd).subs(x, sp.sqrt(x)), x
    )  # even: a square's function
    assert descending(u).monic() == paired.sqf_part().monic()


def test_a_root_near_a_number():
    p = sp.Poly((x**2 - 2) * (x - 1) * (x**2 + 1), x)
    assert nearest_root(p, 1.3) == sp.sqrt(2)
    assert nearest_root(p, -7) == -sp.sqrt(2)
