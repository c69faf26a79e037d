"""For which values of one symbol, or of two, a learner is stable: exact ends, exact cells."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from obliquetd.algebra import number_text
from obliquetd.dynamics import stability_region
from obliquetd.dynamics.plane import Plane, Strip, plane_of
from obliquetd.dynamics.regions import stability_map
from obliquetd.errors import InputError
from obliquetd.learners import Learner
from obliquetd.plotting.style import (
    SHADE,
    SHADE_LINES,
    equation_text,
    fresh_axes,
    labels,
    symbol_text,
)
from obliquetd.problem import PolicyEvaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["stability_regions", "stability_regions_2d"]

WORDS = {True: "stable", False: "unstable", None: "no model"}
FILLS: dict[bool | None, dict[str, Any]] = {
    True: {"facecolor": "#E9F5EC"},
    False: {"facecolor": SHADE, "edgecolor": SHADE_LINES, "hatch": "///"},
    None: {"facecolor": "none"},
}
TRACED = 60
"""Places at which the edges of a strip are traced."""
RASTER = 90
"""Points a side of the grid that finds room for a word."""
MOST_EQUATIONS = 2
"""Equations in a title."""
WORD = (7.5, 3)
"""Half the length and the height of a word, in points of that grid."""
TURN, AMPLE = 1.3, 2
"""How much more room a word that stands upright has to have, and the room with which none does."""


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
    ax.set_yticks(range(len(learners)), labels(learners))
    ax.set_ylim(len(learners) - 0.5, -0.5)
    ax.set_xlim(low, high)
    ax.set_xlabel(f"stable for {symbol_text(symbol)}")
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
) -> Axes:
    """The stable part of a plane of two symbols, filled up to its exact boundary.

    The boundary polynomials cut the rectangle into cells, by a cylindrical decomposition that misses none,
    and each is decided exactly at a rational point inside it. Hatched is unstable. A dashed line is
    one where a boundary polynomial vanishes while both sides of it are stable. White is where a probability, a
    discount or a setting leaves its range, so that there is no model.

    Parameters
    ----------
    problem, learner, symbols, ranges
        As for :func:`obliquetd.dynamics.regions.stability_map`.
    ax : Axes, optional

    Returns
    -------
    Axes
        Its title names the learner and the equation of the boundary. Its parts are patches whose gid is
        "stable", "unstable" or "no model".

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import TD
    >>> ax = stability_regions_2d(two_state("gamma"), TD(lam="l"), ("gamma", "l"))
    >>> [word.get_text() for word in ax.texts]
    ['stable', 'unstable']
    """
    from matplotlib.patches import Polygon

    found = stability_map(problem, learner, symbols, ranges, resolution=1)
    plane = plane_of(found, ranges)
    ax = fresh_axes(ax, figsize=(5.2, 4.8))
    (a, b), (c, d) = (tuple(float(sp.nsimplify(end)) for end in side) for side in ranges)
    traced = [(strip, *_traced(plane, strip)) for strip in plane.strips]
    for strip, x, edges in traced:
        for k, verdict in enumerate(strip.stable):
            outline = np.vstack(
                [np.column_stack([x, edges[:, k]]), np.column_stack([x, edges[:, k + 1]])[::-1]]
            )
            # cells never overlap, so that a page may make them see-through
            ax.add_patch(
                Polygon(
                    outline, antialiased=False, linewidth=0, gid=WORDS[verdict], **FILLS[verdict]
                )
            )
    drawn = [*_curves(plane, traced), *_walls(plane, traced)]
    for x, y, word, _ in drawn:
        ax.plot(
            x, y, color="#888888" if word == "limit" else learner.color,
            linewidth=1.8 if word == "boundary" else 1.2, linestyle=(0, (4, 3)) if word == "dashed" else "-",
            solid_capstyle="butt", zorder=3, gid=word,
        )  # fmt: skip
    without_room = _name_parts(ax, traced, drawn, ((a, b), (c, d)))
    ax.set_xlim(a, b)
    ax.set_ylim(c, d)
    ax.set_xlabel(symbol_text(symbols[0]))
    ax.set_ylabel(symbol_text(symbols[1]))
    told = _told(plane, learner, drawn)
    if "unstable" in without_room and not any("everywhere" in line for line in told):
        told = [*told, "hatched: unstable"]
    ax.set_title("\n".join(told), fontsize="medium")
    return ax


Traced = tuple[Strip, np.ndarray, np.ndarray]
Drawn = tuple[Any, Any, str, Any]
"""Places and heights of a line, its word, and the polynomial that is 0."""


def _word(sides: tuple[bool | None, bool | None], polynomial: Any, plane: Plane) -> str | None:
    """What a line between two cells is: None where nothing changes that a reader sees."""
    if sides[0] != sides[1]:
        return "limit" if None in sides else "boundary"
    return "dashed" if sides[0] and polynomial in plane.found.boundary else None


def _traced(plane: Plane, strip: Strip) -> tuple[np.ndarray, np.ndarray]:
    """The edges of a strip's cells, up to its very ends."""
    x, edges = plane.traced(strip, TRACED)
    x = np.array([float(strip.left), *x, float(strip.right)])
    return x, np.vstack([edges[:1], edges, edges[-1:]])


