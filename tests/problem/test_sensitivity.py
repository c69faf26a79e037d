"""Derivatives against differences, and of a symbol against those of the transition that it stands for."""

import numpy as np
import pytest
import sympy as sp

from obliquetd import MDP, Policy, PolicyEvaluation, sensitivity
from obliquetd.domains import random_problem, two_state
from obliquetd.errors import InputError, KindError, LabelError, ProbabilityError
from obliquetd.learners import ETD

R = sp.Rational
STEP = R(1, 10**6)


def moved(problem, place, e):
    """The problem with a probability moved by e, written out row by row."""
    rows, total = [], {}
    for row in problem.mdp.transitions:
        if (row.state, row.action, row.next_state) == place:
            total[place] = total.get(place, 0) + row.probability
    p = total[place]
    for row in problem.mdp.transitions:
        chance = row.probability
        if (row.state, row.action) == place[:2]:
            chance *= (p + e) / p if row.next_state == place[2] else (1 - p - e) / (1 - p)
        rows.append((*row[:3], chance, row.reward, row.discount))
    return problem.replace(mdp=MDP.from_transitions(rows))


@pytest.mark.parametrize("method", ["td", "etd", "best", ETD()])
def test_a_transition_against_differences(method):
    problem = random_problem(3, 1, seed=5)
    place = next(tuple(r[:3]) for r in problem.mdp.transitions if r.probability < 1)
    found = sensitivity(problem, place, method)
    up, down = (moved(problem, place, e) for e in (STEP, -STEP))
    for name, of in (
        ("xi", lambda p: p.xi),
        ("v_pi", lambda p: p.v_pi),
        ("theta", lambda p: p.fixed_point(method).theta),
    ):
        difference = np.array((of(up) - of(down)) / (2 * STEP), dtype=float)
        assert np.array(getattr(found, name), dtype=float) == pytest.approx(difference, rel=1e-6)
    errors = [p.fixed_point(method).rmse ** 2 for p in (up, down)]
    difference = float((errors[0] - errors[1]) / (2 * STEP))
    assert float(found.squared_error) == pytest.approx(difference, rel=1e-6)


def test_a_symbol_is_the_transition_that_it_stands_for():
    rows = [
        (0, "a", 0, "1 - p", 2),
        (0, "a", 1, "p", 1),
        (1, "a", 0, "1/3", 0),
        (1, "a", 1, "2/3", 5),
    ]
    mdp = MDP.from_transitions(rows)
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2", features=[[1], [2]])
    by_symbol = sensitivity(problem, "p")
    by_place = sensitivity(problem.subs({"p": "1/5"}), (0, "a", 1))
    for name in ("xi", "v_pi", "theta"):
        assert getattr(by_symbol, name).subs("p", R(1, 5)) == getattr(by_place, name)
    assert by_symbol.squared_error.subs("p", R(1, 5)) == by_place.squared_error


def test_the_discount():
    """v = (0, 0) without rewards; with reward 1, d v/d gamma = L^-1 P v."""
    problem = two_state("gamma", reward=1)
    found = sensitivity(problem, "gamma")
    expected = problem.L_pi.LUsolve(problem.P_pi * problem.v_pi)
    assert sp.simplify(found.v_pi - sp.Matrix(expected)) == sp.zeros(2, 1)
    assert found.xi == sp.zeros(2, 1)


def test_bad_input():
    problem = random_problem(3, 1, seed=5)
    with pytest.raises(InputError, match="no symbol 'p'; its symbols are none"):
        sensitivity(problem, "p")
    with pytest.raises(KindError, match="arithmetic='exact'"):
        sensitivity(problem.replace(arithmetic="float"), (0, 0, 0))
    with pytest.raises(InputError, match="2 parts"):
        sensitivity(problem, (0, 0))
    with pytest.raises(LabelError, match="no action 'left'"):
        sensitivity(problem, (0, "left", 0))
    with pytest.raises(LabelError, match="no state 9"):
        sensitivity(problem, (9, 0, 0))
    with pytest.raises(InputError, match="leave xi out"):
        sensitivity(problem.replace(xi=[1, 1, 1]), (0, 0, 0))
    certain = two_state(reward=1)
    place = next(tuple(r[:3]) for r in certain.mdp.transitions)
    with pytest.raises(ProbabilityError, match="is certain"):
        sensitivity(certain, place)
    absent = next(s for s in certain.states if s != place[2])
    with pytest.raises(LabelError, match="probability 0"):
        sensitivity(certain, (*place[:2], absent))
