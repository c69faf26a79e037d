"""JSON in one dialect: no duplicate keys, no NaN or Infinity, numbers that are finite, 50 MB."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from obliquetd.errors import ModelFileError
from obliquetd.formats.disk import LINES, fresh_file, read_text

__all__ = ["parse_json", "read_json", "write_json"]


def read_json(path: str | Path) -> Any:
    """A file of strict JSON: no duplicate keys, no NaN, no 50 MB.

    Raises
    ------
    ModelFileError
    """
    text = read_text(path)
    if not text.strip():
        raise ModelFileError(f"{path} is empty; expected a JSON object")
    return parse_json(text, str(path))


def parse_json(text: str, where: str) -> Any:
    """Strict JSON; ``where`` names its place in the error.

    Raises
    ------
    ModelFileError
    """
    try:
        return json.loads(
            text,
            object_pairs_hook=_no_duplicates,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except ModelFileError as error:
        raise ModelFileError(f"{where}: {error}") from None
    except json.JSONDecodeError as error:
        lines = error.msg == "Extra data" and error.lineno > 1
        advice = f"; {LINES}" if lines else ""
        raise ModelFileError(
            f"{where} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}{advice}"
        ) from None
    except RecursionError:
        raise ModelFileError(f"{where} is nested too deeply") from None
    except ValueError as error:
        raise ModelFileError(f"{where}: {error}") from None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(k for k, _ in pairs if k in seen or seen.add(k))  # type: ignore[func-returns-value]
        raise ModelFileError(f"the key {twice!r} occurs twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ModelFileError(f"{name} is not a number of strict JSON; expected a finite number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ModelFileError(
            f"the number {text[:40]} is too large for a float; write it as text, as in "
            f'"{text[:40]}"'
        )
    return value


def write_json(path: str | Path, data: Any) -> None:
    """Strict JSON, written beside the file and moved over it, so that it is whole or not there.

    Raises
    ------
    InputError
        Where the place cannot be written.
    """
    with fresh_file(path) as file:
        file.write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")
