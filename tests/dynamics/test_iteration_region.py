"""Where an iteration converges, against the verdict at points, closed forms by hand and the limits of step sizes."""

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from obliquetd import (
    FQI,
    MDP,
    PFQI,
    Policy,
    PolicyEvaluation,
    iteration,
    stability_region,
    step_size_limit,
)
from obliquetd.domains import random_problem, two_state
from obliquetd.dynamics import iteration_region
from obliquetd.errors import InputError, NotUniqueError
from obliquetd.learners import TD
from tests.strategies import problems

R = sp.Rational
gamma, alpha, b = sp.symbols("gamma alpha b")
ROOT = sp.sqrt(41) / 2
evaluations = problems(most_states=3, most_actions=2).filter(lambda p: p.C.det() != 0)
"""Features that are independent where the weights are: a regression has one solution then."""


def with_feature(reward=0, discount="9/10"):
    """C = (1 + b^2) / 2 and A = (1 - 9 b / 10 + b^2 / 10) / 2, singular at 9/2 +- sqrt(41)/2."""
    return two_state(discount, reward).replace(features=[[1], ["b"]])


def around(region, low, high, count):
    """Points of a grid, and on both sides of each end of the region."""
    ends = [e for e in region.boundary if low < e < high]
    near = [R(str(sp.N(e, 25))) + s * R(1, 10**9) for e in ends for s in (-1, 1)]
    return [low + (high - low) * R(k, count) for k in range(1, count)] + near


@given(evaluations, st.sampled_from([FQI(), PFQI("1/2"), PFQI("3/4", 4), PFQI(2, 2)]))
@settings(max_examples=12)
def test_the_discount_against_points(problem, fitting):
    """The verdict of the iteration itself, on a grid and close to each end."""
    problem = problem.replace(discount=gamma)
    region = stability_region(problem, fitting, gamma)
    for value in around(region, R(0), R(1), 7):
        there = iteration(problem.subs({gamma: value}), fitting)
        assert (value in region) == there.is_convergent(), value


@given(evaluations, st.integers(1, 4))
@settings(max_examples=12)
def test_the_step_size_against_points(problem, updates):
    region = stability_region(problem, PFQI("alpha", updates), "alpha")
    assert 0 not in region
    for value in around(region, R(0), R(3), 7):
        assert (value in region) == iteration(problem, PFQI(value, updates)).is_convergent(), value


@pytest.mark.parametrize("seed", range(4))
def test_one_update_is_td_on_independent_transitions(seed):
    problem = random_problem(3, 2, seed=seed)
    limit = step_size_limit(problem, TD(), sense="mean", sampling="iid")
    region = stability_region(problem, PFQI("alpha"), "alpha")
    assert region == sp.Interval.open(0, limit)


def test_no_step_size_where_td_is_unstable():
    assert stability_region(two_state(), PFQI("alpha"), "alpha") == sp.EmptySet
    assert step_size_limit(two_state(), TD()) == 0


def test_two_states_by_hand():
    """F = 6 gamma / 5; at 5/6 it is 1: every theta stays, or none does."""
    for reward, region, said in (
        (1, sp.Interval.Ropen(0, R(5, 6)), "no fixed point"),
        (0, sp.Interval(0, R(5, 6)), "many fixed points"),
    ):
        problem = two_state("gamma", reward=reward)
        it = iteration(problem, FQI())
        assert it.stability_region("gamma") == stability_region(problem, FQI(), "gamma") == region
        assert it.singular_points("gamma") == {R(5, 6): said}
        assert it.singular_points("gamma", domain=sp.Interval(0, R(1, 2))) == {}
    # PFQI: F = 1 - (1 - (1 - 5 alpha / 2)^k) (1 - 6 gamma / 5)
    for domain in (None, sp.Interval(0, 30)):  # alpha = 20: the eigenvalue is -1
        region = stability_region(two_state("4/5"), PFQI("alpha", 1), "alpha", domain=domain)
        assert region == sp.Interval.open(0, 20)
    assert stability_region(two_state("gamma"), PFQI("1/10", 5), "gamma") == sp.Interval(0, R(5, 6))
    half = sp.Interval.open(R(1, 4), R(3, 4))
    assert stability_region(two_state("gamma"), FQI(), "gamma", domain=half) == half


def test_a_step_at_which_nothing_moves():
    """Two steps of 4/5: 1 - 5/2 alpha = -1, so M = 0, and the weights stay where they are."""
    problem = two_state("4/5", reward=1)
    it = iteration(problem, PFQI("alpha", 2))
    assert it.stability_region("alpha") == sp.Interval.Lopen(0, R(4, 5))
    assert it.singular_points("alpha") == {R(4, 5): "many fixed points"}
    assert iteration(problem, PFQI("4/5", 2)).factor == sp.Matrix([[1]])


def test_a_complex_pair_leaves_the_circle():
    """A ring of three: A = (I - 9/10 P)/3, mu = 29/20 +- i .. , alpha/3 < 2 Re mu / |mu|^2 = 290/271."""
    rows = [(s, "go", (s + 1) % 3, 1, 0) for s in range(3)]
    mdp = MDP.from_transitions(rows)
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="9/10")
    found = stability_region(problem, PFQI("alpha"), "alpha")
    assert found == sp.Interval.open(0, R(870, 271))


