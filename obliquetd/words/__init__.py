"""Derive and prove with matrices of any size.

Letters stand for matrices; their sums and products are words. Rewriting proves equations
between words for every size and every field, with a trace, as LaTeX, and as a file that Coq checks;
the same words are evaluated on a problem. The letters of a problem are there already:
:data:`Phi`, :data:`Xi`, :data:`L` (L_pi), :data:`P` (P_pi, each transition times its discount),
:data:`V`, :data:`r`, and a free :data:`X`.

>>> from obliquetd.words import Phi, X, inverse, prove
>>> Pi = Phi @ inverse(X.T @ Phi) @ X.T
>>> prove(Pi @ Phi, Phi).proved
True
"""

from obliquetd.words.fixed_point import FixedPoint, L, P, Phi, V, X, Xi, r, solve
from obliquetd.words.letters import Letter, Word
from obliquetd.words.makers import ZERO, identity, inverse, inverse_of, letter, ones
from obliquetd.words.theory import Derivation, Given, Step, Theory, assumed, prove, simplify
from obliquetd.words.values import evaluate

__all__ = [
    "ZERO",
    "Derivation",
    "FixedPoint",
    "Given",
    "L",
    "Letter",
    "P",
    "Phi",
    "Step",
    "Theory",
    "V",
    "Word",
    "X",
    "Xi",
    "assumed",
    "evaluate",
    "identity",
    "inverse",
    "inverse_of",
    "letter",
    "ones",
    "prove",
    "r",
    "simplify",
    "solve",
]
