"""A rule at fixed weights: what each outcome does to the memory, and what it makes of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from obliquetd.algebra import Matrix
from obliquetd.dynamics.at_rest import counts
from obliquetd.dynamics.expectation import Expectation
from obliquetd.dynamics.memory_moments import MemoryMoments, Outcome
from obliquetd.dynamics.outcomes import outcomes_at
from obliquetd.dynamics.rule import Sample
from obliquetd.dynamics.scalars import bare, rounded_entries, rounded_rows
from obliquetd.errors import LearnerError

__all__ = ["mean_A", "moments_at", "moments_with_A"]


Functional = Callable[[Sample, Sequence[Any]], list[Any]]
"""What is looked at in one outcome, given the memory that arrives: affine in it, of mean 0."""


def moments_at(found: Expectation, x: Matrix, *, whole: bool = False) -> MemoryMoments:
    """The memory of a rule at the fixed point x, and the update there.

    The sums of an update with long denominators that all have one common denominator take most of
    the time in the gcds that reduce them. Where it is ``whole``, the update is taken that many times.

    Raises
    ------
    LearnerError
        Where the mean of the update, so computed, is not 0: the rule is then not affine in its memory.
    """
    unit = x.denominator() if whole and found.arithmetic.kind == "exact" else None
    if found.sums:
        scaled = rounded_entries(x if unit is None else x.scaled(unit))
        return _moments(found, outcomes_at(found.sums.products, scaled, unit), unit)
    rule, entries = found.rule, rounded_entries(x)

    def update(sample: Sample, memory: Sequence[Any]) -> list[Any]:
        moved = rule.run(sample, entries, memory, rewarded=True)[0]
        return moved if unit is None else [v * unit for v in moved]

    return _moments(found, [_outcome(found, sample, update) for sample in found.samples], unit)


def moments_with_A(found: Expectation, x: Matrix) -> MemoryMoments:
    """The same, and below the update the rows of A_0 - A, which the outcome samples of A."""
    rule, entries, size = found.rule, rounded_entries(x), found.rule.size
    A = [v for row in rounded_rows(mean_A(found)) for v in row]

    def update_and_A(sample: Sample, memory: Sequence[Any]) -> list[Any]:
        update = rule.run(sample, entries, memory, rewarded=True)[0]
        columns = rule.slopes(sample, memory)
        sampled = [-columns[j][i] for i in range(size) for j in range(size)]
        return update + [u - v for u, v in zip(sampled, A, strict=True)]

    return _moments(found, [_outcome(found, sample, update_and_A) for sample in found.samples])


def mean_A(found: Expectation) -> Matrix:
    """A of one sampled transition: weights xi that do not sum to one are in proportion to chances."""
    return found.A.scaled(found.arithmetic.one / bare(_total(found)))


def _total(found: Expectation) -> Any:
    return sum(found.xi, found.arithmetic.zero)


def _moments(found: Expectation, outcomes: list[Outcome], unit: Any = None) -> MemoryMoments:
    arithmetic = found.arithmetic
    total = _total(found)
    xi = [w / total for w in found.xi]
    zeta = [[w * m for m in row] for w, row in zip(xi, found.memory, strict=True)]
    common = arithmetic.column([*xi, *itertools.chain(*zeta)]).denominator()
    scale = common if unit is None else common * unit * unit
    if common != arithmetic.one:
        xi, zeta = [w * common for w in xi], [[m * common for m in row] for row in zeta]
    moments = MemoryMoments(arithmetic, outcomes, xi, zeta, scale)
    if arithmetic.kind != "float" and any(_mean(moments)):
        raise LearnerError(
            f"the update of {found.rule.learner.name} is not affine in its memory at the fixed point; its "
            "noise is not known. Estimate it with otd.simulate"
        )
    return moments


def _outcome(found: Expectation, sample: Sample, functional: Functional) -> Outcome:
    rule = found.rule
    constant = functional(sample, rule.nothing)
    start: dict[int, Any] = {}
    carry: dict[tuple[int, int], Any] = {}
    slopes: dict[int, list[Any]] = {}
    if found.carried:
        c, columns = rule.carried(sample)
        probe = rule.probe_beside(constant)
        start = {i: v for i, v in enumerate(c) if counts(v)}
        for j, column in enumerate(columns):
            carry |= {(i, j): v for i, v in enumerate(column) if counts(v)}
            memory = [probe if i == j else rule.zero for i in range(rule.memory_size)]
            moved = functional(sample, memory)
            slope = [(u - v) / probe for u, v in zip(moved, constant, strict=True)]
            if any(map(counts, slope)):
                slopes[j] = slope
    return Outcome(sample.state, sample.next_state, sample.chance, start, carry, constant, slopes)


def _mean(moments: MemoryMoments) -> list[Any]:
    """E[n + G h]."""
    zero = moments.arithmetic.zero
    of_places: dict[tuple[int, int | None], list[Any]] = {}
    for z in moments.outcomes:
        for j, values in ((None, z.constant), *z.slopes.items()):
            known = of_places.setdefault((z.s, j), [zero] * moments.width)
            known[:] = [t + z.chance * v if v else t for t, v in zip(known, values, strict=True)]
    total = [zero] * moments.width
    for (s, j), values in of_places.items():
        weight = moments.xi[s] if j is None else moments.zeta[s][j]
        total = [t + weight * v for t, v in zip(total, values, strict=True)]
    return total
