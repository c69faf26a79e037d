"""The expected update of a learner, from the rule that runs.

A rule is affine in the weights x = (theta, w) and affine in the memory that the past
hands it. Given the state s, the transition is independent of the past, so under the
stationary distribution of the sampled process

    E[x_{t+1} - x_t] / alpha = sum over rows (s, a, s') of mu(a|s) p xi(s) U(x, zeta(s) / xi(s))

where U is the update of the rule, the slope in its step size, and zeta(s) = E[memory 1{s_t = s}].
The memory that a row hands on is affine too, M m + c, so zeta solves the linear system

    zeta(s') = sum over rows into s' of mu(a|s) p { xi(s) c + M zeta(s) }.

Evaluating the rule at x = 0 gives b; at the unit vectors, with reward 0, -A. No closed form is
used: :mod:`obliquetd.problem.projection` has those, as the cross-check.

The rule runs once for all outcomes instead, and the sums are products of matrices, wherever it allows that, as all of
the package's own do: :mod:`obliquetd.dynamics.products` and :mod:`obliquetd.dynamics.sums`. Outcome by outcome goes what
does not: a rule of a user's own, and floats that would leave their range.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from obliquetd.algebra import FloatMatrix, Matrix
from obliquetd.algebra.tall import column_sizes
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.affinity import require_affine
from obliquetd.dynamics.jumps import Jump, linear_system
from obliquetd.dynamics.products import Products, products_of
from obliquetd.dynamics.rule import RuleOnNumbers, Sample
from obliquetd.dynamics.scalars import (
    LEAST,
    Rounded,
    lifted,
    native_matrix,
    rounded_entries,
    unsigned,
)
from obliquetd.dynamics.span import Span, span_of_updates
from obliquetd.dynamics.sums import Sums
from obliquetd.errors import SingularError
from obliquetd.learners.forms import NoFormError
from obliquetd.learners.functions import is_shipped
from obliquetd.problem.native import Operators

__all__ = ["Expectation", "endless_trace", "sums_of"]


class Expectation:
    """A, b and the span of the updates, for state weights xi; for floats with error bounds.

    Parameters
    ----------
    rule : RuleOnNumbers
    xi : Matrix (n, 1)
    carried : bool
        Whether the memory is carried along a trajectory, whose weights are then stationary.
    exactly : function, optional
        A basis of the span of the updates in rationals, which decides its dimension where floats do not.
    """

    def __init__(
        self,
        rule: RuleOnNumbers,
        xi: Matrix,
        *,
        carried: bool,
        exactly: Callable[[], Matrix] | None = None,
    ) -> None:
        self.exactly = exactly
        self.rule, self.ops, self.arithmetic = rule, rule.ops, rule.ops.arithmetic
        self.carried = carried and rule.learner.has_memory
        self._weights = xi

    def __getstate__(self) -> dict[str, Any]:
        """All but the sums, which hold rules on vectors and are made again where they are asked for."""
        return {name: value for name, value in vars(self).items() if name != "sums"}

    @cached_property
    def xi(self) -> list[Any]:
        """The weight of each state, as the rule's numbers are."""
        return self._entries(self._weights)

    @cached_property
    def sums(self) -> Sums | None:
        """The sums by products of matrices; None where the rule is run outcome by outcome."""
        if self._may_carry:
            return None
        rule = self.rule
        found = sums_of(rule, self._weights, carried=self.carried)
        if found and found.products.many:
            self.__dict__["sums"] = found
            _ = self.span  # made of the products too
            found.forget(lambda: _products(rule, self._weights, carried=self.carried))
        return found

    @property
    def _may_carry(self) -> bool:
        """Whether a rule of the user's own has a memory that no trial filled: each outcome is asked then."""
        learner = self.rule.learner
        return bool(
            self.rule.memory_size and not learner.has_memory and not is_shipped(learner.rule)
        )

    @cached_property
    def samples(self) -> list[Sample]:
        """The outcomes that have a chance.

        Raises
        ------
        LearnerError
            Where a rule of the user's own is not affine at one of them.
        """
        found = [sample for sample in self.rule.samples if self.xi[sample.state]]
        require_affine(self.rule, found, carried=self.carried)
        return found

    @cached_property
    def memory(self) -> list[list[Any]]:
        """For each state the mean zeta(s) / xi(s) of the memory that arrives there."""
        rule, n = self.rule, self.ops.n
        if not self.carried:
            return [rule.nothing] * n
        if self.sums:
            return [[self._lift(x) for x in row] for row in self.sums.memory_rows()]
        maps = [(sample, *rule.carried(sample)) for sample in self.samples]
        fed = _fed([(start, columns) for _, start, columns in maps])
        k = len(fed)
        units = self._units([(start, columns) for _, start, columns in maps])
        jumps = [
            Jump(
                sample.state, sample.next_state, sample.chance,
                [[columns[j][i] * units[j] / units[i] if columns[j][i] else rule.zero
                  for j in fed] for i in fed],
                [self.xi[sample.state] * sample.chance * start[i] / units[i] if start[i]
                 else rule.zero for i in fed],
            )
            for sample, start, columns in maps
        ]  # fmt: skip
        system, right = linear_system(
            self.arithmetic,
            jumps,
            n,
            k,
            self._lift,
        )
        solved = self._solved(system, right) if fed else []
        means = [rule.nothing for _ in range(n)]
        for s in range(n):
            if self.xi[s]:
                for place, i in enumerate(fed):
                    means[s][i] = solved[s * k + place] * units[i] / self.xi[s]
        return means

    def _lift(self, x: Any) -> Any:
        return unsigned(lifted(x, self.arithmetic), self.arithmetic)

    def _units(self, maps: list[tuple[list[Any], list[list[Any]]]]) -> list[Any]:
        """A unit for each entry of the memory; for floats of its size, so that none hides another.

        An entry is as large as what it starts from, or as what another one hands on to it: the largest
        is settled first, and hands on to those that are not settled yet.
        """
        if self.arithmetic.kind != "float":
            return [self.rule.one] * self.rule.memory_size
        sizes = np.array([[abs(float(c)) for c in start] for start, _ in maps]).max(axis=0)
        handed = np.array([[[abs(float(c)) for c in row] for row in each] for _, each in maps]).max(
            axis=0
        )
        settled = np.zeros(len(sizes), dtype=bool)
        while not settled.all():
            k = int(np.where(settled, -1.0, sizes).argmax())
            settled[k] = True
            sizes = np.where(settled, sizes, np.maximum(sizes, handed[k] * sizes[k]))
        return [Rounded(float(2.0 ** np.frexp(v)[1])) if v else self.rule.one for v in sizes]

    def _solved(self, system: list[list[Any]], right: list[Any]) -> list[Any]:
        size = len(right)
        matrix = native_matrix(system, (size, size), self.arithmetic)
        column = native_matrix([[x] for x in right], (size, 1), self.arithmetic)
        try:
            solved = matrix.solve(column, "the trace's stationary equation")
        except SingularError as error:
            raise endless_trace(self.rule, error) from None
        return self._entries(solved)

    def _entries(self, column: Matrix) -> list[Any]:
        """The entries; a float that is exactly 0 is fed by nothing, so that no rounding is in it."""
        entries = rounded_entries(column)
        if self.arithmetic.kind != "float":
            return entries
        return [x if x.value else self.rule.zero for x in entries]

    @cached_property
    def _sums(self) -> tuple[list[Any], list[list[Any]]]:
        """b and the columns of A."""
        rule = self.rule
        b = [rule.zero] * rule.size
        columns = [[rule.zero] * rule.size for _ in range(rule.size)]
        for sample in self.samples:
            constant, slopes = rule.at_rest(sample)
            if self.carried:
                memory = self.memory[sample.state]
                constant, slopes = rule.constant(sample, memory), rule.slopes(sample, memory)
            weight = self.xi[sample.state] * sample.chance
            b = [total + weight * c if c else total for total, c in zip(b, constant, strict=True)]
            for j, slope in enumerate(slopes):
                columns[j] = [
                    total - weight * g if g else total
                    for total, g in zip(columns[j], slope, strict=True)
                ]
        return b, columns

    @cached_property
    def b(self) -> Matrix:
        """The constant of the expected update, (D, 1)."""
        if self.sums:
            return self.sums.totals[1]
        return native_matrix([[x] for x in self._sums[0]], (self.rule.size, 1), self.arithmetic)

    @cached_property
    def A(self) -> Matrix:
        """The matrix of the expected update, (D, D)."""
        if self.sums:
            return self.sums.totals[0]
        size = self.rule.size
        return native_matrix(self._sums[1], (size, size), self.arithmetic).T

    @cached_property
    def span(self) -> Span:
        """U, the span of all updates."""
        return span_of_updates(
            self.rule,
            lambda: self.samples,
            carried=self.carried,
            products=self.sums.products if self.sums else None,
            exactly=self.exactly,
        )

    @cached_property
    def Q(self) -> Matrix:
        """A on U: A B = B Q."""
        return self.span.restrict(self.A)

    @cached_property
    def form(self) -> Matrix:
        """B'AB, the quadratic form of A on U."""
        return self.span.basis.T @ self.A @ self.span.basis

    def charpoly(self) -> list[Any]:
        """The characteristic polynomial of A on U, native, leading one first."""
        return self.Q.charpoly() if self.span.dimension else [self.arithmetic.one]


