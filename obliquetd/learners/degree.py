"""The degree of a rule as a polynomial in its step size."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from sympy import QQ

from obliquetd.learners.base import Learner
from obliquetd.learners.check import SIZES, STEPS, Trial, less
from obliquetd.learners.functions import kept

__all__ = ["MOST_DEGREE", "degree", "degree_of"]

MOST_DEGREE = 4


@kept
def degree(learner: Learner) -> int | None:
    """The degree of one step as a polynomial in alpha: 1 for most, 2 for mirror-prox; None for none.

    It is k where the differences of order k + 1 of the weights at alpha = 0, 1, 2, ... vanish.
    """
    trial = Trial(learner, SIZES[-1])
    most = 0
    for _ in range(STEPS):
        t, x = trial.transition(), trial.weights()
        found = degree_of([trial.run(t, x, trial.empty, QQ(a))[0] for a in range(MOST_DEGREE + 3)])
        if found is None:
            return None
        most = max(most, found)
    return most


def degree_of(steps: Sequence[list[Any]], counts: Callable[[Any], bool] = bool) -> int | None:
    """The degree of what is seen at 0, 1, 2, ...; -1 for zeros, None where it is larger than all that is asked for."""
    rows, k = list(steps), -1
    while any(any(map(counts, row)) for row in rows):
        rows, k = [less(b, a) for a, b in itertools.pairwise(rows)], k + 1
        if k > MOST_DEGREE:
            return None
    return k
