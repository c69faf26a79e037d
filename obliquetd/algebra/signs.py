r"""Signs of polynomials that hold wherever their symbols range.

A discount lies in [0, 1) and a probability in [0, 1], so 1 - gamma is positive although it has a symbol. A
polynomial on a box is written in Bernstein's basis there,

    f(t) = sum over j of c_j B_j(t),    B_j >= 0,

whose coefficients bound it: all of them at least 0 make f at least 0, and f > 0 inside where one is not 0
(Garloff 1986). The coefficients at the corners are values of f, so two signs among them end the search.
Otherwise the box is halved, a few times. All of that is exact.

What is asked of the ends of a range: a sign holds inside, where no probability is 0 or 1 and the model has
the transitions that were written; it holds at an end only where the range has that end for its own, as
[0, 1) has 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp
from sympy import QQ

from obliquetd.algebra.intervals import SignRange
from obliquetd.algebra.polynomial_ring import factors_of
from obliquetd.algebra.preimage import Limit, critical_factors, ranges_of
from obliquetd.algebra.roots import rational_between

__all__ = ["KnownSigns", "SignRange", "known_of"]

HALVINGS = 6
"""How often a box is halved."""
MOST_BOXES = 200
"""Boxes that are looked at for one sign."""
MOST_COEFFICIENTS = 4_000
"""Coefficients up to which a polynomial is looked at."""

Tensor = npt.NDArray[Any]
EVERYWHERE = (SignRange(),)


@dataclass(frozen=True, eq=False)
class KnownSigns:
    """What is known of the signs of polynomials: the ranges of symbols, and signs that are given.

    Attributes
    ----------
    ranges : mapping of symbol to tuple of SignRange
        From left to right, each with some room; a symbol without an entry may be any real number.
    given : mapping of polynomial to sign
        Of irreducible polynomials, as :func:`normal` writes them.
    """

    ranges: Mapping[sp.Symbol, tuple[SignRange, ...]] = field(default_factory=dict)
    given: dict[Any, int] = field(default_factory=dict)
    seen: dict[Any, int | None] = field(default_factory=dict, repr=False)

    @cached_property
    def inside(self) -> KnownSigns:
        """The same with no range having its ends."""
        return KnownSigns(
            {s: tuple(r.inside() for r in parts) for s, parts in self.ranges.items()}, self.given
        )

    def says_as(self, other: KnownSigns) -> bool:
        """Whether the other knows the same."""
        return dict(self.ranges) == dict(other.ranges) and dict(self.given) == dict(other.given)

    def told(self, symbols: Iterable[sp.Symbol]) -> str:
        """The ranges in words."""
        spans = {s: " or ".join(map(str, self.ranges.get(s, ()))) for s in symbols}
        return ", ".join(f"{s} in {r}" if r else f"any {s}" for s, r in spans.items())

    def and_also(self, other: KnownSigns) -> KnownSigns:
        """What the two know together."""
        ranges = dict(self.ranges)
        for symbol, parts in other.ranges.items():
            ranges[symbol] = _common(ranges.get(symbol, EVERYWHERE), parts)
        return KnownSigns(ranges, {**self.given, **other.given})

    def of_fraction(self, fraction: Any) -> int | None:
        """The sign of a rational function, native; None where it is not known."""
        if not fraction:
            return 0
        total = 1
        for part in (fraction.numer, fraction.denom):
            coefficient, factors = factors_of(part)
            total *= 1 if coefficient > 0 else -1
            for factor, power in factors:
                found = self.of_factor(factor)
                if found is None:
                    return None
                total *= found**power
        return total

    def of_factor(self, factor: Any) -> int | None:
        """The sign of an irreducible polynomial, native."""
        turn, plain = normal(factor)
        if plain not in self.seen:
            self.seen[plain] = self.given.get(plain) or self._by_range(factor, turn)
        found = self.seen[plain]
        return None if found is None else found * turn

    def undecided(self, fraction: Any) -> Any:
        """A factor whose sign is not known, public and with its leading sign taken off; None if there is none."""
        for part in (fraction.numer, fraction.denom):
            for factor, _ in factors_of(part)[1]:
                if self.of_factor(factor) is None:
                    return normal(factor)[1]
        return None

    def split_square(self, fraction: Any) -> tuple[Any, Any]:
        """Factors of known sign before the root of a fraction, public and not negative, and the rest, native.

        sqrt(gamma^2 (p - q)) is gamma sqrt(p - q) where gamma is not negative.
        """
        outside, left = sp.Integer(1), []
        for part, side in ((fraction.numer, 1), (fraction.denom, -1)):
            coefficient, factors = factors_of(part)
            inside = part.ring.ground_new(coefficient)
            for factor, power in factors:
                sign = self.of_factor(factor) if power > 1 else None
                taken = 0 if sign is None else power // 2
                if taken:
                    outside *= ((factor * (sign or 1)).as_expr()) ** (side * taken)
                inside = inside * factor ** (power - 2 * taken)
            left.append(inside)
        if outside == 1:
            return outside, fraction
        return outside, fraction.field.raw_new(*left)  # of factors in lowest terms

    def assuming(self, polynomial: Any, sign: int) -> KnownSigns:
        """The same where a polynomial, as :meth:`undecided` gives it, has a sign; a range may shrink."""
        ranges = dict(self.ranges)
        symbols = list(polynomial.free_symbols)
        if len(symbols) == 1 and sp.degree(polynomial, symbols[0]) == 1:
            (x,) = symbols
            slope, shift = sp.Poly(polynomial, x).all_coeffs()
            root = -shift / slope
            above = (slope > 0) == (sign > 0)
            half = SignRange(root, sp.oo) if above else SignRange(-sp.oo, root)
            ranges[x] = _common(ranges.get(x, EVERYWHERE), (half,))
        return KnownSigns(ranges, {**self.given, polynomial: sign})

    @property
    def is_empty(self) -> bool:
        """Whether a symbol has no range left; then what was assumed is never so."""
        return not all(self.ranges.values())

    def _by_range(self, factor: Any, turn: int) -> int | None:
        parts = (self.ranges.get(s, EVERYWHERE) for s in factor.ring.symbols)
        boxes = itertools.product(*parts)
        signs = {sign_on_box(factor, [r.widened() for r in box]) for box in boxes}
        found = signs.pop() if len(signs) == 1 else None
        return None if found is None else found * turn


def _common(one: Sequence[SignRange], other: Sequence[SignRange]) -> tuple[SignRange, ...]:
    """What lies in ranges of both, where it has some room."""
    both = (a & b for a in one for b in other)
    return tuple(r for r in both if r.has_room)


def normal(factor: Any) -> tuple[int, Any]:
    """A native polynomial as a sign times a public one with whole coefficients, the last in order positive.

    Examples
    --------
    >>> from sympy import QQ, ring
    >>> R, x, y = ring("x, y", QQ)
    >>> normal(1 - x), normal(2 * x - 2)
    ((-1, x - 1), (1, x - 1))
    """
    _, primitive = factor.clear_denoms()[1].primitive()
    turn = 1 if primitive.LC > 0 else -1
    return turn, (primitive * turn).as_expr()


def sign_on_box(polynomial: Any, ranges: list[SignRange]) -> int | None:
    """The sign that a native polynomial has throughout a box; None where it has none, or it was not found.

    Examples
    --------
    >>> from sympy import QQ, ring
    >>> R, x, y = ring("x, y", QQ)
    >>> unit = SignRange(sp.Integer(0), sp.Integer(1))
    >>> [sign_on_box(f, [unit, unit]) for f in (1 + x - x * y, x - 1, x - y, x**2 - x + 1)]
    [1, -1, None, 1]
    """
    degrees = [max(m[k] for m in polynomial.monoms()) for k in range(len(ranges))]
    used = [k for k, d in enumerate(degrees) if d]
    if not used:
        return 1 if polynomial.LC > 0 else -1
    if any(ranges[k].low == -sp.oo and ranges[k].high == sp.oo for k in used):
        return None
    shape = tuple(degrees[k] + 1 for k in used)
    if math.prod(shape) > MOST_COEFFICIENTS:
        return None
    powers = np.full(shape, QQ(0), dtype=object)
    for monomial, value in polynomial.terms():
        powers[tuple(monomial[k] for k in used)] = value
    for axis, k in enumerate(used):
        powers = _along(_to_bernstein(degrees[k], ranges[k]), powers, axis)
    kept = [(ranges[k].has_low, ranges[k].has_high) for k in used]
    return _decided(powers, kept)


def _decided(coefficients: Tensor, kept: list[tuple[bool, bool]]) -> int | None:
    """The sign on the unit cube, whose faces are in it where ``kept`` says so."""
    waiting = [(coefficients, tuple(kept), 0)]
    side, looked = 0, 0
    while waiting:
        box, ends, depth = waiting.pop()
        looked += 1
        corners = [x for x in _corners(box) if x]
        for sign in {1 if x > 0 else -1 for x in corners}:
            if side and sign != side:
                return None
            side = sign
        if _has_sign(box, ends, side):
            continue
        if depth >= HALVINGS * box.ndim or looked > MOST_BOXES:
            return None
        axis = depth % box.ndim
        for half, inner in zip(_halves(box, axis), (1, 0), strict=True):
            new = tuple(
                (pair[0] or not inner, pair[1] or bool(inner)) if k == axis else pair
                for k, pair in enumerate(ends)
            )
            waiting.append((half, new, depth + 1))
    return side or None


def _corners(box: Tensor) -> list[Any]:
    return [box[at] for at in itertools.product(*((0, -1) for _ in range(box.ndim)))]


def _has_sign(box: Tensor, ends: tuple[tuple[bool, bool], ...], side: int) -> bool:
    """Whether f has the sign inside the box and inside each face that belongs to it."""
    if not all(x * side >= 0 for x in box.flat):
        return False
    choices = [
        [slice(None), *([slice(0, 1)] * low), *([slice(-1, None)] * high)] for low, high in ends
    ]
    return all(any(x for x in box[face].flat) for face in itertools.product(*choices))


def _along(matrix: list[list[Any]], tensor: Tensor, axis: int) -> Tensor:
    """A matrix applied to one axis."""
    rows = np.array(matrix, dtype=object)
    out: Tensor = np.moveaxis(np.tensordot(rows, tensor, axes=(1, axis)), 0, axis)
    return out


def _to_bernstein(degree: int, span: SignRange) -> list[list[Any]]:
    """From coefficients of powers of x on a range to those of Bernstein's basis in t on [0, 1].

    x = low + (high - low) t; where an end is infinite, x = low + t/(1 - t), or high - t/(1 - t), and the
    polynomial is multiplied by (1 - t)^degree, which is positive inside.
    """
    t = sp.Symbol("t")
    if span.high == sp.oo:
        above, below = span.low * (1 - t) + t, 1 - t
    elif span.low == -sp.oo:  # t = 0 is the upper end
        above, below = span.high * (1 - t) - t, 1 - t
    else:
        above, below = span.low + (span.high - span.low) * t, sp.Integer(1)
    columns = []
    for i in range(degree + 1):
        power = sp.Poly(above**i * below ** (degree - i), t, domain=QQ).rep.to_list()[::-1]
        a = [QQ.convert(x) for x in power] + [QQ(0)] * (degree + 1 - len(power))
        columns.append(
            [
                sum(
                    (QQ(math.comb(j, k), math.comb(degree, k)) * a[k] for k in range(j + 1)),
                    QQ(0),
                )
                for j in range(degree + 1)
            ]
        )
    if span.low == -sp.oo:
        columns = [c[::-1] for c in columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _halves(box: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """De Casteljau's algorithm at 1/2 along one axis."""
    rows = [np.take(box, i, axis=axis) for i in range(box.shape[axis])]
    left, right = [rows[0]], [rows[-1]]
    while len(rows) > 1:
        rows = [(a + b) / 2 for a, b in itertools.pairwise(rows)]
        left.append(rows[0])
        right.append(rows[-1])
    return np.stack(left, axis=axis), np.stack(right[::-1], axis=axis)


