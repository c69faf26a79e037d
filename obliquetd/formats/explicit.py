"""What the explicit-state formats of the PRISM and Storm family can hold of an MDP.

States are 0, ..., n - 1; each state has choices 0, 1, ... with a distribution over states. A
state without a choice is a deadlock: terminal, of value 0. Such files know no discount of a single
transition, and no two outcomes of one choice that lead to the same state with different rewards.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from obliquetd.algebra import number_text, parse_number
from obliquetd.errors import InputError, LabelError, ModelFileError, NumberError
from obliquetd.formats.disk import read_text
from obliquetd.formats.format import Reading
from obliquetd.formats.strict_json import parse_json
from obliquetd.mdp import MDP
from obliquetd.mdp.imports import check_json_labels, label_from_json
from obliquetd.mdp.table import outcome_sum
from obliquetd.problem import PolicyEvaluation

__all__ = [
    "DEADLOCK",
    "FLOATS",
    "UNNAMED",
    "Choice",
    "ExplicitModel",
    "add_reward",
    "check_read_back",
    "integers_in",
    "is_decimal",
    "label_text",
    "labels_in",
    "number_in",
    "policy_chain",
    "read_lines",
    "text_label",
]

DEADLOCK = "deadlock"
UNNAMED = "__NOLABEL__"
"""What Storm writes for a choice without a name."""
FLOATS = "obliquetd numbers: float"
"""A comment in files of floats, whose decimals would be read as exact numbers else."""
ACTIONS = "obliquetd actions: "
"""A comment with the order of the actions, where it is not that of their appearance."""
DECIMAL = re.compile(r"[+-]?(?=.*[.eE])(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass
class Choice:
    """One choice of a state: its action, and for each next state the probability and reward."""

    action: Any
    outcomes: dict[int, tuple[Any, Any]] = field(default_factory=dict)


@dataclass
class ExplicitModel:
    """States with their choices; ``names`` are the labels of the states.

    ``decimals`` says that probabilities were written as decimals, which may be rounded; ``actions``
    is an order of the actions, where there is one.
    """

    choices: list[list[Choice]]
    names: list[Any]
    decimals: bool = False
    actions: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, mdp: MDP) -> ExplicitModel:
        """The explicit form of an MDP.

        Raises
        ------
        InputError
            Where a transition has a discount of its own, two outcomes differ in reward alone, or
            a label would not come back as it is.
        """
        _check_labels(mdp.states, "states")
        _check_labels(mdp.actions, "actions")
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
        choices = [list(row.values()) for row in found]
        return cls(choices, list(mdp.states), actions=list(mdp.actions))

    @property
    def appearing(self) -> list[Any]:
        """The actions in the order in which the choices name them."""
        return list(dict.fromkeys(choice.action for row in self.choices for choice in row))

    def notes(self, mdp: MDP) -> list[str]:
        """What comments have to say so that the same MDP is read back."""
        found = [FLOATS] if "float" in mdp.kind else []
        if self.appearing != self.actions:
            found.append(ACTIONS + json.dumps([label_text(a) for a in self.actions]))
        return found

    def take_notes(self, path: Path, notes: Iterable[str]) -> None:
        """Read the comments that :meth:`notes` wrote.

        Raises
        ------
        ModelFileError
        """
        for note in notes:
            if note.startswith(ACTIONS):
                self.actions = labels_in(
                    note.removeprefix(ACTIONS), f"{path}: the order of actions"
                )

    def mdp(self, reading: Reading) -> MDP:
        """The MDP; a deadlock's rewardless self-loop is taken out before."""
        rows = [
            (self.names[s], choice.action, self.names[t], p, r)
            for s, row in enumerate(self.choices)
            for choice in row
            for t, (p, r) in choice.outcomes.items()
        ]
        # Tools that write decimals write rounded floats: where a row of them misses one by
        # rounding, they are read as the floats that they were.
        reading = replace(reading, floats=reading.floats or self.decimals)
        return reading.mdp(rows, states=self.names, actions=self.actions or self.appearing)

    def tell_actions_apart(self) -> None:
        """Where choices of one state have the same name, name them (name, 0), (name, 1), ...

        Other tools let a name stand at several choices; here an action is one choice.
        """
        for row in self.choices:
            named = Counter(choice.action for choice in row)
            taken = set(named)
            for action in [a for a, k in named.items() if k > 1]:
                fresh = ((action, k) for k in itertools.count())
                for choice in [c for c in row if c.action == action]:
                    choice.action = next(name for name in fresh if name not in taken)

    def rename_states(self, path: Path, names: Iterable[Any]) -> None:
        """Give the states their labels.

        Raises
        ------
        ModelFileError
            Where there is not one label for each state.
        """
        listed = list(names)
        distinct = len(set(listed))
        if not len(listed) == distinct == len(self.choices):
            raise ModelFileError(
                f"{path} has {distinct} different labels for {len(self.choices)} states"
            )
        self.names = listed

    def check_symbols(self, declared: Iterable[str], way_out: str) -> None:
        """Words that no declaration names are no parameters, but what was meant as something else.

        Raises
        ------
        ModelFileError
        """
        known = set(declared)
        for s, row in enumerate(self.choices):
            for choice in row:
                for outcome in choice.outcomes.values():
                    for number in outcome:
                        symbols = getattr(number, "free_symbols", ())
                        for name in sorted(str(x) for x in symbols if str(x) not in known):
                            raise ModelFileError(
                                f"{way_out.format(name=name)} (state {s}, choice {choice.action!r}: "
                                f"{number})"
                            )

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
        plain = not any(c.isspace() or c in "[](){}:\"'#/\\,$" for c in label)
        if plain and label != UNNAMED and text_label(label) == label:
            return label
    return json.dumps(label, separators=(",", ":")).replace(" ", "\\u0020")


