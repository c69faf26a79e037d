"""Sub-commands about the paper: its claims, its table, its experiments."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from obliquetd.algebra import cell_text
from obliquetd.cli.common import PAPER, JsonFlag, app, choices, err, print_json, say_error
from obliquetd.terminal import out, show_claims, show_reproduction

__all__ = ["reproduce", "table1", "verify"]


@app.command(rich_help_panel=PAPER)
def verify(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Claims to check; all by default.")
    ] = None,
    as_json: JsonFlag = False,
    evidence: Annotated[
        bool, typer.Option("--evidence/--brief", help="With or without the evidence.")
    ] = True,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page with all formulas and evidence.")
    ] = None,
) -> None:
    """Check every claim of the paper.

    Examples: [bold]obliquetd verify[/], [bold]obliquetd verify table-1-etd --json[/],
    [bold]obliquetd verify --html claims.html[/]
    """
    from obliquetd.claims import verify as check_claims

    start = time.perf_counter()
    with err.status("checking ...") as status:
        results = check_claims(
            ids or None, progress=lambda c: status.update(f"checking {escape(c.id)} ...")
        )
    if html is not None:
        from obliquetd.report import claims_page, write_page

        write_page(claims_page(results), html)
        err.print(f"written: {escape(str(html))}", soft_wrap=True)
    if as_json:
        print_json([r.to_dict() for r in results])
    else:
        show_claims(results, evidence, time.perf_counter() - start)
    failed = [r for r in results if r.failed]
    for r in failed:
        say_error(f"the check of {r.id} failed: {r.evidence}")
    if failed:
        raise typer.Exit(1)


@app.command(rich_help_panel=PAPER)
def table1(
    discount: Annotated[str, typer.Option(help="Of the two-state example.")] = "9/10",
    as_json: JsonFlag = False,
) -> None:
    """Table I of the paper, recomputed: printed, by the printed convention, by the definition.

    Example: [bold]obliquetd table1[/]
    """
    from obliquetd.compare import LEGEND
    from obliquetd.reproduction import table_1

    rows = table_1(discount)
    if as_json:
        print_json([{key: None if x is None else str(x) for key, x in row.items()} for row in rows])
        return
    shown = Table(title=f"Table I, two-state MDP, discount {discount}")
    for heading in ("method", "printed", "criterion", "distance", "angle"):
        shown.add_column(heading, justify="left" if heading == "method" else "right")
    for row in rows:
        values = (row[key] for key in ("criterion", "distance", "angle"))
        numbers = ("-" if value is None else cell_text(value) for value in values)
        shown.add_row(f"{row['method']}  {row['convention']}", row["printed"], *numbers)
    out.print(shown)
    for row in rows:
        if row["remark"]:
            out.print(f"{row['method']}: {escape(row['remark'])}")
    out.print(
        f"{LEGEND.rpartition(', worst')[0]}.\n"
        "The printed column is for discount 9/10. Details: obliquetd verify"
    )


@app.command(rich_help_panel=PAPER)
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="two-state, boyan, mountain-car, baird, random, or all.",
            autocompletion=choices("two-state", "boyan", "mountain-car", "baird", "random", "all"),
        ),
    ],
    folder: Annotated[
        Path, typer.Option("--out", help="For figures, tables and finished tasks.")
    ] = Path("reproduction"),
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Also try the step sizes of Table II.")
    ] = False,
    runs: Annotated[int, typer.Option(help="For the verdicts; figures show 20.")] = 200,
    seed: Annotated[int, typer.Option(help="The numbers depend on it alone.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Processes; all cores by default.")] = None,
    backend: Annotated[
        str, typer.Option(help="cores, or dask.", autocompletion=choices("cores", "dask"))
    ] = "cores",
    scheduler: Annotated[
        str | None, typer.Option(help="Of a running Dask cluster, with --backend dask.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Reproduce the paper's experiments and judge what it says of them.

    A second call with the same folder goes on from what is finished.

    Examples: [bold]obliquetd reproduce baird[/], [bold]obliquetd reproduce all --out results[/],
    [bold]obliquetd reproduce boyan --sweep --backend dask --scheduler tcp://127.0.0.1:8786[/]
    """
    from obliquetd.reproduction import NAMES
    from obliquetd.reproduction import reproduce as run_studies

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    )  # fmt: skip
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        bars: dict[str, int] = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in bars:
                bars[what] = bar.add_task(escape(what), total=total)
            bar.update(bars[what], completed=done)  # type: ignore[arg-type]

        found = run_studies(
            NAMES if name == "all" else [name], folder, runs=runs, seed=seed, sweep=sweep,
            workers=workers, backend=backend, scheduler=scheduler, progress=progress,
        )  # fmt: skip
    if as_json:
        print_json(found.to_dict())
    else:
        show_reproduction(found, folder)
