"""Derive and prove with matrices of any size.

Letters stand for matrices; their sums and products are words. Rewriting proves equations
between words for every size and every field, with a trace, as LaTeX, and as a file that Coq checks;
the same words are evaluated on a problem.

>>> from obliquetd import words
>>> Phi, X = words.letter("Phi", "n d"), words.letter("X", "n d")
>>> Pi = Phi @ words.inverse(X.T @ Phi) @ X.T
>>> words.prove(Pi @ Phi, Phi).proved
True
"""

from obliquetd.words.letters import ZERO, Letter, Word, identity, inverse, inverse_of, letter, ones
from obliquetd.words.theory import Derivation, Given, Step, Theory, assumed, prove, simplify

__all__ = [
    "ZERO",
    "Derivation",
    "Given",
    "Letter",
    "Step",
    "Theory",
    "Word",
    "assumed",
    "identity",
    "inverse",
    "inverse_of",
    "letter",
    "ones",
    "prove",
    "simplify",
]
