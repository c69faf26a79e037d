"""Labels beside curves: on no curve, node or other label, and nearest to what they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.plotting.routes import Curve, Node

__all__ = ["Anchor", "box_of", "placed"]

Points = npt.NDArray[np.float64]
GAPS = (3.0, 8.0, 15.0)
"""Between a curve and its label, the best first."""
CLEAR = 2.5
"""How much nearer to its own curve a label is than to any other, so that the eye sees it."""
REACH = 40.0
"""How far from a label curves are looked at."""
MOST_JOINED = 8
FEW = 24
"""Labels up to which two are moved at once."""


def box_of(places: Any, size: tuple[float, float]) -> Any:
    """Left, bottom, right and top of boxes about places."""
    half = np.array(size) / 2
    places = np.asarray(places, dtype=float)
    return np.concatenate([places - half, places + half], axis=-1)


@dataclass(frozen=True)
class Anchor:
    """Where a label may be: points, directions in which it stands off, and a cost and the stroke of each."""

    points: Points
    away: Points
    cost: Any
    strokes: Any

    @classmethod
    def along(cls, curve: Curve, early: bool = True) -> Anchor:
        """Beside a curve, first of all beside its middle, or a little nearer to its beginning."""
        shares = np.linspace(0.12, 0.88, 15)
        points, right = curve.at(shares), curve.across(shares)
        off = np.abs(shares - (0.45 if early else 0.5))
        return cls(
            np.vstack([points, points]),
            np.vstack([right, -right]),
            np.concatenate([off, off + 0.02]),
            np.full(2 * len(shares), curve.stroke),
        )

    @classmethod
    def around(cls, place: Points, room: float, stroke: int) -> Anchor:
        """On all sides of a point."""
        angles = np.arange(16) * np.pi / 8
        away = np.column_stack([np.cos(angles), np.sin(angles)])
        cost = 0.02 * np.arange(16.0) / 16
        return cls(place + room * away, away, cost, np.full(16, stroke))

    @classmethod
    def any_of(cls, anchors: Sequence[Anchor]) -> Anchor:
        """At any one of them; the first few will do, for more take long."""
        few = anchors[:MOST_JOINED]
        return cls(
            np.vstack([x.points for x in few]),
            np.vstack([x.away for x in few]),
            np.concatenate([x.cost for x in few]),
            np.concatenate([x.strokes for x in few]),
        )


def placed(
    sizes: Sequence[tuple[float, float]],
    anchors: Sequence[Anchor],
    curves: Sequence[Curve],
    nodes: Sequence[Node],
) -> tuple[list[Points], list[int], Any, Any]:
    """A place for each label, and the stroke that it is beside; which cover something, and which are not clearly nearest to their own curve."""
    points = np.vstack([c.points for c in curves]) if curves else np.zeros((0, 2))
    whose = np.array([c.stroke for c in curves for _ in c.points], dtype=int)
    blocks = np.array([box_of(n.place, (2 * n.wide + 4, 2 * n.high + 4)) for n in nodes])
    choices, costs, hard, unclear, beside = [], [], [], [], []
    for size, anchor in zip(sizes, anchors, strict=True):
        half = np.array(size) / 2
        flat = np.eye(2)[np.abs(anchor.away / half).argmax(axis=1)] * np.sign(anchor.away)
        tries = [(flat, g, 0.0) for g in GAPS] + [(anchor.away, g, 0.05) for g in GAPS[:2]]
        centers = np.vstack(
            [anchor.points + (np.abs(away) @ half + gap)[:, None] * away for away, gap, _ in tries]
        )
        boxes = box_of(centers, size)
        near = _around(boxes, points)
        far, of = _distance(boxes, points[near]), whose[near]
        beside.append(np.tile(anchor.strokes, len(tries)))
        bad = (far < 1.5).sum(axis=1) + 20.0 * _meet(boxes, blocks).sum(axis=1)
        own = far.min(axis=1, initial=np.inf, where=of == beside[-1][:, None])
        other = far.min(axis=1, initial=np.inf, where=~np.isin(of, anchor.strokes))
        cost = np.concatenate([anchor.cost + 0.012 * gap + more for _, gap, more in tries])
        choices.append(boxes)
        hard.append(bad)
        # A label belongs to what it is nearest to.
        unclear.append(other < own + CLEAR)
        costs.append(cost + 0.06 * np.clip(7.0 - other, 0, None) + unclear[-1])
    picked = _picked(choices, hard, costs)
    boxes = np.array([choices[k][p] for k, p in enumerate(picked)]).reshape(-1, 4)
    meeting = _meet(boxes, boxes, 1.0) & ~np.eye(len(boxes), dtype=bool)
    wrong = meeting.any(axis=1) | np.array([hard[k][p] > 0 for k, p in enumerate(picked)], bool)
    vague = np.array([unclear[k][p] for k, p in enumerate(picked)], bool)
    strokes = [int(beside[k][p]) for k, p in enumerate(picked)]
    return [(b[:2] + b[2:]) / 2 for b in boxes], strokes, wrong, vague


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


def _around(boxes: Points, points: Points) -> Any:
    """Which points may matter to boxes: the farther ones are nearest to none."""
    low, high = boxes[:, :2].min(axis=0) - REACH, boxes[:, 2:].max(axis=0) + REACH
    return ((points > low) & (points < high)).all(axis=1)


def _distance(boxes: Points, points: Points) -> Points:
    """From each box to each point, 0 inside."""
    off = [np.maximum(boxes[:, k, None] - points[:, k], points[:, k] - boxes[:, k + 2, None])
           for k in (0, 1)]  # fmt: skip
    return np.asarray(np.hypot(*np.maximum(off, 0.0)))


def _meet(boxes: Points, others: Points, room: float = 0.0) -> Any:
    a, b = boxes[:, None], others[None]
    return ((a[..., :2] < b[..., 2:] + room) & (b[..., :2] < a[..., 2:] + room)).all(axis=-1)
