"""The kernel that SETD's expected update evaluates: P_pi, tilted by omega."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from obliquetd.algebra import Matrix
from obliquetd.dynamics.rule import RuleOnNumbers, Sample
from obliquetd.dynamics.scalars import plain, unsigned
from obliquetd.errors import InputError, UndefinedError
from obliquetd.learners import SETD, Learner
from obliquetd.learners.emphatic import at_most, of_the_sample, of_the_state

__all__ = ["Tilted", "tilted_kernel", "tilted_mass"]


def tilted_mass(rule: RuleOnNumbers) -> tuple[Matrix, Matrix]:
    """The matrix of sums of pi(a|s) p omega(s, a, s'), and its row sums m."""
    ops, arithmetic = rule.ops, rule.ops.arithmetic
    taken = [sample for sample in rule.samples if sample.transition.rho]
    weights = [  # mu p rho = pi p
        sample.chance * unsigned(sample.transition.rho * _weight(rule, sample), arithmetic)
        for sample in taken
    ]
    values = np.array(plain([weights])[0], dtype=float if arithmetic.kind == "float" else object)
    state, reached = (np.array([getattr(x, e) for x in taken]) for e in ("state", "next_state"))
    at = np.zeros(len(taken), dtype=np.intp)
    return (
        arithmetic.assemble((ops.n, ops.n), state, reached, values),
        arithmetic.assemble((ops.n, 1), state, at, values),
    )


def _weight(rule: RuleOnNumbers, sample: Sample) -> Any:
    """SETD's omega of an outcome, no more than its cap."""
    numbers = rule.plain.numbers
    weigh = of_the_state if hasattr(numbers, "expected") else of_the_sample
    weight = weigh(sample.transition, numbers)
    return at_most(weight, numbers) if hasattr(numbers, "cap") else weight


def tilted_kernel(rule: RuleOnNumbers) -> Matrix:
    """The mass with each row divided by its sum.

    Raises
    ------
    UndefinedError
        Where all weights of a state are 0.
    """
    ops = rule.ops
    mass, total = tilted_mass(rule)
    entries = total.entries()
    empty = [i for i, m in enumerate(entries) if not m]
    if empty:
        raise UndefinedError(
            f"omega is 0 on every transition from {ops.names(empty)[:8]}: SETD never updates from "
            "there, and the tilted kernel has no such row",
            ops.names(empty),
        )
    one = ops.arithmetic.one
    return mass.scale_rows(ops.arithmetic.column([one / m for m in entries]))


class Tilted:
    """The part of :class:`~obliquetd.dynamics.mean.MeanDynamics` that SETD alone has; abstract."""

    learner: Learner
    expectation: Any

    @cached_property
    def tilted_kernel(self) -> Any:
        """The kernel that SETD's expected update evaluates, (n, n).

        K(s, s') is proportional to the sum of pi(a|s) p omega(s, a, s'): outcomes with a
        larger omega count more. With m(s) the sum of row s before scaling, lambda = 0 and
        one discount, SETD's A is Phi' Xi diag(m) (I - gamma K) Phi. It is P_pi where the
        transitions of the target are deterministic.

        Raises
        ------
        InputError
            For another learner.
        UndefinedError
            Where all weights of a state are 0: SETD never updates it.
        """
        self._only_for_setd()
        return tilted_kernel(self.expectation.rule).public()

    @cached_property
    def tilted_weights(self) -> Any:
        """m(s) = sum of pi(a|s) p omega(s, a, s'), n of them: see :attr:`tilted_kernel`."""
        self._only_for_setd()
        return tilted_mass(self.expectation.rule)[1].public_vector()

    def _only_for_setd(self) -> None:
        if not isinstance(self.learner, SETD):
            raise InputError(f"the tilted kernel is SETD's; the learner is {self.learner.name}")
