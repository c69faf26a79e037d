"""The sub-command that writes a page with sliders."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

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
    Tolerance,
    app,
    check_outputs,
    load,
    print_json,
)
from obliquetd.cli.learners import KEYS, OR_A_FILE, complete, made, paths, with_numbers
from obliquetd.cli.terminal import err, escape, out
from obliquetd.errors import InputError, KindError

__all__ = ["explore"]


@app.command(rich_help_panel=MODEL)
@with_numbers
def explore(
    model: ModelFile,
    output: Annotated[Path, typer.Option("-o", "--output", help="The HTML file to write.")] = Path(
        "explore.html"
    ),
    title: Annotated[
        str | None,
        typer.Option(help="The title of the page. The default is the name of the model file."),
    ] = None,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Show this learner in place of TD, SETD and ETD: one of {KEYS}, {OR_A_FILE}. May be "
            "repeated. Its numbers may be symbols, too, as in --lam l.",
            autocompletion=complete,
        ),
    ] = None,
    range_: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            help="Let the slider of a symbol run between two numbers: NAME=LOW:HIGH, as in gamma=1/2:1. "
            "May be repeated. By default it covers all values with which there is a model; where those "
            "have no end, a piece of length 4.",
        ),
    ] = None,
    frames: Annotated[
        int | None,
        typer.Option(
            help="Also write this many pictures for slides, at equal distances along the first slider: PNG "
            "files beside the page, named after it: explore-1.png, explore-2.png, ..."
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
    force: Force = False,
    as_json: JsonFlag = False,
    *,
    numbers: dict[str, str],
) -> None:
    """Write a web page on which a slider for each symbol moves the picture and the exact numbers.

    The page shows fixed points, their errors, eigenvalues and which learners are stable. A model
    without a symbol gets a slider for its discount. The page needs no network and no server.
    A page that an earlier call wrote is replaced.

    Examples: [bold]obliquetd explore model.json -o explore.html[/],
    [bold]obliquetd explore model.json --discount gamma --learner td --lam l --frames 8[/]
    """
    from obliquetd.exploration import explore as explore_problem
    from obliquetd.exploration.stills import frame_paths, write_frames

    names = learner or []
    stills = [] if frames is None else frame_paths(output, frames)
    outputs = {"--output": output, **{f"--frames {k + 1}:": p for k, p in enumerate(stills)}}
    check_outputs(outputs, [model, *paths(names)], force=force, makes_folders=True)
    own = made(names, numbers)
    ranges = _ranges(range_ or ())
    read = functools.partial(
        load, model, discount, settings=set_, symbols=symbol,
        normalize=normalize, tolerance=tolerance, reward=reward, over=over,
    )  # fmt: skip
    try:
        problem = read(arithmetic)
    except KindError:  # the file asks for numbers, and an option for a symbol
        if arithmetic is not None:
            raise
        problem = read("symbolic")
    with err.status("solving ..."):
        found = explore_problem(
            problem, learners=own, ranges=ranges, title=title or Path(model).name
        )
        found.save(output)
        written = [] if frames is None else write_frames(found, output, frames)
    size = len(found.html.encode())
    if as_json:
        print_json({"written": str(output), "bytes": size, "frames": [str(p) for p in written]})
        return
    for name, why in found.pieces.left_out.items():
        err.print(f"[yellow]left out:[/] {escape(name)}: {escape(why)}", soft_wrap=True)
    out.print(f"{escape(output)}: {size // 1000} kB, open it in a browser", soft_wrap=True)
    if written:
        out.print(
            f"{escape(written[0])} to {escape(written[-1].name)}: {len(written)} stills",
            soft_wrap=True,
        )


def _ranges(texts: Iterable[str]) -> dict[str, tuple[Any, Any]]:
    found: dict[str, tuple[Any, Any]] = {}
    for text in texts:
        name, equals, pair = (part.strip() for part in text.partition("="))
        low, colon, high = (part.strip() for part in pair.partition(":"))
        if not (equals and colon and name and low and high):
            raise InputError(f"--range {text!r}; expected NAME=LOW:HIGH, as in gamma=1/2:1")
        if name in found:
            raise InputError(
                f"--range gives {name} twice, as {':'.join(found[name])} and as {pair}"
            )
        found[name] = (low, high)
    return found
