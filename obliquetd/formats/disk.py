"""Files in and out: one bound in bytes, one set of errors, nothing half written, nothing that hangs."""

from __future__ import annotations

import codecs
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from obliquetd.errors import InputError, ModelFileError

__all__ = ["LARGEST_FILE", "fresh_file", "fresh_files", "read_bytes", "read_text"]

LARGEST_FILE = 50_000_000
"""Bytes of a file that is read."""


LINES = "a log with a JSON object a line is read by obliquetd.formats.read_log(pandas.read_json(file, lines=True))"
"""What an error says of JSON lines."""


def read_bytes(path: str | Path) -> bytes:
    """The content of a regular file of at most 50 MB.

    A device or a pipe may have no end, or never begin, so neither is read.

    Raises
    ------
    ModelFileError
        Where the file is missing, too large, or no regular file.
    """
    try:
        # Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            mode = os.fstat(handle).st_mode
            if not stat.S_ISREG(mode):
                raise ModelFileError(
                    f"cannot read {path}: it is {_kind(mode)}; expected a regular file"
                )
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"cannot read {_shown(path)}: {_reason(error)}") from None
    if len(content) > LARGEST_FILE:
        raise ModelFileError(f"{path} has over {LARGEST_FILE:,} bytes")
    return content


def path_of(value: Any, what: str) -> Path:
    """A path that was given as text or as a path.

    Raises
    ------
    InputError
        For anything else.
    """
    if isinstance(value, str | os.PathLike) and isinstance(os.fspath(value), str):
        return Path(value)
    raise InputError(f"{what} is {value!r}; expected the path of a file, as text or a Path")


def read_text(path: str | Path) -> str:
    """The text of a file of at most 50 MB; a byte-order mark at its beginning is no text.

    Raises
    ------
    ModelFileError
        Where the file is missing, too large, no regular file, or no UTF-8 text.
    """
    data = read_bytes(path)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ModelFileError(
            f"{path} is UTF-16 text; expected UTF-8. Save it as such, or run iconv -f UTF-16 -t UTF-8 on it"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelFileError(
            f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8"
        ) from None


@contextmanager
def fresh_file(path: str | Path) -> Iterator[Path]:
    """A new file beside the given one, moved over it at the end, so that it is whole or not there.

    The new file has a name that no other file has, and is gone where the writing fails. Where the
    path is a link, the file that it leads to is replaced.

    Raises
    ------
    InputError
        Where the place cannot be written.
    """
    with fresh_files([path]) as (fresh,):
        yield fresh


@contextmanager
def fresh_files(paths: Sequence[str | Path]) -> Iterator[list[Path]]:
    """As :func:`fresh_file`, for a set of files: none is moved before all are written.

    Raises
    ------
    InputError
        Where one of the places cannot be written.
    """
    with ExitStack() as stack:
        made = [stack.enter_context(_new_file(path)) for path in paths]
        yield [fresh for fresh, _ in made]
        for path, (fresh, target) in zip(paths, made, strict=True):
            with _written(path):
                fresh.replace(target)


@contextmanager
def _new_file(path: str | Path) -> Iterator[tuple[Path, Path]]:
    with _written(path):
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            raise InputError(
                f"cannot write {path}: it is {_kind(target.stat().st_mode)}; expected the name of a file"
            )
        fresh = target.with_name(f".{secrets.token_hex(8)}.new")
        # O_EXCL: never a file, or a link, that is there already.
        os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        try:
            yield fresh, target
        finally:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)


@contextmanager
def _written(path: str | Path) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except UnicodeEncodeError as error:
        # Of the path or of the text: a lone surrogate has no bytes.
        raise InputError(
            f"cannot write {_shown(path)}: {error.object[error.start : error.end]!r} has no form in "
            "UTF-8; choose another name"
        ) from None
    except OSError as error:
        raise InputError(f"cannot write {path}: {_reason(error)}") from None
    except ValueError as error:
        if "null" not in str(error):  # only a null character in the path is meant here
            raise
        raise InputError(f"cannot write {_shown(path)}: {error}") from None


def _shown(path: str | Path) -> str:
    """A name for an error message, with escapes for what no terminal shows."""
    return str(path) if str(path).isprintable() else ascii(str(path))


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"
