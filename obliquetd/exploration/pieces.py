"""Each learner on the ranges where it has one formula, and the places where a formula is not enough.

For one symbol a learner's signs cut the range into cells (:func:`obliquetd.algebra.cells.sign_cells`). At the ends of
cells, where a probability is 0, where the span of the updates may be smaller and where a formula divides by zero, the
limit of a formula need not be the truth. Such places are *special*: the problem is solved there anew, in numbers.

For several symbols there are too many places for that. The polynomials that would make a place special are *guards*: where
one of them is 0, the page says so and shows no number; and where a formula divides by zero it has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sympy as sp

from obliquetd.algebra import EXACT, FieldArithmetic, parse_number
from obliquetd.algebra.cells import CellArithmetic, SampledSigns, sign_cells
from obliquetd.algebra.intervals import parts_of
from obliquetd.dynamics.domain import limits_of
from obliquetd.dynamics.regions import NO_PROBLEM, put_in
from obliquetd.errors import InputError, ObliqueTDError
from obliquetd.exploration.formulas import FormulaTable, zeros_among
from obliquetd.exploration.quantities import Quantities, Shared, quantities_of, shared_of
from obliquetd.exploration.signs import SignsAt, sample_points
from obliquetd.exploration.sliders import Slider
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["Piece", "Pieces", "pieces_of", "span_guards"]

MOST_PIECES = 24
"""Combinations of signs of a learner that are put on the page."""
LARGEST = 400_000
"""Letters of the formulas of one learner, up to which they are put on the page."""


class Piece(NamedTuple):
    """Formulas that hold strictly between two values of the one symbol; or where some formulas have their signs."""

    left: Any
    right: Any
    found: Any
    signs: tuple[tuple[Any, int], ...] = ()
    """For several symbols: native scalars, and the sign that each has where the formulas hold."""


@dataclass
class Pieces:
    """What the page is made of.

    Attributes
    ----------
    table : FormulaTable
    shared : Shared
    learners : dict of str to list of Piece
        By name, those that could be put in formulas.
    special : dict of int to dict
        For one symbol: at the number of a place, the learners in numbers, or in words why not.
        ``""`` is the shared part.
    guards : list of (int, str)
        For several symbols: polynomials by number, with what is the case where one is 0.
    left_out : dict of str to str
        Learners that are not shown, and why.
    """

    table: FormulaTable
    shared: Shared
    learners: dict[str, list[Piece]] = field(default_factory=dict)
    special: dict[int, dict[str, Quantities | Shared | str]] = field(default_factory=dict)
    guards: list[tuple[int, str]] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def pieces_of(
    problem: PolicyEvaluation, learners: Mapping[str, Learner], sliders: Sequence[Slider]
) -> Pieces:
    """Formulas of the learners over the symbols of the sliders."""
    symbols = [slider.symbol for slider in sliders]
    field_of_all = FieldArithmetic(symbols)
    out = Pieces(FormulaTable(symbols), shared_of(problem, field_of_all))
    for name, learner in learners.items():
        try:
            pieces = (
                _cells(problem, learner, sliders[0])
                if len(sliders) == 1
                else _by_signs(problem, learner, sliders)
            )
        except ObliqueTDError as error:
            out.left_out[name] = str(error)
            continue
        if not pieces:
            out.left_out[name] = "where the sliders can stand there is no model, or no such learner"
            continue
        size = _size(pieces, symbols)
        if size > LARGEST:
            out.left_out[name] = (
                f"its formulas have {size:,} letters; up to {LARGEST:,} are put on a page"
            )
        else:
            out.learners[name] = pieces
    _put_in_table(out)
    guards = _guards(problem, out)
    if len(sliders) == 1:
        _add_special(problem, {n: learners[n] for n in out.learners}, sliders[0], out, guards)
    else:
        out.guards = [(out.table.polynomial(p), why) for p, why in guards.items()]
    return out


def _cells(problem: PolicyEvaluation, learner: Learner, slider: Slider) -> list[Piece]:
    def on_cell(signs: SampledSigns) -> Quantities:
        return quantities_of(problem, learner, CellArithmetic(signs))

    shown = [x for x in parts_of(slider.domain & slider.valid) if isinstance(x, sp.Interval)]
    found = [c for x in shown for c in sign_cells(x.start, x.end, slider.symbol, on_cell)]
    return [Piece(cell.left, cell.right, cell.value) for cell in found]


def _by_signs(
    problem: PolicyEvaluation, learner: Learner, sliders: Sequence[Slider]
) -> list[Piece]:
    """A piece for each combination of signs that a sample of places meets; rare ones may be missing."""
    found: list[Piece] = []
    limits = limits_of(problem, learner)
    for point in sample_points([(s.domain.inf, s.domain.sup) for s in sliders]):
        values = dict(zip([s.symbol for s in sliders], point, strict=True))
        arithmetic = SignsAt(values)
        if not all(limit.holds_at(values) for limit in limits):
            continue
        if any(all(arithmetic.there(x) == sign for x, sign in p.signs) for p in found):
            continue
        made = quantities_of(problem, learner, arithmetic)
        if 0 not in arithmetic.asked.values():
            found.append(Piece(None, None, made, tuple(arithmetic.asked.items())))
        if len(found) == MOST_PIECES or not arithmetic.asked:
            break
    return found


def _scalars(found: Quantities) -> list[Any]:
    optional = [*(found.theta or ()), *(found.normal or ())]
    squares = [x for x in (found.error, found.projected) if x is not None]
    return [*(x for row in found.A for x in row), *found.b, *found.p, *optional, *squares]


def _size(pieces: Sequence[Piece], symbols: Sequence[sp.Symbol]) -> int:
    table = FormulaTable(symbols)
    for piece in pieces:
        for x in _scalars(piece.found):
            table.add(x, piece.found.arithmetic)
    return sum(len(str(c)) + 8 for p in table.polynomials for _, c in p)


def _put_in_table(out: Pieces) -> None:
    """Every formula, so that all denominators are known."""
    shared = out.shared
    for x in (
        *shared.xi,
        *(y for row in shared.Phi for y in row),
        *shared.v,
        *shared.best,
        shared.best_error,
    ):
        out.table.add(x, shared.arithmetic)
    for pieces in out.learners.values():
        for piece in pieces:
            for x in (*_scalars(piece.found), *(x for x, _ in piece.signs)):
                out.table.add(x, piece.found.arithmetic)


def _guards(problem: PolicyEvaluation, out: Pieces) -> dict[Any, str]:
    """Polynomials that make a place special for all learners where they are 0, with what is the case there."""
    scratch = FormulaTable(out.table.symbols)
    everything = FieldArithmetic(out.table.symbols)
    found: dict[Any, str] = {}
    for entry in problem.inputs.entries():
        decides = entry.role in ("probability", "weight", "discount")  # 0: another chain, or an end
        if decides and entry.where != "the discount" and isinstance(entry.value, sp.Basic):
            value = parse_number(entry.value)
            if value.free_symbols:
                for polynomial in _watched(everything.scalar(value), everything, scratch):
                    found.setdefault(polynomial, f"{entry.where} is 0, or not defined")
    if not all(_is_number(x) for row in out.shared.Phi for x in row):
        Phi = everything.matrix(out.shared.Phi, (len(out.shared.Phi), len(out.shared.Phi[0])))
        for polynomial in _watched((Phi.T @ Phi).charpoly()[-1], everything, scratch):
            found.setdefault(polynomial, "the features are dependent")
    return found


def span_guards(found: Quantities, symbols: Sequence[sp.Symbol]) -> list[Any]:
    """Polynomials of a learner where whose zeros the span of its updates may be smaller."""
    scratch = FormulaTable(symbols)
    every = [p for x in found.critical for p in _watched(x, found.arithmetic, scratch)]
    return list(dict.fromkeys(every))


def _watched(scalar: Any, arithmetic: Any, scratch: FormulaTable) -> list[Any]:
    """Numerator and denominator, where they are no numbers."""
    pair = scratch.formulas[scratch.add(scalar, arithmetic)]
    return [p for p in (scratch.polynomials[k] for k in pair) if any(any(e) for e, _ in p)]


def _is_number(scalar: Any) -> bool:
    return bool(scalar.numer.is_ground and scalar.denom.is_ground)


def _add_special(
    problem: PolicyEvaluation, learners: Mapping[str, Learner], slider: Slider, out: Pieces,
    guards: Mapping[Any, str],
) -> None:  # fmt: skip
    places = slider.places
    numbers = {0, len(places) - 1}
    symbols = out.table.symbols
    below = {out.table.polynomials[k] for k in out.table.denominators}
    spans = [
        p for pieces in out.learners.values() for x in pieces for p in span_guards(x.found, symbols)
    ]
    for polynomial in {*guards, *below, *spans}:
        numbers |= set(zeros_among(polynomial, places))
    edges = {e for pieces in out.learners.values() for p in pieces for e in (p.left, p.right)}
    numbers |= {i for i, x in enumerate(places) if x in edges}
    for number in sorted(numbers):
        out.special[number] = _in_numbers(problem, learners, slider, places[number])


def _in_numbers(
    problem: PolicyEvaluation, learners: Mapping[str, Learner], slider: Slider, value: Any
) -> dict[str, Quantities | Shared | str]:
    """Everything at one place, from the problem with the number put in."""
    found: dict[str, Quantities | Shared | str] = {}
    try:
        there = (
            problem.subs({slider.symbol: value}) if slider.symbol in problem.symbols else problem
        )
        found[""] = shared_of(there, EXACT)
    except (InputError, *NO_PROBLEM) as error:
        return {"": str(error)}
    for name, learner in learners.items():
        try:
            there, changed = put_in(problem, learner, slider.symbol, value)
            found[name] = quantities_of(there, changed, EXACT, exact=True)
        except (InputError, *NO_PROBLEM) as error:
            found[name] = str(error)
    return found
