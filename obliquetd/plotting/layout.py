"""Where the states of a picture are: a structure that is there is found, and shown as what it is.

A layout is found from the moves alone, but for a grid world, whose labels say where a cell is.
Positions are in units of the distance of two neighbours.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.mdp import MDP
from obliquetd.plotting.outcomes import Stroke

__all__ = ["Layout", "cells_of", "chain_order", "layouts"]

Points = npt.NDArray[np.float64]
Pairs = set[tuple[int, int]]

ADJACENT = {"pair": 0.6, "number": 0.8}
"""The share of all moves that lead to a neighbour, from which labels are taken for places in a grid."""
MOST_TRIED = 2
LONGEST_LINE = 24
"""States in one row of a chain."""


@dataclass(frozen=True)
class Layout:
    """A place for each state, then one for each stroke of several outcomes.

    ``kind`` is "line", "star", "circle" or "force". In a star ``center`` is a state, and the
    strokes to all others are drawn as a ring.
    """

    kind: str
    states: Points
    hubs: dict[int, Points]
    center: int | None = None


def layouts(mdp: MDP, strokes: Sequence[Stroke]) -> Iterator[Layout]:
    """Layouts to be tried in turn, the best first."""
    n = len(mdp.states)
    hubs = [k for k, stroke in enumerate(strokes) if stroke.is_merged]
    pairs = _pairs(strokes)
    center = _center(n, pairs)
    if center is not None and all(
        set(strokes[k].targets) == set(range(n)) - {center} for k in hubs
    ):
        yield Layout("star", _star(n, center), {}, center)
    order = chain_order(mdp, strokes)
    if order is not None:
        fewest = -(-n // LONGEST_LINE)
        for rows in range(fewest, fewest + (3 if n > 6 else 1)):
            places = _in_rows(order, rows)
            yield Layout("line", places, _beside(places, strokes, hubs))
    yield from _forces(n, pairs, strokes, hubs)


def _pairs(strokes: Sequence[Stroke]) -> Pairs:
    """The single moves from a state to another."""
    found = {(x.sources[0], x.targets[0]) for x in strokes if not x.is_merged}
    return {(s, t) for s, t in found if s != t}


def _center(n: int, pairs: Pairs) -> int | None:
    """The state that is on every move, where four states or more have one."""
    shared = set.intersection(*map(set, pairs)) if pairs else set()
    touched = {x for pair in pairs for x in pair}
    return min(shared) if n >= 4 and len(shared) == 1 and len(touched) == n else None


def _star(n: int, center: int) -> Points:
    places = np.zeros((n, 2))
    outer = [s for s in range(n) if s != center]
    far = max(1.0, 0.5 / math.sin(math.pi / len(outer)))
    for k, s in enumerate(outer):
        angle = math.pi / 2 - 2 * math.pi * k / len(outer)
        places[s] = far * math.cos(angle), far * math.sin(angle)
    return places


def chain_order(mdp: MDP, strokes: Sequence[Stroke]) -> list[int] | None:
    """The states in an order in which moves go one or two steps; a few may leap.

    Examples
    --------
    >>> from obliquetd.domains import baird_star, boyan_chain
    >>> from obliquetd.plotting.outcomes import merged
    >>> chain, star = boyan_chain(states=5, features=2).mdp, baird_star().mdp
    >>> chain_order(chain, merged(chain, None)), chain_order(star, merged(star, None))
    ([0, 1, 2, 3, 4], None)
    """
    n = len(mdp.states)
    if n == 1:
        return [0]
    pairs = _pairs(strokes)
    lasting = {  # a move that ends is no part of a chain: the next episode begins anywhere
        (row[0], row[2]) for row in mdp.table.rows() if row[5] != 0
    }
    for moves in (pairs, pairs & lasting):
        joined = {frozenset(pair) for pair in moves}
        for order in _orders(mdp, joined):
            place = {s: k for k, s in enumerate(order)}
            near = all(frozenset(step) in joined for step in pairwise(order))
            steps = [abs(place[min(pair)] - place[max(pair)]) for pair in joined]
            far = sum(step > (2 if n > 4 else 1) for step in steps)
            if near and far <= (0 if n <= 4 else n / 5) and steps.count(2) <= n - 2:
                return order
    return None


def _orders(mdp: MDP, joined: set[frozenset[int]]) -> Iterator[list[int]]:
    import networkx as nx

    n = len(mdp.states)
    graph = nx.Graph([tuple(pair) for pair in joined])
    graph.add_nodes_from(range(n))
    ends = sorted(s for s, degree in graph.degree if degree == 1)
    if len(ends) == 2 and graph.number_of_edges() == n - 1 and nx.is_connected(graph):
        yield nx.shortest_path(graph, *ends)
    yield list(range(n))
    numbers: list[Any] = list(mdp.states)
    if all(isinstance(s, int) for s in numbers):
        yield sorted(range(n), key=numbers.__getitem__)
    band: list[int] = list(nx.utils.reverse_cuthill_mckee_ordering(graph))
    yield band if band[0] <= band[-1] else band[::-1]


def _in_rows(order: list[int], rows: int) -> Points:
    """Rows to and fro, so that neighbours stay neighbours."""
    length = -(-len(order) // rows)
    places = np.zeros((len(order), 2))
    for k, s in enumerate(order):
        row, column = divmod(k, length)
        places[s] = (column if row % 2 == 0 else length - 1 - column), -1.3 * row
    return places


def _beside(places: Points, strokes: Sequence[Stroke], hubs: list[int]) -> dict[int, Points]:
    """Above and below a line in turn, over the middle of what they join."""
    found: dict[int, Points] = {}
    for count, k in enumerate(hubs):
        source = places[list(strokes[k].sources)].mean(axis=0)
        goal = places[list(strokes[k].targets)].mean(axis=0)
        height = (1.0 + 0.5 * (count // 2)) * (1 if count % 2 == 0 else -1)
        found[k] = (source + goal) / 2 + [0, height]
    return found


def _forces(n: int, pairs: Pairs, strokes: Sequence[Stroke], hubs: list[int]) -> Iterator[Layout]:
    """A circle, and springs with and without a planar beginning: fewest crossings first."""
    import networkx as nx

    graph = nx.Graph(pairs)
    graph.add_nodes_from(range(n))
    for count, k in enumerate(hubs):
        graph.add_edges_from((s, n + count) for s in (*strokes[k].sources, *strokes[k].targets))
    edges = np.array(sorted(tuple(sorted(e)) for e in graph.edges), dtype=int).reshape(-1, 2)
    found = [("force", _springs(graph, start)) for start in _beginnings(graph)]
    if n <= 12 and n > 1:
        found.append(("circle", _circle(n, strokes, hubs)))
    dense = n <= 7 and len(edges) > 2 * n  # nothing inside a circle is in the way of another
    scored = [
        (-1.0 if dense and kind == "circle" else crossings(edges, p), kind, p) for kind, p in found
    ]
    for _, kind, places in sorted(scored, key=lambda x: x[0])[:MOST_TRIED]:
        spread = _apart(places, edges)
        if np.ptp(spread[:, 1]) > np.ptp(spread[:, 0]) + 1e-9:  # a page is wider than high
            spread = np.column_stack([spread[:, 1], -spread[:, 0]])
        yield Layout(kind, spread[:n], {k: spread[n + i] for i, k in enumerate(hubs)})


def _beginnings(graph: Any) -> Iterator[Any]:
    import networkx as nx

    yield nx.circular_layout(sorted(graph))
    planar, _ = nx.check_planarity(graph)
    if planar and len(graph) > 3:
        yield nx.planar_layout(graph)


def _circle(n: int, strokes: Sequence[Stroke], hubs: list[int]) -> Points:
    angles = math.pi - 2 * math.pi * np.arange(n) / n  # the first state on the left
    rim = np.column_stack([np.cos(angles), np.sin(angles)]) * 0.5 / math.sin(math.pi / n)
    inner = [rim[[*strokes[k].sources, *strokes[k].targets]].mean(axis=0) for k in hubs]
    for i in range(len(inner)):
        turn = 2 * math.pi * i / max(1, len(inner))
        inner[i] = inner[i] + 0.3 * np.array([math.cos(turn), math.sin(turn)])
    return np.vstack([rim, *inner]) if inner else rim


def _springs(graph: Any, start: dict[int, Any]) -> Points:
    """Kamada and Kawai's layout of each connected part, beside each other."""
    import networkx as nx

    places = np.zeros((len(graph), 2))
    right = 0.0
    for part in sorted(nx.connected_components(graph), key=min):
        piece = graph.subgraph(sorted(part))
        if len(piece) > 1:
            own = nx.kamada_kawai_layout(piece, pos={s: start[s] for s in piece})
            points = np.array([own[s] for s in piece])
            lengths = [np.linalg.norm(np.subtract(own[a], own[b])) for a, b in piece.edges]
            points = points / max(float(np.median(lengths)), 1e-9)
        else:
            points = np.zeros((1, 2))
        places[list(piece)] = points - [points[:, 0].min() - right, points[:, 1].mean()]
        right = float(places[list(piece), 0].max()) + 1.2
    return places


