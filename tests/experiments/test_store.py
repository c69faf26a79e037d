"""A folder of results: every file names its experiment, and one process claims it."""

import json
import multiprocessing
import warnings
import zipfile

import numpy as np
import pytest

import obliquetd
from obliquetd.domains import two_state
from obliquetd.errors import ResultsError, SizeError
from obliquetd.experiments import save, store, sweep
from obliquetd.experiments.results import versions
from obliquetd.experiments.store import Store
from obliquetd.learners import GTD2, SETD, TD

LEARNERS = [SETD("1/100"), SETD("1/50")]


def swept(folder, learners=LEARNERS, **changes):
    settings = {"steps": 200, "runs": 4, "seed": 0, "block": 2, "workers": 1}
    return sweep(two_state(reward=1), learners, out=folder, **{**settings, **changes})


def test_files_are_believed_for_their_own_experiment_only(tmp_path):
    """The note that names the experiment is gone; the files still know."""
    swept(tmp_path)
    (tmp_path / "experiment.json").unlink()
    with pytest.raises(ResultsError, match=r"another experiment: seed is 0 there and 5 here"):
        swept(tmp_path, seed=5)
    assert not (tmp_path / "experiment.json").exists()
    calls = []
    swept(tmp_path, progress=lambda *c: calls.append(c))  # the same one takes all of them
    assert calls == [(4, 4)]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"steps": 300, "every": 2}, "steps is 200 there and 300 here"),
        ({"every": 50}, "every is 2 there and 50 here"),
        ({"theta0": [1]}, "experiment is"),
        ({"learners": [TD(0.1)], "seed": 1}, "seed is 0 there and 1 here"),
    ],
)
def test_a_folder_without_its_note_is_refused_to_others(tmp_path, changes, words):
    swept(tmp_path)
    (tmp_path / "experiment.json").unlink()
    with pytest.raises(ResultsError, match=words):
        swept(tmp_path, **changes)


def test_a_file_from_another_folder_is_refused(tmp_path):
    """The two folders hold the same learner and runs, of different seeds."""
    one, two = tmp_path / "one", tmp_path / "two"
    swept(one)
    swept(two, seed=1)
    for path in (one / "tasks").iterdir():
        (two / "tasks" / path.name).write_bytes(path.read_bytes())
    with pytest.raises(ResultsError, match="seed is 0 there and 1 here"):
        swept(two, seed=1)


def test_a_file_that_names_no_experiment_is_refused(tmp_path):
    """As an earlier version wrote them."""
    swept(tmp_path)
    path = next((tmp_path / "tasks").iterdir())
    with np.load(path) as data:
        arrays = {name: data[name] for name in data.files if name != "experiment"}
    np.savez(path, **arrays)
    with pytest.raises(ResultsError, match="does not say which experiment"):
        swept(tmp_path)


def claim(folder, seed, ready, answers):
    ready.wait()
    try:
        Store(folder, {"seed": seed})
        answers.put((seed, "claimed"))
    except ResultsError as error:
        answers.put((seed, str(error)))


