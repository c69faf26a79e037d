"""What a learner does in expectation."""

from obliquetd.dynamics.binding import check_certificate
from obliquetd.dynamics.bounds import bounds
from obliquetd.dynamics.efficiency import Efficiency, efficiency
from obliquetd.dynamics.fitting import FQI, PFQI
from obliquetd.dynamics.follow_on import follow_on_second_moment, second_moment_is_finite
from obliquetd.dynamics.improvement import improvement_region
from obliquetd.dynamics.iteration import Iteration, iteration, least_updates
from obliquetd.dynamics.learner_point import point_of_learner
from obliquetd.dynamics.mean import MeanDynamics, mean_dynamics
from obliquetd.dynamics.moments import exact_moments
from obliquetd.dynamics.moments_by_step import Moments
from obliquetd.dynamics.one_line import one_line_proof
from obliquetd.dynamics.regions import StabilityMap, stability_map, stability_region
from obliquetd.dynamics.stability import Stability
from obliquetd.dynamics.steady import stationary_moments
from obliquetd.dynamics.step_size import StepSizeLimit, step_size_limit

__all__ = [
    "FQI",
    "PFQI",
    "Efficiency",
    "Iteration",
    "MeanDynamics",
    "Moments",
    "Stability",
    "StabilityMap",
    "StepSizeLimit",
    "bounds",
    "check_certificate",
    "efficiency",
    "exact_moments",
    "follow_on_second_moment",
    "improvement_region",
    "iteration",
    "least_updates",
    "mean_dynamics",
    "one_line_proof",
    "point_of_learner",
    "second_moment_is_finite",
    "stability_map",
    "stability_region",
    "stationary_moments",
    "step_size_limit",
]
