"""A rule of one's own that is affine on most transitions is refused where a problem has one of the others."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from obliquetd import MDP, TD, Policy, PolicyEvaluation, mean_dynamics
from obliquetd.dynamics import exact_moments, stability_region
from obliquetd.dynamics.affinity import require_affine
from obliquetd.dynamics.rule import RuleOnNumbers
from obliquetd.errors import LearnerError
from obliquetd.learners import LEARNERS, Learner, Trace, check, parameters, phi, phi_next, td_error


def by(x, t, alpha, factor):
    """One step of TD without a ratio, times a factor."""
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * factor * delta * phi(t, i)
    return delta


def at_a_reward_of_0(x, m, t, alpha, p):
    factor = 1 + 0 * t.g
    if t.reward == 0:
        factor = td_error(x.theta, t)
    return by(x, t, alpha, factor)


def at_a_feature_of_0(x, m, t, alpha, p):
    factor = 1 + 0 * t.g
    if phi_next(t, 0) == 0:
        factor = td_error(x.theta, t)
    return by(x, t, alpha, factor)


def with_two_features(x, m, t, alpha, p):
    factor = 1 + 0 * t.g
    if len(x.theta) == 2:
        factor = td_error(x.theta, t)
    return by(x, t, alpha, factor)


def clipped_at_a_large_ratio(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    step = delta
    if t.rho > 20 and delta > 100000:
        step = 100000 + 0 * t.g
    for i in range(len(x.theta)):
        x.theta[i] += alpha * step * phi(t, i)
    return delta


def carries_at_a_large_ratio(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        trace = m.e[i] + phi(t, i)
        x.theta[i] += alpha * delta * trace
        m.e[i] = 0 * t.g
        if t.rho > 20:
            m.e[i] = t.g * trace
    return delta


def traced(x, m, t, alpha):
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        m.e[i] = m.e[i] + phi(t, i)
        x.theta[i] += alpha * delta * m.e[i]
        m.e[i] = t.g * m.e[i] / 2
    return delta


def remembers_weights_at_a_large_ratio(x, m, t, alpha, p):
    delta = traced(x, m, t, alpha)
    if t.rho > 20:
        m.e[0] = t.g * x.theta[0]
    return delta


def squares_its_memory_at_a_large_ratio(x, m, t, alpha, p):
    delta = traced(x, m, t, alpha)
    if t.rho > 20:
        m.e[0] = m.e[0] * m.e[0]
    return delta


def multiplies_by_its_memory_at_a_large_ratio(x, m, t, alpha, p):
    if t.rho > 20:
        by(x, t, alpha, m.e[0] * m.e[0])
    return traced(x, m, t, alpha)


def keeps_a_memory_past_the_end(x, m, t, alpha, p):
    delta = traced(x, m, t, alpha)
    if t.rho > 20:
        m.e[0] = 1 + 0 * t.g
    return delta


def made(rule, memory=Trace):
    name = rule.__name__.title().replace("_", "")
    fields = {
        "__annotations__": {"alpha": Any}, "alpha": None, "memory": memory, "rule": staticmethod(rule),
    }  # fmt: skip
    return dataclass(frozen=True)(type(name, (Learner,), fields))


RULES = {
    at_a_reward_of_0: "not affine in the weights",
    at_a_feature_of_0: "not affine in the weights",
    with_two_features: "not affine in the weights",
    clipped_at_a_large_ratio: "not affine in the weights",
    carries_at_a_large_ratio: "hands a memory on",
    remembers_weights_at_a_large_ratio: "depends on the weights",
    squares_its_memory_at_a_large_ratio: "its memory is not affine in the memory",
    multiplies_by_its_memory_at_a_large_ratio: "its update is not affine in the memory",
    keeps_a_memory_past_the_end: "does not empty its memory",
}


def rare(n, number=Fraction, discount=None):
    """n states in a ring; one action of the last state is rare, ends an episode or not, and has reward 0."""
    last, q = n - 1, Fraction
    rows = [(s, a, (s + 1) % n, 1, s + 1, 1) for s in range(last) for a in "ab"]
    rows += [(last, "a", 0, 1, 1, 1), (last, "b", 0, q(1, 2), 0, 1), (last, "b", 1, q(1, 2), 0, 0)]
    mdp = MDP.from_transitions([(*row[:3], *map(number, row[3:])) for row in rows])
    even = {"a": number(q(1, 2)), "b": number(q(1, 2))}
    target = Policy(dict.fromkeys(mdp.states, even))
    behavior = Policy(
        {s: even if s < last else {"a": number(q(49, 50)), "b": number(q(1, 50))} for s in range(n)}
    )
    features = [[number(q(s)), number(q(1))] for s in range(n)]
    return PolicyEvaluation(
        mdp, target=target, behavior=behavior, features=features,
        discount=number(q(9, 10)) if discount is None else discount,
    )  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=lambda x: x.__name__)
def test_it_is_refused_where_a_problem_has_such_a_transition(rule):
    learner = made(rule)("1/10")
    assert not check(learner, compiled=False).averages  # no random transition was of that kind
    for problem in (rare(3), rare(3, float), rare(3, discount="gamma"), rare(30), rare(30, float)):
        with pytest.raises(LearnerError, match=rf"{learner.name}.*leads from.*{RULES[rule]}"):
            _ = mean_dynamics(problem, learner).A
    with pytest.raises(LearnerError, match=RULES[rule]):
        stability_region(rare(3, discount="gamma"), learner, "gamma")
    if not learner.has_memory:
        with pytest.raises(LearnerError, match=RULES[rule]):
            exact_moments(rare(3), learner, 2)


def test_it_is_averaged_where_a_problem_has_none():
    rows = [(s, "a", (s + 1) % 3, 1, s + 1) for s in range(3)]
    mdp = MDP.from_transitions(rows)
    one = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features=[[1], [2], [-1]], discount="9/10"
    )
    for rule in set(RULES) - {
        at_a_reward_of_0
    }:  # without a reward, from which A is read, that one is none
        lam = "1/2" if made(rule)().has_memory else 0
        found = mean_dynamics(one, made(rule)())
        assert (found.A, found.b) == (
            mean_dynamics(one, TD(lam=lam)).A, mean_dynamics(one, TD(lam=lam)).b
        )  # fmt: skip


@pytest.mark.parametrize("number", [Fraction, float])
def test_the_rules_of_the_package_are_affine_at_such_transitions(number, monkeypatch):
    monkeypatch.setattr("obliquetd.dynamics.affinity.is_shipped", lambda _: False)
    problem = rare(3, number)
    for kind in LEARNERS.values():
        traced = any(p.name == "lam" for p in parameters(kind))
        learner = (kind(lam=number(Fraction(1, 2))) if traced else kind()).bound(problem)
        rule = RuleOnNumbers(problem.native, learner)
        require_affine(rule, rule.samples, carried=learner.has_memory)


def squared_at_the_end(x, m, t, alpha, p):
    return by(x, t, alpha, alpha if t.own == 0 else 1 + 0 * t.g)


def moved_at_a_large_ratio(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        x.theta[i] += alpha * delta * (phi(t, i) + m.e[i])
        m.e[i] = 0 * t.g
        if t.rho > 20:
            m.e[i] = alpha * t.g * phi(t, i)
    return delta


@pytest.mark.parametrize("number", [Fraction, float])
def test_a_step_that_is_quadratic_in_alpha_on_some_transitions_alone(number):
    """E theta_1 = (alpha + alpha^2) / 2 where half of all transitions end an episode, and the discount is 0."""
    rows = [("s", "a", "s", number(Fraction(1, 2)), number(1), number(own)) for own in (0, 1)]
    mdp = MDP.from_transitions(rows)
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features=[[number(1)]], discount=number(0)
    )
    alpha = Fraction(1, 4)
    found = exact_moments(problem, made(squared_at_the_end)(number(alpha)), 1)
    assert float(found.mean[1][0]) == pytest.approx(float(alpha + alpha**2) / 2)


@pytest.mark.parametrize("number", [Fraction, float])
def test_a_memory_that_is_of_the_order_of_alpha_counts_in_moments(number):
    learner = made(moved_at_a_large_ratio)(number(Fraction(1, 4)))
    assert not learner.has_memory
    _ = mean_dynamics(rare(3, number), learner).A  # where it counts for nothing
    with pytest.raises(LearnerError, match="hands a memory on"):
        exact_moments(rare(3, number), learner, 2)
