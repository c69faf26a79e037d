"""Learning curves and verdicts from the command line."""

import csv
import io
import json
import re

import numpy as np
import pytest

from obliquetd import MDP, Policy, PolicyEvaluation, save_model
from obliquetd.domains import baird_star, boyan_chain, two_state, w_to_2w
from obliquetd.dynamics import step_size_limit
from obliquetd.experiments import simulate
from obliquetd.learners import GTD2, SETD, TD
from obliquetd.report.noise import LARGEST
from tests.test_cli import run, strict


@pytest.fixture
def model(tmp_path):
    save_model(two_state(reward=1), tmp_path / "model.json")
    return tmp_path / "model.json"


def test_curves_are_those_of_the_library(model):
    given = ("--steps", 400, "--runs", 5, "--seed", 3, "--every", 100)
    done = run(
        "simulate", model, *given, "--learner", "setd", "--learner", "gtd2", "--alpha", "1/100",
        "--alpha", "0.02", "--mu", "1/2", "--json",
    )  # fmt: skip
    data = strict(done.stdout)
    found = simulate(
        two_state(reward=1), [SETD("1/100"), GTD2(0.02, mu="1/2")], 400, 5, seed=3, every=100
    )
    assert data["steps"] == [0, 100, 200, 300, 400]
    assert not data["diverged"]
    for name in ("SETD", "GTD2"):
        assert data["learners"][name]["rmse"] == pytest.approx(list(found[name].mean()))
        assert data["learners"][name]["first_divergence"] is None
    table = run("simulate", model, *given, "--learner", "setd", "--alpha", "1/100").stdout
    assert f"{found['SETD'].mean()[-1]:.4g}" in table
    assert "SETD: alpha = 0.01" in table


def test_two_of_one_kind_are_told_apart(model):
    done = run(
        "simulate", model, "--learner", "setd", "--learner", "setd", "--alpha", "0.01", "--alpha",
        "0.05", "--steps", 100, "--runs", 2, "--json",
    )  # fmt: skip
    data = strict(done.stdout)["learners"]
    assert [(name, row["alpha"]) for name, row in data.items()] == [
        ("SETD", 0.01),
        ("SETD 2", 0.05),
    ]


def test_divergence_is_said_and_has_a_status_and_strict_json(tmp_path):
    """Case C28: w <- w + alpha (2 gamma w - w) from w = 1 multiplies w by 99/50 at each step."""
    rows = [[1, "a", 2, 1, 0], [2, "a", 1, 1, 0]]
    data = {"transitions": rows, "features": [[1], [2]], "xi": [1, 0], "discount": "99/100"}
    (tmp_path / "m.json").write_text(json.dumps(data))
    given = (
        "simulate", tmp_path / "m.json", "--learner", "td", "--alpha", 1, "--theta0", 1, "--stream",
        "iid", "--steps", 2000, "--runs", 1, "--every", 1,
    )  # fmt: skip
    done = run(*given, "--json", "-o", tmp_path / "curve.csv", expect=1)
    found = strict(done.stdout)
    td = found["learners"]["TD"]
    assert found["diverged"]
    assert td["diverged"] == 1
    assert 400 < td["first_divergence"] <= 1040
    assert td["diverged_at"] == [td["first_divergence"]]
    ratios = np.array(td["rmse"][1:400], dtype=float) / np.array(td["rmse"][:399], dtype=float)
    assert ratios == pytest.approx(np.full(399, 99 / 50))
    assert td["rmse"][-1] is None
    assert done.stderr == (
        f"error: TD diverged in 1 of 1 runs, first at step {td['first_divergence']}\n"
    )
    assert (tmp_path / "curve.csv").read_text().splitlines()[-1].split(",")[2:] == [
        "2000", "inf", "", "inf"
    ]  # fmt: skip
    table = run(*given, expect=1).stdout
    assert "diverged" in table
    assert "1 of 1 diverged" in table
    analysis = strict(run("analyze", tmp_path / "m.json", "--learner", "td", "--json").stdout)
    assert analysis["learners"][0]["stability"] == "unstable"


