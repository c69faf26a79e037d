"""Weightings of states: each names an X, and so a fixed point; the paper's Omegas, X = Xi Omega Phi.

==============  =========================================================================
Omega_star      minimiser of ||Xi Omega Phi - X*||_F
Omega_S         omega(s) = max(Lambda_s . phi_s / ||Lambda_s||^2, 0), Lambda = L_pi Phi
Omega_S_batch   minimiser of ||Lambda' Xi Omega Phi - C||_F, the paper's Eq. (batch); see
                :mod:`obliquetd.problem.batch`
Omega_E         Xi^-1 diag(f), f = L_pi^-T xi
==============  =========================================================================

:data:`WEIGHTINGS` is the one table from a name to its X: a new line there is a new name for
``problem.fixed_point`` and ``compare``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import sympy as sp

from obliquetd.algebra import Matrix
from obliquetd.algebra.cells import Cell, SampledSigns, sign_cells
from obliquetd.algebra.intervals import parts_of
from obliquetd.algebra.signs import EVERYWHERE
from obliquetd.errors import SignUndecidedError, UndefinedError
from obliquetd.problem.native import Operators

__all__ = [
    "METHODS",
    "WEIGHTINGS",
    "EmphasisCell",
    "deciding_symbols",
    "emphasis_cells",
    "emphatic",
    "nearest_to_X_star",
    "projection_weights",
    "symbolic_weights",
]


def projection_weights(ops: Operators, sign: Callable[[Any], int] | None = None) -> Matrix:
    """The column of omega(s) = max(Lambda_s . phi_s / ||Lambda_s||^2, 0) (Eq. omega-i).

    Lambda_s is the expected Delta phi under the target policy, so this is the paper's
    Table I; a learner sees the sampled Delta phi instead. A state with phi(s) = 0 or
    weight zero gets 0, which changes nothing: its row of X is zero anyway.

    Parameters
    ----------
    ops : Operators
    sign : function of a native scalar, optional
        How the sign of Lambda_s . phi_s is taken where it may depend on a symbol.

    Raises
    ------
    UndefinedError
        Where Lambda_s = 0 although phi(s) and the weight are not: every omega
        minimises the paper's objective.
    SignUndecidedError
        Where a sign depends on a symbol and no ``sign`` takes it.
    """
    taken = sign or ops.arithmetic.sign
    found = []
    for first, up, down, counts in _ratios(ops):
        _require_difference(ops, first, down, counts)
        found.append(up.over(down).kept(counts).positive_part(up.kept(counts), taken))
    weights: Matrix = ops.arithmetic.stacked(found)
    return weights


def _require_difference(ops: Operators, first: int, down: Matrix, counts: list[bool]) -> None:
    for i, (size, counted) in enumerate(zip(down.entries(), counts, strict=True), first):
        if counted and not size:
            raise UndefinedError(
                f"omega is undefined in state {ops.labels[i]!r}: its expected Delta phi = phi - "
                f"gamma E[phi'] is zero{ops.arithmetic.caveat}, so every omega minimises ||omega Delta "
                "phi - phi||. Give weights of your own with fixed_point(Omega=...)",
                [ops.labels[i]],
            )


def _ratios(ops: Operators) -> Iterator[tuple[int, Matrix, Matrix, list[bool]]]:
    """Of states one after the other: Lambda . phi, ||Lambda||^2, and whether phi and the weight are not 0.

    The number of the first state stands before. Among floats each state has units of its own, in which its
    Lambda is of size one: the ratio of the two does not change. What is zero in Lambda but for rounding
    counts as zero, with its bound.
    """
    weights = ops.xi.entries()
    unit = ops.Phi.scaled(ops.arithmetic.one / ops.arithmetic.magnitude(ops.Phi))
    for rows, product in ops.L_pi.row_products(unit):
        Lambda = product.cleaned()
        units = Lambda.row_units()
        Lambda, Phi = Lambda.scale_rows(units), unit.part(rows).scale_rows(units)
        own = ops.Phi.part(rows)
        own = own.scale_rows(own.row_units())
        sizes = zip(own.row_dots(own).entries(), weights[rows], strict=True)
        counts = [bool(size) and bool(weight) for size, weight in sizes]
        yield rows.start or 0, Lambda.row_dots(Phi), Lambda.row_dots(Lambda), counts


def symbolic_weights(ops: Operators) -> list[Any]:
    """omega(s) as public numbers, ``Max(0, ...)`` where the sign depends on a symbol."""
    arithmetic, out = ops.arithmetic, []
    for first, up, down, counts in _ratios(ops):
        _require_difference(ops, first, down, counts)
        for x, y, there in zip(up.over(down).entries(), up.entries(), counts, strict=True):
            try:
                positive = bool(there) and arithmetic.sign(y) > 0
                out.append(arithmetic.public(x if positive else arithmetic.zero))
            except SignUndecidedError:
                out.append(sp.Max(0, arithmetic.public(x)))
    return out


@dataclass(frozen=True, eq=False)
class EmphasisCell:
    """A range of one symbol on which Omega_S is a matrix of rational functions.

    Attributes
    ----------
    domain : sympy.Set
        An interval with exact end points, open at the break points: there an expected
        Delta phi may vanish and leave omega undefined.
    sample : sympy.Rational
        A point inside.
    Omega : sympy.ImmutableDenseMatrix
        Omega_S on the cell; pass it to ``fixed_point(Omega=...)``.
    zero_states : tuple of hashable
        States whose weight is cut to 0 on the cell.
    """

    domain: Any
    sample: Any
    Omega: Any
    zero_states: tuple[Hashable, ...]


def _cells(ops: Operators, symbol: sp.Symbol, inside: sp.Interval) -> list[Cell[Matrix]]:
    """Omega_S, native, on each cell of the only symbol that its signs depend on."""
    public = ops.arithmetic.public
    return sign_cells(
        inside.start, inside.end, symbol,
        lambda signs: projection_weights(ops, lambda dot: signs.of(public(dot))),
    )  # fmt: skip


def _ranges(ops: Operators, symbol: sp.Symbol, domain: sp.Set | None) -> list[sp.Set]:
    """Where formulas in the symbol hold, or what there is of a domain that is given."""
    if domain is not None:
        found = parts_of(ops.inputs.domain(symbol, domain))
    else:
        known = ops.inputs.known_signs({symbol}).ranges.get(symbol, EVERYWHERE)
        found = [r.as_set for r in known]
    return [x for x in found if isinstance(x, sp.Interval)]


def emphasis_cells(ops: Operators, domain: sp.Set | None) -> list[EmphasisCell]:
    """Split a range of the only symbol in Omega_S at the sign changes of Lambda_s . phi_s.

    Raises
    ------
    SignUndecidedError
        Where the signs depend on no symbol, or on several.
    """
    symbols = deciding_symbols(ops)
    if len(symbols) != 1:
        raise SignUndecidedError(
            f"omega_cells splits the range of one symbol; the signs in Omega_S depend on "
            f"{symbols or 'none'}. Substitute numbers for the others with problem.subs"
        )
    (symbol,), formulas = symbols, _sign_formulas(ops)
    out = []
    for inside in _ranges(ops, symbol, domain):
        for cell in _cells(ops, symbol, inside):
            signs = SampledSigns(symbol, cell.sample)
            cut = tuple(ops.labels[i] for i, dot in formulas.items() if signs.of(dot) <= 0)
            closed = sp.Interval(
                cell.left, cell.right, cell.left != inside.start, cell.right != inside.end
            )
            diagonal = sp.ImmutableDenseMatrix(sp.diag(*cell.value.public()))
            out.append(EmphasisCell(sp.Intersection(closed, inside), cell.sample, diagonal, cut))
    return out


def _sign_formulas(ops: Operators) -> dict[int, Any]:
    """Lambda_s . phi_s, public, for the states where it decides between omega and 0."""
    found = {}
    for first, up, down, counts in _ratios(ops):
        for i, (x, y, there) in enumerate(
            zip(up.entries(), down.entries(), counts, strict=True), first
        ):
            if there and y:
                found[i] = ops.arithmetic.public(x)
    return found


def deciding_symbols(ops: Operators) -> list[sp.Symbol]:
    """The symbols on which a sign in Omega_S depends, by name."""
    found = {s for q in _sign_formulas(ops).values() for s in q.free_symbols}
    return sorted(found, key=str)


def nearest_to_X_star(ops: Operators) -> Matrix:
    """The column of Omega*: the diagonal minimiser of ||Xi Omega Phi - X*||_F.

    State by state, omega(s) = phi(s) . x*(s) / (xi(s) ||phi(s)||^2). Where phi(s) = 0
    or xi(s) = 0 every omega(s) attains the minimum, and 0 is given.
    """
    units = ops.Phi.row_units()
    Phi, X_star = ops.Phi.scale_rows(units), ops.X_star.scale_rows(units)
    return Phi.row_dots(X_star).over(Phi.row_dots(Phi).scale_rows(ops.xi))


def emphatic(ops: Operators) -> Matrix:
    """The column of Omega_E = Xi^-1 f (Section IV).

    Raises
    ------
    UndefinedError
        At states of weight zero, where it is 0/0.
    """
    if ops.unvisited:
        states = ops.names(ops.unvisited)
        raise UndefinedError(
            f"Omega_E = Xi^-1 diag(f) divides by zero at the states {states[:8]}, which the "
            "behaviour chain leaves for good (xi = 0). X_E = diag(f) Phi exists: use "
            "fixed_point('etd'), or problem.f",
            states,
        )
    return ops.f.over(ops.xi)


WEIGHTINGS: dict[str, Callable[[Operators], Matrix]] = {
    "best": lambda ops: ops.X_star,
    "td": lambda ops: ops.Xi_Phi,
    "rg": lambda ops: ops.Lambda.scale_rows(ops.xi),
    "setd": lambda ops: ops.Phi.scale_rows(projection_weights(ops).scale_rows(ops.xi)),
    "etd": lambda ops: ops.Phi.scale_rows(ops.f),
}
"""X of each name: X*, Xi Phi, Xi L_pi Phi, Xi Omega_S Phi and diag(f) Phi."""

METHODS = tuple(WEIGHTINGS)
"""The names that :meth:`obliquetd.PolicyEvaluation.fixed_point` knows."""
