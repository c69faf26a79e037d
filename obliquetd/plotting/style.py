"""What every picture shares: colours, marks and fresh axes; nothing global is touched."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any

from obliquetd.display import MADE_BY, visible
from obliquetd.learners import LEARNERS, Learner

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLORS", "OTHER", "drawn", "fresh_axes", "kind_called"]

COLORS = {kind.name: kind.color for kind in LEARNERS.values()}
"""One colour a learner, in every figure: the palette of Okabe and Ito (2008), which the
common kinds of colour blindness tell apart. The mark beside it is for print in grey."""

OTHER = Learner.color


def kind_called(name: str) -> type[Learner]:
    """The learner of a name, or of a label that begins with it; the plain one for others."""
    named = {kind.name: kind for kind in LEARNERS.values()}
    return named.get(name.split(" ")[0], Learner)


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
