"""Estimators: weights from all of the data at once, and what they are on infinite data.

===========  =========================================================================
LSTD         the root of TD(lambda)'s update, batch or recursive
LSETD        the same of ETD(lambda)
LSPE         steps towards it, in the metric of the features
FPKF         regression on bootstrapped targets that are not revised
BRM          the least squared TD error, or the least Bellman error from two samples
Averager     fitted value iteration that cannot diverge
===========  =========================================================================

Each takes a model, ``problem.fixed_point(LSTD())``, and a log, ``replay(log, LSTD())``.
"""

from obliquetd.estimators.averager import Averager
from obliquetd.estimators.base import Estimator
from obliquetd.estimators.brm import BRM
from obliquetd.estimators.confidence import Confidence
from obliquetd.estimators.crossover import Crossover, crossover
from obliquetd.estimators.efficiency import LeastSquaresEfficiency
from obliquetd.estimators.fpkf import FPKF
from obliquetd.estimators.lspe import LSPE
from obliquetd.estimators.lstd import LSETD, LSTD
from obliquetd.estimators.replay import Estimate, replay

ESTIMATORS = (LSTD, LSETD, LSPE, FPKF, BRM, Averager)
"""The estimators by least squares, in the order of the tables."""

__all__ = [
    "BRM",
    "ESTIMATORS",
    "FPKF",
    "LSETD",
    "LSPE",
    "LSTD",
    "Averager",
    "Confidence",
    "Crossover",
    "Estimate",
    "Estimator",
    "LeastSquaresEfficiency",
    "crossover",
    "replay",
]
