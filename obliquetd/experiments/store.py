"""A folder with one file for each finished task, so that nothing finished is computed twice.

A file is written under another name and moved into place, so it is there whole or not at
all. ``experiment.json`` says which experiment the folder belongs to.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from obliquetd.errors import ResultsError

__all__ = ["Store", "write_atomically"]

Arrays = dict[str, np.ndarray]


def write_atomically(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write a file so that it is there whole, or not at all.

    Raises
    ------
    ResultsError
        Where the folder cannot be made or written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ResultsError(
            f"cannot write {path}: {error.strerror or error}; give another output folder", str(path)
        ) from error


class Store:
    """Finished tasks of one experiment.

    Parameters
    ----------
    folder : path
    identity : mapping of str to JSON data
        What the numbers depend on. A folder whose identity differs is refused.

    Raises
    ------
    ResultsError
        A folder that cannot be written, or that belongs to another experiment.
    """

    def __init__(self, folder: str | Path, identity: Mapping[str, Any]) -> None:
        self.folder = Path(folder)
        note = self.folder / "experiment.json"
        if note.exists():
            self._check(note, identity)
        text = json.dumps(dict(identity), indent=1)
        write_atomically(note, lambda file: file.write(text.encode()))

    def _check(self, note: Path, identity: Mapping[str, Any]) -> None:
        try:
            known = json.loads(note.read_text())
            items = dict(known)
        except (OSError, ValueError, TypeError) as error:
            raise ResultsError(
                f"{note} cannot be read ({error}); remove it, or give another output folder",
                str(note),
            ) from None
        for key, value in identity.items():
            if items.get(key) != value:
                raise ResultsError(
                    f"{self.folder} holds results of another experiment: {key} is "
                    f"{items.get(key)!r} there and {value!r} here; give another output folder",
                    str(self.folder),
                )

    def path(self, task: str) -> Path:
        """The file of a task: its name, made safe and told apart by a digest."""
        safe = re.sub(r"[^A-Za-z0-9.=-]+", "_", task)[:80]
        digest = hashlib.sha256(task.encode()).hexdigest()[:8]
        return self.folder / "tasks" / f"{safe}-{digest}.npz"

    def load(self, task: str) -> Arrays | None:
        """What a finished task found, or None where it is not finished.

        Raises
        ------
        ResultsError
            For a file that is no longer whole; the other tasks are not touched.
        """
        path = self.path(task)
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
                arrays = {name: data[name] for name in data.files}
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            raise self.broken(path, str(error)) from None
        if arrays.pop("task", np.array("")).item() != task:
            raise self.broken(path, "it does not name its task")
        return arrays

    @staticmethod
    def broken(path: Path, why: str) -> ResultsError:
        """The error for a file that is not what was written."""
        return ResultsError(
            f"{path} is corrupt ({why}); remove it to compute that task again, the others are kept",
            str(path),
        )

    def save(self, task: str, arrays: Arrays) -> None:
        """Keep what a task found."""
        write_atomically(
            self.path(task),
            lambda file: np.savez(file, **cast(Any, {**arrays, "task": np.array(task)})),
        )
