"""What makes a table one of an MDP: probabilities in [0, 1] that sum to one, discounts in [0, 1]."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import (
    misses_one_by_rounding,
    number_text,
    parse_number,
    public_number,
    quoted,
)
from obliquetd.algebra.factoring import factored
from obliquetd.algebra.numbers import ROW_ROUNDING
from obliquetd.errors import DiscountError, NumberError, ProbabilityError
from obliquetd.mdp.table import Column, Table, column, distinct, plus

__all__ = [
    "check_table",
    "normalized",
    "parse_tolerance",
    "say_sum",
    "sums_to_one",
    "within_tolerance",
]


def check_table(
    table: Table,
    states: Sequence[Hashable],
    actions: Sequence[Hashable],
    tolerance: Any = None,
) -> None:
    """Every probability in [0, 1], every (state, action) summing to one, discounts in [0, 1].

    ``tolerance`` is what :func:`normalized` was given: a row that is still off missed it.

    Formulas are checked after simplification (their sums); their signs are checked
    when numbers are substituted.
    """
    for i in _outside_unit(table.probability):
        raise ProbabilityError(
            f"probability {quoted(table.probability[i])} of the transition {states[table.state[i]]!r} "
            f"-> {states[table.next_state[i]]!r} under action {actions[table.action[i]]!r}; "
            "expected a number between 0 and 1",
            state=states[table.state[i]],
            action=actions[table.action[i]],
            total=public_number(table.probability[i]),
        )
    for i in _outside_unit(table.discount):
        raise DiscountError(
            f"discount {quoted(table.discount[i])} of the transition {states[table.state[i]]!r} -> "
            f"{states[table.next_state[i]]!r} under action {actions[table.action[i]]!r}; expected "
            "a number between 0 and 1"
        )
    for (s, a), total in _off_one(table):
        raise ProbabilityError(
            f"state {states[s]!r}, action {actions[a]!r}: the probabilities "
            f"{say_sum(total, tolerance)}. Correct the row, or pass normalize=True (--normalize on "
            "the command line) to divide it by its sum"
            + (", without a tolerance" if tolerance is not None else ""),
            state=states[s],
            action=actions[a],
            total=public_number(total),
        )


def _off_one(table: Table) -> Iterator[tuple[tuple[int, int], Any]]:
    """The (state, action) whose probabilities do not sum to one, and their sums."""
    if table.probability.dtype != float or not len(table):
        yield from (
            (k, total) for k, total, terms in pair_sums(table) if not sums_to_one(total, terms)
        )
        return
    begin = table.starts
    totals = np.add.reduceat(table.probability, begin)
    gaps = np.abs(totals - 1.0)
    if (gaps <= 2 * ROW_ROUNDING).all():  # what rows of two may miss, and longer ones
        return
    terms = np.diff(begin, append=len(table))
    for i in np.flatnonzero(~(gaps <= ROW_ROUNDING * np.maximum(terms, 2))):
        at = begin[i]
        yield (int(table.state[at]), int(table.action[at])), float(totals[i])


def pair_sums(table: Table) -> Iterable[tuple[tuple[int, int], Any, int]]:
    """For each (state, action): the sum of its probabilities and the number of rows."""
    pairs = table.pairs()
    if table.probability.dtype == float and pairs:
        sums: list[Any] = np.add.reduceat(table.probability, [b for b, _ in pairs]).tolist()
    else:
        sums = []
        for b, e in pairs:
            total = table.probability[b]
            for value in table.probability[b + 1 : e]:
                total = plus(total, value)
            sums.append(total)
    for (b, e), total in zip(pairs, sums, strict=True):
        yield (int(table.state[b]), int(table.action[b])), total, e - b


def sums_to_one(total: Any, terms: int) -> bool:
    """Exactly one; for floats, one up to rounding; for formulas, one after simplification."""
    if isinstance(total, float):
        return misses_one_by_rounding(total, terms)
    if isinstance(total, sp.Basic):
        return bool(sp.cancel(total - 1) == 0)
    return bool(total == 1)


def parse_tolerance(tolerance: Any) -> Any:
    """How far from one a row may be to be divided by its sum; None is no limit.

    Raises
    ------
    NumberError
        Where it is negative or no number.
    """
    if tolerance is None:
        return None
    limit = parse_number(tolerance, "the tolerance")
    if isinstance(limit, sp.Basic) or limit < 0:
        raise NumberError(
            f"the tolerance is {number_text(limit)}; expected a number of 0 or more, such as 1e-6"
        )
    return limit


def within_tolerance(total: Any, tolerance: Any) -> bool:
    """Whether a row of this sum is to be divided by it; a formula is where there is no limit."""
    if tolerance is None:
        return True
    return not isinstance(total, sp.Basic) and bool(_gap(total) <= public_number(tolerance))


def normalized(table: Table, tolerance: Any = None) -> Table:
    """Each (state, action) divided by its sum; only ever on the user's word.

    Rows whose sum misses one by more than ``tolerance`` (parsed) are left as they are, for
    :func:`check_table` to refuse.
    """
    if table.probability.dtype == float and tolerance is None and len(table):
        begin = table.starts
        totals = np.add.reduceat(table.probability, begin)
        if (totals == 0).any():
            raise NumberError("cannot normalize a row of probabilities that sums to 0")
        shared = np.repeat(totals, np.diff(begin, append=len(table)))
        divided = table.probability / shared
        return Table(
            table.state, table.action, table.next_state, divided, table.reward, table.discount
        )
    factors: dict[tuple[int, int], Any] = {k: total for k, total, _ in pair_sums(table)}
    out = []
    for s, a, p in zip(
        table.state.tolist(), table.action.tolist(), table.probability.tolist(), strict=True
    ):
        total = factors[s, a]
        if total == 0:
            raise NumberError("cannot normalize a row of probabilities that sums to 0")
        if within_tolerance(total, tolerance):
            p = parse_number(public_number(p) / public_number(total))
        out.append(p)
    return Table(
        table.state, table.action, table.next_state, column(out), table.reward, table.discount
    )


def _outside_unit(values: Column) -> list[int]:
    if values.dtype == float:
        if not len(values) or (values.min() >= 0 and values.max() <= 1 + ROW_ROUNDING):
            return []
        return np.flatnonzero((values < 0) | (values > 1 + ROW_ROUNDING)).tolist()
    return [
        i
        for i, v in enumerate(distinct(values).tolist())
        if not isinstance(v, sp.Basic)
        and (v < 0 or v > (1 + ROW_ROUNDING if type(v) is float else 1))
    ]


def say_sum(total: Any, tolerance: Any = None) -> str:
    """That the probabilities of a row sum to that, by how much it misses one, and what was expected.

    Examples
    --------
    >>> say_sum(0.9999999999)
    'sum to 0.9999999999, off by 1e-10; expected 1'
    """
    within = "" if tolerance is None else f" to within the tolerance {quoted(tolerance)}"
    return f"sum to {quoted(total)}, off by {number_text(_gap(total))}; expected 1{within}"


def _gap(total: Any) -> Any:
    if isinstance(total, sp.Basic):
        return factored(total - 1)
    gap = public_number(total) - 1
    return -gap if gap < 0 else gap
