"""A noise of exactly 0, and weights of exactly 0, are numbers of floats like any other."""

import numpy as np
import pytest

import obliquetd as otd
from obliquetd import ETD, GTD2, GTD2MP, MDP, SETD, TD, Policy, PolicyEvaluation
from obliquetd.algebra import FloatMatrix
from obliquetd.errors import PrecisionWarning


def never_rewarded():
    """Two states, a coin, no reward: v is 0."""
    mdp = MDP.from_transitions([(s, "go", t, "1/2", 0) for s in "AB" for t in "AB"])
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="9/10")


def ring():
    """0, 1 and 2 in turn, tabular: all TD errors at the fixed point are 0."""
    mdp = MDP.from_transitions([(s, "go", (s + 1) % 3, 1, int(s == 2)) for s in range(3)])
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2")


def off_policy():
    """A reward in state 1 for one of two actions: some outcomes move nothing at all, others do."""
    rows = [
        (0, "l", 1, 1, 0),
        (0, "r", 2, 1, 0),
        (1, "l", 2, 1, 1),
        (1, "r", 0, 1, 0),
        (2, "l", 1, 1, 0),
    ]
    mdp = MDP.from_transitions(rows)
    target = Policy({0: {"r": 1}, 1: {"l": "2/3", "r": "1/3"}, 2: {"l": 1}})
    return PolicyEvaluation(mdp, target=target, behavior=Policy.uniform(mdp), discount="1/2")


def waiting():
    mdp = MDP.from_transitions([("A", "stay", "A", 1, 0)])
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=0, features=[[3]])


@pytest.mark.parametrize("make", [never_rewarded, ring, off_policy, waiting])
@pytest.mark.parametrize(
    "learner", [TD(), TD(lam="1/2"), SETD(), ETD(beta="1/4"), GTD2(lam=1), GTD2MP()], ids=lambda x: x.label
)  # fmt: skip
def test_the_noise_of_floats_is_the_exact_one(make, learner):
    exact = otd.efficiency(make(), learner).noise_covariance
    found = otd.efficiency(make().replace(arithmetic="float"), learner).noise_covariance
    assert np.allclose(found, np.array(exact, dtype=float), rtol=1e-12, atol=1e-12)


def test_what_is_made_of_exact_zeros_has_no_bound():
    a = FloatMatrix(np.array([[0.1, 0.0], [0.3, 2.0]]), error=np.full((2, 2), 1e-17))
    zero = FloatMatrix(np.zeros((2, 1)), error=np.zeros((2, 1)))
    assert not (a @ zero).dense_error().any()
    unit = FloatMatrix(np.array([[1.0, 0.0], [0.0, 1.0]]), error=np.zeros((2, 2)))
    some = FloatMatrix(np.array([[5.0], [0.0]]), error=np.array([[1e-15], [0.0]]))
    assert (unit @ some).dense_error()[1] == 0
    tiny = FloatMatrix(np.array([[1e-200, 0.0]]), error=np.zeros((1, 2)))
    below = FloatMatrix(np.array([[1e-200], [1.0]]), error=np.zeros((2, 1)))
    assert (tiny @ below).dense_error()[0] > 0  # 1e-400 is lost


@pytest.mark.parametrize("discount", [0.9, 0.7, 0.99, 0.999])
def test_no_update_at_the_fixed_point_is_no_noise_in_floats_either(discount):
    """The paper's example: SETD moves in one state only, where delta is 0 for certain."""
    found = otd.efficiency(otd.domains.two_state(discount, reward=1), otd.SETD())
    assert not found.noise_covariance.any()
    assert not found.averaged.any()
    assert not found.constant_step.any()
    assert found.variance == 0


def chain_of(rows, **fields):
    mdp = MDP.from_transitions(rows)
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), **fields)


@pytest.mark.parametrize(
    ("problem", "learner"),
    [
        *((chain_of([(0, "a", 1, 1.0, 1e8), (1, "a", 0, 0.5, 0.0), (1, "a", 0, 0.5, 1e-8)], discount=0.5), x)
          for x in (TD(), GTD2(), ETD(), SETD())),
        (chain_of([(0, "a", 0, 0.5, 1e8), (0, "a", 0, 0.5, 1e8 + 1e-5)], discount=0.75, features=[[3.0]]), TD()),
        (chain_of([(0, "a", 0, 0.5, -1e6), (0, "a", 0, 0.5, -1e6 + 1e-8)], discount=0.75, features=[[2.0]]), ETD()),
        (chain_of([(0, "a", 0, 0.5, 1e8), (0, "a", 0, 0.5, 1e8 + 1.5e-8)], discount=0.875), otd.LSTD()),
    ],
)  # fmt: skip
def test_noise_far_below_the_rewards_is_warned_of(problem, learner):
    """It is what is left of rewards of 1e8, and was 28 times too large, or 0, without a word."""
    with pytest.warns(PrecisionWarning, match="covariance of"):
        _ = otd.efficiency(problem, learner).noise_covariance
    exact = otd.efficiency(problem.replace(arithmetic="exact"), learner).noise_covariance
    assert any(exact)


@pytest.mark.parametrize(
    ("rows", "discount"),
    [
        ([(0, "a", 0, 0.5, 1.0), (0, "a", 0, 0.5, 1 + 2.0**-50)], 0.999),
        ([(0, "a", 0, 0.5, 1e6), (0, "a", 0, 0.5, 1e6 + 2e-10)], 0.5),
        ([(0, "a", 1, 1.0, 0.0), (1, "a", 0, 0.125, 2.0), (1, "a", 1, 0.875, 1.0)], 1 - 2.0**-52),
    ],
)
def test_a_variance_of_the_return_that_rounding_takes_is_warned_of(rows, discount):
    problem = chain_of(rows, discount=discount)
    with pytest.warns(PrecisionWarning, match="variance of the return keeps about 0"):
        _ = problem.return_variance
    assert all(problem.replace(arithmetic="exact").return_variance)


def test_a_variance_that_is_zero_is_no_matter_of_rounding():
    """0.1 + 0.2 of rewards come either way: v is not a float, and the variance is 0."""
    rows = [
        (0, "a", 1, 0.5, 0.3),
        (0, "a", 2, 0.5, 0.3),
        (1, "a", 0, 1.0, 0.1),
        (2, "a", 0, 1.0, 0.1),
    ]
    assert not chain_of(rows, discount=0.9).return_variance.any()
