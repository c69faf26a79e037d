"""A learner as plain data, ready for JSON, and back: what a certificate says of the learner that it speaks of.

The step size is left out, since an expected update does not depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from obliquetd.algebra import parse_number, serial_number
from obliquetd.errors import LearnerError, did_you_mean
from obliquetd.learners.base import Learner, Parameter, parameters

__all__ = ["learner_from_dict", "learner_to_dict"]


def learner_to_dict(learner: Learner) -> dict[str, Any]:
    """A learner's key, name and settings; each setting, numbers among them, as text.

    A setting that depends on the state is a list of ``[state, number]``. A setting that is a function,
    and a rule that is not one of the package's, cannot be told by data; ``untold`` says which.

    Examples
    --------
    >>> from obliquetd.learners import TD
    >>> learner_to_dict(TD(lam="1/2"))
    {'key': 'td', 'name': 'TD', 'settings': {'lam': '1/2'}}
    """
    from obliquetd.learners import (
        LEARNERS,
    )  # the list is made of the classes, which derive from Learner

    settings, untold = {}, []
    if LEARNERS.get(learner.key) is not type(learner):
        untold.append("its rule, which is no rule of the package")
    for parameter in parameters(type(learner)):
        value = getattr(learner, parameter.name)
        if callable(value):
            untold.append(f"its {parameter.name}, which is a function")
        else:
            settings[parameter.name] = _told(value, parameter)
    found: dict[str, Any] = {"key": learner.key, "name": learner.name, "settings": settings}
    return {**found, "untold": untold} if untold else found


def _told(value: Any, parameter: Parameter) -> Any:
    if isinstance(value, Mapping):
        return [[state, serial_number(parse_number(x))] for state, x in value.items()]
    if value is None or parameter.choices:
        return value
    return serial_number(parse_number(value))


def learner_from_dict(data: Any) -> Learner:
    """The learner that such data tells of, without a step size.

    Raises
    ------
    LearnerError
        Where the data is not of that form, or leaves something untold.

    Examples
    --------
    >>> learner_from_dict({"key": "td", "name": "TD", "settings": {"lam": "1/2"}})
    TD(alpha=None, lam='1/2')
    """
    from obliquetd.learners import LEARNERS

    if not isinstance(data, Mapping) or not isinstance(data.get("settings"), Mapping):
        raise LearnerError("a learner as data is an object with 'key', 'name' and 'settings'")
    if data.get("untold"):
        raise LearnerError(
            f"the learner {data.get('name')} is not told in full: {', '.join(map(str, data['untold']))} "
            "cannot be kept as data; name the learner itself"
        )
    key = str(data.get("key"))
    if key not in LEARNERS:
        raise LearnerError(
            f"no learner of the package has the key {key!r}; {did_you_mean(key, LEARNERS)}"
            f"expected one of {', '.join(LEARNERS)}"
        )
    kind: Any = LEARNERS[key]
    known = {p.name: p for p in parameters(kind)}
    settings = {}
    for name, value in data["settings"].items():
        if name not in known:
            raise LearnerError(
                f"{key} has no setting {name!r}; it has {', '.join(known) or 'none'}"
            )
        usual = known[name].default
        if callable(usual) or value != _told(usual, known[name]):
            settings[name] = _read(value, name)
    made: Learner = kind(alpha=None, **settings)
    return made


def _read(value: Any, name: str) -> Any:
    """A setting from data: a list is of pairs of a state and a number."""
    if not isinstance(value, list):
        return value
    try:
        return dict(value)
    except (TypeError, ValueError):
        raise LearnerError(
            f"the setting {name!r} is {str(value)[:60]}; expected pairs of a state and a number"
        ) from None
