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

from __future__ import annotations

import html
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import sympy as sp
from sympy.printing.latex import LatexPrinter

from obliquetd.algebra import decimal_text, number_text, public_number
from obliquetd.errors import InputError, ObliqueTDError, SizeError

__all__ = [
    "MADE_BY",
    "Equations",
    "HtmlTable",
    "ShortLatex",
    "html_table",
    "html_text",
    "latex_comment",
    "latex_label",
    "latex_of",
    "mathtext",
    "visible",
]

MADE_BY = "Made by obliquetd"
"""The mark by which a page or a picture is known as ours."""
LONGEST_NAME = 40
"""Letters of a name that fit a picture."""
LONGEST_NUMBER = 60
"""Digits of a numerator or denominator that are still typeset in full."""
MOST_ENTRIES = 225
"""Entries of a matrix that still fit a page."""
MOST_ROWS = 40
"""Rows of a table in a notebook."""
CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""Characters that are obeyed and not seen: the controls of terminals, line ends, marks that turn the
direction of writing, halves of surrogate pairs, which no encoding can write, and what is no character."""
LEFT = ' style="text-align: left"'
"""Notebooks set cells flush right, where sentences cannot be read."""
PLAIN_SYMBOL = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")


def visible(text: Any) -> str:
    r"""Text of any kind on one line, with an escape for each character that would be obeyed.

    Examples
    --------
    >>> visible("a\x1b[31mb\n")
    'a\\x1b[31mb\\n'
    """
    return CONTROL.sub(lambda m: m[0].encode("unicode_escape").decode(), str(text))


def html_text(text: Any) -> str:
    r"""Text of any kind inside HTML, also inside an attribute.

    Examples
    --------
    >>> html_text("<b>\x1b")
    '&lt;b&gt;\\x1b'
    """
    return html.escape(visible(text), quote=True)


def mathtext(text: Any) -> str:
    r"""Text of any kind as matplotlib writes it, word for word.

    A dollar would begin a formula, and a label that begins with an underscore would be left out of a
    legend. A name of more than 40 letters is cut.

    Examples
    --------
    >>> mathtext("$x$"), mathtext("_a")
    ('\\$x\\$', '$\\_$a')
    """
    shown = visible(text)
    shown = shown if len(shown) <= LONGEST_NAME else shown[: LONGEST_NAME - 3] + "..."
    escaped = shown.replace("$", r"\$")
    return rf"$\_${escaped[1:]}" if escaped.startswith("_") else escaped


def latex_of(value: Any, printer: type[ShortLatex] | None = None, digits: int | None = None) -> str:
    r"""A number, formula, vector or matrix as LaTeX, by a printer of one's own where one is given.

    Parameters
    ----------
    value : number, formula, vector or matrix
    printer : type of ShortLatex, optional
    digits : int, optional
        Print numbers as decimals with so many digits. A formula with symbols keeps its exact
        coefficients.

    Raises
    ------
    InputError
        For digits that are no positive integer.
    SizeError
        For a matrix that fits no page.

    Examples
    --------
    >>> latex_of(sp.Rational(9, 10)), latex_of(0.25)
    ('\\frac{9}{10}', '0.25')
    >>> latex_of(sp.Matrix([[1, sp.Symbol("gamma")]]))
    '\\begin{bmatrix} 1 & \\gamma \\end{bmatrix}'
    >>> latex_of(sp.Rational(1, 3), digits=4), latex_of(sp.sqrt(2) * 10**6, digits=3)
    ('0.3333', '1.41 \\cdot 10^{6}')
    """
    if digits is not None and (
        not isinstance(digits, int) or isinstance(digits, bool) or digits < 1
    ):
        raise InputError(
            f"digits is {digits!r}; expected a positive integer, or None for exact numbers"
        )
    if hasattr(value, "toarray"):
        value = value.toarray()
    if isinstance(value, np.ndarray) and value.ndim:
        rows = value.tolist() if value.ndim == 2 else [[x] for x in value.tolist()]
    elif isinstance(value, sp.MatrixBase):
        rows = value.tolist()
    else:
        return _number(value, printer, digits)
    count = sum(map(len, rows))
    if count > MOST_ENTRIES:
        raise SizeError(
            f"a matrix of {len(rows)} by {len(rows[0])} entries fits no page; take a part of it"
        )
    cases = _shared_cases(rows)
    if cases:
        return _cases(
            rf"{latex_of(sp.Matrix(inner), printer, digits)} & \text{{where }} {_number(where, printer)}"
            for inner, where in cases
        )
    body = r" \\ ".join(" & ".join(_number(x, printer, digits) for x in row) for row in rows)
    return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"


def _shared_cases(rows: list[list[Any]]) -> list[tuple[list[list[Any]], Any]]:
    """A matrix of piecewise entries as a matrix for each case, where all have the same cases."""
    entries = [x for row in rows for x in row if isinstance(x, sp.Piecewise)]
    conditions = {tuple(c for _, c in x.args) for x in entries}
    if len(conditions) != 1:
        return []

    def at(x: Any, k: int) -> Any:
        return x.args[k][0] if isinstance(x, sp.Piecewise) else x

    return [
        ([[at(x, k) for x in row] for row in rows], condition)
        for k, condition in enumerate(conditions.pop())
    ]


def _cases(parts: Iterable[str]) -> str:
    return r"\begin{cases} " + r" \\ ".join(parts) + r" \end{cases}"


class ShortLatex(LatexPrinter):
    """LaTeX in which long numbers are decimals, and no name of a symbol is obeyed."""

    longest = 0
    """The digits of the longest number that was shortened."""

    def _print_Rational(self, expr: Any) -> str:
        limit = 10**LONGEST_NUMBER
        if abs(expr.p) < limit and expr.q < limit:
            return str(super()._print_Rational(expr))
        text = number_text(expr)
        self.longest = max(self.longest, int(re.findall(r"\d+", text)[-1]))
        return _decimal(text.split(" ")[0])

    def _print_Integer(self, expr: Any) -> str:
        return self._print_Rational(expr)

    def _print_Piecewise(self, expr: Any) -> str:
        return _cases(
            rf"{self._print(value)} & \text{{where }} {self._print(condition)}"
            for value, condition in expr.args
        )

    def _print_And(self, expr: Any) -> str:
        """Two bounds of one symbol in a row: 0 <= gamma < 1/2."""
        below = [
            c for c in expr.args if getattr(c, "rel_op", "") in ("<", "<=") and c.lhs.is_number
        ]
        above = [
            c for c in expr.args if getattr(c, "rel_op", "") in ("<", "<=") and c.rhs.is_number
        ]
        if len(below) == len(above) == 1 == len(expr.args) - 1 and below[0].rhs == above[0].lhs:
            signs = {"<": "<", "<=": r"\leq"}
            ((low, x), (_, high)) = below[0].args, above[0].args
            return (
                f"{self._print(low)} {signs[below[0].rel_op]} {self._print(x)} "
                f"{signs[above[0].rel_op]} {self._print(high)}"
            )
        return r",\ ".join(map(self._print, expr.args))

    def _print_Symbol(self, expr: Any, style: str = "plain") -> str:
        if PLAIN_SYMBOL.fullmatch(expr.name):
            return str(super()._print_Symbol(expr, style))
        return rf"\text{{{latex_label(expr.name)}}}"


def _number(
    value: Any, printer_of: type[ShortLatex] | None = None, digits: int | None = None
) -> str:
    if isinstance(value, float | np.floating):
        return _decimal(f"{float(value):.{digits or 6}g}")
    known = value if isinstance(value, sp.Basic) else public_number(value)
    decimal = None if digits is None else decimal_text(known, digits)
    if decimal is not None:
        return _decimal(decimal)
    printer = (printer_of or ShortLatex)()
    text = str(printer.doprint(known))
    if printer.longest:
        return rf"\approx {text} \text{{ (exact, {printer.longest} digits)}}"
    return text


def _decimal(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


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


class Equations(ABC):
    """Something that is a few quantities with letters; abstract."""

    @abstractmethod
    def equations(self) -> Iterable[tuple[str, Callable[[], Any]]]:
        """Letters in LaTeX, and how to obtain what they stand for."""

    def remarks(self) -> list[str]:
        """Sentences that a reader of the matrices needs, such as what their rows stand for."""
        return []

    def to_latex(self, digits: int | None = None) -> str:
        r"""The quantities as an ``aligned`` block, to be pasted between ``\[`` and ``\]``.

        One that does not exist, or fits no page, is a comment line that says why.

        Parameters
        ----------
        digits : int, optional
            Print numbers as decimals with so many digits; exactly where it is not given.
        """
        lines, remarks = [], [latex_comment(text) for text in self.remarks()]
        for letter, obtain in self.equations():
            try:
                lines.append(f"{letter} &= {latex_of(obtain(), digits=digits)}")
            except ObliqueTDError as error:
                remarks.append(latex_comment(f"{letter}: {error}"))
        body = " \\\\\n".join(lines)
        block = f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}" if lines else ""
        return "\n".join([*remarks, block] if block else remarks)

    def _repr_latex_(self) -> str | None:
        text = "\n".join(x for x in self.to_latex().split("\n") if not x.startswith("%"))
        return f"$$\n{text}\n$$" if text else None


class HtmlTable(ABC):
    """Something that is a table; abstract."""

    @abstractmethod
    def _table(self) -> tuple[str, Sequence[Any], Iterable[Sequence[Any]]]:
        """A caption, a heading, and rows of text or numbers."""

    def _repr_html_(self) -> str:
        return html_table(*self._table())


def html_table(caption: str, heading: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """An accessible HTML table; everything is escaped, long tables say how much is left out.

    Examples
    --------
    >>> table = html_table("two", ["a", "b"], [[1, "<x>"]])
    >>> table.count("<td"), "&lt;x&gt;</td>" in table, table.startswith("<table><caption>two</caption>")
    (2, True, True)
    """

    def cell(value: Any) -> str:
        return html_text(value if isinstance(value, str) else number_text(value))

    listed = list(rows)
    head = "".join(f'<th scope="col"{LEFT}>{cell(str(x))}</th>' for x in heading)
    body = "".join(
        "<tr>" + "".join(f"<td{LEFT}>{cell(x)}</td>" for x in row) + "</tr>"
        for row in listed[:MOST_ROWS]
    )
    if len(listed) > MOST_ROWS:
        body += f'<tr><td colspan="{len(heading)}">... {len(listed) - MOST_ROWS} more</td></tr>'
    told = f"<caption>{cell(caption)}</caption>" if caption else ""
    return f"<table>{told}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
