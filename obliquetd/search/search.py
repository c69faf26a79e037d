"""A hunt for problems on which a learner's expected update is unstable.

1. Draw a genome and walk: change an integer or two, and keep the change where the smallest
   real part of an eigenvalue of A (in floats, over the norm of A) falls. Many walks go side by side.
2. Below zero, decide for the learner and for the ones that are to stay stable: exactly, where a walk ends.
3. Shrink: lower the integers one after the other while the verdict stands; the last one is exact.
4. Certify.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import sympy as sp

from obliquetd.algebra import exactify, serial_number
from obliquetd.algebra.ways import Way
from obliquetd.dynamics import MeanDynamics
from obliquetd.errors import InputError, KindError, MathematicalError, ModelFileError
from obliquetd.formats.model import read_json, write_json
from obliquetd.learners import Learner, require_learner, require_learners
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.checks import parse_discount
from obliquetd.processes import in_processes
from obliquetd.progress import progress
from obliquetd.search.families import FAMILIES
from obliquetd.search.stream import MOST
from obliquetd.search.walk import End, Quest, shrink
from obliquetd.search.walk import walks as walk_on

__all__ = ["SearchResult", "find_unstable"]

AT_FIRST, AT_MOST = {"one by one": 1, "blocks": 4, "table": 64}, 1024
"""Walks that go side by side: few at first, since most questions with an answer have it soon."""
GROWTH = 16
"""How many times more go side by side next."""
WORTH_PROCESSES: Way[float] = 4.0
"""Seconds that the walks ahead would take in this process, from which others are asked to help."""


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What :func:`find_unstable` found.

    Attributes
    ----------
    problem : PolicyEvaluation or None
        The smallest problem found, exact; None where none was.
    certificate : dict or None
        Of instability, for ``otd.check_certificate``.
    stable : dict of str to dict or text
        For each learner that was to stay stable, by its label, the certificate that it is; where there is
        none, the reason in words.
    tried : int
        Candidates looked at.
    walks : int
        Walks finished, from the first seed on.
    passed_over : int
        Candidates among them that could not be judged.
    """

    problem: PolicyEvaluation | None
    certificate: dict[str, Any] | None
    tried: int
    walks: int
    passed_over: int = 0
    stable: Mapping[str, dict[str, Any] | str] = field(default_factory=dict)

    def __str__(self) -> str:
        walks = f"{self.walks} walk{'s' * (self.walks != 1)}"
        if self.problem is None:
            blind = f", {self.passed_over:,} of which could not be judged" * (self.passed_over > 0)
            return f"none found among {self.tried:,} candidates in {walks}{blind}"
        return f"found after {self.tried:,} candidates in {walks}: {self.problem!r}"


def find_unstable(
    learner: Learner,
    states: int,
    features: int,
    *,
    on_policy: bool = False,
    discount: Any = "9/10",
    stable: Learner | Iterable[Learner] = (),
    largest: int = 3,
    walks: int = 400,
    seed: int = 0,
    workers: int | None = None,
    checkpoint: str | Path | None = None,
) -> SearchResult:
    """Look for a small rational problem on which a learner's expected update is unstable.

    Parameters
    ----------
    learner : Learner
    states, features : int
    on_policy : bool
        One policy and any chain; else a deterministic target with uniform xi.
    discount : number
    stable : Learner or iterable of them
        Learners that have to be stable on the problem.
    largest : int
        Size of the integers.
    walks : int
        How many walks to try at most; walk k has its own seed, so the answer depends on
        ``seed`` alone and not on ``workers``.
    seed : int
    workers : int, optional
        Processes at most, which are made where the walks ahead take seconds; the number of cores
        unless given.
    checkpoint : path, optional
        Where progress is kept: a search that was stopped goes on from there.

    Returns
    -------
    SearchResult

    Raises
    ------
    InputError
        For fewer than two states, no feature, more features than states, something that is no
        learner, or a checkpoint of another search.
    KindError
        For symbols in a learner or the discount.
    MathematicalError
        Where not one candidate of a walk could be judged; says why the first was not.

    Examples
    --------
    >>> from obliquetd.learners import TD
    >>> found = find_unstable(TD(), 2, 1, walks=20, workers=1)
    >>> found.certificate["claim"], found.certificate["learner"]["key"]
    ('unstable', 'td')
    """
    for name, value, least in (
        ("states", states, 2),
        ("features", features, 1),
        ("walks", walks, 1),
        ("largest", largest, 1),
        ("seed", seed, 0),
        ("workers", 1 if workers is None else workers, 1),
    ):
        if type(value) is not int or value < least:
            raise InputError(f"{name} is {value!r}; expected an integer of at least {least}")
    if largest > MOST:
        raise InputError(f"largest is {largest}; expected an integer from 1 to {MOST:,}")
    if features > states:
        raise InputError(
            f"{features} features on {states} states are dependent; expected at most {states}"
        )
    quest = Quest(
        FAMILIES["on-policy" if on_policy else "off-policy"](
            states, features, _discount_text(discount), largest
        ),
        _numeric(require_learner(learner)),
        tuple(map(_numeric, require_learners(stable))),
        seed,
    )
    so_far = _resume(checkpoint, quest)
    _save(checkpoint, quest, so_far)
    pace = Pace(workers or os.cpu_count() or 1, AT_FIRST[quest.route])
    with progress() as report:
        report("walking", so_far.walks, walks)
        while so_far.walks < walks:
            for end in pace.walked(quest, range(so_far.walks, walks)):
                if end.blind:
                    raise MathematicalError(
                        f"not one candidate of a walk could be judged, the first because {end.blind}"
                    )
                so_far = so_far.after(end)
                report("walking", so_far.walks, walks)
                if end.genome is not None:
                    _, looked, found = shrink(quest, end.genome)
                    return SearchResult(
                        found.problem, found.unstable.certificate(), so_far.tried + looked,
                        so_far.walks, so_far.passed_over, _companions(found.stable),
                    )  # fmt: skip
            _save(checkpoint, quest, so_far)
    return SearchResult(None, None, so_far.tried, so_far.walks, so_far.passed_over)


