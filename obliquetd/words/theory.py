"""Proofs of matrix identities for every size, by rewriting words.

A :class:`Theory` holds rules ``product -> word``, each an equation that is assumed (an inverse, a
hypothesis); their transposes are added. Rewriting replaces equals by equals, so two words whose
difference rewrites to zero are equal for all matrices that satisfy the assumptions. A failed
reduction proves nothing.

Each step takes one product ``u l w`` of the word, with ``l = r`` a rule, and subtracts c (u l w - u r w).
So a reduction of ``left - right`` to zero is a sum

    left - right = sum over the steps of c (u l w - u r w),

which is an identity between products as they stand. It is what a proof for Coq is made of: there
each term is zero by its rule, and the identity is one of coefficients.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from obliquetd.errors import InputError
from obliquetd.words.letters import Letter, Product, Word, add_letter, require_word
from obliquetd.words.makers import ZERO, inverse_of, ones

__all__ = ["Derivation", "Given", "Step", "Theory", "assumed", "prove", "simplify"]

MOST_STEPS = 500
"""Steps after which rules are said not to end."""


@dataclass(frozen=True)
class Given:
    """An assumed equation, used from left to right.

    Attributes
    ----------
    left, right : Word
        The left side is one product with coefficient 1.
    inverse : str
        The letter that is an inverse, where the equation says so; else "".
    stochastic : str
        The letter whose rows sum to one, where the equation says so; else "".
    """

    left: Word
    right: Word
    inverse: str = ""
    stochastic: str = ""

    def __str__(self) -> str:
        return f"{self.left} = {self.right}"


@dataclass(frozen=True)
class Rule:
    """A given equation, or its transpose, as it is applied."""

    product: Product
    word: Word
    number: int
    """The place of the equation among those given."""
    transposed: bool


@dataclass(frozen=True)
class Step:
    """One replacement of equals by equals within a word.

    Attributes
    ----------
    factor : sympy number
        The coefficient of the product in the word.
    before, after : tuple of letters
        What stands on either side of what is replaced.
    rule : Rule
    word : Word
        The whole word afterwards.
    """

    factor: sp.Expr
    before: Product
    rule: Rule
    after: Product
    word: Word

    def __str__(self) -> str:
        left = " ".join(map(str, self.rule.product))
        return f"by {left} = {self.rule.word}: {self.word}"


@dataclass(frozen=True)
class Derivation:
    """What rewriting made of an equation.

    Attributes
    ----------
    left, right : Word
    given : tuple of Given
        What was assumed.
    steps : tuple of Step
        From ``left - right`` on.
    rest : Word
        What is left of the difference. Zero is a proof; anything else proves nothing, not
        even that the equation is false.
    """

    left: Word
    right: Word
    given: tuple[Given, ...]
    steps: tuple[Step, ...]
    rest: Word

    @property
    def proved(self) -> bool:
        """Whether the difference was rewritten to zero."""
        return not self.rest.terms

    @property
    def trace(self) -> list[str]:
        """The steps as text, from the difference of the two sides on."""
        return [str(self.left - self.right), *map(str, self.steps)]

    def alphabet(self) -> dict[str, Letter]:
        """Every letter of the equation and of what is assumed, by name."""
        return _alphabet(self.words())

    def words(self) -> list[Word]:
        """Both sides, and those of what is assumed."""
        return [self.left, self.right, *(w for g in self.given for w in (g.left, g.right))]

    def latex(self) -> str:
        """The equation and its proof, one step a line."""
        from obliquetd.words.latex import derivation_latex

        return derivation_latex(self)

    def coq(self, name: str = "identity") -> str:
        """A file that Coq with mathcomp checks: assumptions, statement, and this proof.

        Raises
        ------
        InputError
            Where nothing was proved.
        """
        from obliquetd.words.coq import coq_file

        return coq_file([(name, self)], title=f"{self.left} = {self.right}")

    def __repr__(self) -> str:
        how = f"proved in {len(self.steps)} steps" if self.proved else f"not proved: {self.rest}"
        return f"Derivation({self.left} = {self.right}; {how})"


class Theory:
    """Assumed equations, used from left to right.

    Parameters
    ----------
    rules : iterable of (Word, Word), or of Given
        The left side is one product with coefficient 1. Earlier rules go first.

    Raises
    ------
    InputError
        For another left side, or for two sides of different shapes.
    """

    def __init__(self, rules: Iterable[tuple[Word, Word] | Given]) -> None:
        self.given = tuple(map(_given, rules))
        self.rules: list[Rule] = []
        for number, one in enumerate(self.given):
            left, right = one.left, one.right
            if len(left.terms) != 1 or left.terms[0][1] != 1 or not left.terms[0][0]:
                raise InputError(f"the left side of a rule is one product; got {left}")
            _ = left - right  # refuses sides of different shapes
            for side, other, turned in ((left, right, False), (left.T, right.T, True)):
                ((product, _one),) = side.terms
                if all(product != known.product for known in self.rules):
                    self.rules.append(Rule(product, other, number, turned))

    def derive(self, left: Word, right: Word) -> Derivation:
        """Rewrite ``left - right`` until no rule applies, and keep each step."""
        steps: list[Step] = []
        word = left - right
        while (step := self._step(word)) is not None:
            if len(steps) == MOST_STEPS:
                raise InputError(f"the rules do not terminate on {left - right}")
            steps.append(step)
            word = step.word
        return Derivation(left, right, self.given, tuple(steps), word)

    def normal_form(self, word: Word) -> Word:
        """Rewrite until no rule applies."""
        return self.derive(word, ZERO).rest

    def _step(self, word: Word) -> Step | None:
        for product, c in word.terms:
            for rule in self.rules:
                left = rule.product
                for i in range(len(product) - len(left) + 1):
                    if product[i : i + len(left)] == left:
                        rest = word - Word.of({product: c})
                        before, after = product[:i], product[i + len(left) :]
                        new = Word.of({before: c}) @ rule.word @ Word.of({after: 1})
                        return Step(c, before, rule, after, Word((rest + new).terms))
        return None

    def proves(self, left: Word, right: Word) -> bool:
        """Whether the difference of both sides is rewritten to zero; two shapes are refused."""
        return self.derive(left, right).proved


def _alphabet(words: Iterable[Word]) -> dict[str, Letter]:
    found: dict[str, Letter] = {}
    for word in words:
        for one in word.alphabet().values():
            add_letter(found, one)
    return found


def assumed(words: Iterable[Word]) -> list[Given]:
    """What the letters of some words say of themselves: inverses, and rows that sum to one."""
    found: list[Given] = []
    letters = _alphabet(words)
    done: set[str] = set()
    while todo := [x for x in letters.values() if x.name not in done]:
        for one in todo:
            done.add(one.name)
            if one.inverts is not None:
                rules = inverse_of(one.name, one.inverts)[1]
                found += [Given(*rule, inverse=one.name) for rule in rules]
                for other in one.inverts.alphabet().values():
                    add_letter(letters, other)
            if one.stochastic:
                column, matrix = ones(one.rows), Word.of({(one,): 1})
                found.append(Given(matrix @ column, column, stochastic=one.name))
    return found


def _theory(words: tuple[Word, ...], given: Iterable[tuple[Word, Word]]) -> Theory:
    if isinstance(given, Word | str) or not isinstance(given, Iterable):
        raise InputError("given is no list; expected pairs of words, as in given=[(left, right)]")
    pairs = tuple(map(_given, given))
    written = (*words, *(side for pair in pairs for side in (pair.left, pair.right)))
    return Theory([*assumed(written), *pairs])


def _given(pair: Any) -> Given:
    """An assumed equation as it is, or made of its two sides."""
    if isinstance(pair, Given):
        return pair
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise InputError(
            "an assumed equation is a pair of words, its left and its right side, as in "
            "given=[(left, right)]"
        )
    left, right = (
        require_word(side, f"the {name} side of an assumed equation")
        for name, side in zip(("left", "right"), pair, strict=True)
    )
    return Given(left, right)


def prove(left: Word, right: Word, given: Iterable[tuple[Word, Word]] = ()) -> Derivation:
    """Try to prove that two words are equal, for matrices of every size.

    Parameters
    ----------
    left, right : Word
    given : iterable of (Word, Word)
        Equations that are assumed, each used from left to right. That letters which are inverses
        exist, and that the rows of stochastic letters sum to one, is assumed without being said.

    Returns
    -------
    Derivation
        ``proved`` says whether it is one; ``trace`` has the steps, ``rest`` what is left.

    Examples
    --------
    The oblique projection is idempotent:

    >>> from obliquetd.words import inverse, letter
    >>> Phi, X = letter("Phi", "n d"), letter("X", "n d")
    >>> Pi = Phi @ inverse(X.T @ Phi, "G") @ X.T
    >>> prove(Pi @ Pi, Pi).trace
    ["- Phi G X' + Phi G X' Phi G X'", "by G X' Phi = I: 0"]
    >>> prove(Pi.T, Pi).proved
    False
    """
    words = require_word(left, "the left side"), require_word(right, "the right side")
    return _theory(words, given).derive(*words)


def simplify(word: Word, given: Iterable[tuple[Word, Word]] = ()) -> Word:
    """A word after every rule that applies: what inverts itself cancels, what is given is put in.

    Examples
    --------
    >>> from obliquetd.words import inverse, letter
    >>> A = letter("A", "n n")
    >>> print(simplify(inverse(A) @ A @ A - A.T @ inverse(A).T))
    - I + A
    """
    return _theory((require_word(word, "what is simplified"),), given).normal_form(word)
