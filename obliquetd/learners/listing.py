"""What each learner is, read from its class: for ``obliquetd learners`` and the README's table."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from obliquetd.learners.base import Learner, Parameter, parameters
from obliquetd.learners.check import check
from obliquetd.learners.state import Square, shapes

__all__ = ["Entry", "entry"]


@dataclass(frozen=True)
class Entry:
    """One learner of a list.

    Attributes
    ----------
    name, key, source, solves : str
        For people, at the command line, where it is defined, and what it converges to.
    numbers : tuple of Parameter
        Its settings besides the step size.
    cost : str
        Of one step with d features, as an order.
    mean_dynamics, moments, efficiency : bool
        Whether its expected update is A and b, with the settings it has unless others are
        given; whether the moments of its weights are exact: they are without a memory; and whether
        its noise at the fixed point is.
    """

    name: str
    key: str
    source: str
    solves: str
    numbers: tuple[Parameter, ...]
    cost: str
    mean_dynamics: bool
    moments: bool
    efficiency: bool

    @property
    def exact(self) -> str:
        """Which of these there are, in words."""
        found = ["A, b"] * self.mean_dynamics + ["moments"] * self.moments
        found += ["noise"] * self.efficiency
        return ", ".join(found) or "none"

    def as_dict(self) -> dict[str, Any]:
        """As JSON data."""
        data = {f.name: getattr(self, f.name) for f in fields(self)}
        numbers = {p.name: {"default": str(p.default), "is": p.told} for p in self.numbers}
        return {**data, "numbers": numbers}


def entry(kind: type[Learner]) -> Entry:
    """What a class of learners is.

    Examples
    --------
    >>> from obliquetd.learners import TDC
    >>> found = entry(TDC)
    >>> found.cost, found.mean_dynamics, [p.name for p in found.numbers]
    ('O(d)', True, ['mu', 'lam', 'secondary'])
    """
    learner = kind()
    averages = not check(learner, compiled=False).averages
    return Entry(
        kind.name,
        kind.key,
        kind.source,
        kind.solves,
        tuple(parameters(kind)),
        _cost(learner),
        averages,
        averages and not learner.has_memory,
        averages,
    )


def _cost(learner: Learner) -> str:
    """A rule goes once through what it keeps; how that grows with the number of features d."""
    numbers = learner.numbers(**learner.tried)
    kept = [
        size
        for state in (learner.weights, learner.memory)
        for size in shapes(state, 1000, numbers).values()
    ]
    return "O(d^2)" if any(shape == Square.of(1000, numbers) for shape in kept) else "O(d)"
