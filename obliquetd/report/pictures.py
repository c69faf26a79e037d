"""Pictures for a page: SVG text with a title and a description, the same bytes every time."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from obliquetd.display import html_text
from obliquetd.plotting.style import drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Picture", "as_svg"]


READABLE = 8.0
"""Pixels that the smallest letters of a picture that scrolls have at least."""


class Picture(NamedTuple):
    """A picture: its heading, what it shows (also for those who do not see it), and the SVG."""

    heading: str
    about: str
    svg: Markup


def as_svg(ax: Axes, heading: str, about: str, *, scrolls: bool = False) -> Picture:
    """The figure of the axes as an SVG element that scales with the page.

    With ``scrolls`` it is never so small that its letters cannot be read, and is scrolled on a phone.
    """
    text = drawn(ax, "svg", heading).decode()
    svg = text[text.index("<svg") :]
    prefix = re.sub(r"[^a-z]+", "-", heading.lower())
    seen: Counter[str] = Counter()

    def own(found: re.Match[str]) -> str:  # several pictures share one page, and labels one id
        seen[found[1]] += 1
        return (
            f'id="{prefix}{found[1]}' + (f"-{seen[found[1]]}" if seen[found[1]] > 1 else "") + '"'
        )

    svg = re.sub(r'\bid="([^"]*)"', own, svg)
    svg = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{prefix}", svg)
    label = html_text(about)
    least = _least_width(ax, svg) if scrolls else ""
    head = f'<svg role="img" aria-label="{label}" {least}'
    svg = svg.replace("<svg ", head, 1)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return Picture(heading, about, Markup(svg))


def _least_width(ax: Axes, svg: str) -> str:
    """The attributes of a picture that is not shrunk below what can be read."""
    from matplotlib.text import Text

    texts: Any = ax.figure.findobj(Text)
    sizes = [text.get_fontsize() for text in texts if text.get_text()]
    wide = re.search(r'<svg [^>]*?width="([\d.]+)pt"', svg)
    if wide is None or not sizes:
        return ""
    return f'tabindex="0" style="min-width: {float(wide[1]) * READABLE / min(sizes):.0f}px" '
