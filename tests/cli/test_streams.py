"""The two streams of the command: full, closed, or too narrow for what is written."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from obliquetd import save_model
from obliquetd.domains import two_state
from tests.test_cli import process, run, strict

COMMAND = (sys.executable, "-m", "obliquetd")
SHORT = ("--learner", "td", "--no-noise")
"""Of an analysis, what keeps it short: these tests are about streams."""
full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


@pytest.fixture
def model(tmp_path):
    save_model(two_state(reward=1), tmp_path / "model.json")
    return tmp_path / "model.json"


@full
@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", "{}", *SHORT),
        ("analyze", "{}", "--json", *SHORT),
        *(pytest.param(x, marks=pytest.mark.slow) for x in (("schema",), ("--help",), ("table1",))),
    ],
)
def test_a_full_disk_is_one_line(arguments, model):
    with open("/dev/full", "w") as sink:  # noqa: PTH123 - a device, not a path of ours
        done = subprocess.run(
            [*COMMAND, *(a.format(model) for a in arguments)], stdout=sink, stderr=subprocess.PIPE,
            text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "error: cannot write to standard output: No space left on device\n"


@full
def test_an_error_that_nobody_hears_still_has_its_status():
    with open("/dev/full", "w") as sink:  # noqa: PTH123
        done = subprocess.run([*COMMAND, "analyze", "none.json"], stderr=sink, check=False)
    assert done.returncode == 2


@pytest.mark.parametrize(
    "arguments",
    [
        "schema", "table1",
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("verify lemma-1", "--help", "table1 --json")),
    ],
)  # fmt: skip
def test_a_reader_that_has_seen_enough(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, *arguments.split()], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
def test_closed_streams(model):
    for closing in (">&-", "2>&-", ">&- 2>&-"):
        done = subprocess.run(
            f"'{sys.executable}' -m obliquetd analyze '{model}' {' '.join(SHORT)} {closing}", shell=True, check=False,
            capture_output=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "settings",
    [
        {"PYTHONIOENCODING": "ascii"},
        pytest.param(
            {"LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, marks=pytest.mark.slow
        ),
    ],
)
def test_streams_that_know_ascii_alone(settings, tmp_path):
    mdp = {
        "transitions": [
            ["gr\u00fc\u00df", "\u03c0", "\u65e5", 1, 1],
            ["\u65e5", "\u03c0", "gr\u00fc\u00df", 1, 0],
        ]
    }
    (tmp_path / "m.json").write_text(
        '{"discount": "1/2", ' + str(mdp).replace("'", '"')[1:], "utf-8"
    )
    environment = {**os.environ, **settings}
    done = process("analyze", tmp_path / "m.json", *SHORT, env=environment)
    assert done.returncode == 0, done.stderr
    assert "gr\\xfc\\xdf" in done.stdout
    assert done.stdout.isascii()
    found = strict(
        process("analyze", tmp_path / "m.json", "--json", *SHORT, env=environment).stdout
    )
    assert found["states"] == ["gr\u00fc\u00df", "\u65e5"]
    missing = process("analyze", "n\u00f6.json", env=environment)
    assert missing.returncode == 2
    assert missing.stderr.startswith("error: cannot read ")
    assert "refuted" in process("verify", "omega-positive", env=environment).stdout


def test_what_is_no_number_of_arguments_is_one_line(model):
    for arguments in (
        ("analyze", model, "--lamb"),
        ("analyze", model, "extra"),
        ("search", "td", "--states", "three"),
        ("simulate", model, "--steps", "1e3"),
        ("analyse", model),
    ):
        done = run(*arguments, expect=2)
        assert done.stdout == ""
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1
        assert "--help shows what there is" in done.stderr


@pytest.mark.parametrize("error", [OSError(5, "it broke"), MemoryError(), RecursionError("deep")])
def test_any_error_is_one_line_and_status_2(error, monkeypatch, capsys):
    from obliquetd import cli

    def fails(**_):
        raise error

    monkeypatch.setattr(cli, "app", fails)
    with pytest.raises(SystemExit) as caught:
        cli.main(["verify"])
    told = capsys.readouterr().err
    assert caught.value.code == 2
    assert told.startswith("error: ")
    assert told.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_an_interrupt_is_no_traceback(tmp_path):
    progress = tmp_path / "progress.json"
    with subprocess.Popen(
        [*COMMAND, "search", "etd", "--walks", "100000", "--checkpoint", str(progress)],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    ) as running:  # fmt: skip
        while not progress.exists():  # written before the first walk
            time.sleep(0.1)
            assert running.poll() is None
        os.killpg(running.pid, signal.SIGINT)
        told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert told[1].endswith("error: stopped\n")
    assert "Traceback" not in told[1]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("ending", ["raise typer.Abort from stopped", "return 130", "raise"])
def test_an_interrupt_amid_an_import_has_the_same_status(ending, tmp_path):
    # dataclasses and named tuples are made by `exec` of a string, where CPython marks interrupts;
    # versions of typer end an interrupted command in one way or another
    (tmp_path / "interrupted.py").write_text(
        "import typer\n"
        "from obliquetd import cli\n"
        "from obliquetd.cli.common import say_error\n"
        "say_error('first')  # what this imports would run strings that clear the mark\n"
        "def app(**_):\n"
        "    try:\n"
        "        exec('raise KeyboardInterrupt')\n"
        "    except KeyboardInterrupt as stopped:\n"
        f"        {ending}\n"
        "cli.app = app\n"
        "cli.main(['verify'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "interrupted"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 130
    assert done.stderr == "error: first\nerror: stopped\n"
