"""Explicit files of PRISM and of Storm: NAME.tra, and beside it .srew, .trew, .lab and .sta.

====== =================================================================================
.tra   ``states transitions`` and lines ``s t p`` for a chain; ``states choices transitions``
       and lines ``s choice t p [action]`` for an MDP
.srew  ``states entries`` and lines ``s r``: paid with every step out of s
.trew  a first line as in .tra, and lines ``s t r`` or ``s choice t r``
.lab   ``0="init" 1="deadlock" ...`` and lines ``s: 0 1 ...``
.sta   ``(name)`` and lines ``s:(label)``: labels of the states
====== =================================================================================

Storm's files differ: .tra begins with the word ``dtmc`` or ``mdp`` in place of counts, reward files
have no first line, and .lab begins with ``#DECLARATION``, names, ``#END``, then lines ``s name ...``.
Both are read; PRISM's are written. Comments of PRISM (``# ...``) are skipped.

Probabilities and rewards may be fractions. A state without a line is terminal, and so is a state
that is labelled ``deadlock`` and has a self-loop only that pays nothing. Policies, features and
discounts have no place in these files: they come from the caller.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from obliquetd.algebra import serial_number
from obliquetd.errors import ModelFileError
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

__all__ = ["read_prism", "write_prism"]

MOST_STATES = 10_000_000


def read_prism(path: str | Path) -> MDP:
    """The MDP (or chain, with the one action ``step``) of a .tra file and its companions.

    Raises
    ------
    ModelFileError
        Gives the file and the line.
    """
    tra = Path(path)
    model, layout = _transitions(tra)
    names = {suffix: tra.with_suffix(suffix) for suffix in (".srew", ".trew", ".lab", ".sta")}
    if names[".srew"].exists():
        _state_rewards(names[".srew"], model, layout)
    if names[".trew"].exists():
        _transition_rewards(names[".trew"], model, layout)
    if names[".lab"].exists():
        model.open_deadlocks(_labelled(names[".lab"], model, DEADLOCK))
    if names[".sta"].exists():
        _state_names(names[".sta"], model)
    return model.mdp()


class _Layout(NamedTuple):
    """Whether the model is a chain, and whether the files are Storm's."""

    chain: bool
    storm: bool

    def entries(self, path: Path) -> list[tuple[int, str]]:
        """The lines of a reward file below its first line, which Storm's do not have."""
        lines = _uncommented(path)
        return lines if self.storm else lines[1:]


def _uncommented(path: Path) -> list[tuple[int, str]]:
    lines = [(i, line) for i, line in read_lines(path) if not line.startswith("#")]
    if not lines:
        raise ModelFileError(f"{path} holds nothing but comments")
    return lines


def _size(path: Path, lines: list[tuple[int, str]]) -> tuple[int, _Layout]:
    """The number of states, from PRISM's counts or from the largest index of Storm's lines."""
    (first, header), *below = lines
    if header.lower() in ("dtmc", "mdp"):
        layout = _Layout(header.lower() == "dtmc", storm=True)
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
    return counts[0], _Layout(len(counts) == 2, storm=False)


