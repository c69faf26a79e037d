"""How words begin: letters with properties, the identity, zero, and inverses."""

from __future__ import annotations

from dataclasses import replace

from obliquetd.errors import InputError
from obliquetd.words.letters import Letter, Node, Word, require_word

__all__ = ["ZERO", "identity", "inverse", "inverse_of", "letter", "ones"]

ZERO = Word((), Node("zero"))
"""The zero matrix of any shape."""


def letter(
    name: str,
    shape: str,
    *,
    symmetric: bool = False,
    invertible: bool = False,
    stochastic: bool = False,
) -> Word:
    """A letter: a matrix of which nothing is known but its shape and the properties named here.

    Parameters
    ----------
    name : str
    shape : str
        Two dimension names, as in ``"n d"``; a dimension ``1`` is the number one.
    symmetric : bool
    invertible : bool
        It has an inverse: that of a product of such letters is the product of theirs.
    stochastic : bool
        The rows sum to one, as those of a matrix of probabilities do.

    Examples
    --------
    >>> Phi, Xi = letter("Phi", "n d"), letter("Xi", "n n", symmetric=True)
    >>> print((Xi @ Phi).T, (Xi @ Phi).shape)
    Phi' Xi ('n', 'd')
    """
    dims = shape.split() if isinstance(shape, str) else []
    if len(dims) != 2 or not isinstance(name, str) or not name.strip():
        raise InputError(
            f"the letter {name!r} has the shape {shape!r}; expected a name, and two dimension names "
            "separated by a space, as in 'n d'"
        )
    rows, columns = dims
    named = {"symmetric": symmetric, "invertible": invertible, "stochastic": stochastic}
    for said, meant in named.items():
        if meant and rows != columns:
            raise InputError(
                f"the letter {name} is {said} and {rows} by {columns}; expected a square"
            )
    return _of_letter(
        Letter(name, rows, columns, symmetric, stochastic=stochastic, invertible=invertible)
    )


def _of_letter(one: Letter) -> Word:
    return replace(Word.of({(one,): 1}), written=Node("letter", (one,)))


def ones(dimension: str) -> Word:
    """The column of ones, which a letter with ``stochastic=True`` keeps.

    Examples
    --------
    >>> print(ones("n"), ones("n").shape)
    1_n ('n', '1')
    """
    return letter(f"1_{dimension}", f"{dimension} 1")


def identity() -> Word:
    """The identity, of the size that its place asks for."""
    return replace(Word.of({(): 1}), written=Node("identity"))


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
    found = _of_letter(Letter(name, rows, columns, symmetric=word == word.T, inverts=word))
    return found, [(found @ word, identity()), (word @ found, identity())]


def inverse(word: Word, name: str = "") -> Word:
    """The inverse of a product of letters, as a letter that knows what it inverts.

    That it exists is an assumption of whatever is proved with it.

    Parameters
    ----------
    word : Word
        One square product with coefficient 1. Give a sum a letter of its own, and say what
        that letter is by an assumed equation.
    name : str
        Such as ``G``; by default the word in brackets, as in ``(X'Phi)^-1``.

    Examples
    --------
    >>> Phi, X = letter("Phi", "n d"), letter("X", "n d")
    >>> print(inverse(X.T @ Phi), inverse(letter("L", "n n")))
    (X'Phi)^-1 L^-1
    >>> A, B = (letter(x, "n n", invertible=True) for x in "AB")
    >>> print(inverse(A @ B))
    B^-1 A^-1
    """
    require_word(word, "what is inverted")
    if not name:
        if len(word.terms) == 1 and word.terms[0][1] == 1 and len(word.terms[0][0]) > 1:
            product = word.terms[0][0]
            if all(x.invertible for x in product):
                first, *rest = (inverse(Word.of({(x,): 1})) for x in reversed(product))
                for one in rest:
                    first = first @ one
                return first
        text = str(word).replace(" ", "")
        name = (
            f"{text}^-1" if len(word.terms) == 1 and len(word.terms[0][0]) == 1 else f"({text})^-1"
        )
    return inverse_of(name, word)[0]
