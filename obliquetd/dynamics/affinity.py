"""Whether a rule of the user's own is affine at the very outcomes of a problem that it is averaged over.

The guard (:mod:`obliquetd.learners.check`) tries a rule on a few random transitions. A rule may go a way of its
own where no random one went: where an episode ends, at a large ratio, with two features. What is averaged is read
off the rule at 0 and at unit vectors, so that at each outcome the rule is held against it far out: at weights where a
clip or a square would show, and at memories that are reached.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from obliquetd.algebra import parse_number
from obliquetd.dynamics.at_rest import counts
from obliquetd.dynamics.rule import RuleOnNumbers, Sample
from obliquetd.errors import LearnerError
from obliquetd.learners.check import FACTORS
from obliquetd.learners.degree import MOST_DEGREE, degree, degree_of
from obliquetd.learners.functions import is_shipped

__all__ = ["degree_at", "require_affine"]


CARRIES = (
    "it hands a memory on, which it does on none of the transitions that it was tried on; let it hand on some "
    "wherever a ratio and a discount are not 0"
)


def require_affine(rule: RuleOnNumbers, samples: Iterable[Sample], *, carried: bool) -> None:
    """Hold a rule of the user's own against what is averaged, at each of some outcomes.

    The package's own rules are held to it by a test.

    Raises
    ------
    LearnerError
        Where it is something else; it names the outcome.
    """
    if is_shipped(rule.learner.rule):
        return
    listed, trial = list(samples), _Trial(rule)
    reached = _reached(rule, listed) if carried else {}
    for sample in listed:
        trial.weights_count_as_averaged(sample)
        if sample.state in reached:
            trial.memory_counts_as_averaged(sample, reached[sample.state])


def _reached(rule: RuleOnNumbers, samples: list[Sample]) -> dict[int, list[Any]]:
    """For each state the fullest of some memories, other than the empty one, that arrive there."""
    found: dict[int, list[Any]] = {}
    origin = [rule.zero] * rule.size
    for _ in range(2):
        for sample in samples:
            memory = found.get(sample.state, rule.nothing)
            handed = rule.run(sample, origin, memory, rewarded=True)[1]
            if _filled(handed) > _filled(found.get(sample.next_state, ())):
                found[sample.next_state] = handed
    return found


def _filled(memory: Sequence[Any]) -> int:
    return sum(map(counts, memory))


class _Trial:
    """A rule, and the points at which it is tried."""

    def __init__(self, rule: RuleOnNumbers) -> None:
        self.rule = rule
        self.random = random.Random(rule.size)
        self.factors = [rule.one, *(rule.one * _native(rule, c) for c in FACTORS)]

    def weights(self) -> list[Any]:
        return [
            self.rule.one * _native(self.rule, self.random.choice((-3, -2, -1, 1, 2, 3)))
            for _ in range(self.rule.size)
        ]

    def weights_count_as_averaged(self, sample: Sample) -> None:
        """The update is c + G x with an empty memory, and what is handed on has no weights in it."""
        rule = self.rule
        constant, slopes = rule.at_rest(sample)
        start = rule.run(sample, [rule.zero] * rule.size, rule.nothing, rewarded=False)[1]
        x = self.weights()
        for factor in self.factors:
            far = [factor * v for v in x]
            update, handed = rule.run(sample, far, rule.nothing, rewarded=True)
            self._alike(sample, update, _affine(constant, slopes, far), "update", "weights")
            if any(counts(a - b) for a, b in zip(handed, start, strict=True)):
                self._refuse(sample, "the memory that it hands on depends on the weights")
        if any(map(counts, start)):
            if not rule.learner.has_memory:
                self._refuse(sample, CARRIES)
            if not sample.transition.own:
                self._refuse(sample, "a discount of 0 does not empty its memory")

    def memory_counts_as_averaged(self, sample: Sample, memory: list[Any]) -> None:
        """The update and what is handed on are affine between the empty memory and one that is reached."""
        rule, x = self.rule, self.weights()
        start, columns = rule.carried(sample)
        ends = [rule.run(sample, x, m, rewarded=True)[0] for m in (rule.nothing, memory)]
        for factor in self.factors:
            far = [factor * v for v in memory]
            update, handed = rule.run(sample, x, far, rewarded=True)
            between = [a + factor * (b - a) for a, b in zip(*ends, strict=True)]
            self._alike(sample, update, between, "update", "memory")
            wanted = _affine(start, columns, far)
            self._alike(sample, handed, wanted, "memory", "memory that it got")
            if not sample.transition.own and any(map(counts, handed)):
                self._refuse(sample, "a discount of 0 does not empty its memory")

    def needs_no_memory(self, sample: Sample, handed: list[Any], samples: list[Sample]) -> None:
        """A step from where an outcome leads is the same with what it handed on as with nothing."""
        rule, x = self.rule, self.weights()
        for then in samples:
            if then.state == sample.next_state:
                with_it, without = (
                    rule.step(then, x, m, rule.one, rewarded=True)[0]
                    for m in (handed, rule.nothing)
                )
                if any(counts(a - b) for a, b in zip(with_it, without, strict=True)):
                    self._refuse(sample, CARRIES)

    def _alike(
        self, sample: Sample, found: list[Any], wanted: list[Any], what: str, of_what: str
    ) -> None:
        if any(counts(a - b) for a, b in zip(found, wanted, strict=True)):
            self._refuse(sample, f"its {what} is not affine in the {of_what}")

    def _refuse(self, sample: Sample, reason: str) -> None:
        ops = self.rule.ops
        (left, reached) = ops.names([sample.state, sample.next_state])
        raise LearnerError(
            f"{self.rule.learner.name} has no mean dynamics of the form b - A x: where a transition leads from "
            f"{left!r} to {reached!r}, {reason}"
        )


def _native(rule: RuleOnNumbers, number: Any) -> Any:
    return rule.arithmetic.scalar(
        parse_number(Fraction(int(number.numerator), int(number.denominator)))
    )


def _affine(constant: list[Any], slopes: list[list[Any]], x: list[Any]) -> list[Any]:
    """c + G x from the columns of G."""
    total = list(constant)
    for v, column in zip(x, slopes, strict=True):
        total = [a + v * g if g else a for a, g in zip(total, column, strict=True)]
    return total


def degree_at(rule: RuleOnNumbers, samples: list[Sample]) -> int | None:
    """The degree in alpha of a step without a memory, at each of some outcomes where the rule is the user's own.

    Raises
    ------
    LearnerError
        Where a step depends at a positive step size on what the one before it handed on.
    """
    most = degree(rule.learner)
    if is_shipped(rule.learner.rule):
        return most
    trial = _Trial(rule)
    for sample in samples:
        x = trial.weights()
        ran = [
            rule.step(sample, x, rule.nothing, rule.one * a, rewarded=True)
            for a in range(MOST_DEGREE + 3)
        ]
        steps, handed = [after for after, _ in ran], ran[1][1]
        if any(map(counts, handed)):
            trial.needs_no_memory(sample, handed, samples)
        found = degree_of(steps, counts)
        if found is None or most is None:
            return None
        most = max(most, found)
    return most
