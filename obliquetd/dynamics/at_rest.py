"""The updates of every outcome where the memory is empty, from the terms of a rule: for their span."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from obliquetd.algebra import FloatMatrix
from obliquetd.algebra.tall import blocks
from obliquetd.dynamics.columns import RoundedColumn, features_of
from obliquetd.dynamics.products import Products
from obliquetd.dynamics.scalars import Rounded, rounded_entries
from obliquetd.dynamics.terms import Group, Term
from obliquetd.learners.forms import is_feature

__all__ = ["AtRest", "Vector", "add_to", "counts", "number_at"]

SAFETY = 4.0
"""Floats: an entry counts as zero within this times its error bound."""
GOLDEN = (5**0.5 - 1) / 2
"""The golden ratio: its multiples, less their integers, lie far from their neighbours."""
Vector = dict[int, Any]


def counts(value: Any) -> bool:
    """Whether a number is not 0, nor within its own error of it."""
    if isinstance(value, Rounded):
        return abs(value.value) > SAFETY * value.error
    return bool(value)


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

        They lie along features that have an entry somewhere, unless weights or numbers are added too.
        """
        products, total = self.products, 0
        seen: set[int] = set()
        for table, row in {v[1:] for v in self._vectors()}:
            seen |= _filled(features_of(products.ops, table), products.rows[row])
        for slot, over in products.weights.items():
            terms = [t for group in products.groups for t in group.update[slot]]
            along = all(t.left is not None and t.left[0] != "weights" for t in terms)
            total += len(seen) if over and along else self.d if over else 1
        return total

    def _vectors(self) -> Iterator[Any]:
        for group in self.products.groups:
            for terms in (*group.update.values(), *group.handed.values()):
                yield from (t.left for t in terms if is_feature(t.left))

    def updates(self) -> Iterator[Vector]:
        """What spans the constants and columns of every outcome, outcome by outcome."""
        groups = self.products.groups
        outcomes = np.concatenate([g.outcomes for g in groups]) if groups else np.empty(0, np.intp)
        owner = np.repeat(np.arange(len(groups)), [len(g.outcomes) for g in groups])
        within = np.concatenate([np.arange(len(g.outcomes)) for g in groups] or [outcomes])
        seen: set[Any] = set()
        order = np.argsort(outcomes, kind="stable")
        if self.kind == "exact":
            # Neighbours often share their state, and so a direction; far from one another they
            # soon span all. The reduced basis of rationals is the same in any order.
            order = order[np.argsort(np.arange(len(order)) * GOLDEN % 1.0)]
        for at in (i for p in blocks(len(order)) for i in order[p].tolist()):
            outcome, group = int(outcomes[at]), groups[owner[at]]
            direction = self._direction(group, outcome)
            if direction is not None and direction in seen:
                continue
            found = list(self._of(outcome, group, int(within[at])))
            if direction is not None and found:
                seen.add(direction)
                found = [max(found, key=_largest)] if self.kind == "float" else found[:1]
            yield from found

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

    def _of(self, outcome: int, group: Group, k: int) -> Iterator[Vector]:
        rows: dict[Any, dict[int | None, Any]] = {}
        columns: dict[int, Vector] = {}
        for slot, terms in group.update.items():
            for term in terms:
                self._collect(rows.setdefault((slot, term.left), {}), term, outcome, k)
                if term.left is not None and term.left[0] == "weights" and not term.factors:
                    for i in range(self.d):
                        value = number_at(term.column, k)
                        add_to(columns.setdefault(self.starts[term.left] + i, {}), self.starts[slot] + i, value)  # fmt: skip
        wanted = self._independent(rows) if not columns else None
        constant: Vector = {}
        for (slot, left), row in rows.items():
            vector = self.entries(left, outcome) if row else {}
            for j in row if wanted is None else wanted & row.keys():
                into = constant if j is None else columns.setdefault(j, {})
                for i, x in vector.items():
                    add_to(into, self.starts[slot] + i, row[j] * x)
        for vector in (constant, *(columns[j] for j in sorted(columns))):
            kept = {i: vector[i] for i in sorted(vector) if counts(vector[i])}
            if kept:
                yield kept

    def _independent(self, rows: dict[Any, dict[int | None, Any]]) -> set[int | None] | None:
        """The constant (None) and columns that span what all of an outcome's do; None stands for all.

        The update is L R for the left vectors L and these rows R: the columns of R that come first
        and are independent span all of its columns, so L times them spans all of L R. A formula is
        not eliminated by, since it may be 0 somewhere, and a float not, since it is rounded.
        """
        if self.kind != "exact":
            return None
        lefts = [row for row in rows.values() if row]
        chosen: set[int | None] = set()
        for j in sorted({j for row in lefts for j in row}, key=lambda j: -1 if j is None else j):
            if not lefts:
                break
            pivot = next((row for row in lefts if counts(row.get(j, 0))), None)
            if pivot is None:
                continue
            chosen.add(j)
            lefts = [_without(row, j, pivot) for row in lefts if row is not pivot]
        return chosen

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


def _without(row: dict[Any, Any], j: Any, pivot: dict[Any, Any]) -> dict[Any, Any]:
    """The row less the multiple of the pivot's that clears entry j."""
    if not counts(row.get(j, 0)):
        return row
    factor, rest = row[j] / pivot[j], dict(row)
    for i, x in pivot.items():
        rest[i] = rest[i] - factor * x if i in rest else -(factor * x)
    return rest


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
