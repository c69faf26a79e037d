"""A, b and the mean memory as sums of products of whole matrices: Phi' M Phi, with sparse n by n M.

The terms c <u, v> z of all outcomes (:mod:`obliquetd.dynamics.products`) are gathered by what z and v are
rows of: with T_z and T_v those tables, the outcomes add T_z' M T_v, where M has c times the weight of the
outcome at the places of the two rows. A memory's table has the rows zeta(s) = E[h 1{s}]; it solves

    Z = K' Z + B Phi,   K[s, s'] = sum of p a,   B[s', s] = sum of p xi(s) c

for a memory that is handed on as a h + c phi_s: n equations with d right-hand sides. Memories that feed others
are solved for first, and those that feed each other together.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from obliquetd.algebra import FloatMatrix, Matrix
from obliquetd.algebra.rounding import BLOCK, power_of_two
from obliquetd.dynamics.feature_tables import features_of
from obliquetd.dynamics.gathering import diagonal, folded, gather, gather_named, joined
from obliquetd.dynamics.monomials import PARTS, Monomial, kept_where
from obliquetd.dynamics.products import Products
from obliquetd.dynamics.rounded_columns import RoundedColumn
from obliquetd.dynamics.terms import Term, feeding_order, split
from obliquetd.learners.forms import NoFormError, is_feature

__all__ = ["Sums"]

UNIT = "unit"
"""The table of one number, 1, for what is no vector."""
WEIGHTED = "weighted"
"""Begins the name of a table with each state's row times a weight of the state."""
XI = "xi"


class _Entries(NamedTuple):
    """Columns of outcomes at places of a matrix: the states that two rows of the outcomes stand for."""

    row: str
    place: str
    outcomes: Any
    column: Any


