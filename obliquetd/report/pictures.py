"""Pictures for a page: SVG text with a title and a description, the same bytes every time."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from obliquetd.display import html_text
from obliquetd.plotting.gridworld import ARROW, WALL
from obliquetd.plotting.style import HEAT, SHADE, SHADE_LINES, drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Picture", "as_svg", "themed"]

WIDTH = 5.0
"""Inches at which pictures are drawn, so that their letters can be read on a phone."""
LEAST_SHRINK = 0.85
"""How far the height shrinks with the width, at most."""
INK = {"#000000": "currentColor", "#111111": "currentColor", "#222222": "currentColor", "#262626": "currentColor",
       "#444444": "var(--soft)", "#888888": "var(--soft)", "#ffffff": "var(--paper)",
       ARROW.lower(): "var(--arrow)", WALL.lower(): "var(--wall)"} | {x.lower(): x.lower() for x in (SHADE, SHADE_LINES, HEAT)}  # fmt: skip
"""Colours that follow the page; white is its ground. Heat maps, and where a learner is unstable, look the same on all."""


READABLE = 8.0
"""Pixels that the smallest letters of a picture that scrolls have at least."""

LARGEST = 1.8
"""Pixels a point of a picture becomes at most: letters of 10 points are 18 pixels high."""


class Picture(NamedTuple):
    """A picture: its heading, what it shows (also for those who do not see it), and the SVG."""

    heading: str
    about: str
    svg: Markup


def as_svg(ax: Axes, heading: str, about: str, *, scrolls: bool = False) -> Picture:
    """The figure of the axes as an SVG element that scales with the page.

    With ``scrolls`` it is never so small that its letters cannot be read, and is scrolled on a phone.
    """
    figure: Any = ax.figure
    width, height = figure.get_size_inches()
    if width > WIDTH and not scrolls:
        figure.set_size_inches(WIDTH, height * max(WIDTH / width, LEAST_SHRINK))
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
    focus = 'tabindex="0" ' if least else ""
    head = f'<svg role="img" aria-label="{label}" style="{_widths(svg)}{least}" {focus}'
    svg = svg.replace("<svg ", head, 1)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = themed(svg)
    return Picture(heading, about, Markup(svg))


def _width(svg: str) -> float:
    """The width of a picture as it was drawn, in points; 0 where it has none."""
    found = re.search(r'<svg [^>]*?width="([\d.]+)pt"', svg)
    return float(found[1]) if found else 0.0


def _widths(svg: str) -> str:
    """The style of a picture whose letters are not blown up, however wide the page is."""
    wide = _width(svg)
    return f"max-width: min(46rem, {LARGEST * wide:.0f}px); " if wide else ""


def _least_width(ax: Axes, svg: str) -> str:
    """The style of a picture that is not shrunk below what can be read."""
    from matplotlib.text import Text

    texts: Any = ax.figure.findobj(Text)
    sizes = [text.get_fontsize() for text in texts if text.get_text()]
    if not _width(svg) or not sizes:
        return ""
    return f"min-width: {math.ceil(_width(svg) * READABLE / min(sizes))}px; "


def themed(svg: str) -> str:
    """A picture that follows the page, light or dark: a clear ground, its ink the page's, tints see-through.

    Other colours are mixed with white on a dark page, as far as its ``--strength`` says.

    Examples
    --------
    >>> themed('<svg a="b"><path style="fill: #f3d9d9; stroke: #000000"/></svg>')
    '<svg class="themed" fill="currentColor" a="b"><path style="fill: #ae000026; stroke: currentColor"/></svg>'
    >>> themed('<path style="stroke: #0072b2"/>')
    '<path style="stroke: color-mix(in srgb, #0072b2 var(--strength), white)"/>'
    """
    svg = re.sub(r"#[0-9a-f]{6}\b", lambda m: INK.get(m[0], _see_through(m[0])), svg)
    ground = r'(<g id="[^"]*patch_1">\s*<path [^>]*style="fill: )var\(--paper\)'
    svg = re.sub(ground, r"\1none", svg, count=1)
    return svg.replace("<svg ", '<svg class="themed" fill="currentColor" ', 1)


def _see_through(color: str) -> str:
    """A tint as the least opaque colour that looks so on white; a colour, mixed; a grey as it is."""
    channels = [int(color[k : k + 2], 16) for k in (1, 3, 5)]
    least = min(channels)
    if max(channels) - least < 8:
        return color
    if least < 200:
        return f"color-mix(in srgb, {color} var(--strength), white)"
    opacity = 255 - least
    full = [round(255 * (c - least) / opacity) for c in channels]
    return "#" + "".join(f"{c:02x}" for c in (*full, opacity))
