"""Verdicts on polynomials and forms by hand: what a fault in one line of the decision would change."""

import pytest
import sympy as sp

from obliquetd.algebra import EXACT, FieldArithmetic, parse_number
from obliquetd.algebra.polynomials import even_part
from obliquetd.algebra.signs import known_of
from obliquetd.domains import two_state
from obliquetd.dynamics import mean_dynamics
from obliquetd.dynamics.stability import (
    Stability,
    definiteness,
    exact_stability,
    factor_of,
    routh_conditions,
    routh_is_positive,
    verdict_of,
    verdict_on,
    worst_of,
)
from obliquetd.errors import SignUndecidedError
from obliquetd.learners import TD

R = sp.Rational
x = sp.Symbol("x")

POLYNOMIALS = {
    "stable": [
        x - R(1, 2), (x - 1) * (x - 2), (x - 1) ** 3, ((x - R(1, 10)) ** 2 + 9) * (x - 1),
        (x - 1) ** 2 * (x - 2) ** 2 * (x - R(1, 3)),
    ],
    "unstable": [
        x + R(1, 2), (x - 1) * (x + 1), (x - 2) * (x + 1), ((x + R(1, 10)) ** 2 + 9) * (x - 1),
        (x**2 - 1) ** 2, (x**2 - 1) * (x**2 + 1), (x**4 + 1) * (x - 1), x**2 * (x**2 - 4), x**4 + 1,
        (x**2 - 1) * (x**2 + 1) ** 2, (x**2 + 1) ** 2 * (x + 1), x**3 * (x + 1), (x**2 - 2) * (x - 5),
        x * (x**2 - 4), x**3 * (x**2 - 1), x * (x**2 - 4) * (x - 1),
    ],
    "marginal": [
        x, x**2, x * (x - 1), x**2 + 1, (x**2 + 1) ** 2, (x**2 + 1) ** 3 * (x - 1), x**3 * (x - 2),
        x**2 * (x**2 + 4) ** 2, (x**2 + 1) * (x**2 + 2), x * (x**2 + 3) * (x - 1) ** 2,
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "polynomial"), [(v, p) for v, ps in POLYNOMIALS.items() for p in ps], ids=str
)
def test_a_verdict_by_its_roots(verdict, polynomial):
    """Repeated pairs on the axis are why the even part is made square-free before its roots are counted."""
    assert verdict_of(sp.Poly(polynomial, x).all_coeffs()) == verdict


@pytest.mark.parametrize("lead", [1, -1, R(1, 3), -5])
def test_the_leading_coefficient_is_of_no_account(lead):
    for verdict, polynomials in POLYNOMIALS.items():
        for polynomial in polynomials[:3]:
            assert verdict_of(sp.Poly(lead * polynomial, x).all_coeffs()) == verdict


@pytest.mark.parametrize(
    ("coefficients", "positive"),
    [
        ([1], True),
        ([1, 1], True),
        ([1, 0], False),
        ([1, -1], False),
        ([2, 1, 1], True),
        ([1, R(1, 2), R(1, 2)], True),
        ([1, 0, 1], False),
        ([1, 1, 0], False),
        ([1, 2, 3, 1], True),
        ([1, 1, 1, 1], False),
        ([1, 1, 1, 3], False),
        ([1, -1, 1, 1], False),
        ([1, -1, 1, -1], False),
        ([1, 1, -1, 1], False),
        ([1, 3, 1, 2], True),
        ([1, 4, 6, 4, 1], True),
        ([1, 1, 2, 1, 3], False),
        ([-1, -3, -3, -1], True),
        ([1, 5, 10, 10, 5, 1], True),
        ([3, 6, 3], True),
    ],
    ids=str,
)
def test_rouths_table(coefficients, positive):
    assert routh_is_positive([R(c) for c in coefficients]) is positive


def test_the_conditions_are_hurwitzs_determinants():
    """Of x^3 + a x^2 + b x + c at -x: -a > 0, c - a b > 0, and (c - a b)(-c) > 0."""
    a, b, c = sp.symbols("a b c", real=True)
    field = FieldArithmetic([a, b, c])

    def conditions(*coefficients):
        return routh_conditions(field, [field.scalar(sp.sympify(x)) for x in coefficients])

    first, second, third = conditions(1, a, b, c)
    assert sp.expand(first + a) == 0
    assert sp.expand(second - (c - a * b)) == 0
    assert sp.expand(third + c * (c - a * b)) == 0
    assert conditions(1, -a) == (a,)
    assert conditions(1, -2) == ()


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([[1]], "positive definite"),
        ([["1/2"]], "positive definite"),
        ([[0]], "positive semidefinite"),
        ([[-1]], "indefinite"),
        ([[2, 1], [0, 2]], "positive definite"),
        ([[1, 2], [0, 1]], "positive semidefinite"),
        ([[1, 3], [0, 1]], "indefinite"),
        ([[1, 0], [0, 0]], "positive semidefinite"),
        ([[-1, 0], [0, -1]], "indefinite"),
        ([[0, 0], [0, 0]], "positive semidefinite"),
        ([[1, 5], [-5, 1]], "positive definite"),
    ],
    ids=str,
)
def test_the_sign_of_a_form(rows, verdict):
    """z'Fz sees the symmetric part alone: [[1, 5], [-5, 1]] is z_1^2 + z_2^2."""
    scalars = [[EXACT.scalar(sp.Rational(v)) for v in row] for row in rows]
    form = EXACT.matrix(scalars, (len(rows), len(rows)))
    assert definiteness(form) == verdict


