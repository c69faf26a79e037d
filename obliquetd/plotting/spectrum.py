"""The eigenvalues of what learners do on average: a row for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from obliquetd.display import mathtext
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.plotting.style import OTHER, SHADE_LINES, curve_labels, fresh_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["eigenvalues"]

UNSTABLE = "#F6E3E3"
HEIGHT = 0.3
"""The height of the largest imaginary part, in rows."""
NEAR = 0.05
"""What lies this near to 0, as a share of the whole width, is shown enlarged as well."""
SAME = 1e-7
"""Floating eigenvalues as near as that, as a share of the largest, are counted as one."""
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
    named = dynamics if isinstance(dynamics, Mapping) else {dynamics.learner.name: dynamics}
    ax = fresh_axes(ax, figsize=(7, 1.1 + 0.55 * len(named)))
    spectra = {name: _counted(dyn) for name, dyn in named.items()}
    points = np.array([0, *(x for found, _ in spectra.values() for x, _ in found)])
    low, high = float(points.real.min()), float(points.real.max())
    width = max(high - low, 1e-12)
    tall = float(np.abs(points.imag).max())
    window = (low - max(0.1 * width, 0.15 * high), high + 0.1 * width)
    _draw(ax, named, spectra, window, tall)
    names = curve_labels({name: dyn.learner for name, dyn in named.items()})
    ax.set_yticks(range(len(named)), list(names.values()))
    ax.set_xlabel("eigenvalues: real part" + (" (height in a row: imaginary part)" if tall else ""))
    ax.text(
        0.01, 1.01, "hatched: unstable", transform=ax.transAxes, fontsize="small", color=SHADE_LINES
    )
    if any(frozen for _, frozen in spectra.values()):
        ax.text(
            0.01, 1.08, "hollow: no update moves there", transform=ax.transAxes, fontsize="small",
            color=OTHER,
        )  # fmt: skip
    near = [abs(x) for x in points if 0 < abs(x) < NEAR * width]
    if near:
        from mpl_toolkits.axes_grid1 import make_axes_locatable  # type: ignore[import-untyped]

        inset = make_axes_locatable(ax).append_axes("right", size="35%", pad=0.15)
        reach = 1.3 * max(near)
        _draw(inset, named, spectra, (-reach, reach), tall)
        inset.set_yticks([])
        inset.set_xticks([-reach / 2, reach / 2], [f"{-reach / 2:.1g}", f"{reach / 2:.1g}"])
        inset.set_title("near 0", fontsize="small")
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


def _draw(
    ax: Axes, named: Mapping[str, MeanDynamics], spectra: Mapping[str, Counted],
    window: tuple[float, float], tall: float,
) -> None:  # fmt: skip
    """The rows inside a window; imaginary parts are heights, of which ``tall`` is the largest."""
    ax.axvspan(
        window[0], 0, facecolor=UNSTABLE, edgecolor=SHADE_LINES, hatch="///", linewidth=0, alpha=0.35,
        zorder=0,
    )  # fmt: skip
    ax.axvline(0, color="#555555", linewidth=0.9)
    for row, (name, (found, frozen)) in enumerate(spectra.items()):
        kind: Any = named[name].learner
        ax.axhline(row, color="#CCCCCC", linewidth=0.7, zorder=0.5)
        repeated = [x for x, times in found for _ in range(times)]
        heights = [row - (HEIGHT * x.imag / tall if tall else 0) for x in repeated]
        ax.plot(
            [x.real for x in repeated], heights, marker=kind.mark, color=kind.color,
            linestyle="none", label=mathtext(name), markersize=7,
        )  # fmt: skip
        for x, times in found:
            if times > 1 and window[0] < x.real < window[1]:
                _beside(
                    ax,
                    x.real,
                    row - (HEIGHT * x.imag / tall if tall else 0),
                    f"×{times}",
                    x.imag < 0,
                )
        if frozen:
            ax.plot(
                np.zeros(frozen), np.full(frozen, row), marker=kind.mark, color=kind.color,
                linestyle="none", markersize=10, markerfacecolor="none", zorder=2.5,
            )  # fmt: skip
            if frozen > 1:
                _beside(ax, 0, row, f"×{frozen}", below=True)
    ax.set_xlim(*window)
    ax.set_ylim(len(spectra) - 0.5, -0.5)


def _beside(ax: Axes, x: float, y: float, text: str, below: bool = False) -> None:
    ax.annotate(
        text, (x, y), (4, -5 if below else 4), textcoords="offset points", fontsize="small",
        va="top" if below else "bottom",
    )  # fmt: skip
