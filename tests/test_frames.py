"""Rows and frames: the numbers of the object, exact where it is, and floats where they are asked for."""

import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.domains import random_problem, two_state
from obliquetd.errors import InputError, KindError, ModelFileError
from obliquetd.formats import read_log
from obliquetd.frames import frame_of

LEARNERS = [otd.TD("1/10"), otd.SETD("1/10")]


@pytest.fixture(scope="module")
def problem():
    return random_problem(3, 2, seed=4)


def test_a_comparison_has_a_row_for_each_method(problem):
    table = otd.compare(problem, ["td", "setd", "best"], quantities=["rmse", "angle", "criterion"])
    frame = table.to_frame()
    assert frame["method"].tolist() == ["td", "setd", "best"]
    for row, method in zip(table.rows(), table, strict=True):
        point = problem.fixed_point(method.name)
        assert row == {
            "method": method.name, "criterion": point.criterion, "angle": point.angle, "rmse": point.rmse
        }  # fmt: skip
    assert frame["rmse"].tolist() == [problem.fixed_point(m).rmse for m in frame["method"]]
    assert frame["rmse"].dtype == object
    floats = table.to_frame(floats=True)
    assert floats["rmse"].dtype == float
    assert floats["rmse"].tolist() == [float(x) for x in frame["rmse"]]


def test_a_quantity_that_does_not_exist_is_missing():
    table = otd.compare(two_state("5/6", reward=1), ["td", "setd"], quantities=["rmse"])
    assert [row["rmse"] is None for row in table.rows()] == [True, False]
    assert table.to_frame()["rmse"].isna().tolist() == [True, False]
    assert table.to_frame(floats=True)["rmse"].dtype == float


def test_symbols_stay_formulas_and_are_no_floats():
    table = otd.compare(two_state("gamma", reward=1), ["td"], quantities=["criterion"])
    gamma = sp.Symbol("gamma")
    exact = table.to_frame()["criterion"][0]
    assert exact.free_symbols == {gamma}
    with pytest.raises(KindError, match=r"row 0 .*'criterion' is a formula in gamma.*problem.subs"):
        table.to_frame(floats=True)
    put_in = otd.compare(
        two_state("gamma", reward=1).subs({"gamma": "1/2"}), ["td"], quantities=["criterion"]
    )  # the way out of the message
    assert put_in.to_frame(floats=True)["criterion"][0] == float(
        exact.subs(gamma, sp.Rational(1, 2))
    )


def test_a_simulation_has_a_row_for_each_learner_and_recorded_step():
    found = otd.simulate(two_state(reward=1), LEARNERS, steps=30, runs=3, every=10, keep_path=True)
    frame = found.to_frame()
    assert len(frame) == len(LEARNERS) * len(found.steps)
    for name, curve in found.curves.items():
        own = frame[frame["learner"] == name]
        assert own["step"].tolist() == found.steps.tolist()
        assert own["rmse"].tolist() == np.mean(curve.rmse, axis=0).tolist()
        assert own["rmspbe"].tolist() == np.mean(curve.rmspbe, axis=0).tolist()
        spread = np.std(curve.rmse, axis=0, ddof=1) / np.sqrt(3)
        assert own["rmse_standard_error"].to_numpy() == pytest.approx(spread)
        assert own["theta_0"].tolist() == np.mean(curve.path[:, :, 0], axis=0).tolist()
        assert set(own["alpha"]) == {0.1}
    assert "rmse_standard_error" not in otd.simulate(two_state(), LEARNERS, steps=3).to_frame()


def test_divergence_is_counted_up_to_each_step():
    found = otd.simulate(two_state(reward=1), otd.TD(0.1), steps=40_000, runs=2, every=2000)
    ends = [t for t in found["TD"].diverged_at if t is not None]
    assert len(ends) == 2
    for row in found.rows():
        assert row["diverged"] == sum(t <= row["step"] for t in ends)
        assert (row["rmse"] == np.inf) == (row["diverged"] > 0)