@pytest.mark.parametrize("attempt", range(3))
def test_of_processes_that_claim_a_folder_at_once_one_wins(tmp_path, attempt):
    context = multiprocessing.get_context("fork")
    ready, answers = context.Barrier(8), context.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        processes = [
            context.Process(target=claim, args=(tmp_path, k // 4, ready, answers)) for k in range(8)
        ]
        for process in processes:
            process.start()
    found = [answers.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    winner = json.loads((tmp_path / "experiment.json").read_text())["seed"]
    assert sorted(seed for seed, text in found if text == "claimed") == [winner] * 4
    lost = [text for seed, text in found if seed != winner]
    assert all("another experiment" in text for text in lost)
    assert [path.name for path in tmp_path.iterdir()] == ["experiment.json"]


def test_a_claim_between_look_and_write_is_seen(tmp_path, monkeypatch):
    """Another process claims the folder after this one saw it free."""
    create = store._create

    def late(path, content):
        monkeypatch.setattr(store, "_create", create)
        Store(tmp_path, {"seed": 1})
        create(path, content)

    monkeypatch.setattr(store, "_create", late)
    with pytest.raises(ResultsError, match="seed is 1 there and 0 here"):
        Store(tmp_path, {"seed": 0})
    assert json.loads((tmp_path / "experiment.json").read_text()) == {"seed": 1}


def test_a_disk_without_links_claims_too(tmp_path, monkeypatch):
    def refuse(*paths):
        raise PermissionError("no links here")

    monkeypatch.setattr("os.link", refuse)
    Store(tmp_path, {"seed": 1})
    with pytest.raises(ResultsError, match="seed is 1 there and 0 here"):
        Store(tmp_path, {"seed": 0})
    test_a_claim_between_look_and_write_is_seen(tmp_path / "more", monkeypatch)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[1]", "7", "{", "", '{"seed": NaN}', '{"seed": "' + "9" * 5000 + '"}']
)
def test_an_odd_note_is_named(tmp_path, text):
    (tmp_path / "experiment.json").write_text(text)
    with pytest.raises(
        ResultsError, match=r"experiment\.json .*(cannot be read|another)"
    ) as caught:
        swept(tmp_path)
    assert len(str(caught.value)) < 600


def test_a_note_that_is_no_text_or_no_file_is_named(tmp_path):
    (tmp_path / "experiment.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ResultsError, match="cannot be read"):
        swept(tmp_path)
    (tmp_path / "experiment.json").unlink()
    (tmp_path / "experiment.json").mkdir()
    with pytest.raises(ResultsError, match="cannot be read"):
        swept(tmp_path)


@pytest.mark.parametrize(
    "damage", ["compressed", "words", "two tasks", "huge header", "deep header"]
)
def test_an_odd_task_file_is_named(tmp_path, damage):
    swept(tmp_path)
    path = next((tmp_path / "tasks").iterdir())
    with np.load(path) as data:
        arrays = {name: data[name] for name in data.files}
    if damage == "compressed":
        np.savez_compressed(path, **arrays)
    elif damage == "words":
        np.savez(path, **{**arrays, "rmse": np.full(arrays["rmse"].shape, "x")})
    elif damage == "two tasks":
        np.savez(path, **{**arrays, "task": np.array(["a", "b"])})
    else:
        shape = "(" * 300 if damage == "deep header" else "(1000000000000,)"
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(501) + "\n"
        raw = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("more.npy", raw)
    with pytest.raises(ResultsError, match=r"corrupt.*remove it to compute that task again"):
        swept(tmp_path)
    path.unlink()  # the way out
    assert len(swept(tmp_path).curves) == 2


def schedule():
    return TD(lambda t: 0.1 / (1 + t))


def test_a_schedule_is_found_again_by_its_numbers(tmp_path):
    """Made anew, a lambda has another address; its step sizes are the same."""
    swept(tmp_path, [schedule()])
    calls = []
    again = swept(tmp_path, [schedule()], progress=lambda *c: calls.append(c))
    assert calls == [(2, 2)]
    assert np.array_equal(
        again["TD alpha=<lambda>"].rmse, swept(None, [schedule()])["TD alpha=<lambda>"].rmse
    )


def test_schedules_that_differ_share_nothing(tmp_path):
    """They begin alike, are called alike, and part at the last step."""
    one, two = TD(lambda t: 0.1), TD(lambda t: 0.1 if t < 199 else 0.2)
    found = swept(tmp_path, [one, two])
    assert list(found.curves) == ["TD alpha=<lambda>", "TD alpha=<lambda> 2"]
    assert len(list((tmp_path / "tasks").iterdir())) == 4
    a, b = found.curves.values()
    assert np.array_equal(a.rmse[:, :-1], b.rmse[:, :-1])
    assert not np.array_equal(a.theta, b.theta)
    assert len(found.sensitivity("TD")) == 2


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        (TD("1/10"), TD(0.1), True),
        (TD(lambda t: 0.1), TD(0.1), True),
        (GTD2(0.01), GTD2(0.01, secondary="weighted"), False),
        (GTD2(0.01, 1), GTD2(0.01, 2), False),
        (TD(0.1), SETD(0.1), False),
        (TD(0.1, lam="1/2"), TD(0.1, lam=0.5000001), False),
    ],
)  # fmt: skip
def test_learners_share_a_file_where_their_numbers_agree(tmp_path, one, two, same):
    swept(tmp_path, [one])
    calls = []
    swept(tmp_path, [two], progress=lambda *c: calls.append(c))
    assert calls[0] == ((2, 2) if same else (0, 2))


def test_no_learner_of_a_sweep_is_dropped(tmp_path):
    learners = [GTD2(0.01), GTD2(0.01, secondary="weighted"), TD(0.1), TD(0.1), TD(0.1000001)]
    found = swept(None, learners)
    assert list(found.curves) == [
        "GTD2 alpha=0.01 mu=1", "GTD2 alpha=0.01 mu=1 secondary=weighted", "TD alpha=0.1",
        "TD alpha=0.1 2", "TD alpha=0.1000001",
    ]  # fmt: skip
    first, second = (found[name] for name in list(found.curves)[:2])
    assert first.learner.secondary == "plain"
    assert not np.array_equal(first.theta, second.theta)
    rows = list(found.rows())
    assert (
        len(
            {
                tuple(v for k, v in r.items() if k not in ("run", "step", "rmse", "rmspbe"))
                for r in rows
            }
        )
        == 4
    )
    assert {r["secondary"] for r in rows if r["learner"] == "GTD2"} == {"plain", "weighted"}


@pytest.mark.parametrize(
    ("learner", "alpha"),
    [
        (SETD("1/100"), 0.01),
        (TD("0.25", lam="1/2"), 0.25),
        (TD(schedule().alpha), "<lambda>"),
        (GTD2("1/3", "1/4", "1/8"), 1 / 3),
    ],
)
def test_rows_of_every_kind_of_step_size(tmp_path, learner, alpha):
    found = swept(None, [learner])
    assert next(found.rows())["alpha"] == alpha
    assert all(path.exists() for path in save(found, tmp_path))


def test_a_folder_that_cannot_be_written_is_named_before_anything_runs(tmp_path):
    swept(tmp_path)
    for path in (tmp_path / "tasks").iterdir():
        path.unlink()
    (tmp_path / "tasks").rmdir()
    (tmp_path / "tasks").write_text("")
    calls = []
    with pytest.raises(ResultsError, match=r"cannot write .*another output folder"):
        swept(tmp_path, progress=lambda *c: calls.append(c))
    assert calls == [(0, 4)]


def test_results_are_kept_where_the_package_is_not_installed(monkeypatch, tmp_path):
    from importlib.metadata import PackageNotFoundError

    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("obliquetd.experiments.results.version", missing)
    assert versions()["sympy"] == "(not installed)"
    assert versions()["obliquetd"] == obliquetd.__version__
    assert len(save(swept(None), tmp_path)) == 3


@pytest.mark.parametrize(
    "changes", [{"steps": 10**12}, {"steps": 10**15, "every": 10**15}, {"runs": 10**12}, {"runs": 10**9, "every": 1}]
)  # fmt: skip
def test_a_size_that_fits_nowhere_is_refused_before_anything_runs(changes):
    with pytest.raises(SizeError, match=r"GiB of memory.*fewer runs"):
        swept(None, **changes)
