"""One room for the evaluation of a policy: inputs, native operators, fixed points, answers.

Other rooms work with :class:`PolicyEvaluation` and its public attributes; ``problem.native`` has
its matrices in the package's own arithmetic (:class:`obliquetd.problem.native.Operators`).
"""

from obliquetd.problem.evaluation import PolicyEvaluation
from obliquetd.problem.fixed_point import FixedPoint
from obliquetd.problem.native import Operators
from obliquetd.problem.required import require_problem
from obliquetd.problem.weightings import METHODS

__all__ = ["METHODS", "FixedPoint", "Operators", "PolicyEvaluation", "require_problem"]
