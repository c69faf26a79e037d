"""Sub-commands that write files: a model in another format, a report, the schema."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from obliquetd.cli.common import (
    MODEL,
    JsonFlag,
    Normalize,
    Reward,
    Tolerance,
    app,
    assignment,
    err,
    load,
    print_json,
)
from obliquetd.errors import FormatWarning, InputError
from obliquetd.terminal import out

__all__ = ["convert", "report", "schema"]


@app.command(rich_help_panel=MODEL)
def convert(
    model: Annotated[str, typer.Argument(help="A model file, or gym:NAME.")],
    target: Annotated[Path, typer.Argument(help=".json, .npz, .graphml, .tra or .drn.")],
    chain: Annotated[
        str | None, typer.Option(help="target or behavior: write the Markov chain of that policy.")
    ] = None,
    expected_rewards: Annotated[
        bool, typer.Option("--expected-rewards", help="For .drn: one reward for each choice.")
    ] = False,
    discount: Annotated[str | None, typer.Option(help="In place of the model's.")] = None,
    arithmetic: Annotated[str | None, typer.Option(help="exact, symbolic or float.")] = None,
    normalize: Normalize = False,
    tolerance: Tolerance = None,
    reward: Reward = None,
    as_json: JsonFlag = False,
) -> None:
    """Write a model in another format; exact numbers stay exact.

    Examples: [bold]obliquetd convert model.json model.npz[/],
    [bold]obliquetd convert gym:FrozenLake-v1 lake.drn --arithmetic exact --chain target --expected-rewards[/]
    """
    from obliquetd.formats import save_model
    from obliquetd.formats.drn import write_drn
    from obliquetd.formats.explicit import policy_chain
    from obliquetd.formats.files import FORMATS
    from obliquetd.mdp import Policy
    from obliquetd.problem import PolicyEvaluation

    problem = load(model, discount, arithmetic, normalize, tolerance, reward)
    if chain is not None:
        mdp = policy_chain(problem, chain)
        problem = PolicyEvaluation(
            mdp, target=Policy.uniform(mdp), discount=discount if discount is not None else 1
        )
    if expected_rewards:
        if target.suffix.lower() != ".drn":
            raise InputError("--expected-rewards is for .drn files; leave it out")
        write_drn(problem.mdp, target, expected_rewards=True)
    else:
        with warnings.catch_warnings():  # what stays behind is said below
            warnings.simplefilter("ignore", FormatWarning)
            save_model(problem, target)
    bare = not FORMATS[target.suffix.lower()].holds
    left = ["policies", "features", "discount", "xi"] if bare else []
    if as_json:
        print_json({"written": str(target), "model": repr(problem), "left_behind": left})
    else:
        out.print(escape(f"{target}: {problem.mdp!r}"), soft_wrap=True)
        if left:
            out.print(f"The format holds the MDP alone: {', '.join(left)} stay behind.")


@app.command(rich_help_panel=MODEL)
def report(
    model: Annotated[str, typer.Argument(help="A model file, or gym:NAME.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="An HTML file.")] = Path(
        "report.html"
    ),
    title: Annotated[str | None, typer.Option(help="The file's name by default.")] = None,
    discount: Annotated[str | None, typer.Option(help="In place of the model's.")] = None,
    arithmetic: Annotated[str | None, typer.Option(help="exact, symbolic or float.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE: a number for a symbol.")
    ] = None,
    normalize: Normalize = False,
    tolerance: Tolerance = None,
    reward: Reward = None,
    as_json: JsonFlag = False,
) -> None:
    """Write everything about a model on one HTML page: formulas, pictures, certificates.

    The page needs no network and no script; send it to a co-author as it is.

    Example: [bold]obliquetd report model.json -o report.html[/]
    """
    from obliquetd.report import model_page, write_page

    problem = load(model, discount, arithmetic, normalize, tolerance, reward)
    if set_:
        problem = problem.subs(dict(assignment(text) for text in set_))
    with err.status("solving and drawing ..."):
        page = model_page(problem, title or Path(model).name)
        write_page(page, output)
    if as_json:
        print_json({"written": str(output), "bytes": len(page.encode())})
    else:
        out.print(
            escape(f"{output}: {len(page.encode()) // 1000} kB, open it in a browser"),
            soft_wrap=True,
        )


@app.command(rich_help_panel=MODEL)
def schema() -> None:
    """Print the JSON Schema of model files, for editors and other programs.

    Example: [bold]obliquetd schema > model.schema.json[/]
    """
    from obliquetd.formats.schema import MODEL_SCHEMA

    print_json(MODEL_SCHEMA)
