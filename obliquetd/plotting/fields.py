"""The field of a learner's mean updates, for two weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.dynamics.steady import stationary_moments
from obliquetd.errors import InputError, MathematicalError, ObliqueTDError
from obliquetd.experiments import Curve
from obliquetd.experiments.grid import setting_text
from obliquetd.plotting.style import fresh_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["vector_field"]

ARRIVED = 0.02
"""A path has arrived where it is so near to the fixed point, as a share of the picture."""
WORD, LINE = 0.3, 0.06
"""The length and the height of a note, as shares of the picture; ends that are nearer share one."""
HEADS = (0.5, 0.35, 0.65, 0.22, 0.8)
"""Where on a path its arrowhead may be, as a share of its length: the first that is clear of other heads."""
APART = 0.08
"""How far arrowheads are apart at least, as a share of the picture."""

Window = tuple[tuple[float, float], tuple[float, float]]


def vector_field(
    dynamics: MeanDynamics,
    ax: Axes | None = None,
    *,
    starts: Sequence[Sequence[float]] = (),
    alpha: float = 0.1,
    steps: int = 200,
    runs: Curve | None = None,
    window: Window | None = None,
) -> Axes:
    """The mean update b - A x for two weights, with paths of the mean on top.

    A path that has not come to the fixed point says after how many steps it ends. Beside sampled paths a
    diamond is the exact mean of the weights in the long run: along a trajectory, noise that is
    correlated with the weights holds a constant step size off the fixed point, by about as much as the
    step size (:func:`obliquetd.stationary_moments`).

    For two features, or for one and a gradient learner, whose weights are theta and w.

    Parameters
    ----------
    dynamics : MeanDynamics
        With two weights, and numbers in place of symbols.
    ax : Axes, optional
    starts : sequence of (theta_1, theta_2)
        Where the paths theta + alpha (b - A theta) begin.
    alpha : float
    steps : int
    runs : Curve, optional
        From ``simulate(..., keep_path=True)``: sampled paths, thin.
    window : ((low, high), (low, high)), optional

    Returns
    -------
    Axes

    Raises
    ------
    InputError
        For another number of weights.
    """
    A, b = np.array(dynamics.A, dtype=float), np.array(dynamics.b, dtype=float).ravel()
    if len(b) != 2:
        raise InputError(f"{len(b)} weights; the picture is for two")
    ax = fresh_axes(ax, figsize=(5.5, 5))
    fixed = _fixed_point(dynamics)
    center = np.zeros(2) if fixed is None else fixed
    points = np.array([*starts, center], dtype=float)
    if window is None:
        half = 1.3 * max(float(np.abs(points - center).max()), 1.0)
        window = ((center[0] - half, center[0] + half), (center[1] - half, center[1] + half))
    xs, ys = (np.linspace(*side, 23) for side in window)
    X, Y = np.meshgrid(xs, ys)
    U = b[0] - A[0, 0] * X - A[0, 1] * Y
    V = b[1] - A[1, 0] * X - A[1, 1] * Y
    if np.hypot(U, V).max() > 0:
        ax.streamplot(
            X, Y, U, V, color="#B0B0B0", linewidth=0.7, arrowsize=0.8, density=1.1, zorder=1
        )
    color = dynamics.learner.color
    if runs is not None:
        _draw_samples(ax, dynamics, runs, fixed)
    size = max(high - low for low, high in window)
    ends: list[tuple[Any, int]] = []
    heads: list[np.ndarray] = []
    for start in starts:
        path = [np.array(start, dtype=float)]
        for _ in range(steps):
            step = path[-1] + alpha * (b - A @ path[-1])
            if not np.isfinite(step).all() or np.abs(step - center).max() > 1e6:
                break
            path.append(step)
        _draw_path(ax, np.array(path), window, color, heads)
        if fixed is not None and _inside(path[-1], window):
            left = float(np.linalg.norm(path[-1] - fixed))
            if left > ARRIVED * size:
                ends.append((path[-1], len(path) - 1))
    if fixed is not None:
        _tell_ends(ax, ends, fixed, window)
    if fixed is not None:
        ax.plot(
            *fixed, marker="*", color="black", markersize=13, linestyle="none", label="fixed point"
        )  # fmt: skip
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=True, framealpha=0.85, edgecolor="#CCCCCC", fontsize="small")
    ax.set_xlim(*window[0])
    ax.set_ylim(*window[1])
    names = (
        (r"$\theta$", "$w$")
        if len(dynamics.learner.weights.__annotations__) > 1
        else (r"$\theta_1$", r"$\theta_2$")
    )
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    return ax


def _inside(point: Any, window: Window) -> bool:
    return all(low <= x <= high for x, (low, high) in zip(point, window, strict=True))


def _shares(point: Any, window: Window) -> Any:
    """A point as shares of the window's sides."""
    low, high = np.array(window, dtype=float).T
    return (np.asarray(point) - low) / (high - low)


