"""Names in typed formulas: asked about unless they look like symbols, are said to be, or are the model's."""

import json

import pytest

from obliquetd.cli.symbols import unsaid
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
