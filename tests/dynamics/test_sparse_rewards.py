"""Spans, fixed points and regions over symbols where most rewards, and some formulas, are 0."""

import itertools
import random

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import obliquetd as otd
from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.domains import collision, random_problem
from obliquetd.dynamics import expectation as expectations
from obliquetd.dynamics import regions
from obliquetd.dynamics.at_rest import AtRest
from obliquetd.dynamics.span import common_zeros, span_of_updates
from obliquetd.errors import SignUndecidedError

R = sp.Rational
g, h, x, y = sp.symbols("gamma h x y")
AT = (R(1, 2), R(9, 10), R(99, 100))
LEARNERS = [
    otd.TD(), otd.SETD(), otd.ETD(), otd.GTD2(), otd.TDC(), otd.ResidualGradient(), otd.TDRC(),
    otd.TD(lam="1/2"), otd.ETD(lam="1/3"),
]  # fmt: skip


def ring(n, discount="gamma", **kwargs):
    """0 -> 1 -> ... -> 0, of which the last step alone has a reward, and the discount 0."""
    rows = [(s, "go", (s + 1) % n, 1, int(s == n - 1), int(s < n - 1)) for s in range(n)]
    mdp = MDP.from_transitions(rows)
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=discount, **kwargs)


def spans(problem, learner):
    """The dimension of the span of the updates, of a problem with one closed class."""
    return otd.mean_dynamics(problem, learner).expectation.span.dimension


class TestByHand:
    @pytest.mark.parametrize("learner", [otd.SETD(), otd.TD(), otd.ETD()], ids=lambda z: z.name)
    def test_a_ring_with_one_reward(self, learner):
        """SETD's was (0, 0, 0, 1)."""
        problem = ring(4)
        assert list(problem.v_pi) == [g**3, g**2, g, 1]
        assert list(otd.mean_dynamics(problem, learner).fixed_point()) == [g**3, g**2, g, 1]

    @pytest.mark.parametrize("n", [1, 2, 3, 5])
    def test_rings_of_other_sizes(self, n):
        found = otd.mean_dynamics(ring(n), otd.SETD())
        assert list(found.fixed_point()) == [g**k for k in range(n - 1, -1, -1)]
        assert found.expectation.span.dimension == n

    def test_as_many_features_as_states_make_the_values(self):
        """TD's span was 3 by 2, and its values (-2.09, 0.74, -1.57)."""
        problem = random_problem(3, 3, seed=4, deterministic=True, discount="gamma")
        found = otd.mean_dynamics(problem, otd.TD())
        assert found.expectation.span.dimension == 3
        v_hat = [sp.cancel(v) for v in problem.Phi * found.fixed_point()]
        assert v_hat == [sp.cancel(v) for v in problem.v_pi]
        at = [v.subs(g, R(9, 10)) for v in v_hat]
        assert at == [R(660, 19), R(603, 19), R(670, 19)]

    def test_the_collision(self):
        """It was 1."""
        assert spans(collision("gamma"), otd.SETD()) == spans(collision("9/10"), otd.SETD()) == 5

    def test_a_region_up_to_an_algebraic_number(self):
        """It was [0, 16191/16384) and (16383/16384, 1), which are bounds of boxes."""
        problem = random_problem(6, 6, seed=5, deterministic=True, discount="gamma")
        region = otd.stability_region(problem, otd.TD(), "gamma")
        assert isinstance(region, sp.Interval)
        assert (region.start, region.left_open, region.right_open) == (0, False, True)
        assert not region.end.is_Rational
        assert abs(sp.N(region.end, 20) - sp.Float("0.98814466", 8)) < 1e-8
        near = [R(int(sp.floor(region.end * 10**9)) + k, 10**9) for k in (0, 1)]
        stable = [otd.mean_dynamics(problem.subs({g: v}), otd.TD()).is_stable() for v in near]
        assert stable == [True, False]

    @pytest.mark.parametrize(("states", "seed"), [(5, 2), (6, 3), (6, 7)])
    def test_tabular_problems_with_one_reward_and_two_actions(self, states, seed):
        problem = sparse(random.Random(seed), states, "tabular", "g")
        for learner in (otd.TD(), otd.SETD(), otd.GTD2()):
            try:
                found = otd.mean_dynamics(problem, learner)
                theta = found.fixed_point()
            except SignUndecidedError:
                continue
            for value in AT:
                there = problem.subs({"gamma": value})
                at = otd.mean_dynamics(there, learner)
                assert spans(problem, learner) == at.expectation.span.dimension
                assert theta.subs(g, value) == at.fixed_point()


