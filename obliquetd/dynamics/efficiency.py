"""How noisy a learner is at its fixed point, exactly, with its trace and its follow-on.

Near x* a learner is the linear stochastic approximation x_{t+1} = x_t + alpha_t (N_t - A (x_t - x*)),
whose noise N_t, the update at x*, is correlated from step to step. Its long-run covariance Sigma
(:mod:`obliquetd.dynamics.long_run`) decides how far the weights stray:

* the averaged weights: t Cov tends to A^-1 Sigma A^-T (Polyak and Juditsky 1992), which no estimator
  of the same fixed point beats: :mod:`obliquetd.dynamics.optimality` has the sources and the gaps;
* a constant step size: Cov / alpha tends to S with A S + S A' = Sigma as alpha goes to 0;
* alpha_t = c / t: t Cov tends to S with (c A - I/2) S + S (c A - I/2)' = c^2 Sigma, where
  c A - I/2 is stable (Kushner and Yin 2003, Chapter 10).

All of it is on the span U of the updates: what no data moves has no noise.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from obliquetd.algebra import Arithmetic, FloatMatrix, Matrix, number_text, parse_number
from obliquetd.dynamics.at_weights import mean_A, moments_at
from obliquetd.dynamics.covariances import public_covariance, total_of, without_nothing
from obliquetd.dynamics.expectation import Expectation
from obliquetd.dynamics.float_stability import float_stability
from obliquetd.dynamics.limit import limit_of
from obliquetd.dynamics.long_run import long_run_covariance, single_covariance
from obliquetd.dynamics.lyapunov import solve_lyapunov
from obliquetd.dynamics.mean import MeanDynamics
from obliquetd.dynamics.memory_moments import MemoryMoments
from obliquetd.dynamics.optimality import BesideTheAverage
from obliquetd.dynamics.sampling import check_sampling, resolve_sampling
from obliquetd.dynamics.stability import verdict_on
from obliquetd.errors import InputError, MathematicalError, SignUndecidedError, UnstableError
from obliquetd.learners import Learner, require_learner
from obliquetd.learners.state import parts_of
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.fixed_point import HasLimit
from obliquetd.problem.rounding import error_bound

__all__ = ["Efficiency", "efficiency", "efficiency_of"]

LEAST_SQUARES = "otd.LSTD(lam) needs only a non-singular A, and its efficiency is otd.efficiency(problem, otd.LSTD(lam))"


class Efficiency(BesideTheAverage):
    """The noise of a learner at its fixed point; made by :func:`efficiency`.

    All matrices are of x, which is theta, or (theta, w) for gradient learners; :meth:`of_theta` takes theta's block.

    Attributes
    ----------
    problem : PolicyEvaluation
    learner : Learner
    sampling : str
        "trajectory" or "iid".
    """

    def __init__(
        self, problem: PolicyEvaluation, learner: Learner, sampling: str | None, theta0: Any,
        arithmetic: Arithmetic | None = None,
    ) -> None:  # fmt: skip
        self.problem, self._theta0 = problem, theta0
        self._dynamics = MeanDynamics(problem, learner, sampling, arithmetic)
        self.learner = learner = self._dynamics.learner
        self._ops = self._dynamics.expectation.ops
        self.sampling = resolve_sampling(self._ops, learner, sampling, mean_only=False)
        if len(self._dynamics.classes) > 1:
            raise MathematicalError(
                f"a trajectory stays in one of {len(self._dynamics.classes)} closed classes, and each has "
                "noise of its own; build the problem with xi=problem.chain.stationary_by_class[k]"
            )
        self.name = learner.label
        self._first = self._dynamics._weights_of([0] * self._d if theta0 is None else theta0)

    @property
    def _d(self) -> int:
        return self._ops.Phi.shape[1]

    @property
    def _arithmetic(self) -> Arithmetic:
        return self._ops.arithmetic

    @property
    def _expectation(self) -> Expectation:
        return self._dynamics.expectation

    @cached_property
    def _x(self) -> Matrix:
        return limit_of(self._expectation, self._first, f"the mean dynamics of {self.learner.name}")

    @cached_property
    def _moments(self) -> MemoryMoments:
        return moments_at(self._expectation, self._x, whole=True)

    @cached_property
    def _infinite(self) -> list[int]:
        return self._moments.infinite

    @property
    def is_finite(self) -> bool:
        """Whether the update at the fixed point has a finite long-run covariance.

        Raises
        ------
        SignUndecidedError
            Where that depends on a symbol.
        """
        return not self._infinite

    @property
    def reason(self) -> str:
        """Why the noise is infinite; empty where it is finite."""
        if self.is_finite:
            return ""
        names = self._names(self._infinite)
        return (
            f"the second moment of {' and '.join(names)}, which {self.name} carries along the "
            "trajectory, is infinite, and the update at the fixed point depends on it: the squares of "
            "what it is multiplied by do not contract"
        )

    def _names(self, entries: Sequence[int]) -> list[str]:
        numbers = self.learner.numbers(**self.learner.values)
        parts = parts_of(self.learner.memory, self._expectation.rule.d, numbers, entries)
        return [f"the memory {name}" for name in parts]

    @cached_property
    def sigma(self) -> Matrix:
        """Sigma in the coordinates of U, in the package's own arithmetic."""
        if not self.is_finite:
            raise MathematicalError(f"{self.name} has infinite noise: {self.reason}")
        of = long_run_covariance if self.sampling == "trajectory" else single_covariance
        span = self._expectation.span
        noise = span.coordinates(span.coordinates(of(self._moments)).T)
        exactly = self._ops.exactly(lambda _: self._in_rationals().sigma)
        return without_nothing(noise, exactly)

    def _in_rationals(self) -> Efficiency:
        problem = self._dynamics._in_rationals.problem
        return Efficiency(problem, self.learner, self.sampling, self._theta0)

    @property
    def noise_covariance(self) -> Any:
        """Sigma, the limit of Cov(N_0 + ... + N_{t-1}) / t at the fixed point, (D, D).

        Raises
        ------
        MathematicalError
            Where it is infinite.
        """
        return self._public(self.sigma, "the noise covariance", of_updates=True)

    def _public(self, matrix: Matrix, what: str, *, of_updates: bool = False) -> Any:
        B = self._expectation.span.basis
        told = f"{what} of {self.name}"
        return public_covariance(self._ops, B @ matrix @ B.T, told, of_updates=of_updates)

    def of_theta(self, matrix: Any) -> Any:
        """The block of a (D, D) matrix that belongs to theta, (d, d)."""
        return matrix[: self._d, : self._d]

    @cached_property
    def _Q(self) -> Matrix:
        return self._expectation.span.restrict(mean_A(self._expectation))

    @cached_property
    def _averaged(self) -> Matrix:
        self._need_stable()
        half = self._Q.solve(self.sigma, "A on the span of the updates")
        return self._Q.solve(half.T, "A on the span of the updates")

    @property
    def averaged(self) -> Any:
        """The limit of t Cov of the average of x_0, ..., x_{t-1}: A^-1 Sigma A^-T, (D, D).

        Raises
        ------
        MathematicalError
            Where the noise is infinite, or A is not stable.
        """
        return self._public(self._averaged, "the covariance of the average")

    @cached_property
    def _constant_step(self) -> Matrix:
        self._need_stable()
        return solve_lyapunov(self._Q, self.sigma)

    @property
    def constant_step(self) -> Any:
        """The limit of Cov(x_t) / alpha for small constant step sizes, (D, D): A S + S A' = Sigma.

        Raises
        ------
        MathematicalError
            Where the noise is infinite, or A is not stable.
        """
        return self._public(self._constant_step, "the covariance at a constant step size")

    def schedule(self, c: Any) -> Any:
        """The limit of t Cov(x_t) with step sizes c / t, (D, D).

        Parameters
        ----------
        c : number
            So large that c A - I/2 is stable.

        Raises
        ------
        MathematicalError
            Where c is too small (the error then dies out slower than 1 / t), the noise is infinite,
            or A is not stable.
        """
        return self._public(self._schedule(c), "the covariance of the schedule")

    def _schedule(self, c: Any) -> Matrix:
        arithmetic, read = self._ops.arithmetic, parse_number(c, "c")
        factor, told = arithmetic.scalar(read), number_text(read)
        self._need_stable()
        half = arithmetic.one / (arithmetic.one + arithmetic.one)
        identity = arithmetic.identity(self._Q.shape[0])
        shifted = self._Q.scaled(factor) - identity.scaled(half)
        if not self._stable(shifted, f"the schedule {told}/t of {self.learner.name}"):
            raise MathematicalError(
                f"the step sizes {told}/t of {self.learner.name} are too small: c A - I/2 is not "
                "stable, and the covariance dies out slower than 1/t. Use a larger c"
            )
        return solve_lyapunov(shifted, self.sigma.scaled(factor * factor))

    def distance(self, t: int) -> Any:
        """trace(C averaged) / t: what E|Phi (average - theta*)|^2 in the weights xi tends to.

        It is about the fixed point and not about v_pi: how the mean of the weights nears theta*
        depends on where they start and on the step sizes.

        Parameters
        ----------
        t : int
            Number of steps.

        Raises
        ------
        MathematicalError
            As for :attr:`averaged`.
        """
        return self._ops.arithmetic.public(self._spread / self._steps(t))

    @cached_property
    def _spread(self) -> Any:
        return self._seen(self._averaged)

    def _seen(self, matrix: Matrix) -> Any:
        theta, B = range(self._d), self._expectation.span.basis
        covariance = (B @ matrix @ B.T).submatrix(theta, theta)
        return total_of(self._ops, self._ops.C.row_dots(covariance), f"the noise of {self.name}")

    @property
    def variance(self) -> Any:
        """The limit of t E|Phi (average - theta*)|^2: trace(C averaged)."""
        return self._ops.arithmetic.public(self._spread)

    @property
    def rate(self) -> Any:
        """What 1/t is multiplied by in :meth:`mse`, where that is known: see there."""
        self._need_best()
        return self.variance

    def _steps(self, t: Any) -> Any:
        try:
            steps = 0 if isinstance(t, bool) else operator.index(t)
        except TypeError:
            steps = 0
        if steps < 1:
            raise InputError(f"t is {t!r}; expected a positive integer")
        return self._ops.arithmetic.scalar(parse_number(steps))

    @cached_property
    def squared_bias(self) -> Any:
        """``|Phi theta* - v_pi|^2`` in the weights xi, which no number of steps removes."""
        return self._ops.arithmetic.public(self._bias)

    @cached_property
    def _gap(self) -> Matrix:
        return self._ops.Phi @ self._x.submatrix(range(self._d), [0]) - self._ops.v_pi

    @property
    def rounding(self) -> float:
        """How large the root of the squared bias of floats may be by rounding alone; 0 for exact numbers."""
        return error_bound(self._ops, self._gap + self._ops.v_pi, self._x)

    def mse(self, t: int) -> Any:
        """E|Phi (average) - v_pi|^2 up to terms smaller than 1/t: squared_bias + distance(t).

        That is known to this order only where Phi theta* is the best approximation. Elsewhere the
        mean error of the weights counts at order 1/t, too, and depends on where they start and on
        the step sizes; :func:`obliquetd.efficiency` of LSTD has no such freedom.

        Raises
        ------
        MathematicalError
            As for :attr:`averaged`, and where Phi theta* is not the best approximation.
        """
        steps, arithmetic = self._steps(t), self._ops.arithmetic
        spread = self._spread
        self._need_best()
        return arithmetic.public(self._bias + spread / steps)

    @property
    def _bias(self) -> Any:
        return (self._gap.T @ self._gap.scale_rows(self._ops.xi)).item()

    def _need_best(self) -> None:
        """That the cross term of bias and mean error vanishes."""
        if not (self._ops.Phi.T @ self._gap.scale_rows(self._ops.xi)).cleaned().is_zero():
            raise MathematicalError(
                f"the mean squared error of {self.name} after t steps depends on where it starts, and "
                f"at the order 1/t on its step sizes; .distance(t) is about its fixed point. {LEAST_SQUARES}"
            )

    def _need_stable(self) -> None:
        if not self._dynamics.is_stable():
            verdict = self._dynamics.stability.verdict
            told = f"{self.name} is {verdict} here: its weights do not stay near the fixed point"
            raise UnstableError(f"{told}. {LEAST_SQUARES}", verdict)

    def _stable(self, Q: Matrix, what: str) -> bool:
        if not Q.shape[0]:
            return True
        if isinstance(Q, FloatMatrix):
            return float_stability(Q, Q, 0).verdict == "stable"
        verdict, conditions = verdict_on(Q)
        if verdict == "undecided":
            needed = " and ".join(f"{x} > 0" for x in conditions)
            raise SignUndecidedError(f"{what} is undecided: it needs {needed}", conditions)
        return verdict == "stable"

    def __repr__(self) -> str:
        return f"Efficiency({self.name}, {self.problem!r})"


