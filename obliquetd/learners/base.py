"""What every learner is: step sizes, declared state and numbers, and one rule.

A learner is one file: NamedTuples of what it keeps (:mod:`obliquetd.learners.state`), a
plain function that updates them (:mod:`obliquetd.learners.words`), and a frozen dataclass
that names both. Everything else is derived from the class: sizes, symbols, validation,
labels, options of the command line, columns of a sweep, domains of a region.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from abc import ABC
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp

from obliquetd.algebra import number_text, parse_number, public_number, quoted
from obliquetd.algebra.numbers import in_domain
from obliquetd.errors import InputError, LearnerError
from obliquetd.learners.functions import reads
from obliquetd.learners.schedules import RobbinsMonro, StepSize, check_step_size
from obliquetd.learners.state import ByState, Nothing, Theta, size

__all__ = [
    "Learner",
    "Parameter",
    "RobbinsMonro",
    "StepSize",
    "choice",
    "nonnegative",
    "number",
    "parameters",
    "positive",
    "ratio",
    "require_bound",
    "require_learner",
    "require_learners",
    "unit",
    "whole",
]


@dataclass(frozen=True)
class Parameter:
    """One setting of a learner besides its step size, as declared in its class.

    Attributes
    ----------
    name : str
    default : object
    domain : sympy set or None
        Where its numbers lie; None for a choice between words.
    expected : str
        The domain in words.
    choices : tuple of str
        The words to choose from.
    meaning : str
        What it is, in a few words, for help and tables; may be empty.
    shown : bool
        Whether a label in a sweep shows it at its default, too, as it does the step size.
    by_state : bool
        Whether it may be {state: number} or a function of the problem.
    """

    name: str
    default: Any
    domain: sp.Set | None
    expected: str
    choices: tuple[str, ...] = ()
    meaning: str = ""
    shown: bool = False
    by_state: bool = False

    @property
    def told(self) -> str:
        """What it is and what is expected, for people."""
        return f"{self.meaning}, {self.expected}" if self.meaning else self.expected

    def read(self, value: Any) -> Any:
        """The value as a parsed number (of a choice: its index).

        Raises
        ------
        InputError
            Outside the domain.
        """
        if value is None and self.default is None:
            return None
        if self.by_state and isinstance(value, Mapping):
            return {s: self.read(x) for s, x in value.items()}
        if self.choices:
            if value not in self.choices:
                raise InputError(f"{self.name} is {value!r}; expected {self.expected}")
            return parse_number(self.choices.index(value))
        found = parse_number(value, self.name)
        if isinstance(found, sp.Basic) and self.domain in (sp.S.Naturals, sp.S.Naturals0):
            raise InputError(
                f"{self.name} is {quoted(found)}; expected {self.expected}, and no symbol, since it "
                "says how much is remembered"
            )
        if not isinstance(found, sp.Basic) and self.domain is not None:
            exact = public_number(found)
            rational = exact if isinstance(exact, sp.Basic) else sp.Rational(exact)
            if not in_domain(rational, self.domain):
                raise InputError(f"{self.name} is {quoted(found)}; expected {self.expected}")
        return found


def _declared(default: Any, domain: sp.Set, expected: str, meaning: str, **more: Any) -> Any:
    about = {"domain": domain, "expected": expected, "meaning": meaning, **more}
    return dataclasses.field(default=default, metadata=about)


def ratio(default: Any, meaning: str = "") -> Any:
    """A positive setting that makes a second step size of the first; labels always show it."""
    domain = sp.Interval.open(0, sp.oo)
    return _declared(default, domain, "a positive number", meaning, shown=True)


def positive(default: Any, meaning: str = "") -> Any:
    """A setting that is a positive number."""
    return _declared(default, sp.Interval.open(0, sp.oo), "a positive number", meaning)


def nonnegative(default: Any, meaning: str = "") -> Any:
    """A setting that is 0 or more, such as a regulariser."""
    return _declared(default, sp.Interval(0, sp.oo), "a number that is 0 or more", meaning)


def unit(default: Any, meaning: str = "") -> Any:
    """A setting in [0, 1], such as a trace parameter."""
    return _declared(default, sp.Interval(0, 1), "a number in [0, 1]", meaning)


def number(default: Any, meaning: str = "") -> Any:
    """A setting that is any number."""
    return _declared(default, sp.S.Reals, "a number", meaning)


def whole(default: Any, meaning: str = "", *, least: int = 0) -> Any:
    """A setting that is a whole number from 0 or 1 on, such as a number of steps; never a symbol."""
    domain = sp.S.Naturals if least else sp.S.Naturals0
    return _declared(default, domain, f"a whole number that is {least} or more", meaning)


def choice(*words: str, meaning: str = "") -> Any:
    """A setting that is one of some words, the first unless given; a rule reads its index."""
    expected = " or ".join(map(repr, words))
    about = {"choices": words, "expected": expected, "meaning": meaning}
    return dataclasses.field(default=words[0], metadata=about)


class Learner(ABC):
    """Step sizes, numbers, and a rule; abstract. Each learner is a frozen dataclass.

    A class declares

    * ``weights``, ``memory``, ``numbers``: NamedTuple classes; by default one vector theta,
      no memory, no numbers. The numbers are the settings that the rule reads;
    * ``rule``: a ``staticmethod`` of a plain function ``rule(x, m, t, alpha, p)``;
    * ``name`` for people and ``key`` for the command line, by default the class's name, and
      ``source``, ``solves`` (what it converges to), ``color`` and ``mark``. ``listed = False``
      leaves it out of tables and reports, which show it where it is asked for;
    * ``derives`` and ``derive``, where numbers of the rule follow from the problem: the names
      of these with stand-ins, which a rule is tried with where there is no problem, and what
      gives them. A number of the rule is one number, or a sequence of one for each state.

    Attributes
    ----------
    alpha : number, callable or None
        The step size. None where only the expected update matters.
    """

    alpha: StepSize

    key: ClassVar[str] = ""
    name: ClassVar[str] = ""
    source: ClassVar[str] = "a rule of your own"
    solves: ClassVar[str] = "whatever its rule makes of A theta = b"
    color: ClassVar[str] = "#444444"
    mark: ClassVar[str] = "P"
    listed: ClassVar[bool] = True
    weights: ClassVar[type] = Theta
    memory: ClassVar[type] = Nothing
    numbers: ClassVar[type] = Nothing
    rule: ClassVar[Callable[..., Any]]
    derives: ClassVar[Mapping[str, Any]] = {}
    derived: ClassVar[Mapping[str, Any]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = cls.__dict__.get("name") or cls.__name__
        cls.key = cls.__dict__.get("key") or cls.name.lower()

    def __post_init__(self) -> None:
        check_step_size(self.alpha, "alpha")
        for parameter in parameters(type(self)):
            if callable(value := getattr(self, parameter.name)):
                continue
            parameter.read(value)
            if parameter.by_state and isinstance(value, Mapping):
                object.__setattr__(self, parameter.name, ByState(value))
        if getattr(type(self), "rule", None) is None:
            raise LearnerError(
                f"{self.name} has no rule; give its class one, as in rule = staticmethod(my_rule)"
            )

    @property
    def values(self) -> dict[str, Any]:
        """What the rule reads, parsed, by name; override it to derive numbers from settings.

        What follows from a problem is there once :meth:`bound` has been told which.
        """
        known = {p.name: p for p in parameters(type(self))}
        out = {}
        for name in getattr(self.numbers, "_fields", ()):
            if name in self.derives:
                if name in self.derived:
                    out[name] = self.derived[name]
                continue
            if name not in known:
                raise LearnerError(
                    f"the rule of {self.name} reads the number {name!r}, which its class does not "
                    f"declare; add a field, as in '{name}: Any = positive(1)'"
                )
            out[name] = known[name].read(getattr(self, name))
        return out

    @property
    def symbols(self) -> set[sp.Symbol]:
        """The free symbols of the numbers that the rule reads."""
        rows = (x if isinstance(x, tuple) else (x,) for x in self.values.values())
        formulas = (x for row in rows for x in row if isinstance(x, sp.Basic))
        return {s for x in formulas for s in x.free_symbols}

    @property
    def tried(self) -> dict[str, Any]:
        """:attr:`values`, with stand-ins for what a problem has yet to give."""
        return {**{k: parsed(v) for k, v in self.derives.items()}, **self.values}

    def derive(self, problem: Any) -> Mapping[str, Any]:
        """The numbers in ``derives``, from a PolicyEvaluation; a class that has some overrides it."""
        raise LearnerError(
            f"{self.name} does not say what {problem!r} gives its rule; give it derive()"
        )

    def bound(self, problem: Any) -> Learner:
        """The learner with the numbers that its rule takes from a problem; itself where there are none.

        Whatever runs a learner on a problem does this at its door. A learner that was bound to
        one problem can be bound to another.
        """
        if not self.derives:
            return self
        found = {name: parsed(value, name) for name, value in self.derive(problem).items()}
        out = copy.copy(self)
        object.__setattr__(out, "derived", found)
        return out

    def size(self, d: int) -> int:
        """How many weights there are with d features: theta, and what else is declared."""
        return size(self.weights, d, self.numbers(**self.tried))

    @property
    def reads(self) -> frozenset[str]:
        """The fields of a transition that the rule uses, helpers included."""
        return reads(self.rule)

    @property
    def has_memory(self) -> bool:
        """Whether anything that matters is carried from one transition to the next."""
        from obliquetd.learners.check import carries  # the guard runs the rule, and knows Learner

        try:
            return carries(self)
        except LearnerError as error:
            raise LearnerError(f"{self.name} cannot be run: {error}") from None

    @property
    def label(self) -> str:
        """The name, with every setting that is not its default."""
        shown = [f"{p.name}={_text(v)}" for p in parameters(type(self))
                 if (v := getattr(self, p.name)) != p.default]  # fmt: skip
        return " ".join([self.name, *shown])

    def step_size(self, t: int) -> float:
        """Alpha at step t, a positive float.

        Raises
        ------
        InputError
            Where there is none, or a schedule gives something that is no step size.
        """
        if self.alpha is None:
            raise InputError(f"{self.name} has no step size; give one, as in {self.name}(0.1)")
        value = self.alpha(t) if callable(self.alpha) else public_number(parse_number(self.alpha))
        try:
            found = float(value)
        except (TypeError, ValueError):
            found = math.nan
        if not (math.isfinite(found) and found > 0):
            raise InputError(
                f"the step size of {self.name} at step {t} is {value}; expected a positive number"
            )
        return found


def require_learner(value: Any) -> Learner:
    """The value itself, where it is a learner.

    Raises
    ------
    InputError
        For anything else; a class of learners is told how to make one.
    """
    if isinstance(value, Learner):
        return value
    if isinstance(value, type) and issubclass(value, Learner):
        name = value.__name__
        raise InputError(
            f"the class {name} came where a learner is expected; make one, as in {name}() or "
            f"{name}(0.1)"
        )
    raise InputError(f"{value!r} is no learner; expected one such as TD(0.1)")


def require_learners(values: Any) -> tuple[Learner, ...]:
    """One learner, or an iterable of them; errors as for :func:`require_learner`."""
    if not isinstance(values, Iterable) or isinstance(values, str | type):
        return (require_learner(values),)
    return tuple(require_learner(value) for value in values)


def require_bound(learner: Learner) -> Learner:
    """The learner itself, where all numbers that its rule reads are known.

    Raises
    ------
    LearnerError
        Where some have to come from a problem.
    """
    missing = [name for name in learner.derives if name not in learner.derived]
    if missing:
        raise LearnerError(
            f"the rule of {learner.name} reads {' and '.join(missing)}, which follows from a problem; "
            "say which, as in learner.bound(problem)"
        )
    return learner


def parsed(value: Any, name: str = "number") -> Any:
    """A number, or a tuple of one for each state."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return parse_number(value, name)
    return tuple(parse_number(x, name) for x in value)


def each(convert: Callable[[Any], Any], value: Any) -> Any:
    """A number converted, or each of the tuple that has one for each state."""
    return tuple(map(convert, value)) if isinstance(value, tuple) else convert(value)


def parameters(kind: type[Learner]) -> list[Parameter]:
    """The declared settings of a learner besides alpha.

    Examples
    --------
    >>> from obliquetd.learners import GTD2
    >>> [p.name for p in parameters(GTD2)]
    ['mu', 'lam', 'secondary']
    """
    if not dataclasses.is_dataclass(kind):
        raise LearnerError(
            f"{kind.__name__} is no dataclass; write @dataclass(frozen=True) above its class"
        )
    return [
        Parameter(
            field.name,
            field.default,
            field.metadata.get("domain"),
            field.metadata.get("expected", "a number"),
            field.metadata.get("choices", ()),
            field.metadata.get("meaning", ""),
            field.metadata.get("shown", False),
            field.metadata.get("by_state", False),
        )
        for field in dataclasses.fields(kind)
        if field.name != "alpha" and field.init
    ]


def _text(value: Any) -> str:
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return str(value) if isinstance(value, str | ByState) else number_text(parse_number(value))