def _curves(plane: Plane, traced: list[Traced]) -> Iterator[Drawn]:
    """The lines between cells that lie one over the other."""
    for strip, x, edges in traced:
        for k, sides in enumerate(itertools.pairwise(strip.stable)):
            word = _word(sides, strip.curves[k], plane)
            if word:
                yield x, edges[:, k + 1], word, strip.curves[k]


def _walls(plane: Plane, traced: list[Traced]) -> Iterator[Drawn]:
    """The upright lines between strips, where a polynomial in the first symbol alone is 0."""
    first, second = plane.found.symbols
    upright = [p for p in plane.polynomials if not p.has(second)]  # those of the boundary first
    for (left, _, before), (right, _, after) in itertools.pairwise(traced):
        here = [p for p in upright if sp.simplify(p.subs(first, right.left)) == 0]
        if not here:
            continue
        heights = np.unique([*before[-1], *after[0]])
        for low, high in itertools.pairwise(heights):
            middle = (low + high) / 2
            before_it, after_it = (
                strip.stable[min(max(int(np.searchsorted(row, middle)) - 1, 0), len(row) - 2)]
                for strip, row in ((left, before[-1]), (right, after[0]))
            )
            word = _word((before_it, after_it), here[0], plane)
            if word:
                yield [float(right.left)] * 2, [low, high], word, here[0]


def _told(plane: Plane, learner: Learner, drawn: list[Drawn]) -> list[str]:
    """The title: the learner, what holds everywhere, and the equations of the lines."""
    (name,) = labels([learner], omit=plane.found.symbols)
    verdicts = plane.verdicts - {None}
    if verdicts == {True}:
        dashed = any(word == "dashed" for _, _, word, _ in drawn)
        name += ": stable everywhere" + (" off the dashed line" if dashed else "")
    elif verdicts == {False}:
        name += ": unstable everywhere"
    lines = [name]
    for word in ("boundary", "dashed"):
        found = dict.fromkeys(p for _, _, kind, p in drawn if kind == word)
        shown = list(found)[:MOST_EQUATIONS]
        lines += [f"{word}: {equation_text(p, plane.found.symbols)}" for p in shown]
        if len(found) > len(shown):
            lines.append(f"and {len(found) - len(shown)} more")
    return lines


def _middle(room: np.ndarray, far: np.ndarray) -> tuple[int, int]:
    """Where there is most room for a word; of equal places, the middle of those that are farthest from any edge."""
    best = room >= 0.97 * room.max()
    best &= far >= 0.97 * far[best].max()
    places = np.argwhere(best)
    nearest = int(np.linalg.norm(places - places.mean(axis=0), axis=1).argmin())
    return int(places[nearest][0]), int(places[nearest][1])


def _name_parts(ax: Axes, traced: list[Traced], drawn: list[Drawn], window: Any) -> list[str]:
    """Write "stable" and "unstable" where their part has most room; returns the words without any.

    A word stands on a dashed line, which is drawn inside a part, only where there is no room beside it.
    """
    (a, b), (c, d) = window
    xs, ys = (
        low + (high - low) * (np.arange(RASTER) + 0.5) / RASTER for low, high in ((a, b), (c, d))
    )
    found = np.full((RASTER, RASTER), WORDS[False], dtype=object)
    for strip, x, edges in traced:
        for i in np.flatnonzero((xs > x[0]) & (xs < x[-1])):
            row = [np.interp(xs[i], x, edges[:, k]) for k in range(1, edges.shape[1] - 1)]
            found[i] = np.array([WORDS[v] for v in strip.stable])[np.searchsorted(row, ys)]
    dashed = _dashed(drawn, window)
    without_room = []
    for word in WORDS.values():
        part = found == word
        if not part.any():
            continue
        place = _room(part & ~dashed) or _room(part)
        if place is None:
            without_room.append(word)
            continue
        at, turned = place
        ax.text(
            xs[at[0]], ys[at[1]], word, ha="center", va="center", zorder=4, rotation=90 if turned else 0,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 1 if dashed.any() else 0.85, "pad": 2},
        )  # fmt: skip
    return without_room


def _room(part: np.ndarray) -> tuple[tuple[int, int], bool] | None:
    """Where a word fits a part best, and whether it stands upright; None where it does not fit."""
    from scipy.ndimage import distance_transform_edt

    padded = np.pad(part, 1)
    level, upright = (
        distance_transform_edt(padded, sampling=1 / np.array(size))[1:-1, 1:-1]
        for size in (WORD, WORD[::-1])
    )
    turned = bool(level.max() < AMPLE and upright.max() > TURN * level.max())
    room = upright if turned else level
    if room.max() < 1:
        return None
    return _middle(room, distance_transform_edt(padded)[1:-1, 1:-1]), turned


def _dashed(drawn: list[Drawn], window: Any) -> np.ndarray:
    """The points of the grid on which a dashed line lies."""
    (a, b), (c, d) = window
    on = np.zeros((RASTER, RASTER), dtype=bool)
    for x, y, word, _ in drawn:
        if word != "dashed":
            continue
        steps = np.linspace(0, len(x) - 1, 4 * RASTER)
        along, up = (
            np.interp(steps, np.arange(len(x)), np.asarray(v, dtype=float)) for v in (x, y)
        )
        i, j = (
            (RASTER * (along - a) / (b - a)).astype(int),
            (RASTER * (up - c) / (d - c)).astype(int),
        )
        inside = (i >= 0) & (i < RASTER) & (j >= 0) & (j < RASTER)
        on[i[inside], j[inside]] = True
    return on
