"""Yes-or-no questions that floats leave open, decided by the same problem in rationals.

Whether an entry that rounding may have made is 0, and what the rank of vectors is that nearly depend on each
other, floats cannot tell. Small problems are asked in exact arithmetic; no number is taken from there, but a 0.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

from obliquetd.algebra import Arithmetic, Matrix
from obliquetd.algebra.ways import Way
from obliquetd.errors import NotUniqueError

__all__ = ["Decided"]

MOST_DECIDED: Way[int] = 256
"""Outcomes up to which zeros that floats leave open are decided in rationals: half a second to read them."""


class Decided:
    """The part of :class:`~obliquetd.problem.native.Operators` that asks; abstract."""

    arithmetic: Arithmetic
    inputs: Any
    state: Any

    def __init__(self, inputs: Any, arithmetic: Arithmetic | None = None) -> None:
        super().__init__(inputs, arithmetic)  # type: ignore[call-arg]

    def exactly(self, of: Callable[[Any], Matrix]) -> Callable[[], Matrix] | None:
        """What decides the zeros of a float answer: the same of the problem in rationals.

        None where there is no need, or where reading all numbers as fractions takes long.
        """
        if self.arithmetic.kind != "float" or len(self.state) > MOST_DECIDED:
            return None
        return functools.partial(self._of_rationals, of)

    def _of_rationals(self, of: Callable[[Any], Matrix]) -> Matrix:
        return of(self.in_rationals)

    @cached_property
    def in_rationals(self) -> Self:
        """The same problem as ``arithmetic="exact"`` reads it."""
        return type(self)(self.inputs.changed(arithmetic="exact"))

    def require_rank(self, found: int, of: Callable[[Any], Matrix], what: str) -> None:
        """That vectors which floats take as dependent are: else what they tell apart is lost without a word.

        Raises
        ------
        NotUniqueError
            Where the rank in rationals is not the one that floats found.
        """
        exactly = self.exactly(of)
        if exactly and found < min(of(self).shape) and (rank := exactly().rank()) != found:
            raise NotUniqueError(
                f"{what} have rank {rank}, but are so near to dependent ones that floats take them as of rank "
                f"{found}; use arithmetic='exact', or features that are further from dependent"
            )
