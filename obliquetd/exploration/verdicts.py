"""Where each learner is stable, as a slider and the plane of two sliders show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from obliquetd.algebra import cell_text
from obliquetd.algebra.intervals import parts_of
from obliquetd.algebra.preimage import Limit
from obliquetd.algebra.roots import in_order
from obliquetd.dynamics.domain import limits_of
from obliquetd.dynamics.plane import plane_of
from obliquetd.dynamics.regions import stability_map, stability_region
from obliquetd.errors import ObliqueTDError
from obliquetd.exploration.sliders import Slider, holds
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.report.intervals import end_text, interval_text, where_text
from obliquetd.report.over_symbols import PLANE_SIZE

__all__ = ["Region", "limits_data", "map_of", "region_of"]

TRACED = 24
"""Places at which each strip of a plane is traced."""


@dataclass(frozen=True)
class Region:
    """The exact values of a symbol for which a learner is stable.

    Attributes
    ----------
    found : sympy.Set
    breaks : list
        Where the verdict changes, exact, in order.
    """

    found: Any
    breaks: list[Any]

    @property
    def told(self) -> str:
        """The set in a line."""
        return interval_text(self.found)

    @property
    def is_somewhere(self) -> bool:
        """Whether there is such a value."""
        return self.found is not sp.S.EmptySet

    def where(self, symbol: Any) -> str:
        """The set as the end of a sentence."""
        return where_text(self.found, symbol)

    def to_data(self, slider: Slider) -> dict[str, Any]:
        """Pieces and break points by their places on the slider, and which places are stable."""
        pieces = [[slider.index_of(p.inf), slider.index_of(p.sup)] for p in parts_of(self.found)]
        breaks = [[slider.index_of(x), end_text(x)] for x in self.breaks]
        stable = [i for i, x in enumerate(slider.places) if holds(self.found, x)]
        return {
            "pieces": pieces, "breaks": breaks, "stable": _runs(stable), "told": self.told
        }  # fmt: skip


def region_of(problem: PolicyEvaluation, learner: Learner, slider: Slider) -> Region | None:
    """The region of a learner; None where the symbol does not occur in it, or that is not known."""
    symbol = slider.symbol
    if symbol not in {*problem.symbols, *learner.bound(problem).symbols}:
        return None
    try:
        found = stability_region(problem, learner, symbol, domain=slider.domain)
    except ObliqueTDError:
        return None
    inner = {x for x in found.boundary if slider.domain.inf < x < slider.domain.sup}
    return Region(found, in_order(inner))


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Increasing whole numbers as runs without a gap.

    Examples
    --------
    >>> _runs([0, 1, 2, 5])
    [[0, 2], [5, 5]]
    """
    out: list[list[int]] = []
    for k in numbers:
        if out and out[-1][1] == k - 1:
            out[-1][1] = k
        else:
            out.append([k, k])
    return out


def map_of(
    problem: PolicyEvaluation, learner: Learner, sliders: Sequence[Slider]
) -> dict[str, Any] | str:
    """The plane of two sliders: its cells as paths in a square of side 100, or why it is not drawn.

    Each cell is decided exactly (:mod:`obliquetd.dynamics.plane`); edges are traced finer than a pixel.
    """
    n, d = problem.native.Phi.shape
    symbols = [s.symbol for s in sliders]
    if n > PLANE_SIZE[0] or d > PLANE_SIZE[1]:
        return (
            f"the map is not computed for {n} states and {d} features; up to {PLANE_SIZE[0]} states "
            f"and {PLANE_SIZE[1]} features it is"
        )
    ranges = [(s.domain.inf, s.domain.sup) for s in sliders]
    try:
        found = stability_map(problem, learner, tuple(symbols), tuple(ranges), resolution=1)  # type: ignore[arg-type]
        plane = plane_of(found, ranges)
    except ObliqueTDError as error:
        return str(error)
    (left, right), (low, high) = ([float(x) for x in r] for r in ranges)
    paths: dict[str, list[str]] = {"stable": [], "unstable": [], "none": []}
    for strip in plane.strips:
        x, edges = plane.traced(strip, TRACED)
        across = 100 * (x - left) / (right - left)
        across[0], across[-1] = (
            100 * (float(e) - left) / (right - left) for e in (strip.left, strip.right)
        )
        up = 100 - 100 * (edges - low) / (high - low)
        for k, verdict in enumerate(strip.stable):
            lower = [f"{a:.3f} {b:.3f}" for a, b in zip(across, up[:, k], strict=True)]
            upper = [f"{a:.3f} {b:.3f}" for a, b in zip(across, up[:, k + 1], strict=True)]
            name = {True: "stable", False: "unstable", None: "none"}[verdict]
            paths[name].append(f"M{'L'.join([*lower, *reversed(upper)])}z")
    return {
        **{name: "".join(parts) for name, parts in paths.items()},
        "boundary": [cell_text(p) for p in plane.polynomials],
    }


def limits_data(problem: PolicyEvaluation, learners: Sequence[Learner]) -> list[Limit]:
    """What has to hold of the symbols for there to be a model and its learners."""
    return list(dict.fromkeys(x for learner in learners for x in limits_of(problem, learner)))
