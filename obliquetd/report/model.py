"""The report on a model: everything that is known about it, on one page."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from obliquetd.algebra import cell_text, number_text
from obliquetd.dynamics.stability import Stability
from obliquetd.errors import ObliqueTDError
from obliquetd.formats import model_to_dict
from obliquetd.learners import LEARNERS, Learner, require_learners
from obliquetd.learners.check import require_averageable, require_runnable
from obliquetd.learners.words import TWIN
from obliquetd.problem import METHODS, PolicyEvaluation
from obliquetd.report.analysis import Analysis, analyze
from obliquetd.report.drawing import MAKERS, named
from obliquetd.report.mathml import equations, mathml
from obliquetd.report.mathml import value as formula
from obliquetd.report.noise import COLUMNS, LEGEND
from obliquetd.report.pictures import Picture
from obliquetd.report.verdicts import LearnerRow, condition_text

__all__ = ["LearnerSection", "ModelReport", "report_on"]

MOST_ROWS = 100
"""Transitions up to which the table is complete."""
LONGEST_NUMBER, LONGEST_FORMULA = 40, 80
"""Characters up to which a cell of the noise table is shown in full."""


@dataclass(frozen=True)
class LearnerSection:
    """One learner: its verdict, its equations and the certificate, where there is one."""

    name: str
    verdict: str
    told: str
    equations: list[Markup]
    certificate: str = ""
    problem: str = ""


@dataclass
class ModelReport:
    """What the page shows; ``gaps`` says what was left out, and why."""

    title: str
    problem: PolicyEvaluation
    analysis: Analysis
    matrices: list[Markup]
    learners: list[LearnerSection]
    pictures: dict[str, Picture] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)

    @property
    def transitions(self) -> list[list[str]]:
        """The first rows of the transition table."""
        rows = list(self.problem.mdp.transitions)[:MOST_ROWS]
        return [[str(x) for x in row[:3]] + [formula(x) for x in row[3:]] for row in rows]

    @property
    def hidden_transitions(self) -> int:
        """How many rows are not shown."""
        return max(0, len(self.problem.mdp.table) - MOST_ROWS)

    @property
    def policies(self) -> dict[str, tuple[list[str], list[list[str]]]]:
        """Target and behaviour as tables: a heading, and a row for each state."""
        policies = {"target": self.problem.target}
        if not self.problem.on_policy:
            policies["behaviour"] = self.problem.behavior
        actions = self.problem.mdp.actions
        heading = ["state", *map(str, actions)]
        return {
            name: (heading, [
                [str(s), *(formula(row.get(a, 0)) for a in actions)]
                for s, row in list(policy.items())[:MOST_ROWS]
            ])
            for name, policy in policies.items()
        }  # fmt: skip

    @property
    def noun(self) -> str:
        """What the rows of all matrices stand for."""
        return self.problem.native.noun

    @property
    def states(self) -> tuple[list[str], list[list[str]]]:
        """For each state its weight, value, best approximation and spread of the return."""
        names = {"xi": r"\xi", "v_pi": r"v_\pi", "best": r"\Pi v_\pi",
                 "return_variance": r"\mathrm{Var}"}  # fmt: skip
        columns = {k: v for k, v in self.analysis.columns.items() if k in names}
        heading = [self.noun, *(mathml(names[k]) for k in columns)]
        rows = [
            [str(s), *("open" if v[i] is None else formula(v[i]) for v in columns.values())]
            for i, s in enumerate(self.problem.states[:MOST_ROWS])
        ]
        return heading, rows

    @property
    def comparison(self) -> tuple[list[str], list[list[str]]]:
        """The fixed points by formula."""
        heading, *rows = self.analysis.comparison.cells(width=18)
        return heading, rows

    @property
    def noise(self) -> tuple[list[str], list[list[Any]]]:
        """How noisy each learner is: its numbers, or in words why there are none."""
        found = self.analysis.noise
        if found is None:
            return [], []
        rows = [
            [
                row.name,
                row.told,
                *(_short(row.numbers[k]) if k in row.numbers else row.words[k] for k in COLUMNS),
            ]
            for row in found.rows
        ]
        return ["learner", "long-run noise", *COLUMNS.values()], rows

    @property
    def noise_legend(self) -> str:
        """What its columns mean."""
        return LEGEND

    @property
    def noise_notes(self) -> list[str]:
        """Why noise is infinite or not known, once each with all that it concerns."""
        told: dict[str, list[str]] = {}
        for name, why in (self.analysis.noise.notes if self.analysis.noise else {}).items():
            told.setdefault(why, []).append(name)
        return [f"{', '.join(names)}: {why}" for why, names in told.items()]

    @property
    def model_link(self) -> str:
        """The model as a file to download."""
        return data_link(model_to_dict(self.problem))

    @property
    def chain(self) -> str:
        """The classes of the behaviour chain, in a sentence."""
        classes = self.problem.chain.classes
        closed = [c for c in classes if c.closed]
        told = ", ".join(f"{len(c.states)} states of period {c.period}" for c in closed)
        transient = len(self.problem.chain.transient)
        return (
            f"{len(closed)} recurrent class{'es' if len(closed) != 1 else ''} ({told}), "
            f"{transient} transient state{'s' if transient != 1 else ''}"
        )


def _short(value: Any) -> Any:
    """A number or formula as MathML; a decimal of one with many digits, the size of one with many letters."""
    text = number_text(value)
    symbolic = bool(getattr(value, "free_symbols", ()))
    if len(text) <= (LONGEST_FORMULA if symbolic else LONGEST_NUMBER):
        return formula(value)
    return f"a formula of {len(text)} characters" if symbolic else cell_text(value, beside=False)


def data_link(data: Any) -> str:
    """JSON data as a link that holds it."""
    text = json.dumps(data, indent=1, allow_nan=False).encode()
    return "data:application/json;base64," + base64.b64encode(text).decode()


def report_on(
    problem: PolicyEvaluation, title: str = "model", learners: Learner | Iterable[Learner] = ()
) -> ModelReport:
    """Gather a report.

    Parameters
    ----------
    problem : PolicyEvaluation
    title : str
    learners : Learner or iterable of them
        Shown beside those of the package, in every table and picture.

    Raises
    ------
    LearnerError
        For a learner whose rule cannot be simulated or averaged.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> found = report_on(two_state(reward=1))
    >>> [(section.name, section.verdict) for section in found.learners][:3]
    [('TD', 'unstable'), ('SETD', 'stable'), ('ETD', 'stable')]
    >>> sorted(found.pictures)
    ['curves', 'eigenvalues', 'geometry', 'graph', 'regions']
    """
    own = require_learners(learners)
    for learner in own:
        require_runnable(learner)
        require_averageable(learner)
    listed = (kind() for kind in LEARNERS.values() if kind.listed)
    shown = [
        x for x in listed if not x.reads & TWIN
    ]  # double sampling takes every pair of outcomes
    analysis = analyze(problem, METHODS, named((*shown, *own)))
    matrices, gaps = equations(problem.equations())
    sections = [_section(row) for row in analysis.learners]
    report = ModelReport(title, problem, analysis, matrices, sections, gaps=gaps)
    report.gaps += [f"{what}: {why}" for what, why in analysis.problems.items()]
    for name, make in MAKERS.items():
        try:
            made = make(analysis, own)
        except ObliqueTDError as error:
            made = str(error)
        if isinstance(made, str):
            report.gaps.append(f"{name}: {made}")
        else:
            report.pictures[name] = made
    report.gaps = list(dict.fromkeys(report.gaps))
    return report


def _section(row: LearnerRow) -> LearnerSection:
    dynamics = row.dynamics
    parts, _ = equations([*dynamics.equations(), (r"\theta", dynamics.fixed_point)])
    problem = "" if row.error is None else str(row.error)
    try:
        stability: Stability = dynamics.stability
    except ObliqueTDError as error:
        return LearnerSection(row.name, "undecided", "", parts, problem=problem or str(error))
    link = ""
    if dynamics.expectation.arithmetic.kind == "exact":
        try:
            link = data_link(dynamics.certificate())
        except ObliqueTDError:
            link = ""
    told = _told(stability)
    if row.limit is not None:
        told += f"{'; ' if told else ''}largest constant step size that is stable in mean square: {row.limit_text}"
    return LearnerSection(row.name, stability.verdict, told, parts, link, problem)


def _told(stability: Stability) -> str:
    parts = []
    if stability.kernel_dimension:
        parts.append(f"no update moves theta in {stability.kernel_dimension} of its dimensions")
    if stability.verdict == "stable":
        parts.append(f"the symmetric part of A is {stability.symmetric_part}")
    if stability.margin is not None:
        parts.append(f"smallest real part {stability.margin:.4g}, in floats")
    if stability.condition:
        parts.append(condition_text(stability))
    return "; ".join(parts)
