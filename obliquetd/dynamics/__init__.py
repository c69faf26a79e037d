"""What a learner does in expectation."""

from obliquetd.dynamics.follow_on import follow_on_second_moment, second_moment_is_finite
from obliquetd.dynamics.mean import MeanDynamics, mean_dynamics

__all__ = [
    "MeanDynamics",
    "follow_on_second_moment",
    "mean_dynamics",
    "second_moment_is_finite",
]
