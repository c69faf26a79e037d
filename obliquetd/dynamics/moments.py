"""Moments of a trace-free learner with a constant step size, with no sampling.

Without a trace the weights x and the state form a Markov jump linear system: each outcome
maps x to M x + c, so y = (1, x) to N y. With Y_s(t) = E[y y' 1{s_t = s}],

    trajectory:  Y_s'(t + 1) = sum over outcomes s -> s' of mu p N Y_s(t) N'
    i.i.d.:      Y(t + 1)    = sum over outcomes of xi(s) mu p N Y(t) N'

Both are linear, so the mean and the second moment are iterated exactly, as rationals
or in floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from obliquetd.algebra import FLOAT, Matrix, number_text, parse_number
from obliquetd.dynamics.expectation import Expectation
from obliquetd.dynamics.jumps import one_plus
from obliquetd.dynamics.rule import RuleOnNumbers
from obliquetd.dynamics.sampling import check_sampling, classes_of, resolve_sampling
from obliquetd.dynamics.scalars import plain
from obliquetd.errors import InputError, KindError, SizeError
from obliquetd.learners import Learner, require_learner
from obliquetd.learners.check import degree
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.native import Operators
from obliquetd.problem.projection import BestApproximation
from obliquetd.problem.requests import read_theta

__all__ = ["JumpSystem", "Moments", "constant_step_size", "exact_moments"]


MOST_KEPT = 50_000_000
"""Numbers of second moments, over all steps, that are kept."""


def _what_is_carried(learner: Learner) -> str:
    lam, fields = learner.values.get("lam"), ", ".join(learner.memory.__annotations__)
    if lam:
        return f"{learner.name} with lam = {number_text(lam)} carries a trace"
    if "F" in learner.memory.__annotations__:
        return (
            f"{learner.name} carries a trace of its own at every lam ({fields}); the second moment of "
            "ETD's follow-on trace is otd.follow_on_second_moment"
        )
    shown = learner.label if lam is None else f"{learner.name}, even with lam = 0,"
    return f"{shown} carries a memory ({fields}) from one transition to the next"


class JumpSystem:
    """The outcomes of a trace-free learner as affine maps of x, native scalars, at alpha = 1.

    ``ops`` are the problem's numbers unless given: over a field that has more symbols.
    """

    def __init__(
        self,
        problem: PolicyEvaluation,
        learner: Learner,
        sampling: str | None,
        ops: Operators | None = None,
    ) -> None:
        learner = require_learner(learner).bound(problem)
        if learner.has_memory:
            raise InputError(
                f"{_what_is_carried(learner)}; moments are for learners that carry nothing from one transition to the next "
                "(TD, SETD, GTD2, TDC at lam = 0, residual gradient). Its mean dynamics: "
                "otd.mean_dynamics"
            )
        check_sampling(sampling)
        if problem.arithmetic == "symbolic" or learner.symbols:
            raise KindError("moments need numbers; substitute them for the symbols")
        self.ops: Operators = problem.native if ops is None else ops
        self.learner = learner
        self.iid = resolve_sampling(self.ops, learner, sampling, mean_only=False) == "iid"
        rule = RuleOnNumbers(self.ops, learner)
        self.size, self.rule = rule.size, rule
        self.chances = _chances(self.ops)
        self.linear = degree(learner) in (0, 1)
        self.samples = samples = [s for s in rule.samples if self.chances[s.state]]
        parts = [rule.at_rest(sample) for sample in samples]
        flat = plain([row for constant, slopes in parts for row in (constant, *slopes)])
        chances = plain([[sample.chance for sample in samples]])[0]
        self.outcomes: list[tuple[int, int, Any, list[Any], list[list[Any]]]] = []
        for k, (sample, chance) in enumerate(zip(samples, chances, strict=True)):
            constant, *slopes = flat[k * (self.size + 1) : (k + 1) * (self.size + 1)]
            weight = self.chances[sample.state] * chance if self.iid else chance
            s, t = (0, 0) if self.iid else (sample.state, sample.next_state)
            gradient = [list(row) for row in zip(*slopes, strict=True)]
            self.outcomes.append((s, t, weight, constant, gradient))

    @cached_property
    def expectations(self) -> list[Expectation]:
        """The expected update; of a trajectory one for each closed class that it may be in."""
        classes = [self.ops.xi] if self.iid else classes_of(self.ops)
        return [Expectation(self.rule, xi, carried=not self.iid) for xi in classes]

    @property
    def groups(self) -> int:
        """How many Y there are: one a state, or one."""
        return 1 if self.iid else self.ops.n

    def start(self) -> list[Any]:
        """The chance of each group at step 0."""
        return [self.ops.arithmetic.one] if self.iid else self.chances

    def start_weights(self, theta0: Any) -> list[Any]:
        """x_0 from theta_0, 0 unless given; secondary weights are 0."""
        zero, d = self.ops.arithmetic.zero, self.rule.d
        first = (
            [zero] * d
            if theta0 is None
            else [self.ops.arithmetic.scalar(x) for x in read_theta(theta0, d)]
        )
        return [*first, *([zero] * (self.size - d))]

    def maps(self, alpha: Any) -> list[tuple[int, int, Any, list[list[Any]]]]:
        """(s, s', weight, N) with x' = N (1, x): N = [[1, 0], [alpha c, 1 + alpha G]] for most rules."""
        zero, one = self.ops.arithmetic.zero, self.ops.arithmetic.one
        if not self.linear:
            return [
                (s, t, weight, [[one] + [zero] * self.size, *rows])
                for s, t, weight, rows in self.steps_at(alpha)
            ]
        out = []
        for s, t, weight, c, G in self.outcomes:
            moved = one_plus(self.ops.arithmetic, alpha, G)
            rows = [[alpha * c_i, *row] for c_i, row in zip(c, moved, strict=True)]
            out.append((s, t, weight, [[one] + [zero] * self.size, *rows]))
        return out

    def steps_at(self, alpha: Any) -> list[tuple[int, int, Any, list[list[Any]]]]:
        """(s, s', weight, rows) with x' = rows (1, x), from the rule at the step size alpha itself."""
        rule, empty = self.rule, self.rule.nothing
        origin = [rule.zero] * self.size
        out = []
        for sample, (s, t, weight, _, _) in zip(self.samples, self.outcomes, strict=True):
            constant = rule.step(sample, origin, empty, alpha, rewarded=True)[0]
            start = rule.step(sample, origin, empty, alpha, rewarded=False)[0]
            columns = [
                [u - v for u, v in zip(
                    rule.step(sample, rule.unit(j, self.size), empty, alpha, rewarded=False)[0],
                    start, strict=True)]
                for j in range(self.size)
            ]  # fmt: skip
            rows = plain([list(row) for row in zip(constant, *columns, strict=True)])
            out.append((s, t, weight, rows))
        return out

    def moments(self, pairs: Iterable[tuple[Matrix, Matrix]]) -> Moments:
        """Public moments of theta from means and second moments of x = (theta, w)."""
        ops = self.ops
        theta = range(ops.Phi.shape[1])
        Pi = BestApproximation(ops).matrix
        value = self._square(ops.Phi, ops.v_pi)
        bellman = self._square(Pi @ ops.Lambda, Pi @ ops.r_pi)
        mean, second, mse, mspbe = [], [], [], []
        with np.errstate(over="ignore", invalid="ignore"):  # an error beyond the floats is infinite
            for first, square in pairs:
                m, S = first.submatrix(theta, [0]), square.submatrix(theta, theta)
                mean.append(m.unbounded().public_vector())
                second.append(S.unbounded().public())
                mse.append(value(m, S))
                mspbe.append(bellman(m, S))
        return Moments(mean, second, mse, mspbe)

    def _square(self, M: Matrix, u: Matrix) -> Callable[[Matrix, Matrix], Any]:
        """E||M x - u||_Xi^2 = <M' Xi M, E x x'> - 2 u' Xi M E x + u' Xi u, from the two moments."""
        ops = self.ops
        Q, q = M.T @ M.scale_rows(ops.xi), (M.T @ u.scale_rows(ops.xi)).T
        constant = (u.T @ u.scale_rows(ops.xi)).item()
        two = ops.arithmetic.one + ops.arithmetic.one

        def expected(m: Matrix, S: Matrix) -> Any:
            inner = sum(Q.row_dots(S).entries(), ops.arithmetic.zero)
            value = inner - two * (q @ m).item() + constant
            return ops.arithmetic.public(np.inf if value != value else value)

        return expected


def _chances(ops: Operators) -> list[Any]:
    """The chance of each state: xi, in proportion to which states are sampled, over its sum."""
    xi = ops.xi.entries()
    total = sum(xi, ops.arithmetic.zero)
    return [w / total for w in xi]


@dataclass(frozen=True, eq=False)
class Moments:
    """What :func:`exact_moments` returns; lists over t = 0, ..., steps.

    Attributes
    ----------
    mean : list of d, as ``problem.xi`` is given
        E[theta_t].
    second : list of (d, d)
        E[theta_t theta_t'].
    expected_mse : list of number
        E||Phi theta_t - v_pi||_Xi^2.
    expected_mspbe : list of number
        E||Pi (T v - v)||_Xi^2 at v = Phi theta_t.
    """

    mean: list[Any]
    second: list[Any]
    expected_mse: list[Any]
    expected_mspbe: list[Any]

    @cached_property
    def covariance(self) -> list[Any]:
        """The covariance of theta_t, (d, d) each."""
        if isinstance(self.second[0], np.ndarray):
            return [S - np.outer(m, m) for m, S in zip(self.mean, self.second, strict=True)]
        return [S - m * m.T for m, S in zip(self.mean, self.second, strict=True)]


def exact_moments(
    problem: PolicyEvaluation,
    learner: Learner,
    steps: int,
    theta0: Any = None,
    *,
    sampling: str | None = None,
) -> Moments:
    """The mean, second moment and expected error of the weights at every step, with no sampling.

    Parameters
    ----------
    problem : PolicyEvaluation
        Exact or in floats; the answer is of its kind.
    learner : Learner
        Without a trace, with a constant step size.
    steps : int
    theta0 : vector of d, optional
        Zero unless given. Secondary weights start at zero.
    sampling : {"trajectory", "iid"}, optional
        A stationary trajectory, which None means too, or independent transitions, states in
        proportion to xi.

    Raises
    ------
    InputError
        For a learner with a trace, or without a constant step size; for a trajectory with weights
        xi that are not stationary.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import SETD
    >>> found = exact_moments(two_state(reward=1), SETD("1/100"), 2)
    >>> found.mean[1], found.second[1]
    (Matrix([[1/10]]), Matrix([[1/25]]))
    """
    if not isinstance(steps, int) or steps < 0:
        raise InputError(f"steps is {steps!r}; expected a nonnegative integer")
    system = JumpSystem(problem, learner, sampling)
    if steps * system.size**2 > MOST_KEPT:
        raise SizeError(
            f"{steps} steps would keep {steps * system.size**2:.1e} numbers; at most {MOST_KEPT:.0e} are "
            "kept. Ask for fewer steps, or for otd.stationary_moments, which is where they tend to"
        )
    ops = system.ops
    alpha = constant_step_size(ops, learner)
    y = [ops.arithmetic.one, *system.start_weights(theta0)]
    totals = (_float_totals if ops.arithmetic.kind == "float" else _exact_totals)(
        system, alpha, y, steps
    )
    weights = range(1, system.size + 1)
    return system.moments(
        (Y.submatrix(weights, [0]), Y.submatrix(weights, weights)) for Y in totals
    )


def constant_step_size(ops: Operators, learner: Learner) -> Any:
    """The step size of a learner as a native scalar; InputError where it has no constant one."""
    if learner.alpha is None or callable(learner.alpha):
        raise InputError(
            f"{learner.name} needs a constant step size here, as in {learner.name}('1/10')"
        )
    return ops.arithmetic.scalar(parse_number(learner.alpha, "alpha"))


def _exact_totals(system: JumpSystem, alpha: Any, y: list[Any], steps: int) -> list[Matrix]:
    arithmetic, size = system.ops.arithmetic, len(y)
    square = [[a * b for b in y] for a in y]
    start = arithmetic.matrix(square, (size, size))
    Y = [start.scaled(w) for w in system.start()]
    maps = [
        (s, t, weight, arithmetic.matrix(rows, (size, size)))
        for s, t, weight, rows in system.maps(alpha)
    ]
    out = [_sum(Y)]
    for _ in range(steps):
        new = [start.scaled(arithmetic.zero) for _ in Y]
        for s, t, weight, N in maps:
            new[t] = new[t] + (N @ Y[s] @ N.T).scaled(weight)
        Y = new
        out.append(_sum(Y))
    return out


def _sum(Y: list[Matrix]) -> Matrix:
    total = Y[0]
    for part in Y[1:]:
        total = total + part
    return total


def _float_totals(system: JumpSystem, alpha: Any, y: list[Any], steps: int) -> list[Matrix]:
    """All outcomes of a step in one batch of small products; infinite once beyond the floats.

    The means are carried apart, so that a second moment that overflows leaves them whole.
    """
    maps = sorted(system.maps(alpha), key=lambda m: m[1])
    source, ends = (np.array([m[k] for m in maps]) for k in (0, 1))
    N = np.array([m[3] for m in maps])
    weighted = N * np.array([m[2] for m in maps])[:, None, None]
    transposed = N.transpose(0, 2, 1)
    first = np.flatnonzero(np.r_[True, np.diff(ends) != 0])
    chances = np.array(system.start())
    m, Y = chances[:, None] * np.array(y), chances[:, None, None] * np.outer(y, y)
    out = []
    with np.errstate(over="ignore", invalid="ignore"):
        for t in range(steps + 1):
            if t:
                moved = np.add.reduceat((weighted @ m[source][:, :, None])[:, :, 0], first, axis=0)
                spread = np.add.reduceat(weighted @ Y[source] @ transposed, first, axis=0)
                m, Y = np.zeros_like(m), np.zeros_like(Y)
                m[ends[first]], Y[ends[first]] = moved, spread
            total = Y.sum(axis=0)
            total[~np.isfinite(total)] = np.inf
            total[0], total[:, 0] = m.sum(axis=0), m.sum(axis=0)
            out.append(FLOAT.matrix(total, total.shape))
    return list(out)
