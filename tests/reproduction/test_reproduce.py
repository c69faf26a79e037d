"""Verdicts are computed: the same for a seed, and others for a broken learner."""

import csv
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex

from obliquetd.errors import InputError, ResultsError
from obliquetd.experiments import run
from obliquetd.learners import GTD2, SETD
from obliquetd.plotting import COLORS
from obliquetd.reproduction import NAMES, reproduce, table_1
from obliquetd.reproduction.figures import case_figure
from obliquetd.reproduction.studies import STUDIES


def verdicts(found):
    return {s.says: s.verdict for s in found.sentences}


@pytest.fixture(scope="module")
def baird(tmp_path_factory):
    folder = tmp_path_factory.mktemp("baird")
    return folder, reproduce(["baird"], folder, runs=40, workers=1)


def test_a_second_call_has_the_same_numbers_and_bytes(baird, tmp_path):
    _, found = baird
    again = reproduce(["baird"], tmp_path, runs=40, workers=1)
    assert [s.to_dict() for s in again.sentences] == [s.to_dict() for s in found.sentences]
    assert len(again.files) == len(found.files)
    for a, b in zip(found.files, again.files, strict=True):
        if a.suffix in (".csv", ".svg", ".png", ".json"):
            assert a.read_bytes() == b.read_bytes(), a.name
    other = reproduce(["baird"], tmp_path / "other", runs=40, seed=1, workers=1)
    assert [s.to_dict() for s in other.sentences] != [s.to_dict() for s in found.sentences]


@dataclass(frozen=True)
class AscendingGTD2(GTD2):
    """GTD2 with the sign of its step turned round."""

    def step_size(self, t):
        return -super().step_size(t)


@dataclass(frozen=True)
class AscendingSETD(SETD):
    """SETD with the sign of its step turned round."""

    def step_size(self, t):
        return -super().step_size(t)


def test_a_turned_sign_turns_verdicts(baird, tmp_path):
    """Each learner broken in turn: sentences that praise the other one now hold, and the reverse."""
    usual = verdicts(baird[1])
    reduces = "SETD reduces RMSE and RMSPBE substantially, compared with GTD2,"
    larger = "SETD has a larger variance than GTD2."
    assert usual[reduces] == "does not hold"
    assert usual[larger] == "holds"
    broken = reproduce(
        ["baird"], tmp_path / "a", runs=40, workers=1, learners={"GTD2": AscendingGTD2(0.005, 1)}
    )
    assert verdicts(broken)[reduces] == "holds"
    assert verdicts(broken)[larger] == "does not hold"
    assert verdicts(broken)["GTD2 has a low variance."] == "does not hold"
    worse = reproduce(
        ["baird"], tmp_path / "b", runs=40, workers=1, learners={"SETD": AscendingSETD(0.006)}
    )
    assert verdicts(worse)["TDC has the largest variance."] == "does not hold"
    assert worse.found["baird"]["SETD"].rmse[:, -1].min() > 1e3


def test_the_exact_line_is_the_root_of_the_mean_square(baird):
    """300 runs of GTD2, whose square has no heavy tail, against the exact moments, within 5 errors."""
    case = STUDIES["baird"].cases[0]
    learners = {"GTD2": case.learners["GTD2"]}
    found = run(case.build(3, 100), learners, 300, workers=1)
    exact = case.exact(learners)["GTD2"]
    for error in ("rmse", "rmspbe"):
        squares = getattr(found["GTD2"], error) ** 2
        reach = 5 * squares.std(axis=0, ddof=1) / np.sqrt(len(squares)) + 1e-9
        assert (np.abs(squares.mean(axis=0) - exact[error][found.steps] ** 2) < reach).all()


