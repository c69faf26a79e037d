"""Four rooms: a grid world of 104 cells with four hallways."""

from __future__ import annotations

from typing import Any

from sympy import Rational

from obliquetd.errors import InputError
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["HALLWAYS", "four_rooms"]

PLAN = (
    ".....#.....",
    ".....#.....",
    "...........",
    ".....#.....",
    ".....#.....",
    "#.####.....",
    ".....###.##",
    ".....#.....",
    ".....#.....",
    "...........",
    ".....#.....",
)
HALLWAYS = {"north": (2, 5), "west": (5, 1), "east": (6, 8), "south": (9, 5)}
MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def four_rooms(
    goal: str | tuple[int, int] = "east",
    discount: Any = "9/10",
    tiling: int | None = 3,
) -> PolicyEvaluation:
    """The value of walking to a hallway, learned from a random walk.

    States are the free cells (row, column) of an 11 by 11 plan. A move into a wall stays.
    Entering the goal pays 1 and ends the target's task (discount 0), and the goal's own
    value is 0; the behaviour, which is uniform, walks on. The target takes a shortest way, at random among the shortest.

    Parameters
    ----------
    goal : {"north", "west", "east", "south"} or cell
    discount : number or symbol
    tiling : int or None
        Features are two grids of square tiles of this side, the second shifted by half a
        tile; one indicator for each tile that holds a cell. None is tabular.

    Raises
    ------
    InputError
        For a goal that is no free cell, or tiles of side below 1.

    Notes
    -----
    The plan is that of Sutton, R., Precup, D. and Singh, S. (1999), Between MDPs and
    semi-MDPs, Artificial Intelligence 112; learning from a random walk as in Ghiassian, S.
    and Sutton, R. (2021).

    Examples
    --------
    >>> problem = four_rooms(tiling=None)
    >>> len(problem.states), problem.values[6, 8], problem.values[10, 8]
    (104, 0, 729/1000)
    """
    cells = [(i, j) for i, line in enumerate(PLAN) for j, mark in enumerate(line) if mark == "."]
    free = set(cells)
    end = HALLWAYS.get(goal, goal) if isinstance(goal, str) else tuple(goal)
    if end not in free:
        raise InputError(
            f"goal is {goal!r}; expected a free cell (row, column) or one of {', '.join(HALLWAYS)}"
        )
    if tiling is not None and (not isinstance(tiling, int) or tiling < 1):
        raise InputError(f"tiling is {tiling!r}; expected a side of at least 1, or None")

    def after(cell: tuple[int, int], move: str) -> tuple[int, int]:
        to = cell[0] + MOVES[move][0], cell[1] + MOVES[move][1]
        return to if to in free else cell

    rows = []
    for s in cells:
        for a in MOVES:
            t = after(s, a)
            won = t == end and s != end
            rows.append((s, a, t, 1, int(won), int(not won and s != end)))
    mdp = MDP.from_transitions(rows, states=cells)
    import networkx as nx  # late: it is slow to load, and most uses of the package do without it

    graph = nx.Graph((s, after(s, a)) for s in cells for a in MOVES)
    distance = nx.single_source_shortest_path_length(graph, end)
    choices = {}
    for s in cells:
        best = [a for a in MOVES if distance[after(s, a)] == distance[s] - 1] or list(MOVES)
        choices[s] = {a: Rational(1, len(best)) for a in best}
    return PolicyEvaluation(
        mdp,
        target=Policy(choices),
        behavior=Policy.uniform(mdp),
        features=None if tiling is None else _tiles(cells, tiling),
        discount=discount,
    )


def _tiles(cells: list[tuple[int, int]], side: int) -> dict[tuple[int, int], list[int]]:
    """Two indicators a cell: its tile in a grid, and in the same grid shifted by half a tile."""
    half = side // 2
    places = {
        c: [(0, c[0] // side, c[1] // side), (1, (c[0] + half) // side, (c[1] + half) // side)]
        for c in cells
    }
    tiles = sorted({tile for found in places.values() for tile in found})
    return {c: [int(tile in found) for tile in tiles] for c, found in places.items()}
