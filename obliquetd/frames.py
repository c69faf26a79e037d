"""Tables that go on: every tabular answer as rows, and as a frame of pandas.

A class that mixes in :class:`Tabular` says what its rows are; :class:`Table` is a list whose members
are rows already. A row is a dictionary, and the rows of one answer have their columns in one order.
Exact numbers stay the exact objects that they are, so that a column of rationals can be summed
without rounding; ``floats=True`` rounds them all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeVar

import sympy as sp

from obliquetd.errors import InputError, KindError, how_to_install

__all__ = ["Row", "Table", "Tabular", "frame_of"]


class Tabular(ABC):
    """Something that is rows of named cells; abstract."""

    @abstractmethod
    def rows(self) -> Iterable[dict[str, Any]]:
        """The rows, each a dictionary of cells by column; a cell that does not exist is None."""

    def to_frame(self, *, floats: bool = False) -> Any:
        """The rows as a ``pandas.DataFrame`` (extra ``frames``).

        Parameters
        ----------
        floats : bool
            Round exact numbers to floats. They are sympy's objects otherwise, in columns of the
            dtype ``object``.

        Raises
        ------
        InputError
            Where pandas is not installed.
        KindError
            For formulas with symbols that should be floats.
        """
        return frame_of(self.rows(), floats=floats)


class Row(ABC):
    """What can be a member of a :class:`Table`; abstract."""

    @abstractmethod
    def row(self) -> dict[str, Any]:
        """The cells by column."""


Member = TypeVar("Member", bound=Row)


class Table(list[Member], Tabular):
    """A list whose members are the rows of a table.

    Examples
    --------
    >>> from obliquetd import verify
    >>> [row["verdict"] for row in verify(["lemma-1"]).rows()]
    ['proved']
    """

    def rows(self) -> Iterator[dict[str, Any]]:
        """The row of each member."""
        return (member.row() for member in self)


def frame_of(rows: Iterable[Mapping[str, Any]], *, floats: bool = False) -> Any:
    """A ``pandas.DataFrame`` of rows, its columns in the order in which they are first met.

    Exact numbers are never turned into floats unless ``floats`` is True: a column that holds one has
    the dtype ``object``, where a missing cell is None. In any other column pandas chooses the dtype.

    Raises
    ------
    InputError
        Where pandas is not installed.
    KindError
        For a formula with symbols that should be a float; names its row and column.

    Examples
    --------
    >>> frame_of([{"x": sp.Rational(1, 3)}, {"x": sp.Rational(1, 6)}])["x"].sum()
    1/2
    >>> frame_of([{"x": sp.Rational(1, 4), "n": 3}], floats=True).to_dict("list")
    {'x': [0.25], 'n': [3]}
    """
    try:
        import pandas
    except ImportError:
        raise InputError(
            f"a frame needs pandas, which is not installed; {how_to_install('pandas>=2.2', 'frames')}. "
            "The same rows are in .rows(), which needs nothing"
        ) from None
    listed = list(rows)
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for row in listed for name in row):
        cells = [row.get(name) for row in listed]
        if floats:
            cells = [_float(cell, k, name) for k, cell in enumerate(cells)]
        exact = any(isinstance(cell, sp.Basic | Fraction) for cell in cells)
        columns[name] = pandas.Series(cells, dtype=object if exact else None)
    return pandas.DataFrame(columns)


def _float(cell: Any, row: int, column: str) -> Any:
    """An exact number as a float; anything else as it is."""
    if not isinstance(cell, sp.Basic | Fraction):
        return cell
    symbols = sorted(map(str, getattr(cell, "free_symbols", ())))
    if symbols:
        values = ", ".join(f"{name!r}: ..." for name in symbols)
        raise KindError(
            f"row {row} of the column {column!r} is a formula in {', '.join(symbols)} and no float; put "
            f"numbers in with problem.subs({{{values}}}), or leave out floats=True"
        )
    return float(cell)
