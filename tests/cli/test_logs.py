"""Logs at the command line: whose policies are used, and another target in their place."""

import json

import pytest

from obliquetd.formats import load_model
from obliquetd.formats.log import read_log
from tests.cli.test_simulate_command import run

HEAD = "state,action,next_state,reward,done"
LINES = ["0,l,1,1,0", "1,r,0,0,0", "0,r,0,2,0", "0,l,1,0,0", "1,l,1,3,1"]
CHANCES = {
    "behavior": ["1/2", "1/4", "1/2", "1/2", "3/4"],
    "target": ["1/3", "1", "2/3", "1/3", "0"],
}


def log_of(folder, *columns, times=1):
    lines = [",".join([line, *(CHANCES[c][k] for c in columns)]) for k, line in enumerate(LINES)]
    lines *= times
    path = folder / "log.csv"
    path.write_text("\n".join([",".join([HEAD, *columns]), *lines]) + "\n")
    return path


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ((), ("relative frequency of each action", "target is the behaviour, since")),
        (("behavior",), ("column 'behavior'", "target is the behaviour, since")),
        (("behavior", "target"), ("column 'behavior'", "target is the column 'target'")),
    ],
    ids=["neither", "behaviour", "both"],
)
def test_analyze_says_whose_policies_are_used(columns, words, tmp_path):
    path = log_of(tmp_path, *columns)
    told = run("analyze", path, "--discount", "1/2", "--learner", "td").stdout
    assert "estimated from 5 transitions in 1 episode:" in told
    for word in words:
        assert word in told
    data = json.loads(run("analyze", path, "--discount", "1/2", "--learner", "td", "--json").stdout)
    assert len(data["log"]) == 3


def values(*arguments):
    found = json.loads(run("analyze", *arguments, "--learner", "td", "--json").stdout)
    return [row["v_pi"] for row in found["by_state"]]


def test_another_target_takes_the_place_of_the_column(tmp_path):
    path = log_of(tmp_path, "behavior", "target")
    file = tmp_path / "pi.json"
    file.write_text(json.dumps({"0": {"l": "1/4", "r": "3/4"}, "1": "r"}))
    given = (path, "--discount", "1/2")
    found = {t: values(*given, "--target", t) for t in ("uniform", "behavior", file)}
    found[None] = values(*given)
    assert len({tuple(v) for v in found.values()}) == 4
    log = read_log(path)
    for target, wanted in ((None, None), ("uniform", "uniform"), ("behavior", "behavior")):
        problem = log.problem(wanted, discount="1/2")
        assert [str(x) for x in problem.v_pi] == found[target]
    assert "not used" in run("analyze", *given, "--target", "uniform", "--learner", "td").stdout


def test_other_models_take_a_target_too(tmp_path):
    from obliquetd import save_model
    from obliquetd.domains import two_state

    path = tmp_path / "m.json"
    save_model(two_state(reward=1), path)
    problem = load_model(path)
    for target, policy in (("uniform", problem.behavior), ("behavior", problem.behavior)):
        wanted = problem.replace(target=policy, behavior=None).v_pi
        assert values(path, "--target", target) == [str(x) for x in wanted]


def test_a_target_that_is_none(tmp_path):
    path = log_of(tmp_path)
    assert "expected uniform, behavior" in run("analyze", path, "--target", "best", expect=2).stderr
    assert "nothere.json" in run("analyze", path, "--target", "nothere.json", expect=2).stderr


def test_analyze_shows_intervals_of_a_log(tmp_path):
    path = log_of(tmp_path, times=12)
    told = run("analyze", path, "--discount", "1/2", "--learner", "td")
    for words in ("95 % intervals, delta method", "v_pi(0)", "theta(1) of td", "missed by"):
        assert words in told.stdout
    data = json.loads(run("analyze", path, "--discount", "1/2", "--learner", "td", "--json").stdout)
    wanted = read_log(path).confidence(discount="1/2", methods=["td"])
    found = {(a["quantity"], a["method"], a["of"]): a for a in data["confidence"]["answers"]}
    for answer in wanted.answers:
        assert found[answer[:3]]["standard_error"] == pytest.approx(answer.standard_error)
    assert "rmse of td" in data["confidence"]["problems"]
    symbolic = run("analyze", path, "--discount", "gamma", "--learner", "td").stdout
    assert "no confidence intervals: give numbers for gamma" in symbolic


def test_a_log_too_short_for_intervals_is_analysed_all_the_same(tmp_path):
    told = run("analyze", log_of(tmp_path), "--discount", "1/2", "--learner", "td").stdout
    assert "no confidence intervals: the log has 5 rows, and 1 of them with action 'r'" in told
    data = json.loads(run("analyze", log_of(tmp_path), "--discount", "1/2", "--json").stdout)
    assert "at least 10" in data["confidence"]["problem"]
    assert len(data["by_state"]) == 2


@pytest.mark.parametrize("target", [None, "behavior", "uniform"])
def test_intervals_are_of_the_policies_that_were_asked_for(target, tmp_path):
    for columns in ((), ("behavior",), ("behavior", "target")):
        path = log_of(tmp_path, *columns, times=12)
        options = ["--target", target] if target else []
        given = ("analyze", path, "--discount", "1/2", "--learner", "td", "--json", *options)
        answers = json.loads(run(*given).stdout)["confidence"]["answers"]
        wanted = read_log(path).confidence(target, discount="1/2", methods=["td"])
        told = {a["of"]: a["standard_error"] for a in answers if a["quantity"] == "v_pi"}
        for state in (0, 1):
            error = wanted.interval("v_pi", state).standard_error
            assert told[state] == pytest.approx(error, rel=1e-6)


def test_a_log_is_read_once(tmp_path, monkeypatch):
    from obliquetd.formats import log

    path, reads = log_of(tmp_path), []
    monkeypatch.setattr(
        log, "lines_of", lambda file, own=log.lines_of: reads.append(file) or own(file)
    )
    run("analyze", path, "--discount", "1/2", "--learner", "td")
    assert len(reads) == 1


def test_what_a_reader_of_a_log_is_told(tmp_path, monkeypatch):
    path = log_of(tmp_path)
    told = run("analyze", path, "--learner", "td").stdout
    assert "the discount is 1, since a log names none" in told
    assert (
        "the discount is" not in run("analyze", path, "--learner", "td", "--discount", "1/2").stdout
    )
    simulated = run(
        "simulate", path, "--discount", "1/2", "--learner", "td", "--steps", "10", "--runs", "2"
    )
    assert "not on the log itself" in simulated.stdout


def test_values_have_intervals_where_weights_do_not_exist(tmp_path):
    """Two closed classes: no xi, and so no fixed point, but values."""
    path = tmp_path / "two.csv"
    lines = ["a,x,a,1,0,1", "a,x,a,2,0,0", "b,x,b,1,0,1", "b,x,b,0,0,0"]
    path.write_text("\n".join([f"{HEAD},first", *lines * 6]) + "\n")
    given = ("analyze", path, "--discount", "1/2", "--learner", "td", "--json")
    found = json.loads(run(*given, expect=2).stdout)["confidence"]
    assert [(a["quantity"], a["of"]) for a in found["answers"]] == [("v_pi", "a"), ("v_pi", "b")]
    assert "recurrent classes" in found["problems"]["xi"]
    # six rewards 1 and six 2: the standard error of their mean is 1/2 / sqrt(11), and the value is twice the mean
    assert found["answers"][0]["standard_error"] == pytest.approx(0.5 / 11**0.5 * 2)
