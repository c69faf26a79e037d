"""The eigenvalues of what learners do on average: a row for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from obliquetd.display import mathtext
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.errors import InputError
from obliquetd.plotting.style import SHADE, SHADE_LINES, curve_labels, fresh_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["eigenvalues"]

HEIGHT = 0.3
"""The height of the largest imaginary part of a row, in rows."""
FLAT = 0.02
"""Imaginary parts are enlarged as if the largest were at least that share of the row's largest eigenvalue:
what rounding makes of a repeated real one is not blown up."""
NEAR = 0.05
"""What lies this near to 0, as a share of the whole width, is shown enlarged as well."""
SAME = 1e-7
"""Floating eigenvalues as near as that, as a share of the largest, are counted as one."""
SPOTS = (
    (0.0, 10.0), (14.0, 0.0), (0.0, -10.0), (-14.0, 0.0), (12.0, 10.0), (12.0, -10.0), (-12.0, 10.0), (-12.0, -10.0),
    (-8.0, 12.0), (8.0, 12.0), (-8.0, -12.0), (8.0, -12.0),
)  # fmt: skip
"""Where a number may stand beside its mark, in points; the first that is free is taken."""
ROOM = (15.0, 9.0)
"""Points sideways and upwards between the middles of a number and of any other mark or number."""
LARGEST = 24
"""Weights up to which multiplicities are read off the exact characteristic polynomial."""


def eigenvalues(
    dynamics: MeanDynamics | Mapping[str, MeanDynamics], ax: Axes | None = None
) -> Axes:
    """The eigenvalues of A, a row for each learner; those in the hatched half make it unstable.

    E[x] moves by alpha (b - A x), so real parts have to be positive. An eigenvalue that occurs m times has
    its number beside it. Hollow marks belong to directions of the weights in which no update ever moves:
    they are 0, and ``dynamics.stability`` leaves them out. What is crowded around 0 is shown again in a
    panel of its own.

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
    for given in dynamics.values() if isinstance(dynamics, Mapping) else [dynamics]:
        if not isinstance(given, MeanDynamics):
            raise InputError(
                f"the dynamics are {given!r}; write eigenvalues(otd.mean_dynamics(problem, learner)), or a "
                "mapping of names to such"
            )
    named = dynamics if isinstance(dynamics, Mapping) else {dynamics.learner.name: dynamics}
    ax = fresh_axes(ax, figsize=(7, 1.1 + 0.55 * len(named)))
    spectra = {name: _counted(dyn) for name, dyn in named.items()}
    points = np.array([0, *(x for found, _ in spectra.values() for x, _ in found)])
    low, high = float(points.real.min()), float(points.real.max())
    width = max(high - low, 1e-12)
    tall = {name: _tallest(found) for name, (found, _) in spectra.items()}
    window = (low - max(0.1 * width, 0.15 * high), high + 0.1 * width)
    near = [abs(x) for x in points if 0 < abs(x) < NEAR * width]
    reach = 1.3 * max(near, default=0.0)
    _draw(ax, named, spectra, window, tall, enlarged=reach)
    names = curve_labels({name: dyn.learner for name, dyn in named.items()})
    ax.set_yticks(range(len(named)), list(names.values()))
    ax.set_xlabel("eigenvalues: real part")
    notes = ["hatched: unstable"]
    if any(frozen for _, frozen in spectra.values()):
        notes.append("hollow: no update moves there")
    told = " · ".join(notes)
    if any(tall.values()):
        own = ", each row on its own scale" if sum(x > 0 for x in tall.values()) > 1 else ""
        told += f"\nheight in a row: imaginary part{own}"
    ax.set_title(told, loc="left", fontsize="small")
    if near:
        from mpl_toolkits.axes_grid1 import make_axes_locatable  # type: ignore[import-untyped]

        inset = make_axes_locatable(ax).append_axes("right", size="35%", pad=0.15)
        _draw(inset, named, spectra, (-reach, reach), tall)
        inset.set_yticks([])
        inset.set_xticks([-reach / 2, reach / 2], [f"{-reach / 2:.1g}", f"{reach / 2:.1g}"])
        inset.set_xlabel("near 0")  # room is made for that of the picture
    return ax


Counted = tuple[list[tuple[complex, int]], int]
"""Eigenvalues with how often each occurs, and how many more belong to what never moves."""


