"""The field's standard problems: their published values, and what each is known for."""

import math

import numpy as np
import pytest
import sympy as sp

from obliquetd.domains import (
    boyan_chain,
    collision,
    corrupted_chain,
    dense_random_mdp,
    four_rooms,
    kolter,
    random_walk,
    w_to_2w,
)
from obliquetd.dynamics import mean_dynamics
from obliquetd.errors import InputError
from obliquetd.learners import ETD, TD

half = sp.Rational(1, 2)


@pytest.mark.parametrize(("states", "features"), [(13, 4), (25, 7), (14, 14)])
def test_boyans_values_are_linear_in_the_distance(states, features):
    """Undiscounted, a step of mean length 3/2 costs 3: v(s) = -2 s, but for rounding at the end."""
    problem = boyan_chain(1, states, features)
    v = problem.values
    for s in range(2, states):
        assert v[s] == -3 + (v[s - 1] + v[s - 2]) / 2
    assert (v[1], v[0]) == (-2, 0)
    assert all(v[s] == -2 * s for s in range(states))
    assert problem.fixed_point("td").v_hat == problem.v_pi


def test_boyans_chain_of_the_paper():
    problem = boyan_chain()
    assert problem.Phi.shape == (14, 4)
    assert problem.discount == sp.Rational(95, 100)
    assert list(problem.Phi[0, :]) == [1, 0, 0, 0]
    assert list(problem.Phi[13, :]) == [0, 0, 0, 1]
    assert list(problem.Phi[1, :]) == [sp.Rational(10, 13), sp.Rational(3, 13), 0, 0]
    assert all(sum(problem.Phi[i, :]) == 1 for i in range(14))
    assert boyan_chain("gamma").v_pi[12] == -2
    visits = problem.xi / problem.xi[13]  # visits an episode, by counting paths
    assert visits[0] == 1
    assert visits[2] == half * visits[0] + half * visits[1]


@pytest.mark.parametrize("features", ["tabular", "inverted", "dependent"])
def test_random_walk_of_five(features):
    problem = random_walk(5, features)
    expected = np.arange(1, 6) / 6
    assert np.allclose(np.array(problem.v_pi, dtype=float).ravel(), expected)
    if features == "inverted":
        assert problem.Phi[0, 0] == 0
        assert problem.Phi[0, 1] == half
    if features == "dependent":
        assert problem.Phi.shape == (5, 3)
        assert np.allclose(problem.Phi[1], [1 / math.sqrt(2), 1 / math.sqrt(2), 0])
        assert np.allclose(problem.Phi[3], [0, 1 / math.sqrt(2), 1 / math.sqrt(2)])
        assert np.allclose((np.asarray(problem.Phi) ** 2).sum(axis=1), 1)


def test_random_walk_of_nineteen():
    problem = random_walk(19)
    assert list(problem.v_pi) == [sp.Rational(s - 10, 10) for s in range(1, 20)]
    assert random_walk(19, "dependent", normalized=False).Phi.shape == (19, 10)
    assert random_walk(19, discount="gamma").arithmetic == "symbolic"


def test_corrupted_chain_pays_at_the_ends_and_is_symmetric():
    problem = corrupted_chain()
    v = np.asarray(problem.v_pi).ravel()
    assert np.allclose(v, v[::-1])
    assert v.argmax() in (0, 19)
    assert np.allclose(np.asarray(problem.Phi)[:, :5].sum(axis=1), 1)
    assert not np.allclose(corrupted_chain(seed=1).Phi, problem.Phi)


def test_w_to_2w_diverges_where_a_sweep_says():
    """Least squares multiplies w by (6 - 4 eps) gamma / 5; TD is stable where that is below 1."""
    for eps in (0, sp.Rational(1, 10), sp.Rational(1, 3)):
        edge = sp.Rational(5) / (6 - 4 * eps)
        for gamma, stable in (
            (edge * sp.Rational(99, 100), True),
            (edge * sp.Rational(101, 100), False),
        ):
            if gamma < 1:
                assert mean_dynamics(w_to_2w(gamma, eps), TD()).is_stable() is stable
    assert w_to_2w("99/100", "epsilon").v_pi == sp.zeros(2, 1)


def test_kolters_error_is_unbounded_near_the_root_and_small_at_the_distribution():
    root = sp.Rational(2961, 4141)
    errors = [
        float(kolter(root + offset).fixed_point("td").rmse)
        for offset in (sp.Rational(1, 10), sp.Rational(1, 50), sp.Rational(1, 500))
    ]
    assert errors[0] < errors[1]
    assert float(kolter(half).fixed_point("td").rmse) < 1e-2
    assert float(kolter(half).fixed_point("best").rmse) < 1e-3
    assert max(errors) > 50 * float(kolter(root).fixed_point("best").rmse)


def test_collision_as_published():
    problem = collision()
    assert [problem.values[s] for s in (8, 1)] == [1, sp.Rational(9, 10) ** 7]
    assert all(sum(problem.Phi[i, :]) == 3 for i in range(8))
    assert mean_dynamics(problem, ETD()).is_stable()
    assert collision("gamma").values[7] == sp.Symbol("gamma")
    weights = problem.xi
    assert weights[0] < weights[3] == weights[4] > weights[7] > 0


def test_four_rooms_values_are_powers_of_the_discount():
    problem = four_rooms("west", tiling=None)
    assert len(problem.states) == 104
    for cell, steps in (((5, 1), None), ((4, 1), 1), ((6, 1), 1), ((0, 1), 5), ((2, 5), 7)):
        value = problem.values[cell]
        assert value == (0 if steps is None else sp.Rational(9, 10) ** (steps - 1))
    tiled = four_rooms()
    assert all(sum(tiled.Phi[i, :]) == 2 for i in range(104))
    assert set(tiled.xi) == {sp.Rational(1, 104)}


def test_dense_random_mdp_reaches_every_state_and_repeats():
    problem = dense_random_mdp(30, 3, 6, seed=3)
    assert (
        np.asarray(
            problem.P_pi.todense() if hasattr(problem.P_pi, "todense") else problem.P_pi
        ).min()
        > 0
    )
    assert np.allclose(problem.Phi[:, -1], 1)
    again = dense_random_mdp(30, 3, 6, seed=3)
    assert np.array_equal(problem.v_pi, again.v_pi)
    assert not np.array_equal(problem.v_pi, dense_random_mdp(30, 3, 6, seed=4).v_pi)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: boyan_chain(states=2), "states is 2"),
        (lambda: boyan_chain(states=4, features=5), "5 features for 4 states"),
        (lambda: random_walk(4), "odd"),
        (lambda: random_walk(features="fancy"), "'tabular', 'inverted' or 'dependent'"),
        (lambda: corrupted_chain(rbfs=1), "rbfs is 1"),
        (lambda: four_rooms("attic"), "attic"),
        (lambda: four_rooms((5, 0)), r"\(5, 0\)"),
        (lambda: four_rooms(tiling=0), "tiling is 0"),
        (lambda: dense_random_mdp(states=0), "states is 0"),
        (lambda: w_to_2w(epsilon="x/0"), "epsilon|x/0"),
        (lambda: kolter(2), "xi|weight|-1"),
    ],
)  # fmt: skip
def test_bad_sizes_are_named(make, words):
    with pytest.raises(InputError, match=words):
        make()
