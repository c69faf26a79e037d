"""The steps of a log, out of the lines of a CSV file or the rows of a DataFrame.

What the columns are stands in :mod:`obliquetd.formats.log`.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from obliquetd.algebra import public_number
from obliquetd.errors import ModelFileError, did_you_mean
from obliquetd.formats.disk import read_text
from obliquetd.formats.explicit import number_in

__all__ = [
    "LoggedStep",
    "check_heading",
    "is_frame",
    "labels_of",
    "lines_of",
    "steps_of",
    "steps_of_frame",
]

NEEDED = ("state", "action", "next_state", "reward")
LABELS = NEEDED[:3]
OPTIONAL = ("done", "truncated", "first", "target", "behavior")
FLAGS, CHANCES = OPTIONAL[:3], OPTIONAL[3:]
SAME = {"terminated": "done"}
"""Other names that a log may have for a column: Gymnasium's, whose ``truncated`` is ours too."""
MEANT = {
    "terminal": "done", "terminals": "done", "dones": "done",
    "timeout": "truncated", "timeouts": "truncated", "truncation": "truncated",
    "obs": "state", "observation": "state", "observations": "state", "states": "state",
    "next_obs": "next_state", "next_observation": "next_state", "next_observations": "next_state",
    "next_states": "next_state", "actions": "action", "rewards": "reward", "behaviour": "behavior",
}  # fmt: skip
"""What people call a column elsewhere: an error says which column of ours means the same."""
TRUE = ("1", "1.0", "true", "t", "yes", "y")
FALSE = ("0", "0.0", "false", "f", "no", "n", "")
NUMBER = re.compile(r"[+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)", re.ASCII)
INTEGER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)


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