def test_files_hold_the_numbers(baird):
    folder, found = baird
    with (folder / "verdicts.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["says"] for row in rows} == set(verdicts(found))
    about = json.loads((folder / "verdicts.json").read_text())
    assert about["runs"] == 40
    assert about["sentences"] == [s.to_dict() for s in found.sentences]
    curves = np.load(folder / "baird-curves.npz")
    mean = found.found["baird"]["TDC"].rmse.mean(axis=0)
    assert np.array_equal(curves["rmse_mean"][curves["learner"] == "TDC"], mean)
    assert np.isfinite(curves["rmse_exact"]).all()
    runs = np.load(folder / "baird-runs.npz")
    assert len(runs["run"]) == 3 * 40
    for kind in ("png", "svg"):
        assert (folder / f"baird.{kind}").stat().st_size > 20_000


def test_the_figure_shows_every_learner_in_its_colour(baird):
    _, found = baird
    case = STUDIES["baird"].cases[0]
    sweep = found.found["baird"]
    figure = case_figure(case, sweep, case.exact(case.learners), case.build(0, 1))
    axes = figure.axes
    assert len(axes) == 6
    assert [ax.get_title() for ax in axes[:3]] == [
        "whole run",
        "first 1000 steps",
        "last 500 steps",
    ]
    assert {ax.get_ylabel() for ax in axes[:3]} == {"RMSE"}
    assert {ax.get_ylabel() for ax in axes[3:]} == {"RMSPBE"}
    assert axes[2].get_xlim() == (3500, 4000)
    (legend,) = figure.legends
    assert [t.get_text() for t in legend.get_texts()] == [
        "SETD", "SETD, exact", "GTD2", "GTD2, exact", "TDC", "TDC, exact"
    ]  # fmt: skip
    for ax in axes:
        for line in ax.get_lines():
            name = line.get_label().split(",")[0]
            if name in COLORS:
                assert to_hex(line.get_color()).upper() == COLORS[name].upper()


def test_boyan_and_its_reading(tmp_path):
    found = reproduce(["boyan"], tmp_path, runs=40, workers=1)
    assert verdicts(found)["SETD converges fastest of all."] != "holds"
    assert verdicts(found)["SETD ends at an error similar to the others'."] == "does not hold"
    slow = reproduce(
        ["boyan"], tmp_path / "slow", runs=20, workers=1,
        learners={name: replace(learner, alpha=1e-4) for name, learner in
                  STUDIES["boyan"].cases[0].learners.items() if name != "SETD"},
    )  # fmt: skip
    assert verdicts(slow)["SETD converges fastest of all."] == "holds"
    assert verdicts(slow)["SETD ends at an error similar to the others'."] == "holds"


def test_the_car_has_a_floor(tmp_path):
    case = STUDIES["mountain-car"].cases[0]
    experiment = case.build(0, 50)
    floor = case.floor(experiment)
    assert 0.1 < floor < 2
    found = run(experiment, {"TD": case.learners["TD"]}, 3, workers=1)
    assert found["TD"].rmse[:, -1].min() > floor
    again = run(case.build(0, 50), {"TD": case.learners["TD"]}, 3, workers=2, block=1)
    assert np.array_equal(found["TD"].rmse, again["TD"].rmse)


def test_table_1_is_the_claims(tmp_path):
    found = reproduce(["two-state"], tmp_path)
    assert verdicts(found)["ETD's row of the table."] == "does not hold"
    assert verdicts(found)["SETD's row of the table."] == "holds"
    assert (tmp_path / "table-1.csv").read_text().count("\n") == 5
    assert str(table_1()[1]["distance"]) == "9/2"
    undefined = table_1("1/2")[0]  # Delta phi = 0 in the left state
    assert undefined["criterion"] is None
    assert "left" in undefined["remark"]
    assert table_1("3/4")[0]["criterion"] is not None


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        (["moon"], {}, "'moon'.*two-state, boyan, mountain-car, baird, random or all"),
        ([], {}, "expected two-state"),
        (["baird"], {"runs": 5}, "at least 20"),
        (["baird"], {"runs": 0}, "runs is 0"),
        (["baird"], {"seed": -1}, "seed is -1"),
        (["baird"], {"learners": {"TDD": SETD(0.1)}}, r"'TDD'.*GTD2"),
        (["baird"], {"backend": "dask"}, "scheduler"),
        (["two-state"], {"backend": "moon"}, "cores, dask"),
        (["two-state"], {"workers": -2}, "workers is -2"),
    ],
)
def test_bad_input(tmp_path, names, options, words):
    with pytest.raises(InputError, match=words):
        reproduce(names, tmp_path, **options)


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="cannot write"):
        reproduce(["two-state"], tmp_path / "file")


@pytest.mark.slow
def test_all_together_and_the_grid(tmp_path):
    found = reproduce(NAMES, tmp_path, runs=200)
    told = verdicts(found)
    assert told["SETD is off-policy convergent."] == "does not hold"
    assert told["SETD does better than GTD2 and ETD."] == "holds"
    readme = " ".join((Path(__file__).parents[2] / "README.md").read_text().split())
    count = Counter(sentence.verdict for sentence in found.sentences)
    assert (
        f"Of {len(found.sentences)} sentences, {count['holds']} hold, {count['does not hold']} do not, "
        f"and {count['cannot be decided']} cannot be decided."
    ) in readme
    chosen = reproduce(["boyan"], tmp_path, runs=200, sweep=True).choices
    assert len(chosen) == 10
    for choice in chosen:
        assert choice.best_rmse <= choice.paper_rmse * 1.0001
        assert 1 <= choice.best_rank <= 5
    assert (tmp_path / "boyan-0.4-sweep.svg").exists()