def _counted(dynamics: MeanDynamics) -> Counted:
    """The eigenvalues on the span of the updates, and the dimension of the rest."""
    moving = dynamics.expectation.span.dimension
    values = dynamics.spectrum()
    frozen = len(values) - moving
    values = values[np.argsort(np.abs(values), kind="stable")][frozen:]
    if dynamics.expectation.arithmetic.kind == "exact" and 0 < moving <= LARGEST:
        coefficients = [dynamics.public(c) for c in dynamics.expectation.charpoly()]
        factors = sp.Poly(coefficients, sp.Dummy("x")).sqf_list()[1]
        found = [
            (complex(root), times)
            for factor, times in factors
            for root in np.roots(np.array([float(c) for c in factor.all_coeffs()]))
        ]
        return sorted(found, key=lambda pair: (pair[0].real, pair[0].imag)), frozen
    out: list[tuple[complex, int]] = []
    scale = SAME * float(np.abs(values).max(initial=0))
    for value in np.sort_complex(values):
        if out and abs(out[-1][0] - value) <= scale:
            out[-1] = (out[-1][0], out[-1][1] + 1)
        else:
            out.append((complex(value), 1))
    return out, frozen


def _tallest(found: list[tuple[complex, int]]) -> float:
    """The imaginary part that is drawn at full height in a row, 0 where all are real."""
    tall = max((abs(x.imag) for x, _ in found), default=0.0)
    return max(tall, FLAT * max(abs(x) for x, _ in found)) if tall else 0.0


def _draw(
    ax: Axes, named: Mapping[str, MeanDynamics], spectra: Mapping[str, Counted],
    window: tuple[float, float], tall: Mapping[str, float], *, enlarged: float = 0.0,
) -> None:  # fmt: skip
    """The rows inside a window; imaginary parts are heights, of which ``tall`` is a row's largest.

    What is at most ``enlarged`` is shown and numbered elsewhere.
    """
    ax.axvspan(
        window[0], 0, facecolor=SHADE, edgecolor=SHADE_LINES, hatch="///", linewidth=0, zorder=0
    )
    ax.axvline(0, color="#555555", linewidth=0.9)
    ax.set_xlim(*window)
    ax.set_ylim(len(spectra) - 0.5, -0.5)
    for row, (name, (found, frozen)) in enumerate(spectra.items()):
        kind: Any = named[name].learner
        ax.axhline(row, color="#CCCCCC", linewidth=0.7, zorder=0.5)
        scale = HEIGHT / tall[name] if tall[name] else 0.0
        places = [(x.real, row - scale * x.imag) for x, _ in found]
        counts = [times for _, times in found]
        where = [place for place, times in zip(places, counts, strict=True) for _ in range(times)]
        x, y = np.array(where).reshape(-1, 2).T
        still = np.zeros(frozen), np.full(frozen, row)
        for along, size in (
            ((x, y), 11),
            (still, 14),
        ):  # so that marks are seen on the fill as well
            ax.plot(
                *along, marker=kind.mark, color="white", linestyle="none", markersize=size, zorder=1
            )
        ax.plot(
            x, y, marker=kind.mark, color=kind.color, linestyle="none", label=mathtext(name), markersize=7,
        )  # fmt: skip
        if frozen:
            ax.plot(
                *still, marker=kind.mark, color=kind.color, linestyle="none", markersize=10,
                markerfacecolor="none", zorder=2.5,
            )  # fmt: skip
            places, counts = [*places, (0.0, float(row))], [*counts, frozen]
        _number(
            ax,
            places,
            [1 if abs(x) < enlarged else n for (x, _), n in zip(places, counts, strict=True)],
        )


def _number(ax: Axes, places: list[tuple[float, float]], counts: list[int]) -> None:
    """How often each mark of a row occurs, beside it and away from all others."""
    box = ax.get_window_extent()
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    dpi = ax.figure.dpi
    unit = 72 / dpi * np.array([box.width / (right - left), box.height / (bottom - top)])
    marks = np.array(places) * unit
    written: list[Any] = []
    for k, times in enumerate(counts):
        if times == 1 or not left < places[k][0] < right:
            continue
        taken = np.array([*np.delete(marks, k, axis=0), *written]).reshape(-1, 2)
        inside = [s for s in SPOTS if left * unit[0] < marks[k][0] + 1.5 * s[0] < right * unit[0]]

        def free(spot: tuple[float, float], k: int = k, taken: Any = taken) -> float:
            away = np.abs(taken - marks[k] - np.array(spot) * (1, -1)) / ROOM  # rows go down
            return min(float(away.max(axis=1).min(initial=np.inf)), 1.0)

        spot = max(inside or SPOTS, key=free)  # the first of those that are free
        written.append(marks[k] + np.array(spot) * (1, -1))
        ax.annotate(
            f"×{times}", places[k], spot, textcoords="offset points", fontsize="small", ha="center",
            va="center", bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5}, zorder=1.5,
        )  # fmt: skip
