"""The MDP as a graph, with every outcome visible.

Parallel and opposite edges are bent apart and each self-loop has a place of its own, so no two
outcomes share a line or a label.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from obliquetd.algebra import number_text
from obliquetd.algebra.rounding import SAME
from obliquetd.display import mathtext
from obliquetd.errors import InputError
from obliquetd.mdp import MDP
from obliquetd.plotting.style import fresh_axes
from obliquetd.problem import PolicyEvaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["mdp_graph"]

MOST_STATES = 30
ACTIONS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5C00")
LABEL_AT = (0.4, 0.5, 0.3, 0.6, 0.25, 0.7)
"""Where along an edge its label may be, the best place first: nearer to the state that it leaves."""
LETTER, LINE = 0.042, 0.1
"""The size of a letter and of a line of a label, in the units of the layout."""

RADIUS = 0.16
"""Of a node; neighbours on the circle are at least 1 apart."""


def mdp_graph(
    model: MDP | PolicyEvaluation,
    ax: Axes | None = None,
    *,
    labels: bool | None = None,
    positions: Mapping[Any, tuple[float, float]] | None = None,
) -> Axes:
    r"""Draw states as nodes and outcomes as edges, coloured by action.

    An edge says ``action: probability``, its reward where that is not 0, and its own discount
    where that is not 1. For a problem, each edge also gives what the target (pi) and, off-policy,
    the behaviour (mu) do; actions that the target never takes are dashed.

    Parameters
    ----------
    model : MDP or PolicyEvaluation
        With at most 30 states.
    ax : Axes, optional
    labels : bool, optional
        Write on the edges; by default where there are at most 40.
    positions : mapping of state to (x, y), optional
        On a circle unless given.

    Returns
    -------
    Axes

    Raises
    ------
    InputError
        For more states than can be told apart.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> ax = mdp_graph(two_state())
    >>> sorted(t.get_text() for t in ax.texts if t.get_gid() == "outcome")[0]
    'left: 1\nπ 0, μ 1/2'
    """
    problem = model if isinstance(model, PolicyEvaluation) else None
    mdp = model.mdp if isinstance(model, PolicyEvaluation) else model
    if len(mdp.states) > MOST_STATES:
        raise InputError(
            f"{len(mdp.states)} states; a drawing tells at most {MOST_STATES} apart. Draw a smaller "
            "model, or use mdp.graph with a layout of your own"
        )
    where = {s: np.array(p, dtype=float) for s, p in (positions or _circle(mdp)).items()}
    side = float(np.ptp(np.array(list(where.values())), axis=0).max())
    ax = fresh_axes(ax, figsize=(max(7.0, 1.6 * side + 3), max(4.5, 1.6 * side + 1.5)))
    center = np.mean(list(where.values()), axis=0)
    bundles: dict[tuple[Any, Any], list[Any]] = {}
    for row in mdp.transitions:
        bundles.setdefault((row.state, row.next_state), []).append(row)
    shown = labels if labels is not None else len(mdp.table) <= 40
    taken_up: list[Any] = []
    for (s, t), rows in bundles.items():
        for k, row in enumerate(rows):
            taken = _taken(problem, row)
            color = ACTIONS[mdp.actions.index(row.action) % len(ACTIONS)]
            if s == t:
                places = _loop(ax, where[s], center, k, len(rows), color, taken)
            else:
                both = (t, s) in bundles
                bend = (
                    (0.16 if both else 0.0) + 0.22 * k if both else 0.22 * (k - (len(rows) - 1) / 2)
                )
                places = _edge(ax, where[s], where[t], bend, color, taken)
            if shown:
                text = _label(row, problem)
                _write(ax, _free(places, text, taken_up), text, color)
    for s, p in where.items():
        _node(ax, s, p, terminal=s in mdp.terminal)
    _actions_legend(ax, mdp, problem)
    _frame(ax)
    return ax


def _circle(mdp: MDP) -> dict[Any, Any]:
    n = len(mdp.states)
    if n == 1:
        return {mdp.states[0]: (0.0, 0.0)}
    crowded = 1 + 0.25 * (len(mdp.table) / n - 1)
    size = crowded * max(0.8, 0.6 / math.sin(math.pi / n))
    layout: dict[Any, Any] = nx.circular_layout(mdp.states, scale=size)
    return {s: (-p[0], p[1]) for s, p in layout.items()}  # the first state on the left


def _taken(problem: PolicyEvaluation | None, row: Any) -> bool:
    return problem is None or problem.target[row.state].get(row.action, 0) != 0


def _label(row: Any, problem: PolicyEvaluation | None) -> str:
    text = f"{mathtext(row.action)}: {_number(row.probability)}"
    if row.reward != 0:
        text += f", r = {_number(row.reward)}"
    if row.discount != 1:
        text += ", ends" if row.discount == 0 else f", γ = {_number(row.discount)}"
    if problem is not None and len(problem.mdp.offered[row.state]) > 1:
        pi = problem.target[row.state].get(row.action, 0)
        text += f"\nπ {_number(pi)}"
        if not problem.on_policy:
            text += f", μ {_number(problem.behavior[row.state].get(row.action, 0))}"
    return text


def _number(value: Any) -> str:
    return mathtext(number_text(value, 3))


def _free(places: list[Any], text: str, taken_up: list[Any]) -> Any:
    """The first place where a label covers none of those before it, else the least covered."""
    lines = text.split("\n")
    size = np.array([LETTER * max(map(len, lines)), LINE * len(lines)])

    def covered(place: Any) -> float:
        overlaps = [np.maximum(0, (size + other) / 2 - np.abs(place - p)) for p, other in taken_up]
        return float(sum(x * y for x, y in overlaps))

    best = min(places, key=covered)
    taken_up.append((best, size))
    return best


def _edge(ax: Axes, a: Any, b: Any, bend: float, color: str, taken: bool) -> Any:
    """A bent arrow, a quadratic Bezier curve; returns where its label may go."""
    from matplotlib.patches import FancyArrowPatch

    gap = b - a
    control = (a + b) / 2 + bend * np.array([gap[1], -gap[0]])
    start, end = _clear(a, control), _clear(b, control)
    turned = (start + end) / 2
    span = end - start
    across = np.array([span[1], -span[0]])
    rad = float((control - turned) @ across / (across @ across))
    ax.add_patch(
        FancyArrowPatch(
            tuple(start), tuple(end), connectionstyle=f"arc3,rad={rad}", arrowstyle="-|>",
            mutation_scale=13, color=color, linewidth=1.5 if taken else 1.1,
            linestyle="-" if taken else (0, (4, 3)), shrinkA=0, shrinkB=0,
        )
    )  # fmt: skip
    _reach(ax, [start, end, start / 4 + control / 2 + end / 4])
    return [(1 - u) ** 2 * start + 2 * u * (1 - u) * control + u**2 * end for u in LABEL_AT]


def _clear(node: Any, towards: Any) -> Any:
    """The point on the rim of a node."""
    gap = towards - node
    return node + RADIUS * gap / np.linalg.norm(gap)


def _loop(ax: Axes, p: Any, center: Any, k: int, count: int, color: str, taken: bool) -> Any:
    """A loop that leaves the node away from the centre; the k-th has an angle of its own."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    out = p - center
    angle = math.atan2(out[1], out[0]) if np.linalg.norm(out) > SAME else math.pi / 2
    angle += (k - (count - 1) / 2) * 1.15
    wide, far = 0.34, 0.95

    def ray(turn: float, length: float) -> Any:
        return p + length * np.array([math.cos(angle + turn), math.sin(angle + turn)])

    points = [ray(wide, RADIUS), ray(0.55, far), ray(-0.55, far), ray(-wide, RADIUS)]
    path = Path([tuple(x) for x in points], [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    ax.add_patch(
        FancyArrowPatch(
            path=path, arrowstyle="-|>", mutation_scale=13, color=color,
            linewidth=1.5 if taken else 1.1, linestyle="-" if taken else (0, (4, 3)),
        )
    )  # fmt: skip
    _reach(ax, points)
    return [ray(0, x * far) for x in (0.72, 0.85, 0.6)]


def _node(ax: Axes, label: Any, p: Any, *, terminal: bool) -> None:
    from matplotlib.patches import Circle

    ax.add_patch(
        Circle(
            tuple(p), RADIUS, facecolor="#EEEEEE" if terminal else "white", edgecolor="black",
            linewidth=2.2 if terminal else 1.2, zorder=4,
        )
    )  # fmt: skip
    text = mathtext(label)
    size = 10 if len(text) <= 5 else max(5.5, 52 / len(text))
    ax.text(p[0], p[1], text, ha="center", va="center", fontsize=size, zorder=5, gid="state")
    _reach(ax, [p - RADIUS, p + RADIUS])


def _write(ax: Axes, place: Any, text: str, color: str) -> None:
    ax.text(
        place[0], place[1], text, ha="center", va="center", fontsize=8, color=color, zorder=3.5,
        gid="outcome",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0},
    )  # fmt: skip


def _actions_legend(ax: Axes, mdp: MDP, problem: PolicyEvaluation | None) -> None:
    from matplotlib.lines import Line2D

    if len(mdp.actions) > 1:
        some = problem is not None and any(not _taken(problem, row) for row in mdp.transitions)
        handles = [
            Line2D([], [], color=ACTIONS[k % len(ACTIONS)], label=mathtext(a))
            for k, a in enumerate(mdp.actions)
        ]
        if some:
            handles.append(
                Line2D(
                    [], [], color="#444444", linestyle=(0, (4, 3)), label="not taken by the target"
                )
            )
        ax.legend(
            handles=handles, frameon=False, fontsize="small", loc="upper center",
            bbox_to_anchor=(0.5, 0.02), ncols=min(4, len(handles)),
        )  # fmt: skip


def _reach(ax: Axes, points: Any) -> None:
    ax.update_datalim([tuple(p) for p in points])


def _frame(ax: Axes) -> None:
    ax.set_aspect("equal")
    ax.margins(0.1)
    ax.autoscale_view()
    ax.set_axis_off()
