"""Logs: ratios, episodes, exact numbers, and what a log cannot serve."""

from typing import ClassVar

import numpy as np
import pytest
import sympy as sp

from obliquetd import MDP, Policy, PolicyEvaluation, simulate, sweep
from obliquetd.errors import (
    CoverageError,
    FeatureError,
    InputError,
    KindError,
    LabelError,
    ModelFileError,
    NumberError,
)
from obliquetd.experiments import LoggedData
from obliquetd.formats import read_log
from obliquetd.learners import GTD2, TD, DoubleSampledResidualGradient, ResidualGradient

PHI = [[1, 0], [0, 1], [1, 1], [0, 1]]
NEXT = [[0, 1], [1, 1], [0, 1], [1, 0]]
G = ["9/10", 0, "9/10", "9/10"]


def log(**changes):
    return LoggedData(
        **{"phi": PHI, "phi_next": NEXT, "reward": [1, 0, 2, 0], "discount": G, **changes}
    )


def written(tmp_path, text):
    path = tmp_path / "log.csv"
    path.write_text(text)
    return read_log(path)


FEATURES = {0: [1, 0], 1: [0, 1]}
RIGHT = Policy({0: {"go": "3/4", "stay": "1/4"}, 1: {"go": "1/2", "stay": "1/2"}})
EVEN = Policy({0: {"go": "1/2", "stay": "1/2"}, 1: {"go": "1/2", "stay": "1/2"}})
PLAIN = "state,action,next_state,reward\n0,go,1,1\n1,stay,1,2\n1,go,0,0\n"
BOTH = "state,action,next_state,reward,target,behavior\n0,go,1,1,1,1/2\n1,stay,1,2,1/4,1/2\n1,go,0,0,3/4,1/2\n"
TARGET = "state,action,next_state,reward,target\n0,go,1,1,1\n1,stay,1,2,1/4\n1,go,0,0,3/4\n"
BEHAVIOR = "state,action,next_state,reward,behavior\n0,go,1,1,1/2\n1,stay,1,2,1/2\n1,go,0,0,1/4\n"


