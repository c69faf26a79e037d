"""Storm's explicit format DRN: a chain or an MDP in one file, with parameters.

A header of ``@type``, ``@parameters``, ``@reward_models``, ``@nr_states`` and ``@nr_choices``, then
after ``@model`` for each state a line ``state s [rewards] labels``, for each of its choices a line
``action name [rewards]``, and for each move a line ``t : probability``. Rewards belong to states and
to choices, so a choice has one reward, whatever its outcome. Symbols are parameters, which the header
declares; ``@placeholders`` (lines ``$name : value``) abbreviate long values. Of several reward models
one is chosen. Choices without a name are called by their position; a name that stands at several
choices of one state becomes (name, 0), (name, 1), ...
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from obliquetd.algebra import serial_number
from obliquetd.errors import InputError, ModelFileError
from obliquetd.formats.disk import fresh_file
from obliquetd.formats.explicit import (
    DEADLOCK,
    FLOATS,
    UNNAMED,
    Choice,
    ExplicitModel,
    integers_in,
    is_decimal,
    label_text,
    labels_in,
    number_in,
    read_lines,
    text_label,
)
from obliquetd.formats.format import AS_IT_STANDS, Contents, Format, Reading
from obliquetd.formats.rewards import choose_name
from obliquetd.mdp import MDP
from obliquetd.mdp.table import outcome_sum

__all__ = ["FORMAT", "read_drn", "write_drn"]

NAMES = "// obliquetd names: "
"""A comment that keeps the labels of the states; other tools skip it."""

STATE = re.compile(r"state\s+(\d{1,9})\s*(?:\[([^\]]*)\])?\s*(.*)", re.ASCII)
ACTION = re.compile(r"action\s+(\S+)\s*(?:\[([^\]]*)\])?\s*")


def read_drn(path: str | Path, reading: Reading = AS_IT_STANDS) -> MDP:
    """The MDP of a DRN file (or chain, with the one action ``step``).

    Raises
    ------
    ModelFileError
        Gives the line.
    """
    file = Path(path)
    lines = read_lines(file)
    names = next((line[len(NAMES) :] for _, line in lines if line.startswith(NAMES)), None)
    header, body = _header(file, [(i, line) for i, line in lines if not line.startswith("//")])
    kind = header.get("@type", "").upper()
    if kind not in ("DTMC", "MDP"):
        raise ModelFileError(f"{file}: @type is {kind or 'missing'!r}; expected DTMC or MDP")
    models = header.get("@reward_models", "").split()
    chosen = choose_name(str(file), models, reading.reward) or 0
    floats = any(line == f"// {FLOATS}" for _, line in lines)
    values = _Values(file, header, chosen, len(models), floats)
    (n,) = integers_in([header.get("@nr_states", "missing")], f"{file}: @nr_states")
    model, marked = _states(file, body, values, chain=kind == "DTMC")
    if len(model.choices) != n:
        raise ModelFileError(
            f"{file} announces {n} states and holds {len(model.choices)}; is it truncated?"
        )
    held = sum(map(len, model.choices))
    if "@nr_choices" in header:
        (announced,) = integers_in([header["@nr_choices"]], f"{file}: @nr_choices")
        # Files that we wrote before did not count the loops of deadlocks.
        if announced != held and (names is None or announced != held - len(marked)):
            raise ModelFileError(
                f"{file} announces {announced} choices and holds {held}; is it truncated?"
            )
    for s, row in enumerate(model.choices):
        for choice in row:
            for t in choice.outcomes:
                if t >= n:
                    raise ModelFileError(f"{file}: state {s} leads to {t}; there are {n} states")
    model.check_symbols(
        header.get("@parameters", "").split(),
        f"{file}: {{name}} is no number; where it is a parameter, name it under @parameters",
    )
    model.decimals = values.decimals
    model.open_deadlocks(marked)
    model.tell_actions_apart()
    model.take_notes(file, (line.removeprefix("// ") for _, line in lines if line.startswith("//")))
    if names is not None:
        where = f"{file}: the comment with the names of the states"
        model.rename_states(file, labels_in(names, where))
    return model.mdp(reading)


class _Values:
    """Reads the numbers of a file: placeholders, and the one reward model that is meant."""

    def __init__(
        self, file: Path, header: Mapping[str, str], chosen: int, models: int, floats: bool
    ) -> None:
        self.chosen, self.models, self.floats = chosen, models, floats
        self.decimals = False
        self.held: dict[str, Any] = {}
        for line in header.get("@placeholders", "").split("\n"):
            if line:
                name, colon, text = (word.strip() for word in line.partition(":"))
                where = f"{file}: the placeholder {name[:60]!r}"
                if not colon or not name.startswith("$"):
                    raise ModelFileError(f"{where} is {line[:60]!r}; expected '$name : value'")
                if name in self.held:
                    raise ModelFileError(f"{where} has two values")
                self.held[name] = self.number(text, where)

    def number(self, text: str, where: str) -> Any:
        """A number, or the placeholder of one."""
        if not text.startswith("$"):
            self.decimals = self.decimals or is_decimal(text)
            return number_in(text.replace("^", "**"), where, self.floats)
        if text not in self.held:
            raise ModelFileError(f"{where}: {text[:60]!r} is not among the @placeholders")
        return self.held[text]

    def reward(self, text: str | None, where: str) -> Any:
        """The reward of the chosen model, of those in brackets."""
        if text is None or not text.strip():
            return 0
        parts = text.split(",")
        if len(parts) != max(1, self.models):
            raise ModelFileError(
                f"{where}: [{text[:60]}] are {len(parts)} rewards for {self.models} reward models"
            )
        return self.number(parts[self.chosen].strip(), f"{where}: the reward")


def _header(
    file: Path, lines: list[tuple[int, str]]
) -> tuple[dict[str, str], list[tuple[int, str]]]:
    header: dict[str, str] = {}
    key = None
    for place, (number, line) in enumerate(lines):
        if line == "@model":
            return header, lines[place + 1 :]
        if line.startswith("@"):
            key, _, value = line.partition(":")
            key = key.strip()
            if key in header:
                raise ModelFileError(f"{file}:{number} repeats {key}")
            header[key] = value.strip()
        elif key is None:
            raise ModelFileError(f"{file}:{number} is {line[:60]!r}; expected @type: ... first")
        else:
            header[key] = f"{header[key]}\n{line}".strip()
    raise ModelFileError(f"{file} has no line @model; expected one before the states")


def _states(
    file: Path, body: list[tuple[int, str]], values: _Values, chain: bool
) -> tuple[ExplicitModel, list[int]]:
    model, marked = ExplicitModel([], []), []
    paid: Any = 0
    state_reward: Any = 0
    for number, line in body:
        where = f"{file}:{number}"
        if line.startswith("state"):
            found = STATE.fullmatch(line)
            if not found or int(found[1]) != len(model.choices):
                raise ModelFileError(
                    f"{where} is {line[:60]!r}; expected 'state {len(model.choices)} [reward] labels'"
                )
            state_reward = values.reward(found[2], where)
            if DEADLOCK in found[3].split():
                marked.append(len(model.choices))
            model.choices.append([])
            model.names.append(len(model.names))
        elif line.startswith("action"):
            found = ACTION.fullmatch(line)
            if not found or not model.choices:
                raise ModelFileError(
                    f"{where} is {line[:60]!r}; expected 'action name [reward]' under a state"
                )
            row = model.choices[-1]
            if chain and row:
                raise ModelFileError(
                    f"{where}: state {len(model.choices) - 1} of a chain has a second choice; expected "
                    "@type: MDP"
                )
            unnamed = len(row) if found[1] == UNNAMED else text_label(found[1])
            paid = outcome_sum([state_reward, values.reward(found[2], where)])
            row.append(Choice("step" if chain else unnamed))
        else:
            target, colon, text = line.partition(":")
            if not colon or not model.choices or not model.choices[-1]:
                raise ModelFileError(
                    f"{where} is {line[:60]!r}; expected 'target : probability' under an action"
                )
            (t,) = integers_in([target.strip()], where)
            outcomes = model.choices[-1][-1].outcomes
            if t in outcomes:
                raise ModelFileError(f"{where} repeats the target {t}")
            outcomes[t] = (values.number(text.strip(), f"{where}: the probability"), paid)
    return model, marked


def write_drn(mdp: MDP, path: str | Path, *, expected_rewards: bool = False) -> list[Path]:
    """Write a DRN file; exact numbers as fractions, symbols as parameters.

    Parameters
    ----------
    mdp : MDP
    path : path
    expected_rewards : bool
        Give each choice its expected reward. Values stay the same, variances do not.

    Returns
    -------
    list of Path

    Raises
    ------
    InputError
        Where a choice pays more than one reward, unless ``expected_rewards``; where the model
        has what the file cannot hold, or it cannot be written.
    """
    model = ExplicitModel.of(mdp)
    names = json.dumps([label_text(name) for name in model.names])
    symbols = " ".join(sorted(map(str, mdp.symbols)))
    choices = sum(max(1, len(row)) for row in model.choices)  # a deadlock is written with a loop
    lines = [f"// {note}" for note in model.notes(mdp)]
    lines += [
        NAMES + names, "@type: MDP", "@parameters", symbols, "@reward_models", "reward",
        "@nr_states", str(len(model.choices)), "@nr_choices", str(choices), "@model",
    ]  # fmt: skip
    for s, row in enumerate(model.choices):
        marks = (" init" if s == 0 else "") + ("" if row else f" {DEADLOCK}")
        lines.append(f"state {s} [0]{marks}")
        if not row:  # Storm has no state without a choice
            lines += ["\taction 0 [0]", f"\t\t{s} : 1"]
        for choice in row:
            paid = [r for _, r in choice.outcomes.values()]
            reward = paid[0]
            if any(r != reward for r in paid):
                if not expected_rewards:
                    raise InputError(
                        f"state {model.names[s]!r} and action {choice.action!r} pay by outcome; DRN "
                        "has one reward for each choice. Use expected_rewards=True (on the command "
                        "line --expected-rewards), or .tra, which holds them"
                    )
                reward = sum((p * r for p, r in choice.outcomes.values()), 0 * reward)
            lines.append(f"\taction {label_text(choice.action)} [{_text(reward)}]")
            lines += [f"\t\t{t} : {_text(p)}" for t, (p, _) in choice.outcomes.items()]
    with fresh_file(path) as file:
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [Path(path)]


def _text(number: Any) -> str:
    return str(serial_number(number)).replace("**", "^")


FORMAT = Format(
    ".drn",
    "an MDP or chain in Storm's format DRN",
    read=lambda path, reading: Contents(read_drn(path, reading)),
    write=lambda problem, path: write_drn(problem.mdp, path),
    chooses_reward=True,
)
