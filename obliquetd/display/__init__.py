r"""How objects show themselves: LaTeX for papers and notebooks, HTML tables for notebooks.

A class that mixes in :class:`Equations` names its quantities; one that mixes in
:class:`HtmlTable` gives a heading and rows. A quantity that does not exist is left out of a
display, never guessed.

A label may be any text: a name is shown, and is never obeyed. Each target has one function that
makes text safe for it:

=====================  ==================================================================
:func:`visible`        anything, to begin with: control characters, lone surrogates and marks
                       that turn the direction of writing become escapes such as ``\x1b``
:func:`html_text`      HTML, between tags and in attributes
:func:`latex_label`    LaTeX text; :func:`latex_comment` is a line of remarks
:func:`mathtext`       matplotlib, which reads ``$`` as mathematics
=====================  ==================================================================

A terminal gets visible text too, by its console in :mod:`obliquetd.cli.terminal`.
"""

from obliquetd.display.latex import MOST_ENTRIES, Names, ShortLatex, latex_of, matrix_latex
from obliquetd.display.shown import Equations, HtmlTable, html_table
from obliquetd.display.text import (
    MADE_BY,
    html_text,
    latex_comment,
    latex_label,
    mathtext,
    shortened,
    visible,
)

__all__ = [
    "MADE_BY",
    "MOST_ENTRIES",
    "Equations",
    "HtmlTable",
    "Names",
    "ShortLatex",
    "html_table",
    "html_text",
    "latex_comment",
    "latex_label",
    "latex_of",
    "mathtext",
    "matrix_latex",
    "shortened",
    "visible",
]
