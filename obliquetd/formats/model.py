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
over             ``"states"``, the default, or ``"pairs"``: of action values, whose features and
                 xi are by pair (state, action); the key of a pair is its text, ``'["s", "go"]'``
arithmetic       ``"exact"``, ``"symbolic"`` or ``"float"``; the default is inferred
title            any text
===============  ==========================================================================

Numbers are JSON numbers or text such as ``"9/10"`` or ``"gamma*p"``; text keeps them
exact. Where a state is not text, write policies and features as lists, or use the
text of the label as the key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from obliquetd.algebra import parse_number
from obliquetd.errors import ModelFileError, NumberError
from obliquetd.formats.format import (
    ALIASES,
    EVALUATION,
    WHOLE,
    Contents,
    Format,
    Reading,
    known_fields,
    unknown_name,
)
from obliquetd.formats.strict_json import read_json, write_json
from obliquetd.mdp import MDP, Policy
from obliquetd.mdp.imports import label_from_json
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.places import places_of
from obliquetd.problem.record import model_to_dict

__all__ = [
    "FORMAT",
    "contents_from_dict",
    "evaluation",
    "model_from_dict",
    "model_to_dict",
    "read_json",
    "save_model",
    "write_json",
]

TABLE = ("transitions", "states", "actions", "terminal")
OTHER_NAMES = {name: alias for name, alias in ALIASES.items() if name != "Phi"}
FIELDS = frozenset([*TABLE, *EVALUATION, *OTHER_NAMES, "title"])
ROW = ("state", "action", "next_state", "probability", "reward", "discount")


def model_from_dict(data: Any, **overrides: Any) -> PolicyEvaluation:
    """The problem that a parsed model describes.

    Parameters
    ----------
    data : mapping
        Of the form in the module's preface.
    **overrides
        As for :func:`obliquetd.load_model`.

    Raises
    ------
    ModelFileError
        Where the data is not of that form; gives the field.
    """
    reading, fields = known_fields(overrides, where="model_from_dict", chooses_reward=False)
    return evaluation(contents_from_dict(data, reading), fields, reading)


def contents_from_dict(data: Any, reading: Reading) -> Contents:
    """The MDP of a parsed model, and its other fields as they stand there.

    Raises
    ------
    ModelFileError
    """
    if not isinstance(data, Mapping):
        raise ModelFileError(f"a model is a JSON object; got {type(data).__name__}")
    for name in data:
        if name not in FIELDS:
            raise ModelFileError(f"the model: {unknown_name(name, FIELDS)}")
    fields = {name: value for name, value in data.items() if name in EVALUATION}
    for alias, name in OTHER_NAMES.items():
        if alias in data:
            if name in data:
                raise ModelFileError(f"{name!r} and {alias!r} are two names for one field")
            fields[name] = data[alias]
    if "transitions" not in data:
        raise ModelFileError("the model has no 'transitions'")
    if fields.get("arithmetic") == "float":
        reading = replace(reading, floats=True)
    read = _RowReader()
    mdp = reading.mdp(
        [read(row, i) for i, row in enumerate(_list(data, "transitions"))],
        states=_labels(data, "states"),
        actions=_labels(data, "actions"),
        terminal=_labels(data, "terminal") or (),
    )
    return Contents(mdp, fields)


def evaluation(
    contents: Contents, overrides: Mapping[str, Any], reading: Reading
) -> PolicyEvaluation:
    """The problem of a file, with the caller's fields in place of those of the file.

    Raises
    ------
    ObliqueTDError
    """
    mdp, fields = contents.mdp, {**contents.fields, **overrides}
    fields = {"target": "uniform", **fields, **contents.policies(fields)}
    for name in ("target", "behavior"):
        if fields.get(name) is not None or name == "target":
            fields[name] = _policy(fields[name], mdp, name, reading)
    over = fields.pop("over", None) or "states"
    places = places_of(mdp, over)
    for name in ("features", "xi", "start"):
        if fields.get(name) is not None and not (name == "xi" and isinstance(fields[name], str)):
            by_state = name == "start" and _of_states(fields[name], mdp)
            labels = mdp.states if by_state else places.labels
            fields[name] = _by_label(fields[name], labels, name)
            if name == "start" and isinstance(fields[name], list):
                fields[name] = _in_order(fields[name], labels, f"{places.noun}s")
    return MAKERS[over](mdp, **fields)


MAKERS: dict[str, Callable[..., PolicyEvaluation]] = {
    "states": PolicyEvaluation,
    "pairs": PolicyEvaluation.of_actions,
}
"""What makes the problem, by what it is over."""


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    if not isinstance(data[name], list):
        raise ModelFileError(f"{name} is {_brief(data[name])}; expected a list")
    return list(data[name])


