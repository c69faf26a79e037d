"""Explicit files of PRISM and of Storm: NAME.tra, and beside it labels and rewards.

=========== ============================================================================
.tra        ``states transitions`` and lines ``s t p [action]`` for a chain;
            ``states choices transitions`` and lines ``s choice t p [action]`` for an MDP
.srew       ``states entries`` and lines ``s r``: paid with every step out of s
.trew       a first line as in .tra, and lines ``s t r`` or ``s choice t r``
.lab        ``0="init" 1="deadlock" ...`` and lines ``s: 0 1 ...``
.sta        ``(name)`` and lines ``s:(label)``: labels of the states
=========== ============================================================================

Several reward structures stand in files with a number or a name (NAME1.srew, NAME.steps.trew); one
of them is chosen (:mod:`obliquetd.formats.rewards`).

Storm's files differ: .tra begins with the word ``dtmc`` or ``mdp`` in place of counts, reward files
(also NAME.state.rew, NAME.trans.rew, NAME.tra.rew) have no first line, and .lab begins with ``#DECLARATION``,
names, ``#END``, then lines ``s name ...``. Both are read; PRISM's are written. Comments (``# ...``) are
skipped, but for our own: ``# parameters: p q`` in .tra declares symbols, and notes in .sta say that
decimals are floats, and how actions are ordered.

Probabilities and rewards may be fractions. A state without a line is terminal, and so is a state
that is labelled ``deadlock`` and has a self-loop only that pays nothing. Policies, features and
discounts have no place in these files: they come from the caller.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from obliquetd.algebra import serial_number
from obliquetd.errors import InputError, ModelFileError
from obliquetd.formats.disk import fresh_files
from obliquetd.formats.explicit import (
    DEADLOCK,
    FLOATS,
    Choice,
    ExplicitModel,
    add_reward,
    integers_in,
    is_decimal,
    label_text,
    number_in,
    read_lines,
    text_label,
)
from obliquetd.formats.format import AS_IT_STANDS, Contents, Format, Reading
from obliquetd.formats.rewards import RewardFile, choose_structure, reward_files
from obliquetd.mdp import MDP
from obliquetd.mdp.table import outcome_sum

__all__ = ["FORMAT", "read_prism", "write_prism"]

MOST_STATES = 10_000_000
PARAMETERS = "# parameters: "


def read_prism(path: str | Path, reading: Reading = AS_IT_STANDS) -> MDP:
    """The MDP (or chain, with the one action ``step``) of a .tra file and its companions.

    Raises
    ------
    ModelFileError
        Gives the file and the line.
    """
    tra = Path(path)
    labels, names = tra.with_suffix(".lab"), tra.with_suffix(".sta")
    notes = [line.removeprefix("# ") for _, line in read_lines(names)] if names.exists() else []
    model, layout = _transitions(tra, FLOATS in notes)
    model.take_notes(names, notes)
    for file in choose_structure(tra, reward_files(tra), reading.reward):
        add = _transition_rewards if file.by_transition else _state_rewards
        add(file.path, _entries(file, model, layout), model, layout)
    if labels.exists():
        model.open_deadlocks(_labelled(labels, model, DEADLOCK))
    if names.exists():
        _state_names(names, model)
    declared = [line for _, line in read_lines(tra) if line.startswith(PARAMETERS.strip())]
    model.check_symbols(
        " ".join(line.partition(":")[2] for line in declared).split(),
        f"{tra}: {{name}} is no number; where it is a parameter, let the file begin with the line "
        f"'{PARAMETERS}{{name}}'",
    )
    return model.mdp(reading)


class _Layout(NamedTuple):
    """Whether the model is a chain, the files are Storm's, and decimals are floats."""

    chain: bool
    storm: bool
    floats: bool


def _entries(file: RewardFile, model: ExplicitModel, layout: _Layout) -> list[tuple[int, str]]:
    """The lines of a reward file below its first line, which Storm's do not have."""
    lines = _uncommented(file.path)
    if layout.storm or file.by_storm:
        return lines
    (first, header), *entries = lines
    counts = integers_in(header.split(), f"{file.path}:{first}")
    if counts[0] != len(model.choices):
        raise ModelFileError(
            f"{file.path} is for {counts[0]} states and the .tra file has {len(model.choices)}; remove it "
            "where it belongs to another model"
        )
    if entries and counts[-1] != len(entries):
        raise ModelFileError(
            f"{file.path} announces {counts[-1]} rewards and holds {len(entries)}; is it truncated?"
        )
    return entries


