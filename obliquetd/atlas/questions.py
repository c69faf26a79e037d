"""Questions to an atlas: learners, verdicts, and, or, not, and brackets. Nothing is ever evaluated as code.

    question  = conjunction ("or" conjunction)*
    conjunction = denial ("and" denial)*
    denial    = "not" denial | "(" question ")" | LEARNER ["is"] ["not"] VERDICT
    VERDICT   = "stable" | "marginal" | "unstable" | "nothing moves"

A learner is written as the atlas calls it, in capital letters or small ones. Of several that match, the longest
is meant, so that ``TD lam=1/2`` is not ``TD``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from obliquetd.atlas.verdicts import VERDICTS
from obliquetd.display import visible
from obliquetd.errors import InputError

__all__ = ["Question", "parse"]

LONGEST = 10_000
DEEPEST = 100
SHOWN = 80
"""Characters of a question that an error repeats."""
WORDS = ("and", "or", "not", "is", *VERDICTS)
BETWEEN = re.compile(r"[\s()]")


@dataclass(frozen=True)
class Question:
    """A question that was understood.

    Attributes
    ----------
    tree : tuple
        ("is", learner, verdict), ("not", tree), ("and", tree, ...) or ("or", tree, ...); ("and",) is true.
    """

    tree: tuple[Any, ...]

    @property
    def learners(self) -> list[str]:
        """The learners that it names, in its order."""
        return list(dict.fromkeys(_names(self.tree)))

    def holds(self, verdicts: dict[str, Any], count: int) -> Any:
        """For each problem whether it does.

        Parameters
        ----------
        verdicts : dict of learner to array of int
            The numbers of the verdicts, as in :data:`~obliquetd.atlas.verdicts.VERDICTS`.
        count : int
            How many problems there are.
        """
        return _holds(self.tree, verdicts, count)


def parse(text: str | None, learners: Sequence[str]) -> Question:
    """A question in words, or none, which holds for all.

    Raises
    ------
    InputError
        Names what was not understood, and what was expected there.

    Examples
    --------
    >>> parse("SETD unstable and not (TD is stable)", ["TD", "SETD"]).tree
    ('and', ('is', 'SETD', 'unstable'), ('not', ('is', 'TD', 'stable')))
    """
    if text is None:
        return Question(("and",))
    if not isinstance(text, str):
        raise InputError(f"the question is {text!r}; expected text, such as 'TD unstable'")
    if len(text) > LONGEST:
        raise InputError(f"the question has {len(text):,} characters; expected at most {LONGEST:,}")
    reader = Reader(text, learners)
    tree = reader.alternatives(0)
    if reader.rest():
        raise reader.error("'and', 'or' or the end")
    return Question(tree)


class Reader:
    """Reads a question from left to right."""

    def __init__(self, text: str, learners: Sequence[str]) -> None:
        self.text, self.at = text, 0
        self.learners = sorted(learners, key=lambda name: -len(name))

    def rest(self) -> str:
        """What has not been read, without spaces before it."""
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text[self.at :]

    def takes(self, *words: str) -> str | None:
        """The first of some words that comes next, which is then read."""
        rest = self.rest()
        for word in words:
            end = len(word)
            if rest[:end].casefold() != word.casefold():
                continue
            if word in "()" or end == len(rest) or BETWEEN.match(rest[end]):
                self.at += end
                return word
        return None

    def error(self, expected: str) -> InputError:
        """What stands where something else was expected."""
        rest = self.rest()
        found = _shown(BETWEEN.split(rest)[0] or rest[:1]) if rest else "nothing"
        return InputError(
            f"the question {_shown(self.text)} has {found} where {expected} was expected, at character "
            f"{self.at + 1}"
        )

    def alternatives(self, depth: int) -> tuple[Any, ...]:
        """A question."""
        if depth > DEEPEST:
            raise InputError(f"the question nests more than {DEEPEST} brackets and denials")
        return self._joined("or", lambda: self._joined("and", lambda: self._denial(depth)))

    def _joined(self, word: str, part: Any) -> tuple[Any, ...]:
        parts = [part()]
        while self.takes(word):
            parts.append(part())
        return (word, *parts) if len(parts) > 1 else parts[0]

    def _denial(self, depth: int) -> tuple[Any, ...]:
        name = self.takes(*self.learners)
        if name is not None:
            return self._verdict(name)
        if self.takes("not"):
            if depth > DEEPEST:
                raise InputError(f"the question nests more than {DEEPEST} brackets and denials")
            return ("not", self._denial(depth + 1))
        if self.takes("("):
            inside = self.alternatives(depth + 1)
            if not self.takes(")"):
                raise self.error("')'")
            return inside
        raise self.error(
            f"a learner of the atlas ({', '.join(sorted(self.learners))}), 'not' or '('"
        )

    def _verdict(self, name: str) -> tuple[Any, ...]:
        self.takes("is")
        denied = self.takes("not")
        verdict = self.takes(*VERDICTS)
        if verdict is None:
            raise self.error(f"a verdict on {name} ({', '.join(VERDICTS)})")
        found = ("is", name, verdict)
        return ("not", found) if denied else found


def _shown(text: str) -> str:
    """Text in quotation marks, safe and not long."""
    return repr(visible(text if len(text) <= SHOWN else f"{text[:SHOWN]}..."))


def _names(tree: tuple[Any, ...]) -> list[str]:
    if tree[0] == "is":
        return [tree[1]]
    return [name for part in tree[1:] for name in _names(part)]


def _holds(tree: tuple[Any, ...], verdicts: dict[str, Any], count: int) -> Any:
    kind, *parts = tree
    if kind == "is":
        return verdicts[parts[0]] == VERDICTS.index(parts[1])
    found = [_holds(part, verdicts, count) for part in parts]
    if kind == "not":
        return ~found[0]
    start = np.full(count, kind == "and")
    return (
        np.logical_and.reduce([start, *found])
        if kind == "and"
        else np.logical_or.reduce([start, *found])
    )
