"""Numbers for symbols: put in all at once, with every entry that they break named.

An :class:`Entry` is one number of a model with its place and its role. A role says what
the number has to satisfy for the model to be one:

===========  ==================
probability  0 <= x <= 1
discount     0 <= x <= 1
weight       x >= 0
number       x is defined
===========  ==================
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import sympy as sp

from obliquetd.algebra import number_text, parse_number, public_number
from obliquetd.algebra.preimage import Limit, preimage
from obliquetd.algebra.roots import real_roots
from obliquetd.errors import DiscountError, InputError, NumberError, ProbabilityError
from obliquetd.mdp.table import Table

__all__ = [
    "RANGES",
    "Entry",
    "check_substitution",
    "substitute",
    "substitution",
    "valid_values",
    "zeros",
]

Role = Literal["probability", "discount", "weight", "number"]
RANGES: dict[Role, sp.Set] = {
    "probability": sp.Interval(0, 1),
    "discount": sp.Interval(0, 1),
    "weight": sp.Interval(0, sp.oo),
    "number": sp.S.Reals,
}
EXPECTED = {
    "probability": "a number between 0 and 1",
    "discount": "a number between 0 and 1",
    "weight": "0 or more",
    "number": "a number",
}
MOST_NAMED = 50


class Entry(NamedTuple):
    """One parsed number of a model: its place in words, its role and its value."""

    where: str
    role: Role
    value: Any


def substitute(value: Any, values: Mapping[Any, Any]) -> Any:
    """Numbers or formulas for symbols (by symbol or by name) in one parsed number.

    All symbols are replaced at once, so that ``{"p": "q", "q": "p"}`` exchanges them.

    Raises
    ------
    NumberError
        Where the formula divides by zero there, as p/(p + q) does at 0, 0.

    Examples
    --------
    >>> substitute(parse_number("p - 2*q"), {"p": "q", "q": "p"})
    -2*p + q
    """
    if not isinstance(value, sp.Basic):
        return value
    table = {str(k): v for k, v in values.items()}
    parsed = {
        s: public_number(parse_number(table[str(s)], f"the value of {s}"))
        for s in value.free_symbols
        if str(s) in table
    }
    if not parsed:
        return value
    above, below = _fraction(value)
    denominator = below.subs(parsed, simultaneous=True)
    if sp.expand(denominator) == 0:
        given = ", ".join(f"{s} = {number_text(x)}" for s, x in sorted(parsed.items(), key=str))
        raise NumberError(f"the formula {value} divides by zero at {given}")
    new = above.subs(parsed, simultaneous=True) / denominator
    return parse_number(new, f"the formula {value}")


def substitution(values: Mapping[Any, Any]) -> Callable[[Any], Any]:
    """:func:`substitute` for many numbers, each formula once."""
    done: dict[Any, Any] = {}

    def of(value: Any) -> Any:
        if not isinstance(value, sp.Basic):
            return value
        if value not in done:
            done[value] = substitute(value, values)
        return done[value]

    return of


def _fraction(value: Any) -> tuple[Any, Any]:
    """Numerator and denominator without a common factor; a polynomial stays as it is written."""
    if value.is_polynomial(*value.free_symbols):
        return value, sp.Integer(1)
    above, below = sp.fraction(sp.cancel(value))
    return above, below


def table_entries(table: Table, states: Sequence[Any], actions: Sequence[Any]) -> Iterator[Entry]:
    """Every formula in a transition table."""
    roles: tuple[tuple[str, Role, Any], ...] = (
        ("probability", "probability", table.probability),
        ("reward", "number", table.reward),
        ("discount", "discount", table.discount),
    )
    for name, role, values in roles:
        for i, value in enumerate(values.tolist() if values.dtype == object else ()):
            if isinstance(value, sp.Basic):
                s, t = states[table.state[i]], states[table.next_state[i]]
                where = f"the {name} of {s!r} -> {t!r} under {actions[table.action[i]]!r}"
                yield Entry(where, role, value)


def check_substitution(entries: Iterable[Entry], values: Mapping[Any, Any]) -> None:
    """Raise one error that names every entry for which the values are not right.

    Raises
    ------
    NumberError, ProbabilityError, DiscountError
        By the first entry of the list; all are in the message.
    """
    known: dict[tuple[Any, str], str | None] = {}
    found: list[tuple[Entry, str]] = []
    for entry in entries:
        if isinstance(entry.value, sp.Basic):
            key = (entry.value, entry.role)
            if key not in known:
                known[key] = _fault(entry, values)
            fault = known[key]
            if fault is not None:
                found.append((entry, fault))
    if not found:
        return
    listed = "; ".join(f"{entry.where} {fault}" for entry, fault in found[:MOST_NAMED])
    more = f"; and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    given = ", ".join(f"{k} = {_told(v)}" for k, v in values.items())
    message = (
        f"{given} gives no model: {listed}{more}. problem.valid_range(symbol) gives the "
        "values of a symbol for which there is one"
    )
    role = "number" if any("divides" in fault for _, fault in found) else found[0][0].role
    if role == "number":
        raise NumberError(message)
    raise (DiscountError if role == "discount" else ProbabilityError)(message)


def _told(value: Any) -> str:
    return value if isinstance(value, str) else number_text(parse_number(value))


def _fault(entry: Entry, values: Mapping[Any, Any]) -> str | None:
    """What is wrong with an entry once the values are in, or None."""
    try:
        new = substitute(entry.value, values)
    except NumberError as error:
        if "divides by zero" not in str(error):
            raise
        return f"divides by zero ({entry.value})"
    if isinstance(new, sp.Basic) or entry.role == "number":
        return None
    if new >= 0 and (entry.role == "weight" or new <= 1):
        return None
    return f"is {number_text(new)} ({entry.value}), expected {EXPECTED[entry.role]}"


def valid_values(
    entries: Iterable[Entry], symbol: sp.Symbol, holes: Collection[Any] = ()
) -> sp.Set:
    """The exact set of real values of a symbol for which every entry satisfies its role, without holes.

    Raises
    ------
    InputError
        Where an entry has another symbol beside it.

    Examples
    --------
    >>> p = sp.Symbol("p")
    >>> valid_values([Entry("p", "probability", 2 * p), Entry("q", "probability", 1 - 2 * p)], p)
    Interval(0, 1/2)
    """
    limits = []
    for where, role, value in entries:
        if not isinstance(value, sp.Basic) or symbol not in value.free_symbols:
            continue
        others = value.free_symbols - {symbol}
        if others:
            raise InputError(
                f"{where} is {value}, which has {', '.join(sorted(map(str, others)))} beside "
                f"{symbol}; a range needs {symbol} alone. Substitute numbers for the others with "
                "problem.subs"
            )
        limits.append(Limit(value, RANGES[role]))
    return preimage(limits, symbol, holes)


def zeros(value: Any, symbol: sp.Symbol) -> set[Any]:
    """The real zeros of a parsed number as a function of its only symbol."""
    numerator = sp.Poly(_fraction(sp.sympify(public_number(value)))[0], symbol)
    return set(real_roots(numerator)) if numerator.degree() > 0 else set()
