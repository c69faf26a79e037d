"""What a learner does on average: eigenvalues, the field of its mean updates, stability regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from obliquetd.algebra import number_text
from obliquetd.display import mathtext
from obliquetd.dynamics import stability_region
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.dynamics.regions import stability_map
from obliquetd.errors import InputError, MathematicalError
from obliquetd.experiments import Curve, label
from obliquetd.learners import Learner
from obliquetd.plotting.style import fresh_axes
from obliquetd.problem import PolicyEvaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["eigenvalues", "stability_regions", "stability_regions_2d", "vector_field"]

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


def stability_regions(
    problem: PolicyEvaluation,
    learners: Sequence[Learner],
    symbol: Any,
    ax: Axes | None = None,
    *,
    within: tuple[Any, Any] | None = None,
) -> Axes:
    """For each learner a bar over the values of one symbol at which it is stable; exact ends.

    Parameters
    ----------
    problem : PolicyEvaluation
        With that symbol.
    learners : sequence of Learner
    symbol : sympy.Symbol or str
    ax : Axes, optional
    within : (low, high), optional
        What the axis shows; 0 to 1 unless given.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import ETD, TD
    >>> ax = stability_regions(two_state("gamma"), [TD(), ETD()], "gamma")
    >>> [t.get_text() for t in ax.texts]
    ['[0, 5/6)', '[0, 1)']
    """
    ax = fresh_axes(ax, figsize=(6, 0.9 + 0.6 * len(learners)))
    low, high = (float(x) for x in within or (0, 1))
    for row, learner in enumerate(learners):
        region = stability_region(problem, learner, symbol)
        color = learner.color
        pieces = [p for p in _pieces(region) if p.end >= low and p.start <= high]
        for piece in pieces:
            a, b = max(low, float(piece.start)), min(high, float(piece.end))
            ax.barh(row, b - a, left=a, height=0.42, color=color, alpha=0.85)
            for x, end, opened in (
                (a, piece.start, piece.left_open),
                (b, piece.end, piece.right_open),
            ):
                if float(end) == x:
                    ax.plot(
                        x, row, marker="o", markersize=7, color=color, clip_on=False,
                        markerfacecolor="white" if opened else color,
                    )  # fmt: skip
        told = " ∪ ".join(map(_interval_text, pieces)) or "never"
        ax.text(1.02, row, told, transform=ax.get_yaxis_transform(), va="center", fontsize="small")
    ax.set_yticks(range(len(learners)), [mathtext(label(learner)) for learner in learners])
    ax.set_ylim(len(learners) - 0.5, -0.5)
    ax.set_xlim(low, high)
    ax.set_xlabel(f"stable for {mathtext(symbol)}")
    return ax


def _pieces(region: Any) -> list[Any]:
    if isinstance(region, sp.Interval):
        return [region]
    if isinstance(region, sp.Union):
        return [piece for part in region.args for piece in _pieces(part)]
    if isinstance(region, sp.FiniteSet):
        return [sp.Interval(x, x) for x in region]
    if region is sp.S.EmptySet:
        return []
    raise InputError(f"the region {region} is no union of intervals, so it cannot be drawn")


def _interval_text(piece: Any) -> str:
    left, right = "(" if piece.left_open else "[", ")" if piece.right_open else "]"
    texts = [(x, number_text(x)) for x in (piece.start, piece.end)]
    ends = [text if len(text) <= 12 else f"{float(x):.5g}" for x, text in texts]
    return f"{left}{ends[0]}, {ends[1]}{right}"


def stability_regions_2d(
    problem: PolicyEvaluation,
    learner: Learner,
    symbols: tuple[Any, Any],
    ranges: tuple[tuple[Any, Any], tuple[Any, Any]] = ((0, 1), (0, 1)),
    ax: Axes | None = None,
    *,
    resolution: int = 25,
) -> Axes:
    """The stable part of a plane of two symbols; each cell is decided exactly at its centre.

    Parameters
    ----------
    problem, learner, symbols, ranges, resolution
        As for :func:`obliquetd.dynamics.regions.stability_map`.
    ax : Axes, optional

    Returns
    -------
    Axes
        The lines are the exact boundary polynomials, where they vanish.
    """
    found = stability_map(problem, learner, symbols, ranges, resolution=resolution)
    ax = fresh_axes(ax, figsize=(5.2, 4.6))
    from matplotlib.colors import ListedColormap

    (a, b), (c, d) = ((float(low), float(high)) for low, high in ranges)
    ax.imshow(
        np.array(found.stable).T, origin="lower", extent=(a, b, c, d), aspect="auto",
        cmap=ListedColormap([UNSTABLE, "#D9EBDD"]), vmin=0, vmax=1, interpolation="nearest",
    )  # fmt: skip
    known = {str(s): s for s in {*problem.symbols, *learner.bound(problem).symbols}}
    names = [known[str(s)] for s in symbols]
    X, Y = np.meshgrid(np.linspace(a, b, 200), np.linspace(c, d, 200))
    for polynomial in found.boundary:
        values = sp.lambdify(names, polynomial, "numpy")(X, Y) * np.ones_like(X)
        if values.min() < 0 < values.max():
            ax.contour(X, Y, values, levels=[0], colors=learner.color, linewidths=1.6)
    ax.set_xlabel(mathtext(symbols[0]))
    ax.set_ylabel(mathtext(symbols[1]))
    ax.set_title(f"{mathtext(learner.name)}: green is stable", fontsize="medium")
    return ax
