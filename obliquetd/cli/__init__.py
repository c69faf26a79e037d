"""The command ``obliquetd``.

What speaks to a terminal is imported where it speaks: it loads the arithmetic of the package.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from typing import Annotated, Any

import typer

import obliquetd
from obliquetd.cli.application import app
from obliquetd.errors import ObliqueTDError

__all__ = ["app", "main"]

UsageError: Any = typer.BadParameter.__base__
"""What the parser of arguments raises; typer exports only some of its kinds."""

INTERRUPTED = 130
"""The exit status of what Ctrl-C ended: 128 and the number of the signal."""


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"obliquetd {obliquetd.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_tell_version, is_eager=True
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the traceback of an error. May stand after a command."),
    ] = False,
) -> None:
    """Tell the exact truth about temporal-difference policy evaluation.

    Examples: [bold]obliquetd verify[/] (the paper, claim by claim),
    [bold]obliquetd report model.json[/] (all about a model of your own)
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command: exit status 0 done, 1 a check failed or a run diverged, 2 an error."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in given
    warnings.showwarning = _warn
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError):  # a stream of another kind, or none
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        status = app(
            args=[x for x in given if x != "--debug"], prog_name="obliquetd", standalone_mode=False
        )
        if sys.stdout is not None:
            sys.stdout.flush()
        if status == INTERRUPTED:  # what some versions of typer return, where others raise Abort
            status = _stopped()
        sys.exit(status if isinstance(status, int) else 0)
    except (BrokenPipeError, SystemExit) as ended:
        pipe = ended if isinstance(ended, BrokenPipeError) else ended.__context__
        if not isinstance(pipe, BrokenPipeError):
            raise
        _drop_output()  # the reader, such as head, has seen enough; typer and rich would exit with 1
        sys.exit(0)
    except KeyboardInterrupt:  # outside of what typer watches
        sys.exit(_stopped())
    except Exception as error:
        if debug and not isinstance(error, UsageError):
            raise
        sys.exit(_explain(error))


def _explain(error: Exception) -> int:
    """One line about any error; the exit status."""
    from obliquetd.cli.common import say_error

    if isinstance(error, UsageError):
        return _explain_usage(error)
    if isinstance(error, typer.Abort):
        return _stopped()
    if isinstance(error, ObliqueTDError):
        say_error(str(error))
    elif isinstance(error, OSError):
        _drop_output()
        place = f" {error.filename}" if error.filename else " to standard output"
        say_error(f"cannot write{place}: {error.strerror or error}")
    elif isinstance(error, MemoryError):
        say_error("the memory does not suffice; try a smaller model, or --arithmetic float")
    else:
        kind = type(error).__name__
        say_error(f"{kind}: {error} (a defect of obliquetd; --debug shows where)")
    return 2


def _stopped() -> int:
    """Say that an interrupt ended the command; the exit status."""
    from obliquetd.cli.common import say_error

    say_error("stopped")
    # Where an interrupt met a string on its way through `exec`, as while a dataclass is made,
    # CPython holds a mark by which ``python -m`` dies of the signal, whatever the status. The
    # next string clears it.
    exec("")
    return INTERRUPTED


def _explain_usage(error: Any) -> int:
    from obliquetd.cli.common import say_error

    told = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
    else:
        command = error.ctx.command_path if error.ctx is not None else "obliquetd"
        say_error(f"{told.rstrip('.')}; {command} --help shows what there is")
    return 2


def _drop_output() -> None:
    """Send what is still waiting to be written nowhere, so that Python's exit finds no error."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    from obliquetd.cli.terminal import err, escape

    err.print(f"[yellow]warning:[/] {escape(message)}", soft_wrap=True)
