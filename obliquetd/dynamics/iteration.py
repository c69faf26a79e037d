"""Fitted iterations as exact linear maps: TD with a target network that is held for a while.

theta' = theta + M (b - A theta), with the A and b of TD(0) and the M of a fitting (:mod:`obliquetd.dynamics.fitting`).

The errors are multiplied by F = I - M A. The iteration converges from everywhere if and only if every
eigenvalue of F is inside the unit circle, or is 1 and semisimple with M b in the range of M A. An
eigenvalue z is inside the circle where (1 - z) / (1 + z) has a positive real part, so that Routh's
test (:mod:`obliquetd.dynamics.stability`) decides that with no eigenvalue computed.
"""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import (
    Arithmetic,
    FieldMatrix,
    FloatMatrix,
    Matrix,
    parse_number,
)
from obliquetd.algebra.rounding import EIGENVALUE
from obliquetd.dynamics.fitting import FQI, MOST_UPDATES, PFQI, Fitting, fitting_to_dict
from obliquetd.dynamics.iteration_region import (
    region_of_iteration,
    singular_points,
    turned_of,
)
from obliquetd.dynamics.provenance import provenance
from obliquetd.dynamics.rule import operators_for
from obliquetd.dynamics.stability import routh_conditions, verdict_of
from obliquetd.dynamics.stein import stein_certificate
from obliquetd.errors import (
    InputError,
    KindError,
    MathematicalError,
    NoSolutionError,
    NotUniqueError,
    SignUndecidedError,
)
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.requests import read_theta

__all__ = ["FQI", "PFQI", "Iteration", "iteration"]


class Iteration:
    """The iteration theta' = theta + M (b - A theta), made by :func:`iteration`.

    Attributes
    ----------
    problem : PolicyEvaluation
    fitting : FQI or PFQI
    """

    def __init__(
        self, problem: PolicyEvaluation, fitting: Fitting, arithmetic: Arithmetic | None = None
    ) -> None:
        self.problem, self.fitting = problem, fitting
        self._ops = (
            operators_for(problem, fitting)
            if arithmetic is None
            else problem.native.over(arithmetic)
        )

    @cached_property
    def _M(self) -> Matrix:
        return self.fitting.multiplier(self._ops.C)

    @cached_property
    def _A(self) -> Matrix:
        return self._ops.Xi_Phi.T @ self._ops.Lambda

    @cached_property
    def _b(self) -> Matrix:
        return self._ops.Xi_Phi.T @ self._ops.r_pi

    @cached_property
    def _F(self) -> Matrix:
        return self._ops.arithmetic.identity(self._A.shape[0]) - self._M @ self._A

    @property
    def _critical(self) -> list[Any]:
        """What must not be 0 for there to be an M, public."""
        return self.fitting.critical(self._ops.C)

    @property
    def factor(self) -> Any:
        """F = I - M A, by which errors are multiplied, (d, d)."""
        return self._F.public()

    @property
    def multiplier(self) -> Any:
        """M, (d, d)."""
        return self._M.public()

    def step(self, theta: Any) -> Any:
        """The weights after one iteration from ``theta``, d of them."""
        x = self._read(theta)
        return (x + self._M @ (self._b - self._A @ x)).public_vector()

    def _read(self, theta: Any) -> Matrix:
        d, arithmetic = self._A.shape[0], self._ops.arithmetic
        given = [0] * d if theta is None else read_theta(theta, d, "theta")
        return arithmetic.column([arithmetic.scalar(parse_number(v)) for v in given])

    def fixed_point(self, theta0: Any = None) -> Any:
        """Where the iteration stays, d of them; where there are many, the one it leads to from theta0.

        Parameters
        ----------
        theta0 : vector of d, optional
            Without it, many fixed points are an error.

        Raises
        ------
        NoSolutionError
            Where there is none: M b is not in the range of M A.
        NotUniqueError
            Where there are many and theta0 is not given, or where the iteration moves along them.
        """
        MA, Mb = self._M @ self._A, self._M @ self._b
        what = f"the iteration {self.fitting.name}"
        solution = MA.general_solution(Mb, what)
        null = solution.null_space
        if solution.particular is None:
            raise NoSolutionError(
                f"{what} has no fixed point: M b is outside the range of M A", null.public()
            )
        if not null.shape[1]:
            return solution.particular.public_vector()
        left = MA.T.null_space()
        cross = left.T @ null
        if theta0 is None or cross.rank() < cross.shape[0]:
            raise NotUniqueError(
                f"{what} has many fixed points: M A is singular"
                + ("; give theta0 for the one that it leads to" if theta0 is None else ""),
                null.public(),
            )
        gap = self._read(theta0) - solution.particular
        return (solution.particular + null @ cross.solve(left.T @ gap)).public_vector()

    @cached_property
    def _polynomial(self) -> tuple[list[Any], int]:
        """det(z - F) over (z - 1)^m, native, leading coefficient first; and m."""
        p, ones = self._F.charpoly(), 0
        while len(p) > 1 and not sum(p[1:], p[0]):  # p(1) = 0: the running sums are p over z - 1
            p, ones = list(itertools.accumulate(p))[:-1], ones + 1
        return p, ones

    def is_convergent(self) -> bool:
        """Whether the iteration converges from all weights.

        Raises
        ------
        SignUndecidedError
            Where that depends on a symbol (the condition is in the error), or is too close to call in
            floats.
        """
        if isinstance(self._F, FloatMatrix):
            return self._converges_in_floats(self._F)
        coefficients, ones = self._polynomial
        if ones and not self._rests(ones):
            return False
        if len(coefficients) == 1:
            return True
        native, field = turned_of(coefficients), self._ops.arithmetic
        turned = [field.public(c) for c in native]
        if turned[0] == 0:  # -1 is an eigenvalue
            return False
        if any(sp.sympify(c).free_symbols for c in turned):
            conditions = routh_conditions(field, [c / native[0] for c in native])
            if conditions:
                raise SignUndecidedError(
                    f"{self.fitting.name} converges where "
                    + " and ".join(f"{c} > 0" for c in conditions),
                    conditions,
                )
            return True
        return verdict_of(turned) == "stable"

    def _rests(self, ones: int) -> bool:
        """Whether the eigenvalue 1 is semisimple, with a fixed point."""
        MA = self._M @ self._A
        if MA.shape[0] - MA.rank() < ones:
            return False
        return MA.general_solution(self._M @ self._b, "the iteration").particular is not None

    def _converges_in_floats(self, F: FloatMatrix) -> bool:
        moduli = np.abs(np.linalg.eigvals(F.dense()))
        largest = float(moduli.max(initial=0.0))
        if abs(largest - 1) <= EIGENVALUE * max(1.0, float(np.abs(F.dense()).max(initial=0.0))):
            raise SignUndecidedError(
                f"{self.fitting.name} is too close to call in floats: the largest modulus of an eigenvalue "
                "is 1 to their precision; use arithmetic='exact'",
                ("too close to call in floats; use arithmetic='exact'",),
            )
        return largest < 1

    def certificate(self) -> dict[str, Any]:
        """A dict, ready for JSON, that ``otd.check_certificate`` re-checks: K - F'KF positive definite.

        Raises
        ------
        KindError
            For floats or symbols: certificates are rational.
        MathematicalError
            Where the iteration does not converge, or stays at one of many fixed points.
        """
        if self._ops.arithmetic.kind != "exact" or not isinstance(self._F, FieldMatrix):
            raise KindError(
                "a certificate is made of rationals; use arithmetic='exact', or substitute numbers for "
                "the symbols"
            )
        if self._polynomial[1] or not self.is_convergent():
            state = "has many fixed points or none" if self._polynomial[1] else "does not converge"
            raise MathematicalError(
                f"{self.fitting.name} {state}, so nothing certifies that F^k tends to 0"
            )
        told = {"iteration": fitting_to_dict(self.fitting)}
        return {**stein_certificate(self._F), **provenance(self.problem), **told}

    def stability_region(self, symbol: Any, *, domain: sp.Interval | None = None) -> sp.Set:
        """The values of a symbol with which it converges from all weights.

        ``otd.stability_region(problem, fitting, symbol)`` is the same, with its parameters and errors.

        Examples
        --------
        >>> from obliquetd.domains import two_state
        >>> iteration(two_state("gamma", reward=1), FQI()).stability_region("gamma")
        Interval.Ropen(0, 5/6)
        >>> iteration(two_state("4/5"), PFQI("alpha")).stability_region("alpha")
        Interval.open(0, 20)
        """
        return region_of_iteration(self, symbol, domain)

    def singular_points(self, symbol: Any, *, domain: sp.Interval | None = None) -> dict[Any, str]:
        """The values of a symbol at which M A is singular and next to which it is not, and what that means.

        Returns
        -------
        dict of number to str
            "no fixed point", where M b is outside the range of M A, or "many fixed points".

        Examples
        --------
        >>> from obliquetd.domains import two_state
        >>> iteration(two_state("gamma", reward=1), FQI()).singular_points("gamma")
        {5/6: 'no fixed point'}
        """
        return singular_points(self, symbol, domain)

    def __repr__(self) -> str:
        return f"Iteration({self.fitting!r}, {self.problem!r})"


