"""The command as people and scripts run it: a process, its exit status, its two streams."""

import contextlib
import io
import json
import os
import subprocess
import sys
import warnings

import pytest

from obliquetd import FQI, PFQI, iteration, save_model
from obliquetd.claims import REGISTRY
from obliquetd.cli import main
from obliquetd.domains import baird_star, random_problem, two_state
from obliquetd.dynamics import mean_dynamics
from obliquetd.learners import TD


def run(*arguments, expect=0):
    """The command in this process, which spares the imports; its exit status and two streams."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(action="default"),
        pytest.raises(SystemExit) as ended,
    ):
        main([str(x) for x in arguments])
    done = subprocess.CompletedProcess(
        arguments, int(ended.value.code or 0), out.getvalue(), err.getvalue()
    )
    assert expect is None or done.returncode == expect, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    return done


def process(*arguments, **options):
    """The command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "obliquetd", *map(str, arguments)],
        capture_output=True, text=True, timeout=120, check=False, **options,
    )  # fmt: skip


def test_as_a_process(model):
    given = ("analyze", model, "--json", "--learner", "td")
    done = process(*given)
    assert done.returncode == 0
    assert done.stdout == run(*given).stdout
    missing = process("analyze", "missing.json")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.startswith("error: cannot read missing.json")
    assert missing.stderr.count("\n") == 1


