"""The matrices of a problem as its users see them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from typing import Any

import sympy as sp

from obliquetd.algebra import FieldArithmetic, Matrix
from obliquetd.display import Names, visible
from obliquetd.errors import SizeError, UndefinedError
from obliquetd.mdp.chain import MarkovChain
from obliquetd.problem import metrics, weightings
from obliquetd.problem.batch import least_norm_batch
from obliquetd.problem.native import Operators
from obliquetd.problem.projection import BestApproximation

__all__ = ["PaperMatrices"]

MOST_NAMED = 40
"""States that a remark on the order of rows names."""


class PaperMatrices:
    """Everything that the paper gives a letter to, made public from the native operators.

    Abstract: :class:`obliquetd.PolicyEvaluation` makes the operators.
    """

    native: Operators

    def remarks(self) -> list[str]:
        """What the rows and columns of the matrices stand for, in their order."""
        shown = [visible(x) for x in self.states[:MOST_NAMED]]
        more = (
            f", and {len(self.states) - MOST_NAMED} more" if len(self.states) > MOST_NAMED else ""
        )
        noun = self.native.noun
        names = f"{', '.join(shown)}{more}"
        return [f"Rows and columns that stand for {noun}s are in this order: {names}."]

    def names(self) -> Mapping[str, Names]:
        """The states beside the rows of each matrix, and above the columns of square ones, by letter."""
        square = dict.fromkeys((r"P_\pi", r"L_\pi"), (self.states, self.states))
        by_row = (r"r_\pi", r"\xi", r"\Phi", r"v_\pi", "X^*")
        return square | dict.fromkeys(by_row, (self.states, ()))

    def _told(self, name: str, of: Callable[[Operators], Matrix], at_least: Any = 0) -> Any:
        """A matrix for the user, with a warning where its floats keep few digits."""
        return of(self.native).told(name, self.native.exactly(of), at_least)

    def _told_vector(self, name: str, of: Callable[[Operators], Matrix], at_least: Any = 0) -> Any:
        return of(self.native).told_vector(name, self.native.exactly(of), at_least)

    @property
    def states(self) -> tuple[Hashable, ...]:
        """The states, or pairs of a state and an action, in the order of all rows."""
        return self.native.labels

    @property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        """The free symbols, by name."""
        arithmetic = self.native.arithmetic
        return arithmetic.symbols if isinstance(arithmetic, FieldArithmetic) else ()

    # --- chains and values ----------------------------------------------------------------

    @cached_property
    def P_pi(self) -> Any:
        """The target policy's transition matrix, (n, n); scipy.sparse for large sparse floats."""
        return self._told("P_pi", lambda ops: ops.P_pi)

    @cached_property
    def P_b(self) -> Any:
        """The behaviour policy's transition matrix, (n, n)."""
        return self._told("P_b", lambda ops: ops.P_b)

    @cached_property
    def r_pi(self) -> Any:
        """The target policy's expected reward, n of them."""
        return self._told_vector("r_pi", lambda ops: ops.r_pi)

    @cached_property
    def L_pi(self) -> Any:
        """I - P_{pi,gamma}, (n, n): every transition times its discount."""
        return self._told("L_pi", lambda ops: ops.L_pi)

    @property
    def chain(self) -> MarkovChain:
        """The behaviour chain: classes, periods, stationary distributions."""
        return self.native.chain

    @property
    def target_chain(self) -> MarkovChain:
        """The target policy's chain."""
        return self.native.target_chain

    @cached_property
    def xi(self) -> Any:
        """The state weights, n of them; StationaryError where none is unique.

        Where episodes end and ``start`` was not given, the stationary distribution sits on
        terminal states. It is shown here; all that it would weigh raises EpisodesEndError.
        """
        return self._told_vector("xi", lambda ops: ops.weights)

    @cached_property
    def Xi(self) -> Any:
        """diag(xi), (n, n)."""
        return (
            self.native.arithmetic.identity(self.native.n).scale_rows(self.native.weights).public()
        )

    @cached_property
    def v_pi(self) -> Any:
        """The value function, n of them: L_pi v = r_pi.

        UndiscountedError where discount 1 meets a closed class that never terminates;
        the finite values are in the error.
        """
        return self._told_vector("v_pi", lambda ops: ops.v_pi, self.native.largest_reward)

    @property
    def values(self) -> dict[Hashable, Any]:
        """v_pi by state label."""
        listed = self.v_pi.tolist() if self.native.arithmetic.kind == "float" else self.v_pi
        return dict(zip(self.states, listed, strict=True))

    @cached_property
    def return_variance(self) -> Any:
        """The variance of the return from each state, n of them (Sobel 1982)."""
        return metrics.return_variance(self.native).public_vector()

    @cached_property
    def average_reward(self) -> Any:
        """The long-run average reward a step of the target policy from each state, n of them.

        States differ where the chain has several closed classes: a state's average is that
        of each class times the chance to end there.
        """
        return self.native.target_chain.averaged(self.native.r_pi).public_vector()

    # --- the paper's matrices -------------------------------------------------------------

    @cached_property
    def Phi(self) -> Any:
        """The feature matrix, (n, d)."""
        return self.native.Phi.public()

    @cached_property
    def C(self) -> Any:
        """Phi' Xi Phi, (d, d)."""
        return self._told("C", lambda ops: ops.C)

    @cached_property
    def Lambda(self) -> Any:
        """L_pi Phi, (n, d)."""
        return self._told("Lambda", lambda ops: ops.Lambda)

    @cached_property
    def X_star(self) -> Any:
        """L_pi^-T Xi Phi, (n, d): the X whose fixed point is the best approximation (Eq. 4)."""
        return self._told("X_star", lambda ops: ops.X_star)

    @cached_property
    def Y_star(self) -> Any:
        """Xi^-1 X*, (n, d); UndefinedError where a state has weight zero."""
        if self.native.unvisited:
            states = self.native.names(self.native.unvisited)
            raise UndefinedError(
                f"Y* = Xi^-1 X* divides by zero at the states {states[:8]}, which the behaviour "
                "chain leaves for good (xi = 0); X* exists",
                states,
            )
        return self._told("Y_star", lambda ops: ops.X_star.scale_rows(ops.over_xi))

    @cached_property
    def f(self) -> Any:
        """L_pi^-T xi, n of them: xi(s) times the expected emphasis in s (Section IV)."""
        return self._told_vector("f", lambda ops: ops.f)

    @cached_property
    def _best(self) -> BestApproximation:
        return BestApproximation(self.native)

    @cached_property
    def Pi(self) -> Any:
        """The Xi-orthogonal projector onto span(Phi), (n, n), dense."""
        n = self.native.n
        if self.native.arithmetic.kind == "float" and n * n > 50_000_000:
            raise SizeError(
                f"Pi is a dense {n} by {n} matrix of {8 * n * n:,} bytes; problem.best is Pi v_pi"
            )
        return self._told("Pi", lambda ops: BestApproximation(ops).matrix)

    @cached_property
    def best(self) -> Any:
        """Pi v_pi, n of them: the best approximation in the Xi-norm (Lemma 1)."""
        return self._told_vector(
            "the best approximation",
            lambda ops: ops.Phi @ BestApproximation(ops).solution.theta,
            self.native.largest_reward,
        )

    @property
    def best_undetermined(self) -> tuple[Hashable, ...]:
        """States of weight zero whose value in :attr:`best` is open (that of the least theta)."""
        return tuple(self.native.names(self._best.solution.free_states))

    def _diagonal(self, name: str, of: Callable[[Operators], Matrix]) -> Any:
        column = of(self.native).settled(name, self.native.exactly(of))
        return self.native.arithmetic.identity(self.native.n).scale_rows(column).public()

    @cached_property
    def Omega_star(self) -> Any:
        """The diagonal minimiser of ||Xi Omega Phi - X*||_F, (n, n).

        0 in states where any weight attains the minimum (phi(s) = 0 or xi(s) = 0).
        """
        return self._diagonal("Omega_star", weightings.nearest_to_X_star)

    @cached_property
    def Omega_S(self) -> Any:
        """SETD's weights from the expected next feature under pi, (n, n) (Eq. omega-i, Table I).

        ``Max(0, ...)`` where a sign depends on a symbol; :meth:`omega_cells` splits the
        symbol's range there. UndefinedError where an expected Delta phi is zero.
        """
        if self.symbols:
            return sp.ImmutableDenseMatrix(sp.diag(*weightings.symbolic_weights(self.native)))
        return self._diagonal("Omega_S", weightings.projection_weights)

    @cached_property
    def Omega_S_batch(self) -> Any:
        """The minimiser of ||Lambda' Xi Omega Phi - C||_F, (n, n); of least norm where many.

        :meth:`batch_minimizers` gives the whole solution set and the constraint omega >= 0.
        """
        return self._diagonal("Omega_S_batch", least_norm_batch)

    @cached_property
    def Omega_E(self) -> Any:
        """Xi^-1 diag(f), (n, n): ETD's expected weights (Section IV)."""
        return self._diagonal("Omega_E", weightings.emphatic)