def sums_of(rule: RuleOnNumbers, xi: Matrix, *, carried: bool) -> Way[Sums | None]:
    """The sums by products of matrices; None for a rule, or for floats, that have to go the general way.

    Raises
    ------
    SingularError
        Where a trace has no stationary mean.
    """
    if _may_leave_the_range(rule.ops):
        return None
    products = _products(rule, xi, carried=carried)
    if products is None:
        return None
    found = Sums(products, xi)
    try:
        found.solve_memories()
        usable = all(map(_in_range, found.totals))
    except NoFormError:
        return None
    except SingularError as error:
        raise endless_trace(rule, error) from None
    return found if usable else None


def _products(rule: RuleOnNumbers, xi: Matrix, *, carried: bool) -> Products | None:
    return products_of(rule, [bool(w) for w in xi.entries()], carried=carried)


def _may_leave_the_range(ops: Operators) -> bool:
    """Whether products of four numbers as large as the features of a column, or of two rewards, may leave that of floats.

    What falls below it is 0 there without a word, and so would be a sum of it; outcome by outcome that is said.
    """
    if not isinstance(ops.Phi, FloatMatrix):
        return False
    rewards = np.abs(np.asarray(ops.reward, dtype=float)).max(initial=0.0)
    roots = np.append(column_sizes(ops.Phi.array), math.sqrt(rewards))
    filled, least = roots[roots > 0], LEAST ** (1 / 4)
    return bool((filled < least).any() or (filled > 1 / least).any())


def _in_range(part: Matrix) -> bool:
    """Whether floats are neither infinite nor so small that they lose their digits."""
    if not isinstance(part, FloatMatrix):
        return True
    sizes = np.abs(part.dense())
    return bool(np.isfinite(sizes).all() and ((sizes > LEAST) | (sizes == 0)).all())


def endless_trace(rule: RuleOnNumbers, error: SingularError) -> SingularError:
    """The error of a trace that nothing decays."""
    return SingularError(
        f"the trace of {rule.learner.label} has no stationary "
        "mean: on some closed class nothing decays it. Use a discount or lam below 1",
        error.null_vector,
    )


def _fed(maps: list[tuple[list[Any], list[list[Any]]]]) -> list[int]:
    """The entries of the memory that a map c + M m ever makes other than 0, from the empty one.

    The others stay 0: a trace with lambda 0, or a field that the rule declares and never writes,
    whose own equation m = m would be singular.
    """
    fed = {i for start, _ in maps for i, c in enumerate(start) if c}
    waiting = list(fed)
    while waiting:
        j = waiting.pop()
        for _, columns in maps:
            new = {i for i, v in enumerate(columns[j]) if v} - fed
            fed |= new
            waiting += new
    return sorted(fed)
