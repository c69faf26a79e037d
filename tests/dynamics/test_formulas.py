"""A on W from one run of the rule on functions, against the rule run on each outcome; and its floats with radii."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd.algebra import float_functions
from obliquetd.algebra.entries import Entry
from obliquetd.algebra.factored import FactoredFunctions
from obliquetd.algebra.float_balls import FloatBalls
from obliquetd.algebra.quotients import ONE, Quotient, Sample, parts_of
from obliquetd.algebra.ranges import OnRange, ends_in_floats
from obliquetd.domains import two_state
from obliquetd.dynamics import regions, symbol
from obliquetd.dynamics.formulas import Formulas
from obliquetd.dynamics.products import Products
from obliquetd.learners.forms import NoFormError
from obliquetd.learners.words import omega, phi, td_error
from tests.dynamics.test_boxes import drawn
from tests.dynamics.test_products import EVERY

GAMMA = sp.Symbol("gamma")


def both_families(problem, learner, monkeypatch, sampling="iid", ends=(0, 1)):
    """The family from one run, and outcome by outcome; which routes were taken."""
    at, taken = (GAMMA, sampling, *map(sp.Rational, ends)), []
    plain = symbol._by_outcomes

    def spied(*given, **named):
        taken.append("outcomes")
        return plain(*given, **named)

    monkeypatch.setattr(symbol, "_by_outcomes", spied)
    found = symbol.in_one_symbol(problem, learner, *at)
    with monkeypatch.context() as patched:

        def refuse(*_):
            raise NoFormError

        patched.setattr(symbol, "Formulas", refuse)
        old = symbol.in_one_symbol(problem, learner, *at)
    return found, old, taken[:-1]


def values(family, points):
    return [next(r for r in family.ranges if r.low <= x <= r.high).at(x).tolist() for x in points]


def some_points(family):
    """Two inside each range."""
    return [r.low + (r.high - r.low) * flint.fmpq(k, 7) for r in family.ranges for k in (2, 5)]


@pytest.mark.parametrize("learner", EVERY, ids=lambda x: x.label)
def test_one_run_makes_what_each_outcome_does(learner, monkeypatch):
    found, old, taken = both_families(drawn(len(learner.label)), learner, monkeypatch)
    assert (found is None) == (old is None)
    if found is None:
        return
    points = some_points(old)
    assert {r.low for r in found.ranges} >= {r.low for r in old.ranges}
    assert {r.size for r in found.ranges} == {r.size for r in old.ranges}
    assert values(found, points) == values(old, points)
    assert set(old.jumps) <= set(found.jumps)
    assert not taken


@pytest.mark.parametrize(
    "seed", [0, 1, 4, *(pytest.param(k, marks=pytest.mark.slow) for k in (2, 3, 5))]
)
@pytest.mark.parametrize(
    "learner", [otd.SETD(), otd.TD(), otd.TrueOnlineSETD()], ids=lambda x: x.name
)
def test_kinks_and_dependent_features(learner, seed, monkeypatch):
    """From -2 to 2 the signs of SETD change, and there are poles where features are multiples of each other."""
    found, old, taken = both_families(drawn(seed), learner, monkeypatch, ends=(-2, 2))
    assert (found is None) == (old is None)
    if found is not None and not taken:
        points = some_points(old)
        assert values(found, points) == values(old, points)
        for mine in found.ranges:
            third = mine.low + (mine.high - mine.low) / 3
            theirs = next(r for r in old.ranges if r.low < third < r.high)
            assert mine.spans(third, third) == theirs.spans(third, third)


def test_a_transition_that_stays_leaves_no_pole(monkeypatch):
    """SETD's weight 1 / (1 - gamma) times phi - gamma phi is phi: with 1 for an end nothing is unbounded."""
    monkeypatch.setattr(regions, "exactly", None)
    problem = two_state("gamma", reward=1)
    assert otd.stability_region(problem, otd.TD(), "gamma") == sp.Interval.Ropen(
        0, sp.Rational(5, 6)
    )
    rows = [("s", "a", "s", "1/2", 0), ("s", "a", "t", "1/2", 1), ("t", "a", "s", 1, 0)]
    mdp = otd.MDP.from_transitions(rows)
    stays = otd.PolicyEvaluation(
        mdp, target=otd.Policy.uniform(mdp), features={"s": [1], "t": [3]}, discount="gamma"
    )
    assert sp.Interval.Ropen(0, 1).is_subset(otd.stability_region(stays, otd.SETD(), "gamma"))


# --- rules of one's own ---------------------------------------------------------------------


