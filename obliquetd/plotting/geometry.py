"""The geometry of projections in the space of value functions, for two and three states.

In the coordinates sqrt(xi(s)) v(s) the Xi-norm is the usual length, so the Xi-orthogonal
projection is the perpendicular one. Every fixed point is an oblique projection of v_pi onto
span(Phi), and, by X, of its own T v_hat (the paper's Section II-B).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from obliquetd.display import mathtext
from obliquetd.errors import InputError, KindError, MathematicalError
from obliquetd.experiments.streams import dense, floating
from obliquetd.learners import LEARNERS, ResidualGradient
from obliquetd.plotting.style import OTHER, fresh_axes, kind_called
from obliquetd.problem import METHODS, PolicyEvaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["projections"]

NAMES = {"best": "orthogonal", "rg": ResidualGradient.name} | {
    method: LEARNERS[method].name for method in METHODS if method in LEARNERS
}
"""What the weightings are called in a picture: the learner that has the fixed point."""


def projections(
    problem: PolicyEvaluation,
    methods: Sequence[str] = ("best", "td", "setd", "etd"),
    ax: Axes | None = None,
    *,
    targets: bool = True,
) -> Axes:
    """Draw v_pi, span(Phi), and where each method projects v_pi to, and from which direction.

    Parameters
    ----------
    problem : PolicyEvaluation
        With two or three states that are all visited, and numbers in place of symbols.
    methods : sequence of str
        Names that ``problem.fixed_point`` knows; one that has no fixed point is named in the
        title.
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
    ['span of the features', 'v', 'orthogonal', 'TD']
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
    ax = _axes(ax, n)
    L, r = dense(ops.L_pi), dense(ops.r_pi)[:, 0]
    hats, lost = {}, []
    for method in methods:
        try:
            hats[method] = np.array(problem.fixed_point(method).v_hat, dtype=float).ravel()
        except MathematicalError:
            lost.append(method)
    bellman = {m: r + hat - L @ hat for m, hat in hats.items() if targets and m != "best"}
    seen = root * np.array([0 * v, v, *hats.values(), *bellman.values()])
    _span(ax, Phi, seen, rank)
    ax.plot(*_xyz(root * v), marker="*", markersize=14, color="black", linestyle="none", label="v")
    for method, hat in hats.items():
        after = root * bellman[method] if method in bellman else None
        _arrow(ax, root * v, root * hat, NAMES.get(method, method), after)
    _name_axes(ax, problem, n)
    if lost:
        ax.set_title(f"no fixed point: {', '.join(lost)}", fontsize="small")
    ax.legend(frameon=False, fontsize="small")
    return ax


def _xyz(point: Any) -> list[Any]:
    return [[x] for x in point]


def _axes(ax: Axes | None, n: int) -> Axes:
    if n == 2:
        ax = fresh_axes(ax, figsize=(6, 5.5))
        ax.set_aspect("equal", adjustable="datalim")
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


def _span(ax: Axes, Phi: Any, seen: Any, rank: int) -> None:
    """The line or plane, as far as the points that are drawn, and the origin, reach."""
    basis = np.linalg.svd(Phi)[0][:, :rank]
    inside = seen @ basis
    low, high = inside.min(axis=0), inside.max(axis=0)
    room = 0.15 * np.maximum(high - low, 0.5)
    low, high = low - room, high + room
    if rank == 1:
        line = np.array([low, high]) * basis[:, 0]
        ax.plot(*line.T, color=OTHER, linewidth=1.4, label="span of the features")
        return
    a, b = np.meshgrid(*zip(low, high, strict=True))
    plane = [a * basis[i, 0] + b * basis[i, 1] for i in range(3)]
    surface: Any = ax
    surface.plot_surface(*plane, alpha=0.18, color=OTHER, label="span of the features")


def _arrow(ax: Axes, v: Any, hat: Any, name: str, bellman: Any) -> None:
    """v to v_hat, and T v_hat to v_hat dotted."""
    color = "black" if name == "orthogonal" else kind_called(name).color
    ends = np.array([v, hat])
    ax.plot(*ends.T, color=color, linewidth=1.3)
    mark = "o" if name == "orthogonal" else kind_called(name).mark
    ax.plot(*_xyz(hat), marker=mark, color=color, linestyle="none", markersize=7, label=name)
    if bellman is not None:
        ends = np.array([bellman, hat])
        ax.plot(*ends.T, color=color, linewidth=1, linestyle=":")
        ax.plot(*_xyz(bellman), marker="x", color=color, linestyle="none", markersize=7)


def _name_axes(ax: Axes, problem: PolicyEvaluation, n: int) -> None:
    names = [rf"$\sqrt{{\xi}}\,v$ in state {mathtext(s)}" for s in problem.states]
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    if n == 3:
        solid: Any = ax
        solid.set_zlabel(names[2])
        solid.set_aspect("equal")
    else:
        ax.grid(True, alpha=0.25, linewidth=0.6)
