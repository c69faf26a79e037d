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
eta        h + P_b,gamma' eta: discounted visits of the behaviour from the start h
Lambda     L_pi Phi, whose rows are the expected Delta phi
C          Phi' Xi Phi
X_star     L_pi^-T Xi Phi (Eq. 4)
v_pi       L_pi^-1 r_pi
f          L_pi^-T xi, the expected emphasis (Section IV)
=========  ==========================================================================

A terminal state (no outgoing row) gets one, so that every state is a source of
transitions: to itself with reward 0 and discount 0, or, where episodes begin anew
(``start``), to a state drawn from the start with reward 0 and discount 0. Its row of
L_pi is that of the identity either way and its value is 0, and a move into it has
discount 0, so that nothing bootstraps from its features. With a start, a move into a
terminal state leads on to a start state at once (its reward kept, its discount 0): the
chain is closed, the terminal states have stationary weight 0, and a trace is emptied
there because its decay is the discount. Where a terminal state has weight (weights of
the user's own, or no start), its transition counts with that weight, in formulas and in
what a learner samples alike: the update pulls its estimate to 0.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from obliquetd.algebra import (
    Arithmetic,
    FloatMatrix,
    Matrix,
    geometric_sum,
    stationary,
)
from obliquetd.algebra.storage import listed
from obliquetd.algebra.ways import Way
from obliquetd.errors import EpisodesEndError, SingularError, UndiscountedError
from obliquetd.mdp.chain import MarkovChain
from obliquetd.problem.decided import Decided
from obliquetd.problem.inputs import OCCUPANCY
from obliquetd.problem.rows import Rows
from obliquetd.problem.sums import Moves, discounted_sum, leading_to, no_discount, sum_outside

__all__ = ["Operators"]

MANY: Way[int] = 20_000
"""States from which on L Phi is not kept for what is made of it."""


class Operators(Decided, Rows):
    """Everything that follows from the inputs of a problem, in their arithmetic or another."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Operators, (self.inputs, self.arithmetic)

    def over(self, arithmetic: Arithmetic) -> Operators:
        """The same problem in another arithmetic."""
        return self if arithmetic is self.arithmetic else Operators(self.inputs, arithmetic)

    @property
    def tabular(self) -> bool:
        """Whether Phi is the identity because no features were given."""
        return self.inputs.features is None

    # --- the chains ---------------------------------------------------------------------

    @cached_property
    def P_pi(self) -> Matrix:
        """The transition matrix of the target policy."""
        return self.square(self.pi, self.probability)

    @cached_property
    def P_b(self) -> Matrix:
        """The transition matrix of the behaviour policy."""
        if self.mu is self.pi:
            return self.P_pi
        return self.square(self.mu, self.probability)

    @cached_property
    def P_gamma(self) -> Matrix:
        """P_pi with each transition times its discount."""
        return self.square(self.pi, self.probability, self.row_discount)

    @cached_property
    def moves(self) -> Moves:
        """P_gamma, and what its rows miss of one."""
        return Moves(self.P_gamma, self._leak(self.pi))

    def _leak(self, chances: Any) -> Matrix:
        """The sums of chance times p times 1 - g, which knows the digits that 1 less a sum has lost."""
        return self.by_state(chances, self.probability, -(self.row_discount - self.arithmetic.one))

    @cached_property
    def L_pi(self) -> Matrix:
        """I - P_gamma."""
        return self.arithmetic.identity(self.n) - self.P_gamma

    @cached_property
    def r_pi(self) -> Matrix:
        """The expected reward of the target policy."""
        return self.by_state(self.pi, self.probability, self.reward)

    @cached_property
    def largest_reward(self) -> Any:
        """The size of the rewards, below which a float value is noise; 1 unless floats."""
        return self.arithmetic.magnitude(self.arithmetic.column(self.reward))

    @cached_property
    def chain(self) -> MarkovChain:
        """The behaviour chain."""
        return MarkovChain(self.P_b, self.labels)

    @cached_property
    def target_chain(self) -> MarkovChain:
        """The target policy's chain."""
        return MarkovChain(self.P_pi, self.labels)

    @cached_property
    def weights(self) -> Matrix:
        """The state weights: given, of the occupancy, or the stationary distribution."""
        given = self.inputs.xi
        if given == OCCUPANCY:
            return self.occupancy.as_weights("discounted visits")
        if given is not None:
            column = self.arithmetic.column([self.arithmetic.scalar(w) for w in given])
            return column.as_weights("weights xi")
        return self.chain.stationary

    @cached_property
    def xi(self) -> Matrix:
        """:attr:`weights`, for everything that is weighted by them.

        Raises
        ------
        EpisodesEndError
            Where none was given and the behaviour ends in terminal states for good: the
            stationary distribution knows nothing of the states before.
        """
        found = self.chain.closed if self.inputs.xi is None else []
        ends = set(self.terminal)
        if found and all(len(c) == 1 and c[0] in ends for c in found):
            closed = [tuple(self.names(c)) for c in found]
            shown = ", ".join(repr(c[0]) for c in closed[:8]) + (", ..." if len(closed) > 8 else "")
            raise EpisodesEndError(
                f"the behaviour's episodes end in {shown} and never begin anew, so its stationary "
                "distribution weighs terminal states alone. Pass start={state: probability}, from "
                "which episodes begin anew, or xi=, a weight for each state; a model file has fields "
                "of these names",
                closed,
            )
        return self.weights

    @cached_property
    def over_xi(self) -> Matrix:
        """1 / xi(s) for each state, 0 where that has no weight."""
        return self.arithmetic.column([self.arithmetic.one] * self.n).over(self.xi)

    @cached_property
    def occupancy(self) -> Matrix:
        """eta = h + P_b,gamma' eta: the discounted visits of the behaviour from the start h.

        P_b,gamma is P_b with each transition times its discount, 0 where an episode ends:
        with discount 1, eta(s) is the expected number of visits to s in an episode (Sutton
        and Barto, Section 9.2). It is not normalised.

        Raises
        ------
        UndiscountedError
            Where the behaviour reaches a class that it never leaves and never discounts.
        """
        start, zero = self.start or {}, self.arithmetic.zero
        h = self.arithmetic.column([start.get(i, zero) for i in range(self.n)])
        kernel = self.square(self.mu, self.probability, self.row_discount)
        moves = Moves(kernel, self._leak(self.mu))
        begin = {i for i, p in enumerate(h.entries()) if p}
        endless = [self.names(c) for c in moves.closed if begin & leading_to(kernel, c)]
        if endless:
            raise UndiscountedError(
                f"the occupancy is infinite: the behaviour reaches {' and '.join(map(str, endless[:4]))} "
                "from start, never leaves and is not discounted there. Use a discount below 1, or let "
                "the episode end (a transition of discount 0)",
                endless,
                {},
            )
        outside = {i for c in moves.closed for i in c}
        return sum_outside(self, moves, h, outside, "I - P_b,gamma'", transposed=True)

    @cached_property
    def unvisited(self) -> tuple[int, ...]:
        """The states of weight zero."""
        return tuple(i for i, w in enumerate(self.xi.entries()) if not w)

    # --- features -----------------------------------------------------------------------

    @cached_property
    def Phi(self) -> Matrix:
        """The feature matrix."""
        features = self.inputs.features
        if features is None:
            return self.arithmetic.identity(self.n)
        scalar = self.arithmetic.scalar
        if not isinstance(features, tuple):
            if self.arithmetic.kind == "float":
                return FloatMatrix(features)
            features = listed(features)
        rows = [[scalar(x) for x in row] for row in features]
        return self.arithmetic.matrix(rows, (self.n, len(rows[0])))

    @cached_property
    def features_next(self) -> Matrix:
        """Row n: the features that the target expects on arriving in n.

        Over states phi(s'); over pairs the sum over a' of ``pi(a'|s') phi(s', a')``, one row for
        all pairs of s'.
        """
        return self.neighbours @ self.Phi if self.places.late else self.Phi

    @cached_property
    def row_space(self) -> Matrix | None:
        """A basis of the row space of Phi as columns, shape (d, rank); None is the identity.

        Phi B spans the columns of Phi for every B near it, so that its rounding is no error.
        """
        if self.tabular or self.Phi.surely_independent():
            return None
        basis = self.Phi.T.column_basis().cleaned().as_chosen()
        self.require_rank(basis.shape[1], lambda ops: ops.Phi, "the features")
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

    @property
    def Lambda_factors(self) -> tuple[Matrix, ...]:
        """Matrices whose product is Lambda: itself, or for many states what it need not be made of."""
        return (self.L_pi, self.Phi) if self.many else (self.Lambda,)

    @property
    def many(self) -> bool:
        """Whether matrices as large as Phi are made again rather than kept."""
        return self.n >= MANY

    @property
    def Xi_Phi(self) -> Matrix:
        """Xi Phi, the X of TD."""
        return self.Phi.scale_rows(self.xi) if self.many else self._Xi_Phi

    @cached_property
    def _Xi_Phi(self) -> Matrix:
        return self.Phi.scale_rows(self.xi)

    @cached_property
    def C(self) -> Matrix:
        """Phi' Xi Phi."""
        self.arithmetic.squared(self.arithmetic.magnitude(self.Phi))
        return self.Phi.cross(self.Xi_Phi)

    # --- values -------------------------------------------------------------------------

    @cached_property
    def undiscounted(self) -> list[list[int]]:
        """Closed classes of the target chain on which no discount is applied."""
        return self.moves.closed

    @cached_property
    def v_pi(self) -> Matrix:
        """The value function: L_pi v = r_pi."""
        return discounted_sum(self, self.moves, self.r_pi, "L_pi")

    def transposed_sum(self, right: Matrix) -> Matrix:
        """L_pi^-T right, once L_pi is known to be invertible."""
        if self.undiscounted:
            classes = [self.names(c) for c in self.undiscounted]
            inside = self.undiscounted[0]
            weights = stationary(self.P_gamma.submatrix(inside, inside))
            raise SingularError(
                f"L_pi is singular: {no_discount(self)} the chain never leaves "
                f"{classes[0]}. Use a discount below 1, or make those states terminal (no outgoing transition, or a "
                "transition of discount 0)",
                self.arithmetic.embedded(weights, inside, self.n).public(),
            )
        return geometric_sum(self.moves.kernel, self.moves.leak, right, "L_pi'", transposed=True)

    @cached_property
    def X_star(self) -> Matrix:
        """L_pi^-T Xi Phi (Eq. 4)."""
        return self.transposed_sum(self.Xi_Phi)

    @cached_property
    def f(self) -> Matrix:
        """L_pi^-T xi, the expected emphasis."""
        return self.transposed_sum(self.xi)
