"""What a learner does in expectation."""

from obliquetd.dynamics.mean import MeanDynamics, mean_dynamics

__all__ = ["MeanDynamics", "mean_dynamics"]
