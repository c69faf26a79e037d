"""The report on a model: everything that is known about it, on one page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sympy as sp
from markupsafe import Markup

from obliquetd.errors import ObliqueTDError
from obliquetd.formats import model_to_dict
from obliquetd.learners import LEARNERS, Learner, require_learners
from obliquetd.learners.check import require_averageable, require_runnable
from obliquetd.learners.words import TWIN
from obliquetd.mdp import Policy
from obliquetd.problem import METHODS, PolicyEvaluation
from obliquetd.problem.compare import COLUMNS as COMPARED
from obliquetd.problem.compare import ROUNDED
from obliquetd.report.analysis import Analysis, analyze, introduction
from obliquetd.report.drawing import MAKERS, named
from obliquetd.report.formulas import equations, named_case, prose, shown, typeset
from obliquetd.report.links import data_link
from obliquetd.report.mathml import mathml
from obliquetd.report.noise import CASES, COLUMNS, LEGEND
from obliquetd.report.pictures import Picture
from obliquetd.report.policies import summary
from obliquetd.report.sections import LEFT_OUT, STYLES, LearnerSection, section_of
from obliquetd.report.sketch import Ranges, ranges_of

__all__ = ["ModelReport", "report_on"]

MOST_ROWS = 100
"""Transitions up to which the table is complete."""
HEADINGS = {
    "squared_bias": Markup("squared bias"),
    "variance": Markup("{} variance, averaged").format(mathml("t")),
    "constant_step_variance": Markup("variance {}").format(mathml(r"/\,\alpha")),
}
"""The numbers of the noise, typeset."""
LONG_TABLE = 12
"""Rows up to which a table is open."""


@dataclass
class ModelReport:
    """What the page shows.

    ``gaps`` says what was left out, and why, ``asked`` names the learners, and ``ranges`` has where each symbol
    ranges in the plots.
    """

    title: str
    problem: PolicyEvaluation
    analysis: Analysis
    matrices: list[Markup]
    learners: list[LearnerSection]
    pictures: dict[str, Picture] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)
    remarks: Sequence[str] = ()
    asked: Sequence[str] = ()
    ranges: Ranges = field(default_factory=dict)

    @property
    def verdicts(self) -> list[tuple[str, str, str]]:
        """What the page opens with: each learner, the class of its colour, and the verdict in a word."""
        if self.learners:
            return [(x.name, x.style, x.verdict) for x in self.learners]
        return [(name, STYLES[LEFT_OUT], LEFT_OUT) for name in self.asked]

    @property
    def no_verdicts(self) -> str:
        """Why there is none; empty where there are some."""
        found = self.analysis.problems
        return "" if self.learners else found.get("learners") or found.get("xi", "")

    @cached_property
    def transitions(self) -> tuple[list[str], list[list[Any]]]:
        """The first rows of the transition table; without own discounts where all are 1."""
        rows = list(self.problem.mdp.transitions)[:MOST_ROWS]
        heading = ["state", "action", "next state", "probability", "reward", "own discount"]
        ends = any(row.discount != 1 for row in self.problem.mdp.transitions)
        last = 6 if ends else 5
        cells = [[*map(str, row[:3]), *(self._shown(x) for x in row[3:last])] for row in rows]
        return heading[:last], cells

    @property
    def hidden_transitions(self) -> int:
        """How many rows are not shown."""
        return max(0, len(self.problem.mdp.table) - MOST_ROWS)

    @cached_property
    def policies(self) -> dict[str, Any]:
        """Target and behaviour: in a sentence, or as a heading and a row for each state."""
        policies = {"target": self.problem.target}
        if not self.problem.on_policy:
            policies["behaviour"] = self.problem.behavior
        return {
            name: summary(p, self.problem.mdp) or self._table(p) for name, p in policies.items()
        }

    def _table(self, policy: Policy) -> tuple[list[str], list[list[Any]]]:
        actions = self.problem.mdp.actions
        rows = list(policy.items())[:MOST_ROWS]
        return (
            ["state", *map(str, actions)],
            [[str(s), *(self._shown(row.get(a, 0)) for a in actions)] for s, row in rows],
        )

    def _shown(self, value: Any) -> Markup:
        return shown(value, self.ranges)

    @property
    def noun(self) -> str:
        """What the rows of all matrices stand for."""
        return self.problem.native.noun

    @property
    def states_caption(self) -> str:
        """What the table by state holds."""
        told = {"xi": "weight", "v_pi": "value", "best": "best approximation",
                "return_variance": "variance of the return"}  # fmt: skip
        return f"By {self.noun}: " + ", ".join(told[k] for k in told if k in self.analysis.columns)

    @cached_property
    def states(self) -> tuple[list[str], list[list[Any]]]:
        """For each state its weight, value, best approximation and spread of the return."""
        names = {"xi": r"\xi", "v_pi": r"v_\pi", "best": r"\Pi v_\pi",
                 "return_variance": r"\mathrm{Var}"}  # fmt: skip
        columns = {k: v for k, v in self.analysis.columns.items() if k in names}
        heading = [self.noun, *(mathml(names[k]) for k in columns)]
        rows = [
            [str(s), *("open" if v[i] is None else self._shown(v[i]) for v in columns.values())]
            for i, s in enumerate(self.problem.states[:MOST_ROWS])
        ]
        return heading, rows

    @cached_property
    def comparison(self) -> tuple[list[str], list[list[Any]]]:
        """The fixed points by formula."""
        rows = self.analysis.comparison.methods
        keys = [key for key in COMPARED if any(key in row.quantities for row in rows)]
        cells = [
            [
                row.name,
                *(
                    ROUNDED
                    if row.is_rounding(k)
                    else self._shown(row.quantities[k])
                    if k in row.quantities
                    else "-"
                    for k in keys
                ),
            ]
            for row in rows
        ]
        return ["method", *(COMPARED[k] for k in keys)], cells if keys else []

    @property
    def legend(self) -> Markup:
        """What the columns of the fixed points mean."""
        told = {
            "criterion": ("criterion {}", r"\|\Lambda^\top X - C\|_F^2"),
            "distance": ("distance {}", r"\|X - X^*\|_F"),
            "angle": ("angle between the spans of {}", "X, X^*"),
            "worst_case": (
                "worst case: supremum over rewards of {}",
                r"\|\hat v - v\| / \|\Pi v - v\|",
            ),
        }
        rows = self.analysis.comparison.methods
        parts = [x for key, x in told.items() if any(key in row.quantities for row in rows)]
        return Markup("; ").join(Markup(text).format(mathml(latex)) for text, latex in parts)

    @cached_property
    def noise(self) -> tuple[list[str], list[list[Any]]]:
        """How noisy each learner is: its numbers, or in words why there are none."""
        found = self.analysis.noise
        if found is None:
            return [], []
        rows = [
            [
                named_case(row.name, row.where),
                row.told,
                *(
                    ROUNDED
                    if row.is_rounding(k)
                    else shown(row.numbers[k], self.ranges, row.where)
                    if k in row.numbers
                    else row.words[k]
                    for k in COLUMNS
                ),
            ]
            for row in found.rows
        ]
        return ["learner", "long-run noise", *(HEADINGS[k] for k in COLUMNS)], rows

    @property
    def noise_legend(self) -> Markup:
        """What its columns mean, and that they hold in cases."""
        told = LEGEND.replace("bias^2:", "squared bias:")
        found = self.analysis.noise
        if found is not None and any(row.where != sp.true for row in found.rows):
            told += f" {CASES}"
        return prose(told)

    @property
    def noise_notes(self) -> list[str]:
        """Why noise is infinite or not known, once each with all that it concerns."""
        told: dict[str, list[str]] = {}
        for name, why in (self.analysis.noise.notes if self.analysis.noise else {}).items():
            told.setdefault(why, []).append(name)
        return [f"{', '.join(names)}: {why}" for why, names in told.items()]

    @property
    def introduction(self) -> Markup:
        """The problem in a line."""
        kind = {"float": "floating-point numbers", "exact": "exact numbers", "symbolic": "symbols"}
        parts = introduction(self.problem).partition("(")[2][:-1].split(", ")
        told = [x for x in parts if x not in kind and not x.startswith("discount")]
        discount = Markup('<span class="nobr">discount {},</span>').format(
            typeset(self.problem.discount)
        )
        last = Markup("{} {}").format(discount, kind[self.problem.arithmetic])
        return Markup(", ").join([*told, last])

    @property
    def model_link(self) -> str:
        """The model as a file to download."""
        return data_link(model_to_dict(self.problem))

    @property
    def chain(self) -> str:
        """The classes of the behaviour chain, in a sentence."""
        classes = self.problem.chain.classes
        closed = [c for c in classes if c.closed]
        told = ", ".join(
            f"{len(c.states)} state{'s' * (len(c.states) != 1)} of period {c.period}"
            for c in closed
        )
        transient = len(self.problem.chain.transient)
        return (
            f"{len(closed)} recurrent class{'es' if len(closed) != 1 else ''} ({told}), "
            f"{transient} transient state{'s' if transient != 1 else ''}"
        )


def report_on(
    problem: PolicyEvaluation,
    title: str = "model",
    learners: Learner | Iterable[Learner] = (),
    remarks: Sequence[str] = (),
) -> ModelReport:
    """Gather a report.

    Parameters
    ----------
    problem : PolicyEvaluation
    title : str
    learners : Learner or iterable of them
        Shown beside those of the package, in every table and picture.
    remarks : sequence of str
        Where the model comes from, as sentences under the title.

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
    asked = named((*shown, *own))
    analysis = analyze(problem, METHODS, asked)
    ranges = ranges_of(problem, asked.values())
    matrices, gaps = equations(problem.equations(), ranges, problem.names())
    sections = [section_of(row, ranges) for row in analysis.learners]
    report = ModelReport(
        title, problem, analysis, matrices, sections, gaps=gaps, remarks=remarks, asked=list(asked),
        ranges=ranges,
    )  # fmt: skip
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