class TestRatios:
    @pytest.mark.parametrize(
        ("text", "options", "expected"),
        [
            (PLAIN, {}, [1, 1, 1]),
            (PLAIN, {"target": RIGHT, "behavior": EVEN}, ["3/2", 1, 1]),
            (PLAIN, {"rho": ["1/3", 2, 0]}, ["1/3", 2, 0]),
            (BOTH, {}, [2, "1/2", "3/2"]),
            (BOTH, {"target": RIGHT}, ["3/2", 1, 1]),  # the behaviour stays the logged one
            (BOTH, {"behavior": RIGHT}, ["4/3", "1/2", "3/2"]),
            (BOTH, {"target": RIGHT, "behavior": EVEN}, ["3/2", 1, 1]),
            (BOTH, {"rho": 1}, [1, 1, 1]),
            (TARGET, {"behavior": EVEN}, [2, "1/2", "3/2"]),
            (BEHAVIOR, {"target": RIGHT}, ["3/2", 1, 2]),
            (BEHAVIOR, {"rho": 1}, [1, 1, 1]),
            (BEHAVIOR, {"rho": 5}, [5, 5, 5]),
            (TARGET, {"rho": ["1/3", 2, 0]}, ["1/3", 2, 0]),
        ],
    )
    def test_each_side_falls_back_to_its_own_column(self, tmp_path, text, options, expected):
        data = LoggedData.from_log(written(tmp_path, text), FEATURES, discount="9/10", **options)
        exact = [sp.Rational(x) for x in expected]
        assert [sp.Rational(str(x)) for x in data.numbers.rho] == exact
        assert data.outcomes.rho == pytest.approx([float(x) for x in exact])

    @pytest.mark.parametrize(
        ("text", "options", "error", "words"),
        [
            (TARGET, {}, InputError, "no behavior probabilities"),
            (BEHAVIOR, {}, InputError, "no target probabilities.*rho=1"),
            (PLAIN, {"behavior": EVEN}, InputError, "no target probabilities"),
            (PLAIN, {"target": EVEN}, InputError, "no behavior probabilities"),
            (BOTH.replace("1,1,1/2\n", "1,,1/2\n", 1), {}, InputError, "line 2 has no target"),
            (BOTH.replace("3/4,1/2", "3/4,"), {}, InputError, "line 4 has no behavior.*behavior=, a Policy"),
            (BOTH.replace("1/4,1/2", "5/4,1/2"), {}, InputError, r"3: target is '5/4'"),
            (BOTH.replace("1/4,1/2", "1/4,-1/2"), {}, InputError, r"3: behavior is '-1/2'"),
            (BOTH.replace("1/4,1/2", "1/4,0"), {}, CoverageError, r"line 3: behavior is 0"),
            (PLAIN, {"target": EVEN, "behavior": Policy({0: {"stay": 1}, 1: {"go": 1}})}, CoverageError, "line 2"),
            (PLAIN, {"target": EVEN, "behavior": Policy({0: {"go": 1}})}, LabelError, "line 3: .*observation 1"),
            (PLAIN, {"target": EVEN, "rho": 1}, InputError, "rho came beside"),
            (BOTH, {"rho": 5}, InputError, "rho came beside the log's own.*leave rho out"),
            (BOTH, {"rho": [1, 1, 1]}, InputError, "rho came beside the log's own"),
            (BOTH, {"rho": "2/3"}, InputError, "rho came beside the log's own"),
            (PLAIN, {"rho": [1, -2, 1]}, InputError, "line 3: rho is -2"),
            (PLAIN, {"target": 7, "behavior": EVEN}, InputError, "expected a Policy"),
            (PLAIN, {"target": Policy({0: {"go": "p", "stay": "1-p"}, 1: {"go": 1}}), "behavior": EVEN}, KindError, "line 2.* p"),
        ],
    )  # fmt: skip
    def test_gaps_and_contradictions_are_named_with_their_line(
        self, tmp_path, text, options, error, words
    ):
        with pytest.raises(error, match=words):
            LoggedData.from_log(written(tmp_path, text), FEATURES, discount="9/10", **options)

    @pytest.mark.parametrize(
        ("changes", "error", "words"),
        [
            ({"target": [1.5, 1, 1, 1], "behavior": [1] * 4}, InputError, r"target\[0\] is 1.5"),
            ({"target": [1] * 4, "behavior": [1, -0.5, 1, 1]}, InputError, r"behavior\[1\] is -0.5"),
            ({"target": [1] * 4, "behavior": [1, 1, 1.00001, 1]}, InputError, r"behavior\[2\] is 1.00001"),
            ({"target": [1j] * 4, "behavior": [1] * 4}, NumberError, r"target\[0\] is 1j"),
            ({"target": np.array([1, 1, 1 + 1j, 1]), "behavior": [1] * 4}, NumberError, r"target\[0\]"),
            ({"rho": [1] * 4, "target": [1] * 4, "behavior": [1] * 4}, InputError, "beside"),
            ({"rho": 1, "behavior": [1] * 4}, InputError, "beside"),
            ({"rho": [1, 2, -1, 0]}, InputError, r"rho\[2\] is -1"),
            ({"rho": ["1/2", "p", 1, 1]}, KindError, r"rho\[1\] is p"),
            ({"rho": [True, 1, "x y", 1]}, NumberError, r"rho\[0\] is True"),
            ({"discount": ["9/10"]}, FeatureError, "discount has shape"),
            ({"discount": [0.5, 0.5, 0.5, 1.0000001]}, InputError, r"discount\[3\] is 1.0000001"),
            ({"discount": "g"}, KindError, "discount is g"),
            ({"reward": {0: 1, 1: 2, 2: 3, 3: 4}}, FeatureError, "reward has shape"),
            ({"phi": "words"}, FeatureError, "words"),
            ({"phi": [[1, 0], [0, "x y"], [1, 1], [0, 1]]}, NumberError, r"phi\[1, 1\]"),
        ],
    )  # fmt: skip
    def test_numbers_that_cannot_be(self, changes, error, words):
        with pytest.raises(error, match=words):
            log(**changes)

    def test_a_float_probability_may_be_one_by_rounding(self):
        found = log(target=np.float32([1, 0.5, 0.25, 1]), behavior=[1.0000001, 0.5, 0.5, 0.5])
        assert found.outcomes.rho == pytest.approx([1, 1, 0.5, 2])


def test_rationals_stay_exact_and_floats_stay_floats():
    third = sp.Rational(1, 3)
    found = log(reward=["1/3", third, 2, 0.25], rho=[1, "2/7", 3, 4])
    assert [sp.Rational(str(x)) for x in found.numbers.reward[:3]] == [third, third, 2]
    assert found.numbers.reward[3] == 0.25
    assert str(found.numbers.rho[1]) == "2/7"
    assert [str(x) for x in found.numbers.discount] == ["9/10", "0", "9/10", "9/10"]
    assert str(sum(found.numbers.reward[:2])) == "2/3"
    assert [str(x) for row in found.numbers.phi[:2] for x in row] == ["1", "0", "0", "1"]
    arrays = log(reward=np.array([1, 2, 3, 4]), phi=np.array(PHI, dtype=np.float32))
    assert str(arrays.numbers.reward[0] / 3) == "1/3"
    assert type(arrays.numbers.phi[0][0]) is float


