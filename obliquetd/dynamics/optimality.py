"""How far a step size leaves a learner from the least noise that its fixed point allows.

With M = A^-1 Sigma A^-T, the covariance of the averaged weights, Sigma = A M A'. Put into the
equation of the schedule c / t, (c A - I/2) S + S (c A - I/2)' = c^2 Sigma, this leaves for D = S - M

(c A - I/2) D + D (c A - I/2)' = (c A - I) M (c A - I)',

whose right-hand side is positive semidefinite. As c A - I/2 is stable, so is D: **no schedule has
less noise than the average**. D = 0 iff (c A - I) M = 0, so iff A is 1/c on all that the noise
reaches, which no one c achieves where A acts on it with two eigenvalues. A step size kept at
alpha stays at the covariance alpha S, A S + S A' = Sigma, while that of the average falls as M / t.

Sources: Polyak and Juditsky (1992) have M as the limit of the average, and as the least that a
gain matrix in place of c can reach, where the noise is independent from step to step. That no
other *estimator* does better is a local minimax lower bound: Khamaru, Pananjady, Ruan, Wainwright
and Jordan (2021) for tabular TD and Mou, Pananjady and Wainwright (2023) for projected equations,
both of independent samples; Mou, Pananjady, Wainwright and Bartlett (2024) along a trajectory.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import Arithmetic, Matrix, number_text, parse_number
from obliquetd.errors import InputError, ObliqueTDError, UndefinedError
from obliquetd.frames import Tabular
from obliquetd.learners import Learner
from obliquetd.learners.state import shapes

__all__ = ["BesideTheAverage"]


class BesideTheAverage(Tabular):
    """What :class:`obliquetd.dynamics.efficiency.Efficiency` says of step sizes beside the average."""

    name: str
    learner: Learner

    @property
    @abstractmethod
    def noise_covariance(self) -> Any:
        """The long-run covariance of the update at the fixed point, (D, D)."""

    @property
    @abstractmethod
    def averaged(self) -> Any:
        """The limit of t Cov of the averaged weights, (D, D)."""

    @property
    @abstractmethod
    def constant_step(self) -> Any:
        """The limit of Cov / alpha for small constant step sizes, (D, D)."""

    @property
    @abstractmethod
    def _x(self) -> Matrix:
        """The fixed point, (D, 1)."""

    @property
    @abstractmethod
    def _d(self) -> int: ...

    @property
    @abstractmethod
    def _arithmetic(self) -> Arithmetic: ...

    @property
    @abstractmethod
    def _averaged(self) -> Matrix: ...

    @property
    @abstractmethod
    def _constant_step(self) -> Matrix: ...

    @abstractmethod
    def _schedule(self, c: Any) -> Matrix: ...

    @abstractmethod
    def _seen(self, matrix: Matrix) -> Any:
        """trace(C matrix), of theta: what a covariance does to the values, in the weights xi."""

    @abstractmethod
    def _public(self, matrix: Matrix, what: str) -> Any: ...

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row for each weight: its fixed point, and its entries on the diagonals of the covariances.

        The columns are ``learner``, ``weight`` (as ``theta_0``), ``fixed_point``, ``noise``, ``averaged``,
        ``constant_step``, and ``remark``, the reason why one of the latter three is None. What several
        learners do to the values is beside each other in
        ``compare(problem, learners, quantities=["bias", "variance", "rate"])``.

        Examples
        --------
        >>> from obliquetd import TD, efficiency
        >>> from obliquetd.domains import random_problem
        >>> found = efficiency(random_problem(3, 1, seed=1), TD())
        >>> [(row["weight"], row["averaged"] == found.averaged[0, 0]) for row in found.rows()]
        [('theta_0', True)]
        """
        remark = None
        diagonals: dict[str, Any] = {}
        for column, obtain in self._covariances().items():
            try:
                found = obtain()
                diagonals[column] = [found[i, i] for i in range(len(found.tolist()))]
            except ObliqueTDError as error:
                diagonals[column] = None
                remark = remark or str(error)
        numbers = self.learner.numbers(**self.learner.values)
        named = shapes(self.learner.weights, self._d, numbers).items()
        names = [
            "_".join((name, *map(str, place)))
            for name, size in named
            for place in np.ndindex(*size)
        ]
        for i, (name, x) in enumerate(zip(names, self._x.public_vector(), strict=True)):
            cells = {column: known and known[i] for column, known in diagonals.items()}
            yield {
                "learner": self.name, "weight": name, "fixed_point": x, **cells, "remark": remark,
            }  # fmt: skip

    def _covariances(self) -> dict[str, Callable[[], Any]]:
        return {
            "noise": lambda: self.noise_covariance,
            "averaged": lambda: self.averaged,
            "constant_step": lambda: self.constant_step,
        }

    def excess_covariance(self, c: Any) -> Any:
        """schedule(c) - averaged, (D, D): positive semidefinite.

        Parameters
        ----------
        c : number
            As for :meth:`schedule`, whose errors it has.
        """
        return self._public(self._schedule(c) - self._averaged, "the excess covariance")

    def excess(self, c: Any) -> Any:
        """trace(C schedule(c)) / trace(C averaged): how many times the samples step sizes c / t need.

        At least 1, and 1 iff the values of no state are noisier than with the average.

        Parameters
        ----------
        c : number
            As for :meth:`schedule`, whose errors it has.

        Raises
        ------
        UndefinedError
            Where the average has no variance.

        Examples
        --------
        With a single weight, A = a, it is (a c)^2 / (2 a c - 1), which is 1 for c = 1 / a alone:

        >>> from obliquetd import TD, efficiency, mean_dynamics
        >>> from obliquetd.domains import random_problem
        >>> problem = random_problem(3, 1, seed=1, discount="1/2")
        >>> found, a = efficiency(problem, TD()), mean_dynamics(problem, TD()).A[0]
        >>> found.excess(1 / a), found.excess(2 / a)
        (1, 4/3)
        """
        steps = self._schedule(c)
        return self._arithmetic.public(self._seen(steps) / self._variance())

    @property
    def constant_step_variance(self) -> Any:
        """The limit of E|Phi (theta_t - theta*)|^2 / alpha: trace(C constant_step), whose errors it has."""
        return self._arithmetic.public(self._seen(self._constant_step))

    def averaging_pays_after(self, alpha: Any) -> Any:
        """trace(C averaged) / (alpha trace(C constant_step)): steps from which on the average is nearer.

        A constant step size keeps E|Phi (theta_t - theta*)|^2 near alpha trace(C constant_step), while
        that of the average is near trace(C averaged) / t. Both to first order: for a small alpha, and
        without the error of the start and the bias of a constant step size, which
        :func:`obliquetd.stationary_moments` has.

        Parameters
        ----------
        alpha : positive number

        Raises
        ------
        UndefinedError
            Where the average has no variance.

        Examples
        --------
        With a single weight, A = a, it is 2 / (a alpha):

        >>> from obliquetd import TD, efficiency, mean_dynamics
        >>> from obliquetd.domains import random_problem
        >>> problem = random_problem(3, 1, seed=1, discount="1/2")
        >>> found, a = efficiency(problem, TD()), mean_dynamics(problem, TD()).A[0]
        >>> found.averaging_pays_after("1/100") == 200 / a
        True
        """
        read = parse_number(alpha, "alpha")
        if read == 0 or (read.is_negative if isinstance(read, sp.Basic) else not read > 0):
            raise InputError(f"alpha is {number_text(read)}; expected a positive number")
        kept = self._seen(self._constant_step)
        least = self._variance()
        return self._arithmetic.public(least / (self._arithmetic.scalar(read) * kept))

    def _variance(self) -> Any:
        """trace(C averaged), where it is not 0."""
        found = self._seen(self._averaged)
        if found == self._arithmetic.zero:
            raise UndefinedError(
                f"the average of the weights of {self.name} has no variance here, so there is nothing to "
                "compare with; .schedule(c) and .constant_step say whether other step sizes have any"
            )
        return found
