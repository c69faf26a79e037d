"""After how many samples the less biased of two estimators is the better one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from obliquetd.algebra import number_text
from obliquetd.errors import InputError, KindError
from obliquetd.estimators.efficiency import LeastSquaresEfficiency
from obliquetd.estimators.lstd import LeastSquares
from obliquetd.problem import PolicyEvaluation

__all__ = ["Crossover", "crossover"]


@dataclass(frozen=True)
class Crossover:
    """What :func:`crossover` returns.

    Attributes
    ----------
    less_biased, other : str
        The labels of the two.
    steps : number
        The less biased has the smaller mean squared error after more steps than that, to order 1/t: 0
        where it has from the beginning, and infinite where neither is less biased, nor noisier.
    """

    less_biased: str
    other: str
    steps: Any

    def __str__(self) -> str:
        if self.steps == 0:
            return f"{self.less_biased} is better than {self.other} after any number of steps, to order 1/t"
        if self.steps in (sp.oo, float("inf")):
            return f"{self.less_biased} and {self.other} are equally good, to order 1/t"
        return (
            f"{self.less_biased} is better than {self.other} after more than {number_text(self.steps)} "
            "steps, to order 1/t"
        )


def crossover(
    problem: PolicyEvaluation, a: LeastSquares, b: LeastSquares, *, sampling: str | None = None
) -> Crossover:
    """When the less biased of two least-squares estimators becomes the better one.

    The mean squared errors are bias^2 + rate / t each, up to smaller terms, and they are equal at
    t = (rate_a - rate_b) / (bias_b^2 - bias_a^2). Where that is only a few steps, the smaller terms count.

    Parameters
    ----------
    problem : PolicyEvaluation
        Exact or in floats.
    a, b : LSTD or LSETD
    sampling : {"trajectory", "iid"}, optional
        As for :func:`obliquetd.efficiency`.

    Raises
    ------
    InputError
        For what is no least-squares estimator.
    MathematicalError
        Where the noise of one is infinite.
    KindError
        For symbols.

    Examples
    --------
    >>> from obliquetd.domains import random_problem
    >>> from obliquetd.estimators import LSTD
    >>> problem = random_problem(4, 1, seed=2, discount="1/2")
    >>> found = crossover(problem, LSTD(), LSTD(lam="1/2"))
    >>> found.less_biased in ("LSTD", "LSTD lam=1/2"), float(found.steps) >= 0
    (True, True)
    """
    for given in (a, b):
        if not isinstance(given, LeastSquares):
            raise InputError(
                f"{given!r} is no least-squares estimator; expected two of them, such as otd.LSTD() and "
                "otd.LSTD(lam='1/2')"
            )
    first, second = (LeastSquaresEfficiency(problem, x, sampling, None) for x in (a, b))
    if problem.arithmetic == "symbolic" or a.symbols or b.symbols:
        raise KindError("a crossover needs numbers; substitute them for the symbols")
    gain = second.squared_bias - first.squared_bias
    if isinstance(gain, float) and abs(gain) <= max(first.rounding, second.rounding) ** 2:
        gain = 0.0  # rounding does not tell one bias from the other
    if gain < 0 or (gain == 0 and first.rate > second.rate):
        first, second, gain = second, first, -gain
    cost = first.rate - second.rate
    if cost <= 0:
        equal = gain == 0 and cost == 0
        steps = (
            (sp.oo if equal else sp.Integer(0))
            if isinstance(gain, sp.Basic)
            else (float("inf") if equal else 0.0)
        )
    else:
        steps = cost / gain
    return Crossover(first.name, second.name, steps)
