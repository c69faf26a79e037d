"""A rule run on vectors as wholes: what it makes of inner products, and of nothing else.

Most rules are loops over the features whose body is the same for each: sums of products, which are
inner products, and multiples of phi, phi', a trace or weights that are added to others. Such a rule is run
*once* on abstract arrays: ``len(theta)`` is the number of features without a value, ``range`` of it
gives one :class:`Place`, and what stands there is a :class:`Form`, a linear combination of vectors whose coefficients are
polynomials in inner products,

    sum of c <u, v> ... z,     z a vector, or none for a number; c a number.

Inner products of features are numbers; those with weights or a memory stay as they are. Numbers are
columns: one entry for each outcome, so that one run is for all of them. Where a comparison has another
answer for some outcomes than for others, :class:`SplitError` says which, and each part is run by itself.

Whatever else a rule does (an entry by its number, a product of entries that is no summand, a
function of a vector) raises :class:`NoFormError` or what Python raises, and the rule is then run on numbers.
In the *strict* mode a loop over the features has two rounds, over two halves of them, each with
inner products of its own: a rule that sees more than inner products over all of them then
makes something else of one half than of the other; see :func:`is_of_wholes`.
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, Protocol

import numpy as np
import sympy as sp

from obliquetd.learners.dual import Dual
from obliquetd.learners.evaluate import written
from obliquetd.learners.functions import rebuilt
from obliquetd.learners.state import shapes

__all__ = [
    "Columns", "Features", "Form", "NoFormError", "Place", "Row", "SplitError", "Store", "PerState",
    "is_feature", "is_of_wholes", "on_forms", "stores",
]  # fmt: skip

Key = tuple[Any, tuple[Any, ...]]
"""A vector, or None, and the inner products and numbers of the memory and weights that multiply it."""
ONE = ()
HALVES = (0, 1)
MOST_TERMS = 2_000


class NoFormError(TypeError):
    """The rule does what is no linear combination of vectors by inner products."""


class SplitError(Exception):
    """A comparison holds for some of the outcomes: those of ``mask``."""

    def __init__(self, mask: Any) -> None:
        super().__init__("a comparison holds for some outcomes only")
        self.mask = mask


class Columns(Protocol):
    """The numbers of the outcomes: columns that broadcast, and know ``+ - * /``."""

    strict: bool

    def constant(self, value: Any) -> Any:
        """A column with one number."""

    def inner(self, u: Form, v: Form, half: int | None) -> Any:
        """The inner products of two combinations of features, over all of them or over one half."""

    def signs(self, column: Any) -> Any:
        """-1, 0 or 1 for each outcome."""

    def is_zero(self, column: Any) -> bool:
        """Whether a column is 0 for every outcome."""


class Opaque:
    """What a rule may hand on and index with, and neither compare nor look up."""

    __hash__ = None  # type: ignore[assignment]
    __iter__ = None

    def _unknown(self, _other: object = None) -> Any:
        raise NoFormError("a rule asks which feature, or which state, it is at")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _unknown


class Dimension(Opaque):
    """The number of features, which a rule may loop over and no more."""


class Place(Opaque):
    """What a loop over the features gives: all of them, or in the strict mode half of them."""

    def __init__(self, half: int | None) -> None:
        self.half = half


class Row(Opaque):
    """Where a transition's features stand, as in ``t.s``: a name, and no number."""

    def __init__(self, name: str) -> None:
        self.name = name


