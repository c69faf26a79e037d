"""The pictures of a report on a model; a maker returns a picture, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.domains import baird_star
from obliquetd.dynamics.cases import dynamics_cases
from obliquetd.errors import ObliqueTDError
from obliquetd.experiments import simulate
from obliquetd.learners import ETD, SETD, TD, Learner
from obliquetd.plotting import (
    eigenvalues,
    learning_curves,
    mdp_graph,
    projections,
    stability_regions,
    stability_regions_2d,
)
from obliquetd.problem import PolicyEvaluation
from obliquetd.report.analysis import Analysis
from obliquetd.report.pictures import Picture, as_svg
from obliquetd.report.window import idle_symbols, window_of, without
from obliquetd.reproduction.study import expected_errors

__all__ = ["MAKERS", "named"]

DRAWN = (TD(), SETD(), ETD())
"""Whose regions and curves are drawn, beside the reader's own: they differ in one word."""
MOST_EXACT = 14
"""States and features up to which curves have their exact expectation beside them."""
REGION_SIZE = (6, 4)
"""States and features up to which regions in the discount are computed."""
PLANE_SIZE = (4, 2)
"""States and features up to which the plane of two symbols is computed."""
CURVE_STEPS, CURVE_RUNS = 2000, 20


def named(learners: Iterable[Learner], taken: Collection[str] = ()) -> dict[str, Learner]:
    """By their labels, and numbered where two are called the same."""
    out: dict[str, Learner] = {}
    for learner in learners:
        name, k = learner.label, 2
        while name in out or name in taken:
            name, k = f"{learner.label} ({k})", k + 1
        out[name] = learner
    return out


def _graph(problem: PolicyEvaluation) -> Picture:
    about = (
        f"A graph of {len(problem.mdp.states)} states and {len(problem.mdp.table)} outcomes; the table "
        "of transitions has the same numbers."
    )
    ax = mdp_graph(problem)
    legend = ax.get_legend()
    told = [text.get_text() for text in legend.get_texts()] if legend else []
    if f"{len(problem.mdp.table)} outcomes; the table of transitions" in told:
        about += " Its edges have no labels, for which there is no room; the legend has the probabilities."
    return as_svg(ax, "The model as a graph", about, scrolls=True)


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
        return "none of the learners above has a matrix A of numbers, or all of them were left out for their size"
    about = (
        "Eigenvalues of A, a row for each learner; one in the hatched left half makes it unstable. Hollow "
        "marks are directions in which no update moves; a number says how often an eigenvalue occurs."
    )
    return as_svg(eigenvalues(named), "Eigenvalues of the expected updates", about)


def _regions(analysis: Analysis, own: Sequence[Learner]) -> Picture | str:
    problem = analysis.problem
    n, d = problem.native.Phi.shape
    if problem.arithmetic == "float" or n > REGION_SIZE[0] or d > REGION_SIZE[1]:
        return (
            f"not computed for {n} states and {d} features in {problem.arithmetic} arithmetic; they are "
            f"for at most {REGION_SIZE[0]} states and {REGION_SIZE[1]} features, in exact arithmetic"
        )
    gamma = sp.Symbol("gamma")
    rows = [row for row in analysis.learners if row.cases]
    idle = idle_symbols(problem, [case for row in rows for case in row.cases])
    free = without(problem, idle)
    if not free.symbols:
        free = free.replace(discount=gamma)
    elif len(free.symbols) == 2:
        return _plane(problem, own)
    elif free.symbols != (gamma,):
        return "regions in the discount need no other symbol"
    drawn = named((*DRAWN, *own))
    ax = stability_regions(free, list(drawn.values()), gamma)
    about = "; ".join(
        f"{name}: {text.get_text()}" for name, text in zip(drawn, ax.texts, strict=True)
    )
    whatever = f", whatever {' and '.join(map(str, idle))} may be," if idle else ""
    title = "Discounts for which learning is stable"
    return as_svg(ax, title, f"Stable{whatever} for gamma in: {about}.")


