"""Factors of polynomials with long coefficients, and what is right where there are none."""

import flint
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import QQ, ring

import obliquetd as otd
from obliquetd.algebra import FieldArithmetic, factoring
from obliquetd.algebra.factoring import (
    factored,
    factors_of,
    irreducible_factors,
    public_factors,
)
from obliquetd.algebra.intervals import SignRange
from obliquetd.algebra.signs import KnownSigns
from obliquetd.domains import kolter, random_problem
from obliquetd.dynamics.plane import plane_of
from obliquetd.dynamics.regions import stability_map
from obliquetd.errors import SignUndecidedError, SizeError
from obliquetd.report.model import report_on

R, x, y = ring("x, y", QQ)
LONG = 10**30
g, p = sp.symbols("gamma p")
UNIT = SignRange(sp.Integer(0), sp.Integer(1))


@pytest.fixture
def without_factors(monkeypatch):
    """FLINT gives up on every polynomial in several symbols; no fraction of other tests is remembered."""

    class GivesUp:
        @staticmethod
        def get(*_):
            raise RuntimeError("factorisation failed")

    factors_of.cache_clear()
    monkeypatch.setattr(factoring.flint, "fmpq_mpoly_ctx", GivesUp)
    yield
    factors_of.cache_clear()


@pytest.mark.parametrize(
    "parts",
    [
        [x + LONG * y, x - 3 * y],
        [x + LONG * y + 1, x + LONG * y - 7],
        [x * y + 1, x * y + LONG],
        [LONG * x + y, (LONG + 1) * x + y, x + y],
        [x + LONG, x + LONG + 1],
    ],
)
def test_long_coefficients_are_factored(parts):
    """FLINT's integer polynomials compare such factors by machine words: OverflowError."""
    product = R(QQ(3, 7))
    for part in parts:
        product *= part
    number, found = factors_of(product)
    assert number == QQ(3, 7)
    assert {f for f, _ in found} == set(parts)
    assert all(power == 1 for _, power in found)


numbers = st.integers(-(2**80), 2**80)


@given(st.lists(st.tuples(numbers, numbers, numbers, st.integers(1, 2)), min_size=1, max_size=3))
@settings(max_examples=30, deadline=None)
def test_factors_multiply_to_the_polynomial(parts):
    product = R(QQ(-5, 6))
    for a, b, c, power in parts:
        product *= (a * x + b * y + c) ** power
    if not product:
        return
    number, found = factors_of(product)
    total = R(number)
    for factor, power in found:
        assert factor.LC > 0
        total *= factor**power
    assert total == product


def test_public_formulas_are_factored_as_sympy_does():
    for formula in (
        (g**2 - p**2) / (2 * g - 2 * p) - 1,
        (g * p - p) / (1 - g**2),
        g - g,
        sp.Rational(2, 3) + 0 * p,
    ):
        assert factored(formula) == sp.factor(formula)
    assert public_factors((LONG * g - p) * (g + p) / (1 - g)) == [g + p, LONG * g - p, g - 1]
    assert public_factors(sp.Integer(5)) == []
    assert [str(f) for f in irreducible_factors(flint.fmpq_poly([-2, 0, 2]))] == [
        "x + (-1)",
        "x + 1",
    ]


class TestWithoutFactors:
    """A formula is shown unfactored then, and what is decided stays right."""

    def test_a_formula_is_shown_as_one_quotient(self, without_factors):
        field = FieldArithmetic([g, p])
        shown = field.public(field.scalar((g**2 - p**2) / (g * p - 1)))
        assert shown == (g**2 - p**2) / (g * p - 1)

    def test_signs_are_right_or_left_open(self, without_factors):
        known = KnownSigns({g: (UNIT,), p: (UNIT,)})
        field = FieldArithmetic([g, p], known)
        assert field.sign(field.scalar((1 - g) * (2 - p) * (1 + g * p))) == 1
        assert field.sign(field.scalar((g - 1) * (2 - p))) == -1
        with pytest.raises(SignUndecidedError):
            field.sign(field.scalar((g - p) * (1 + g)))

    def test_a_root_keeps_its_square(self, without_factors):
        field = FieldArithmetic([g, p], KnownSigns({g: (UNIT,), p: (UNIT,)}))
        root = field.sqrt(field.scalar((1 + g) ** 2 * (1 + p)))
        at = {g: sp.Rational(1, 3), p: sp.Rational(1, 2)}
        assert sp.simplify(root.subs(at) ** 2 - sp.Rational(16, 9) * sp.Rational(3, 2)) == 0

    def test_a_plane_whose_boundary_is_not_factored_is_refused(self, without_factors):
        """Two curves in one polynomial would meet everywhere, and the cells be wrong."""
        square = ((g - p) ** 2).expand()
        found = stability_map(
            random_problem(3, 1, seed=0, discount="gamma"),
            otd.TD(lam="p"),
            ("gamma", "p"),
            ((0, 1), (0, 1)),
            resolution=1,
        )
        drawn = type(found)(
            (square,),
            found.first,
            found.second,
            found.stable,
            found.symbols,
            found.at,
            found.limits,
        )
        with pytest.raises(SizeError, match="put a number in for one of the symbols"):
            plane_of(drawn, ((0, 1), (0, 1)))

    def test_verdicts_are_those_with_factors(self, without_factors):
        problem = random_problem(3, 2, seed=2, discount="gamma").replace(
            features=[["p", 1], [0, 1], [2, -1]]
        )
        found = otd.mean_dynamics(problem, otd.TD()).stability
        factors_of.cache_clear()
        at = {"gamma": "1/3", "p": "1/2"}
        there = otd.mean_dynamics(problem.subs(at), otd.TD()).is_stable()
        assert found.verdict == "undecided"
        values = [c.subs({g: sp.Rational(1, 3), p: sp.Rational(1, 2)}) for c in found.condition]
        assert all(v > 0 for v in values) == there


