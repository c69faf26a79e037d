"""A rule as it is, on numbers of any kind: rationals, rational functions, floats, duals.

A float that stands in a rule's text or closure is read as its author wrote it, so that
``0.5`` is 1/2 and ``1/3`` (which Python folds to a float) is 1/3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import simplest_fraction
from obliquetd.learners.functions import kept, rebuilt
from obliquetd.learners.state import layout, placed, size
from obliquetd.learners.words import Transition

__all__ = ["PlainRule", "as_array", "written"]

SHORT = 15
"""Significant digits up to which every decimal survives a float and back."""

Convert = Callable[[Fraction], Any]


def written(value: float) -> Fraction:
    """The number that a float in a program's text stands for.

    Examples
    --------
    >>> written(0.1), written(1 / 3), written(0.999999999999)
    (Fraction(1, 10), Fraction(1, 3), Fraction(999999999999, 1000000000000))
    """
    decimal = Decimal(repr(value))
    if len(decimal.as_tuple().digits) <= SHORT:
        return Fraction(decimal)
    found = simplest_fraction(value)
    return Fraction(int(found.numerator), int(found.denominator))


@kept
def on_numbers(function: Any, convert: Convert) -> Any:
    """A rule whose constants are numbers of the kind that it runs on."""

    def leaf(value: Any) -> Any:
        if isinstance(value, float) and np.isfinite(value):
            return convert(written(value))
        if isinstance(value, Fraction | sp.Rational):
            return convert(Fraction(int(value.numerator), int(value.denominator)))
        return value

    return rebuilt(function, leaf, lambda f: f, lambda f: f)


def as_array(values: Any, shape: tuple[int, ...]) -> Any:
    """An array of objects, so that each entry stays the number that it is."""
    out = np.empty(shape, dtype=object)
    if len(shape) == 1:
        for i in range(shape[0]):
            out[i] = values[i]
        return out
    for place in np.ndindex(*shape):
        entry = values
        for i in place:
            entry = entry[i]
        out[place] = entry
    return out


class PlainRule:
    """One learner's rule on numbers of one kind.

    Parameters
    ----------
    learner : Learner
    d : int
    convert : callable
        From a Fraction to a number of that kind. The same object each time, so that the
        rule is rebuilt once.
    values : mapping of str to number
        What the rule reads, by name, of that kind.
    """

    def __init__(self, learner: Any, d: int, convert: Convert, values: Mapping[str, Any]) -> None:
        self.learner, self.d, self._convert = learner, d, convert
        self.numbers = learner.numbers(**values)
        self.size = size(learner.weights, d, self.numbers)
        self.memory_size = size(learner.memory, d, self.numbers)
        self._weights = layout(learner.weights, d, self.numbers)
        self._memory = layout(learner.memory, d, self.numbers)

    @cached_property
    def _rule(self) -> Any:
        return on_numbers(self.learner.rule, self._convert)

    def run(
        self, transition: Transition, weights: Any, memory: Any, alpha: Any
    ) -> tuple[list[Any], list[Any], Any]:
        """The weights and the memory after one transition, and the TD error."""
        x, m = as_array(weights, (self.size,)), as_array(memory, (self.memory_size,))
        delta = self._rule(
            placed(self.learner.weights, self._weights, x),
            placed(self.learner.memory, self._memory, m),
            transition,
            alpha,
            self.numbers,
        )
        return list(x), list(m), delta
