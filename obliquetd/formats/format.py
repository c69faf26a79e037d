"""What a file format is: one record, exported by the format's own module.

Reading goes in two steps. A format gives :class:`Contents`: an MDP, and those fields of a
:class:`~obliquetd.problem.PolicyEvaluation` that the file holds. The caller's overrides, which have
the same names for every format, then take the place of fields, and the problem is built once.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from obliquetd.algebra import parse_number, public_number
from obliquetd.errors import InputError, ProbabilityError, did_you_mean
from obliquetd.mdp import MDP
from obliquetd.problem import PolicyEvaluation

__all__ = [
    "ALIASES",
    "AS_IT_STANDS",
    "EVALUATION",
    "WHOLE",
    "Contents",
    "Format",
    "Reading",
    "known_fields",
]

Built = TypeVar("Built")

EVALUATION = (
    *(
        name
        for name, parameter in inspect.signature(PolicyEvaluation).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    ),
    "over",
)
"""The fields of a problem beside its MDP: what :class:`PolicyEvaluation` takes, and what it is over."""

ALIASES = {"gamma": "discount", "policy": "target", "Phi": "features"}
"""Other names for the same fields."""

WHOLE = frozenset(EVALUATION) - {"arithmetic"}
"""What a format holds that holds a whole problem."""


@dataclass(frozen=True)
class Reading:
    """How a file is to be read, where that is for the caller to say.

    Attributes
    ----------
    normalize : bool
        Divide each row of probabilities by its sum.
    tolerance : number or None
        How far the sum of a row of decimals may be from one; None is the constructors' own.
    reward : str or None
        The reward structure that is meant, by name or number, where a file has several.
    terminal : list of labels
        States whose rewardless self-loops are to be taken out.
    floats : bool
        Whether the problem is to be one of floats: rows of rounded decimals may then be read as
        floats, which sum to one to within rounding.
    """

    normalize: bool = False
    tolerance: Any = None
    reward: str | None = None
    terminal: tuple[Any, ...] = ()
    floats: bool = False

    @property
    def checks(self) -> dict[str, Any]:
        """What constructors of MDPs and policies are told about their rows."""
        given: dict[str, Any] = {"normalize": True} if self.normalize else {}
        return given if self.tolerance is None else {**given, "tolerance": self.tolerance}

    def attempt(self, build: Callable[[Callable[[Any], Any] | None], Built]) -> Built:
        """What ``build`` makes of the numbers as they are (None), or, where rows are off, of floats.

        Raises
        ------
        ObliqueTDError
        """
        try:
            return build(None)
        except ProbabilityError as error:
            if not self.floats:
                raise
            try:
                return build(_nearest_float)
            except ProbabilityError:
                raise error from None

    def mdp(self, rows: Iterable[Sequence[Any]], **labels: Any) -> MDP:
        """The MDP of transition rows, read as the caller wants it.

        Raises
        ------
        ObliqueTDError
        """
        listed: list[Sequence[Any]] = list(rows)
        fields = {
            **self.checks,
            **labels,
            "terminal": (*labels.get("terminal", ()), *self.terminal),
        }

        def build(number: Callable[[Any], Any] | None) -> MDP:
            if number is None:
                return MDP.from_transitions(listed, **fields)
            read = ((*row[:3], *map(number, row[3:])) for row in listed)
            return MDP.from_transitions(read, **fields)

        return self.attempt(build)


def _nearest_float(value: Any) -> Any:
    """A number as a float, where it fits one; formulas as they are."""
    try:
        rounded = float(public_number(parse_number(value)))
    except (TypeError, OverflowError):
        return value
    return rounded if math.isfinite(rounded) and (rounded != 0 or value == 0) else value


AS_IT_STANDS = Reading()
"""No wish of the caller's."""

READING = ("normalize", "tolerance", "reward", "terminal")


def _no_policies(_: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the fields, or the uniform one."""
    return {}


@dataclass(frozen=True)
class Contents:
    """What a file holds: an MDP, and fields in the forms of the JSON format or as objects.

    ``policies`` gives target and behaviour, where they depend on what the caller gave.
    """

    mdp: MDP
    fields: Mapping[str, Any] = field(default_factory=dict)
    policies: Callable[[Mapping[str, Any]], dict[str, Any]] = _no_policies


@dataclass(frozen=True)
class Format:
    """One file format; see the module's preface.

    Attributes
    ----------
    ending : str
        With its dot, in lower case.
    summary : str
        What such a file is, in a few words.
    read : callable (Path, Reading) -> Contents
    write : callable (PolicyEvaluation, Path), optional
    holds : set of field names
        What a file keeps of a problem beside its MDP.
    chooses_reward : bool
        Whether a file may hold several reward structures.
    """

    ending: str
    summary: str
    read: Callable[[Path, Reading], Contents]
    write: Callable[[PolicyEvaluation, Path], Any] | None = None
    holds: frozenset[str] = frozenset()
    chooses_reward: bool = False


def known_fields(
    overrides: Mapping[str, Any], *, where: str, chooses_reward: bool
) -> tuple[Reading, dict[str, Any]]:
    """The caller's overrides in two: how to read, and the fields that replace those of the file.

    Raises
    ------
    InputError
        For an unknown name, with the nearest that is known, or two names for one field.
    """
    known = (*EVALUATION, *ALIASES, *READING)
    fields: dict[str, Any] = {}
    for name, value in overrides.items():
        if name not in known:
            raise InputError(f"{where}: {unknown_name(name, known)}")
        plain = ALIASES.get(name, name)
        if plain in fields:
            other = next(n for n in overrides if n != name and ALIASES.get(n, n) == plain)
            raise InputError(f"{where}: {other!r} and {name!r} are two names for one field")
        fields[plain] = value
    given = {name: fields.pop(name) for name in READING if name in fields}
    if given.get("reward") is not None and not chooses_reward:
        raise InputError(
            f"{where}: reward={given['reward']!r} chooses among several reward structures, which "
            "this format does not have; leave it out"
        )
    if "terminal" in given:
        given["terminal"] = tuple(given["terminal"] or ())
    return Reading(**given, floats=fields.get("arithmetic") == "float"), fields


def unknown_name(name: str, known: Collection[str]) -> str:
    """What to say of a name that nobody knows."""
    guess = did_you_mean(name, known)
    return f"there is no field {name!r}; {guess}the fields are {', '.join(sorted(known))}"
