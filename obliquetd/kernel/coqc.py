"""Having Coq check a file: where coqc is, how long it may take, and what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from obliquetd.errors import BackendError, InputError

__all__ = ["TIMEOUT", "Answer", "check_file", "check_text", "find_coqc"]

TIMEOUT = 120.0
"""Seconds that one file may take."""

CLOSED = "Closed under the global context"
WAY_OUT = (
    "Install it, as in: apt install coq libcoq-mathcomp-algebra. Or name another one in the "
    "environment variable COQC"
)
SHORTCUTS = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|Primitive|bypass_check|"
    r"Declare\s+ML\s+Module|Load|Unset\s+(?:Guard|Positivity|Universe)\s+Checking|Type\s+in\s+Type)\b"
)
"""What a proof does not need, and what lets a false statement through."""


@dataclass(frozen=True)
class Answer:
    """What coqc said of a file.

    Attributes
    ----------
    accepted : bool
        Whether every proof in it was accepted, and rests on nothing that is not written in it.
    message : str
        The error, where there is one.
    seconds : float
    theorems : tuple of str
        The theorems of which it was asked what they rest on (``Print Assumptions``).
    axioms : tuple of str
        What they rest on, outside their own hypotheses. Empty where nothing is.
    version : str
        Of Coq.
    """

    accepted: bool
    message: str
    seconds: float
    theorems: tuple[str, ...] = ()
    axioms: tuple[str, ...] = ()
    version: str = ""


def find_coqc() -> str | None:
    """The path of coqc: of the environment variable COQC, else on the search path; None without."""
    return shutil.which(os.environ.get("COQC") or "coqc")


def check_text(text: str, name: str = "proof", *, timeout: float = TIMEOUT) -> Answer:
    """Have coqc check a text, in a folder of its own that is removed afterwards.

    Parameters
    ----------
    text : str
    name : str
        What messages call it.
    timeout : float
        Seconds.

    Raises
    ------
    BackendError
        Where there is no coqc, or no mathcomp, or the time is over.
    """
    coqc = find_coqc()
    if coqc is None:
        raise BackendError(f"coqc was not found, so nothing was checked. {WAY_OUT}")
    if found := SHORTCUTS.search(_without_comments(text)):
        return Answer(False, f"the text uses {found.group()!r}, which proves nothing", 0.0)
    stem = re.sub(r"\W", "_", name) or "proof"
    stem = stem if stem[0].isalpha() else f"x_{stem}"
    start = perf_counter()
    with tempfile.TemporaryDirectory(prefix="obliquetd-coq-") as folder:
        (Path(folder) / f"{stem}.v").write_text(text, encoding="utf-8")
        try:
            done = subprocess.run(
                [coqc, "-q", "-w", "none", f"{stem}.v"],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=timeout,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BackendError(
                f"coqc did not finish {name} in {timeout:g} s, so it is neither accepted nor refused. "
                "Allow more with timeout="
            ) from None
        except OSError as error:
            raise BackendError(
                f"{coqc} cannot be run: {error.strerror or error}. {WAY_OUT}"
            ) from None
    seconds = perf_counter() - start
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())
        if "mathcomp" in said and re.search(r"[Cc]annot find|Unable to locate", said):
            raise BackendError(f"coqc finds no mathcomp: {said}. {WAY_OUT}")
        return Answer(False, said or f"coqc ended with status {done.returncode}", seconds)
    asked = tuple(
        re.findall(r"^\s*Print\s+Assumptions\s+(\S+?)\.\s*$", _without_comments(text), re.M)
    )
    axioms = tuple(
        line.strip()
        for line in done.stdout.splitlines()
        if line.strip() and line.strip() != CLOSED and line.strip() != "Axioms:"
    )
    closed = done.stdout.count(CLOSED)
    accepted = bool(asked) and closed == len(asked) and not axioms
    why = "" if accepted else _why(asked, axioms)
    return Answer(accepted, why, seconds, asked, axioms, coq_version(coqc))


def _why(asked: tuple[str, ...], axioms: tuple[str, ...]) -> str:
    if not asked:
        return (
            "the file asks of no theorem what it rests on (Print Assumptions), so it shows nothing"
        )
    return f"a theorem rests on more than its hypotheses: {'; '.join(axioms)}"


def _without_comments(text: str) -> str:
    """The text without remarks, which may be nested."""
    kept, depth, i = [], 0, 0
    while i < len(text):
        pair = text[i : i + 2]
        if pair == "(*":
            depth, i = depth + 1, i + 2
        elif pair == "*)" and depth:
            depth, i = depth - 1, i + 2
        else:
            if not depth:
                kept.append(text[i])
            i += 1
    return "".join(kept)


def coq_version(coqc: str) -> str:
    """The version that coqc names."""
    done = subprocess.run([coqc, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d+(?:\.\d+)?", done.stdout)
    return found.group() if found else ""


def check_file(path: str | Path, *, timeout: float = TIMEOUT) -> Answer:
    """Have coqc check a file; nothing is written beside it.

    Raises
    ------
    InputError
        For a file that cannot be read.
    BackendError
        As :func:`check_text`.
    """
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{place} cannot be read as a Coq file: {error}") from None
    return check_text(text, place.stem, timeout=timeout)
