"""A variance that the runs cannot show gets no interval, for a reason that is exact."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import obliquetd as otd
from obliquetd.experiments import Experiment, run
from obliquetd.learners import ETD, SETD, TD
from obliquetd.reproduction.study import expected_errors
from obliquetd.reproduction.tails import unseen_share, withheld


def rare(chance, ratio=None):
    """Two states; the behaviour takes ``b`` with a chance, the target with ratio times it."""
    mdp = otd.MDP.from_transitions(
        [(0, "a", 1, 1, 1), (0, "b", 0, 1, 0), (1, "a", 0, 1, 0), (1, "b", 1, 1, 2)]
    )
    chance = Fraction(chance)
    often = chance * (ratio or 1)
    policies = (otd.Policy({s: {"a": 1 - p, "b": p} for s in (0, 1)}) for p in (often, chance))
    target, behavior = policies
    return otd.PolicyEvaluation(
        mdp, target=target, behavior=behavior, features=[[1], [2]], discount="1/2"
    )


def test_the_unseen_share_by_hand():
    """mu(b) = 1/1000, rho = 500 there and 1/2 * 1000/999 at a."""
    problem = rare("1/1000", 500)
    a, b = Fraction(999, 1000) * Fraction(500, 999) ** 2, Fraction(1, 1000) * 500**2
    assert unseen_share(problem, 10_000) == pytest.approx(float(b / (a + b)))
    assert unseen_share(problem, 1_000_000) == 0
    assert unseen_share(rare("1/1000"), 10_000) == pytest.approx(0.001)


def found_of(problem, learners, steps=400, runs=40, alpha=0.001):
    experiment = Experiment.of(problem, steps, seed=0)
    return run(experiment, {L.name: replace(L, alpha=alpha) for L in learners}, runs, workers=1)


def test_a_rare_large_ratio_withholds_every_spread():
    problem = rare("1/100000", 50_000)
    found = found_of(problem, [TD(), SETD()])
    assert set(withheld(problem, found, {}, 400)) == {"TD", "SETD"}
    assert "E[rho^2]" in withheld(problem, found, {}, 400)["TD"]
    tame = rare("1/2", 1)
    assert withheld(tame, found_of(tame, [TD(), SETD()]), {}, 400) == {}


def test_a_follow_on_trace_without_a_second_moment_withholds_its_learner():
    problem = otd.domains.two_state("9/10", reward=1)
    found = found_of(problem, [TD(), ETD()])
    assert withheld(problem, found, {}, 400) == {"ETD": "its follow-on trace has no second moment"}
    small = otd.domains.two_state("1/2", reward=1)  # below 1/sqrt 2 it has one
    assert withheld(small, found_of(small, [TD(), ETD()]), {}, 400) == {}


def test_a_mean_square_that_few_runs_carry_misses_the_exact_one():
    """SETD above its mean-square limit of 1/4: no run of 40 is as bad as the mean of all."""
    problem = otd.domains.two_state(discount=0.9, reward=1)
    for alpha, tame in ((0.02, True), (0.6, False)):
        learner = {"SETD": SETD(alpha)}
        experiment = Experiment.of(problem, 60, seed=0)
        found = run(experiment, learner, 40, workers=1)
        exact = expected_errors(problem, learner, 60)
        told = withheld(problem, found, exact, 60)
        assert (told == {}) is tame
        if not tame:
            assert "exactly" in told["SETD"]


def test_a_run_that_diverged_withholds():
    problem = otd.domains.two_state(discount=0.9, reward=1)
    found = run(Experiment.of(problem, 2000, seed=0), {"TD": TD(5.0)}, 20, workers=1)
    assert "diverged" in withheld(problem, found, {}, 2000)["TD"]


def test_a_simulator_is_only_asked_for_divergence():
    problem = otd.domains.two_state(discount=0.9, reward=1)
    found = run(Experiment.of(problem, 50, seed=0), {"TD": TD(0.01)}, 20, workers=1)
    assert withheld(None, found, {}, 50) == {}


def test_the_exact_deviation_is_that_of_the_estimate():
    """E||v_hat - E v_hat||^2 from 4000 runs, within five standard errors; bias and deviation add up."""
    problem = otd.domains.two_state(discount=0.9, reward=1)
    learner, steps, runs = SETD(0.02), 40, 4000
    exact = expected_errors(problem, {"SETD": learner}, steps)["SETD"]
    found = otd.simulate(problem, {"SETD": learner}, steps, runs, seed=3, every=steps)
    values = found["SETD"].theta @ np.array(problem.Phi, dtype=float).T
    squares = ((values - values.mean(axis=0)) ** 2) @ np.ravel(np.array(problem.xi, dtype=float))
    error = squares.std() / np.sqrt(runs)
    assert abs(squares.mean() - exact["rmse_deviation"][-1] ** 2) < 5 * error
    for name in ("rmse", "rmspbe"):
        assert (exact[f"{name}_deviation"] <= exact[name] + 1e-12).all()
        assert exact[f"{name}_deviation"][0] == pytest.approx(0, abs=1e-6)
        assert exact[f"{name}_deviation"][-1] > 0.01
