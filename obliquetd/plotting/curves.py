"""Learning curves and sensitivity to the step size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from obliquetd.algebra import parse_number, public_number
from obliquetd.display import mathtext
from obliquetd.errors import InputError, ObliqueTDError
from obliquetd.experiments import Curve, Simulation, Sweep
from obliquetd.experiments.sweep import CRITERION, Setting
from obliquetd.learners import parameters
from obliquetd.plotting.style import LETTERS, curve_labels, fresh_axes, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["few_runs", "learning_curves", "sensitivity", "shown_average"]

BAND = (10, 90)
"""The band holds the runs between these percentiles."""

POINTS = 400
"""A curve is drawn through at most so many points."""

BESIDE = 0.5
"""How strong a curve of samples is beside its exact line, which is dashed over it."""

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
    """The error of each learner over its runs: the median, a band with 80 % of them, a thin mean.

    A mean of heavy tails is that of its few largest runs; where at most a tenth of the runs make half of
    it and it leaves the band most, there is a ring, and the legend says how many. Where exact lines are given, the root of the
    runs' mean square is drawn instead, the quantity that those lines are the limit of. A mean ends
    in a cross where the first run diverged, and the label counts how many did, also outside the
    window. A curve that is 0 at every step is named in the legend and not drawn.

    Learners that a list named are called by what differs between them; names of your own stay.

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
    own = ax is None
    ax = fresh_axes(ax, figsize=(6.4, 5.0))
    names = curve_labels({name: curve.learner for name, curve in found.curves.items()})
    styles = looks([curve.learner for curve in found.curves.values()])
    seen: list[np.ndarray] = []
    for place, (name, curve) in enumerate(found.curves.items()):
        look = Look(names[name], *styles[place], curve.learner.mark, place / len(names))
        seen += _draw(ax, found.steps, inside, curve, error, runs, look, bool(exact))
        if exact and name in exact:
            line = np.asarray(exact[name], dtype=float)
            _draw_exact(ax, line, (first, last), look)
    low = min((s.min() for s in seen if s.size), default=1.0)
    high = max((s.max() for s in seen if s.size), default=1.0)
    if log if log is not None else low > 0 and high > 50 * low:
        ax.set_yscale("log")
    ax.set_xlim(first, last)
    ax.set_xlabel("step")
    ax.set_ylabel(f"{ERRORS[error]}, root mean square" if exact else ERRORS[error])
    ax.grid(True, alpha=0.25, linewidth=0.6)
    if legend:
        title = shown_average(
            len(next(iter(found.curves.values())).errors(error)[:runs]), bool(exact)
        )
        _legend(ax, title, above=own)
    return ax


def _legend(ax: Axes, title: str | None, *, above: bool) -> None:
    """Above the curves, where it covers none; on axes of the caller, whose title may be there, among them."""
    small: dict[str, Any] = {"fontsize": "small", "title_fontsize": "small", "title": title}
    if not above:
        ax.legend(framealpha=0.6, edgecolor="none", **small)
        return
    words = ax.get_legend_handles_labels()[1]
    longest = max((len(line) for text in words for line in text.split("\n")), default=0)
    ax.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False, columnspacing=1.2,
        ncols=3 if longest <= 16 else 2 if longest <= 30 else 1, **small,
    )  # fmt: skip


class Look(NamedTuple):
    """How one curve is drawn; ``shift`` is where its first mark stands, in gaps between marks."""

    label: str
    color: str
    dash: Any
    mark: str
    shift: float


def shown_average(count: int, exact: bool = False) -> str | None:
    """What a curve of so many runs is, in words."""
    if count < 2:
        return None
    average = "root mean square" if exact else "median (thin: mean)"
    return f"{average} of {count} runs, band with 80 %"