def known_of(formulas: Iterable[tuple[Any, sp.Set]]) -> KnownSigns:
    """What follows for the symbols from formulas that lie in a set each.

    Formulas in one symbol say where that lies (:mod:`obliquetd.algebra.preimage`). One in several
    has two signs, at the ends of its interval.

    Examples
    --------
    >>> p, q = sp.symbols("p q")
    >>> unit = sp.Interval(0, 1)
    >>> known = known_of([(p, unit), (1 - 2 * p, unit), (q, unit), (1 - p - q, unit)])
    >>> known.told([p, q]), known.given == {p + q: 1, p + q - 1: -1}
    ('p in [0, 1/2], q in [0, 1]', True)
    >>> known_of([(1 / p**2, sp.Interval.Ropen(0, 1))]).told([p])
    'p in (-oo, -1) or (1, oo)'
    """
    alone: dict[sp.Symbol, list[Limit]] = {}
    given: dict[Any, int] = {}
    for limit in dict.fromkeys(Limit(*pair) for pair in formulas):
        symbols = limit.formula.free_symbols
        if len(symbols) == 1:
            alone.setdefault(next(iter(symbols)), []).append(limit)
        elif symbols:
            given |= _signs_at_ends(limit)
    ranges = {s: tuple(r for r in ranges_of(x, s) if r.has_room) for s, x in alone.items()}
    for symbol, limits in alone.items():
        given |= _signs_between(limits, symbol, ranges[symbol])
    return KnownSigns(ranges, given)


