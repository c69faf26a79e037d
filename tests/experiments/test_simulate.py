"""Simulation against the exact mean, against itself, and against bad input."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from obliquetd import MDP, Policy, PolicyEvaluation, exact_moments
from obliquetd.domains import baird_star, random_problem, two_state
from obliquetd.dynamics import mean_dynamics
from obliquetd.errors import (
    CoverageError,
    FeatureError,
    InputError,
    KindError,
    LearnerError,
    NumberError,
)
from obliquetd.experiments import LoggedData, simulate
from obliquetd.experiments.streams import TableStream, floating
from obliquetd.learners import (
    ETD,
    GTD2,
    SETD,
    TD,
    TDC,
    DoubleSampledResidualGradient,
    Learner,
    ResidualGradient,
    RobbinsMonro,
    unit,
)

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


def lost_rho(x, m, t, alpha, p):
    return TD.rule(x, m, t._replace(rho=0 * t.rho + 1), alpha, p)


def wrong_decay(x, m, t, alpha, p):
    delta = TD.rule(x, m, t, alpha, p)
    for i in range(len(m.e)):
        m.e[i] = m.e[i] / 2
    return delta


def trace_not_reset(x, m, t, alpha, p):
    delta = TD.rule(x, m, t, alpha, p)
    for i in range(len(m.e)):
        m.e[i] += t.features[t.s, i] / 2
    return delta


@dataclass(frozen=True)
class Broken(Learner):
    """TD with another rule, for the analysis alone."""

    alpha: object = None
    lam: object = unit(0)
    how: object = None

    weights, memory, numbers = TD.weights, TD.memory, TD.numbers

    @property
    def rule(self):
        return self.how


def test_a_trace_that_outlives_its_episode_is_refused():
    with pytest.raises(LearnerError, match="discount of 0 does not empty its memory"):
        mean_dynamics(off_policy(), Broken(lam="1/2", how=trace_not_reset))


@pytest.mark.parametrize("how", [lost_rho, wrong_decay])
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


class TestDivergence:
    """The first step after which weights leave 1e150 times the scale, whatever is recorded."""

    def problem(self, reward=1, size=1):
        """A loop on which TD with alpha 1 multiplies theta + reward by phi^2 (discount - 1) + 1."""
        mdp = MDP.from_transitions([("s", "go", "s", 1, reward)])
        features = [[3 * size]]
        return PolicyEvaluation(mdp, target=Policy.uniform(mdp), features=features, discount="1/2")

    def test_it_does_not_depend_on_what_is_recorded(self):
        at = {
            every: simulate(self.problem(), TD(1.0), 1000, every=every)["TD"].diverged_at
            for every in (1, 7, 100, 1000)
        }
        assert len(set(at.values())) == 1
        (step,) = at[1]
        path = simulate(self.problem(), TD(1.0), step + 5, keep_path=True)["TD"].path[0, :, 0]
        # theta' = theta + 3 (1 - 3/2 theta), from 0; the scale is reward / feature = 1/3
        theta, weights = 0.0, [0.0]
        while abs(theta) <= 1e150 / 3:
            theta += 3 * (1 - 1.5 * theta)
            weights.append(theta)
        assert step == len(weights) - 1
        assert path[:step] == pytest.approx(weights[:-1], rel=1e-9)
        assert np.isinf(path[step:]).all()

    @pytest.mark.parametrize(("reward", "size"), [(10**9, 1), (1, 1000), ("1/1000000", "1/1000")])
    def test_it_does_not_depend_on_units(self, reward, size):
        """Weights are measured in rewards over features: other units, the same step."""
        import sympy as sp

        size = sp.Rational(size)
        alpha = sp.Rational(1) / size**2
        found = simulate(self.problem(reward, size), TD(alpha), 1000, every=50)["TD"].diverged_at
        assert found == simulate(self.problem(), TD(1), 1000, every=50)["TD"].diverged_at

    def test_secondary_weights_count(self):
        """On a loop with discount 1 GTD2's theta stands still, and w' = w + 3 (1 - w) leaves."""
        loop = LoggedData([[1]] * 600, [[1]] * 600, 1, 1)
        found = simulate(None, GTD2(1.0, 3), 600, stream=loop)["GTD2"]
        assert found.theta[0].tolist() == [0]
        w, step = 0.0, 0
        while abs(w) <= 1e150:
            w, step = w + 3 * (1 - w), step + 1
        assert found.diverged_at == (step,)

    def test_large_first_weights_are_no_divergence(self):
        mdp = self.problem().mdp
        problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), features=[[1]], discount="1/2")
        found = simulate(problem, TD(0.5), 4000, every=500, theta0=[1e200])["TD"]
        assert found.diverged_at == (None,)
        assert found.rmse[0, 0] == pytest.approx(1e200)  # its square is no float
        assert found.rmse[0, -1] < 1e-9
        assert np.isfinite(found.rmspbe).all()


@pytest.mark.parametrize(("steps", "every", "expected"), [
    (10, 4, [0, 4, 8, 10]), (10, 20, [0, 10]), (7, 7, [0, 7]), (1, 3, [0, 1]), (9, 3, [0, 3, 6, 9]),
])  # fmt: skip
def test_the_last_step_is_always_recorded(steps, every, expected):
    found = simulate(two_state(reward=1), SETD(0.01), steps, every=every, keep_path=True)
    assert found.steps.tolist() == expected
    assert np.array_equal(found["SETD"].path[0, -1], found["SETD"].theta[0])
    full = simulate(two_state(reward=1), SETD(0.01), steps, keep_path=True)["SETD"]
    assert np.array_equal(full.path[0, expected], found["SETD"].path[0])


@pytest.mark.parametrize(
    ("theta0", "words"),
    [
        ({0: 1, 1: 2}, "theta0 is {0: 1, 1: 2}; expected a vector of 2"),
        ("12", "theta0 is '12'"),
        ({1, 2}, "expected a vector of 2"),
        (3, "theta0 is 3"),
        ([[1, 2], [3, 4]], "theta0 has 4 entries"),
        ([1e301, 0], "expected sizes below 1e300"),
        (["x", 1], "x"),
        ([np.nan, 0], "nan"),
    ],
)
def test_first_weights_that_cannot_be(theta0, words):
    problem = random_problem(3, 2, seed=1)
    with pytest.raises(InputError, match=words):
        simulate(problem, [TD(0.1)], 5, theta0=theta0)
    if "1e300" not in words:  # which is about floats
        with pytest.raises(InputError, match=words):
            exact_moments(problem, TD("1/10"), 1, theta0=theta0)


def test_first_weights_of_every_shape():
    problem = random_problem(3, 2, seed=1)
    floats = PolicyEvaluation(
        problem.mdp, target=problem.target, behavior=problem.behavior, features=problem.Phi.tolist(),
        discount=problem.discount, arithmetic="float",
    )  # fmt: skip
    column = problem.fixed_point("best").theta
    flat = [float(x) for x in column]
    for theta0 in (column, flat, np.array(flat), np.array(flat)[:, None], tuple(column), [flat]):
        found = simulate(problem, [TD(0.1)], 1, theta0=theta0, keep_path=True)["TD"]
        assert found.path[0, 0] == pytest.approx(flat)
        mean = exact_moments(floats, TD(0.1), 1, theta0=theta0).mean
        assert list(mean[0]) == pytest.approx(flat)


class TestSamplingAndWeights:
    """Where trajectory sampling contradicts xi, as the mean dynamics says too."""

    def weighted(self, xi):
        mdp = two_state().mdp
        return PolicyEvaluation(
            mdp, target=two_state().target, behavior=two_state().behavior, features=[[1], [2]],
            discount="9/10", xi=xi,
        )  # fmt: skip

    @pytest.mark.parametrize(
        "xi", [["1/10", "9/10"], [0.1, 0.9], [1e-10, 5e-10], ["1/2", "500001/1000000"]]
    )
    def test_weights_that_are_not_stationary(self, xi):
        with pytest.raises(InputError, match=r"not stationary: state .*stream='iid'.*start="):
            simulate(self.weighted(xi), [TD(0.1)], 10)
        # each way out
        assert simulate(self.weighted(xi), [TD(0.1)], 10, stream="iid")["TD"].theta.shape == (1, 1)
        start = dict.fromkeys(two_state().states, "1/2")
        assert simulate(self.weighted(xi), [TD(0.1)], 10, start=start)["TD"].theta.shape == (1, 1)
        assert simulate(self.weighted(None), [TD(0.1)], 10)["TD"].theta.shape == (1, 1)

    @pytest.mark.parametrize("xi", [["1/2", "1/2"], [7, 7], [1e-10, 1e-10], [0.5, 0.5 + 1e-14]])
    def test_weights_that_are_stationary_up_to_scale_and_rounding(self, xi):
        found = simulate(self.weighted(xi), [TD(0.1)], 10)["TD"]
        assert np.array_equal(found.theta, simulate(self.weighted(None), [TD(0.1)], 10)["TD"].theta)

    def test_one_state_leads_into_another(self):
        from obliquetd.domains import w_to_2w

        with pytest.raises(InputError, match="not stationary"):
            simulate(w_to_2w("99/100"), [TD(0.01)], 10)

    def test_two_closed_classes(self):
        from obliquetd.errors import StationaryError

        mdp = MDP.from_transitions([("a", "x", "a", 1, 1), ("b", "x", "b", 1, 0)])
        parts = {"target": Policy.uniform(mdp), "features": [[1], [3]], "discount": "1/2"}
        with pytest.raises(StationaryError):
            simulate(PolicyEvaluation(mdp, **parts), [TD(1.0)], 10)
        both = PolicyEvaluation(mdp, **parts, xi=["1/2", "1/2"])
        found = simulate(both, [TD(1.0)], 600, runs=40, every=100)["TD"]
        lost = found.diverged
        # a run stays in its class: theta' = theta + (1 - theta / 2) in a, theta' = -7/2 theta in b
        assert 5 < lost + (found.theta[:, 0] == 0).sum() < 35
        assert found.theta[found.theta[:, 0] != 0, 0] == pytest.approx(2)
        alone = simulate(both, [TD(1.0)], 600, start={"b": 1}, theta0=[1], every=100)["TD"]
        assert alone.diverged == 1

    def test_independent_samples_have_no_start(self):
        with pytest.raises(InputError, match="stream='iid' draws states from xi"):
            simulate(two_state(), [TD(0.1)], 10, stream="iid", start={two_state().states[0]: 1})


@pytest.mark.parametrize("call", ["simulate", "sweep"])
def test_one_learner_is_a_list_of_one(call):
    from obliquetd.experiments import sweep

    run = {"simulate": simulate, "sweep": sweep}[call]
    problem = two_state(reward=1)
    one, listed = run(problem, TD(0.1), 20, 2), run(problem, [TD(0.1)], 20, 2)
    assert list(one.curves) == list(listed.curves)
    assert np.array_equal(*(next(iter(f.curves.values())).theta for f in (one, listed)))
    assert list(run(problem, {"mine": TD(0.1)}, 20, 2).curves) == ["mine"]
    assert list(run(problem, (x for x in [TD(0.1)]), 20, 2).curves) == list(one.curves)


@pytest.mark.parametrize("wrong", [TD, [TD], {"x": TD}, [TD(0.1), TD]])
def test_a_class_is_told_how_to_make_a_learner(wrong):
    with pytest.raises(InputError, match=r"class TD came where a learner .* TD\(\) or TD\(0\.1\)"):
        simulate(two_state(), wrong, 10)


def test_a_class_is_refused_everywhere():
    from obliquetd import find_unstable, stability_region, step_size_limit, sweep
    from obliquetd.dynamics import stationary_moments

    free = two_state(discount="g")
    for call in (
        lambda: mean_dynamics(two_state(), TD),
        lambda: exact_moments(two_state(), SETD, 3),
        lambda: stationary_moments(two_state(), SETD),
        lambda: step_size_limit(two_state(), TD),
        lambda: stability_region(free, TD, "g"),
        lambda: sweep(two_state(), TD, 10),
        lambda: find_unstable(TD, 3, 2),
        lambda: find_unstable(SETD(), 3, 2, stable=[TD]),
        lambda: find_unstable(SETD(), 3, 2, stable=[ETD(), GTD2]),
    ):
        with pytest.raises(InputError, match=r"the class \w+ came where a learner is expected"):
            call()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TD(0.1, lam=1.0000001), r"lam is 1\.0000001;"),
        (lambda: TD(-1e-7), r"alpha is -1e-07;"),
        (lambda: GTD2(0.1, -1.00000001), r"mu is -1\.00000001;"),
        (lambda: PolicyEvaluation(two_state().mdp, target=two_state().target, discount=1 + 1e-12), r"discount is 1\.000000000001;"),
        (lambda: simulate(two_state(), [TD(0.1)], True), "steps is True"),
        (lambda: simulate(two_state(), [TD(0.1)], 10, True), "runs is True"),
        (lambda: simulate(two_state(), [TD(0.1)], 10, seed=True), "seed is True"),
        (lambda: simulate(two_state(), [TD(0.1)], 10, workers=0), "workers is 0"),
        (lambda: simulate(two_state(), [TD(0.1)], 10, workers="2"), "workers is '2'"),
        (lambda: simulate(two_state(), "td", 10), "'td' is no learner"),
        (lambda: simulate(two_state(), {}, 10), "no learner"),
        (lambda: simulate(two_state(), [TD(0.1)], 10)["TD"].mean("rmsx"), "error is 'rmsx'"),
    ],
)  # fmt: skip
def test_what_came_is_quoted_as_it_came(make, words):
    with pytest.raises(InputError, match=words):
        make()
