"""The matrices of a policy-evaluation problem, in the package's own arithmetic.

Definitions, in the paper's letters (Lyu et al. 2018, Sections II and III). Rows of
the transition table carry p = P(s' | s, a), the reward r and the discount
g = gamma * (the row's own discount).

=========  ==========================================================================
P_pi       sum over a of pi(a|s) p: the chain of the target policy; P_b for behaviour
P_gamma    sum over a of pi(a|s) p g: gamma P_pi where all rows share one discount
r_pi       sum over a and s' of pi(a|s) p r
L_pi       I - P_gamma
xi, Xi     the stationary distribution of P_b (or weights given), and diag(xi)
Lambda     L_pi Phi, whose rows are the expected Delta phi
C          Phi' Xi Phi
X_star     L_pi^-T Xi Phi (Eq. 5)
v_pi       L_pi^-1 r_pi
f          L_pi^-T xi, the expected emphasis (Section IV)
=========  ==========================================================================

A terminal state (no outgoing row) gets a self-loop of discount 0 and reward 0, so
that its row of L_pi is that of the identity and its value is 0; and a move into it has
discount 0, so that nothing bootstraps from its features.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from obliquetd.algebra import Arithmetic, Matrix, number_text, stationary
from obliquetd.chain import MarkovChain, discount_free_classes
from obliquetd.errors import SingularError, UndiscountedError
from obliquetd.mdp import MDP, Policy

__all__ = ["Operators"]


class Operators:
    """Everything that follows from an MDP, two policies, features, a discount and weights."""

    def __init__(
        self,
        mdp: MDP,
        target: Policy,
        behavior: Policy,
        features: list[list[Any]] | None,
        discount: Any,
        weights: list[Any] | None,
        arithmetic: Arithmetic,
    ) -> None:
        arithmetic.check_size(len(mdp.states))
        self.arithmetic, self.labels = arithmetic, mdp.states
        self.mdp, self.target, self.behavior = mdp, target, behavior
        self.discount = arithmetic.scalar(discount)
        self._given = (mdp, target, behavior, features, discount, weights)
        self._features, self._weights = features, weights
        table = mdp.table
        self.state, self.next_state = table.state, table.next_state
        self.probability = arithmetic.scalars(table.probability)
        self.reward = arithmetic.scalars(table.reward)
        self.row_discount = self._row_discount()
        self.pi = self._policy_column(target)
        self.mu = self.pi if behavior is target else self._policy_column(behavior)

    def _row_discount(self) -> Any:
        """gamma times each row's own discount; 0 into a terminal state, whatever its features."""
        table, mdp = self.mdp.table, self.mdp
        out = self.arithmetic.scalars(table.discount) * self.discount
        ends = [mdp.index[s] for s in mdp.terminal]
        out[np.isin(table.next_state, ends)] = self.arithmetic.zero
        return out

    def over(self, arithmetic: Arithmetic) -> Operators:
        """The same problem in another arithmetic."""
        return Operators(*self._given, arithmetic)

    def _policy_column(self, policy: Policy) -> Any:
        """pi(a | s) for every row of the table."""
        table, zero = self.mdp.table, self.arithmetic.zero
        out = np.empty(len(table), dtype=float if self.arithmetic.kind == "float" else object)
        for begin, end in table.pairs():
            row = policy.parsed(self.labels[table.state[begin]])
            p = row.get(self.mdp.actions[table.action[begin]])
            scalar = zero if p is None else self.arithmetic.scalar(p)
            for i in range(begin, end):
                out[i] = scalar
        return out

    @property
    def n(self) -> int:
        """The number of states."""
        return len(self.labels)

    @property
    def tabular(self) -> bool:
        """Whether Phi is the identity because no features were given."""
        return self._features is None

    def _square(self, values: Any, diagonal_at_terminal: bool = False) -> Matrix:
        i, j = self.state, self.next_state
        if diagonal_at_terminal and self.mdp.terminal:
            ends = np.array([self.mdp.index[s] for s in self.mdp.terminal], dtype=np.intp)
            ones = np.empty(len(ends), dtype=values.dtype)
            ones[:] = self.arithmetic.one
            i, j = np.concatenate([i, ends]), np.concatenate([j, ends])
            values = np.concatenate([values, ones])
        return self.arithmetic.assemble((self.n, self.n), i, j, values)

    def by_state(self, values: Any) -> Matrix:
        """The sums over each state's rows of the table, as a column."""
        at = np.zeros(len(self.state), dtype=np.intp)
        return self.arithmetic.assemble((self.n, 1), self.state, at, values)

    # --- the chains ---------------------------------------------------------------------

    @cached_property
    def P_pi(self) -> Matrix:
        """The transition matrix of the target policy."""
        return self._square(self.pi * self.probability, diagonal_at_terminal=True)

    @cached_property
    def P_b(self) -> Matrix:
        """The transition matrix of the behaviour policy."""
        if self.mu is self.pi:
            return self.P_pi
        return self._square(self.mu * self.probability, diagonal_at_terminal=True)

    @cached_property
    def P_gamma(self) -> Matrix:
        """P_pi with each transition times its discount."""
        return self._square(self.pi * self.probability * self.row_discount)

    @cached_property
    def L_pi(self) -> Matrix:
        """I - P_gamma."""
        return self.arithmetic.identity(self.n) - self.P_gamma

    @cached_property
    def r_pi(self) -> Matrix:
        """The expected reward of the target policy."""
        return self.by_state(self.pi * self.probability * self.reward)

    @cached_property
    def largest_reward(self) -> Any:
        """The size of the rewards, below which a float value is noise; 1 unless floats."""
        return self.arithmetic.magnitude(self.arithmetic.column(self.reward.tolist()))

    @cached_property
    def chain(self) -> MarkovChain:
        """The behaviour chain."""
        return MarkovChain(self.P_b, self.labels)

    @cached_property
    def target_chain(self) -> MarkovChain:
        """The target policy's chain."""
        return MarkovChain(self.P_pi, self.labels)

    @cached_property
    def xi(self) -> Matrix:
        """The state weights."""
        if self._weights is not None:
            return self.arithmetic.column([self.arithmetic.scalar(w) for w in self._weights])
        return self.chain.stationary

    @cached_property
    def unvisited(self) -> tuple[int, ...]:
        """The states of weight zero."""
        return tuple(i for i, w in enumerate(self.xi.entries()) if not w)

    def names(self, indices: Sequence[int]) -> list[Hashable]:
        """Labels of states."""
        return [self.labels[i] for i in indices]

    # --- features -----------------------------------------------------------------------

    @cached_property
    def Phi(self) -> Matrix:
        """The feature matrix."""
        if self._features is None:
            return self.arithmetic.identity(self.n)
        scalar = self.arithmetic.scalar
        rows = [[scalar(x) for x in row] for row in self._features]
        return self.arithmetic.matrix(rows, (self.n, len(rows[0])))

    @cached_property
    def row_space(self) -> Matrix | None:
        """A basis of the row space of Phi as columns, shape (d, rank); None is the identity."""
        if self.tabular:
            return None
        basis = self.Phi.T.column_basis()
        return None if basis.shape[0] == basis.shape[1] else basis

    @cached_property
    def unit_Phi(self) -> Matrix:
        """Phi times one number, for what does not change with the scale of all features."""
        largest = self.arithmetic.magnitude(self.Phi)
        return self.Phi.scaled(self.arithmetic.one / largest)

    @cached_property
    def Lambda(self) -> Matrix:
        """L_pi Phi."""
        return self.L_pi @ self.Phi

    @cached_property
    def Xi_Phi(self) -> Matrix:
        """Xi Phi, the X of TD."""
        return self.Phi.scale_rows(self.xi)

    @cached_property
    def C(self) -> Matrix:
        """Phi' Xi Phi."""
        self.arithmetic.squared(self.arithmetic.magnitude(self.Phi))
        return self.Phi.T @ self.Xi_Phi

    # --- values -------------------------------------------------------------------------

    @cached_property
    def undiscounted(self) -> list[list[int]]:
        """Closed classes of the target chain on which no discount is applied."""
        return discount_free_classes(self.P_gamma)

    @cached_property
    def v_pi(self) -> Matrix:
        """The value function: L_pi v = r_pi."""
        return self.discounted_sum(self.P_gamma, self.r_pi, self.undiscounted, "L_pi")

    def discounted_sum(
        self, kernel: Matrix, source: Matrix, closed: list[list[int]], what: str
    ) -> Matrix:
        """The sum over k of kernel^k source, by solving (I - kernel) v = source.

        On a closed class without discount the sum is finite only where the source is
        zero throughout: then it is zero there (the absorbing state of Sutton and Barto,
        Section 3.4), and the other states are solved for.
        """
        identity = self.arithmetic.identity(self.n)
        if not closed:
            return (identity - kernel).solve(source, what)
        entries = source.cleaned().entries()
        endless = [c for c in closed if any(entries[i] for i in c)]
        if endless:
            raise self._endless(kernel, source, closed, endless)
        silent = {i for c in closed for i in c}
        return self._solve_outside(kernel, source, silent)

    def _solve_outside(self, kernel: Matrix, source: Matrix, excluded: set[int]) -> Matrix:
        """The solution on the other states, where those excluded count zero."""
        rest = [i for i in range(self.n) if i not in excluded]
        inner = self.arithmetic.identity(len(rest)) - kernel.submatrix(rest, rest)
        solved = inner.solve(source.submatrix(rest, [0]), "L_pi")
        return self.arithmetic.embedded(solved, rest, self.n)

    def _endless(
        self, kernel: Matrix, source: Matrix, closed: list[list[int]], endless: list[list[int]]
    ) -> UndiscountedError:
        """The error, with the values of all states that never reach an endless class."""
        doomed = {i for c in endless for i in c}
        i, j = kernel.support()
        edges = list(zip(i.tolist(), j.tolist(), strict=True))
        while True:
            more = {u for u, v in edges if v in doomed and u not in doomed}
            if not more:
                break
            doomed |= more
        silent = {k for c in closed for k in c if k not in doomed}
        solved = self._solve_outside(kernel, source, doomed | silent).entries()
        values = {
            self.labels[k]: self.arithmetic.public(solved[k])
            for k in range(self.n)
            if k not in doomed
        }
        classes = [self.names(c) for c in endless]
        others = f"; the values of the other states are in the error: {values}" if values else ""
        near = (
            "" if self.discount == self.arithmetic.one else " (floats cannot tell it from 1 here)"
        )
        discount = number_text(self.arithmetic.public(self.discount), 17)
        return UndiscountedError(
            f"with discount {discount}{near} the closed class {' and '.join(map(str, classes[:4]))} never reaches "
            "a terminal state and goes on collecting reward, so the return is not finite. Use "
            + ("arithmetic='exact', or a smaller discount" if near else "a discount below 1")
            + ", or let the episode end (a transition of discount 0)"
            + others,
            classes,
            values,
        )

    @cached_property
    def transposed_L(self) -> Matrix:
        """L_pi', once it is known to be invertible."""
        if self.undiscounted:
            classes = [self.names(c) for c in self.undiscounted]
            inside = self.undiscounted[0]
            weights = stationary(self.P_gamma.submatrix(inside, inside))
            raise SingularError(
                f"L_pi is singular: with discount 1 the chain never leaves {classes[0]}. Use a "
                "discount below 1, or make those states terminal (no outgoing transition, or a "
                "transition of discount 0)",
                self.arithmetic.embedded(weights, inside, self.n).public(),
            )
        return self.L_pi.T

    @cached_property
    def X_star(self) -> Matrix:
        """L_pi^-T Xi Phi (Eq. 5)."""
        return self.transposed_L.solve(self.Xi_Phi, "L_pi'")

    @cached_property
    def f(self) -> Matrix:
        """L_pi^-T xi, the expected emphasis."""
        return self.transposed_L.solve(self.xi, "L_pi'")
