"""A grid world as it is: cells, walls, ends and leaps, values as colours, the target as arrows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from obliquetd.display import mathtext
from obliquetd.errors import ObliqueTDError
from obliquetd.mdp import MDP
from obliquetd.plotting.frame import framed
from obliquetd.plotting.grid_facts import WORDS, Cell, Facts, facts_of
from obliquetd.plotting.outcomes import as_float
from obliquetd.plotting.routes import text_size
from obliquetd.plotting.style import HEAT
from obliquetd.problem import PolicyEvaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_grid"]

SIDE = 46.0
"""The size of a cell in points, where there is room for it."""
LARGEST = (1000.0, 560.0)
SMALL = 8.0
"""Size of the letters in a cell."""
READABLE, POINTING = 36.0, 12.0
"""Sides from which a cell has text, and arrows."""
WALL, LEAP, GOAL, INK = "#4A4A4A", "#262626", "#00573F", "#111111"
ARROW = "#8A2F00"
FAINTEST, FULLEST = 0.05, 0.6
"""How opaque the colour of the least and of the largest value is; what is written on it can be read."""


def draw_grid(
    mdp: MDP, problem: PolicyEvaluation | None, cells: Mapping[Hashable, Cell], ax: Axes | None
) -> Axes:
    """The cells at their rows and columns."""
    from matplotlib.patches import Rectangle

    where = np.array(list(cells.values()))
    low, high = where.min(axis=0), where.max(axis=0)
    rows, columns = (int(x) for x in high - low + 1)
    side = min(SIDE, LARGEST[0] / columns, LARGEST[1] / rows)
    facts = facts_of(mdp, cells)
    values = _values(problem, facts)
    numbered = not all(isinstance(s, tuple) for s in mdp.states)
    bounds = (-16.0, -rows * side, columns * side, 16.0)
    ax, scale = framed(bounds, _legend(mdp, problem, facts, values, rows * columns), ax)

    def corner(cell: Any) -> Any:
        return np.array([(cell[1] - low[1]) * side, -(cell[0] - low[0] + 1) * side])

    def write(place: Any, text: str, gid: str, color: str = INK, **more: Any) -> None:
        size = scale * min(SMALL, SMALL * (side - 4) / max(text_size(text, SMALL)[0], 1e-9))
        ax.text(
            place[0],
            place[1],
            text,
            fontsize=size,
            color=color,
            gid=gid,
            zorder=5,
            linespacing=1.05,
            **more,
        )

    free = set(cells.values())
    for i in range(low[0], high[0] + 1):
        for j in range(low[1], high[1] + 1):
            if (i, j) not in free:
                ax.add_patch(
                    Rectangle(corner((i, j)), side, side, facecolor=WALL, edgecolor="#8A8A8A",
                              linewidth=0.0, hatch="////", zorder=1)
                )  # fmt: skip
    shown = [v for v in values.values() if v is not None]
    span = (max(shown) - min(shown)) if shown else 0.0
    for s, cell in cells.items():
        value, told, closed = values.get(s), facts.told.get(s), s in facts.closed
        share = 0.0 if value is None or span == 0 else (value - min(shown)) / span
        fill: Any = "white" if value is None else (HEAT, FAINTEST + (FULLEST - FAINTEST) * share)
        at = corner(cell)
        ax.add_patch(
            Rectangle(at, side, side, facecolor=GOAL if s in facts.goals else LEAP if closed else fill, edgecolor="#777777",
                      linewidth=0.7 * scale, zorder=1.5)
        )  # fmt: skip
        if told and not closed:
            ax.add_patch(
                Rectangle(at + 2, side - 4, side - 4, facecolor="none", edgecolor=INK,
                          linewidth=2.0 * scale, zorder=2)
            )  # fmt: skip
        if side >= READABLE:
            ink = "white" if closed else INK
            if numbered:
                write(
                    at + np.array([5, side - 4] if told else [3, side - 3]),
                    mathtext(s),
                    "state",
                    ink,
                    ha="left",
                    va="top",
                )
            if told:
                low_line = side * (0.45 if closed else 0.5)
                write(
                    at + np.array([side / 2, low_line]),
                    "\n".join(told),
                    "told",
                    ink,
                    ha="center",
                    va="center",
                )
            if value is not None and not closed:
                write(
                    at + np.array([side / 2, 4]), _short(value), "value", ha="center", va="bottom"
                )
        if problem is not None and not told and side >= POINTING:
            up = 0.58 if side >= READABLE and value is not None else 0.5
            _arrows(ax, at + np.array([side / 2, side * up]), 0.26 * side, problem, s, facts, scale)
    _thin_walls(ax, mdp, cells, facts, corner, side, scale)
    step = max(1, int(np.ceil(14 / side)))
    for j in range(0, columns, step):
        ax.text((j + 0.5) * side, 4, str(low[1] + j), ha="center", va="bottom",
                fontsize=SMALL * scale, color="#444444", gid="column")  # fmt: skip
    for i in range(0, rows, step):
        ax.text(-4, -(i + 0.5) * side, str(low[0] + i), ha="right", va="center",
                fontsize=SMALL * scale, color="#444444", gid="row")  # fmt: skip
    return ax


def _values(problem: PolicyEvaluation | None, facts: Facts) -> dict[Hashable, float | None]:
    """What each state is worth under the target, where that is a number."""
    if problem is None or problem.arithmetic == "symbolic":
        return {}
    try:
        found = np.asarray(problem.v_pi, dtype=float).ravel()
    except ObliqueTDError:  # a discount of 1 on a chain that never ends has no values
        return {}
    values: dict[Hashable, float | None] = dict.fromkeys(problem.mdp.states, 0.0)
    if problem.states == problem.mdp.states:
        values.update(zip(problem.states, found.tolist(), strict=True))
    else:  # those of pairs (state, action)
        pairs: list[Any] = list(problem.states)
        for (s, a), worth in zip(pairs, found.tolist(), strict=True):
            values[s] = (values[s] or 0.0) + float(problem.target[s].get(a, 0)) * worth
    return {s: None if s in facts.closed else v for s, v in values.items()}


def _short(value: float) -> str:
    text = f"{value:.3g}"
    return f"{value:.1g}" if "e" in text else text


def _arrows(
    ax: Axes,
    middle: Any,
    length: float,
    problem: PolicyEvaluation,
    s: Any,
    facts: Facts,
    scale: float,
) -> None:
    """An arrow for each direction, as wide as the target takes it; a dot for staying."""
    from matplotlib.patches import Circle, FancyArrowPatch

    for action, chance in problem.target[s].items():
        share = as_float(chance)
        if share == 0:
            continue
        width = scale * (0.7 + 1.2 * (0.5 if share is None else share))
        to = facts.directions.get(action)
        if to is None:
            ax.add_patch(Circle(tuple(middle), 1.6, color=ARROW, zorder=4))
            continue
        tip = middle + length * np.array([to[1], -to[0]])
        ax.add_patch(
            FancyArrowPatch(tuple(middle), tuple(tip), arrowstyle="-|>", mutation_scale=6 * scale,
                            shrinkA=0, shrinkB=0, color=ARROW, linewidth=width, zorder=4)
        )  # fmt: skip


def _thin_walls(
    ax: Axes, mdp: MDP, cells: Mapping[Hashable, Cell], facts: Facts, corner: Any, side: float,
    scale: float,
) -> None:  # fmt: skip
    """A thick line where two cells touch and no move leads from one to the other."""
    states = {cell: s for s, cell in cells.items()}
    moves = {(row.state, row.next_state) for row in mdp.transitions}
    for (i, j), s in states.items():
        for to, line in (((i, j + 1), ((1, 0), (1, 1))), ((i + 1, j), ((0, 0), (1, 0)))):
            t = states.get(to)
            apart = t is not None and (s, t) not in moves and (t, s) not in moves
            if apart and not {s, t} & set(facts.told):
                (x0, y0), (x1, y1) = corner((i, j)) + side * np.array(line)
                ax.plot([x0, x1], [y0, y1], color=WALL, linewidth=4 * scale, zorder=3)


def _legend(
    mdp: MDP, problem: PolicyEvaluation | None, facts: Facts, values: Mapping[Any, Any], count: int
) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def line(text: str, **more: Any) -> Any:
        return Line2D([], [], linestyle="none", label=text, **more)

    found: list[Any] = []
    if any(v is not None for v in values.values()):
        found.append(
            Patch(
                facecolor=(HEAT, (FAINTEST + FULLEST) / 2),
                edgecolor="#777777",
                label="colour and number: value of the target",
            )
        )
    if problem is not None:
        found.append(
            Line2D(
                [],
                [],
                color=ARROW,
                linewidth=1.9,
                marker=">",
                markevery=[1],
                label="what the target does",
            )
        )
    if any(s in facts.told and s not in facts.closed for s in mdp.states):
        found.append(
            Patch(
                facecolor="white", edgecolor=INK, linewidth=2, label="an end, or a leap from here"
            )
        )
    if facts.goals:
        found.append(Patch(facecolor=GOAL, label="the end that pays most"))
    if facts.closed - facts.goals:
        found.append(Patch(facecolor=LEAP, label="entering it ends, or leads elsewhere"))
    if count > len(mdp.states):
        found.append(
            Patch(facecolor=WALL, edgecolor="#8A8A8A", hatch="////", linewidth=0, label="wall")
        )
    named = [
        f"{mathtext(a)} {WORDS[d]}" for a, d in facts.directions.items() if d and str(a) != WORDS[d]
    ]
    if named and len(named) <= 6:
        found.append(line("actions: " + ", ".join(named)))
    if len(facts.rewards) == 1 and facts.rewards != {"0"}:
        found.append(line(f"r = {min(facts.rewards)} a step"))
    elif len(facts.rewards) > 1:
        found.append(line("rewards differ from step to step; the table has them"))
    if facts.leaps:
        found.append(line(f"{facts.leaps} moves lead elsewhere; the table has them"))
    return found
