"""Files that the command writes: nothing is lost, nothing is found out too late."""

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError

import pytest

import obliquetd
from obliquetd import save_model
from obliquetd.cli.common import check_outputs
from obliquetd.domains import two_state
from obliquetd.errors import InputError
from obliquetd.experiments import results
from tests.test_cli import run

FIND = ("search", "td", "--states", 2, "--features", 1, "--walks", 20)


@pytest.fixture
def model(tmp_path):
    save_model(two_state(reward=1), tmp_path / "model.json")
    return tmp_path / "model.json"


@pytest.fixture
def idle(monkeypatch):
    """Fails where a command begins to work before it has looked at its outputs."""

    def working(*_, **__):
        raise AssertionError("the work has begun")

    for place in (
        "obliquetd.search.find_unstable", "obliquetd.report.model_page", "obliquetd.claims.verify",
        "obliquetd.experiments.simulate",
    ):  # fmt: skip
        monkeypatch.setattr(place, working)


def test_an_output_is_never_an_input(model, tmp_path, idle):
    before = model.read_bytes()
    (tmp_path / "link.html").symlink_to(model)
    (tmp_path / "hard.html").hardlink_to(model)
    around = tmp_path / "." / ".." / tmp_path.name / "model.json"
    for output in (model, tmp_path / "link.html", tmp_path / "hard.html", around):
        done = run("report", model, "-o", output, "--force", expect=2)
        assert "is a file that is read; give another name" in done.stderr.replace("\n", "")
    for arguments in (
        (*FIND, "--checkpoint", model, "--save", model, "--force"),
        ("simulate", model, "-o", model, "--force"),
    ):
        assert "is a file that is read" in run(*arguments, expect=2).stderr
    assert model.read_bytes() == before


def test_a_file_that_exists_is_kept_unless_forced(model, tmp_path, idle):
    before = model.read_bytes()
    mine = tmp_path / "mine.html"
    mine.write_text("<h1>my own page, about obliquetd</h1>")
    other = two_state(discount="1/2")
    save_model(other, tmp_path / "other.json")
    for arguments in (
        (*FIND, "--save", model),
        (*FIND, "--certificate", model),
        ("report", tmp_path / "other.json", "-o", model),
        ("report", tmp_path / "other.json", "-o", mine),
        ("verify", "lemma-1", "--html", model),
        ("simulate", tmp_path / "other.json", "-o", model),
    ):
        done = run(*arguments, expect=2)
        assert "--force replaces it, or give another name" in done.stderr
        assert done.stderr.count("\n") == 1
    assert model.read_bytes() == before
    assert "my own page" in mine.read_text()


def test_the_advice_works(model, tmp_path):
    assert run(*FIND, "--save", model, "--force").returncode == 0
    assert json.loads(model.read_text())["discount"] == "9/10"
    page = tmp_path / "page.html"
    page.write_text("mine")
    run("verify", "lemma-1", "--html", page, "--brief", "--force")
    first = page.read_text()
    run("verify", "lemma-1", "--html", page, "--brief")  # its own page, again
    assert page.read_text() == first


@pytest.mark.parametrize("second", ["x.json", "./x.json", "sub/../x.json"])
def test_two_outputs_are_two_files(tmp_path, second, idle):
    (tmp_path / "sub").mkdir()
    done = run(*FIND, "--save", tmp_path / "x.json", "--certificate", tmp_path / second, expect=2)
    assert "--save and --certificate both name" in done.stderr
    assert not (tmp_path / "x.json").exists()


def test_places_are_looked_at_before_the_work(model, tmp_path, idle):
    (tmp_path / "file").write_text("")
    for option, place, words in (
        ("--save", tmp_path, "is a folder"),
        ("--save", tmp_path / "no" / "m.json", "there is no folder"),
        ("--certificate", tmp_path / "file" / "m.json", "there is no folder"),
        ("--save", "/dev/null", "no ordinary file"),
    ):
        assert words in run(*FIND, option, place, expect=2).stderr
    assert "there is no folder" in run(
        "report", model, "-o", tmp_path / "file" / "r.html", expect=2
    ).stderr  # fmt: skip
    assert "expected .png" in run("simulate", model, "-o", tmp_path / "x.doc", expect=2).stderr


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="a superuser writes anywhere")
def test_a_folder_without_leave_to_write(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="not yours to write in"):
        check_outputs({"--save": tmp_path / "x.json"})


@pytest.mark.slow
def test_what_runs_without_being_installed_keeps_its_work(monkeypatch, tmp_path, model):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(results, "version", missing)
    assert results.versions()["numpy"] == "(not installed)"
    run("report", model, "-o", tmp_path / "r.html")
    assert f"Made by obliquetd {obliquetd.__version__}." in (tmp_path / "r.html").read_text()
    run("reproduce", "baird", "--runs", 20, "--out", tmp_path / "out", "--workers", 1)
    notes = [json.loads(path.read_text()) for path in (tmp_path / "out").glob("*.json")]
    assert any(x.get("versions", {}).get("obliquetd") == obliquetd.__version__ for x in notes)


@pytest.mark.slow
def test_in_a_source_tree(tmp_path):
    """A process in which obliquetd has no record of its installation."""
    code = (
        "import importlib.metadata as m\n"
        "known = m.version\n"
        "def gone(name):\n"
        "    if name == 'obliquetd': raise m.PackageNotFoundError(name)\n"
        "    return known(name)\n"
        "m.version = gone\n"
        "from obliquetd.cli import main\n"
        f"main(['verify', 'lemma-1', '--html', {str(tmp_path / 'c.html')!r}, '--brief'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "c.html").exists()
