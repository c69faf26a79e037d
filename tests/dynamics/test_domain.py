"""A symbol inside a formula: everything over it is looked at where there is a problem and a learner.

The oracle makes problem and learner anew with a number in place of the symbol. A value is in a region just where that
works, the discount is below 1, and the learner made so is stable.
"""

import pytest
import sympy as sp

import obliquetd as otd
from obliquetd import MDP, Policy, PolicyEvaluation, improvement_region, mean_dynamics
from obliquetd.algebra.intervals import parts_of
from obliquetd.domains import random_problem, two_state
from obliquetd.dynamics.cases import dynamics_cases
from obliquetd.dynamics.domain import domain_of, limits_of
from obliquetd.dynamics.plane import plane_of
from obliquetd.dynamics.regions import stability_map, stability_region
from obliquetd.errors import InputError, ObliqueTDError
from obliquetd.exploration import explore
from obliquetd.learners import (
    ABTD,
    ETD,
    GTD2,
    SETD,
    TD,
    TDRC,
    RegularizedTD,
    VTrace,
    WeightedTD,
)  # fmt: skip
from obliquetd.report.over_symbols import over_symbols
from obliquetd.report.sketch import ranges_of
from tests.turn import quick_ones

R, S, oo = sp.Rational, sp.Interval, sp.oo
X = sp.Symbol("x")


def loop(p, q, **fields):
    """A state that is left with chance q, and one that always is; features 1 and 2."""
    rows = [("a", "go", "a", p, 0), ("a", "go", "b", q, 1), ("b", "go", "a", 1, 0)]
    mdp = MDP.from_transitions(rows)
    fields = {"discount": "9/10", "features": [[1], [2]], **fields}
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), **fields)


def off(**fields):
    """The two-state example with some fields changed."""
    return two_state("9/10").replace(**fields)


def policy(a, b):
    return Policy({s: {"left": a, "right": b} for s in ("left", "right")})


