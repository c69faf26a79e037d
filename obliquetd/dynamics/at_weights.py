"""A rule at fixed weights: what each outcome does to the memory, and what it makes of it."""

from __future__ import annotations

from typing import Any

from obliquetd.algebra import Matrix
from obliquetd.dynamics.expectation import Expectation
from obliquetd.dynamics.memory_moments import MemoryMoments, Outcome
from obliquetd.dynamics.rule import Sample
from obliquetd.dynamics.scalars import Rounded, plain, rounded_entries
from obliquetd.dynamics.span import counts
from obliquetd.errors import LearnerError

__all__ = ["moments_at"]


def moments_at(found: Expectation, x: Matrix) -> MemoryMoments:
    """The memory of a rule at the fixed point x, and the update there as an affine map of it.

    Raises
    ------
    LearnerError
        Where the mean of the update, so computed, is not 0: the rule is then not affine in its memory.
    """
    arithmetic, entries = found.arithmetic, rounded_entries(x)
    outcomes = [_outcome(found, sample, entries) for sample in found.samples]
    (weights,) = plain([found.xi])
    total = sum(weights, arithmetic.zero)
    xi = [w / total for w in weights]
    zeta = [[w * m for m in row] for w, row in zip(xi, plain(found.memory), strict=True)]
    moments = MemoryMoments(arithmetic, outcomes, xi, zeta)
    if arithmetic.kind != "float" and any(_mean(moments)):
        raise LearnerError(
            f"the update of {found.rule.learner.name} is not affine in its memory at the fixed point; its "
            "noise is not known. Estimate it with otd.simulate"
        )
    return moments


def _outcome(found: Expectation, sample: Sample, x: list[Any]) -> Outcome:
    rule = found.rule
    constant = rule.run(sample, x, rule.nothing, rewarded=True)[0]
    start: dict[int, Any] = {}
    carry: dict[tuple[int, int], Any] = {}
    slopes: dict[int, list[Any]] = {}
    if found.carried:
        c, columns = rule.carried(sample)
        start = {i: _plain(v) for i, v in enumerate(c) if counts(v)}
        for j, column in enumerate(columns):
            carry |= {(i, j): _plain(v) for i, v in enumerate(column) if counts(v)}
            moved = rule.run(sample, x, rule.unit(j, rule.memory_size), rewarded=True)[0]
            slope = [u - v for u, v in zip(moved, constant, strict=True)]
            if any(map(counts, slope)):
                slopes[j] = [_plain(v) for v in slope]
    (native,) = plain([constant])
    return Outcome(
        sample.state, sample.next_state, _plain(sample.chance), start, carry, native, slopes
    )


def _mean(moments: MemoryMoments) -> list[Any]:
    """E[n + G h]."""
    total = [moments.arithmetic.zero] * len(moments.outcomes[0].constant)
    for z in moments.outcomes:
        weighted = [(moments.xi[z.s], z.constant)]
        weighted += [(moments.zeta[z.s][j], column) for j, column in z.slopes.items()]
        for weight, values in weighted:
            total = [t + z.chance * weight * v for t, v in zip(total, values, strict=True)]
    return total


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Rounded) else value