def strict(text):
    def refuse(name):
        raise AssertionError(f"{name} is not strict JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def model(tmp_path):
    save_model(two_state(reward=1), tmp_path / "model.json")
    return tmp_path / "model.json"


def test_verify_prints_every_claim_and_counts_them(judged, monkeypatch):
    asked = []
    monkeypatch.setattr("obliquetd.claims.verify", lambda *a, **k: asked.append((a, k)) or judged)
    out = run("verify").stdout
    ((names,), options) = asked[0]
    assert not names
    assert options["pack"] in (None, "lyu-2018") or options["pack"].name == "lyu-2018"
    assert "table-1-etd" in out.replace("\n", "")
    assert f"{len(REGISTRY)} claims in" in out
    assert "claims of the paper" in out
    assert "claims of ours" in out
    assert "Assumes:" in out
    assert "refuted" in out


@pytest.mark.slow
def test_verify_json_is_strict_and_complete():
    records = {r["id"]: r for r in strict(run("verify", "--json").stdout)}
    assert set(records) == {claim.id for claim in REGISTRY}
    assert {r["origin"] for r in records.values()} == {"paper", "ours"}
    assumed = {a["name"]: a for a in records["td-on-policy-stable"]["assumptions"]}
    assert assumed["xi > 0"]["needed"] == "needed"
    assert assumed["xi > 0"]["counterexample"]["model"]["discount"] == "9/10"
    assert records["table-1-etd"]["verdict"] == "corrected"
    assert records["table-1-etd"]["numbers"]["distance"] == "9/2"
    assert records["omega-positive"]["counterexample"]["model"]["discount"] == "9/10"


def test_verify_takes_ids_and_refuses_unknown_ones():
    assert [r["id"] for r in strict(run("verify", "lemma-1", "--json").stdout)] == ["lemma-1"]
    assert "'lemma-9'" in run("verify", "lemma-9", expect=2).stderr


def test_table1():
    out = run("table1").stdout
    for text in ("sqrt(82)/2", "81/100", "16/25", "729/100", "4.5277"):
        assert text in out
    rows = strict(run("table1", "--json").stdout)
    assert [r["distance"] for r in rows] == ["sqrt(82)/2", "9/2", "sqrt(401)/4", "5", "27/2"]
    assert (
        strict(run("table1", "--discount", "0.8", "--json").stdout)[2]["printed"] == "0.64 / 5.0062"
    )


def test_analyze_as_a_table_and_as_json(model):
    out = run("analyze", model).stdout
    for text in ("1 recurrent class", "period 1", "left", "setd", "~3.536", "sqrt(10)"):
        assert text in out
    data = strict(run("analyze", model, "--json", "--learner", "td", "--learner", "setd").stdout)
    assert [p["method"] for p in data["fixed_points"]] == ["td", "setd"]
    assert data["by_state"][0] == {
        "state": "left",
        "xi": "1/2",
        "v_pi": "10",
        "best": "6",
        "return_variance": "0",
    }
    assert data["X_star"] == [["1/2"], ["29/2"]]
    assert data["chain"]["classes"] == [{"states": ["left", "right"], "closed": True, "period": 1}]
    assert data["fixed_points"][1]["theta"] == ["5"]
    by_name = {row["learner"]: row for row in data["learners"]}
    assert by_name["setd"]["A"] == [["2"]]
    assert by_name["td"]["theta"] == ["-15/2"]
    assert by_name["td"]["to_best"] == "27*sqrt(10)/4"


def test_learners_come_from_their_rules(model):
    out = run("analyze", model).stdout
    for text in ("from their rules", "0 1/5; -1/5 5/2", "195/34", "double-sampled"):
        assert text in out
    data = strict(
        run(
            "analyze", model, "--learner", "gtd2", "--learner", "td", "--lam", "1/2", "--json"
        ).stdout
    )
    assert [row["learner"] for row in data["learners"]] == ["gtd2", "td"]
    assert data["learners"][1]["A"] == [["1/22"]]
    assert data["learners"][1]["lam"] == "1/2"
    assert "lam is 2" in run("analyze", model, "--lam", "2", expect=2).stderr


def test_formulas_are_lines(tmp_path):
    save_model(two_state(discount="gamma", reward="r"), tmp_path / "m.json")
    out = run("analyze", tmp_path / "m.json").stdout
    assert "td, by its formula: theta = (3 r/(5 - 6 gamma))" in out
    assert "etd, from its rule: A = [" in out
    assert "state left: xi = 1/2, v_pi = r/(1 - gamma)" in out


def test_analyze_in_floats_gives_numbers_and_residuals(model):
    data = strict(run("analyze", model, "--arithmetic", "float", "--json").stdout)
    assert data["by_state"][0]["v_pi"] == pytest.approx(10)
    assert data["accuracy"]["v_pi"]["residual"] < 1e-14


def test_symbols_are_set_from_the_command_line(tmp_path):
    save_model(two_state(discount="gamma", reward="r"), tmp_path / "m.json")
    out = run("analyze", tmp_path / "m.json").stdout
    assert "gamma" in out
    data = strict(
        run(
            "analyze", tmp_path / "m.json", "--set", "gamma=9/10", "--set", "r=-1/3", "--json"
        ).stdout
    )
    assert data["by_state"][0]["v_pi"] == "-10/3"
    data = strict(
        run(
            "analyze", tmp_path / "m.json", "--set", "gamma=9/10", "--set", "r=-1e-3", "--json"
        ).stdout
    )
    assert data["by_state"][0]["v_pi"] == "-1/100"


def test_singular_methods_are_reported_beside_the_others(tmp_path):
    save_model(two_state(discount="5/6", reward=1), tmp_path / "m.json")
    done = run("analyze", tmp_path / "m.json", expect=2)
    assert "setd" in done.stdout
    assert "error: the fixed-point equation of td has no solution" in done.stderr
    assert "theta = (1)" in done.stderr
    assert run("analyze", tmp_path / "m.json", "--learner", "setd").stderr == ""
    data = strict(run("analyze", tmp_path / "m.json", "--json", expect=2).stdout)
    by_name = {p["method"]: p for p in data["fixed_points"]}
    assert by_name["td"]["theta"] is None
    assert by_name["etd"]["theta"] is not None


def test_infinite_and_missing_quantities_stay_strict_json(tmp_path):
    problem = two_state(reward=1)
    off = {"xi": [1, 0], "arithmetic": "float"}
    from obliquetd.formats import model_to_dict

    (tmp_path / "m.json").write_text(json.dumps({**model_to_dict(problem), **off}))
    data = strict(run("analyze", tmp_path / "m.json", "--json", expect=None).stdout)
    assert {p["method"]: p.get("worst_case") for p in data["fixed_points"]}["td"] is None


def test_bairds_star(tmp_path):
    save_model(baird_star(), tmp_path / "star.json")
    assert "8 features" in run("analyze", tmp_path / "star.json").stdout


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("FrozenLake-v1", marks=pytest.mark.slow),
        "FrozenLake-v1?map_name=8x8&is_slippery=false",
    ],
)
def test_analyze_gymnasium_exactly_and_in_floats(name):
    pytest.importorskip("gymnasium")
    common = ("analyze", f"gym:{name}", "--discount", "0.99", "--json")
    exact = strict(run(*common, "--arithmetic", "exact").stdout)
    floats = strict(run(*common, "--arithmetic", "float").stdout)
    for a, b in zip(exact["by_state"], floats["by_state"], strict=True):
        for key in ("xi", "v_pi", "best"):
            assert (a[key] is None) == (b[key] is None)
            if a[key] is not None:
                p, _, q = a[key].partition("/")
                assert int(p) / int(q or 1) == pytest.approx(b[key], abs=1e-9)


