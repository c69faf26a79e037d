"""Logged transitions as CSV: a model estimated from counts, exactly.

The first line names the columns: ``state``, ``action``, ``next_state``, ``reward``, and where they
are known ``done`` (the episode ended here, in a state worth nothing more), ``truncated`` (a limit of
time cut it here: the next line begins anew, but ``next_state`` keeps its value), ``first`` (an episode
begins), ``target`` and ``behavior`` (probabilities of the action taken). Labels are integers where all of them are, else text.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from obliquetd.errors import InputError, ModelFileError
from obliquetd.formats.explicit import number_in, read_lines
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["Log", "LoggedStep", "read_log"]

NEEDED = ("state", "action", "next_state", "reward")
OPTIONAL = ("done", "truncated", "first", "target", "behavior")
TRUTH = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False, "": False}


class LoggedStep(NamedTuple):
    """One line of a log; ``target`` and ``behavior`` are None where they are not logged."""

    state: Any
    action: Any
    next_state: Any
    reward: Any
    done: bool
    first: bool
    target: Any
    behavior: Any
    line: int


@dataclass(frozen=True)
class Log:
    """Transitions in the order in which they were logged.

    Attributes
    ----------
    steps : tuple of LoggedStep
    """

    steps: tuple[LoggedStep, ...]

    def counts(self) -> Counter[tuple[Any, Any]]:
        """How often each action was taken in each state."""
        return Counter((step.state, step.action) for step in self.steps)

    def start(self) -> dict[Any, Fraction]:
        """Where episodes began, as relative frequencies."""
        begun = Counter(step.state for step in self.steps if step.first)
        total = begun.total()
        return {s: Fraction(k, total) for s, k in begun.items()}

    def behavior(self) -> Policy:
        """The relative frequency of each action in each state."""
        by_state: dict[Any, dict[Any, int]] = {}
        for (s, a), k in self.counts().items():
            by_state.setdefault(s, {})[a] = k
        return Policy(
            {
                s: {a: Fraction(k, sum(row.values())) for a, k in row.items()}
                for s, row in by_state.items()
            }
        )

    def model(self) -> MDP:
        """The MDP of relative frequencies: exact, the maximum-likelihood model.

        An end restarts where episodes began, with discount 0, so that the chain goes on.

        Raises
        ------
        InputError
            For a state that is entered, not at an end, and never left.
        """
        taken = self.counts()
        left = {step.state for step in self.steps}
        moves: Counter[tuple[Any, Any, Any, Any, bool]] = Counter()
        for step in self.steps:
            if not step.done and step.next_state not in left:
                raise InputError(
                    f"line {step.line} enters state {step.next_state!r}, which no line leaves; if the "
                    "episode ended there, mark that line as done, else log what follows"
                )
            to = None if step.done else step.next_state
            moves[step.state, step.action, to, step.reward, step.done] += 1
        rows: list[tuple[Any, ...]] = []
        for (s, a, t, reward, done), k in moves.items():
            share = Fraction(k, taken[s, a])
            if done:
                rows += [(s, a, u, share * q, reward, 0) for u, q in self.start().items()]
            else:
                rows.append((s, a, t, share, reward))
        order = dict.fromkeys(step.state for step in self.steps)
        return MDP.from_transitions(rows, states=list(order))

    def problem(self, target: Policy | None = None, **fields: Any) -> PolicyEvaluation:
        """The estimated problem; the target is the behaviour unless given."""
        behavior = self.behavior()
        own = {"target": behavior} if target is None else {"target": target, "behavior": behavior}
        return PolicyEvaluation(self.model(), **{**own, **fields})


def read_log(path: str | Path) -> Log:
    r"""Read a CSV file of logged transitions.

    Raises
    ------
    ModelFileError
        Where a column is missing or a field cannot be read; gives the line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "log.csv"
    >>> _ = file.write_text("state,action,next_state,reward,done\n0,a,1,1/2,0\n1,a,0,0,1\n0,a,0,2,0\n")
    >>> log = read_log(file)
    >>> [tuple(row) for row in log.model().transitions][0], log.counts()[0, "a"]
    ((0, 'a', 0, 1/2, 2, 1), 2)
    """
    file = Path(path)
    lines = read_lines(file)
    try:
        table = list(csv.reader((line for _, line in lines), strict=True))
    except csv.Error as error:
        raise ModelFileError(f"{file} is no CSV: {error}") from None
    if len(table) != len(lines):
        raise ModelFileError(f"{file}: a quoted field runs over the end of its line")
    heading = [name.strip() for name in table[0]]
    missing = [name for name in NEEDED if name not in heading]
    unknown = [name for name in heading if name not in NEEDED + OPTIONAL]
    if missing or unknown or len(set(heading)) < len(heading):
        wrong = f"no column {missing[0]!r}" if missing else (
            f"the unknown column {unknown[0]!r}" if unknown else "a column twice"
        )  # fmt: skip
        raise ModelFileError(
            f"{file} has {wrong}; expected {', '.join(NEEDED)}, and {', '.join(OPTIONAL)} where known"
        )
    if len(table) == 1:
        raise ModelFileError(f"{file} holds no transition")
    records = []
    for (number, line), fields in zip(lines[1:], table[1:], strict=True):
        if len(fields) != len(heading):
            raise ModelFileError(
                f"{file}:{number} is {line[:60]!r}; expected {len(heading)} fields"
            )
        row = {k: v.strip() for k, v in zip(heading, fields, strict=True)}
        records.append((number, row))
    return Log(tuple(_steps(file, records)))


def _steps(file: Path, records: list[tuple[int, dict[str, str]]]) -> list[LoggedStep]:
    states = _labels([row[k] for _, row in records for k in ("state", "next_state")])
    actions = _labels([row["action"] for _, row in records])
    out: list[LoggedStep] = []
    cut = True
    for number, row in records:
        where = f"{file}:{number}"
        flags = {}
        for name in ("done", "truncated", "first"):
            text = row.get(name, "").lower()
            if text not in TRUTH:
                raise ModelFileError(f"{where}: {name} is {text!r}; expected 0 or 1")
            flags[name] = TRUTH[text]
        chances = {
            name: number_in(row[name], f"{where}: {name}") if row.get(name) else None
            for name in ("target", "behavior")
        }
        begins = cut or flags["first"]
        cut = flags["done"] or flags["truncated"]
        out.append(
            LoggedStep(
                states[row["state"]], actions[row["action"]], states[row["next_state"]],
                number_in(row["reward"], f"{where}: reward"), flags["done"], begins,
                chances["target"], chances["behavior"], number,
            )
        )  # fmt: skip
        if not begins and out[-2].next_state != out[-1].state:
            raise ModelFileError(
                f"{where} starts in {out[-1].state!r}, but the line before ended in "
                f"{out[-2].next_state!r}; mark ends with done, limits of time with truncated, or "
                "beginnings with first"
            )
    return out


def _labels(words: list[str]) -> Mapping[str, Any]:
    distinct = dict.fromkeys(words)
    if all(w.lstrip("-").isdigit() and w.isascii() and len(w) < 19 for w in distinct):
        return {w: int(w) for w in distinct}
    return {w: w for w in distinct}
