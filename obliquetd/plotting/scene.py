"""A picture of a graph before it is drawn: every node, curve and label with its place.

A layout and a scale make a scene; :mod:`obliquetd.plotting.fitting` looks for those with which it can be read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.plotting.frame import LABEL
from obliquetd.plotting.keys import labelled
from obliquetd.plotting.labels import Anchor, box_of
from obliquetd.plotting.layout import Layout
from obliquetd.plotting.outcomes import Stroke
from obliquetd.plotting.routes import Curve, Node, arched, bent, loop, loop_angles, text_size

__all__ = ["NAME", "Label", "Scene", "arranged", "half_width"]

Points = npt.NDArray[np.float64]
NAME = 9.5
"""Size of the letters of a state's name."""
LARGEST = (1040.0, 640.0)
"""Width and height in points up to which letters stay readable where a report shows the picture."""
MANY = 6
"""States from which what all of them do is written once; in a star it always is."""


@dataclass(frozen=True)
class Label:
    """The text of a stroke, and the middle of its box."""

    text: str
    place: Points
    stroke: int


@dataclass
class Scene:
    """What is drawn, in points; ``wrong`` labels cover something, ``vague`` ones are not nearest to their curve.

    ``key`` says what marks mean that stand in place of labels, by the mark; ``unsaid`` are a few labels that found
    no place. A legend can say both.
    """

    nodes: list[Node]
    dots: dict[int, Node]
    curves: list[Curve]
    labels: list[Label] = field(default_factory=list)
    rings: dict[int, float] = field(default_factory=dict)
    wrong: int = 0
    vague: int = 0
    unsaid: list[Label] = field(default_factory=list)
    key: dict[str, Label] = field(default_factory=dict)

    @property
    def bounds(self) -> Points:
        """Left, bottom, right and top of everything."""
        boxes = [box_of(n.place, (2 * n.wide + 3, 2 * n.high + 3)) for n in self.nodes]
        boxes += [box_of(x.place, text_size(x.text, LABEL)) for x in self.labels]
        boxes += [np.concatenate([c.points.min(axis=0), c.points.max(axis=0)]) for c in self.curves]
        found = np.array(boxes)
        return np.concatenate([found[:, :2].min(axis=0), found[:, 2:].max(axis=0)])

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        left, bottom, right, top = self.bounds
        return float(right - left), float(top - bottom)

    @property
    def fits(self) -> bool:
        """Whether letters stay readable on a page."""
        return self.size[0] <= LARGEST[0] and self.size[1] <= LARGEST[1]

    @property
    def clear(self) -> bool:
        """Whether each label can be read, and belongs to one curve."""
        return self.fits and not self.wrong and not self.vague


def half_width(name: str) -> float:
    """The radius of the node that fits a name."""
    return max(11.0, text_size(name, NAME)[0] / 2 + 6)


def arranged(
    layout: Layout,
    strokes: Sequence[Stroke],
    names: Sequence[str],
    scale: float,
    *,
    labels: str = "",
) -> Scene:
    """The scene at a scale, with no ``labels``, with "words", or with "marks" in place of those without room."""
    nodes = [Node(p * scale, half_width(x)) for p, x in zip(layout.states, names, strict=True)]
    dots = {k: Node(p * scale, 3.0, 3.0) for k, p in layout.hubs.items()}
    scene = Scene(nodes, dots, [])
    anchors: dict[int, Anchor] = {}
    bundles: dict[tuple[int, int], list[int]] = {}
    for k, stroke in enumerate(strokes):
        if not stroke.is_merged:
            bundles.setdefault((stroke.sources[0], stroke.targets[0]), []).append(k)
    to_and_fro = any((t, s) in bundles for s, t in bundles if s != t)
    for (s, t), group in bundles.items():
        if s == t:
            continue
        way = nodes[t].place - nodes[s].place
        length = float(np.linalg.norm(way))
        gap = _lane(strokes, group, way / length) if labels else 15.0
        for i, k in enumerate(group):
            off = 9.0 + gap * i if (t, s) in bundles else gap * (i - (len(group) - 1) / 2)
            leap = layout.kind == "line" and length > (1.5 if to_and_fro else 2.5) * scale
            curve = (
                arched(nodes[s], nodes[t], 44 + 0.05 * length + 14 * i, k)
                if leap and abs(nodes[s].place[1] - nodes[t].place[1]) < 1
                else bent(nodes[s], nodes[t], 2 * off / length, k, nodes)
            )
            scene.curves.append(curve)
            anchors[k] = Anchor.along(curve)
    for k, stroke in enumerate(strokes):
        if k in dots:
            for s in stroke.sources:
                scene.curves.append(bent(nodes[s], dots[k], 0.0, k, nodes, arrow=False))
            for t in stroke.targets:
                bend = 0.25 if t in stroke.sources else 0.0
                scene.curves.append(bent(dots[k], nodes[t], bend, k, nodes))
            anchors[k] = Anchor.around(dots[k].place, 4.0, k)
        elif stroke.is_merged and layout.center is not None:
            anchors[k] = _ring(scene, layout, stroke, k)
    for s, node in enumerate(nodes):
        group = bundles.get((s, s), [])
        angles = loop_angles(_leaving(scene.curves, node), len(group))
        for k, angle in zip(group, angles, strict=True):
            curve = loop(node, angle, k)
            scene.curves.append(curve)
            anchors[k] = Anchor.along(curve, early=False)
    if labels:
        anchors = {k: x for k, x in anchors.items() if not strokes[k].quiet}
        texts = {k: _text(strokes[k], layout, names) for k in anchors}
        if layout.center is not None or len(names) >= MANY:
            _told_once(strokes, texts, anchors, names)
        taken = {*names, *(stroke.called for stroke in strokes)} if labels == "marks" else None
        said, found, scene.wrong, scene.vague = labelled(
            texts, anchors, strokes, scene.curves, [*nodes, *dots.values()], taken
        )
        scene.labels = [Label(*x) for x in said]
        for (text, _), mark in found.items():
            first = next(x for x in scene.labels if x.text == mark)
            scene.key[mark] = replace(first, text=text)
    return scene


