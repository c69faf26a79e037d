"""The command ``obliquetd``."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from obliquetd.algebra import cell_text, number_text
from obliquetd.errors import InputError, ObliqueTDError
from obliquetd.learners import LEARNERS, Learner
from obliquetd.problem import METHODS, PolicyEvaluation
from obliquetd.terminal import MOST_STATES, out, show_analysis, show_claims

app = typer.Typer(
    help="The exact truth about temporal-difference policy evaluation.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
err = Console(stderr=True)


def _print_json(data: Any) -> None:
    typer.echo(json.dumps(data, indent=1, allow_nan=False, ensure_ascii=False))


JsonFlag = Annotated[bool, typer.Option("--json", help="Strict JSON for machines.")]


@app.command()
def verify(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Claims to check; all by default.")
    ] = None,
    as_json: JsonFlag = False,
    evidence: Annotated[
        bool, typer.Option("--evidence/--brief", help="With or without the evidence.")
    ] = True,
) -> None:
    """Check every claim of the paper.

    Examples: [bold]obliquetd verify[/], [bold]obliquetd verify table-1-etd --json[/]
    """
    from obliquetd.claims import verify as check_claims

    start = time.perf_counter()
    with err.status("checking ...") as status:
        results = check_claims(
            ids or None, progress=lambda c: status.update(f"checking {escape(c.id)} ...")
        )
    if as_json:
        _print_json([r.to_dict() for r in results])
    else:
        show_claims(results, evidence, time.perf_counter() - start)
    failed = [r for r in results if r.failed]
    for r in failed:
        _say_error(f"the check of {r.id} failed: {r.evidence}")
    if failed:
        raise typer.Exit(1)


@app.command()
def table1(
    discount: Annotated[str, typer.Option(help="Of the two-state example.")] = "9/10",
    as_json: JsonFlag = False,
) -> None:
    """Table I of the paper, recomputed: printed, by the printed convention, by the definition.

    Example: [bold]obliquetd table1[/]
    """
    from obliquetd.claims.two_state import TABLE_1, printed_convention
    from obliquetd.compare import LEGEND, compare
    from obliquetd.domains import two_state

    problem = two_state(discount=discount)
    if problem.symbols:
        raise InputError("table1 needs a number for the discount, such as 9/10")
    table = compare(problem, list(TABLE_1), quantities=["criterion", "distance", "angle"])
    convention = problem.fixed_point(Omega=printed_convention(problem))
    rows: list[tuple[Any, ...]] = []
    for name, printed in TABLE_1.items():
        q = table[name].quantities
        label = "Xi^-1 diag(f), as defined" if name == "etd" else ""
        rows.append((name, label, " / ".join(printed), *q.values()))
        if name == "etd":
            rows.append(
                (name, "diag(f), as printed", " / ".join(printed), convention.criterion,
                 convention.distance, convention.angle)
            )  # fmt: skip
    if as_json:
        keys = ("method", "convention", "printed", "criterion", "distance", "angle")
        _print_json([dict(zip(keys, (*r[:3], *map(str, r[3:])), strict=True)) for r in rows])
        return
    shown = Table(title=f"Table I, two-state MDP, discount {problem.discount}")
    for heading in ("method", "printed", "criterion", "distance", "angle"):
        shown.add_column(heading, justify="left" if heading == "method" else "right")
    for name, label, printed, *numbers in rows:
        shown.add_row(f"{name}  {label}", printed, *map(cell_text, numbers))
    out.print(shown)
    out.print(
        f"{LEGEND.rpartition(', worst')[0]}.\n"
        "The printed column is for discount 9/10. Details: obliquetd verify"
    )


@app.command()
def analyze(
    model: Annotated[
        str, typer.Argument(help="A JSON model file, or gym:NAME[?option=value&...].")
    ],
    discount: Annotated[str | None, typer.Option(help="In place of the model's.")] = None,
    arithmetic: Annotated[str | None, typer.Option(help="exact, symbolic or float.")] = None,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            help=f"A fixed point by formula ({', '.join(METHODS)}) or a learner by its rule "
            f"({', '.join(LEARNERS)}); may be repeated. All by default."
        ),
    ] = None,
    lam: Annotated[str, typer.Option(help="The trace parameter of the learners.")] = "0",
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE: a number for a symbol.")
    ] = None,
    as_json: JsonFlag = False,
    all_states: Annotated[bool, typer.Option("--all", help="Every state in the table.")] = False,
) -> None:
    """Analyse a model: chain, values, X*, fixed points and their errors.

    Examples: [bold]obliquetd analyze model.json --learner td[/],
    [bold]obliquetd analyze "gym:FrozenLake-v1?map_name=8x8" --arithmetic exact --discount 99/100[/]
    """
    from obliquetd.analysis import analyze as analyze_problem

    problem = _load(model, discount, arithmetic)
    if set_:
        problem = problem.subs(dict(_assignment(text) for text in set_))
    _check_names(learner or (), dict.fromkeys((*METHODS, *LEARNERS)))
    methods = [name for name in learner or METHODS if name in METHODS]
    rules = {name: _learner(name, lam) for name in learner or LEARNERS if name in LEARNERS}
    with err.status("solving ..."):
        found = analyze_problem(problem, methods, rules)
        data = found.to_dict() if as_json else None
    if data is not None:
        _print_json(data)
    else:
        show_analysis(found, len(problem.states) if all_states else MOST_STATES)
    failures = found.failures(learner or ())
    for failure in failures:
        _say_error(failure)
    if failures:
        raise typer.Exit(2)


@app.command()
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
        _print_json({"claim": claim, "valid": valid})
    elif valid:
        size, kernel = len(data["A"]), len(data["kernel"])
        modulo = f", modulo a kernel of dimension {kernel}" if kernel else ""
        out.print(f"[green]valid[/]: the {size} by {size} matrix A is {escape(claim)}{modulo}")
    if not valid:
        _say_error(f"the certificate does not prove its claim ({claim})")
        raise typer.Exit(1)


@app.command()
def search(
    learner: Annotated[str, typer.Argument(help=f"One of {', '.join(LEARNERS)}.")],
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

    _check_names((learner, *(stable or ())), LEARNERS)
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
        _print_json(
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


def _check_names(names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise InputError(f"no learner is called {name!r}; expected one of {', '.join(known)}")


def _learner(name: str, lam: str) -> Learner:
    """A learner for its mean dynamics: no step size, beta = alpha."""
    traced = {} if name.startswith("rg") else {"lam": lam}
    return LEARNERS[name](**traced)


def _load(model: str, discount: str | None, arithmetic: str | None) -> PolicyEvaluation:
    from obliquetd.formats import load_model
    from obliquetd.formats.gym import load_gym

    given = {"discount": discount, "arithmetic": arithmetic}
    chosen = {k: v for k, v in given.items() if v is not None}
    if model.startswith("gym:"):
        return load_gym(model.removeprefix("gym:"), **chosen)
    return load_model(Path(model), **chosen)


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"--set {text!r}; expected NAME=VALUE, as in gamma=9/10")
    return name.strip(), value.strip()


def main(arguments: list[str] | None = None) -> None:
    """Run the command: exit status 0 done, 1 a check failed, 2 bad input."""
    warnings.showwarning = _warn
    try:
        app(args=arguments, prog_name="obliquetd")
    except ObliqueTDError as error:
        _say_error(str(error))
        sys.exit(2)


def _say_error(text: str) -> None:
    err.print(f"[red]error:[/] {escape(text)}", soft_wrap=True)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    err.print(f"[yellow]warning:[/] {escape(str(message))}", soft_wrap=True)