def test_a_log_keeps_its_own_copy():
    rewards = np.array([1.0, 0, 2, 0])
    found = log(reward=rewards)
    rewards[:] = 9
    assert found.outcomes.reward.tolist() == [1, 0, 2, 0]
    assert found.numbers.reward == [1, 0, 2, 0]


class TestEpisodes:
    def test_an_array_that_jumps_has_to_say_so(self):
        jump = [[1, 0], [0, 1], [1, 1], [5, 5]]
        for first in (None, [1, 0, 1, 0]):
            with pytest.raises(
                InputError, match=r"phi\[3\] is not phi_next\[2\].*first=\[True\] \* 4"
            ):
                log(phi=jump, first=first)
        assert log(phi=jump, first=[1, 0, 0, 1]).first.tolist() == [True, False, True, True]
        assert log(phi=jump, first=[True] * 4).first.all()  # the error's way out

    def test_a_trace_is_not_credited_with_another_episode(self):
        """Two episodes of one step, the first cut by time: theta moves along each phi alone."""
        cut = LoggedData([[1, 0], [0, 1]], [[1, 0], [0, 1]], [1, 1], 1, first=[True, True])
        found = simulate(None, TD(0.5, lam=1), 2, stream=cut)["TD"]
        assert found.theta[0].tolist() == [0.5, 0.5]

    @pytest.mark.parametrize(
        ("first", "error", "words"),
        [
            ([True], FeatureError, "first has 1 entries"),
            (True, InputError, "first is True"),
            ("1010", InputError, "first is '1010'"),
            (["True", "", "", ""], InputError, r"first\[0\] is 'True'"),
            ([1, np.nan, 0, 0], InputError, r"first\[1\] is nan"),
            ([1, 0.5, 0, 0], InputError, r"first\[1\] is 0.5"),
            ([1, 2, 0, 0], InputError, r"first\[1\] is 2"),
            ([[1], [0], [1], [0]], InputError, r"first\[0\] is \[1\]"),
            ([1, None, 0, 0], InputError, r"first\[1\] is None"),
        ],
    )
    def test_beginnings_are_truth_values(self, first, error, words):
        with pytest.raises(error, match=words):
            log(first=first)

    def test_a_file_that_jumps_with_first_0_is_refused(self, tmp_path):
        text = "state,action,next_state,reward,first\n0,go,1,1,1\n0,go,1,1,0\n"
        with pytest.raises(ModelFileError, match=r":3 starts in 0, but the line before ended in 1"):
            written(tmp_path, text)
        fixed = written(tmp_path, text.replace("0,go,1,1,0", "0,go,1,1,1"))
        assert [step.first for step in fixed.steps] == [True, True]

    def test_a_log_made_by_hand_is_held_to_the_same(self, tmp_path):
        whole = written(tmp_path, PLAIN)
        from obliquetd.formats import Log

        torn = Log((whole.steps[0], whole.steps[2]._replace(state=0)))
        with pytest.raises(InputError, match="line 4 starts in 0"):
            LoggedData.from_log(torn, FEATURES, discount=1)
        with pytest.raises(InputError, match="no transition"):
            LoggedData.from_log(Log(()), FEATURES, discount=1)

    def test_an_end_is_worth_nothing_and_a_limit_of_time_keeps_the_value(self, tmp_path):
        text = "state,action,next_state,reward,done,truncated\n0,go,1,1,0,{}\n0,go,1,1,1,0\n"
        cut = LoggedData.from_log(written(tmp_path, text.format(1)), FEATURES, discount="1/2")
        assert cut.outcomes.discount.tolist() == [0.5, 0]
        assert cut.first.tolist() == [True, True]
        with pytest.raises(ModelFileError, match="limits of time with truncated"):
            written(tmp_path, text.format(0))

    def test_a_limit_of_time_counts_as_a_step_of_the_model(self, tmp_path):
        text = "state,action,next_state,reward,truncated\n0,go,1,1,1\n0,go,0,1,0\n0,go,1,1,1\n1,go,0,0,0\n"
        mdp = written(tmp_path, text).model()
        assert {tuple(map(str, row)) for row in mdp.transitions if row.state == 0} == {
            ("0", "go", "1", "2/3", "1", "1"), ("0", "go", "0", "1/3", "1", "1"),
        }  # fmt: skip