def is_frame(value: Any) -> bool:
    """Whether something is a DataFrame of pandas, asked without importing it."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def check_heading(heading: list[Any], count: int, file: Path | str) -> list[Any]:
    """The heading in our names; ModelFileError for columns that are missing, unknown or twice, and no row."""
    known = (*NEEDED, *OPTIONAL, *SAME)
    names = [SAME.get(name, name) for name in heading]
    unknown = [name for name in heading if name not in known]
    missing = [name for name in NEEDED if name not in names]
    double = next((name for name in names if names.count(name) > 1), None)
    wrong = ""
    if unknown:
        wrong = _about_unknown(str(unknown[0]), heading, known)
    elif missing:
        wrong = f"no column {missing[0]!r}; "
    elif double is not None:
        both = [repr(name) for name in heading if SAME.get(name, name) == double]
        wrong = f"the columns {' and '.join(both)}, which say the same; leave one out; "
    if wrong:
        raise ModelFileError(
            f"{file} has {wrong}expected {', '.join(NEEDED)}, and {', '.join(OPTIONAL)} where known "
            "(terminated is read as done)"
        )
    if not count:
        raise ModelFileError(f"{file} holds no transition")
    return names


def _about_unknown(name: str, heading: list[Any], known: Iterable[str]) -> str:
    """What is wrong with a column that is not known, and a way out."""
    parting = next((mark for mark in (";", "\t", "|") if mark in name), None)
    if len(heading) == 1 and parting:
        return f"columns that {parting!r} parts; write it with commas, as pandas' to_csv does; "
    if heading.index(name) == 0 and (not name.strip() or name == "Unnamed: 0"):
        return (
            "a first column without a name, as of pandas' index; leave it out, as to_csv(file, index=False) "
            "does; "
        )
    same = MEANT.get(name.strip().lower())
    hint = f"call it {same!r} if it means the same; " if same else did_you_mean(name, known)
    return f"the unknown column {name!r}; {hint}"


def steps_of_frame(frame: Any) -> list[LoggedStep]:
    """The steps in a frame: labels as they are, all else as the text that the frame would write."""
    names = check_heading(list(frame.columns), len(frame), "the frame")
    columns: dict[str, list[Any]] = {}
    for name, own in zip(names, frame.columns, strict=True):
        cells, missing = frame[own].tolist(), frame[own].isna().tolist()
        if name in LABELS:
            for k, cell in enumerate(cells):
                if missing[k] or not _hashes(cell):
                    told = "missing" if missing[k] else f"{cell!r}, which cannot be a label"
                    raise ModelFileError(
                        f"row {k} of the frame: {name} is {told}; expected text, a number or a tuple"
                    )
            columns[name] = [x.item() if isinstance(x, np.generic) else x for x in cells]
        else:
            columns[name] = ["" if gone else str(x) for x, gone in zip(cells, missing, strict=True)]
    rows = zip(*columns.values(), strict=True)
    records = [(k, dict(zip(columns, row, strict=True))) for k, row in enumerate(rows)]
    return steps_of("the frame, row ", records, "row")


def lines_of(file: Path) -> list[tuple[int, list[str]]]:
    """The lines that are not blank, in fields, with their numbers."""
    found, before = [], 0
    reader = csv.reader(io.StringIO(read_text(file), newline=""), strict=True)
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                if reader.line_num != before + 1:
                    raise ModelFileError(
                        f"{file}:{before + 1}: a quoted field runs over the end of its line"
                    )
                found.append((reader.line_num, fields))
            before = reader.line_num
    except csv.Error as error:
        raise ModelFileError(f"{file} is no CSV: {error}") from None
    if not found:
        raise ModelFileError(f"{file} is empty")
    return found


def _hashes(label: Any) -> bool:
    """Whether something can be a label; a tuple with a list in it cannot."""
    try:
        hash(label)
    except TypeError:
        return False
    return True


def steps_of(place: str, records: list[tuple[int, dict[str, Any]]], unit: str) -> list[LoggedStep]:
    """The steps of rows that have their labels, and text in every other column."""
    out: list[LoggedStep] = []
    cut = True
    for number, row in records:
        where = f"{place}{number}"
        done, truncated, first = (_truth(row.get(name, ""), f"{where}: {name}") for name in FLAGS)
        target, behavior = (_chance(row.get(name, ""), f"{where}: {name}") for name in CHANCES)
        begins = cut or first
        cut = done or truncated
        out.append(
            LoggedStep(
                row["state"], row["action"], row["next_state"],
                _number(row["reward"], f"{where}: reward"), done, begins, target, behavior, number,
            )
        )  # fmt: skip
        if not begins and out[-2].next_state != out[-1].state:
            raise ModelFileError(
                f"{where} starts in {out[-1].state!r}, but the {unit} before ended in "
                f"{out[-2].next_state!r}; mark ends with done (or terminated), limits of time with truncated, or "
                "beginnings with first"
            )
    return out


def _truth(text: str, where: str) -> bool:
    word = text.strip().lower()
    if word not in TRUE + FALSE:
        raise ModelFileError(f"{where} is {text!r}; expected 0 or 1")
    return word in TRUE


def _chance(text: str, where: str) -> Any:
    """A probability, or None where nothing is logged."""
    if not text.strip():
        return None
    p = _number(text, where)
    if not 0 <= p <= 1:
        raise ModelFileError(f"{where} is {text.strip()!r}; expected a number between 0 and 1")
    return p


def _number(text: str, where: str) -> Any:
    """A number as a log holds it; NA, null and True are missing or wrong, not parameters."""
    if not NUMBER.fullmatch(text.strip()):
        raise ModelFileError(
            f"{where} is {text[:60]!r}; expected a number such as 0.5, 1e-3 or 1/3. A log holds no "
            "formulas; leave out lines whose values are missing"
        )
    return public_number(number_in(text.strip(), where))


def labels_of(words: list[str]) -> Mapping[str, Any]:
    """The label that each word stands for: an integer where all are integers, else the word."""
    distinct = dict.fromkeys(words)
    if all(INTEGER.fullmatch(w) for w in distinct):
        return {w: int(w) for w in distinct}
    return {w: w for w in distinct}
