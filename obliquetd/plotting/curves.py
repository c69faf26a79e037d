"""Learning curves and sensitivity to the step size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from obliquetd.display import mathtext
from obliquetd.errors import InputError
from obliquetd.experiments import Curve, Simulation, Sweep
from obliquetd.plotting.style import fresh_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["learning_curves", "sensitivity"]

BAND = (10, 90)
"""The band holds the runs between these percentiles."""

POINTS = 400
"""A curve is drawn through at most so many points."""

ROOM = 1.5
"""How far above its first value an error is drawn in a sensitivity plot."""

ERRORS = {"rmse": "RMSE", "rmspbe": "RMSPBE"}


def learning_curves(
    found: Simulation,
    error: str = "rmse",
    ax: Axes | None = None,
    *,
    exact: Mapping[str, Any] | None = None,
    window: tuple[int, int] | None = None,
    runs: int | None = None,
    log: bool | None = None,
    legend: bool = True,
) -> Axes:
    """The error of each learner over its runs, a band with 80 % of them, and exact lines over it.

    A curve is the mean over the runs. Where exact lines are given it is the root of their mean
    square, the quantity that those lines are the limit of; the axis says so. A curve ends in a cross where the first run diverged, and its label counts how many did, also
    outside the window. One that is 0 at every step is named in the legend and not drawn.

    Parameters
    ----------
    found : Simulation or Sweep
    error : {"rmse", "rmspbe"}
    ax : Axes, optional
        New axes unless given.
    exact : mapping of learner name to array, optional
        The root of the exact expected square error at steps 0, 1, 2, ...: a thin dark line.
    window : (first step, last step), optional
    runs : int, optional
        Draw the first so many runs; all unless given.
    log : bool, optional
        A logarithmic error axis; chosen by the range unless given.
    legend : bool

    Returns
    -------
    Axes

    Examples
    --------
    >>> import obliquetd as otd
    >>> found = otd.simulate(otd.domains.two_state(reward=1), [otd.SETD(0.01)], steps=500, runs=5)
    >>> ax = learning_curves(found)
    >>> ax.get_xlabel(), ax.get_ylabel(), ax.get_legend_handles_labels()[1]
    ('step', 'RMSE', ['SETD'])
    """
    if error not in ERRORS:
        raise InputError(f"error is {error!r}; expected 'rmse' or 'rmspbe'")
    first, last = window or (0, int(found.steps[-1]))
    inside = np.flatnonzero((found.steps >= first) & (found.steps <= last))
    if not inside.size:
        raise InputError(f"no recorded step lies in the window {first} to {last}")
    inside = inside[np.unique(np.linspace(0, inside.size - 1, POINTS).astype(int))]
    ax = fresh_axes(ax)
    seen: list[np.ndarray] = []
    for place, (name, curve) in enumerate(found.curves.items()):
        average = _root_mean_square if exact else _mean
        seen.append(_draw(ax, found.steps, inside, name, curve, error, runs, place, average))
        if exact and name in exact:
            _draw_exact(
                ax, np.asarray(exact[name], dtype=float), first, last, name, curve.learner.color
            )
    low = min((s.min() for s in seen if s.size), default=1.0)
    high = max((s.max() for s in seen if s.size), default=1.0)
    if log if log is not None else low > 0 and high > 50 * low:
        ax.set_yscale("log")
    ax.set_xlim(first, last)
    ax.set_xlabel("step")
    ax.set_ylabel(f"{ERRORS[error]}, root mean square" if exact else ERRORS[error])
    ax.grid(True, alpha=0.25, linewidth=0.6)
    if legend:
        ax.legend(frameon=False, fontsize="small")
    return ax


def _mean(values: np.ndarray) -> np.ndarray:
    return np.asarray(values.mean(axis=0))


def _root_mean_square(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # a square beyond the floats is infinite
        return np.asarray(np.sqrt((values**2).mean(axis=0)))


def _draw(
    ax: Axes, steps: np.ndarray, inside: np.ndarray, name: str, curve: Curve, error: str,
    runs: int | None, place: int, average: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:  # fmt: skip
    """One learner; returns the finite averages that were drawn."""
    values = curve.errors(error)[:runs]
    count = len(values)
    lost = sum(t is not None for t in curve.diverged_at[:runs])
    mean = average(values[:, inside])
    good = np.isfinite(mean)
    silent = (
        good.all() and not mean.any()
    )  # a line along the axis would look like a perfect learner
    good = good & (not silent)
    x, y = steps[inside][good], mean[good]
    label = mathtext(name) + (f" ({lost} of {count} runs diverged)" if lost else "")
    label += " (0 at every step, not drawn)" if silent else ""
    color = curve.learner.color
    gap = max(1, len(x) // 8)
    ax.plot(
        x, y, color=color, label=label, linewidth=1.6, marker=curve.learner.mark, markersize=4,
        markevery=(place * gap // 8 + gap // 4, gap) if len(x) > 8 else None,
    )  # fmt: skip
    if count > 1 and len(x):
        low, high = np.percentile(values[:, inside][:, good], BAND, axis=0)
        ax.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0)
    if len(x) and not good.all():
        ax.plot(x[-1:], y[-1:], marker="X", markersize=9, color=color, linestyle="none")
    return np.asarray(y)


def _draw_exact(ax: Axes, values: np.ndarray, first: int, last: int, name: str, color: str) -> None:
    x = np.arange(len(values))
    keep = np.flatnonzero((x >= first) & (x <= last) & np.isfinite(values))
    if not keep.size:
        return
    keep = keep[np.unique(np.linspace(0, keep.size - 1, POINTS).astype(int))]
    ax.plot(x[keep], values[keep], color="white", linewidth=2.6, alpha=0.8, zorder=4)
    ax.plot(
        x[keep], values[keep], color=color, linewidth=1.4, linestyle=(0, (4, 2)), zorder=5,
        label=f"{mathtext(name)}, exact",
    )  # fmt: skip


def sensitivity(
    found: Sweep,
    error: str = "rmse",
    criterion: str = "whole",
    ax: Axes | None = None,
    *,
    marked: Mapping[str, float] | None = None,
) -> Axes:
    """The error of each kind of learner against its step size, at the best of its other settings.

    Parameters
    ----------
    found : Sweep
    error, criterion
        As in :meth:`obliquetd.experiments.Sweep.settings`.
    ax : Axes, optional
    marked : mapping of learner name to step size, optional
        Shown as vertical lines, such as a paper's choice.

    Returns
    -------
    Axes
        Crosses on the upper edge are step sizes at which a run diverged, or the error is more
        than 1.5 times what it was before the first step. Bands are two standard errors.
    """
    ax = fresh_axes(ax)
    first = [curve.errors(error)[:, 0].mean() for curve in found.curves.values()]
    cap = ROOM * max(first)
    for name in dict.fromkeys(curve.learner.name for curve in found.curves.values()):
        settings = found.sensitivity(name, error, criterion)
        alphas = np.array([s.learner.step_size(0) for s in settings])
        values = np.array([s.value for s in settings])
        spread = 2 * np.array([s.standard_error for s in settings])
        good = values <= cap
        x, y, reach = alphas[good], values[good], spread[good]
        color = settings[0].learner.color
        ax.plot(
            x, y, color=color, marker=settings[0].learner.mark, markersize=4, linewidth=1.4,
            label=mathtext(name),
        )  # fmt: skip
        if np.isfinite(reach).any():  # one run has no spread
            ax.fill_between(
                x, np.maximum(y - reach, y / 10), np.minimum(y + reach, cap), color=color, alpha=0.2,
                linewidth=0,
            )  # fmt: skip
        if not good.all():
            ax.plot(
                alphas[~good], np.full((~good).sum(), 0.98), marker="X", color=color,
                linestyle="none", markersize=6, transform=ax.get_xaxis_transform(),
            )  # fmt: skip
        if marked and name in marked:
            ax.axvline(marked[name], color=color, linestyle=":", linewidth=1.2)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(top=cap * 1.3)
    ax.set_xlabel("step size alpha (crosses: off the scale, or diverged)")
    ax.set_ylabel(f"{ERRORS[error]}, {'whole run' if criterion == 'whole' else 'last tenth'}")
    ax.grid(True, alpha=0.25, linewidth=0.6)
    ax.legend(frameon=False, fontsize="small")
    return ax
