"""Signs over ranges, against values at many points and against sympy's own reasoning."""

import itertools
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import QQ, ring

from obliquetd.algebra import FieldArithmetic
from obliquetd.algebra.intervals import SignRange
from obliquetd.algebra.polynomial_ring import factors_of
from obliquetd.algebra.sign_cases import sign_cases
from obliquetd.algebra.signs import KnownSigns, known_of, sign_on_box
from obliquetd.errors import SignUndecidedError

R, X, Y = ring("x, y", QQ)
x, y = sp.symbols("x y")
UNIT = SignRange(sp.Integer(0), sp.Integer(1))
GRID = [Fraction(k, 13) for k in range(1, 13)]

coefficients = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 2)), st.integers(-4, 4), min_size=1, max_size=6
)


def values(polynomial):
    return [polynomial(a, b) for a, b in itertools.product(GRID, GRID)]


@given(coefficients)
def test_a_sign_is_that_of_all_values_inside(terms):
    polynomial = R(0) + sum(c * X**i * Y**j for (i, j), c in terms.items())
    if polynomial:
        found = sign_on_box(polynomial, [UNIT, UNIT])
        assert found is None or all(v * found > 0 for v in values(polynomial))


@given(coefficients)
def test_a_sum_of_squares_and_more_is_positive(terms):
    """One that is at least 1/10 is found to be positive, so that not all is left undecided."""
    root = R(0) + sum(c * X**i * Y**j for (i, j), c in terms.items() if i < 2 and j < 2)
    assert sign_on_box(root**2 + sum(abs(c) for c in terms.values()) + 1, [UNIT, UNIT]) in (1, None)
    assert sign_on_box(1 + X * Y + X**2 - X / 2, [UNIT, UNIT]) == 1


@pytest.mark.parametrize(
    ("polynomial", "ranges", "expected"),
    [
        (1 - X, (sp.Interval.Ropen(0, 1), UNIT), 1),
        (1 - X, (sp.Interval(0, 1), UNIT), None),  # 0 at the end
        (X, (sp.Interval.Ropen(0, 1), UNIT), None),
        (X, (sp.Interval.open(0, 1), UNIT), 1),
        (1 - X * Y, (sp.Interval.Ropen(0, 1), sp.Interval(0, 1)), 1),
        (1 - X * Y, (sp.Interval(0, 1), sp.Interval(0, 1)), None),
        (X - Y, (sp.Interval(0, 1), sp.Interval(2, 3)), -1),
        (X * Y - 1, (sp.Interval(2, sp.oo), sp.Interval(1, sp.oo)), 1),
        (X - 1, (sp.Interval(-sp.oo, 0), UNIT), -1),
        ((2 * X - 1) ** 2, (UNIT, UNIT), None),  # 0 inside
        ((2 * X - 1) ** 2 + (2 * Y - 1) ** 2, (UNIT, UNIT), None),
        (4 * X**2 - 4 * X + R(101) / 100, (UNIT, UNIT), 1),
        (X * Y - 1, (UNIT, sp.Interval(-sp.oo, sp.oo)), None),
    ],
)
def test_ends_and_zeros_count(polynomial, ranges, expected):
    spans = [r if isinstance(r, SignRange) else SignRange.of(r) for r in ranges]
    assert sign_on_box(polynomial, spans) == expected


def test_arithmetic_uses_what_is_known():
    unit = sp.Interval.open(0, 1)
    field = FieldArithmetic([x, y], known_of([(x, unit), (y, unit), (1 - x - y, unit)]))
    assert field.sign(field.scalar((1 - x) * (x + y) / (1 + y))) == 1
    assert field.sign(field.scalar((x + y - 1) / x)) == -1
    with pytest.raises(SignUndecidedError, match="depends on x, y") as caught:
        field.sign(field.scalar((x - y) / (1 - x)))
    assert caught.value.factor == x - y
    assert field.sqrt(field.scalar(x**2 * (1 - y) ** 2 / (1 + x) ** 2)) == x * (1 - y) / (x + 1)
    assert FieldArithmetic([x, y]) != field


def test_more_than_one_way_to_a_root():
    """sqrt with known signs squares to what it came from, and is positive."""
    field = FieldArithmetic([x], known_of([(x, sp.Interval.Ropen(0, 1))]))
    for formula in (
        x**3 * (1 - x) ** 2,
        4 * x / (1 - x) ** 4,
        (2 * x - 1) ** 2 * x**2,
        2 * (x - 3) ** 2,
    ):
        root = field.sqrt(field.scalar(formula))
        assert sp.simplify(root**2 - formula) == 0
        assert all(root.subs(x, sp.Rational(k, 7)) >= 0 for k in range(7))


@given(st.integers(-5, 5), st.integers(-5, 5), st.integers(1, 5))
def test_cases_are_those_of_the_absolute_value(a, b, c):
    polynomial = a * x + b * y + c

    def absolute(field):
        value = field.scalar(polynomial)
        return field.public(value if field.sign(value) > 0 else -value)

    unit = dict.fromkeys((x, y), (UNIT,))
    cases = sign_cases(FieldArithmetic([x, y], KnownSigns(unit)), absolute)
    for at in itertools.product(GRID[::4], GRID[::4]):
        point = {x: sp.Rational(at[0]), y: sp.Rational(at[1])}
        size = abs(sp.sympify(polynomial).subs(point))
        found = [case.value.subs(point) for case in cases if case.condition.subs(point) == sp.true]
        assert found == [size] or size == 0


def test_one_symbol_is_cut_at_irrational_points_too():
    field = FieldArithmetic([x], known_of([(x, sp.Interval(0, 2))]))

    def least(f):
        value = f.scalar(x**2 - 2)
        return f.public(value if f.sign(value) < 0 else f.zero)

    low, high = sign_cases(field, least)
    assert (low.value, high.value) == (x**2 - 2, 0)
    assert low.condition == sp.Interval.Ropen(0, sp.sqrt(2)).as_relational(x)
    assert high.condition == sp.Interval.Lopen(sp.sqrt(2), 2).as_relational(x)


@given(
    st.lists(st.tuples(coefficients, st.integers(1, 2)), min_size=1, max_size=3),
    st.sampled_from([1, -1]),
)
@settings(max_examples=20)
def test_factors_are_sympys(parts, turn):
    """FLINT's, as sympy writes them: a number, and factors of whole coefficients with a positive first one."""
    product = R(QQ(turn * 3, 4))
    for terms, power in parts:
        product *= R.from_dict({k: QQ(v) for k, v in terms.items() if v}) ** power
    if not product:
        return
    number, factors = product.factor_list()
    found, own = factors_of(product)
    assert found == number
    assert set(own) == set(factors)


@given(coefficients, coefficients)
@settings(max_examples=15)
def test_a_root_is_its_factors_outside_times_the_root_of_the_rest(above, below):
    field = FieldArithmetic([x, y], KnownSigns({x: (UNIT,), y: (UNIT,)}))
    p, q = (R.from_dict({k: QQ(v) for k, v in terms.items() if v}) for terms in (above, below))
    if not p or not q:
        return
    fraction = field.scalar(p.as_expr() ** 2 * x**3 / (q.as_expr() ** 2 * (1 + y)))
    outside, inside = field.known.inside.split_square(fraction)
    assert field.scalar(outside) ** 2 * inside == fraction