VERDICTS = ["unstable", "undecided", "marginal", "stable", "nothing moves"]


def judged(verdict, **more):
    return Stability(verdict, 0, "unknown", **more)


def test_the_worst_of_several_processes_counts():
    for k, worst in enumerate(VERDICTS):
        several = [judged(v) for v in VERDICTS[k:]]
        assert worst_of(several).verdict == worst
        assert worst_of(several[::-1]).verdict == worst


def test_only_stable_is_true_and_undecided_is_neither():
    assert [v for v in VERDICTS if v != "undecided" and judged(v)] == ["stable"]
    a, b = sp.symbols("a b")
    with pytest.raises(SignUndecidedError, match="it needs a > 0 and b > 0") as caught:
        bool(judged("undecided", condition=(a, b)))
    assert caught.value.expression == (a, b)
    with pytest.raises(SignUndecidedError, match="too close") as caught:
        bool(judged("undecided", margin=0.0, condition=("too close",)))
    assert "it needs" not in str(caught.value)


def test_a_matrix_is_judged_by_its_polynomial_and_left_open_where_a_symbol_decides():
    one = EXACT.one
    assert verdict_on(EXACT.matrix([[one, one], [EXACT.zero, one]], (2, 2))) == ("stable", ())
    assert verdict_on(EXACT.matrix([[-one]], (1, 1))) == ("unstable", ())
    a = sp.Symbol("a")
    field = FieldArithmetic([a])
    assert verdict_on(field.matrix([[field.one + field.one]], (1, 1))) == ("stable", ())
    assert verdict_on(field.matrix([[field.scalar(a)]], (1, 1))) == ("undecided", (a,))


def test_pairs_that_count_twice_stand_once_in_the_even_part():
    """(x - 2) (x^2 + 1)^2: u(y) = y + 1, once, so that its sign changes where its roots are."""
    x = sp.Symbol("x")
    p = sp.Poly((x - 2) * (x**2 + 1) ** 2, x)
    rest, u = even_part([parse_number(c) for c in p.all_coeffs()])
    assert [[str(c) for c in part] for part in (rest, u)] == [["1", "-2"], ["1", "1"]]


def in_a_unit_interval(*conditions):
    """A diagonal matrix over p in [0, 1], known to its field alone."""
    p = sp.Symbol("p")
    field = FieldArithmetic([p], known_of([(p, sp.Interval(0, 1))]))
    n = len(conditions)
    rows = [
        [field.scalar(sp.sympify(c)) if i == j else field.zero for j in range(n)]
        for i, c in enumerate(conditions)
    ]
    return field, field.matrix(rows, (n, n))


def test_a_sign_that_is_known_for_all_values_decides():
    assert verdict_on(in_a_unit_interval("-1 - p")[1]) == ("unstable", ())
    assert verdict_on(in_a_unit_interval("1 + p")[1]) == ("stable", ())
    verdict, left = verdict_on(in_a_unit_interval("1 - 2*p")[1])
    assert verdict == "undecided"
    assert [sp.expand(c) for c in left] == [sp.sympify("1 - 2*p")]


def test_the_factor_on_which_a_condition_depends():
    field, matrix = in_a_unit_interval("1 - 2*p", "1 + p")
    conditions = [sp.sympify("(1 - 2*p) * (1 + p)"), sp.sympify("1 + p")]
    assert sp.expand(factor_of(field, conditions)) in (sp.sympify("1 - 2*p"), sp.sympify("2*p - 1"))
    assert factor_of(EXACT, conditions) is None
    assert matrix.shape == (2, 2)


@pytest.mark.parametrize(("critical", "verdict"), [("1 - 2*p", "undecided"), ("1 + p", "marginal")])
def test_marginal_for_all_values_needs_the_span_to_be_whole(critical, verdict):
    """Where the span of the updates may be smaller for some value, an eigenvalue 0 may be none there."""
    field, _ = in_a_unit_interval("1")
    Q = field.matrix([[field.zero, field.scalar(sp.Symbol("p"))], [field.zero] * 2], (2, 2))
    found = exact_stability(Q, Q, 0, [field.scalar(sp.sympify(critical))])
    assert found.verdict == verdict
    assert bool(found.condition) == (verdict == "undecided")


@pytest.mark.parametrize("critical", ["1 - 2*p", "1 + p"])
def test_unstable_for_all_values_does_not(critical):
    """What is lost has the eigenvalue 0."""
    field, Q = in_a_unit_interval("-1 - p")
    found = exact_stability(Q, Q, 0, [field.scalar(sp.sympify(critical))])
    assert (found.verdict, found.everywhere) == ("unstable", "p in [0, 1]")


def test_symbols_in_rewards_alone_leave_the_form_of_numbers():
    found = mean_dynamics(two_state("1/2", reward="r"), TD()).stability
    assert found.verdict == "stable"
    assert not found.everywhere
    assert found.symmetric_part == "positive definite"
