"""Proved claims as files that a kernel checks.

A claim proved by words has a file that is made from its rewriting; one proved by an algebraic
argument may have a file written by hand that ships. :data:`obliquetd.kernel.RECORD` holds, for each
claim, the hash of the file that coqc accepted and the version of Coq; the continuous integration
has coqc check every file anew. :func:`accepted` makes the file, and looks its hash up: a file that
has changed since is not called accepted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obliquetd.claims.claim import Outcome, Verdict
from obliquetd.errors import InputError
from obliquetd.kernel import PRELUDE, proof_text
from obliquetd.words.coq import coq_file

if TYPE_CHECKING:
    from obliquetd.claims.result import Claim

__all__ = [
    "RECORD",
    "WORDS",
    "Kernel",
    "accepted",
    "digest",
    "file_name",
    "formal_text",
    "recorded",
    "shipped_text",
    "theorem_name",
    "write_files",
]

WORDS = "words"
RECORD = "accepted.json"
"""The file of the hashes, beside the proofs that ship."""
STANDS_ON = re.compile(r"^\(\* Stands on (\w+)\.v", re.MULTILINE)
"""How a proof that ships names another whose lemmas it uses."""


@dataclass(frozen=True)
class Kernel:
    """A file that coqc accepted.

    Attributes
    ----------
    file : str
        Its name.
    sha256 : str
        The hash of its text.
    coq : str
        The version of Coq that accepted this text, when the package was made.
    text : str
        ``obliquetd prove`` writes it.
    """

    file: str
    sha256: str
    coq: str
    text: str = field(repr=False, default="")

    def __str__(self) -> str:
        return (
            f"Coq {self.coq} accepted {self.file} (sha256 {self.sha256[:12]}) when this version was made; "
            f"obliquetd prove checks it on this machine"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the text."""
        return {"file": self.file, "sha256": self.sha256, "coq": self.coq}


def theorem_name(claim_id: str) -> str:
    """What a claim is called in a file.

    Examples
    --------
    >>> theorem_name("lemma-1")
    'lemma_1'
    """
    return claim_id.replace("-", "_")


def formal_text(claim: Claim, outcome: Outcome | None = None) -> str:
    """The file of a claim.

    Parameters
    ----------
    claim : Claim
    outcome : Outcome, optional
        What its check returned; the check is run where a claim by words gives none.

    Raises
    ------
    InputError
        For a claim that is not proved, or that has no file; with the reason.
    """
    if not claim.formal:
        why = claim.informal or "it is not proved for every size"
        raise InputError(f"{claim.id} has no file for Coq: {why}")
    if claim.formal != WORDS:
        text = shipped_text(claim.formal)
        if f"Print Assumptions {theorem_name(claim.id)}." not in text:
            raise InputError(f"{claim.formal}.v has no theorem {theorem_name(claim.id)}")
        return text
    found = claim.check() if outcome is None else outcome
    if found.verdict is not Verdict.PROVED or not found.derivations:
        raise InputError(
            f"{claim.id} is declared as proved by words, and its check says {found.verdict}"
        )
    name = theorem_name(claim.id)
    several = len(found.derivations) > 1
    theorems = [(f"{name}_{x}" if several else name, d) for x, d in found.derivations]
    return coq_file(theorems, title=f"{claim.id}: {claim.title}\n{claim.where}")


def shipped_text(name: str) -> str:
    """A file that ships, with its head and what it stands on, and after it what each of its theorems rests on."""
    body = proof_text(name)
    below = [proof_text(other) for other in STANDS_ON.findall(body)]
    asked = [f"Print Assumptions {found}." for found in re.findall(r"^Theorem (\w+)", body, re.M)]
    return "\n".join([proof_text(PRELUDE), *below, body, *asked, ""])


def file_name(claim: Claim) -> str:
    """The name of its file; claims whose theorems stand in one file share it."""
    return f"{theorem_name(claim.id) if claim.formal == WORDS else claim.formal}.v"


def digest(text: str) -> str:
    """The hash of a file's text."""
    return sha256(text.encode()).hexdigest()


@cache
def recorded() -> dict[str, dict[str, str]]:
    """The hash and the version of Coq for each claim, as shipped."""
    place = files("obliquetd.kernel") / "proofs" / RECORD
    found: dict[str, dict[str, str]] = json.loads(place.read_text(encoding="utf-8"))
    return found


def accepted(claim: Claim, outcome: Outcome) -> Kernel | None:
    """The file of a proved claim, where it is the one that coqc accepted; else None."""
    if outcome.verdict is not Verdict.PROVED or not claim.formal:
        return None
    known = recorded().get(claim.id)
    text = formal_text(claim, outcome)
    if known is None or known["sha256"] != digest(text):
        return None
    return Kernel(file_name(claim), known["sha256"], known["coq"], text)


def write_files(claims: Sequence[Claim], folder: Path) -> dict[str, Path]:
    """Write the file of each claim into a folder, which is made; the paths by claim."""
    names = {c.id: file_name(c) for c in claims}
    texts = {c.id: formal_text(c) for c in claims}  # all of them, before anything is written
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name, text in texts.items():
        paths[name] = folder / names[name]
        paths[name].write_text(text, encoding="utf-8")
    return paths
