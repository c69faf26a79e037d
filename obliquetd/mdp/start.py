"""Where episodes begin: a distribution over states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from obliquetd.algebra import number_text, parse_number, public_number
from obliquetd.errors import InputError, LabelError, ProbabilityError
from obliquetd.mdp.imports import shown
from obliquetd.mdp.probabilities import sums_to_one
from obliquetd.mdp.table import outcome_sum

__all__ = ["start_distribution"]


def start_distribution(
    start: Any, states: Sequence[Any], terminal: Sequence[Any]
) -> dict[Any, Any]:
    """A checked initial distribution, states of probability 0 left out.

    Raises
    ------
    LabelError, NumberError, ProbabilityError
        An unknown or terminal state, a negative probability, a sum other than one.
    """
    if not isinstance(start, Mapping):
        raise InputError(
            f"start is {start!r}; expected a mapping of states to probabilities, as in "
            f"{{{states[0]!r}: 1}}"
        )
    parsed = {s: parse_number(p, f"the start probability of {s!r}") for s, p in start.items()}
    known, ends = set(states), set(terminal)
    for state, p in parsed.items():
        if state not in known or (state in ends and p != 0):
            raise LabelError(
                f"the start state {state!r} is {'terminal' if state in ends else 'unknown'}; "
                f"expected states among {shown([s for s in states if s not in ends])}"
            )
        if not isinstance(p, sp.Basic) and p < 0:
            raise ProbabilityError(
                f"the start probability of {state!r} is {number_text(p)}; expected a number "
                "between 0 and 1",
                state=state,
                total=public_number(p),
            )
    parsed = {s: p for s, p in parsed.items() if p != 0}
    total = outcome_sum(parsed.values()) if parsed else parse_number(0)
    if not sums_to_one(total, len(parsed)):
        raise ProbabilityError(
            f"the start distribution sums to {number_text(total)}; expected 1",
            total=public_number(total),
        )
    return parsed