CASES = {
    # a discount
    "1/(1 + x)": (lambda x: two_state(1 / (1 + x)), lambda _: TD(), S.open(R(1, 5), oo)),
    "1/x": (lambda x: two_state(1 / x), lambda _: TD(), S.open(R(6, 5), oo)),
    "x/2": (lambda x: two_state(x / 2), lambda _: SETD(), S.Ropen(0, 2)),
    "1 - x": (lambda x: two_state(1 - x), lambda _: TD(), S.Lopen(R(1, 6), 1)),
    "x^2": (lambda x: two_state(x**2), lambda _: SETD(), S.open(-1, 1)),
    "2 x^2": (
        lambda x: two_state(2 * x**2), lambda _: ETD(), S.open(-sp.sqrt(2) / 2, sp.sqrt(2) / 2),
    ),
    "1/x^2": (
        lambda x: two_state(1 / x**2), lambda _: TD(),
        sp.Union(S.open(-oo, -sp.sqrt(30) / 5), S.open(sp.sqrt(30) / 5, oo)),
    ),
    "a discount that is a model at one value alone": (
        lambda x: two_state(-((x - 1) ** 2)), lambda _: SETD(), sp.FiniteSet(1),
    ),
    "a discount that is none": (lambda x: two_state(2 + x**2), lambda _: TD(), sp.S.EmptySet),
    # a setting of the learner
    "lam x/2": (lambda _: off(), lambda x: TD(lam=x / 2), S.Lopen(R(8, 9), 2)),
    "lam 2 x": (lambda _: off(), lambda x: TD(lam=2 * x), S.Lopen(R(2, 9), R(1, 2))),
    "lam 3 x": (lambda _: off(), lambda x: ETD(lam=3 * x), S(0, R(1, 3))),
    "lam 1/x": (lambda _: off(), lambda x: TD(lam=1 / x), S.Ropen(1, R(9, 4))),
    "lam 2 x^2": (
        lambda _: off(), lambda x: TD(lam=2 * x**2),
        sp.Union(S.Ropen(-sp.sqrt(2) / 2, -sp.sqrt(2) / 3), S.Lopen(sp.sqrt(2) / 3, sp.sqrt(2) / 2)),
    ),
    "eta 1 - x": (lambda _: off(), lambda x: RegularizedTD(eta=1 - x), S.open(-oo, R(4, 5))),
    "eta 1/x - 1": (lambda _: off(), lambda x: RegularizedTD(eta=1 / x - 1), S.open(0, R(5, 6))),
    "mu 1 - x": (lambda _: off(), lambda x: GTD2(mu=1 - x), S.open(-oo, 1)),
    "kappa x - 3": (lambda _: off(), lambda x: TDRC(kappa=x - 3), S.Ropen(3, R(16, 5))),
    "beta 1 - x": (lambda _: off(), lambda x: ETD(beta=1 - x), S.open(0, R(2, 3))),
    "zeta 2 x": (lambda _: off(), lambda x: ABTD(zeta=2 * x), S.Lopen(R(2, 9), R(1, 2))),
    "interest": (
        lambda _: off(), lambda x: ETD(interest={"left": x - 1, "right": 2 - x}), S(1, 2),
    ),
    "interest by a function": (
        lambda _: off(), lambda x: ETD(interest=lambda _: {"left": x - 1, "right": 2 - x}), S(1, 2),
    ),
    "discount and lam": (
        lambda x: two_state(1 / (1 + x)), lambda x: TD(lam=2 * x), S.Lopen(R(1, 7), R(1, 2)),
    ),
    # a chance, a policy, a feature, weights, a start
    "p 1/x": (lambda x: loop(1 / x, 1 - 1 / x), lambda _: TD(), S(1, oo)),
    "p x/2": (lambda x: loop(x / 2, 1 - x / 2), lambda _: TD(), S(0, 2)),
    "p 1 - 2 x": (lambda x: loop(1 - 2 * x, 2 * x), lambda _: TD(), S(0, R(1, 2))),
    "p 2 x^2": (
        lambda x: loop(2 * x**2, 1 - 2 * x**2), lambda _: TD(), S(-sp.sqrt(2) / 2, sp.sqrt(2) / 2),
    ),
    "behaviour x/3": (
        lambda x: off(behavior=policy(1 - x / 3, x / 3)), lambda _: TD(), None,
    ),
    "target 1 - x": (lambda x: off(target=policy(x - 1, 2 - x)), lambda _: TD(), None),
    "feature 1/x": (
        lambda x: off(features=[[1], [1 / x]]), lambda _: TD(), None,
    ),
    "weights": (
        lambda x: loop(R(1, 2), R(1, 2), xi=[x, 1 - x], discount="99/100"), lambda _: TD(),
        S.Ropen(0, R(404, 501)),
    ),
    "start": (
        lambda x: PolicyEvaluation(
            (m := MDP.from_transitions([("a", "go", "b", 1, 0), ("b", "go", "end", 1, 1)])),
            target=Policy.uniform(m), start={"a": x / 2, "b": 1 - x / 2}, features=[[1], [3], [0]],
        ),
        lambda _: TD(), None,
    ),
    "no reward": (
        lambda x: two_state(x / 3, reward=0), lambda _: TD(), S.Ropen(0, R(5, 2)),
    ),
    "emphasis": (
        lambda _: off(), lambda x: WeightedTD(emphasis={"left": 1 / x, "right": 1}), None,
    ),
    "rho_bar": (lambda _: two_state("1/2"), lambda x: VTrace(rho_bar=1 / x), None),
    "SETD of three states": (
        lambda x: random_problem(3, 2, seed=5, discount=1 / (1 + x)), lambda _: SETD(), None,
    ),
}  # fmt: skip


def is_one_and_stable(problem, learner, value):
    """Whether problem and learner can be made with a number, the discount is below 1, and it is stable."""
    try:
        there, made = problem(value), learner(value)
        below = there.discount < 1 or not has_symbol(problem(X).discount)
        return bool(below and mean_dynamics(there, made).is_stable())
    except ObliqueTDError:
        return False


def has_symbol(number):
    """Whether it is a formula."""
    return bool(getattr(number, "free_symbols", ()))


def places(region, domain):
    """Rationals at the ends of these sets, beside them, between them and all over."""
    found = {R(k, 6) for k in (-40, -7, -2, 0, 1, 4, 6, 7, 13, 37, 600)}
    for part in (*parts_of(region), *parts_of(domain)):
        for end in (part.inf, part.sup):
            if end.is_finite:
                near = end if end.is_Rational else sp.Rational(round(sp.N(end) * 10**6), 10**6)
                found |= {near, near + R(1, 500), near - R(1, 500)}
    return sorted(found)


