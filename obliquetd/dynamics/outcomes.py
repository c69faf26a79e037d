"""Each outcome at fixed weights x, from the terms of a rule: h to c + M h, and the update n + G h.

At fixed weights a term c <u, x_j> z is a multiple of z, and c <h, x_j> z has the slopes c z x_j' in the memory
h. So the columns of :class:`~obliquetd.dynamics.products.Products` are multiplied by Phi x_j once for all outcomes,
and only what is left of each outcome is written out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from obliquetd.algebra import FloatMatrix
from obliquetd.algebra.rounding import roundings
from obliquetd.dynamics.at_rest import AtRest, add_to, counts, number_at
from obliquetd.dynamics.feature_tables import features_of
from obliquetd.dynamics.memory_moments import Outcome
from obliquetd.dynamics.products import Products
from obliquetd.dynamics.rounded_columns import RoundedColumn
from obliquetd.dynamics.scalars import Rounded
from obliquetd.dynamics.terms import Group, Term
from obliquetd.learners.forms import is_feature

__all__ = ["outcomes_at"]

Seen = tuple[Any, Any, Any]
"""A slot, the vector that is added to it, and the memory that multiplies it, or None."""


def outcomes_at(products: Products, x: Sequence[Any], unit: Any = None) -> list[Outcome]:
    """The outcomes at the weights x, in the order of the problem.

    Parameters
    ----------
    products : Products
    x : list of native numbers, for floats Rounded
    unit : native number, optional
        What the update is multiplied by; the x given are then multiplied by it already, so that
        rational weights with a long common denominator are whole.
    """
    found = _At(products, x, unit)
    out: dict[int, Outcome] = {}
    for group in products.groups:
        out |= found.of_group(group)
    return [out[o] for o in sorted(out)]


class _At:
    """A rule's terms at given weights."""

    def __init__(self, products: Products, x: Sequence[Any], unit: Any) -> None:
        self.products, self.rest, self.unit = products, AtRest(products), unit
        self.width, d = len(x), self.rest.d
        self.at = {
            slot: list(x[start : start + (d if products.weights[slot] else 1)])
            for slot, start in self.rest.starts.items()
        }
        self.places, start = {}, 0
        for slot, over in products.every_memory.items():
            self.places[slot] = start
            start += d if over else 1
        self.values: dict[Any, Any] = {}

    def _column(self, numbers: list[Any]) -> Any:
        if self.products.ops.arithmetic.kind == "float":
            listed = [x if isinstance(x, Rounded) else Rounded(float(x)) for x in numbers]
            return RoundedColumn(
                np.array([x.value for x in listed]), np.array([x.error for x in listed])
            )
        out = np.empty(len(numbers), dtype=object)
        out[:] = numbers
        return out

    def _along(self, feature: Any, slot: Any) -> Any:
        """Phi x_j, an entry for each state."""
        key = feature[1], slot
        if key not in self.values:
            table, zero = features_of(self.products.ops, feature[1]), self.products.rule.zero
            if isinstance(table, FloatMatrix):
                x = self._column(self.at[slot])

                values = table.array @ x.value
                bound = table.error @ np.abs(x.value) + abs(table.array) @ x.error
                size = abs(table.array) @ np.abs(x.value)
                self.values[key] = RoundedColumn(values, bound + size * roundings(self.rest.d))
            else:
                rows = table.rows()
                self.values[key] = self._column(
                    [sum((a * b for a, b in zip(row, self.at[slot], strict=True) if a and b), zero)
                     for row in rows]
                )  # fmt: skip
        return self.values[key]

    def _columns(self, group: Group, terms: dict[Any, list[Term]], unit: Any) -> dict[Seen, Any]:
        """The terms with their weights put in, added up by what is left of them.

        A term is linear in the weights, or has none, and is then multiplied by the unit.
        """
        out: dict[Seen, Any] = {}
        for slot, listed in terms.items():
            for term in listed:
                column, memory = term.column, None
                weighted = term.left is not None and term.left[0] == "weights"
                for factor in term.factors:
                    parts = [factor[1:]] if factor[0] == "number" else list(factor[1:3])
                    feature = next((v for v in parts if is_feature(v)), None)
                    weights = next((v for v in parts if v[0] == "weights"), None)
                    weighted = weighted or weights is not None
                    if feature is not None:
                        rows = self.products.rows[feature[2]][group.outcomes]
                        column = column * self._along(feature, weights)[rows]
                    elif weights is not None and len(parts) == 1:
                        column = column * self._column(self.at[weights])
                    else:
                        memory = next(v for v in parts if v[0] == "memory"), weights
                if unit is not None and not weighted:
                    column = column * unit
                key = slot, term.left, memory
                out[key] = out[key] + column if key in out else column
        return out

    def of_group(self, group: Group) -> dict[int, Outcome]:
        """The outcomes of a group, by their places."""
        update = self._columns(group, group.update, self.unit)
        handed = self._columns(group, group.handed, None)
        rows, chance = self.products.rows, self.products.chance
        out = {}
        for k, o in enumerate(group.outcomes.tolist()):
            constant: dict[int, Any] = {}
            slopes: dict[int, dict[int, Any]] = {}
            self._write(update, k, o, self.rest.starts, constant, slopes.setdefault)
            start: dict[int, Any] = {}
            columns: dict[int, dict[int, Any]] = {}
            self._write(handed, k, o, self.places, start, columns.setdefault)
            zero = self.products.rule.zero
            listed = {
                j: [column.get(i, zero) for i in range(self.width)]
                for j, column in sorted(slopes.items())
                if any(map(counts, column.values()))
            }
            out[o] = Outcome(
                int(rows["s"][o]), int(rows["n"][o]), number_at(chance, o),
                {i: v for i, v in sorted(start.items()) if counts(v)},
                {(i, j): v for j, column in sorted(columns.items())
                 for i, v in sorted(column.items()) if counts(v)},
                [constant.get(i, zero) for i in range(self.width)], listed,
            )  # fmt: skip
        return out

    def _write(
        self, columns: dict[Seen, Any], k: int, outcome: int, starts: dict[Any, int],
        constant: dict[int, Any], slope: Callable[[int, dict[int, Any]], dict[int, Any]],
    ) -> None:  # fmt: skip
        """One outcome's constant, and its slopes in the memory, into flat places."""
        for (slot, left, memory), column in columns.items():
            value, first = number_at(column, k), starts[slot]
            if not value:
                continue
            if left is not None and left[0] == "memory":
                for i in range(self.rest.d):
                    add_to(slope(self.places[left] + i, {}), first + i, value)
                continue
            if left is not None and left[0] == "weights":
                vector = dict(enumerate(self.at[left]))
            else:
                vector = self.rest.entries(left, outcome)
            scaled = {first + i: value * v for i, v in vector.items()}
            if memory is None:
                for i, v in scaled.items():
                    add_to(constant, i, v)
                continue
            held, weights = memory
            along = [self.products.rule.one] if weights is None else self.at[weights]
            for j, w in enumerate(along):
                if w:
                    into = slope(self.places[held] + j, {})
                    for i, v in scaled.items():
                        add_to(into, i, v * w)
