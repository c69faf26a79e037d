r"""The fixed point of v = Pi_Phi^X T v for a word X, in closed form and with its proof.

With T v = r + v - L v and v = Phi theta, the equation times X' is X'L Phi theta = X'r, since
X'Pi_Phi^X = X'. So theta = (X'L Phi)^-1 X'r (Lemma 2 of the paper), where X'Phi and X'L Phi have inverses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from obliquetd.errors import InputError
from obliquetd.problem import PolicyEvaluation
from obliquetd.words.coq import coq_file
from obliquetd.words.letters import Word, require_word
from obliquetd.words.makers import inverse, letter
from obliquetd.words.theory import Derivation, prove, simplify
from obliquetd.words.values import evaluate, evaluate_native

__all__ = ["FixedPoint", "L", "P", "Phi", "V", "X", "Xi", "r", "solve"]

Phi = letter("Phi", "n d")
"""The features: a row for each state."""
X = letter("X", "n d")
"""Any matrix that a projection is along: Pi_Phi^X = Phi (X'Phi)^-1 X'."""
Xi = letter("Xi", "n n", symmetric=True)
"""The weights of the states on the diagonal."""
L = letter("L", "n n")
"""L_pi = I - P, where P has each transition times its discount."""
P = letter("P", "n n")
"""P_pi with each transition times its discount."""
V = letter("V", "n 1")
"""The values of the target policy: the solution of L V = r."""
r = letter("r", "n 1")
"""The expected reward of each state under the target policy."""


@dataclass(frozen=True)
class FixedPoint:
    """The fixed point of v = Pi_Phi^X T v, for every size.

    Attributes
    ----------
    X : Word
        What it is solved for.
    A, b : Word
        Of A theta = b.
    theta, v : Word
        The solution, and Phi times it.
    proof : Derivation
        That v solves the equation.
    unique : Derivation
        That (A^-1 X') (v - T v) is theta' - theta for any theta' with v = Phi theta': so a
        solution is this one, as X' times the equation makes the left side zero.
    """

    X: Word
    A: Word
    b: Word
    theta: Word
    v: Word
    proof: Derivation
    unique: Derivation

    def latex(self) -> str:
        """The closed form, with X where it has a letter of its own."""
        told = rf"\hat\theta = {self.theta.latex()}"
        return told if "X" not in self.theta.alphabet() else rf"X = {self.X.latex()},\quad {told}"

    def evaluate(self, problem: PolicyEvaluation, values: Mapping[str, Any] | None = None) -> Any:
        """The weights on a problem."""
        given = dict(values or {})
        if "X" in self.theta.alphabet() and "X" not in self.X.alphabet():
            given["X"] = evaluate_native(self.X, problem, values)
        return evaluate(self.theta, problem, given)

    def coq(self) -> str:
        """A file in which Coq checks both proofs."""
        return coq_file([("fixed_point", self.proof), ("unique", self.unique)], title=self.latex())

    def __repr__(self) -> str:
        return f"FixedPoint(X = {self.X}: theta = {self.theta})"


def solve(X_of: Word) -> FixedPoint:
    """The fixed point of v = Pi_Phi^X T v, where X is a word in Phi, Xi, L and other letters.

    Parameters
    ----------
    X_of : Word
        n by d. A sum goes by the letter X in the formulas, which then says what X is.

    Raises
    ------
    InputError
        For another shape, or where rewriting does not find the proof.

    Examples
    --------
    TD is X = Xi Phi:

    >>> td = solve(Xi @ Phi)
    >>> print(td.theta)
    (Phi'XiLPhi)^-1 Phi' Xi r
    >>> td.proof.proved, td.unique.proved
    (True, True)
    >>> import obliquetd as otd
    >>> problem = otd.domains.two_state(reward=1)
    >>> td.evaluate(problem) == problem.fixed_point("td").theta
    True
    """
    require_word(X_of, "X")
    if X_of.shape != ("n", "d"):
        told = "nothing" if X_of.shape is None else " by ".join(X_of.shape)
        raise InputError(
            f"X is {X_of}, which is {told}; expected n by d, as Phi is. Such as Xi @ Phi, which is TD"
        )
    along = X_of if _one_product(simplify(X_of)) else X
    A, crossed = (simplify(along.T @ M) for M in (L @ Phi, Phi))
    H, G = inverse(_plain(A)), inverse(_plain(crossed))
    turned = _plain(along.T)
    b, theta = turned @ r, H @ turned @ r
    v, projection = Phi @ theta, Phi @ G @ turned
    free = letter("theta", "d 1")
    proof = prove(projection @ (r + v - L @ v), v)
    some = Phi @ free
    unique = prove(H @ turned @ (some - (r + some - L @ some)), free - theta)
    for one in (proof, unique):
        if not one.proved:
            raise InputError(
                f"rewriting does not prove the fixed point for X = {X_of}; it leaves {one.rest}. Give X a "
                "letter of its own, as in letter('X', 'n d')"
            )
    return FixedPoint(X_of, A, b, theta, v, proof, unique)


def _one_product(word: Word) -> bool:
    return len(word.terms) == 1 and word.terms[0][1] == 1


def _plain(word: Word) -> Word:
    """A word as its products stand."""
    return Word(word.terms)
