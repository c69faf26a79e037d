"""A counterexample on one page: a problem on which a learner is unstable, the proof, and how to check it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from markupsafe import Markup, escape

from obliquetd.algebra import number_text
from obliquetd.display import latex_of, visible
from obliquetd.dynamics import MeanDynamics, mean_dynamics, one_line_proof
from obliquetd.errors import InputError
from obliquetd.experiments import simulate
from obliquetd.formats import model_to_dict
from obliquetd.learners import TD, Learner, parameters
from obliquetd.plotting import learning_curves, mdp_graph, vector_field
from obliquetd.problem import PolicyEvaluation
from obliquetd.report.links import data_link
from obliquetd.report.mathml import mathml
from obliquetd.report.pictures import Picture, as_svg
from obliquetd.report.prose import typeset

__all__ = ["Card", "card_of", "spelling"]

MOST_STATES = 14
"""States that are still drawn and listed on one page."""
GROWTH = 7.0
"""The logarithm of the factor by which the mean grows over the steps that are drawn."""
MOST_ENTRIES = 16
"""Entries of a matrix that is shown exactly."""
FEWEST, MOST, RUNS = 200, 20_000, 10
ESCAPE = "#A3231F"


@dataclass(frozen=True)
class Card:
    """What the page shows; ``command`` checks the two files that it holds."""

    name: str
    problem: str
    rows: list[list[Markup]]
    heading: list[Markup]
    matrices: list[Markup]
    proof: Markup
    escape: Markup
    pictures: list[Picture]
    files: dict[str, str]
    command: str


def card_of(problem: PolicyEvaluation, learner: Learner, spelled: str | None = None) -> Card:
    """Gather a card.

    Parameters
    ----------
    problem : PolicyEvaluation
        Exact, and with at most 14 states.
    learner : Learner
        Unstable on it.
    spelled : str, optional
        How the command line names the learner, with its numbers; its key by default.

    Raises
    ------
    InputError
        Where the learner is not unstable on the problem, or the problem fits no page.
    """
    n = len(problem.states)
    if problem.arithmetic != "exact":
        raise InputError(
            f"the problem is in {problem.arithmetic} arithmetic; a card needs exact numbers. Give "
            'arithmetic="exact", or numbers in place of symbols'
        )
    if n > MOST_STATES:
        raise InputError(
            f"{n} states fit no card; expected at most {MOST_STATES}. A report has room for them"
        )
    dynamics = mean_dynamics(problem, learner)
    verdict = dynamics.stability.verdict
    if verdict != "unstable":
        raise InputError(
            f"{learner.label} is {verdict} on this problem; a card needs a learner that is unstable on it"
        )
    certificate = dynamics.certificate()
    eigenvalue, direction = _escape(dynamics)
    return Card(
        name=learner.label,
        problem=f"{_count(n, 'state')}, {_count(problem.Phi.shape[1], 'feature')}, discount {number_text(problem.discount)}",
        heading=[
            typeset(h)
            for h in ("state", "phi(s)", "xi(s)", "the target goes to", "the behaviour goes to")
        ],
        rows=list(_rows(problem)),
        matrices=list(_matrices(dynamics)),
        proof=typeset(one_line_proof(certificate)),
        escape=_told(eigenvalue, direction),
        pictures=_pictures(problem, dynamics, eigenvalue, direction),
        files={
            "model.json": data_link(model_to_dict(problem)),
            "certificate.json": data_link(certificate),
        },
        command=f"obliquetd check certificate.json --model model.json --learner {spelled or spelling(learner)}",
    )


def spelling(learner: Learner, name: str | None = None) -> str:
    """The learner as the command line takes it: its key or file, and its numbers that are not the usual ones."""
    usual: Any = type(learner)()
    parts = [shlex.quote(name or learner.key)]
    for field in (p.name for p in parameters(type(learner))):
        value = getattr(learner, field, None)
        if value is not None and value != getattr(usual, field, None):
            flag = f"--{field.replace('_', '-')}"
            parts += [flag, str(value)] if name is None else ["--number", f"{field}={value}"]
    return " ".join(parts)


def _rows(problem: PolicyEvaluation) -> Iterator[list[Markup]]:
    for s, state in enumerate(problem.states):
        feature = ", ".join(map(number_text, problem.Phi.tolist()[s]))
        moves = (_moves(problem.states, P.tolist()[s]) for P in (problem.P_pi, problem.P_b))
        yield [
            escape(visible(state)),
            typeset(f"({feature})"),
            typeset(number_text(problem.xi[s])),
            *moves,
        ]


def _moves(states: Sequence[Any], chances: list[Any]) -> Markup:
    """Where a state leads to, and with which chance; one that all share is said once."""
    there = [(t, p) for t, p in zip(states, chances, strict=True) if p]
    shared = {p for _, p in there}
    if len(there) > 1 and len(shared) == 1:
        names = (
            "any state" if len(there) == len(states) else ", ".join(visible(t) for t, _ in there)
        )
        return Markup("{}, each with {}").format(names, typeset(number_text(shared.pop())))
    return Markup(", ").join(
        Markup("{} with {}").format(visible(t), typeset(number_text(p)))
        if p != 1
        else escape(visible(t))
        for t, p in there
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _matrices(dynamics: MeanDynamics) -> Iterator[Markup]:
    """Phi, and A twice: exactly, and in decimals beside it. Large ones are in the table and the file alone."""
    Phi = dynamics.problem.Phi
    if len(Phi) <= MOST_ENTRIES:
        yield mathml(rf"\Phi = {latex_of(Phi)}", block=True)
    rows = np.array(dynamics.A, dtype=float).tolist()
    body = r" \\ ".join(" & ".join(f"{x:.4g}" for x in row) for row in rows)
    decimals = rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"
    exact = f"{latex_of(dynamics.A)} " if len(dynamics.A) <= MOST_ENTRIES else ""
    yield mathml(
        rf"A = {exact}\approx {decimals}" if exact else rf"A \approx {decimals}", block=True
    )


def _escape(dynamics: MeanDynamics) -> tuple[complex, npt.NDArray[Any]]:
    """The eigenvalue of A with the least real part, and its vector, the largest entry 1."""
    values, vectors = np.linalg.eig(np.array(dynamics.A, dtype=float))
    k = int(np.argmin(values.real))
    vector = vectors[:, k]
    return complex(values[k]), vector / vector[np.argmax(np.abs(vector))]


def _told(eigenvalue: complex, direction: npt.NDArray[Any]) -> Markup:
    if abs(eigenvalue.imag) > 1e-12:
        return mathml(
            rf"\lambda \approx {eigenvalue.real:.6g} \pm {abs(eigenvalue.imag):.6g}\,i"
        ) + Markup(" are eigenvalues: the mean of the weights spirals away from the fixed point.")
    if len(direction) == 1:
        return Markup(
            "The eigenvalue is {}: from the fixed point the mean of the weight runs away to either side."
        ).format(mathml(rf"\lambda \approx {eigenvalue.real:.6g}"))
    first, *rest = (mathml(f"{x.real:.4g}") for x in direction)
    begin = Markup('<span class="nobr">{}({}</span>').format(mathml(r"\pm"), first)
    entries = Markup(", ").join([begin, *rest])  # a line may break between them
    return Markup(
        "The eigenvalue is {}: from the fixed point the mean of the weights runs away along {})."
    ).format(mathml(rf"\lambda \approx {eigenvalue.real:.6g}"), entries)


def _pictures(
    problem: PolicyEvaluation,
    dynamics: MeanDynamics,
    eigenvalue: complex,
    direction: npt.NDArray[Any],
) -> list[Picture]:
    out = [
        as_svg(
            mdp_graph(problem),
            "The problem",
            "The problem as a graph: states, actions and their chances.",
            scrolls=True,
        )
    ]
    fixed = _fixed(dynamics)
    if len(direction) == 2:
        out.append(_field(dynamics, fixed, eigenvalue, direction))
    out.append(_curve(problem, dynamics, fixed, eigenvalue, direction))
    return out


def _fixed(dynamics: MeanDynamics) -> npt.NDArray[Any]:
    """A point where the mean update is 0, of all weights; the smallest where there are many."""
    A, b = (np.array(x, dtype=float) for x in (dynamics.A, dynamics.b))
    solution: npt.NDArray[Any] = np.linalg.lstsq(A, b.ravel(), rcond=None)[0]
    return solution


def _field(
    dynamics: MeanDynamics,
    fixed: npt.NDArray[Any],
    eigenvalue: complex,
    direction: npt.NDArray[Any],
) -> Picture:
    half = 3.0
    first, second = map(float, fixed)
    window = ((first - half, first + half), (second - half, second + half))
    alpha = 0.02 / max(float(np.abs(np.array(dynamics.A, dtype=float)).max()), 1e-12)
    steps = int(min(50_000, np.ceil(4 / (alpha * -eigenvalue.real))))
    v = direction.real
    across = np.array([-v[1], v[0]])
    starts = [fixed + sign * (0.12 * v + 2.5 * across) for sign in (1, -1)]
    ax = vector_field(
        dynamics, starts=[tuple(s) for s in starts], alpha=alpha, steps=steps, window=window
    )
    about = f"The mean update of {dynamics.learner.label} over its two weights, with two paths of the mean."
    if abs(eigenvalue.imag) < 1e-12:
        for sign in (1, -1):
            along = sign * 2.6 * v / np.linalg.norm(v)
            ax.annotate(
                "", xy=(first + along[0], second + along[1]), xytext=(first, second), zorder=6,
                arrowprops={"arrowstyle": "-|>", "color": ESCAPE, "linewidth": 2.2, "mutation_scale": 18},
            )  # fmt: skip
        ax.plot([], [], color=ESCAPE, linewidth=2.2, label="it escapes along this line")
        ax.legend(loc="upper left", fontsize="small", framealpha=0.9)
        about += " The red arrows are the direction along which it leaves the fixed point."
    return as_svg(ax, "The mean update", about)


def _curve(
    problem: PolicyEvaluation, dynamics: MeanDynamics, fixed: npt.NDArray[Any], eigenvalue: complex,
    direction: npt.NDArray[Any],
) -> Picture:  # fmt: skip
    floats = problem.replace(arithmetic="float")
    alpha = 0.05 / max(float((floats.Phi**2).sum(axis=1).max()), 1e-12)
    steps = int(np.clip(np.ceil(GROWTH / (alpha * -eigenvalue.real)), FEWEST, MOST))
    d = problem.Phi.shape[1]
    given: Any = dynamics.learner
    chosen: dict[str, Learner] = {given.label: replace(given, alpha=alpha)}
    compared = mean_dynamics(problem, TD()).is_stable()
    if compared:
        chosen["TD"] = TD(alpha)
    theta0 = (fixed + direction.real)[:d]
    every = max(1, steps // 400)
    found = simulate(
        floats, chosen, steps, RUNS, seed=0, theta0=list(map(float, theta0)), every=every
    )
    ax = learning_curves(found)
    about = (
        f"The error of {RUNS} runs with the step size {alpha:.3g}, begun beside the fixed point"
        f"{'; TD, which is stable here, for comparison' if compared else ''}."
    )
    return as_svg(ax, "The learner itself", about)
