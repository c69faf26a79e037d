"""Arrays of integers that never overflow: each carries a bound on its entries that is proved.

A sum is no larger than the sum of the bounds, a product than their product, and a matrix product of inner
size k than k times it. Where the bound of a result is below 2^63 it is computed in machine integers,
which then cannot overflow; otherwise in Python's own, of any length. Which of the two is decided before
anything is computed, from the bounds alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from obliquetd.algebra.ways import Way

__all__ = ["LIMIT", "Integers", "charpoly", "determinant", "lcm"]

LIMIT: Way[int] = 2**63 - 1
"""The largest machine integer."""


class Integers:
    """An array of integers, with a bound on the absolute value of each entry.

    Parameters
    ----------
    values : array of int64 or of Python integers
    bound : int, optional
        The largest entry itself unless given.

    Examples
    --------
    >>> big = Integers(np.array([2**40]))
    >>> square = big * big
    >>> square.values, square.values.dtype, square.bound == 2**80
    (array([1208925819614629174706176], dtype=object), dtype('O'), True)
    """

    __array_ufunc__ = None
    __slots__ = ("bound", "values")

    def __init__(self, values: Any, bound: int | None = None) -> None:
        self.values = values
        self.bound = self.largest if bound is None else bound

    @property
    def largest(self) -> int:
        """The largest absolute value of an entry."""
        if not self.values.size:
            return 0
        return max(int(self.values.max()), -int(self.values.min()))

    def tight(self) -> Integers:
        """The same with the least bound, in machine integers where that allows it."""
        return Integers(_of_kind(self.values, self.largest))

    def __getitem__(self, at: Any) -> Integers:
        return Integers(np.asarray(self.values[at]), self.bound)

    def _with(self, other: Any, bound: Any, operation: Any) -> Integers:
        if isinstance(other, int):
            other = Integers(np.array(other, dtype=object), abs(other))
        limit = bound(self.bound, other.bound)
        kind = max(limit, self.bound, other.bound)
        return Integers(operation(_of_kind(self.values, kind), _of_kind(other.values, kind)), limit)

    def __add__(self, other: Any) -> Integers:
        return self._with(other, lambda a, b: a + b, np.add)

    def __sub__(self, other: Any) -> Integers:
        return self._with(other, lambda a, b: a + b, np.subtract)

    def __mul__(self, other: Any) -> Integers:
        return self._with(other, lambda a, b: a * b, np.multiply)

    def __matmul__(self, other: Any) -> Integers:
        inner = self.values.shape[-1]
        return self._with(other, lambda a, b: inner * a * b, np.matmul)

    def __neg__(self) -> Integers:
        return Integers(-self.values, self.bound)

    def over(self, divisor: Any) -> Integers:
        """The quotients, where all divisions leave no remainder."""
        found = self._with(divisor, lambda a, _: a, np.floor_divide)
        rest = self._with(divisor, lambda a, _: a, np.remainder)
        assert not rest.values.any(), "a division was to leave no remainder"
        return found

    def spread(self, axes: int) -> Integers:
        """With axes of length 1 behind its own."""
        return Integers(self.values.reshape(self.values.shape + (1,) * axes), self.bound)

    def signs(self) -> Any:
        """-1, 0 or 1 for each entry."""
        return (self.values > 0).astype(np.int8) - (self.values < 0).astype(np.int8)


def _of_kind(values: Any, bound: int) -> Any:
    """Values that are computed with where no result exceeds a bound."""
    kind = np.int64 if bound <= LIMIT else object
    return values if values.dtype == kind else values.astype(kind)


def lcm(numbers: list[Integers]) -> Integers:
    """The least common multiples of positive integers, entry by entry."""
    total = numbers[0]
    for other in numbers[1:]:
        total = total._with(other, lambda a, b: a * b, np.lcm).tight()
    return total


def _trace(M: Integers) -> Integers:
    total = M[:, 0, 0]
    for i in range(1, M.values.shape[-1]):
        total = total + M[:, i, i]
    return total


def charpoly(A: Integers) -> list[Integers]:
    """The coefficients of det(xI - A) for each of many matrices (N, D, D), leading one first.

    Faddeev and LeVerrier: M_1 = I, c_k = -tr(A M_k) / k, M_{k+1} = A M_k + c_k I. Every division leaves
    no remainder, since c_k is an integer.

    Examples
    --------
    >>> [c.values.tolist() for c in charpoly(Integers(np.array([[[2, 1], [0, 3]]])))]
    [[1], [-5], [6]]
    """
    count, size = A.values.shape[0], A.values.shape[-1]
    identity = Integers(np.eye(size, dtype=np.int64)[None])
    coefficients = [Integers(np.ones(count, dtype=np.int64))]
    M = identity
    for k in range(1, size + 1):
        product = (A @ M).tight()
        c = (-_trace(product)).over(k).tight()
        coefficients.append(c)
        M = product + c.spread(2) * identity
    return coefficients


def determinant(M: Integers) -> Integers:
    """The determinant of each of many matrices (N, k, k)."""
    last = charpoly(M)[-1]
    return last if M.values.shape[-1] % 2 == 0 else -last
