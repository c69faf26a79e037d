import pytest
import sympy as sp

from obliquetd.domains import baird_star, random_mdp, random_problem, two_state
from obliquetd.errors import InputError


def test_two_states_as_the_paper_gives_them():
    problem = two_state()
    assert problem.states == ("left", "right")
    assert problem.discount == sp.Rational(9, 10)
    assert problem.behavior["left"] == {"left": sp.Rational(1, 2), "right": sp.Rational(1, 2)}
    assert problem.target["right"] == {"right": 1}


@pytest.mark.parametrize("corners", [1, 3, 6])
def test_bairds_star_has_one_more_feature_than_states(corners):
    problem = baird_star(corners=corners)
    assert problem.Phi.shape == (corners + 1, corners + 2)
    assert problem.Phi.rank() == corners + 1
    assert list(problem.Phi[0, :]) == [2] + [0] * corners + [1]
    assert list(problem.Phi[corners, :]) == [0] * corners + [1, 2]


def test_bairds_star_needs_a_corner():
    for bad in (0, -1, 2.5):
        with pytest.raises(InputError, match="corners"):
            baird_star(corners=bad)


@pytest.mark.parametrize("seed", range(5))
def test_random_problems_are_repeatable_and_irreducible(seed):
    one = random_problem(4, 2, seed=seed, actions=3)
    assert one.mdp == random_problem(4, 2, seed=seed, actions=3).mdp
    assert len(one.chain.recurrent) == 1
    assert not one.chain.transient
    assert one.Phi.rank() == 2
    assert not one.on_policy
    assert random_problem(4, 2, seed=seed, on_policy=True).on_policy


def test_options_of_random_problems():
    rows = list(random_mdp(3, 2, 0, deterministic=True).transitions)
    assert len(rows) == 6
    assert all(r.probability == 1 for r in rows)
    assert any(r.discount == 0 for r in random_mdp(3, 2, 0, restarts=True).transitions)
    with pytest.raises(InputError, match="3 independent features"):
        random_problem(2, 3, seed=0)
