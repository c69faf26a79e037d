"""Names in formulas that were typed: which of them are symbols, and which are rather slips.

A model file says what it means by each name. On the command line ``--discount abc`` is as likely a
slip as a symbol, and would turn every number of the answer into a formula. Names of one letter and
Greek names, with an index or without, are symbols; others are where ``--symbol`` says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Annotated, Any

import typer

from obliquetd.errors import InputError, NumberError

__all__ = ["Symbols", "typed_symbols", "unsaid"]

Symbols = Annotated[
    list[str] | None,
    typer.Option(
        "--symbol",
        help="Take this name for a symbol in the formulas of other options. Greek and one-letter names "
        "are symbols without it. May be repeated.",
    ),
]
INDEX = re.compile(r"_?\d+$")


def unsaid(text: Any, known: Collection[str] = ()) -> list[str]:
    """The names in a formula that nobody said are symbols, in order; [] for what is no formula.

    Examples
    --------
    >>> unsaid("abc + gamma * p_1"), unsaid("abc", ["abc"]), unsaid("9/10")
    (['abc'], [], [])
    """
    from sympy.core.alphabets import greeks

    from obliquetd.algebra import parse_expression

    try:
        names = sorted(str(s) for s in parse_expression(str(text)).free_symbols)
    except NumberError:  # it is told of where the number is read
        return []
    plain = {*greeks, "lambda", *known}
    return [
        name
        for name in names
        if name not in plain and len(stem := INDEX.sub("", name)) > 1 and stem.lower() not in plain
    ]


def typed_symbols(option: str, text: Any, known: Collection[str]) -> None:
    """Ask whether a symbol was meant by a name that does not look like one.

    Raises
    ------
    InputError
        With the option that answers yes.
    """
    for name in unsaid(text, known):
        raise InputError(
            f"{option} {text}: {name!r} is no number. If a symbol is meant, say --symbol {name} as well, "
            "or use a Greek or one-letter name, such as gamma or p"
        )