@pytest.mark.slow
def test_analyze_taxi_exactly_and_in_floats():
    pytest.importorskip("gymnasium")
    exact = strict(run("analyze", "gym:Taxi-v4", "--arithmetic", "exact", "--json").stdout)
    floats = strict(run("analyze", "gym:Taxi-v4", "--json").stdout)
    worst = 0.0
    for a, b in zip(exact["by_state"], floats["by_state"], strict=True):
        for key in ("xi", "v_pi"):
            p, _, q = a[key].partition("/")
            value = int(p) / int(q or 1)
            worst = max(worst, abs(value - b[key]) / max(1, abs(value)))
    assert worst < 1e-9
    assert len(exact["fixed_points"][0]["undetermined"]) == 100


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("analyze", "missing.json"), "missing.json"),
        (("analyze", "gym:NoSuch-v0"), "NoSuch"),
        (("analyze", "gym:CartPole-v1"), "no transition table"),
        (("analyze", "{model}", "--learner", "sarsa"), "'sarsa'"),
        (("analyze", "{model}", "--discount", "2"), "discount is 2"),
        (("analyze", "{model}", "--lam", "-1/2"), "lam is -1/2"),
        (("analyze", "{model}", "--discount", "-1/3"), "-1/3"),
        (("analyze", "{model}", "--discount", "1/0"), "zero"),
        (("analyze", "{model}", "--arithmetic", "fuzzy"), "fuzzy"),
        (("analyze", "{model}", "--set", "gamma"), "NAME=VALUE"),
        (("analyze", "{model}", "--set", "gamma=1/2"), "no symbol gamma"),
        (("analyze", "{symbolic}", "--set", "gamma=1/0"), "zero"),
        (("analyze", "{symbolic}", "--set", "gamma=3"), "discount is 3"),
        (("table1", "--discount", "g"), "number"),
        (("table1", "--discount", "3"), "3"),
        (("no-such-command",), "no-such-command"),
        (("analyze",), "Missing argument"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, words, model):
    symbolic = model.with_name("symbolic.json")
    save_model(two_state(discount="gamma"), symbolic)
    done = run(*(str(a).format(model=model, symbolic=symbolic) for a in arguments), expect=2)
    assert words in done.stderr
    assert done.stdout == ""


def test_several_recurrent_classes_leave_the_values(tmp_path):
    data = {"transitions": [["a", 0, "a", 1, 1], ["b", 0, "b", 1, 0]], "discount": "1/2"}
    (tmp_path / "m.json").write_text(json.dumps(data))
    done = run("analyze", tmp_path / "m.json", "--json", expect=2)
    assert "2 recurrent classes, ['a']; ['b']" in done.stderr
    found = strict(done.stdout)
    assert [row["v_pi"] for row in found["by_state"]] == ["2", "0"]
    assert "recurrent classes" in found["problems"]["xi"]


