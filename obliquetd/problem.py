"""The problem as its users see it: checked input in, public matrices out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from typing import Any

import sympy as sp

from obliquetd import emphasis, metrics
from obliquetd.algebra import (
    FieldArithmetic,
    Kind,
    Matrix,
    SolveReport,
    choose_arithmetic,
    join_kinds,
    number_text,
    parse_matrix,
    parsed_kinds,
    parsed_symbols,
    public_number,
    to_matrix,
)
from obliquetd.chain import MarkovChain
from obliquetd.checks import check_coverage, check_policy, parse_discount, parse_weights
from obliquetd.emphasis import BatchMinimizers, EmphasisCell
from obliquetd.errors import (
    FeatureError,
    InputError,
    SignUndecidedError,
    SizeError,
    UndefinedError,
)
from obliquetd.features import feature_rows
from obliquetd.fixed_point import FixedPoint
from obliquetd.mdp import MDP, Policy
from obliquetd.mdp.policy import substitute
from obliquetd.operators import Operators
from obliquetd.projection import BestApproximation

__all__ = ["METHODS", "PolicyEvaluation"]

METHODS = ("best", "td", "rg", "setd", "etd")
"""The names that :meth:`PolicyEvaluation.fixed_point` knows."""


class PolicyEvaluation:
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
    xi : mapping of state to number, or vector of n, optional
        Nonnegative state weights, used as they are. None is the stationary
        distribution of the behaviour chain.
    arithmetic : {"exact", "symbolic", "float"}, optional
        None infers it. "exact" and "symbolic" read each float as the simplest fraction
        that rounds to it.

    Raises
    ------
    LabelError, CoverageError, FeatureError, DiscountError, KindError, SizeError
        Bad input, named with its place and the way out.

    Notes
    -----
    Matrices are the paper's (Lyu et al. 2018): :math:`L_\pi = I - \gamma P_\pi`,
    :math:`X^* = L_\pi^{-\top} \Xi \Phi` (Eq. 5), :math:`C = \Phi^\top \Xi \Phi`,
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
    """

    def __init__(
        self,
        mdp: MDP,
        *,
        target: Policy,
        behavior: Policy | None = None,
        features: Any = None,
        discount: Any = 1,
        xi: Any = None,
        arithmetic: str | None = None,
    ) -> None:
        if not isinstance(mdp, MDP):
            raise InputError(f"expected an MDP, got {type(mdp).__name__}; see MDP.from_transitions")
        target = check_policy(target, mdp, "target")
        behavior = target if behavior is None else check_policy(behavior, mdp, "behavior")
        rows = feature_rows(features, mdp)
        gamma = parse_discount(discount)
        weights = parse_weights(xi, mdp)
        ingredients: dict[str, list[list[Any]]] = {
            "the features": rows or [],
            "the discount": [[gamma]],
            "xi": [weights or []],
        }
        kinds: dict[str, set[Kind]] = {k: parsed_kinds(v) for k, v in ingredients.items()}
        kinds |= {"the MDP": mdp.kind, "the target policy": target.kind}
        kinds["the behaviour policy"] = behavior.kind
        symbols = set().union(
            mdp.symbols,
            target.symbols,
            behavior.symbols,
            *map(parsed_symbols, ingredients.values()),
        )
        chosen = choose_arithmetic(kinds, symbols, arithmetic)
        self.arithmetic: str = chosen.kind
        if chosen.kind != "float" and "float" in join_kinds(k for s in kinds.values() for k in s):
            same = behavior is target
            mdp, target = mdp.to_exact(), target.to_exact()
            behavior = target if same else behavior.to_exact()
        check_coverage(target, behavior, mdp)
        self.mdp, self.target, self.behavior = mdp, target, behavior
        self._given = {"features": features, "discount": discount, "xi": xi}
        self._ops = Operators(mdp, target, behavior, rows, gamma, weights, chosen)

    # --- what was given -------------------------------------------------------------------

    @property
    def discount(self) -> Any:
        """The discount, as a public number."""
        return self._ops.arithmetic.public(self._ops.discount)

    @property
    def states(self) -> tuple[Hashable, ...]:
        """The states, in the order of all rows."""
        return self.mdp.states

    @property
    def on_policy(self) -> bool:
        """Whether target and behaviour are the same policy."""
        return self.target == self.behavior

    @property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        """The free symbols, by name."""
        arithmetic = self._ops.arithmetic
        return arithmetic.symbols if isinstance(arithmetic, FieldArithmetic) else ()

    def subs(self, values: Mapping[Any, Any]) -> PolicyEvaluation:
        """The problem with numbers for symbols (by symbol or name), checked anew.

        Raises
        ------
        ProbabilityError, DiscountError, CoverageError
            Where the numbers make a probability negative, and so on.

        Examples
        --------
        >>> from obliquetd.domains import two_state
        >>> two_state(discount="gamma").subs({"gamma": "1/2"}).X_star.T
        Matrix([[1/2, 5/2]])
        """
        features, xi = self._given["features"], self._given["xi"]
        if features is not None:
            rows = feature_rows(features, self.mdp) or []
            features = [[public_number(substitute(x, values)) for x in row] for row in rows]
        if xi is not None:
            weights = parse_weights(xi, self.mdp) or []
            xi = [public_number(substitute(w, values)) for w in weights]
        target = self.target.subs(values)
        return PolicyEvaluation(
            self.mdp.subs(values),
            target=target,
            behavior=None if self.behavior is self.target else self.behavior.subs(values),
            features=features,
            discount=public_number(substitute(parse_discount(self._given["discount"]), values)),
            xi=xi,
        )

    # --- chains and values ----------------------------------------------------------------

    @cached_property
    def P_pi(self) -> Any:
        """The target policy's transition matrix, (n, n); scipy.sparse for large sparse floats."""
        return self._ops.P_pi.public()

    @cached_property
    def P_b(self) -> Any:
        """The behaviour policy's transition matrix, (n, n)."""
        return self._ops.P_b.public()

    @cached_property
    def r_pi(self) -> Any:
        """The target policy's expected reward, n of them."""
        return self._ops.r_pi.public_vector()

    @cached_property
    def L_pi(self) -> Any:
        """I - P_{pi,gamma}, (n, n): every transition times its discount."""
        return self._ops.L_pi.public()

    @property
    def chain(self) -> MarkovChain:
        """The behaviour chain: classes, periods, stationary distributions."""
        return self._ops.chain

    @property
    def target_chain(self) -> MarkovChain:
        """The target policy's chain."""
        return self._ops.target_chain

    @cached_property
    def xi(self) -> Any:
        """The state weights, n of them; StationaryError where none is unique."""
        return self._ops.xi.public_vector()

    @cached_property
    def Xi(self) -> Any:
        """diag(xi), (n, n)."""
        return self._ops.arithmetic.identity(self._ops.n).scale_rows(self._ops.xi).public()

    @cached_property
    def v_pi(self) -> Any:
        """The value function, n of them: L_pi v = r_pi.

        UndiscountedError where discount 1 meets a closed class that never terminates;
        the finite values are in the error.
        """
        return self._ops.v_pi.public_vector()

    @property
    def values(self) -> dict[Hashable, Any]:
        """v_pi by state label."""
        return dict(zip(self.states, self._ops.v_pi.public_list(), strict=True))

    @cached_property
    def return_variance(self) -> Any:
        """The variance of the return from each state, n of them (Sobel 1982)."""
        return metrics.return_variance(self._ops).public_vector()

    # --- the paper's matrices -------------------------------------------------------------

    @cached_property
    def Phi(self) -> Any:
        """The feature matrix, (n, d)."""
        return self._ops.Phi.public()

    @cached_property
    def C(self) -> Any:
        """Phi' Xi Phi, (d, d)."""
        return self._ops.C.public()

    @cached_property
    def Lambda(self) -> Any:
        """L_pi Phi, (n, d)."""
        return self._ops.Lambda.public()

    @cached_property
    def X_star(self) -> Any:
        """L_pi^-T Xi Phi, (n, d): the X whose fixed point is the best approximation (Eq. 5)."""
        return self._ops.X_star.public()

    @cached_property
    def Y_star(self) -> Any:
        """Xi^-1 X*, (n, d); UndefinedError where a state has weight zero."""
        if self._ops.unvisited:
            states = self._ops.names(self._ops.unvisited)
            raise UndefinedError(
                f"Y* = Xi^-1 X* divides by zero at the states {states[:8]}, which the behaviour "
                "chain leaves for good (xi = 0); X* exists",
                states,
            )
        one = self._ops.arithmetic.one
        inverse = self._ops.arithmetic.column([one / w for w in self._ops.xi.entries()])
        return self._ops.X_star.scale_rows(inverse).public()

    @cached_property
    def f(self) -> Any:
        """L_pi^-T xi, n of them: xi(s) times the expected emphasis in s (Section IV)."""
        return self._ops.f.public_vector()

    @cached_property
    def _best(self) -> BestApproximation:
        return BestApproximation(self._ops)

    @cached_property
    def Pi(self) -> Any:
        """The Xi-orthogonal projector onto span(Phi), (n, n), dense."""
        n = self._ops.n
        if self.arithmetic == "float" and n * n > 50_000_000:
            raise SizeError(
                f"Pi is a dense {n} by {n} matrix of {8 * n * n:,} bytes; problem.best is Pi v_pi"
            )
        return self._best.matrix.public()

    @cached_property
    def best(self) -> Any:
        """Pi v_pi, n of them: the best approximation in the Xi-norm (Lemma 1)."""
        return (self._ops.Phi @ self._best.solution.theta).public_vector()

    @property
    def best_undetermined(self) -> tuple[Hashable, ...]:
        """States of weight zero whose value in :attr:`best` is open (that of the least theta)."""
        return tuple(self._ops.names(self._best.solution.free_states))

    def _diagonal(self, column: Matrix) -> Any:
        return self._ops.arithmetic.identity(self._ops.n).scale_rows(column).public()

    @cached_property
    def Omega_star(self) -> Any:
        """The diagonal minimiser of ||Xi Omega Phi - X*||_F, (n, n).

        0 in states where any weight attains the minimum (phi(s) = 0 or xi(s) = 0).
        """
        return self._diagonal(emphasis.nearest_to_X_star(self._ops))

    @cached_property
    def Omega_S(self) -> Any:
        """SETD's weights from the expected next feature under pi, (n, n) (Eq. omega-i, Table I).

        ``Max(0, ...)`` where a sign depends on a symbol; :meth:`omega_cells` splits the
        symbol's range there. UndefinedError where an expected Delta phi is zero.
        """
        if self.symbols:
            return sp.ImmutableDenseMatrix(sp.diag(*emphasis.symbolic_weights(self._ops)))
        return self._diagonal(emphasis.projection_weights(self._ops))

    @cached_property
    def Omega_S_batch(self) -> Any:
        """The minimiser of ||Lambda' Xi Omega Phi - C||_F, (n, n); of least norm where many.

        :meth:`batch_minimizers` gives the whole solution set and the constraint omega >= 0.
        """
        return self._diagonal(emphasis.least_norm_batch(self._ops))

    @cached_property
    def Omega_E(self) -> Any:
        """Xi^-1 diag(f), (n, n): ETD's expected weights (Section IV)."""
        return self._diagonal(emphasis.emphatic(self._ops))

    def batch_minimizers(self, *, nonnegative: bool = False) -> BatchMinimizers:
        """Every minimiser of ||Lambda' Xi Omega Phi - C||_F, optionally with omega >= 0."""
        return emphasis.batch_minimizers(self._ops, nonnegative)

    def omega_cells(self, domain: sp.Interval | None = None) -> list[EmphasisCell]:
        """Omega_S as rational functions, on each range of the one symbol its signs depend on.

        Parameters
        ----------
        domain : sympy.Interval, optional
            The range of the symbol; [0, 1) where it is the discount, else all reals.

        Examples
        --------
        >>> from obliquetd.domains import two_state
        >>> for cell in two_state(discount="gamma").omega_cells():
        ...     print(cell.domain, list(cell.Omega.diagonal()))
        Interval.Ropen(0, 1/2) [-1/(2*gamma - 1), -1/(gamma - 1)]
        Interval.open(1/2, 1) [0, -1/(gamma - 1)]
        """
        symbols = emphasis.deciding_symbols(self._ops)
        if len(symbols) != 1:
            raise SignUndecidedError(
                f"omega_cells splits the range of one symbol; the signs in Omega_S depend on "
                f"{symbols or 'none'}. Substitute numbers for the others with problem.subs"
            )
        symbol = symbols[0]
        if domain is None:
            is_discount = self.discount == symbol
            domain = sp.Interval.Ropen(0, 1) if is_discount else sp.Interval(-sp.oo, sp.oo)
        return emphasis.cells(self._ops, symbol, domain)

    # --- fixed points ---------------------------------------------------------------------

    def fixed_point(
        self, name: str | None = None, *, X: Any = None, Omega: Any = None
    ) -> FixedPoint:
        """The solution of v = Pi_Phi^X T_pi v.

        Parameters
        ----------
        name : {"td", "rg", "setd", "etd", "best"}, optional
            X = Xi Phi, Xi L_pi Phi, Xi Omega_S Phi, diag(f) Phi, or X*.
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
        given = [v is not None for v in (name, X, Omega)]
        if sum(given) != 1:
            raise InputError("fixed_point takes exactly one of a name, X= and Omega=")
        if X is not None:
            return FixedPoint(self._ops, "X", self._user_matrix(X, "X"))
        if Omega is not None:
            column = self._user_weights(Omega)
            return FixedPoint(self._ops, "Omega", self._ops.Xi_Phi.scale_rows(column))
        return self._named(str(name))

    def _named(self, name: str) -> FixedPoint:
        ops = self._ops
        match name:
            case "td":
                return FixedPoint(ops, name, ops.Xi_Phi)
            case "rg":
                return FixedPoint(ops, name, ops.Lambda.scale_rows(ops.xi))
            case "setd":
                return FixedPoint(ops, name, ops.Xi_Phi.scale_rows(self._setd_weights()))
            case "etd":
                return FixedPoint(ops, name, ops.Phi.scale_rows(ops.f))
            case "best":
                return FixedPoint(ops, name, ops.X_star)
        raise InputError(
            f"no fixed point is called {name!r}; expected one of {', '.join(METHODS)}, or X= or "
            "Omega="
        )

    def _setd_weights(self) -> Matrix:
        try:
            return emphasis.projection_weights(self._ops)
        except SignUndecidedError as error:
            if len(emphasis.deciding_symbols(self._ops)) == 1:
                cells = self.omega_cells()
                if len(cells) == 1:
                    return self._user_weights(list(cells[0].Omega.diagonal()))
                ranges = ", ".join(str(c.domain) for c in cells)
                raise SignUndecidedError(
                    f"Omega_S is a different formula on each of {ranges}; take a cell of "
                    "problem.omega_cells() and ask for fixed_point(Omega=cell.Omega)",
                    error.expression,
                ) from None
            raise

    def _user_matrix(self, value: Any, name: str) -> Matrix:
        rows = parse_matrix(value, name)
        if len(rows) != self._ops.n:
            raise FeatureError(
                f"{name} has {len(rows)} rows for {self._ops.n} states; expected one row a state"
            )
        return self._in_arithmetic(rows, name)

    def _in_arithmetic(self, rows: list[list[Any]], name: str) -> Matrix:
        kinds = {name: parsed_kinds(rows), "the problem": {self.arithmetic}}
        if self.arithmetic != "float":
            choose_arithmetic(kinds, parsed_symbols(rows), None)  # type: ignore[arg-type]
        return to_matrix(rows, self._ops.arithmetic)

    def _user_weights(self, Omega: Any) -> Matrix:
        if isinstance(Omega, Mapping):
            missing = [s for s in self.states if s not in Omega]
            if missing:
                raise FeatureError(f"Omega has no weight for state {missing[0]!r}")
            Omega = [Omega[s] for s in self.states]
        rows = parse_matrix(Omega, "Omega")
        n = self._ops.n
        if len(rows) == n and all(len(row) == n for row in rows) and n > 1:
            for i, row in enumerate(rows):
                for j, x in enumerate(row):
                    if i != j and x != 0:
                        raise InputError(
                            f"Omega[{i}, {j}] is {number_text(x)}; Omega must be diagonal. For "
                            "any other matrix pass X="
                        )
            rows = [[row[i]] for i, row in enumerate(rows)]
        if len(rows) != n or any(len(row) != 1 for row in rows):
            raise FeatureError(f"Omega needs {n} weights, one for each state")
        return self._in_arithmetic(rows, "Omega")

    # --- errors of any value function -----------------------------------------------------

    def _values(self, v: Any) -> Matrix:
        if isinstance(v, Mapping):
            v = [v[s] for s in self.states]
        return self._user_matrix(v, "v")

    def rmse(self, v: Any) -> Any:
        """||v - v_pi||_Xi, for any vector v of n values."""
        return self._root(metrics.mean_squared_error(self._ops, self._values(v)))

    def rmsbe(self, v: Any) -> Any:
        """||T v - v||_Xi."""
        return self._root(metrics.mean_squared_bellman_error(self._ops, self._values(v)))

    def rmspbe(self, v: Any) -> Any:
        """||Pi (T v - v)||_Xi."""
        squared = metrics.mean_squared_projected_bellman_error(self._ops, self._values(v))
        return self._root(squared)

    def mstde(self, v: Any) -> Any:
        """The mean squared TD error (not its root)."""
        squared = metrics.mean_squared_td_error(self._ops, self._values(v))
        return self._ops.arithmetic.public(squared)

    def neu(self, v: Any) -> Any:
        """||Phi' Xi (T v - v)||, the norm of the expected update."""
        return self._root(metrics.expected_update(self._ops, self._values(v)))

    def _root(self, squared: Any) -> Any:
        return self._ops.arithmetic.sqrt(squared)

    @property
    def accuracy(self) -> dict[str, SolveReport]:
        """Residuals and condition numbers of the float solves done so far, by name."""
        done: Iterable[str] = [k for k in ("v_pi", "xi", "X_star", "f") if k in vars(self._ops)]
        reports = {k: getattr(self._ops, k).report for k in done}
        return {k: r for k, r in reports.items() if r is not None}

    def __repr__(self) -> str:
        d = self._ops.n if self._ops.tabular else self._ops.Phi.shape[1]
        return (
            f"PolicyEvaluation({self._ops.n} states, {d} features, "
            f"{'on' if self.on_policy else 'off'}-policy, discount "
            f"{number_text(self.discount)}, {self.arithmetic})"
        )