@functools.lru_cache(maxsize=4096)
def text_label(text: str) -> Any:
    """The label that :func:`label_text` wrote; other text stands for itself, such as 01 or -0."""
    try:
        value = label_from_json(json.loads(text))
        written = json.dumps(value, separators=(",", ":")).replace(" ", "\\u0020")
    except (ValueError, RecursionError):
        return text
    if isinstance(value, bool) or value is None:
        return text
    return value if written == text else text


def labels_in(text: str, where: str) -> list[Any]:
    """The labels of a JSON list of words that :func:`label_text` wrote.

    Raises
    ------
    ModelFileError
    """
    words = parse_json(text, where)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ModelFileError(f"{where} is {text[:60]!r}; expected a list of text")
    return [text_label(word) for word in words]


def check_read_back(labels: Iterable[Any], noun: str, file: str) -> None:
    """LabelError where a label that is written as one word would not be read back."""
    for label in labels:
        back = text_label(label_text(label))
        if back != label or type(back) is not type(label):
            raise LabelError(
                f"among the {noun}, {label!r} would be read back as {back!r} from {file}; use text or "
                "integers, or save as .json"
            )


def _check_labels(labels: Sequence[Any], noun: str) -> None:
    """LabelError where a label, or its difference from another, would not be read back."""
    check_json_labels(labels)
    check_read_back(labels, noun, "an explicit-state file")
    by_text: dict[str, Any] = {}
    for label in labels:
        other = by_text.setdefault(str(label), label)
        if other != label:
            raise LabelError(
                f"the {noun} {other!r} and {label!r} have the same text, so explicit-state files do "
                "not tell them apart; rename one, or save as .json"
            )


@functools.lru_cache(maxsize=4096)
def _number(text: str, floats: bool) -> Any:
    if floats and is_decimal(text):
        return parse_number(float(text))
    return parse_number(text)


def is_decimal(text: str) -> bool:
    """Whether a number is written with a point or an exponent, as floats are."""
    return DECIMAL.fullmatch(text) is not None


def number_in(text: str, where: str, floats: bool = False) -> Any:
    """A parsed number of a file; decimals are exact, unless they are said to be floats.

    Raises
    ------
    ModelFileError
        Gives the place.
    """
    try:
        return _number(text, floats)
    except NumberError as error:
        raise ModelFileError(f"{where}: {str(error).removeprefix('a number: ')}") from None


def add_reward(outcomes: dict[int, tuple[Any, Any]], t: int, reward: Any) -> None:
    """Add to what the move to t pays."""
    p, before = outcomes[t]
    outcomes[t] = (p, outcome_sum([before, reward]))


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
        if len(word) > 12 or not word.isdigit() or not word.isascii():
            raise ModelFileError(f"{where}: {word!r} is no index; expected a nonnegative integer")
        value = int(word)
        if below and k in below and value >= below[k]:
            raise ModelFileError(f"{where}: index {value} is not below {below[k]}")
        out.append(value)
    return out
