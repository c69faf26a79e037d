"""The sub-command that writes a page with sliders."""

import json

import pytest

from obliquetd import save_model
from obliquetd.domains import two_state
from tests.test_cli import run


@pytest.fixture
def model(tmp_path):
    save_model(two_state(reward=1), tmp_path / "model.json")
    return tmp_path / "model.json"


def test_a_page_and_stills(model, tmp_path):
    page = tmp_path / "page.html"
    done = run(
        "explore", model, "-o", page, "--learner", "td", "--lam", "l", "--discount", "gamma",
        "--range", "l=0:1/2", "--frames", 1, "--json",
    )  # fmt: skip
    told = json.loads(done.stdout)
    text = page.read_text()
    assert told["written"] == str(page)
    assert told["bytes"] == len(text.encode())
    assert told["frames"] == [str(tmp_path / "page-1.png")]
    assert (tmp_path / "page-1.png").stat().st_size > 5000
    assert text.count('<input type="range"') == 2
    assert "l upwards from 0 to 1/2" in text
    again = run("explore", model, "-o", page, "--learner", "td")  # a page of ours is replaced
    assert "open it in a browser" in again.stdout.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--range", "gamma"), "expected NAME=LOW:HIGH"),
        (("--range", "gamma=0:1", "--range", "gamma=0:1"), "twice"),
        (("--range", "p=0:1"), "the symbols are gamma"),
        (("--frames", 0), "frames is 0"),
        (("--arithmetic", "float"), "--arithmetic exact"),
    ],
)
def test_what_is_wrong_is_said(model, tmp_path, arguments, told):
    done = run("explore", model, "-o", tmp_path / "e.html", *arguments, expect=2)
    assert told in done.stderr.replace("\n", "")
    assert not (tmp_path / "e.html").exists()


def test_stills_do_not_replace_pictures_of_others(model, tmp_path):
    (tmp_path / "e-1.png").write_bytes(b"mine")
    done = run("explore", model, "-o", tmp_path / "e.html", "--frames", 1, expect=2)
    assert "--force replaces" in done.stderr.replace("\n", "")
    assert (tmp_path / "e-1.png").read_bytes() == b"mine"
