"""The stochastic update rules, one family a file."""

from obliquetd.learners.base import Learner, RobbinsMonro, require_learner, require_learners
from obliquetd.learners.emphatic import ETD, SETD, TD
from obliquetd.learners.gradient import GTD2, TDC
from obliquetd.learners.residual import DoubleSampledResidualGradient, ResidualGradient

LEARNERS: dict[str, type[Learner]] = {
    "td": TD,
    "setd": SETD,
    "etd": ETD,
    "gtd2": GTD2,
    "tdc": TDC,
    "rg-naive": ResidualGradient,
    "rg-double": DoubleSampledResidualGradient,
}
"""Every learner by the name that the command line uses."""

__all__ = [
    "ETD",
    "GTD2",
    "LEARNERS",
    "SETD",
    "TD",
    "TDC",
    "DoubleSampledResidualGradient",
    "Learner",
    "ResidualGradient",
    "RobbinsMonro",
    "require_learner",
    "require_learners",
]
