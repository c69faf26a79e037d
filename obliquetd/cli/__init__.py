"""The command ``obliquetd``."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from rich.markup import escape

from obliquetd.cli import model, paper
from obliquetd.cli.common import app, err, say_error
from obliquetd.errors import ObliqueTDError

__all__ = ["app", "main", "model", "paper"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command: exit status 0 done, 1 a check failed, 2 bad input."""
    warnings.showwarning = _warn
    try:
        app(args=arguments, prog_name="obliquetd")
    except ObliqueTDError as error:
        say_error(str(error))
        sys.exit(2)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    err.print(f"[yellow]warning:[/] {escape(str(message))}", soft_wrap=True)