@pytest.mark.parametrize("ending", [".png", ".svg", ".csv", ".json"])
def test_files(ending, model, tmp_path):
    target = tmp_path / f"curves{ending}"
    run("simulate", model, "--steps", 200, "--runs", 3, "--learner", "setd", "-o", target)
    content = target.read_bytes()
    if ending == ".png":
        assert content.startswith(b"\x89PNG")
    elif ending == ".svg":
        assert b"</svg>" in content
    elif ending == ".csv":
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        assert {row["learner"] for row in rows} == {"SETD"}
        assert int(rows[-1]["step"]) == 200
    else:
        assert strict(content.decode())["runs"] == 3
    again = run(
        "simulate", model, "--steps", 200, "--runs", 3, "--learner", "setd", "-o", target, expect=None
    )  # fmt: skip
    assert again.returncode == (0 if ending in (".png", ".svg") else 2)
    assert target.read_bytes() == content


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--learner", "sarsa"), "'sarsa'"),
        (("--learner", "td", "--learner", "etd", "--learner", "tdc", "--alpha", 1, "--alpha", 2), "once for each"),
        (("--learner", "td", "--mu", 2), "none of td has it"),
        (("--alpha", 0), "positive"),
        (("--alpha", "x"), "x"),
        (("--steps", 0), "steps is 0"),
        (("--runs", -1), "runs is -1"),
        (("--every", 0), "every is 0"),
        (("--seed", -1), "seed is -1"),
        (("--theta0", "1,2"), "2 entries"),
        (("--theta0", "one"), "one"),
        (("--stream", "bandit"), "bandit"),
        (("--stream", "episodes", "--start", "nowhere"), "names no state"),
        (("--stream", "episodes", "--start", "left=1/2"), "1/2"),
        (("--stream", "episodes", "--start", "left", "--start", "left=0"), "twice"),
        (("--discount", "g", "--arithmetic", "symbolic"), "--set NAME=VALUE"),
    ],
)  # fmt: skip
def test_bad_settings_are_one_line(arguments, words, model):
    done = run("simulate", model, *arguments, expect=2)
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_diverging_learner_does_not_look_perfect(tmp_path):
    """Zero rewards make every number of a diverging TD zero; the verdict is what tells."""
    for problem in (baird_star(), w_to_2w("99/100"), two_state()):
        save_model(problem, tmp_path / "m.json")
        done = run("analyze", tmp_path / "m.json", "--learner", "td", "--learner", "gtd2")
        told = " ".join(done.stdout.split())
        assert "td │ unstable │ none is stable" in told
        assert "td: the expected update is unstable" in told
        assert "expected reward is zero in every state" in told
        row = strict(run("analyze", tmp_path / "m.json", "--learner", "td", "--json").stdout)
        assert row["learners"][0]["diverges"] is True
        assert len(row["remarks"]) == 2


def test_a_bound_on_step_sizes_with_a_trace(tmp_path):
    """With a trace, a certified bound named as such, or why there is none; never a larger number."""
    save_model(two_state("1/2", reward=1), tmp_path / "t.json")
    given = ("analyze", tmp_path / "t.json", "--lam", "1/2", "--learner", "td", "--learner", "etd")
    told = run(*given).stdout
    bound = step_size_limit(two_state("1/2", reward=1), TD(lam="1/2"))
    shown = float(re.search(r"stable below (\S+) \(certified bound\)", told)[1])
    assert bound.kind == "certified lower bound"
    assert 0.9999 * float(bound) < shown <= float(bound)
    assert "no bound is known" in told
    assert "etd (step sizes)" in told
    rows = {row["learner"]: row for row in strict(run(*given, "--json").stdout)["learners"]}
    assert rows["td"]["step_size_limit"] is None
    assert rows["td"]["step_size_bound"] == {"below": float(bound), "kind": bound.kind}


