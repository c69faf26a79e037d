"""What every sub-command shares: the application, output, and reading of arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from obliquetd.errors import InputError
from obliquetd.learners import LEARNERS, Learner
from obliquetd.problem import PolicyEvaluation

__all__ = [
    "MODEL",
    "PAPER",
    "JsonFlag",
    "Normalize",
    "Reward",
    "Tolerance",
    "app",
    "assignment",
    "check_names",
    "choices",
    "err",
    "load",
    "mean_learner",
    "print_json",
    "say_error",
]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
err = Console(stderr=True)

PAPER, MODEL = "The paper", "A model of your own"
"""The two groups of sub-commands in the help."""


def choices(*known: str) -> Callable[[str], list[str]]:
    """What a shell may complete a word to."""
    return lambda incomplete: [word for word in known if word.startswith(incomplete)]


JsonFlag = Annotated[bool, typer.Option("--json", help="Strict JSON for machines.")]
Normalize = Annotated[
    bool, typer.Option("--normalize", help="Divide each row of probabilities by its sum.")
]
Tolerance = Annotated[
    str | None,
    typer.Option(help="Divide by their sum those rows only that miss one by at most this."),
]
Reward = Annotated[
    str | None,
    typer.Option(help="Take this reward structure, where a .tra or .drn file has several."),
]


def print_json(data: Any) -> None:
    """Strict JSON on standard output."""
    typer.echo(json.dumps(data, indent=1, allow_nan=False, ensure_ascii=False))


def say_error(text: str) -> None:
    """One readable line on standard error."""
    err.print(f"[red]error:[/] {escape(text)}", soft_wrap=True)


def check_names(names: Iterable[str], known: Collection[str]) -> None:
    """InputError for a learner that does not exist."""
    for name in names:
        if name not in known:
            raise InputError(f"no learner is called {name!r}; expected one of {', '.join(known)}")


def mean_learner(name: str, lam: str) -> Learner:
    """A learner for its mean dynamics: no step size, beta = alpha."""
    traced = {} if name.startswith("rg") else {"lam": lam}
    return LEARNERS[name](**traced)


def load(
    model: str,
    discount: str | None,
    arithmetic: str | None,
    normalize: bool = False,
    tolerance: str | None = None,
    reward: str | None = None,
) -> PolicyEvaluation:
    """The problem of a model file, or of gym:NAME."""
    from obliquetd.formats import load_model
    from obliquetd.formats.gym import load_gym

    given = {
        "discount": discount, "arithmetic": arithmetic, "normalize": normalize or None,
        "tolerance": tolerance, "reward": reward,
    }  # fmt: skip
    chosen = {k: v for k, v in given.items() if v is not None}
    if model.startswith("gym:"):
        return load_gym(model.removeprefix("gym:"), **chosen)
    return load_model(Path(model), **chosen)


def assignment(text: str) -> tuple[str, str]:
    """NAME=VALUE in two."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"--set {text!r}; expected NAME=VALUE, as in gamma=9/10")
    return name.strip(), value.strip()
