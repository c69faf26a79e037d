"""Sweeps: the same numbers whoever computes them, nothing finished lost, clear errors."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from obliquetd.domains import baird_star, two_state
from obliquetd.errors import BackendError, InputError, NumberError, ResultsError
from obliquetd.experiments import TABLE_2, grid, label, save, simulate, sweep
from obliquetd.experiments.parallel import PATIENCE, run_tasks
from obliquetd.learners import ETD, GTD2, SETD, TD, ResidualGradient

LEARNERS = grid([TD, SETD], alpha=[0.01, 0.02, 9.0])
SETTINGS = {"steps": 300, "runs": 6, "seed": 1, "block": 2}


def problem():
    return two_state(reward=1)


def same(a, b):
    return list(a.curves) == list(b.curves) and all(
        np.array_equal(a[k].rmse, b[k].rmse)
        and np.array_equal(a[k].rmspbe, b[k].rmspbe)
        and np.array_equal(a[k].theta, b[k].theta)
        and a[k].diverged_at == b[k].diverged_at
        for k in a.curves
    )


def test_table_2_as_printed():
    assert len(TABLE_2["alpha"]) == 38
    assert min(TABLE_2["alpha"]) == 1e-7
    assert max(TABLE_2["alpha"]) == 0.6
    assert {2.5e-6, 8e-4, 0.009, 0.09} <= set(np.round(TABLE_2["alpha"], 12).tolist())
    assert len(TABLE_2["mu"]) == 11


def test_a_grid_holds_every_combination_once():
    found = grid([TD, GTD2, ResidualGradient], alpha=[0.1, 0.1, 0.2], mu=[1, 4], lam=[0, "1/2"])
    names = [label(x) for x in found]
    assert len(names) == len(set(names)) == 4 + 8 + 2
    assert "GTD2 alpha=0.2 mu=4 lam=1/2" in names
    assert "rg alpha=0.2" in [n.lower() for n in names] or any(n.startswith("R") for n in names)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: grid(TD, alpha=[0.1, -0.2]), NumberError, "-0.2"),
        (lambda: grid(TD, alpha=[0]), NumberError, "alpha is 0"),
        (lambda: grid(GTD2, alpha=[0.1], mu=[-1]), InputError, "mu is -1"),
        (lambda: grid(TD, alpha=[0.1], lam=[2]), InputError, "lam is 2"),
        (lambda: grid(TD, alpha=[]), InputError, "alpha is"),
        (lambda: grid([float], alpha=[0.1]), InputError, "no learner class"),
        (lambda: sweep(problem(), [], 10), InputError, "no learner"),
        (lambda: sweep(problem(), [TD()], 10), InputError, "no step size"),
        (lambda: sweep(problem(), [TD(0.1)], 10, runs=0), InputError, "runs is 0"),
        (lambda: sweep(problem(), [TD(0.1)], -1), InputError, "steps is -1"),
        (lambda: sweep(problem(), [TD(0.1)], 10, seed=-1), InputError, "seed is -1"),
        (lambda: sweep(problem(), [TD(0.1)], 10, workers=0), InputError, "workers is 0"),
        (lambda: sweep(problem(), [TD(0.1)], 10, backend="moon"), InputError, "cores, dask"),
        (lambda: sweep(problem(), [TD(0.1)], 10, backend="dask"), InputError, "scheduler"),
    ],
)  # fmt: skip
def test_bad_settings_are_named(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_a_sweep_is_the_simulation_of_each_learner():
    found = sweep(problem(), LEARNERS, every=10, workers=1, **SETTINGS)
    alone = simulate(problem(), {"x": SETD(0.02)}, 300, 6, 1, every=10)["x"]
    assert np.array_equal(found["SETD alpha=0.02"].rmse, alone.rmse)
    assert np.array_equal(found["SETD alpha=0.02"].theta, alone.theta)
    assert np.array_equal(found.steps, np.arange(31) * 10)


def test_processes_blocks_and_resuming_change_nothing(tmp_path):
    one = sweep(problem(), LEARNERS, workers=1, **SETTINGS)
    assert same(one, sweep(problem(), LEARNERS, workers=2, out=tmp_path, **SETTINGS))
    assert same(one, sweep(problem(), LEARNERS, workers=1, **{**SETTINGS, "block": 5}))
    files = sorted((tmp_path / "tasks").iterdir())
    assert len(files) == 18
    for path in files[::2]:
        path.unlink()
    kept = {path: path.stat().st_mtime_ns for path in files[1::2]}
    calls = []
    again = sweep(
        problem(),
        LEARNERS,
        workers=1,
        out=tmp_path,
        progress=lambda *c: calls.append(c),
        **SETTINGS,
    )
    assert same(one, again)
    assert calls == [(k, 18) for k in range(9, 19)]
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_a_killed_sweep_goes_on_from_what_it_has(tmp_path):
    class KilledError(Exception):
        pass

    def stop(done, total):
        if done == 4:
            raise KilledError

    with pytest.raises(KilledError):
        sweep(problem(), LEARNERS, workers=1, out=tmp_path, progress=stop, **SETTINGS)
    assert len(list((tmp_path / "tasks").iterdir())) == 4
    resumed = sweep(problem(), LEARNERS, workers=1, out=tmp_path, **SETTINGS)
    assert same(resumed, sweep(problem(), LEARNERS, workers=1, **SETTINGS))


def test_a_folder_belongs_to_one_experiment(tmp_path):
    sweep(problem(), LEARNERS[:1], workers=1, out=tmp_path, **SETTINGS)
    for other in ({"seed": 2}, {"steps": 400}):
        with pytest.raises(ResultsError, match="another experiment"):
            sweep(problem(), LEARNERS[:1], workers=1, out=tmp_path, **{**SETTINGS, **other})
    with pytest.raises(ResultsError, match="another experiment"):
        sweep(two_state("8/10", 1), LEARNERS[:1], workers=1, out=tmp_path, **SETTINGS)
    more = sweep(problem(), LEARNERS, workers=1, out=tmp_path, **SETTINGS)
    assert same(more, sweep(problem(), LEARNERS, workers=1, **SETTINGS))


@pytest.mark.parametrize("damage", ["truncated", "garbage", "empty", "swapped"])
def test_a_corrupt_file_is_named_and_the_others_are_kept(tmp_path, damage):
    sweep(problem(), LEARNERS, workers=1, out=tmp_path, **SETTINGS)
    files = sorted((tmp_path / "tasks").iterdir())
    whole = files[3].read_bytes()
    files[3].write_bytes(
        {
            "truncated": whole[: len(whole) // 2],
            "garbage": b"PK\x03\x04" + bytes(100),
            "empty": b"",
            "swapped": files[4].read_bytes(),
        }[damage]
    )
    with pytest.raises(ResultsError, match=r"corrupt.*remove it") as caught:
        sweep(problem(), LEARNERS, workers=1, out=tmp_path, **SETTINGS)
    assert caught.value.path == str(files[3])
    assert len(list((tmp_path / "tasks").iterdir())) == len(files)
    files[3].unlink()
    calls = []
    sweep(
        problem(),
        LEARNERS,
        workers=1,
        out=tmp_path,
        progress=lambda *c: calls.append(c),
        **SETTINGS,
    )
    assert calls == [(17, 18), (18, 18)]
    assert files[3].read_bytes() == whole


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(ResultsError, match=r"cannot write .*another output folder"):
        sweep(problem(), LEARNERS, workers=1, out=blocker / "inside", **SETTINGS)
    (tmp_path / "experiment.json").write_text("{")
    with pytest.raises(ResultsError, match="cannot be read"):
        sweep(problem(), LEARNERS, workers=1, out=tmp_path, **SETTINGS)


def test_best_and_sensitivity():
    found = sweep(problem(), LEARNERS, steps=3000, runs=4, workers=1)
    best = found.best("SETD")
    assert best.value == min(s.value for s in found.settings("SETD"))
    curve = found.sensitivity("TD")
    assert [s.learner.alpha for s in curve] == [0.01, 0.02, 9.0]
    assert curve[-1].diverged == 4
    assert np.isinf(curve[-1].value)
    whole = found.settings("SETD", "rmspbe", "whole")[0]
    assert np.isclose(whole.value, found["SETD alpha=0.01"].rmspbe.mean())
    with pytest.raises(InputError, match="there are TD, SETD"):
        found.best("ETD")
    with pytest.raises(InputError, match="'end'"):
        found.settings(criterion="middle")
    lost = sweep(problem(), [TD(9.0)], steps=3000, runs=2, workers=1)
    with pytest.raises(InputError, match="every setting of TD diverged"):
        lost.best("TD")


def test_results_are_tidy_columns(tmp_path):
    found = sweep(problem(), grid([TD, GTD2], [0.1, 1.0], [4]), 500, 2, every=100, workers=1)
    paths = save(found, tmp_path, problem="two states")
    assert [p.name for p in paths] == ["sweep.csv", "sweep.npz", "sweep.json"]
    with paths[0].open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * 2 * 6
    assert rows[0] == {
        "learner": "TD", "alpha": "0.1", "mu": "", "lam": "0.0", "run": "0", "step": "0",
        "rmse": str(found["TD alpha=0.1"].rmse[0, 0]), "rmspbe": str(found["TD alpha=0.1"].rmspbe[0, 0]),
    }  # fmt: skip
    data = np.load(paths[1])
    assert np.array_equal(data["rmse"], [float(r["rmse"]) for r in rows])
    about = json.loads(paths[2].read_text())
    assert (about["seed"], about["steps"], about["runs"]) == (0, 500, 2)
    assert about["learners"][-1] == "GTD2(alpha=1.0, mu=4, lam=0, secondary='plain')"
    assert about["problem"] == "two states"
    assert "obliquetd" in about["versions"]


def fragile(task):
    """Kills its own process the first time it meets the task that has a mark."""
    number, mark = task
    if number == 3 and mark and not Path(mark).exists():
        Path(mark).write_text("met")
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def hopeless(task):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_dies_loses_no_task(tmp_path):
    tasks = [(k, str(tmp_path / "met")) for k in range(8)]
    found = dict(run_tasks(fragile, tasks, workers=2))
    assert (tmp_path / "met").exists()
    assert found == {k: k * k for k in range(8)}


@pytest.mark.slow
def test_workers_that_keep_dying_are_an_error():
    with pytest.raises(BackendError, match=f"died {PATIENCE} times"):
        list(run_tasks(hopeless, [1, 2, 3], workers=2))


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_cluster_gives_the_same_numbers(cluster, tmp_path):
    settings = {**SETTINGS, "out": tmp_path}
    found = sweep(
        problem(), LEARNERS, backend="dask", scheduler=cluster.scheduler_address, **settings
    )
    assert same(found, sweep(problem(), LEARNERS, workers=1, **SETTINGS))
    assert len(list((tmp_path / "tasks").iterdir())) == 18


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_cluster_worker_that_dies_loses_no_task(cluster, tmp_path):
    tasks = [(k, str(tmp_path / "met")) for k in range(8)]
    found = dict(run_tasks(fragile, tasks, backend="dask", scheduler=cluster.scheduler_address))
    assert (tmp_path / "met").exists()
    assert found == {k: k * k for k in range(8)}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_scheduler_that_does_not_answer_is_named(tmp_path):
    pytest.importorskip("distributed")
    start = time.monotonic()
    with pytest.raises(BackendError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9 "):
        sweep(
            problem(), LEARNERS, backend="dask", scheduler="tcp://127.0.0.1:9", out=tmp_path,
            **SETTINGS,
        )  # fmt: skip
    assert time.monotonic() - start < 30
    assert (tmp_path / "experiment.json").exists()


def test_divergence_and_start_weights_reach_the_sweep():
    found = sweep(
        baird_star(), [TD(9.0), ETD(0.0001)], 4000, 2, theta0=[1] * 6 + [10, 1], workers=1
    )
    assert found["TD alpha=9"].diverged == 2
    assert found["ETD alpha=0.0001"].diverged == 0
    assert (found["TD alpha=9"].rmse[:, 0] == found["ETD alpha=0.0001"].rmse[:, 0]).all()


KILLED = """
import sys
from obliquetd.domains import baird_star
from obliquetd.experiments import grid, sweep
from obliquetd.learners import SETD, GTD2
if __name__ == "__main__":
    sweep(baird_star(), grid([SETD, GTD2], [0.001, 0.002, 0.003]), 20_000, 40, every=10, block=2, out=sys.argv[1])
"""


@pytest.mark.slow
def test_a_sweep_killed_by_the_system_goes_on_with_the_same_numbers(tmp_path):
    """SIGKILL to the process in the middle; what is on disk is whole, and the rest is added."""
    script, folder = tmp_path / "sweep.py", tmp_path / "out"
    script.write_text(KILLED)
    running = subprocess.Popen([sys.executable, str(script), str(folder)])
    deadline = time.monotonic() + 60
    while len(list(folder.glob("tasks/*.npz"))) < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.wait()
    kept = {path: path.stat().st_mtime_ns for path in folder.glob("tasks/*.npz")}
    assert 5 <= len(kept) < 120
    learners, settings = grid([SETD, GTD2], [0.001, 0.002, 0.003]), {"every": 10, "block": 2}
    resumed = sweep(baird_star(), learners, 20_000, 40, out=folder, **settings)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert same(resumed, sweep(baird_star(), learners, 20_000, 40, **settings))
