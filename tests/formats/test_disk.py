"""Files on disk: bounded in bytes, whole or not there, and nothing that waits for ever."""

import io
import os
import stat
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

from obliquetd import MDP, Policy, PolicyEvaluation, load_model, save_model
from obliquetd.domains import two_state
from obliquetd.errors import InputError, ModelFileError, ObliqueTDError
from obliquetd.formats.disk import LARGEST_FILE, fresh_file, fresh_files
from obliquetd.formats.strict_json import parse_json, write_json
from tests.formats.test_model import same

ENDINGS = [".json", ".npz", ".graphml", ".tra", ".drn", ".csv"]
WRITTEN = ENDINGS[:-1]


def within_seconds(call, limit=20):
    """What a call raises, or fail: in a thread, so that one that hangs does not stop the suite."""
    found = []

    def run():
        try:
            found.append(call())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit)
    assert found, "it hangs"
    return found[0]


# Reading


@pytest.mark.parametrize("ending", ENDINGS)
def test_pipes_and_devices_are_not_read(ending, tmp_path):
    os.mkfifo(tmp_path / f"p{ending}")
    (tmp_path / f"z{ending}").symlink_to("/dev/zero")
    (tmp_path / f"f{ending}").mkdir()
    for name, words in (
        ("p", "it is a pipe"),
        ("z", "it is a device"),
        ("f", "a folder|a directory"),
    ):
        error = within_seconds(lambda name=name: load_model(tmp_path / f"{name}{ending}"))
        assert isinstance(error, ModelFileError), error
        assert any(word in str(error) for word in words.split("|"))


@pytest.mark.parametrize("name", ["m.srew", "m.trew", "m.lab", "m.sta"])
def test_companions_that_are_pipes(name, tmp_path):
    (tmp_path / "m.tra").write_text("1 1\n0 0 1\n")
    os.mkfifo(tmp_path / name)
    error = within_seconds(lambda: load_model(tmp_path / "m.tra"))
    assert isinstance(error, ModelFileError)
    assert "it is a pipe" in str(error)


@pytest.mark.parametrize("ending", ENDINGS)
def test_large_files_are_refused_unread(ending, tmp_path):
    with (tmp_path / f"m{ending}").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(ModelFileError, match="50,000,000 bytes"):
        load_model(tmp_path / f"m{ending}")


@pytest.mark.parametrize("name", ["a\0b.json", "\ud800.json", "x" * 300 + ".json"])
def test_names_that_no_file_has(name, tmp_path):
    with pytest.raises(ModelFileError, match="cannot read"):
        load_model(tmp_path / name)
    with pytest.raises(InputError, match="cannot write"):
        save_model(two_state(), tmp_path / name)


def archive(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members.items():
            with out.open(f"{name}.npy", "w", force_zip64=True) as member:
                for piece in content:
                    member.write(piece)
    return file.getvalue()


def header(shape, kind="<f8"):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": kind, "fortran_order": False, "shape": shape}
    )
    return file.getvalue()


def zeros(size):
    while size > 0:
        yield bytes(min(size, 1 << 24))
        size -= 1 << 24


def small():
    file = io.BytesIO()
    np.save(file, np.array([1.0]))
    return [file.getvalue()]


@pytest.mark.parametrize(
    "members",
    [
        {"P": [header((1, 5_200, 5_200)), *zeros(5_200**2 * 8)], "R": small()},
        {"P": small(), "R": small(), "xi": [header((210_000_000,), "|i1"), *zeros(210_000_000)]},
        {"P": [header((1, 10**6, 10**6))], "R": small()},
        {"P": [header((10**9,), "<U1000")], "R": small()},
        {"model": small(), "state": [header((10**12,))]},
        {"P": [header((2**62, 4, 0))], "R": small()},
    ],
    ids=["unpacks", "weights", "header", "text", "own", "empty"],
)  # fmt: skip
def test_an_archive_that_unpacks_to_too_much(members, tmp_path):
    (tmp_path / "m.npz").write_bytes(archive(**members))
    error = within_seconds(lambda: load_model(tmp_path / "m.npz"))
    assert isinstance(error, ModelFileError), error


def test_arrays_that_fit_no_model_are_named_by_shape(tmp_path):
    P, R = np.array([[[0.5, 0.5], [0, 1]]]), np.array([1.0, 0.0])
    for extra, words in (
        ({"xi": np.zeros(1_000_000, dtype="i1")}, "xi has shape"),
        ({"features": np.zeros((3, 1))}, "features has shape"),
        ({"xi": np.float64(1)}, "xi has shape"),
    ):
        np.savez(tmp_path / "m.npz", P=P, R=R, discount=0.5, **extra)
        with pytest.raises(ModelFileError, match=words):
            load_model(tmp_path / "m.npz")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"a": 1, "a": 2}', "'a' occurs twice"),
        ("[1e999]", "too large for a float"),
        ("[NaN]", "NaN"),
        ("[1" + "0" * 10_000 + "]", "digits"),
        ("{", "line 1, column 2"),
    ],
)
def test_json_has_one_dialect(text, words):
    with pytest.raises(ModelFileError, match=words):
        parse_json(text, "it")