def _plane(problem: PolicyEvaluation, own: Sequence[Learner]) -> Picture | str:
    """The plane of two symbols, for the reader's own learner, or else for TD."""
    n, d = problem.native.Phi.shape
    if n > PLANE_SIZE[0] or d > PLANE_SIZE[1]:
        return (
            f"not computed in two symbols for {n} states and {d} features; up to {PLANE_SIZE[0]} "
            f"states and {PLANE_SIZE[1]} features they are"
        )
    learner = next(iter(own), TD())
    window = window_of(problem, learner, dynamics_cases(problem, learner))
    if len(window.symbols) != 2:
        return f"the plane is drawn of two symbols; {len(window.symbols)} decide on {learner.label}"
    ax = stability_regions_2d(window.problem, learner, window.symbols, window.ranges)  # type: ignore[arg-type]
    title = re.sub(r"\\(\w+) ?", r"\1 ", ax.get_title().replace("$", ""))
    told = "; ".join(title.split("\n"))
    return as_svg(ax, f"Where {learner.label} is stable", f"The plane of {window.told}. {told}.")


def _is_silent(problem: PolicyEvaluation) -> bool:
    """Whether no reward is ever seen, so that weights of 0 never move."""
    behavior = problem.behavior
    return all(
        row.reward == 0 or not behavior[row.state].get(row.action, 0)
        for row in problem.mdp.transitions
    )


def _first_weights(problem: PolicyEvaluation) -> list[float]:
    """Weights from which something happens: those of the literature for Baird's star, else ones."""
    n, d = problem.native.Phi.shape
    out = [1.0] * d
    if d == n + 1 and problem.native.Phi.public() == baird_star(corners=n - 1).Phi:
        out[-2] = 10.0
    return out


def _curves(analysis: Analysis, own: Sequence[Learner]) -> Picture | str:
    problem = analysis.problem
    if problem.arithmetic == "symbolic":
        return "learning curves need numbers; substitute them for the symbols"
    floats = problem.replace(arithmetic="float")
    alpha = 0.05 / max(float((floats.Phi**2).sum(axis=1).max()), 1e-12)
    chosen: dict[str, Learner] = {"TD": TD(alpha), "SETD": SETD(alpha), "ETD": ETD(alpha / 4)}
    for name, learner in named(own, chosen).items():
        given: Any = learner  # every learner is a dataclass
        chosen[name] = replace(given, alpha=alpha) if learner.alpha is None else learner
    theta0 = _first_weights(problem) if _is_silent(problem) else None
    if theta0 is not None and not (floats.Phi @ np.array(theta0)).any():
        return "every value and every error is 0, whatever the weights are"
    found = simulate(floats, chosen, CURVE_STEPS, CURVE_RUNS, seed=0, theta0=theta0)
    small = len(problem.states) <= MOST_EXACT and floats.Phi.shape[1] <= MOST_EXACT
    exact = expected_errors(floats, chosen, CURVE_STEPS, theta0) if small else {}
    ax = learning_curves(found, exact={name: lines["rmse"] for name, lines in exact.items()})
    sizes = ", ".join(f"{name} {x.step_size(0):.3g}" for name, x in chosen.items())
    squares = {name: (c.rmse[:, -1] ** 2).mean() for name, c in found.curves.items()}
    averages = {
        n: np.sqrt(s) if exact else np.median(found[n].rmse[:, -1]) for n, s in squares.items()
    }
    ends = ", ".join(f"{name} {value:.4g}" for name, value in averages.items())
    about = (
        f"RMSE over {CURVE_STEPS} steps, {'root mean square' if exact else 'median'} of {CURVE_RUNS} runs, "
        f"with step sizes {sizes}. It ends at {ends}."
    )
    if theta0 is not None:
        begin = (
            f"the weights ({', '.join(f'{x:g}' for x in theta0)})"
            if len(set(theta0)) > 1
            else "weights of 1"
        )
        about += (
            f" Every reward is 0, so weights of 0 are the solution; the runs begin with {begin}."
        )
    if exact:
        about += " Dashed: the root of the exact expected square error."
    limits = [
        f"{row.name} {row.limit_text}"
        for row in analysis.learners
        if row.name in chosen and row.limit is not None
    ]
    if limits:
        about += f" Largest constant step size that is stable in mean square: {', '.join(limits)}."
    return as_svg(ax, "Learning curves", about)


MAKERS: Mapping[str, Callable[[Analysis, Sequence[Learner]], Picture | str]] = {
    "graph": lambda analysis, _: _graph(analysis.problem),
    "geometry": lambda analysis, _: _geometry(analysis.problem),
    "eigenvalues": lambda analysis, _: _eigenvalues(analysis),
    "regions": _regions,
    "curves": _curves,
}
"""The pictures by name, of an analysis and the reader's own learners."""
