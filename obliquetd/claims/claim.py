"""Claims: statements that are checked, with a verdict and its evidence.

Verdicts
--------
proved      an identity for every size, by rewriting or an algebraic argument, and in
            addition tested on exact problems
verified    true exactly on problems of stated sizes, with free symbols where said
refuted     false: a counterexample is attached and can be run again
corrected   false as printed; what is true is given
open        not decided here
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from obliquetd.algebra import number_text, serial_number
from obliquetd.display import HtmlTable
from obliquetd.errors import InputError
from obliquetd.formats import model_from_dict, model_to_dict
from obliquetd.problem import PolicyEvaluation

__all__ = [
    "REGISTRY",
    "Claim",
    "ClaimResult",
    "Counterexample",
    "Outcome",
    "Registry",
    "Verdict",
    "claim",
    "refuted",
    "told",
    "verify",
]


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
    """

    model: Mapping[str, Any]
    observed: Observed
    violation: Callable[[PolicyEvaluation], Observed | None] = field(repr=False)

    @classmethod
    def find(
        cls,
        problems: Iterable[PolicyEvaluation],
        violation: Callable[[PolicyEvaluation], Observed | None],
    ) -> Counterexample | None:
        """The first problem on which ``violation`` reports something."""
        for problem in problems:
            observed = violation(problem)
            if observed is not None:
                return cls(model_to_dict(problem), observed, violation)
        return None

    def problem(self) -> PolicyEvaluation:
        """The problem, rebuilt from the model."""
        return model_from_dict(self.model)

    def rerun(self) -> Observed | None:
        """Check the statement again on the rebuilt problem; None would clear the statement."""
        return self.violation(self.problem())


def told(observed: Observed) -> str:
    """What was observed, as a phrase."""
    return ", ".join(f"{name} = {_text(value)}" for name, value in observed.items())


def _text(value: Any) -> str:
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
    """

    verdict: Verdict
    evidence: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    counterexample: Counterexample | None = None
    correction: str = ""

    def __post_init__(self) -> None:
        if self.verdict is Verdict.REFUTED and self.counterexample is None:
            raise InputError("a refuted claim needs a counterexample that can be run again")
        if self.verdict is Verdict.CORRECTED and not self.correction:
            raise InputError("a corrected claim needs the correction")


def refuted(found: Counterexample, evidence: str = "") -> Outcome:
    """The outcome for a statement that a counterexample contradicts."""
    return Outcome(Verdict.REFUTED, evidence or told(found.observed), found.observed, found)


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and a check that can fail.

    Attributes
    ----------
    id : str
    where : str
        The place in the paper.
    title : str
        The statement in a short sentence.
    statement : str
        The statement as LaTeX.
    check : callable
        Called without arguments it decides the statement as it stands. Keyword
        arguments replace parts of the statement, so that a broken one can be fed in.
    """

    id: str
    where: str
    title: str
    statement: str
    check: Callable[..., Outcome] = field(repr=False)


@dataclass(frozen=True, repr=False)
class ClaimResult(HtmlTable):
    """One line of :func:`verify`; ``failed`` where the check itself could not be completed."""

    claim: Claim
    outcome: Outcome
    seconds: float
    failed: bool = False

    @property
    def id(self) -> str:
        """The claim's id."""
        return self.claim.id

    @property
    def statement(self) -> str:
        """The claim as LaTeX."""
        return self.claim.statement

    @property
    def verdict(self) -> str:
        """proved, verified, refuted, corrected or open."""
        return str(self.outcome.verdict)

    @property
    def evidence(self) -> str:
        """The sentences that decide."""
        return self.outcome.evidence

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        rows = [["claim", self.claim.title], ["where", self.claim.where], ["verdict", self.verdict]]
        rows += [["evidence", self.evidence]]
        if self.outcome.correction:
            rows.append(["right is", self.outcome.correction])
        return self.id, ["", ""], rows

    def __repr__(self) -> str:
        return f"ClaimResult({self.id!r}, {self.verdict})"

    def __str__(self) -> str:
        right = f" Right is: {self.outcome.correction}" if self.outcome.correction else ""
        return f"{self.id}: {self.verdict}. {self.evidence}{right}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        example = self.outcome.counterexample
        return {
            "id": self.id,
            "where": self.claim.where,
            "title": self.claim.title,
            "statement": self.statement,
            "verdict": self.verdict,
            "evidence": self.evidence,
            "correction": self.outcome.correction or None,
            "numbers": {k: _serial(v) for k, v in self.outcome.numbers.items()},
            "counterexample": example
            and {
                "model": example.model,
                "observed": {k: _text(v) for k, v in example.observed.items()},
            },
            "failed": self.failed,
            "seconds": round(self.seconds, 3),
        }