def _labels(data: Mapping[str, Any], name: str) -> list[Any] | None:
    if data.get(name) is None:
        return None
    return [label_from_json(x, f"{name}[{i}]") for i, x in enumerate(_list(data, name))]


class _RowReader:
    """Reads rows of a model; a text that stands for a number is read once."""

    def __init__(self) -> None:
        self.numbers: dict[str, Any] = {}

    def __call__(self, row: Any, place: int) -> tuple[Any, ...]:
        if isinstance(row, Mapping):
            row = _named_row(row, place)
        if not isinstance(row, list) or len(row) not in (5, 6):
            raise ModelFileError(
                f"transitions[{place}] is {_brief(row)}; expected [state, action, next_state, "
                "probability, reward] or the same with a discount"
            )
        return (
            *(
                x
                if type(x) is str or type(x) is int
                else label_from_json(x, f"transitions[{place}]")
                for x in row[:3]
            ),
            *(self._number(x, place, k) for k, x in enumerate(row[3:], 3)),
        )

    def _number(self, value: Any, place: int, column: int) -> Any:
        if type(value) is int or type(value) is float:
            return value
        found = self.numbers.get(value) if type(value) is str else None
        if found is None:
            found = _number(value, f"transitions[{place}][{column}], the {ROW[column]},")
            if type(value) is str:
                self.numbers[value] = found
        return found


def _named_row(row: Mapping[str, Any], place: int) -> list[Any]:
    unknown, missing = set(row) - set(ROW), set(ROW[:5]) - set(row)
    if unknown or missing:
        wrong = f"unknown {min(unknown)!r}" if unknown else f"no {min(missing)!r}"
        raise ModelFileError(f"transitions[{place}] has {wrong}; expected the names {ROW}")
    return [row[k] for k in ROW if k in row]


def _number(value: Any, where: str) -> Any:
    """A parsed number, or an error with its path in the file."""
    try:
        return parse_number(value, where)
    except NumberError as error:
        raise ModelFileError(str(error)) from None


def _policy(given: Any, mdp: MDP, where: str, reading: Reading) -> Policy:
    if isinstance(given, Policy):
        return given
    if isinstance(given, str) and given == "uniform":
        return Policy.uniform(mdp)
    rows: dict[Any, dict[Any, Any]] = {}
    if isinstance(given, list):
        for i, entry in enumerate(given):
            if not isinstance(entry, list | tuple) or len(entry) != 3:
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

    def build(number: Callable[[Any], Any] | None) -> Policy:
        read = number or (lambda p: p)
        return Policy(
            {s: {a: read(p) for a, p in row.items()} for s, row in rows.items()}, **reading.checks
        )

    return reading.attempt(build)


def _restored(table: Mapping[Any, Any], labels: tuple[Any, ...]) -> dict[Any, Any]:
    """Object keys are text; give back the label that a key is the text of."""
    by_text = {_key(x): x for x in labels}
    return {k if k in labels else by_text.get(k, k): v for k, v in table.items()}


def _key(label: Any) -> str:
    return label if isinstance(label, str) else json.dumps(label)


def _of_states(start: Any, mdp: MDP) -> bool:
    """Whether a start is one of states, over pairs too."""
    if isinstance(start, Mapping):
        return any(s in mdp.index for s in _restored(start, mdp.states))
    return isinstance(start, list) and len(start) == len(mdp.states)


def _by_label(given: Any, labels: tuple[Any, ...], where: str) -> Any:
    if isinstance(given, Mapping):
        return {s: _numbers(x, f"{where}[{s!r}]") for s, x in _restored(given, labels).items()}
    if given is None or isinstance(given, str | int | float):
        raise ModelFileError(f"{where} is {_brief(given)}; expected an object or a list")
    return _numbers(given, where)


def _in_order(given: list[Any], labels: tuple[Any, ...], what: str) -> dict[Any, Any]:
    """A start given as a list in the order of the states, or of the pairs, as a mapping."""
    if len(given) != len(labels):
        raise ModelFileError(
            f"start has {len(given)} entries for {len(labels)} {what}; expected one each"
        )
    return dict(zip(labels, given, strict=True))


def _numbers(given: Any, where: str) -> Any:
    """Numbers in lists, checked where they stand; arrays and matrices as they are."""
    if isinstance(given, list):
        return [_numbers(x, f"{where}[{i}]") for i, x in enumerate(given)]
    if given is None or isinstance(given, str | int | float | Mapping):
        return _number(given, where)
    return given


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def save_model(problem: PolicyEvaluation, path: str | Path) -> None:
    """Write a model file; exact numbers are written as text and come back exact."""
    write_json(path, model_to_dict(problem))


FORMAT = Format(
    ".json",
    "a JSON model",
    read=lambda path, reading: contents_from_dict(read_json(path), reading),
    write=save_model,
    holds=WHOLE,
)
