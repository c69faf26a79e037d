"""What a log is made of, read once: columns and tables of numbers, ratios, beginnings.

A column keeps what came in beside its floats, so that rationals stay exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sympy as sp

from obliquetd.algebra import FLOAT, parse_number, quoted
from obliquetd.errors import CoverageError, FeatureError, InputError, KindError, NumberError

__all__ = ["Column", "Place", "Ratios", "read_column", "read_flags", "read_ratios", "read_table"]

Floats = npt.NDArray[np.float64]
Place = Callable[[int], str]
"""What an error calls an entry of a column."""

SLACK = 1e-6
"""How far above 1 rounding may bring a float probability, such as one in 32 bits."""


@dataclass(frozen=True, eq=False)
class Column:
    """T numbers (or T rows of d of them): as floats, and as they came.

    Attributes
    ----------
    floats : array (T,) or (T, d)
    given : sequence, or array of machine numbers
        The same numbers, rationals exact.
    """

    floats: Floats
    given: Sequence[Any] | npt.NDArray[Any]

    def numbers(self) -> list[Any]:
        """Native numbers of the package: rationals exact, floats as they are."""
        if isinstance(self.given, np.ndarray):
            listed: list[Any] = self.given.tolist()
            if self.given.dtype.kind == "f":
                return listed
            wide = self.given.ndim == 2
            return [[parse_number(x) for x in row] if wide else parse_number(row) for row in listed]
        return list(self.given)

    @property
    def has_floats(self) -> bool:
        """Whether one of them is a float."""
        if isinstance(self.given, np.ndarray):
            return self.given.dtype.kind == "f"
        rows = self.given if self.floats.ndim == 2 else [self.given]
        return any(isinstance(x, float) for row in rows for x in row)

    def check(self, good: npt.NDArray[np.bool_], wanted: str, place: Place) -> None:
        """InputError that names the first entry that is not good."""
        bad = np.flatnonzero(~good)
        if bad.size:
            k = int(bad[0])
            raise InputError(f"{place(k)} is {quoted(self.numbers()[k])}; expected {wanted}")

    def over(self, other: Column) -> Column:
        """The quotient, exact where both numbers are."""
        pairs = zip(self.numbers(), other.numbers(), strict=True)
        given = [
            FLOAT.scalar(a) / FLOAT.scalar(b) if isinstance(a, float) or isinstance(b, float) else a / b
            for a, b in pairs
        ]  # fmt: skip
        return Column(FLOAT.scalars(np.array(given, dtype=object)), given)


def read_column(values: Any, name: str, steps: int, place: Place | None = None) -> Column:
    """A number for each of the steps, or one for all of them.

    Raises
    ------
    FeatureError
        Where there are more or fewer.
    NumberError, KindError
        Where an entry is no finite number, or has symbols.
    """
    place = place or (lambda k: f"{name}[{k}]")
    if np.ndim(values) == 0 and not isinstance(values, Mapping | set | frozenset):
        number = _number(values, name)
        return Column(np.full(steps, FLOAT.scalar(number)), [number] * steps)
    array = _array(values)
    shape = (len(values),) if array is None else array.shape
    if shape != (steps,) or isinstance(values, Mapping | set | frozenset):
        raise FeatureError(f"{name} has shape {shape}; phi has {steps} rows")
    if array is not None:
        floats = array.astype(float)
        _finite(floats, place)
        return Column(floats, array)
    given = [_number(x, place(k)) for k, x in enumerate(values)]
    return Column(FLOAT.scalars(np.array(given, dtype=object)), given)


def read_table(values: Any, name: str) -> Column:
    """A row of d numbers for each step.

    Raises
    ------
    FeatureError
        Where rows disagree in length, or there are none.
    NumberError, KindError
        Where an entry is no finite number, or has symbols.
    """
    array = _array(values)
    if array is not None:
        if array.ndim != 2 or not array.size:
            raise FeatureError(f"{name} has shape {array.shape}; expected (T, d)")
        floats = array.astype(float)
        _finite(floats, lambda k: f"{name}[{k // array.shape[1]}, {k % array.shape[1]}]")
        return Column(floats, array)
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise FeatureError(f"{name} is {str(values)[:60]!r}; expected rows of numbers, (T, d)")
    rows = [_row(row) for row in values]
    if (
        any(row is None or len(row) != len(rows[0] or ()) for row in rows)
        or not rows
        or not rows[0]
    ):
        raise FeatureError(f"{name} is ragged or holds no rows; expected shape (T, d)")
    given = [
        [_number(x, f"{name}[{k}, {j}]") for j, x in enumerate(row or ())]
        for k, row in enumerate(rows)
    ]
    return Column(np.array([[FLOAT.scalar(x) for x in row] for row in given]), given)


def read_flags(values: Any, name: str, steps: int) -> npt.NDArray[np.bool_]:
    """A truth value for each step: True, False, 1 or 0.

    Raises
    ------
    FeatureError, InputError
    """
    if isinstance(values, np.ndarray) and values.dtype == np.bool_ and values.shape == (steps,):
        return values.copy()
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"{name} is {values!r}; expected True or False for each of {steps} rows")
    listed = list(values.tolist() if isinstance(values, np.ndarray) else values)
    if len(listed) != steps:
        raise FeatureError(f"{name} has {len(listed)} entries; phi has {steps} rows")
    for k, x in enumerate(listed):
        if not isinstance(x, bool | np.bool_ | int | float | np.number) or x not in (0, 1):
            raise InputError(f"{name}[{k}] is {x!r}; expected True or False")
    return np.array(listed, dtype=np.bool_)


class Ratios(NamedTuple):
    """Importance ratios, and the probabilities that they are made of, where these are known."""

    rho: Column
    pi: Column | None = None
    mu: Column | None = None


def read_ratios(
    rho: Any, target: Any, behavior: Any, steps: int, places: Mapping[str, Place] | None = None
) -> Ratios:
    """Importance ratios: given, or of the probabilities of the actions taken, or 1 on-policy.

    Raises
    ------
    InputError
        For both, for one probability without the other, or for what is none.
    CoverageError
        Where a logged action has behaviour probability 0.
    """
    named = {
        name: (places or {}).get(name) or _place(name) for name in ("rho", "target", "behavior")
    }
    if rho is not None:
        if target is not None or behavior is not None:
            raise InputError(
                "rho came beside probabilities; give either rho, or target and behavior"
            )
        ratios = read_column(rho, "rho", steps, named["rho"])
        ratios.check(ratios.floats >= 0, "a ratio of probabilities, 0 or more", named["rho"])
        return Ratios(ratios)
    if target is None and behavior is None:
        return Ratios(read_column(1, "rho", steps))
    if target is None or behavior is None:
        missing = "target" if target is None else "behavior"
        raise InputError(
            f"there are no {missing} probabilities; give both target and behavior, or rho (rho=1 "
            "on-policy)"
        )
    pi, mu = (
        read_column(values, name, steps, named[name])
        for name, values in (("target", target), ("behavior", behavior))
    )
    for name, chances in (("target", pi), ("behavior", mu)):
        good = (chances.floats >= 0) & (chances.floats <= 1 + SLACK)
        chances.check(good, "a probability in [0, 1]", named[name])
    never = np.flatnonzero(mu.floats == 0)
    if never.size:
        row = int(never[0])
        raise CoverageError(
            f"{named['behavior'](row)} is 0, yet its action was taken; a logged action has a positive "
            "behaviour probability",
            [(row, None)],
        )
    return Ratios(pi.over(mu), pi, mu)


def _place(name: str) -> Place:
    return lambda k: f"{name}[{k}]"


def _number(value: Any, where: str) -> Any:
    number = parse_number(value, where)
    if isinstance(number, sp.Basic):
        raise KindError(f"{where} is {number}; a log holds numbers, and no symbols")
    return number


def _array(values: Any) -> npt.NDArray[Any] | None:
    """A copy as an array of machine numbers; None where entries have to be read one by one."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        array = np.array(values)
    except (TypeError, ValueError, OverflowError):
        return None
    if array.dtype.kind == "b" and array.ndim == 2:  # features that are there or not
        return array.astype(np.int64)
    return array if array.dtype.kind in "fiu" else None


def _row(row: Any) -> list[Any] | None:
    if isinstance(row, str | Mapping) or not isinstance(row, Iterable):
        return None
    return list(row)


def _finite(values: Floats, place: Place) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        k = int(bad[0])
        raise NumberError(f"{place(k)} is {values.flat[k]}; expected a finite number")