def _signs_at_ends(limit: Limit) -> dict[Any, int]:
    """The sign of f - low and of high - f, where it is that of one irreducible factor."""
    formula, interval = limit
    domain = QQ.frac_field(*sorted(formula.free_symbols, key=str))
    found = {}
    for end, sign in ((interval.inf, 1), (interval.sup, -1)):
        if not end.is_finite:
            continue
        fraction = domain.from_sympy(sp.cancel(formula - end))
        factors = factors_of(fraction.numer)[1] + factors_of(fraction.denom)[1]
        if len(factors) == 1 and factors[0][1] % 2:  # else it is not known whose sign it is
            lead = fraction.numer.LC / fraction.denom.LC
            found[normal(factors[0][0])[1]] = sign * (1 if lead > 0 else -1)
    return found


def _signs_between(
    limits: Iterable[Limit], symbol: sp.Symbol, ranges: Sequence[SignRange]
) -> dict[Any, int]:
    """Signs of polynomials in one symbol that bound its ranges, where these have an irrational end.

    Their zeros are ends of cells that a range is made of, so that one sample of each range tells.
    """
    if all(r == r.widened() for r in ranges):
        return {}  # they are found as any other sign is
    samples = [rational_between(r.low, r.high) for r in ranges]
    found = {}
    for polynomial in {f for limit in limits for f in critical_factors(limit)}:
        signs = {int(sp.sign(polynomial.subs(symbol, x))) for x in samples}
        if len(signs) == 1:
            found[polynomial] = signs.pop()
    return found
