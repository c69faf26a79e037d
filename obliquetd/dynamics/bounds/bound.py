"""One theorem on one problem: its hypotheses, its bound, and the exact number that it bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import sympy as sp

from obliquetd.algebra import cell_text
from obliquetd.display import HtmlTable
from obliquetd.dynamics.bounds.hypotheses import Hypothesis
from obliquetd.dynamics.bounds.setting import Setting
from obliquetd.errors import HypothesisError, InputError
from obliquetd.frames import Tabular

__all__ = ["Bound", "Curve", "Point", "text_table"]


@dataclass(frozen=True)
class Point:
    """One step of a curve.

    Attributes
    ----------
    t : int, or infinity
    exact, bound, ratio : number
        ``ratio`` is bound / exact: 1 where the bound is attained.
    """

    t: Any
    exact: Any
    bound: Any
    ratio: Any


@dataclass(frozen=True, eq=False)
class Curve(HtmlTable, Tabular):
    """A bound laid over the exact curve.

    Attributes
    ----------
    name : str
    points : tuple of Point
    """

    name: str
    points: tuple[Point, ...]

    @property
    def worst_case(self) -> Point:
        """The step at which the bound is loosest."""
        return max(self.points, key=lambda p: sp.N(p.ratio))

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row a step: ``step``, ``exact``, ``bound`` and ``ratio``."""
        for p in self.points:
            yield {"step": p.t, "exact": p.exact, "bound": p.bound, "ratio": p.ratio}

    def cells(self) -> list[list[str]]:
        """The table as text, a heading first."""
        rows = [[str(p.t), *map(cell_text, (p.exact, p.bound, p.ratio))] for p in self.points]
        return [["t", "exact", "bound", "ratio"], *rows]

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        heading, *rows = self.cells()
        return self.name, heading, rows

    def __iter__(self) -> Any:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def __str__(self) -> str:
        return text_table(self.cells())


class Bound(ABC):
    """A theorem on a problem; abstract. A subclass states it, and proves it in its docstring.

    One of your own is shown beside the others with ``bounds(problem, learner, also=[Mine])``.

    Attributes
    ----------
    name : str
        By which :func:`obliquetd.bounds` knows it.
    quantity : str
        What is bounded.
    source : str
    first : int or infinity
        The first step that it speaks of; infinity where it is about the limit.
    """

    name: ClassVar[str]
    quantity: ClassVar[str]
    source: ClassVar[str]
    first: ClassVar[Any] = 0

    def __init__(self, at: Setting) -> None:
        self.at = at

    @abstractmethod
    def _requires(self) -> Iterable[Hypothesis]:
        """The hypotheses, the basic ones first."""

    @abstractmethod
    def _bound(self, t: Any) -> Any:
        """The bound at step t where all hypotheses hold."""

    @abstractmethod
    def _exact(self, t: Any) -> Any:
        """The exact number at step t."""

    def _ratio(self, t: Any) -> Any:
        """Bound / exact, where exact is not 0."""
        return self._bound(t) / self._exact(t)

    @cached_property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What the theorem requires; up to the first that fails, since others may build on it."""
        out: list[Hypothesis] = []
        for each in self._requires():
            out.append(each)
            if not each.holds:
                break
        return tuple(out)

    @property
    def holds(self) -> bool:
        """Whether every hypothesis holds, so that there is a bound."""
        return self.hypotheses[-1].holds

    def require(self) -> None:
        """HypothesisError where a hypothesis fails."""
        if self.holds:
            return
        failed = self.hypotheses[-1]
        raise HypothesisError(
            f"{self.name} ({self.source}) says nothing here. {failed.requires} Here the "
            f"{failed.name} hypothesis fails: {failed.found}; {failed.way_out}",
            self.name,
            failed.name,
            failed.value,
        )

    def bound(self, t: Any = None) -> Any:
        """The bound at step t, public; t may be left out where it is about the limit.

        Raises
        ------
        HypothesisError
            Where a hypothesis fails.
        """
        self.require()
        return self._bound(self._step(t))

    def exact(self, t: Any = None) -> Any:
        """The exact number that is bounded, at step t, public; errors as for :meth:`bound`."""
        self.require()
        return self._exact(self._step(t))

    def ratio(self, t: Any = None) -> Any:
        """How loose the bound is at step t: bound / exact; 1 where both are 0."""
        bound, exact = self.bound(t), self.exact(t)
        if exact == 0:
            infinite = float("inf") if isinstance(exact, float) else sp.oo
            return exact + 1 if bound == 0 else infinite
        return self._ratio(self._step(t))

    def curve(self, steps: int | None = None) -> Curve:
        """The bound over the exact curve, from its first step to ``steps``.

        Of a bound on the limit, one point; ``steps`` may be left out then.
        """
        if self.first == sp.oo:
            steps_shown: Iterable[Any] = [sp.oo]
        else:
            steps_shown = range(self.first, self._step(steps) + 1)
        points = [Point(t, self.exact(t), self.bound(t), self.ratio(t)) for t in steps_shown]
        return Curve(self.name, tuple(points))

    def _step(self, t: Any) -> Any:
        if self.first == sp.oo:
            if t not in (None, sp.oo, float("inf")):
                raise InputError(
                    f"{self.name} bounds the limit, and step {t!r} was asked for; leave the step out"
                )
            return sp.oo
        if not isinstance(t, int) or isinstance(t, bool) or t < self.first:
            raise InputError(
                f"step {t!r} was asked of {self.name}; expected an integer of at least {self.first}"
            )
        return t

    def __repr__(self) -> str:
        failed = "" if self.holds else f", but {self.hypotheses[-1].name} fails"
        return f"{type(self).__name__}({self.name!r}, bounds {self.quantity}{failed})"


def text_table(cells: list[list[str]]) -> str:
    """Columns of text, the first to the left."""
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells
    )