def test_a_sweep_has_a_row_for_each_run():
    found = otd.sweep(two_state(reward=1), LEARNERS, 20, 2, every=10, workers=1)
    frame = found.to_frame()
    assert len(frame) == 2 * 2 * 3
    for curve in found.curves.values():
        own = frame[(frame["learner"] == curve.learner.name) & (frame["run"] == 1)]
        assert own["rmse"].tolist() == curve.rmse[1].tolist()


def test_a_log_without_a_problem_shows_the_learned_weights():
    frame = pd.DataFrame(
        {"state": [0, 1, 0], "action": "a", "next_state": [1, 0, 1], "reward": [1, 2.5, 1]}
    )
    log = otd.LoggedData.from_log(read_log(frame), {0: [1, 0], 1: [0, 1]}, discount="1/2", rho=1)
    found = otd.simulate(None, otd.TD(0.5), 3, stream=log)
    (row,) = found.rows()
    assert row["step"] == 3
    assert [row["theta_0"], row["theta_1"]] == found["TD"].theta[0].tolist()
    assert "rmse" not in row


def test_claims_have_a_row_each():
    results = otd.verify(["lemma-1", "table-1-etd"])
    assert isinstance(results, list)
    frame = results.to_frame()
    assert frame["id"].tolist() == [r.id for r in results]
    assert frame["verdict"].tolist() == [r.verdict for r in results]
    assert frame["correction"].isna().tolist() == [True, False]
    assert frame["evidence"].tolist() == [r.evidence for r in results]


def test_learners_have_a_row_each():
    kinds = [otd.TD, otd.ETD, otd.TDC]
    frame = otd.learners.table(kinds).to_frame()
    assert frame["key"].tolist() == [kind.key for kind in kinds]
    assert frame["moments"].tolist() == [True, False, True]


def test_moments_have_a_row_for_each_step(problem):
    found = otd.exact_moments(problem, otd.TD("1/10"), 3)
    frame = found.to_frame()
    assert frame["step"].tolist() == [0, 1, 2, 3]
    assert frame["expected_mse"].tolist() == found.expected_mse
    for i in range(2):
        assert frame[f"mean_{i}"].tolist() == [m[i] for m in found.mean]
        squares = [s[i, i] - m[i] ** 2 for s, m in zip(found.second, found.mean, strict=True)]
        assert frame[f"variance_{i}"].tolist() == squares


def test_stationary_moments_are_one_row(problem):
    found = otd.stationary_moments(problem, otd.TD("1/50"))
    (row,) = found.rows()
    assert "step" not in row
    assert [row["bias_0"], row["bias_1"]] == list(found.bias[0])
    assert row["mean_0"] == found.fixed_point[0] + row["bias_0"]


@pytest.mark.parametrize("learner", [otd.TD(lam="1/2"), otd.TDC(), otd.LSTD()], ids=repr)
def test_efficiency_has_a_row_for_each_weight(problem, learner):
    found = otd.efficiency(problem, learner)
    frame = found.to_frame()
    size = found.averaged.rows
    names = ["theta_0", "theta_1", "w_0", "w_1"][:size]
    assert frame["weight"].tolist() == names
    for i in range(size):
        assert frame["noise"][i] == found.noise_covariance[i, i]
        assert frame["averaged"][i] == found.averaged[i, i]
    assert frame["fixed_point"].tolist()[:2] == list(problem.fixed_point(learner).theta)
    if isinstance(learner, otd.LSTD):
        assert frame["constant_step"].isna().all()
        assert "has no step size" in frame["remark"][0]
    else:
        assert frame["constant_step"].tolist() == [found.constant_step[i, i] for i in range(size)]


def test_noise_that_is_infinite_is_missing_and_says_why():
    (row,) = otd.efficiency(two_state(reward=1), otd.ETD()).rows()
    assert row["noise"] is row["averaged"] is None
    assert "is infinite" in row["remark"]


def test_models_policies_and_bounds_have_rows(problem):
    mdp = problem.mdp
    assert [tuple(row.values()) for row in mdp.rows()] == [tuple(t) for t in mdp.transitions]
    assert sum(problem.target.to_frame()["probability"]) == len(problem.states)
    bounds = otd.bounds(problem, otd.TD("1/10"))
    for row in bounds.rows():
        bound = bounds[row["theorem"]]
        assert (row["fails"] is None) == bound.holds
        if bound.holds and row["step"]:
            assert row["ratio"] == bound.ratio(1)


