"""Sub-commands about a model: analysis, certificates, counterexamples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from obliquetd.algebra import number_text
from obliquetd.cli.common import (
    MODEL,
    JsonFlag,
    Normalize,
    Reward,
    Tolerance,
    app,
    assignment,
    check_names,
    choices,
    err,
    load,
    mean_learner,
    print_json,
    say_error,
)
from obliquetd.errors import InputError
from obliquetd.learners import LEARNERS
from obliquetd.problem import METHODS
from obliquetd.terminal import MOST_STATES, out, show_analysis

__all__ = ["analyze", "check", "search"]


@app.command(rich_help_panel=MODEL)
def analyze(
    model: Annotated[
        str,
        typer.Argument(
            help="A model file (.json, .npz, .graphml, .tra, .drn, .csv), or gym:NAME[?option=value&...]."
        ),
    ],
    discount: Annotated[str | None, typer.Option(help="In place of the model's.")] = None,
    arithmetic: Annotated[str | None, typer.Option(help="exact, symbolic or float.")] = None,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            help=f"A fixed point by formula ({', '.join(METHODS)}) or a learner by its rule "
            f"({', '.join(LEARNERS)}); may be repeated. All by default.",
            autocompletion=choices(*dict.fromkeys((*METHODS, *LEARNERS))),
        ),
    ] = None,
    lam: Annotated[str, typer.Option(help="The trace parameter of the learners.")] = "0",
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE: a number for a symbol.")
    ] = None,
    normalize: Normalize = False,
    tolerance: Tolerance = None,
    reward: Reward = None,
    as_json: JsonFlag = False,
    all_states: Annotated[bool, typer.Option("--all", help="Every state in the table.")] = False,
) -> None:
    """Analyse a model: chain, values, X*, fixed points and their errors.

    Examples: [bold]obliquetd analyze model.json --learner td[/],
    [bold]obliquetd analyze "gym:FrozenLake-v1?map_name=8x8" --arithmetic exact --discount 99/100[/]
    """
    from obliquetd.analysis import analyze as analyze_problem

    problem = load(model, discount, arithmetic, normalize, tolerance, reward)
    if set_:
        problem = problem.subs(dict(assignment(text) for text in set_))
    check_names(learner or (), dict.fromkeys((*METHODS, *LEARNERS)))
    methods = [name for name in learner or METHODS if name in METHODS]
    rules = {name: mean_learner(name, lam) for name in learner or LEARNERS if name in LEARNERS}
    with err.status("solving ..."):
        found = analyze_problem(problem, methods, rules)
        data = found.to_dict() if as_json else None
    if data is not None:
        print_json(data)
    else:
        show_analysis(found, len(problem.states) if all_states else MOST_STATES)
    failures = found.failures(learner or ())
    for failure in failures:
        say_error(failure)
    if failures:
        raise typer.Exit(2)


@app.command(rich_help_panel=MODEL)
def check(
    certificate: Annotated[Path, typer.Argument(help="A JSON file with a certificate.")],
    as_json: JsonFlag = False,
) -> None:
    """Re-check a stability certificate, with exact fractions and nothing else.

    Example: [bold]obliquetd check certificate.json[/] (exit status 1 where it proves nothing)
    """
    from obliquetd.dynamics import check_certificate
    from obliquetd.formats.model import read_json

    data = read_json(certificate)
    if not isinstance(data, dict) or not {"claim", "A", "quotient"} <= set(data):
        raise InputError(
            f"{certificate} is no certificate: expected an object with 'claim', 'A', 'kernel', 'rows', "
            "'quotient' and the evidence"
        )
    valid = check_certificate(data)
    claim = str(data["claim"])
    if as_json:
        print_json({"claim": claim, "valid": valid})
    elif valid:
        size, kernel = len(data["A"]), len(data["kernel"])
        modulo = f", modulo a kernel of dimension {kernel}" if kernel else ""
        out.print(f"[green]valid[/]: the {size} by {size} matrix A is {escape(claim)}{modulo}")
    if not valid:
        say_error(f"the certificate does not prove its claim ({claim})")
        raise typer.Exit(1)


@app.command(rich_help_panel=MODEL)
def search(
    learner: Annotated[
        str,
        typer.Argument(help=f"One of {', '.join(LEARNERS)}.", autocompletion=choices(*LEARNERS)),
    ],
    states: Annotated[int, typer.Option(help="Number of states.")] = 3,
    features: Annotated[int, typer.Option(help="Number of features.")] = 2,
    on_policy: Annotated[bool, typer.Option("--on-policy", help="One policy, any chain.")] = False,
    discount: Annotated[str, typer.Option(help="A number in [0, 1).")] = "9/10",
    stable: Annotated[
        list[str] | None, typer.Option(help="A learner that has to be stable; may be repeated.")
    ] = None,
    walks: Annotated[int, typer.Option(help="How many walks at most.")] = 400,
    seed: Annotated[int, typer.Option(help="The answer depends on it alone.")] = 0,
    checkpoint: Annotated[Path | None, typer.Option(help="Progress, to go on from.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the problem as a model file.")] = None,
    certificate: Annotated[Path | None, typer.Option(help="Write the certificate.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Hunt for a small problem on which a learner's expected update is unstable.

    Example: [bold]obliquetd search setd --states 3 --features 2 --stable td[/]
    """
    from obliquetd.formats.model import model_to_dict, save_model, write_json
    from obliquetd.search import find_unstable

    check_names((learner, *(stable or ())), LEARNERS)
    found = find_unstable(
        LEARNERS[learner](), states, features, on_policy=on_policy, discount=discount, walks=walks,
        stable=[LEARNERS[name]() for name in stable or ()], seed=seed, checkpoint=checkpoint,
    )  # fmt: skip
    if found.problem is not None and save is not None:
        save_model(found.problem, save)
    if found.certificate is not None and certificate is not None:
        write_json(certificate, found.certificate)
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
        for s, row, phi in zip(
            found.problem.states,
            found.problem.P_pi.tolist(),
            found.problem.Phi.tolist(),
            strict=True,
        ):
            moves = ", ".join(
                f"{t} with {number_text(p)}"
                for t, p in zip(found.problem.states, row, strict=True)
                if p
            )
            out.print(
                escape(
                    f"  state {s}: phi = ({', '.join(map(number_text, phi))}), target to {moves}"
                )
            )