def _companions(stable: Iterable[MeanDynamics]) -> dict[str, dict[str, Any] | str]:
    """A certificate of stability for each learner, by its label; why there is none, where there is none."""
    found: dict[str, dict[str, Any] | str] = {}
    for dyn in stable:
        try:
            found[dyn.learner.label] = dyn.certificate()
        except MathematicalError as error:  # the verdict is exact all the same
            found[dyn.learner.label] = str(error)
    return found


class Progress(NamedTuple):
    """Walks finished, candidates looked at, and how many of them could not be judged."""

    walks: int = 0
    tried: int = 0
    passed_over: int = 0

    def after(self, end: End) -> Progress:
        """With one more walk."""
        walks, tried, passed_over = self
        return Progress(walks + 1, tried + end.tried, passed_over + end.passed_over)


def _discount_text(discount: Any) -> str:
    """The discount exactly; KindError where it is a formula."""
    gamma = exactify(parse_discount(discount))
    if isinstance(gamma, sp.Basic):
        raise KindError(f"the discount is {gamma}; a search needs a number, such as '9/10'")
    return str(serial_number(gamma))


def _numeric(learner: Learner) -> Learner:
    """KindError for a learner with symbols."""
    if learner.symbols:
        names = ", ".join(sorted(map(str, learner.symbols)))
        raise KindError(
            f"{learner.name} has the symbol {names}; a search needs numbers in its place"
        )
    return learner


class Pace:
    """How many walks to take on next, and in how many processes."""

    def __init__(self, workers: int, at_first: int) -> None:
        self.workers, self.size, self.seconds = workers, at_first, 0.0
        self.most = AT_MOST if at_first > 1 else 1

    def walked(self, quest: Quest, ahead: range) -> list[End]:
        """The ends of the next walks, in their order."""
        if self.workers > 1 and self.seconds * len(ahead) > WORTH_PROCESSES:
            return self._in_processes(quest, ahead[: 4 * self.workers * self.most])
        batch, start = ahead[: self.size], time.monotonic()
        found = walk_on(quest, batch)
        self.seconds = (time.monotonic() - start) / len(batch)
        self.size = min(GROWTH * self.size, self.most)
        return found

    def _in_processes(self, quest: Quest, batch: range) -> list[End]:
        from joblib import delayed

        size = min(self.most, -(-len(batch) // self.workers))
        parts = [batch[k : k + size] for k in range(0, len(batch), size)]
        calls = (delayed(walk_on)(quest, part) for part in parts)
        return [end for part in in_processes(calls, n_jobs=self.workers) for end in part]


def _resume(checkpoint: str | Path | None, quest: Quest) -> Progress:
    if checkpoint is None or not Path(checkpoint).exists():
        return Progress()
    data = read_json(checkpoint)
    if not isinstance(data, dict) or data.get("search") != quest.identity:
        raise ModelFileError(
            f"{checkpoint} is the checkpoint of another search; give another file, or remove it"
        )
    counts: list[Any] = [data.get(name) for name in Progress._fields]
    if not all(type(n) is int and n >= 0 for n in counts):
        raise ModelFileError(
            f"{checkpoint} holds the counts {str(counts)[:80]}; expected integers. Remove it to begin "
            "the search again"
        )
    return Progress(*counts)


def _save(checkpoint: str | Path | None, quest: Quest, progress: Progress) -> None:
    if checkpoint is not None:
        write_json(checkpoint, {"search": quest.identity, **progress._asdict()})
