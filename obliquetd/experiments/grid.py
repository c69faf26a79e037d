"""Grids of learners: every combination of step sizes and trace parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from obliquetd.algebra import number_text, parse_number, quoted
from obliquetd.errors import InputError, NumberError
from obliquetd.learners import Learner, parameters

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
    mu: Sequence[Any] | None = None,
    lam: Sequence[Any] | None = None,
    **settings: Sequence[Any],
) -> list[Learner]:
    """Every combination of the given values.

    Parameters
    ----------
    kinds : learner class or several
    alpha, mu, lam, **settings : sequence of number
        Of any setting that a learner declares, such as ``secondary=["plain", "weighted"]``. Each
        is used by the learners that have it, and by default they keep their own.

    Returns
    -------
    list of Learner
        Of one class after the other, without repetitions.

    Raises
    ------
    NumberError
        A step size that is not positive.
    InputError
        An empty sequence, a class that is no learner, a number outside its domain, or a setting
        that none of several learners has, or that one alone does not have.

    Examples
    --------
    >>> from obliquetd.learners import GTD2, TD
    >>> [label(x) for x in grid([TD, GTD2], alpha=[0.1, 0.2], mu=[1, 4])]
    ['TD alpha=0.1', 'TD alpha=0.2', 'GTD2 alpha=0.1 mu=1', 'GTD2 alpha=0.1 mu=4', 'GTD2 alpha=0.2 mu=1', 'GTD2 alpha=0.2 mu=4']
    """
    given = {"mu": mu, "lam": lam}
    values = {"alpha": alpha, **{k: v for k, v in given.items() if v is not None}, **settings}
    for name, chosen in values.items():
        if isinstance(chosen, str) or not isinstance(chosen, Sequence) or not len(chosen):
            raise InputError(f"{name} is {chosen!r}; expected a sequence of numbers, not empty")
    out: dict[Learner, None] = {}
    if not isinstance(kinds, type | Iterable):
        raise InputError(f"{kinds!r} is no learner class; expected one such as TD")
    classes: list[type[Learner]] = [kinds] if isinstance(kinds, type) else list(kinds)
    known: dict[type[Learner], list[str]] = {}
    for kind in classes:
        if not (isinstance(kind, type) and issubclass(kind, Learner)):
            raise InputError(f"{kind!r} is no learner class; expected one such as TD")
        known[kind] = ["alpha", *(p.name for p in parameters(kind))]
    for name in values:
        if classes and not any(name in names for names in known.values()):
            raise InputError(
                f"{name} is given, and none of {', '.join(k.name for k in classes)} has it; leave it out"
            )
    for kind in classes:
        taken = [name for name in values if name in known[kind]]
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
    """alpha, second step sizes, and every other setting that is not at its default."""
    found = {"alpha": learner.alpha}
    for p in parameters(type(learner)):
        value = getattr(learner, p.name)
        if p.shown or not _is_default(value, p.default):
            found[p.name] = value
    return found


def columns_of(kinds: Iterable[type[Learner]]) -> list[str]:
    """alpha, and each declared number; the longest declaration gives the order."""
    declared = sorted((parameters(kind) for kind in dict.fromkeys(kinds)), key=len, reverse=True)
    return list(
        dict.fromkeys(["alpha", *(p.name for row in declared for p in row if not p.choices)])
    )


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
    if isinstance(value, Mapping):
        return str(value)
    if isinstance(value, str):
        try:
            value = parse_number(value)
        except NumberError:
            return str(value)
    number = parse_number(value)
    short = number_text(number)
    return short if not isinstance(number, float) or float(short) == number else quoted(number)
