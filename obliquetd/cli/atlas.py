"""The sub-command ``atlas``: every problem of a small family, and questions about all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from obliquetd.cli.common import (
    MODEL,
    Backend,
    Force,
    JsonFlag,
    Scheduler,
    Workers,
    app,
    check_outputs,
    print_json,
)
from obliquetd.cli.found import found_lines
from obliquetd.cli.learners import KEYS, OR_A_FILE, complete, made, paths, with_numbers
from obliquetd.cli.terminal import escape, out
from obliquetd.errors import InputError
from obliquetd.learners import Learner

if TYPE_CHECKING:
    from obliquetd.atlas import Found

__all__ = ["atlas"]


@app.command(rich_help_panel=MODEL)
@with_numbers
def atlas(
    question: Annotated[
        list[str] | None,
        typer.Argument(
            help="Count the problems of which this holds, as in 'SETD unstable and not TD unstable'. Learners are "
            "called by their names in the answer; a verdict is stable, marginal, unstable or nothing moves."
        ),
    ] = None,
    states: Annotated[int, typer.Option(help="How many states each problem has.")] = 3,
    features: Annotated[int, typer.Option(help="How many features each problem has.")] = 2,
    largest: Annotated[
        int,
        typer.Option(
            help="Entries of the feature vectors are all integers from minus this number to this number."
        ),
    ] = 2,
    parts: Annotated[
        int,
        typer.Option(
            help="The target's probabilities are multiples of one over this number; with 1 it is deterministic."
        ),
    ] = 1,
    on_policy: Annotated[
        bool,
        typer.Option(
            "--on-policy",
            help="Judge on-policy problems: every irreducible chain, target and behaviour being one policy. By default the behaviour is another one, and all states have the same weight.",
        ),
    ] = False,
    discount: Annotated[
        list[str] | None,
        typer.Option(help="The discount of the problems, 9/10 unless given. May be repeated."),
    ] = None,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Judge this learner: one of {KEYS}, {OR_A_FILE}. May be repeated; by default the "
            "paper's learners. Fitted iterations such as FQI have no rule that could be looked up, and are not judged.",
            autocompletion=complete,
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Keep the verdicts in this folder, as Parquet files, and go on from those that are there.",
        ),
    ] = None,
    smallest: Annotated[
        bool,
        typer.Option(
            "--smallest",
            help="Show the smallest problem of each question, with its proofs checked.",
        ),
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(help="Write the smallest problem of the only question to this model file."),
    ] = None,
    force: Force = False,
    workers: Workers = None,
    backend: Backend = "cores",
    scheduler: Scheduler = None,
    as_json: JsonFlag = False,
    *,
    numbers: dict[str, str],
) -> None:
    """Judge every problem of a small family exactly, and answer questions about all of them.

    A second call with the same folder goes on from what is finished.

    Examples: [bold]obliquetd atlas --largest 1[/],
    [bold]obliquetd atlas "SETD unstable and TD stable" --largest 1 --smallest[/]
    """
    from obliquetd.atlas import DEFAULT, build
    from obliquetd.atlas.questions import parse
    from obliquetd.formats.model import save_model

    asked = question or []
    if (smallest or save) and not asked:
        raise InputError("--smallest and --save show a problem of a question; ask one")
    if save is not None and len(asked) > 1:
        raise InputError(
            f"--save writes one problem, and there are {len(asked)} questions; ask one"
        )
    check_outputs({"--save": save}, paths(learner or ()), force=force)
    chosen = made(learner or [], numbers) or list(DEFAULT)
    for text in asked:  # before any work
        parse(text, [x.label for x in chosen])
    found = build(
        states, features, largest=largest, parts=parts, on_policy=on_policy,
        discounts=discount or ["9/10"], learners=chosen, out=folder, workers=workers, backend=backend,
        scheduler=scheduler,
    )  # fmt: skip
    answers: list[dict[str, Any]] = []
    lines = str(found).splitlines()
    for text in asked:
        for gamma in found.discounts:
            count = found.count(text, discount=gamma)
            answers.append({"question": text, "discount": gamma, "count": count})
            at = f" at discount {gamma}" if len(found.discounts) > 1 else ""
            lines.append(f"{text}{at}: {count:,} of {len(found):,}")
            if count and (smallest or save):
                shown = found.smallest(text, discount=gamma)
                answers[-1] |= _as_data(shown)
                lines += _lines(shown, found.learners)
                if save is not None:
                    save_model(shown.problem, save)
                    save = None
    if not as_json:
        for line in lines:
            out.print(escape(line), soft_wrap=True)
        return
    tables = {gamma: found.table(discount=gamma) for gamma in found.discounts}
    print_json(
        {"problems": len(found), "members": found.members, "verdicts": tables, "answers": answers}
    )


def _lines(found: Found, learners: Mapping[str, Learner | None]) -> Iterator[str]:
    """A problem that was found: its states once, then each learner's verdict and matrix."""
    for k, (name, verdict) in enumerate(found.verdicts.items()):
        learner = learners[name]
        assert learner is not None
        told = found_lines(found.problem, learner)
        first = next(i for i, line in enumerate(told) if line.startswith("  A of "))
        yield from told[:first] if not k else ()
        proof = "its certificate holds" if name in found.certificates else "no certificate"
        yield f"  {name} is {verdict}; {proof}"
        yield from told[first:]


def _as_data(found: Found) -> dict[str, Any]:
    """A problem that was found, for other programs."""
    from obliquetd.formats.model import model_to_dict

    return {
        "model": model_to_dict(found.problem),
        "judged": found.verdicts,
        "certificates": found.certificates,
        "stands for": found.problems,
    }
