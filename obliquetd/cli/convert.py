"""Sub-commands about files: a model in another format, the schema."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from obliquetd.cli.common import (
    MODEL,
    Arithmetic,
    Discount,
    Force,
    JsonFlag,
    Normalize,
    Over,
    Reward,
    Symbols,
    Tolerance,
    app,
    check_outputs,
    load,
    print_json,
)
from obliquetd.cli.terminal import escape, out
from obliquetd.errors import FormatWarning, InputError
from obliquetd.formats.files import FORMATS, endings

__all__ = ["convert", "schema"]


@app.command(rich_help_panel=MODEL)
def convert(
    model: Annotated[
        str,
        typer.Argument(
            help="The model to read: a file, or a toy-text environment of Gymnasium as gym:NAME."
        ),
    ],
    target: Annotated[Path, typer.Argument(help=f"The file to write: {endings(written=True)}.")],
    chain: Annotated[
        str | None,
        typer.Option(
            help="Write the Markov chain of the target policy (target) or of the behaviour policy (behavior) in "
            "place of the MDP."
        ),
    ] = None,
    expected_rewards: Annotated[
        bool,
        typer.Option(
            "--expected-rewards",
            help="Write one expected reward for each state and action. For .drn files only.",
        ),
    ] = False,
    discount: Discount = None,
    symbol: Symbols = None,
    arithmetic: Arithmetic = None,
    normalize: Normalize = False,
    tolerance: Tolerance = None,
    reward: Reward = None,
    over: Over = None,
    force: Force = False,
    as_json: JsonFlag = False,
) -> None:
    """Write a model in another format; exact numbers stay exact.

    The ending of the second file chooses the format. Some formats hold the MDP alone; the
    command says what stays behind. Files that exist are kept, unless --force is given.

    Examples: [bold]obliquetd convert model.json model.npz[/],
    [bold]obliquetd convert model.json chain.drn --chain target --expected-rewards[/],
    [bold]obliquetd convert gym:FrozenLake-v1 lake.json --arithmetic exact[/]
    """
    from obliquetd.formats import save_model
    from obliquetd.formats.drn import write_drn
    from obliquetd.formats.explicit import policy_chain
    from obliquetd.mdp import Policy
    from obliquetd.problem import PolicyEvaluation

    check_outputs({"TARGET": target}, [model], force=force)
    problem = load(
        model,
        discount,
        arithmetic,
        symbols=symbol,
        normalize=normalize,
        tolerance=tolerance,
        reward=reward,
        over=over,
    )
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
def schema(as_json: JsonFlag = False) -> None:  # noqa: ARG001 - it is JSON either way
    """Print the JSON Schema of model files, for editors and other programs.

    A schema tells an editor which fields a model file may have, so that it can complete and
    check them.

    Example: [bold]obliquetd schema > model.schema.json[/]
    """
    from obliquetd.formats.schema import MODEL_SCHEMA

    print_json(MODEL_SCHEMA)