def sparse(rng, n, kind, symbol):
    """Few rewards, some ends, one or two actions; tabular, in groups, or with features mostly 0."""
    m, rows = rng.choice([1, 2]), []
    for s, a in itertools.product(range(n), range(m)):
        to = {(s + 1) % n} if a == 0 else set(rng.sample(range(n), min(n, 2)))
        for t in sorted(to):
            reward = rng.choice([0, 0, 0, 1, x if symbol == "x" else 2])
            rows.append((s, a, t, R(1, len(to)), reward, rng.choice([0, 1, 1, 1])))
    mdp = MDP.from_transitions(rows, states=range(n))
    features = {
        "tabular": None,
        "groups": [[int(s % max(1, n - 1) == i) for i in range(max(1, n - 1))] for s in range(n)],
        "zeros": [[rng.choice([0, 0, 1, -1]) for _ in range(2)] for _ in range(n)],
        "formulas": [[rng.choice([0, 1, x, x - 1]) for _ in range(2)] for _ in range(n)],
    }[kind]
    uniform = Policy.uniform(mdp)
    target = Policy.deterministic(dict.fromkeys(mdp.states, 0)) if rng.random() < 0.5 else uniform
    discount = "gamma" if symbol == "g" else "9/10"
    return PolicyEvaluation(
        mdp, target=target, behavior=uniform, features=features, discount=discount
    )


def lost(span, values):
    """Whether a dimension may be lost where the symbols have those values."""
    parts = (p.as_expr() for c in span.critical for p in (c.numer, c.denom))
    return any(p.subs(values) == 0 for p in parts)


KINDS = ["tabular", "groups", "zeros", "formulas"]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from(KINDS), st.sampled_from(LEARNERS))
def test_a_span_of_formulas_is_the_plain_one_and_that_of_numbers(seed, n, kind, learner):
    """Read off the terms of the rule; from the rule outcome by outcome; and with numbers for the symbol.

    The plain ways run the rule on each outcome. Outside the values that are told no dimension is lost.
    """
    symbol = "x" if kind == "formulas" else "g"
    problem = sparse(random.Random(seed), n, kind, symbol)
    letter = x if symbol == "x" else g
    if letter not in problem.symbols:
        return
    try:
        classes = otd.mean_dynamics(problem, learner).classes
        found = [each.expectation for each in classes]
        told = [e.span for e in found]
    except (SignUndecidedError, otd.errors.MathematicalError):
        return
    plain = [span_of_updates(e.rule, lambda e=e: e.samples, carried=e.carried) for e in found]
    for a, b in zip(told, plain, strict=True):
        assert a.dimension == b.dimension
        assert (a.complement().T @ b.basis).is_zero()
    for value in (0, R(1, 2), R(9, 10)) if symbol == "g" else (0, R(1, 2), 2, 1):
        try:
            there = otd.mean_dynamics(problem.subs({letter: value}), learner).classes
            dimensions = [each.expectation.span.dimension for each in there]
        except otd.errors.MathematicalError:
            continue
        for span, dimension in zip(told, dimensions, strict=True):
            assert dimension == span.dimension or lost(span, {letter: value})


