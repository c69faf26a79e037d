"""The sub-command that writes a page about a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from obliquetd.cli.common import (
    MODEL,
    Arithmetic,
    Discount,
    Force,
    JsonFlag,
    ModelFile,
    Normalize,
    Over,
    Reward,
    Settings,
    Symbols,
    Target,
    Tolerance,
    app,
    check_outputs,
    load,
    print_json,
)
from obliquetd.cli.learners import KEYS, OR_A_FILE, complete, made, paths, with_numbers, write_card
from obliquetd.cli.logs import log_at, log_remarks
from obliquetd.cli.terminal import err, escape, out

__all__ = ["report"]


INTERVALS = "obliquetd analyze has confidence intervals for the answers"


@app.command(rich_help_panel=MODEL)
@with_numbers
def report(
    model: ModelFile,
    output: Annotated[Path, typer.Option("-o", "--output", help="The HTML file to write.")] = Path(
        "report.html"
    ),
    title: Annotated[
        str | None,
        typer.Option(help="The title of the page. The default is the name of the model file."),
    ] = None,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Show this learner as well, beside the package's: {OR_A_FILE[3:]}, or one of {KEYS}. "
            "May be repeated.",
            autocompletion=complete,
        ),
    ] = None,
    card: Annotated[
        Path | None,
        typer.Option(
            help="Also write a printable page to this file that shows the model as a counterexample: the first "
            "--learner (by default TD) is unstable on it."
        ),
    ] = None,
    discount: Discount = None,
    arithmetic: Arithmetic = None,
    set_: Settings = None,
    symbol: Symbols = None,
    normalize: Normalize = False,
    tolerance: Tolerance = None,
    reward: Reward = None,
    over: Over = None,
    target: Target = None,
    force: Force = False,
    as_json: JsonFlag = False,
    *,
    numbers: dict[str, str],
) -> None:
    """Write everything about a model on one HTML page: formulas, pictures, certificates.

    The page needs no network and no script; send it to a co-author as it is.
    A page that an earlier call wrote is replaced. Any other file that exists is kept,
    unless --force is given.

    Example: [bold]obliquetd report model.json -o report.html[/]
    """
    from obliquetd.report import model_page, write_page

    names = learner or []
    outputs = {"--output": output, "--card": card}
    check_outputs(outputs, [model, *paths(names)], force=force, makes_folders=True)
    own = made(names, numbers)
    log = log_at(model)
    problem = load(
        model if log is None else log,
        discount,
        arithmetic,
        set_,
        symbol,
        normalize=normalize,
        tolerance=tolerance,
        reward=reward,
        over=over,
        target=target,
    )
    with err.status("solving and drawing ..."):
        if card is not None:
            name = names[0] if names else "td"
            write_card(card, problem, name, (own or made([name], {}))[0])
        remarks = [] if log is None else [*log_remarks(log, target, discount), INTERVALS]
        page = model_page(problem, title or Path(model).name, own, remarks)
        write_page(page, output)
    size = len(page.encode())
    if as_json:
        print_json({"written": str(output), "bytes": size})
    else:
        out.print(f"{escape(output)}: {size // 1000} kB, open it in a browser", soft_wrap=True)