def _draw_path(
    ax: Axes, path: np.ndarray, window: Window, color: str, heads: list[np.ndarray]
) -> None:
    """A path with its start, and an arrowhead about halfway along what the window shows of it.

    ``heads`` are those that are there already; the new one is added.
    """
    ax.plot(*path.T, color=color, linewidth=1.8)
    ax.plot(*path[0], marker="o", color=color, markersize=5)
    out = [i for i, point in enumerate(path) if not _inside(point, window)]
    seen = path[: out[0] if out else len(path)]
    along = np.append(0, np.linalg.norm(np.diff(seen, axis=0), axis=1).cumsum())
    if along[-1] <= 0:
        return

    def at(share: float) -> Any:
        return np.array([np.interp(share * along[-1], along, seen[:, k]) for k in (0, 1)])

    def free(share: float) -> float:
        place = _shares(at(share), window)
        return min([APART, *(float(np.linalg.norm(place - head)) for head in heads)])

    best = max(HEADS, key=free)  # the first of those that are clear
    heads.append(_shares(at(best), window))
    ends: Any = [tuple(at(best - 0.05)), tuple(at(best))]
    ax.annotate(
        "", ends[1], ends[0],
        arrowprops={"arrowstyle": "-|>", "color": color, "mutation_scale": 16, "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip


def _tell_ends(ax: Axes, ends: Sequence[tuple[Any, int]], fixed: Any, window: Window) -> None:
    """Where paths end that have not come to the fixed point, and after how many steps; one note for a crowd."""
    crowds: list[list[tuple[Any, int]]] = []
    for point, steps in ends:
        ax.plot(*point, marker="o", markersize=5, markerfacecolor="white", color="#333333")
        place = _shares(point, window)
        near = [
            crowd for crowd in crowds
            if any((np.abs(_shares(p, window) - place) < (WORD, LINE)).all() for p, _ in crowd)
        ]  # fmt: skip
        merged = [(point, steps), *(end for crowd in near for end in crowd)]
        crowds = [crowd for crowd in crowds if not any(crowd is x for x in near)] + [merged]
    for crowd in crowds:
        counts = sorted({steps for _, steps in crowd})
        told = f"after {' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} steps"
        under = bool(crowd[0][0][1] < fixed[1])
        point = min((p for p, _ in crowd), key=lambda p: p[1] if under else -p[1])
        leftward = bool(point[0] < fixed[0]) or _shares(point, window)[0] > 1 - WORD
        leftward &= bool(_shares(point, window)[0] > WORD)
        _tell(ax, point, ("each " if len(crowd) > 1 else "") + told, (leftward, under))


def _tell(ax: Axes, point: Any, text: str, below: tuple[bool, bool]) -> None:
    """A note beside a point, on its left or right and below or above it."""
    away = (-7 if below[0] else 7, -7 if below[1] else 7)
    ax.annotate(
        text, point, away, textcoords="offset points", fontsize="small",
        ha="right" if below[0] else "left", va="top" if below[1] else "bottom",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}, zorder=1.5,
    )  # fmt: skip


def _draw_samples(ax: Axes, dynamics: MeanDynamics, runs: Curve, fixed: Any) -> None:
    """Sampled paths, and where a constant step size holds them on average in the long run."""
    if runs.path.shape[-1] != 2:
        raise InputError(
            f"the sampled paths have {runs.path.shape[-1]} weights; the picture is for two, and is "
            "given them by simulate(..., keep_path=True) for a learner with theta alone"
        )
    color = dynamics.learner.color
    for path in runs.path:
        good = np.isfinite(path).all(axis=1)
        ax.plot(*path[good].T, color=color, linewidth=0.5, alpha=0.5)
    held = _long_run(dynamics, runs)
    if held is None or fixed is None:
        return
    off = float(np.linalg.norm(held - fixed))
    told = (
        f"{off:.2g} off the fixed point"
        if off > 1e-9 * (1 + float(np.linalg.norm(fixed)))
        else "at the fixed point"
    )
    ax.plot(
        *held, marker="D", markersize=8, markerfacecolor="white", markeredgewidth=1.5, color=color,
        linestyle="none",
        label=f"mean of samples in the long run,\nα {setting_text(runs.learner.alpha)}: {told}",
    )  # fmt: skip


def _long_run(dynamics: MeanDynamics, runs: Curve) -> Any:
    """The exact mean of the weights that constant steps tend to; None where there is none."""
    try:
        found = stationary_moments(
            dynamics.problem.replace(arithmetic="float"), runs.learner, sampling=dynamics.sampling
        )
    except ObliqueTDError:
        return None
    mean = np.array(found.mean[0], dtype=float).ravel()
    return mean if mean.shape == (2,) else None


def _fixed_point(dynamics: MeanDynamics) -> Any:
    """Where b - A x = 0, both weights; None where that is no one point."""
    A, b = np.array(dynamics.A, dtype=float), np.array(dynamics.b, dtype=float).ravel()
    try:
        dynamics.fixed_point()
        return np.linalg.solve(A, b)
    except (MathematicalError, np.linalg.LinAlgError):
        return None
