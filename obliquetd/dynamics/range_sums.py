"""A on W as a function of one symbol, from the terms of all outcomes: U' M(gamma) V on each range.

A term c <v, x> z of an outcome adds -xi(s) mu p c(gamma) z v' to A. The rows z and v of the features are numbers, so
that only the entries of M are functions (:class:`~obliquetd.algebra.factored.FactoredFunctions`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from obliquetd.algebra.factored import Entry, FactoredFunctions
from obliquetd.algebra.functions import Basis, constant_span
from obliquetd.algebra.quotients import Quotient
from obliquetd.algebra.ranges import InOneSymbol, OnRange
from obliquetd.dynamics.feature_tables import features_of
from obliquetd.dynamics.formulas import Formulas
from obliquetd.learners.forms import NoFormError, is_feature

__all__ = ["RangeSums"]


class _Outcome(NamedTuple):
    """What an outcome makes on a range: functions of z, and of z and v, by the numbers of these rows."""

    low: Any
    high: Any
    weight: Any
    constants: list[tuple[int, Any]]
    slopes: list[tuple[int, int, Any]]


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
        self._numbers: dict[Any, int] = {}
        self._vectors: list[list[Any]] = []
        self._ratios: dict[tuple[int, int], Any] = {}
        self._features: dict[str, list[list[Any]]] = {}
        self.outcomes = list(self._outcomes())

    def _vectors_of(self, slot: Any, vector: Any, outcomes: Any) -> list[int]:
        """The numbers of the rows of features of outcomes, or of 1, at the places of a slot."""
        if vector is None:
            return [self._numbered((slot, None), [self._one], slot)] * len(outcomes)
        if not is_feature(vector):
            raise NoFormError("a term with a memory, where none is carried")
        _, table, row = vector
        if table not in self._features:
            self._features[table] = features_of(self.formulas.ops, table).rows()
        listed, features = self.formulas.rows[row][outcomes].tolist(), self._features[table]
        known = {
            i: self._numbered((slot, table, i), features[i], slot) for i in dict.fromkeys(listed)
        }
        return [known[i] for i in listed]

    def _numbered(self, key: Any, entries: list[Any], slot: Any, shift: int = 0) -> int:
        if key not in self._numbers:
            if any(isinstance(x, Quotient) for x in entries):
                raise NoFormError("features with the symbol")
            whole = [self._zero] * self.size
            at = self.starts[slot] + shift
            whole[at : at + len(entries)] = entries
            self._numbers[key] = len(self._vectors)
            self._vectors.append(whole)
        return self._numbers[key]

    def _outcomes(self) -> Iterator[_Outcome]:
        formulas = self.formulas
        states, chance = formulas.rows["s"], formulas.chance
        for group, lows, highs in formulas.pieces:
            at = group.outcomes
            weights = [
                -1 * self.xi[s] * c for s, c in zip(states[at].tolist(), chance[at], strict=True)
            ]
            made = [_Outcome(*x, [], []) for x in zip(lows, highs, weights, strict=True)]
            for slot, terms in group.update.items():
                for term in terms:
                    self._add(made, slot, term, at)
            for each in made:
                yield each._replace(slopes=self._merged(each.slopes))

    def _merged(self, slopes: list[tuple[int, int, Any]]) -> list[tuple[int, int, Any]]:
        """Functions of one z and parallel v added, so that the poles which cancel do so.

        SETD's weight is 1 / (1 - gamma) where a transition stays in its state, and times phi - gamma phi' just phi.
        """
        sums: dict[tuple[int, int], Any] = {}
        for z, v, value in slopes:
            for y, u in sums:
                ratio = self._ratio(v, u) if y == z else None
                if ratio is not None:
                    sums[y, u] = sums[y, u] + value * ratio
                    break
            else:
                sums[z, v] = value
        return [(z, v, value) for (z, v), value in sums.items() if value]

    def _ratio(self, v: int, u: int) -> Any:
        """The number c with v = c u for the vectors of two numbers; None where there is none."""
        if v == u:
            return self._one
        if (v, u) not in self._ratios:
            mine, theirs = self._vectors[v], self._vectors[u]
            k = next((k for k, x in enumerate(theirs) if x), None)
            ratio = None if k is None else mine[k] / theirs[k]
            if ratio is not None and not all(
                x == ratio * y for x, y in zip(mine, theirs, strict=True)
            ):
                ratio = None
            self._ratios[v, u] = ratio
        return self._ratios[v, u]

    def _add(self, made: list[_Outcome], slot: Any, term: Any, outcomes: Any) -> None:
        """A term to each of the outcomes."""
        values = term.column.tolist()
        if len(values) == 1:
            values = values * len(made)
        if term.left is not None and term.left[0] == "weights":
            if term.factors:
                raise NoFormError("an update that is not affine in the weights")
            units = [
                tuple(self._numbered((x, "unit", i), [self._one], x, i) for x in (slot, term.left))
                for i in range(self.d)
            ]
            for each, value in zip(made, values, strict=True):
                each.slopes.extend((z, v, value) for z, v in units if value)
            return
        left = self._vectors_of(slot, term.left, outcomes)
        if not term.factors:
            for each, z, value in zip(made, left, values, strict=True):
                if value:
                    each.constants.append((z, value))
            return
        if len(term.factors) > 1:
            raise NoFormError("an update that is not affine in the weights")
        (factor,) = term.factors
        parts = [factor[1:]] if factor[0] == "number" else list(factor[1:3])
        inside = [v for v in parts if v[0] == "weights"]
        if len(inside) != 1:
            raise NoFormError("an update that is not affine in the weights")
        other = next((v for v in parts if v[0] != "weights"), None)
        right = self._vectors_of(inside[0], other, outcomes)
        for each, z, v, value in zip(made, left, right, values, strict=True):
            if value:
                each.slopes.append((z, v, value))

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
                *((z, x) for z, v, x in made.slopes if any(self._vectors[v])),
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
                    (z, x * self._vectors[v][j]) for z, v, x in made.slopes if self._vectors[v][j]
                ]
                vectors.append(self._combined(column))
        kept = [self._combined([(z, value)]) for z, (_, value) in along.items()]
        return kept + [v for v in vectors if any(v)]

    def _combined(self, parts: list[tuple[int, Any]]) -> list[Any]:
        total = [self._zero] * self.size
        for z, value in parts:
            total = [
                t + value * x if x else t for t, x in zip(total, self._vectors[z], strict=True)
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
        basis = constant_span(self._updates(self.outcomes, middle), self.size, middle)
        if basis is None:
            return None
        whole = (start, end)
        parted = [x for x in self.outcomes if (x.low, x.high) != whole]
        cuts = sorted({start, end, *(x for made in parted for x in (made.low, made.high))})
        tables = self._tables(basis)
        always = self._matrix([x for x in self.outcomes if (x.low, x.high) == whole], tables)
        ranges = []
        for low, high in itertools.pairwise(cuts):
            changing = self._matrix([x for x in parted if x.low <= low < x.high], tables)
            updates = partial(self._inside, low, basis)
            ranges.append(OnRange(low, high, len(basis.pivots), [always, changing], updates))
        return InOneSymbol(ranges, formulas.jumps, frozenset(formulas.regular))

    def _inside(self, low: Any, basis: Basis, point: Any) -> list[list[Any]]:
        """The updates on the range that begins there."""
        here = [x for x in self.outcomes if x.low <= low < x.high]
        return [[v[i] for i in basis.pivots] for v in self._updates(here, point)]

    def _tables(self, basis: Basis) -> tuple[list[list[Any]], list[list[Any]]]:
        """All z at the pivots, and all v times the basis."""
        left = [[v[i] for i in basis.pivots] for v in self._vectors]
        if basis.rows is None:
            return left, self._vectors
        turned = [
            [
                sum((x * y for x, y in zip(v, b, strict=True) if x and y), self._zero)
                for b in basis.rows
            ]
            for v in self._vectors
        ]
        return left, turned

    def _matrix(
        self, outcomes: list[_Outcome], tables: tuple[list[list[Any]], list[list[Any]]]
    ) -> FactoredFunctions:
        entries = []
        sums: dict[tuple[int, int], Any] = {}
        for made in outcomes:
            for z, v, value in made.slopes:
                found = Entry.of(made.weight * value, z, v)
                if found.below.degree() > 0:
                    entries.append(found)
                else:
                    sums[z, v] = sums.get((z, v), 0) + found.above
        entries += [Entry.of_polynomial(p, z, v) for (z, v), p in sums.items() if p]
        return FactoredFunctions(entries, *tables, len(tables[0][0]) if tables[0] else 0)


def _usefulness(value: Any, point: Any) -> int:
    """2 for a number, 1 for a function that is not 0 at a point, 0 for one that is or has a pole there."""
    if not isinstance(value, Quotient):
        return 2
    return int(bool(value.above(point) and value.below(point)))
