"""The sub-command ``learners``: the family, each member with what is known of it."""

from __future__ import annotations

from rich.table import Table

from obliquetd.cli.common import MODEL, JsonFlag, app, print_json
from obliquetd.cli.terminal import escape, out

__all__ = ["learners"]


@app.command(rich_help_panel=MODEL)
def learners(as_json: JsonFlag = False) -> None:
    """List the learners: their settings, source, what they converge to, and what is exact about them.

    Example: [bold]obliquetd learners[/]
    """
    from obliquetd.learners import table

    entries = table()
    if as_json:
        print_json([e.as_dict() for e in entries])
        return
    shown = Table(show_lines=True)
    shown.add_column("--learner", no_wrap=True)
    shown.add_column("what it is")
    for e in entries:
        numbers = ", ".join(f"{p.name}={p.default}" for p in e.numbers)
        lines = [
            f"[bold]{escape(e.name)}[/] {escape(f'({numbers})' if numbers else '')}",
            f"converges to {escape(e.solves)}",
            f"{e.cost} a step; exact: {e.exact}",
            f"[dim]{escape(e.source)}[/]",
        ]
        shown.add_row(escape(e.key), "\n".join(lines))
    out.print(shown)
    out.print(
        "A learner converges where it is stable and its step sizes are small. Exact: what is computed, "
        "with the numbers shown, and not only simulated."
    )
