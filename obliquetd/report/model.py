"""The report on a model: everything that is known about it, on one page."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy as sp
from markupsafe import Markup

from obliquetd.algebra import cell_text
from obliquetd.dynamics.stability import Stability
from obliquetd.errors import ObliqueTDError
from obliquetd.experiments import simulate
from obliquetd.formats import model_to_dict
from obliquetd.learners import ETD, LEARNERS, SETD, TD, Learner, require_learners
from obliquetd.learners.check import require_averageable, require_runnable
from obliquetd.learners.words import TWIN
from obliquetd.plotting import (
    eigenvalues,
    learning_curves,
    mdp_graph,
    projections,
    stability_regions,
)
from obliquetd.problem import METHODS, PolicyEvaluation
from obliquetd.report.analysis import Analysis, analyze
from obliquetd.report.mathml import equations, mathml
from obliquetd.report.mathml import value as formula
from obliquetd.report.pictures import Picture, as_svg
from obliquetd.reproduction.study import expected_errors

__all__ = ["LearnerSection", "ModelReport", "report_on"]

DRAWN = (TD(), SETD(), ETD())
"""Whose regions and curves are drawn, beside the reader's own: they differ in one word."""
MOST_DRAWN = 14
"""States up to which the graph is drawn."""
MOST_ROWS = 100
"""Transitions up to which the table is complete."""
REGION_SIZE = (6, 4)
"""States and features up to which regions in the discount are computed."""
CURVE_STEPS, CURVE_RUNS = 2000, 20


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
    analysis = analyze(problem, METHODS, _named((*shown, *own)))
    matrices, gaps = equations(problem.equations())
    sections = [_section(row.name, row.dynamics) for row in analysis.learners]
    report = ModelReport(title, problem, analysis, matrices, sections, gaps=gaps)
    report.gaps += [f"{what}: {why}" for what, why in analysis.problems.items()]
    makers: Mapping[str, Callable[[], Picture | str]] = {
        "graph": lambda: _graph(problem),
        "geometry": lambda: _geometry(problem),
        "eigenvalues": lambda: _eigenvalues(analysis),
        "regions": lambda: _regions(problem, own),
        "curves": lambda: _curves(analysis, own),
    }
    for name, make in makers.items():
        try:
            made = make()
        except ObliqueTDError as error:
            made = str(error)
        if isinstance(made, str):
            report.gaps.append(f"{name}: {made}")
        else:
            report.pictures[name] = made
    report.gaps = list(dict.fromkeys(report.gaps))
    return report


def _named(learners: Iterable[Learner], taken: Collection[str] = ()) -> dict[str, Learner]:
    """By their labels, and numbered where two are called the same."""
    out: dict[str, Learner] = {}
    for learner in learners:
        name, k = learner.label, 2
        while name in out or name in taken:
            name, k = f"{learner.label} ({k})", k + 1
        out[name] = learner
    return out


def _section(name: str, dynamics: Any) -> LearnerSection:
    try:
        stability: Stability = dynamics.stability
    except ObliqueTDError as error:
        return LearnerSection(name, "undecided", "", [], problem=str(error))
    parts, _ = equations([*dynamics.equations(), (r"\theta", dynamics.fixed_point)])
    link = ""
    if dynamics.expectation.arithmetic.kind == "exact":
        try:
            link = data_link(dynamics.certificate())
        except ObliqueTDError:
            link = ""
    return LearnerSection(name, stability.verdict, _told(stability), parts, link)


def _told(stability: Stability) -> str:
    parts = []
    if stability.kernel_dimension:
        parts.append(f"no update moves theta in {stability.kernel_dimension} of its dimensions")
    if stability.verdict == "stable":
        parts.append(f"the symmetric part of A is {stability.symmetric_part}")
    if stability.margin is not None:
        parts.append(f"smallest real part {stability.margin:.4g}, in floats")
    if stability.condition:
        text = "stable where " + " and ".join(f"{c} > 0" for c in stability.condition)
        parts.append(text if len(text) <= 300 else f"a condition of {len(text)} characters")
    return "; ".join(parts)


def _graph(problem: PolicyEvaluation) -> Picture | str:
    n = len(problem.states)
    if n > MOST_DRAWN:
        return f"not drawn: {n} states, more than {MOST_DRAWN}"
    about = (
        f"A graph of {n} states and {len(problem.mdp.table)} outcomes; the table of transitions "
        "has the same numbers."
    )
    return as_svg(mdp_graph(problem), "The model as a graph", about)


