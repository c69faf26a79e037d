"""First weights are read in one place, for the mean dynamics as for runs and moments."""

import numpy as np
import pytest

from obliquetd import MDP, TD, Policy, PolicyEvaluation, exact_moments, mean_dynamics
from obliquetd.domains import two_state
from obliquetd.errors import InputError, ObliqueTDError, SizeError


def frozen():
    """State 1 has no weight, so its weight never moves."""
    mdp = MDP.from_transitions([(0, "a", 1, 1, 1), (1, "a", 0, 1, 1)])
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), xi=[1, 0], discount="1/2")


def test_a_column_is_a_vector():
    dynamics = mean_dynamics(frozen(), TD())
    wanted = list(dynamics.fixed_point([5, 7]))
    assert wanted[1] == 7
    for given in ([[5], [7]], (5, 7), np.array([5, 7]), ["5", "7"]):
        assert list(dynamics.fixed_point(given)) == wanted
        assert list(dynamics.expected_update(given)) == list(dynamics.expected_update([5, 7]))


@pytest.mark.parametrize(
    "bad", ["57", {5: 1, 7: 2}, {0: 5, 1: 7}, 5, {"s": 1}, {5, 7}, [1], [1, 2, 3]]
)
def test_what_is_no_vector_is_refused(bad):
    dynamics = mean_dynamics(frozen(), TD())
    for ask in (dynamics.fixed_point, dynamics.expected_update):
        with pytest.raises(InputError, match="theta"):
            ask(bad)


def test_moments_over_more_steps_than_can_be_kept_are_refused_at_once():
    with pytest.raises(SizeError, match=r"10{12} steps would keep.*stationary_moments"):
        exact_moments(two_state(), TD("1/10"), 10**12, [1])


def test_secondary_weights_have_a_place_of_their_own():
    from obliquetd import GTD2

    dynamics = mean_dynamics(two_state(reward=1), GTD2())
    assert len(dynamics.expected_update([1], [2])) == 2
    with pytest.raises(ObliqueTDError, match="w has 2 entries"):
        dynamics.expected_update([1], [2, 3])
