"""How near genomes are to what is looked for, many at a time.

The score of a candidate is the smallest real part of an eigenvalue of A in floats, over the norm of A. A rule that
can be run once for many problems (:mod:`obliquetd.dynamics.blocks`) is, or once for all pairs of feature vectors
(:mod:`obliquetd.dynamics.pairs`) where they are few; before, it is held against the rule run outcome by outcome on
some candidates. Other rules, and candidates in doubt, go one by one.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FLOAT
from obliquetd.algebra.rounding import SAME
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.block_margins import margins
from obliquetd.dynamics.block_means import BlockMeans
from obliquetd.dynamics.blocks import BlockRule
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.dynamics.pairs import LookedUp, PairMeans, PairTable
from obliquetd.dynamics.tapes import may_be_recorded
from obliquetd.errors import MathematicalError
from obliquetd.learners import Learner
from obliquetd.learners.functions import is_shipped, kept
from obliquetd.search.families import Family, Genome

__all__ = ["Scores", "runs_in_blocks", "score", "scores"]

LARGEST_BLOCK: Way[int] = 200_000
"""Numbers of features of the outcomes in one block, which bound its memory to some 50 MB."""
HELD, TRIED = 3, 60
"""Candidates that a rule is held against, and those that are drawn for them."""


class Scores(NamedTuple):
    """Scores of genomes, infinite where none; which were judged; and why the others were not, if they are problems."""

    values: npt.NDArray[np.float64]
    judged: npt.NDArray[np.bool_]
    errors: dict[int, str]


def score(family: Family, learner: Learner, genome: Genome) -> float | None:
    """The score of one genome, from the rule run outcome by outcome; None of no problem."""
    problem = family.build(genome)
    return None if problem is None else _score(MeanDynamics(problem, learner, "trajectory", FLOAT))


def _score(dyn: MeanDynamics) -> float:
    margin, A = dyn.stability.margin, dyn.expectation.A
    if margin is None or A.cleaned().is_zero():  # what is nothing but rounding is 0
        return np.inf
    return margin / float(np.linalg.norm(np.asarray(dyn.A)))


def scores(
    family: Family, learner: Learner, genomes: npt.NDArray[np.int64], below: Any = None
) -> Scores:
    """The scores of many genomes (B, genes), in blocks of a bounded size.

    Of numbers ``below``, (B,), a score that is no less may be given as infinite.
    """
    step = _candidates_a_block(family, learner)
    parts = [
        _of_block(family, learner, genomes[k : k + step], None if below is None else below[k : k + step])
        for k in range(0, max(1, len(genomes)), step)
    ]  # fmt: skip
    if len(parts) == 1:
        return parts[0]
    errors = {k * step + i: e for k, part in enumerate(parts) for i, e in part.errors.items()}
    values, judged = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return Scores(values, judged, errors)


def _of_block(
    family: Family, learner: Learner, genomes: npt.NDArray[np.int64], below: Any
) -> Scores:
    """The scores of one block; what is not known from all at once is judged one by one."""
    found = _together(family, learner, genomes, below) if runs_in_blocks(family, learner) else None
    if found is None:
        found = np.full(len(genomes), np.inf), np.zeros(len(genomes), dtype=bool), None
    values, judged, left = found
    errors = {}
    for k in range(len(genomes)) if left is None else left.tolist():
        try:
            one = score(family, learner, _genome(genomes[k]))
        except MathematicalError as error:  # this one has no mean dynamics; others may
            errors[k] = str(error)
            continue
        if one is not None:
            values[k], judged[k] = one, True
    return Scores(values, judged, errors)


def _candidates_a_block(family: Family, learner: Learner) -> int:
    outcomes = family.states**2 * (family.states if "twin" in learner.reads else 1)
    return max(1, LARGEST_BLOCK // (outcomes * family.features))


def _genome(row: npt.NDArray[np.int64]) -> Genome:
    return tuple(row.tolist())


def _together(
    family: Family, learner: Learner, genomes: npt.NDArray[np.int64], below: Any
) -> tuple[Any, Any, Any] | None:
    """Scores, which are known, and the places of those in doubt; None where the block does not tell."""
    try:
        means, inside = means_of(family, learner, genomes)
        values, doubt = margins(means, below)
        if not is_shipped(learner.rule) and not _holds(family, learner, genomes, inside, values):
            return None
    except Exception:  # a rule may raise anything on some outcome; one by one it is known on which
        return None
    judged = inside > doubt
    if not judged.all():
        values[~judged] = np.inf
    return values, judged, (inside & doubt).nonzero()[0]


def means_of(
    family: Family, learner: Learner, genomes: npt.NDArray[np.int64]
) -> tuple[Any, npt.NDArray[np.bool_]]:
    """The expected updates of a block, from a table of pairs where there is one; and which are in the family."""
    table = table_of(family, learner)
    if table is not None and not table.reads_memory:
        arrows, inside = family.arrows(genomes, table.moving)
        return PairMeans(table, arrows, len(genomes)), inside
    blocks, inside = family.blocks(genomes)
    if table is None:
        return BlockMeans(BlockRule(learner, blocks)), inside
    kinds = np.array(family.kind_of)
    return BlockMeans(LookedUp(learner, blocks, table, family.codes(genomes).T, kinds)), inside


def table_of(family: Family, learner: Learner) -> Way[PairTable | None]:
    """What the rule makes of all pairs of feature vectors; None where it reads more than these, or they are many."""
    if not may_be_recorded(learner):
        return None
    outcomes = len(family.kinds) * family.vectors_count**2
    numbers = outcomes * (2 * learner.size(family.features) ** 2 + 1)
    return _made_table(family, learner) if numbers <= MOST_NUMBERS else None


@lru_cache(16)
def _made_table(family: Family, learner: Learner) -> PairTable | None:
    try:
        found = PairTable(learner, family.vectors(), family.kinds, float(Fraction(family.discount)))
        _ = found.columns if found.reads_memory else found.moving
    except Exception:  # a rule may raise anything on some outcome; one by one it is known on which
        return None
    return found


def _holds(
    family: Family,
    learner: Learner,
    genomes: npt.NDArray[np.int64],
    inside: npt.NDArray[np.bool_],
    found: npt.NDArray[np.float64],
) -> bool:
    """A rule of the user's own may do on some outcomes what those before did not show: one is compared."""
    for k in np.flatnonzero(inside)[-1:]:
        one = score(family, learner, _genome(genomes[k]))
        if one is None or (one != found[k] and not abs(one - found[k]) <= CLOSE):
            return False
    return True