def _apart(places: Points, edges: npt.NDArray[Any]) -> Points:
    """Pushed apart where two are too near, in units of the middle length of an edge."""
    if len(places) < 2:
        return places
    lengths = np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1)
    out = places / (float(np.median(lengths)) if len(lengths) else 1.0)
    for _ in range(60):
        gap = out[:, None] - out[None, :]
        far = np.linalg.norm(gap, axis=2) + np.eye(len(out))
        push = np.maximum(0, 0.6 - far)
        if not push.any():
            break
        out = out + 0.5 * (gap / np.maximum(far, 1e-9)[..., None] * push[..., None]).sum(axis=1)
    return np.asarray(out)


def crossings(edges: npt.NDArray[Any], places: Points) -> float:
    """How many pairs of straight edges cross, and how many edges run through a node."""
    a, b = places[edges[:, 0]], places[edges[:, 1]]

    def side(p: Any, q: Any, r: Any) -> Any:
        u, v = q - p, r - p
        return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]

    p, q = a[:, None], b[:, None]
    one = side(p, q, a[None]) * side(p, q, b[None]) < -1e-12
    crossed = one & one.T
    middle = places[None] - p
    along = q - p
    share = np.clip((middle * along).sum(-1) / np.maximum((along**2).sum(-1), 1e-12), 0, 1)
    near = np.linalg.norm(middle - share[..., None] * along, axis=-1) < 0.12
    near[np.arange(len(edges)), edges[:, 0]] = near[np.arange(len(edges)), edges[:, 1]] = False
    return float(crossed.sum() / 2 + near.sum())


