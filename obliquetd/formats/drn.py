"""Storm's explicit format DRN: a chain or an MDP in one file, with parameters.

A header of ``@type``, ``@parameters``, ``@reward_models``, ``@nr_states`` and ``@nr_choices``, then
after ``@model`` for each state a line ``state s [rewards] labels``, for each of its choices a line
``action name [rewards]``, and for each move a line ``t : probability``. Rewards belong to states and
to choices, so a choice has one reward, whatever its outcome. Symbols are parameters.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from obliquetd.algebra import serial_number
from obliquetd.errors import InputError, ModelFileError
from obliquetd.formats.disk import fresh_file
from obliquetd.formats.explicit import (
    DEADLOCK,
    Choice,
    ExplicitModel,
    integers_in,
    label_text,
    number_in,
    read_lines,
    text_label,
)
from obliquetd.mdp import MDP

__all__ = ["read_drn", "write_drn"]

NAMES = "// obliquetd names: "
"""A comment that keeps the labels of the states; other tools skip it."""

STATE = re.compile(r"state\s+(\d{1,9})\s*(?:\[([^\]]*)\])?\s*(.*)")
ACTION = re.compile(r"action\s+(\S+)\s*(?:\[([^\]]*)\])?\s*")


def read_drn(path: str | Path) -> MDP:
    """The MDP of a DRN file (or chain, with the one action ``step``).

    Raises
    ------
    ModelFileError
        Gives the line.
    """
    file = Path(path)
    lines = read_lines(file)
    names = next((line[len(NAMES) :] for _, line in lines if line.startswith(NAMES)), None)
    lines = [(i, line) for i, line in lines if not line.startswith("//")]
    header, body = _header(file, lines)
    kind = header.get("@type", "").upper()
    if kind not in ("DTMC", "MDP"):
        raise ModelFileError(f"{file}: @type is {kind or 'missing'!r}; expected DTMC or MDP")
    models = header.get("@reward_models", "").split()
    if len(models) > 1:
        raise ModelFileError(
            f"{file} has the reward models {', '.join(models)}; expected one. Keep the one you mean"
        )
    (n,) = integers_in([header.get("@nr_states", "missing")], f"{file}: @nr_states")
    model, marked = _states(file, body, chain=kind == "DTMC")
    if len(model.choices) != n:
        raise ModelFileError(
            f"{file} announces {n} states and holds {len(model.choices)}; is it truncated?"
        )
    for s, row in enumerate(model.choices):
        for choice in row:
            for t in choice.outcomes:
                if t >= n:
                    raise ModelFileError(f"{file}: state {s} leads to {t}; there are {n} states")
    model.open_deadlocks(marked)
    if names is not None:
        _restore_names(file, names, model)
    return model.mdp()


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
            header[key] = value.strip()
        elif key is None:
            raise ModelFileError(f"{file}:{number} is {line[:60]!r}; expected @type: ... first")
        else:
            header[key] = f"{header[key]} {line}".strip()
    raise ModelFileError(f"{file} has no line @model; expected one before the states")


def _states(
    file: Path, body: list[tuple[int, str]], chain: bool
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
            state_reward = _reward(found[2], where)
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
            name = "step" if chain else text_label(found[1])
            if any(choice.action == name for choice in model.choices[-1]):
                raise ModelFileError(f"{where}: state {len(model.choices) - 1} has {name!r} twice")
            paid = state_reward + _reward(found[2], where)
            model.choices[-1].append(Choice(name))
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
            outcomes[t] = (number_in(text.strip(), f"{where}: the probability"), paid)
    return model, marked


def _reward(text: str | None, where: str) -> Any:
    if text is None or not text.strip():
        return 0
    return number_in(text.strip(), f"{where}: the reward")


def _restore_names(file: Path, text: str, model: ExplicitModel) -> None:
    try:
        names = [text_label(name) for name in json.loads(text)]
    except (ValueError, TypeError):
        raise ModelFileError(
            f"{file}: the comment with the names of the states is broken"
        ) from None
    if len(names) != len(model.choices) or len(set(map(str, names))) < len(names):
        raise ModelFileError(
            f"{file}: {len(set(map(str, names)))} names for {len(model.choices)} states"
        )
    model.names = names


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
    lines = [
        NAMES + names, "@type: MDP", "@parameters", symbols, "@reward_models", "reward",
        "@nr_states", str(len(model.choices)), "@nr_choices", str(sum(map(len, model.choices))),
        "@model",
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
            lines.append(f"\taction {label_text(choice.action)} [{serial_number(reward)}]")
            lines += [f"\t\t{t} : {serial_number(p)}" for t, (p, _) in choice.outcomes.items()]
    with fresh_file(path) as file:
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [Path(path)]
