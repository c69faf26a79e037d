"""What a rule does with columns of floats, written down once and done again for other outcomes.

A run on forms (:mod:`obliquetd.learners.forms`) decides by two kinds of questions: the rule's comparisons, and whether
a column is 0 throughout. With the same answers the same operations follow. So they are kept as a tree: the
operations up to a question, and for each answer what comes after it. A search that looks at thousands of problems
goes down that tree with arrays, and where some outcomes of a comparison go another way, they go on from
there. An answer that is new is found by a run on forms, which adds to the tree.

That holds for the package's own rules, which are functions of what they are given; see
:func:`obliquetd.learners.functions.is_shipped`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import QQ

from obliquetd.algebra.ways import Way
from obliquetd.dynamics.terms import MOST_GROUPS, Group, RuleOnColumns, Slot, Term, terms_of
from obliquetd.learners.forms import Form, NoFormError, SplitError
from obliquetd.learners.functions import is_shipped

__all__ = ["Recorded", "Tape", "may_be_recorded", "tape_of"]

_EXACT = int, Fraction, type(QQ.one)
MOST_NODES: Way[int] = 5_000
"""Questions of one tree; beyond, a rule is run each time."""


@dataclass(eq=False)
class _Node:
    """Operations, each of which makes the next register, and the question or the terms at their end.

    ``needed`` are the registers made before that are read here or further down.
    """

    start: int
    operations: list[tuple[Callable[..., Any], tuple[Any, ...]]] = field(default_factory=list)
    question: tuple[str, int] | None = None
    answers: dict[bool, _Node] = field(default_factory=dict)
    terms: Any = None
    needed: set[int] = field(default_factory=set)


class Tape:
    """The tree of one rule, for one choice of what of its memory is filled."""

    def __init__(self) -> None:
        self.root = _Node(0)
        self.size = 1

    def add(self, record: _Record) -> None:
        """A run from its beginning to its end."""
        if self.size + len(record.questions) > MOST_NODES:
            return
        node, start, passed = self.root, 0, [self.root]
        for question, answer, end in record.questions:
            if node.question is None:
                node.operations, node.question = record.operations[start:end], question
            assert node.question == question
            if answer not in node.answers:
                node.answers[answer] = _Node(end)
                self.size += 1
            node, start = node.answers[answer], end
            passed.append(node)
        node.operations, node.terms = record.operations[start:], record.terms
        read: set[int] = {r for part in record.terms for terms in part.values() for *_, r in terms}
        for node in reversed(passed):
            for _, arguments in node.operations:
                read |= _registers(arguments)
            if node.question is not None:
                read.add(node.question[1])
            node.needed |= {r for r in read if r < node.start}


def _registers(arguments: tuple[Any, ...]) -> set[int]:
    found: set[int] = set()
    for x in arguments:
        if isinstance(x, tuple):
            found |= {register for _, register in x}
        elif isinstance(x, int):
            found.add(x)
    return found


@lru_cache(64)
def tape_of(learner: Any, filled: frozenset[Slot], columns: str, late: bool) -> Tape:  # noqa: ARG001
    """The tree of a learner's rule on columns of a class, which grows."""
    return Tape()


# --- operations on registers: the columns of the outcomes, and what was made before -----------


def _constant(columns: Any, _made: list[Any], number: Any) -> Any:
    return columns.constant(number)


def _given(columns: Any, _made: list[Any], name: str) -> Any:
    return columns.read(name)


def _add(_columns: Any, made: list[Any], a: int, b: int) -> Any:
    return made[a] + made[b]


def _negative(_columns: Any, made: list[Any], a: int) -> Any:
    return -made[a]


def _product(columns: Any, made: list[Any], a: int, b: int) -> Any:
    return columns.product(made[a], made[b])


def _quotient(columns: Any, made: list[Any], a: int, b: int) -> Any:
    if np.any(columns.zeros(made[b])):
        raise ZeroDivisionError
    return made[a] / made[b]


def _inner(columns: Any, made: list[Any], u: Any, v: Any) -> Any:
    first, second = ([(vector, made[r]) for vector, r in x] for x in (u, v))
    return columns.dots(first, second)


# --- writing down -----------------------------------------------------------------------------


