"""Where a symbol may be: preimages of ranges, against the formulas at many numbers; rays; signs that follow."""

import itertools
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import QQ, ring

from obliquetd.algebra.intervals import SignRange, parts_of
from obliquetd.algebra.preimage import Limit, critical_factors, preimage, ranges_of
from obliquetd.algebra.rays import Ray, has_limit
from obliquetd.algebra.shifts import bounds_of, sign_from
from obliquetd.algebra.signs import KnownSigns, known_of

R = sp.Rational
X, Y = sp.symbols("x y")
SETS = [
    sp.Interval(0, 1),
    sp.Interval.open(0, 1),
    sp.Interval.Ropen(0, 1),
    sp.Interval(0, sp.oo),
    sp.Interval.open(0, sp.oo),
    sp.S.Reals,
]
numbers = st.fractions(min_value=-3, max_value=3, max_denominator=4)
polynomials = st.lists(st.integers(-3, 3), min_size=1, max_size=4)


@st.composite
def formulas(draw):
    """A rational function with small coefficients, and the set in which it has to lie."""
    above, below = (sum(c * X**k for k, c in enumerate(draw(polynomials))) for _ in range(2))
    found = sp.cancel(sp.sympify(above) / (below if below != 0 else 1))
    return Limit(found, draw(st.sampled_from(SETS)))


def is_right(limits, x):
    """Whether each formula is a number of its set at a rational, by arithmetic alone."""
    for formula, domain in limits:
        above, below = (sp.sympify(part).subs(X, x) for part in sp.fraction(sp.cancel(formula)))
        if below == 0 or (above / below) not in domain:
            return False
    return True


@settings(max_examples=25, deadline=None)
@given(st.lists(formulas(), min_size=1, max_size=3), st.lists(numbers, min_size=6, max_size=6))
def test_a_number_is_in_it_where_all_formulas_are_in_their_sets(limits, tried):
    limits = [limit for limit in limits if limit.formula.has(X)]
    found = preimage(limits, X)
    ends = [e for part in parts_of(found) for e in (part.inf, part.sup) if e.is_Rational]
    near = [e + d for e in ends for d in (0, R(1, 1000), -R(1, 1000))]
    for x in [*(R(t.numerator, t.denominator) for t in map(Fraction, tried)), *near]:
        assert (x in found) == is_right(limits, x), (limits, x)


@pytest.mark.parametrize(
    ("formula", "domain", "expected"),
    [
        (1 / X, SETS[0], sp.Interval(1, sp.oo)),
        (1 / (1 + X), SETS[2], sp.Interval.open(0, sp.oo)),
        (X**2, SETS[2], sp.Interval.open(-1, 1)),
        (1 / X**2, SETS[2], sp.Union(sp.Interval.open(-sp.oo, -1), sp.Interval.open(1, sp.oo))),
        (2 * X**2, SETS[0], sp.Interval(-sp.sqrt(2) / 2, sp.sqrt(2) / 2)),
        (-((X - 1) ** 2), SETS[0], sp.FiniteSet(1)),
        (X**2 + 2, SETS[0], sp.S.EmptySet),
        (X**2 * (X - 2), SETS[3], sp.Union(sp.FiniteSet(0), sp.Interval(2, sp.oo))),
        (1 / (X**2 - 2), SETS[5], sp.S.Reals - sp.FiniteSet(-sp.sqrt(2), sp.sqrt(2))),
        (1 / (2 + X**2), SETS[0], sp.S.Reals),
    ],
)
def test_preimages_with_exact_ends(formula, domain, expected):
    assert preimage([Limit(formula, domain)], X) == expected


def test_holes_and_sets_of_the_users_own_are_taken_out():
    unit = [Limit(X, SETS[0])]
    assert preimage(unit, X, {R(1, 2), sp.sqrt(2)}) == SETS[0] - sp.FiniteSet(R(1, 2))
    two = sp.Union(sp.Interval(-1, R(1, 3)), sp.Interval.open(sp.sqrt(2) / 2, 5))
    assert preimage([*unit, Limit(X, two)], X) == two & SETS[0]


def test_factors_say_where_a_formula_may_leave_its_set():
    assert critical_factors(Limit(X * Y, sp.Interval(0, 1))) == [Y, X, X * Y - 1]
    assert critical_factors(Limit(1 / (X - Y), sp.S.Reals)) == [X - Y]


