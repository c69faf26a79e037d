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
makes something else of one half than of the other: :mod:`obliquetd.learners.wholes` has the arrays.
"""

from __future__ import annotations

import itertools
from typing import Any, Protocol

import numpy as np

from obliquetd.algebra.ways import Way
from obliquetd.learners.dual import Dual

__all__ = ["ONE", "Columns", "Form", "Key", "NoFormError", "Opaque", "Place", "Row", "SplitError", "is_feature", "joined"]  # fmt: skip

Key = tuple[Any, tuple[Any, ...]]
"""A vector, or None, and the inner products and numbers of the memory and weights that multiply it."""
ONE = ()
MOST_TERMS: Way[int] = 2_000


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
    path: list[bool]
    """The answers to a rule's comparisons, in its order: which way through the rule a run took."""

    def constant(self, value: Any) -> Any:
        """A column with one number."""

    def inner(self, u: Form, v: Form, half: int | None) -> Any:
        """The inner products of two combinations of features, over all of them or over one half."""

    def compare(self, relation: str, column: Any) -> bool:
        """The answer to a comparison with 0; SplitError where it is not the same for all outcomes."""

    def product(self, a: Any, b: Any) -> Any:
        """The product for each outcome."""

    def zeros(self, column: Any) -> Any:
        """Whether the number is 0, for each outcome."""

    def is_zero(self, column: Any) -> bool:
        """Whether a column is 0 for every outcome."""


class Opaque:
    """What a rule may hand on and index with, and neither compare nor look up."""

    __hash__ = None  # type: ignore[assignment]
    __iter__ = None

    def _unknown(self, _other: object = None) -> Any:
        raise NoFormError("a rule asks which feature, or which state, it is at")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _unknown


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

    def read(self, other: Any) -> Form | None:
        """Another thing as a form; None for what answers for itself."""
        if isinstance(other, Form):
            return other
        if isinstance(other, Dual | np.ndarray | Opaque):
            return None
        value = self.columns.constant(other)
        return Form(self.columns, {} if self.columns.is_zero(value) else {(None, ONE): value})

    def _made(self, terms: dict[Key, Any], half: int | None) -> Form:
        if len(terms) > MOST_TERMS:
            raise NoFormError("too many terms")
        return Form(self.columns, terms, half)

    def __add__(self, other: Any) -> Any:
        other = self.read(other)
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
        other = self.read(other)
        return NotImplemented if other is None else self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        other = self.read(other)
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
                self._put(terms, (v if u is None else u, joined(m, k)), self._times(a, b))
        return self._made(terms, half)

    def _times(self, a: Any, b: Any) -> Any:
        """The product of two columns; by 1 and -1 nothing is computed, nor rounded."""
        if a is not self.columns.constant(1) and a is not self.columns.constant(-1):
            a, b = b, a
        if a is self.columns.constant(1):
            return b
        return -b if a is self.columns.constant(-1) else self.columns.product(a, b)

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
                        inner = self.columns.inner(first, second, self.half)
                        column = self._times(self._times(a, b), inner)
                        self._put(terms, (None, joined(m, k)), column)
                        continue
                    atom = ("dot", *sorted((u, v)), self.half)
                    self._put(terms, (None, joined(m, k, (atom,))), self._times(a, b))
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
        other = self.read(other)
        if other is None:
            return NotImplemented
        below = other.value()
        if np.any(self.columns.zeros(below)):
            raise ZeroDivisionError
        return self._made({k: column / below for k, column in self.terms.items()}, self.half)

    def __rtruediv__(self, other: Any) -> Any:
        read = self.read(other)
        return NotImplemented if read is None else read / self

    def _gap(self, other: Any) -> Any:
        read = self.read(other)
        if read is None:
            raise NoFormError("a comparison with what is no number")
        return (self - read).value()

    def __eq__(self, other: object) -> bool:
        return self.columns.compare("==", self._gap(other))

    def __gt__(self, other: Any) -> bool:
        return self.columns.compare(">", self._gap(other))

    def __lt__(self, other: Any) -> bool:
        return self.columns.compare("<", self._gap(other))

    def __ge__(self, other: Any) -> bool:
        return self.columns.compare(">=", self._gap(other))

    def __le__(self, other: Any) -> bool:
        return self.columns.compare("<=", self._gap(other))

    def __bool__(self) -> bool:
        return self != 0

    def __abs__(self) -> Form:
        return self if self >= 0 else -self

    __hash__ = None  # type: ignore[assignment]


def is_feature(vector: Any) -> bool:
    """Whether a vector is a row of features, and no weight or memory."""
    return bool(vector is not None and vector[0] == "features")


def joined(*parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """The factors of a product, in one order."""
    filled = [part for part in parts if part]
    if len(filled) < 2:  # in order already
        return filled[0] if filled else ONE
    return tuple(sorted(itertools.chain(*filled), key=repr))
