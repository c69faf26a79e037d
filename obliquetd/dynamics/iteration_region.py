"""For which values of one symbol does an iteration converge? A union of intervals with exact end points.

Let p be the characteristic polynomial of F without its factors z - 1, and q(g) that of g = (1 - z) / (1 + z): the
iteration converges where all roots of q have a positive real part, q keeps its degree (-1 is then no
eigenvalue of F), and the eigenvalue 1, where it is one, is semisimple with a fixed point.

1. That can change only at a pole of q, at a zero of its leading coefficient (an eigenvalue is -1) or of its last one (a
   further eigenvalue is 1: A is singular there), and where two of its roots add up to zero, as in
   :mod:`obliquetd.dynamics.regions`; for FQI where C is singular, too; and where 1 is an eigenvalue throughout,
   where M A or (M A, M b) loses rank. Between two such points one rational decides for all.
2. At a rational point the iteration itself is judged. At an irrational one it does not converge, unless it is one where A is
   singular or a rank is lost: there F is judged in the field of that number (:mod:`obliquetd.algebra.number_field`).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import sympy as sp

from obliquetd.algebra.cells import break_points, rational_between
from obliquetd.algebra.intervals import parts_of
from obliquetd.algebra.number_field import Real, RootArithmetic
from obliquetd.dynamics.domain import domain_of
from obliquetd.dynamics.function_field import crossings
from obliquetd.dynamics.regions import the_only_one
from obliquetd.dynamics.stability import routh_is_positive, verdict_of
from obliquetd.dynamics.values import NO_PROBLEM
from obliquetd.errors import InputError

if TYPE_CHECKING:
    from obliquetd.dynamics.iteration import Iteration

__all__ = ["region_of_iteration", "singular_points", "turned_of"]

NONE, MANY = "no fixed point", "many fixed points"


def turned_of(coefficients: list[Any]) -> list[Any]:
    """The polynomial of g = (1 - z) / (1 + z), leading coefficient first, for one of z; both native."""
    g = sp.Dummy("g")
    n = len(coefficients) - 1
    powers = [sp.Poly((1 - g) ** (n - k) * (1 + g) ** k, g) for k in range(n + 1)]
    zero = 0 * coefficients[0]
    return [
        sum(
            (c * int(power.nth(j)) for c, power in zip(coefficients, powers, strict=True)),
            zero,
        )
        for j in range(n, -1, -1)
    ]


def region_of_iteration(it: Iteration, symbol: Any, domain: sp.Interval | None) -> sp.Set:
    """The values of the symbol for which the iteration converges from all weights."""
    found = _symbol(it, symbol)
    coefficients, ones = it._polynomial
    public = it._F.arithmetic.public
    q = [public(c) for c in turned_of(coefficients)]
    fragile = _in(found, _fragile(it, q))
    rests = not ones or it._rests(ones)
    changing = _in(found, [*crossings(q), q[0], *fragile, *it._critical, it.fitting.step])
    pieces: list[sp.Set] = []
    for inside in parts_of(domain_of(it.problem, it.fitting, found, domain)):
        if isinstance(inside, sp.FiniteSet):
            pieces += [inside] if _converges_at(it, found, *inside) else []
            continue
        ends = break_points(inside.start, inside.end, changing, found)
        weak = set(break_points(inside.start, inside.end, fragile, found))
        for a, b in itertools.pairwise(ends):
            at = {found: rational_between(a, b)}
            if it.fitting.step.subs(at) > 0 and rests and _positive([c.subs(at) for c in q]):
                pieces.append(sp.Interval.open(a, b))
        edges = [e for e in ends if e in inside and (e.is_Rational or e in weak)]
        pieces.append(sp.FiniteSet(*(e for e in edges if _converges_at(it, found, e))))
    return sp.Union(*pieces)


def singular_points(it: Iteration, symbol: Any, domain: sp.Interval | None) -> dict[Any, str]:
    """Where M A is singular and is not next to it: "no fixed point" or "many fixed points"."""
    found = _symbol(it, symbol)
    last = _in(found, [it._F.arithmetic.public(turned_of(it._polynomial[0])[-1])])
    told = {}
    for inside in parts_of(domain_of(it.problem, it.fitting, found, domain)):
        points = inside if isinstance(inside, sp.FiniteSet) else break_points(
            inside.start, inside.end, last, found
        )  # fmt: skip
        for point in points:
            if point in inside and point.is_finite:
                said = _singular_at(it, found, point)
                if said:
                    told[point] = said
    return told


def _symbol(it: Iteration, symbol: Any) -> sp.Symbol:
    return the_only_one({*it.problem.symbols, *it.fitting.symbols}, symbol)


def _in(symbol: sp.Symbol, expressions: list[Any]) -> list[Any]:
    return [e for e in map(sp.sympify, expressions) if e.has(symbol)]


def _positive(q: list[Any]) -> bool:
    """Whether all roots have a positive real part.

    A root that is missing wherever the symbol is, so that the first coefficient is 0, is an eigenvalue of -1.
    """
    return q[0] != 0 and (len(q) == 1 or verdict_of(q) == "stable")


def _fragile(it: Iteration, q: list[Any]) -> list[Any]:
    """Formulas at whose zeros 1 is an eigenvalue once more, or where it is one throughout, a rank is lost."""
    if not it._polynomial[1]:
        return [q[-1]]
    MA, Mb = ((it._M @ x).public() for x in (it._A, it._b))
    return [q[-1], _minor(MA), _minor(MA.row_join(Mb))]


def _minor(matrix: sp.Matrix) -> Any:
    """A minor that is not 0, as large as the rank."""
    rows = matrix.to_DM().to_field()
    columns = rows.rref()[1]
    kept = rows.extract(list(range(rows.shape[0])), list(columns))
    lines = kept.transpose().rref()[1]
    square = kept.extract(list(lines), list(range(len(columns))))
    return square.domain.to_sympy(square.det()) if columns else sp.Integer(1)


def _at(it: Iteration, symbol: sp.Symbol, value: Any) -> Iteration:
    """The iteration with a number in place of the symbol."""
    kind = type(it)
    if not value.is_Rational:
        return kind(it.problem, it.fitting, RootArithmetic(symbol, value))
    values = {symbol: value}
    there = it.problem.subs(values) if symbol in it.problem.symbols else it.problem
    return kind(there, it.fitting.at(values))


def _converges_at(it: Iteration, symbol: sp.Symbol, value: Any) -> bool:
    """The exact verdict; False where there is no problem, no regression, or no positive step size."""
    try:
        there = _at(it, symbol, value)
        if value.is_Rational:
            return there.is_convergent()
        coefficients, ones = there._polynomial
        if ones and not there._rests(ones):
            return False
        arithmetic = there._F.arithmetic
        assert isinstance(arithmetic, RootArithmetic)
        q = [Real(-c if i % 2 else c, arithmetic) for i, c in enumerate(turned_of(coefficients))]
        return bool(it.fitting.step.subs(symbol, value) > 0 and q[0].value and routh_is_positive(q))
    except (InputError, *NO_PROBLEM):
        return False


def _singular_at(it: Iteration, symbol: sp.Symbol, value: Any) -> str:
    """What a smaller rank of M A means at a value; "" where it is not smaller, or there is no iteration."""
    try:
        there = _at(it, symbol, value)
        MA = there._M @ there._A
        if MA.rank() == (it._M @ it._A).rank():
            return ""
        solution = MA.general_solution(there._M @ there._b, "the iteration")
    except (InputError, *NO_PROBLEM):
        return ""
    return NONE if solution.particular is None else MANY
