"""What a statement assumes, and what happens without it.

:class:`Setting` holds the assumptions of a claim and the statement itself as a function
that reports a failure. :meth:`Setting.dropped` drops each assumption in turn: it looks for
a problem (and a learner) that meets all others and not this one, and on which the
statement fails. Either such a counterexample is found, and the assumption is needed; or
the search is reported, and the assumption is not known to be needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from obliquetd.claims.assumptions import Assumption
from obliquetd.claims.claim import Counterexample, Observed, told
from obliquetd.claims.gallery import gallery
from obliquetd.errors import InputError, MathematicalError
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation

__all__ = ["Case", "Dropped", "Setting"]

Case = tuple[PolicyEvaluation, Learner | None]

MOST_CASES = 60
"""Cases that an assumption is dropped on at most."""

MISSING = "does not exist, since"
"""The name under which it is observed that what a statement writes does not exist."""

NEEDED, UNKNOWN = "needed", "not known to be needed"
IMPLIED, BUILT_IN, MET = "implied by the others", "built in", "met by the counterexample"

Fails = Callable[[PolicyEvaluation, Learner | None], Observed | None]


@dataclass(frozen=True)
class Dropped:
    """An assumption, and what is known of the statement without it.

    Attributes
    ----------
    name, statement : str
        Of the assumption.
    needed : str
        "needed", with a counterexample attached; "not known to be needed", after a search;
        "implied by the others"; "built in", where a problem without it is refused; or, for a
        false statement, "met by the counterexample".
    evidence : str
        The counterexample in words, or the search, or why it is no restriction.
    counterexample : Counterexample or None
        It meets all other assumptions, and the statement fails on it.
    """

    name: str
    statement: str
    needed: str
    evidence: str
    counterexample: Counterexample | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        example = self.counterexample
        return {
            "name": self.name,
            "statement": self.statement,
            "needed": self.needed,
            "evidence": self.evidence,
            "counterexample": None if example is None else example.to_dict(),
        }


@dataclass(frozen=True)
class Setting:
    """The assumptions of a statement, and the statement as something that can fail.

    Attributes
    ----------
    assumptions : tuple of Assumption
    fails : callable or None
        Takes a problem and a learner, and returns what contradicts the *conclusion*, or
        None. None where the statement is refuted: then there is nothing to drop.
    learner : Learner or None
        The learner that the statement is about.
    others : tuple of Learner
        Further learners to try where an assumption is one on the learner.
    without : mapping of assumption name to a maker of a case
        Cases that meet all assumptions but the named one, tried before the gallery.
    implied : mapping of assumption name to str
        Why the others imply it.

    Examples
    --------
    C is non-singular for independent columns and positive weights, and needs both:

    >>> from obliquetd.claims.assumptions import FULL_RANK, POSITIVE_WEIGHTS
    >>> def singular(problem, learner):
    ...     return None if problem.C.det() else {"C": problem.C}
    >>> setting = Setting((FULL_RANK, POSITIVE_WEIGHTS), fails=singular)
    >>> [(a.name, a.needed) for a in setting.dropped()]
    [('full rank', 'needed'), ('xi > 0', 'needed')]
    """

    assumptions: tuple[Assumption, ...] = ()
    fails: Fails | None = field(default=None, repr=False)
    learner: Learner | None = None
    others: tuple[Learner, ...] = ()
    without: Mapping[str, Callable[[], Case]] = field(default_factory=dict, repr=False)
    implied: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = {a.name for a in self.assumptions}
        for name in (*self.without, *self.implied):
            if name not in names:
                raise InputError(f"{name!r} is no assumption here; there are {sorted(names)}")

    def unmet(self, problem: PolicyEvaluation, learner: Learner | None = None) -> list[str]:
        """The names of the assumptions that a problem and a learner do not meet."""
        chosen = self.learner if learner is None else learner
        return [a.name for a in self.assumptions if not a.holds(problem, chosen)]

    def dropped(self) -> list[Dropped]:
        """Each assumption, dropped."""
        return [self._drop(a) for a in self.assumptions]

    def _drop(self, dropped: Assumption) -> Dropped:
        about = (dropped.name, dropped.statement)
        if dropped.always:
            return Dropped(*about, BUILT_IN, dropped.always)
        if self.fails is None:
            return Dropped(*about, MET, "the statement is false where it holds")
        tried, refusal = 0, ""
        for problem, learner in islice(self._cases(dropped), MOST_CASES):
            try:
                seen = self._failure(problem, learner)
            except InputError as error:  # the rule is not meant for it: no case
                refusal = str(error).split(". ")[0]
                continue
            tried += 1
            if seen is None:
                continue
            found = Counterexample.find([problem], partial(self._failure, learner=learner), learner)
            assert found is not None
            by = "" if learner in (None, self.learner) else f" with {learner!r}"
            missing = seen.get(MISSING)
            why = f"{missing}, so what is stated does not exist" if missing else told(seen)
            return Dropped(*about, NEEDED, f"on {problem!r}{by}: {why}", found)
        if dropped.name in self.implied:
            return Dropped(*about, IMPLIED, self.implied[dropped.name])
        if refusal and not tried:
            return Dropped(*about, BUILT_IN, f"a problem without it is refused: {refusal}")
        return Dropped(
            *about,
            UNKNOWN,
            f"the statement holds on {tried} problems of n <= 4 states that meet all but it",
        )

    def _cases(self, dropped: Assumption) -> Iterator[Case]:
        """Cases that meet all assumptions but one; those given first."""
        if dropped.name in self.without:
            case = self.without[dropped.name]()
            if self.unmet(*case) != [dropped.name]:
                raise InputError(
                    f"a case to drop {dropped.name!r} on does not meet {self.unmet(*case)}"
                )
            yield case
        rest = [a for a in self.assumptions if a is not dropped]
        for problem in gallery():
            for learner in (self.learner, *self.others):
                if not dropped.holds(problem, learner) and all(
                    a.holds(problem, learner) for a in rest
                ):
                    yield problem, learner

    def _failure(self, problem: PolicyEvaluation, learner: Learner | None) -> Observed | None:
        """What contradicts the conclusion; what it speaks of may not even exist."""
        assert self.fails is not None
        try:
            return self.fails(problem, learner)
        except MathematicalError as error:
            return {MISSING: str(error).split(". ")[0]}
