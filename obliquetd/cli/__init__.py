"""The command ``obliquetd``."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any

import typer
from rich.markup import escape

from obliquetd.cli import paper, model, convert  # isort: skip - the order of the help
from obliquetd.cli.common import app, err, say_error
from obliquetd.errors import ObliqueTDError

__all__ = ["app", "convert", "main", "model", "paper"]


@app.callback()
def options(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error (also after a command).")
    ] = False,
) -> None:
    """The exact truth about temporal-difference policy evaluation.

    Examples: [bold]obliquetd verify[/] (the paper, claim by claim),
    [bold]obliquetd report model.json[/] (all about a model of your own)
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command: exit status 0 done, 1 a check failed, 2 bad input."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in given
    warnings.showwarning = _warn
    try:
        app(args=[x for x in given if x != "--debug"], prog_name="obliquetd")
    except BrokenPipeError:
        sys.stderr.close()  # the reader of a pipe, such as head, has seen enough
        sys.exit(0)
    except Exception as error:
        if debug:
            raise
        if isinstance(error, ObliqueTDError):
            say_error(str(error))
            sys.exit(2)
        say_error(f"{type(error).__name__}: {error} (a defect of obliquetd; --debug shows where)")
        sys.exit(1)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    err.print(f"[yellow]warning:[/] {escape(str(message))}", soft_wrap=True)
