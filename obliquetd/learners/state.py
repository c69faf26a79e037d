"""What a learner keeps: named arrays, whose shapes follow from the number of features.

A learner declares its weights, its memory and its numbers as NamedTuples. Weights survive
the end of an episode; the memory is emptied where one begins. Each field of weights and
memory is annotated with a shape of this module::

    class Memory(NamedTuple):
        e: Vector
        F: Number

All arrays of one NamedTuple are views of one flat buffer (:func:`views`), so that a driver
can empty, copy and compare them without knowing their names.
"""

from __future__ import annotations

import functools
import math
import typing
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from obliquetd.errors import LearnerError

__all__ = [
    "ByState",
    "Nothing",
    "Number",
    "Shape",
    "Slots",
    "Square",
    "Theta",
    "ThetaW",
    "Trace",
    "Vector",
    "floats",
    "layout",
    "parts_of",
    "placed",
    "shapes",
    "size",
    "views",
]


LINE = 8
"""Floats in a cache line."""


class ByState(Mapping[Hashable, Any]):
    """A setting {state: number} that cannot be changed, so that its learner can be hashed."""

    def __init__(self, numbers: Mapping[Hashable, Any]) -> None:
        self._numbers = dict(numbers)

    def __getitem__(self, state: Hashable) -> Any:
        return self._numbers[state]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __hash__(self) -> int:
        return hash(frozenset(self._numbers.items()))

    def __repr__(self) -> str:
        return repr(self._numbers)


class Shape(ABC):
    """The shape of one array of a learner; abstract. Derive from it for a shape of your own."""

    @staticmethod
    @abstractmethod
    def of(d: int, numbers: Any) -> tuple[int, ...]:
        """The shape, from the number of features and the learner's own numbers."""


class Vector(Shape):
    """One entry a feature."""

    @staticmethod
    def of(d: int, numbers: Any) -> tuple[int, ...]:
        return (d,)


class Number(Shape):
    """One number, kept as an array of one entry so that a rule can change it in place."""

    @staticmethod
    def of(d: int, numbers: Any) -> tuple[int, ...]:
        return (1,)


class Square(Shape):
    """A matrix over the features."""

    @staticmethod
    def of(d: int, numbers: Any) -> tuple[int, ...]:
        return (d, d)


class Slots(Shape):
    """A row of d entries for each of the last n steps, n being one of the learner's numbers."""

    @staticmethod
    def of(d: int, numbers: Any) -> tuple[int, ...]:
        return (int(numbers.n), d)


class Theta(NamedTuple):
    """Weights of a learner with one vector of them."""

    theta: Vector


class ThetaW(NamedTuple):
    """Weights of a learner with a secondary vector w."""

    theta: Vector
    w: Vector


class Trace(NamedTuple):
    """The memory of a learner with one eligibility trace: gamma lam e, as it arrives."""

    e: Vector


class Nothing(NamedTuple):
    """The memory of a learner that has none, or the numbers of one that reads none."""


_hints = functools.cache(typing.get_type_hints)  # each run asks


def parts_of(state: type, d: int, numbers: Any, entries: Sequence[int]) -> list[str]:
    """The names of the declared arrays that some of the entries, counted through all of them, belong to."""
    out, start = [], 0
    for name, shape in shapes(state, d, numbers).items():
        width = math.prod(shape)
        if any(start <= i < start + width for i in entries):
            out.append(name)
        start += width
    return out


def shapes(state: type, d: int, numbers: Any) -> dict[str, tuple[int, ...]]:
    """The shape of each declared array, by name.

    Raises
    ------
    LearnerError
        Where a field is not annotated with a :class:`Shape`.
    """
    try:
        hints = _hints(state)
    except NameError as error:
        raise LearnerError(
            f"the annotations of {state.__name__} cannot be read: {error}. Define it at the top "
            "level of its file or notebook, where Vector, Number and Square are imported"
        ) from None
    out = {}
    for name in getattr(state, "_fields", ()):
        shape = hints.get(name)
        if not (isinstance(shape, type) and issubclass(shape, Shape)):
            raise LearnerError(
                f"{state.__name__}.{name} is annotated with {shape!r}; expected a shape such as "
                "Vector, Number or Square, as in 'e: Vector'"
            )
        out[name] = shape.of(d, numbers)
    return out


def size(state: type, d: int, numbers: Any) -> int:
    """How many numbers a declared state holds."""
    return sum(math.prod(shape) for shape in shapes(state, d, numbers).values())


def layout(state: type, d: int, numbers: Any) -> tuple[tuple[slice, tuple[int, ...]], ...]:
    """Where each declared array stands in one flat array, and its shape."""
    out = []
    start = 0
    for shape in shapes(state, d, numbers).values():
        end = start + math.prod(shape)
        out.append((slice(start, end), shape))
        start = end
    return tuple(out)


def placed(state: type, places: Any, flat: Any) -> Any:
    """A declared state whose arrays are the parts of one flat array that a layout says."""
    return state(*[flat[place].reshape(shape) for place, shape in places])


def views(state: type, d: int, numbers: Any, flat: Any) -> Any:
    """A declared state whose arrays are views of one flat array.

    Parameters
    ----------
    state : NamedTuple class
    d : int
    numbers : NamedTuple
    flat : array (size,)

    Examples
    --------
    >>> import numpy as np
    >>> x = views(ThetaW, 2, None, np.arange(4.0))
    >>> x.w[0]
    np.float64(2.0)
    """
    return placed(state, layout(state, d, numbers), flat)


def floats(state: type, d: int, numbers: Any) -> tuple[Any, Any]:
    """A declared state of zeros for compiled code: one flat array, and views of it.

    Each view begins on a cache line, without which a step over 200 features takes up to
    twice as long; the entries between them are not used.

    Returns
    -------
    flat : array
    state : NamedTuple of arrays
    """
    wanted = shapes(state, d, numbers).values()
    starts = np.cumsum([0, *(-(-math.prod(shape) // LINE) * LINE for shape in wanted)])
    flat = np.zeros(int(starts[-1]) + LINE)
    skipped = -flat.ctypes.data // flat.itemsize % LINE
    flat = flat[skipped : skipped + int(starts[-1])]
    arrays = [
        flat[start : start + math.prod(shape)].reshape(shape)
        for start, shape in zip(starts, wanted, strict=False)
    ]
    return flat, state(*arrays)
