"""Where a formula is a probability, a discount or a weight: lines by themselves, against sympy's solver."""

from itertools import product

import pytest
import sympy as sp
from sympy.solvers.inequalities import solve_rational_inequalities

from obliquetd.algebra.intervals import holds
from obliquetd.mdp.substitution import Entry, valid_values

X = sp.Symbol("x")
ROLES = {"probability": (True, True), "discount": (True, True), "weight": (True, False)}


def solved(value, role):
    """With the solver of rational inequalities."""
    one, (below, above) = sp.Poly(1, X), ROLES[role]
    conditions = [((sp.Poly(value, X), one), ">=")] * below
    conditions += [((sp.Poly(1 - value, X), one), ">=")] * above
    return sp.S.Reals & solve_rational_inequalities([conditions])


@pytest.mark.parametrize("role", sorted(ROLES))
def test_a_line_is_between_0_and_1_where_the_solver_says(role):
    for slope, start in product((1, -1, sp.Rational(2, 3), -5), (0, 1, sp.Rational(-7, 4), 3)):
        value = slope * X + start
        found = valid_values([Entry("it", role, value)], X)
        assert found == solved(value, role)
        assert isinstance(found, sp.Interval)


def test_several_formulas_leave_what_all_allow():
    listed = [Entry("p", "probability", 2 * X), Entry("q", "probability", 1 - 2 * X)]
    assert valid_values(listed, X) == sp.Interval(0, sp.Rational(1, 2))
    listed.append(Entry("w", "weight", X**2 - sp.Rational(1, 16)))
    assert valid_values(listed, X) == sp.Interval(sp.Rational(1, 4), sp.Rational(1, 2))
    listed.append(Entry("g", "discount", X + 2))
    assert valid_values(listed, X) is sp.S.EmptySet
    assert valid_values([Entry("r", "number", 3 * X - 1)], X) == sp.S.Reals
    assert valid_values([Entry("r", "number", 1 / X)], X) == sp.S.Reals - sp.FiniteSet(0)


@pytest.mark.parametrize("value", [0, 1, sp.Rational(1, 3), -2, sp.sqrt(2) / 2, sp.sqrt(2)])
def test_a_value_is_in_an_interval_as_sympy_says(value):
    ends = (0, sp.Rational(1, 3), 1, sp.sqrt(2) / 2)
    for low, high in product((-sp.oo, *ends), (*ends, sp.oo)):
        for left, right in product((False, True), repeat=2):
            interval = sp.Interval(low, high, left, right)
            assert holds(interval, sp.sympify(value)) == (value in interval)
