"""The verdict on a learner whose stability depends on symbols: everywhere, nowhere, or where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from obliquetd.algebra.sign_cases import SignCase
from obliquetd.dynamics import MeanDynamics, stability_region
from obliquetd.dynamics.plane import plane_of
from obliquetd.dynamics.regions import stability_map
from obliquetd.errors import ObliqueTDError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.report.intervals import where_text
from obliquetd.report.plain import formula_text
from obliquetd.report.window import Window, window_of

__all__ = ["PARTLY", "PLANE_SIZE", "OverSymbols", "over_symbols"]

LINE_SIZE = (6, 4)
"""States and features up to which the region in one symbol is computed."""
PLANE_SIZE = (4, 2)
"""States and features up to which the plane of two symbols is."""
PARTLY = "stable in part"


@dataclass(frozen=True)
class OverSymbols:
    """What is known over the ranges of the symbols.

    Attributes
    ----------
    verdict : {"stable", "unstable", "stable nowhere", "stable in part", "undecided"}
    where : str
        The rest of the sentence that the verdict begins; may be empty.
    """

    verdict: str
    where: str = ""


def over_symbols(
    problem: PolicyEvaluation, learner: Learner, cases: Sequence[SignCase[MeanDynamics]]
) -> OverSymbols:
    """The verdict for all values of the symbols.

    Parameters
    ----------
    problem : PolicyEvaluation
    learner : Learner
    cases : sequence of SignCase
        From :func:`obliquetd.dynamics.cases.dynamics_cases`.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.dynamics.cases import dynamics_cases
    >>> from obliquetd.learners import ETD, SETD, TD
    >>> problem = two_state("gamma")
    >>> for learner in (TD(), SETD(), ETD()):
    ...     print(over_symbols(problem, learner, dynamics_cases(problem, learner)))
    OverSymbols(verdict='stable in part', where='for gamma in [0, 5/6)')
    OverSymbols(verdict='stable', where='for gamma in [0, 1)')
    OverSymbols(verdict='stable', where='for gamma in [0, 1)')
    """
    found = [case.value.stability for case in cases]
    if len(found) == 1 and found[0].everywhere:
        return OverSymbols(found[0].verdict, f"for {found[0].everywhere}")
    n, d = problem.native.Phi.shape
    size = (n, d)
    try:
        window = window_of(problem, learner, cases)
        if len(window.symbols) == 1 and _fits(size, LINE_SIZE):
            return _on_a_line(window, learner)
        if len(window.symbols) == 2 and _fits(size, PLANE_SIZE):
            return _on_a_plane(window, learner)
    except ObliqueTDError:
        pass
    if all(s.everywhere and s.verdict == found[0].verdict for s in found):
        return OverSymbols(found[0].verdict, "in each case below")
    return OverSymbols("undecided")


def _fits(size: tuple[int, int], limit: tuple[int, int]) -> bool:
    return size[0] <= limit[0] and size[1] <= limit[1]


def _on_a_line(window: Window, learner: Learner) -> OverSymbols:
    (symbol,), (whole,) = window.symbols, window.domains
    region = stability_region(window.problem, learner, symbol)
    if region == whole:
        return OverSymbols("stable", f"{where_text(whole, symbol)}{window.whatever}")
    if region is sp.S.EmptySet:  # for special values of the others less may move
        others = f" and almost all {' and '.join(map(str, window.idle))}" if window.idle else ""
        return OverSymbols("stable nowhere", f"{where_text(whole, symbol)}{others}")
    return OverSymbols(PARTLY, f"{where_text(region, symbol)}{window.whatever}")


def _on_a_plane(window: Window, learner: Learner) -> OverSymbols:
    symbols, ranges = window.symbols, window.ranges
    found = stability_map(window.problem, learner, symbols, ranges, resolution=1)  # type: ignore[arg-type]
    plane = plane_of(found, ranges)
    verdicts = plane.verdicts - {None}
    inside = f"for {window.told}{window.whatever}"
    if verdicts == {True}:
        drawn = {p for strip in plane.strips for p in strip.curves} & set(found.boundary)
        first = symbols[0]
        upright = {p for p in found.boundary if p.free_symbols == {first}}
        left, right = ranges[0]
        drawn |= {p for p in upright if sp.Poly(p, first).count_roots(left, right)}
        edges = {s - end for s, span in zip(symbols, ranges, strict=True) for end in span}
        curves = sorted(drawn - edges, key=sp.default_sort_key)
        but = " or ".join(f"{formula_text(c)} = 0" for c in curves)
        if but:  # singular there, or signs change: the cells beside a curve say nothing of it
            return OverSymbols(PARTLY, f"{inside}; nothing is claimed where {but}")
        if window.is_cut:
            return OverSymbols(PARTLY, f"{inside}, and not looked at beyond")
        return OverSymbols("stable", inside)
    if verdicts == {False}:
        if window.is_cut:
            return OverSymbols("undecided", f"unstable {inside}, and not looked at beyond")
        return OverSymbols("stable nowhere", inside)
    return OverSymbols(PARTLY, f"{inside}; the picture of the plane shows where")
