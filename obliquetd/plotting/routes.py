"""The geometry of a graph: nodes that fit their names, curves between them, labels beside those.

Everything is in points, so that sizes of letters and of lines are known; a curve is a Bezier curve.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Anchor", "Curve", "Node", "arched", "bent", "box_of", "loop", "loop_angles", "placed", "text_size"]

Points = npt.NDArray[np.float64]
HEIGHT = 11.0
"""Half the height of a node."""
GAPS = (3.0, 8.0, 15.0, 24.0)
"""Between a curve and its label, the best first."""
FEW = 24
"""Labels up to which two are moved at once."""
SPACING = 6.0
"""Of the points by which a curve is kept from the labels."""


@lru_cache(maxsize=4096)
def text_size(text: str, size: float) -> tuple[float, float]:
    """Width and height of text of one line or more."""
    from matplotlib.textpath import TextPath

    lines = text.split("\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that the font lacks is said where it is drawn
        paths = [TextPath((0, 0), line, size=size) for line in lines if line.strip()]
        widths = [float(p.get_extents().width) for p in paths if len(p.vertices)]
    return max(widths, default=0.0) + 1.0, 1.2 * size * len(lines)


@dataclass(frozen=True)
class Node:
    """A capsule around a name; ``wide`` is half its width. A radius of less is a dot."""

    place: Points
    wide: float
    high: float = HEIGHT

    def holds(self, points: Points, room: float = 0.0) -> Any:
        """Which points are inside, or nearer than ``room``."""
        flat = self.wide - self.high
        x = np.maximum(np.abs(points[..., 0] - self.place[0]) - flat, 0)
        return np.hypot(x, points[..., 1] - self.place[1]) <= self.high + room

    def reach(self, angle: float) -> float:
        """From the middle to the rim."""
        lengths = np.linspace(0, self.wide + 1, 80)
        ray = self.place + lengths[:, None] * [math.cos(angle), math.sin(angle)]
        return float(lengths[self.holds(ray)].max())


@dataclass
class Curve:
    """A stroke's line: control points, and points close enough to keep labels away."""

    controls: Points
    stroke: int
    arrow: bool = True
    points: Points = field(init=False)

    def __post_init__(self) -> None:
        rough = float(np.linalg.norm(np.diff(self.controls, axis=0), axis=1).sum())
        self.points = self.at(np.linspace(0, 1, max(8, math.ceil(rough / SPACING))))

    def at(self, shares: Any) -> Points:
        """Points of the curve by de Casteljau's rule."""
        t = np.asarray(shares, dtype=float)[:, None, None]
        rows = np.broadcast_to(self.controls, (len(t), *self.controls.shape))
        while rows.shape[1] > 1:
            rows = (1 - t) * rows[:, :-1] + t * rows[:, 1:]
        return np.asarray(rows[:, 0])

    def across(self, shares: Any) -> Points:
        """Unit normals, on the right of the way."""
        t = np.asarray(shares, dtype=float)
        step = self.at(t + 1e-3) - self.at(t - 1e-3)
        normal = np.column_stack([step[:, 1], -step[:, 0]])
        return np.asarray(normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9))

    def between(self, start: float, end: float) -> Curve:
        """The part from one share to another, by the polar form."""
        degree = len(self.controls) - 1
        corners = []
        for k in range(degree + 1):
            rows = self.controls
            for t in [end] * k + [start] * (degree - k):
                rows = (1 - t) * rows[:-1] + t * rows[1:]
            corners.append(rows[0])
        return Curve(np.array(corners), self.stroke, self.arrow)

    def trimmed(self, source: Node, target: Node, room: float = 1.5) -> Curve:
        """Without what is inside the two nodes."""
        shares = np.linspace(0, 1, 241)
        points = self.at(shares)
        left = np.flatnonzero(~source.holds(points, 0.3))
        arrived = np.flatnonzero(~target.holds(points, room if self.arrow else 0.0))
        if not len(left) or not len(arrived) or left[0] >= arrived[-1]:
            return self
        return self.between(float(shares[left[0]]), float(shares[arrived[-1]]))


