"""The problem as its users see it: checked input in, public matrices out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import sympy as sp

from obliquetd import emphasis, metrics
from obliquetd.algebra import Matrix, SolveReport, number_text, public_number
from obliquetd.checks import (
    arithmetic_for,
    check_coverage,
    check_policy,
    parse_discount,
    parse_weights,
)
from obliquetd.display import Equations
from obliquetd.emphasis import BatchMinimizers, EmphasisCell
from obliquetd.errors import (
    InputError,
    SignUndecidedError,
)
from obliquetd.features import feature_rows
from obliquetd.fixed_point import FixedPoint
from obliquetd.matrices import PaperMatrices
from obliquetd.mdp import MDP, Policy
from obliquetd.mdp.policy import substitute
from obliquetd.operators import Operators
from obliquetd.requests import read_matrix, read_values, read_weights

__all__ = ["METHODS", "PolicyEvaluation"]

METHODS = ("best", "td", "rg", "setd", "etd")
"""The names that :meth:`PolicyEvaluation.fixed_point` knows."""


class PolicyEvaluation(PaperMatrices, Equations):
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
        None infers it. "exact" and "symbolic" read each float as the shortest decimal that
        prints it, and a row of probabilities whose decimals miss one by rounding as the
        simplest fractions nearby that do not.

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
        chosen, floats = arithmetic_for(
            {"the MDP": mdp, "the target policy": target, "the behaviour policy": behavior},
            {"the features": rows or [], "the discount": [[gamma]], "xi": [weights or []]},
            arithmetic,
        )
        self.arithmetic: str = chosen.kind
        if floats and chosen.kind != "float":
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
    def on_policy(self) -> bool:
        """Whether target and behaviour are the same policy."""
        return self.target == self.behavior

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
        known = {str(s) for s in self.symbols}
        for symbol in values:
            if str(symbol) not in known:
                raise InputError(
                    f"there is no symbol {symbol} to substitute; the problem has "
                    f"{', '.join(sorted(known)) or 'none'}"
                )
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
            return FixedPoint(self._ops, "X", read_matrix(self._ops, X, "X"))
        if Omega is not None:
            column = read_weights(self._ops, Omega)
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
                    return read_weights(self._ops, list(cells[0].Omega.diagonal()))
                ranges = ", ".join(str(c.domain) for c in cells)
                raise SignUndecidedError(
                    f"Omega_S is a different formula on each of {ranges}; take a cell of "
                    "problem.omega_cells() and ask for fixed_point(Omega=cell.Omega)",
                    error.expression,
                ) from None
            raise

    # --- errors of any value function -----------------------------------------------------

    def rmse(self, v: Any) -> Any:
        """||v - v_pi||_Xi, for any vector v of n values."""
        return metrics.root_mean_squared_error(self._ops, read_values(self._ops, v))

    def rmsbe(self, v: Any) -> Any:
        """||T v - v||_Xi."""
        return metrics.root_mean_squared_bellman_error(self._ops, read_values(self._ops, v))

    def rmspbe(self, v: Any) -> Any:
        """||Pi (T v - v)||_Xi."""
        values = read_values(self._ops, v)
        return metrics.root_mean_squared_projected_bellman_error(self._ops, values)

    def mstde(self, v: Any) -> Any:
        """The mean squared TD error (not its root)."""
        squared = metrics.mean_squared_td_error(self._ops, read_values(self._ops, v))
        return self._ops.arithmetic.public(squared)

    def neu(self, v: Any) -> Any:
        """||Phi' Xi (T v - v)||, the norm of the expected update."""
        return metrics.expected_update(self._ops, read_values(self._ops, v))

    def weighted_norm(self, u: Any) -> Any:
        """||u||_Xi, for any vector of n values."""
        return metrics.weighted_norm(self._ops, read_values(self._ops, u))

    @property
    def accuracy(self) -> dict[str, SolveReport]:
        """Residuals and condition numbers of the float solves done so far, by name."""
        done: Iterable[str] = [k for k in ("v_pi", "xi", "X_star", "f") if k in vars(self._ops)]
        reports = {k: getattr(self._ops, k).report for k in done}
        return {k: r for k, r in reports.items() if r is not None}

    def _equations(self) -> list[tuple[str, Callable[[], Any]]]:
        letters = {
            r"P_\pi": "P_pi", r"r_\pi": "r_pi", r"\xi": "xi", r"\Phi": "Phi", r"L_\pi": "L_pi",
            r"v_\pi": "v_pi", "X^*": "X_star",
        }  # fmt: skip
        return [
            (letter, functools.partial(getattr, self, name)) for letter, name in letters.items()
        ]

    def __repr__(self) -> str:
        d = self._ops.n if self._ops.tabular else self._ops.Phi.shape[1]
        return (
            f"PolicyEvaluation({self._ops.n} states, {d} features, "
            f"{'on' if self.on_policy else 'off'}-policy, discount "
            f"{number_text(self.discount)}, {self.arithmetic})"
        )
