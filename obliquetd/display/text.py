"""Text of any kind, made safe for what it is written into."""

from __future__ import annotations

import html
import re
from typing import Any

__all__ = [
    "MADE_BY",
    "html_text",
    "latex_comment",
    "latex_label",
    "mathtext",
    "shortened",
    "visible",
]

MADE_BY = "Made by obliquetd"
"""The mark by which a page or a picture is known as ours."""
LONGEST_NAME = 40
"""Letters of a name that fit a picture."""
CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u180e\u200b\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)
"""Characters that are obeyed and not seen: the controls of terminals, line ends, marks that turn the
direction of writing, soft hyphens and spaces of no width, halves of surrogate pairs, which no encoding can write,
and what is no character."""

WITHOUT_INK = re.compile(r"[\s\u115f\u1160\u200c-\u200f\u2800\u3164\uffa0]*")
"""What shows nothing: blanks, fillers and joiners; a name of such alone is written in escapes."""


def visible(text: Any) -> str:
    r"""Text of any kind on one line, with an escape for each character that would be obeyed.

    Examples
    --------
    >>> visible("a\x1b[31mb\n")
    'a\\x1b[31mb\\n'
    >>> visible("\u200b"), visible("\u200d")
    ('\\u200b', '\\u200d')
    """
    shown = CONTROL.sub(lambda m: m[0].encode("unicode_escape").decode(), str(text))
    if shown.isascii() or not WITHOUT_INK.fullmatch(shown):
        return shown
    return shown.encode("unicode_escape").decode()


def html_text(text: Any) -> str:
    r"""Text of any kind inside HTML, also inside an attribute.

    Examples
    --------
    >>> html_text("<b>\x1b")
    '&lt;b&gt;\\x1b'
    """
    return html.escape(visible(text), quote=True)


def shortened(text: Any) -> str:
    """Text of any kind on one line, cut where it has more than 40 letters."""
    shown = visible(text)
    return shown if len(shown) <= LONGEST_NAME else shown[: LONGEST_NAME - 3] + "..."


def mathtext(text: Any) -> str:
    r"""Text of any kind as matplotlib writes it, word for word.

    A dollar would begin a formula, and a label that begins with an underscore would be left out of a
    legend. A name of more than 40 letters is cut.

    Examples
    --------
    >>> mathtext("$x$"), mathtext("_a")
    ('\\$x\\$', '$\\_$a')
    """
    shown = shortened(text)
    escaped = shown.replace("$", r"\$")
    return rf"$\_${escaped[1:]}" if escaped.startswith("_") else escaped


def latex_label(text: str) -> str:
    r"""Text of any kind inside LaTeX text.

    Examples
    --------
    >>> latex_label("a_b & 50%")
    'a\\_b \\& 50\\%'
    """
    special = {
        "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}", **{c: f"\\{c}" for c in "&%$#_"},
    }  # fmt: skip
    return "".join(special.get(c, c) for c in visible(text))


def latex_comment(text: str) -> str:
    r"""A remark on a line of its own, whatever the text is.

    Examples
    --------
    >>> latex_comment("x\n\\input{y}")
    '% x\\n\\input{y}'
    """
    return f"% {visible(text)}"