def bent(
    a: Node, b: Node, bend: float, stroke: int, nodes: Sequence[Node], *, arrow: bool = True
) -> Curve:
    """A curve from node to node, bent to the right of its way; more where a node is in its way."""
    others = [node for node in nodes if node is not a and node is not b]
    middles = np.array([node.place for node in others]).reshape(-1, 2)
    high = np.array([node.high for node in others]) + 4.0
    flat = np.array([node.wide - node.high for node in others])
    gap = b.place - a.place
    right = np.array([gap[1], -gap[0]])
    sign = 1.0 if bend >= 0 else -1.0
    for more in range(14):
        turns = [0.0] if more == 0 else [0.12 * more * sign, -0.12 * more * sign]
        for turn in turns if bend == 0 else turns[:1]:
            middle = (a.place + b.place) / 2 + (bend + turn) * right
            curve = Curve(np.array([a.place, middle, b.place]), stroke, arrow).trimmed(a, b)
            off = np.abs(curve.points[:, None] - middles)
            if not (np.hypot(np.maximum(off[..., 0] - flat, 0), off[..., 1]) < high).any():
                return curve
    return curve


def arched(a: Node, b: Node, height: float, stroke: int) -> Curve:
    """A leap over what is between two nodes of a line, on the right of its way; steep at its ends."""
    gap = b.place - a.place
    right = np.array([gap[1], -gap[0]]) / np.linalg.norm(gap)
    rise = 1.3 * height * right
    controls = np.array([a.place, a.place + 0.1 * gap + rise, b.place - 0.1 * gap + rise, b.place])
    return Curve(controls, stroke).trimmed(a, b)


def loop_angles(node: Node, busy: Sequence[float], count: int) -> list[float]:
    """Directions for loops, as far as can be from the curves that leave the node."""
    tries = [math.pi / 2 + k * math.pi / 12 for k in range(24)]
    taken, out = list(busy), []
    for _ in range(count):
        def free(angle: float) -> float:
            gaps = [abs(math.remainder(angle - x, 2 * math.pi)) for x in taken]
            return min([*gaps, 1.4]) + 0.05 * abs(math.sin(angle))

        best = max(tries, key=free)
        out.append(best)
        taken.append(best)
    return out


def loop(node: Node, angle: float, stroke: int) -> Curve:
    """A loop that leaves and comes back around one direction."""
    wide = 0.46
    length = (node.reach(angle) + 26) / (0.75 * math.cos(wide))
    rays = [
        node.place + length * np.array([math.cos(angle + x), math.sin(angle + x)])
        for x in (wide, -wide)
    ]
    return Curve(np.array([node.place, *rays, node.place]), stroke).trimmed(node, node)


def box_of(places: Any, size: tuple[float, float]) -> Any:
    """Left, bottom, right and top of boxes about places."""
    half = np.array(size) / 2
    places = np.asarray(places, dtype=float)
    return np.concatenate([places - half, places + half], axis=-1)


@dataclass(frozen=True)
class Anchor:
    """Where a label may be: points, directions in which it stands off, and a cost of each."""

    points: Points
    away: Points
    cost: Any

    @classmethod
    def along(cls, curve: Curve, early: bool = True) -> Anchor:
        """Beside a curve, first of all beside its middle, or a little nearer to its beginning."""
        shares = np.linspace(0.12, 0.88, 15)
        points, right = curve.at(shares), curve.across(shares)
        off = np.abs(shares - (0.45 if early else 0.5))
        return cls(
            np.vstack([points, points]), np.vstack([right, -right]), np.concatenate([off, off + 0.02])
        )

    @classmethod
    def around(cls, place: Points, room: float) -> Anchor:
        """On all sides of a point."""
        angles = np.arange(16) * math.pi / 8
        away = np.column_stack([np.cos(angles), np.sin(angles)])
        return cls(place + room * away, away, 0.02 * np.arange(16.0) / 16)


