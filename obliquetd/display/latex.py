"""Numbers, formulas and matrices as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import sympy as sp
from sympy.printing.latex import LatexPrinter

from obliquetd.algebra import decimal_text, number_text, public_number
from obliquetd.display.text import latex_label, shortened
from obliquetd.errors import InputError, SizeError

__all__ = ["MOST_ENTRIES", "Names", "ShortLatex", "latex_of", "matrix_latex"]

Names = tuple[Sequence[Any], Sequence[Any]]
"""What the rows and the columns of a matrix stand for; either may be empty."""
LONGEST_NUMBER = 60
"""Digits of a numerator or denominator that are still typeset in full."""
MOST_ENTRIES = 225
"""Entries of a matrix that still fit a page."""
GUARD = 10
"""Digits that numbers in a formula have beyond those that are printed."""
PLAIN_SYMBOL = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")


def latex_of(
    value: Any,
    printer: type[ShortLatex] | None = None,
    digits: int | None = None,
    names: Names | None = None,
) -> str:
    r"""A number, formula, vector or matrix as LaTeX, by a printer of one's own where one is given.

    Parameters
    ----------
    value : number, formula, vector or matrix
    printer : type of ShortLatex, optional
    digits : int, optional
        Print numbers as decimals with so many digits, also those in a formula; powers, and the
        conditions of cases, stay exact.
    names : (names of the rows, names of the columns), optional
        Stand beside and above a matrix of that size; either may be empty.

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
    >>> latex_of(1 / (sp.Symbol("p") / 3 - 1) ** 2, digits=3)
    '\\frac{1}{\\left(0.333 p - 1\\right)^{2}}'
    >>> latex_of(sp.Matrix([1, 2]), names=(["left", "right"], []))
    '\\begin{array}{r|c} \\text{left} & 1 \\\\ \\text{right} & 2 \\end{array}'
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
            rf"{latex_of(sp.Matrix(inner), printer, digits, names)} & \text{{where }} {_number(where, printer)}"
            for inner, where in cases
        )
    return matrix_latex([[_number(x, printer, digits) for x in row] for row in rows], names)


def matrix_latex(cells: list[list[str]], names: Names | None = None) -> str:
    r"""Entries in LaTeX as a matrix in brackets, or, with names of the right number, as a table with them.

    Examples
    --------
    >>> matrix_latex([["0", "1"], ["1", "0"]], (["a", "b"], ["a", "b"])).startswith(r"\begin{array}{r|cc}")
    True
    """
    beside, above = names or ((), ())
    beside = beside if len(beside) == len(cells) else ()
    above = above if cells and len(above) == len(cells[0]) else ()
    rows = [" & ".join(row) for row in cells]
    if not beside and not above:
        return rf"\begin{{bmatrix}} {_rows(rows)} \end{{bmatrix}}"
    columns = "c" * len(cells[0])
    if beside:
        rows = [f"{_name(x)} & {row}" for x, row in zip(beside, rows, strict=True)]
        columns = f"r|{columns}"
    if above:
        head = " & ".join([*([""] if beside else []), *map(_name, above)])
        rows[0] = rf"{head.strip()} \\ \hline {rows[0]}"
    return rf"\begin{{array}}{{{columns}}} {_rows(rows)} \end{{array}}"


def _rows(rows: list[str]) -> str:
    return r" \\ ".join(rows)


def _name(label: Any) -> str:
    """A name beside a matrix, cut where it is long."""
    return rf"\text{{{latex_label(shortened(label))}}}"


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
    digits = 6
    """Of the floats in a formula."""

    def _print_Float(self, expr: Any) -> str:
        return _decimal(decimal_text(expr, self.digits) or str(expr))

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
    if digits is not None:
        printer.digits = digits
        known = _with_decimals(known, digits)
    text = str(printer.doprint(known))
    if printer.longest:
        return rf"\approx {text} \text{{ (exact, {printer.longest} digits)}}"
    return text


def _with_decimals(formula: Any, digits: int) -> Any:
    """A formula with decimals for its numbers, but for short integers, powers and conditions."""
    if not isinstance(formula, sp.Expr) or not formula.args:
        short = formula.is_Integer and abs(int(formula)) < 10**digits
        return sp.Float(formula, digits + GUARD) if formula.is_Rational and not short else formula
    if formula.is_number:
        near = sp.N(formula, digits + GUARD)
        return near if near.is_Float else formula
    if isinstance(formula, sp.Piecewise):
        return sp.Piecewise(*((_with_decimals(x, digits), where) for x, where in formula.args))
    if isinstance(formula, sp.Pow):
        return sp.Pow(_with_decimals(formula.base, digits), formula.exp)
    if isinstance(formula, sp.Mul):  # the numbers make one coefficient
        number = sp.Mul(*(x for x in formula.args if x.is_number))
        rest = [_with_decimals(x, digits) for x in formula.args if not x.is_number]
        return sp.Mul(_with_decimals(number, digits), *rest)
    return formula.func(*(_with_decimals(x, digits) for x in formula.args))


def _decimal(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa
