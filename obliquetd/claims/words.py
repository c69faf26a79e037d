"""Proofs of matrix identities for every size, by rewriting noncommutative words.

A :class:`Word` is a linear combination of products of letters. A letter stands for a
matrix of unknown size; its shape is a pair of dimension names. Products that do not
fit, sums of different shapes, and inverses of words that are not square are refused:
they stand for nothing. A :class:`Theory` holds rules ``product -> word``, each an equation
that is assumed (an inverse, a hypothesis); their transposes are added. Rewriting
replaces equals by equals, so two words with one normal form are equal for all
matrices that satisfy the assumptions. A failed reduction proves nothing.

The same words are evaluated on numbers (:meth:`Word.evaluate`), so that what is proved
is what is tested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from obliquetd.algebra import Matrix, parse_number
from obliquetd.errors import InputError

__all__ = ["ZERO", "Theory", "Word", "identity", "inverse_of", "letter"]


@dataclass(frozen=True)
class Letter:
    """A named matrix, perhaps transposed."""

    name: str
    rows: str
    columns: str
    symmetric: bool = False
    transposed: bool = False

    @property
    def T(self) -> Letter:
        """The transposed letter."""
        if self.symmetric:
            return self
        return Letter(self.name, self.columns, self.rows, False, not self.transposed)

    def __str__(self) -> str:
        return self.name + ("'" if self.transposed else "")


Product = tuple[Letter, ...]


@dataclass(frozen=True)
class Word:
    """A sum of coefficients times products; all of one shape.

    Attributes
    ----------
    terms : tuple of (product, sympy coefficient)
        The empty product is the identity.
    """

    terms: tuple[tuple[Product, sp.Expr], ...]

    @property
    def shape(self) -> tuple[str, str] | None:
        """The names of its two dimensions; None for a multiple of the identity, and for zero."""
        return next(((p[0].rows, p[-1].columns) for p, _ in self.terms if p), None)

    def letters(self) -> set[str]:
        """The names of its letters."""
        return {x.name for product, _ in self.terms for x in product}

    @staticmethod
    def of(terms: Mapping[Product, Any]) -> Word:
        """Collect, and drop zero coefficients.

        Raises
        ------
        InputError
            For terms of different shapes; the identity is square.
        """
        _check_sum(terms)
        kept = {p: sp.expand(c) for p, c in terms.items()}
        return Word(tuple(sorted(((p, c) for p, c in kept.items() if c != 0), key=_order)))

    @property
    def T(self) -> Word:
        """The transpose: products reversed, letters transposed."""
        return Word.of({tuple(x.T for x in reversed(p)): c for p, c in self.terms})

    def subs(self, numbers: Mapping[Any, Any]) -> Word:
        """The same with numbers put in for symbols of the coefficients."""
        return Word.of({p: sp.sympify(c).subs(numbers) for p, c in self.terms})

    def __matmul__(self, other: Word) -> Word:
        out: dict[Product, Any] = {}
        for p, a in self.terms:
            for q, b in other.terms:
                _check_fit(p, q)
                out[p + q] = out.get(p + q, 0) + a * b
        return Word.of(out)

    def __add__(self, other: Word) -> Word:
        out: dict[Product, Any] = dict(self.terms)
        for p, c in other.terms:
            out[p] = out.get(p, 0) + c
        return Word.of(out)

    def __sub__(self, other: Word) -> Word:
        return self + (-1) * other

    def __rmul__(self, factor: Any) -> Word:
        return Word.of({p: factor * c for p, c in self.terms})

    def __str__(self) -> str:
        text = ""
        for product, c in self.terms:
            sign = "-" if c.could_extract_minus_sign() else "+"
            size = "" if abs(c) == 1 else f"({abs(c)}) "
            text += f" {sign} {size}{' '.join(map(str, product)) or 'I'}"
        return text.removeprefix(" + ").strip() or "0"

    def evaluate(self, values: Mapping[str, Matrix], one: Matrix) -> Matrix:
        """The matrix that the word stands for; ``one`` is the identity of the right size."""
        total: Matrix | None = None
        for product, c in self.terms:
            matrix: Matrix | None = None
            for x in product:
                factor = values[x.name].T if x.transposed else values[x.name]
                matrix = factor if matrix is None else matrix @ factor
            term = one if matrix is None else matrix
            if c != 1:
                term = term.scaled(term.arithmetic.scalar(parse_number(c)))
            total = term if total is None else total + term
        if total is None:
            raise InputError("the zero word has no shape, so it stands for no matrix")
        return total


def _order(term: tuple[Product, Any]) -> str:
    return " ".join(map(str, term[0]))


def _check_fit(p: Product, q: Product) -> None:
    if p and q and p[-1].columns != q[0].rows:
        raise InputError(f"{p[-1]} has columns {p[-1].columns}, {q[0]} has rows {q[0].rows}")


def _check_sum(terms: Mapping[Product, Any]) -> None:
    """All products of one shape; with the identity among them, a square one."""
    shapes = {(p[0].rows, p[-1].columns) for p in terms if p}
    if len(shapes) > 1:
        told = ", ".join(sorted(f"{rows} by {columns}" for rows, columns in shapes))
        raise InputError(f"a sum has terms of different shapes: {told}")
    for rows, columns in shapes:
        if () in terms and rows != columns:
            raise InputError(
                f"a sum has a term {rows} by {columns} beside the identity, which is square"
            )


ZERO = Word(())
"""The zero matrix of any shape."""


def letter(name: str, shape: str, *, symmetric: bool = False) -> Word:
    """A letter; ``shape`` is two dimension names, as in ``"n d"``."""
    rows, columns = shape.split()
    return Word.of({(Letter(name, rows, columns, symmetric),): 1})


def identity() -> Word:
    """The identity."""
    return Word.of({(): 1})


def inverse_of(name: str, word: Word) -> tuple[Word, list[tuple[Word, Word]]]:
    """A letter for the inverse of a product, and the two rules that say so.

    Raises
    ------
    InputError
        For a word that is not one product with coefficient 1, or not square.
    """
    if len(word.terms) != 1 or not word.terms[0][0] or word.terms[0][1] != 1:
        raise InputError(
            f"the inverse {name} is of {word}; expected one product of letters, with coefficient 1"
        )
    ((product, _),) = word.terms
    rows, columns = product[0].rows, product[-1].columns
    if rows != columns:
        raise InputError(
            f"the inverse {name} is of {word}, which is {rows} by {columns}, not square"
        )
    inverse = letter(name, f"{columns} {rows}", symmetric=word == word.T)
    return inverse, [(inverse @ word, identity()), (word @ inverse, identity())]


class Theory:
    """Assumed equations, used from left to right.

    Parameters
    ----------
    rules : iterable of (Word, Word)
        The left side is one product with coefficient 1. Earlier rules go first.

    Raises
    ------
    InputError
        For another left side, or for two sides of different shapes.
    """

    MOST_STEPS = 500

    def __init__(self, rules: Iterable[tuple[Word, Word]]) -> None:
        self.rules: list[tuple[Product, Word]] = []
        for left, right in rules:
            if len(left.terms) != 1 or left.terms[0][1] != 1 or not left.terms[0][0]:
                raise InputError(f"the left side of a rule is one product; got {left}")
            _ = left - right  # refuses sides of different shapes
            for side, other in ((left, right), (left.T, right.T)):
                ((product, _one),) = side.terms
                if all(product != known for known, _ in self.rules):
                    self.rules.append((product, other))

    def normal_form(self, word: Word) -> Word:
        """Rewrite until no rule applies."""
        for _ in range(self.MOST_STEPS):
            step = self._rewrite_once(word)
            if step is None:
                return word
            word = step
        raise InputError(f"the rules do not terminate on {word}")

    def _rewrite_once(self, word: Word) -> Word | None:
        for product, c in word.terms:
            for left, right in self.rules:
                for i in range(len(product) - len(left) + 1):
                    if product[i : i + len(left)] == left:
                        rest = word - Word.of({product: c})
                        before, after = Word.of({product[:i]: c}), product[i + len(left) :]
                        return rest + before @ right @ Word.of({after: 1})
        return None

    def proves(self, left: Word, right: Word) -> bool:
        """Whether both sides have one normal form; sides of different shapes are refused."""
        return not self.normal_form(left - right).terms
