"""The closed forms on the page, typeset, each with the range on which it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy as sp
from markupsafe import Markup

from obliquetd.algebra.factoring import factored
from obliquetd.exploration.formulas import FormulaTable
from obliquetd.exploration.pieces import Piece
from obliquetd.exploration.quantities import Quantities
from obliquetd.report.formulas import equation, prose
from obliquetd.report.sketch import Ranges

if TYPE_CHECKING:
    from obliquetd.exploration.page import Exploration

__all__ = ["Form", "closed_forms"]

LONGEST = 3_000
"""Letters of a formula's coefficients up to which it is typeset."""
MOST_CELLS = 6
"""Ranges of a learner up to which all are written."""

MOST_SIGNS = 6
"""Signs of a case distinction up to which they are written."""


@dataclass(frozen=True)
class Form:
    """The equations of a learner on one range."""

    name: str
    where: Markup
    equations: list[Markup]


def closed_forms(exploration: Exploration) -> list[Form]:
    """What the page says beneath the picture; formulas that fill pages are only in the data."""
    ranges: Ranges = {
        s.symbol: (float(s.places[0]), float(s.places[-1])) for s in exploration.sliders
    }
    out = []
    for name, pieces in exploration.pieces.learners.items():
        for piece in pieces[:MOST_CELLS]:
            equations = [
                equation(letter, value, ranges)
                for letter, value in _named(piece.found, exploration)
            ]
            out.append(Form(name, _where(piece, pieces, exploration), equations))
    return out


def _where(piece: Piece, pieces: list[Piece], exploration: Exploration) -> Markup:
    if piece.left is None:
        signs = [
            f"{piece.found.arithmetic.public(x)} {'>' if sign > 0 else '<'} 0"
            for x, sign in piece.signs
            if any((x, sign) not in other.signs for other in pieces)
        ]
        return prose("for " + " and ".join(signs)) if 0 < len(signs) <= MOST_SIGNS else Markup("")
    slider = exploration.sliders[0]
    if piece.left <= slider.domain.inf and piece.right >= slider.domain.sup:
        return Markup("")
    return prose(f"for {piece.left} < {slider.symbol} < {piece.right}")


def _named(found: Quantities, exploration: Exploration) -> list[tuple[str, Any]]:
    """Letters and public values of what is short enough."""
    field = found.arithmetic
    wanted: list[tuple[str, list[Any], Any]] = []
    if found.theta is not None:
        wanted.append((r"\theta", found.theta, lambda xs: sp.Matrix(xs) if len(xs) > 1 else xs[0]))
    if len(found.p) == 2:
        wanted.append((r"\mathrm{eigenvalue}", [found.p[1]], lambda xs: factored(-xs[0])))
    elif len(found.p) == 3:
        wanted.append((r"\mathrm{tr}\,A", [found.p[1]], lambda xs: factored(-xs[0])))
        wanted.append((r"\det A", [found.p[2]], lambda xs: xs[0]))
    if found.error is not None:
        wanted.append((r"\mathrm{RMSE}^2", [found.error], lambda xs: xs[0]))
    symbols = [s.symbol for s in exploration.sliders]
    return [
        (name, make([field.public(x) for x in scalars]))
        for name, scalars, make in wanted
        if _letters(scalars, field, symbols) <= LONGEST
    ]


def _letters(scalars: list[Any], field: Any, symbols: list[Any]) -> int:
    table = FormulaTable(symbols)
    for x in scalars:
        table.add(x, field)
    return sum(len(str(c)) for p in table.polynomials for _, c in p)
