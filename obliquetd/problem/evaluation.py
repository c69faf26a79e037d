"""The problem as its users see it: checked input in, public matrices out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import sympy as sp

from obliquetd.algebra import SolveReport, number_text
from obliquetd.display import Equations
from obliquetd.errors import InputError
from obliquetd.mdp import MDP, Policy
from obliquetd.mdp.arrays import chain_arrays
from obliquetd.problem.batch import BatchMinimizers, batch_minimizers
from obliquetd.problem.fixed_point import FixedPoint, fixed_point_of, point_of_own
from obliquetd.problem.inputs import Inputs, read_inputs
from obliquetd.problem.matrices import PaperMatrices
from obliquetd.problem.metrics import ValueMetrics
from obliquetd.problem.native import Operators
from obliquetd.problem.requests import read_substitution, require_names
from obliquetd.problem.weightings import EmphasisCell, emphasis_cells

__all__ = ["PolicyEvaluation"]


class PolicyEvaluation(PaperMatrices, ValueMetrics, Equations):
    r"""The evaluation of a target policy from data of a behaviour policy.

    Parameters
    ----------
    mdp : MDP
    target : Policy
        The policy to be evaluated.
    behavior : Policy, optional
        The policy that makes the data; None is on-policy.
    features : mapping of state to vector, or matrix (n, d), optional
        Rows in the order of ``mdp.states``; None is tabular.
    discount : number
        In [0, 1], or a symbol; multiplies each transition's own discount.
    xi : mapping of state to number, vector of n, or "occupancy", optional
        Nonnegative state weights, used as they are. None is the stationary
        distribution of the behaviour chain. "occupancy" is the expected discounted
        number of visits of the behaviour from ``start``,
        :math:`\eta = h + \gamma P_b^\top \eta`, not normalised.
    start : mapping of state to probability, optional
        Where an episode that has ended begins anew. A move into a terminal state keeps its
        reward, has discount 0, and the next transition leaves a state drawn from ``start``
        with an empty trace: the chain is closed, and the stationary weight of a state is its
        share of the steps of an episode (0 for terminal states). Policies and features stay
        as they are.
    arithmetic : {"exact", "symbolic", "float"}, optional
        None infers it. "exact" and "symbolic" read each float as the shortest decimal that
        prints it, and a row of probabilities whose decimals miss one by rounding as the
        simplest fractions nearby that do not.

    What comes in is copied once, as :attr:`inputs`; arrays that come out are read-only.

    Raises
    ------
    LabelError, CoverageError, FeatureError, DiscountError, KindError, SizeError
        Bad input, named with its place and the way out.

    Notes
    -----
    Matrices are the paper's (Lyu et al. 2018): :math:`L_\pi = I - \gamma P_\pi`,
    :math:`X^* = L_\pi^{-\top} \Xi \Phi` (Eq. 4), :math:`C = \Phi^\top \Xi \Phi`,
    :math:`\Lambda = L_\pi \Phi`. Exact and symbolic problems return
    ``sympy.ImmutableDenseMatrix`` (vectors are columns), floats numpy arrays (vectors
    have one axis), scipy.sparse for P, L and Xi of large sparse chains.

    Examples
    --------
    The two-state example of the paper, Section IV:

    >>> from obliquetd.domains import two_state
    >>> problem = two_state(discount="9/10")
    >>> problem.X_star
    Matrix([
    [ 1/2],
    [29/2]])
    >>> problem.fixed_point("td").criterion, problem.fixed_point("setd").distance
    (729/100, sqrt(82)/2)

    An episode of two steps, again and again:

    >>> mdp = MDP.from_transitions([("A", "go", "B", 1, 0), ("B", "go", "end", 1, 1)])
    >>> episodes = PolicyEvaluation(mdp, target=Policy.uniform(mdp), start={"A": 1})
    >>> episodes.xi.T, episodes.v_pi.T
    (Matrix([[1/2, 1/2, 0]]), Matrix([[1, 1, 0]]))
    """

    def __init__(
        self,
        mdp: MDP,
        *unnamed: Any,
        target: Policy | None = None,
        behavior: Policy | None = None,
        features: Any = None,
        discount: Any = 1,
        xi: Any = None,
        start: Any = None,
        arithmetic: str | None = None,
    ) -> None:
        require_names(unnamed, "PolicyEvaluation")
        self._fill(
            read_inputs(
                mdp, target=target, behavior=behavior, features=features, discount=discount,
                xi=xi, start=start, arithmetic=arithmetic,
            )
        )  # fmt: skip

    def _fill(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.arithmetic: str = inputs.arithmetic.kind
        self.mdp, self.target = inputs.mdp, inputs.target
        self.behavior = inputs.target if inputs.behavior is None else inputs.behavior
        self.native = Operators(inputs)

    @classmethod
    def of(cls, inputs: Inputs) -> PolicyEvaluation:
        """The problem that checked inputs make."""
        problem = cls.__new__(cls)
        problem._fill(inputs)
        return problem

    def __reduce__(self) -> tuple[Any, ...]:
        return PolicyEvaluation.of, (self.inputs,)

    @classmethod
    def of_actions(
        cls,
        mdp: MDP,
        *unnamed: Any,
        target: Policy | None = None,
        behavior: Policy | None = None,
        features: Any = None,
        discount: Any = 1,
        xi: Any = None,
        start: Any = None,
        arithmetic: str | None = None,
    ) -> PolicyEvaluation:
        r"""The evaluation of a policy's action values: the same problem over pairs (state, action).

        A pair (s, a) leads to (s', a') with chance :math:`p(s'|s,a)\,\mu(a'|s')`, and pi, mu, rho are
        those of a' at s'. All else is as over states: :attr:`states` are the pairs, in the order of
        ``mdp.states`` and of ``mdp.actions``, ``v_pi`` is :math:`q_\pi`, and TD is Sarsa.

        Parameters
        ----------
        mdp : MDP
        target, behavior, discount, arithmetic
            As for the class.
        features : mapping of (state, action) to vector, or matrix (n, d), optional
            None is tabular. The one pair of a terminal state is (state, None), and may be left
            out: its features are 0 then.
        xi : mapping of (state, action) to number, vector of n, or "occupancy", optional
            None is the stationary distribution of the behaviour, :math:`\xi(s)\,\mu(a|s)`.
        start : mapping of state, or of (state, action), to probability, optional
            Where an episode begins anew. Of states, the policy takes the first action.

        Raises
        ------
        LabelError, CoverageError, FeatureError, DiscountError, KindError, SizeError

        Notes
        -----
        The trace stays :math:`e = \rho(\gamma\lambda e + m\phi)`. A move into a terminal state has
        discount 0 and rho = 1, and :math:`v_\pi(s) = \sum_a \pi(a|s) q_\pi(s, a)`.

        Examples
        --------
        >>> from obliquetd.domains import two_state
        >>> base = two_state(discount="9/10", reward=1)
        >>> pairs = PolicyEvaluation.of_actions(
        ...     base.mdp, target=base.target, behavior=base.behavior, discount="9/10")
        >>> pairs.states[1], pairs.xi[1], pairs.values["left", "left"], base.values["left"]
        (('left', 'right'), 1/4, 9, 10)
        """
        require_names(unnamed, "PolicyEvaluation.of_actions")
        return cls.of(
            read_inputs(
                mdp, target=target, behavior=behavior, features=features, discount=discount,
                xi=xi, start=start, arithmetic=arithmetic, over="pairs",
            )
        )  # fmt: skip

    @classmethod
    def from_chain(
        cls, P: Any, r: Any, *, discount: Any = 1, states: Any = None, **fields: Any
    ) -> PolicyEvaluation:
        """The evaluation of a Markov chain with rewards: one action, on-policy.

        Parameters
        ----------
        P : matrix (n, n)
            Lists, numpy, scipy.sparse or sympy. A row of zeros is a terminal state.
        r : vector of n, or matrix (n, n)
            The expected reward in each state, or that of each transition.
        discount : number
        states : sequence of n hashable, optional
            Labels; 0, 1, 2, ... unless given.
        **fields
            ``features``, ``xi``, ``start`` and ``arithmetic`` as for the class.

        Raises
        ------
        InputError, ProbabilityError
            Where the shapes do not fit, or a row does not sum to one.

        Examples
        --------
        >>> chain = PolicyEvaluation.from_chain([[0, 1], ["1/2", "1/2"]], [1, 0], discount="1/2")
        >>> chain.v_pi.T, chain.xi.T
        (Matrix([[6/5, 2/5]]), Matrix([[1/3, 2/3]]))
        """
        mdp = MDP.from_arrays(*chain_arrays(P, r), states=states, actions=("go",))
        return cls(mdp, target=Policy.uniform(mdp), discount=discount, **fields)

    # --- what was given -------------------------------------------------------------------

    @property
    def discount(self) -> Any:
        """The discount, as a public number."""
        return self.native.arithmetic.public(self.native.discount)

    @property
    def start(self) -> dict[Hashable, Any] | None:
        """The probability of each state, or pair, to begin an episode; None where none was given."""
        start, public = self.native.start, self.native.arithmetic.public
        return None if start is None else {self.states[i]: public(p) for i, p in start.items()}

    @property
    def on_policy(self) -> bool:
        """Whether target and behaviour are the same policy."""
        return self.target == self.behavior

    def replace(self, **fields: Any) -> PolicyEvaluation:
        """The same problem with some fields changed, checked anew.

        Parameters
        ----------
        **fields
            Any arguments of :class:`PolicyEvaluation`. Where ``behavior`` was not given,
            the problem stays on-policy. The kind of number is inferred anew, but floats
            that ``arithmetic="exact"`` or ``"symbolic"`` read as fractions stay fractions,
            and ``arithmetic="float"`` stays.

        Raises
        ------
        InputError
            For a name that is no field; else as for the class.

        Examples
        --------
        >>> from obliquetd.domains import two_state
        >>> two_state(discount="9/10").replace(discount="gamma").X_star.T
        Matrix([[1/2, -(gamma + 2)/(2*(gamma - 1))]])
        """
        return PolicyEvaluation.of(self.inputs.changed(**fields))

    def subs(self, values: Mapping[Any, Any]) -> PolicyEvaluation:
        """The problem with numbers for symbols (by symbol or name), checked anew.

        All symbols are replaced at once: ``{"p": "q", "q": "p"}`` exchanges two.
        Formulas are reduced to lowest terms, so put in one after the other, symbols may pass a point
        where together they divide by zero: p/(p + q) is 1 once q is 0, and at p = 0 too.

        Raises
        ------
        NumberError, ProbabilityError, DiscountError, CoverageError
            Where a formula divides by zero, a probability is negative, and so on; the
            message names every such entry.

        Examples
        --------
        >>> from obliquetd.domains import two_state
        >>> two_state(discount="gamma").subs({"gamma": "1/2"}).X_star.T
        Matrix([[1/2, 5/2]])
        """
        for symbol in read_substitution(values):
            self._symbol(symbol, "to substitute")
        return PolicyEvaluation.of(self.inputs.subs(values))

    def valid_range(self, symbol: Any) -> sp.Set:
        """The exact set of real values of a symbol for which the problem is one.

        These are the values that :meth:`subs` takes: every probability and discount is in
        [0, 1], no weight is negative, nothing divides by zero, and the behaviour still
        covers the target.

        Raises
        ------
        InputError
            Where the symbol does not occur, or stands in one formula with another.

        Examples
        --------
        >>> rows = [("s", "a", "s", "2*p", 0), ("s", "a", "t", "1 - 2*p", 1),
        ...         ("t", "a", "s", "1 - p", 0), ("t", "a", "t", "p", 0)]
        >>> mdp = MDP.from_transitions(rows)
        >>> PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2").valid_range("p")
        Interval(0, 1/2)
        """
        return self.inputs.valid_range(self._symbol(symbol, "to range over"))

    def _symbol(self, symbol: Any, purpose: str) -> sp.Symbol:
        known = {str(s): s for s in self.symbols}
        if str(symbol) not in known:
            raise InputError(
                f"there is no symbol {symbol} {purpose}; the problem has "
                f"{', '.join(sorted(known)) or 'none'}"
            )
        return known[str(symbol)]

    def batch_minimizers(self, *, nonnegative: bool = False) -> BatchMinimizers:
        """Every minimiser of ||Lambda' Xi Omega Phi - C||_F, optionally with omega >= 0."""
        return batch_minimizers(self.native, nonnegative)

    def omega_cells(self, domain: sp.Interval | None = None) -> list[EmphasisCell]:
        """Omega_S as rational functions, on each range of the one symbol its signs depend on.

        Parameters
        ----------
        domain : sympy.Interval, optional
            Where to look; unless given, where discounts are below 1, and nothing else ends a range.

        Examples
        --------
        >>> from obliquetd.domains import two_state
        >>> for cell in two_state(discount="gamma").omega_cells():
        ...     print(cell.domain, list(cell.Omega.diagonal()))
        Interval.Ropen(0, 1/2) [-1/(2*gamma - 1), -1/(gamma - 1)]
        Interval.open(1/2, 1) [0, -1/(gamma - 1)]
        """
        return emphasis_cells(self.native, domain)

    # --- fixed points ---------------------------------------------------------------------

    def fixed_point(self, name: Any = None, *, X: Any = None, Omega: Any = None) -> FixedPoint:
        """The solution of v = Pi_Phi^X T_pi v.

        Parameters
        ----------
        name : {"td", "rg", "setd", "etd", "best"}, learner, or as for X or Omega
            X = Xi Phi, Xi L_pi Phi, Xi Omega_S Phi, diag(f) Phi, or X*. Of a learner, where its
            mean update leads. Else a mapping by state, a vector of n or a diagonal matrix is
            Omega, and any other matrix is X.
        X : matrix (n, k), optional
            Any X of your own.
        Omega : matrix (n, n), vector of n, or mapping of state to number, optional
            Diagonal weights of your own: X = Xi Omega Phi.

        Returns
        -------
        FixedPoint

        Raises
        ------
        NotUniqueError, NoSolutionError
            Where X' L_pi Phi is singular; the error carries a null vector.

        Examples
        --------
        >>> from obliquetd.domains import two_state
        >>> problem = two_state(discount="9/10", reward="1")
        >>> problem.fixed_point("setd").theta[0], problem.fixed_point(X=[0, 1]).theta[0]
        (5, 5)
        """
        if sum(v is not None for v in (name, X, Omega)) != 1:
            raise InputError("fixed_point takes exactly one of a name, X= and Omega=")
        return point_of_own(self.native, X, Omega) if name is None else fixed_point_of(name, self)

    @property
    def accuracy(self) -> dict[str, SolveReport]:
        """Residuals and condition numbers of the float solves done so far, by name."""
        done: Iterable[str] = [k for k in ("v_pi", "xi", "X_star", "f") if k in vars(self.native)]
        reports = {k: getattr(self.native, k).report for k in done}
        return {k: r for k, r in reports.items() if r is not None}

    def equations(self) -> list[tuple[str, Callable[[], Any]]]:
        letters = {
            r"P_\pi": "P_pi", r"r_\pi": "r_pi", r"\xi": "xi", r"\Phi": "Phi", r"L_\pi": "L_pi",
            r"v_\pi": "v_pi", "X^*": "X_star",
        }  # fmt: skip
        return [
            (letter, functools.partial(getattr, self, name)) for letter, name in letters.items()
        ]

    def __repr__(self) -> str:
        d = self.native.n if self.native.tabular else self.native.Phi.shape[1]
        return (
            f"PolicyEvaluation({self.native.n} {self.native.noun}s, {d} feature{'s'[: d != 1]}, "
            f"{'on' if self.on_policy else 'off'}-policy, discount "
            f"{number_text(self.discount)}, {self.arithmetic})"
        )