def least_updates(problem: PolicyEvaluation, alpha: Any, most: int = 256) -> int | None:
    """The smallest number of inner updates with which PFQI converges; None if there is none up to ``most``.

    Parameters
    ----------
    problem : PolicyEvaluation
        Exact or in floats.
    alpha : number
        The step size.
    most : int
        How many are tried.

    Examples
    --------
    At the discount 9/10 no target is held long enough:

    >>> from obliquetd.domains import two_state
    >>> least_updates(two_state("4/5"), "1/10"), least_updates(two_state("9/10"), "1/10", 64)
    (1, None)
    """
    if type(most) is not int or not 1 <= most <= MOST_UPDATES:
        raise InputError(f"most is {most!r}; expected an integer from 1 to {MOST_UPDATES}")
    tried = (k for k in range(1, most + 1) if iteration(problem, PFQI(alpha, k)).is_convergent())
    return next(tried, None)


def iteration(problem: PolicyEvaluation, fitting: Fitting) -> Iteration:
    """TD with a target that is held, as an exact linear iteration.

    Parameters
    ----------
    problem : PolicyEvaluation
    fitting : FQI or PFQI

    Returns
    -------
    Iteration

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> it = iteration(two_state("4/5", reward=1), FQI())
    >>> it.factor, it.is_convergent(), it.fixed_point()
    (Matrix([[24/25]]), True, Matrix([[15]]))
    >>> iteration(two_state("9/10"), FQI()).is_convergent()
    False
    """
    if not isinstance(fitting, Fitting):
        raise InputError(
            f"{fitting!r} is no iteration; expected otd.FQI() or otd.PFQI(alpha, updates)"
        )
    return Iteration(problem, fitting)


def region_of_fitting(
    fitting: Fitting,
    problem: PolicyEvaluation,
    symbol: Any,
    domain: sp.Interval | None,
    sampling: str | None,
) -> sp.Set:
    """What :func:`obliquetd.stability_region` says of an iteration, which has no sampling."""
    if sampling is not None:
        raise InputError(
            f"sampling is {sampling!r}, and {fitting.name} has none: it is an iteration with expectations in the weights xi; "
            "leave it out"
        )
    return iteration(problem, fitting).stability_region(symbol, domain=domain)