class TestWhatALogCannotServe:
    def test_a_second_sample(self):
        data = log()
        for call in (simulate, sweep):
            with pytest.raises(
                InputError,
                match=r"DoubleSampledResidualGradient.* two independent transitions.*ResidualGradient",
            ):
                call(None, [DoubleSampledResidualGradient(0.1)], 4, 1, stream=data)
        assert simulate(None, [ResidualGradient(0.1)], 4, stream=data)[
            "ResidualGradient"
        ].theta.shape == (1, 2)

    def test_other_streams_without_a_second_sample_refuse_too(self):
        from obliquetd.domains import MountainCar
        from obliquetd.reproduction.car import CarStream

        stream = CarStream(MountainCar())
        with pytest.raises(InputError, match="two independent transitions"):
            stream.check(10, 1, {"RG2": DoubleSampledResidualGradient(0.1)})
        stream.check(10, 20, {"TD": TD(0.1)})

    def test_more_runs_than_one(self):
        with pytest.raises(InputError, match=r"runs is 5, but a log is one run.*runs=1"):
            simulate(None, [TD(0.1)], 4, runs=5, stream=log())
        with pytest.raises(InputError, match="runs is 20"):
            sweep(None, [TD(0.1)], 4, runs=20, stream=log())
        found = sweep(None, [TD(0.1)], 4, stream=log())  # a sweep of a log is one run unless asked
        assert found["TD alpha=0.1"].theta.shape == (1, 2)

    def test_a_standard_error_of_one_run(self):
        problem = PolicyEvaluation(
            MDP.from_transitions([("a", "x", "b", 1, 1), ("b", "x", "a", 1, 0)]),
            target=Policy({"a": {"x": 1}, "b": {"x": 1}}), features=[[1, 0], [0, 1]], discount="1/2",
        )  # fmt: skip
        data = LoggedData(PHI[:2], [[0, 1], [1, 0]], [1, 0], "1/2")
        found = sweep(problem, [TD(0.1)], 2, every=1, stream=data)
        curve = found["TD alpha=0.1"]
        assert np.isnan(curve.standard_error()).all()
        assert np.isnan(found.best("TD").standard_error)
        assert curve.mean().shape == (3,)

    @pytest.mark.slow
    def test_errors_that_were_not_measured(self):
        from obliquetd.plotting import learning_curves, sensitivity

        found = sweep(None, [TD(0.1), TD(0.2)], 4, stream=log())
        for ask in (
            lambda: found.best("TD"),
            lambda: found.sensitivity("TD"),
            lambda: list(found.rows()),
            lambda: found["TD alpha=0.1"].mean(),
            lambda: found["TD alpha=0.1"].standard_error("rmspbe"),
            lambda: learning_curves(found),
            lambda: sensitivity(found),
        ):
            with pytest.raises(InputError, match="no errors were measured"):
                ask()
        told = found.to_dict()["learners"]["TD alpha=0.1"]
        assert told.pop("theta")
        assert told == {"diverged": 0, "diverged_at": [None]}
        assert "4 steps" in str(found)

    def test_a_log_that_is_swept_is_found_again(self, tmp_path):
        calls = []
        for _ in range(2):
            sweep(
                None, [TD(0.1)], 4, stream=log(), out=tmp_path, progress=lambda *c: calls.append(c)
            )
        assert calls == [(0, 1), (1, 1), (1, 1)]

    def test_a_start_of_its_own(self):
        with pytest.raises(InputError, match="a log has its own beginnings"):
            simulate(None, [TD(0.1)], 4, stream=log(), start={0: 1})

    def test_more_steps_than_it_has_before_a_sweep_begins(self):
        with pytest.raises(InputError, match="5 steps asked of a log of 4"):
            sweep(None, [TD(0.1)], 5, stream=log())


class Corridor:
    """States 0, 1, 2; "right" leads on; 3 ends; a limit of time cuts after two steps from 1."""

    observation = staticmethod(int)

    def reset(self, seed=None):
        self.at, self.age = 0, 0
        return self.observation(self.at), {}

    def step(self, action):
        self.at, self.age = self.at + 1, self.age + 1
        return self.observation(self.at), 1.0, self.at == 3, self.at == 2 and self.cut, {}

    cut = False


