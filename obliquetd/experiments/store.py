"""A folder with one file for each finished task, so that nothing finished is computed twice.

A file is written under another name and moved into place, so it is there whole or not at
all. Every file carries the identity of its experiment, and is believed for that one only;
``experiment.json`` claims the folder, and of two processes that claim it at once one wins.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
import zipfile
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
        raise _unwritable(path, error) from error


class Store:
    """Finished tasks of one experiment.

    Parameters
    ----------
    folder : path
    identity : mapping of str to JSON data
        What the numbers depend on. A folder, or a file in it, whose identity differs is refused.

    Raises
    ------
    ResultsError
        A folder that cannot be written, or that belongs to another experiment.
    """

    def __init__(self, folder: str | Path, identity: Mapping[str, Any]) -> None:
        self.folder = Path(folder)
        self.identity = json.dumps(dict(identity))
        note = self.folder / "experiment.json"
        if not note.exists():
            for path in sorted((self.folder / "tasks").glob("*.npz")):
                self._check(self._read(path)[0], path)
            text = json.dumps(dict(identity), indent=1)
            _create(note, text.encode())
        try:
            known = note.read_text()
        except (OSError, ValueError) as error:
            raise _unreadable(note, error) from None
        self._check(known, note)

    def _check(self, known: str, place: Path) -> None:
        """Whether a file's identity is that of this experiment."""
        try:
            items = dict(json.loads(known))
        except (ValueError, TypeError, RecursionError) as error:
            raise _unreadable(place, error) from None
        for key, value in json.loads(self.identity).items():
            if items.get(key) != value:
                raise ResultsError(
                    f"{place} belongs to another experiment: {key} is {str(items.get(key))[:80]} "
                    f"there and {value} here; give another output folder",
                    str(place),
                )

    def check_writable(self) -> None:
        """ResultsError where tasks could not be kept, before any is computed."""
        try:
            (self.folder / "tasks").mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder / "tasks"):
                pass
        except OSError as error:
            raise _unwritable(self.folder / "tasks", error) from error

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
        known, arrays = self._read(path)
        self._check(known, path)
        if str(arrays.pop("task", "")) != task:
            raise self.broken(path, "it does not name its task")
        return arrays

    def _read(self, path: Path) -> tuple[str, Arrays]:
        """The identity that a file carries, and its other arrays."""
        try:
            with zipfile.ZipFile(path) as archive:
                if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
                    raise self.broken(path, "it is compressed, which task files never are")
            with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
                arrays = {name: data[name] for name in data.files}
        except Exception as error:  # on foreign bytes numpy raises whatever its tokenizer does
            if isinstance(error, ResultsError):
                raise
            raise self.broken(path, str(error)) from None
        if "experiment" not in arrays:
            raise self.broken(path, "it does not say which experiment it belongs to")
        return str(arrays.pop("experiment")), arrays

    @staticmethod
    def broken(path: Path, why: str) -> ResultsError:
        """The error for a file that is not what was written."""
        return ResultsError(
            f"{path} is corrupt ({why}); remove it to compute that task again, the others are kept",
            str(path),
        )

    def save(self, task: str, arrays: Arrays) -> None:
        """Keep what a task found."""
        about = {"task": np.array(task), "experiment": np.array(self.identity)}
        write_atomically(
            self.path(task),
            lambda file: np.savez(file, **cast(Any, {**arrays, **about})),
        )


def _create(path: Path, content: bytes) -> None:
    """Write a file unless it is there: whole, and by one of all processes that try at once."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(temporary).chmod(0o644)
            with contextlib.suppress(FileExistsError):
                _link(temporary, path)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from error


def _link(temporary: str, path: Path) -> None:
    """A second name for a file, which fails where the name is taken; some disks have no links."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        with path.open("xb") as file:
            file.write(Path(temporary).read_bytes())


def _unwritable(path: Path, error: OSError) -> ResultsError:
    return ResultsError(
        f"cannot write {path}: {error.strerror or error}; give another output folder", str(path)
    )


def _unreadable(path: Path, error: Exception) -> ResultsError:
    return ResultsError(
        f"{path} cannot be read ({str(error)[:200]}); remove it, or give another output folder",
        str(path),
    )
