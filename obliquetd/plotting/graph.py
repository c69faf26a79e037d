"""The MDP as a picture of its structure, with every outcome visible.

A line for chains, a star with its centre in the centre, a grid for grid worlds, springs for the
rest; beyond what lines can show, the matrix of moves. Parallel and opposite edges are bent apart
and each self-loop has a place of its own, so no two outcomes share a line or a label.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from obliquetd.display import mathtext
from obliquetd.errors import InputError
from obliquetd.mdp import MDP
from obliquetd.plotting.fitting import fitting
from obliquetd.plotting.frame import LABEL, framed
from obliquetd.plotting.gridworld import draw_grid
from obliquetd.plotting.layout import Layout, cells_of, chain_order, layouts
from obliquetd.plotting.matrix import draw_matrix
from obliquetd.plotting.outcomes import Stroke, merged
from obliquetd.plotting.routes import Curve, Node
from obliquetd.plotting.scene import NAME, Scene
from obliquetd.problem import PolicyEvaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["mdp_graph"]

MOST_STATES = 100
"""Beyond which lines are no picture."""
MOST_LABELS = 40
"""Beyond which only outcomes with a reward, or a discount of their own, have labels."""
MOST_CHANCES = 3
"""Probabilities of an action that a legend lists."""
MOST_OUTCOMES = 4000
ACTIONS = ("#0072B2", "#B34700", "#00735C", "#9C3A78", "#7A5C00", "#5A4FB0", "#4F6470")
"""Dark enough to be read as text on white, and told apart under the common kinds of colour blindness."""
INK = "#222222"
DASHES = (0, (4, 3))


def mdp_graph(
    model: MDP | PolicyEvaluation,
    ax: Axes | None = None,
    *,
    labels: bool | None = None,
    positions: Mapping[Any, tuple[float, float]] | None = None,
) -> Axes:
    r"""Draw a model by its structure: states as nodes and outcomes as edges, coloured by action.

    A chain is a line, a star has its centre in the centre, a grid world is a grid of cells with the
    values of the target as colours and its choices as arrows; everything else is laid out by springs,
    or around a circle, with as few crossings as were found. What has more than 100 states, or far more
    moves than lines can show, is drawn as the matrix of the target's moves.

    An edge says ``action: probability``, its reward where that is not 0, and its own discount
    where that is not 1. For a problem, each edge also gives what the target (pi) and, off-policy,
    the behaviour (mu) do; the wider a line, the more often the target takes the action, and actions
    that it never takes are dashed. Three or more identical outcomes are one edge that branches
    ("1/6 each"), or in a star one ring. Labels that have no place beside their own edge are letters
    there, which the legend explains.

    Parameters
    ----------
    model : MDP or PolicyEvaluation
    ax : Axes, optional
        Letters become smaller where the picture needs more room than there is.
    labels : bool, optional
        Write on the edges; by default where all fit without covering anything.
    positions : mapping of state to (x, y), optional
        Every state's, in any unit; a graph of nodes is drawn then.

    Returns
    -------
    Axes

    Raises
    ------
    InputError
        For positions that leave out a state.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> ax = mdp_graph(two_state())
    >>> sorted(t.get_text() for t in ax.texts if t.get_gid() == "outcome")[0]
    'left: 1\nπ 0, μ 1/2'
    """
    problem = model if isinstance(model, PolicyEvaluation) else None
    mdp = model.mdp if isinstance(model, PolicyEvaluation) else model
    strokes = merged(mdp, problem) if len(mdp.table) <= MOST_OUTCOMES or positions else []
    tried: Iterable[Layout] = ()
    if positions is not None:
        tried = [_given(mdp, strokes, positions)]
    else:
        cells = cells_of(mdp)
        chain = strokes and all(isinstance(s, int) for s in mdp.states)
        if cells is not None and not (chain and chain_order(mdp, strokes)):
            return draw_grid(mdp, problem, cells, ax)
        if strokes and len(mdp.states) <= MOST_STATES and not _tangled(mdp, strokes):
            tried = layouts(mdp, strokes)
    shown = labels
    if labels is None and len(strokes) > MOST_LABELS:
        telling = sum(bool(x.tail) for x in strokes)
        shown = None if 0 < telling <= MOST_LABELS else False
        strokes = [replace(x, quiet=not x.tail) for x in strokes]
    names = [mathtext(s) for s in mdp.states]
    scene = fitting(tried, strokes, names, shown)
    if scene is None and positions is not None:
        scene = fitting(tried, strokes, names, labels=True)
    return (
        draw_matrix(mdp, problem, ax) if scene is None else _Drawing(scene, strokes, mdp, ax).axes
    )


def _tangled(mdp: MDP, strokes: Sequence[Stroke]) -> bool:
    """Whether lines would be no picture."""
    n = len(mdp.states)
    moves = {(x.sources[0], x.targets[0]) for x in strokes if not x.is_merged}
    return n > 8 and len(moves) > 4 * n + 24


def _given(mdp: MDP, strokes: Sequence[Stroke], positions: Mapping[Any, Any]) -> Layout:
    missing = [s for s in mdp.states if s not in positions]
    if missing:
        raise InputError(f"positions has no place for state {missing[0]!r}; expected one a state")
    places = np.array([positions[s] for s in mdp.states], dtype=float).reshape(-1, 2)
    far = np.linalg.norm(places[:, None] - places[None], axis=2)
    apart = far[far > 0]
    places = places / (float(apart.min()) if len(apart) else 1.0)
    hubs = {
        k: places[[*x.sources, *x.targets]].mean(axis=0) + np.array([0.0, 0.4])
        for k, x in enumerate(strokes) if x.is_merged
    }  # fmt: skip
    return Layout("given", places, hubs)


class _Drawing:
    """A scene on axes whose unit is a point, or less where there is no room."""

    def __init__(self, scene: Scene, strokes: Sequence[Stroke], mdp: MDP, ax: Axes | None) -> None:
        self.scene, self.strokes, self.mdp = scene, strokes, mdp
        self.axes, self.scale = framed(scene.bounds, self._handles(), ax)
        for k, far in scene.rings.items():
            self._ring(k, far)
        for curve in scene.curves:
            if curve.stroke not in scene.rings or curve.arrow:
                self._curve(curve)
        for k, dot in scene.dots.items():
            self._dot(k, dot)
        for s, node in enumerate(scene.nodes):
            self._node(node, mathtext(mdp.states[s]), mdp.states[s] in mdp.terminal)
        for label in scene.labels:
            self.axes.text(
                label.place[0], label.place[1], label.text, ha="center", va="center", fontsize=LABEL * self.scale,
                color=self._color(label.stroke), zorder=3.5, gid="outcome", linespacing=1.1,
                fontweight="bold" if label.text in scene.key else "normal", label=_edge(label.stroke),
            )  # fmt: skip

    def _color(self, k: int) -> str:
        action = self.strokes[k].action
        return INK if action is None else ACTIONS[action % len(ACTIONS)]

    def _line(self, k: int, scale: float) -> dict[str, Any]:
        stroke = self.strokes[k]
        return {"color": self._color(k), "linewidth": _width(stroke) * scale,
                "linestyle": "-" if stroke.taken else DASHES}  # fmt: skip

    def _curve(self, curve: Curve) -> None:
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path

        degree = len(curve.controls) - 1
        step = {1: Path.LINETO, 2: Path.CURVE3, 3: Path.CURVE4}[degree]
        path = Path([tuple(p) for p in curve.controls], [Path.MOVETO, *[step] * degree])
        self.axes.add_patch(
            FancyArrowPatch(
                path=path, arrowstyle="-|>" if curve.arrow else "-",
                mutation_scale=11 * self.scale, shrinkA=0, shrinkB=0, label=_edge(curve.stroke), **self._line(curve.stroke, self.scale),
            )
        )  # fmt: skip

    def _ring(self, k: int, far: float) -> None:
        from matplotlib.patches import Circle

        place = tuple(self.scene.nodes[self._center(k)].place)
        band = {"facecolor": "none", "edgecolor": self._color(k), "zorder": 0.5}
        self.axes.add_patch(Circle(place, far, linewidth=9 * self.scale, alpha=0.16, **band))
        line = {x: y for x, y in self._line(k, self.scale).items() if x != "color"}
        self.axes.add_patch(Circle(place, far, label=_edge(k), **band, **line))

    def _center(self, k: int) -> int:
        return next(s for s in range(len(self.mdp.states)) if s not in self.strokes[k].targets)

    def _dot(self, k: int, dot: Node) -> None:
        from matplotlib.patches import Circle

        self.axes.add_patch(Circle(tuple(dot.place), dot.high, color=self._color(k), zorder=3))

    def _node(self, node: Node, text: str, terminal: bool) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        turns = np.linspace(-math.pi / 2, math.pi / 2, 24)
        right = node.high * np.column_stack([np.cos(turns), np.sin(turns)])
        off = np.array([node.wide - node.high, 0.0])
        rim = np.vstack([right + off, -right - off])
        codes = [Path.MOVETO, *[Path.LINETO] * (len(rim) - 1)]
        path = Path(np.vstack([rim, rim[:1]]) + node.place, [*codes, Path.CLOSEPOLY])
        self.axes.add_patch(
            PathPatch(
                path, zorder=4,
                facecolor="#E4E4E4" if terminal else "white", edgecolor="black",
                linewidth=(2.2 if terminal else 1.2) * self.scale,
            )
        )  # fmt: skip
        self.axes.text(
            node.place[0], node.place[1], text, ha="center", va="center_baseline", fontsize=NAME * self.scale,
            zorder=5, gid="state",
        )  # fmt: skip

    def _handles(self) -> list[Any]:
        """What the picture draws: each action's line as it is there, then what lines mean."""
        from matplotlib.lines import Line2D

        handles = []
        by_action = {
            a: [x for x in self.strokes if x.action == a] for a in range(len(self.mdp.actions))
        }
        if len(self.mdp.actions) > 1:
            for a, strokes in by_action.items():
                if strokes:
                    taken = any(x.taken for x in strokes)
                    handles.append(
                        Line2D(
                            [], [], color=ACTIONS[a % len(ACTIONS)], linewidth=max(map(_width, strokes)),
                            linestyle="-" if taken else DASHES, label=mathtext(self.mdp.actions[a]) + self._chances(strokes),
                        )
                    )  # fmt: skip
        if any(not x.taken for x in self.strokes):
            handles.append(
                Line2D(
                    [],
                    [],
                    color=INK,
                    linewidth=1.1,
                    linestyle=DASHES,
                    label="not taken by the target",
                )
            )
        if len({x.chance for x in self.strokes if x.chance}) > 1:
            handles.append(
                Line2D(
                    [], [], color=INK, linewidth=3.0, label="wider: taken more often by the target"
                )
            )
        if self.mdp.terminal:
            handles.append(
                Line2D([], [], linestyle="none", marker="o", markersize=9, markerfacecolor="#E4E4E4",
                       markeredgecolor="black", markeredgewidth=2.0, label="terminal")
            )  # fmt: skip
        said = [("", label) for label in self.scene.unsaid]
        for mark, label in (*self.scene.key.items(), *said):
            told = ", ".join(label.text.split("\n"))
            told = f"{mark} = {told}" if mark else told
            handles.append(Line2D([], [], label=told, **self._line(label.stroke, 1.0)))
        handles += [Line2D([], [], linestyle="none", label=told) for told in self._left_out()]
        return handles

    @property
    def _has_labels(self) -> bool:
        return bool(self.scene.labels or self.scene.unsaid)

    def _chances(self, strokes: Sequence[Stroke]) -> str:
        """The probabilities of an action's outcomes that have no label."""
        silent = [x for x in strokes if x.quiet or not self._has_labels]
        return f": {_listed([x.likelihood for x in silent])}" if silent else ""

    def _left_out(self) -> list[str]:
        """What the edges do not say, a line each."""
        quiet = any(x.quiet for x in self.strokes)
        if not self.strokes or (self._has_labels and not quiet):
            return []
        if self.scene.labels:
            return ["edges without a label: no reward, no discount of their own"]
        out = [f"{len(self.mdp.table)} outcomes; the table of transitions", "has their numbers"]
        if len(self.mdp.actions) == 1:
            out.insert(0, f"with probability {_listed([x.likelihood for x in self.strokes])}")
        return out


def _listed(numbers: Iterable[str]) -> str:
    """A few numbers with "or", more as a range; formulas are not ordered.

    Examples
    --------
    >>> _listed(["1/2", "1", "1/2"]), _listed(["1/2", "1", "1/3", "1/4"]), _listed("abcd")
    ('1/2 or 1', '1/4 to 1', 'a, b, c, ...')
    """
    found = list(dict.fromkeys(numbers))
    if len(found) <= MOST_CHANCES:
        return " or ".join(x for x in (", ".join(found[:-1]), found[-1]) if x)
    try:
        found.sort(key=Fraction)
    except ValueError:
        return ", ".join([*found[:MOST_CHANCES], "..."])
    return f"{found[0]} to {found[-1]}"


def _edge(k: int) -> str:
    """What a stroke's lines and label share, unseen."""
    return f"_edge {k}"


def _width(stroke: Stroke) -> float:
    if not stroke.taken:
        return 1.1
    return 1.5 if stroke.chance is None else 0.9 + 1.5 * stroke.chance
