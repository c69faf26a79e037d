"""Axes whose unit is a point of the page, so that letters and lines have the size they are planned with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from obliquetd.plotting.routes import text_size
from obliquetd.plotting.style import fresh_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LABEL", "framed"]

LABEL = 9.0
"""Size of the letters of labels and legends."""
SMALLEST, LARGEST = (380.0, 200.0), (1060.0, 720.0)
"""Width and height of a figure in points: a smaller one would not be all that a phone has room for, a larger one is shrunk."""
MARGIN = 8.0
MOST_LINES = 8
"""Entries of a legend that may stand one below the other where the picture is wider."""


def framed(bounds: Any, handles: Sequence[Any], ax: Axes | None) -> tuple[Axes, float]:
    """Axes about ``bounds`` (left, bottom, right, top) with a legend below, and the scale of letters.

    A new figure is as large as it has to be, and the scale is 1; on given axes everything becomes
    smaller where it needs more room than there is. The legend of a wide one begins at the left, where
    a phone begins to show it.
    """
    left, bottom, right, top = map(float, bounds)
    entries = [text_size(h.get_label(), LABEL)[0] + 48 for h in handles]
    given = ax is not None
    width = max(right - left + 2 * MARGIN, *entries, 40.0)
    width = max(width, SMALLEST[0]) if ax is None else width
    # on a phone it is seen whole, unless its lines would make the picture too tall
    room = min(width, SMALLEST[0]) if ax is None and len(entries) <= MOST_LINES else width
    columns = next((k for k in range(len(entries), 1, -1) if _wide(entries, k) < room - 10), 1)
    foot = 1.45 * LABEL * -(-len(handles) // columns) + 14 if handles else 0.0
    height = top - bottom + 2 * MARGIN + foot
    height = max(height, SMALLEST[1]) if ax is None else height
    if ax is None:
        scale = min(1.0, LARGEST[0] / width, LARGEST[1] / height)
        ax = fresh_axes(None, figsize=(scale * width / 72 + 0.1, scale * height / 72 + 0.1))
    else:
        scale = min(1.0, _room(ax, width, height))
    x, y = (left + right) / 2, (bottom + top) / 2 - foot / 2
    ax.set_xlim(x - width / 2, x + width / 2)
    ax.set_ylim(y - height / 2, y + height / 2)
    ax.set_aspect("equal")
    ax.set_axis_off()
    if handles:
        narrow = given or width <= SMALLEST[0]
        at = x if narrow else x - width / 2
        legend = ax.legend(
            handles=handles, frameon=False, fontsize=LABEL * scale, ncols=columns,
            loc="lower center" if narrow else "lower left", bbox_to_anchor=(at, y - height / 2), bbox_transform=ax.transData,
            borderaxespad=0.2, handlelength=2.6, labelspacing=0.35, columnspacing=1.4,
        )  # fmt: skip
        legend.set_in_layout(
            False
        )  # it is inside; room made for it would shrink lines and not letters
        for line in legend.get_lines():
            line.set_linewidth(scale * line.get_linewidth())
            line.set_markersize(scale * line.get_markersize())
    return ax, scale


def _wide(entries: Sequence[float], columns: int) -> float:
    """The width of a legend; its columns are filled one after the other, the first ones more."""
    fewest, more = divmod(len(entries), columns)
    ends = np.cumsum([fewest + (k < more) for k in range(columns)])
    return float(sum(part.max() for part in np.split(np.array(entries), ends[:-1])))


def _room(ax: Axes, width: float, height: float) -> float:
    """How many points of the page a point of the picture has on axes that are given."""
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    return float(min(72 * box.width / dpi / width, 72 * box.height / dpi / height))
