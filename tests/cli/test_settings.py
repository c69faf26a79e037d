"""Symbols, discounts and arithmetic from the command line, in any order of thought."""

import json
import re

import pytest

from obliquetd import save_model
from obliquetd.domains import two_state
from tests.test_cli import run, strict

ROWS = [["s", "a", "t", "1/2", 1], ["s", "a", "s", "1/2", 0], ["t", "a", "s", 1, 0]]


def values(*arguments):
    data = strict(run("analyze", *arguments, "--json").stdout)
    return data["arithmetic"], [row["v_pi"] for row in data["by_state"]]


@pytest.fixture
def symbolic(tmp_path):
    save_model(two_state(discount="gamma", reward="r"), tmp_path / "m.json")
    return tmp_path / "m.json"


@pytest.mark.slow
def test_numbers_are_set_before_the_arithmetic_is_chosen(symbolic):
    given = ("--set", "gamma=1/2", "--set", "r=1")
    assert values(symbolic, *given) == ("exact", ["2", "2"])
    assert values(symbolic, *given, "--arithmetic", "exact") == ("exact", ["2", "2"])
    kind, found = values(symbolic, *given, "--arithmetic", "float")
    assert kind == "float"
    assert found == pytest.approx([2, 2])
    assert values(symbolic, "--discount", "1/4", "--set", "r=3") == ("exact", ["4", "4"])
    kind, found = values(
        symbolic, "--discount", "g", "--set", "g=1/4", "--set", "r=3", "--arithmetic", "float"
    )
    assert (kind, found) == ("float", pytest.approx([4, 4]))


def test_what_is_left_open_is_said(symbolic):
    done = run("analyze", symbolic, "--arithmetic", "float", "--set", "gamma=1/2", expect=2)
    assert "r" in done.stderr
    for bad, words in (
        (("--set", "gamma=1/2", "--set", "gamma=1/3"), "two values"),
        (("--set", "gamma="), "NAME=VALUE"),
        (("--set", "g=1/2"), "no symbol g"),
        (("--set", "gamma=2"), "discount is 2"),
    ):
        assert words in run("analyze", symbolic, *bad, expect=2).stderr


@pytest.mark.parametrize("name", ["gamma", "discount"])
def test_a_discount_replaces_the_files_by_either_name(name, tmp_path):
    (tmp_path / "m.json").write_text(json.dumps({"transitions": ROWS, name: "9/10"}))
    assert values(tmp_path / "m.json", "--discount", "0") == ("exact", ["1/2", "0"])


def test_every_command_that_reads_a_model_takes_them(symbolic, tmp_path):
    given = ("--set", "gamma=1/2", "--set", "r=1", "--arithmetic", "float")
    done = run("simulate", symbolic, *given, "--steps", 50, "--runs", 2, "--learner", "setd")
    assert "SETD" in done.stdout
    run("report", symbolic, *given, "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert re.search(r"discount <math alttext=\"0.5\".*</math>,</span> float", page)