def test_verdicts_and_step_sizes(model, tmp_path):
    data = strict(run("analyze", model, "--json").stdout)
    rows = {row["learner"]: row for row in data["learners"]}
    assert rows["setd"]["step_size_limit"] == "1/4"
    assert rows["td"]["step_size_limit"] == "0"
    assert rows["etd"]["step_size_limit"] is None
    assert "step_size_bound" not in rows["etd"]  # its trace is not bounded
    assert not any("zero" in remark for remark in data["remarks"])
    floats = strict(run("analyze", model, "--arithmetic", "float", "--json").stdout)
    limits = {row["learner"]: row["step_size_limit"] for row in floats["learners"]}
    assert limits["setd"] == pytest.approx(1 / 4)
    save_model(boyan_chain(), tmp_path / "b.json")
    assert "not computed" in run("analyze", tmp_path / "b.json", "--learner", "tdc").stdout
    save_model(two_state(discount="gamma"), tmp_path / "s.json")
    assert (
        "td is stable in part for gamma in [0, 5/6)" in run("analyze", tmp_path / "s.json").stdout
    )
    data = strict(run("analyze", tmp_path / "s.json", "--json", "--learner", "td").stdout)
    assert data["learners"][0]["condition"] == ["-(6*gamma - 5)/2"]


def test_rewards_that_cancel_are_no_rewards(tmp_path):
    mdp = MDP.from_transitions([("s", "a", "s", "1/2", 1), ("s", "a", "s", "1/2", -1)])
    save_model(
        PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2"), tmp_path / "m.json"
    )
    told = run("analyze", tmp_path / "m.json", "--learner", "td").stdout
    assert "expected reward is zero" in " ".join(told.split())


def test_episodes_begin_where_they_are_told(tmp_path):
    mdp = MDP.from_transitions([("a", 0, "b", 1, 1), ("b=1", 0, "b", 1, 3), ("b", 0, "end", 1, 2)])
    problem = PolicyEvaluation(
        mdp, target=Policy.uniform(mdp), xi={"a": 1, "b": 1, "b=1": 1, "end": 0}
    )
    save_model(problem, tmp_path / "m.json")
    given = (
        "simulate",
        tmp_path / "m.json",
        "--learner",
        "td",
        "--alpha",
        1,
        "--stream",
        "episodes",
    )
    data = strict(run(*given, "--start", "a", "--steps", 40, "--runs", 1, "--json").stdout)
    found = simulate(problem, [TD(1)], 40, 1, stream="episodes", start={"a": 1}, every=1)
    assert data["learners"]["TD"]["rmse"] == pytest.approx(list(found["TD"].mean()))
    both = ("--start", "a=1/2", "--start", "b=1=1/2", "--steps", 40, "--runs", 1, "--json")
    assert strict(run(*given, *both).stdout)["learners"]["TD"]["rmse"][-1] == pytest.approx(0)


@pytest.mark.parametrize("problem", [two_state(), w_to_2w("99/100"), baird_star()])
def test_a_run_that_cannot_move_says_so_and_its_way_out_works(problem, tmp_path):
    save_model(problem, tmp_path / "m.json")
    given = ("simulate", tmp_path / "m.json", "--learner", "td", "--runs", 1, "--stream", "iid")
    told = " ".join(run(*given).stdout.split())
    assert "its expected update is unstable" in told
    assert "TD: the expected update is unstable" in told
    assert "from weights of 0 nothing moves" in told
    data = strict(run(*given, "--json").stdout)
    assert data["learners"]["TD"]["stability"] == "unstable"
    assert [
        word in remark for word, remark in zip(("TD", "zero"), data["remarks"], strict=True)
    ] == [True] * 2
    theta0 = data["remarks"][1].rpartition("--theta0 ")[2].rstrip(".")
    moved = strict(run(*given, "--theta0", theta0, "--json", expect=None).stdout)
    assert moved["learners"]["TD"]["rmse"][0] > 0
    assert moved["remarks"] == data["remarks"][:1]


def test_a_model_with_rewards_and_stable_learners_has_no_remark(tmp_path):
    save_model(two_state(reward=1), tmp_path / "m.json")
    data = strict(run("simulate", tmp_path / "m.json", "--learner", "setd", "--json").stdout)
    assert data["learners"]["SETD"]["stability"] == "stable"
    assert data["remarks"] == []


