"""Sampling and learning curves."""

from obliquetd.experiments.simulate import Curve, Simulation, simulate
from obliquetd.experiments.streams import LoggedData

__all__ = ["Curve", "LoggedData", "Simulation", "simulate"]
