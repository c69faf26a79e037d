"""The updates of every outcome where the memory is empty, from the terms of a rule: for their span."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from obliquetd.algebra import FloatMatrix
from obliquetd.algebra.float_rank import LARGEST, rank_of_doubles
from obliquetd.algebra.tall import blocks
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.feature_tables import features_of
from obliquetd.dynamics.products import Products
from obliquetd.dynamics.rounded_columns import RoundedColumn
from obliquetd.dynamics.scalars import Rounded, rounded_entries
from obliquetd.dynamics.terms import Group, Term
from obliquetd.learners.forms import is_feature

__all__ = ["AtRest", "Vector", "add_to", "counts", "is_constant", "number_at"]

SAFETY = 4.0
"""Floats: an entry counts as zero within this times its error bound."""
GOLDEN = (5**0.5 - 1) / 2
"""The golden ratio: steps of so much of a ring lie far from one another."""
Vector = dict[int, Any]


def counts(value: Any) -> bool:
    """Whether a number is not 0, nor within its own error of it."""
    if isinstance(value, Rounded):
        return abs(value.value) > SAFETY * value.error
    return bool(value)


def is_constant(value: Any) -> bool:
    """Whether a rational function is a number other than 0."""
    return bool(value and value.numer.is_ground and value.denom.is_ground)


class AtRest:
    """c and the columns of G of each outcome's update c + G x, without their zeros.

    Parameters
    ----------
    products : Products
    """

    def __init__(self, products: Products) -> None:
        self.products, self.d = products, products.rule.d
        self.kind = products.ops.arithmetic.kind
        self.starts, start = {}, 0
        for slot, over in products.weights.items():
            self.starts[slot] = start
            start += self.d if over else 1
        self.rows: dict[Any, Vector] = {}

    @property
    def most(self) -> int:
        """A bound on the dimension of all updates, also of those with a memory.

        They lie in the span of the features' rows, unless weights or numbers are added too.
        """
        products, total = self.products, 0
        rows: dict[str, set[str]] = {}
        for _, table, row in set(self._vectors()):
            rows.setdefault(table, set()).add(row)
        along_features = self._dimension(rows)
        for slot, over in products.weights.items():
            terms = [t for group in products.groups for t in group.update[slot]]
            along = all(t.left is not None and t.left[0] != "weights" for t in terms)
            total += along_features if over and along else self.d if over else 1
        return total

    def _dimension(self, rows: dict[str, set[str]]) -> int:
        """A bound on the dimension of what rows of features span: by their entries, and by their rank."""
        seen: set[int] = set()
        ranks: list[int | None] = []
        for table, names in rows.items():
            features = features_of(self.products.ops, table)
            for name in names:
                seen |= _filled(features, self.products.rows[name])
            found = np.unique(np.concatenate([self.products.rows[name] for name in names]))
            ranks.append(_rank(features, found))
        known = [rank for rank in ranks if rank is not None]
        return min(len(seen), sum(known)) if ranks and len(known) == len(ranks) else len(seen)

    def _vectors(self) -> Iterator[Any]:
        for group in self.products.groups:
            for terms in (*group.update.values(), *group.handed.values()):
                yield from (t.left for t in terms if is_feature(t.left))

    def updates(self, *, few: bool = False) -> Iterator[Vector]:
        """What spans the constants and columns of every outcome, outcome by outcome.

        With ``few`` they are some of them, about as many as are independent in an outcome.
        """
        seen: set[Any] = set()
        # the reduced basis of rationals is the same in any order
        anyhow = few or self.kind == "exact"
        for outcome, group, k in self._scattered() if anyhow else self._in_order():
            direction = self._direction(group, outcome)
            if direction is not None and direction in seen:
                continue
            found = list(self._of(outcome, group, k, few))
            if direction is not None and found:
                found = [max(found, key=_largest)] if self.kind == "float" else found[:1]
                if any(map(counts, found[0].values())):  # else another outcome may go along it
                    seen.add(direction)
            yield from found

    def _in_order(self) -> Iterator[tuple[int, Group, int]]:
        """Each outcome, its group and its place there, as they stand in the problem."""
        groups = self.products.groups
        outcomes = np.concatenate([g.outcomes for g in groups]) if groups else np.empty(0, np.intp)
        owner = np.repeat(np.arange(len(groups)), [len(g.outcomes) for g in groups])
        within = np.concatenate([np.arange(len(g.outcomes)) for g in groups] or [outcomes])
        order = np.argsort(outcomes, kind="stable")
        for at in (i for p in blocks(len(order)) for i in order[p].tolist()):
            yield int(outcomes[at]), groups[owner[at]], int(within[at])

    def _scattered(self) -> Iterator[tuple[int, Group, int]]:
        """The same far from one another, and nothing is made that is as long as all of them.

        Neighbours often share their state, and so a direction; these soon span all.
        """
        groups = self.products.groups
        ends = np.cumsum([len(g.outcomes) for g in groups])
        count = int(ends[-1]) if groups else 0
        step = _stride(count)
        for at in (i * step % count for i in range(count)):
            owner = int(np.searchsorted(ends, at, side="right"))
            k = at - int(ends[owner]) + len(groups[owner].outcomes)
            yield int(groups[owner].outcomes[k]), groups[owner], k

    def _direction(self, group: Group, outcome: int) -> Any:
        """The one row of features along which a group moves one vector, where its numbers are no formulas.

        All columns are multiples of it then, and one of them spans what they do. A formula may be 0 at
        some values of its symbol where another is not.
        """
        if self.kind == "symbolic":
            return None
        moved = {(slot, t.left) for slot, terms in group.update.items() for t in terms}
        if len(moved) != 1:
            return None
        ((slot, left),) = moved
        if not is_feature(left):
            return None
        return slot, left[1], int(self.products.rows[left[2]][outcome])

    def _of(self, outcome: int, group: Group, k: int, few: bool) -> Iterator[Vector]:
        rows: dict[Any, dict[int | None, Any]] = {}
        decays: list[tuple[int, int, Any]] = []  # multiples of whole vectors of weights
        for slot, terms in group.update.items():
            for term in terms:
                self._collect(rows.setdefault((slot, term.left), {}), term, outcome, k)
                if term.left is not None and term.left[0] == "weights" and not term.factors:
                    value = number_at(term.column, k)
                    decays.append((self.starts[term.left], self.starts[slot], value))
        wanted = None
        if few or not decays:
            choose = _spanning_formulas if self.kind == "symbolic" else _independent
            wanted = choose(_without_zeros(rows.values()))
            wanted |= {start + k % self.d for start, _, _ in decays}
        constant: Vector = {}
        columns: dict[int, Vector] = {}
        for (slot, left), row in rows.items():
            vector = self.entries(left, outcome) if row else {}
            for j in row if wanted is None else wanted & row.keys():
                into = constant if j is None else columns.setdefault(j, {})
                for i, x in vector.items():
                    add_to(into, self.starts[slot] + i, row[j] * x)
        for start, onto, value in decays:
            for i in range(self.d):
                if wanted is None or start + i in wanted:
                    add_to(columns.setdefault(start + i, {}), onto + i, value)
        for vector in (constant, *(columns[j] for j in sorted(columns))):
            kept = {i: vector[i] for i in sorted(vector) if vector[i]}
            if kept:
                yield kept

    def _collect(self, row: dict[int | None, Any], term: Term, outcome: int, k: int) -> None:
        """The term's part of the row that stands beside its left vector; None is the constant."""
        if len(term.factors) > 1 or (
            term.left is not None and term.left[0] in ("weights", "memory")
        ):
            return
        value = number_at(term.column, k)
        if not term.factors:
            add_to(row, None, value)
            return
        factor = term.factors[0]
        vectors = [factor[1:]] if factor[0] == "number" else factor[1:3]
        if any(v[0] == "memory" for v in vectors):
            return
        (weights,) = (v for v in vectors if v[0] == "weights")
        if factor[0] == "number":
            add_to(row, self.starts[weights], value)
            return
        (other,) = (v for v in vectors if v[0] != "weights")
        for j, x in self.entries(other, outcome).items():
            add_to(row, self.starts[weights] + j, value * x)

    def entries(self, vector: Any, outcome: int) -> Vector:
        """The entries of a row of features that are not 0; of no vector the number 1."""
        if vector is None:
            return {0: self.products.rule.one}
        key = vector[1], int(self.products.rows[vector[2]][outcome])
        if key not in self.rows:
            table = features_of(self.products.ops, vector[1])
            row = rounded_entries(table.part(slice(key[1], key[1] + 1)).T)
            self.rows[key] = {i: x for i, x in enumerate(row) if x}
        return self.rows[key]