def test_signs_hold_on_every_range_of_a_symbol():
    known = known_of([(1 / X**2, SETS[2])])
    field = QQ.frac_field(X)
    assert known.told([X]) == "x in (-oo, -1) or (1, oo)"
    for formula, sign in (
        (X**2 - 1, 1),
        (1 / X**2, 1),
        (X, None),
        (X**2 - 4, None),
        (1 - X**4, -1),
    ):
        assert known.of_fraction(field.from_sympy(formula)) == sign
    irrational = known_of([(2 * X**2, SETS[2])])
    for formula, sign in ((2 * X**2 - 1, -1), (X - 1, -1), (4 * X**4 - 1, -1), (X, None)):
        assert irrational.of_fraction(field.from_sympy(formula)) == sign
    both = known.and_also(known_of([(X, sp.Interval(0, 3))]))
    assert both.told([X]) == "x in (1, 3]"
    assert known.and_also(known_of([(X, sp.Interval(0, 1))])).is_empty


def test_one_that_is_less_by_a_number_has_the_sign_that_follows():
    A, x, y = ring("x, y", QQ)
    bounds = bounds_of([(2 * X * Y - 1, -1), (X - Y, 1)])
    expected = {
        x * y - 1: -1, x * y - A(1) / 2: -1, 3 - 2 * x * y: 1, x * y - A(1) / 3: None,
        x - y + 1: 1, y - x - 2: -1, x - y - 1: None, x + y: None,
    }  # fmt: skip
    assert {p: sign_from(bounds, p) for p in expected} == expected
    known = KnownSigns({}, {X * Y - 1: -1})
    assert known.of_fraction(QQ.frac_field(X, Y).from_sympy((X * Y - 2) / (3 - X * Y))) == -1


RAYS = [sp.Interval(R(-1, 2), sp.oo), sp.Interval.open(-sp.oo, 3), sp.Interval.open(2, sp.oo)]


@pytest.mark.parametrize("whole", RAYS)
def test_a_ray_and_back_is_where_it_was(whole):
    ray = Ray(whole, X)
    for x in (R(5, 2), R(7, 3), R(29, 10), R(21, 10)):
        t = sp.solve(ray.formula - x, X)[0]
        assert 0 < t < 1
        assert ray.back(sp.FiniteSet(t)) == sp.FiniteSet(x)
    assert ray.back(ray.inside) == whole
    for polynomial in (X**2 - 5, X**3 - 12, 10**9 * X**3 - 12 * 10**9 + 1, X**5 - 6 * X**4 + 7):
        for root in (r for r in sp.real_roots(polynomial) if r in whole.interior and r > 2):
            moved = sp.fraction(sp.cancel(polynomial.subs(X, ray.formula)))[0]
            near = min(
                ranges_of([Limit(moved, sp.Interval.open(0, sp.oo)), Limit(X, sp.Interval(0, 1))], X),
                key=lambda r: min(abs(sp.N(ray.formula.subs(X, e) - root)) if 0 < e < 1 else 9
                                  for e in (r.low, r.high)),
            )  # fmt: skip
            t = min(
                (e for e in (near.low, near.high) if 0 < e < 1),
                key=lambda e: abs(sp.N(ray.formula.subs(X, e) - root)),
            )
            (back,) = ray.back(sp.FiniteSet(t))
            assert sp.Poly(polynomial, X).eval(back) == 0 or abs(sp.N(back - root, 40)) < 1e-35
            assert back == root


def test_what_stays_finite_at_infinity():
    expected = {1 / X: True, X / (1 + X): True, X: False, X + 1 / X: False, 1 / (X - X**2): True}
    assert {f: has_limit(f) for f in expected} == expected


def test_a_range_is_widened_to_rationals_that_hold_it():
    for low, high in itertools.product((R(0), -sp.sqrt(2), -sp.oo), (R(3), sp.sqrt(7), sp.oo)):
        span = SignRange(low, high, has_low=low.is_finite, has_high=high.is_finite)
        wide = span.widened()
        assert wide.low <= low
        assert high <= wide.high
        assert all(e.is_Rational or e.is_infinite for e in (wide.low, wide.high))
        assert (wide == span) == all(e.is_Rational or e.is_infinite for e in (low, high))
