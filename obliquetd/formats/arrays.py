"""Models as numpy archives: our own columns, and the arrays of other MDP toolboxes.

A file written here holds the transition table by columns, and the rest of the model as the JSON
text of :mod:`obliquetd.formats.model`. A file from elsewhere holds

=======================  ==================================================================
P                        (A, S, S), or Q of shape (S, A, S): probabilities
R                        (S,), (S, A), (A, S, S), or (S, A, S) beside Q: rewards
states, actions          labels, optional
discount (or gamma)      a number, optional
target (or policy)       (S, A) probabilities, or (S,) indices of actions, optional
behavior                 the same, optional
features (or Phi)        (S, d), optional
xi                       (S,), optional
=======================  ==================================================================

Text arrays are read as exact numbers (``"1/3"``); numbers of float arrays stay floats.
"""

from __future__ import annotations

import io
import json
import math
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import parse_number, serial_number
from obliquetd.errors import InputError, ModelFileError
from obliquetd.formats.disk import fresh_file, read_bytes
from obliquetd.formats.format import WHOLE, Contents, Format, Reading
from obliquetd.formats.model import contents_from_dict, model_to_dict
from obliquetd.formats.strict_json import parse_json
from obliquetd.mdp import MDP, Policy
from obliquetd.mdp.imports import label_from_json
from obliquetd.problem import PolicyEvaluation

__all__ = ["FORMAT", "read_npz", "to_arrays", "write_npz"]

LARGEST_UNPACKED = 200_000_000
"""Bytes of all arrays of an archive."""
COLUMNS = ("state", "action", "next_state", "probability", "reward", "own_discount")
FOREIGN = frozenset(
    ["P", "Q", "R", "states", "actions", "discount", "gamma", "target", "policy", "behavior",
     "features", "Phi", "xi"]
)  # fmt: skip
ALIASES = (("discount", "gamma"), ("target", "policy"), ("features", "Phi"), ("P", "Q"))


def read_npz(path: str | Path, reading: Reading) -> Contents:
    """What a numpy archive holds.

    Raises
    ------
    ModelFileError
        Where the file is no such archive, unpacks to more than 200 MB, or an array is missing or
        of the wrong shape.
    """
    file, content = Path(path), read_bytes(path)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_size(file, archive)
        with np.load(io.BytesIO(content), allow_pickle=False) as data:
            arrays = {name: data[name] for name in data.files}
    except ModelFileError:
        raise
    except Exception as error:  # numpy, zipfile and zlib raise a dozen kinds for broken archives
        raise ModelFileError(f"{file} is no numpy archive: {str(error)[:200]!r}") from None
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise ModelFileError(f"{file}: the member {name!r} is no array")
        if array.dtype.kind == "U":
            points = np.frombuffer(
                array.tobytes(), np.dtype("u4").newbyteorder(array.dtype.byteorder)
            )
            if (points > sys.maxunicode).any():
                raise ModelFileError(f"{file}: the array {name!r} holds what is no text")
    if "model" in arrays:
        return contents_from_dict(_own(file, arrays), reading)
    return _foreign(file, arrays, reading)


def _check_size(file: Path, archive: zipfile.ZipFile) -> None:
    """Bound what the archive unpacks to before any of it is unpacked.

    A member's data is as long as the directory of the archive says, or zipfile refuses it; the array
    is as large as the member's own header says.
    """
    unpacked = 0
    for member in archive.infolist():
        size = member.file_size
        with archive.open(member) as stream:
            version = np.lib.format.read_magic(stream)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else (
                np.lib.format.read_array_header_2_0
            )  # fmt: skip
            shape, _, kind = read(stream)
        size = max(size, math.prod(shape) * kind.itemsize, math.prod(shape))
        unpacked += size
        if unpacked > LARGEST_UNPACKED:
            raise ModelFileError(
                f"{file} unpacks to over {LARGEST_UNPACKED:,} bytes ({member.filename!r} has "
                f"{size:,}); a large sparse model is smaller as save_model writes it"
            )


