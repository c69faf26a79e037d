"""The application: its sub-commands by name, each read from its module when it is used.

The page of ``obliquetd --help`` is made from the table alone, since the modules of the
sub-commands load the learners, and these sympy.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info

__all__ = ["COMMANDS", "MODEL", "PAPER", "Command", "app"]

PAPER, MODEL = "The paper", "A model of your own"
"""The two groups of sub-commands in the help."""


class Command(NamedTuple):
    """Where a sub-command is, and what the help of the whole says of it."""

    module: str
    panel: str
    summary: str
    """The first paragraph of the command's own help."""


COMMANDS = {
    "verify": Command("paper", PAPER, "Check the claims of the paper Lyu et al. (2018), and our own beside them, or those of another pack."),
    "table1": Command(
        "paper", PAPER,
        "Recompute Table I of the paper, with ETD by each of the three definitions of its matrix.",
    ),
    "reproduce": Command(
        "paper", PAPER, "Run the paper's experiments again, and judge what the paper says about them."
    ),
    "prove": Command(
        "prove", PAPER, "Write proved claims as files for Coq, a proof checker, and run Coq on them."
    ),
    "analyze": Command(
        "model", MODEL,
        "Analyse a model: chain, values, fixed points, which learners are stable, and how noisy.",
    ),
    "check": Command(
        "model", MODEL,
        "Check a stability certificate again, with exact fractions and nothing else.",
    ),
    "search": Command(
        "model", MODEL,
        "Search for a small problem on which a learner's expected update is unstable.",
    ),
    "atlas": Command(
        "atlas", MODEL,
        "Judge every problem of a small family exactly, and answer questions about all of them.",
    ),
    "learners": Command(
        "family", MODEL,
        "List the learners: their settings, source, what they converge to, and what is exact about them.",
    ),
    "simulate": Command("simulate", MODEL, "Run learners on a model and show their learning curves."),
    "report": Command(
        "report", MODEL,
        "Write everything about a model on one HTML page: formulas, pictures, certificates.",
    ),
    "explore": Command(
        "explore", MODEL,
        "Write a web page on which a slider for each symbol moves the picture and the exact numbers.",
    ),
    "convert": Command(
        "convert", MODEL, "Write a model in another format; exact numbers stay exact."
    ),
    "schema": Command(
        "convert", MODEL, "Print the JSON Schema of model files, for editors and other programs."
    ),
}  # fmt: skip
"""Every sub-command, in the order of the help."""


class Deferred(TyperGroup):
    """A group whose commands are imported when one of them is asked for."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.commands = {
            name: TyperCommand(name, help=known.summary, rich_help_panel=known.panel)
            for name, known in COMMANDS.items()
        }
        self._lists = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - the name that click calls
        """A sub-command; on the page that lists them all, its summary alone."""
        if self._lists or cmd_name not in COMMANDS:
            return self.commands.get(cmd_name)
        import_module(
            f"obliquetd.cli.{COMMANDS[cmd_name].module}"
        )  # which adds it to the application
        made = (
            get_command_from_info(
                info, pretty_exceptions_short=False, rich_markup_mode=self.rich_markup_mode
            )
            for info in app.registered_commands
        )
        return next(command for command in made if command.name == cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page of the whole application."""
        self._lists = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._lists = False


app = typer.Typer(
    cls=Deferred,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
