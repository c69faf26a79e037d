"""How near genomes are to what is looked for, many at a time.

The score of a candidate is the smallest real part of an eigenvalue of A in floats, over the norm of A. A rule that
can be run once for many problems (:mod:`obliquetd.dynamics.blocks`) is; before, it is held against the rule run
outcome by outcome on some candidates. Other rules, and candidates in doubt, go one by one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import FLOAT
from obliquetd.algebra.rounding import SAME
from obliquetd.dynamics.block_margins import margins
from obliquetd.dynamics.block_means import BlockMeans
from obliquetd.dynamics.blocks import BlockRule
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.errors import MathematicalError
from obliquetd.learners import Learner
from obliquetd.learners.functions import is_shipped
from obliquetd.search.families import Family, Genome

__all__ = ["Scores", "runs_in_blocks", "score", "scores"]

LARGEST_BLOCK = 200_000
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


def scores(family: Family, learner: Learner, genomes: npt.NDArray[np.int64]) -> Scores:
    """The scores of many genomes (B, genes), in blocks of a bounded size."""
    out = Scores(np.full(len(genomes), np.inf), np.zeros(len(genomes), dtype=bool), {})
    fast = runs_in_blocks(family, learner)
    step = _candidates_a_block(family, learner)
    for start in range(0, len(genomes), step):
        part = genomes[start : start + step]
        left = _by_block(family, learner, part, out, start) if fast else range(len(part))
        for k in left:
            try:
                found = score(family, learner, _genome(part[k]))
            except MathematicalError as error:  # this one has no mean dynamics; others may
                out.errors[start + k] = str(error)
                continue
            if found is not None:
                out.values[start + k], out.judged[start + k] = found, True
    return out


def _candidates_a_block(family: Family, learner: Learner) -> int:
    outcomes = family.states**2 * (family.states if "twin" in learner.reads else 1)
    return max(1, LARGEST_BLOCK // (outcomes * family.features))


def _genome(row: npt.NDArray[np.int64]) -> Genome:
    return tuple(row.tolist())


def _by_block(
    family: Family, learner: Learner, genomes: npt.NDArray[np.int64], out: Scores, start: int
) -> list[int]:
    """Fill in the scores of a block; those that are left to be judged one by one."""
    blocks, inside = family.blocks(genomes)
    try:
        found, doubt = margins(BlockMeans(BlockRule(learner, blocks)))
        if not is_shipped(learner.rule) and not _holds(family, learner, genomes, inside, found):
            return list(range(len(genomes)))
    except Exception:  # a rule may raise anything on some outcome; one by one it is known on which
        return list(range(len(genomes)))
    known = inside & ~doubt
    out.values[start : start + len(genomes)] = np.where(known, found, np.inf)
    out.judged[start : start + len(genomes)] = known
    return [int(k) for k in np.flatnonzero(inside & doubt)]


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


CLOSE = 1e-5
"""The distance of two scores that rounding can make where an eigenvalue is a multiple one."""


@lru_cache(64)
def runs_in_blocks(family: Family, learner: Learner) -> bool:
    """Whether a rule makes the same of candidates in a block as outcome by outcome."""
    if learner.derives:  # each problem gives it other numbers
        return False
    low, high = np.array(family.genes).T
    genomes = np.random.default_rng(0).integers(low, high + 1, size=(TRIED, len(low)))
    blocks, inside = family.blocks(genomes)
    try:
        means = BlockMeans(BlockRule(learner, blocks))
        A, doubt = means.A, means.in_doubt
        if not means.run.is_of_wholes():
            return False
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
