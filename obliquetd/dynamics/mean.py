"""The expected update of a learner, from the rule that runs.

A rule is affine in the weights x = (theta, w) and affine in the memory that the past
hands it. Given the state s, the transition is independent of the past, so under the
stationary distribution of the sampled process

    E[x_{t+1} - x_t] / alpha = sum over rows (s, a, s') of
                               mu(a|s) p { xi(s) U(x, 0) + [U(x, zeta(s)) - U(x, 0)] }

where U is the update of the rule at step size 1 and zeta(s) = E[memory 1{s_t = s}]. The
memory that a row hands on is affine too, M m + c, so zeta solves the linear system

    zeta(s') = sum over rows into s' of mu(a|s) p { xi(s) c + M zeta(s) }.

Evaluating the rule at x = 0 and at the unit vectors gives b and -A. No closed form is
used: :mod:`obliquetd.projection` has those, as the cross-check.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from obliquetd.algebra import (
    Arithmetic,
    FieldMatrix,
    FloatMatrix,
    Matrix,
    parse_number,
)
from obliquetd.display import Equations
from obliquetd.dynamics.certificate import make_certificate
from obliquetd.dynamics.quotient import quotient_basis
from obliquetd.dynamics.rule import (
    RuleOnNumbers,
    Sample,
    check_stationary,
    is_zero,
    operators_for,
)
from obliquetd.dynamics.stability import (
    Stability,
    definiteness,
    float_stability,
    routh_conditions,
    verdict_of,
)
from obliquetd.dynamics.tilt import tilted_kernel, tilted_mass
from obliquetd.errors import (
    InputError,
    KindError,
    NoSolutionError,
    NotUniqueError,
    SignUndecidedError,
    SingularError,
)
from obliquetd.learners import SETD, Learner, require_learner
from obliquetd.problem import PolicyEvaluation
from obliquetd.projection import solve_in_row_space

__all__ = ["MeanDynamics", "mean_dynamics"]


class MeanDynamics(Equations):
    """E[x_{t+1} - x_t] = alpha (b - A x_t), made by :func:`mean_dynamics`.

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
        sampling: str,
        arithmetic: Arithmetic | None = None,
    ) -> None:
        self.problem, self.learner, self.sampling = problem, learner, sampling
        if arithmetic is None:
            self._ops = operators_for(problem, learner)
        else:
            self._ops = problem._ops.over(arithmetic)
        self._rule = RuleOnNumbers(self._ops, learner)

    @cached_property
    def _samples(self) -> list[Sample]:
        return list(self._rule.samples())

    @cached_property
    def _memory(self) -> list[list[Any]]:
        """zeta: for each state the mean of the memory times the indicator of the state."""
        ops, k = self._ops, self._rule.memory_size
        zero, one = ops.arithmetic.zero, ops.arithmetic.one
        if not self.learner.has_memory or self.sampling == "iid":
            return [[zero] * k for _ in range(ops.n)]
        check_stationary(ops, self.learner)
        size = ops.n * k
        system = [[one if i == j else zero for j in range(size)] for i in range(size)]
        right = [zero] * size
        xi = ops.xi.entries()
        x = [zero] * self._rule.size
        units = [[one if i == j else zero for i in range(k)] for j in range(k)]
        for sample in self._samples:
            start = self._rule.run(sample, x, [zero] * k)[1]
            for i, c in enumerate(start):
                at = sample.next_state * k + i
                right[at] = right[at] + xi[sample.state] * sample.chance * c
            for j, unit in enumerate(units):
                ends = self._rule.run(sample, x, unit)[1]
                for i, (value, c) in enumerate(zip(ends, start, strict=True)):
                    gain = sample.chance * (value - c)
                    if gain:
                        row, column = system[sample.next_state * k + i], sample.state * k + j
                        row[column] = row[column] - gain
        matrix = ops.arithmetic.matrix(system, (size, size))
        try:
            solved = matrix.solve(ops.arithmetic.column(right), "the trace's stationary equation")
        except SingularError as error:
            raise SingularError(
                f"the trace of {self.learner.name} with lam = {self.learner.lam} has no stationary "
                "mean: on some closed class nothing decays it. Use a discount or lam below 1",
                error.null_vector,
            ) from None
        flat = solved.entries()
        return [flat[s * k : (s + 1) * k] for s in range(ops.n)]

    def _mean_update(self, weights: list[Any]) -> list[Any]:
        ops = self._ops
        xi = ops.xi.entries()
        empty = [ops.arithmetic.zero] * self._rule.memory_size
        total = [ops.arithmetic.zero] * len(weights)
        for sample in self._samples:
            fresh = self._rule.run(sample, weights, empty)[0]
            zeta = self._memory[sample.state]
            carried = self._rule.run(sample, weights, zeta)[0] if any(zeta) else fresh
            weight = xi[sample.state]
            for i, (u, v) in enumerate(zip(fresh, carried, strict=True)):
                total[i] = total[i] + sample.chance * (weight * u + (v - u))
        return total

    @cached_property
    def _b(self) -> Matrix:
        zero = self._ops.arithmetic.zero
        return self._ops.arithmetic.column(self._mean_update([zero] * self._rule.size))

    @cached_property
    def _A(self) -> Matrix:
        arithmetic, size = self._ops.arithmetic, self._rule.size
        b = self._b.entries()
        columns = []
        for j in range(size):
            unit = [arithmetic.one if i == j else arithmetic.zero for i in range(size)]
            columns.append([c - u for c, u in zip(b, self._mean_update(unit), strict=True)])
        return arithmetic.matrix(columns, (size, size)).T

    @property
    def lam(self) -> Any:
        """The learner's trace parameter, as a public number."""
        return self._ops.arithmetic.public(
            self._ops.arithmetic.scalar(parse_number(self.learner.lam))
        )

    @property
    def A(self) -> Any:
        """The matrix of the expected update, (d, d), or (2d, 2d) for gradient learners."""
        return self._A.public()

    @property
    def b(self) -> Any:
        """The constant of the expected update, d (or 2d) of them."""
        return self._b.public_vector()

    def expected_update(self, theta: Any, w: Any = None) -> Any:
        """b - A x at the given weights (w defaults to zero)."""
        listed = list(theta) + (list(w) if w is not None else [])
        zero = self._ops.arithmetic.zero
        x = [self._ops.arithmetic.scalar(parse_number(v)) for v in listed]
        x += [zero] * (self._rule.size - len(x))
        if len(x) != self._rule.size:
            raise InputError(f"{len(listed)} weights given; expected {self._rule.d}")
        return (self._b - self._A @ self._ops.arithmetic.column(x)).public_vector()

    def fixed_point(self) -> Any:
        """Theta with b = A x, in the row space of Phi; errors as for ``problem.fixed_point``."""
        return self._theta.public_vector()

    @cached_property
    def _theta(self) -> Matrix:
        what = f"the mean dynamics of {self.learner.name}"
        if not self.learner.two_timescale:
            return solve_in_row_space(self._ops, self._A, self._b, what).theta
        solution = self._A.general_solution(self._b)
        d = self._rule.d
        theta = range(d)
        if solution.particular is None:
            raise NoSolutionError(f"{what} has no solution")
        null = solution.null_space
        moved = self._ops.Phi @ null.submatrix(theta, range(null.shape[1]))
        if null.shape[1] and not is_zero(moved):
            raise NotUniqueError(f"{what} has many solutions", null.public())
        found = solution.particular.submatrix(theta, [0])
        basis = self._ops.row_space
        if basis is None:
            return found  # type: ignore[no-any-return]
        return basis @ (basis.T @ basis).solve(basis.T @ found)

    @property
    def v_hat(self) -> Any:
        """Phi theta at the fixed point, a value for each state."""
        return (self._ops.Phi @ self._theta).public_vector()

    def spectrum(self) -> npt.NDArray[Any]:
        """The eigenvalues of A as floats, by real part.

        Raises
        ------
        KindError
            Where A has symbols.
        """
        if self._ops.arithmetic.kind == "symbolic":
            raise KindError("the spectrum needs numbers; substitute them with problem.subs")
        A = np.array([[float(self._ops.arithmetic.public(x)) for x in r] for r in self._A.rows()])
        return np.sort_complex(np.linalg.eigvals(A))

    @cached_property
    def _quotient(self) -> tuple[Matrix, Matrix, Matrix]:
        """ker Phi as columns, rows R with kernel ker Phi, and Q with R A = Q R."""
        N, B, left = quotient_basis(self._ops, self.learner.two_timescale)
        return N, left, left @ self._A @ B

    def public(self, scalar: Any) -> Any:
        """A native scalar of the dynamics as a public number."""
        return self._ops.arithmetic.public(scalar)

    def quotient_charpoly(self) -> list[Any]:
        """The characteristic polynomial of A modulo ker Phi, native, leading one first."""
        return self._quotient[2].charpoly()

    @cached_property
    def stability(self) -> Stability:
        """The verdict on x' = b - A x, modulo ker Phi; see :mod:`obliquetd.dynamics.stability`.

        Where symbols are left it is "undecided" and ``condition`` lists what must be
        positive; ``stability_region`` solves that for one symbol.
        """
        N, _, Q = self._quotient
        B = quotient_basis(self._ops, self.learner.two_timescale)[1]
        form = B.T @ self._A @ B
        kernel = N.shape[1] // (2 if self.learner.two_timescale else 1)
        if isinstance(Q, FloatMatrix):
            return float_stability(Q, form, kernel)
        native = self.quotient_charpoly()
        coefficients = (
            [Q.arithmetic.public(c) for c in native]
            if self._ops.arithmetic.kind == "symbolic"
            else native
        )
        if any(getattr(c, "free_symbols", None) for c in coefficients):
            return Stability("undecided", kernel, "unknown", None, routh_conditions(coefficients))
        return Stability(verdict_of(coefficients), kernel, definiteness(form))

    def is_stable(self) -> bool:
        """Whether all eigenvalues of A, modulo ker Phi, are in the open right half plane.

        Raises
        ------
        SignUndecidedError
            Where that depends on a symbol (the condition is in the error), or is too
            close to call in floats. A marginal A is not stable.
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
            )
        return found.verdict == "stable"

    def certificate(self) -> dict[str, Any]:
        """A dict, ready for JSON, that ``otd.check_certificate`` re-checks.

        Raises
        ------
        KindError
            For floats or symbols: certificates are rational.
        MathematicalError
            For eigenvalues on the imaginary axis other than 0.
        """
        if self._ops.arithmetic.kind != "exact":
            raise KindError(
                "a certificate is made of rationals; use arithmetic='exact', or substitute numbers "
                "for the symbols"
            )
        N, R, Q = self._quotient
        verdict = self.stability.verdict
        about = {
            "learner": repr(self.learner),
            "problem": repr(self.problem),
            "verdict": verdict,
            "kernel": "of the features; no value moves along it",
        }
        assert isinstance(Q, FieldMatrix)
        return {**make_certificate(self._A, N, R, Q, verdict), "about": about}

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
        return tilted_kernel(self._ops, self._rule.features).public()

    @cached_property
    def tilted_weights(self) -> Any:
        """m(s) = sum of pi(a|s) p omega(s, a, s'), n of them: see :attr:`tilted_kernel`."""
        self._only_for_setd()
        return tilted_mass(self._ops, self._rule.features)[1].public_vector()

    def _only_for_setd(self) -> None:
        if not isinstance(self.learner, SETD):
            raise InputError(f"the tilted kernel is SETD's; the learner is {self.learner.name}")

    def _equations(self) -> list[tuple[str, Any]]:
        return [("A", lambda: self.A), ("b", lambda: self.b)]

    def __repr__(self) -> str:
        return f"MeanDynamics({self.learner.name}, {self.problem!r})"


def mean_dynamics(
    problem: PolicyEvaluation, learner: Learner, *, sampling: str = "trajectory"
) -> MeanDynamics:
    """The expected update of a learner on a problem, from its own rule.

    Parameters
    ----------
    problem : PolicyEvaluation
    learner : Learner
        Its step size does not matter.
    sampling : {"trajectory", "iid"}
        A trajectory of the behaviour in its stationary distribution, with traces at
        their stationary conditional means; or independent transitions from xi, where
        every trace starts empty.

    Returns
    -------
    MeanDynamics

    Raises
    ------
    StationaryError
        Where the behaviour chain has no unique stationary distribution.
    SignUndecidedError
        For SETD where the sign of a sampled Delta phi . phi depends on a symbol.
    InputError
        For traces with weights xi that are not stationary.

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
    if sampling not in ("trajectory", "iid"):
        raise InputError(f"sampling is {sampling!r}; expected 'trajectory' or 'iid'")
    return MeanDynamics(problem, require_learner(learner), sampling)
