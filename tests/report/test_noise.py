"""The table of noise: the numbers are those of otd.efficiency, and each gap says why."""

import json

import pytest

import obliquetd as otd
from obliquetd import efficiency
from obliquetd.domains import baird_star, dense_random_mdp, random_problem, two_state, w_to_2w
from obliquetd.learners import ETD, GTD2, SETD, TD
from obliquetd.report.analysis import analyze, json_number
from obliquetd.report.noise import COLUMNS, LARGEST, measure_noise, too_large

LEARNERS = {"TD": TD(), "SETD": SETD(), "ETD": ETD(), "GTD2": GTD2()}


def rows(problem, learners=LEARNERS):
    return {row.name: row for row in measure_noise(problem, learners).rows}


@pytest.mark.parametrize("seed", [3, 7, 17])
def test_numbers_are_those_of_the_library(seed):
    problem = random_problem(3, 2, seed=seed, discount="1/2")
    found = measure_noise(problem, LEARNERS)
    given = {**LEARNERS, "LSTD": otd.LSTD(), "LS-ETD": otd.LSETD()}
    assert [row.name for row in found.rows] == list(given)
    for row in found.rows:
        noise = efficiency(problem, given[row.name])
        assert row.finite == noise.is_finite
        assert row.numbers["squared_bias"] == noise.squared_bias
        for key in COLUMNS:
            assert (key in row.numbers) != (key in row.problems)
        if "variance" in row.numbers:
            C, covariance = problem.C, noise.of_theta(noise.averaged)
            assert row.numbers["variance"] == (C * covariance).trace()
        if "constant_step_variance" in row.numbers:
            kept = noise.of_theta(noise.constant_step)
            assert row.numbers["constant_step_variance"] == (C * kept).trace()
    assert [str(c) for c in found.crossovers] == [
        str(otd.crossover(problem, otd.LSTD(), otd.LSETD()))
    ]


def test_every_gap_says_why():
    two = rows(two_state(reward=1))
    assert (two["TD"].told, two["TD"].words["variance"]) == ("finite", "unstable")
    assert (two["ETD"].told, two["ETD"].words["variance"]) == ("infinite", "infinite noise")
    assert two["LSTD"].words == {"constant_step_variance": "no step size"}
    marginal = rows(two_state("5/6", reward=1))
    assert marginal["TD"].told == "no fixed point"
    assert marginal["GTD2"].told == "many fixed points"
    assert "A is singular" in marginal["GTD2"].reason
    symbols = rows(two_state("gamma", reward=1))
    assert symbols["ETD"].told == "depends on gamma"
    assert "2*gamma**2 - 1" in symbols["ETD"].reason
    assert symbols["TD"].words["variance"] == "depends on gamma"
    assert rows(baird_star())["LSTD"].told == "many fixed points"
    own = rows(w_to_2w("99/100"))
    assert own["TD"].told == "no trajectory has xi"
    assert "not stationary" in own["TD"].reason


def test_what_takes_long_is_left_out_unless_asked_for(monkeypatch):
    """Nothing of a large problem is computed, and the note says how to ask for it."""
    large = dense_random_mdp(20, 2, 3)
    assert "800 transitions with 3 features" in too_large(large)
    found = analyze(large, ["td"], {"TD": TD()})
    assert found.noise is None
    assert "obliquetd analyze --noise, or otd.efficiency" in found.problems["noise"]
    assert found.to_dict()["noise"] is None
    small = random_problem(3, 2, seed=3, discount="1/2")
    assert too_large(small) == ""
    assert analyze(small, ["td"], {"TD": TD()}, noise=False).noise is None
    assert analyze(small, ["td"]).noise is None
    monkeypatch.setitem(LARGEST, "exact", 1)
    assert analyze(small, ["td"], {"TD": TD()}).noise is None
    assert analyze(small, ["td"], {"TD": TD()}, noise=True).noise.rows[0].finite


@pytest.mark.parametrize(
    "problem", [two_state(reward=1), two_state("gamma", reward=1), two_state(0.5, reward=1.0)]
)
def test_data_are_strict_json(problem):
    found = measure_noise(problem, LEARNERS)
    data = json.loads(json.dumps(found.to_dict(json_number), allow_nan=False))
    assert {row["learner"] for row in data["learners"]} == {*LEARNERS, "LSTD", "LS-ETD"}
