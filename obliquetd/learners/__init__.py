"""The stochastic update rules, one family a file, and what a rule of your own is made of.

==============================  ==========================================================
a rule's words                  :func:`phi`, :func:`phi_next`, :func:`difference`,
                                :func:`td_error`, :func:`omega`, :func:`emphatic`, and of
                                action values :func:`phi_expected`, :func:`expected_td_error`
what it keeps                   :class:`Vector`, :class:`Number`, :class:`Square`,
                                :class:`Slots`; ready-made :class:`Theta`,
                                :class:`ThetaW`, :class:`Trace`, :class:`Nothing`
its numbers                     :func:`positive`, :func:`nonnegative`, :func:`unit`,
                                :func:`number`, :func:`whole`, :func:`choice`, and :func:`ratio` for a
                                second step size
numbers of the problem          ``derives``, ``derive``, :meth:`Learner.bound`;
                                ready-made for WeightedTD: :mod:`obliquetd.learners.emphases`
whether it is what it should    :func:`check`
from a file                     :func:`learner_class`
all of them, and what they are  :func:`table`
==============================  ==========================================================

:data:`LEARNERS` is the one list of the package's own; all else is read from the classes.

Examples
--------
>>> import obliquetd as otd
>>> otd.learners.check(otd.WeightedTD(emphasis="1/2")).ok
True
"""

from obliquetd.learners import emphases
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
    whole,
)
from obliquetd.learners.check import Checked, check
from obliquetd.learners.emphatic import SETD, TD
from obliquetd.learners.files import learner_class
from obliquetd.learners.follow_on import ETD
from obliquetd.learners.gradient import GTD, GTD2, TDC
from obliquetd.learners.hybrid import HTD, TDRC
from obliquetd.learners.listing import table
from obliquetd.learners.mirror_prox import GTD2MP, TDCMP
from obliquetd.learners.n_step import NStepTD
from obliquetd.learners.regularized import RegularizedTD
from obliquetd.learners.residual import DoubleSampledResidualGradient, ResidualGradient
from obliquetd.learners.schedules import Harmonic
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
from obliquetd.learners.true_online import (
    TrueOnlineETD,
    TrueOnlineGTD,
    TrueOnlineSETD,
    TrueOnlineTD,
)
from obliquetd.learners.variable_trace import ABTD, Retrace, TreeBackup, VTrace
from obliquetd.learners.weighted import WeightedTD
from obliquetd.learners.words import (
    Transition,
    difference,
    emphatic,
    expected_td_error,
    omega,
    phi,
    phi_expected,
    phi_next,
    td_error,
)

LEARNERS: dict[str, type[Learner]] = {
    kind.key: kind
    for kind in (
        TD, SETD, ETD, GTD2, TDC, ResidualGradient, DoubleSampledResidualGradient,
        TrueOnlineTD, TrueOnlineSETD, TrueOnlineETD, TrueOnlineGTD, WeightedTD,
        GTD, HTD, TDRC, GTD2MP, TDCMP,
        Retrace, TreeBackup, VTrace, ABTD,
        NStepTD, RegularizedTD,
    )
}  # fmt: skip
"""Every learner by the name that the command line uses."""

__all__ = [
    "ABTD",
    "ETD",
    "GTD",
    "GTD2",
    "GTD2MP",
    "HTD",
    "LEARNERS",
    "SETD",
    "TD",
    "TDC",
    "TDCMP",
    "TDRC",
    "Checked",
    "DoubleSampledResidualGradient",
    "Harmonic",
    "Learner",
    "NStepTD",
    "Nothing",
    "Number",
    "Parameter",
    "RegularizedTD",
    "ResidualGradient",
    "Retrace",
    "RobbinsMonro",
    "Shape",
    "Slots",
    "Square",
    "Theta",
    "ThetaW",
    "Trace",
    "Transition",
    "TreeBackup",
    "TrueOnlineETD",
    "TrueOnlineGTD",
    "TrueOnlineSETD",
    "TrueOnlineTD",
    "VTrace",
    "Vector",
    "WeightedTD",
    "check",
    "choice",
    "difference",
    "emphases",
    "emphatic",
    "expected_td_error",
    "learner_class",
    "nonnegative",
    "number",
    "omega",
    "parameters",
    "phi",
    "phi_expected",
    "phi_next",
    "positive",
    "ratio",
    "require_learner",
    "require_learners",
    "table",
    "td_error",
    "unit",
    "whole",
]
