"""A small plot of a formula over its symbols: a curve for one, shades for two; no library draws it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp
from markupsafe import Markup

from obliquetd.display import html_text
from obliquetd.dynamics.domain import common_domain
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.report.sampled import holds_at, values_at
from obliquetd.report.window import UNBOUNDED

__all__ = ["SKETCHED", "Ranges", "ranges_of", "sketch"]

Ranges = Mapping[sp.Symbol, tuple[float, float]]
"""For each symbol where a plot of it begins and ends."""
WIDTH, HEIGHT, MARGIN = 96, 62, 30
POINTS, CELLS, SHADES = 97, 20, 6
ROOM = 5
"""Letters of a number beside a plot."""
SKETCHED = (
    "Where a formula is long, a small plot shows it over its symbols: a curve between the two numbers at its side, "
    "or shades of blue that grow stronger away from 0, between the two numbers below; red is negative."
)
"""What a reader has to know of these plots."""
Values = npt.NDArray[np.float64]


def ranges_of(
    problem: PolicyEvaluation, learners: Iterable[Learner] = ()
) -> dict[sp.Symbol, tuple[float, float]]:
    """Where each symbol ranges, of the part that is looked at; from 0 to 1 where nothing is left of that."""
    known = [x.bound(problem) for x in learners]
    out = {}
    for symbol in set(problem.symbols).union(*(x.symbols for x in known)):
        found = common_domain(problem, known, symbol)
        low, high = (0.0, 0.0) if found is sp.S.EmptySet else (float(found.inf), float(found.sup))
        low, high = max(low, -float(UNBOUNDED)), min(high, float(UNBOUNDED))
        out[symbol] = (low, high) if low < high else (0.0, 1.0)
    return out


def sketch(formula: Any, ranges: Ranges, where: Any = sp.true) -> Markup:
    """A formula over its first symbol, or its first two, where it holds; the others are held in the middle.

    Examples
    --------
    >>> x, y = sp.symbols("x y")
    >>> picture = sketch(1 / (1 - x), {x: (0.0, 1.0)})
    >>> picture.startswith('<svg class="sketch" role="img"'), "over x from 0 to 1" in picture
    (True, True)
    >>> "over x from 0 to 1 and y from 0 to 1" in sketch(x - y, {})
    True
    """
    symbols = sorted(formula.free_symbols, key=str)
    spans = [ranges.get(s, (0.0, 1.0)) for s in symbols]
    seen, held = symbols[:2], symbols[2:]
    axes = [_inside(*span, CELLS if len(seen) > 1 else POINTS) for span in spans[:2]]
    middle = [sum(span) / 2 for span in spans[2:]]
    grid = np.meshgrid(*axes, indexing="ij")
    points = [*grid, *(np.full_like(grid[0], m) for m in middle)]
    at = dict(zip(symbols, points, strict=True))
    values = values_at(formula, at)
    if where.free_symbols and where.free_symbols <= at.keys():
        values = np.where(holds_at(where, at), values, np.nan)
    over = " and ".join(
        f"{s} from {a:g} to {b:g}" for s, (a, b) in zip(seen, spans[:2], strict=False)
    )
    kept = "".join(f", {s} = {m:g}" for s, m in zip(held, middle, strict=True))
    good = values[np.isfinite(values)]
    if not good.size:
        return Markup('<span class="soft">no real value over {}</span>').format(over + kept)
    low, high = _window(good)
    if len(seen) > 1:
        low, high = float(good.min()), float(good.max())
    drawn = _curve(values, low, high) if len(seen) == 1 else _shades(values)
    about = f"Plot over {over}{kept}; between {low:.3g} and {high:.3g}."
    if len(seen) > 1:
        about += " Stronger is farther from 0; red is negative, and a line parts the signs."
    names = [sp.pretty(s, use_unicode=True) for s in seen]
    ends = _ends(names, spans[:2], low, high)
    wide, tall = WIDTH + MARGIN + 4, HEIGHT + (24 if len(seen) == 1 else 37)
    return Markup(
        f'<svg class="sketch" role="img" aria-label="{html_text(about)}" '
        f'viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}">'
        f"<title>{html_text(about)}</title>{drawn}{ends}</svg>"
    )


def _inside(low: float, high: float, count: int) -> Values:
    """Points in the middles of equal parts: an end may be a pole."""
    return low + (high - low) * (np.arange(count) + 0.5) / count


def _window(good: Values) -> tuple[float, float]:
    """What is drawn of the values: all of them, or without the far ends that a pole makes."""
    low, high = float(good.min()), float(good.max())
    inner = np.quantile(good, [0.08, 0.92])
    spread = float(inner[1] - inner[0])
    low, high = max(low, inner[0] - 2 * spread), min(high, inner[1] + 2 * spread)
    return (low, high) if low < high else (low - 1, high + 1)


def _curve(values: Values, low: float, high: float) -> str:
    x = MARGIN + WIDTH * (np.arange(len(values)) + 0.5) / len(values)
    y = 6 + HEIGHT * (high - values) / (high - low)
    path, pen = [], "M"
    for a, b in zip(x, y, strict=True):
        if np.isfinite(b) and 0 <= b <= HEIGHT + 12:
            path.append(f"{pen}{a:.1f} {b:.1f}")
            pen = "L"
        else:
            pen = "M"
    zero = 6 + HEIGHT * high / (high - low)
    axis = f'<path class="zero" d="M{MARGIN} {zero:.1f}h{WIDTH}"/>' if low <= 0 <= high else ""
    return f'{axis}<path class="curve" d="{"".join(path)}"/>'


def _shades(values: Values) -> str:
    """Squares, stronger the farther from 0 (each shade for as many); those of one shade are one path."""
    n, m = values.shape
    w, h = WIDTH / n, HEIGHT / m
    steps = np.nanquantile(np.abs(values), np.arange(1, SHADES) / SHADES)
    paths: dict[tuple[str, int], list[str]] = {}
    for (i, j), v in np.ndenumerate(values):
        if not np.isfinite(v):
            continue
        shade = int(np.searchsorted(steps, abs(v)))
        x, y = MARGIN + i * w, 6 + HEIGHT - (j + 1) * h
        paths.setdefault(("below" if v < 0 else "above", shade), []).append(
            f"M{x:.1f} {y:.1f}h{w:.1f}v{h:.1f}h-{w:.1f}z"
        )
    line = []
    sign = np.where(values < 0, -1.0, np.where(np.isfinite(values), 1.0, np.nan))
    if not (values > 0).any():  # what is 0 parts nothing from what is negative
        sign = np.minimum(sign, -1.0)
    for i, j in np.argwhere(sign[1:] * sign[:-1] < 0):
        line.append(f"M{MARGIN + (i + 1) * w:.1f} {6 + HEIGHT - (j + 1) * h:.1f}v{h:.1f}")
    for i, j in np.argwhere(sign[:, 1:] * sign[:, :-1] < 0):
        line.append(f"M{MARGIN + i * w:.1f} {6 + HEIGHT - (j + 1) * h:.1f}h{w:.1f}")
    parted = f'<path class="parted" d="{"".join(line)}"/>' if line else ""
    shades = "".join(
        f'<path class="{side}" fill-opacity="{(k + 1) / SHADES:.2g}" d="{"".join(d)}"/>'
        for (side, k), d in sorted(paths.items())
    )
    return shades + parted


def _short(x: float) -> str:
    """A number in the room beside a plot.

    Examples
    --------
    >>> _short(0.00066), _short(5300.0), _short(-1.2e-11), _short(0.32)
    ('7e-4', '5e3', '-1e-11', '0.32')
    """
    text = f"{x:.2g}"
    if len(text) <= ROOM:
        return text
    mantissa, _, power = f"{x:.0e}".partition("e")
    return f"{mantissa}e{int(power)}"


def _ends(names: list[str], spans: list[tuple[float, float]], low: float, high: float) -> str:
    """The frame, the symbols, and the numbers at its ends."""
    bottom = HEIGHT + 6
    at: list[tuple[str, float, float, str]] = [(f"{spans[0][0]:g}", MARGIN, bottom + 12, "start"),
          (f"{spans[0][1]:g}", MARGIN + WIDTH, bottom + 12, "end"),
          (names[0], MARGIN + WIDTH / 2, bottom + 12, "middle")]  # fmt: skip
    side = (_short(low), _short(high)) if len(names) == 1 else tuple(f"{x:g}" for x in spans[1])
    at += [(side[0], MARGIN - 3, bottom, "end"), (side[1], MARGIN - 3, 14, "end")]
    if len(names) > 1:
        at.append((names[1], MARGIN - 3, 6 + HEIGHT / 2, "end"))
        between = f"{_short(low)} to {_short(high)}"
        at.append((between, MARGIN + WIDTH / 2, bottom + 26, "middle"))
    text = "".join(
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{html_text(t)}</text>'
        for t, x, y, anchor in at
    )
    return f'<path class="frame" d="M{MARGIN} 6h{WIDTH}v{HEIGHT}h-{WIDTH}z"/>{text}'
