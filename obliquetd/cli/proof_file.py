"""The file for Coq that the command ``check`` writes of a certificate."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from obliquetd.cli.terminal import err

__all__ = ["Proof", "write_proof"]


class Proof(NamedTuple):
    """What became of the file: a row for JSON, a sentence for people, and whether coqc refused it."""

    row: dict[str, Any]
    told: str
    refused: bool


def write_proof(certificate: dict[str, Any], path: Path) -> Proof:
    """Write the file of a certificate that proves its claim, and have coqc check it where there is one.

    Where there is none, ``"accepted"`` is None.
    """
    from obliquetd.dynamics.formal import certificate_text
    from obliquetd.kernel import check_file, find_coqc

    with err.status("writing ..."):
        path.write_text(certificate_text(certificate), encoding="utf-8")
    row: dict[str, Any] = {"file": str(path), "accepted": None}
    if find_coqc() is None:
        said = "there is no coqc here that could check it (apt install coq libcoq-mathcomp-algebra)"
        return Proof({"coq": row}, f"{path} is written, and not checked: {said}", False)
    with err.status("coqc is checking ..."):
        answer = check_file(path)
    row |= {"accepted": answer.accepted, "message": answer.message, "version": answer.version}
    row |= {"seconds": round(answer.seconds, 2)}
    said = (
        f"accepted by Coq {answer.version}, without an axiom"
        if answer.accepted
        else f"refused by Coq: {answer.message}"
    )
    return Proof({"coq": row}, f"{path} is written, and {said}", not answer.accepted)