def cells_of(mdp: MDP) -> dict[Hashable, tuple[int, int]] | None:
    """Row and column of each state of a grid world; None where there is no grid.

    Labels are pairs (row, column), names that hold two integers, or integers that number the cells
    row by row, as in Gymnasium; most moves have to lead to a neighbour, in both directions.

    Examples
    --------
    >>> from obliquetd.domains import boyan_chain, four_rooms
    >>> cells_of(four_rooms().mdp)[6, 8], cells_of(boyan_chain().mdp)
    ((6, 8), None)
    """
    rows, n = mdp.table, len(mdp.states)
    kept = (rows.state != rows.next_state) & np.array(
        [bool(x != 0) for x in rows.discount.tolist()]
    )
    pairs = np.unique(rows.state[kept] * n + rows.next_state[kept])
    moves = np.column_stack(np.divmod(pairs, n))
    if n < 4 or not len(moves) or len(moves) > 9 * n:
        return None
    best, found = 0.0, None
    for least, places in _numberings(mdp.states):
        if len(np.unique(places, axis=0)) < len(places) or np.ptp(places, axis=0).min() < 1:
            continue
        step = np.abs(places[moves[:, 1]] - places[moves[:, 0]])
        near = step.sum(axis=1) == 1
        both = near.any() and step[near].any(axis=0).all()
        filled = len(places) / np.prod(np.ptp(places, axis=0) + 1.0)
        if both and near.mean() >= max(least, best + 1e-9) and filled >= 0.3:
            best, found = float(near.mean()), places
    if found is None:
        return None
    return {s: (int(i), int(j)) for s, (i, j) in zip(mdp.states, found, strict=True)}


def _numberings(states: Sequence[Any]) -> Iterator[tuple[float, npt.NDArray[np.int64]]]:
    """Rows and columns that the labels may mean, and how many moves have to agree."""
    whole = [isinstance(s, int) and not isinstance(s, bool) for s in states]
    if all(whole) and min(states) >= 0 and max(states) < 4 * len(states) + 4:
        numbers = np.array(states)
        size = int(numbers.max()) + 1
        for width in range(2, size // 2 + 1):
            if size % width == 0 and size > 4:
                yield ADJACENT["number"], np.column_stack(np.divmod(numbers, width))
    found = [re.findall(r"-?\d+", str(s)) for s in states]
    if all(len(x) == 2 and len(max(x, key=len)) < 7 for x in found):
        yield ADJACENT["pair"], np.array(found, dtype=np.int64)