def test_irrational_points_where_A_is_singular():
    """Decided in QQ(sqrt 41): with no reward every theta stays there, with one none does."""
    low, high = R(9, 2) - ROOT, R(9, 2) + ROOT
    many, none = (iteration(with_feature(reward), FQI()) for reward in (0, 1))
    outside = sp.Union(sp.Interval(-sp.oo, low), sp.Interval(high, sp.oo))
    assert many.stability_region("b") == outside
    assert many.singular_points("b") == {low: "many fixed points", high: "many fixed points"}
    assert none.stability_region("b") == outside - sp.FiniteSet(low, high)
    assert none.singular_points("b") == {low: "no fixed point", high: "no fixed point"}


def test_the_reward_vanishes_at_the_irrational_points():
    """A = 0 at 9/2 +- sqrt(41)/2, and the only reward is 0 at these two points alone."""
    base = two_state()
    low = R(9, 2) - ROOT
    minimal = b**2 - 9 * b + 10
    assert sp.expand(minimal.subs(b, low)) == 0
    rows = [
        ("left", "left", "left", 1, 0),
        ("left", "right", "right", 1, minimal),
        ("right", "left", "left", 1, 0),
        ("right", "right", "right", 1, 0),
    ]
    problem = PolicyEvaluation(
        MDP.from_transitions(rows), target=base.target, behavior=base.behavior,
        features=[[1], [b]], discount="9/10",
    )  # fmt: skip
    it, domain = iteration(problem, FQI()), sp.Interval(0, 10)
    high = R(9, 2) + ROOT
    many = dict.fromkeys((low, high), "many fixed points")
    assert it.singular_points("b", domain=domain) == many
    region = it.stability_region("b", domain=domain)
    assert region == sp.Union(sp.Interval(0, low), sp.Interval(high, 10))


def test_fqi_needs_a_regression():
    """The second feature is b - 1 times a new one: at 1 C is singular, although F has no pole there."""
    base = random_problem(3, 1, seed=5)
    first = base.Phi[:, 0]
    problem = base.replace(features=first.row_join((b - 1) * sp.Matrix([1, 0, 0])).tolist())
    region = stability_region(problem, FQI(), b, domain=sp.Interval(0, 2))
    assert 1 not in region
    assert region == sp.Union(sp.Interval.Ropen(0, 1), sp.Interval.Lopen(1, 2))
    with pytest.raises(NotUniqueError):
        iteration(problem.subs({b: 1}), FQI()).is_convergent()
    # a gradient step is defined there, too, and leaves the second weight alone
    steps = stability_region(problem, PFQI("1/10", 2), b, domain=sp.Interval(0, 2))
    assert 1 in steps


@pytest.mark.parametrize(("reward", "last"), [(0, True), (1, False)])
def test_redundant_features(reward, last):
    """1 is an eigenvalue throughout: it counts once more where the rest of A is singular."""
    problem = two_state("gamma", reward=reward).replace(features=[[1, 1], [2, 2]])
    it = iteration(problem, PFQI("1/10", 3))
    assert it.stability_region("gamma") == sp.Interval(0, R(5, 6), False, not last)
    assert set(it.singular_points("gamma")) == {R(5, 6)}
    with pytest.raises(NotUniqueError, match="independent features"):
        stability_region(problem, FQI(), "gamma")


def test_a_reward_that_makes_a_fixed_point():
    """A = 0 at 5/6 whatever the reward, and b = 0 only for the reward 0: a rank is lost at one point."""
    assert stability_region(two_state("5/6", reward="r"), FQI(), "r") == sp.FiniteSet(0)
    assert iteration(two_state("5/6", reward="r"), FQI()).singular_points("r") == {}


def test_a_probability_stays_in_its_range():
    base = two_state()
    behavior = Policy({s: {"left": "1 - 2*p", "right": "2*p"} for s in ("left", "right")})
    problem = PolicyEvaluation(
        base.mdp, target=base.target, behavior=behavior, features=[[1], [2]], discount="9/10"
    )
    # xi = (1 - 2p, 2p): A = -4/5 (1 - 2p) + 4/5 p is positive from p = 1/3 on
    region = stability_region(problem, PFQI("1/10", 2), "p")
    assert region == sp.Interval(R(1, 3), R(1, 2))
    assert not iteration(problem.subs({"p": R(33, 100)}), PFQI("1/10", 2)).is_convergent()


def test_a_formula_in_the_step_size_stays_positive():
    region = stability_region(two_state("4/5"), PFQI(2 - alpha), "alpha")
    assert region == sp.Interval.open(-18, 2)


def test_a_break_point_that_is_lost_is_noticed(monkeypatch):
    """Where the further eigenvalue 1 is not looked for in the field of its number, its points are left out."""
    it = iteration(with_feature(), FQI())
    assert R(9, 2) - ROOT in it.stability_region("b")
    monkeypatch.setattr(iteration_region, "_fragile", lambda it, q: [])
    assert R(9, 2) - ROOT not in it.stability_region("b")


def test_bad_input():
    with pytest.raises(InputError, match="occurs neither"):
        stability_region(two_state(), FQI(), "gamma")
    with pytest.raises(InputError, match="alpha is free too"):
        stability_region(two_state("gamma"), PFQI("alpha"), "gamma")
    with pytest.raises(InputError, match="leave it out"):
        stability_region(two_state("gamma"), FQI(), "gamma", sampling="iid")
    with pytest.raises(InputError, match="occurs neither"):
        iteration(two_state(), FQI()).singular_points("gamma")
