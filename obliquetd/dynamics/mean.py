"""What a learner does on average: the expected update, its verdict, and where it leads."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import Arithmetic, FieldMatrix, FloatMatrix, Matrix, parse_number
from obliquetd.display import Equations
from obliquetd.dynamics.certificate import make_certificate
from obliquetd.dynamics.expectation import Expectation
from obliquetd.dynamics.float_stability import float_stability
from obliquetd.dynamics.limit import limit_of
from obliquetd.dynamics.provenance import provenance
from obliquetd.dynamics.rule import RuleOnNumbers, operators_for
from obliquetd.dynamics.sampling import check_sampling, classes_of, resolve_sampling
from obliquetd.dynamics.stability import (
    NOTHING_MOVES,
    Stability,
    exact_stability,
    factor_of,
    worst_of,
)
from obliquetd.dynamics.tilt import Tilted
from obliquetd.errors import KindError, MathematicalError, SignUndecidedError
from obliquetd.learners import Learner, require_learner
from obliquetd.learners.base import each
from obliquetd.learners.check import require_averageable
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.native import Operators
from obliquetd.problem.requests import read_theta
from obliquetd.problem.rounding import error_bound

__all__ = ["MeanDynamics", "mean_dynamics"]


class MeanDynamics(Tilted, Equations):
    """The expected update E[x_{t+1} - x_t] = alpha (b - A x_t), made by :func:`mean_dynamics`.

    For gradient learners x is (theta, w) and A is 2d by 2d.

    Attributes
    ----------
    problem : PolicyEvaluation
    learner : Learner
    """

    def __init__(
        self,
        problem: PolicyEvaluation,
        learner: Learner,
        sampling: str | None = None,
        arithmetic: Arithmetic | None = None,
        weights: Matrix | None = None,
        in_rationals: Callable[[], MeanDynamics] | None = None,
    ) -> None:
        check_sampling(sampling)
        learner = learner.bound(problem)
        require_averageable(learner)
        self.problem, self.learner, self._wanted = problem, learner, sampling
        self._weights, self._own_rationals = weights, in_rationals
        if arithmetic is None:
            self._ops = operators_for(problem, learner)
        else:
            self._ops = problem.native.over(arithmetic)

    @cached_property
    def sampling(self) -> str:
        """How the transitions are sampled, "trajectory" or "iid"."""
        if self._weights is not None:
            return "trajectory"
        return resolve_sampling(self._ops, self.learner, self._wanted, mean_only=True)

    @cached_property
    def classes(self) -> tuple[MeanDynamics, ...]:
        """The dynamics on each closed class of the chain that a trajectory may end in; itself, where there is one."""
        if self.sampling == "iid" or self._weights is not None:
            return (self,)
        found = classes_of(self._ops)
        if len(found) == 1:
            return (self,)
        return tuple(
            MeanDynamics(
                self.problem, self.learner, "trajectory", self._ops.arithmetic, weights,
                functools.partial(_class_in_rationals, self, k),
            )
            for k, weights in enumerate(found)
        )  # fmt: skip

    @cached_property
    def _in_rationals(self) -> MeanDynamics:
        """The same in exact arithmetic, which decides what floats leave open."""
        if self._own_rationals is not None:
            return self._own_rationals()
        problem = PolicyEvaluation.of(self._ops.in_rationals.inputs)
        return MeanDynamics(problem, self.learner, self._wanted)

    def _exactly(self, of: Callable[[MeanDynamics], Matrix]) -> Callable[[], Matrix] | None:
        """What decides the zeros of a float answer; see :meth:`Operators.exactly`."""
        return self._ops.exactly(lambda _: of(self._in_rationals))

    @cached_property
    def expectation(self) -> Expectation:
        """A, b and the span of the updates, in the package's own arithmetic."""
        xi = self._ops.xi if self._weights is None else self._weights
        return Expectation(
            RuleOnNumbers(self._ops, self.learner), xi,
            carried=self.sampling == "trajectory",
            exactly=self._ops.exactly(functools.partial(_basis_in_rationals, self)),
        )  # fmt: skip

    @property
    def operators(self) -> Operators:
        """The matrices of the problem, in the arithmetic of the dynamics."""
        return self._ops

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers that the learner's rule reads, public, by name; a tuple has one for each state."""
        arithmetic = self._ops.arithmetic
        return {
            k: each(lambda x: arithmetic.public(arithmetic.scalar(x)), v)
            for k, v in self.learner.values.items()
        }

    @property
    def A(self) -> Any:
        """The matrix of the expected update, (d, d), or (2d, 2d) for gradient learners."""
        return self.expectation.A.told(
            f"A of {self.learner.name}", self._exactly(lambda dyn: dyn.expectation.A)
        )

    @property
    def b(self) -> Any:
        """The constant of the expected update, d (or 2d) of them."""
        return self.expectation.b.told_vector(
            f"b of {self.learner.name}", self._exactly(lambda dyn: dyn.expectation.b)
        )

    @property
    def span(self) -> Any:
        """A basis of U, the span of all updates, as columns: x_t stays in x_0 + U.

        (D, r) with D = d, or 2d for gradient learners, whose x is (theta, w).
        """
        return self.expectation.span.basis.public()

    @property
    def conserved(self) -> Any:
        """Columns c with c'x_t = c'x_0 for all t, whatever the data brings: (D, D - r)."""
        return self.expectation.span.complement().public()

    @property
    def frozen(self) -> tuple[Any, ...]:
        """The weights in theta that no update ever changes: states if tabular, else numbers."""
        untouched = [i for i in self.expectation.span.untouched() if i < self._d]
        return tuple(self._ops.names(untouched)) if self._ops.tabular else tuple(untouched)

    def expected_update(self, theta: Any, w: Any = None) -> Any:
        """b - A x at the given weights (w defaults to zero)."""
        return self.drift(theta, w).told_vector(
            f"the expected update of {self.learner.name}",
            self._exactly(lambda dyn: dyn.drift(theta, w)),
        )

    def drift(self, theta: Any, w: Any = None) -> Matrix:
        """:meth:`expected_update` in the package's own arithmetic."""
        return self.expectation.b - self.expectation.A @ self._weights_of(theta, w)

    def _weights_of(self, theta: Any, w: Any = None) -> Matrix:
        arithmetic, rest = self._ops.arithmetic, self.expectation.rule.size - self._d
        listed = read_theta(theta, self._d, "theta")
        listed += [0] * rest if w is None else read_theta(w, rest, "w")
        return arithmetic.column([arithmetic.scalar(parse_number(v)) for v in listed])

    def fixed_point(self, theta0: Any = None) -> Any:
        """The theta with b = A x that the expected update leads to, where it is stable, from theta0.

        It is theta0 + u with u in the span U of all updates. Weights that no update moves
        (:attr:`frozen`, :attr:`conserved`) stay as they are in theta0.

        Parameters
        ----------
        theta0 : vector of d, optional
            Zero unless given. Secondary weights start at zero.

        Raises
        ------
        NotUniqueError
            Where A is singular on U; carries a null vector.
        NoSolutionError, MathematicalError
            Where moreover b lies outside its range there; in one of several closed classes, each with its own.
        """
        return self.limit(theta0).told_vector(
            f"the fixed point of {self.learner.name}", self._exactly(lambda dyn: dyn.limit(theta0))
        )

    @property
    def _d(self) -> int:
        return self._ops.Phi.shape[1]

    def limit(self, theta0: Any = None) -> Matrix:
        """:meth:`fixed_point` in the package's own arithmetic, (d, 1)."""
        if len(self.classes) > 1:
            raise MathematicalError(
                f"a trajectory stays in one of {len(self.classes)} closed classes, and each has a fixed "
                "point of its own; ask dyn.classes[k].fixed_point(), or use sampling='iid' for "
                "independent transitions from xi"
            )
        x = limit_of(
            self.expectation, self._first(theta0), f"the mean dynamics of {self.learner.name}"
        )
        theta = x.submatrix(range(self._d), [0])
        theta.report = x.report
        return theta

    def _first(self, theta0: Any) -> Matrix:
        """x_0: theta_0, 0 unless given, and secondary weights of 0."""
        return self._weights_of([0] * self._d if theta0 is None else theta0)

    def first_weights(self, theta0: Any = None) -> Matrix:
        """theta_0 in the package's own arithmetic, (d, 1); 0 unless given."""
        return self._first(theta0).submatrix(range(self._d), [0])

    @property
    def v_hat(self) -> Any:
        """Phi theta at the fixed point, a value for each state."""
        return (self._ops.Phi @ self.limit()).told_vector(
            f"v_hat of {self.learner.name}",
            self._exactly(lambda dyn: dyn.operators.Phi @ dyn.limit()),
            self._ops.largest_reward,
        )

    @property
    def rounding(self) -> float:
        """How large ||v_hat - v|| of floats may be by rounding alone where it is really 0."""
        return error_bound(self._ops, self._ops.Phi @ self.limit(), self.limit())

    def spectrum(self) -> npt.NDArray[Any]:
        """The eigenvalues of A as floats, by real part.

        Raises
        ------
        KindError : where A has symbols.
        """
        if self._ops.arithmetic.kind == "symbolic":
            raise KindError("the spectrum needs numbers; substitute them with problem.subs")
        A = np.array(
            [[float(self._ops.arithmetic.public(x)) for x in r] for r in self.expectation.A.rows()]
        )
        return np.sort_complex(np.linalg.eigvals(A))

    def public(self, scalar: Any) -> Any:
        """A native scalar of the dynamics as a public number."""
        return self._ops.arithmetic.public(scalar)

    @cached_property
    def stability(self) -> Stability:
        """The verdict on x' = b - A x on U; see :mod:`obliquetd.dynamics.stability`.

        Where symbols are left it is one verdict for all values inside their ranges (a discount in
        [0, 1), a probability in (0, 1)), or "undecided" and ``condition`` lists what must be
        positive; ``stability_region`` solves that for one symbol. Where a trajectory is in
        one of several closed classes, it is the worst verdict of theirs.

        Examples
        --------
        >>> from obliquetd.domains import two_state
        >>> from obliquetd.learners import ETD, TD
        >>> found = mean_dynamics(two_state("gamma"), ETD()).stability
        >>> found.verdict, found.everywhere
        ('stable', 'gamma in [0, 1)')
        >>> mean_dynamics(two_state("gamma"), TD()).stability.condition
        (-(6*gamma - 5)/2,)
        """
        if len(self.classes) > 1:
            return worst_of([dyn.stability for dyn in self.classes])
        found, Q = self.expectation, self.expectation.Q
        kernel = self._d - found.span.dimension_of(range(self._d))
        if found.span.dimension == 0:
            return Stability(NOTHING_MOVES, kernel, "unknown")
        if isinstance(Q, FloatMatrix):
            return float_stability(Q, found.form, kernel)
        return exact_stability(Q, found.form, kernel, found.span.critical)

    def is_stable(self) -> bool:
        """Whether all eigenvalues of A, on the span of the updates, are in the open right half plane.

        Raises
        ------
        SignUndecidedError
            Where that depends on a symbol (the condition is in the error), or is too
            close to call in floats. A marginal A is not stable, nor is one that moves nothing.
        """
        found = self.stability
        if found.verdict == "undecided":
            raise SignUndecidedError(
                f"the stability of {self.learner.name} is undecided: it needs "
                + (
                    " and ".join(f"{c} > 0" for c in found.condition)
                    if self._ops.arithmetic.kind == "symbolic"
                    else f"a closer look, {found.condition[0]}"
                ),
                found.condition,
                factor_of(self._ops.arithmetic, found.condition),
            )
        return found.verdict == "stable"

    def certificate(self) -> dict[str, Any]:
        """A dict, ready for JSON, that ``otd.check_certificate`` re-checks; it holds model, learner and version.

        Raises
        ------
        KindError, MathematicalError
            For floats or symbols, since certificates are rational; where nothing moves, for eigenvalues on the imaginary
            axis other than 0, and for a trajectory in one of several closed classes where all are stable.
        """
        if self._ops.arithmetic.kind != "exact":
            raise KindError(
                "a certificate is made of rationals; use arithmetic='exact', or substitute numbers "
                "for the symbols"
            )
        verdict = self.stability.verdict
        if len(self.classes) > 1:
            if verdict in ("stable", NOTHING_MOVES):
                raise MathematicalError(
                    f"a trajectory stays in one of {len(self.classes)} closed classes; each has its own "
                    "certificate: dyn.classes[k].certificate()"
                )
            worst = next(dyn for dyn in self.classes if dyn.stability.verdict == verdict)
            return worst.certificate()
        found = self.expectation
        assert isinstance(found.Q, FieldMatrix)
        about = {
            "problem": repr(self.problem),
            "verdict": verdict,
            "basis": "of the span of all updates; no weight leaves it",
        }
        proof = make_certificate(found.A, found.span.basis, found.Q, verdict)
        return {**proof, **provenance(self.problem, self.learner, self.sampling), "about": about}

    def equations(self) -> list[tuple[str, Any]]:
        return [("A", lambda: self.A), ("b", lambda: self.b)]

    def __repr__(self) -> str:
        return f"MeanDynamics({self.learner.name}, {self.problem!r})"


