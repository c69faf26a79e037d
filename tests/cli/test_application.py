"""The table of sub-commands, from which the first page of the help is made."""

import inspect
import pkgutil
from importlib import import_module

import pytest

from obliquetd import cli
from obliquetd.cli.application import COMMANDS, app
from tests.test_cli import run


def registered():
    """Every command that a module of the room adds to the application."""
    for module in pkgutil.iter_modules(cli.__path__):
        import_module(f"obliquetd.cli.{module.name}")
    return {info.callback.__name__: info for info in app.registered_commands}


def test_the_table_says_of_each_command_what_its_module_says():
    found = registered()
    assert set(found) == set(COMMANDS)
    for name, info in found.items():
        told = inspect.getdoc(info.callback).split("\n\n")[0].replace("\n", " ")
        module = inspect.unwrap(info.callback).__module__.rpartition(".")[2]
        assert COMMANDS[name] == (module, info.rich_help_panel, told)


def test_the_first_page_lists_every_command_in_order():
    page = run("--help").stdout
    listed = [line.split()[1] for line in page.splitlines() if line.startswith("│ ")]
    assert [name for name in listed if name in COMMANDS] == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_found_by_its_name(name):
    assert f"obliquetd {name} " in run(name, "--help").stdout


def test_a_misspelt_command_is_told_the_nearest():
    done = run("analyse", expect=2)
    assert "Did you mean 'analyze'?" in done.stderr