def test_the_verdict_is_of_the_stream_that_runs(tmp_path):
    """From independent transitions the follow-on trace starts empty, so ETD is TD."""
    save_model(two_state(), tmp_path / "m.json")
    given = ("simulate", tmp_path / "m.json", "--learner", "etd", "--json")
    for stream, verdict in (("trajectory", "stable"), ("iid", "unstable")):
        data = strict(run(*given, "--stream", stream).stdout)
        assert data["learners"]["ETD"]["stability"] == verdict


def test_episodes_from_a_start_of_their_own_have_no_verdict(tmp_path):
    mdp = MDP.from_transitions([("s", "a", "t", 1, 1), ("t", "a", "end", 1, 0)])
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), start={"s": 1})
    save_model(problem, tmp_path / "m.json")
    given = ("simulate", tmp_path / "m.json", "--learner", "td", "--stream", "episodes", "--json")
    assert strict(run(*given).stdout)["learners"]["TD"]["stability"] == "stable"
    own = strict(run(*given, "--start", "t").stdout)
    assert own["learners"]["TD"]["stability"] is None


def test_the_verdicts_come_before_everything_else(model, tmp_path):
    lines = run("analyze", model).stdout.splitlines()
    assert lines[1].startswith("stable: setd, etd, gtd2, tdc")
    assert lines[2] == "unstable: td"
    save_model(two_state("gamma", reward=1), tmp_path / "s.json")
    symbols = run("analyze", tmp_path / "s.json").stdout.splitlines()
    assert symbols[1] == "td is stable in part for gamma in [0, 5/6)"
    assert symbols[2] == "setd is stable for gamma in [0, 1)"


def test_a_learner_without_a_fixed_point_keeps_its_matrix(tmp_path):
    save_model(two_state("5/6", reward=1), tmp_path / "m.json")
    done = run("analyze", tmp_path / "m.json", "--json", expect=2)
    rows = {row["learner"]: row for row in strict(done.stdout)["learners"]}
    assert (rows["td"]["A"], rows["td"]["b"]) == ([["0"]], ["3/2"])
    for name in ("gtd2", "tdc"):
        assert rows[name]["A"][1] == ["0", "5/2"]
        assert "theta" not in rows[name]
        assert "many fixed points" in rows[name]["problem"]
    told = run("analyze", tmp_path / "m.json", expect=2).stdout
    assert "0 0; 0 5/2" in told
    assert " none " in told
    assert " many " in told


@pytest.mark.slow
def test_noise_is_shown_where_it_is_quick_and_on_request(model, tmp_path, monkeypatch):
    data = strict(run("analyze", model, "--json").stdout)["noise"]
    rows = {row["learner"]: row for row in data["learners"]}
    assert rows["td"]["finite"] is True
    assert rows["td"]["variance"] is None
    assert "TD is unstable here" in rows["td"]["problems"]["variance"]
    assert rows["etd"]["finite"] is False
    assert "second moment of the memory F" in rows["etd"]["reason"]
    assert rows["LSTD"]["variance"] == "3125"
    assert data["crossovers"] == []  # LS-ETD's noise is infinite
    save_model(two_state("1/2", reward=1), tmp_path / "h.json")
    crossing = strict(run("analyze", tmp_path / "h.json", "--json").stdout)["noise"]["crossovers"]
    assert [c["less_biased"] for c in crossing] == ["LS-ETD"]
    told = " ".join(run("analyze", tmp_path / "h.json").stdout.split())
    assert "LS-ETD is better than LSTD after any number of steps" in told
    assert "how noisy" not in run("analyze", model, "--no-noise").stdout
    monkeypatch.setitem(LARGEST, "exact", 1)
    quick = run("analyze", model, "--learner", "td")
    assert "obliquetd analyze --noise" in " ".join(quick.stdout.split())
    asked = run("analyze", model, "--learner", "td", "--noise").stdout
    assert "how noisy" in asked
    assert "left out" not in asked