def _geometry(problem: PolicyEvaluation) -> Picture | str:
    ax = projections(problem)
    about = (
        "The value function, the span of the features, and the point to which each method projects "
        "it. Axes are scaled by the root of the state weights, so the orthogonal projection is "
        "perpendicular. Crosses are T v of each fixed point."
    )
    return as_svg(ax, "The geometry of the projections", about)


def _eigenvalues(analysis: Analysis) -> Picture | str:
    named = {}
    for row in analysis.learners:
        try:
            row.dynamics.spectrum()
        except ObliqueTDError:
            continue
        named[row.name] = row.dynamics
    if not named:
        return "no learner has a matrix A of numbers"
    about = "Eigenvalues of A for each learner; one in the shaded left half makes it unstable."
    return as_svg(eigenvalues(named), "Eigenvalues of the expected updates", about)


def _regions(problem: PolicyEvaluation, own: Sequence[Learner]) -> Picture | str:
    n, d = problem.native.Phi.shape
    if problem.arithmetic == "float" or n > REGION_SIZE[0] or d > REGION_SIZE[1]:
        return (
            f"not computed for {n} states and {d} features in {problem.arithmetic} arithmetic; up to "
            f"{REGION_SIZE[0]} states and {REGION_SIZE[1]} features, exact, they are"
        )
    gamma = sp.Symbol("gamma")
    if problem.symbols:
        if problem.symbols != (gamma,):
            return "regions in the discount need no other symbol"
        free = problem
    else:
        free = problem.replace(discount=gamma)
    drawn = _named((*DRAWN, *own))
    ax = stability_regions(free, list(drawn.values()), gamma)
    about = "; ".join(
        f"{name}: {text.get_text()}" for name, text in zip(drawn, ax.texts, strict=True)
    )
    return as_svg(ax, "Discounts for which learning is stable", f"Stable for gamma in: {about}.")


def _curves(analysis: Analysis, own: Sequence[Learner]) -> Picture | str:
    problem = analysis.problem
    if problem.arithmetic == "symbolic":
        return "learning curves need numbers; substitute them for the symbols"
    floats = problem.replace(arithmetic="float")
    alpha = 0.05 / max(float((floats.Phi**2).sum(axis=1).max()), 1e-12)
    chosen: dict[str, Learner] = {"TD": TD(alpha), "SETD": SETD(alpha), "ETD": ETD(alpha / 4)}
    for name, learner in _named(own, chosen).items():
        given: Any = learner  # every learner is a dataclass
        chosen[name] = replace(given, alpha=alpha) if learner.alpha is None else learner
    silent = all(row[4] == 0 for row in problem.mdp.transitions)
    theta0 = [1.0] * floats.Phi.shape[1] if silent else None  # from 0 nothing would move
    found = simulate(floats, chosen, CURVE_STEPS, CURVE_RUNS, seed=0, theta0=theta0)
    small = len(problem.states) <= MOST_DRAWN and floats.Phi.shape[1] <= MOST_DRAWN
    exact = expected_errors(floats, chosen, CURVE_STEPS, theta0) if small else {}
    ax = learning_curves(found, exact={name: lines["rmse"] for name, lines in exact.items()})
    sizes = ", ".join(f"{name} {x.step_size(0):.3g}" for name, x in chosen.items())
    squares = {name: (c.rmse[:, -1] ** 2).mean() for name, c in found.curves.items()}
    averages = {n: np.sqrt(s) if exact else found[n].mean()[-1] for n, s in squares.items()}
    ends = ", ".join(f"{name} {value:.4g}" for name, value in averages.items())
    about = (
        f"RMSE over {CURVE_STEPS} steps, {'root mean square' if exact else 'mean'} of {CURVE_RUNS} runs, "
        f"with step sizes {sizes}. It ends at {ends}."
    )
    if silent:
        about += " Every reward is 0, so weights of 0 are the solution; the runs begin with weights of 1."
    if exact:
        about += " Dashed: the root of the exact expected square error."
    limits = [
        f"{row.name} {cell_text(row.limit, beside=False)}"
        for row in analysis.learners
        if row.name in chosen and row.limit is not None
    ]
    if limits:
        about += f" Largest constant step size that is stable in mean square: {', '.join(limits)}."
    return as_svg(ax, "Learning curves", about)
