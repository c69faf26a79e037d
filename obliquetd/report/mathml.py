"""Formulas as MathML, which browsers show with no script and no font of ours."""

from __future__ import annotations

import html
import re

from markupsafe import Markup

__all__ = ["lines_of", "mathml", "spoken"]

BRACKETS = re.compile(r"<mo>&#x0005B;</mo><mtable>(.*?)</mtable><mo>&#x0005D;</mo>", re.DOTALL)
"""Brackets around a matrix: drawn by the style sheet, since they grow only with a font for mathematics."""
TABLE = re.compile(r'<mtable columnlines="[^"]*"(?: rowlines="([^"]*)")?>')
"""A matrix with names beside it, and, where there are lines between rows, above it; browsers draw no lines of theirs."""
ESCAPED = re.compile("<mtext>[^<]*")
"""Text, in which the converter leaves LaTeX's backslashes."""
ALIGNED = re.compile(r"\s*\\begin\{aligned\}(.*)\\end\{aligned\}\s*", re.DOTALL)
PARTS = re.compile(r"(\\begin\{|\\end\{|\\\\|\\&|&)")
"""What tells the lines and columns of a block apart; an escaped sign is none."""
BRACE = re.compile(r"<mo [^>]*>&#x0007B;</mo><mtable>")
"""The brace before cases, for the same reason."""
OPERATORS = {r"\argmin": r"\operatorname{argmin}"}
"""Commands of the paper that the converter does not know."""
SAID = {r"^{\top}": "'", r"^\top": "'", r"^{-\top}": "^-1'", r"^{*\top}": "*'", r"^{\prime}": "'",
        r"\Vert": "|", r"\mid": "|", r"\le ": "<= ", r"\ge ": ">= ", r"\cdot": "*"}  # fmt: skip
"""Signs that are said otherwise than their commands are called."""


def mathml(latex: str, *, block: bool = False) -> Markup:
    r"""LaTeX as a MathML element, with plain words as its text for screen readers.

    Examples
    --------
    >>> text = mathml(r"\frac{1}{2}")
    >>> text.startswith("<math"), "<mfrac>" in text, "alttext=" in text
    (True, True, True)
    """
    from latex2mathml.converter import convert

    known = latex
    for command, operator in OPERATORS.items():
        known = known.replace(command, operator)
    body: str = convert(known, display="block" if block else "inline")
    body = ESCAPED.sub(lambda m: re.sub(r"\\([%$#_])", r"\1", m[0]), body)
    body = BRACKETS.sub(r'<mtable class="brackets">\1</mtable>', body)
    body = TABLE.sub(lambda m: f'<mtable class="named{" above" if m[1] else ""}">', body)
    body = BRACE.sub('<mtable class="cases">', body)
    label = html.escape(spoken(latex), quote=True)
    return Markup(body.replace("<math ", f'<math alttext="{label}" ', 1))


def lines_of(latex: str) -> list[str]:
    r"""The equations of an ``aligned`` block, one by one, which the converter does not know; else the whole.

    Examples
    --------
    >>> lines_of(r"\begin{aligned} a &= \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix} \\ b &= 1 \end{aligned}")
    ['a = \\begin{bmatrix} 1 & 2 \\\\ 3 & 4 \\end{bmatrix}', 'b = 1']
    >>> lines_of("x + 1")
    ['x + 1']
    """
    found = ALIGNED.fullmatch(latex)
    if found is None:
        return [latex]
    lines, depth = [""], 0
    for part in PARTS.split(found[1]):
        depth += part.startswith(r"\begin{") - part.startswith(r"\end{")
        if part == r"\\" and not depth:
            lines.append("")
        elif part != "&" or depth:
            lines[-1] += part
    return [line.strip() for line in lines if line.strip()]


def spoken(latex: str) -> str:
    r"""LaTeX as text without commands, for those who hear it.

    Examples
    --------
    >>> spoken(r"v_\pi = \frac{\gamma + 1}{2} \left(x\right)")
    'v_pi = (gamma + 1)/(2) (x)'
    >>> spoken(r"X^{\top} L \Phi")
    "X' L Phi"
    >>> spoken(r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}")
    '[1, 2; 3, 4]'
    """
    for command, word in SAID.items():
        latex = latex.replace(command, word)
    text = re.sub(r"\\(left|right|,|;|!|quad|qquad)(?![A-Za-z])", "", latex)
    text = re.sub(r"\\begin\{[bp]?matrix\}", "[", text)
    text = re.sub(r"\\end\{[bp]?matrix\}", "]", text)
    text = re.sub(r"\\begin\{array\}\{[^}]*\}", "[", text).replace(r"\end{array}", "]")
    text = text.replace(r"\hline", "")
    text = re.sub(r"\\(begin|end)\{cases\}", "", text)
    text = re.sub(r"\s*\\\\\s*", "; ", text)
    text = re.sub(r"\s*&\s*", ", ", text).replace("[, ", "[")
    inner = rf"\{{({_nested(6)})\}}"
    before = ""
    while before != text:
        before = text
        text = re.sub(r"\\[dt]?frac\s*" + inner + r"\s*" + inner, r"(\1)/(\2)", text)
        text = re.sub(r"\\sqrt\s*" + inner, r"sqrt(\1)", text)
        text = re.sub(
            r"\\(?:text|mathrm|operatorname|mathbf|mathbb|mathcal)\s*" + inner, r"\1", text
        )
    text = re.sub(r"\\([A-Za-z]+)", r"\1", text).replace("\\", "")
    return re.sub(r"(?<=[\[(]) | (?=[\]),])", "", re.sub(r"[{}]", "", text)).strip()


def _nested(depth: int) -> str:
    """A pattern of text whose braces match, nested so deep at most."""
    return r"[^{}]*" if depth == 0 else rf"(?:[^{{}}]|\{{{_nested(depth - 1)}\}})*"
