"""What the moves of a grid world say about its cells: ends, leaps, and the way of each action.

A model from Gymnasium has no holes and no goal: a move into one is a move to the start whose own
discount is 0, and the cell itself is never entered. They are found again from where actions point.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from obliquetd.display import mathtext
from obliquetd.mdp import MDP
from obliquetd.plotting.outcomes import as_float, number

__all__ = ["WORDS", "Cell", "Facts", "facts_of"]

Cell = tuple[int, int]
Lines = tuple[str, str]
WORDS = {(0, -1): "left", (0, 1): "right", (-1, 0): "up", (1, 0): "down"}


@dataclass
class Facts:
    """What the moves say about the cells of a grid world.

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


def facts_of(mdp: MDP, cells: Mapping[Hashable, Cell]) -> Facts:
    """What the transitions say, by the place of each state."""
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
    facts = Facts({a: _direction(x) for a, x in drift.items()})
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
        if row.state not in facts.closed and sum(map(abs, step(row))) == 1:
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


def _tell_closed(facts: Facts, aimed: Mapping[Any, Any], beside: Any) -> None:
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
                x - set().union(*(sure.get(c, set()) for c in beside(s) if c != goal))
                for s, x in ways
            ]
            left = [x for x in known if x]
            found = set.intersection(*left) if left else found
        first = {lines[0] for lines in found}
        facts.told[goal] = (
            list(min(found)) if len(found) == 1 else ["ends" if first == {"ends"} else "leaps"]
        )


def _best_ends(
    told: Mapping[Any, list[str]], closed: set[Any], pays: Mapping[str, float]
) -> set[Any]:
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