def _serial(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return [[serial_number(x) for x in row] for row in value.tolist()]
    return serial_number(value)


class Registry:
    """Claims by id, in the order in which they were registered."""

    def __init__(self) -> None:
        self._claims: dict[str, Claim] = {}

    def add(self, new: Claim) -> None:
        """Register a claim; an id can be used once."""
        if new.id in self._claims:
            raise InputError(f"the claim id {new.id!r} is taken")
        self._claims[new.id] = new

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims.values())

    def __len__(self) -> int:
        return len(self._claims)

    def __getitem__(self, id: str) -> Claim:  # noqa: A002 - the word for it
        try:
            return self._claims[id]
        except KeyError:
            raise InputError(
                f"no claim is called {id!r}; the claims are {', '.join(self._claims)}"
            ) from None


REGISTRY = Registry()
"""The claims of the paper."""


def claim(
    id: str,  # noqa: A002 - the word for it
    *,
    where: str,
    title: str,
    statement: str,
    registry: Registry | None = None,
) -> Callable[[Callable[..., Outcome]], Claim]:
    """Register a check as a claim.

    Parameters
    ----------
    id : str
        Unique in its registry.
    where, title, statement : str
        Place, short sentence, LaTeX.
    registry : Registry, optional
        The paper's, unless you keep your own.

    Examples
    --------
    >>> mine = Registry()
    >>> @claim("one", where="here", title="1 = 1", statement="1 = 1", registry=mine)
    ... def check(left=1):
    ...     return Outcome(Verdict.VERIFIED if left == 1 else Verdict.OPEN, "looked")
    >>> [result.verdict for result in verify(registry=mine)]
    ['verified']
    """

    def register(check: Callable[..., Outcome]) -> Claim:
        new = Claim(id, where, title, statement, check)
        (REGISTRY if registry is None else registry).add(new)
        return new

    return register


def verify(
    ids: Iterable[str] | None = None,
    *,
    registry: Registry | None = None,
    progress: Callable[[Claim], None] | None = None,
) -> list[ClaimResult]:
    """Check claims: by default every claim of the paper.

    Parameters
    ----------
    ids : iterable of str, optional
    registry : Registry, optional
        The paper's, unless you keep your own.
    progress : callable, optional
        Called with each claim before it is checked.

    Returns
    -------
    list of ClaimResult
        Each has ``id``, ``statement``, ``verdict`` and ``evidence``.

    Examples
    --------
    >>> [(r.id, r.verdict) for r in verify(["table-1-setd", "table-1-etd"])]
    [('table-1-setd', 'verified'), ('table-1-etd', 'corrected')]
    """
    known = REGISTRY if registry is None else registry
    chosen = list(known) if ids is None else [known[i] for i in ids]
    results = []
    for one in chosen:
        if progress is not None:
            progress(one)
        start = time.perf_counter()
        failed = False
        try:
            outcome = one.check()
        except Exception as error:  # one broken check must not lose the others' verdicts
            failed = True
            outcome = Outcome(Verdict.OPEN, f"{type(error).__name__}: {error}")
        results.append(ClaimResult(one, outcome, time.perf_counter() - start, failed))
    return results
