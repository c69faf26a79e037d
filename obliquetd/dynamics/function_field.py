"""Where a learner is stable, over the field of functions of one symbol: cells, polynomials and their roots.

:mod:`obliquetd.dynamics.regions` says why these are enough.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import Any

import sympy as sp

from obliquetd.algebra.cells import (
    CellArithmetic,
    SampledSigns,
    break_points,
    rational_between,
    sign_cells,
)
from obliquetd.algebra.roots import in_order
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.dynamics.stability import verdict_of
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["Found", "crossings", "exactly"]

y = sp.Dummy("y")

Found = tuple[list[sp.Set], set[Any], set[Any]]
"""Open or closed ranges that are stable, points where that changes, and those where U may be smaller."""


def exactly(
    problem: PolicyEvaluation,
    learner: Learner,
    symbol: sp.Symbol,
    sampling: str | None,
    inside: sp.Interval,
) -> Found:
    """Steps 1 and 2 of :mod:`obliquetd.dynamics.regions`."""
    pieces: list[sp.Set] = []
    ends, breaks = {inside.start, inside.end}, set()
    on_cell = functools.partial(_on_cell, problem, learner, sampling)
    for cell in sign_cells(inside.start, inside.end, symbol, on_cell):
        polynomials = cell.value.polynomials
        breaks |= set(break_points(cell.left, cell.right, cell.value.critical, symbol))
        for coefficients in polynomials:
            ends |= set(break_points(cell.left, cell.right, crossings(coefficients), symbol))
        inner = in_order(e for e in ends | breaks if cell.left <= e <= cell.right)
        for a, b in itertools.pairwise(inner):
            at = {symbol: rational_between(a, b)}
            verdicts = [verdict_of([c.subs(at) for c in p]) for p in polynomials]
            if verdicts and all(v == "stable" for v in verdicts):
                pieces.append(sp.Interval.open(a, b))
    return pieces, ends, breaks


@dataclass(frozen=True)
class OnCell:
    """What is known on a range of the symbol where no sign changes that the rule asks for.

    ``polynomials`` has the characteristic polynomial of A on U, one for each closed class that a
    trajectory may be in and where something moves; ``critical`` what may make U smaller.
    """

    polynomials: list[list[Any]]
    critical: list[Any]


def _on_cell(
    problem: PolicyEvaluation, learner: Learner, sampling: str | None, signs: SampledSigns
) -> OnCell:
    arithmetic = CellArithmetic(signs)
    dyn = MeanDynamics(problem, learner, sampling, arithmetic)
    polynomials, critical = [], []
    for found in (each.expectation for each in dyn.classes):
        critical += [arithmetic.public(c) for c in found.span.critical]
        if found.span.dimension:
            polynomials.append([arithmetic.public(c) for c in found.charpoly()])
    return OnCell(polynomials, critical)


def crossings(coefficients: list[Any]) -> list[Any]:
    """Formulas outside whose roots and poles stability cannot change on a cell."""
    common = sp.lcm_list([sp.fraction(c)[1] for c in coefficients])
    cleared = [sp.cancel(c * common) for c in coefficients]
    candidates = [common, cleared[-1]]
    if len(cleared) > 2:
        even = sum(c * y ** (i // 2) for i, c in enumerate(cleared[::-1]) if i % 2 == 0)
        odd = sum(c * y ** (i // 2) for i, c in enumerate(cleared[::-1]) if i % 2)
        candidates.append(sp.resultant(sp.Poly(even, y), sp.Poly(odd, y)))
    return [c for c in map(sp.sympify, candidates) if c.free_symbols]