class Tuples(Corridor):
    observation = staticmethod(lambda k: (np.int64(k), True))


class Fields(Corridor):
    observation = staticmethod(lambda k: np.array([k, 1.0]))


class TestCollect:
    policy: ClassVar = Policy({k: {"right": 1} for k in range(3)})
    vectors: ClassVar = {k: [int(k == i) for i in range(3)] for k in range(3)}

    def test_an_end_needs_no_features_and_a_cut_keeps_its_discount(self):
        data = LoggedData.collect(Corridor(), self.policy, self.vectors, 6, 0, discount="1/2")
        assert data.outcomes.discount.tolist() == [0.5, 0.5, 0] * 2
        assert data.numbers.phi_next[2] == [0, 0, 0]
        env = Corridor()
        env.cut = True
        cut = LoggedData.collect(env, self.policy, self.vectors, 4, 0, discount="1/2")
        assert cut.outcomes.discount.tolist() == [0.5] * 4
        assert cut.first.tolist() == [True, False, True, False]

    def test_observations_of_other_kinds(self):
        policy = Policy({(k, True): {"right": 1} for k in range(3)})
        data = LoggedData.collect(Tuples(), policy, {(k, True): [k] for k in range(3)}, 3, 0)
        assert data.outcomes.features[:3, 0].tolist() == [0, 1, 2]
        with pytest.raises(InputError, match="not discrete"):
            LoggedData.collect(Fields(), self.policy, self.vectors, 3, 0)

    def test_ratios_are_exact(self):
        behavior = Policy({k: {"right": "1/3", "left": "2/3"} for k in range(3)})
        data = LoggedData.collect(Corridor(), behavior, self.vectors, 5, 0, target=self.policy)
        assert {str(x) for x in data.numbers.rho} <= {"0", "3"}

    @pytest.mark.parametrize(
        ("changes", "error", "words"),
        [
            ({"steps": 0}, InputError, "steps is 0"),
            ({"steps": 2.5}, InputError, "steps is 2.5"),
            ({"steps": True}, InputError, "steps is True"),
            ({"seed": -1}, InputError, "seed is -1"),
            ({"features": {0: [1], 1: [1]}}, LabelError, "observation 2"),
            ({"features": {0: 1, 1: 1, 2: 1}}, FeatureError, "expected a vector"),
            ({"features": np.eye(2)}, LabelError, "observation 2"),
            ({"behavior": Policy({0: {"right": 1}})}, LabelError, "observation 1"),
            ({"behavior": {0: {"right": 1}}}, LabelError, "behaviour policy .* observation 1"),
            ({"behavior": "uniform"}, InputError, "expected a Policy"),
            ({"discount": 1.0000001}, InputError, "1.0000001"),
        ],
    )
    def test_bad_input(self, changes, error, words):
        given = {"behavior": self.policy, "features": self.vectors, "steps": 6, "seed": 0}
        with pytest.raises(error, match=words):
            LoggedData.collect(Corridor(), **{**given, **changes})


def test_gradient_learners_replay_as_their_rule_does():
    data = LoggedData([[1, 0], [0, 1]], [[0, 1], [1, 0]], [1, 2], "1/2", rho=[2, "1/2"])
    found = simulate(None, GTD2(0.5, 2), 2, stream=data)["GTD2"]
    theta, w = np.zeros(2), np.zeros(2)
    for phi, after, r, rho in ([1, 0], [0, 1], 1, 2), ([0, 1], [1, 0], 2, 0.5):
        phi, after = np.array(phi, float), np.array(after, float)
        delta = r + 0.5 * after @ theta - phi @ theta
        theta, w = (
            theta + 0.5 * rho * (phi - 0.5 * after) * (phi @ w),
            w + 1.0 * (rho * delta - phi @ w) * phi,
        )
    assert found.theta[0] == pytest.approx(theta)


def test_a_replay_without_a_problem_shows_the_weights():
    """One run of a log has no errors and no standard error; what it learned is there."""
    log = LoggedData([[1, 0], [0, 1]], [[0, 1], [1, 0]], [1, 3], 0)
    found = simulate(None, {"half": TD(0.5), "whole": TD(1)}, 2, stream=log)
    text = str(found)
    assert "theta[0]" in text
    assert "weights after 2 steps of a log" in text
    assert [row[1:] for row in found._table()[2]] == [["0.5", "1.5"], ["1", "3"]]
    assert found.to_dict()["learners"]["half"]["theta"] == [[0.5, 1.5]]
    assert "<td" in found._repr_html_()
