"""The part of a report on one learner: its verdict, what is told of it, its equations, its certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import sympy as sp
from markupsafe import Markup

from obliquetd.dynamics.stability import Stability
from obliquetd.errors import ObliqueTDError
from obliquetd.report.formulas import equations, prose, shown, typeset
from obliquetd.report.links import data_link
from obliquetd.report.over_symbols import PARTLY
from obliquetd.report.sketch import Ranges
from obliquetd.report.verdicts import LearnerRow, verdict_left_out

__all__ = ["LEFT_OUT", "STYLES", "LearnerSection", "section_of"]

LEFT_OUT = "left out"
"""In the place of a verdict that takes too long."""
STYLES = {PARTLY: "marginal", "stable nowhere": "unstable", "-": "undecided", LEFT_OUT: "undecided"}
"""The colours of verdicts that have none of their own."""
LARGEST_CERTIFICATE = 64
"""Weights up to which a page holds a learner's certificate."""


@dataclass(frozen=True)
class LearnerSection:
    """One learner: its verdict, its equations and the certificate, where there is one."""

    name: str
    verdict: str
    told: list[Markup]
    equations: list[Markup]
    certificate: str = ""
    problem: str = ""

    @property
    def style(self) -> str:
        """The class of its colour."""
        return STYLES.get(self.verdict, self.verdict)


def section_of(row: LearnerRow, ranges: Ranges) -> LearnerSection:
    """What the page says of one learner."""
    told = []
    if row.over is not None and row.over.where:
        told.append(prose(f"{row.over.verdict} {row.over.where}"))
    if len(row.cases) > 1:
        return LearnerSection(row.name, row.verdict, told, _by_case(row, ranges))
    dynamics = row.dynamics
    parts, _ = equations([*dynamics.equations(), (r"\theta", dynamics.fixed_point)], ranges)
    problem = "" if row.error is None else str(row.error)
    why = verdict_left_out(dynamics)
    if why:
        told.append(prose(why))
        return LearnerSection(row.name, LEFT_OUT, told, parts, problem=problem)
    try:
        stability: Stability = dynamics.stability
    except ObliqueTDError as error:
        return LearnerSection(row.name, "undecided", told, parts, problem=problem or str(error))
    link, weights = "", dynamics.expectation.rule.size
    if dynamics.expectation.arithmetic.kind == "exact" and weights > LARGEST_CERTIFICATE:
        told.append(
            prose(
                f"the certificate of {weights} weights is left out; otd.mean_dynamics(problem, "
                "learner).certificate() makes it"
            )
        )
    elif dynamics.expectation.arithmetic.kind == "exact":
        try:
            link = data_link(dynamics.certificate())
        except ObliqueTDError:
            link = ""
    told += _told(stability, ranges)
    if row.limit is not None:
        limit = prose(row.limit_text) if row.limit in (0, math.inf, sp.oo) else shown(row.limit)
        told.append(
            Markup("largest constant step size that is stable in mean square: {}").format(limit)
        )
    if row.bound:
        told.append(
            Markup(
                "every constant step size below {} is stable in mean square: a certified bound; the largest is "
                "not known, since the learner carries a trace"
            ).format(row.bound)
        )
    elif row.no_bound:
        told.append(prose(f"no bound on constant step sizes in mean square: {row.no_bound}"))
    verdict = row.verdict if row.over is not None else stability.verdict
    return LearnerSection(row.name, verdict, told, parts, link, problem)


def _by_case(row: LearnerRow, ranges: Ranges) -> list[Markup]:
    """A, b and theta in each case of the signs that the rule asks for."""
    out = []
    for case in row.cases:
        named = [*case.value.equations(), (r"\theta", case.value.fixed_point)]
        parts, missing = equations(named, ranges)
        heading = Markup('<p class="case">Where {}:</p>').format(typeset(case.condition))
        out += [heading, *parts, *(Markup("<p>{}</p>").format(prose(m)) for m in missing)]
    return out


def _unmoved(dimensions: int) -> str:
    one = dimensions == 1
    return f"no update moves theta in {'one direction' if one else f'{dimensions} directions'}"


def _told(stability: Stability, ranges: Ranges) -> list[Markup]:
    parts = []
    if stability.kernel_dimension:
        parts.append(prose(_unmoved(stability.kernel_dimension)))
    if stability.verdict == "stable" and stability.symmetric_part != "unknown":
        parts.append(prose(f"the symmetric part of A is {stability.symmetric_part}"))
    if stability.margin is not None:
        parts.append(prose(f"smallest real part {stability.margin:.4g}, in floats"))
    if isinstance(next(iter(stability.condition), None), str):  # of floats it is said in words
        parts.append(prose(f"floats do not tell: {'; '.join(stability.condition)}"))
    elif stability.condition:
        conditions = Markup(" and ").join(
            Markup("{} &gt; 0").format(shown(c, ranges)) for c in stability.condition
        )
        parts.append(Markup("stable where {}").format(conditions))
    return parts
