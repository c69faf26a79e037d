"""What the explicit-state formats of the PRISM and Storm family can hold of an MDP.

States are 0, ..., n - 1; each state has choices 0, 1, ... with a distribution over states. A
state without a choice is a deadlock: terminal, of value 0. Such files know no discount of a single
transition, and no two outcomes of one choice that lead to the same state with different rewards.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from obliquetd.algebra import number_text, parse_number, public_number
from obliquetd.errors import InputError, ModelFileError, NumberError
from obliquetd.formats.disk import read_text
from obliquetd.mdp import MDP
from obliquetd.mdp.imports import check_json_labels, label_from_json
from obliquetd.problem import PolicyEvaluation

__all__ = [
    "DEADLOCK",
    "Choice",
    "ExplicitModel",
    "integers_in",
    "label_text",
    "number_in",
    "policy_chain",
    "read_lines",
    "text_label",
]

DEADLOCK = "deadlock"


@dataclass
class Choice:
    """One choice of a state: its action, and for each next state the probability and reward."""

    action: Any
    outcomes: dict[int, tuple[Any, Any]] = field(default_factory=dict)


@dataclass
class ExplicitModel:
    """States with their choices; ``names`` are the labels of the states."""

    choices: list[list[Choice]]
    names: list[Any]

    @classmethod
    def of(cls, mdp: MDP) -> ExplicitModel:
        """The explicit form of an MDP.

        Raises
        ------
        InputError
            Where a transition has a discount of its own, or two outcomes differ in reward alone.
        """
        check_json_labels((*mdp.states, *mdp.actions))
        found: list[dict[Any, Choice]] = [{} for _ in mdp.states]
        for s, a, t, p, r, d in mdp.transitions:
            if d != 1:
                raise InputError(
                    f"the transition {s!r} -> {t!r} under action {a!r} has the discount "
                    f"{number_text(d)}; explicit-state files hold none. Save as .json or .npz"
                )
            choice = found[mdp.index[s]].setdefault(a, Choice(a))
            if mdp.index[t] in choice.outcomes:
                raise InputError(
                    f"state {s!r} and action {a!r} have two outcomes that lead to {t!r} with "
                    "different rewards; explicit-state files hold one. Save as .json or .npz"
                )
            choice.outcomes[mdp.index[t]] = (p, r)
        return cls([list(row.values()) for row in found], list(mdp.states))

    def mdp(self) -> MDP:
        """The MDP; a deadlock's rewardless self-loop is taken out before."""
        rows = [
            (self.names[s], choice.action, self.names[t], p, r)
            for s, row in enumerate(self.choices)
            for choice in row
            for t, (p, r) in choice.outcomes.items()
        ]
        actions = dict.fromkeys(choice.action for row in self.choices for choice in row)
        return MDP.from_transitions(rows, states=self.names, actions=list(actions))

    @property
    def deadlocks(self) -> list[int]:
        """States without a choice."""
        return [s for s, row in enumerate(self.choices) if not row]

    def open_deadlocks(self, marked: Iterable[int]) -> None:
        """Take out the self-loops that other tools add to deadlocks, where they pay nothing."""
        for s in marked:
            row = self.choices[s]
            if len(row) == 1 and set(row[0].outcomes) == {s} and row[0].outcomes[s][1] == 0:
                row.clear()


def policy_chain(problem: PolicyEvaluation, which: str = "target") -> MDP:
    """The Markov chain of a policy, as an MDP with the one action ``which``.

    The reward of a move is its expectation over the actions, so that values stay the same.

    Raises
    ------
    InputError
        For another word than ``target`` and ``behavior``.
    """
    if which not in ("target", "behavior"):
        raise InputError(f"chain is {which!r}; expected 'target' or 'behavior'")
    mdp, arithmetic = problem.mdp, problem.inputs.arithmetic
    policy = problem.target if which == "target" else problem.behavior
    taken = {s: policy.parsed(s) for s in policy}
    moves: dict[tuple[Any, Any, Any], list[Any]] = {}
    for (s, a, t, _, _, own), p, r in zip(
        mdp.transitions,
        arithmetic.scalars(mdp.table.probability).tolist(),
        arithmetic.scalars(mdp.table.reward).tolist(),
        strict=True,
    ):
        if a in taken[s] and (chance := arithmetic.scalar(taken[s][a]) * p):
            pair = moves.setdefault((s, t, own), [arithmetic.zero, arithmetic.zero])
            pair[0] += chance
            pair[1] += chance * r
    public = arithmetic.public
    rows = [
        (s, which, t, public(p), public(total / p), own)
        for (s, t, own), (p, total) in moves.items()
    ]
    return MDP.from_transitions(rows, states=problem.states, actions=[which])


def label_text(label: Any) -> str:
    """A label as one word: text as it is, unless it would be read back as something else."""
    if isinstance(label, str) and label and label.isprintable() and not label.startswith("@"):
        plain = not any(c.isspace() or c in "[]():\"'#/\\," for c in label)
        if plain and text_label(label) == label:
            return label
    return json.dumps(label, separators=(",", ":")).replace(" ", "\\u0020")


def text_label(text: str) -> Any:
    """The label that :func:`label_text` wrote; other text stands for itself."""
    try:
        value = label_from_json(json.loads(text))
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, dict | bool) or value is None else value


def number_in(text: str, where: str) -> Any:
    """A number of a file; the error gives the place.

    Raises
    ------
    ModelFileError
    """
    try:
        return public_number(parse_number(text, where))
    except NumberError as error:
        raise ModelFileError(str(error)) from None


def read_lines(path: Path) -> list[tuple[int, str]]:
    """The lines of a text file that are not blank, with their numbers.

    Raises
    ------
    ModelFileError
        Where the file is missing, empty, too large, or no UTF-8 text.
    """
    lines = [
        (i, line.strip()) for i, line in enumerate(read_text(path).splitlines(), 1) if line.strip()
    ]
    if not lines:
        raise ModelFileError(f"{path} is empty")
    return lines


def integers_in(
    words: Iterable[str], where: str, below: Mapping[int, int] | None = None
) -> list[int]:
    """Nonnegative integers; ``below`` bounds those at given positions.

    Raises
    ------
    ModelFileError
    """
    out = []
    for k, word in enumerate(words):
        if not (word.isascii() and word.isdigit()) or len(word) > 12:
            raise ModelFileError(f"{where}: {word!r} is no index; expected a nonnegative integer")
        value = int(word)
        if below and k in below and value >= below[k]:
            raise ModelFileError(f"{where}: index {value} is not below {below[k]}")
        out.append(value)
    return out
