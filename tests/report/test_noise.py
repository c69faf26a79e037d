"""The table of noise: the numbers are those of otd.efficiency, and each gap says why."""

import json

import pytest
import sympy as sp

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
    assert rows(baird_star())["LSTD"].told == "many fixed points"
    own = rows(w_to_2w("99/100"))
    assert own["TD"].told == "no trajectory has xi"
    assert "not stationary" in own["TD"].reason


def off_policy():
    """Two states with a chance p: SETD's maximum changes its side in p and in gamma."""
    rows = [("s", "go", "t", "p", 1), ("s", "go", "s", "1 - p", 0), ("s", "stay", "s", 1, 2),
            ("t", "go", "s", 1, 0), ("t", "stay", "t", 1, 1)]  # fmt: skip
    mdp = otd.MDP.from_transitions(rows)
    target = otd.Policy({s: {"go": "3/4", "stay": "1/4"} for s in "st"})
    return otd.PolicyEvaluation(
        mdp, target=target, behavior=otd.Policy.uniform(mdp), discount="gamma", features=[[1], [2]]
    )


GAMMA, P, R = sp.symbols("gamma p r")
CASES = {
    "discount": (
        two_state("gamma", reward=1),
        [{GAMMA: g} for g in ("1/5", "3/5", "71/100", "9/10")],
    ),
    "reward": (
        two_state("gamma", reward="r"),
        [{GAMMA: g, R: r} for g, r in (("1/5", 3), ("4/5", -2), ("9/10", 7))],
    ),
    "two": (
        off_policy(),
        [{GAMMA: g, P: p} for g, p in (("1/5", "1/3"), ("4/5", "1/7"), ("9/10", "6/7"))],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_with_symbols_each_number_holds_in_its_case(name):
    """At numbers inside of a case the row of it has what the library has there, and no other row is about them."""
    problem, points = CASES[name]
    found = measure_noise(problem, LEARNERS).rows
    given = {**LEARNERS, "LSTD": otd.LSTD(), "LS-ETD": otd.LSETD()}
    for point in points:
        values = {k: sp.Rational(v) for k, v in point.items()}
        there = problem.subs(values)
        for label, learner in given.items():
            (row,) = (x for x in found if x.name == label and x.where.subs(values) == sp.true)
            noise = efficiency(there, learner)
            assert row.finite == noise.is_finite
            for key in COLUMNS:
                try:
                    value = getattr(noise, key)
                except otd.errors.ObliqueTDError:
                    assert key in row.problems
                else:
                    assert sp.simplify(sp.sympify(row.numbers[key]).subs(values) - value) == 0


def test_the_cases_are_those_of_the_paper():
    """ETD's trace has a finite second moment below 1/sqrt(2), and TD is stable below 5/6."""
    labels = {row.label: row for row in measure_noise(two_state("gamma", reward=1), LEARNERS).rows}
    assert labels["ETD where 0 <= gamma < sqrt(2)/2"].told == "finite"
    assert labels["ETD where sqrt(2)/2 < gamma < 1"].words["variance"] == "infinite noise"
    assert labels["TD where 5/6 < gamma < 1"].words["variance"] == "unstable"
    assert labels["SETD where 1/2 < gamma < 1"].numbers["variance"] == 0
    assert (
        "GTD2 where 0 <= gamma < 5/6 or 5/6 < gamma < 1" in labels
    )  # at 5/6 there is no one fixed point
    assert labels["LSTD"].where == sp.true


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
