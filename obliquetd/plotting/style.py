"""What every picture shares: colours, marks and fresh axes; nothing global is touched."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any

from obliquetd.display import MADE_BY, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLORS", "MARKS", "color_of", "drawn", "fresh_axes", "mark_of"]

COLORS = {
    "TD": "#0072B2",
    "SETD": "#D55E00",
    "ETD": "#009E73",
    "GTD2": "#CC79A7",
    "TDC": "#E69F00",
    "ResidualGradient": "#56B4E9",
    "DoubleSampledResidualGradient": "#7A5C00",
}
"""One colour a learner, in every figure: the palette of Okabe and Ito (2008), which the
common kinds of colour blindness tell apart."""

MARKS = {"TD": "o", "SETD": "s", "ETD": "^", "GTD2": "D", "TDC": "v"}
"""A mark beside the colour, for print in grey."""

OTHER = "#444444"


def color_of(name: str) -> str:
    """The colour of a learner, by its name or by a label that begins with it."""
    return COLORS.get(name.split(" ")[0], OTHER)


def mark_of(name: str) -> str:
    """The mark of a learner."""
    return MARKS.get(name.split(" ")[0], "P")


def fresh_axes(ax: Axes | None, **size: Any) -> Axes:
    """The given axes, or the axes of a new figure that no global list holds."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(layout="constrained", **size).subplots()


def drawn(ax: Axes, kind: str, salt: str = "obliquetd") -> bytes:
    """The figure of the axes as a PNG or SVG file, the same bytes every time.

    ``salt`` makes the names inside an SVG, which have to differ where two share a page.

    Warns
    -----
    UserWarning
        Once, where a name has letters that the font lacks.
    """
    about: dict[str, Any] = (
        {"Creator": MADE_BY, "Date": None} if kind == "svg" else {"Software": MADE_BY}
    )
    import matplotlib

    buffer = io.BytesIO()
    style: Any = {"svg.hashsalt": salt, "svg.fonttype": "path"}
    figure: Any = ax.figure
    with warnings.catch_warnings(record=True) as heard, matplotlib.rc_context(style):
        warnings.simplefilter("always")
        figure.savefig(buffer, format=kind, metadata=about, dpi=150, bbox_inches="tight")
    lacking: dict[str, None] = {}
    for warning in heard:
        found = re.match(r"Glyph (\d+) ", str(warning.message))
        if found:
            lacking[chr(int(found[1]))] = None
        else:
            warnings.warn(warning.message, warning.category, stacklevel=2)
    if lacking:
        warnings.warn(
            f"the font of the pictures has no {', '.join(map(visible, list(lacking)[:10]))}; boxes stand there",
            stacklevel=2,
        )
    return buffer.getvalue()