def _lane(strokes: Sequence[Stroke], group: Sequence[int], way: Points) -> float:
    """How far parallel curves are apart for a label between them."""
    said = [k for k in group if not strokes[k].quiet]
    if not said:
        return 15.0
    sizes = np.array([text_size(strokes[k].text, LABEL) for k in said]).max(axis=0)
    return min(1.1 * float(sizes[0] * abs(way[1]) + sizes[1] * abs(way[0])) + 10.0, 120.0)


def _leaving(curves: Sequence[Curve], node: Node) -> list[float]:
    """The directions in which curves touch a node."""
    ends = [end for curve in curves for end in (curve.points[0], curve.points[-1])]
    return [math.atan2(*(end - node.place)[::-1]) for end in ends if node.holds(end, 4.0)]


def _ring(scene: Scene, layout: Layout, stroke: Stroke, k: int) -> Anchor:
    """All outer states of a star as one goal: a ring through them, and an arrow from the center."""
    middle = scene.nodes[layout.center or 0]
    outer = [scene.nodes[t] for t in stroke.targets]
    far = float(np.linalg.norm(outer[0].place - middle.place)) + 9.0 * len(scene.rings)
    scene.rings[k] = far
    turns = np.linspace(0, 2 * math.pi, 361)
    rim = middle.place + far * np.column_stack([np.cos(turns), np.sin(turns)])
    band = [middle.place + (rim - middle.place) * (far + x) / far for x in (-5, 0, 5)]
    scene.curves.append(Curve(rim[:2], k, arrow=False))
    scene.curves[-1].points = np.vstack(band)
    half = math.pi / len(outer)
    if layout.center in stroke.sources:
        angle = math.pi / 2 + half * (1 + 2 * len(scene.rings))
        tip = middle.place + (far - 5) * np.array([math.cos(angle), math.sin(angle)])
        controls = np.array([middle.place, (middle.place + tip) / 2, tip])
        scene.curves.append(Curve(controls, k).trimmed(middle, Node(tip, 0.1, 0.1)))
    angles = math.pi / 2 + half * np.arange(1, 2 * len(outer), 2)
    away = np.column_stack([np.cos(angles), np.sin(angles)])
    cost = 0.1 * np.abs(np.sin(angles))
    return Anchor(  # between two states, or where these are too near, outside of them
        middle.place + np.vstack([(far + x) * away for x in (4, 34)]),
        np.vstack([away, away]),
        np.concatenate([cost, cost + 0.3]),
        np.full(2 * len(cost), k),
    )


def _text(stroke: Stroke, layout: Layout, names: Sequence[str]) -> str:
    if stroke.is_merged and layout.center is not None:
        goal = _kind([names[t] for t in stroke.targets]) or "outer state"
        many = len(stroke.sources)
        whence = (
            "from every state" if many == len(names)
            else f"from {names[stroke.sources[0]]}" if many == 1
            else f"from each of {many} states"
        )  # fmt: skip
        return stroke.told(f" to each {goal}", whence)
    long = layout.kind == "line" and len(names) > 8  # a label of a long line has to be narrow
    return stroke.text.replace(", r = ", "\nr = ") if long else stroke.text


def _kind(names: Sequence[str]) -> str:
    """The noun that names share, such as corner in "corner 1" and "corner 2"."""
    nouns = {name.rpartition(" ")[0] for name in names}
    return nouns.pop() if len(nouns) == 1 else ""


def _told_once(
    strokes: Sequence[Stroke],
    texts: dict[int, str],
    anchors: dict[int, Anchor],
    names: Sequence[str],
) -> None:
    """One label for what every state does alike, beside any of its lines."""
    alike: dict[tuple[Any, ...], list[int]] = {}
    for k in texts:
        if not strokes[k].is_merged:
            alike.setdefault((strokes[k].targets, texts[k]), []).append(k)
    for (targets, _), group in alike.items():
        sources = {strokes[k].sources[0] for k in group}
        if len(sources) < max(3, len(names) - 1) or len(sources) < len(group):
            continue
        if len(sources) < len(names) and targets[0] in sources:
            continue
        first, *rest = group
        told = "every state" if len(sources) == len(names) else "every other state"
        texts[first] = strokes[first].told(whence=f"from {told}")
        anchors[first] = Anchor.any_of([anchors[k] for k in group])
        for k in rest:
            del texts[k], anchors[k]
