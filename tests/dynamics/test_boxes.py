"""Regions by boxes against the route over the function field, and the cases that no box can close."""

import flint
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd.algebra.boxes import all_boxes
from obliquetd.algebra.functions import (
    Basis,
    FunctionMatrix,
    constant_span,
    rational_inside,
)
from obliquetd.algebra.quotients import ONE, Quotient, Sample, parts_of
from obliquetd.algebra.ranges import InOneSymbol, OnRange
from obliquetd.domains import random_problem, two_state
from obliquetd.dynamics import regions
from obliquetd.search.families import FAMILIES
from tests.turn import part

LEARNERS = (
    otd.TD(), otd.SETD(), otd.GTD2(mu="1/2"), otd.TDC(mu=2), otd.ResidualGradient(), otd.TDRC(mu=1),
    otd.TD(lam="1/2"),
)  # fmt: skip


def both_routes(monkeypatch, problem, learner, symbol, domain=None):
    """The region, and the region with no box used."""
    found = otd.stability_region(problem, learner, symbol, domain=domain)
    with monkeypatch.context() as patched:
        patched.setattr(regions, "_by_boxes", lambda *_: None)
        return found, otd.stability_region(problem, learner, symbol, domain=domain)


def drawn(seed, discount="gamma"):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    kind = str(rng.choice(["off-policy", "on-policy"]))
    family = FAMILIES[kind](n, int(rng.integers(1, n + 1)), "9/10", int(rng.integers(1, 4)))
    while True:
        problem = family.build(tuple(int(rng.integers(a, b + 1)) for a, b in family.genes))
        if problem is not None:
            return problem.replace(discount=discount)


@pytest.mark.parametrize(
    "seed", [1, 2, 5, 6, *(pytest.param(k, marks=pytest.mark.slow) for k in (0, 3, 4, 7))]
)
def test_boxes_change_no_region(monkeypatch, seed):
    """Some have an eigenvalue 0 throughout, features that are dependent, and discounts of no problem."""
    learner = LEARNERS[seed % len(LEARNERS)]
    domain = sp.Interval(-2, 2) if seed % 2 else None
    found, old = both_routes(monkeypatch, drawn(seed), learner, "gamma", domain)
    assert found == old


@pytest.mark.slow
@pytest.mark.parametrize("seed", part(range(100, 160), 3))
def test_boxes_change_no_region_of_many(monkeypatch, seed):
    for learner in LEARNERS:
        for domain in (None, sp.Interval(-2, 2)):
            found, old = both_routes(monkeypatch, drawn(seed), learner, "gamma", domain)
            assert found == old


def test_in_a_step_size_ratio_and_with_symbolic_rewards(monkeypatch):
    problem = drawn(3, "9/10")
    found, old = both_routes(
        monkeypatch, problem, otd.TDC(mu="m"), "m", sp.Interval(sp.Rational(1, 100), 3)
    )
    assert found == old
    found, old = both_routes(monkeypatch, two_state("gamma", reward="gamma"), otd.TD(), "gamma")
    assert found == old == sp.Interval.Ropen(0, sp.Rational(5, 6))


@pytest.mark.parametrize(
    ("problem", "domain"),
    [
        (two_state("gamma", reward=1), None),
        (two_state("gamma", reward="1/(1 - 2*gamma)"), None),
        (two_state("gamma", reward="1/(gamma - 1/4)"), sp.Interval(0, sp.Rational(1, 2))),
    ],
)
def test_a_pole_in_the_middle_is_left_to_the_other_route(monkeypatch, problem, domain):
    """An update with a pole there ended the report on the two states with a ZeroDivisionError."""
    found, old = both_routes(monkeypatch, problem, otd.SETD(), "gamma", domain)
    assert found == old
    assert not found.is_empty


def test_boxes_do_it_alone_where_nothing_crosses(monkeypatch):
    """12 states and 6 features took minutes over the function field."""
    monkeypatch.setattr(regions, "exactly", None)
    problem = random_problem(5, 3, seed=1, discount="gamma")
    assert otd.stability_region(problem, otd.SETD(), "gamma") == sp.Interval.Ropen(0, 1)


def family(entries, low=-1, high=1, updates=None):
    """The matrix with polynomials for entries, each by its coefficients from the constant on."""
    size = len(entries)
    sample = Sample(flint.fmpq(0))
    columns = [
        [Quotient(flint.fmpq_poly(entries[i][j]), ONE, sample) for i in range(size)]
        for j in range(size)
    ]
    matrix = FunctionMatrix.of_sum([(flint.fmpq(1), columns)], Basis(None, list(range(size))))
    vectors = columns if updates is None else updates
    ends = flint.fmpq(low), flint.fmpq(high)
    return InOneSymbol([OnRange(*ends, size, [matrix], vectors)], [])


def sides(found):
    return [(b.low, b.high, b.side) for b in found.boxes]