def placed(
    sizes: Sequence[tuple[float, float]],
    anchors: Sequence[Anchor],
    owners: Sequence[int],
    curves: Sequence[Curve],
    nodes: Sequence[Node],
) -> tuple[list[Points], int, int]:
    """A place for each label; how many cover something, and how many are nearer to another's curve."""
    points = np.vstack([c.points for c in curves]) if curves else np.zeros((0, 2))
    whose = np.array([c.stroke for c in curves for _ in c.points], dtype=int)
    blocks = np.array([box_of(n.place, (2 * n.wide + 4, 2 * n.high + 4)) for n in nodes])
    choices, costs, hard, unclear = [], [], [], []
    for size, anchor, owner in zip(sizes, anchors, owners, strict=True):
        half = np.array(size) / 2
        flat = np.eye(2)[np.abs(anchor.away / half).argmax(axis=1)] * np.sign(anchor.away)
        tries = [(flat, g, 0.0) for g in GAPS] + [(anchor.away, g, 0.05) for g in GAPS[:2]]
        centers = np.vstack(
            [anchor.points + (np.abs(away) @ half + gap)[:, None] * away for away, gap, _ in tries]
        )
        boxes = box_of(centers, size)
        far = _distance(boxes, points)
        bad = (far < 1.5).sum(axis=1) + 20.0 * _meet(boxes, blocks).sum(axis=1)
        own = far[:, whose == owner].min(axis=1, initial=np.inf)
        other = far[:, whose != owner].min(axis=1, initial=np.inf)
        cost = np.concatenate([anchor.cost + 0.012 * gap + more for _, gap, more in tries])
        choices.append(boxes)
        hard.append(bad)
        # A label belongs to what it is nearest to.
        unclear.append(other < own + 2.0)
        costs.append(cost + 0.06 * np.clip(7.0 - other, 0, None) + unclear[-1])
    picked = _picked(choices, hard, costs)
    boxes = np.array([choices[k][p] for k, p in enumerate(picked)]).reshape(-1, 4)
    meeting = _meet(boxes, boxes, 1.0) & ~np.eye(len(boxes), dtype=bool)
    wrong = meeting.any(axis=1) | np.array([hard[k][p] > 0 for k, p in enumerate(picked)], bool)
    vague = sum(bool(unclear[k][p]) for k, p in enumerate(picked))
    return [(b[:2] + b[2:]) / 2 for b in boxes], int(wrong.sum()), vague


def _picked(choices: list[Any], hard: list[Any], costs: list[Any]) -> list[int]:
    """One choice a label: those with the fewest clear places first, then each anew among the rest."""
    alone = [100.0 * h + c for h, c in zip(hard, costs, strict=True)]
    picked: dict[int, int] = {}

    def best(k: int, without: int | None = None) -> tuple[float, int]:
        rest = [choices[i][p] for i, p in picked.items() if i not in (k, without)]
        meet = _meet(choices[k], np.array(rest), 1.5).sum(axis=1) if rest else 0.0
        total = alone[k] + 600.0 * meet
        return float(total.min()), int(total.argmin())

    for k in sorted(range(len(choices)), key=lambda k: int((hard[k] == 0).sum())):
        picked[k] = best(k)[1]
    for _ in range(6):
        before = dict(picked)
        for k in picked:
            cost, picked[k] = best(k)
            if cost >= 100.0 and alone[k].min() < 100.0 and len(choices) <= FEW:
                _make_room(k, picked, best)
        if picked == before:
            break
    return [picked[k] for k in range(len(choices))]


def _make_room(k: int, picked: dict[int, int], best: Any) -> None:
    """Another label moves away, where both are better off than before."""
    for i in list(picked):
        if i == k:
            continue
        old = picked[k], picked[i]
        before = best(k)[0] + best(i)[0]
        picked[k] = best(k, without=i)[1]
        picked[i] = best(i)[1]
        if best(k)[0] + best(i)[0] < before - 50.0:
            return
        picked[k], picked[i] = old


def _distance(boxes: Points, points: Points) -> Points:
    """From each box to each point along the farther axis, 0 inside."""
    off = [np.maximum(boxes[:, k, None] - points[:, k], points[:, k] - boxes[:, k + 2, None])
           for k in (0, 1)]  # fmt: skip
    return np.asarray(np.maximum(np.maximum(*off), 0.0))


def _meet(boxes: Points, others: Points, room: float = 0.0) -> Any:
    a, b = boxes[:, None], others[None]
    return ((a[..., :2] < b[..., 2:] + room) & (b[..., :2] < a[..., 2:] + room)).all(axis=-1)