def _filled(table: Any, rows: Any) -> set[int]:
    """The columns of a table that have an entry in some of its rows."""
    if isinstance(table, FloatMatrix) and not table.sparse:
        found = np.zeros(table.shape[1], dtype=bool)
        for p in blocks(len(rows)):
            found |= (table.array[rows[p]] != 0).any(axis=0)
            if found.all():
                break
        return set(np.flatnonzero(found).tolist())
    i, j = table.support()
    return set(j[np.isin(i, rows)].tolist())


def _stride(count: int) -> int:
    """A step through that many places, in a ring, that meets each and lands far from the last ones."""
    step = max(round(GOLDEN * count), 1)
    while math.gcd(step, count) > 1:
        step += 1
    return step


def _without_zeros(rows: Iterable[dict[Any, Any]]) -> list[dict[Any, Any]]:
    """The rows that have an entry, each less its explicit zeros: a reward of 0 is one, and spans nothing."""
    kept = ({i: x for i, x in row.items() if x} for row in rows)
    return [row for row in kept if row]


def _independent(rows: list[dict[int | None, Any]]) -> set[int | None]:
    """The constant (None) and columns that span what all of an outcome's do.

    The update is L R for the left vectors L and these rows R: independent columns of R that span
    all of its columns are enough, since L times them spans all of L R. The largest entry of a row
    of floats is eliminated by, and the first of one of rationals.
    """
    chosen: set[int | None] = set()
    while rows:
        pivot, *others = rows
        j = max(pivot, key=lambda i: abs(getattr(pivot[i], "value", bool(pivot[i]))))
        chosen.add(j)  # also where all may be 0: what is left out then is for the span to say
        if counts(pivot[j]):
            others = [_without(row, j, pivot) for row in others]
        rows = [row for row in others if row]
    return chosen