@pytest.mark.parametrize("name", quick_ones(CASES, slice(None, None, 3)))
def test_a_value_is_in_the_region_where_problem_and_learner_can_be_made_and_are_stable(name):
    problem, learner, expected = CASES[name]
    symbolic, made = problem(X), learner(X)
    region = stability_region(symbolic, made, "x")
    if expected is not None:
        assert region == expected
    for value in places(region, domain_of(symbolic, made, X)):
        assert (value in region) == is_one_and_stable(problem, learner, value), value


GIVEN = [sp.Interval(0, 2), sp.Interval.open(-1, 1), sp.Interval(R(1, 2), R(7, 2)), sp.S.Reals]


@pytest.mark.parametrize("name", ["lam x/2", "lam 2 x", "lam 3 x", "p 1/x", "x/2", "eta 1 - x"])
def test_a_domain_of_ones_own_is_cut_to_where_the_two_are_ones(name):
    """Below or at a discount of 1, which a domain may hold."""
    problem, learner, _ = CASES[name]
    whole = stability_region(problem(X), learner(X), "x")
    for given in GIVEN:
        found = stability_region(problem(X), learner(X), "x", domain=given)
        at_one = {x for x in given.boundary if has_symbol(problem(X).discount) and x == 2}
        assert found - sp.FiniteSet(*at_one) == whole & given
    assert stability_region(off(), TD(lam="l"), "l", domain=S(0, 2)) == S.Lopen(R(4, 9), 1)
    at_one = stability_region(two_state("gamma"), SETD(), "gamma", domain=S(0, 3))
    assert (1 in at_one) == mean_dynamics(two_state(1), SETD()).is_stable()
    assert at_one.sup == 1


@pytest.mark.parametrize(
    ("formula", "back"),
    [("1/(1 + x)", 1 / X - 1), ("1/x", 1 / X), ("x/2", 2 * X), ("1 - x", 1 - X)],
)
@pytest.mark.parametrize("learner", [TD(), SETD()])
def test_a_learner_is_better_at_the_same_discounts_however_they_are_written(formula, back, learner):
    """The region in the discount itself, its ends carried over by the inverse of the formula."""
    plain = improvement_region(two_state("x", reward=1), learner, "x")
    found = improvement_region(two_state(formula, reward=1), learner, "x")
    domain = domain_of(two_state(formula), learner, X)
    for gamma in (R(k, 28) for k in range(28)):
        value = back.subs(X, gamma)
        if value.is_finite:
            assert (value in found) == (gamma in plain)
    assert found - domain is sp.S.EmptySet
    assert found is not sp.S.EmptySet


@pytest.mark.parametrize(
    ("learner", "formula", "expected"),
    [
        (otd.FQI(), "1/(1 + x)", S(R(1, 5), oo)),
        (otd.FQI(), "x/2", S(0, R(5, 3))),
        (otd.PFQI("1 - x"), "1/2", S.open(-1, 1)),
        (otd.PFQI("1/x"), "1/2", S.open(R(1, 2), oo)),
        (otd.PFQI("x/3"), "1/2", S.open(0, 6)),
    ],
)
def test_iterations_are_looked_at_there_too(learner, formula, expected):
    assert stability_region(two_state(formula), learner, "x") == expected


@pytest.mark.parametrize("formula", ["1/(1 + x)", "1/x", "x/2", "2*x**2", "1/x**2"])
def test_cases_cells_and_fixed_points_hold_where_there_is_a_problem_and_nowhere_else(formula):
    problem = two_state(formula, reward=1)
    domain = domain_of(problem, SETD(), X)
    point, cells = problem.fixed_point("setd"), problem.omega_cells()
    cases = dynamics_cases(problem, SETD())
    for value in (R(k, 7) for k in range(-19, 20, 2)):
        there = [c.value for c in cases if c.condition.subs(X, value) == sp.true]
        points = [c.value for c in point.cases if c.condition.subs(X, value) == sp.true]
        inside = [c for c in cells if value in c.domain]
        assert len(there) == len(points) == len(inside) <= 1
        assert not there or value in domain
        if value in domain and problem.subs({"x": value}).discount != R(1, 2):
            numbers = problem.subs({"x": value})
            assert there[0].A.subs(X, value) == mean_dynamics(numbers, SETD()).A
            assert points[0].theta.subs(X, value) == numbers.fixed_point("setd").theta
            assert inside[0].Omega.subs(X, value) == numbers.Omega_S


