"""Numbers, formulas and matrices of a page, as MathML; long ones are folded.

What is longer than a line is folded: its plot over its symbols is seen, and the formula on demand. A long
number is a decimal, with the exact one on demand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import sympy as sp
from markupsafe import Markup, escape

from obliquetd.algebra import cell_text, number_text, public_number
from obliquetd.display import (
    MOST_ENTRIES,
    Names,
    html_text,
    latex_of,
    matrix_latex,
    shortened,
    visible,
)
from obliquetd.errors import ObliqueTDError
from obliquetd.report.mathml import mathml
from obliquetd.report.plain import alternatives
from obliquetd.report.prose import typeset as typeset_text
from obliquetd.report.sketch import Ranges, sketch
from obliquetd.report.usual import LONGEST_FORMULA, usual_latex

__all__ = ["equation", "equations", "named_case", "prose", "shown", "typeset"]

LONGEST_NUMBER = 20
"""Characters up to which an exact number does."""
SHORT_NUMBER = 6
"""Characters up to which it does beside decimals."""
LONGEST_TYPESET = 1_500
"""Characters up to which a folded formula is typeset."""
TALLEST = 4
"""Rows up to which a vector is a column; a longer one is written along the line."""
FIRST_SIGN, SIGNS = 0xF0000, re.compile("[\U000f0000-\U000ffffd]")
"""Signs of no meaning, which stand for names."""
MOST_OPEN = 36
"""Entries up to which a matrix is open."""


def typeset(value: Any, *, block: bool = False) -> Markup:
    """A number, formula or matrix as MathML."""
    return mathml(usual_latex(value), block=block)


def shown(value: Any, ranges: Ranges | None = None, where: Any = sp.true) -> Markup:
    """A number or formula in a cell: what is long is a decimal or a plot, and itself on demand.

    A plot shows it only ``where`` it holds, a sympy Boolean.

    Examples
    --------
    >>> str(shown(sp.sqrt(2))).endswith("</math> ≈\N{NO-BREAK SPACE}1.41421"), "<details" in shown(sp.Rational(10**30, 7))
    (True, True)
    """
    number = sp.Integer(value) if isinstance(value, int) else public_number(value)
    if isinstance(number, float):
        return typeset(number)
    text = number_text(number)
    if number.free_symbols:
        return _folded(number, ranges or {}, where) if _is_long_formula(text) else typeset(number)
    decimal = _decimal(number)
    if len(text) > LONGEST_NUMBER:
        return _on_demand(decimal, number, text)
    if number.is_Rational:
        return typeset(number)
    return Markup("{} ≈\N{NO-BREAK SPACE}{}").format(typeset(number), decimal)


def named_case(name: str, where: Any) -> Markup:
    """A name, and the case in which what stands beside it holds."""
    if where == sp.true:
        return escape(name)
    told = Markup(" or ").join(typeset(part) for part in alternatives(where))
    return Markup('{} <span class="soft">where {}</span>').format(name, told)


def _decimal(number: Any) -> Markup:
    """Its decimal, also where the exact form is short."""
    mantissa, _, power = cell_text(number).lstrip("~").split(" = ")[-1].partition("e")
    text = mantissa + (f"·10<sup>{int(power)}</sup>" if power else "")
    return Markup(text.replace("-", "\N{MINUS SIGN}"))


def _on_demand(decimal: Markup, number: Any, text: str) -> Markup:
    if "exact" in text:  # too long to be read
        about = re.search(r"\((exact.*)\)", text)
        return Markup('<span title="{}">≈\N{NO-BREAK SPACE}{}</span>').format(
            about[1] if about else "", decimal
        )
    return Markup(
        '<details class="exact"><summary>≈\N{NO-BREAK SPACE}{}</summary>{}</details>'
    ).format(decimal, typeset(number))


def _folded(formula: Any, ranges: Ranges, where: Any = sp.true) -> Markup:
    """The plot of a formula, and the formula on demand."""
    text = str(number_text(formula))
    hidden = "long coefficients" in text
    told = text if hidden else f"a formula of {len(text)} characters"
    if hidden or len(text) > LONGEST_TYPESET:
        body: Any = Markup("<p>{}; obliquetd analyze --json has it in full.</p>").format(told)
    else:
        body = typeset(formula, block=True)
    return Markup(
        '<div class="folded">{}<details><summary title="{}">the formula</summary>{}</details></div>'
    ).format(sketch(formula, ranges, where), told, body)


def equation(
    letter: str, value: Any, ranges: Ranges | None = None, names: Names | None = None
) -> Markup:
    """The equation ``letter = value`` as blocks; a large or long value is folded.

    ``names`` stand beside the rows and above the columns of a matrix.

    Raises
    ------
    SizeError
        For a matrix that fits no page.
    """
    if hasattr(value, "toarray"):
        value = value.toarray()
    rows = value.tolist() if hasattr(value, "tolist") and np.ndim(value) else None
    if rows is None:
        return Markup('<div class="line">{} {}</div>').format(
            mathml(f"{letter} ="), shown(value, ranges)
        )
    rows = rows if rows and isinstance(rows[0], list) else [[x] for x in rows]
    short = _short_form(rows)
    if short:
        return mathml(f"{letter} = {short}", block=True)
    if len(rows) * len(rows[0]) > MOST_ENTRIES:
        latex_of(value)
    long = {(i, j): x for i, row in enumerate(rows) for j, x in enumerate(row) if _is_long(x)}
    if not long:
        return _matrix(letter, rows, names)
    numbers = [x for x in long.values() if not getattr(x, "free_symbols", ())]
    if len(numbers) == len(long):
        rounded = [[_rounded(x) for x in row] for row in rows]
        near = _matrix(letter, rounded, names, r"\approx")
        if any("exact" in number_text(x) for x in numbers):  # too long to be read
            return near
        exact = Markup(
            '<details class="exact away"><summary>{}, exact</summary>{}</details>'
        ).format(mathml(letter), _matrix(letter, rows, names))
        return Markup("{}{}").format(near, exact)
    return _abbreviated(letter, rows, long, ranges or {}, names)


def _short_form(rows: list[list[Any]]) -> str:
    """A zero or an identity, which need no entries."""
    if len(rows) * len(rows[0]) > 2 and all(x == 0 for row in rows for x in row):
        return "0"
    if len(rows) == len(rows[0]) > TALLEST and all(
        x == (i == j) for i, row in enumerate(rows) for j, x in enumerate(row)
    ):
        return f"I_{{{len(rows)}}}"
    return ""


def _is_long(value: Any) -> bool:
    if isinstance(value, float | int):
        return False
    text = number_text(value)
    if getattr(value, "free_symbols", ()):
        return _is_long_formula(text)
    return len(text) > LONGEST_NUMBER


def _is_long_formula(text: str) -> bool:
    """Of a formula as ``number_text`` has it, which says in a few words that its numbers are long."""
    return len(text) > LONGEST_FORMULA or "long coefficients" in text


def _rounded(value: Any) -> Any:
    """Six digits of a number that is longer than a word, beside others that are; they are only shown."""
    if isinstance(value, float | int) or value.is_Integer:
        return value
    return sp.N(value, 6) if len(number_text(value)) > SHORT_NUMBER else value


def _matrix(letter: str, rows: list[list[Any]], names: Names | None, relation: str = "=") -> Markup:
    """A matrix; a long column along the line, a large one folded."""
    count = len(rows) * len(rows[0])
    if len(rows[0]) == 1 and len(rows) > TALLEST:
        if count > MOST_OPEN:
            inner = _line(letter, rows, names, relation)
            return _box(letter, f"{count} entries", inner)
        return _line(letter, rows, names, relation)
    before = f"{letter} {relation}"
    made = (
        _named(before, [[usual_latex(x) for x in row] for row in rows], names)
        if names
        else mathml(f"{before} {_bracketed(rows)}", block=True)
    )
    return made if count <= MOST_OPEN else _box(letter, f"{len(rows)} by {len(rows[0])}", made)


def _line(letter: str, rows: list[list[Any]], names: Names | None, relation: str) -> Markup:
    """A column as a list of entries that wraps, each with its name where it has one."""
    beside = names[0] if names and len(names[0]) == len(rows) else [None] * len(rows)
    told = [
        Markup("") if x is None else Markup('<span class="soft">{}:</span> ').format(visible(x))
        for x in beside
    ]
    *before, last = [t + typeset(row[0]) for t, row in zip(told, rows, strict=True)]
    marked = (Markup('<span class="nobr">{},</span>').format(x) for x in before)
    entries = Markup(" ").join([*marked, Markup('<span class="nobr">{}</span>').format(last)])
    return Markup('<div class="line">{} ({})</div>').format(mathml(f"{letter} {relation}"), entries)


def _box(letter: str, size: str, inner: Markup) -> Markup:
    return Markup('<details class="away"><summary>{}, {}</summary>{}</details>').format(
        mathml(letter), size, inner
    )


def _bracketed(rows: list[list[Any]]) -> str:
    """The entries in brackets."""
    if any(isinstance(x, float) for row in rows for x in row):
        return matrix_latex([[usual_latex(x) for x in row] for row in rows])
    return usual_latex(sp.Matrix(rows))


def _named(before: str, cells: list[list[str]], names: Names | None) -> Markup:
    """A matrix with the names of rows and columns beside it.

    Names go past the converter, which reads LaTeX: a sign stands for each, and is replaced after it.
    """
    known = [shortened(x) for side in names or () for x in side]
    signs = {x: chr(FIRST_SIGN + k) for k, x in enumerate(dict.fromkeys(known))}
    stand = [[signs[shortened(x)] for x in side] for side in names or ((), ())]
    made = mathml(f"{before} {matrix_latex(cells, (stand[0], stand[1]))}", block=True)
    named = {sign: html_text(x) for x, sign in signs.items()}
    return Markup(SIGNS.sub(lambda m: named.get(m[0], ""), made))


def _abbreviated(
    letter: str,
    rows: list[list[Any]],
    long: Mapping[tuple[int, int], Any],
    ranges: Ranges,
    names: Names | None,
) -> Markup:
    """The matrix with a name for each long entry, and what the names stand for on demand."""
    base = re.sub(r"[_^].*", "", letter).lower()

    def name(i: int, j: int) -> str:
        return (
            f"{base}_{{{i + 1}}}"
            if len(rows[0]) == 1
            else f"{base}_{{{i + 1}{',' if max(i, j) > 8 else ''}{j + 1}}}"
        )

    cells = [
        [name(i, j) if (i, j) in long else usual_latex(x) for j, x in enumerate(row)]
        for i, row in enumerate(rows)
    ]
    matrix = _named(f"{letter} =", cells, names)
    entries = Markup("").join(
        Markup('<div class="line">{} {}</div>').format(mathml(f"{name(*at)} ="), shown(x, ranges))
        for at, x in long.items()
    )
    count = f"{len(long)} long entr{'y' if len(long) == 1 else 'ies'}"
    return Markup(
        '{}<details class="away"><summary>{} of {}, drawn and in full</summary>{}</details>'
    ).format(matrix, count, mathml(letter), entries)


def equations(
    named: Iterable[tuple[str, Callable[[], Any]]],
    ranges: Ranges | None = None,
    names: Mapping[str, Names] | None = None,
) -> tuple[list[Markup], list[str]]:
    """Equations ``letter = value``, and why the others do not exist; ``names`` are by letter."""
    found, missing = [], []
    for letter, obtain in named:
        try:
            found.append(equation(letter, obtain(), ranges, (names or {}).get(letter)))
        except ObliqueTDError as error:
            missing.append(f"{_plain(letter)}: {error}")
    return found, missing


def _plain(letter: str) -> str:
    """A letter of LaTeX as text."""
    return letter.replace("\\", "").replace("^*", "*")


def prose(text: Any) -> Markup:
    """A sentence with its formulas typeset; powers and products may be written as Python does.

    Examples
    --------
    >>> told = prose("the sign of 1 - 2*gamma**2 depends on gamma")
    >>> told.count("<math"), "gamma" in told.replace('alttext="gamma', ""), "<msup>" in told
    (2, True, True)
    """
    if isinstance(text, Markup):
        return text
    plain = re.sub(
        r"(?:\*\*|\^)\(([^()]*)\)|\*\*(-?\w+)", lambda m: f"^{{{m[1] or m[2]}}}", visible(text)
    )
    return typeset_text(re.sub(r"(?<=[\w)}])\*(?=[\w(])", " ", plain))
