"""Floats that carry a bound on their error through a learner's rule, whichever way it goes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from obliquetd.algebra.error_free import product_and_lost, sum_and_lost
from obliquetd.learners.dual import Dual

__all__ = ["DYADIC", "NORMAL", "SMALLEST", "UNIT", "Rounded", "bare", "every_way"]

UNIT = 2.0**-53
"""Half the distance from 1 to the next float: the relative error of one operation."""
DYADIC = 2.0**20
"""A float that is a multiple of 1/DYADIC is taken to be meant exactly."""
SMALLEST = 2.0**-1074
NORMAL = 2.0**-1022
SAFE = 2.0**-900
"""The size from which on what a product rounds is a float, too."""
MOST_WAYS = 256
"""Ways through a rule that are tried, where comparisons are open."""


class Rounded:
    """A float with a bound on how far it may be from the number that is meant.

    A running error analysis (Wilkinson 1986; Higham 2002, Section 3.3), to first order: each
    operation adds what it rounds, and hands on what its operands brought along. What a sum or a product
    rounds is a float itself (Knuth's two-sum, Dekker's two-product; Higham, Section 4.3), so that 1/2 times 2
    is 1 and less 1 is 0. What is read as data is off by half a unit in the last place, unless it has
    few binary digits.
    """

    __slots__ = ("error", "value")

    def __init__(self, value: float, error: float = 0.0) -> None:
        self.value, self.error = value, error

    @classmethod
    def datum(cls, value: Any) -> Rounded:
        """A float that came in: 0.5 is exact, 0.1 is not."""
        number = float(value)
        exact = abs(number) < 1e9 and (number * DYADIC).is_integer()
        return cls(number, 0.0 if exact else abs(number) * UNIT)

    def __add__(self, other: Any) -> Rounded:
        if not isinstance(other, Rounded):
            if isinstance(other, Dual):
                return NotImplemented
            other = Rounded(float(other))
        value, lost = sum_and_lost(self.value, other.value)
        return Rounded(value, self.error + other.error + _at_most(lost, value))

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.error)

    def __sub__(self, other: Any) -> Rounded:
        return NotImplemented if isinstance(other, Dual) else self + -other

    def __rsub__(self, other: Any) -> Rounded:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Rounded:
        if not isinstance(other, Rounded):
            if isinstance(other, Dual):
                return NotImplemented
            other = Rounded(float(other))
        a, b = self.value, other.value
        value = a * b
        size = abs(value)
        error = abs(a) * other.error + abs(b) * self.error + self.error * other.error
        safe = SAFE < size < 1 / SAFE
        error += _at_most(product_and_lost(a, b)[1], value) if safe else UNIT * size
        if size < NORMAL and (a or self.error) and (b or other.error):
            error += SMALLEST
        return Rounded(value, error)

    def __truediv__(self, other: Any) -> Rounded:
        if not isinstance(other, Rounded):
            if isinstance(other, Dual):
                return NotImplemented
            other = Rounded(float(other))
        value = self.value / other.value if other.value else math.copysign(math.inf, self.value)
        below = abs(other.value) - other.error
        spread = self.error + abs(value) * other.error
        error = spread / below if below > 0 else math.inf
        return Rounded(value, error + UNIT * abs(value))

    __radd__, __rmul__ = __add__, __mul__

    def __rtruediv__(self, other: Any) -> Rounded:
        return Rounded(float(other)) / self

    def __pos__(self) -> Rounded:
        return self

    def __abs__(self) -> Rounded:
        return Rounded(abs(self.value), self.error)

    def _answer(self, other: Any, relation: Callable[[Any, Any], Any]) -> bool:
        answer = bool(relation(self.value, bare(other)))
        ways = WAYS.get()
        if ways is None:
            return answer
        error = self.error + (other.error if isinstance(other, Rounded) else 0.0)
        if error == 0 or abs(self.value - float(bare(other))) > error:
            return answer
        return ways.taken(answer)

    def __eq__(self, other: object) -> bool:
        return self._answer(other, operator.eq)

    def __gt__(self, other: Any) -> bool:
        return self._answer(other, operator.gt)

    def __lt__(self, other: Any) -> bool:
        return self._answer(other, operator.lt)

    def __ge__(self, other: Any) -> bool:
        return self._answer(other, operator.ge)

    def __le__(self, other: Any) -> bool:
        return self._answer(other, operator.le)

    def __bool__(self) -> bool:
        return bool(self.value) or bool(self.error)

    def __hash__(self) -> int:
        return hash(self.value)

    def __float__(self) -> float:
        return self.value

    def __int__(self) -> int:
        return int(self.value)


def _at_most(lost: float, value: float) -> float:
    """What was lost, or half a unit where halves overflow or something is infinite."""
    most = UNIT * abs(value)
    return abs(lost) if abs(lost) <= most else most


class Ways:
    """The answers to the comparisons of one run that the bounds leave open, the first of them given."""

    def __init__(self, given: list[bool]) -> None:
        self.given, self.path = given, list[bool]()

    def taken(self, answer: bool) -> bool:
        """The answer that is given here, or that of the values themselves."""
        k = len(self.path)
        self.path.append(self.given[k] if k < len(self.given) else answer)
        return self.path[-1]


WAYS: ContextVar[Ways | None] = ContextVar("WAYS", default=None)
"""Of the run that goes on, if it is one of :func:`every_way`."""


def every_way(run: Callable[[], list[Any]]) -> list[Any]:
    """The numbers that a run makes, with bounds that hold whichever way its open comparisons go.

    A comparison of floats is open where their difference may be 0 for all that is known. The values are those of
    the way that the floats themselves take; each bound reaches to those of every other way.

    Examples
    --------
    >>> x = Rounded(1e-20, 1e-16)
    >>> [found] = every_way(lambda: [Rounded(3.0) if x > 0 else Rounded(1.0)])
    >>> found.value, found.error
    (3.0, 2.0)
    """
    waiting: list[list[bool]] = [[]]
    found: list[list[Any]] = []
    while waiting:
        ways = Ways(waiting.pop())
        before = WAYS.set(ways)
        try:
            found.append(run())
        finally:
            WAYS.reset(before)
        new = range(len(ways.given), len(ways.path))
        waiting += [[*ways.path[:k], not ways.path[k]] for k in new]
        if len(found) + len(waiting) > MOST_WAYS:
            return [Rounded(x.value, math.inf) for x in found[0]]
    return found[0] if len(found) == 1 else [_hull(x) for x in zip(*found, strict=True)]


def _hull(numbers: Sequence[Rounded]) -> Rounded:
    first, *others = numbers
    errors = [first.error, *(abs(x.value - first.value) + x.error for x in others)]
    return Rounded(first.value, max(errors) if all(map(math.isfinite, errors)) else math.inf)


def bare(value: Any) -> Any:
    """A number without its error bound."""
    return value.value if isinstance(value, Rounded) else value