def _spanning_formulas(rows: list[dict[int | None, Any]]) -> set[int | None]:
    """The same for rows of formulas, which span at every value of the symbols.

    Only a constant is eliminated by, since a formula may be 0. Of one row that is left, entries
    whose numerators have no common zero are enough: in one symbol, no common factor. Of several rows, none is spared.
    """
    chosen: set[int | None] = set()
    while rows:
        pivot = next(((row, j) for row in rows for j in row if is_constant(row[j])), None)
        if pivot is None:
            break
        row, j = pivot
        chosen.add(j)
        rows = _without_zeros(_without(other, j, row) for other in rows if other is not row)
    if len(rows) != 1:
        return chosen.union(*rows)
    common = None
    for j, x in rows[0].items():
        chosen.add(j)
        common = x.numer if common is None else common.gcd(x.numer)
        if common.is_ground and common.ring.ngens == 1:
            break
    return chosen


def _without(row: dict[Any, Any], j: Any, pivot: dict[Any, Any]) -> dict[Any, Any]:
    """The row less the multiple of the pivot's that clears entry j."""
    if not counts(row.get(j, 0)):
        return row
    factor = row[j] / pivot[j]
    rest = {i: row[i] - factor * pivot[i] if i in row else -(factor * pivot[i]) for i in pivot}
    return {i: x for i, x in {**row, **rest}.items() if i != j and x}


def _rank(table: Any, rows: Any) -> Way[int | None]:
    """The rank of some rows of features; None where it is not known exactly, or too dear."""
    if not isinstance(table, FloatMatrix):
        return int(table.submatrix(rows.tolist(), range(table.shape[1])).rank())
    if table.sparse or table.shape[0] * table.shape[1] > LARGEST or np.any(table.error):
        return None
    return rank_of_doubles(table.array[rows])


def _largest(vector: Vector) -> float:
    return max(float(abs(x.value)) for x in vector.values())


def number_at(column: Any, k: int) -> Any:
    """The number of one outcome; a column of one has the same for all."""
    at = k if len(column) > 1 else 0
    if isinstance(column, RoundedColumn):
        return Rounded(float(column.value[at]), float(column.error[at]))
    return column[at]


def add_to(into: dict[Any, Any], at: Any, value: Any) -> None:
    """Add a number to what stands at a place."""
    into[at] = into[at] + value if at in into else value
