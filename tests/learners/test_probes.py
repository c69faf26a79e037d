"""A rule that is affine on the memories that it reaches, and not where its map is read off."""

import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from obliquetd import TD, mean_dynamics, simulate
from obliquetd.domains import two_state
from obliquetd.errors import LearnerError
from obliquetd.learners import LEARNERS, Learner, Number, Vector, check, phi, td_error, unit
from obliquetd.learners.base import parameters

HALF = unit("1/2")


class Lam(NamedTuple):
    lam: Any


class Twins(NamedTuple):
    e: Vector
    copy: Vector


class Before(NamedTuple):
    e: Vector
    before: Number


class Flag(NamedTuple):
    e: Vector
    on: Number


def squared_difference(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        gap = m.e[i] - m.copy[i]  # always 0
        trace = t.rho * (m.e[i] + phi(t, i) + gap * gap)
        x.theta[i] += alpha * delta * trace
        m.e[i] = t.g * p.lam * trace
        m.copy[i] = m.e[i]
    return delta


def quotient(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    scale = 1 + 0 * alpha
    if m.before[0] > 0:
        scale = m.before[0] / alpha
    for i in range(len(x.theta)):
        trace = t.rho * (scale * m.e[i] + phi(t, i))
        x.theta[i] += alpha * delta * trace
        m.e[i] = t.g * p.lam * trace
    m.before[0] = alpha
    return delta


def product(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        trace = t.rho * (m.e[i] + phi(t, i))
        x.theta[i] += alpha * delta * trace * (1 + m.on[0] * m.on[0] * 3)
        m.e[i] = t.g * p.lam * trace
    m.on[0] = alpha * t.g
    return delta


def made(memory_, rule_):
    @dataclass(frozen=True)
    class Own(Learner):
        alpha: Any = None
        lam: Any = HALF

        memory, numbers, rule = memory_, Lam, staticmethod(rule_)

    return Own()


@pytest.mark.parametrize(
    ("memory", "rule", "words"),
    [
        (Twins, squared_difference, "from which its map is read off"),
        (Before, quotient, "division by zero"),
    ],
)
def test_it_is_refused(memory, rule, words):
    found = check(made(memory, rule), compiled=False)
    assert not found.runs
    assert words in found.averages
    with pytest.raises(LearnerError, match="no mean dynamics"):
        mean_dynamics(two_state(), made(memory, rule))


def test_without_the_guard_it_would_be_averaged_wrongly(monkeypatch):
    """The rule runs as TD(1/2) does; A, read off the unit memories, would be another."""
    guard = sys.modules["obliquetd.learners.check"]  # its name is the function's, too
    own = made(Twins, squared_difference)
    run = simulate(two_state(reward=1), {"own": type(own)(0.01), "td": TD(0.01, lam="1/2")}, 100)
    assert run["own"].theta == pytest.approx(run["td"].theta)
    monkeypatch.setattr(guard, "affine_where_probed", lambda _: True)
    monkeypatch.setattr("obliquetd.dynamics.expectation.require_affine", lambda *_, **__: None)
    guard._check.cache_clear()
    wrong, right = (mean_dynamics(two_state(), x).A for x in (own, TD(lam="1/2")))
    guard._check.cache_clear()
    assert wrong != right


def test_what_is_0_at_alpha_0_may_be_squared():
    """Nothing is read off a memory that is never reached."""
    found = mean_dynamics(two_state(), made(Flag, product))
    assert found.A == mean_dynamics(two_state(), TD(lam="1/2")).A


def test_the_rules_of_the_package_are_not():
    for kind in LEARNERS.values():
        traced = any(p.name == "lam" for p in parameters(kind))
        assert check(kind(lam="1/2") if traced else kind(), compiled=False).ok, kind