class TestWhatABoxMayNotClose:
    def test_a_touch_of_the_axis_is_a_gap(self):
        """x^2: stable on both sides of 0, and not in it."""
        found = all_boxes(family([[[0, 0, 1]]]))
        (gap,) = [b for b in found.boxes if b.side is None]
        assert gap.low < 0 < gap.high
        assert [b.side for b in found.boxes] == [1, None, 1]

    def test_a_pair_that_touches_the_axis_is_a_gap(self):
        found = all_boxes(family([[[0, 0, 1], [1]], [[-1], [0, 0, 1]]]))
        assert [b.side for b in found.boxes] == [1, None, 1]

    def test_a_pair_that_crosses_is_a_gap(self):
        found = all_boxes(family([[[0, 1], [1]], [[-1], [0, 1]]]))
        assert [b.side for b in found.boxes] == [-1, None, 1]

    def test_two_crossings_next_to_each_other_are_a_gap(self):
        """(x - 1/3)(x - 1/3 - 10^-9)."""
        a, b = sp.Rational(1, 3), sp.Rational(1, 3) + sp.Rational(1, 10**9)
        coefficients = [flint.fmpq(int(c.p), int(c.q)) for c in (a * b, -a - b, sp.Integer(1))]
        found = all_boxes(family([[coefficients]]))
        assert [b.side for b in found.boxes] == [1, None, 1]

    def test_an_eigenvalue_0_throughout(self):
        assert [b.side for b in all_boxes(family([[[1], [0]], [[0], [0]]])).boxes] == [None]


class TestACrossing:
    def test_at_a_rational(self):
        found = all_boxes(family([[[-1, 3]]]))
        third = sp.Rational(1, 3)
        assert found.singular == [third]
        assert found.narrowed == [third]
        assert [b.side for b in found.boxes if third in (b.low, b.high)] == [-1, 1]

    def test_at_an_irrational_where_others_are_stable(self):
        found = all_boxes(family([[[-2, 0, 9], [5]], [[0], [1]]], 0, 1))
        root = sp.sqrt(2) / 3
        assert found.singular == [root]
        assert found.narrowed == [root]
        one, zero = flint.fmpq(1), flint.fmpq(0)
        wide = [[one, zero], [zero, one]]
        assert not all_boxes(family([[[-2, 0, 9], [5]], [[0], [1]]], 0, 1, wide)).narrowed

    def test_at_the_end_of_the_range(self):
        found = all_boxes(family([[[1, -1]]], 0, 1))
        assert {b.side for b in found.boxes} == {1}
        assert not found.singular


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(-4, 4), min_size=1, max_size=4),
    st.lists(st.integers(-4, 4), min_size=1, max_size=3),
    st.integers(-8, 8), st.integers(1, 16),
)  # fmt: skip
def test_ends_of_a_ball_hold_every_value(above, below, place, width):
    """Between the two matrices of balls: values at points of the range, with kinks of the fraction near."""
    if not any(below):
        below = [1]
    low = flint.fmpq(place, 8)
    high = low + flint.fmpq(1, width)
    sample = Sample(low)
    value = Quotient(flint.fmpq_poly(above), ONE, sample) * flint.fmpq(1)
    whole = value / Quotient(flint.fmpq_poly(below), ONE, sample)
    matrix = FunctionMatrix.of_sum([(flint.fmpq(1), [[whole]])], Basis(None, [0]))
    on = OnRange(low, high, 1, [matrix], [])
    first, last = (A[0, 0] for A in on.ends(low, high))
    for k in range(9):
        share = flint.fmpq(k, 8)
        point = low + (high - low) * share
        top, bottom = (part(point) for part in parts_of(whole))  # without common factors
        if not bottom:
            assert not (first.is_finite() and last.is_finite())
            return
        exact = top / bottom
        assert (first * (1 - share) + last * share).contains(flint.arb(exact))
        assert matrix.over(flint.arb(low).union(flint.arb(high)))[0, 0].contains(flint.arb(exact))


def test_a_space_that_turns_has_no_constant_basis():
    x = Quotient(flint.fmpq_poly([0, 1]), ONE, Sample(flint.fmpq(0)))
    one = flint.fmpq(1)
    assert constant_span([[one, x]], 2, flint.fmpq(0)) is None
    assert constant_span([[x, x]], 2, flint.fmpq(1)).rows == [[one, one]]


@given(st.fractions(-5, 5), st.fractions(-5, 5))
def test_a_rational_inside(a, b):
    if a != b:
        low, high = (flint.fmpq(v.numerator, v.denominator) for v in sorted((a, b)))
        assert low < rational_inside(low, high) < high


@pytest.mark.parametrize("learner", [otd.SETD(), otd.TrueOnlineSETD()], ids=lambda x: x.name)
def test_a_pole_in_the_middle_of_the_range_is_no_obstacle(learner):
    """SETD's weight of a transition divides by |1 - 2 gamma|^2 where it is not 0: beyond 1/2."""
    problem = two_state(reward=1, discount="gamma")
    region = otd.stability_region(problem, learner, "gamma")
    assert region == otd.stability_region(problem, otd.SETD(), "gamma")
    for k in range(1, 20, 2):
        point = sp.Rational(k, 20)
        stable = otd.mean_dynamics(problem.subs({"gamma": point}), learner).is_stable()
        assert region.contains(point) == (sp.true if stable else sp.false)


def test_a_constant_span_is_found_beside_a_pole():
    x = Quotient(flint.fmpq_poly([0, 1]), ONE, Sample(flint.fmpq(1, 2)))
    one = flint.fmpq(1)
    found = constant_span([[one / (1 - 2 * x), one / (1 - 2 * x)]], 2, flint.fmpq(1, 2))
    assert (found.rows, found.pivots) == ([[1, 1]], [0])