def _class_in_rationals(dynamics: MeanDynamics, k: int) -> MeanDynamics:
    return dynamics._in_rationals.classes[k]


def _basis_in_rationals(dynamics: MeanDynamics, _ops: Operators) -> Matrix:
    return dynamics._in_rationals.expectation.span.basis


def mean_dynamics(
    problem: PolicyEvaluation, learner: Learner, *, sampling: str | None = None
) -> MeanDynamics:
    """The expected update of a learner on a problem, from its own rule.

    Parameters
    ----------
    problem : PolicyEvaluation
    learner : Learner
        Its step size does not matter.
    sampling : {"trajectory", "iid"}, optional
        A trajectory of the behaviour in its stationary distribution, with traces at
        their stationary conditional means; or independent transitions from xi, where
        every trace starts empty. None is a trajectory where the weights xi are stationary,
        and without a trace else independent transitions from them.

    Returns
    -------
    MeanDynamics

    Raises
    ------
    StationaryError, SignUndecidedError, InputError
        For a behaviour without a unique stationary distribution; for SETD where the sign of a sampled
        Delta phi . phi depends on a symbol; for a trajectory, or a trace, with weights that are not stationary.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> from obliquetd.learners import ETD, TD
    >>> problem = two_state(reward=1)
    >>> [mean_dynamics(problem, learner()).A[0] for learner in (TD, ETD)]
    [-1/5, 17/5]
    >>> mean_dynamics(two_state(discount="gamma"), TD(lam="l")).A[0]
    -(gamma*l - 6*gamma + 5)/(2*(gamma*l - 1))
    """
    return MeanDynamics(problem, require_learner(learner), sampling)
