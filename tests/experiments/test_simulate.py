"""Simulation against the exact mean, against itself, and against bad input."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from obliquetd import MDP, Policy, PolicyEvaluation
from obliquetd.domains import baird_star, random_problem, two_state
from obliquetd.dynamics import mean_dynamics
from obliquetd.errors import CoverageError, FeatureError, InputError, KindError, NumberError
from obliquetd.experiments import LoggedData, simulate
from obliquetd.experiments.streams import TableStream, floating
from obliquetd.learners import (
    ETD,
    GTD2,
    SETD,
    TD,
    TDC,
    DoubleSampledResidualGradient,
    ResidualGradient,
    RobbinsMonro,
)
from obliquetd.learners.emphatic import emphatic_step

TINY = 1e-10
LIMIT = 4.5
"""Standard errors; a true mean passes this with probability 1 - 1e-5 for each entry."""


def batch_means(problem, learner, steps=400_000, batch=2_000, stream="trajectory"):
    """Means and standard errors of the update at a fixed theta: with a step size of 1e-10 the
    weights stand still to within 1e-4 while their increments add up."""
    d = problem.Phi.shape[1]
    theta0 = np.linspace(1, -1, d) if d > 1 else np.ones(1)
    found = simulate(
        problem,
        {"x": learner},
        steps,
        seed=11,
        theta0=theta0,
        every=batch,
        stream=stream,
        keep_path=True,
    )
    averages = np.diff(found["x"].path[0], axis=0) / (TINY * batch)
    return theta0, averages.mean(axis=0), averages.std(axis=0, ddof=1) / np.sqrt(len(averages))


CASES = {
    "td": TD(TINY),
    "td-lambda": TD(TINY, lam=0.5),
    "setd": SETD(TINY),
    "setd-lambda": SETD(TINY, lam=0.5),
    "etd": ETD(TINY),
    "etd-lambda": ETD(TINY, lam=0.5),
    "rg": ResidualGradient(TINY),
    "rg-double": DoubleSampledResidualGradient(TINY),
}


def off_policy(discount="1/2"):
    return random_problem(3, 2, seed=6, restarts=True, discount=discount)


@pytest.mark.parametrize("name", CASES)
def test_the_simulated_mean_update_is_b_minus_A_theta(name):
    problem, learner = off_policy(), CASES[name]
    theta, mean, error = batch_means(problem, learner)
    expected = np.array(mean_dynamics(problem, learner).expected_update(theta), dtype=float).ravel()
    assert (np.abs(mean - expected) < LIMIT * error).all()
    assert (np.abs(mean + expected) > LIMIT * error).any()  # a wrong sign would be seen


def lost_rho(code, theta, w, memory, features, s, n, reward, g, rho, *rest):
    return emphatic_step(code, theta, w, memory, features, s, n, reward, g, 0 * rho + 1, *rest)


def trace_not_reset(code, theta, w, memory, features, s, n, reward, g, rho, *rest):
    delta = emphatic_step(code, theta, w, memory, features, s, n, reward, g, rho, *rest)
    if g == 0:  # decays by the discount of the problem where the episode ends
        before = memory.copy()
        emphatic_step(code, theta.copy(), w, before, features, s, n, reward, g * 0 + 1, rho, *rest)
        memory[:] = before / 2
    return delta


@dataclass(frozen=True)
class Broken(TD):
    """TD with another rule, for the analysis alone."""

    how: object = None

    @property
    def rule(self):
        return self.how


@pytest.mark.parametrize("how", [lost_rho, trace_not_reset])
def test_the_statistical_test_sees_a_broken_rule(how):
    problem = off_policy()
    theta, mean, error = batch_means(problem, TD(TINY, lam=0.5))
    broken = mean_dynamics(problem, Broken(lam="1/2", how=how)).expected_update(theta)
    assert (np.abs(mean - np.array(broken, dtype=float).ravel()) > LIMIT * error).any()


def test_independent_samples_leave_traces_nothing():
    problem = off_policy()
    learner = TD(TINY, lam=0.5)
    theta, mean, error = batch_means(problem, learner, stream="iid")
    expected = mean_dynamics(problem, learner, sampling="iid").expected_update(theta)
    assert (np.abs(mean - np.array(expected, dtype=float).ravel()) < LIMIT * error).all()


def test_transitions_are_drawn_with_their_frequencies():
    """Counts of 200,000 rows of the trajectory and of independent samples, by chi-square."""
    problem = random_problem(3, 1, seed=2)
    for kind in ("trajectory", "iid"):
        source = TableStream(problem, kind)
        _, rows, twins, fresh = source.draw(200_000, np.random.default_rng(0))
        ops = floating(problem)
        xi = np.array(ops.xi.entries())
        expected = xi[ops.state] * ops.mu * ops.probability * len(rows)
        for drawn in (rows, twins):
            counts = np.bincount(drawn, minlength=len(expected))
            chi = ((counts - expected) ** 2 / expected)[expected > 0].sum()
            assert chi < 3 * len(expected) + 30
            assert counts[expected == 0].sum() == 0
        assert (ops.state[twins] == ops.state[rows]).all()
        assert fresh.sum() == (1 if kind == "trajectory" else len(rows))
        if kind == "trajectory":
            assert (ops.next_state[rows[:-1]] == ops.state[rows[1:]]).all()


def test_one_seed_one_answer_whatever_the_workers_and_the_company():
    problem = two_state(discount="1/2", reward=1)
    common = {"steps": 500, "runs": 4, "seed": 3, "every": 50}
    alone = simulate(problem, [TD(0.05)], workers=1, **common)["TD"]
    together = simulate(problem, [ETD(0.01), TD(0.05)], workers=2, **common)["TD"]
    assert np.array_equal(alone.rmse, together.rmse)
    assert np.array_equal(alone.theta, together.theta)
    other = simulate(problem, [TD(0.05)], steps=500, runs=4, seed=4, every=50)["TD"]
    assert not np.array_equal(alone.rmse, other.rmse)
    more = simulate(problem, [TD(0.05)], steps=500, runs=6, seed=3, every=50)["TD"]
    assert np.array_equal(more.rmse[:4], alone.rmse)


@pytest.mark.parametrize(
    "learner",
    [
        TD(RobbinsMonro(1, 0.7)),
        SETD(RobbinsMonro(0.5, 0.7)),
        ETD(RobbinsMonro(0.3, 0.7)),
        TDC(RobbinsMonro(1, 0.7), 1),
    ],
)
def test_decreasing_steps_converge_to_the_fixed_point_of_the_mean(learner):
    problem = random_problem(3, 2, seed=1, on_policy=True, discount="1/2")
    found = simulate(problem, {"x": learner}, steps=200_000, runs=4, seed=1, every=10_000)["x"]
    theta = np.array(mean_dynamics(problem, learner).fixed_point(), dtype=float).ravel()
    assert np.abs(found.theta.mean(axis=0) - theta).max() < 0.05 * max(1, np.abs(theta).max())


def test_errors_are_those_of_the_problem():
    problem = two_state(discount="1/2", reward=1)
    found = simulate(problem, [TD(0.1), ETD(0.05)], steps=20, runs=2, seed=0)
    assert found["TD"].rmse[0, 0] == pytest.approx(float(problem.rmse([0, 0])))
    for curve in found.curves.values():
        last = problem.Phi * problem.Phi.__class__([[x] for x in curve.theta[0].tolist()])
        floats = two_state(discount=0.5, reward=1.0)
        v = np.array(last, dtype=float).ravel()
        assert curve.rmse[0, -1] == pytest.approx(floats.rmse(v))
        assert curve.rmspbe[0, -1] == pytest.approx(floats.rmspbe(v), abs=1e-12)


def test_a_diverging_run_is_reported_at_its_step_and_no_average_is_nan():
    """The 'w to 2w' step with rho = 2: one state pair, w grows geometrically past the float range."""
    mdp = MDP.from_transitions([("one", "go", "two", 1, 0), ("two", "go", "two", 1, 0)])
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), features=[[1], [2]], discount="99/100", xi=[1, 0]
    )
    found = simulate(
        problem, [TD(1), TD(1e-3)], steps=2000, runs=2, theta0=[1], every=100, stream="iid"
    )
    curve = found["TD"]
    # each step multiplies w by 99/50; the TD error passes 1e150 after log(1e150)/log(1.98) steps
    expected = int(np.ceil(150 * np.log(10) / np.log(1.98)))
    assert all(abs(t - expected) <= 1 for t in curve.diverged_at)
    assert curve.diverged == 2
    assert np.isinf(curve.mean()[-1])
    assert not np.isnan(curve.mean()).any()
    assert found["TD 2"].diverged == 0
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(text)["learners"]["TD"]["diverged_at"] == list(curve.diverged_at)


def test_bairds_star_as_the_literature_runs_it():
    found = simulate(
        baird_star(),
        [TD(0.01), SETD(0.006), GTD2(0.005, 1)],
        steps=4000,
        runs=10,
        seed=1,
        every=100,
        theta0=[1] * 6 + [10, 1],
    )
    assert found["TD"].mean()[-1] > 100 * found["TD"].mean()[0]
    assert found["SETD"].mean()[-1] < found["GTD2"].mean()[-1] < found["GTD2"].mean()[0]


def test_episodes_from_a_start_distribution():
    mdp = MDP.from_transitions(
        [("a", "go", "b", 1, 1), ("b", "go", "a", "1/2", 0), ("b", "go", "end", "1/2", 4)]
    )
    problem = PolicyEvaluation(
        mdp,
        target=Policy.uniform(mdp),
        discount=1,
        features={"a": [1, 0], "b": [0, 1], "end": [5, 5]},
        xi=[1, 1, 0],
    )
    found = simulate(
        problem,
        [TD(RobbinsMonro(2, 0.8), lam=0.5)],
        steps=100_000,
        runs=2,
        stream="episodes",
        start={"a": 1},
        every=10_000,
    )
    assert found["TD"].theta.mean(axis=0) == pytest.approx(
        [6, 5], abs=0.3
    )  # nothing bootstraps from the end
    closed = mdp.with_restarts({"a": 1})
    twin = PolicyEvaluation(closed, target=Policy.uniform(closed), discount=1)
    same = simulate(twin, [TD(0.1, lam=0.5)], steps=50, runs=1, every=10)
    assert same["TD"].rmse.shape == (1, 6)


class TestLoggedData:
    phi = np.array([[1.0, 0], [0, 1], [1, 1], [0, 1]])
    after = np.array([[0.0, 1], [1, 1], [0, 1], [1, 0]])

    def make(self, **changes):
        given = {
            "phi": self.phi,
            "phi_next": self.after,
            "reward": [1, 0, 2, 0],
            "discount": [0.9, 0, 0.9, 0.9],
        }
        return LoggedData(**{**given, **changes})

    def test_replay_is_the_rule_row_by_row(self):
        data = self.make(rho=[1, 2, 0.5, 1])
        found = simulate(None, [TD(0.1, lam=0.5)], steps=4, stream=data)["TD"]
        theta, memory = np.zeros(2), np.zeros(2)
        for phi, nxt, r, g, rho, first in zip(
            self.phi,
            self.after,
            [1, 0, 2, 0],
            [0.9, 0, 0.9, 0.9],
            [1, 2, 0.5, 1],
            [1, 0, 1, 0],
            strict=True,
        ):
            if first:
                memory[:] = 0
            e = rho * (memory + phi)
            theta += 0.1 * (r + g * nxt @ theta - phi @ theta) * e
            memory = g * 0.5 * e
        assert found.theta[0] == pytest.approx(theta)
        assert found.rmse.size == 0

    def test_errors_need_a_problem_with_as_many_features(self):
        data = self.make()
        problem = random_problem(3, 2, seed=0)
        assert simulate(problem, [TD(0.1)], steps=4, stream=data)["TD"].rmse.shape == (1, 5)
        with pytest.raises(InputError, match="2 features, the problem 1"):
            simulate(two_state(), [TD(0.1)], steps=4, stream=data)

    @pytest.mark.parametrize(
        ("changes", "error", "words"),
        [
            ({"phi_next": np.ones((3, 2))}, FeatureError, r"\(4, 2\) and phi_next \(3, 2\)"),
            ({"phi": [[1], [1, 2]]}, FeatureError, "ragged"),
            ({"reward": [1, 2]}, FeatureError, "reward has shape"),
            ({"phi": np.full((4, 2), np.nan)}, NumberError, r"phi\[0, 0\] is nan"),
            ({"reward": [1, np.inf, 0, 0]}, NumberError, r"reward\[1\] is inf"),
            ({"discount": [1, 2, 0, 0]}, InputError, r"discount\[1\] is 2"),
            (
                {"target": [1] * 4, "behavior": [0.5, 0, 0.5, 0.5]},
                CoverageError,
                r"behavior\[1\] is 0",
            ),
            ({"target": [1] * 4}, InputError, "both"),
            ({"rho": [1, 1]}, FeatureError, "rho has shape"),
        ],
    )
    def test_bad_logs(self, changes, error, words):
        with pytest.raises(error, match=words):
            self.make(**changes)

    def test_more_steps_than_rows(self):
        with pytest.raises(InputError, match="5 steps asked of a log of 4"):
            simulate(None, [TD(0.1)], steps=5, stream=self.make())

    def test_collected_from_gymnasium(self):
        gymnasium = pytest.importorskip("gymnasium")
        env = gymnasium.make("FrozenLake-v1")
        mdp = MDP.from_gymnasium(env)
        uniform, features = (
            Policy.uniform(mdp),
            {s: [float(s == k) for k in range(16)] for s in range(16)},
        )
        data = LoggedData.collect(env, uniform, features, steps=3000, seed=5, discount=0.9)
        assert data.first.sum() > 100
        assert set(np.unique(data.outcomes.discount)) == {0.0, 0.9}
        problem = PolicyEvaluation(mdp, target=uniform, discount=0.9)
        curve = simulate(problem, [TD(0.05)], steps=3000, stream=data, every=500)["TD"]
        assert curve.rmse[0, -1] < curve.rmse[0, 0]
        again = LoggedData.collect(env, uniform, features, steps=3000, seed=5, discount=0.9)
        assert np.array_equal(again.outcomes.reward, data.outcomes.reward)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"steps": 0}, InputError, "steps is 0"),
        ({"runs": 1.5}, InputError, "runs is 1.5"),
        ({"every": -1}, InputError, "every is -1"),
        ({"learners": []}, InputError, "no learner"),
        ({"learners": ["td"]}, InputError, "'td' is no learner"),
        ({"learners": [TD()]}, InputError, "no step size"),
        ({"theta0": [1, 2]}, InputError, "theta0 has 2"),
        ({"stream": "sideways"}, InputError, "'sideways'"),
        ({"stream": "episodes"}, InputError, "start="),
        ({"problem": two_state(discount="g")}, KindError, "g"),
        ({"problem": None}, InputError, "LoggedData"),
        ({"start": {"middle": 1}}, InputError, "'middle'"),
    ],
)
def test_bad_input(change, error, words):
    given = {"problem": two_state(), "learners": [TD(0.1)], "steps": 10}
    with pytest.raises(error, match=words):
        simulate(**{**given, **change})


def test_terminal_states_need_episodes():
    mdp = MDP.from_transitions([("a", "go", "end", 1, 1)])
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=1)
    with pytest.raises(InputError, match="stream='episodes'"):
        simulate(problem, [TD(0.1)], steps=10)
