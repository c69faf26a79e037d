"""What every sub-command shares: the application, its options, files in and out."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from obliquetd.cli.application import MODEL, PAPER, app
from obliquetd.cli.symbols import Symbols, typed_symbols, unsaid
from obliquetd.cli.terminal import err, escape
from obliquetd.display import MADE_BY
from obliquetd.errors import InputError, KindError
from obliquetd.formats.files import endings
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.places import OVER

if TYPE_CHECKING:
    from obliquetd.formats.log import Log

__all__ = [
    "MODEL",
    "PAPER",
    "Arithmetic",
    "Backend",
    "Discount",
    "Force",
    "JsonFlag",
    "ModelFile",
    "Normalize",
    "PackName",
    "Reward",
    "Scheduler",
    "Settings",
    "Symbols",
    "Target",
    "Tolerance",
    "Workers",
    "app",
    "check_outputs",
    "choices",
    "load",
    "print_json",
    "say_error",
]


def choices(*known: str) -> Callable[[str], list[str]]:
    """What a shell may complete a word to."""

    def completed(incomplete: str) -> list[str]:
        """The known words that begin so."""
        return [word for word in known if word.startswith(incomplete)]

    return completed


Normalize = Annotated[
    bool,
    typer.Option(
        "--normalize",
        help="Divide each row of probabilities by its sum. Without it, a row that does not sum to 1 is an error.",
    ),
]
Tolerance = Annotated[
    str | None,
    typer.Option(
        help="Divide a row of probabilities by its sum where that sum differs from 1 by at most this number."
    ),
]
Reward = Annotated[
    str | None,
    typer.Option(
        help="Use the reward structure of this name, where a .tra or .drn file has several."
    ),
]
Over = Annotated[
    str | None,
    typer.Option(
        help="Evaluate the values of states (states) or of actions, which are pairs of a state and an "
        "action (pairs). The default is what the model file says, else states.",
        autocompletion=choices(*OVER),
    ),
]
JsonFlag = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON, for other programs.")
]
ModelFile = Annotated[
    str,
    typer.Argument(
        help=f"The model: a file ({endings()}), or a toy-text environment of Gymnasium, as in "
        "gym:FrozenLake-v1 (needs the extra gym)."
    ),
]
Discount = Annotated[
    str | None,
    typer.Option(
        help="Use this discount in place of the model's own: a number such as 9/10, or a symbol such as gamma."
    ),
]
Arithmetic = Annotated[
    str | None,
    typer.Option(
        help="Compute with rational numbers (exact), with formulas (symbolic) or with floating-point "
        "numbers (float). The default follows from the numbers in the model.",
        autocompletion=choices("exact", "symbolic", "float"),
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        help="Evaluate this policy in place of the model's target: uniform, behavior, or a JSON file of "
        "{state: {action: probability}} or {state: action}.",
        autocompletion=choices("uniform", "behavior"),
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Replace a symbol of the model by a number: NAME=VALUE, as in gamma=9/10. May be repeated.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(help="How many processes run at the same time. The default is one for each core."),
]
Backend = Annotated[
    str,
    typer.Option(
        help="Where to run: on the cores of this machine (cores) or on a cluster (dask).",
        autocompletion=choices("cores", "dask"),
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(help="The address of a running Dask cluster, for --backend dask."),
]
PackName = Annotated[
    str,
    typer.Option(
        "--pack",
        help="Take the claims of this pack: lyu-2018, folklore, or a Python file that makes one.",
        autocompletion=choices("lyu-2018", "folklore"),
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist already.")]


def print_json(data: Any) -> None:
    """Strict JSON on standard output, in characters that every terminal and encoding has."""
    typer.echo(json.dumps(data, indent=1, allow_nan=False).replace("\x7f", "\\u007f"))


def say_error(text: str) -> None:
    """One readable line on standard error."""
    if "*" in text:
        from obliquetd.report.plain import plain_prose

        text = plain_prose(text)
    with contextlib.suppress(OSError):  # nobody hears; the exit status still tells
        err.print(f"[red]error:[/] {escape(text)}", soft_wrap=True)


def load(
    model: str | Log,
    discount: str | None,
    arithmetic: str | None,
    settings: Iterable[str] | None = None,
    symbols: Iterable[str] | None = None,
    *,
    normalize: bool = False,
    tolerance: str | None = None,
    reward: str | None = None,
    over: str | None = None,
    target: str | None = None,
) -> PolicyEvaluation:
    """The problem of a model file, of gym:NAME, or of a log that was read, with numbers for symbols.

    The numbers are set before the arithmetic is chosen, since a symbol is no float. Names in a typed
    formula that look like no symbol are asked about, unless ``symbols`` or the model has them.
    """
    from obliquetd.formats import load_model
    from obliquetd.formats.gym import load_gym

    values = _assignments(settings or ())
    given = {
        "discount": discount, "normalize": normalize or None, "tolerance": tolerance,
        "reward": reward, "over": over,
    }  # fmt: skip
    fields: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
    if arithmetic is not None and not values:
        fields["arithmetic"] = arithmetic

    if target is not None:
        fields["target"] = _target(target)

    def read(**given: Any) -> PolicyEvaluation:
        logged = not isinstance(model, str) or model.lower().endswith(".csv")
        own = given.get("target") == "behavior" and not logged
        if own:  # a log knows its behaviour; of other models it is known once they are read
            del given["target"]
        found = (
            load_gym(model.removeprefix("gym:"), **given)
            if isinstance(model, str) and model.startswith("gym:")
            else load_model(model, **given)
        )
        return found.replace(target=found.behavior, behavior=None) if own else found

    said = set(symbols or ())
    typed = {f"--set {k} to": v for k, v in values.items()}
    if discount is not None:
        typed["--discount"] = discount
    if any(unsaid(text, said) for text in typed.values()):
        own = {k: v for k, v in fields.items() if k not in ("discount", "arithmetic")}
        said |= _symbols_of(lambda: read(**own))
    for option, text in typed.items():
        typed_symbols(option, text, said)
    if not values:
        return read(**fields)
    try:
        problem = read(**fields)
    except KindError:  # the file asks for an arithmetic that its symbols do not have yet
        problem = read(**fields, arithmetic=None)
    problem = problem.subs(values)
    return problem if arithmetic is None else problem.replace(arithmetic=arithmetic)


def _target(text: str) -> Any:
    """A policy from the command line: a word, or what a JSON file holds."""
    from obliquetd.formats.strict_json import read_json

    if text in ("uniform", "behavior"):
        return text
    if not text.lower().endswith(".json"):
        raise InputError(
            f"--target {text!r}; expected uniform, behavior, or a .json file of {{state: {{action: probability}}}}"
        )
    return read_json(Path(text))


def _symbols_of(read: Callable[[], PolicyEvaluation]) -> set[str]:
    """The symbols of a model as its file has them; none where it cannot be read so."""
    try:
        return {str(s) for s in read().symbols}
    except InputError:
        return set()


def _assignments(texts: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            raise InputError(f"--set {text!r}; expected NAME=VALUE, as in gamma=9/10")
        if name in found:
            raise InputError(f"--set gives {name} two values, {found[name]} and {value}")
        found[name] = value
    return found


MARKED = (".html", ".htm", ".png", ".svg")
"""Endings of files in which obliquetd leaves its mark; such a file may be written again."""


def check_outputs(
    outputs: Mapping[str, Path | None],
    inputs: Iterable[str | Path | None] = (),
    *,
    force: bool = False,
    makes_folders: bool = False,
) -> None:
    """Refuse, before any work, outputs that cannot be written or that would destroy something.

    An output is never a file that is read, nor a second output. A file that exists is replaced
    with ``--force`` only, unless it bears the mark of an earlier page or picture.

    Parameters
    ----------
    outputs : mapping of option to path or None
    inputs : iterable of path or None
    force : bool
    makes_folders : bool
        Whether folders that do not exist are made.

    Raises
    ------
    InputError
    """
    read = [Path(name) for name in inputs if name is not None]
    seen: dict[str, Path] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        if any(_same(path, other) for other in read):
            raise InputError(f"{option} {path} is a file that is read; give another name")
        for other, there in seen.items():
            if _same(path, there):
                raise InputError(
                    f"{other} and {option} both name {path}; give each a file of its own"
                )
        seen[option] = path
        _check_place(option, path, makes_folders)
        if path.exists() and not force and not _is_ours(path):
            raise InputError(
                f"{option} {path} exists and is no page or picture of obliquetd; --force replaces "
                "it, or give another name"
            )


def _same(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except (OSError, ValueError):  # one of them does not exist
        return a.resolve() == b.resolve()


def _check_place(option: str, path: Path, makes_folders: bool) -> None:
    if path.is_dir():
        example = path / "report.html"
        raise InputError(f"{option} {path} is a folder; give a file name, such as {example}")
    if path.exists() and not path.is_file():
        raise InputError(f"{option} {path} is no ordinary file; give another name")
    folder = path.absolute().parent
    while makes_folders and not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write {path}: the folder {folder} is not yours to write in")


def _is_ours(path: Path) -> bool:
    if path.suffix.lower() not in MARKED:
        return False
    try:
        with path.open("rb") as file:
            return MADE_BY.encode() in file.read(4000)
    except OSError:
        return False