# Writing


@pytest.mark.parametrize("ending", WRITTEN)
@pytest.mark.filterwarnings("ignore::obliquetd.errors.FormatWarning")
def test_nothing_is_left_behind_and_nothing_is_followed(ending, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / f"m{ending}.new").symlink_to(victim)
    save_model(two_state(), tmp_path / f"m{ending}")
    assert victim.read_text() == "precious"
    assert (tmp_path / f"m{ending}.new").is_symlink()
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]
    assert load_model(tmp_path / f"m{ending}").mdp == two_state().mdp


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "m.json"
    write_json(path, {"old": 1})
    for failing in (lambda f: write_json(f, {"x": float("nan")}), lambda f: write_json(f, {1, 2})):
        with pytest.raises((ValueError, TypeError)):
            failing(path)

    def stopped():
        with fresh_file(path) as fresh:
            fresh.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert path.read_text() == '{\n "old": 1\n}\n'
    assert list(tmp_path.iterdir()) == [path]


def test_no_file_of_a_set_is_moved_before_all_are_written(tmp_path):
    paths = [tmp_path / name for name in "abc"]

    def failing():
        with fresh_files(paths) as fresh:
            fresh[0].write_text("x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert list(tmp_path.iterdir()) == []
    with fresh_files(paths) as fresh:
        for file in fresh:
            file.write_text("x")
    assert sorted(tmp_path.iterdir()) == paths


def test_two_writers_at_once_do_not_meet(tmp_path):
    path = tmp_path / "m.json"
    with fresh_file(path) as one, fresh_file(path) as other:
        assert one != other
        one.write_text("one")
        other.write_text("other")
    assert path.read_text() in ("one", "other")
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_there_is_never_taken_for_a_new_one(tmp_path, monkeypatch):
    """Even where somebody guesses the name: the file is refused, and a link is not followed."""
    monkeypatch.setattr("obliquetd.formats.disk.secrets.token_hex", lambda _: "guessed")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / ".guessed.new").symlink_to(victim)
    with pytest.raises(InputError, match="exists"):
        write_json(tmp_path / "m.json", {})
    assert victim.read_text() == "precious"
    assert (tmp_path / ".guessed.new").is_symlink()
    assert not (tmp_path / "m.json").exists()


@pytest.mark.parametrize("place", ["/dev/full", "/dev/null", "/dev/zero"])
def test_devices_are_not_replaced(place, tmp_path):
    before = stat.S_IFMT(Path(place).stat().st_mode)
    (tmp_path / "m.json").symlink_to(place)
    with pytest.raises(InputError, match="it is a device; expected the name of a file"):
        save_model(two_state(), tmp_path / "m.json")
    with pytest.raises(InputError, match="it is a device"):
        write_json(place, {})
    assert stat.S_IFMT(Path(place).stat().st_mode) == before


def test_pipes_and_folders_are_not_written(tmp_path):
    os.mkfifo(tmp_path / "p.json")
    (tmp_path / "f.json").mkdir()
    for name in "pf":
        error = within_seconds(lambda name=name: save_model(two_state(), tmp_path / f"{name}.json"))
        assert isinstance(error, InputError), error


def test_a_link_leads_to_what_is_replaced_and_modes_are_the_users(tmp_path):
    (tmp_path / "data").mkdir()
    target = tmp_path / "data" / "m.json"
    target.write_text("{}")
    (tmp_path / "m.json").symlink_to(target)
    save_model(two_state(), tmp_path / "m.json")
    assert (tmp_path / "m.json").is_symlink()
    same(load_model(target), two_state())
    (tmp_path / "plain").write_text("")
    mode = (tmp_path / "plain").stat().st_mode
    save_model(two_state(), tmp_path / "new.json")
    assert (tmp_path / "new.json").stat().st_mode == mode


# Names

NAMES = ["_", "$\\frac{$", "\ud800", "a\x00b", "\x1b[31m", "\x7f", "tab\t", "line\nbreak", "\u2028", "]]>", "<&>", "{x}",
         "\ufeff", "\\", "//", "#END", "@model", "$0", "__NOLABEL__", "01", "-0", "NaN", "1e5", "Infinity", " x", "-",
         "state", "😀", "a" * 2000]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name[:12]))
@pytest.mark.filterwarnings("ignore::obliquetd.errors.FormatWarning")
def test_every_name_comes_back_or_is_refused_at_save(name, tmp_path):
    mdp = MDP.from_transitions(
        [(name, name, "t", "1/2", 1), (name, name, name, "1/2", 1), ("t", "go", name, 1, 0)]
    )
    problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2")
    for ending in WRITTEN:
        path = tmp_path / f"m{ending}"
        try:
            save_model(problem, path)
        except ObliqueTDError:
            assert not path.exists()
        else:
            assert load_model(path, discount="1/2").mdp == mdp, ending
