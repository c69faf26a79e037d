"""A self-loop without reward that may stand for the end of an episode, and what to write instead."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from obliquetd.problem.native import Operators

__all__ = ["resting_remark", "resting_states"]


def resting_states(ops: Operators) -> list[Hashable]:
    """The states that the behaviour never leaves and collects nothing in, where all others lead there for good.

    None where weights or a start are given: then the states before have weights of their own.
    """
    if ops.inputs.xi is not None or ops.inputs.start is not None or ops.n == 1:
        return []
    closed = ops.chain.closed
    if len(closed) == ops.n or any(len(c) > 1 for c in closed):
        return []
    ends = [c[0] for c in closed]
    paid = any(ops.reward[np.isin(ops.state, ends)])
    return [] if paid else ops.names(ends)


def resting_remark(ops: Operators) -> str:
    """A sentence on them; empty where there are none.

    Examples
    --------
    >>> from obliquetd import MDP, Policy, PolicyEvaluation
    >>> mdp = MDP.from_transitions([("a", "go", "end", 1, 1), ("end", "go", "end", 1, 0)])
    >>> resting_remark(PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2").native)[:64]
    "The behaviour stays in 'end' for good and collects nothing there"
    """
    states = resting_states(ops)
    if not states:
        return ""
    named = ", ".join(map(repr, states[:8])) + (", ..." if len(states) > 8 else "")
    return (
        f"The behaviour stays in {named} for good and collects nothing there, so that no other state has weight. "
        f"Where that is the end of an episode, say so with terminal=[{named}] in MDP.from_transitions, and pass "
        "start={state: probability}, from which episodes begin anew."
    )
