"""Sub-commands about a model: analysis, certificates, counterexamples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from obliquetd.cli.bound import bound_to
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
from obliquetd.cli.logs import (
    confidence_data,
    log_at,
    log_confidence,
    log_remarks,
    show_confidence,
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
    symbol: Symbols = None,
    normalize: Normalize = False,
    tolerance: Tolerance = None,
    reward: Reward = None,
    over: Over = None,
    target: Target = None,
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
    rounding. Of a log (.csv) the model is estimated, and 95 % confidence intervals are shown.

    Examples: [bold]obliquetd analyze model.json --learner td[/],
    [bold]obliquetd analyze "gym:FrozenLake-v1?map_name=8x8" --arithmetic exact --discount 99/100[/]
    """
    from obliquetd.report.analysis import analyze as analyze_problem

    methods = [name for name in learner or METHODS if name in METHODS]
    rules = _rules(learner, numbers)
    log = log_at(model)
    problem = load(
        model if log is None else log, discount, arithmetic, set_, symbol, normalize=normalize,
        tolerance=tolerance, reward=reward, over=over, target=target,
    )  # fmt: skip
    most = len(problem.states) if all_states else MOST_STATES
    intervals = None
    with err.status("solving ..."):
        found = analyze_problem(problem, methods, rules, noise=noise)
        data = found.to_dict() if as_json else None
        if log is not None:
            asked = (methods, rules) if learner else ()
            intervals = log_confidence(log, problem, target, *asked)
    remarks = [] if log is None else log_remarks(log, target, discount)
    if data is not None:
        if log is not None:
            data["log"] = remarks
        if intervals is not None:
            data["confidence"] = confidence_data(intervals)
        print_json(data)
    else:
        for remark in remarks:
            out.print(escape(remark), soft_wrap=True)
        show_analysis(found, most)
        if intervals is not None:
            show_confidence(intervals, set(problem.states[:most]))
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
            help="The model that the certificate has to be about, in place of the one that it holds: a model file.",
        ),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(
            help="The learner that the certificate has to be about, in place of the one that it holds: "
            f"{KEYS}, {OR_A_FILE}.",
            autocompletion=complete,
        ),
    ] = None,
    coq: Annotated[
        Path | None,
        typer.Option(
            help="Write a valid certificate to this file, as a proof for Coq, and have coqc check it "
            "where there is one."
        ),
    ] = None,
    force: Force = False,
    as_json: JsonFlag = False,
    *,
    numbers: dict[str, str],
) -> None:
    """Check a stability certificate again, with exact fractions and nothing else.

    A certificate proves that the matrix A of a learner's expected update is stable, or that it is
    not; or that a fitted iteration (FQI, PFQI) converges. A and the span of all updates are computed
    again and compared with the certificate: from the model and the learner or iteration that it
    holds, or from those that are named in their place. A certificate of an earlier version holds
    neither; its own matrix is then checked alone, and the command says so. The exit status is 1
    where the certificate does not prove its claim.

    Examples: [bold]obliquetd check certificate.json[/],
    [bold]obliquetd check certificate.json --model model.json[/],
    [bold]obliquetd check certificate.json --coq certificate.v[/]
    """
    from obliquetd.cli.proof_file import write_proof
    from obliquetd.dynamics import check_certificate
    from obliquetd.dynamics.provenance import missing
    from obliquetd.formats.model import read_json

    check_outputs({"--coq": coq}, [certificate, model], force=force)
    data = read_json(certificate)
    if not isinstance(data, dict) or not {"claim", "A", "quotient"} <= set(data):
        raise InputError(
            f"{certificate} is no certificate: expected an object with 'claim', 'A', 'basis', "
            "'quotient' and the evidence"
        )
    to = bound_to(data, model, learner, numbers)
    proved = check_certificate(data)
    valid = proved and check_certificate(data, to.problem, to.rule)
    claim = str(data["claim"])
    proof = write_proof(data, coq) if valid and coq is not None else None
    if as_json:
        bound = {"model": to.model, "learner": to.learner} if to.problem is not None else {}
        bound |= proof.row if proof is not None else {}
        print_json({"claim": claim, "valid": valid, **bound, "missing": missing(data)})
    elif valid:
        size, span = len(data["A"]), len(data["quotient"])
        inside = f" on the span of its basis, of dimension {span}" if span < size else ""
        proves = "convergent: its powers tend to 0" if claim == "convergent" else claim
        out.print(f"[green]valid[/]: the {size} by {size} matrix A is {escape(proves)}{inside}")
        if to.problem is not None:
            what = "A, by which errors are multiplied, was" if claim == "convergent" else (
                "A and the span of the updates were"
            )  # fmt: skip
            told = f"{what} computed anew: {to.learner} on {to.model}"
            out.print(escape(told), soft_wrap=True)
        if data.get("made_by"):
            out.print(escape(f"made by {data['made_by']}"), soft_wrap=True)
        for remark in to.remarks:
            out.print(escape(remark), soft_wrap=True)
        if proof is not None:
            out.print(escape(proof.told), soft_wrap=True)
    if proof is not None and proof.refused:
        raise typer.Exit(1)
    if not valid:
        say_error(
            f"the certificate proves its claim ({claim}), but not of this model and learner "
            f"({to.learner} on {to.model})"
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
        Path | None,
        typer.Option(
            help="Write the certificate of instability to this JSON file, and beside it one that each "
            "--stable learner is stable: for FILE.json and TD, FILE-td.json."
        ),
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
    beside = {} if certificate is None else _beside(certificate, stable or (), held)
    outputs = {
        "--save": save, "--certificate": certificate, "--card": card,
        **{f"--certificate, of {label}," : path for label, path in beside.items()},
    }  # fmt: skip
    check_outputs(outputs, [checkpoint, *paths(names)], force=force)
    found = find_unstable(
        wanted, states, features, on_policy=on_policy, discount=discount, walks=walks,
        stable=held, seed=seed, checkpoint=checkpoint,
    )  # fmt: skip
    if found.problem is not None and save is not None:
        save_model(found.problem, save)
    if found.certificate is not None and certificate is not None:
        write_json(certificate, found.certificate)
        for label, path in beside.items():
            if isinstance(found.stable[label], dict):
                write_json(path, found.stable[label])
    if found.problem is not None and card is not None:
        write_card(card, found.problem, learner, wanted)
    written = [str(x) for x in (save, certificate, *beside.values(), card) if x and x.exists()]
    if as_json:
        model = None if found.problem is None else model_to_dict(found.problem)
        print_json(
            {
                "model": model,
                "certificate": found.certificate,
                "stable": dict(found.stable),
                "tried": found.tried,
                "walks": found.walks,
            }
        )
        return
    out.print(escape(str(found)))
    if found.problem is not None:
        show_found(found.problem, wanted)
        for label, proof in found.stable.items():
            told = (
                "certified"
                if isinstance(proof, dict)
                else f"exactly, without a certificate: {proof}"
            )
            out.print(escape(f"  {label} is stable on it, {told}"), soft_wrap=True)
        if written:
            out.print(escape(f"written: {', '.join(written)}"), soft_wrap=True)


def _beside(
    certificate: Path, names: Sequence[str], learners: Sequence[Learner]
) -> dict[str, Path]:
    """Where the certificate of each stable learner goes, by the learner's label."""
    shown = labelled([Path(name.rpartition(":")[2]).name.lower() for name in names], learners)
    return {
        learner.label: certificate.with_stem(f"{certificate.stem}-{name.replace(' ', '-')}")
        for name, learner in shown.items()
    }
