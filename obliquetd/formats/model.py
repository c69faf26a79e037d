"""JSON model files: an MDP, policies, features, discount and weights in one document.

A model is an object with these fields; all but ``transitions`` are optional:

===============  ==========================================================================
transitions      list of ``[state, action, next_state, probability, reward(, discount)]``,
                 or of objects with those names
states, actions  an order of labels; the default: states in the order in which their own
                 rows begin, then those only arrived at; actions as they first appear
terminal         states whose rewardless self-loops are to be taken out
discount         number or formula; ``gamma`` is another name for it; the default is 1
target           ``{state: {action: probability}}``, ``{state: action}``, a list of
                 ``[state, action, probability]``, or ``"uniform"``; ``policy`` is
                 another name for it; the default is ``"uniform"``
behavior         in the same forms; the default is the target
features         ``{state: vector}``, or a list of rows; the default is tabular
xi               ``{state: weight}``, a list of weights, or ``"occupancy"``
start            ``{state: probability}``, or a list of probabilities: where an episode that
                 has ended begins anew
arithmetic       ``"exact"``, ``"symbolic"`` or ``"float"``; the default is inferred
title            any text
===============  ==========================================================================

Numbers are JSON numbers or text such as ``"9/10"`` or ``"gamma*p"``; text keeps them
exact. Where a state is not text, write policies and features as lists, or use the
text of the label as the key.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from obliquetd.algebra import parse_number, public_number, serial_number
from obliquetd.errors import ModelFileError, NumberError
from obliquetd.formats.disk import fresh_file, read_text
from obliquetd.inputs import OCCUPANCY
from obliquetd.mdp import MDP, Policy
from obliquetd.mdp.imports import check_json_labels, label_from_json
from obliquetd.problem import PolicyEvaluation

__all__ = [
    "load_model",
    "model_from_dict",
    "model_to_dict",
    "read_json",
    "save_model",
    "write_json",
]

FIELDS = frozenset(
    [
        "transitions",
        "states",
        "actions",
        "terminal",
        "discount",
        "gamma",
        "target",
        "policy",
        "behavior",
        "features",
        "xi",
        "start",
        "arithmetic",
        "title",
    ]
)
ROW = ("state", "action", "next_state", "probability", "reward", "discount")


def load_model(path: str | Path, **overrides: Any) -> PolicyEvaluation:
    """Read a model file.

    Parameters
    ----------
    path : str or Path
    **overrides
        Fields that replace those of the file, such as ``arithmetic="float"``.

    Raises
    ------
    ModelFileError
        Where the file is missing, empty, no JSON, or not of the form above.
    ObliqueTDError
        Where the model in it is not right; as for :class:`PolicyEvaluation`.
    """
    return model_from_dict(read_json(path), **overrides)


def read_json(path: str | Path) -> Any:
    """A file of strict JSON: no duplicate keys, no NaN, no 50 MB.

    Raises
    ------
    ModelFileError
    """
    file, text = Path(path), read_text(path)
    if not text.strip():
        raise ModelFileError(f"{file} is empty; expected a JSON object")
    try:
        return json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ModelFileError(
            f"{file} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise ModelFileError(f"{file} is nested too deeply") from None
    except ValueError as error:
        raise ModelFileError(f"{file}: {error}") from None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(k for k, _ in pairs if k in seen or seen.add(k))  # type: ignore[func-returns-value]
        raise ModelFileError(f"the key {twice!r} occurs twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ModelFileError(f"{name} is not a number of strict JSON; expected a finite number")


def model_from_dict(data: Any, **overrides: Any) -> PolicyEvaluation:
    """The problem that a parsed model describes.

    Raises
    ------
    ModelFileError
        Where the data is not of the form in the module's preface; gives the field.
    """
    if not isinstance(data, Mapping):
        raise ModelFileError(f"a model is a JSON object; got {type(data).__name__}")
    unknown = sorted(set(data) - FIELDS)
    if unknown:
        raise ModelFileError(f"unknown field {unknown[0]!r}; the fields are {sorted(FIELDS)}")
    data = {**_one_name(data), **_one_name(overrides)}
    if "transitions" not in data:
        raise ModelFileError("the model has no 'transitions'")
    mdp = MDP.from_transitions(
        [_row(row, f"transitions[{i}]") for i, row in enumerate(_list(data, "transitions"))],
        states=_labels(data, "states"),
        actions=_labels(data, "actions"),
        terminal=_labels(data, "terminal") or (),
    )
    behavior = data.get("behavior")
    return PolicyEvaluation(
        mdp,
        target=_policy(data.get("target", "uniform"), mdp, "target"),
        behavior=None if behavior is None else _policy(behavior, mdp, "behavior"),
        features=_by_state(data.get("features"), mdp, "features"),
        discount=data.get("discount", 1),
        xi=OCCUPANCY if data.get("xi") == OCCUPANCY else _by_state(data.get("xi"), mdp, "xi"),
        start=_start(data.get("start"), mdp),
        arithmetic=data.get("arithmetic"),
    )


def _one_name(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields under the first of their names."""
    found = dict(fields)
    for name, alias in (("discount", "gamma"), ("target", "policy")):
        if alias in found:
            if name in found:
                raise ModelFileError(f"{name!r} and {alias!r} are two names for one field")
            found[name] = found.pop(alias)
    return found


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    if not isinstance(data[name], list):
        raise ModelFileError(f"{name} is {_brief(data[name])}; expected a list")
    return list(data[name])


def _labels(data: Mapping[str, Any], name: str) -> list[Any] | None:
    if data.get(name) is None:
        return None
    labels = [label_from_json(x) for x in _list(data, name)]
    for i, label in enumerate(labels):
        if isinstance(label, dict):
            raise ModelFileError(f"{name}[{i}] is an object; expected text or a number")
    return labels


