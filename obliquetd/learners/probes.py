"""Whether a rule is affine at the memories from which its map is read off.

The expectation knows a rule's map of the memory, m to c + M m, from the unit memories, and those need
not be among the ones that a trajectory reaches: of two traces that are always equal, or of a number
that is 0 at alpha = 0. A rule that is affine on the memories that it reaches, and another on the unit
memories, would be averaged wrongly.
"""

from __future__ import annotations

from typing import Any

from sympy import QQ

__all__ = ["PROBED", "affine_where_probed"]

PROBED = (
    "it is affine in the memories that it reaches, but not in others, from which its map is read off; "
    "keep differences of two entries, and entries that are 0 at alpha = 0, out of products and quotients"
)


def affine_where_probed(trial: Any) -> bool:
    """Whether what the unit memories say holds at a memory that is reached."""
    size = len(trial.empty)
    reached = max(trial.memories(), key=lambda m: sum(map(bool, m)))
    t, x = trial.transition(), trial.weights()

    def at(memory: list[Any]) -> list[Any]:
        update, handed = trial.slope(t, x, memory)
        return [*update, *handed]

    start = found = at(trial.empty)
    for j, h in enumerate(reached):
        unit = at([QQ(int(i == j)) for i in range(size)])
        found = [total + h * (v - u) for total, v, u in zip(found, unit, start, strict=True)]
    return bool(found == at(reached))
