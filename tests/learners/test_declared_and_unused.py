"""Numbers for the symbols of a learner, and memory that is declared and never fed."""

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
import pytest

from obliquetd import TD, TDC, mean_dynamics
from obliquetd.domains import two_state
from obliquetd.errors import SingularError
from obliquetd.learners import Learner, check, td_error
from obliquetd.learners.base import StepSize, unit
from obliquetd.learners.state import Number, Square, Theta, Vector


@pytest.mark.parametrize(
    "learner",
    [
        TDC(mu="1/(m - 1)"),
        TDC(mu="1/(m - 100)"),
        TDC(mu="-m"),
        TDC(mu="1/(m*(1 - m))"),
        TD(lam="1/(m - 1)"),
        TD(lam="m - n"),
    ],
    ids=repr,
)
def test_symbols_get_numbers_at_which_a_setting_is_one_of_its_kind(learner):
    assert check(learner, compiled=False).ok
    assert mean_dynamics(two_state(), learner).A.free_symbols <= learner.symbols


def test_a_setting_without_such_numbers_is_refused_with_what_was_expected():
    found = check(TDC(mu="-1 - m**2"), compiled=False)
    assert "symbols of mu = -m**2 - 1 that make it a positive number" in found.averages


class Lam(NamedTuple):
    """A trace parameter."""

    lam: Any


class WithSpareNumber(NamedTuple):
    """A trace, and a number that no rule here writes."""

    e: Vector
    spare: Number


class WithSpareSquare(NamedTuple):
    """A matrix that no rule here writes, before the trace."""

    spare: Square
    e: Vector


class WithSpareTrace(NamedTuple):
    """Two vectors, one of which is only written from itself."""

    spare: Vector
    e: Vector


def traced(x, m, t, alpha, p):
    delta = td_error(x.theta, t)
    for i in range(len(x.theta)):
        e = t.rho * (m.e[i] + t.features[t.s, i])
        x.theta[i] += alpha * delta * e
        m.e[i] = t.g * p.lam * e
    return delta


def traced_beside_nothing(x, m, t, alpha, p):
    for i in range(len(x.theta)):
        m.spare[i] = t.g * m.spare[i] * 2
    return traced(x, m, t, alpha, p)


@final
@dataclass(frozen=True)
class SpareNumber(Learner):
    """TD with a number that is never written."""

    alpha: StepSize = None
    lam: Any = unit("1/2")  # noqa: RUF009
    weights, memory, numbers, rule = Theta, WithSpareNumber, Lam, staticmethod(traced)


@final
@dataclass(frozen=True)
class SpareSquare(Learner):
    """TD with a matrix that is never written."""

    alpha: StepSize = None
    lam: Any = unit("1/2")  # noqa: RUF009
    weights, memory, numbers, rule = Theta, WithSpareSquare, Lam, staticmethod(traced)


@final
@dataclass(frozen=True)
class SpareTrace(Learner):
    """TD with a trace that nothing feeds."""

    alpha: StepSize = None
    lam: Any = unit("1/2")  # noqa: RUF009
    weights, memory, numbers, rule = Theta, WithSpareTrace, Lam, staticmethod(traced_beside_nothing)


@pytest.mark.parametrize("learner", [SpareNumber, SpareSquare, SpareTrace])
@pytest.mark.parametrize("lam", ["1/2", 0, "l"])
def test_memory_that_nothing_feeds_stays_empty(learner, lam):
    """Its own equation m = m is singular, and was taken for a trace that does not decay."""
    problem = two_state(reward=1)
    ours, known = (mean_dynamics(problem, make(lam=lam)) for make in (learner, TD))
    assert ours.A == known.A
    assert ours.b == known.b


def test_a_trace_that_really_does_not_decay_is_still_refused():
    problem = two_state(discount=1)
    with pytest.raises(SingularError, match="nothing decays it"):
        _ = mean_dynamics(problem, TD(lam=1)).A


def test_in_floats_too():
    problem = two_state(discount=0.9, reward=1.0)
    ours, known = (mean_dynamics(problem, learner) for learner in (SpareNumber(), TD(lam="1/2")))
    np.testing.assert_allclose(ours.A, known.A)
