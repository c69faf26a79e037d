"""Sub-commands about a model: analysis, certificates, counterexamples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    Tolerance,
    app,
    check_outputs,
    choices,
    load,
    print_json,
    say_error,
)
from obliquetd.cli.found import show_found
from obliquetd.cli.learners import (
    KEYS,
    OR_A_FILE,
    complete,
    kind_of,
    labelled,
    made,
    paths,
    with_numbers,
    write_card,
)
from obliquetd.cli.terminal import MOST_STATES, err, escape, out, show_analysis
from obliquetd.errors import InputError
from obliquetd.learners import LEARNERS, Learner
from obliquetd.problem import METHODS

__all__ = ["analyze", "check", "search"]


@app.command(rich_help_panel=MODEL)
@with_numbers
def analyze(
    model: ModelFile,
    discount: Discount = None,
    arithmetic: Arithmetic = None,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Show this fixed point by its formula ({', '.join(METHODS)}) or this learner by its "
            f"rule ({KEYS}, {OR_A_FILE}). May be repeated; all are shown by default.",
            autocompletion=choices(*dict.fromkeys((*METHODS, *LEARNERS))),
        ),
    ] = None,
    set_: Settings = None,
    normalize: Normalize = False,
    tolerance: Tolerance = None,
    reward: Reward = None,
    over: Over = None,
    as_json: JsonFlag = False,
    all_states: Annotated[
        bool,
        typer.Option(
            "--all",
            help=f"Show the values of every state. By default the first {MOST_STATES} are shown.",
        ),
    ] = False,
    noise: Annotated[
        bool | None,
        typer.Option(
            "--noise/--no-noise",
            help="Compute, or leave out, how noisy the weights of the learners and of LSTD and LS-ETD are in the "
            "long run. By default it is computed for small models, where it takes seconds.",
        ),
    ] = None,
    *,
    numbers: dict[str, str],
) -> None:
    """Analyse a model: chain, values, fixed points, which learners are stable, and how noisy.

    Nothing is simulated: every number is exact, a formula, or a float that is accurate to
    rounding.

    Examples: [bold]obliquetd analyze model.json --learner td[/],
    [bold]obliquetd analyze "gym:FrozenLake-v1?map_name=8x8" --arithmetic exact --discount 99/100[/]
    """
    from obliquetd.report.analysis import analyze as analyze_problem

    methods = [name for name in learner or METHODS if name in METHODS]
    rules = _rules(learner, numbers)
    problem = load(
        model,
        discount,
        arithmetic,
        set_,
        normalize=normalize,
        tolerance=tolerance,
        reward=reward,
        over=over,
    )
    with err.status("solving ..."):
        found = analyze_problem(problem, methods, rules, noise=noise)
        data = found.to_dict() if as_json else None
    if data is not None:
        print_json(data)
    else:
        show_analysis(found, len(problem.states) if all_states else MOST_STATES)
    failures = found.failures((*methods, *rules) if learner else ())
    for failure in failures:
        say_error(failure)
    if failures:
        raise typer.Exit(2)


def _rules(names: Sequence[str] | None, numbers: Mapping[str, str]) -> dict[str, Learner]:
    """The learners among the names, by key; one from a file by the name of its class."""
    if names is None:
        chosen = [key for key, kind in LEARNERS.items() if kind.listed]
    else:
        chosen = [name for name in names if name in LEARNERS or name not in METHODS]
    kinds = [kind_of(name, METHODS) for name in chosen]
    shown = [
        name if name in LEARNERS else kind.name for name, kind in zip(chosen, kinds, strict=True)
    ]
    return labelled(shown, made(chosen, numbers))


@app.command(rich_help_panel=MODEL)
@with_numbers
def check(
    certificate: Annotated[
        Path,
        typer.Argument(help="The certificate: a JSON file, as search --certificate writes it."),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            help="The model that the certificate has to be about: a model file. Needs --learner."
        ),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(
            help=f"The learner that the certificate has to be about: {KEYS}, {OR_A_FILE}. Needs --model.",
            autocompletion=complete,
        ),
    ] = None,
    as_json: JsonFlag = False,
    *,
    numbers: dict[str, str],
) -> None:
    """Check a stability certificate again, with exact fractions and nothing else.

    A certificate proves that the matrix A of a learner's expected update is stable, or that it is
    not. With a model and a learner, this matrix and the span of all updates are computed again
    and compared with the certificate. The exit status is 1 where the certificate does not prove
    its claim.

    Examples: [bold]obliquetd check certificate.json[/],
    [bold]obliquetd check certificate.json --model model.json --learner td[/]
    """
    from obliquetd.dynamics import check_certificate
    from obliquetd.formats.model import read_json

    data = read_json(certificate)
    if not isinstance(data, dict) or not {"claim", "A", "quotient"} <= set(data):
        raise InputError(
            f"{certificate} is no certificate: expected an object with 'claim', 'A', 'basis', "
            "'quotient' and the evidence"
        )
    if (model is None) != (learner is None):
        raise InputError("--model and --learner go together; give both, or neither")
    if numbers and learner is None:
        raise InputError(
            f"--{next(iter(numbers))} is a learner's; give --learner and --model as well"
        )
    problem = rule = None
    if model is not None and learner is not None:
        (rule,) = made([learner], numbers)
        problem = load(model, None, None)
    proved = check_certificate(data)
    valid = proved and check_certificate(data, problem, rule)
    claim = str(data["claim"])
    if as_json:
        bound = {} if model is None else {"model": model, "learner": learner}
        print_json({"claim": claim, "valid": valid, **bound})
    elif valid:
        size, span = len(data["A"]), len(data["quotient"])
        inside = f" on the span of its basis, of dimension {span}" if span < size else ""
        out.print(f"[green]valid[/]: the {size} by {size} matrix A is {escape(claim)}{inside}")
        if model is None:
            out.print(
                "not checked: whose matrix A is, and that all weights move in that span; --model and "
                "--learner check both",
                soft_wrap=True,
            )
    if not valid:
        say_error(
            f"the certificate proves its claim ({claim}), but not of this model and learner"
            if proved
            else f"the certificate does not prove its claim ({claim})"
        )
        raise typer.Exit(1)


@app.command(rich_help_panel=MODEL)
@with_numbers
def search(
    learner: Annotated[
        str,
        typer.Argument(
            help=f"The learner that has to be unstable on the problem: one of {KEYS}, {OR_A_FILE}.",
            autocompletion=complete,
        ),
    ],
    states: Annotated[int, typer.Option(help="The number of states of the problem.")] = 3,
    features: Annotated[
        int,
        typer.Option(help="The number of features of the problem, at most the number of states."),
    ] = 2,
    on_policy: Annotated[
        bool,
        typer.Option(
            "--on-policy",
            help="Look only at problems whose target and behaviour are the same policy.",
        ),
    ] = False,
    discount: Annotated[
        str, typer.Option(help="The discount of the problem, from 0 to below 1.")
    ] = "9/10",
    stable: Annotated[
        list[str] | None,
        typer.Option(
            help="Require that this learner is stable on the same problem. May be repeated.",
            autocompletion=complete,
        ),
    ] = None,
    walks: Annotated[
        int,
        typer.Option(
            help="Stop after this many walks. A walk begins at a random problem and changes it step by step "
            "towards instability."
        ),
    ] = 400,
    seed: Annotated[
        int,
        typer.Option(
            help="The seed of the random numbers. The same seed finds the same problem again."
        ),
    ] = 0,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Keep the progress in this file. If it exists, the search continues from there."
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            help="Write the problem that is found to this model file, such as found.json."
        ),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Write the certificate of instability to this JSON file.")
    ] = None,
    card: Annotated[
        Path | None,
        typer.Option(
            help="Write the problem that is found, its proof and pictures to this HTML file, one page to print."
        ),
    ] = None,
    force: Force = False,
    as_json: JsonFlag = False,
    *,
    numbers: dict[str, str],
) -> None:
    """Search for a small problem on which a learner's expected update is unstable.

    What is found is exact and comes with a proof that the learner diverges there in expectation.
    Where nothing is found, nothing is proved. Files that exist are kept, unless --force is given.

    Example: [bold]obliquetd search setd --states 3 --features 2 --stable td[/]
    """
    from obliquetd.formats.model import model_to_dict, save_model, write_json
    from obliquetd.search import find_unstable

    names = (learner, *(stable or ()))
    wanted, *held = made(names, numbers)
    outputs = {"--save": save, "--certificate": certificate, "--card": card}
    check_outputs(outputs, [checkpoint, *paths(names)], force=force)
    found = find_unstable(
        wanted, states, features, on_policy=on_policy, discount=discount, walks=walks,
        stable=held, seed=seed, checkpoint=checkpoint,
    )  # fmt: skip
    if found.problem is not None and save is not None:
        save_model(found.problem, save)
    if found.certificate is not None and certificate is not None:
        write_json(certificate, found.certificate)
    if found.problem is not None and card is not None:
        write_card(card, found.problem, learner, wanted)
    if as_json:
        model = None if found.problem is None else model_to_dict(found.problem)
        print_json(
            {
                "model": model,
                "certificate": found.certificate,
                "tried": found.tried,
                "walks": found.walks,
            }
        )
        return
    out.print(escape(str(found)))
    if found.problem is not None:
        show_found(found.problem, wanted)
