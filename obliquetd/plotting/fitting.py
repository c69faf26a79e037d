"""The layout and the scale at which a graph can be read.

A layout grows until no label covers a curve, a node or another label, and each is nearest to its own
curve. Labels for which no room is found become marks, which a key explains; what does not fit a page then
goes without labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from obliquetd.plotting.layout import Layout
from obliquetd.plotting.outcomes import Stroke
from obliquetd.plotting.scene import Scene, arranged, half_width

__all__ = ["fitting"]

ROOMY = (460.0, 330.0)
"""Width and height that a graph without labels takes at least one of."""
CALM = 760.0
"""Width up to which a scene grows only so that no label is nearer to the curve of another."""
SAID_BELOW = 4
"""Labels that a legend says where the picture has no room for them."""
GROWTH = 1.17
STRUCTURED = ("line", "star")
"""Layouts that show what the model is; marks in them are better than labels in another."""


def fitting(
    layouts: Iterable[Layout], strokes: Sequence[Stroke], names: Sequence[str], labels: bool | None
) -> Scene | None:
    """The first arrangement in which all labels are clear; without labels where there is none.

    With ``labels`` True they are kept, and the arrangement is that which covers least. None where not
    even the nodes fit a page.
    """
    source, seen = iter(layouts), list[Layout]()

    def each() -> Iterator[Layout]:  # a layout is made when it is tried
        yield from tuple(seen)
        for layout in source:
            seen.append(layout)
            yield layout

    best: Scene | None = None
    for layout in each() if labels is not False else ():
        tried = _grown(layout, strokes, names)
        best = min([best, tried] if best else [tried], key=_worth)
        if best.clear and (not best.key or layout.kind in STRUCTURED):
            return best
        if best.wrong > 0.3 * len(best.labels):
            break
    if best is not None and (labels or best.clear):
        return best
    scene = _plain(each, strokes, names)
    if scene is not None and best is not None and len(best.labels) <= SAID_BELOW:
        of = best.key
        scene.unsaid = [of.get(label.text, label) for label in best.labels]
    return scene


def _plain(
    each: Callable[[], Iterator[Layout]], strokes: Sequence[Stroke], names: Sequence[str]
) -> Scene | None:
    """The first layout that fits without labels."""
    for room, edge in ((14.0, 60.0), (6.0, 30.0)):
        for layout in each():
            scale = _least(layout, names, room, edge)
            scene = arranged(layout, strokes, names, scale)
            larger = min(x / max(y, 1.0) for x, y in zip(ROOMY, scene.size, strict=True))
            if larger > 1:
                return arranged(layout, strokes, names, scale * larger)
            if scene.fits:
                return scene
    return None


def _worth(scene: Scene) -> tuple[Any, ...]:
    """Orders scenes, the best first."""
    return not scene.fits, scene.wrong, scene.vague, len(scene.key), scene.size[0]


def _grown(layout: Layout, strokes: Sequence[Stroke], names: Sequence[str]) -> Scene:
    """The layout with labels, at the scale at which fewest are wrong; a little larger to be clear.

    Where none is clear at any scale, those that are not become marks.
    """
    least = 54.0 if layout.kind == "line" and len(names) > 8 else 90.0
    scale = _least(layout, names, 30.0, least)
    best = arranged(layout, strokes, names, scale, labels="words")
    best_at, smallest, further = scale, scale, 0
    for _ in range(8):
        if not (best.wrong or best.vague) or further == 3:
            break
        further += not best.wrong
        share = best.wrong / len(best.labels) if best.labels else 0.0
        scale *= GROWTH ** (1 if share < 0.15 else 2 if share < 0.4 else 3)
        scene = arranged(layout, strokes, names, scale, labels="words")
        if not scene.fits or (not best.wrong and scene.size[0] > CALM):
            break
        if _worth(scene) < _worth(best):
            best, best_at = scene, scale
    if best.clear:
        return best
    marked = [
        arranged(layout, strokes, names, x, labels="marks") for x in sorted({smallest, best_at})
    ]
    return min([best, *marked], key=_worth)


def _least(layout: Layout, names: Sequence[str], room: float, edge: float) -> float:
    """The scale at which nodes stand ``room`` apart, and the nearest neighbours ``edge``."""
    places = np.vstack([layout.states, *layout.hubs.values()])
    wide = np.array([*map(half_width, names), *[4.0] * len(layout.hubs)])
    if len(places) == 1:
        return 1.0
    i, j = np.triu_indices(len(places), 1)
    gap = np.maximum(np.abs(places[i] - places[j]), 1e-9)
    needed = np.minimum((wide[i] + wide[j] + room) / gap[:, 0], (22 + room) / gap[:, 1])
    return max(float(needed.max()), edge)