def _row(row: Any, where: str) -> tuple[Any, ...]:
    if isinstance(row, Mapping):
        unknown = set(row) - set(ROW)
        missing = set(ROW[:5]) - set(row)
        if unknown or missing:
            wrong = f"unknown {min(unknown)!r}" if unknown else f"no {min(missing)!r}"
            raise ModelFileError(f"{where} has {wrong}; expected the names {ROW}")
        row = [row[k] for k in ROW if k in row]
    if not isinstance(row, list) or len(row) not in (5, 6):
        raise ModelFileError(
            f"{where} is {_brief(row)}; expected [state, action, next_state, probability, reward] "
            "or the same with a discount"
        )
    if any(isinstance(x, dict) for x in row) or any(isinstance(x, list) for x in row[3:]):
        raise ModelFileError(f"{where} is {_brief(row)}; expected labels and numbers")
    numbers = [_number(x, f"{where}[{k}], the {ROW[k]},") for k, x in enumerate(row[3:], 3)]
    return (*map(label_from_json, row[:3]), *numbers)


def _number(value: Any, where: str) -> Any:
    """A parsed number, or an error with its path in the file."""
    try:
        return parse_number(value, where)
    except NumberError as error:
        raise ModelFileError(str(error)) from None


def _policy(given: Any, mdp: MDP, where: str) -> Policy:
    if given == "uniform":
        return Policy.uniform(mdp)
    rows: dict[Any, dict[Any, Any]] = {}
    if isinstance(given, list):
        for i, entry in enumerate(given):
            if not isinstance(entry, list) or len(entry) != 3:
                raise ModelFileError(
                    f"{where}[{i}] is {_brief(entry)}; expected [state, action, probability]"
                )
            s, a = label_from_json(entry[0]), label_from_json(entry[1])
            if a in rows.setdefault(s, {}):
                raise ModelFileError(f"{where}[{i}] repeats state {s!r} and action {a!r}")
            rows[s][a] = _number(entry[2], f"{where}[{i}][2], the probability,")
    elif isinstance(given, Mapping):
        for state, row in _restored(given, mdp.states).items():
            choice = row if isinstance(row, Mapping) else {label_from_json(row): 1}
            rows[state] = {
                a: _number(p, f"{where}[{state!r}][{a!r}]")
                for a, p in _restored(choice, mdp.actions).items()
            }
    else:
        raise ModelFileError(f"{where} is {_brief(given)}; expected an object, a list or 'uniform'")
    return Policy(rows)


def _restored(table: Mapping[Any, Any], labels: tuple[Any, ...]) -> dict[Any, Any]:
    """Object keys are text; give back the label that a key is the text of."""
    by_text = {_key(x): x for x in labels}
    return {k if k in labels else by_text.get(k, k): v for k, v in table.items()}


def _key(label: Any) -> str:
    return label if isinstance(label, str) else json.dumps(label)


def _by_state(given: Any, mdp: MDP, where: str) -> Any:
    if given is None:
        return None
    if isinstance(given, Mapping):
        return {s: _numbers(x, f"{where}[{s!r}]") for s, x in _restored(given, mdp.states).items()}
    if isinstance(given, list):
        return _numbers(given, where)
    raise ModelFileError(f"{where} is {_brief(given)}; expected an object or a list")


def _start(given: Any, mdp: MDP) -> Any:
    """The start distribution by state; a list is in the order of the states."""
    if isinstance(given, list) and len(given) != len(mdp.states):
        raise ModelFileError(
            f"start has {len(given)} probabilities for {len(mdp.states)} states; expected one each"
        )
    found = _by_state(given, mdp, "start")
    return dict(zip(mdp.states, found, strict=True)) if isinstance(found, list) else found


def _numbers(given: Any, where: str) -> Any:
    """Numbers in lists, checked where they stand."""
    if isinstance(given, list):
        return [_numbers(x, f"{where}[{i}]") for i, x in enumerate(given)]
    return _number(given, where)


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def model_to_dict(problem: PolicyEvaluation) -> dict[str, Any]:
    """A JSON-ready model from which the same problem is read back."""
    mdp = problem.mdp
    check_json_labels((*mdp.states, *mdp.actions))
    given, scalar, public = (
        problem.inputs,
        problem._ops.arithmetic.scalar,
        problem._ops.arithmetic.public,
    )

    def texts(numbers: Iterable[Any]) -> list[Any]:
        return [serial_number(public(scalar(x))) for x in numbers]

    data: dict[str, Any] = {
        **mdp.to_dict(),
        "discount": serial_number(problem.discount),
        "target": _policy_rows(problem.target),
    }
    if given.behavior is not None:
        data["behavior"] = _policy_rows(given.behavior)
    if given.features is not None:
        data["features"] = [
            [serial_number(public_number(x)) for x in row] for row in given.features
        ]
    if given.xi is not None:
        data["xi"] = given.xi if isinstance(given.xi, str) else texts(given.xi)
    if given.start is not None:
        data["start"] = texts(given.start)
    data["arithmetic"] = problem.arithmetic
    return data


def _policy_rows(policy: Policy) -> list[list[Any]]:
    return [[s, a, serial_number(p)] for s in policy for a, p in policy[s].items()]


def save_model(problem: PolicyEvaluation, path: str | Path) -> None:
    """Write a model file; exact numbers are written as text and come back exact."""
    write_json(path, model_to_dict(problem))


def write_json(path: str | Path, data: Any) -> None:
    """Strict JSON, written beside the file and moved over it, so that it is whole or not there.

    Raises
    ------
    InputError
        Where the place cannot be written.
    """
    with fresh_file(path) as file:
        file.write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")
