"""The stochastic update rules, one family a file."""

from obliquetd.learners.base import (
    Learner,
    Parameter,
    RobbinsMonro,
    choice,
    nonnegative,
    number,
    parameters,
    positive,
    ratio,
    require_learner,
    require_learners,
    unit,
)
from obliquetd.learners.check import Checked, check
from obliquetd.learners.emphatic import ETD, SETD, TD, WeightedTD
from obliquetd.learners.files import learner_class
from obliquetd.learners.gradient import GTD2, TDC
from obliquetd.learners.residual import DoubleSampledResidualGradient, ResidualGradient
from obliquetd.learners.state import (
    Nothing,
    Number,
    Shape,
    Slots,
    Square,
    Theta,
    ThetaW,
    Trace,
    Vector,
)
from obliquetd.learners.words import (
    Transition,
    difference,
    emphatic,
    omega,
    phi,
    phi_next,
    td_error,
)

LEARNERS: dict[str, type[Learner]] = {
    kind.key: kind
    for kind in (
        TD, SETD, ETD, GTD2, TDC, ResidualGradient, DoubleSampledResidualGradient, WeightedTD,
    )
}  # fmt: skip
"""Every learner by the name that the command line uses."""

__all__ = [
    "ETD",
    "GTD2",
    "LEARNERS",
    "SETD",
    "TD",
    "TDC",
    "Checked",
    "DoubleSampledResidualGradient",
    "Learner",
    "Nothing",
    "Number",
    "Parameter",
    "ResidualGradient",
    "RobbinsMonro",
    "Shape",
    "Slots",
    "Square",
    "Theta",
    "ThetaW",
    "Trace",
    "Transition",
    "Vector",
    "WeightedTD",
    "check",
    "choice",
    "difference",
    "emphatic",
    "learner_class",
    "nonnegative",
    "number",
    "omega",
    "parameters",
    "phi",
    "phi_next",
    "positive",
    "ratio",
    "require_learner",
    "require_learners",
    "td_error",
    "unit",
]
