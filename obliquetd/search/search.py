"""A hunt for problems on which a learner's expected update is unstable.

1. Draw a genome and walk: change an integer or two, and keep the change where the smallest
   real part of an eigenvalue of A (in floats, over the norm of A) falls.
2. Below zero, decide exactly, for the learner and for the ones that are to stay stable.
3. Shrink: lower the integers one after the other while the exact verdict stands.
4. Certify.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from obliquetd.algebra import FLOAT
from obliquetd.checks import parse_discount
from obliquetd.dynamics import mean_dynamics
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.errors import InputError, ModelFileError, ObliqueTDError
from obliquetd.formats.model import read_json, write_json
from obliquetd.learners import Learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.progress import progress
from obliquetd.search.families import FAMILIES, Family, Genome

__all__ = ["SearchResult", "find_unstable"]

WALK = 150
"""Changes tried in one walk."""


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
    """

    problem: PolicyEvaluation | None
    certificate: dict[str, Any] | None
    tried: int
    walks: int

    def __str__(self) -> str:
        if self.problem is None:
            return f"none found among {self.tried:,} candidates in {self.walks} walks"
        return f"found after {self.tried:,} candidates in {self.walks} walks: {self.problem!r}"


def find_unstable(
    learner: Learner,
    states: int,
    features: int,
    *,
    on_policy: bool = False,
    discount: Any = "9/10",
    stable: Sequence[Learner] = (),
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
    stable : sequence of Learner
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
        For fewer than two states, no feature, more features than states, or a checkpoint
        of another search.

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
    ):
        if not isinstance(value, int) or value < least:
            raise InputError(f"{name} is {value!r}; expected an integer of at least {least}")
    if features > states:
        raise InputError(
            f"{features} features on {states} states are dependent; expected at most {states}"
        )
    parse_discount(discount)
    family = FAMILIES["on-policy" if on_policy else "off-policy"](
        states, features, str(discount), largest
    )
    settings = repr((family, learner, tuple(stable), seed))
    done, tried = _resume(checkpoint, settings)
    count = workers or os.cpu_count() or 1
    with progress() as report:
        report("walking", done, walks)
        while done < walks:
            batch = range(done, min(walks, done + 4 * count))
            for genome, looked in _walks(family, learner, tuple(stable), seed, batch, count):
                tried, done = tried + looked, done + 1
                report("walking", done, walks)
                if genome is not None:
                    small, looked = shrink(family, genome, learner, tuple(stable))
                    problem = family.build(small)
                    assert problem is not None
                    certificate = mean_dynamics(problem, learner).certificate()
                    return SearchResult(problem, certificate, tried + looked, done)
            _save(checkpoint, settings, done, tried)
    return SearchResult(None, None, tried, done)


def _walks(
    family: Family,
    learner: Learner,
    stable: tuple[Learner, ...],
    seed: int,
    batch: range,
    workers: int,
) -> list[tuple[Genome | None, int]]:
    if workers == 1:
        return [walk(family, learner, stable, seed, k) for k in batch]
    from joblib import Parallel, delayed

    return list(
        Parallel(n_jobs=workers)(delayed(walk)(family, learner, stable, seed, k) for k in batch)
    )


def walk(
    family: Family, learner: Learner, stable: tuple[Learner, ...], seed: int, number: int
) -> tuple[Genome | None, int]:
    """One walk: a genome that is exactly what was asked for, or None; and how many were tried."""
    rng = np.random.default_rng([seed, number])
    genome = family.draw(rng)
    best = score(family, genome, learner)
    for tried in range(1, WALK + 1):
        if best < -1e-9 and confirmed(family, genome, learner, stable):
            return genome, tried
        neighbour = family.change(genome, rng)
        value = score(family, neighbour, learner)
        # where the learner is unstable but another one is too, walk on
        if value < best or (best < -1e-9 and value < -1e-9 and rng.random() < 0.5):
            genome, best = neighbour, value
    return None, WALK


def score(family: Family, genome: Genome, learner: Learner) -> float:
    """The smallest real part of an eigenvalue of A in floats, over the norm of A."""
    try:
        problem = family.build(genome)
        if problem is None:
            return np.inf
        dyn = MeanDynamics(problem, learner, "trajectory", FLOAT)
        margin = dyn.stability.margin
        size = float(np.linalg.norm(np.asarray(dyn.A)))
    except ObliqueTDError:
        return np.inf
    return np.inf if margin is None or size == 0.0 else margin / size


def confirmed(
    family: Family, genome: Genome, learner: Learner, stable: tuple[Learner, ...]
) -> bool:
    """The exact verdicts: unstable for the learner, stable for the others."""
    try:
        problem = family.build(genome)
        return (
            problem is not None
            and mean_dynamics(problem, learner).stability.verdict == "unstable"
            and all(mean_dynamics(problem, other).is_stable() for other in stable)
        )
    except ObliqueTDError:
        return False


def shrink(
    family: Family, genome: Genome, learner: Learner, stable: tuple[Learner, ...]
) -> tuple[Genome, int]:
    """Bring integers towards 0, one at a time, while the exact verdict stands."""
    tried = 0
    changed = True
    while changed:
        changed = False
        for k, (low, high) in enumerate(family.genes):
            for value in sorted(range(low, high + 1), key=abs):
                if abs(value) >= abs(genome[k]):
                    break
                candidate = (*genome[:k], value, *genome[k + 1 :])
                tried += 1
                if confirmed(family, candidate, learner, stable):
                    genome, changed = candidate, True
                    break
    return genome, tried


def _resume(checkpoint: str | Path | None, settings: str) -> tuple[int, int]:
    if checkpoint is None or not Path(checkpoint).exists():
        return 0, 0
    data = read_json(checkpoint)
    if not isinstance(data, dict) or data.get("search") != settings:
        raise ModelFileError(
            f"{checkpoint} is the checkpoint of another search; give another file, or remove it"
        )
    return int(data["walks"]), int(data["tried"])


def _save(checkpoint: str | Path | None, settings: str, walks: int, tried: int) -> None:
    if checkpoint is None:
        return
    write_json(checkpoint, {"search": settings, "walks": walks, "tried": tried})