def _uncommented(path: Path) -> list[tuple[int, str]]:
    """The lines but for comments; Storm's own words begin with the same sign."""
    words = ("#DECLARATION", "#END")
    lines = [(i, x) for i, x in read_lines(path) if not x.startswith("#") or x.startswith(words)]
    if not lines:
        raise ModelFileError(f"{path} holds nothing but comments")
    return lines


def _size(path: Path, lines: list[tuple[int, str]], floats: bool) -> tuple[int, _Layout]:
    """The number of states, from PRISM's counts or from the largest index of Storm's lines."""
    (first, header), *below = lines
    if header.lower() in ("dtmc", "mdp"):
        layout = _Layout(header.lower() == "dtmc", storm=True, floats=floats)
        ends = [
            integers_in(line.split()[: 2 if layout.chain else 3], f"{path}:{i}")
            for i, line in below
        ]
        if not ends:
            raise ModelFileError(f"{path} holds no transition; is it truncated?")
        return 1 + max(max(indices[0], indices[-1]) for indices in ends), layout
    counts = integers_in(header.split(), f"{path}:{first}")
    if len(counts) not in (2, 3):
        raise ModelFileError(
            f"{path}:{first} is {header[:60]!r}; expected 'states transitions' of a chain or "
            "'states choices transitions' of an MDP"
        )
    if len(below) != counts[-1]:
        raise ModelFileError(
            f"{path} announces {counts[-1]} transitions and holds {len(below)}; is it truncated?"
        )
    return counts[0], _Layout(len(counts) == 2, storm=False, floats=floats)


def _transitions(path: Path, floats: bool) -> tuple[ExplicitModel, _Layout]:
    lines = _uncommented(path)
    n, layout = _size(path, lines, floats)
    chain, width = layout.chain, 2 if layout.chain else 3
    if not 0 < n <= MOST_STATES:
        raise ModelFileError(f"{path}: {n} states; expected 1 to {MOST_STATES:,}")
    found: list[dict[int, Choice]] = [{} for _ in range(n)]
    for number, line in lines[1:]:
        where, words = f"{path}:{number}", line.split()
        if len(words) not in (width + 1, width + 2):
            form = "s t p [action]" if chain else "s choice t p [action]"
            raise ModelFileError(f"{where} is {line[:60]!r}; expected {form}")
        s, *middle, t = integers_in(words[:width], where, {0: n, width - 1: n})
        k = middle[0] if middle else 0
        action: Any = "step" if chain else k
        if len(words) == width + 2 and not chain:
            action = text_label(words[-1])
        choice = found[s].setdefault(k, Choice(action))
        if choice.action != action:
            raise ModelFileError(
                f"{where}: choice {k} of state {s} is called {action!r}, before {choice.action!r}"
            )
        p = number_in(words[width], f"{where}: the probability", floats)
        if t in choice.outcomes:
            if not chain or len(words) == width + 1:
                raise ModelFileError(f"{where} repeats the move from {s} to {t}")
            p = outcome_sum([choice.outcomes[t][0], p])  # by another action of the chain
        choice.outcomes[t] = (p, 0)
    rows = [[row[k] for k in sorted(row)] for row in found]
    for s, row in enumerate(rows):
        if sorted(found[s]) != list(range(len(row))):
            raise ModelFileError(
                f"{path}: the choices of state {s} are {sorted(found[s])}; expected 0, 1, 2, ..."
            )
    decimals = any(is_decimal(line.split()[width]) for _, line in lines[1:])
    model = ExplicitModel(rows, list(range(n)), decimals)
    model.tell_actions_apart()
    return model, layout


def _state_rewards(
    path: Path, entries: list[tuple[int, str]], model: ExplicitModel, layout: _Layout
) -> None:
    for number, line in entries:
        where, words = f"{path}:{number}", line.split()
        if len(words) != 2:
            raise ModelFileError(f"{where} is {line[:60]!r}; expected 's r'")
        (s,) = integers_in(words[:1], where, {0: len(model.choices)})
        reward = number_in(words[1], f"{where}: the reward", layout.floats)
        if not model.choices[s] and reward != 0:
            raise ModelFileError(f"{where}: state {s} is terminal and pays {words[1]}; expected 0")
        for choice in model.choices[s]:
            for t in choice.outcomes:
                add_reward(choice.outcomes, t, reward)


def _transition_rewards(
    path: Path, entries: list[tuple[int, str]], model: ExplicitModel, layout: _Layout
) -> None:
    width = 2 if layout.chain else 3
    for number, line in entries:
        where, words = f"{path}:{number}", line.split()
        if len(words) != width + 1:
            form = "s t r" if layout.chain else "s choice t r"
            raise ModelFileError(f"{where} is {line[:60]!r}; expected {form}")
        n = len(model.choices)
        s, *middle, t = integers_in(words[:width], where, {0: n, width - 1: n})
        k = middle[0] if middle else 0
        row = model.choices[s]
        if k >= len(row) or t not in row[k].outcomes:
            raise ModelFileError(f"{where}: there is no such transition in the .tra file")
        reward = number_in(words[-1], f"{where}: the reward", layout.floats)
        add_reward(row[k].outcomes, t, reward)


