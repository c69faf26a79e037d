"""A on W as a function of one symbol, from the terms of all outcomes: U' M(gamma) V on each range.

A term c <v, x> z of an outcome adds -xi(s) mu p c(gamma) z v' to A. The rows z and v of the features are numbers, so
that only the entries of M are functions (:class:`~obliquetd.algebra.factored.FactoredFunctions`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from obliquetd.algebra.entries import Block
from obliquetd.algebra.factored import FactoredFunctions
from obliquetd.algebra.factored_polynomials import FactoredPolynomials
from obliquetd.algebra.functions import Basis, constant_span, rank_of
from obliquetd.algebra.quotient_columns import QuotientColumn, values_of
from obliquetd.algebra.quotients import Quotient
from obliquetd.algebra.ranges import InOneSymbol, OnRange
from obliquetd.dynamics.feature_tables import features_of
from obliquetd.dynamics.formulas import Formulas, Pieces
from obliquetd.dynamics.numbered import Indices, NumberedVectors
from obliquetd.learners.forms import NoFormError, is_feature

__all__ = ["RangeSums"]


class _Outcome(NamedTuple):
    """What an outcome makes on a range: functions of z, and of z and v, by the numbers of these rows."""

    low: Any
    high: Any
    constants: list[tuple[int, Any]]
    slopes: list[tuple[int, int, Any]]


@dataclass(eq=False)
class _Part:
    """The same of outcomes that took one way through the rule, by columns; ``weight`` is -xi(s) times their chance."""

    piece: Pieces
    weight: QuotientColumn
    constants: list[tuple[Indices, QuotientColumn]] = field(default_factory=list)
    slopes: list[tuple[Indices, Indices, QuotientColumn]] = field(default_factory=list)

    @cached_property
    def ranges(self) -> list[tuple[Any, Any, list[int]]]:
        """The different ranges, each with the places of its outcomes."""
        found: list[tuple[Any, Any, list[int]]] = []
        for k, (low, high) in enumerate(zip(self.piece.lows, self.piece.highs, strict=True)):
            for a, b, places in found:
                if (a is low or a == low) and (b is high or b == high):
                    places.append(k)
                    break
            else:
                found.append((low, high, [k]))
        return found


class RangeSums:
    """The sums of the terms of all outcomes.

    Parameters
    ----------
    formulas : Formulas
    xi : list of numbers
        The weights of the states.

    Raises
    ------
    NoFormError
        Where features have the symbol.
    """

    def __init__(self, formulas: Formulas, xi: list[Any]) -> None:
        self.formulas, self.xi, self.d = formulas, xi, formulas.rule.d
        self.size = formulas.rule.size
        self._zero, self._one = formulas.ops.arithmetic.zero, formulas.ops.arithmetic.one
        self.starts, start = {}, 0
        for slot, over in formulas.weights.items():
            self.starts[slot] = start
            start += self.d if over else 1
        self._vectors = NumberedVectors()
        self._features: dict[str, list[list[Any]]] = {}
        self._minus_xi = [-1 * x for x in xi]
        self.parts = [self._part(piece) for piece in formulas.pieces]

    def _vectors_of(self, slot: Any, vector: Any, outcomes: Any) -> Indices:
        """The numbers of the rows of features of outcomes, or of 1, at the places of a slot."""
        if vector is None:
            return np.full(len(outcomes), self._numbered((slot, None), [self._one], slot))
        if not is_feature(vector):
            raise NoFormError("a term with a memory, where none is carried")
        _, table, row = vector
        if table not in self._features:
            self._features[table] = features_of(self.formulas.ops, table).rows()
        features, listed = self._features[table], self.formulas.rows[row][outcomes]
        known = np.full(len(features), -1)
        for i in dict.fromkeys(listed.tolist()):
            known[i] = self._numbered((slot, table, i), features[i], slot)
        return np.asarray(known[listed])

    def _numbered(self, key: Any, entries: list[Any], slot: Any, shift: int = 0) -> int:
        found = self._vectors.find(key)
        if found is not None:
            return found
        if Quotient in set(map(type, entries)):
            raise NoFormError("features with the symbol")
        whole = [self._zero] * self.size
        at = self.starts[slot] + shift
        whole[at : at + len(entries)] = entries
        return self._vectors.add(key, whole)

    def _part(self, piece: Pieces) -> _Part:
        formulas, at = self.formulas, piece.group.outcomes
        states, chance = formulas.rows["s"][at].tolist(), formulas.chance[at].tolist()
        weights = [self._minus_xi[s] * c for s, c in zip(states, chance, strict=True)]
        part = _Part(piece, QuotientColumn.of(weights, formulas.at_sample))
        for slot, terms in piece.group.update.items():
            for term in terms:
                self._add(part, slot, term, at)
        return part

    def _parallel(self, part: _Part) -> Any:
        """Whether two slopes of an outcome are along one z and parallel v."""
        found = np.zeros(len(part.piece.lows), dtype=bool)
        if len(part.slopes) < 2:
            return found
        ways = self._vectors.ways
        for (y, u, _), (z, v, _) in itertools.combinations(part.slopes, 2):
            found |= (y == z) & (ways[u] == ways[v])
        return found

    def _outcome(self, part: _Part, k: int) -> _Outcome:
        """One outcome by itself."""

        def at(column: QuotientColumn) -> Any:
            return column[k if len(column) > 1 else 0]

        constants = [(int(z[k]), at(x)) for z, x in part.constants]
        slopes = [(int(z[k]), int(v[k]), at(x)) for z, v, x in part.slopes]
        kept = [pair for pair in constants if pair[1]]
        ends = part.piece.lows[k], part.piece.highs[k]
        return _Outcome(*ends, kept, self._merged([x for x in slopes if x[2]]))

    @cached_property
    def outcomes(self) -> list[_Outcome]:
        """All of them."""
        return [self._outcome(p, k) for p in self.parts for k in range(len(p.piece.lows))]

    def _merged(self, slopes: list[tuple[int, int, Any]]) -> list[tuple[int, int, Any]]:
        """Functions of one z and parallel v added, so that the poles which cancel do so.

        SETD's weight is 1 / (1 - gamma) where a transition stays in its state, and times phi - gamma phi' just phi.
        """
        sums: dict[tuple[int, int], tuple[int, Any]] = {}
        for z, v, value in slopes:
            direction = self._vectors.direction(v)[0]
            if (z, direction) not in sums:
                sums[z, direction] = v, value
                continue
            u, total = sums[z, direction]
            share = value * self._vectors.ratio(v, u)
            sums[z, direction] = u, total + share
        return [(z, v, value) for (z, _), (v, value) in sums.items() if value]

    def _add(self, part: _Part, slot: Any, term: Any, outcomes: Any) -> None:
        """A term to each of the outcomes."""
        column = term.column
        if term.left is not None and term.left[0] == "weights":
            if term.factors:
                raise NoFormError("an update that is not affine in the weights")
            for i in range(self.d):
                z, v = (
                    self._numbered((x, "unit", i), [self._one], x, i) for x in (slot, term.left)
                )
                many = len(outcomes)
                part.slopes.append((np.full(many, z), np.full(many, v), column))
            return
        left = self._vectors_of(slot, term.left, outcomes)
        if not term.factors:
            part.constants.append((left, column))
            return
        if len(term.factors) > 1:
            raise NoFormError("an update that is not affine in the weights")
        (factor,) = term.factors
        parts = [factor[1:]] if factor[0] == "number" else list(factor[1:3])
        inside = [v for v in parts if v[0] == "weights"]
        if len(inside) != 1:
            raise NoFormError("an update that is not affine in the weights")
        other = next((v for v in parts if v[0] != "weights"), None)
        part.slopes.append((left, self._vectors_of(inside[0], other, outcomes), column))

    # --- the span of the updates ------------------------------------------------------------

    def _updates(self, outcomes: Iterable[_Outcome], point: Any) -> list[list[Any]]:
        """Vectors of functions that span the updates of outcomes, a few of them where they are parallel.

        All updates along one z are multiples of it, of which one is kept: the one that does most at a point.
        """
        along: dict[int, tuple[int, Any]] = {}
        vectors = []
        for made in outcomes:
            lefts = {z for z, _ in made.constants} | {z for z, *_ in made.slopes}
            functions = [
                *made.constants,
                *((z, x) for z, v, x in made.slopes if any(self._vectors.listed[v])),
            ]
            if len(lefts) == 1:
                for z, value in functions:
                    rank = _usefulness(value, point)
                    if rank > along.get(z, (-1,))[0]:
                        along[z] = rank, value
                continue
            vectors.append(self._combined(made.constants))
            for j in range(self.size):
                column = [
                    (z, x * self._vectors.listed[v][j])
                    for z, v, x in made.slopes
                    if self._vectors.listed[v][j]
                ]
                vectors.append(self._combined(column))
        kept = [self._combined([(z, value)]) for z, (_, value) in along.items()]
        return kept + [v for v in vectors if any(v)]

    def _combined(self, parts: list[tuple[int, Any]]) -> list[Any]:
        total = [self._zero] * self.size
        for z, value in parts:
            total = [
                t + value * x if x else t
                for t, x in zip(total, self._vectors.listed[z], strict=True)
            ]
        return total

    # --- the family ---------------------------------------------------------------------------

    def family(self, *, carried: bool) -> InOneSymbol | None:
        """A on W; None where a memory is carried, or no constant W holds the updates."""
        formulas = self.formulas
        if carried and any(terms for g in formulas.groups for terms in g.handed.values()):
            return None
        start, end = formulas.ends
        middle = (start + end) / 2
        if self._all_are_moved(middle):
            basis = Basis(None, list(range(self.size)))
        else:
            found = constant_span(self._updates(self.outcomes, middle), self.size, middle)
            if found is None:
                return None
            basis = found
        inner = sorted(x for part in self.parts for *ends, _ in part.ranges for x in ends)
        cuts = [x for x, _ in itertools.groupby([start, *inner, end])]
        tables = self._tables(basis)
        numbers, fractions, where = self._sums(cuts, tables)
        ranges = []
        for k, (low, high) in enumerate(itertools.pairwise(cuts)):
            updates = partial(self._inside, low, basis)
            parts: list[Any] = [*numbers[k]]
            if fractions is not None:
                parts.append(fractions.some(where[k]))
            ranges.append(OnRange(low, high, len(basis.pivots), parts, updates))
        return InOneSymbol(ranges, formulas.jumps, frozenset(formulas.regular))

    def _all_are_moved(self, point: Any) -> bool:
        """Whether updates along single rows of features are seen to span everything at a point.

        One outcome is looked at for each row; where they do not do, that says nothing.
        """
        rows: set[int] = set()
        for part in self.parts:
            lefts = [z for z, *_ in (*part.constants, *part.slopes)]
            alone = np.all([z == lefts[0] for z in lefts], axis=0) & ~self._parallel(part)
            for z, x, v in [*((z, x, None) for z, x in part.constants),
                            *((z, x, v) for z, v, x in part.slopes)]:  # fmt: skip
                at = np.flatnonzero(alone)
                if v is not None:
                    at = at[self._vectors.ways[v[at]] >= 0]
                at = at[np.unique(z[at], return_index=True)[1]]  # one for each row
                fine = np.ones(len(at), dtype=bool)
                there: Any = x if len(x) == 1 else x[at]
                for coefficients in (there.above, *([] if x.below is None else [there.below])):
                    values = values_of(coefficients, point)
                    fine &= np.array([bool(y) for y in values.tolist()], dtype=bool)
                rows.update(z[at[fine]].tolist())
        chosen = [self._vectors.listed[z] for z in sorted(rows)]
        return rank_of(chosen) == self.size

    def _inside(self, low: Any, basis: Basis, point: Any) -> list[list[Any]]:
        """The updates on the range that begins there."""
        here = [x for x in self.outcomes if x.low <= low < x.high]
        return [[v[i] for i in basis.pivots] for v in self._updates(here, point)]

    def _tables(self, basis: Basis) -> tuple[list[list[Any]], list[list[Any]]]:
        """All z at the pivots, and all v times the basis."""
        left = [[v[i] for i in basis.pivots] for v in self._vectors.listed]
        if basis.rows is None:
            return left, self._vectors.listed
        turned = [
            [
                sum((x * y for x, y in zip(v, b, strict=True) if x and y), self._zero)
                for b in basis.rows
            ]
            for v in self._vectors.listed
        ]
        return left, turned

    def _sums(
        self, cuts: list[Any], tables: tuple[list[list[Any]], list[list[Any]]]
    ) -> tuple[list[list[FactoredPolynomials]], FactoredFunctions | None, Any]:
        """The sums over the outcomes: of polynomials for each range between cuts, and all fractions.

        Of these, a mask says which are there on which range.
        """
        blocks, masks = [], []
        always: list[Block] = []
        changing: list[list[Block]] = [[] for _ in cuts[1:]]
        whole = (cuts[0], cuts[-1])
        for part in self.parts:
            for low, high, listed in part.ranges:
                here = np.array([low <= a and b <= high for a, b in itertools.pairwise(cuts)])
                targets = [always] if (low, high) == whole else [
                    changing[k] for k in np.flatnonzero(here)
                ]  # fmt: skip
                for k, z, v, column in self._apart(part, np.array(listed, dtype=np.intp)):
                    weight = (
                        part.weight if len(k) == len(part.piece.lows) else _some(part.weight, k)
                    )
                    factor = weight.above[0]
                    if weight.below is not None or len(weight.above) > 1:  # the symbol is in it
                        column, factor = column * weight, np.array([self._one], dtype=object)
                    column = column.without_factors()
                    block = Block(z, v, column.above, column.below, factor)
                    if column.below is not None:
                        blocks.append(block)
                        masks.append(np.broadcast_to(here[:, None], (len(here), len(z))))
                        continue
                    for target in targets:
                        target.append(block)
        size = len(tables[0][0])
        shared = [FactoredPolynomials(always, *tables, size)] if always else []
        numbers = [
            shared + ([FactoredPolynomials(some, *tables, size)] if some else [])
            for some in changing
        ]
        if not blocks:
            return numbers, None, None
        return numbers, FactoredFunctions((), *tables, size, blocks), np.concatenate(masks, axis=1)

    def _apart(
        self, part: _Part, at: Indices
    ) -> list[tuple[Indices, Indices, Indices, QuotientColumn]]:
        """Slopes of some outcomes by their places, with fractions of one z and parallel v added as :meth:`_merged` does."""
        every = len(at) == len(part.piece.lows)
        slopes = [
            (at, z[at], v[at], x if every or len(x) == 1 else x[at]) for z, v, x in part.slopes
        ]
        if all(x.below is None for *_, x in part.slopes) or not self._parallel(part)[at].any():
            return slopes
        found: list[Any] = []
        for k, z, v, x in slopes:
            rest = np.ones(len(k), dtype=bool)
            kept = []
            for j, y, u, sum_ in found:
                there = np.searchsorted(j, k)
                there[there == len(j)] = 0
                ways = self._vectors.ways
                same = rest & (j[there] == k) & (y[there] == z) & (ways[u[there]] == ways[v])
                if not same.any():
                    kept.append((j, y, u, sum_))
                    continue
                rest &= ~same
                mine, theirs = np.flatnonzero(same), there[same]
                total = _some(sum_, theirs) + _some(x, mine).times(
                    self._vectors.ratios(v[mine], u[theirs])
                )
                kept.append((j[theirs], y[theirs], u[theirs], total))
                others = np.setdiff1d(np.arange(len(j)), theirs)
                if len(others):
                    kept.append((j[others], y[others], u[others], _some(sum_, others)))
            left = np.flatnonzero(rest)
            if len(left):
                kept.append((k[left], z[left], v[left], _some(x, left)))
            found = kept
        return found


def _some(column: QuotientColumn, at: Indices) -> QuotientColumn:
    """The entries at some places."""
    return column if len(column) == 1 else column[at]


def _usefulness(value: Any, point: Any) -> int:
    """2 for a number, 1 for a function that is not 0 at a point, 0 for one that is or has a pole there."""
    if not isinstance(value, Quotient):
        return 2
    return int(bool(value.above(point) and value.below(point)))
