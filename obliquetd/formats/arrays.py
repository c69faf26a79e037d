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

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import serial_number
from obliquetd.errors import InputError, ModelFileError
from obliquetd.formats.disk import fresh_file
from obliquetd.formats.model import model_from_dict, model_to_dict
from obliquetd.mdp import MDP, Policy
from obliquetd.mdp.imports import label_from_json
from obliquetd.problem import PolicyEvaluation

__all__ = ["read_npz", "to_arrays", "write_npz"]

COLUMNS = ("state", "action", "next_state", "probability", "reward", "own_discount")
FOREIGN = frozenset(
    ["P", "Q", "R", "states", "actions", "discount", "gamma", "target", "policy", "behavior",
     "features", "Phi", "xi"]
)  # fmt: skip
ALIASES = (("discount", "gamma"), ("target", "policy"), ("features", "Phi"), ("P", "Q"))


def read_npz(path: str | Path, **overrides: Any) -> PolicyEvaluation:
    """The problem in a numpy archive; ``overrides`` as for :func:`obliquetd.load_model`.

    Raises
    ------
    ModelFileError
        Where the file is no such archive, or an array is missing or of the wrong shape.
    """
    file = Path(path)
    try:
        with file.open("rb") as handle, np.load(handle, allow_pickle=False) as data:
            arrays = {name: data[name] for name in data.files}
    except OSError as error:
        raise ModelFileError(f"cannot read {file}: {error.strerror or error}") from None
    except Exception as error:  # numpy, zipfile and zlib raise a dozen kinds for broken archives
        raise ModelFileError(f"{file} is no numpy archive: {str(error)[:200]}") from None
    if "model" in arrays:
        return model_from_dict(_own(file, arrays), **overrides)
    return _foreign(file, arrays, overrides)


def _own(file: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    try:
        data = json.loads(str(arrays["model"]))
        parts = [arrays[name].tolist() for name in COLUMNS]
        states, actions = data["states"], data["actions"]
        for k in (3, 4, 5):
            parts[k] = [json.loads(x) if isinstance(x, str) else x for x in parts[k]]
        if any(i < 0 for part in parts[:3] for i in part):
            raise IndexError("negative index")
        rows = [
            [states[s], actions[a], states[t], *numbers]
            for s, a, t, *numbers in zip(*parts, strict=True)
        ]
    except (KeyError, ValueError, TypeError, IndexError, RecursionError) as error:
        raise ModelFileError(
            f"{file} is not what save_model wrote ({type(error).__name__}: {error}); write it anew"
        ) from None
    return {**data, "transitions": rows}


def _foreign(
    file: Path, arrays: Mapping[str, npt.NDArray[Any]], overrides: Mapping[str, Any]
) -> PolicyEvaluation:
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
    mdp = MDP.from_arrays(_readable(P), _readable(R), states=states, actions=actions)
    fields: dict[str, Any] = {"discount": 1, "features": None, "xi": None}
    for name in ("features", "xi"):
        if name in found:
            fields[name] = _readable(found[name]).tolist()
    if "discount" in found:
        if found["discount"].size != 1:
            raise ModelFileError(
                f"{file}: discount has shape {found['discount'].shape}; expected one"
            )
        fields["discount"] = found["discount"].reshape(-1)[0].item()
    policies: dict[str, Any] = {
        name: _policy(file, name, found[name], mdp) for name in ("target", "behavior") if name in found
    }  # fmt: skip
    policies.setdefault("target", Policy.uniform(mdp))
    chosen: dict[str, Any] = {**policies, **fields, **overrides}
    return PolicyEvaluation(mdp, **chosen)


def _labels(array: npt.NDArray[Any]) -> list[Any]:
    return [label_from_json(x) for x in array.tolist()]


def _readable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Text as objects, which are read as exact numbers."""
    return array.astype(object) if array.dtype.kind in "US" else array


def _policy(file: Path, name: str, array: npt.NDArray[Any], mdp: MDP) -> Policy:
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
    rows = zip(mdp.states, array.tolist(), strict=True)
    terminal = set(mdp.terminal)
    return Policy(
        {s: dict(zip(mdp.actions, row, strict=True)) for s, row in rows if s not in terminal}
    )


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
