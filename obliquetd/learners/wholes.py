"""The arrays of a rule that is run on vectors as wholes, and the guard of that; see :mod:`obliquetd.learners.forms`."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.learners.dual import Dual
from obliquetd.learners.evaluate import written
from obliquetd.learners.forms import (
    ONE,
    Columns,
    Form,
    Key,
    NoFormError,
    Opaque,
    Place,
    Row,
)
from obliquetd.learners.functions import kept, rebuilt
from obliquetd.learners.state import shapes

__all__ = ["Features", "PerState", "Store", "is_of_wholes", "on_forms", "slots_of", "stores"]

HALVES = (0, 1)


class Dimension(Opaque):
    """The number of features, which a rule may loop over and no more."""


class Store(Opaque):
    """A declared array of weights or memory: whole vectors, or numbers, at each of its indices.

    Parameters
    ----------
    columns : Columns
    shape : tuple of int
        Without the axis of the features.
    over_features : bool
        Whether its last axis is that of the features.
    kept : dict
        What stands at each index, by half.
    """

    def __init__(
        self, columns: Columns, shape: tuple[int, ...], over_features: bool, kept: dict[Any, Any],
        at: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        self.columns, self.whole, self.over_features = columns, shape, over_features
        self.kept, self.at = kept, at

    @property
    def shape(self) -> tuple[Any, ...]:
        """The lengths of its axes."""
        axis = (Dimension(),) if self.over_features else ()
        return (*self.whole[len(self.at) :], *axis)

    def length(self) -> Any:
        """The length of its first axis."""
        return self.shape[0]

    def _index(self, key: Any) -> tuple[tuple[int, ...], Any]:
        """The numbers of an index, counted from the start, and its place among the features."""
        parts = key if isinstance(key, tuple) else (key,)
        place = None
        if self.over_features and parts and isinstance(parts[-1], Place):
            parts, place = parts[:-1], parts[-1]
        at = list(self.at)
        for part in parts:
            if not isinstance(part, int) or len(at) >= len(self.whole):
                raise NoFormError("an entry of a vector is asked for by its number")
            length = self.whole[len(at)]
            if not -length <= part < length:
                raise IndexError
            at.append(part % length)
        return tuple(at), place

    def __getitem__(self, key: Any) -> Any:
        at, place = self._index(key)
        if len(at) < len(self.whole) or (self.over_features and place is None):
            if place is not None:
                raise NoFormError("an index is left out")
            return Store(self.columns, self.whole, self.over_features, self.kept, at)
        return self.kept[at, None if place is None else place.half]

    def __setitem__(self, key: Any, value: Any) -> None:
        at, place = self._index(key)
        if len(at) < len(self.whole) or (self.over_features and place is None):
            raise NoFormError("several entries are set at once")
        half = None if place is None else place.half
        parts = (value.value, value.slope) if isinstance(value, Dual) else (value,)
        read = [Form(self.columns, {}).read(part) for part in parts]
        for part in read:
            if part is None or not (part.is_vector if self.over_features else part.is_number):
                raise NoFormError("a number is put in the place of a vector's entry")
            if self.over_features and part.terms and part.half != half:
                raise NoFormError("an entry is put in another place")
        self.kept[at, half] = Dual(*read) if len(read) > 1 else read[0]


class Features(Opaque):
    """The features of a transition: row ``t.s``, ``t.n`` or ``t.twin``, and a place of the loop."""

    def __init__(self, columns: Columns, table: str) -> None:
        self.columns, self.table = columns, table

    @property
    def shape(self) -> tuple[Any, Any]:
        """(None, d): a rule may ask for the number of features, and not for the number of rows."""
        return (None, Dimension())

    def __getitem__(self, key: Any) -> Form:
        row, place = key
        if not (isinstance(row, Row) and isinstance(place, Place)):
            raise NoFormError("an entry of the features is asked for by its number")
        vector = ("features", self.table, row.name)
        return Form(self.columns, {(vector, ONE): self.columns.constant(1)}, place.half)


class PerState(Opaque):
    """A number of the rule for each state, at ``t.s``, ``t.n`` or ``t.twin``."""

    def __init__(self, at: Any) -> None:
        self.at = at

    def __getitem__(self, row: Any) -> Any:
        if not isinstance(row, Row):
            raise NoFormError("the number of a state that is no transition's")
        return self.at(row.name)


def length(value: Any) -> Any:
    """``len``, also of what has the number of features."""
    return value.length() if isinstance(value, Store) else builtins.len(value)


def places(strict: bool) -> Any:
    """``range``, also over the features."""

    def over(*bounds: Any) -> Iterator[Any]:
        if len(bounds) == 1 and isinstance(bounds[0], Dimension):
            return (Place(half) for half in (HALVES if strict else (None,)))
        return iter(builtins.range(*bounds))

    return over


@kept
def on_forms(rule: Any, *, strict: bool) -> Any:
    """A rule whose constants are fractions, and whose loops over the features are of whole vectors."""

    def constant(value: Any) -> Any:
        if isinstance(value, float) and np.isfinite(value):
            return written(value)
        if isinstance(value, sp.Rational):
            return Fraction(int(value.p), int(value.q))
        return value

    def loops(function: Any) -> Any:
        known = function.__globals__
        for name, value in (("len", length), ("range", places(strict))):
            known.setdefault(name, value)
        return function

    return rebuilt(rule, constant, loops, loops)


@cache
def _layout(state: type, numbers: Any) -> tuple[tuple[str, tuple[int, ...], bool], ...]:
    """For each declared array its name, its shape without the features, and whether it has them."""
    few, many = shapes(state, 3, numbers), shapes(state, 1003, numbers)
    out = []
    for name, shape in few.items():
        over = [a != b for a, b in zip(shape, many[name], strict=True)]
        if any(over[:-1]) or (over and over[-1] and (shape[-1], many[name][-1]) != (3, 1003)):
            raise NoFormError("an array with the features in another axis than its last")
        out.append((name, shape[:-1] if over[-1] else shape, over[-1]))
    return tuple(out)


def _layout_of(state: type, numbers: Any) -> tuple[tuple[str, tuple[int, ...], bool], ...]:
    try:
        return _layout(state, numbers)
    except TypeError:  # numbers that have no hash
        return _layout.__wrapped__(state, numbers)


def slots_of(kind: str, state: type, numbers: Any) -> dict[tuple[Any, ...], bool]:
    """The slots of a declared state, in its order, with whether each is a vector; see :func:`stores`."""
    listed = _layout_of(state, numbers)
    return {(kind, name, at): over for name, shape, over in listed for at in np.ndindex(*shape)}


def stores(
    columns: Columns, kind: str, state: type, numbers: Any, filled: Any
) -> tuple[Any, dict[tuple[Any, ...], bool]]:
    """A declared state of abstract arrays, and its slots with whether each is a vector.

    Parameters
    ----------
    kind : {"weights", "memory"}
    filled : set of slots, or None
        The slots that are not 0; None is all.
    """
    made, slots = [], {}
    for name, shape, over in _layout_of(state, numbers):
        kept: dict[Any, Any] = {}
        for at in np.ndindex(*shape):
            slot = (kind, name, at)
            slots[slot] = over
            for half in (HALVES if columns.strict else (None,)) if over else (None,):
                terms: dict[Key, Any] = {}
                if filled is None or slot in filled:
                    unit = columns.constant(1)
                    terms = {(slot, ONE): unit} if over else {(None, (("number", *slot),)): unit}
                kept[at, half] = Form(columns, terms, half)
        made.append(Store(columns, shape, over, kept))
    return state(*made), slots


def is_of_wholes(strict: dict[Any, Any], plain: dict[Any, Any], same: Any) -> bool:
    """Whether the two halves came out alike, and as the whole did.

    Parameters
    ----------
    strict, plain : dict
        The terms of what a slot holds in the end, by slot and half.
    same : function
        Whether two columns are equal.
    """
    for (slot, _), terms in strict.items():
        whole = plain[slot, None]
        if {(v, _unsplit(m)) for v, m in terms} != set(whole):
            return False
        if not all(same(column, whole[v, _unsplit(m)]) for (v, m), column in terms.items()):
            return False
        if len(terms) != sum(2 ** sum(atom[0] == "dot" for atom in m) for _, m in whole):
            return False
    return True


def _unsplit(monomial: tuple[Any, ...]) -> tuple[Any, ...]:
    whole = ((*a[:-1], None) if a[0] == "dot" else a for a in monomial)
    return tuple(sorted(whole, key=repr))