class Form:
    """A linear combination of vectors, or a number, for all outcomes at once."""

    __slots__ = ("columns", "half", "terms")

    def __init__(self, columns: Columns, terms: dict[Key, Any], half: int | None = None) -> None:
        self.columns, self.terms, self.half = columns, terms, half

    @property
    def is_number(self) -> bool:
        """Whether there is no vector in it; 0 is both."""
        return all(vector is None for vector, _ in self.terms)

    @property
    def is_vector(self) -> bool:
        """Whether there is no number in it; 0 is both."""
        return all(vector is not None for vector, _ in self.terms)

    def value(self) -> Any:
        """The column of a number without weights or memory in it."""
        if not self.terms:
            return self.columns.constant(0)
        if set(self.terms) == {(None, ONE)}:
            return self.terms[None, ONE]
        raise NoFormError("a comparison, or a division, asks for more than numbers of the outcome")

    def _read(self, other: Any) -> Form | None:
        if isinstance(other, Form):
            return other
        if isinstance(other, Dual | np.ndarray | Store):
            return None
        value = self.columns.constant(other)
        return Form(self.columns, {} if self.columns.is_zero(value) else {(None, ONE): value})

    def _made(self, terms: dict[Key, Any], half: int | None) -> Form:
        if len(terms) > MOST_TERMS:
            raise NoFormError("too many terms")
        return Form(self.columns, terms, half)

    def __add__(self, other: Any) -> Any:
        other = self._read(other)
        if other is None:
            return NotImplemented
        if not other.terms:
            return self
        if not self.terms:
            return other
        if not (self.is_number and other.is_number):
            if not (self.is_vector and other.is_vector):
                raise NoFormError("a number is added to an entry of a vector")
            if self.half != other.half:
                raise NoFormError("entries of two places are added")
        terms = dict(self.terms)
        for key, column in other.terms.items():
            if key in terms:
                total = terms[key] + column
                if self.columns.is_zero(total):
                    del terms[key]
                else:
                    terms[key] = total
            else:
                terms[key] = column
        return self._made(terms, self.half)

    __radd__ = __add__

    def __neg__(self) -> Form:
        return self._made({k: -column for k, column in self.terms.items()}, self.half)

    def __pos__(self) -> Form:
        return self

    def __sub__(self, other: Any) -> Any:
        other = self._read(other)
        return NotImplemented if other is None else self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        other = self._read(other)
        if other is None:
            return NotImplemented
        if not self.terms or not other.terms:
            return self._made({}, None)
        if self.is_vector and other.is_vector:
            return self._inner(other)
        if not (self.is_number or other.is_number):
            raise NoFormError("what is multiplied is neither a number nor a vector")
        half = other.half if self.is_number else self.half
        terms: dict[Key, Any] = {}
        for (u, m), a in self.terms.items():
            for (v, k), b in other.terms.items():
                self._put(terms, (v if u is None else u, _joined(m, k)), a * b)
        return self._made(terms, half)

    __rmul__ = __mul__

    def _inner(self, other: Form) -> Form:
        """The sum over the places of a product of entries; that of features is a number."""
        if self.half != other.half:
            raise NoFormError("entries of two places are multiplied")
        terms: dict[Key, Any] = {}
        known, rest = self._parted()
        other_known, other_rest = other._parted()
        if known and other_known:
            column = self.columns.inner(
                self._made(known, self.half), self._made(other_known, self.half), self.half
            )
            self._put(terms, (None, ONE), column)
        for mine, theirs in ((known, other_rest), (rest, other_known), (rest, other_rest)):
            for (u, m), a in mine.items():
                for (v, k), b in theirs.items():
                    if is_feature(u) and is_feature(v):
                        unit = self.columns.constant(1)
                        first, second = (self._made({(x, ONE): unit}, self.half) for x in (u, v))
                        column = a * b * self.columns.inner(first, second, self.half)
                        self._put(terms, (None, _joined(m, k)), column)
                        continue
                    atom = ("dot", *sorted((u, v)), self.half)
                    self._put(terms, (None, _joined(m, k, (atom,))), a * b)
        return self._made(terms, None)

    def _parted(self) -> tuple[dict[Key, Any], dict[Key, Any]]:
        known = {key: c for key, c in self.terms.items() if is_feature(key[0]) and key[1] == ONE}
        return known, {key: c for key, c in self.terms.items() if key not in known}

    def _put(self, terms: dict[Key, Any], key: Key, column: Any) -> None:
        total = terms[key] + column if key in terms else column
        if self.columns.is_zero(total):
            terms.pop(key, None)
        else:
            terms[key] = total

    def __truediv__(self, other: Any) -> Any:
        other = self._read(other)
        if other is None:
            return NotImplemented
        below = other.value()
        if not np.all(self.columns.signs(below * below)):
            raise ZeroDivisionError
        return self._made({k: column / below for k, column in self.terms.items()}, self.half)

    def __rtruediv__(self, other: Any) -> Any:
        read = self._read(other)
        return NotImplemented if read is None else read / self

    def _signs(self, other: Any) -> Any:
        read = self._read(other)
        if read is None:
            raise NoFormError("a comparison with what is no number")
        return self.columns.signs((self - read).value())

    def __eq__(self, other: object) -> bool:
        return _decided(self._signs(other) == 0)

    def __gt__(self, other: Any) -> bool:
        return _decided(self._signs(other) > 0)

    def __lt__(self, other: Any) -> bool:
        return _decided(self._signs(other) < 0)

    def __ge__(self, other: Any) -> bool:
        return _decided(self._signs(other) >= 0)

    def __le__(self, other: Any) -> bool:
        return _decided(self._signs(other) <= 0)

    def __bool__(self) -> bool:
        return not self == 0

    def __abs__(self) -> Form:
        return self if self >= 0 else -self

    __hash__ = None  # type: ignore[assignment]


def is_feature(vector: Any) -> bool:
    """Whether a vector is a row of features, and no weight or memory."""
    return bool(vector is not None and vector[0] == "features")


def _joined(*parts: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(sorted(itertools.chain(*parts), key=repr)) if any(parts) else ONE


def _decided(mask: Any) -> bool:
    first = bool(mask.flat[0])
    if (mask == first).all():
        return first
    raise SplitError(mask)


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
        read = [Form(self.columns, {})._read(part) for part in parts]
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
        """Its length is not for rules to know."""
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


@cache
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
    for name, shape, over in _layout(state, numbers):
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
    for (slot, half), terms in strict.items():
        whole = plain[slot, None]
        if {(v, _unsplit(m)) for v, m in terms} != set(whole):
            return False
        if not all(same(column, whole[v, _unsplit(m)]) for (v, m), column in terms.items()):
            return False
        if len(terms) != sum(2 ** sum(atom[0] == "dot" for atom in m) for _, m in whole):
            return False
    return True


def _unsplit(monomial: tuple[Any, ...]) -> tuple[Any, ...]:
    return _joined(tuple((*a[:-1], None) if a[0] == "dot" else a for a in monomial))
