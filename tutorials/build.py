"""Build the notebooks: each script of this folder, executed from a clean kernel.

    python tutorials/build.py             # all of them
    python tutorials/build.py 01 05       # those whose names begin so

A notebook holds the cells of its script and their outputs, and nothing that differs from one
build to the next but the pictures.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

FOLDER = Path(__file__).parent
QUIET = Config({"NotebookClient": {"extra_arguments": ["--log-level=ERROR"]}})
TIMEOUT = 120
"""Seconds that one cell may take."""


def scripts() -> list[Path]:
    """The tutorials, in order."""
    return sorted(path for path in FOLDER.glob("[0-9]*.py"))


def notebook(script: Path) -> Any:
    """The script's cells as a notebook without outputs, with names that depend on the place alone."""
    made = jupytext.read(script)
    made.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(made.cells):
        cell.id = f"cell-{number:02d}"
        cell.metadata = {}
    return made


def joined(outputs: list[Any]) -> list[Any]:
    """Printed text in one piece; a kernel sends it in as many as its clock likes."""
    out: list[Any] = []
    for output in outputs:
        last = out[-1] if out else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            out.append(output)
    return out


def execute(script: Path) -> Any:
    """The notebook with outputs; raises where a cell does."""
    made = notebook(script)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    where = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(made, config=QUIET, timeout=TIMEOUT, resources=where).execute()
    for cell in made.cells:
        cell.metadata = {}
        if "outputs" in cell:
            cell.outputs = joined(cell.outputs)
    made.metadata["language_info"] = {"name": "python"}
    return made


def main(wanted: list[str]) -> None:
    """Build the tutorials whose names begin with one of the given texts, or all."""
    chosen = [s for s in scripts() if not wanted or any(s.name.startswith(w) for w in wanted)]
    if not chosen:
        sys.exit(
            f"no tutorial begins with {', '.join(wanted)}; there are {[s.name for s in scripts()]}"
        )
    for script in chosen:
        print(f"{script.name} ...", flush=True)
        nbformat.write(execute(script), script.with_suffix(".ipynb"))


if __name__ == "__main__":
    main(sys.argv[1:])