def test_check_a_certificate(tmp_path):
    good = mean_dynamics(baird_star(), TD()).certificate()
    path = tmp_path / "c.json"
    path.write_text(json.dumps(good))
    assert "A is unstable on the span of its basis, of dimension 7" in run("check", path).stdout
    assert strict(run("check", path, "--json").stdout) == {
        "claim": "unstable", "valid": True, "model": "the model that it holds", "learner": "TD", "missing": [],
    }  # fmt: skip
    path.write_text(json.dumps({**good, "claim": "stable"}))
    assert "does not prove" in run("check", path, expect=1).stderr
    for text, words in (
        ("{}", "no certificate"),
        ("[1]", "no certificate"),
        ("", "empty"),
        ("{", "not JSON"),
    ):
        path.write_text(text)
        assert words in run("check", path, expect=2).stderr
    assert "missing.json" in run("check", tmp_path / "missing.json", expect=2).stderr


PROOF = ("claim", "A", "basis", "quotient", "K", "rate", "vector")


def test_a_certificate_is_bound_to_a_model_and_a_learner(tmp_path):
    path, old, model = tmp_path / "c.json", tmp_path / "old.json", tmp_path / "m.json"
    save_model(baird_star(), model)
    good = mean_dynamics(baird_star(), TD()).certificate()
    path.write_text(json.dumps(good))
    old.write_text(json.dumps({k: good[k] for k in PROOF if k in good}))
    assert "computed anew: TD on the model that it holds" in run("check", path).stdout
    assert "computed anew: TD on " in run("check", path, "--model", model).stdout
    assert "not checked: whose matrix A is" in run("check", old).stdout
    bound = run("check", old, "--model", model, "--learner", "td")
    assert "valid" in bound.stdout
    assert "not checked" not in bound.stdout
    for options in (("--model", model), ()):
        wrong = run("check", path, *options, "--learner", "etd", expect=1)
        assert "not of this model and learner" in wrong.stderr
    for options, words in (
        (("--model", model), "holds no learner"),
        (("--learner", "td"), "holds no model"),
        (("--lam", "1/2"), "name the learner too"),
    ):
        assert words in run("check", old, *options, expect=2).stderr
    assert "xyz" in run("check", path, "--model", model, "--learner", "xyz", expect=2).stderr


def test_a_certificate_that_holds_another_model_is_found_out(tmp_path):
    path, model = tmp_path / "c.json", tmp_path / "m.json"
    save_model(baird_star(), model)
    good = mean_dynamics(baird_star(), TD()).certificate()
    path.write_text(json.dumps({**good, "model": {**good["model"], "discount": "1/2"}}))
    assert "not of this model" in run("check", path, expect=1).stderr
    told = run("check", path, "--model", model).stdout
    assert "valid" in told
    assert "holds another model" in told
    path.write_text(json.dumps({**good, "model": {"transitions": 3}}))
    assert "its own model" in run("check", path, expect=2).stderr.replace(
        "the certificate's own", "its own"
    )


@pytest.mark.slow
def test_a_certificate_of_an_iteration_is_bound_to_its_model(tmp_path):
    path, model, other = tmp_path / "c.json", tmp_path / "m.json", tmp_path / "o.json"
    problem = random_problem(3, 2, seed=0)
    save_model(problem, model)
    save_model(problem.replace(discount="1/7"), other)
    for fitting in (FQI(), PFQI("1/100", 2)):
        good = iteration(problem, fitting).certificate()
        path.write_text(json.dumps(good))
        for options in ((), ("--model", model)):
            told = run("check", path, *options).stdout
            assert f"computed anew: {fitting!r} on" in " ".join(told.split())
            assert "convergent: its powers tend to 0" in told
        assert "not of this model" in run("check", path, "--model", other, expect=1).stderr
    forged = {**good, "iteration": {"name": "FQI", "settings": {}}}
    path.write_text(json.dumps(forged))
    assert "not of this model" in run("check", path, expect=1).stderr
    assert "leave --learner out" in run("check", path, "--learner", "td", expect=2).stderr
    for wrong in ({"name": "SARSA"}, 3, {"name": "PFQI", "settings": {"alpha": "1/2"}}):
        path.write_text(json.dumps({**good, "iteration": wrong}))
        assert (
            "iteration" in run("check", path, expect=2).stderr
            or "settings" in run("check", path, expect=2).stderr
        )
    path.write_text(json.dumps({k: v for k, v in good.items() if k != "iteration"}))
    assert "not checked: whose matrix A is" in run("check", path).stdout
    assert "does not hold the iteration" in run("check", path, "--model", model, expect=2).stderr


