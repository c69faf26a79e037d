"""The expected update of a learner with a trace as a function of one symbol, for proofs on ranges.

The mean of a memory solves a system with the symbol in it (:mod:`obliquetd.dynamics.sums`), so that A(gamma) is
a matrix N(gamma) of polynomials over one polynomial D(gamma): on each cell where no sign changes that the rule asks
for (:mod:`obliquetd.algebra.cells`). Where D is not 0 between the ends of a cell, A has the eigenvalues of N or of -N
times positive numbers there, and N has no pole: ETD's A grows without bound where gamma comes near 1, N does not.

W is the space of all weights. What no update moves is an eigenvalue 0 throughout, which no box closes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import sympy as sp

from obliquetd.algebra.cells import CellArithmetic, SampledSigns, sign_cells
from obliquetd.algebra.centred import CentredFunctions
from obliquetd.algebra.enclosures import rational
from obliquetd.algebra.function_matrix import FunctionMatrix as OverOne
from obliquetd.algebra.functions import columns_of
from obliquetd.algebra.quotients import ONE, Sample, real_places
from obliquetd.algebra.ranges import InOneSymbol, OnRange
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.expectation import sums_of
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.dynamics.rule import RuleOnNumbers
from obliquetd.errors import MathematicalError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["carried_in_one_symbol"]


def carried_in_one_symbol(
    problem: PolicyEvaluation,
    learner: Learner,
    symbol: sp.Symbol,
    sampling: str | None,
    low: sp.Rational,
    high: sp.Rational,
) -> Way[InOneSymbol | None]:
    """A between two rationals; None where a cell ends at an irrational, or A is not made of sums of products.

    That is also for several closed classes, and for weights of which some combination is never moved.
    """
    try:
        on_cell = partial(_on_cell, problem, learner, sampling)
        cells = sign_cells(low, high, symbol, on_cell)
    except (MathematicalError, _NotHereError):
        return None
    ranges = []
    for cell in cells:
        if not (cell.left.is_Rational and cell.right.is_Rational):
            return None
        ends = (rational(sp.QQ.from_sympy(x)) for x in (cell.left, cell.right))
        found = _on_range(*cell.value, *ends)
        if found is None:
            return None
        ranges.append(found)
    return InOneSymbol(ranges, [on.low for on in ranges[1:]])


class _NotHereError(Exception):
    """The rule has to be run outcome by outcome."""


def _on_cell(
    problem: PolicyEvaluation, learner: Learner, sampling: str | None, signs: SampledSigns
) -> tuple[OverOne, OverOne]:
    """A and b with the signs of a sample."""
    dyn = MeanDynamics(problem, learner, sampling, CellArithmetic(signs))
    if len(dyn.classes) > 1:
        raise _NotHereError
    rule = RuleOnNumbers(dyn.operators, dyn.learner)
    found = sums_of(rule, dyn.operators.xi, carried=True)
    if found is None:
        raise _NotHereError
    A, b = found.totals
    if not (isinstance(A, OverOne) and isinstance(b, OverOne)):
        raise _NotHereError
    return A, b


def _on_range(A: OverOne, b: OverOne, low: Any, high: Any) -> OnRange | None:
    size, middle = A.shape[0], (low + high) / 2
    N, D = A.in_powers()
    places = real_places(D, low, high)
    if places == [] and D(middle):
        N, D = ([M * (1 / D(middle)) for M in N], ONE)
    matrix = CentredFunctions(D, N, size, low, high)
    on = OnRange(low, high, size, [matrix], partial(_updates, N, b.in_powers()))
    try:
        return on if on.at(middle).det() else None
    except ZeroDivisionError:
        return None


def _updates(N: list[Any], b: tuple[list[Any], Any], point: Any) -> list[list[Any]]:
    """b and the columns of A, which all are in U, but for factors."""
    sample = Sample(point)
    return [*columns_of(*b, sample), *columns_of(N, ONE, sample)]
