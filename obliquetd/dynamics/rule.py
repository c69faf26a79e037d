"""A learner's rule on the numbers of a problem: every outcome, and the update that it causes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Protocol

import sympy as sp

from obliquetd.algebra import Arithmetic, FieldArithmetic, parse_number
from obliquetd.algebra.preimage import Limit
from obliquetd.algebra.signs import known_of
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.fitting import STEP, Fitting
from obliquetd.dynamics.rounded import every_way
from obliquetd.dynamics.scalars import Lifted, Rounded, lifted, unsigned
from obliquetd.errors import KindError
from obliquetd.learners import Learner, Transition, parameters
from obliquetd.learners.base import each, require_bound
from obliquetd.learners.check import require_averageable
from obliquetd.learners.dual import Dual, slope_of, value_of
from obliquetd.learners.evaluate import PlainRule
from obliquetd.learners.words import TWIN
from obliquetd.problem import PolicyEvaluation, require_problem
from obliquetd.problem.native import Operators

__all__ = ["RuleOnNumbers", "Sample", "operators_for"]

PROBE = 2.0**200
"""Floats: a probe of the memory of this size leaves nothing of what an outcome adds to it."""

MOST_KEPT: Way[int] = 1_000_000
"""Numbers of updates that are kept, since A and the span of the updates both need them."""


@dataclass(frozen=True)
class Sample:
    """One outcome of one step: a row of the table (and its twin) with its conditional chance."""

    state: int
    next_state: int
    chance: Any  # mu(a|s) p, given the state
    transition: Transition

    @cached_property
    def unrewarded(self) -> Transition:
        """The transition with reward 0."""
        return self.transition._replace(reward=0 * self.transition.reward)


class RuleOnNumbers:
    """A learner's rule on the numbers of a problem: its slope in the step size at 0.

    What comes out is native, or for floats a ``Rounded`` with its error bound.

    Raises
    ------
    LearnerError
        For a rule whose expected update is not of the form alpha (b - A x).
    """

    def __init__(self, ops: Operators, learner: Learner) -> None:
        require_averageable(require_bound(learner))
        self.ops, self.learner, arithmetic = ops, learner, ops.arithmetic
        self.arithmetic = arithmetic
        self.d = ops.Phi.shape[1]
        self.zero, self.one = (
            unsigned(lifted(x, arithmetic), arithmetic) for x in (arithmetic.zero, arithmetic.one)
        )
        read = _reader(arithmetic)
        self.values = {k: each(arithmetic.scalar, v) for k, v in learner.values.items()}
        values = {k: each(lambda x: lifted(x, arithmetic), v) for k, v in self.values.items()}
        self.plain = PlainRule(learner, self.d, read, values)
        self.size, self.memory_size = self.plain.size, self.plain.memory_size
        self._kept: dict[int, tuple[list[Any], list[list[Any]]]] = {}
        self._alpha = Dual(lifted(self.zero, arithmetic), lifted(self.one, arithmetic))

    def __reduce__(self) -> tuple[Any, ...]:  # a rebuilt rule is not found by its name
        return RuleOnNumbers, (self.ops, self.learner)

    @cached_property
    def features(self) -> Any:
        """The features, as the rule reads them; made when it first runs on them."""
        return Lifted(self.ops.Phi, self.arithmetic)

    @cached_property
    def features_next(self) -> Any:
        """What ``t.features_next`` is: other features over pairs, else the same."""
        if self.ops.places.late and "features_next" in self.learner.reads:
            return Lifted(self.ops.features_next, self.arithmetic)
        return self.features

    @property
    def nothing(self) -> list[Any]:
        """A memory that has been emptied."""
        return [self.zero] * self.memory_size

    def unit(self, j: int, size: int) -> list[Any]:
        """The j-th unit vector."""
        return [self.one if i == j else self.zero for i in range(size)]

    @cached_property
    def samples(self) -> list[Sample]:
        """Every outcome that the behaviour can produce."""
        return list(self._outcomes())

    def _outcomes(self) -> Iterator[Sample]:
        parts, paired = list(self._transitions()), self.learner.reads & TWIN
        for chance, t in parts:
            if not paired:
                yield Sample(t.s, t.n, chance, t)
                continue
            for second, u in parts:
                if u.s == t.s:
                    twin = t._replace(twin=u.n, g_twin=u.g, rho_twin=u.rho)
                    yield Sample(t.s, t.n, chance * second, twin)

    def _transitions(self) -> Iterator[tuple[Any, Transition]]:
        """Each row of the table that the behaviour can take, with its chance given the state."""
        for i in range(len(self.ops.state)):
            if self.ops.mu[i]:
                yield self.transition(i)

    def transition(self, i: int) -> tuple[Any, Transition]:
        """A row of the table as a transition, with its chance given the state."""
        ops, arithmetic = self.ops, self.arithmetic
        one = lifted(self.one, arithmetic)
        pi, mu, p, g, own, reward = (
            unsigned(lifted(x[i], arithmetic), arithmetic)
            for x in (ops.told_pi, ops.told_mu, ops.probability, ops.row_discount, ops.own_discount, ops.reward)
        )  # fmt: skip
        chance = unsigned(lifted(ops.mu[i], arithmetic), arithmetic) * p
        s, n = int(ops.state[i]), int(ops.next_state[i])
        ratio = Rounded(1.0) if isinstance(pi, Rounded) and pi.value == mu.value else pi / mu
        g, rho = (
            lifted(g, arithmetic),
            lifted(ratio, arithmetic),
        )  # equal floats stand for one number
        r, own, ours, theirs = (lifted(x, arithmetic) for x in (reward, own, pi, mu))
        return chance, Transition(
            self.features, s, n, r, g, own, ours, theirs, rho, n, g, rho,
            self.features_next, one if ops.places.late else rho,
        )  # fmt: skip

    def run(
        self, sample: Sample, weights: Sequence[Any], memory: Sequence[Any], *, rewarded: bool
    ) -> tuple[list[Any], list[Any]]:
        """The update of the weights and the memory handed on, with the reward or with 0 for it."""
        transition = sample.transition if rewarded else sample.unrewarded
        return self._run(transition, weights, memory, self._alpha, slope_of, value_of)

    def step(
        self,
        sample: Sample,
        weights: Sequence[Any],
        memory: Sequence[Any],
        alpha: Any,
        *,
        rewarded: bool,
    ) -> tuple[list[Any], list[Any]]:
        """The weights and the memory after one transition with a step size alpha."""
        transition = sample.transition if rewarded else sample.unrewarded
        alpha = lifted(alpha, self.arithmetic)
        return self._run(transition, weights, memory, alpha, _itself, _itself)

    def _run(
        self, transition: Transition, weights: Any, memory: Any, alpha: Any,
        of_weights: Callable[[Any], Any], of_memory: Callable[[Any], Any],
    ) -> tuple[list[Any], list[Any]]:  # fmt: skip
        """One run; for floats with bounds that hold whichever way its open comparisons go."""

        def once() -> list[Any]:
            x, m = ([lifted(v, self.arithmetic) for v in part] for part in (weights, memory))
            after, handed = self.plain.run(transition, x, m, alpha)[:2]
            found = [*map(of_weights, after), *map(of_memory, handed)]
            return [self._native(v) for v in found]

        found = every_way(once) if self.arithmetic.kind == "float" else once()
        return found[: len(weights)], found[len(weights) :]

    def _native(self, value: Any) -> Any:
        return unsigned(value, self.arithmetic)

    def constant(self, sample: Sample, memory: Sequence[Any]) -> list[Any]:
        """c of the update c + G x."""
        return self.run(sample, [self.zero] * self.size, memory, rewarded=True)[0]

    def slopes(self, sample: Sample, memory: Sequence[Any]) -> list[list[Any]]:
        """The columns of G of the update c + G x.

        G is taken from runs with reward 0: the difference of two runs with it would lose
        the digits of G behind a large reward.
        """
        at_zero = self.run(sample, [self.zero] * self.size, memory, rewarded=False)[0]
        columns = []
        for j in range(self.size):
            column = self.run(sample, self.unit(j, self.size), memory, rewarded=False)[0]
            columns.append([u - v if v else u for u, v in zip(column, at_zero, strict=True)])
        return columns

    def at_rest(self, sample: Sample) -> tuple[list[Any], list[list[Any]]]:
        """c and the columns of G where the memory is empty; kept, unless they are many."""
        if id(sample) in self._kept:
            return self._kept[id(sample)]
        found = self.constant(sample, self.nothing), self.slopes(sample, self.nothing)
        if len(self.samples) * self.size**2 <= MOST_KEPT:
            self._kept[id(sample)] = found
        return found

    def probe_beside(self, values: Sequence[Any]) -> Any:
        """A size of the memory beside which these values, which do not depend on it, are rounding; 1 unless floats."""
        if self.ops.arithmetic.kind != "float":
            return self.one
        largest = max((abs(float(c)) for c in values), default=0.0)
        return Rounded(PROBE * 2.0 ** max(0, math.frexp(largest)[1]))

    def carried(self, sample: Sample) -> tuple[list[Any], list[list[Any]]]:
        """The memory handed on as c + M m: c and the columns of M.

        For floats M is probed with memories so large that c is rounding beside them.
        """
        x = [self.zero] * self.size
        start = self.run(sample, x, self.nothing, rewarded=False)[1]
        probe = self.probe_beside(start)
        columns = []
        for j in range(self.memory_size):
            memory = [probe if i == j else self.zero for i in range(self.memory_size)]
            end = self.run(sample, x, memory, rewarded=False)[1]
            columns.append([(u - c) / probe for u, c in zip(end, start, strict=True)])
        return start, columns


def _itself(value: Any) -> Any:
    return value


@lru_cache(64)
def _reader(arithmetic: Arithmetic) -> Callable[[Fraction], Any]:
    """From a fraction in a rule's text to a number that the rule runs on."""
    return lambda value: lifted(arithmetic.scalar(parse_number(value)), arithmetic)


