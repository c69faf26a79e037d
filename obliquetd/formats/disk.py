"""Text files in and out: one size limit, one set of errors, nothing half written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from obliquetd.errors import InputError, ModelFileError

__all__ = ["LARGEST_FILE", "fresh_file", "read_text"]

LARGEST_FILE = 50_000_000


def read_text(path: str | Path) -> str:
    """The text of a file of at most 50 MB.

    Raises
    ------
    ModelFileError
        Where the file is missing, too large, or no UTF-8 text.
    """
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise ModelFileError(f"{file} has over {LARGEST_FILE:,} bytes")
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelFileError(f"cannot read {file}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ModelFileError(f"{file} is not UTF-8 text (byte {error.start})") from None


@contextmanager
def fresh_file(path: str | Path) -> Iterator[Path]:
    """A file beside the given one, moved over it at the end, so that it is whole or not there.

    Raises
    ------
    InputError
        Where the place cannot be written.
    """
    target = Path(path)
    fresh = target.with_name(target.name + ".new")
    try:
        yield fresh
        fresh.replace(target)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None