def test_the_cells_of_a_chance_lie_between_0_and_1():
    cells = loop("x", "1 - x").omega_cells()
    assert [c.domain for c in cells] == [S.open(0, R(8, 9)), S.open(R(8, 9), 1)]
    cells = loop("1/x", "1 - 1/x").omega_cells(S(0, 3))
    assert [c.domain for c in cells] == [S.Ropen(1, R(9, 8)), S.Lopen(R(9, 8), 3)]


def test_signs_are_decided_where_the_symbol_may_be():
    """1 + l is no sign of anything for any l; for an interest rate it is positive."""
    for formula, told in [
        ("1/(1 + x)", "x in (0, oo)"), ("1/x**2", "x in (-oo, -1) or (1, oo)"),
        ("2*x**2", "x in (-sqrt(2)/2, sqrt(2)/2)"), ("1 - x", "x in (0, 1]"),
    ]:  # fmt: skip
        found = mean_dynamics(two_state(formula), ETD()).stability
        assert (found.verdict, found.everywhere) == ("stable", told)


def test_two_symbols_that_a_formula_couples_make_no_case_beyond_it():
    cases = dynamics_cases(two_state("x*y"), SETD())
    assert {str(c.condition) for c in cases} == {"2*x*y - 1 < 0", "2*x*y - 1 > 0"}


def test_no_open_range_is_an_error_that_says_what_there_is():
    problem = two_state(-((X - 1) ** 2), reward=1)
    with pytest.raises(InputError, match="no range of x") as caught:
        dynamics_cases(problem, SETD())
    assert "problem.valid_range('x')" in str(caught.value)
    (value,) = problem.valid_range("x")
    assert problem.subs({"x": value}).fixed_point("setd").theta[0] == R(3, 5)


def test_a_plane_has_no_verdict_where_there_is_no_problem_or_no_learner():
    problem, learner = two_state("1/x"), TD(lam="2*l")
    found = stability_map(problem, learner, ("x", "l"), ((0, 3), (0, 1)), resolution=6)
    for a, row in zip(found.first, found.stable, strict=True):
        for b, stable in zip(found.second, row, strict=True):
            assert stable == (is_one_and_stable(
                lambda x: two_state(1 / x), lambda _, b=b: TD(lam=2 * b), a))  # fmt: skip
    plane = plane_of(found, ((0, 3), (0, 1)))
    for strip in plane.strips:
        assert (strip.right <= 1) == (set(strip.stable) == {None})
        assert strip.stable[-1] is None
    assert len(limits_of(problem, learner)) == 2


def test_each_of_several_symbols_is_looked_at_where_formulas_have_it_alone():
    """What couples it with others does not bound it; where nothing else does, its role is looked at."""
    x, y = sp.symbols("x y")
    rows = [("s", "a", "s", "x/2", 0), ("s", "a", "t", "y", 0), ("s", "a", "u", "1 - x/2 - y", 1)]
    mdp = MDP.from_transitions([*rows, ("t", "a", "s", 1, 0), ("u", "a", "s", 1, 0)])
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="9/10")
    assert (domain_of(problem, TD(), x), domain_of(problem, TD(), y)) == (S(0, 2), S(0, 1))
    assert domain_of(two_state("x*y"), TD(), x) == S(0, 1)
    assert domain_of(two_state("x*y"), TD(lam="x/3"), x) == S(0, 3)


def test_reports_and_pages_say_where_the_symbol_may_be():
    for formula, learner, expected in [
        ("1/(1 + x)", TD(), "for x in (1/5, oo)"), ("x/2", SETD(), "for x in [0, 2)"),
        ("1/x", ETD(), "for x in (1, oo)"), ("1/(1 + x)", TD(lam="2*x"), "for x in (1/7, 1/2]"),
    ]:  # fmt: skip
        problem = two_state(formula)
        assert over_symbols(problem, learner, dynamics_cases(problem, learner)).where == expected
    x, y = sp.symbols("x y")
    assert ranges_of(two_state("1/x"), [TD(lam="2*y")]) == {x: (1.0, 2.0), y: (0.0, 0.5)}
    page = explore(off(), learners=[TD(lam="2*x"), ETD(lam="3*x")])
    assert page.to_data()["sliders"][1 if len(page.sliders) > 1 else 0]["ends"] == ["0", "1/3"]
    wide = explore(two_state("x", reward=1), learners=[SETD()], ranges={"x": (0, 2)})
    assert wide.regions["SETD"].found == S.Ropen(0, 1)
    assert max(p.right for p in wide.pieces.learners["SETD"]) == 1
