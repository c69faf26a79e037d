"""Sub-commands about the paper: its claims, its table, its experiments."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from obliquetd.algebra import cell_text
from obliquetd.cli.common import (
    PAPER,
    Backend,
    Force,
    JsonFlag,
    PackName,
    Scheduler,
    Workers,
    app,
    check_outputs,
    choices,
    print_json,
    say_error,
)
from obliquetd.cli.terminal import err, escape, out, show_claims, show_reproduction
from obliquetd.progress import progress

__all__ = ["reproduce", "table1", "verify"]


@app.command(rich_help_panel=PAPER)
def verify(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            help="The names of the claims to check, such as lemma-1. By default all claims are checked."
        ),
    ] = None,
    as_json: JsonFlag = False,
    evidence: Annotated[
        bool,
        typer.Option(
            "--evidence/--brief",
            help="Show the evidence for each verdict (--evidence), or only the verdicts (--brief).",
        ),
    ] = True,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", help="Write an HTML page with every formula and all evidence to this file."
        ),
    ] = None,
    pack: PackName = "lyu-2018",
    force: Force = False,
) -> None:
    """Check the claims of the paper Lyu et al. (2018), and our own beside them, or those of another pack.

    Each claim gets a verdict with its evidence: proved, verified, refuted, corrected or open.
    All claims take about a minute. A page that an earlier call wrote is replaced. Any other
    file that exists is kept, unless --force is given.

    Examples: [bold]obliquetd verify[/], [bold]obliquetd verify table-1-etd --json[/],
    [bold]obliquetd verify --html claims.html[/], [bold]obliquetd verify --pack folklore[/]
    """
    from obliquetd.claims import pack_of
    from obliquetd.claims import verify as check_claims

    check_outputs({"--html": html}, force=force, makes_folders=True)
    source = pack_of(pack)
    start = time.perf_counter()
    with err.status("checking ...") as status:
        results = check_claims(
            ids or None,
            pack=source,
            progress=lambda c: status.update(f"checking {escape(c.id)} ..."),
        )
    if html is not None:
        from obliquetd.report import claims_page, write_page

        write_page(claims_page(results, source), html)
        err.print(f"written: {escape(html)}", soft_wrap=True)
    if as_json:
        print_json([r.to_dict() for r in results])
    else:
        show_claims(results, evidence, source, time.perf_counter() - start)
    failed = [r for r in results if r.failed]
    for r in failed:
        say_error(f"the check of {r.id} failed: {r.evidence}")
    if failed:
        raise typer.Exit(1)


TABLE_1 = ("criterion printed", "right", "distance printed", "right", "angle")
WHOLE_TABLE_1 = 80
"""Columns of a terminal from which Table I is one table; else its pairs stand one below the other."""


def _parts_of_table_1(title: str) -> list[tuple[str | None, tuple[int, ...]]]:
    """The tables that fit the terminal, each with its title: what is printed stays beside what is right."""
    if out.width >= WHOLE_TABLE_1:
        return [(title, (1, 2, 3, 4, 5))]
    return [(title, (1, 2)), (None, (3, 4)), (None, (5,))]


def _cells_of_table_1(row: dict[str, Any]) -> list[str]:
    """The method, and under each heading what is printed or right."""
    printed = (*row["printed"].split(" / "), "")[:2]
    criterion, distance, angle = (
        "-" if row[key] is None else cell_text(row[key], width)
        for key, width in (("criterion", 14), ("distance", 14), ("angle", 10))
    )
    name = f"{row['method']} {row['convention']}".strip()
    return [name, printed[0], criterion, printed[1], distance, angle]


@app.command(rich_help_panel=PAPER)
def table1(
    discount: Annotated[
        str, typer.Option(help="The discount of the two-state example, from 0 to below 1.")
    ] = "9/10",
    as_json: JsonFlag = False,
) -> None:
    """Recompute Table I of the paper, with ETD by each of the three definitions of its matrix.

    The table compares methods on an example with two states: how well each one's fixed point
    approximates the true values. Printed numbers stand beside the right ones.

    Example: [bold]obliquetd table1[/]
    """
    from obliquetd.problem.compare import LEGEND
    from obliquetd.reproduction import table_1

    rows = table_1(discount)
    if as_json:
        print_json([{key: None if x is None else str(x) for key, x in row.items()} for row in rows])
        return
    title = f"Table I, two-state MDP, discount {escape(discount)}: printed | right"
    cells = [_cells_of_table_1(row) for row in rows]
    for heading, columns in _parts_of_table_1(title):
        shown = Table(title=heading)
        shown.add_column("method", overflow="fold")
        for j in columns:
            words = " ".join([TABLE_1[j - 1], *(line[j] for line in cells)]).split()
            shown.add_column(
                TABLE_1[j - 1],
                justify="right",
                overflow="fold",
                min_width=max(map(len, words)),  # no number is broken in two
            )
        for line in cells:
            shown.add_row(escape(line[0]), *(line[j] for j in columns))
        out.print(shown)
    for row in rows:
        if row["remark"]:
            out.print(f"{row['method']}: {escape(row['remark'])}")
    out.print(
        f"{LEGEND.rpartition(', worst')[0]}.\n"
        "The printed columns are for discount 9/10. Details: obliquetd verify"
    )


@app.command(rich_help_panel=PAPER)
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="The experiment to run: two-state, boyan, mountain-car (needs the extra gym), baird, random, or all.",
            autocompletion=choices("two-state", "boyan", "mountain-car", "baird", "random", "all"),
        ),
    ],
    folder: Annotated[
        Path,
        typer.Option("--out", help="Write figures, tables and finished tasks into this folder."),
    ] = Path("reproduction"),
    sweep: Annotated[
        bool,
        typer.Option(
            "--sweep",
            help="Run every step size of the paper's Table II as well. This takes longer.",
        ),
    ] = False,
    runs: Annotated[
        int,
        typer.Option(
            help="How many times each learner is run with each of five seeds. The figures show the first 20 runs."
        ),
    ] = 100,
    seed: Annotated[
        int,
        typer.Option(
            help="The first of the five seeds for random numbers. The same seed gives the same results again."
        ),
    ] = 0,
    workers: Workers = None,
    backend: Backend = "cores",
    scheduler: Scheduler = None,
    as_json: JsonFlag = False,
) -> None:
    """Run the paper's experiments again, and judge what the paper says about them.

    A call that was interrupted can be repeated with the same folder: what is finished is kept.

    Examples: [bold]obliquetd reproduce baird[/], [bold]obliquetd reproduce all --out results[/],
    [bold]obliquetd reproduce boyan --sweep --backend dask --scheduler tcp://127.0.0.1:8786[/]
    """
    from obliquetd.reproduction import NAMES
    from obliquetd.reproduction import reproduce as run_studies

    with progress() as bars:
        found = run_studies(
            NAMES if name == "all" else [name], folder, runs=runs, seed=seed, sweep=sweep,
            workers=workers, backend=backend, scheduler=scheduler, progress=bars,
        )  # fmt: skip
    if as_json:
        print_json(found.to_dict())
    else:
        show_reproduction(found, folder)