def four_states():
    """A feature p beside the discount, and numbers of four digits."""
    problem = random_problem(4, 2, seed=1, discount="gamma")
    rows = [[*row] for row in problem.Phi.tolist()]
    rows[0][0] = "p"
    return problem.replace(features=rows)


def numbers_near(formula, values):
    return sp.N(formula.subs(values), 30)


AT = {g: sp.Rational(9, 10), p: sp.Rational(1, 3)}


class TestTwoSymbols:
    """Kolter's example, and errors, angles and a verdict of others, died in FLINT's order of factors."""

    def test_the_angle_of_kolters_example(self):
        problem = kolter(p="p", discount="gamma")
        there = problem.subs({"gamma": "9/10", "p": "1/3"})
        for method in ("setd", "td", "rg"):
            angle = numbers_near(problem.fixed_point(method).angle, AT)
            assert abs(angle - sp.N(there.fixed_point(method).angle, 30)) < 1e-25

    def test_comparison_of_kolters_example(self):
        problem = kolter(p="p", discount="gamma")
        shown = str(otd.compare(problem, ["td", "setd", "etd"]))
        assert all(name in shown for name in ("td", "setd", "etd"))

    @pytest.mark.slow
    def test_the_report_of_kolters_example(self):
        report = report_on(kolter(p="p", discount="gamma"))
        assert {s.name for s in report.learners} >= {"TD", "SETD", "GTD2"}

    @pytest.mark.parametrize(
        "learner", [otd.TD(), otd.GTD2(), otd.TDC(), otd.ResidualGradient()], ids=str
    )
    def test_fixed_points_and_verdicts(self, learner):
        problem = four_states()
        there = problem.subs({"gamma": "9/10", "p": "1/3"})
        found, at = otd.mean_dynamics(problem, learner), otd.mean_dynamics(there, learner)
        assert found.fixed_point().subs(AT) == at.fixed_point()
        stability = found.stability
        if stability.verdict == "undecided":
            assert all(c.subs(AT) > 0 for c in stability.condition) == at.is_stable()
        else:
            assert stability.verdict == at.stability.verdict

    @pytest.mark.parametrize("method", ["td", "rg", "etd", "best"])
    def test_errors_and_angles(self, method):
        problem = four_states()
        there = problem.subs({"gamma": "9/10", "p": "1/3"}).fixed_point(method)
        found = problem.fixed_point(method)
        for name in ("rmse", "angle"):
            value = numbers_near(getattr(found, name), AT)
            assert abs(value - sp.N(getattr(there, name), 30)) < 1e-20

    def test_the_bound_of_a_projection_is_a_product(self):
        """It was simplified, which does not end."""
        problem = four_states()
        there = otd.projection_analysis(problem.subs({"gamma": "9/10", "p": "1/3"}), "td").bound
        found = otd.projection_analysis(problem, "td").bound
        assert abs(numbers_near(found, AT) - sp.N(there, 30)) < 1e-20

    def test_the_noise(self):
        problem = four_states()
        there = problem.subs({"gamma": "9/10", "p": "1/3"})
        found, at = (otd.efficiency(q, otd.TD()).noise_covariance for q in (problem, there))
        assert found.subs(AT) == at

    @pytest.mark.parametrize("seed", [0, 1])
    def test_the_verdict_with_a_trace_on_three_states(self, seed):
        problem = random_problem(3, 2, seed=seed, discount="gamma")
        rows = [[x + sp.Rational(7 * k + i + 1, 1000) for i, x in enumerate(row)]
                for k, row in enumerate(problem.Phi.tolist())]  # fmt: skip
        rows[0][0] = p
        problem, learner = problem.replace(features=rows), otd.TD(lam="1/2")
        found = otd.mean_dynamics(problem, learner).stability
        for gamma, value in (("1/10", "1/3"), ("9/10", 2), ("1/2", -4)):
            there = otd.mean_dynamics(problem.subs({"gamma": gamma, "p": value}), learner)
            signs = [
                c.subs({g: sp.Rational(gamma), p: sp.Rational(value)}) > 0 for c in found.condition
            ]
            assert all(signs) == there.is_stable()