MOST_NUMBERS = 6_000_000
"""Numbers of the largest table of pairs: some 50 MB, which are made in half a second; most tables take milliseconds."""
CLOSE = 1e-5
"""The distance of two scores that rounding can make where an eigenvalue is a multiple one."""


@kept
def runs_in_blocks(family: Family, learner: Learner) -> Way[bool]:
    """Whether a rule makes the same of candidates in a block as outcome by outcome."""
    if learner.derives:  # each problem gives it other numbers
        return False
    low, high = np.array(family.genes).T
    genomes = np.random.default_rng(0).integers(low, high + 1, size=(TRIED, len(low)))
    blocks, inside = family.blocks(genomes)
    try:
        if not BlockRule(learner, blocks).is_of_wholes():
            return False
        means, inside = means_of(family, learner, genomes)
        A, doubt = means.A, means.in_doubt
    except Exception:  # a user's rule may raise anything; the general route knows what it means
        return False
    held = 0
    for k in np.flatnonzero(inside & ~doubt):
        problem = family.build(_genome(genomes[k]))
        if problem is None:
            return False
        try:
            theirs = np.asarray(MeanDynamics(problem, learner, "trajectory", FLOAT).A)
        except MathematicalError:
            continue
        if not np.allclose(A[k], theirs, rtol=SAME, atol=SAME * float(np.abs(theirs).max())):
            return False
        held += 1
        if held == HELD:
            break
    return held > 0
