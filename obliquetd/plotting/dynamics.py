"""What a learner does on average: eigenvalues, the field of its mean updates, stability regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from obliquetd.display import mathtext
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.errors import InputError, MathematicalError
from obliquetd.experiments import Curve
from obliquetd.plotting.style import fresh_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["eigenvalues", "vector_field"]

UNSTABLE = "#F3D9D9"


def eigenvalues(
    dynamics: MeanDynamics | Mapping[str, MeanDynamics], ax: Axes | None = None
) -> Axes:
    """The eigenvalues of A in the plane; those in the shaded half make a learner unstable.

    E[x] moves by alpha (b - A x), so real parts have to be positive. Eigenvalues that belong to
    weights which no update moves are drawn as well; ``dynamics.stability`` leaves them out.

    Parameters
    ----------
    dynamics : MeanDynamics, or mapping of name to MeanDynamics
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.dynamics import mean_dynamics
    >>> from obliquetd.learners import TD
    >>> ax = eigenvalues(mean_dynamics(two_state(), TD()))
    >>> ax.get_legend_handles_labels()[1]
    ['TD']
    """
    named = dynamics if isinstance(dynamics, Mapping) else {dynamics.learner.name: dynamics}
    ax = fresh_axes(ax, figsize=(5.5, 4.5))
    spectra = {name: dyn.spectrum() for name, dyn in named.items()}
    points = np.concatenate(list(spectra.values()))
    low, high = min(points.real.min(), 0.0), max(points.real.max(), 0.0)
    room = 0.15 * max(float(high - low), 1e-3)
    tall = max(1.25 * float(np.abs(points.imag).max()), 0.3 * float(high - low), 1e-3)
    ax.axvspan(low - 2 * room, 0, color=UNSTABLE, linewidth=0, zorder=0)
    ax.axhline(0, color="#888888", linewidth=0.8)
    ax.axvline(0, color="#888888", linewidth=0.8)
    for name, values in spectra.items():
        kind = named[name].learner
        ax.plot(
            values.real, values.imag, marker=kind.mark, color=kind.color, linestyle="none",
            label=mathtext(name), markersize=7, alpha=0.9,
        )  # fmt: skip
    ax.text(
        0.02, 0.97, "unstable", transform=ax.transAxes, va="top", fontsize="small", color="#8A3B3B"
    )
    ax.set_xlim(low - 2 * room, high + room)
    ax.set_ylim(-tall, tall)
    ax.set_xlabel("real part")
    ax.set_ylabel("imaginary part")
    ax.legend(frameon=False, fontsize="small")
    return ax


def vector_field(
    dynamics: MeanDynamics,
    ax: Axes | None = None,
    *,
    starts: Sequence[Sequence[float]] = (),
    alpha: float = 0.1,
    steps: int = 200,
    runs: Curve | None = None,
    window: tuple[tuple[float, float], tuple[float, float]] | None = None,
) -> Axes:
    """The mean update b - A x for two weights, with paths of the mean on top.

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
        ax.streamplot(X, Y, U, V, color="#B0B0B0", linewidth=0.7, arrowsize=0.8, density=1.1)
    color = dynamics.learner.color
    if runs is not None:
        for path in runs.path:
            good = np.isfinite(path).all(axis=1)
            ax.plot(*path[good].T, color=color, linewidth=0.5, alpha=0.5)
    for start in starts:
        path = [np.array(start, dtype=float)]
        for _ in range(steps):
            step = path[-1] + alpha * (b - A @ path[-1])
            if not np.isfinite(step).all() or np.abs(step - center).max() > 1e6:
                break
            path.append(step)
        ax.plot(*np.array(path).T, color=color, linewidth=1.8)
        ax.plot(*path[0], marker="o", color=color, markersize=5)
    if fixed is not None:
        ax.plot(
            *fixed, marker="*", color="black", markersize=13, linestyle="none", label="fixed point"
        )  # fmt: skip
        ax.legend(frameon=False, fontsize="small")
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


def _fixed_point(dynamics: MeanDynamics) -> Any:
    """Where b - A x = 0, both weights; None where that is no one point."""
    A, b = np.array(dynamics.A, dtype=float), np.array(dynamics.b, dtype=float).ravel()
    try:
        dynamics.fixed_point()
        return np.linalg.solve(A, b)
    except (MathematicalError, np.linalg.LinAlgError):
        return None
