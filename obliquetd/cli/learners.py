"""Learners at the command line: by key or from a file, and their numbers as options.

``--learner setd`` is a learner of the package, ``--learner my_rule.py:HTD`` a class of a file.
Each number that a learner of the package declares is an option of its own; ``--number`` gives
those that a rule of the user's declares.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from obliquetd.cli.common import choices
from obliquetd.cli.symbols import typed_symbols
from obliquetd.errors import InputError, LearnerError, did_you_mean
from obliquetd.learners import LEARNERS, Learner, Parameter, learner_class, parameters
from obliquetd.learners.check import require_averageable, require_runnable
from obliquetd.problem import PolicyEvaluation

__all__ = [
    "DECLARED",
    "KEYS",
    "OR_A_FILE",
    "complete",
    "is_file",
    "kind_of",
    "labelled",
    "made",
    "paths",
    "with_numbers",
    "write_card",
]

KEYS = ", ".join(LEARNERS)
OR_A_FILE = "or a class of a Python file, as in my_rule.py:HTD"
complete = choices(*LEARNERS)
PANEL = "Numbers of the learners"


def declared(kinds: Iterable[type[Learner]]) -> dict[str, list[tuple[type[Learner], Parameter]]]:
    """Every declared number by its name, with the classes that declare it."""
    found: dict[str, list[tuple[type[Learner], Parameter]]] = {}
    for kind in kinds:
        for parameter in parameters(kind):
            found.setdefault(parameter.name, []).append((kind, parameter))
    return found


DECLARED = declared(LEARNERS.values())


def _help(name: str) -> str:
    owners = [kind.name for kind, _ in DECLARED[name]]
    first = DECLARED[name][0][1]
    told = f"{first.meaning} ({first.expected})" if first.meaning else first.expected
    default = "not set" if first.default is None else first.default
    return f"{told[0].upper()}{told[1:]}. Default: {default}. Read by {', '.join(owners)}."


def _option(name: str) -> inspect.Parameter:
    words = DECLARED[name][0][1].choices
    flag = f"--{name.replace('_', '-')}"
    info = typer.Option(
        flag, help=_help(name), rich_help_panel=PANEL, autocompletion=choices(*words)
    )
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, info]
    )


NUMBER = inspect.Parameter(
    "number", inspect.Parameter.KEYWORD_ONLY, default=None,
    annotation=Annotated[
        list[str] | None,
        typer.Option(
            "--number", rich_help_panel=PANEL,
            help="A number that only a learner from a file of your own declares, as NAME=VALUE. "
            "May be repeated.",
        ),
    ],
)  # fmt: skip


def with_numbers(command: Callable[..., None]) -> Callable[..., None]:
    """A command with an option for each declared number, which it is given as ``numbers``."""

    @functools.wraps(command)
    def wrapped(**arguments: Any) -> None:
        given = {name: arguments.pop(name) for name in DECLARED}
        numbers = {name: value for name, value in given.items() if value is not None}
        for text in arguments.pop("number") or ():
            name, equals, value = (part.strip() for part in text.partition("="))
            if not (equals and name and value):
                raise InputError(f"--number {text!r}; expected NAME=VALUE, as in kappa=1/5")
            if name in numbers:
                raise InputError(f"{name} is given twice, as {numbers[name]} and as {value}")
            numbers[name] = value
        if "symbol" in arguments:  # a command that has the option that the question names
            for name, value in numbers.items():
                if not any(p.choices for _, p in DECLARED.get(name, ())):
                    typed_symbols(f"--{name.replace('_', '-')}", value, arguments["symbol"] or ())
        command(**arguments, numbers=numbers)

    signature = inspect.signature(command, eval_str=True)
    own = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for p in signature.parameters.values()
        if p.name != "numbers"
    ]
    wrapped.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*own, *map(_option, DECLARED), NUMBER]
    )
    return wrapped


def is_file(name: str) -> bool:
    """Whether a name is FILE.py:CLASS."""
    return ".py:" in name or name.endswith(".py")


def kind_of(name: str, others: Iterable[str] = ()) -> type[Learner]:
    """The class that a name stands for.

    Raises
    ------
    InputError, LearnerError
        For a name that is none; ``others`` are names that would do as well.
    """
    if is_file(name):
        return learner_class(name)
    if name not in LEARNERS:
        known = tuple(dict.fromkeys((*others, *LEARNERS)))
        raise InputError(
            f"no learner is called {name!r}; {did_you_mean(name, known)}expected one of "
            f"{', '.join(known)}, {OR_A_FILE}"
        )
    return LEARNERS[name]


def paths(names: Iterable[str]) -> list[Path]:
    """The files that names of learners are read from."""
    return [Path(name.rpartition(":")[0]) for name in names if is_file(name)]


def made(
    names: Sequence[str],
    numbers: Mapping[str, str],
    alphas: Sequence[Any] | None = None,
    *,
    averaged: bool = True,
) -> list[Learner]:
    """The learners, each with those of the numbers that it has.

    Parameters
    ----------
    averaged : bool
        Whether their mean dynamics are wanted; a rule from a file is then checked for those,
        and otherwise for a simulation alone.

    Raises
    ------
    InputError
        For a number that none of them has.
    LearnerError
        For a rule from a file that is not what the package takes it for.
    """
    if numbers and not names:
        raise InputError(f"--{next(iter(numbers))} is a learner's; name one with --learner")
    kinds = [kind_of(name) for name in names]
    known = declared(kinds)
    for number in numbers:
        if number not in known:
            raise InputError(
                f"--{number} is given, and none of {', '.join(names)} has it; leave it out"
            )
    learners = [
        _made(kind, alpha, {k: v for k, v in numbers.items() if k in declared([kind])})
        for kind, alpha in zip(kinds, alphas or [None] * len(kinds), strict=True)
    ]
    for name, learner in zip(names, learners, strict=True):
        if is_file(name):
            require_runnable(learner)
            if averaged:
                require_averageable(learner)
    return learners


def _made(kind: type[Learner], alpha: Any, numbers: Mapping[str, str]) -> Learner:
    make: Any = kind
    try:
        learner: Learner = make(alpha=alpha, **numbers)
    except TypeError as error:  # a class of the user's with fields that have no default
        raise LearnerError(
            f"{kind.name} cannot be made from alpha and {', '.join(numbers) or 'no numbers'}: {error}; "
            "give every field of its class a default"
        ) from error
    return learner


def write_card(card: Path, problem: PolicyEvaluation, name: str, learner: Learner) -> None:
    """Write the page on which a problem is a counterexample to the stability of a learner of this name."""
    from obliquetd.report import card_page, write_page
    from obliquetd.report.card import spelling

    write_page(
        card_page(problem, learner, spelling(learner, name if is_file(name) else None)), card
    )


def labelled(names: Sequence[str], learners: Sequence[Learner]) -> dict[str, Learner]:
    """Learners by the names in the answer: repeated ones are numbered."""
    out: dict[str, Learner] = {}
    counts: dict[str, int] = {}
    for name, learner in zip(names, learners, strict=True):
        counts[name] = counts.get(name, 0) + 1
        out[name if counts[name] == 1 else f"{name} {counts[name]}"] = learner
    return out
