"""The sub-command that writes proofs for Coq."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from obliquetd.cli.common import PAPER, JsonFlag, PackName, app, print_json, say_error
from obliquetd.cli.terminal import counted, err, escape, out

__all__ = ["prove"]

STATES = {None: "written", True: "accepted", False: "[red]refused[/]"}


@app.command(rich_help_panel=PAPER)
def prove(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            help="The names of the claims to write, such as lemma-1. By default all claims that have a Coq file."
        ),
    ] = None,
    folder: Annotated[
        Path, typer.Option("--out", "-o", help="Write the files into this folder.")
    ] = Path("proofs"),
    check: Annotated[
        bool | None,
        typer.Option(
            "--check/--no-check",
            help="Run coqc on each file, or do not. By default it runs where coqc is installed.",
        ),
    ] = None,
    pack: PackName = "lyu-2018",
    timeout: Annotated[
        float, typer.Option(help="Stop coqc after this many seconds on one file.")
    ] = 120.0,
    as_json: JsonFlag = False,
) -> None:
    """Write proved claims as files for Coq, a proof checker, and run Coq on them.

    A file of the same name in the folder is replaced. The exit status is 1 where Coq refuses
    a file.

    Examples: [bold]obliquetd prove[/], [bold]obliquetd prove lemma-1 -o proofs --check[/],
    [bold]obliquetd prove --pack folklore[/]
    """
    from obliquetd.claims import pack_of
    from obliquetd.claims.formal import write_files
    from obliquetd.errors import InputError
    from obliquetd.kernel import check_file, find_coqc

    registry = pack_of(pack).registry
    claims = [registry[i] for i in ids] if ids else [c for c in registry if c.formal]
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out {folder} is a file; give the name of a folder")
    with err.status("writing ..."):
        paths = write_files(claims, folder)
    checks = find_coqc() is not None if check is None else check
    rows, refused, answers = [], [], {}
    for claim in claims:
        row: dict[str, Any] = {
            "id": claim.id,
            "file": str(paths[claim.id]),
            "by": claim.formal,
            "accepted": None,
        }
        if checks:
            path = paths[claim.id]
            if path not in answers:  # several theorems may stand in one file
                with err.status(f"checking {escape(path)} ..."):
                    answers[path] = check_file(path, timeout=timeout)
            answer = answers[path]
            row |= {"accepted": answer.accepted, "coq": answer.version or None}
            row |= {"message": answer.message, "seconds": round(answer.seconds, 2)}
            if not answer.accepted:
                refused.append(f"{claim.id} is refused: {answer.message}")
        rows.append(row)
        if not as_json:
            said = STATES[row["accepted"]]
            out.print(f"{said}: {escape(claim.id)}, in {escape(row['file'])}", soft_wrap=True)
    if as_json:
        print_json(
            {
                "files": rows,
                "without": {c.id: c.informal for c in registry if c.informal and not ids},
            }
        )
    elif not checks:
        out.print(
            "Nothing was checked. With Coq (apt install coq libcoq-mathcomp-algebra), --check has it check."
        )
    else:
        out.print(
            f"{len(rows) - len(refused)} of {counted(len(rows), 'claim')} accepted, in "
            f"{counted(len(answers), 'file')}, each without an axiom."
        )
    for told in refused:
        say_error(told)
    if refused:
        raise typer.Exit(1)
