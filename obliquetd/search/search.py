"""A hunt for problems on which a learner's expected update is unstable.

1. Draw a genome and walk: change an integer or two, and keep the change where the smallest
   real part of an eigenvalue of A (in floats, over the norm of A) falls.
2. Below zero, decide exactly, for the learner and for the ones that are to stay stable.
3. Shrink: lower the integers one after the other while the exact verdict stands.
4. Certify.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import sympy as sp

from obliquetd.algebra import exactify, serial_number
from obliquetd.dynamics import mean_dynamics
from obliquetd.errors import InputError, KindError, MathematicalError, ModelFileError
from obliquetd.formats.model import read_json, write_json
from obliquetd.learners import Learner, require_learner, require_learners
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.checks import parse_discount
from obliquetd.processes import in_processes
from obliquetd.progress import progress
from obliquetd.search.families import FAMILIES
from obliquetd.search.walk import End, Quest, shrink, walk

__all__ = ["SearchResult", "find_unstable"]


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What :func:`find_unstable` found.

    Attributes
    ----------
    problem : PolicyEvaluation or None
        The smallest problem found, exact; None where none was.
    certificate : dict or None
        Of instability, for ``otd.check_certificate``.
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
        Processes; the number of cores unless given.
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
    >>> found.certificate["claim"]
    'unstable'
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
    count = workers or os.cpu_count() or 1
    with progress() as report:
        report("walking", so_far.walks, walks)
        while so_far.walks < walks:
            batch = range(so_far.walks, min(walks, so_far.walks + 4 * count))
            for end in _walks(quest, batch, count):
                if end.blind:
                    raise MathematicalError(
                        f"not one candidate of a walk could be judged, the first because {end.blind}"
                    )
                so_far = so_far.after(end)
                report("walking", so_far.walks, walks)
                if end.genome is not None:
                    small, looked = shrink(quest, end.genome)
                    problem = quest.family.build(small)
                    assert problem is not None
                    certificate = mean_dynamics(problem, quest.learner).certificate()
                    return SearchResult(
                        problem, certificate, so_far.tried + looked, so_far.walks,
                        so_far.passed_over,
                    )  # fmt: skip
            _save(checkpoint, quest, so_far)
    return SearchResult(None, None, so_far.tried, so_far.walks, so_far.passed_over)


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


def _walks(quest: Quest, batch: range, workers: int) -> list[End]:
    if workers == 1:
        return [walk(quest, k) for k in batch]
    from joblib import delayed

    return list(in_processes((delayed(walk)(quest, k) for k in batch), n_jobs=workers))


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
