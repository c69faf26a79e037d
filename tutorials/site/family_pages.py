"""The learners' table and the page of the command line, from what the package knows of both."""

from __future__ import annotations

import re

from typer.main import get_command

from obliquetd.cli.application import COMMANDS, app
from obliquetd.estimators import ESTIMATORS
from obliquetd.learners import LEARNERS
from obliquetd.learners.listing import entry

COLUMNS = (
    "learner, and its name at the command line",
    "its numbers",
    "converges to",
    "exact",
    "source",
)


def pages() -> dict[str, str]:
    """The text of each page by its path below the site's root."""
    return {"learners.md": learners(), "reference/commands.md": commands()}


def learners() -> str:
    """Every learner of the package, with a link to its entry."""
    rows = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for found in map(entry, LEARNERS.values()):
        numbers = ", ".join(f"`{p.name}={p.default}`" for p in found.numbers) or "none"
        name = f"{{py:class}}`~obliquetd.{found.name}` `{found.key}`"
        cells = (name, numbers, found.solves, found.exact, found.source)
        rows.append(f"| {' | '.join(cells)} |")
    least = "\n".join(
        f"* {{py:class}}`~obliquetd.{kind.__name__}`: {first_sentence(kind)}" for kind in ESTIMATORS
    )
    return LEARNERS_PAGE.format(
        table="\n".join(rows), least=least, count=len(LEARNERS), costs=costs()
    )


LEARNERS_PAGE = """# The learners

The package has {count} learners. Each is made without arguments, or with a step size first: `otd.TD()`, `otd.TD(0.1)`,
`otd.TD("1/10", lam="1/2")`. All of them work off-policy. "Exact" says what is computed without
a simulation: the mean update `A` and `b`, the moments of the weights, and the noise at the fixed point. With d
features a step costs {costs}. You can also write [a learner of your own](tutorials/10_your_own_learner.ipynb).

{table}

## Least squares

These keep sums in place of weights, so they have no step size to choose.

{least}
"""


def costs() -> str:
    """What a step costs, by the learners that it costs so much."""
    by_cost: dict[str, list[str]] = {}
    for found in map(entry, LEARNERS.values()):
        by_cost.setdefault(found.cost, []).append(found.name)
    usual = max(by_cost, key=lambda cost: len(by_cost[cost]))
    rest = [f"{cost} with {', '.join(n)}" for cost, n in by_cost.items() if cost != usual]
    return f"{usual} operations" + (f", {' and '.join(rest)}" if rest else ", with each of them")


def first_sentence(thing: object) -> str:
    """The first sentence of a docstring."""
    return " ".join((thing.__doc__ or "").strip().split("\n\n")[0].split()).rstrip(".") + "."


def commands() -> str:
    """Every sub-command: what it does, an example, its arguments and options."""
    group = get_command(app)
    parts = [COMMANDS_PAGE]
    for name in COMMANDS:
        command = group.get_command(None, name)
        parts.append(f"## obliquetd {name}\n\n{markdown(command.help or '')}\n")
        rows = ["| | |", "|---|---|"]
        for option in command.params:
            spelled = ", ".join(f"`{o}`" for o in (*option.opts, *option.secondary_opts))
            if option.param_type_name == "argument":
                spelled = f"`{(option.metavar or option.name or '').upper()}`"
            rows.append(f"| {spelled} | {cell(getattr(option, 'help', '') or '')} |")
        if len(rows) > 2:
            parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


COMMANDS_PAGE = """# The command line

`obliquetd COMMAND --help` shows the same in a terminal. Each command takes `--json`, or says in its help that it does
not. The exit status is 0 when all is done, 1 when a check failed or a simulated run diverged, and 2 for an error.
"""


def markdown(text: str) -> str:
    """The help of a terminal: bold names are code, and so are the examples."""
    text = text.replace("\f", "").strip()
    text = re.sub(r"\[bold\](.*?)\[/(?:bold)?\]", r"`\1`", text, flags=re.DOTALL)
    return re.sub(r"\\\[", "[", text)


def cell(text: str) -> str:
    """The same inside a table."""
    return " ".join(markdown(text).split()).replace("|", "\\|")