class HasSymbols(Protocol):
    """A learner, or another thing with settings: what it is called, and their free symbols."""

    @property
    def name(self) -> str: ...
    @property
    def symbols(self) -> set[sp.Symbol]: ...


def operators_for(problem: PolicyEvaluation, learner: HasSymbols) -> Operators:
    """The problem's operators, over a field that has the learner's symbols too."""
    ops = require_problem(problem).native
    extra = learner.symbols - set(problem.symbols)
    if not extra:
        return ops
    if problem.arithmetic == "float":
        raise KindError(
            f"{learner.name} has the symbol {min(map(str, extra))}, but the problem is in floats; give a number "
            "for it, or use arithmetic='symbolic'"
        )
    known = known_of(setting_ranges(learner))
    if isinstance(ops.arithmetic, FieldArithmetic):
        known = known.and_also(ops.arithmetic.known)
    return ops.over(FieldArithmetic(itertools.chain(problem.symbols, extra), known))


def setting_ranges(learner: Any) -> Iterator[Limit]:
    """The formulas in the settings of a learner, or of an iteration, each with where it has to lie.

    What a function of the problem gives is known of a learner that is bound to one.
    """
    if isinstance(learner, Fitting) and learner.symbols:
        yield Limit(learner.step, STEP.domain)
    if not isinstance(learner, Learner):
        return
    for parameter in parameters(type(learner)):
        if parameter.domain is not None:
            setting = getattr(learner, parameter.name)
            if callable(setting) and parameter.domain != sp.S.Reals:
                setting = learner.derived.get(parameter.name)
            for formula in _formulas(setting):
                yield Limit(formula, parameter.domain)


def _formulas(setting: Any) -> list[Any]:
    """The formulas in a setting, which may be one for each state."""
    if isinstance(setting, Mapping | tuple):
        values = setting.values() if isinstance(setting, Mapping) else setting
        return [formula for value in values for formula in _formulas(value)]
    if setting is None or callable(setting):
        return []
    parsed = parse_number(setting)
    return [parsed] if isinstance(parsed, sp.Basic) else []
