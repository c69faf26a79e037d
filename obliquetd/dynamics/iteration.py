"""Fitted iterations as exact linear maps: TD with a target network that is held for a while.

Each of them takes theta to theta' = theta + M (b - A theta), with the A and b of TD(0) and C = Phi'Xi Phi:

* FQI regresses on the targets of the weights before, theta' = C^-1 (b + (C - A) theta), so M = C^-1
  (Gordon 1995; Ernst, Geurts and Wehenkel 2005);
* PFQI, partially fitted, takes k gradient steps of size alpha towards them instead, so that
  M = alpha sum over j < k of (I - alpha C)^j (Che et al. 2024). One step is TD.

The errors are multiplied by F = I - M A. The iteration converges from everywhere if and only if every
eigenvalue of F is inside the unit circle, or is 1 and semisimple with M b in the range of M A. An
eigenvalue z is inside the circle where (1 - z) / (1 + z) has a positive real part, so that Routh's
test (:mod:`obliquetd.dynamics.stability`) decides that with no eigenvalue computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
import sympy as sp

from obliquetd.algebra import (
    FieldMatrix,
    FloatMatrix,
    Matrix,
    parse_number,
    public_number,
)
from obliquetd.algebra.rounding import EIGENVALUE
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
from obliquetd.learners.base import Parameter
from obliquetd.problem import PolicyEvaluation
from obliquetd.problem.requests import read_theta

__all__ = ["FQI", "PFQI", "Iteration", "iteration"]

MOST_UPDATES = 2**12
"""Inner updates of one step: an exact M has some digits for each."""


STEP = Parameter("alpha", "1/10", sp.Interval.open(0, sp.oo), "a positive number")


@dataclass(frozen=True)
class Fitting(ABC):
    """Settings of an iteration; abstract."""

    name: ClassVar[str] = ""

    @abstractmethod
    def multiplier(self, C: Matrix) -> Matrix:
        """M, from C = Phi'Xi Phi."""

    @property
    def symbols(self) -> set[sp.Symbol]:
        """The free symbols of the settings."""
        return set()


@final
@dataclass(frozen=True)
class FQI(Fitting):
    """Fitted Q-iteration for policy evaluation: a whole regression on each target.

    Examples
    --------
    >>> from obliquetd.domains import two_state
    >>> iteration(two_state("gamma"), FQI()).factor
    Matrix([[6*gamma/5]])
    """

    name: ClassVar[str] = "FQI"

    def multiplier(self, C: Matrix) -> Matrix:
        null = C.null_space()
        if null.shape[1]:
            raise NotUniqueError(
                "Phi'Xi Phi is singular, so that a regression has many solutions; use independent "
                "features, or otd.PFQI, whose gradient steps are always defined",
                null.public(),
            )
        return C.solve(C.arithmetic.identity(C.shape[0]), "Phi' Xi Phi")


@final
@dataclass(frozen=True)
class PFQI(Fitting):
    """Partially fitted Q-iteration: some gradient steps towards a target that is held.

    Parameters
    ----------
    alpha : number or symbol
        The step size.
    updates : int
        Steps for each target; 1 is the expected update of TD.
    """

    alpha: Any = "1/10"
    updates: int = 1

    name: ClassVar[str] = "PFQI"

    def __post_init__(self) -> None:
        self._step()
        if type(self.updates) is not int or not 1 <= self.updates <= MOST_UPDATES:
            raise InputError(
                f"updates is {self.updates!r}; expected an integer from 1 to {MOST_UPDATES}"
            )

    def _step(self) -> Any:
        return STEP.read(self.alpha)

    @property
    def symbols(self) -> set[sp.Symbol]:
        """The free symbols of the step size."""
        found = public_number(self._step())
        return found.free_symbols if isinstance(found, sp.Basic) else set()

    def multiplier(self, C: Matrix) -> Matrix:
        """The sum is doubled: S_2k = S_k + (I - alpha C)^k S_k."""
        alpha = C.arithmetic.scalar(self._step())
        identity = C.arithmetic.identity(C.shape[0])
        step = identity - C.scaled(alpha)
        total, power = identity, step
        for bit in bin(self.updates)[3:]:
            total, power = total + power @ total, power @ power
            if bit == "1":
                total, power = total + power, power @ step
        return total.scaled(alpha)


class Iteration:
    """theta' = theta + M (b - A theta); made by :func:`iteration`.

    Attributes
    ----------
    problem : PolicyEvaluation
    fitting : FQI or PFQI
    """

    def __init__(self, problem: PolicyEvaluation, fitting: Fitting) -> None:
        self.problem, self.fitting = problem, fitting
        self._ops = operators_for(problem, fitting)

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
    def factor(self) -> Any:
        """F = I - M A, by which errors are multiplied, (d, d)."""
        return self._F.public()

    @property
    def multiplier(self) -> Any:
        """M, (d, d)."""
        return self._M.public()

    def step(self, theta: Any) -> Any:
        """theta', d of them."""
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
        """det(z - F) over (z - 1)^m, public, leading coefficient first; and m."""
        F, arithmetic = self._F, self._ops.arithmetic
        z = sp.Dummy("z")
        p = sp.Poly([arithmetic.public(c) for c in F.charpoly()], z)
        ones = 0
        while p.degree() > 0 and sp.cancel(p.eval(1)) == 0:
            p, ones = sp.Poly(sp.quo(p, sp.Poly(z - 1, z)), z), ones + 1
        return p.all_coeffs(), ones

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
        turned = _turned(coefficients)
        if turned[0] == 0:  # -1 is an eigenvalue
            return False
        if any(sp.sympify(c).free_symbols for c in turned):
            conditions = routh_conditions([sp.factor(c / turned[0]) for c in turned])
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
        return stein_certificate(self._F)

    def __repr__(self) -> str:
        return f"Iteration({self.fitting!r}, {self.problem!r})"


def _turned(coefficients: list[Any]) -> list[Any]:
    """The polynomial of g = (1 - z) / (1 + z), leading coefficient first, for one of z."""
    g = sp.Dummy("g")
    n = len(coefficients) - 1
    total = sum(c * (1 - g) ** (n - k) * (1 + g) ** k for k, c in enumerate(coefficients))
    found = sp.Poly(sp.expand(total), g).all_coeffs()
    return [sp.Integer(0)] * (n + 1 - len(found)) + [sp.factor(c) for c in found]


def least_updates(problem: PolicyEvaluation, alpha: Any, most: int = 256) -> int | None:
    """The smallest number of inner updates with which PFQI converges; None up to ``most``.

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
