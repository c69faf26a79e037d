"""A helper or a constant that is defined anew, as in a notebook, makes another rule: nothing of the old one is kept."""

import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.domains import two_state
from obliquetd.learners import check
from obliquetd.learners.active import is_local
from obliquetd.learners.degree import degree
from obliquetd.learners.functions import digest, is_shipped

NOTEBOOK = """
from dataclasses import dataclass
from typing import Any, NamedTuple
from obliquetd.learners import Learner, Trace, phi, td_error

SCALE = 1

def weight(t):
    return 1 + 0 * t.g

def mine(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * SCALE * weight(t) * t.rho * delta * phi(t, i)
    return delta

@dataclass(frozen=True)
class Mine(Learner):
    alpha: Any = None
    rule = staticmethod(mine)

def first(t):
    return weight(t)
"""

TWICE = "def weight(t):\n    return 2 + 0 * t.g\n"
OF_THE_REWARD = "def weight(t):\n    return t.r\n"
LATER = {"twice": TWICE, "a constant": "SCALE = 2\n"}


@pytest.fixture
def notebook():
    space = {"__name__": "notebook"}
    exec(NOTEBOOK, space)
    return space


def of_the_mean(problem, learner):
    return otd.mean_dynamics(problem, learner).A[0, 0]


ASKED = {
    "exact": lambda m: of_the_mean(two_state(reward=1), m(0.01)),
    "floats": lambda m: of_the_mean(two_state(0.9, reward=1), m(0.01)),
    "a symbol": lambda m: of_the_mean(two_state("gamma", reward=1), m()).subs("gamma", sp.Rational(9, 10)),
    "efficiency": lambda m: sp.sqrt(otd.efficiency(two_state("1/2", reward=1), m()).noise_covariance[0, 0]),
}  # fmt: skip


@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("ask", ASKED)
def test_a_quantity_is_of_the_rule_as_it_is_now(ask, later, notebook):
    before = ASKED[ask](notebook["Mine"])
    exec(LATER[later], notebook)
    assert float(ASKED[ask](notebook["Mine"])) == pytest.approx(2 * float(before))
    fresh = {"__name__": "notebook"}
    exec(NOTEBOOK + LATER[later], fresh)
    assert ASKED[ask](notebook["Mine"]) == ASKED[ask](fresh["Mine"])


@pytest.mark.slow
def test_a_run_is_of_the_rule_as_it_is_now(notebook):
    problem = two_state(0.9, reward=1)

    def last():
        """After one step from 0, to which the weights are proportional to what the rule multiplies it by."""
        found = otd.simulate(problem, notebook["Mine"](0.01), 1, runs=8, seed=0)
        return float(found["Mine"].theta.sum())

    before = last()
    assert before != 0
    exec(TWICE, notebook)
    assert last() == pytest.approx(2 * before)


def test_what_is_known_of_a_rule_is_asked_anew(notebook):
    learner = notebook["Mine"]()
    known = learner.reads, digest(learner.rule), check(learner).ok, learner.has_memory
    assert known[2]
    exec(
        "def weight(t):\n    return t.rho_twin\n", notebook
    )  # a second outcome of the same state is drawn for it
    assert learner.reads == known[0] | {"rho_twin"}
    assert digest(learner.rule) != known[1]
    exec(
        "def weight(t):\n    return t.r\n", notebook
    )  # an update that is no more linear in the reward
    assert check(learner).averages
    exec("def weight(t):\n    return 1 + 0 * t.g\n", notebook)
    assert (learner.reads, digest(learner.rule)) == known[:2]
    assert check(learner).ok
    assert is_local(learner)
    assert degree(learner) == 1
    exec("SCALE = 0\n", notebook)
    assert degree(learner) == 0


def test_an_emphasis_is_looked_at_anew(notebook):
    problem, learner = two_state(reward=1), otd.WeightedTD(emphasis=notebook["first"])
    before = of_the_mean(problem, learner)
    exec(TWICE, notebook)
    assert of_the_mean(problem, learner) == 2 * before
    exec("def weight(problem):\n    return {s: 3 for s in problem.states}\n", notebook)
    assert of_the_mean(problem, learner) == 3 * before  # it is a function of the problem now


def test_what_did_not_change_is_kept(notebook):
    """Or a rule would be compiled for each run."""
    from obliquetd.learners.compiled import compiled_rule

    rule = notebook["mine"]
    assert compiled_rule(rule) is compiled_rule(rule)
    assert is_shipped(otd.TD.rule)
    assert not is_shipped(rule)


def test_a_check_is_of_the_learner_that_was_given():
    """1 is 1.0 to a dictionary, and not to who reads it."""
    for lam in (1, 1.0):
        assert repr(check(otd.TD(lam=lam)).learner.lam) == repr(lam)
