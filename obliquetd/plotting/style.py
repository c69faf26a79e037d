"""What every picture shares: colours, marks and fresh axes; nothing global is touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLORS", "MARKS", "color_of", "fresh_axes", "mark_of"]

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
