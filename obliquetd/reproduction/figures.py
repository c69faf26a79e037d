"""The paper's figures: RMSE and RMSPBE, the whole run and the two ends that the paper zooms in on."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from obliquetd.experiments import Experiment, Sweep
from obliquetd.experiments.grid import label
from obliquetd.experiments.store import write_atomically
from obliquetd.plotting import learning_curves, sensitivity
from obliquetd.plotting.curves import shown_average
from obliquetd.reproduction.evidence import EARLY, LATE
from obliquetd.reproduction.study import Case, Exact

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["case_figure", "save_figure", "sweep_figure"]

DRAWN_RUNS = 20
"""Runs in a figure, as in the paper; verdicts use all runs of five seeds."""


def case_figure(case: Case, found: Sweep, exact: Exact, experiment: Experiment) -> Figure:
    """One row for each error; the whole run, its first 1000 and its last 500 steps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.6), layout="constrained")
    axes = figure.subplots(2, 3)
    end = int(found.steps[-1])
    windows = {"whole run": (0, end), "first 1000 steps": (0, min(EARLY, end)),
               "last 500 steps": (max(0, end - LATE), end)}  # fmt: skip
    for row, error in zip(axes, ("rmse", "rmspbe"), strict=True):
        lines = {name: curves[error] for name, curves in exact.items()}
        for ax, (title, window) in zip(row, windows.items(), strict=True):
            learning_curves(
                found, error, ax, exact=lines, window=window, runs=DRAWN_RUNS, legend=False
            )
            if error == "rmse":
                ax.set_title(title, fontsize="medium")
                if case.floor is not None:
                    ax.axhline(
                        case.floor(experiment), color="#444444", linestyle=":", linewidth=1.2,
                        label="standard error of the values",
                    )  # fmt: skip
    told = {
        word: x for ax in axes.flat for x, word in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.legend(list(told.values()), list(told), loc="outside right upper", frameon=False)
    sizes = ", ".join(label(learner) for learner in case.learners.values())
    figure.suptitle(
        f"{case.figure}: {case.title}, {shown_average(DRAWN_RUNS, bool(exact))} of them\n{sizes}",
        fontsize="medium",
    )
    said = [f"The paper: \u201c{case.says}\u201d"] if case.says else []
    note = "\n".join(line for text in (*said, case.remark) for line in textwrap.wrap(text, 130))
    figure.supxlabel(note, fontsize="small", color="#555555")
    return figure


def sweep_figure(case: Case, found: Sweep) -> Figure:
    """Sensitivity to the step size, with the paper's choices as dotted lines."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    marked = {name: learner.step_size(0) for name, learner in case.learners.items()}
    for ax, error in zip(figure.subplots(1, 2), ("rmse", "rmspbe"), strict=True):
        sensitivity(found, error, "whole", ax, marked=marked)
    figure.suptitle(f"{case.title}: step sizes of Table II (dotted: the paper's choice)")
    return figure


def save_figure(figure: Figure, folder: Path, name: str) -> list[Path]:
    """The figure as PNG and SVG, the same bytes for the same figure."""
    import matplotlib

    paths = []
    for kind in ("png", "svg"):
        path = folder / f"{name}.{kind}"
        with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
            write_atomically(
                path,
                lambda file, kind=kind: figure.savefig(  # type: ignore[misc]
                    file, format=kind, dpi=130, metadata={"Date": None} if kind == "svg" else None
                ),
            )
        paths.append(path)
    return paths
