"""Where symbols range: a reward has no range, and decides on nothing; what is not looked at is said."""

import pytest
import sympy as sp

from obliquetd import MDP, Policy, PolicyEvaluation, mean_dynamics
from obliquetd.domains import two_state
from obliquetd.dynamics.cases import dynamics_cases
from obliquetd.learners import ETD, SETD, TD
from obliquetd.report.over_symbols import over_symbols
from obliquetd.report.verdicts import learner_row
from obliquetd.report.window import idle_symbols, window_of


def told(problem, learner):
    found = over_symbols(problem, learner, dynamics_cases(problem, learner))
    return found.verdict, found.where


def test_a_reward_has_no_range_and_decides_nothing():
    problem = two_state("gamma", reward="r")
    assert told(problem, TD()) == ("stable in part", "for gamma in [0, 5/6), whatever r is")
    assert told(problem, SETD()) == ("stable", "for gamma in [0, 1), whatever r is")
    assert learner_row(problem, "td", TD()).verdict == "stable in part"
    for learner in (TD(), SETD(), ETD()):
        assert "0 and 1" not in told(problem, learner)[1]
        for gamma in ("1/3", "5/6", "9/10"):
            for r in (-7, 0, "1/2", 100):  # as far outside of [0, 1] as one likes
                there = problem.subs({"gamma": gamma, "r": r})
                stable = learner.name != "TD" or gamma == "1/3"
                assert mean_dynamics(there, learner).is_stable() is stable


def test_two_symbols_decide_beside_one_in_the_rewards():
    verdict, where = told(two_state("gamma", reward="r"), TD(lam="l"))
    assert verdict == "stable in part"
    assert where.startswith("for gamma in [0, 1) and l in [0, 1], whatever r is")


def test_a_symbol_of_a_reward_that_is_a_chance_too_decides():
    rows = [("s", "a", "t", "p", "p"), ("s", "a", "s", "1 - p", "q"), ("t", "a", "s", 1, 0)]
    mdp = MDP.from_transitions(rows)
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), discount="9/10", features=[[1], [2]]
    )
    cases = dynamics_cases(problem, TD())
    assert idle_symbols(problem, cases) == (sp.Symbol("q"),)
    assert window_of(problem, TD(), cases).told == "p in [0, 1]"


@pytest.mark.parametrize("learner", [TD(), ETD()])
def test_a_feature_is_looked_at_in_a_window_and_that_is_said(learner):
    """x may be any number; nothing is claimed beyond what was looked at."""
    verdict, where = told(two_state("gamma").replace(features=[[1], ["x"]]), learner)
    assert verdict == "stable in part"
    assert where.startswith("for gamma in [0, 1) and x between -2 and 2")
    assert "shows where" in where or "not looked at beyond" in where
