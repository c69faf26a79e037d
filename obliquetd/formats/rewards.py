"""Which rewards are meant, where a model has several reward structures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from obliquetd.errors import ModelFileError, did_you_mean
from obliquetd.formats.explicit import read_lines

__all__ = ["RewardFile", "choose_name", "choose_structure", "reward_files"]

ENDINGS = {
    ".srew": False, ".trew": True, ".state.rew": False, ".trans.rew": True, ".tra.rew": True,
}  # fmt: skip
"""The endings of reward files, and whether they pay by transition; those in .rew are Storm's."""


class RewardFile(NamedTuple):
    """A file of rewards beside a .tra file: ``part`` is its number or name within the set."""

    path: Path
    part: str
    by_transition: bool
    by_storm: bool


def reward_files(tra: Path) -> list[RewardFile]:
    """The reward files that belong to a .tra file: NAME.srew, NAME1.srew, NAME.steps.trans.rew, ...

    A file NAME1.srew belongs to NAME1.tra where there is one.
    """
    pattern = re.compile(
        re.escape(tra.stem) + r"(\d+|\..+?)?(" + "|".join(map(re.escape, ENDINGS)) + ")"
    )
    try:
        beside = sorted(tra.parent.iterdir())
    except (OSError, ValueError):
        return []  # the .tra file cannot be read or written either, which has its own error
    found = []
    for path in beside:
        match = pattern.fullmatch(path.name)
        if match and (not match[1] or not path.with_name(f"{tra.stem}{match[1]}.tra").exists()):
            part, ending = (match[1] or "").lstrip("."), match[2]
            found.append(RewardFile(path, part, ENDINGS[ending], ending.endswith(".rew")))
    return found


def choose_structure(
    tra: Path, files: Sequence[RewardFile], wanted: str | None
) -> list[RewardFile]:
    """The files of the one reward structure that there is, or that is wanted.

    Raises
    ------
    ModelFileError
        Where there are several and none is named, or the name is not there.
    """
    parts: dict[str, list[RewardFile]] = {}
    for file in files:
        parts.setdefault(file.part, []).append(file)
    names = {part: _title(found) or part or tra.stem for part, found in parts.items()}
    if len(set(names.values())) < len(
        names
    ):  # files of the same title: their numbers tell them apart
        names = {part: part or tra.stem for part in parts}
    if wanted is not None and str(wanted) in parts:
        return parts[str(wanted)]
    chosen = choose_name(str(tra), list(names.values()), wanted)
    return [] if chosen is None else list(parts.values())[chosen]


def choose_name(where: str, names: Sequence[str], wanted: str | None) -> int | None:
    """The position of the reward structure that is wanted; None where there is none at all.

    Raises
    ------
    ModelFileError
    """
    listed = ", ".join(map(repr, names))
    if wanted is None:
        if len(names) > 1:
            raise ModelFileError(
                f"{where} has the reward structures {listed}; choose one, as in reward={names[0]!r} "
                f"(on the command line --reward {names[0]})"
            )
        return 0 if names else None
    if str(wanted) in names:
        return list(names).index(str(wanted))
    guess = did_you_mean(wanted, names)
    raise ModelFileError(
        f"{where} has no reward structure {wanted!r}; {guess}it has {listed or 'none'}"
    )


def _title(files: Sequence[RewardFile]) -> str:
    """The name that PRISM writes in a comment at the top."""
    for file in files:
        for _, line in read_lines(file.path):
            found = re.fullmatch(r'#\s*Reward structure:?\s*"?([^"]*)"?\s*', line)
            if found and found[1].strip():
                return found[1].strip()
            if not line.startswith("#"):
                break
    return ""
