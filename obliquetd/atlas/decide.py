"""One part of a family judged: the members with one chain whose feature matrices are in a range."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from obliquetd.atlas.expected import expected_updates, xi_of
from obliquetd.atlas.family import Family
from obliquetd.atlas.tables import Tables
from obliquetd.atlas.verdicts import VERDICTS, dimensions, verdicts
from obliquetd.dynamics import mean_dynamics

__all__ = ["Part", "Task", "decide", "judged"]


@dataclass(frozen=True)
class Part:
    """What was found of some members.

    Attributes
    ----------
    chain : int
        The number of their chain.
    codes, problems : array of int64
        As in :class:`~obliquetd.atlas.family.Members`.
    verdicts : dict of (learner, discount) to array of uint8
    """

    chain: int
    codes: Any
    problems: Any
    verdicts: dict[tuple[str, str], Any]


@dataclass(frozen=True)
class Task:
    """A part that is to be judged.

    Attributes
    ----------
    family : Family
    tables : dict of (learner, discount) to Tables
    chain, low, high : int
    """

    family: Family
    tables: dict[tuple[str, str], Tables]
    chain: int
    low: int
    high: int


def decide(task: Task) -> Part:
    """The verdicts on the members of a part."""
    family = task.family
    chain, _ = family.chains[task.chain]
    members = family.members(chain, task.low, task.high)
    xi = xi_of(family, chain)
    found = {
        (name, discount): judged(family, task.chain, xi, tables, members.codes, Fraction(discount))
        for (name, discount), tables in task.tables.items()
    }
    return Part(task.chain, members.codes, members.problems, found)


def judged(
    family: Family, chain: int, xi: list[Fraction], tables: Tables, codes: Any, discount: Fraction
) -> Any:
    """The number of the verdict on each of some feature matrices, with one chain.

    Where the updates with an empty memory do not span everything and there is a memory, what it
    reaches may add to the span: such members go the general way, one by one.
    """
    moves = family.chains[chain][0]
    A, S = expected_updates(family, moves, xi, tables, codes)
    ranks = dimensions(S)
    few = np.flatnonzero(ranks < tables.size) if tables.memory else np.array([], dtype=int)
    plain = np.setdiff1d(np.arange(len(codes)), few, assume_unique=True)
    out = np.empty(len(codes), dtype=np.uint8)
    out[plain] = verdicts(A[plain], ranks[plain])
    for i, features in zip(few.tolist(), family.matrices(codes[few]), strict=True):
        problem = family.problem(moves, features, discount)
        out[i] = VERDICTS.index(mean_dynamics(problem, tables.learner).stability.verdict)
    return out
