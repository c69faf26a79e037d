"""A grid world as it is: cells, walls, ends and leaps, values as colours, the target as arrows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from obliquetd.display import mathtext
from obliquetd.errors import ObliqueTDError
from obliquetd.mdp import MDP
from obliquetd.plotting.frame import framed
from obliquetd.plotting.outcomes import as_float, number
from obliquetd.plotting.routes import text_size
from obliquetd.problem import PolicyEvaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_grid"]

Cell = tuple[int, int]
Lines = tuple[str, str]
SIDE = 46.0
"""Of a cell in points, where there is room for it."""
LARGEST = (1000.0, 560.0)
SMALL = 7.5
"""Size of the letters in a cell."""
READABLE, POINTING = 36.0, 12.0
"""Sides from which a cell has text, and arrows."""
WALL, LEAP, GOAL, INK = "#4A4A4A", "#262626", "#00573F", "#111111"
ARROW = "#8A2F00"
WORDS = {(0, -1): "left", (0, 1): "right", (-1, 0): "up", (1, 0): "down"}


@dataclass
class _Facts:
    """What the moves say about the cells.

    ``told`` are the lines of a cell from which, or in place of which, the walk goes elsewhere;
    ``closed`` cells are never entered, and of those the ``goals`` are
    the ends that pay most; ``rewards`` are those of steps, ``leaps`` counts moves that
    neither lead to a neighbour nor are told in a cell.
    """

    directions: dict[Hashable, Cell | None]
    told: dict[Hashable, list[str]] = field(default_factory=dict)
    closed: set[Hashable] = field(default_factory=set)
    goals: set[Hashable] = field(default_factory=set)
    rewards: set[str] = field(default_factory=set)
    leaps: int = 0


def draw_grid(
    mdp: MDP, problem: PolicyEvaluation | None, cells: Mapping[Hashable, Cell], ax: Axes | None
) -> Axes:
    """The cells at their rows and columns."""
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    where = np.array(list(cells.values()))
    low, high = where.min(axis=0), where.max(axis=0)
    rows, columns = (int(x) for x in high - low + 1)
    side = min(SIDE, LARGEST[0] / columns, LARGEST[1] / rows)
    facts = _facts(mdp, cells)
    values = _values(problem, facts)
    numbered = not all(isinstance(s, tuple) for s in mdp.states)
    bounds = (-16.0, -rows * side, columns * side, 16.0)
    ax, scale = framed(bounds, _legend(mdp, problem, facts, values, rows * columns), ax)

    def corner(cell: Any) -> Any:
        return np.array([(cell[1] - low[1]) * side, -(cell[0] - low[0] + 1) * side])

    def write(place: Any, text: str, gid: str, color: str = INK, **more: Any) -> None:
        size = scale * min(SMALL, SMALL * (side - 4) / max(text_size(text, SMALL)[0], 1e-9))
        ax.text(*place, text, fontsize=size, color=color, gid=gid, zorder=5, linespacing=1.05, **more)

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
        share = 0.04 if value is None or span == 0 else 0.04 + 0.46 * (value - min(shown)) / span
        fill = "white" if value is None else colormaps["Blues"](share)
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
                write(at + [3, side - 3], mathtext(s), "state", ink, ha="left", va="top")
            if told:
                low_line = side * (0.45 if closed else 0.58)
                write(at + [side / 2, low_line], "\n".join(told), "told", ink, ha="center", va="center")
            if value is not None and not closed:
                write(at + [side / 2, 4], _short(value), "value", ha="center", va="bottom")
        if problem is not None and not told and side >= POINTING:
            up = 0.58 if side >= READABLE and value is not None else 0.5
            _arrows(ax, at + [side / 2, side * up], 0.26 * side, problem, s, facts, scale)
    _thin_walls(ax, mdp, cells, facts, corner, side, scale)
    step = max(1, int(np.ceil(14 / side)))
    for j in range(0, columns, step):
        ax.text((j + 0.5) * side, 4, str(low[1] + j), ha="center", va="bottom",
                fontsize=SMALL * scale, color="#444444", gid="column")  # fmt: skip
    for i in range(0, rows, step):
        ax.text(-4, -(i + 0.5) * side, str(low[0] + i), ha="right", va="center",
                fontsize=SMALL * scale, color="#444444", gid="row")  # fmt: skip
    return ax


def _facts(mdp: MDP, cells: Mapping[Hashable, Cell]) -> _Facts:
    rows = list(mdp.transitions)
    states = {cell: s for s, cell in cells.items()}

    def step(row: Any) -> Cell:
        (i, j), (k, m) = cells[row.state], cells[row.next_state]
        return k - i, m - j

    def is_step(row: Any) -> bool:
        return row.discount != 0 and sum(map(abs, step(row))) <= 1

    drift = {a: np.zeros(2) for a in mdp.actions}
    for row in rows:
        if is_step(row):
            drift[row.action] += np.array(step(row)) * (as_float(row.probability) or 0.0)
    facts = _Facts({a: _direction(x) for a, x in drift.items()})
    never = set(mdp.states) - {row.next_state for row in rows if row.next_state != row.state}

    def beside(s: Any) -> set[Any]:
        i, j = cells[s]
        return {states[i + k, j + m] for k, m in WORDS if (i + k, j + m) in states}

    def aim(s: Any, a: Any) -> Any:
        to = facts.directions[a]
        return states.get((cells[s][0] + to[0], cells[s][1] + to[1])) if to else None

    outcomes: dict[Any, dict[Any, list[Any]]] = {s: {} for s in mdp.states}
    for row in rows:
        outcomes[row.state].setdefault(row.action, []).append(row)
    aimed: dict[Any, list[tuple[Any, set[Lines]]]] = {}
    for s, by_action in outcomes.items():
        for a, found in by_action.items():
            leaps = [row for row in found if not is_step(row)]
            if not leaps:  # a leap to where one stands
                leaps = [row for row in found if row.next_state == s]
            if s not in never and leaps and aim(s, a) in never:
                aimed.setdefault(aim(s, a), []).append((s, {_lines(row) for row in leaps}))
    facts.closed = set(aimed)
    _tell_closed(facts, aimed, beside)
    pays = {_lines(row)[1]: as_float(row.reward) or 0.0 for row in rows}
    facts.goals = _best_ends(facts.told, facts.closed, pays)
    for s, by_action in outcomes.items():
        listed = [row for found in by_action.values() for row in found]
        alike = {(row.next_state, *_lines(row)) for row in listed}
        if s not in never and len(alike) == 1 and not is_step(listed[0]):
            facts.told[s] = list(_lines(listed[0]))
    entries: dict[Any, set[Lines]] = {}
    for row in rows:
        if row.state != row.next_state and row.state not in facts.closed:
            if sum(map(abs, step(row))) == 1:
                entries.setdefault(row.next_state, set()).add(_lines(row))
    for s, told in entries.items():
        if s in mdp.terminal or all(lines[0] == "ends" for lines in told):
            facts.told[s] = ["ends", *(lines[1] for lines in told if len(told) == 1)]
    for row in rows:
        s, t = row.state, row.next_state
        if s in facts.closed or s in facts.told or t in facts.told:
            continue
        into_closed = bool(beside(s) & facts.closed)
        if is_step(row) and not (s == t and aim(s, row.action) in facts.closed):
            facts.rewards.add(number(row.reward))
        elif not is_step(row) and not into_closed:
            facts.leaps += 1
    return facts


def _tell_closed(facts: _Facts, aimed: Mapping[Any, Any], beside: Any) -> None:
    """What entering a closed cell does: that which all ways into it have in common.

    Where one slips, a way into one cell may lead into another beside it; what that other one
    explains is taken out.
    """
    common = {goal: set.intersection(*(x for _, x in ways)) for goal, ways in aimed.items()}
    sure = {goal: found for goal, found in common.items() if len(found) == 1}
    for goal, ways in aimed.items():
        found = common[goal]
        if len(found) != 1:
            known = [
                x - set().union(*(sure.get(c, set()) for c in beside(s) if c != goal)) for s, x in ways
            ]
            left = [x for x in known if x]
            found = set.intersection(*left) if left else found
        first = {lines[0] for lines in found}
        facts.told[goal] = (
            list(min(found)) if len(found) == 1 else ["ends" if first == {"ends"} else "leaps"]
        )


def _best_ends(told: Mapping[Any, list[str]], closed: set[Any], pays: Mapping[str, float]) -> set[Any]:
    """The ends that pay most, where others pay less."""
    paid = {s: pays[told[s][1]] for s in closed if len(told[s]) == 2}
    ends = {s: r for s, r in paid.items() if told[s][0] == "ends"}
    if not ends or min(paid.values()) == max(ends.values()):
        return set()
    return {s for s, r in ends.items() if r == max(ends.values())}


def _lines(row: Any) -> Lines:
    """What a cell says about a move: whether the walk ends or where it goes on, and what it pays."""
    whither = "ends" if row.discount == 0 else f"to {mathtext(row.next_state)}"
    return whither, f"r = {number(row.reward)}"


def _direction(drift: Any) -> Cell | None:
    """The way in which an action drifts, None for one that goes nowhere."""
    size = np.abs(drift)
    if size.max() < 1e-9 or abs(size[0] - size[1]) < 1e-9:
        return None
    axis = int(size.argmax())
    sign = int(np.sign(drift[axis]))
    return (sign, 0) if axis == 0 else (0, sign)


def _values(problem: PolicyEvaluation | None, facts: _Facts) -> dict[Hashable, float | None]:
    if problem is None:
        return {}
    try:
        found = [as_float(v) for v in np.asarray(problem.v_pi, dtype=object).ravel().tolist()]
    except ObliqueTDError:  # a discount of 1 on a chain that never ends has no values
        return {}
    return {
        s: None if s in facts.closed else v
        for s, v in zip(problem.mdp.states, found, strict=True)
    }  # fmt: skip


def _short(value: float) -> str:
    text = f"{value:.3g}"
    return f"{value:.1g}" if "e" in text else text


def _arrows(
    ax: Axes, middle: Any, length: float, problem: PolicyEvaluation, s: Any, facts: _Facts, scale: float
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
    ax: Axes, mdp: MDP, cells: Mapping[Hashable, Cell], facts: _Facts, corner: Any, side: float,
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
    mdp: MDP, problem: PolicyEvaluation | None, facts: _Facts, values: Mapping[Any, Any], count: int
) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def line(text: str, **more: Any) -> Any:
        return Line2D([], [], linestyle="none", label=text, **more)

    found = []
    if any(v is not None for v in values.values()):
        found.append(Patch(facecolor="#9AC8E0", edgecolor="#777777", label="colour and number: value of the target"))
    if problem is not None:
        found.append(Line2D([], [], color=ARROW, linewidth=1.9, marker=">", markevery=[1], label="what the target does"))
    if any(s in facts.told and s not in facts.closed for s in mdp.states):
        found.append(Patch(facecolor="white", edgecolor=INK, linewidth=2, label="an end, or a leap from here"))
    if facts.goals:
        found.append(Patch(facecolor=GOAL, label="the end that pays most"))
    if facts.closed - facts.goals:
        found.append(Patch(facecolor=LEAP, label="entering it ends, or leads elsewhere"))
    if count > len(mdp.states):
        found.append(Patch(facecolor=WALL, edgecolor="#8A8A8A", hatch="////", linewidth=0, label="wall"))
    named = [f"{mathtext(a)} {WORDS[d]}" for a, d in facts.directions.items() if d and str(a) != WORDS[d]]
    if named and len(named) <= 6:
        found.append(line("actions: " + ", ".join(named)))
    if len(facts.rewards) == 1 and facts.rewards != {"0"}:
        found.append(line(f"r = {min(facts.rewards)} a step"))
    elif len(facts.rewards) > 1:
        found.append(line("rewards differ from step to step; the table has them"))
    if facts.leaps:
        found.append(line(f"{facts.leaps} moves lead elsewhere; the table has them"))
    return found


