"""Numbers that a learner takes from the problem: where they come from, and who asks for them."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.domains import two_state
from obliquetd.errors import InputError, LearnerError
from obliquetd.experiments import LoggedData
from obliquetd.learners import Learner, check, emphatic


class Numbers(NamedTuple):
    weight: Any
    scale: Any


class Trace(NamedTuple):
    e: otd.learners.Vector


def rule(x, m, t, alpha, p):
    return emphatic(x.theta, m.e, t, p.scale * p.weight[t.s], alpha, 0 * t.g)


@dataclasses.dataclass(frozen=True)
class ByValue(Learner):
    """Weights a state by its discount; scaled by the number of states."""

    alpha: Any = None

    memory, numbers, rule = Trace, Numbers, staticmethod(rule)
    derives = {"weight": (1, "1/2", 3, 2), "scale": 2}  # noqa: RUF012

    def derive(self, problem):
        gamma = problem.discount
        return {"weight": [gamma, gamma**2], "scale": len(problem.states)}


def closed(problem):
    gamma, weights = problem.discount, (2 * problem.discount, 2 * problem.discount**2)
    assert len(weights) == 2
    X = sp.diag(*problem.xi) * sp.diag(*weights) * problem.Phi
    return (X.T * (sp.eye(2) - gamma * problem.P_pi) * problem.Phi)[0]


def test_a_rule_with_numbers_of_a_problem_is_tried_without_one():
    assert check(ByValue()).ok
    assert ByValue().size(3) == 3
    assert not ByValue().has_memory


def test_its_dynamics_in_numbers_and_in_symbols():
    for gamma in ("1/2", "9/10"):
        problem = two_state(gamma, reward=1)
        assert otd.mean_dynamics(problem, ByValue()).A[0] == closed(problem)
        assert problem.fixed_point(ByValue()).theta[0] == problem.fixed_point(
            Omega=sp.diag(1, problem.discount)
        ).theta[0]  # fmt: skip
    symbolic = two_state("gamma")
    assert sp.simplify(otd.mean_dynamics(symbolic, ByValue()).A[0] - closed(symbolic)) == 0
    floats = two_state(0.5).replace(arithmetic="float")
    assert otd.mean_dynamics(floats, ByValue()).A[0, 0] == pytest.approx(
        float(closed(two_state("1/2")))
    )
    assert otd.mean_dynamics(two_state("1/2"), ByValue()).numbers == {
        "weight": (sp.Rational(1, 2), sp.Rational(1, 4)), "scale": 2,
    }  # fmt: skip


@pytest.mark.slow
def test_every_door_binds():
    problem = two_state("1/2", reward=1)
    one = ByValue("1/10")
    assert otd.exact_moments(problem, one, 1).mean[1] == otd.mean_dynamics(problem, one).b / 10
    assert otd.step_size_limit(problem, one) > 0
    assert otd.stationary_moments(problem, ByValue("1/1000")).mean
    region = otd.stability_region(two_state("gamma"), one, "gamma")
    assert sp.Rational(1, 10) in region
    assert sp.Rational(99, 100) not in region
    proof = otd.mean_dynamics(problem, one).certificate()
    assert otd.check_certificate(proof, problem, one)
    run = otd.simulate(problem, one, 2000, runs=2)["ByValue"]
    again = otd.simulate(problem, one.bound(problem), 2000, runs=2)["ByValue"]
    other = otd.simulate(problem, one.bound(two_state("1/4")), 2000, runs=2)["ByValue"]
    assert np.array_equal(run.theta, again.theta)
    assert np.array_equal(run.theta, other.theta)  # the door binds anew
    swept = otd.sweep(problem, one, 2000, 2, workers=1)
    assert np.array_equal(next(iter(swept.curves.values())).theta, run.theta)


def test_a_log_has_no_states_of_a_problem():
    log = LoggedData(np.eye(2), np.eye(2)[::-1], [1.0, 0.0], 0.5)
    with pytest.raises(InputError, match="give the problem too"):
        otd.simulate(None, ByValue(0.1), 2, stream=log)
    problem = two_state("1/2", reward=1).replace(features=np.eye(2, dtype=int).tolist())
    with pytest.raises(InputError, match="a number for each state"):
        otd.simulate(problem, ByValue(0.1), 2, stream=log)


def test_a_run_by_hand_says_that_it_needs_a_problem():
    from obliquetd.experiments.identity import numbers_of

    with pytest.raises(LearnerError, match=r"learner\.bound\(problem\)"):
        numbers_of(ByValue(0.1))
    assert numbers_of(ByValue(0.1).bound(two_state("1/2"))).scale == 2.0


def scale(t, p):
    return p.scale * p.weight[t.s]


def called_like_its_number(x, m, t, alpha, p):
    return emphatic(x.theta, m.e, t, scale(t, p), alpha, 0 * t.g)


def test_a_helper_may_be_called_like_a_number_of_the_rule():
    """``p.scale`` in ``scale`` is no call of itself."""
    other = dataclasses.make_dataclass("Other", [], bases=(ByValue,), frozen=True)
    other.rule = staticmethod(called_like_its_number)
    assert check(other()).ok
    assert otd.mean_dynamics(two_state("1/2"), other()).A[0] == closed(two_state("1/2"))
