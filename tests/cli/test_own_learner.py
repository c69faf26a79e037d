"""One file of the user's own, through every command and every function; nothing is registered."""

import json
import math

import pytest
import sympy as sp

import obliquetd as otd
from obliquetd.errors import InputError, LearnerError
from obliquetd.experiments import grid
from obliquetd.learners import learner_class
from obliquetd.report import model_page
from tests.learners.test_own_rules import FAMILY, REFUSED
from tests.test_cli import run, strict

RULES = ("past_the_end", "quadratic", "remembers_the_weights", "two_faced")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("own")
    (path / "family.py").write_text(FAMILY)
    classes = "".join(
        f"\nclass {rule.title().replace('_', '')}(Own):\n    rule = staticmethod({rule})\n"
        for rule in RULES
    )
    (path / "refused.py").write_text(REFUSED + classes)
    otd.save_model(otd.domains.two_state(reward=1), path / "model.json")
    return path


@pytest.mark.slow
def test_a_file_runs_through_every_command(folder):
    model, tdrc = folder / "model.json", f"{folder}/family.py:TDRC"
    data = strict(
        run("analyze", model, "--learner", tdrc, "--number", "kappa=1/2", "--json").stdout
    )
    (row,) = data["learners"]
    assert (row["learner"], row["kappa"]) == ("TDRC", "1/2")
    assert row["A"] == [["-1/5", "27/10"], ["-1/5", "3"]]
    done = run(
        "simulate", model, "--learner", tdrc, "--learner", "td", "--alpha", "1/100", "--steps", 50,
        "--runs", 2, "--lam", "1/2", "--json",
    )  # fmt: skip
    assert list(strict(done.stdout)["learners"]) == ["TDRC", "TD"]
    problem = otd.load_model(model)
    kind = learner_class(tdrc)
    proof = folder / "certificate.json"
    proof.write_text(json.dumps(otd.mean_dynamics(problem, kind()).certificate()))
    assert run("check", proof, "--model", model, "--learner", tdrc).stdout.startswith("valid")
    run("check", proof, "--model", model, "--learner", tdrc, "--number", "kappa=2", expect=1)
    found = strict(
        run("search", f"{folder}/family.py:VTrace", "--states", 2, "--features", 1, "--json").stdout
    )
    assert found["certificate"]["claim"] == "unstable"


@pytest.mark.slow
def test_a_file_is_on_the_page_of_a_model(folder):
    page = folder / "page.html"
    run("report", folder / "model.json", "--learner", f"{folder}/family.py:HTD", "-o", page)
    assert "HTD" in page.read_text()


@pytest.mark.slow
def test_a_file_runs_through_every_function(folder):
    problem = otd.load_model(folder / "model.json")
    HTD = learner_class(f"{folder}/family.py:HTD")
    dyn = otd.mean_dynamics(problem, HTD())
    assert otd.check_certificate(dyn.certificate(), problem, HTD())
    region = otd.stability_region(otd.domains.two_state("gamma"), HTD(), "gamma")
    assert region.contains(sp.Rational(1, 10)) == sp.true
    assert len(otd.exact_moments(problem, HTD("1/100"), 3, [1]).mean) == 4
    assert HTD.name in model_page(problem, learners=[HTD()])
    settings = grid(HTD, [0.01, 0.02], mu=[1, 2])
    one, two = (otd.sweep(problem, settings, 200, 4, workers=n, block=2) for n in (1, 2))
    assert list(one.rows()) == list(two.rows())
    assert list(next(one.rows())) == [
        "learner", "alpha", "mu", "lam", "run", "step", "rmse", "rmspbe",
    ]  # fmt: skip
    VTrace = learner_class(f"{folder}/family.py:VTrace")
    answers = [otd.find_unstable(VTrace(), 2, 1, walks=20, workers=n) for n in (1, 2)]
    assert [a.certificate["claim"] for a in answers] == ["unstable"] * 2
    assert math.isfinite(one.best("HTD").value)


def test_a_grid_takes_any_declared_number(folder):
    TDRC = learner_class(f"{folder}/family.py:TDRC")
    assert [x.kappa for x in grid(TDRC, [0.1], kappa=[0, 1])] == [0, 1]
    both = grid([otd.TD, TDRC], [0.1], kappa=[0, 1])
    assert [x.name for x in both] == ["TD", "TDRC", "TDRC"]
    with pytest.raises(InputError, match="none of TD has it"):
        grid(otd.TD, [0.1], kappa=[1])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("command", ["analyze", "simulate", "check", "search", "report"])
def test_a_rule_that_is_not_what_it_has_to_be_is_refused_by_name(folder, rule, command):
    if command == "simulate" and rule in ("quadratic", "remembers_the_weights"):
        pytest.skip("it can be simulated; only its mean dynamics would be wrong")
    name, model = rule.title().replace("_", ""), folder / "model.json"
    spec = f"{folder}/refused.py:{name}"
    if command == "check":
        proof = folder / "td.json"
        proof.write_text(
            json.dumps(otd.mean_dynamics(otd.load_model(model), otd.TD()).certificate())
        )
        done = run("check", proof, "--model", model, "--learner", spec, expect=2)
    elif command == "search":
        done = run("search", spec, expect=2)
    else:
        more = ("-o", folder / f"{rule}.html") if command == "report" else ()
        done = run(command, model, "--learner", spec, *more, expect=2)
        assert not (folder / f"{rule}.html").exists()
    assert done.stderr.startswith(f"error: {name} ")
    assert "defect" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--learner", "residual-gradient", "--lam", "1/2"), "none of residual-gradient has it"),
        (("--learner", "rg", "--mu", 2), "--mu is a learner's"),
        (("--learner", "td", "--number", "kappa"), "expected NAME=VALUE"),
        (("--learner", "td", "--lam", 0, "--number", "lam=1"), "given twice"),
        (("--learner", "nowhere.py:HTD"), "there is no file"),
        (("--learner", "my_td"), "no learner is called 'my_td'"),
    ],
)
def test_what_cannot_be_meant(folder, arguments, words):
    assert words in run("analyze", folder / "model.json", *arguments, expect=2).stderr


def test_a_report_refuses_before_it_computes(folder):
    problem = otd.load_model(folder / "model.json")
    with pytest.raises(LearnerError, match="Quadratic has no mean dynamics"):
        model_page(problem, learners=learner_class(f"{folder}/refused.py:Quadratic")())