@pytest.mark.slow
def test_search_finds_saves_and_certifies(tmp_path):
    model, certificate = tmp_path / "m.json", tmp_path / "c.json"
    options = (
        "--states",
        3,
        "--features",
        2,
        "--stable",
        "td",
        "--save",
        model,
        "--certificate",
        certificate,
    )
    told = run("search", "setd", *options).stdout
    assert "found after" in told
    assert "TD is stable on it, certified" in told
    assert "A is unstable" in run("check", certificate).stdout
    companion = run("check", tmp_path / "c-td.json", "--model", model).stdout
    assert "A is stable" in companion
    assert "computed anew: TD on" in companion
    assert "setd" in run("analyze", model, "--learner", "setd").stdout
    data = strict(
        run("search", "etd", "--states", 2, "--features", 1, "--walks", 1, "--json").stdout
    )
    assert data["model"] is None
    assert data["tried"] == 150
    assert (
        "none found among 150"
        in run("search", "etd", "--states", 2, "--features", 1, "--walks", 1).stdout
    )
    for bad, words in (
        (("search", "sarsa"), "'sarsa'"),
        (("search", "td", "--states", 1), "states is 1"),
        (("search", "td", "--features", 4), "dependent"),
        (("search", "td", "--discount", "2"), "discount is 2"),
        (("search", "td", "--certificate", tmp_path / "no" / "c.json"), "cannot write"),
    ):
        assert words in run(*bad, expect=2).stderr


def test_undiscounted_loops_are_bad_input_with_the_rest_shown(tmp_path):
    rows = [["a", 0, "a", 1, 1], ["b", 0, "end", 1, 3]]
    (tmp_path / "m.json").write_text(json.dumps({"transitions": rows, "discount": 1}))
    done = run("analyze", tmp_path / "m.json", expect=2)
    assert "['a'] never reaches" in done.stderr
    assert "'b': 3" in done.stderr


def test_help_has_examples():
    assert "Example" in run("verify", "--help").stdout
    assert "verify" in run("--help").stdout


@pytest.mark.slow
def test_reproduce_says_what_decides(tmp_path):
    done = run("reproduce", "baird", "--runs", 20, "--out", tmp_path, "--workers", 1)
    assert "GTD2 has a low" in done.stdout
    assert not done.stderr
    assert "4 sentences, 20 runs for each of 5 seeds" in done.stdout
    assert (tmp_path / "baird.png").exists()
    record = strict(run("reproduce", "baird", "--runs", 20, "--out", tmp_path, "--json").stdout)
    assert len(record["sentences"]) == 4
    assert record["seeds"] == 5
    assert record["sentences"][0]["parts"][0]["confidence"] == 0.99


def test_reproduce_refuses_what_it_cannot_do(tmp_path):
    (tmp_path / "file").write_text("")
    for arguments, words in (
        (["moon"], "two-state, boyan"),
        (["two-state", "--out", tmp_path / "file" / "x"], "cannot write"),
        (["baird", "--runs", -3], "runs is -3"),
        (["baird", "--backend", "dask"], "scheduler"),
    ):
        done = run("reproduce", "--out", tmp_path / "out", *arguments, expect=2)
        assert not (tmp_path / "out").exists()
        assert words in done.stderr
        assert done.stderr.count("error:") == 1


@pytest.mark.slow
def test_reproduce_keeps_what_is_finished_beside_a_corrupt_file(tmp_path):
    run("reproduce", "baird", "--runs", 20, "--out", tmp_path, "--workers", 1)
    files = sorted((tmp_path / "tasks" / "baird" / "seed-0" / "tasks").iterdir())
    files[0].write_bytes(b"PK")
    done = run("reproduce", "baird", "--runs", 20, "--out", tmp_path, expect=2)
    assert files[0].name in done.stderr.replace("\n", "")
    assert sorted((tmp_path / "tasks" / "baird" / "seed-0" / "tasks").iterdir()) == files


