"""What other programs read of the package: its version, its citation, its types from a wheel."""

import inspect
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
import yaml

import obliquetd
from obliquetd import errors
from tests.test_cli import process, run

ROOT = Path(obliquetd.__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
CITE = (ROOT / "tutorials" / "site" / "pages" / "cite.md").read_text()


def test_there_is_one_version():
    assert "version" not in PROJECT["project"]
    assert PROJECT["project"]["dynamic"] == ["version"]
    source = (ROOT / PROJECT["tool"]["hatch"]["version"]["path"]).read_text()
    assert re.findall(r'^__version__ = "(.*)"', source, re.M) == [obliquetd.__version__]
    assert CITATION["version"] == obliquetd.__version__
    assert re.search(r"^## Unreleased", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert run("--version").stdout == f"obliquetd {obliquetd.__version__}\n"
    assert process("--version").stdout == f"obliquetd {obliquetd.__version__}\n"


def test_the_citation_names_the_developers_and_the_paper():
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type", "license"} <= set(CITATION)
    named = PROJECT["project"]["authors"]
    assert [a["name"].lower() for a in CITATION["authors"]] == [a["name"].lower() for a in named]
    assert named[0]["name"] in (ROOT / "LICENSE").read_text()
    (paper,) = CITATION["references"]
    people = " and ".join(f"{a['family-names']}, {a['given-names']}" for a in paper["authors"])
    for told in (people, paper["title"], paper["journal"], f"{paper['start']}--{paper['end']}"):
        assert told in CITE
    assert paper["identifiers"][0]["value"] in CITE
    assert "CITATION.cff" in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]


def test_hints_ask_for_what_the_extras_ask_for():
    extras = PROJECT["project"]["optional-dependencies"]
    sources = [p.read_text() for p in (ROOT / "obliquetd").rglob("*.py") if p.name != "errors.py"]
    calls = [c for text in sources for c in re.findall(r"how_to_install\(\s*([^)]*)\)", text)]
    assert len(calls) >= 4
    for call in calls:
        requirement, extra = (part.strip().strip("\"'") for part in call.split(","))
        assert requirement in extras[extra]
        assert f"pip install '{requirement}'" in errors.how_to_install(requirement, extra)
    # a package that is in no registry cannot be installed by its name alone
    assert not [text for text in sources if "pip install 'obliquetd" in text]


SCRIPT = """
import obliquetd as otd
from obliquetd.domains import two_state

problem = two_state(reward=1)
reveal_type(otd.simulate(problem, otd.TD(0.1), 100))
reveal_type(otd.compare(problem, ["td"]).to_latex(digits=3))
reveal_type(otd.verify(["lemma-1"]))
reveal_type(otd.plotting.learning_curves)
otd.exact_moments(problem, otd.TD("1/10"), "3")
otd.Sarsa
"""
FUNCTIONS = [name for name in obliquetd.__all__ if inspect.isfunction(getattr(obliquetd, name))]
"""Some have the name of the module that they stand in, which a checker may take them for."""


@pytest.mark.slow
def test_mypy_sees_the_types_of_an_installed_wheel(tmp_path):
    elsewhere = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MYPYPATH")}

    def command(*arguments):
        return subprocess.run(
            [sys.executable, "-m", *map(str, arguments)],
            capture_output=True, text=True, check=False, cwd=tmp_path, env=elsewhere,
        )  # fmt: skip

    made = command("pip", "wheel", ROOT, "--no-deps", "-w", tmp_path / "dist")
    assert made.returncode == 0, made.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert wheel.name.startswith(f"obliquetd-{obliquetd.__version__}-")
    venv.create(tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    assert command("pip", "--python", python, "install", "--no-deps", wheel).returncode == 0
    asked = "".join(f"reveal_type(otd.{name})\n" for name in FUNCTIONS)
    (tmp_path / "script.py").write_text(SCRIPT + asked)
    check = ("mypy", "--strict", "--no-incremental", "--python-executable", python, "script.py")
    checked = command(*check)
    lines = [x.partition(": ")[2] for x in checked.stdout.splitlines() if x.startswith("script.py")]
    shown = re.findall(r'Revealed type is "(.*?)"', checked.stdout)
    assert shown[:2] == ["obliquetd.experiments.simulate.Simulation", "str"], checked.stdout
    assert shown[2] == "obliquetd.frames.Table[obliquetd.claims.result.ClaimResult]"
    assert len(shown) == 4 + len(FUNCTIONS)
    assert all(told.startswith("def (") for told in shown[3:]), checked.stdout
    wrong = [x for x in lines if x.startswith("error")]
    assert len(wrong) == 2, checked.stdout
    assert 'Argument 3 to "exact_moments" has incompatible type "str"; expected "int"' in wrong[0]
    assert "Sarsa" in wrong[1]
    (marker,) = (tmp_path / "env").rglob("py.typed")  # without it there is nothing to see
    marker.unlink()
    assert "py.typed marker" in command(*check).stdout