def weighted(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    weight = omega(t)
    if weight > 1:
        weight = 1
    for i in range(len(x.theta)):
        x.theta[i] += alpha * delta * weight * phi(t, i)
    return delta


def first_entry(x: Any, m: Any, t: Any, alpha: Any, p: Any) -> Any:
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * delta * t.features[t.s, 0] * phi(t, i)
    return delta


@dataclass(frozen=True)
class Weighted(otd.learners.Learner):
    alpha: Any = None
    rule = staticmethod(weighted)


@dataclass(frozen=True)
class FirstEntry(otd.learners.Learner):
    alpha: Any = None
    rule = staticmethod(first_entry)


@pytest.mark.parametrize(("kind", "route"), [(Weighted, []), (FirstEntry, ["outcomes"])])
def test_a_rule_of_ones_own(kind, route, monkeypatch):
    for seed in (1, 4):
        found, old, taken = both_families(drawn(seed), kind(), monkeypatch)
        assert taken == route
        points = some_points(old)
        assert values(found, points) == values(old, points)


def test_every_outcome_of_a_users_rule_is_held_each_time_and_a_shipped_one_never(monkeypatch):
    held = []
    check = Products._hold_against_the_rule
    monkeypatch.setattr(
        Products, "_hold_against_the_rule", lambda *a: (held.append(a[1]), check(*a))[1]
    )
    problem = drawn(4).subs({"gamma": "9/10"})
    counts = []
    for learner in (Weighted(), Weighted(), otd.TD(), otd.TD(), otd.TD(lam="1/2")):
        held.clear()
        dyn = otd.mean_dynamics(problem.replace(), learner)
        assert dyn.expectation.sums is not None
        counts.append(len(held))
    outcomes = len(dyn.expectation.rule.samples)
    assert counts[:2] == [outcomes] * 2
    assert counts[2:] == [0, 0, 0]


# --- the ends of a range ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_an_end_that_a_box_decides_is_what_the_exact_verdict_says(seed, monkeypatch):
    learner = (otd.TD(), otd.SETD(), otd.GTD2())[seed % 3]
    problem = drawn(seed)
    for domain in (
        sp.Interval(0, sp.Rational(9, 10)),
        sp.Interval(sp.Rational(1, 4), sp.Rational(1, 2)),
    ):
        found = otd.stability_region(problem, learner, "gamma", domain=domain)
        with monkeypatch.context() as patched:
            patched.setattr(symbol, "_in_the_discount_alone", lambda *_: False)
            assert found == otd.stability_region(problem, learner, "gamma", domain=domain)


def test_an_end_with_a_sign_of_its_own_is_decided_by_itself():
    """From the kink of SETD's max on: there the sign is 0 that beside it is not."""
    problem = two_state("gamma", reward=1)
    sample = Sample(flint.fmpq(3, 4))
    arithmetic = symbol.QuotientArithmetic(GAMMA, sample)
    rule = symbol.RuleOnNumbers(problem.native.over(arithmetic), otd.SETD())
    ends = flint.fmpq(1, 2), flint.fmpq(1)  # phi = 1, phi' = 2
    assert ends[0] not in Formulas(rule, [True, True], sample, *ends).regular
    assert (
        flint.fmpq(1, 8)
        in Formulas(rule, [True, True], sample, flint.fmpq(1, 8), flint.fmpq(1, 4)).regular
    )


# --- floats with radii ------------------------------------------------------------------------

rationals = st.fractions(-20, 20, max_denominator=50)


@given(st.lists(st.tuples(rationals, rationals), min_size=1, max_size=5), rationals)
def test_balls_hold_the_exact_numbers(pairs, factor):
    a, b = (
        FloatBalls.of_rationals(
            [flint.fmpq(x.numerator, x.denominator) for x in part], (len(part),)
        )
        for part in zip(*pairs, strict=True)
    )

    def holds(ball, exact):
        for m, r, x in zip(ball.middle, ball.radius, exact, strict=True):
            assert not np.isfinite(r) or abs(Fraction(float(m)) - x) <= Fraction(float(r))

    holds(a, [x for x, _ in pairs])
    holds(a + b, [x + y for x, y in pairs])
    holds(a - b, [x - y for x, y in pairs])
    holds(a * b, [x * y for x, y in pairs])
    known = float(factor)
    holds(a.scaled(known), [x * Fraction(known) for x, _ in pairs])
    if all(y for _, y in pairs):
        holds(b.inverse(), [1 / y for _, y in pairs])
    row, column = (
        FloatBalls(a.middle[None, :], a.radius[None, :]),
        FloatBalls(b.middle[:, None], b.radius[:, None]),
    )
    product = row @ column
    holds(FloatBalls(product.middle[0], product.radius[0]), [sum(x * y for x, y in pairs)])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-4, 4), min_size=1, max_size=5),
    st.lists(st.integers(-4, 4), min_size=1, max_size=4),
    st.integers(-8, 8), st.integers(1, 16),
)  # fmt: skip
def test_ends_in_floats_hold_every_value(above, below, place, width):
    """Between the two matrices of balls: values at points of the range, with poles near."""
    if not any(below):
        below = [3]
    low = flint.fmpq(place, 7)
    high = low + flint.fmpq(1, width)
    value = Quotient(flint.fmpq_poly(above), ONE, Sample(low)) * flint.fmpq(1, 3)
    fraction = value / Quotient(flint.fmpq_poly(below), ONE, Sample(low))
    matrix = FactoredFunctions(
        [Entry.of(fraction, 0, 0)], [[flint.fmpq(2, 3)]], [[flint.fmpq(5)]], 1
    )
    on = OnRange(low, high, 1, [matrix], [])
    ends, with_balls = ends_in_floats([on], [[(low, high)]]), on.ends(low, high)
    for k in range(9):
        share = flint.fmpq(k, 8)
        point = low + (high - low) * share
        bottom = parts_of(fraction)[1](point)  # without common factors
        if not bottom:
            assert ends is None or not all(x.is_finite for x in ends)
            return
        exact = matrix.at(point)[0, 0]
        assert exact == parts_of(fraction)[0](point) / bottom * flint.fmpq(10, 3)
        assert matrix.over(flint.arb(low).union(flint.arb(high)))[0, 0].contains(flint.arb(exact))
        first, last = (A[0, 0] for A in with_balls)
        assert (first * (1 - share) + last * share).contains(flint.arb(exact))
        if ends is not None:
            first, last = (
                flint.arb(*(float(x[0, 0, 0]) for x in (A.middle, A.radius))) for A in ends
            )
            assert (first * (1 - share) + last * share).contains(flint.arb(exact))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.fractions(-9, 9, max_denominator=7), min_size=1, max_size=9),
    st.lists(st.integers(-4, 4), min_size=1, max_size=4),
    st.floats(-3, 3), st.floats(2.0**-20, 0.5),
)  # fmt: skip
def test_three_balls_hold_the_value_and_two_derivatives(above, below, middle, radius):
    """Of a polynomial, a fraction and a number at once, at places that they share."""
    polynomial = flint.fmpq_poly([flint.fmpq(x.numerator, x.denominator) for x in above])
    under = flint.fmpq_poly(below) if any(below) else flint.fmpq_poly([3])
    fraction = Quotient(polynomial, ONE, Sample(flint.fmpq(0))) * flint.fmpq(1)
    fraction = fraction / Quotient(under, ONE, Sample(flint.fmpq(0)))
    entries = [
        Entry.of(fraction, 0, 1),
        Entry(polynomial, ONE, 0, 1),
        Entry(flint.fmpq_poly([flint.fmpq(1, 3)]), ONE, 1, 0),
    ]
    sides = [[flint.fmpq(2, 3)], [flint.fmpq(1)]], [[flint.fmpq(5)], [flint.fmpq(1, 7)]]
    found = FactoredFunctions(entries, *sides, 1).in_floats(middle, radius)
    N, D = parts_of(fraction)
    functions = [(polynomial * D + N, D)]
    for _ in range(2):
        N, D = functions[-1]
        functions.append((N.derivative() * D - N * D.derivative(), D * D))
    center = flint.fmpq(*middle.as_integer_ratio())
    reach = flint.fmpq(*radius.as_integer_ratio())
    for ball, (N, D), shares in zip(found, functions, ((0,), (0,), range(-4, 5)), strict=True):
        if not ball.is_finite:  # there may be a pole
            assert len(parts_of(fraction)[1].coeffs()) > 1
            continue
        for share in shares:
            point = center + reach * flint.fmpq(share, 4)
            exact = N(point) / D(point) * flint.fmpq(2, 21)
            if ball is found[0]:
                exact += flint.fmpq(5, 3)
            known = flint.arb(float(ball.middle[0, 0]), float(ball.radius[0, 0]))
            assert known.contains(flint.arb(exact))


