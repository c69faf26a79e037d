"""What each learner is, read from its class: for ``obliquetd learners`` and the README's table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from obliquetd.errors import InputError
from obliquetd.frames import Row, Table
from obliquetd.learners.base import Learner, Parameter, parameters
from obliquetd.learners.check import check
from obliquetd.learners.state import Square, shapes

__all__ = ["Entry", "entry", "table"]


@dataclass(frozen=True)
class Entry(Row):
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

    def row(self) -> dict[str, Any]:
        """The learner in the table of :func:`obliquetd.learners.table`."""
        data = {f.name: getattr(self, f.name) for f in fields(self)}
        return {**data, "numbers": ", ".join(f"{p.name}={p.default}" for p in self.numbers)}

    def as_dict(self) -> dict[str, Any]:
        """As JSON data."""
        data = {f.name: getattr(self, f.name) for f in fields(self)}
        numbers = {p.name: {"default": str(p.default), "is": p.told} for p in self.numbers}
        return {**data, "numbers": numbers}


def table(kinds: Iterable[type[Learner]] | None = None) -> Table[Entry]:
    """What each learner is: those of the package, or the classes that are given.

    Parameters
    ----------
    kinds : iterable of classes, optional

    Returns
    -------
    Table of Entry
        A list; ``.rows()`` and ``.to_frame()`` have one row a learner.

    Examples
    --------
    >>> from obliquetd.learners import TD, TDC
    >>> [(row["key"], row["cost"], row["numbers"]) for row in table([TD, TDC]).rows()]
    [('td', 'O(d)', 'lam=0'), ('tdc', 'O(d)', 'mu=1, lam=0, secondary=plain')]
    """
    if kinds is None:
        from obliquetd.learners import LEARNERS  # made of the modules that may import this one

        kinds = LEARNERS.values()
    listed: list[Any] = list(kinds) if isinstance(kinds, Iterable) else [kinds]
    for kind in listed:
        if not (isinstance(kind, type) and issubclass(kind, Learner)):
            raise InputError(f"{kind!r} is no learner class; expected one such as TD")
    return Table(entry(kind) for kind in listed)


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
