"""The values of small plots: those of exact arithmetic, or left out; never the sign of rounding."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd.domains import kolter
from obliquetd.report.model import report_on
from obliquetd.report.sampled import holds_at, values_at
from obliquetd.report.sketch import sketch

x, y = sp.symbols("x y")
POINTS = [sp.Rational(k, 7) for k in (-9, -3, 1, 3, 6, 8)]
GRID = {s: np.array([float(p) for p in POINTS]) for s in (x, y)}
small = st.integers(-4, 4)
polynomials = st.lists(
    st.tuples(small, st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=4
).map(lambda terms: sum((c * x**i * y**j for c, i, j in terms), sp.Integer(1)))


def assert_exact(formula):
    found = values_at(formula, GRID)
    for value, p in zip(found, POINTS, strict=True):
        exact = sp.sympify(formula).subs({x: p, y: p})
        if np.isnan(value):  # a pole, no real value, or nothing but rounding
            assert not exact.is_real or exact.has(sp.zoo, sp.nan) or abs(exact) < 1e-9
        else:
            assert float(value) == pytest.approx(float(exact), rel=1e-2, abs=1e-9)


@given(polynomials, polynomials)
@settings(max_examples=8)
def test_rational_functions_and_their_roots(above, below):
    assert_exact(sp.together(above) / sp.factor(below) if below != 0 else above)
    assert_exact(sp.sqrt(above**2))
    assert_exact(sp.sqrt(above))


def test_other_formulas():
    assert_exact(sp.acos(x / 2) + sp.Abs(y) - sp.Max(x, 0))
    assert_exact(sp.Piecewise((x**2, x < 0), (sp.sqrt(x), x > 0)))
    assert values_at(sp.Piecewise((x, x < 0)), {x: np.array([-1.0, 1.0])})[1] != 1


@pytest.mark.parametrize("power", [9, 15])
def test_a_sign_of_rounding_is_none(power):
    """Multiplied out, (x - 1)^9 near 1 is all rounding: the bound says so, where the sum alone has some sign."""
    formula = sp.expand((x - 1) ** power)
    near = np.linspace(0.99, 1.01, 41)
    raw = sp.lambdify(x, formula)(near)
    assert (np.sign(raw) != np.sign(near - 1)).any()
    found = values_at(formula, {x: np.concatenate([near, [3.0]])})
    assert not found[:-1].any()
    assert found[-1] == pytest.approx(2**power)


def test_a_plot_is_blank_where_it_does_not_hold():
    assert holds_at((x < 0) | (x > 1), GRID).tolist() == [True, True, False, False, False, True]
    whole, cut = (sketch(x - y, {}, where) for where in (sp.true, x > sp.Rational(1, 2)))
    assert 0.4 < str(cut).count("h4.8v") / str(whole).count("h4.8v") < 0.6


def test_a_report_on_weights_that_are_not_stationary_leaves_the_learner_with_a_trace_open():
    """It ended with the error that ETD needs stationary weights."""
    report = report_on(kolter("1/3"))
    section = next(s for s in report.learners if s.name == "ETD")
    assert (section.verdict, "not stationary" in section.problem) == ("undecided", True)
    assert {s.verdict for s in report.learners if s.name != "ETD"} == {"stable"}