@given(st.lists(st.integers(-99, 99), min_size=1, max_size=12), st.floats(-9, 9), st.floats(0, 2))
def test_powers_about_a_float_are_within_their_radii(coefficients, middle, radius):
    polynomial = flint.fmpq_poly(coefficients)
    functions = float_functions.coefficients([polynomial, ONE], len(coefficients))
    here, near = float_functions.expanded(functions, middle, radius)
    center, reach = (flint.fmpq(*x.as_integer_ratio()) for x in (middle, radius))
    for at, around in zip(here, near, strict=True):
        for balls, points in ((at, [center]), (around, [center - reach, center + reach])):
            size = Fraction(float(balls.radius[0]))
            for point in points:
                exact = polynomial(point)
                gap = abs(Fraction(float(balls.middle[0])) - Fraction(int(exact.p), int(exact.q)))
                assert gap <= size
        polynomial = polynomial.derivative()


def test_features_with_the_symbol_are_left_to_the_outcomes(monkeypatch):
    problem = drawn(3, "9/10")
    changed = problem.replace(features=[[f"gamma + {k}"] for k in range(len(problem.states))])
    found, old, taken = both_families(changed, otd.TD(), monkeypatch)
    assert (found is None) == (old is None)
    assert taken == ["outcomes"] or found is None