def _transitions(path: Path) -> tuple[ExplicitModel, _Layout]:
    lines = _uncommented(path)
    n, layout = _size(path, lines)
    chain = layout.chain
    if not 0 < n <= MOST_STATES:
        raise ModelFileError(f"{path}: {n} states; expected 1 to {MOST_STATES:,}")
    found: list[dict[int, Choice]] = [{} for _ in range(n)]
    for number, line in lines[1:]:
        where, words = f"{path}:{number}", line.split()
        width = 2 if chain else 3
        if len(words) != width + 1 and (chain or len(words) != width + 2):
            form = "s t p" if chain else "s choice t p [action]"
            raise ModelFileError(f"{where} is {line[:60]!r}; expected {form}")
        s, *middle, t = integers_in(words[:width], where, {0: n, width - 1: n})
        k = middle[0] if middle else 0
        action: Any = "step" if chain else k
        if len(words) == width + 2:
            action = text_label(words[-1])
        choice = found[s].setdefault(k, Choice(action))
        if choice.action != action:
            raise ModelFileError(
                f"{where}: choice {k} of state {s} is called {action!r}, before {choice.action!r}"
            )
        if t in choice.outcomes:
            raise ModelFileError(f"{where} repeats the move from {s} to {t}")
        choice.outcomes[t] = (number_in(words[width], f"{where}: the probability"), 0)
    rows = [[row[k] for k in sorted(row)] for row in found]
    for s, row in enumerate(rows):
        if sorted(found[s]) != list(range(len(row))):
            raise ModelFileError(
                f"{path}: the choices of state {s} are {sorted(found[s])}; expected 0, 1, 2, ..."
            )
        names = [choice.action for choice in row]
        if len(set(names)) < len(names):
            raise ModelFileError(f"{path}: two choices of state {s} have the same action name")
    return ExplicitModel(rows, list(range(n))), layout


def _state_rewards(path: Path, model: ExplicitModel, layout: _Layout) -> None:
    for number, line in layout.entries(path):
        where, words = f"{path}:{number}", line.split()
        if len(words) != 2:
            raise ModelFileError(f"{where} is {line[:60]!r}; expected 's r'")
        (s,) = integers_in(words[:1], where, {0: len(model.choices)})
        reward = number_in(words[1], f"{where}: the reward")
        if not model.choices[s] and reward != 0:
            raise ModelFileError(f"{where}: state {s} is terminal and pays {words[1]}; expected 0")
        for choice in model.choices[s]:
            for t, (p, r) in choice.outcomes.items():
                choice.outcomes[t] = (p, r + reward)


def _transition_rewards(path: Path, model: ExplicitModel, layout: _Layout) -> None:
    width = 2 if layout.chain else 3
    for number, line in layout.entries(path):
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
        p, r = row[k].outcomes[t]
        row[k].outcomes[t] = (p, r + number_in(words[-1], f"{where}: the reward"))


def _labelled(path: Path, model: ExplicitModel, name: str) -> list[int]:
    (first, header), *lines = read_lines(path)
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
    _, *lines = read_lines(path)
    for number, line in lines:
        found = re.fullmatch(r"(\d{1,9}):\((.*)\)", line)
        if not found or int(found[1]) >= len(model.names):
            raise ModelFileError(f"{path}:{number} is {line[:60]!r}; expected 's:(label)'")
        model.names[int(found[1])] = text_label(found[2])
    if len(set(map(str, model.names))) < len(model.names):
        raise ModelFileError(f"{path} gives two states the same label")


def _word(number: Any) -> str:
    """A number without blanks."""
    return str(serial_number(number)).replace(" ", "")


def write_prism(mdp: MDP, path: str | Path) -> list[Path]:
    """Write NAME.tra with .trew, .lab and .sta; exact numbers as fractions.

    Returns
    -------
    list of Path

    Raises
    ------
    InputError
        Where the model has what the files cannot hold, or they cannot be written.
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
    tra = [f"{size} {len(moves)}"] + [
        f"{s} {k} {t} {_word(p)} {label_text(a)}" for s, k, t, p, _, a in moves
    ]
    trew = [f"{size} {len(paid)}"] + [f"{s} {k} {t} {_word(r)}" for s, k, t, _, r, _ in paid]
    lab = ['0="init" 1="deadlock"', "0: 0" + (" 1" if 0 in model.deadlocks else "")]
    lab += [f"{s}: 1" for s in model.deadlocks if s]
    sta = ["(state)"] + [f"{s}:({label_text(name)})" for s, name in enumerate(model.names)]
    out = []
    for suffix, lines in ((".tra", tra), (".trew", trew), (".lab", lab), (".sta", sta)):
        file = Path(path).with_suffix(suffix)
        with fresh_file(file) as fresh:
            fresh.write_text("\n".join(lines) + "\n", encoding="utf-8")
        out.append(file)
    return out
