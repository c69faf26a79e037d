"""How much the answers move with one number of the problem: exact derivatives.

The number is a symbol of the problem, or the probability of one transition. In the second case the
rest of the transitions of its state and action shrink in proportion, so that they still sum to one:

p(s') -> p + e,    p(u) -> p(u) (1 - p - e) / (1 - p) for the other u,

and the derivatives are those in e at 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from obliquetd.algebra import parse_number
from obliquetd.algebra.factoring import factored
from obliquetd.errors import InputError, KindError, LabelError, ProbabilityError
from obliquetd.mdp import MDP
from obliquetd.problem.evaluation import PolicyEvaluation
from obliquetd.problem.required import require_problem

__all__ = ["Sensitivity", "sensitivity"]

LITTLE = sp.Symbol("moved_probability")


class Sensitivity:
    """Derivatives of a problem's answers; made by :func:`sensitivity`.

    Attributes
    ----------
    symbol : sympy.Symbol
        What is differentiated by.
    about : str
        What it stands for.
    """

    def __init__(
        self, problem: PolicyEvaluation, method: Any, symbol: sp.Symbol, about: str, at: Any
    ) -> None:
        self._problem, self._method, self.symbol, self.about, self._at = (
            problem, method, symbol, about, at,
        )  # fmt: skip

    @cached_property
    def xi(self) -> Any:
        """The derivative of the state weights, n of them."""
        return self._of(lambda: self._problem.xi)

    @cached_property
    def v_pi(self) -> Any:
        """The derivative of the values, n of them."""
        return self._of(lambda: self._problem.v_pi)

    @cached_property
    def _point(self) -> Any:
        return self._problem.fixed_point(self._method)

    @cached_property
    def theta(self) -> Any:
        """The derivative of the fixed point's coefficients, d of them."""
        return self._of(lambda: self._point.theta)

    @cached_property
    def squared_error(self) -> Any:
        """The derivative of ||v_hat - v||^2, in the weights xi."""
        return self._of(lambda: sp.Matrix([self._point.rmse**2]))[0]

    def _of(self, answer: Callable[[], Any]) -> Any:
        found = answer().applyfunc(lambda x: factored(sp.diff(x, self.symbol)))
        if self._at is not None:
            found = found.applyfunc(lambda x: x.subs(self.symbol, self._at))
        return sp.ImmutableDenseMatrix(found)

    def __repr__(self) -> str:
        return f"Sensitivity(in {self.about}, {self._problem!r})"


def sensitivity(problem: PolicyEvaluation, number: Any, method: Any = "td") -> Sensitivity:
    """Exact derivatives of xi, v_pi, theta and the squared error in one number of a problem.

    Parameters
    ----------
    problem : PolicyEvaluation
        Exact or with symbols.
    number : symbol, its name, or (state, action, next state)
        A symbol of the problem; or the transition whose probability moves, where the others of its
        state and action move in proportion.
    method : name, X, Omega, fixed point or learner
        Whose theta and error; all that ``problem.fixed_point`` takes.

    Returns
    -------
    Sensitivity
        ``xi``, ``v_pi``, ``theta`` and ``squared_error``, each as its derivative.

    Raises
    ------
    InputError
        For a symbol that the problem does not have, and for weights xi that were given, where they
        would not move with a transition.
    LabelError
        For a transition that there is not.
    ProbabilityError
        For a transition that is certain: there is nothing to take its place.
    KindError
        For floats.

    Examples
    --------
    >>> from obliquetd import MDP, Policy
    >>> mdp = MDP.from_transitions(
    ...     [(0, "a", 0, "1 - p", 0), (0, "a", 1, "p", 1), (1, "a", 0, "1/2", 0), (1, "a", 1, "1/2", 0)])
    >>> problem = PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2")
    >>> sensitivity(problem, "p").xi.subs("p", "1/3")
    Matrix([
    [-18/25],
    [ 18/25]])
    >>> sensitivity(problem.subs({"p": "1/3"}), (0, "a", 1)).xi
    Matrix([
    [-18/25],
    [ 18/25]])
    """
    if require_problem(problem).arithmetic == "float":
        raise KindError("derivatives are exact; build the problem with arithmetic='exact'")
    if isinstance(number, tuple):
        return _of_a_transition(problem, number, method)
    known = {str(s): s for s in problem.symbols}
    if str(number) not in known:
        names = ", ".join(sorted(known)) or "none"
        raise InputError(
            f"the problem has no symbol {number!r}; its symbols are {names}. A probability is named by "
            "its transition, as in (state, action, next_state)"
        )
    symbol = known[str(number)]
    return Sensitivity(problem, method, symbol, str(symbol), None)


def _of_a_transition(
    problem: PolicyEvaluation, number: tuple[Any, ...], method: Any
) -> Sensitivity:
    mdp = problem.mdp
    named = f"the transition {number!r}"
    if len(number) != 3:
        raise InputError(f"{named} has {len(number)} parts; expected (state, action, next_state)")
    if problem.inputs.xi is not None:
        raise InputError(
            "the weights xi were given, and would not move with a transition; leave xi out"
        )
    state, action, following = number
    table = mdp.table
    s, t = mdp.require_state(state), mdp.require_state(following)
    if action not in mdp.offered[state]:
        raise LabelError(f"{named} is not in the model: state {state!r} has no action {action!r}")
    pair = (table.state == s) & (table.action == mdp.actions.index(action))
    chosen = pair & (table.next_state == t)
    if not chosen.any():
        raise LabelError(f"{named} is not in the model: it has the probability 0")
    values = [sp.sympify(parse_number(x)) for x in table.probability.tolist()]
    p = sum((values[i] for i in np.flatnonzero(chosen)), sp.Integer(0))
    if p == 1:
        raise ProbabilityError(
            f"{named} is certain, and nothing could take its place; name one that is not"
        )
    out = np.empty(len(table), dtype=object)
    for i, value in enumerate(values):
        if chosen[i]:
            out[i] = parse_number(value * (p + LITTLE) / p)
        elif pair[i]:
            out[i] = parse_number(value * (1 - p - LITTLE) / (1 - p))
        else:
            out[i] = table.probability[i]
    moved = MDP(mdp.states, mdp.actions, dataclasses.replace(table, probability=out))
    return Sensitivity(
        problem.replace(mdp=moved), method, LITTLE,
        f"the probability of {number!r}, the others of its row in proportion", 0,
    )  # fmt: skip
