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
from functools import cached_property
from typing import Any

import numpy as np

from obliquetd.algebra import FLOAT, FloatMatrix, Matrix, number_text, parse_number
from obliquetd.algebra.rounding import EPS
from obliquetd.dynamics.affinity import degree_at, require_affine
from obliquetd.dynamics.expectation import Expectation
from obliquetd.dynamics.jumps import one_plus
from obliquetd.dynamics.moments_by_step import Moments
from obliquetd.dynamics.rule import RuleOnNumbers
from obliquetd.dynamics.sampling import (
    check_sampling,
    classes_of,
    require_numbers,
    resolve_sampling,
)
from obliquetd.dynamics.scalars import bounded_matrix, plain
from obliquetd.errors import InputError, SizeError
from obliquetd.learners import Learner, require_learner
from obliquetd.problem import PolicyEvaluation, require_problem
from obliquetd.problem.native import Operators
from obliquetd.problem.projection import BestApproximation
from obliquetd.problem.requests import read_theta

__all__ = ["JumpSystem", "constant_step_size", "exact_moments"]

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
        learner = require_learner(learner).bound(require_problem(problem))
        if learner.has_memory:
            raise InputError(
                f"{_what_is_carried(learner)}; moments are for learners that carry nothing from one transition to the next "
                "(TD, SETD, GTD2, TDC at lam = 0, residual gradient). Its mean dynamics: "
                "otd.mean_dynamics"
            )
        check_sampling(sampling)
        require_numbers(problem, learner)
        self.ops: Operators = problem.native if ops is None else ops
        self.learner = learner
        self.iid = resolve_sampling(self.ops, learner, sampling, mean_only=False) == "iid"
        rule = RuleOnNumbers(self.ops, learner)
        self.size, self.rule = rule.size, rule
        self.chances = _chances(self.ops)
        self.samples = samples = [s for s in rule.samples if self.chances[s.state]]
        require_affine(rule, samples, carried=False)
        self.degree = degree_at(rule, samples)
        self.linear = self.degree in (0, 1)
        parts = [rule.at_rest(sample) for sample in samples]
        self._slopes = [slopes for _, slopes in parts]
        flat = plain([row for constant, slopes in parts for row in (constant, *slopes)])
        chances = plain([[sample.chance for sample in samples]])[0]
        self.outcomes: list[tuple[int, int, Any, list[Any], list[list[Any]]]] = []
        for k, (sample, chance) in enumerate(zip(samples, chances, strict=True)):
            constant, *slopes = flat[k * (self.size + 1) : (k + 1) * (self.size + 1)]
            weight = self.chances[sample.state] * chance if self.iid else chance
            s, t = (0, 0) if self.iid else (sample.state, sample.next_state)
            gradient = [list(row) for row in zip(*slopes, strict=True)]
            self.outcomes.append((s, t, weight, constant, gradient))

    def gradient(self, k: int) -> Matrix:
        """G of an outcome; for floats with the bounds on its errors."""
        return bounded_matrix(self._slopes[k], (self.size, self.size), self.ops.arithmetic).T

    def weight_error(self, k: int) -> float:
        """A bound on the error of an outcome's weight, of floats."""
        weight, sample = self.outcomes[k][2], self.samples[k]
        found = 8 * EPS * weight
        if not self.iid:
            return float(found)
        assert isinstance(self.ops.xi, FloatMatrix)
        relative = self.ops.xi.dense_error()[sample.state, 0] / self.ops.xi.entries()[sample.state]
        return float(found + weight * relative)

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

    def affine_steps(self, alpha: Any) -> list[tuple[int, int, Any, list[Any], list[list[Any]]]]:
        """(s, s', weight, a, D) with x' = x + a + D x: for most rules a = alpha c and D = alpha G."""
        if self.linear:
            return [
                (s, t, weight, [alpha * v for v in c], [[alpha * v for v in row] for row in G])
                for s, t, weight, c, G in self.outcomes
            ]
        one = self.ops.arithmetic.one
        if self.degree == 2:  # a alpha + b alpha^2 from alpha = 1 and 2, where nothing cancels
            pairs = zip(self.steps_at(one), self.steps_at(one + one), strict=True)
            return [
                (s, t, weight, *self._split(self._parabola(first, second, alpha)))
                for (s, t, weight, first), (*_, second) in pairs
            ]
        return [
            (s, t, weight, *self._split([_less_one(row, i) for i, row in enumerate(rows)]))
            for s, t, weight, rows in self.steps_at(alpha)
        ]

    def _parabola(self, first: list[Any], second: list[Any], alpha: Any) -> list[list[Any]]:
        """The change of x at alpha, where it is a polynomial of degree 2 that is 0 at 0."""
        two = self.ops.arithmetic.one + self.ops.arithmetic.one
        out = []
        for i, (row, other) in enumerate(zip(first, second, strict=True)):
            at_1, at_2 = _less_one(row, i), _less_one(other, i)
            square = [(v - two * u) / two for u, v in zip(at_1, at_2, strict=True)]
            out.append(
                [alpha * (u - c) + alpha * alpha * c for u, c in zip(at_1, square, strict=True)]
            )
        return out

    @staticmethod
    def _split(rows: list[list[Any]]) -> tuple[list[Any], list[list[Any]]]:
        return [row[0] for row in rows], [row[1:] for row in rows]

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
        """Public moments of theta from means and covariances of x = (theta, w)."""
        ops = self.ops
        theta = range(ops.Phi.shape[1])
        Pi = BestApproximation(ops).matrix
        value = self._square(ops.Phi, ops.v_pi)
        bellman = self._square(Pi @ ops.Lambda, Pi @ ops.r_pi)
        mean, second, covariance, mse, mspbe = [], [], [], [], []
        with np.errstate(over="ignore", invalid="ignore"):  # an error beyond the floats is infinite
            for first, spread in pairs:
                m, V = first.submatrix(theta, [0]), spread.submatrix(theta, theta)
                mean.append(m.unbounded().public_vector())
                second.append((V + m @ m.T).unbounded().public())
                covariance.append(V.unbounded().public())
                mse.append(value(m, V))
                mspbe.append(bellman(m, V))
        return Moments(mean, second, covariance, mse, mspbe)

    def _square(self, M: Matrix, u: Matrix) -> Callable[[Matrix, Matrix], Any]:
        """E||M x - u||_Xi^2 = ||M E x - u||_Xi^2 + <M' Xi M, Cov x>: a sum without cancellation."""
        ops = self.ops
        Q = M.T @ M.scale_rows(ops.xi)

        def expected(m: Matrix, V: Matrix) -> Any:
            gap = M @ m - u
            value = (gap.T @ gap.scale_rows(ops.xi)).item()
            value = value + sum(Q.row_dots(V).entries(), ops.arithmetic.zero)
            return ops.arithmetic.public(np.inf if value != value else value)

        return expected


