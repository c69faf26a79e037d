"""An atlas as a folder of Parquet files, one for each finished part, so that a run that was stopped goes on.

``atlas.json`` says what the folder is an atlas of. Each part carries a digest of that, and is moved into
place when it is whole. A row is one member up to symmetry: ``chain``, the n by n numbers of k-ths row by row;
``features``, the n by d integers row by row; ``problems``, how many problems it stands for; and for each
learner and discount a word, in a column such as ``TD at 9/10``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from obliquetd.atlas.decide import Part
from obliquetd.atlas.family import Family
from obliquetd.atlas.verdicts import VERDICTS
from obliquetd.errors import ModelFileError, ResultsError, how_to_install
from obliquetd.experiments.store import write_atomically
from obliquetd.formats.model import read_json

__all__ = ["NOTE", "Folder", "column", "read_note"]

NOTE = "atlas.json"
DIGEST = b"atlas"


def column(learner: str, discount: str) -> str:
    """What a column of verdicts is called."""
    return f"{learner} at {discount}"


def _parquet(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ResultsError(
            f"the Parquet files of {path} need pyarrow, which is not installed; "
            + how_to_install("pyarrow>=15", "atlas"),
            str(path),
        ) from None
    return pyarrow, parquet


def read_note(path: str | Path) -> dict[str, Any]:
    """What a folder is an atlas of.

    Raises
    ------
    ResultsError
        Where it is none.
    """
    note = Path(path) / NOTE
    try:
        found = read_json(note)
    except ModelFileError as error:
        raise ResultsError(f"{path} is no atlas: {error}", str(path)) from None
    if not isinstance(found, dict) or found.get("format") != "obliquetd atlas 1":
        raise ResultsError(f"{note} is no note of an atlas; give another folder", str(note))
    return found


class Folder:
    """The files of one atlas.

    Parameters
    ----------
    path : path
    identity : mapping of str to JSON data
        The family, the learners with digests of their rules, the discounts, and the size of the parts.

    Raises
    ------
    ResultsError
        Where the folder holds another atlas, or something else.
    """

    def __init__(self, path: str | Path, identity: Mapping[str, Any]) -> None:
        self.path, self.identity = Path(path), dict(identity)
        self.arrow, self.parquet = _parquet(self.path)
        self.text = json.dumps(self.identity, indent=1, sort_keys=True)
        self.digest = hashlib.sha256(self.text.encode()).hexdigest().encode()
        if (self.path / NOTE).exists():
            if read_note(self.path) != json.loads(self.text):
                raise ResultsError(
                    f"{self.path} holds an atlas of another family, other learners or other discounts; give "
                    "another folder",
                    str(self.path),
                )
        elif self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise ResultsError(
                f"{self.path} is there and is no atlas; give a new folder, or an empty one",
                str(self.path),
            )

    def claim(self) -> None:
        """Write down what the folder is an atlas of, unless it says so already."""
        if not (self.path / NOTE).exists():
            write_atomically(self.path / NOTE, lambda file: file.write(self.text.encode()))

    def file(self, number: int) -> Path:
        """The place of a part."""
        return self.path / f"part-{number:06d}.parquet"

    def has(self, number: int) -> bool:
        """Whether a part is there, whole and of this atlas; what cannot be read is not."""
        if not self.file(number).exists():
            return False
        try:
            metadata = self.parquet.read_schema(self.file(number)).metadata or {}
        except (OSError, self.arrow.ArrowException):
            return False
        if metadata.get(DIGEST) != self.digest:
            raise ResultsError(
                f"{self.file(number)} is part of another atlas; give another folder", str(self.path)
            )
        return True

    def write(self, number: int, family: Family, part: Part) -> None:
        """Put a part in its place."""
        arrow, count = self.arrow, len(part.codes)
        n, d = family.states, family.features
        chain = np.tile(np.array(family.chains[part.chain][0]).ravel(), count)

        def lists(values: Any, size: int) -> Any:
            return arrow.FixedSizeListArray.from_arrays(arrow.array(values, arrow.int32()), size)

        columns = {
            "chain": lists(chain, n * n),
            "features": lists(family.matrices(part.codes).ravel(), n * d),
            "problems": arrow.array(part.problems, arrow.int64()),
        }
        for (learner, discount), found in part.verdicts.items():
            columns[column(learner, discount)] = arrow.DictionaryArray.from_arrays(
                arrow.array(found.astype(np.int8), arrow.int8()), arrow.array(VERDICTS)
            )
        table = arrow.table(columns).replace_schema_metadata({DIGEST: self.digest})
        write_atomically(
            self.file(number),
            lambda file: self.parquet.write_table(table, file, compression="zstd"),
        )

    def read(self, number: int, family: Family, chain: int, keys: list[tuple[str, str]]) -> Part:
        """A part as it was written.

        Raises
        ------
        ResultsError
            Where it is missing, cannot be read, or says what it cannot.
        """
        path = self.file(number)
        if not self.has(number):
            raise ResultsError(
                f"{path} is missing or cannot be read; the call that made the atlas makes the missing parts "
                "when it is run again",
                str(path),
            )
        try:
            table = self.parquet.read_table(path)
            features = (
                table.column("features").combine_chunks().flatten().to_numpy(zero_copy_only=False)
            )
            rows = features.reshape(-1, family.states, family.features)
            numbers = family.numbers_of(rows)
            places = family.vectors ** np.arange(family.states - 1, -1, -1, dtype=np.int64)
            verdicts = {key: _numbers(table.column(column(*key))) for key in keys}
            problems = table.column("problems").to_numpy()
        except (OSError, KeyError, ValueError, self.arrow.ArrowException) as error:
            raise ResultsError(f"{path} cannot be read: {error}", str(path)) from None
        return Part(chain, numbers @ places, problems, verdicts)


def _numbers(words: Any) -> Any:
    """Verdicts by their numbers."""
    found = words.combine_chunks()
    known = [VERDICTS.index(word) for word in found.dictionary.to_pylist()]
    return np.array(known, dtype=np.uint8)[found.indices.to_numpy()]