def test_without_pandas_there_are_rows_and_an_error_with_a_way_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = otd.compare(two_state(), ["td"], quantities=["criterion"])
    with pytest.raises(InputError, match=r"pip install 'pandas>=2.2'.*\.\[frames\].*\.rows\(\)"):
        table.to_frame()
    assert len(list(table.rows())) == 1


def test_columns_come_in_the_order_in_which_they_are_met():
    frame = frame_of([{"b": 1}, {"a": Fraction(1, 3), "b": 2.5}])
    assert list(frame.columns) == ["b", "a"]
    assert frame["a"].tolist() == [None, Fraction(1, 3)]
    assert frame["b"].dtype == float
    assert len(frame_of([])) == 0


# Logs that come as frames


ROWS = {
    "state": [0, 1, 0, 1],
    "action": ["a", "a", "b", "a"],
    "next_state": [1, 0, 1, 0],
    "reward": [0.1, 1, -2.5, 1e-7],
    "done": [False, True, False, False],
    "target": [0.25, 1, 0.75, 1],
}


def test_a_frame_is_read_as_the_file_that_it_writes(tmp_path):
    frame = pd.DataFrame(ROWS)
    frame.to_csv(tmp_path / "log.csv", index=False)
    ours, theirs = read_log(frame), read_log(tmp_path / "log.csv")
    assert [s._replace(line=0) for s in ours.steps] == [s._replace(line=0) for s in theirs.steps]
    assert ours.steps[0].reward == sp.Rational(1, 10)
    assert [s.line for s in ours.steps] == [0, 1, 2, 3]
    assert ours.problem(discount="1/2").v_pi == theirs.problem(discount="1/2").v_pi


def test_labels_of_a_frame_stay_what_they_are():
    frame = pd.DataFrame(
        {"state": [(0, 1), "1"], "action": [True, 1], "next_state": ["1", (0, 1)],
         "reward": [Fraction(1, 3), sp.Rational(2, 7)]}, index=["x", "x"]
    )  # fmt: skip
    log = read_log(frame)
    assert [s.state for s in log.steps] == [(0, 1), "1"]
    assert [s.reward for s in log.steps] == [sp.Rational(1, 3), sp.Rational(2, 7)]
    whole = read_log(pd.DataFrame(ROWS).astype({"state": "Int64"}))
    assert {type(s.state) for s in whole.steps} == {int}


def test_missing_cells_of_a_frame_are_empty_ones():
    frame = pd.DataFrame({**ROWS, "done": [None, True, np.nan, pd.NA], "target": [np.nan] * 4})
    steps = read_log(frame).steps
    assert [s.done for s in steps] == [False, True, False, False]
    assert {s.target for s in steps} == {None}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"reward": [1, 2, np.nan, 3]}, r"the frame, row 2: reward is ''"),
        ({"state": [0, None, 0, 1]}, r"row 1 of the frame: state is missing"),
        ({"state": [0, [1], 0, 1]}, r"row 1 of the frame: state is \[1\]"),
        ({"target": [0.25, 2, 1, 1]}, r"row 1: target is '2.0'; expected a number between 0 and 1"),
        ({"next_state": [1, 0, 0, 1]}, r"row 3 starts in 1, but the row before ended in 0"),
        ({"rewrad": [1] * 4}, r"unknown column 'rewrad'; did you mean 'reward'\? "),
    ],
)
def test_a_frame_that_is_no_log_is_refused_by_its_row(change, told):
    with pytest.raises(ModelFileError, match=told):
        read_log(pd.DataFrame({**ROWS, **change}))


def test_a_log_from_a_frame_is_refused_by_its_row():
    log = read_log(pd.DataFrame({**ROWS, "target": [0.25, 1, np.nan, 1]}))
    with pytest.raises(InputError, match="row 2 has no target probability"):
        log.problem(discount="1/2")
    with pytest.raises(InputError, match="row 0: there are no features for state 1"):
        otd.LoggedData.from_log(log, {0: [1]}, discount="1/2", rho=1)