class _Record:
    """The operations of one run, and the questions with their answers and how many operations stood before."""

    def __init__(self) -> None:
        self.operations: list[Any] = []
        self.questions: list[tuple[tuple[str, int], bool, int]] = []
        self.terms: Any = None

    def put(self, operation: Callable[..., Any], *arguments: Any) -> int:
        """The register that an operation makes."""
        self.operations.append((operation, arguments))
        return len(self.operations) - 1

    def ask(self, kind: str, register: int, answer: bool) -> bool:
        """A question and its answer, which is handed on."""
        self.questions.append(((kind, register), answer, len(self.operations)))
        return answer


class _Traced:
    """A column of a run that is written down, and its register."""

    __slots__ = ("fixed", "record", "register", "value")

    def __init__(self, record: _Record, register: int, value: Any, *, fixed: bool = False) -> None:
        self.record, self.register, self.value, self.fixed = record, register, value, fixed

    def __len__(self) -> int:
        return len(self.value)

    def made(self, operation: Callable[..., Any], value: Any, *others: _Traced) -> _Traced:
        """What an operation makes of this column and others."""
        registers = (self.register, *(x.register for x in others))
        fixed = self.fixed and all(x.fixed for x in others)
        return _Traced(self.record, self.record.put(operation, *registers), value, fixed=fixed)

    def __add__(self, other: _Traced) -> _Traced:
        return self.made(_add, self.value + other.value, other)

    def __neg__(self) -> _Traced:
        return self.made(_negative, -self.value)

    def __truediv__(self, other: _Traced) -> _Traced:
        return self.made(_quotient, self.value / other.value, other)


class _Writing:
    """The columns of some outcomes for a run on forms that is written down; see :class:`obliquetd.learners.forms.Columns`."""

    strict = False

    def __init__(self, columns: Any) -> None:
        self.columns, self.places = columns, columns.places
        self.path: list[bool] = []
        self.record = _Record()
        self._constants: dict[Any, _Traced] = {}

    def given(self, name: str, column: Any) -> _Traced:
        """A number of each transition."""
        found = self.columns.given(name, column)
        return _Traced(self.record, self.record.put(_given, name), found)

    def constant(self, value: Any) -> _Traced:
        """A column with one number, of a rule's text or of a column."""
        if isinstance(value, _Traced):
            return value
        number = value if isinstance(value, _EXACT) else float(value)
        if number not in self._constants:
            value = self.columns.constant(number)
            register = self.record.put(_constant, number)
            self._constants[number] = _Traced(self.record, register, value, fixed=True)
        return self._constants[number]

    native = constant

    def product(self, a: _Traced, b: _Traced) -> _Traced:
        """The product for each outcome."""
        return a.made(_product, self.columns.product(a.value, b.value), b)

    def inner(self, u: Form, v: Form, half: int | None) -> _Traced:
        """Of two combinations of features."""
        assert half is None
        parts = [[(vector, x) for (vector, _), x in form.terms.items()] for form in (u, v)]
        value = self.columns.dots(*([(vector, x.value) for vector, x in part] for part in parts))
        registers = (tuple((vector, x.register) for vector, x in part) for part in parts)
        return _Traced(self.record, self.record.put(_inner, *registers), value)

    def compare(self, relation: str, column: _Traced) -> bool:
        """The answer to a comparison with 0."""
        answer = bool(self.columns.compare(relation, column.value))
        self.path.append(answer)
        return self.record.ask(relation, column.register, answer)

    def zeros(self, column: _Traced) -> Any:
        """Whether the number is 0, for each outcome: before a division, which asks for itself when it is done again."""
        return self.columns.zeros(column.value)

    def is_zero(self, column: _Traced) -> bool:
        """Whether a column is 0 for every outcome."""
        answer = bool(self.columns.is_zero(column.value))
        return answer if column.fixed else self.record.ask("is zero", column.register, answer)


def may_be_recorded(learner: Any) -> Way[bool]:
    """Whether a learner's rule is the package's own and reads the same numbers of every problem and state."""
    values = learner.values.values()
    shipped = is_shipped(learner.rule) and not learner.derives
    return shipped and not any(isinstance(v, tuple) for v in values) and _has_hash(learner)


def _has_hash(learner: Any) -> bool:
    try:
        hash(learner)
    except TypeError:
        return False
    return True


