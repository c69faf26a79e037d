"""Formulas as MathML, which browsers show with no script and no font of ours."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from typing import Any

from markupsafe import Markup

from obliquetd.display import latex_of
from obliquetd.errors import ObliqueTDError

__all__ = ["equations", "mathml", "value"]

BRACKETS = re.compile(r"<mo>&#x0005B;</mo><mtable>(.*?)</mtable><mo>&#x0005D;</mo>", re.DOTALL)
"""Brackets around a matrix: drawn by the style sheet, since they grow only with a font for mathematics."""
OPERATORS = {r"\argmin": r"\operatorname{argmin}"}
"""Commands of the paper that the converter does not know."""


def mathml(latex: str, *, block: bool = False) -> Markup:
    r"""LaTeX as a MathML element, with the LaTeX as its text for screen readers.

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
    body = BRACKETS.sub(r'<mtable class="brackets">\1</mtable>', body)
    label = html.escape(latex, quote=True)
    return Markup(body.replace("<math ", f'<math alttext="{label}" ', 1))


def value(quantity: Any) -> Markup:
    """A number, formula or matrix as MathML."""
    return mathml(latex_of(quantity))


def equations(named: Iterable[tuple[str, Callable[[], Any]]]) -> tuple[list[Markup], list[str]]:
    """Equations ``letter = value`` as MathML, and why the others do not exist."""
    found, missing = [], []
    for letter, obtain in named:
        try:
            found.append(mathml(f"{letter} = {latex_of(obtain())}", block=True))
        except ObliqueTDError as error:
            missing.append(f"{letter}: {error}")
    return found, missing
