"""The sub-command that runs learners and shows their learning curves."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
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
    choices,
    load,
    print_json,
    say_error,
)
from obliquetd.cli.learners import (
    KEYS,
    OR_A_FILE,
    complete,
    kind_of,
    labelled,
    made,
    paths,
    with_numbers,
)
from obliquetd.cli.terminal import escape, out, print_cells
from obliquetd.errors import InputError
from obliquetd.learners import ETD, SETD, TD
from obliquetd.problem import PolicyEvaluation

__all__ = ["simulate"]

ENDINGS = (".png", ".svg", ".csv", ".json")
LINES = 10
"""Steps of a learning curve that are printed, about."""
BY_DEFAULT = (TD.key, SETD.key, ETD.key)
"""What runs unless something is named: the three that differ in the emphasis alone."""
CAREFUL = 0.05
"""The default step size, in units of 1 / max ||phi(s)||^2."""


ON_A_LOG = (
    "The learners ran on new transitions of the model that is estimated from the log, not on the log itself; "
    "for that, otd.simulate(None, learners, stream=otd.LoggedData.from_log(log, features, discount=))."
)


@app.command(rich_help_panel=MODEL)
@with_numbers
def simulate(
    model: ModelFile,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Run this learner: one of {KEYS}, {OR_A_FILE}. May be repeated; "
            f"{', '.join(BY_DEFAULT)} run by default, all on the same transitions.",
            autocompletion=complete,
        ),
    ] = None,
    alpha: Annotated[
        list[str] | None,
        typer.Option(
            help="The constant step size, such as 1/100. Give it once for all learners, or once for each of them "
            "in the same order. The default is 1 / (20 m), where m is the largest squared length of a "
            "feature vector."
        ),
    ] = None,
    steps: Annotated[
        int, typer.Option(help="The number of steps, that is of transitions, in each run.")
    ] = 1000,
    runs: Annotated[
        int, typer.Option(help="The number of runs. The errors shown are means over the runs.")
    ] = 20,
    seed: Annotated[
        int,
        typer.Option(
            help="The seed of the random numbers. The same seed gives the same numbers again."
        ),
    ] = 0,
    every: Annotated[
        int | None,
        typer.Option(
            help="Record the errors after every so many steps. The default is the number of steps / 500, or 1."
        ),
    ] = None,
    theta0: Annotated[
        str | None,
        typer.Option(
            help="The first weights, one for each feature, such as 1,0,-1/2. The default is 0 for each."
        ),
    ] = None,
    stream: Annotated[
        str,
        typer.Option(
            help="How transitions are drawn: along one trajectory (trajectory), each on its own from the "
            "state weights (iid), or in episodes (episodes).",
            autocompletion=choices("trajectory", "iid", "episodes"),
        ),
    ] = "trajectory",
    start: Annotated[
        list[str] | None,
        typer.Option(
            help="The state in which episodes begin, as STATE or STATE=PROBABILITY. May be repeated."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Write the curves to this file: a picture (.png, .svg) or a table (.csv, .json).",
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
    """Run learners on a model and show their learning curves.

    The errors are the RMSE, the root mean squared error of the estimated values, and the RMSPBE,
    the same of the projected Bellman error; both weigh the states by xi. A run that diverges is
    reported with its step, and the exit status is then 1. A picture that an earlier call wrote is
    replaced. Any other file that exists is kept, unless --force is given.

    Examples: [bold]obliquetd simulate model.json --learner td --alpha 1/100[/],
    [bold]obliquetd simulate model.json --steps 5000 --runs 50 -o curves.png[/]
    """  # fmt: skip
    from obliquetd.experiments import simulate as run_learners
    from obliquetd.report.verdicts import quick_verdict

    names = list(learner or BY_DEFAULT)
    kinds = [kind_of(name) for name in names]
    _check_ending(output)
    check_outputs({"--output": output}, [model, *paths(names)], force=force)
    problem = load(
        model,
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
    if problem.symbols:
        symbols = ", ".join(sorted(map(str, problem.symbols)))
        raise InputError(
            f"a simulation needs numbers for {symbols}; give them with --set NAME=VALUE"
        )
    chosen = labelled(
        [kind.name for kind in kinds],
        made(names, numbers, _step_sizes(problem, names, alpha), averaged=False),
    )
    found = run_learners(
        problem, chosen, steps, runs, seed, stream=stream, every=max(1, steps // 500) if every is None else every,
        theta0=None if theta0 is None else theta0.split(","), start=_starts(problem, start),
    )  # fmt: skip
    data = {
        "steps_taken": steps, "runs": runs, "seed": seed, "stream": stream,
        "diverged": any(curve.diverged for curve in found.curves.values()), **found.to_dict(),
    }  # fmt: skip
    for name, curve in found.curves.items():
        data["learners"][name]["alpha"] = curve.learner.step_size(0)
        steps_lost = [t for t in curve.diverged_at if t is not None]
        data["learners"][name]["first_divergence"] = min(steps_lost, default=None)
        data["learners"][name]["stability"] = (
            None  # episodes from elsewhere have weights other than the problem's xi
            if stream == "episodes" and start is not None
            else quick_verdict(problem, curve.learner, "iid" if stream == "iid" else "trajectory")
        )
    data["remarks"] = _remarks(problem, found, data, logged=model.lower().endswith(".csv"))
    if output is not None:
        _write(found, data, output)
    if as_json:
        print_json(data)
    else:
        _show(found, data)
        if output is not None:
            out.print(f"written: {escape(output)}", soft_wrap=True)
    _judge(data)


def _starts(problem: PolicyEvaluation, given: Sequence[str] | None) -> dict[Any, Any] | None:
    """The distribution of first states, from text."""
    if given is None:
        return None
    labels = {str(x): x for x in (*problem.mdp.states, *problem.states)}
    found: dict[Any, Any] = {}
    for text in given:
        name, probability = (text, "1") if text in labels else text.rpartition("=")[::2]
        if name not in labels:
            raise InputError(
                f"--start {text!r} names no state; expected STATE or STATE=PROBABILITY with one of "
                f"{', '.join(list(labels)[:10])}{' ...' if len(labels) > 10 else ''}"
            )
        if labels[name] in found:
            raise InputError(f"--start names {name} twice")
        found[labels[name]] = probability
    return found


def _check_ending(output: Path | None) -> None:
    if output is not None and output.suffix.lower() not in ENDINGS:
        raise InputError(
            f"--output {output} has the ending {output.suffix or 'none'!r}; expected "
            f"{', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
        )


def _step_sizes(
    problem: PolicyEvaluation, names: Sequence[str], given: Sequence[str] | None
) -> list[Any]:
    """One step size for each learner."""
    if not given:
        from obliquetd.experiments.streams import dense, floating

        longest = float((dense(floating(problem).Phi) ** 2).sum(axis=1).max())
        return [CAREFUL / longest if longest > 0 else CAREFUL] * len(names)
    if len(given) not in (1, len(names)):
        raise InputError(
            f"{len(given)} step sizes for {len(names)} learners; give --alpha once, or once for each "
            "--learner in the same order"
        )
    return list(given) * (len(names) if len(given) == 1 else 1)


def _write(found: Any, data: dict[str, Any], output: Path) -> None:
    from obliquetd.experiments.store import write_atomically

    ending = output.suffix.lower()
    if ending == ".json":
        text = json.dumps(data, indent=1, allow_nan=False) + "\n"
        write_atomically(output, lambda file: file.write(text.encode()))
    elif ending == ".csv":
        write_atomically(output, lambda file: file.write(_csv(found).encode()))
    else:
        from obliquetd.plotting import learning_curves
        from obliquetd.plotting.style import drawn

        picture = drawn(learning_curves(found), ending[1:])
        write_atomically(output, lambda file: file.write(picture))


def _csv(found: Any) -> str:
    """One line for each learner and recorded step; ``inf`` once a run has diverged."""
    text = io.StringIO()
    columns = ("learner", "alpha", "step", "rmse", "rmse_standard_error", "rmspbe")
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in found.rows():
        writer.writerow({k: "" if v != v else v for k, v in row.items()})
    return text.getvalue()


def _spread(curve: Any) -> Any:
    count = len(curve.theta)
    return curve.standard_error() if count > 1 else np.full(curve.rmse.shape[1], np.nan)


def _show(found: Any, data: dict[str, Any]) -> None:
    """The curves at some steps, and a line about each learner."""
    last = len(found.steps) - 1
    places = [*range(0, last, max(1, round(last / LINES))), last]
    curves = {name: curve.mean() for name, curve in found.curves.items()}
    cells = [["step", *curves]]
    for k in places:
        errors = (f"{c[k]:.4g}" if np.isfinite(c[k]) else "diverged" for c in curves.values())
        cells.append([str(found.steps[k]), *errors])
    runs = data["runs"]
    print_cells(cells, f"RMSE, mean of {runs} run{'s' if runs > 1 else ''}, seed {data['seed']}")
    for name, curve in found.curves.items():
        stability = data["learners"][name]["stability"]
        told = f"{name}: alpha = {curve.learner.step_size(0):.4g}, "
        end = curve.mean()[-1]
        if np.isfinite(end):
            told += f"RMSE {end:.4g} at the end"
            spread = _spread(curve)[-1]
            told += f" (standard error {spread:.2g})" if np.isfinite(spread) else ""
            told += f", RMSPBE {curve.mean('rmspbe')[-1]:.4g}"
        else:
            told += f"{curve.diverged} of {runs} diverged"
        told += f"; its expected update is {stability}" if stability else ""
        out.print(escape(told), soft_wrap=True)
    for remark in data["remarks"]:
        out.print(escape(remark), soft_wrap=True)


def _remarks(
    problem: PolicyEvaluation, found: Any, data: dict[str, Any], *, logged: bool
) -> list[str]:
    """Sentences on what the errors alone would hide: a log, divergence, and rewards that are zero."""
    from obliquetd.report.verdicts import stability_remarks

    learners = data["learners"]
    remarks = stability_remarks({name: learners[name]["stability"] for name in found.curves})
    if logged:
        remarks.insert(0, ON_A_LOG)
    silent = all(row[4] == 0 for row in problem.mdp.transitions)
    if silent and not any(curve.theta.any() for curve in found.curves.values()):
        ones = ",".join("1" for _ in range(problem.native.Phi.shape[1]))
        remarks.append(
            "Every reward is zero: from weights of 0 nothing moves and every error stays 0, whatever a "
            f"learner does. Begin elsewhere, as with --theta0 {ones}."
        )
    return remarks


def _judge(data: dict[str, Any]) -> None:
    """Exit status 1 where a run diverged."""
    for name, known in data["learners"].items():
        if known["diverged"]:
            say_error(
                f"{name} diverged in {known['diverged']} of {data['runs']} runs, first at step "
                f"{known['first_divergence']}"
            )
    if data["diverged"]:
        raise typer.Exit(1)