def _less_one(row: Any, i: int) -> list[Any]:
    """Row i of an affine map, less the identity."""
    out = list(row)
    out[i + 1] = out[i + 1] - 1
    return out


def _chances(ops: Operators) -> list[Any]:
    """The chance of each state: xi, in proportion to which states are sampled, over its sum."""
    xi = ops.xi.entries()
    total = sum(xi, ops.arithmetic.zero)
    return [w / total for w in xi]


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
    totals = _float_totals if ops.arithmetic.kind == "float" else _exact_totals
    return system.moments(totals(system, alpha, system.start_weights(theta0), steps))


def constant_step_size(ops: Operators, learner: Learner) -> Any:
    """The step size of a learner as a native scalar; InputError where it has no constant one."""
    if learner.alpha is None or callable(learner.alpha):
        name = learner.name
        raise InputError(f"{name} needs a constant step size here, as in {name}('1/10')")
    return ops.arithmetic.scalar(parse_number(learner.alpha, "alpha"))


Pairs = list[tuple[Matrix, Matrix]]
"""The mean and the covariance of the weights, step by step."""


def _exact_totals(system: JumpSystem, alpha: Any, x0: list[Any], steps: int) -> Pairs:
    arithmetic, y = system.ops.arithmetic, [system.ops.arithmetic.one, *x0]
    size = len(y)
    square = [[a * b for b in y] for a in y]
    start = arithmetic.matrix(square, (size, size))
    Y = [start.scaled(w) for w in system.start()]
    maps = [
        (s, t, weight, arithmetic.matrix(rows, (size, size)))
        for s, t, weight, rows in system.maps(alpha)
    ]
    out = [_mean_and_covariance(Y)]
    for _ in range(steps):
        new = [start.scaled(arithmetic.zero) for _ in Y]
        for s, t, weight, N in maps:
            new[t] = new[t] + (N @ Y[s] @ N.T).scaled(weight)
        Y = new
        out.append(_mean_and_covariance(Y))
    return out


