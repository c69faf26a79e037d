"""Results as files: tidy columns, and beside them what they were made with."""

from __future__ import annotations

import csv
import io
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from obliquetd.experiments.store import write_atomically
from obliquetd.experiments.sweep import Sweep

__all__ = ["save", "save_columns", "version_of", "versions"]


def save(found: Sweep, folder: str | Path, name: str = "sweep", **about: Any) -> list[Path]:
    """Write the tidy rows as CSV and npz, and beside them what they were made with.

    Parameters
    ----------
    found : Sweep
    folder : path
    name : str
        Of the files, without ending.
    **about
        More that should stand in ``name.json``, beside the versions, the seed, the steps, the
        runs and the learners.

    Returns
    -------
    list of Path
    """
    rows = list(found.rows())
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    known = {
        "seed": found.seed,
        "steps": int(found.steps[-1]),
        "runs": len(next(iter(found.curves.values())).theta),
        "learners": [repr(curve.learner) for curve in found.curves.values()],
    }
    return save_columns(columns, folder, name, **{**known, **about})


def save_columns(
    columns: Mapping[str, Sequence[Any]], folder: str | Path, name: str, **about: Any
) -> list[Path]:
    """Columns of equal length as ``name.csv`` and ``name.npz``; versions and more as ``name.json``.

    In the CSV file a missing value is empty and an infinite one is ``inf``.
    """
    base = Path(folder)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    arrays = {
        key: np.array([np.nan if x is None else x for x in values])
        for key, values in columns.items()
    }
    note = json.dumps({"versions": versions(), **about}, indent=1)
    writers: dict[str, Callable[[IO[bytes]], Any]] = {
        f"{name}.csv": lambda file: file.write(text.getvalue().encode()),
        f"{name}.npz": lambda file: np.savez_compressed(file, **cast(Any, arrays)),
        f"{name}.json": lambda file: file.write(note.encode()),
    }
    for file_name, write in writers.items():
        write_atomically(base / file_name, write)
    return [base / file_name for file_name in writers]


def versions() -> dict[str, str]:
    """The versions that a result was made with."""
    packages = ("obliquetd", "numpy", "scipy", "sympy", "numba", "joblib")
    return {"python": platform.python_version(), **{name: version_of(name) for name in packages}}


def version_of(package: str) -> str:
    """The version of a package, "(not installed)" where there is none; of this one, that which runs."""
    if package == "obliquetd":
        own: str = import_module(package).__version__  # an import statement here would be a circle
        return own
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"