class Sums:
    """What the terms of all outcomes add up to, for state weights xi.

    Parameters
    ----------
    products : Products
    xi : Matrix (n, 1)
    """

    def __init__(self, products: Products, xi: Matrix) -> None:
        self.arithmetic = products.ops.arithmetic
        self.xi, self.n, self.d = xi, products.ops.n, products.rule.d
        self.tables: dict[Any, Matrix] = {UNIT: self._ones(1)}
        self.means: dict[Any, Any] = {}
        self._again: Callable[[], Any] = lambda: products

    @cached_property
    def products(self) -> Products:
        """The terms of all outcomes, made once more where they were forgotten."""
        found: Products = self._again()
        return found

    def forget(self, again: Callable[[], Any]) -> None:
        """Keep the totals alone, not columns as large as the data; ``again`` makes the products where asked for."""
        _ = self.totals
        self._again = again
        for name in ("products", "weight"):
            vars(self).pop(name, None)
        self.tables, self.means = {UNIT: self._ones(1)}, {}

    @cached_property
    def weight(self) -> Any:
        """The chance of each outcome times xi of its state; kept with the problem."""
        products, xi = self.products, self.xi
        if products.many:
            return products.chance * self._column(xi)[products.rows["s"]]
        known = products.ops.__dict__.setdefault("_weighted_chances", {})
        if known.get("of") is not products.chance or known.get("xi") is not xi:
            weight = products.chance * self._column(xi)[products.rows["s"]]
            known.update({"of": products.chance, "xi": xi, "weight": weight})
        return known["weight"]

    def _column(self, matrix: Matrix) -> Any:
        """The entries of a column, for each state."""
        if isinstance(matrix, FloatMatrix):
            values = matrix.dense()[:, 0]
            if matrix.relative is not None:
                return RoundedColumn(values, None, matrix.relative)
            error = matrix.dense_error()[:, 0]
            return RoundedColumn(values, np.where(values == 0, 0.0, error))
        out = np.empty(matrix.shape[0], dtype=object)
        out[:] = matrix.entries()
        return out

    def _ones(self, n: int) -> Matrix:
        return self.arithmetic.column([self.arithmetic.one] * n)

    def _zeros(self, shape: tuple[int, int]) -> Matrix:
        return self.arithmetic.matrix([[self.arithmetic.zero] * shape[1]] * shape[0], shape)

    def _added(self, shape: tuple[int, int], parts: Sequence[Any]) -> Matrix:
        return gather_named(self.arithmetic, self.products.named, shape, parts)

    # --- where a term goes --------------------------------------------------------------------

    def _table(self, vector: Any) -> tuple[Any, str]:
        """The table that a vector is a row of, and which row."""
        if vector is None:
            return UNIT, UNIT
        if is_feature(vector):
            return vector[:2], vector[2]
        return vector, "s"

    def _matrix(self, table: Any) -> Matrix:
        if table not in self.tables:
            self.tables[table] = self._made(table)
        return self.tables[table]

    def _made(self, table: Any) -> Matrix:
        if table[0] != WEIGHTED:
            return features_of(self.products.ops, table[1])
        _, weight, inner = table
        by = self.xi if weight == XI else self._mean(weight)
        return by if inner == UNIT else self._matrix(inner).scale_rows(by)

    def _mean(self, weight: Any) -> Matrix:
        """A mean memory of each state as a column."""
        found = self.means[weight]
        if not isinstance(found, RoundedColumn):
            return self.arithmetic.column(found.tolist())
        value, error = (x.reshape(-1, 1) for x in (found.value, found.error))
        return FloatMatrix(value, error=error)

    def _scaled(self, term: Term, outcomes: Any, memories: list[Any], moving: Any = None) -> Any:
        """The column of a term times the weight of each outcome: its chance, and xi or a mean memory.

        Where only some of the outcomes are *moving*, a mask or a part of the named ones, it is 0 of the others.
        """
        weight = self.products.chance if memories else self.weight
        out = self._among(weight, outcomes, moving) * term.column
        for factor in term.factors:
            vectors = factor[1:] if factor[0] == "number" else ()
            if vectors and vectors[0] == "memory":
                out = out * self.means[vectors][self.products.rows["s"][outcomes]]
            elif factor[0] == "dot" and not any(v[0] == "weights" for v in factor[1:3]):
                raise NoFormError("an inner product of a memory and features")
        return out

    def _among(self, weight: Any, outcomes: Any, moving: Any) -> Any:
        """A weight of all outcomes for some of them; 0 of those that are not moving."""
        products, named = self.products, self.products.named
        if named is not None and moving is None and outcomes is products.runs.everything:
            moving = PARTS[0]
        if named is not None and isinstance(moving, str):
            return named.weighed(weight, moving)
        weight = products.among(weight, outcomes)
        return weight if moving is None else kept_where(moving, weight)

    def _entries(
        self, term: Term, outcomes: Any, memories: list[Any], moving: Any,
        left: tuple[Any, str] | None, right: tuple[Any, str],
    ) -> tuple[Any, _Entries]:  # fmt: skip
        """The two tables that a term is a product of, and its places there with its weighted column.

        Exact numbers stay short: the long weight of a state multiplies its row of a table, where
        one of the two is a row of that state, and not every outcome. So does a mean memory among floats,
        where what the other columns add up to is kept by their names.
        """
        weight = self._weight_of(term, memories)
        sides = [left, right]
        at = next((k for k, x in enumerate(sides) if x and x[1] in ("s", UNIT)), None)
        floats = self.arithmetic.kind == "float"
        whole = floats and (weight in (None, XI) or self.products.named is None)
        if whole or (weight is not None and at is None):
            column = self._scaled(term, outcomes, memories, moving)
        else:
            column = self._given_state(term, outcomes, moving)
            if weight is not None:
                assert at is not None
                sides[at] = (WEIGHTED, weight, sides[at][0]), "s"  # type: ignore[index]
                left, right = sides  # type: ignore[assignment]
        (other, place), (table, row) = right, left or (None, UNIT)
        return (table, other), _Entries(row, place, outcomes, column)

    def _given_state(self, term: Term, outcomes: Any, moving: Any = None) -> Any:
        """The column of a term times the chance; of formulas the factors, which are multiplied where they add up."""
        chance = self._among(self.products.chance, outcomes, moving)
        return (chance, term.column) if self.arithmetic.kind == "symbolic" else chance * term.column

    def _weight_of(self, term: Term, memories: list[Any]) -> Any:
        """What weighs a state in a term besides the chance: xi, a mean memory, or None for a memory's rows."""
        if not memories:
            return XI
        for factor in term.factors:
            if factor[0] == "number" and factor[1] == "memory":
                return factor[1:]
            if factor[0] == "dot" and not any(v[0] == "weights" for v in factor[1:3]):
                raise NoFormError("an inner product of a memory and features")
        return None

    def _at(self, row: str, outcomes: Any) -> Any:
        if row == UNIT:
            return np.zeros(len(outcomes), dtype=np.intp)
        return self.products.among(self.products.rows[row], outcomes)

    # --- the memory ---------------------------------------------------------------------------

    def solve_memories(self) -> None:
        """The tables and means of all memories.

        Raises
        ------
        SingularError
            Where nothing decays one on some closed class.
        """
        if not self.products.memory:
            return
        for slots in feeding_order(self.products.groups, self.products.memory):
            self._solve_together(slots)

    def _solve_together(self, slots: list[Any]) -> None:
        products, n, k = self.products, self.n, len(slots)
        place = {slot: i for i, slot in enumerate(slots)}
        inner: list[Any] = []
        sources: dict[Any, list[Any]] = {}
        for group in products.groups:
            outcomes = group.outcomes
            s, t = products.rows["s"][outcomes], products.rows["n"][outcomes]
            for slot, i in place.items():
                for term in group.handed.get(slot, ()):
                    memories = split(term)[1]
                    row = i * n + t
                    if memories and memories[0] in place:
                        if term.factors != (
                            () if products.memory[slot] else (("number", *memories[0]),)
                        ):
                            raise NoFormError("a memory whose parts depend on each other in turn")
                        column = self._given_state(term, outcomes)
                        j = place[memories[0]]
                        inner.append((("n", i, "s", j), row, j * n + s, column))
                        continue
                    (_, table), found = self._entries(
                        term, outcomes, memories, None, None, self._table(term.left)
                    )
                    at = self._at(found.place, outcomes)
                    key = "n", i, found.place, 0
                    sources.setdefault(table, []).append((key, row, at, found.column))
        total: Any = None
        for table, parts in sources.items():
            T = self._matrix(table)
            part = self._added((k * n, T.shape[0]), parts) @ T
            total = part if total is None else total + part
        if total is None:
            width = self.d if products.memory[slots[0]] else 1
            total = self._zeros((k * n, width))
        if inner:
            system = self.arithmetic.identity(k * n) - self._added((k * n, k * n), inner)
            total = self._solved(system, total)
        for slot, i in place.items():
            part = total if k == 1 else total.part(slice(i * n, (i + 1) * n))
            if products.memory[slot]:
                self.tables[slot] = part
            else:
                self.means[slot] = self._column(part)

    def _solved(self, system: Matrix, right: Matrix) -> Matrix:
        """The solution; columns of floats each in a unit of their own, which many of a sparse system have anyway."""
        what = "the trace's stationary equation"
        if not isinstance(right, FloatMatrix) or (system.sparse and right.shape[0] > BLOCK):  # type: ignore[attr-defined]
            return system.solve(right, what)
        values, bounds = right.dense(), right.dense_error()
        units = power_of_two(np.abs(values).max(axis=0, initial=0.0))
        found: Any = system.solve(FloatMatrix(values / units, error=bounds / units), what)
        return FloatMatrix(found.dense() * units, found.report, lambda: found.dense_error() * units)

    def memory_rows(self) -> list[list[Any]]:
        """The mean zeta(s) / xi(s) of each state, in the rule's order; rows of native numbers."""
        zero, xi = self.arithmetic.zero, self.xi.entries()
        if not set(self.products.memory) <= {*self.tables, *self.means}:
            self.solve_memories()
        out: list[list[Any]] = [[] for _ in xi]
        for slot, over in self.products.every_memory.items():
            width = self.d if over else 1
            if slot not in self.products.memory:
                rows = [[zero] * width] * self.n
            elif over:
                rows = self.tables[slot].rows()
            else:
                means = self.means[slot]
                rows = [[m] for m in (means.value if isinstance(means, RoundedColumn) else means)]
            for line, row, w in zip(out, rows, xi, strict=True):
                line += [m / w if m else zero for m in row] if w else [zero] * width
        return out

    # --- A and b ------------------------------------------------------------------------------

    def _parts(self) -> Iterator[tuple[Any, list[Term], Any, Any]]:
        """The terms of each slot and their outcomes, and of which of these they count (None: of all).

        In floats those that stay in their state count by themselves (:func:`folded`).
        """
        rows, named = self.products.rows, self.products.named
        for group in self.products.groups:
            o = group.outcomes
            if named is not None and o is self.products.runs.everything:
                for part in named.parts:
                    for slot, terms in group.update.items():
                        yield slot, folded(terms) if part == "staying" else terms, o, part
                continue
            stays = self.products.among(rows["s"], o) == self.products.among(rows["n"], o)
            if self.arithmetic.kind != "float" or not stays.any():
                yield from ((slot, terms, o, None) for slot, terms in group.update.items())
                continue
            at = np.flatnonzero(stays)
            for slot, terms in group.update.items():
                if len(at) < len(o):
                    yield slot, terms, o, ~stays
                yield slot, folded(terms, at), o[at], None

    @cached_property
    def totals(self) -> tuple[Matrix, Matrix]:
        """A and b."""
        b: dict[Any, dict[Any, list[Any]]] = {}
        A: dict[Any, dict[Any, list[Any]]] = {}
        for slot, terms, o, moving in self._parts():
            for term in terms:
                (weights, memories), left = split(term), term.left
                if left is not None and left[0] == "weights":
                    if weights:
                        raise NoFormError("an update that is not affine in the weights")
                    column = self._scaled(term, o, memories, moving)
                    A.setdefault((slot, left), {}).setdefault(None, []).append(column)
                    continue
                beside = (UNIT, UNIT) if weights is None else self._table(weights[1])
                tables, entries = self._entries(
                    term, o, memories, moving, self._table(left), beside
                )
                into = b.setdefault(slot, {}) if weights is None else A.setdefault((slot, weights[0]), {})  # fmt: skip
                into.setdefault(tables, []).append(entries)
        slots = self.products.weights
        blocks = [[self._block(A.get((i, j)), slots[i], slots[j]) for j in slots] for i in slots]
        ends = [[self._block(b.get(i), slots[i], False)] for i in slots]
        negated = joined(self.arithmetic, blocks).scaled(-self.arithmetic.one)
        return negated, joined(self.arithmetic, ends)

    def _block(self, parts: Any, tall: bool, wide: bool) -> Matrix:
        """The sum of T_z' M T_v over the tables, and of multiples of the identity."""
        shape = self.d if tall else 1, self.d if wide else 1
        total: Any = None
        for tables, columns in (parts or {}).items():
            if tables is None:
                zeros = np.zeros(sum(map(len, columns)), dtype=np.intp)
                at = [(zeros[: len(c)], zeros[: len(c)], c) for c in columns]
                sum_of_all = gather(self.arithmetic, (1, 1), at)
                part = diagonal(self.arithmetic, sum_of_all, self._ones(shape[0]))
            else:
                part = self._between(tables, columns)
            total = part if total is None else total + part
        if total is None:
            return self._zeros(shape)
        return total  # type: ignore[no-any-return]

    def _between(self, tables: Any, listed: list[_Entries]) -> Matrix:
        """The sum of T_z' M T_v for two tables, from what is known of named columns and M of the others."""
        left, right = map(self._matrix, tables)
        shape, named = (left.shape[0], right.shape[0]), self.products.named
        if not all(t == UNIT or is_feature((*t, "s")) for t in tables):
            named = None

        def crossed(*entries: _Entries) -> Matrix:
            places = [
                ((e.row, 0, e.place, 0), self._at(e.row, e.outcomes), self._at(e.place, e.outcomes), e.column)
                for e in entries
            ]  # fmt: skip
            return left.cross(self._added(shape, places), right)

        others, parts = [], []
        for e in listed:
            if named is None or not isinstance(e.column, Monomial):
                others.append(e)
                continue

            def made(at: Any, column: Any, e: _Entries = e) -> Matrix:
                return crossed(e._replace(outcomes=e.outcomes if at is None else at, column=column))

            parts.append(named.total(e.column, (tables, e.row, e.place), made))
        if others:
            parts.append(crossed(*others))
        total: Matrix = functools.reduce(operator.add, parts)
        return total
