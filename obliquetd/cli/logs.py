"""Logs at the command line: read once, what a reader has to know of them, and intervals for what follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from obliquetd.cli.terminal import counted, escape, out, print_cells
from obliquetd.errors import InputError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

if TYPE_CHECKING:
    from obliquetd.formats.log import Log
    from obliquetd.formats.log_confidence import ModelConfidence

__all__ = ["confidence_data", "log_at", "log_confidence", "log_remarks", "show_confidence"]

MOST_MOVES = 600
"""Numbers estimated from a log up to which intervals are computed unasked; each takes a solve, or milliseconds."""


def log_at(model: str) -> Log | None:
    """The log in a file, None where the model is no log."""
    from obliquetd.formats.log import read_log

    return read_log(model) if model.lower().endswith(".csv") else None


def log_remarks(log: Log, target: str | None, discount: str | None) -> list[str]:
    """What a reader of an analysis of a log has to know: how much there is, and whose policies they are."""
    begun = sum(step.first for step in log.steps)
    first = (
        f"the model is estimated from {counted(len(log.steps), 'transition')} in {counted(begun, 'episode')}: "
        "its numbers are relative frequencies, and have errors of their own"
    )
    told = [first, *log.told_policies({"target": target})]
    if discount is None:
        told.append("the discount is 1, since a log names none; --discount gives another")
    return told


def log_confidence(
    log: Log,
    problem: PolicyEvaluation,
    target: str | None,
    methods: Iterable[str] = (),
    rules: Mapping[str, Learner] | None = None,
) -> ModelConfidence | str:
    """Intervals for the analysis of a log, or why there are none.

    ``problem`` is what was made of the log with the options of the command line; ``methods`` and ``rules`` are
    the fixed points that have intervals, too.
    """
    if problem.symbols:
        names = ", ".join(map(str, problem.symbols))
        return f"no confidence intervals: give numbers for {names}, as in --set {problem.symbols[0]}=9/10"
    if problem.native.noun != "state":
        return "no confidence intervals: they are for the values of states, --over states"
    moves = log.estimated_numbers
    if moves > MOST_MOVES:
        return (
            f"no confidence intervals: the log estimates {moves} numbers, which takes long; "
            "otd.formats.read_log(FILE).confidence(discount=...) makes them"
        )
    own = not log.has("behavior")
    follows = own and (target == "behavior" or (target is None and not log.has("target")))
    try:
        return log.confidence(
            "behavior" if follows else problem.target,
            behavior=None if own else problem.behavior,
            discount=problem.discount,
            methods={name: name for name in methods}
            | {f"{name} (rule)": rule for name, rule in (rules or {}).items()},
        )
    except InputError as error:  # a log that is too short for them is not too short for the rest
        return f"no confidence intervals: {error}"


def confidence_data(found: ModelConfidence | str) -> dict[str, Any]:
    """The same as strict JSON data."""
    from obliquetd.report.analysis import json_number

    if isinstance(found, str):
        return {"problem": found}
    return {
        "level": found.level,
        "method": found.method,
        "answers": [
            {k: json_number(x) if isinstance(x, float) else x for k, x in row.items()}
            for row in found.rows()
        ],
        "problems": found.problems,
        "remarks": found.remarks,
    }


def show_confidence(found: ModelConfidence | str, states: set[Any]) -> None:
    """The table of intervals, for some of the states."""
    if isinstance(found, str):
        out.print(escape(found), soft_wrap=True)
        return
    out.print(f"how far off the estimates may be: {escape(found.caption)}")
    by_state = ("xi", "v_pi", "best")
    print_cells(
        found.cells(a for a in found.answers if a.quantity not in by_state or a.of in states)
    )
    for remark in found.remarks:
        out.print(f"[yellow]{escape(remark)}[/]", soft_wrap=True)