class TestSeveralSymbols:
    """x and y have no common factor and a common zero: a direction with both formulas is lost at the origin."""

    @pytest.mark.parametrize("at_once", [True, False])
    def test_where_all_formulas_vanish_is_told(self, at_once, monkeypatch):
        rows = [(0, "go", 0, 1, x), (0, "on", 0, 1, y)]
        if not at_once:
            monkeypatch.setattr(expectations, "sums_of", lambda *_, **__: None)
        mdp = MDP.from_transitions(rows)
        problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), features=[[1]], discount=1)
        span = otd.mean_dynamics(problem, otd.TD()).expectation.span
        assert span.dimension == 1
        for a, b in itertools.product((0, 1, -2), repeat=2):
            there = otd.mean_dynamics(problem.subs({x: a, y: b}), otd.TD()).expectation.span
            assert (there.dimension == 0) == (a == b == 0) == lost(span, {x: a, y: b})

    def test_of_three_formulas_of_one_outcome(self):
        """x, y and x + y - 2 have no common zero; x, y and x + y have one. No two of them say so."""
        for last, whole in ((x + y - 2, True), (x + y, False)):
            mdp = MDP.from_transitions([(0, "go", 1, 1, x), (1, "go", 1, 1, 0)])
            problem = PolicyEvaluation(
                mdp, target=Policy.uniform(mdp), features=[[1, 0, 0], [1, y, last]], discount=1, xi=[1, 0],
            )  # fmt: skip
            expectation = otd.mean_dynamics(problem, otd.TD()).expectation
            assert expectation.span.dimension == 1
            assert len(list(AtRest(expectation.sums.products).updates())) == 3
            assert lost(expectation.span, {x: 0, y: 0}) is not whole
            there = otd.mean_dynamics(problem.subs({x: 0, y: 0}), otd.TD()).expectation.span
            assert there.dimension == int(whole)

    @given(
        st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=1, max_size=3), st.integers(-2, 2)
    )
    def test_common_zeros(self, planes, power):
        ring_ = sp.QQ.frac_field(x, y).field.ring
        a, b = ring_.gens
        factor = (a - power) ** abs(power)
        formulas = [factor * (i * a + j * b + k) for i, j, k in planes if (i, j, k) != (0, 0, 0)]
        if not formulas:
            return
        found = common_zeros(formulas)
        for u, v in itertools.product(range(-3, 4), repeat=2):
            at = [(a, u), (b, v)]
            every = all(p.evaluate(at) == 0 for p in formulas)
            assert (found.evaluate(at) == 0) == every

    def test_a_verdict_holds_where_a_dimension_is_lost(self):
        """w -> 2 w from a state of feature x, and from one of feature y: A = (1 - 2 g) (x^2 + y^2) / 2."""
        rows = [(0, "go", 1, 1, 0), (1, "go", 1, 1, 0), (2, "go", 3, 1, 0), (3, "go", 3, 1, 0)]
        mdp = MDP.from_transitions(rows)
        problem = PolicyEvaluation(
            mdp, target=Policy.uniform(mdp), features=[[x], [2 * x], [y], [2 * y]],
            discount="9/10", xi=["1/2", 0, "1/2", 0],
        )  # fmt: skip
        found = otd.mean_dynamics(problem, otd.TD())
        assert lost(found.expectation.span, {x: 0, y: 0})
        assert not lost(found.expectation.span, {x: 0, y: 1})
        assert found.stability.verdict == "undecided"
        there = otd.mean_dynamics(problem.subs({x: 0, y: 0}), otd.TD())
        assert there.stability.verdict == "nothing moves"


def verdict_at(problem, learner, value):
    return otd.mean_dynamics(problem.subs({"gamma": value}), learner).is_stable()


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(1, 4), st.sampled_from(KINDS[:3]), st.sampled_from(LEARNERS)
)
def test_a_region_has_the_verdict_of_every_point_that_is_asked(seed, n, kind, learner):
    """At its rational ends, between two of them, and at round numbers."""
    problem = sparse(random.Random(seed), n, kind, "g")
    try:
        region = otd.stability_region(problem, learner, "gamma")
    except (otd.errors.InputError, otd.errors.MathematicalError):
        return
    ends = sorted({R(0), R(1), *region.boundary}, key=sp.N)
    between = [R(str(sp.N((a + b) / 2, 12))) for a, b in itertools.pairwise(ends)]
    for value in {*between, R(1, 2), R(9, 10), *(e for e in ends if e.is_Rational and e < 1)}:
        try:
            expected = verdict_at(problem, learner, value)
        except otd.errors.MathematicalError:
            expected = False
        assert (region.contains(value) == sp.true) == expected


def six_states():
    """TD's region ends at an algebraic number in a gap between 16191/16384 and 16383/16384."""
    return random_problem(6, 6, seed=5, deterministic=True, discount="gamma")


class TestEndsOfBoxes:
    """A gap between two boxes is decided by itself, and its ends are what the boxes prove of them."""

    def test_they_are_not_asked_again(self, monkeypatch):
        """A point where the exact verdict was refused was left out of a region that has both its sides."""
        asked = []
        plain = regions._stable_at
        monkeypatch.setattr(
            regions, "_stable_at", lambda *args: asked.append(args[3]) or plain(*args)
        )
        region = otd.stability_region(six_states(), otd.TD(), "gamma")
        assert region.start == 0
        assert all(value in (0, 1) or not value.is_Rational for value in asked)

    def test_no_end_of_a_region_is_the_bound_of_a_box(self):
        """ETD's in lambda had a hole at 9115/8192, where no learner was made and both sides were stable."""
        problem, learner = random_problem(4, 3, seed=3), otd.ETD(lam="l")
        region = otd.stability_region(problem, learner, "l", domain=sp.Interval(0, 2))
        assert all(e.q < 100 for e in region.boundary if e.is_Rational)

    @pytest.mark.parametrize("found", [([], set(), set()), None])
    def test_a_gap_that_is_decided_against_its_boxes_is_a_mistake_of_ours(self, found, monkeypatch):
        """A span that had lost a dimension made no range of the gap stable: the region ended at 16191/16384."""

        def wrong(problem, learner, symbol, sampling, inside):
            return found or ([inside], set(), set())

        monkeypatch.setattr(regions, "exactly", wrong)
        with pytest.raises(AssertionError, match="contradict each other at gamma = 16"):
            otd.stability_region(six_states(), otd.TD(), "gamma")
