"""The geometry of a graph: nodes that fit their names, and curves between them.

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

__all__ = ["Curve", "Node", "arched", "bent", "loop", "loop_angles", "text_size"]

Points = npt.NDArray[np.float64]
HEIGHT = 11.0
"""Half the height of a node."""
SPACING = 4.0
"""The spacing of the points by which a curve is kept from the labels."""


@lru_cache(maxsize=4096)
def text_size(text: str, size: float) -> tuple[float, float]:
    """Width and height of text of one line or more."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath, text_to_path

    lines = text.split("\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that the font lacks is said where it is drawn
        font = FontProperties()
        inked = [line for line in lines if len(text_to_path.get_text_path(font, line)[0])]
        paths = [TextPath((0, 0), line, size=size) for line in inked]
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


def loop_angles(busy: Sequence[float], count: int) -> list[float]:
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
