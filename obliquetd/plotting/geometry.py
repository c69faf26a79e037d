"""The geometry of projections in the space of value functions, for two and three states.

In the coordinates sqrt(xi(s)) v(s) the Xi-norm is the usual length, so the Xi-orthogonal
projection is the perpendicular one. Every fixed point is an oblique projection of v_pi onto
span(Phi), and, by X, of its own T v_hat (the paper's Section II-B).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from obliquetd.display import mathtext
from obliquetd.errors import InputError, KindError, MathematicalError
from obliquetd.experiments.streams import dense, floating
from obliquetd.learners import LEARNERS, ResidualGradient
from obliquetd.plotting.style import OTHER, fresh_axes, kind_called
from obliquetd.problem import METHODS, PolicyEvaluation
from obliquetd.problem.compare import labelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["projections"]

TILT = np.radians(30)
"""How far the eye is from the normal of a plane: heights over it are then half as long as they are."""

LABEL_PAD, ZOOM = 7.0, 0.86
"""Points between the numbers of an axis in space and its name, and the size of the box, which leaves names room."""

NAMES = {"best": "orthogonal", "rg": ResidualGradient.name} | {
    method: LEARNERS[method].name for method in METHODS if method in LEARNERS
}
"""What the weightings are called in a picture: the learner that has the fixed point."""


def projections(
    problem: PolicyEvaluation,
    methods: Iterable[Any] | Mapping[str, Any] = ("best", "td", "setd", "etd"),
    ax: Axes | None = None,
    *,
    targets: bool = True,
) -> Axes:
    r"""Draw v_pi, span(Phi), and where each method projects v_pi to, and from which direction.

    Arrows run from v_pi to what a method makes of it; the orthogonal one has its right angle marked. Three states are seen
    from near the normal of the plane (of a line: of its plane with v_pi), and drop lines stand on the plane.

    Parameters
    ----------
    problem : PolicyEvaluation
        With two or three states that are all visited, and numbers in place of symbols.
    methods : sequence, or mapping of label to any of these
        As :func:`~obliquetd.compare` takes them: names, learners, X, Omega or fixed points.
        One that has no fixed point is named in the title.
    ax : Axes, optional
        For three states it has to be three-dimensional.
    targets : bool
        Draw T v_hat as well, from which X projects back to v_hat.

    Returns
    -------
    Axes

    Raises
    ------
    InputError
        For another number of states, features that span everything, or axes of the wrong kind.
    KindError
        For symbols.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> ax = projections(two_state(reward=1), ["best", "td"])
    >>> ax.get_legend_handles_labels()[1]
    ['span of the features', 'v', 'orthogonal', 'TD', '$T\\hat v$, from which $X$ projects']
    """
    n = len(problem.states)
    if n not in (2, 3):
        raise InputError(f"{n} states; the picture is for two or three")
    if problem.arithmetic == "symbolic":
        raise KindError("the picture needs numbers; substitute them with problem.subs")
    ops = floating(problem)
    xi = np.array(ops.xi.entries(), dtype=float)
    if (xi <= 0).any():
        raise InputError("a state is never visited, so it has no axis; give weights with xi=")
    root = np.sqrt(xi)
    Phi = root[:, None] * dense(ops.Phi)
    rank = np.linalg.matrix_rank(Phi)
    if rank == n:
        raise InputError(f"{rank} independent features on {n} states span everything")
    v = dense(ops.v_pi)[:, 0]
    own = ax is None
    ax = _axes(ax, n)
    L, r = dense(ops.L_pi), dense(ops.r_pi)[:, 0]
    hats, lost = {}, []
    for method, given in labelled(problem, methods):
        try:
            hats[method] = np.array(problem.fixed_point(given).v_hat, dtype=float).ravel()
        except MathematicalError:
            lost.append(method)
    bellman = {m: r + hat - L @ hat for m, hat in hats.items() if targets and m != "best"}
    seen = root * np.array([v, *hats.values(), *bellman.values()])
    basis = np.linalg.svd(Phi)[0][:, :rank]
    _span(ax, basis, seen)
    ax.plot(*_xyz(root * v), marker="*", markersize=14, color="black", linestyle="none", label="v")
    for method, hat in hats.items():
        after = root * bellman[method] if method in bellman else None
        _arrow(ax, root * v, root * hat, NAMES.get(method, method), after)
    _right_angle(ax, root * v, basis, seen)
    if rank == 2:
        _drop_lines(ax, basis, [root * after for after in bellman.values()])
    _name_axes(ax, problem, n)
    _frame(ax, seen)
    if n == 3:
        _look_down(ax, basis, root * v, seen)
    if lost:
        ax.set_title(
            f"no fixed point: {', '.join(NAMES.get(m, m) for m in lost)}", fontsize="small"
        )
    if bellman:
        ax.plot(
            *_xyz([np.nan] * n), marker="x", color=OTHER, linestyle=":", linewidth=1,
            label=r"$T\hat v$, from which $X$ projects",
        )  # fmt: skip
    if n == 2:
        ax.legend(frameon=False, fontsize="small")
    elif own:
        handles, words = ax.get_legend_handles_labels()
        figure: Any = ax.figure
        figure.legend(
            handles, words, loc="outside lower center", ncols=3, frameon=False, fontsize="small"
        )
    else:
        ax.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3, frameon=False, fontsize="small"
        )
    return ax


def _xyz(point: Any) -> list[Any]:
    return [[x] for x in point]


def _axes(ax: Axes | None, n: int) -> Axes:
    if n == 2:
        ax = fresh_axes(ax, figsize=(6, 5.5))
        ax.set_aspect("equal")
        return ax
    if ax is None:
        from matplotlib.figure import Figure

        solid: Axes = Figure(figsize=(7, 6), layout="constrained").add_subplot(projection="3d")
        return solid
    if ax.name != "3d":
        raise InputError(
            "three states need three-dimensional axes: subplots(subplot_kw={'projection': '3d'})"
        )
    return ax


def _span(ax: Axes, basis: Any, seen: Any) -> None:
    """The line beyond the edges of the picture, or the plane as far as what is drawn."""
    inside = seen @ basis
    low, high = inside.min(axis=0), inside.max(axis=0)
    reach = np.maximum(high - low, 0.2 * _size(seen))
    if basis.shape[1] == 1:
        room = 0.15 if len(basis) == 3 else 4  # flat axes cut it off
        line = np.array([low - room * reach, high + room * reach]) * basis[:, 0]
        ax.plot(*line.T, color=OTHER, linewidth=1.4, label="span of the features")
        return
    wide = np.full(2, 0.25 * _size(seen))
    a, b = np.meshgrid(*zip(low - wide, high + wide, strict=True))
    plane = [a * basis[i, 0] + b * basis[i, 1] for i in range(3)]
    surface: Any = ax
    surface.plot_surface(*plane, alpha=0.18, color=OTHER, label="span of the features")


def _size(seen: Any) -> float:
    """The longest side of the box around points; 1 around a single one."""
    return float(np.ptp(seen, axis=0).max()) or 1.0


def _arrow(ax: Axes, v: Any, hat: Any, name: str, bellman: Any) -> None:
    """v to v_hat, and T v_hat to v_hat dotted."""
    color = "black" if name == "orthogonal" else kind_called(name).color
    _pointed(ax, v, hat, color)
    mark = "o" if name == "orthogonal" else kind_called(name).mark
    ax.plot(*_xyz(hat), marker=mark, color=color, linestyle="none", markersize=7, label=name)
    if bellman is not None:
        ends = np.array([bellman, hat])
        ax.plot(*ends.T, color=color, linewidth=1, linestyle=":")
        ax.plot(*_xyz(bellman), marker="x", color=color, linestyle="none", markersize=7)


def _pointed(ax: Axes, start: Any, end: Any, color: str) -> None:
    """An arrow whose head a mark at its end leaves free."""
    if not np.ptp([start, end], axis=0).any():
        return
    if len(start) == 2:
        ax.annotate(
            "", end, start,
            arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 1.3, "shrinkA": 0, "shrinkB": 3,
                        "mutation_scale": 13},
        )  # fmt: skip
        return
    solid: Any = ax
    solid.quiver(
        *start, *(0.97 * (end - start)), color=color, linewidth=1.3, arrow_length_ratio=0.07
    )


def _right_angle(ax: Axes, v: Any, basis: Any, seen: Any) -> None:
    """The mark of a right angle where the perpendicular from v meets the span."""
    foot = basis @ (basis.T @ v)
    rise = v - foot
    along = basis @ (basis.T @ (seen.mean(axis=0) - foot))
    lengths = np.linalg.norm(rise), np.linalg.norm(along)
    size = min(0.04 * _size(seen), 0.3 * float(lengths[0]))
    if min(lengths) <= 1e-9 * _size(seen):
        return
    up, side = (size * x / length for x, length in zip((rise, along), lengths, strict=True))
    corner = np.array([foot + side, foot + side + up, foot + up])
    ax.plot(*corner.T, color="black", linewidth=1, gid="right angle")


def _drop_lines(ax: Axes, basis: Any, points: Sequence[Any]) -> None:
    """From points perpendicularly down to the plane."""
    for point in points:
        ends = np.array([point, basis @ (basis.T @ point)])
        ax.plot(*ends.T, color=OTHER, linewidth=0.8, linestyle=(0, (2, 2)), gid="drop line")


def _frame(ax: Axes, seen: Any) -> None:
    """Let what is drawn fill flat axes."""
    if seen.shape[1] == 2:
        middle = (seen.min(axis=0) + seen.max(axis=0)) / 2
        half = 0.62 * _size(seen)
        ax.set_xlim(middle[0] - half, middle[0] + half)
        ax.set_ylim(middle[1] - half, middle[1] + half)


def _look_down(ax: Axes, basis: Any, v: Any, seen: Any) -> None:
    """Look at the plane from its normal, tilted so far that heights over it can be seen."""
    if basis.shape[1] == 1:  # the line and v make the plane
        foot = basis @ (basis.T @ v)
        basis = np.linalg.svd(np.column_stack([basis, v - foot]))[0][:, :2]
    normal = np.cross(basis[:, 0], basis[:, 1])
    normal *= np.sign(normal @ v) or 1.0
    inside = (seen - seen.mean(axis=0)) @ basis
    across = basis @ np.linalg.svd(inside)[2][1]  # along which the points lie closest together
    across *= np.sign(across[2]) or 1.0
    eye = np.cos(TILT) * normal + np.sin(TILT) * across
    solid: Any = ax
    solid.view_init(
        elev=np.degrees(np.arcsin(np.clip(eye[2], -1, 1))),
        azim=np.degrees(np.arctan2(eye[1], eye[0])),
    )


def _name_axes(ax: Axes, problem: PolicyEvaluation, n: int) -> None:
    names = [rf"$\sqrt{{\xi}}\,v$ in state {mathtext(s)}" for s in problem.states]
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    if n == 3:
        solid: Any = ax
        solid.set_zlabel(names[2])
        for axis in (solid.xaxis, solid.yaxis, solid.zaxis):
            axis.labelpad = LABEL_PAD
            axis.set_pane_color((1, 1, 1, 0))
        sides = np.ptp([solid.get_xlim(), solid.get_ylim(), solid.get_zlim()], axis=1)
        solid.set_box_aspect(sides, zoom=ZOOM)
        solid.locator_params(nbins=5)
    else:
        ax.grid(True, alpha=0.25, linewidth=0.6)
