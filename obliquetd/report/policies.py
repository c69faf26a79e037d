"""A policy in a sentence, where one says it all."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from obliquetd.mdp import MDP, Policy
from obliquetd.report.formulas import shown

__all__ = ["summary"]


def summary(policy: Policy, mdp: MDP) -> Markup | None:
    """What a policy does in every state, if that is one thing; None where a table has to say it.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> problem = two_state()
    >>> print(summary(problem.target, problem.mdp))
    right in every state
    >>> str(summary(problem.behavior, problem.mdp)).startswith("uniform: each action with probability")
    True
    """
    rows = {s: {a: p for a, p in row.items() if p != 0} for s, row in policy.items()}
    first = next(iter(rows.values()))
    free = {s: set(offered) for s, offered in mdp.offered.items()}
    if any(len(row) > 1 for row in rows.values()) and all(
        set(row) == free.get(s) and _is_even(row) for s, row in rows.items()
    ):
        if {len(row) for row in rows.values()} == {len(first)}:
            chance = shown(next(iter(first.values())))
            return Markup("uniform: each action with probability {}").format(chance)
        return Markup("uniform over the actions of each state")
    if len(rows) == 1 or any(row != first for row in rows.values()):
        return None
    if len(first) == 1:
        return Markup("{} in every state").format(str(next(iter(first))))
    told = (Markup("{} with probability {}").format(str(a), shown(p)) for a, p in first.items())
    return Markup("in every state {}").format(Markup(", ").join(told))


def _is_even(row: dict[Any, Any]) -> bool:
    chances = list(row.values())
    return all(p == chances[0] for p in chances)
