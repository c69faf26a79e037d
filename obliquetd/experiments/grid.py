"""Grids of learners: every combination of step sizes and trace parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from obliquetd.algebra import number_text, parse_number, quoted
from obliquetd.errors import InputError, NumberError
from obliquetd.learners import Learner

__all__ = ["TABLE_2", "grid", "label"]

TABLE_2 = {
    "alpha": tuple(
        sorted(
            [float(f"1e-{k}") for k in range(1, 8)]
            + [float(f"{k}e-6") for k in (2, 2.5, 3, 5, 7, 9)]  # 2.5 * 1e-6 is another float
            + [float(f"{k}e-4") for k in (2, 4, 6, 8)]
            + [k / 1000 for k in range(2, 10)]
            + [k / 100 for k in range(2, 10)]
            + [0.2, 0.3, 0.4, 0.5, 0.6]
        )
    ),
    "mu": (1e-4, 1e-3, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 4.0, 8.0, 16.0),
    "lam": (0.4, 0.8),
}
"""The values of the paper's Table II."""


def grid(
    kinds: type[Learner] | Iterable[type[Learner]],
    alpha: Sequence[Any],
    mu: Sequence[Any] = (1,),
    lam: Sequence[Any] = (0,),
) -> list[Learner]:
    """Every combination of the given values.

    Parameters
    ----------
    kinds : learner class or several
    alpha, mu, lam : sequence of number
        ``mu`` is used by the learners with two step sizes, ``lam`` by those with a trace.

    Returns
    -------
    list of Learner
        Of one class after the other, without repetitions.

    Raises
    ------
    NumberError
        A step size that is not positive.
    InputError
        An empty sequence, a class that is no learner, or a lam outside [0, 1].

    Examples
    --------
    >>> from obliquetd.learners import GTD2, TD
    >>> [label(x) for x in grid([TD, GTD2], alpha=[0.1, 0.2], mu=[1, 4])]
    ['TD alpha=0.1', 'TD alpha=0.2', 'GTD2 alpha=0.1 mu=1', 'GTD2 alpha=0.1 mu=4', 'GTD2 alpha=0.2 mu=1', 'GTD2 alpha=0.2 mu=4']
    """
    values = {"alpha": alpha, "mu": mu, "lam": lam}
    for name, given in values.items():
        if isinstance(given, str) or not isinstance(given, Sequence) or not len(given):
            raise InputError(f"{name} is {given!r}; expected a sequence of numbers, not empty")
    out: dict[Learner, None] = {}
    for kind in [kinds] if isinstance(kinds, type) else kinds:
        if not (isinstance(kind, type) and issubclass(kind, Learner)):
            raise InputError(f"{kind!r} is no learner class; expected one such as TD")
        known = {field.name for field in fields(kind) if field.init}  # type: ignore[arg-type]
        taken = [name for name in values if name in known]
        for combination in itertools.product(*(values[name] for name in taken)):
            out[kind(**dict(zip(taken, combination, strict=True)))] = None
    return list(out)


def label(learner: Learner) -> str:
    """A learner's name with its settings: the step sizes, and what differs from the default.

    Examples
    --------
    >>> from obliquetd.learners import GTD2, TD
    >>> label(TD("1/3", lam=0.5)), label(GTD2(0.1, secondary="weighted"))
    ('TD alpha=1/3 lam=0.5', 'GTD2 alpha=0.1 mu=1 secondary=weighted')
    """
    shown = {k: v for k, v in settings_of(learner).items() if v is not None}
    return " ".join([learner.name, *(f"{k}={setting_text(v)}" for k, v in shown.items())])


def settings_of(learner: Learner) -> dict[str, Any]:
    """alpha and mu, and every other field that is not at its default."""
    known = [field for field in fields(learner) if field.init]  # type: ignore[arg-type]
    found = {field.name: getattr(learner, field.name) for field in known}
    for field in known:
        if field.name not in ("alpha", "mu") and _is_default(found[field.name], field.default):
            del found[field.name]
    return found


def _is_default(value: Any, default: Any) -> bool:
    if isinstance(value, str) or callable(value):
        return bool(value == default)
    try:
        return bool(parse_number(value) == parse_number(default))
    except NumberError:
        return value is default


def setting_text(value: Any) -> str:
    """A setting as text: a number in full, a schedule by its name."""
    if callable(value):
        plain = getattr(value, "__name__", None)
        return plain or (repr(value) if " at 0x" not in repr(value) else type(value).__name__)
    if isinstance(value, str):
        try:
            value = parse_number(value)
        except NumberError:
            return str(value)
    number = parse_number(value)
    short = number_text(number)
    return short if not isinstance(number, float) or float(short) == number else quoted(number)
