"""Verdicts, counterexamples, and what a check returns.

Verdicts
--------
proved      true for every size, by rewriting or an algebraic argument, and in
            addition tested on exact problems
verified    true exactly on problems of stated sizes, with free symbols where said
refuted     false: a counterexample is attached and can be run again
corrected   false as it stands; what is true is given
open        not decided here
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from obliquetd.algebra import number_text
from obliquetd.errors import InputError
from obliquetd.formats import model_from_dict, model_to_dict
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.words import Derivation

if TYPE_CHECKING:
    from obliquetd.claims.setting import Setting

__all__ = ["Counterexample", "Observed", "Outcome", "Verdict", "refuted", "told"]


class Verdict(StrEnum):
    """What a check found; see the module's preface."""

    PROVED = "proved"
    VERIFIED = "verified"
    REFUTED = "refuted"
    CORRECTED = "corrected"
    OPEN = "open"


Observed = Mapping[str, Any]


@dataclass(frozen=True)
class Counterexample:
    """A problem on which a statement fails.

    Attributes
    ----------
    model : dict
        JSON-ready; ``obliquetd analyze`` reads it from a file.
    observed : dict of str to value
        What was seen on it.
    violation : callable
        Takes a problem and returns what contradicts the statement, or None.
    learner : Learner or None
        The learner of the statement, where it has one.
    """

    model: Mapping[str, Any]
    observed: Observed
    violation: Callable[[PolicyEvaluation], Observed | None] = field(repr=False)
    learner: Learner | None = None

    @classmethod
    def find(
        cls,
        problems: Iterable[PolicyEvaluation],
        violation: Callable[[PolicyEvaluation], Observed | None],
        learner: Learner | None = None,
    ) -> Counterexample | None:
        """The first problem on which ``violation`` reports something."""
        for problem in problems:
            observed = violation(problem)
            if observed is not None:
                return cls(model_to_dict(problem), observed, violation, learner)
        return None

    def problem(self) -> PolicyEvaluation:
        """The problem, rebuilt from the model."""
        return model_from_dict(self.model)

    def rerun(self) -> Observed | None:
        """Check the statement again on the rebuilt problem; None would clear the statement."""
        return self.violation(self.problem())

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "model": self.model,
            "learner": None if self.learner is None else repr(self.learner),
            "observed": {name: value_text(value) for name, value in self.observed.items()},
        }


def told(observed: Observed) -> str:
    """What was observed, as a phrase."""
    return ", ".join(
        f"{name}{' ' if name.endswith(' is') else ' = '}{value_text(value)}"
        for name, value in observed.items()
    )


def value_text(value: Any) -> str:
    """A number, vector or matrix as text, a text as it is."""
    if hasattr(value, "tolist"):
        listed = value.tolist()
        rows = listed if listed and isinstance(listed[0], list) else [listed]
        return "[" + "; ".join(", ".join(number_text(x) for x in row) for row in rows) + "]"
    return value if isinstance(value, str) else number_text(value)


@dataclass(frozen=True)
class Outcome:
    """What a check returns.

    Attributes
    ----------
    verdict : Verdict
    evidence : str
        Sentences with the numbers that decide.
    numbers : dict of str to number
        The same numbers, for machines.
    counterexample : Counterexample or None
    correction : str
        What is true, where what is printed is not.
    setting : Setting or None
        The assumptions, where the check finds them; else the claim's own.
    derivations : tuple of (name, Derivation)
        The proofs by rewriting, from which a file for Coq is made.
    """

    verdict: Verdict
    evidence: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    counterexample: Counterexample | None = None
    correction: str = ""
    setting: Setting | None = None
    derivations: tuple[tuple[str, Derivation], ...] = ()

    def __post_init__(self) -> None:
        if self.verdict is Verdict.REFUTED and self.counterexample is None:
            raise InputError("a refuted claim needs a counterexample that can be run again")
        if self.verdict is Verdict.CORRECTED and not self.correction:
            raise InputError("a corrected claim needs the correction")


def refuted(found: Counterexample, evidence: str = "") -> Outcome:
    """The outcome for a statement that a counterexample contradicts."""
    return Outcome(Verdict.REFUTED, evidence or told(found.observed), found.observed, found)
