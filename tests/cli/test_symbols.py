"""Names in typed formulas: asked about unless they look like symbols, are said to be, or are the model's."""

import json

import pytest
import sympy as sp

from obliquetd import mean_dynamics, save_model
from obliquetd.cli.symbols import unsaid
from obliquetd.domains import two_state
from obliquetd.learners import ETD, GTD2, SETD, TD
from tests.test_cli import run

MODEL = {
    "transitions": [["s", "go", "t", 1, 2], ["t", "back", "s", 1, "bonus"]],
    "discount": "rate", "target": "uniform", "features": {"s": [1], "t": ["1/2"]},
}  # fmt: skip


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(MODEL))
    return path


def test_names_that_look_like_symbols():
    assert unsaid("gamma + p*q_1 + beta2 + lambda + Gamma + x/(1 - y)") == []
    assert unsaid("abc + p*ab_1 + gamma_max") == ["ab_1", "abc", "gamma_max"]
    assert unsaid("abc + ab", known=["abc"]) == ["ab"]
    assert unsaid("0.9") == unsaid("1/(") == unsaid("plain text") == []


@pytest.mark.parametrize(
    "given", [["--discount", "abc"], ["--set", "bonus=abc"], ["--lam", "abc"]], ids=lambda x: x[0]
)
def test_a_word_is_asked_about_and_the_way_out_works(given, model):
    call = ["analyze", model, "--learner", "td", *given]
    told = run(*call, expect=2).stderr
    assert "'abc' is no number. If a symbol is meant, say --symbol abc" in told
    for answer in ([*call, "--symbol", "abc"], [*call[:-1], call[-1].replace("abc", "b")]):
        done = run(*answer, expect=None)  # with lam a symbol, some quantities have no closed form
        assert "If a symbol is meant" not in done.stderr
        assert answer[-1].removeprefix("bonus=") in done.stdout


def test_the_models_own_symbols_need_no_word(model):
    assert (
        "discount 1 - rate"
        in run("analyze", model, "--discount", "1-rate", "--learner", "td").stdout
    )
    run("analyze", model, "--set", "bonus=rate", "--learner", "td")


def test_every_command_that_asks_has_the_option(model, tmp_path):
    for name, *more in (
        ("report", "-o", tmp_path / "r.html"),
        ("convert", tmp_path / "c.json"),
        ("simulate",),
        ("explore", "-o", tmp_path / "e.html"),
    ):
        assert "say --symbol abc" in run(name, model, *more, "--discount", "abc", expect=2).stderr
        assert "--symbol" in run(name, "--help").stdout
    run("convert", model, tmp_path / "c.json", "--discount", "abc", "--symbol", "abc")
    assert json.loads((tmp_path / "c.json").read_text())["discount"] == "abc"


def test_the_schema_takes_json_as_every_command_does():
    assert run("schema", "--json").stdout == run("schema").stdout


def read(text, at):
    """A formula of the JSON at some values."""
    return sp.sympify(text, {"gamma": sp.Symbol("gamma")}).subs(at)


def _case_at(row, at):
    """What is said of a learner; where its signs make cases, that of the case that holds."""
    held = [case for case in row.get("cases", []) if read(case["where"], at) == sp.true]
    return held[0] if "cases" in row else row


@pytest.mark.parametrize("discount", ["gamma", "2/5"])
def test_a_symbol_of_the_learner_alone(discount, tmp_path):
    """Errors and theta over a field with the learner's symbol too, against the learner at a number."""
    path = tmp_path / "m.json"
    save_model(two_state(discount, reward=1), path)
    names = ("td", "setd", "etd", "gtd2")
    given = [x for name in names for x in ("--learner", name)]
    done = run("analyze", path, *given, "--lam", "p", "--json", "--no-noise")
    rows = {row["learner"]: row for row in json.loads(done.stdout)["learners"]}
    values = {"p": "1/3", "gamma": "2/5"}
    problem = two_state("2/5" if discount == "gamma" else discount, reward=1)
    for name, kind in zip(names, (TD, SETD, ETD, GTD2), strict=True):
        wanted = mean_dynamics(problem, kind(lam="1/3"))
        at = {k: sp.sympify(v) for k, v in values.items()}
        found = _case_at(rows[name], at)
        assert [read(x, at) for x in found["theta"]] == list(wanted.fixed_point())
        assert [[read(x, at) for x in row] for row in found["A"]] == wanted.A.tolist()
        if found is not rows[name]:
            continue
        error = read(found["rmse"], at)
        assert sp.simplify(error**2 - problem.rmse(wanted.v_hat) ** 2) == 0
    told = run("analyze", path, "--learner", "td", "--lam", "p").stdout
    assert "has the symbol p" not in told


def test_a_symbol_in_floats_has_a_way_out(tmp_path):
    path = tmp_path / "m.json"
    save_model(two_state("1/2", reward=1), path)
    given = ("analyze", path, "--learner", "td", "--lam", "p", "--arithmetic")
    assert "arithmetic='symbolic'" in run(*given, "float", expect=2).stderr
    run(*given, "symbolic")
