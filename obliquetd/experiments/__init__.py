"""Sampling, learning curves, and sweeps over settings."""

from obliquetd.experiments.experiment import Experiment
from obliquetd.experiments.grid import TABLE_2, grid, label
from obliquetd.experiments.logged import LoggedData
from obliquetd.experiments.results import save, save_columns, versions
from obliquetd.experiments.simulate import Curve, Simulation, simulate
from obliquetd.experiments.sweep import Setting, Sweep, run, sweep

__all__ = [
    "TABLE_2",
    "Curve",
    "Experiment",
    "LoggedData",
    "Setting",
    "Simulation",
    "Sweep",
    "grid",
    "label",
    "run",
    "save",
    "save_columns",
    "simulate",
    "sweep",
    "versions",
]