def _mean_and_covariance(Y: list[Matrix]) -> tuple[Matrix, Matrix]:
    total = Y[0]
    for part in Y[1:]:
        total = total + part
    weights = range(1, total.shape[0])
    m = total.submatrix(weights, [0])
    return m, total.submatrix(weights, weights) - m @ m.T


def _float_totals(system: JumpSystem, alpha: Any, x0: list[Any], steps: int) -> Pairs:
    """All outcomes of a step in one batch of small products; infinite once beyond the floats.

    Moments are kept about the mean c of the step: with y = x - c, p_s the chance of a state,
    m_s = E[y 1{s}] and S_s = E[y y' 1{s}], an outcome x -> x + a + D x sends y to a + D c + (1 + D) y.
    The means are carried apart, so that a second moment that overflows leaves them whole.
    """
    outcomes = sorted(system.affine_steps(alpha), key=lambda step: step[1])
    source, ends, weight = (np.array([step[k] for step in outcomes]) for k in range(3))
    constant, D = (np.array([step[k] for step in outcomes], dtype=float) for k in (3, 4))
    M = D + np.eye(system.size)
    w, turned = weight[:, None], M.transpose(0, 2, 1)
    first = np.flatnonzero(np.r_[True, np.diff(ends) != 0])

    def gathered(parts: Any, like: Any) -> Any:
        out = np.zeros_like(like)
        out[ends[first]] = np.add.reduceat(parts, first, axis=0)
        return out

    p, c = np.array(system.start(), dtype=float), np.array(x0, dtype=float)
    m, S = np.zeros((len(p), len(c))), np.zeros((len(p), len(c), len(c)))
    out: Pairs = []
    with np.errstate(over="ignore", invalid="ignore"):
        for t in range(steps + 1):
            if t:
                a, here = constant + D @ c, w * p[source, None]
                moved = (M @ m[source, :, None])[:, :, 0]
                cross = (w * moved)[:, :, None] * a[:, None, :]
                spread = w[:, :, None] * (M @ S[source] @ turned) + cross + cross.transpose(0, 2, 1)
                spread += (here * a)[:, :, None] * a[:, None, :]
                m, S = gathered(w * moved + here * a, m), gathered(spread, S)
                p = gathered(weight * p[source], p)
                shift = m.sum(axis=0)
                c = c + shift
                both = m[:, :, None] * shift
                S -= both + both.transpose(0, 2, 1) - p[:, None, None] * np.outer(shift, shift)
                m -= p[:, None] * shift
            V = S.sum(axis=0)
            V[~np.isfinite(V)] = np.inf
            c[np.isnan(c)] = np.inf
            out.append((FLOAT.column(c.tolist()), FLOAT.matrix(V, V.shape)))
    return out