class Recorded(RuleOnColumns):
    """A rule whose runs on columns of floats are done again from what was written down.

    Of a learner whose numbers say all that its rule reads; see :func:`may_be_recorded`.
    """

    def followed(
        self, outcomes: Any, columns: Any, filled: set[Slot]
    ) -> Iterator[tuple[Group, Any]]:
        """The groups of outcomes, each with the columns that it was found by.

        ``columns`` are new ones of these outcomes, which know how to make those of some of them.
        """
        tape = tape_of(self.learner, frozenset(filled), type(columns).__name__, self.late)
        waiting: list[Any] = [(outcomes, self._reading(columns, outcomes), [], tape.root)]
        count = 0
        while waiting:
            count += 1
            if count > MOST_GROUPS:
                raise NoFormError("too many cases")
            chosen, columns, made, node = waiting.pop()
            found = self._followed(chosen, columns, made, node, tape, waiting)
            if found is None:
                columns = columns.part(slice(None))
                found = self._written(chosen, columns, filled, tape, waiting)
            if isinstance(found, Group):
                yield found, columns

    def _reading(self, columns: Any, outcomes: Any) -> Any:
        """Columns of outcomes that also know the numbers of their transitions."""
        columns.read = lambda name: columns.given(name, self.among(self.given[name], outcomes))
        return columns

    def _followed(
        self, outcomes: Any, columns: Any, made: list[Any], node: _Node, tape: Tape, waiting: list[Any]
    ) -> Group | bool | None:  # fmt: skip
        """The group at the end of the way from a node on; True where the outcomes part and wait, None at a new answer."""
        while True:
            for operation, arguments in node.operations:
                made.append(operation(columns, made, *arguments))
            if node.terms is not None:
                update, handed = (
                    {slot: [Term(left, factors, made[r]) for left, factors, r in terms]
                     for slot, terms in part.items()}
                    for part in node.terms
                )  # fmt: skip
                return Group(outcomes, update, handed, tuple(columns.path))
            if node.question is None:
                return None
            kind, register = node.question
            if kind == "is zero":
                answer = bool(columns.is_zero(made[register]))
            else:
                try:
                    answer = columns.compare(kind, made[register])
                except SplitError as parted:
                    self._part(parted.mask, outcomes, columns, made, node, tape, waiting)
                    return True
            following = node.answers.get(answer)
            if following is None:
                return None
            node = following

    def _part(
        self, mask: Any, outcomes: Any, columns: Any, made: list[Any], node: _Node, tape: Tape, waiting: list[Any]
    ) -> None:  # fmt: skip
        """Let the outcomes wait with what was made of them, those whose answer is no to go on first."""
        for answer in (True, False):
            chosen = np.flatnonzero(mask == answer)
            following = node.answers.get(answer)
            part = self._reading(columns.part(chosen), outcomes[chosen])
            if following is None:
                waiting.append((outcomes[chosen], part, [], tape.root))
                continue
            part.goes_on(columns, chosen, answer)
            registers: list[Any] = [None] * len(made)
            for r in following.needed:
                registers[r] = made[r] if len(made[r]) == 1 else made[r][chosen]
            waiting.append((outcomes[chosen], part, registers, following))

    def _written(
        self, outcomes: Any, columns: Any, filled: set[Slot], tape: Tape, waiting: list[Any]
    ) -> Group | None:
        """The group of outcomes by a run on forms, which is added to the tree; None where they part."""
        writing = _Writing(columns)
        try:
            parts = [terms_of(x) for x in self.run(writing, outcomes, filled)]
        except SplitError as parted:
            for mask in (parted.mask, ~parted.mask):
                part = self._reading(columns.part(mask), outcomes[mask])
                waiting.append((outcomes[mask], part, [], tape.root))
            return None
        writing.record.terms = [
            {slot: [(t.left, t.factors, t.column.register) for t in terms]
             for slot, terms in part.items()}
            for part in parts
        ]  # fmt: skip
        tape.add(writing.record)
        update, handed = (
            {slot: [t._replace(column=t.column.value) for t in terms]
             for slot, terms in part.items()}
            for part in parts
        )  # fmt: skip
        return Group(outcomes, update, handed, tuple(writing.path))