def _own(file: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    data = parse_json(str(arrays["model"]), f"{file}: its array 'model'")
    try:
        parts = [arrays[name].tolist() for name in COLUMNS]
        states, actions = data["states"], data["actions"]
        for k in (3, 4, 5):
            texts = {
                x: parse_json(x, f"{file}: {COLUMNS[k]}")
                for x in set(parts[k])
                if isinstance(x, str)
            }
            parts[k] = [texts[x] if isinstance(x, str) else x for x in parts[k]]
        if any(i < 0 for part in parts[:3] for i in part):
            raise IndexError("negative index")
        rows = [
            [states[s], actions[a], states[t], *numbers]
            for s, a, t, *numbers in zip(*parts, strict=True)
        ]
    except (KeyError, ValueError, TypeError, IndexError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(
            f"{file} is not what save_model wrote ({type(error).__name__}: {error}); write it anew"
        ) from None
    return {**data, "transitions": rows}


def _foreign(file: Path, arrays: Mapping[str, npt.NDArray[Any]], reading: Reading) -> Contents:
    unknown = sorted(set(arrays) - FOREIGN)
    if unknown:
        raise ModelFileError(
            f"{file} holds the array {unknown[0]!r}; the names are {', '.join(sorted(FOREIGN))}"
        )
    found = dict(arrays)
    by_state = "Q" in found
    for name, alias in ALIASES:
        if alias in found:
            if name in found:
                raise ModelFileError(f"{file}: {name!r} and {alias!r} are two names for one array")
            found[name] = found.pop(alias)
    missing = sorted({"P", "R"} - set(found))
    if missing:
        raise ModelFileError(f"{file} has no array {missing[0]!r}; expected P (or Q) and R")
    P, R = found["P"], found["R"]
    if P.ndim != 3:
        raise ModelFileError(
            f"{file}: P has shape {P.shape}; expected (A, S, S), or Q of (S, A, S)"
        )
    if by_state:
        P = P.transpose(1, 0, 2)
        R = R.transpose(1, 0, 2) if R.ndim == 3 else R
    states, actions = (
        _labels(found[name]) if name in found else None for name in ("states", "actions")
    )
    if P.shape[1] != P.shape[2]:
        raise ModelFileError(f"{file}: P has shape {P.shape}; expected (A, S, S)")
    mdp = reading.attempt(
        lambda number: MDP.from_arrays(
            _readable(P, number), _readable(R), states=states, actions=actions, **reading.checks
        )
    )
    if reading.terminal:
        mdp = reading.mdp(mdp.transitions, states=mdp.states, actions=mdp.actions)
    fields: dict[str, Any] = {}
    for name in ("features", "xi"):
        if name in found:
            if found[name].shape[:1] != (len(mdp.states),):
                raise ModelFileError(
                    f"{file}: {name} has shape {found[name].shape}; expected one row for each of "
                    f"{len(mdp.states)} states"
                )
            fields[name] = _readable(found[name]).tolist()
    if "discount" in found:
        if found["discount"].size != 1:
            raise ModelFileError(
                f"{file}: discount has shape {found['discount'].shape}; expected one"
            )
        fields["discount"] = found["discount"].reshape(-1)[0].item()
    for name in ("target", "behavior"):
        if name in found:
            fields[name] = _policy(file, name, found[name], mdp, reading)
    return Contents(mdp, fields)


def _labels(array: npt.NDArray[Any]) -> list[Any]:
    return [label_from_json(x) for x in array.tolist()]


def _readable(
    array: npt.NDArray[Any], number: Callable[[Any], Any] | None = None
) -> npt.NDArray[Any]:
    """Text as objects, which are read as exact numbers, or as what ``number`` makes of them."""
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind != "U":
        return array
    out = np.empty(array.shape, dtype=object)
    read = number or parse_number
    out.ravel()[:] = [read(x) for x in array.ravel().tolist()]
    return out


def _policy(file: Path, name: str, array: npt.NDArray[Any], mdp: MDP, reading: Reading) -> Policy:
    n, k = len(mdp.states), len(mdp.actions)
    if array.shape == (n,) and array.dtype.kind in "iu":
        if ((array < 0) | (array >= k)).any():
            raise ModelFileError(f"{file}: {name} holds an index outside 0, ..., {k - 1}")
        return Policy.deterministic(
            {s: mdp.actions[a] for s, a in zip(mdp.states, array.tolist(), strict=True)}
        )
    if array.shape != (n, k):
        raise ModelFileError(
            f"{file}: {name} has shape {array.shape}; expected ({n}, {k}) probabilities or ({n},) indices"
        )
    left = [s not in set(mdp.terminal) for s in mdp.states]

    def build(number: Callable[[Any], Any] | None) -> Policy:
        rows = zip(mdp.states, left, _readable(array, number).tolist(), strict=True)
        return Policy(
            {s: dict(zip(mdp.actions, row, strict=True)) for s, acts, row in rows if acts},
            **reading.checks,
        )

    return reading.attempt(build)


def write_npz(problem: PolicyEvaluation, path: str | Path) -> list[Path]:
    """Write a problem; exact numbers come back exact.

    Raises
    ------
    InputError
        Where the file cannot be written.
    """
    data = model_to_dict(problem)
    rows = data.pop("transitions")
    index = {_key(s): i for i, s in enumerate(data["states"])}
    actions = {_key(a): i for i, a in enumerate(data["actions"])}
    columns: list[Any] = [
        np.array([index[_key(row[0])] for row in rows], dtype=np.int64),
        np.array([actions[_key(row[1])] for row in rows], dtype=np.int64),
        np.array([index[_key(row[2])] for row in rows], dtype=np.int64),
    ]
    for k in (3, 4, 5):
        values = [row[k] for row in rows]
        floats = all(isinstance(x, float) for x in values)
        columns.append(np.array(values if floats else [json.dumps(x) for x in values]))
    arrays = dict(zip(COLUMNS, columns, strict=True))
    with fresh_file(path) as fresh, fresh.open("wb") as file:
        np.savez_compressed(file, model=json.dumps(data), **cast(Any, arrays))
    return [Path(path)]


def _key(label: Any) -> str:
    return json.dumps(label)


def to_arrays(mdp: MDP, layout: str = "ASS") -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """P and R as other MDP toolboxes hold them.

    Parameters
    ----------
    mdp : MDP
    layout : {"ASS", "SAS"}
        (A, S, S), or (S, A, S).

    Returns
    -------
    P, R : array
        Floats where all numbers are floats, else objects: exact numbers stay exact.

    Raises
    ------
    InputError
        Where a transition has a discount of its own, or outcomes differ in reward alone.

    Examples
    --------
    >>> mdp = MDP.from_transitions([("s", "a", "t", "1/3", 2), ("s", "a", "s", "2/3", 0),
    ...                             ("t", "a", "s", 1, 0)])
    >>> P, R = to_arrays(mdp)
    >>> P.tolist(), MDP.from_arrays(P, R, states=mdp.states, actions=mdp.actions) == mdp
    ([[[2/3, 1/3], [1, 0]]], True)
    """
    if layout not in ("ASS", "SAS"):
        raise InputError(f"layout is {layout!r}; expected 'ASS' or 'SAS'")
    n, k = len(mdp.states), len(mdp.actions)
    kind: type = float if mdp.kind == {"float"} else object
    P: npt.NDArray[Any] = np.zeros((k, n, n), dtype=kind)
    R: npt.NDArray[Any] = np.zeros((k, n, n), dtype=kind)
    seen = set()
    for s, a, t, p, r, d in mdp.transitions:
        place = mdp.actions.index(a), mdp.index[s], mdp.index[t]
        if d != 1 or place in seen:
            what = "a discount of its own" if d != 1 else "two outcomes of different reward"
            raise InputError(
                f"the transition {s!r} -> {t!r} under action {a!r} has {what}; arrays P and R hold "
                f"none of that ({serial_number(p)}, {serial_number(r)}). Use save_model"
            )
        seen.add(place)
        P[place], R[place] = p, r
    return (P, R) if layout == "ASS" else (P.transpose(1, 0, 2), R.transpose(1, 0, 2))


FORMAT = Format(
    ".npz",
    "a numpy archive, ours or the arrays P and R of other toolboxes",
    read=read_npz,
    write=write_npz,
    holds=WHOLE,
)