def _labelled(path: Path, model: ExplicitModel, name: str) -> list[int]:
    (first, header), *lines = _uncommented(path)
    if header.startswith("#DECLARATION"):
        return _labelled_by_storm(path, lines, model, name)
    known = {label: int(k) for k, label in re.findall(r'(\d{1,9})="([^"]*)"', header)}
    if not known:
        raise ModelFileError(f'{path}:{first} is {header[:60]!r}; expected 0="init" 1="deadlock"')
    out = []
    for number, line in lines:
        state, colon, marks = line.partition(":")
        where = f"{path}:{number}"
        if not colon:
            raise ModelFileError(f"{where} is {line[:60]!r}; expected 's: 0 1 ...'")
        (s,) = integers_in([state.strip()], where, {0: len(model.choices)})
        if known.get(name, -1) in integers_in(marks.split(), where):
            out.append(s)
    return out


def _labelled_by_storm(
    path: Path, lines: list[tuple[int, str]], model: ExplicitModel, name: str
) -> list[int]:
    ends = [k for k, (_, line) in enumerate(lines) if line == "#END"]
    if not ends:
        raise ModelFileError(f"{path} has no line #END below #DECLARATION")
    out = []
    for number, line in lines[ends[0] + 1 :]:
        state, *labels = line.split()
        (s,) = integers_in([state], f"{path}:{number}", {0: len(model.choices)})
        if name in labels:
            out.append(s)
    return out


def _state_names(path: Path, model: ExplicitModel) -> None:
    _, *lines = _uncommented(path)
    names = list(model.names)
    for number, line in lines:
        found = re.fullmatch(r"(\d{1,9}):\((.*)\)", line, re.ASCII)
        if not found or int(found[1]) >= len(names):
            raise ModelFileError(f"{path}:{number} is {line[:60]!r}; expected 's:(label)'")
        names[int(found[1])] = text_label(found[2])
    model.rename_states(path, names)


def _word(number: Any) -> str:
    """A number without blanks."""
    return str(serial_number(number)).replace(" ", "")


def write_prism(mdp: MDP, path: str | Path) -> list[Path]:
    """Write NAME.tra with .trew, .lab and .sta as one; exact numbers as fractions.

    Returns
    -------
    list of Path

    Raises
    ------
    InputError
        Where the model has what the files cannot hold, they cannot be written, or a reward file
        lies there that would be read with them.
    """
    model = ExplicitModel.of(mdp)
    moves = [
        (s, k, t, p, r, choice.action)
        for s, row in enumerate(model.choices)
        for k, choice in enumerate(row)
        for t, (p, r) in choice.outcomes.items()
    ]
    size = f"{len(model.choices)} {sum(map(len, model.choices))}"
    paid = [move for move in moves if move[4] != 0]
    symbols = sorted(map(str, mdp.symbols))
    tra = [PARAMETERS + " ".join(symbols)] if symbols else []
    tra += [f"{size} {len(moves)}"]
    tra += [f"{s} {k} {t} {_word(p)} {label_text(a)}" for s, k, t, p, _, a in moves]
    trew = [f"{size} {len(paid)}"] + [f"{s} {k} {t} {_word(r)}" for s, k, t, _, r, _ in paid]
    lab = ['0="init" 1="deadlock"', "0: 0" + (" 1" if 0 in model.deadlocks else "")]
    lab += [f"{s}: 1" for s in model.deadlocks if s]
    sta = ["(state)", *(f"# {note}" for note in model.notes(mdp))]
    sta += [f"{s}:({label_text(name)})" for s, name in enumerate(model.names)]
    main = Path(path)
    files = [main, *(main.with_suffix(ending) for ending in (".trew", ".lab", ".sta"))]
    stale = [file.path for file in reward_files(main) if file.path not in files]
    if stale:
        raise InputError(
            f"{stale[0]} lies beside {main} and would be read as its rewards; remove it, or choose "
            "another name for the model"
        )
    with fresh_files(files) as fresh:
        for file, lines in zip(fresh, (tra, trew, lab, sta), strict=True):
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return files


FORMAT = Format(
    ".tra",
    "an MDP or chain in explicit files of PRISM or Storm, with its companions",
    read=lambda path, reading: Contents(read_prism(path, reading)),
    write=lambda problem, path: write_prism(problem.mdp, path),
    chooses_reward=True,
)
