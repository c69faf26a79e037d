"""The theorems, one file a kind; :data:`BOUNDS` is the one list of them."""

from obliquetd.dynamics.bounds.bound import Bound
from obliquetd.dynamics.bounds.theorems.approximation import (
    Contraction,
    InstanceFactor,
    ObliqueNorm,
    Pythagoras,
)
from obliquetd.dynamics.bounds.theorems.independent import (
    AveragedIterate,
    DecayingStep,
    LastIterate,
)
from obliquetd.dynamics.bounds.theorems.trajectory import Trajectory

__all__ = ["BOUNDS"]

BOUNDS: tuple[type[Bound], ...] = (
    Contraction, Pythagoras, InstanceFactor, ObliqueNorm,
    AveragedIterate, LastIterate, DecayingStep, Trajectory,
)  # fmt: skip
"""In the order of the tables."""