def efficiency(
    problem: PolicyEvaluation,
    learner: Any,
    *,
    sampling: str | None = None,
    theta0: Any = None,
) -> Efficiency:
    """How noisy a learner is at its fixed point, with no sampling.

    Parameters
    ----------
    problem : PolicyEvaluation
    learner : Learner, LSTD or LSETD
        A learner with mean dynamics; its step size does not matter, and it may carry a trace.
    sampling : {"trajectory", "iid"}, optional
        A stationary trajectory, which None means too, or independent transitions from xi.
    theta0 : vector of d, optional
        Zero unless given; it matters only where some weights never move.

    Returns
    -------
    Efficiency

    Raises
    ------
    LearnerError
        For a learner without mean dynamics.
    InputError
        For a trajectory with weights xi that are not stationary.
    MathematicalError
        For a trajectory in one of several closed classes.

    Examples
    --------
    ETD's noise on the two-state example is infinite from discount 1/sqrt(2) on:

    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import ETD, SETD
    >>> [efficiency(two_state(gamma, reward=1), ETD()).is_finite for gamma in ("7/10", "71/100")]
    [True, False]
    >>> found = efficiency(two_state(reward=1), SETD())
    >>> found.noise_covariance, found.averaged
    (Matrix([[0]]), Matrix([[0]]))
    """
    check_sampling(sampling)
    return efficiency_of(learner, problem, sampling, theta0)


def efficiency_of(
    given: Any, problem: PolicyEvaluation, sampling: str | None, theta0: Any, arithmetic: Any = None
) -> Efficiency:
    """The efficiency of a learner or of LSTD and its kin; an ``arithmetic`` may know more signs."""
    if isinstance(given, HasLimit) and (own := given.efficiency_on(problem, sampling, theta0, arithmetic)):  # fmt: skip
        return own  # type: ignore[no-any-return]
    return Efficiency(problem, require_learner(given), sampling, theta0, arithmetic)