@pytest.mark.slow
def test_reproduce_names_a_scheduler_that_does_not_answer(tmp_path):
    done = run(
        "reproduce", "baird", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:9", "--out",
        tmp_path, expect=2,
    )  # fmt: skip
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in done.stderr


def test_convert_and_back(model, tmp_path):
    for suffix in (".npz", ".graphml", ".json"):
        run("convert", model, tmp_path / f"other{suffix}")
        back = tmp_path / "back.json"
        again = run("convert", tmp_path / f"other{suffix}", back, "--force")
        assert "2 states" in again.stdout
        assert back.read_text() == model.read_text()
    done = run("convert", model, tmp_path / "walk.drn", "--chain", "target")
    assert "policies, features, discount, xi stay behind" in " ".join(done.stdout.split())
    found = strict(run("analyze", tmp_path / "walk.drn", "--discount", "9/10", "--json").stdout)
    own = strict(run("analyze", model, "--json").stdout)
    assert [s["v_pi"] for s in found["by_state"]] == [s["v_pi"] for s in own["by_state"]]


def test_convert_refuses(model, tmp_path):
    for arguments, words in (
        ([model, tmp_path / "m.xyz"], ".xyz"),
        ([model, tmp_path / "m.json", "--expected-rewards"], "--expected-rewards"),
        ([model, tmp_path / "m.drn", "--chain", "best"], "'best'"),
        ([tmp_path / "none.drn", tmp_path / "m.json"], "none.drn"),
    ):
        assert words in run("convert", *arguments, expect=2).stderr


def test_the_schema_is_printed():
    assert strict(run("schema").stdout)["title"] == "obliquetd model"


@pytest.mark.parametrize("suffix", [".json", ".npz", ".graphml", ".tra", ".drn", ".csv"])
def test_broken_files_of_every_format_exit_with_two(suffix, tmp_path):
    for name, content in (("empty", b""), ("text", b"hello {"), ("binary", b"\xff\xfe\x00")):
        path = tmp_path / f"{name}{suffix}"
        path.write_bytes(content)
        done = run("analyze", path, expect=2)
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1
        assert name in done.stderr


def test_a_traceback_only_with_debug(tmp_path):
    done = process("analyze", tmp_path / "no.json", "--debug")
    assert "Traceback" in done.stderr
    assert "ModelFileError" in done.stderr


def test_a_defect_is_one_line(monkeypatch, capsys):
    from obliquetd import cli

    monkeypatch.setattr(cli, "app", lambda **_: 1 / 0)
    with pytest.raises(SystemExit) as caught:
        cli.main(["verify"])
    assert caught.value.code == 2
    assert "ZeroDivisionError" in capsys.readouterr().err


COMMANDS = (
    "verify",
    "table1",
    "reproduce",
    "analyze",
    "check",
    "search",
    "convert",
    "report",
    "schema",
)


def test_every_command_is_listed_and_has_an_example():
    listed = run("--help").stdout
    assert "Example" in listed
    assert listed.index("The paper") < listed.index("A model of your own")
    for command in COMMANDS:
        assert command in listed
        assert "Example" in run(command, "--help").stdout


@pytest.mark.slow
def test_shells_can_complete():
    done = process(env={**os.environ, "_OBLIQUETD_COMPLETE": "source_bash"})
    assert "complete -o default -F" in done.stdout
    for words, expected in (
        ("reproduce b", ["boyan", "baird"]),
        ("search s", ["setd"]),
        ("re", ["reproduce", "report"]),
    ):
        environment = {
            **os.environ, "_OBLIQUETD_COMPLETE": "complete_bash", "COMP_WORDS": f"obliquetd {words}",
            "COMP_CWORD": str(len(words.split())),
        }  # fmt: skip
        assert sorted(process(env=environment).stdout.split()) == sorted(expected)
