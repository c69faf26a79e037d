"""Doors of the command line to files that can be read in several ways."""

import json

import pytest

from obliquetd import save_model
from obliquetd.domains import two_state
from tests.test_cli import run, strict


@pytest.fixture
def rounded(tmp_path):
    (tmp_path / "r.tra").write_text("2 3\n0 0 0.3333333\n0 1 0.6666666\n1 0 1\n")
    (tmp_path / "r1.srew").write_text('# Reward structure "steps"\n2 1\n0 1\n')
    (tmp_path / "r2.srew").write_text('# Reward structure "fuel"\n2 1\n1 5\n')
    return tmp_path / "r.tra"


@pytest.mark.slow
def test_rounded_rows_and_a_choice_of_rewards_reach_every_command(rounded, tmp_path):
    start = ["--discount", "1/2"]
    assert "--reward steps" in run("analyze", rounded, *start, expect=2).stderr
    assert "normalize" in run("analyze", rounded, *start, "--reward", "steps", expect=2).stderr
    values = {}
    for reward in ("steps", "fuel"):
        for how in (["--normalize"], ["--tolerance", "1e-5"]):
            found = strict(
                run("analyze", rounded, *start, "--reward", reward, *how, "--json").stdout
            )
            values.setdefault(reward, []).append([s["v_pi"] for s in found["by_state"]])
    assert values["steps"][0] == values["steps"][1] != values["fuel"][0] == values["fuel"][1]
    strict_rows = ["--reward", "fuel", "--tolerance", "1e-9"]
    assert "to within the tolerance" in run("analyze", rounded, *strict_rows, expect=2).stderr
    run("convert", rounded, tmp_path / "whole.json", "--reward", "fuel", "--normalize")
    assert json.loads((tmp_path / "whole.json").read_text())["transitions"][2][4] == "5"
    run("report", rounded, "-o", tmp_path / "r.html", *start, "--reward", "steps", "--normalize")
    assert "did you mean 'fuel'" in run("analyze", rounded, "--reward", "fule", expect=2).stderr
    assert (
        "leave it out"
        in run("analyze", tmp_path / "whole.json", "--reward", "fuel", expect=2).stderr
    )


def test_convert_says_once_what_stays_behind(tmp_path):
    model = tmp_path / "model.json"
    save_model(two_state(discount="9/10"), model)
    done = run("convert", model, tmp_path / "m.tra")
    assert "stay behind" in " ".join(done.stdout.split())
    assert done.stderr == ""
    (tmp_path / "m.srew").write_text("2 1\n0 1\n")
    again = run("convert", model, tmp_path / "m.tra", "--force", expect=2)
    assert "m.srew lies beside" in again.stderr