def _root_mean_square(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # a square beyond the floats is infinite
        return np.asarray(np.sqrt((values**2).mean(axis=0)))


def _draw(
    ax: Axes, steps: np.ndarray, inside: np.ndarray, curve: Curve, error: str, runs: int | None,
    look: Look, exact: bool,
) -> list[np.ndarray]:  # fmt: skip
    """One learner; returns the finite averages that were drawn."""
    values = curve.errors(error)[:runs]
    count = len(values)
    lost = sum(t is not None for t in curve.diverged_at[:runs])
    values, x = values[:, inside], steps[inside]
    mean = _root_mean_square(values) if exact else values.mean(axis=0)
    middle = mean if exact else np.median(values, axis=0)
    # a line along the axis would look like a perfect learner
    silent = bool(np.isfinite(mean).all()) and not mean.any()
    good, whole = (np.isfinite(line) & (not silent) for line in (mean, middle))
    label = look.label + (f" ({lost} of {count} runs diverged)" if lost else "")
    label += " (0 at every step, not drawn)" if silent else ""
    gap = max(1, int(whole.sum()) // 8)
    ax.plot(
        x[whole], middle[whole], color=look.color, label=label, linewidth=1.6, linestyle=look.dash, alpha=BESIDE if exact else 1,
        marker=look.mark, markersize=4,
        markevery=(int((look.shift + 0.25) * gap), gap) if whole.sum() > 8 else None,
    )  # fmt: skip
    if count > 1 and good.any():
        low, high = np.percentile(values[:, good], BAND, axis=0)
        ax.fill_between(x[good], low, high, color=look.color, alpha=0.15, linewidth=0)
        if not exact:
            ax.plot(x[good], mean[good], color=look.color, linewidth=0.7)
        parts = (values**2 if exact else values)[:, good]
        _tell_few(ax, x[good], parts, mean[good], look, exact)
    if good.any() and not good.all():
        ax.plot(
            x[good][-1:], mean[good][-1:], marker="X", markersize=9, color=look.color,
            linestyle="none",
        )  # fmt: skip
    return [middle[whole], mean[good]]


def few_runs(parts: np.ndarray) -> np.ndarray:
    """At each step the least number of runs that make half of the sum over all; 0 of nothing."""
    ordered = -np.sort(-parts, axis=0)
    total = ordered.sum(axis=0)
    counts = (np.cumsum(ordered, axis=0) < total / 2).sum(axis=0) + 1
    return np.where(total > 0, counts, 0)


def _tell_few(
    ax: Axes, x: np.ndarray, parts: np.ndarray, mean: np.ndarray, look: Look, exact: bool
) -> None:
    """A ring where the mean leaves the band most, and how many runs carry it."""
    if not len(x):
        return
    count = len(parts)
    high = np.percentile(parts, BAND[1], axis=0)
    level = parts.mean(axis=0)
    few = few_runs(parts)
    carried = (few > 0) & (few <= count // 10) & (level > high)
    if not carried.any():
        return
    beyond = np.where(carried, level / np.maximum(high, np.finfo(float).tiny), 0.0)
    worst = int(beyond.argmax())
    verb, average = "makes" if few[worst] == 1 else "make", "mean square" if exact else "mean"
    ax.plot(  # words in the picture would be struck through by curves
        x[worst], mean[worst], marker="o", markersize=9, markerfacecolor="none", markeredgewidth=1.4,
        color=look.color, linestyle="none",
        label=f"{look.label}: {few[worst]} of {count} runs {verb}\nhalf of the {average} here",
    )  # fmt: skip


def _draw_exact(ax: Axes, values: np.ndarray, window: tuple[int, int], look: Look) -> None:
    x = np.arange(len(values))
    keep = np.flatnonzero((x >= window[0]) & (x <= window[1]) & np.isfinite(values))
    if not keep.size:
        return
    keep = keep[np.unique(np.linspace(0, keep.size - 1, POINTS).astype(int))]
    ax.plot(
        x[keep], values[keep], color=look.color, linewidth=1.7,
        linestyle=(0, (3, 2)), zorder=2.5, label=f"{look.label}, exact",
    )  # fmt: skip


def sensitivity(
    found: Sweep,
    error: str = "rmse",
    criterion: str = CRITERION,
    ax: Axes | None = None,
    *,
    marked: Mapping[str, float] | None = None,
) -> Axes:
    """The error of each kind of learner against its step size, at the best of its other settings.

    Parameters
    ----------
    found : Sweep
    error, criterion
        As in :meth:`obliquetd.experiments.Sweep.settings`, with the same default: the whole run.
    ax : Axes, optional
    marked : mapping of learner name to step size, optional
        Shown as vertical lines, such as a paper's choice.

    Returns
    -------
    Axes
        Where the best setting of a learner is the least or the largest that was tried, the legend says so,
        and a ring is drawn around it: a better one may lie outside. Crosses on the upper edge are step sizes at which a run diverged, or the error is more
        than 1.5 times what it was before the first step. Bands are two standard errors.
    """
    ax = fresh_axes(ax)
    first = [curve.errors(error)[:, 0].mean() for curve in found.curves.values()]
    cap = ROOM * max(first)
    for row, name in enumerate(dict.fromkeys(c.learner.name for c in found.curves.values())):
        settings = found.sensitivity(name, error, criterion)
        kind = settings[0].learner
        alphas = np.array([s.learner.step_size(0) for s in settings])
        values = np.array([s.value for s in settings])
        spread = 2 * np.array([s.standard_error for s in settings])
        good = values <= cap
        x, y, reach = alphas[good], values[good], spread[good]
        at_edge = _edges(found, name, settings)
        told = f" (best at the edge of its grid: {', '.join(at_edge)})" if at_edge else ""
        ax.plot(
            x, y, color=kind.color, marker=kind.mark, markersize=4, linewidth=1.4,
            label=mathtext(name) + told,
        )  # fmt: skip
        if np.isfinite(reach).any():  # one run has no spread
            ax.fill_between(
                x, np.maximum(y - reach, y / 10), np.minimum(y + reach, cap), color=kind.color,
                alpha=0.2, linewidth=0,
            )  # fmt: skip
        if at_edge and good.any():
            ax.plot(
                x[y.argmin()], y.min(), marker="o", markersize=11, markerfacecolor="none",
                color=kind.color, linestyle="none",
            )  # fmt: skip
        if not good.all():
            ax.plot(
                alphas[~good], np.full((~good).sum(), 0.98 - 0.035 * row), marker="X",
                color=kind.color, linestyle="none", markersize=6, transform=ax.get_xaxis_transform(),
            )  # fmt: skip
        if marked and name in marked:
            ax.axvline(marked[name], color=kind.color, linestyle=":", linewidth=1.2)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(top=cap * 1.3)
    ax.set_xlabel("step size α (crosses: off the scale, or diverged)")
    ax.set_ylabel(f"{ERRORS[error]}, {'whole run' if criterion == 'whole' else 'last tenth'}")
    ax.grid(True, alpha=0.25, linewidth=0.6)
    ax.legend(framealpha=0.85, edgecolor="none", fontsize="small")
    return ax


def _edges(found: Sweep, name: str, settings: list[Setting]) -> list[str]:
    """The settings of the best learner of a kind that are the least or the largest that were tried.

    An end beyond which there is nothing, such as a trace of 0, is no edge; nor is one of two values.
    """
    best = min(settings, key=lambda s: s.value).learner
    tried = [c.learner for c in found.curves.values() if c.learner.name == name]
    out = []
    for setting in ("alpha", *(p.name for p in parameters(type(best)) if not p.choices)):
        read = [_plain(getattr(learner, setting)) for learner in tried]
        values = [x for x in read if x is not None]
        own = _plain(getattr(best, setting))
        if own is None or len(values) < len(read) or len(set(values)) < 3:
            continue
        domain = next((p.domain for p in parameters(type(best)) if p.name == setting), None)
        ends = () if domain is None else (domain.inf, domain.sup)
        if own in (min(values), max(values)) and own not in ends:
            out.append(f"{LETTERS.get(setting, setting)} {own:g}")
    return out


def _plain(value: Any) -> float | None:
    """A setting as a float; None for a schedule, a table or a symbol."""
    try:
        return float(public_number(parse_number(value)))
    except (ObliqueTDError, TypeError, ValueError):
        return None
