"""Letters and words: matrices of any size, their sums and their products.

A :class:`Word` is a linear combination of products of letters. A letter stands for a
matrix of unknown size; its shape is a pair of dimension names. Products that do not
fit, sums of different shapes, and inverses of words that are not square are refused:
they stand for nothing.

A word is kept twice: multiplied out, as what it is (two words are equal where their sums of
products are), and as its author wrote it, which is what is printed as LaTeX and what a proof for
Coq states; Coq then multiplies out itself.

The same words are evaluated on numbers (:meth:`Word.evaluate`), so that what is proved
is what is tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from obliquetd.algebra import Matrix, parse_number
from obliquetd.errors import InputError

__all__ = ["Letter", "Node", "Product", "Word", "add_letter", "require_word"]


@dataclass(frozen=True)
class Letter:
    """A named matrix, perhaps transposed.

    Attributes
    ----------
    name, rows, columns : str
        The name, and the names of its two dimensions.
    symmetric, transposed : bool
    inverts : Word or None
        The word that it is the inverse of.
    stochastic : bool
        Whether its rows sum to one: times a column of ones it is a column of ones.
    invertible : bool
        Whether it is assumed to have an inverse, so that products of such letters have one.
    """

    name: str
    rows: str
    columns: str
    symmetric: bool = False
    transposed: bool = False
    inverts: Word | None = field(default=None, compare=False, repr=False)
    stochastic: bool = field(default=False, compare=False, repr=False)
    invertible: bool = field(default=False, compare=False, repr=False)

    @property
    def T(self) -> Letter:
        """The transposed letter."""
        if self.symmetric:
            return self
        return replace(self, rows=self.columns, columns=self.rows, transposed=not self.transposed)

    @property
    def upright(self) -> Letter:
        """The same letter, not transposed."""
        return self.T if self.transposed else self

    def __str__(self) -> str:
        return self.name + ("'" if self.transposed else "")


Product = tuple[Letter, ...]


@dataclass(frozen=True)
class Node:
    """How a word was written: an operation on what it was written of.

    Attributes
    ----------
    op : {"letter", "identity", "zero", "product", "sum", "minus", "scale", "transpose"}
    parts : tuple
        A letter; nothing; two nodes; a number and a node; or a node.
    """

    op: str
    parts: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Word:
    """A sum of coefficients times products; all of one shape.

    Attributes
    ----------
    terms : tuple of (product, sympy coefficient)
        The empty product is the identity.
    written : Node or None
        How its author wrote it, before it was multiplied out.
    """

    terms: tuple[tuple[Product, sp.Expr], ...]
    written: Node | None = field(default=None, compare=False, repr=False)

    @property
    def tree(self) -> Node:
        """How it was written; multiplied out, where nobody wrote it."""
        return _tree_of(self) if self.written is None else self.written

    @property
    def shape(self) -> tuple[str, str] | None:
        """The names of its two dimensions; None for a multiple of the identity, and for zero."""
        return next(((p[0].rows, p[-1].columns) for p, _ in self.terms if p), None)

    def letters(self) -> set[str]:
        """The names of its letters."""
        return {x.name for product, _ in self.terms for x in product}

    def latex(self) -> str:
        r"""The word as it was written, in LaTeX.

        Examples
        --------
        >>> from obliquetd.words import Phi, X, inverse
        >>> (Phi @ inverse(X.T @ Phi) @ X.T).latex()
        '\\Phi (X^\\top \\Phi)^{-1} X^\\top'
        """
        from obliquetd.words.latex import node_latex

        return node_latex(self.tree)

    def alphabet(self) -> dict[str, Letter]:
        """Its letters by name, upright; as it was written, so that none has cancelled.

        Raises
        ------
        InputError
            For one name that stands for two matrices.
        """
        found: dict[str, Letter] = {}
        for one in _leaves(self.tree):
            add_letter(found, one.upright)
        return found

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
        word = Word.of({tuple(x.T for x in reversed(p)): c for p, c in self.terms})
        return replace(word, written=Node("transpose", (self.tree,)))

    def subs(self, numbers: Mapping[Any, Any]) -> Word:
        """The same with numbers put in for symbols of the coefficients."""
        return Word.of({p: sp.sympify(c).subs(numbers) for p, c in self.terms})

    def __matmul__(self, other: Word) -> Word:
        require_word(other, "the right side of @")
        out: dict[Product, Any] = {}
        for p, a in self.terms:
            for q, b in other.terms:
                _check_fit(p, q)
                out[p + q] = out.get(p + q, 0) + a * b
        return self._joined("product", other, out)

    def __add__(self, other: Word) -> Word:
        require_word(other, "the right side of +")
        out: dict[Product, Any] = dict(self.terms)
        for p, c in other.terms:
            out[p] = out.get(p, 0) + c
        return self._joined("sum", other, out)

    def __sub__(self, other: Word) -> Word:
        require_word(other, "the right side of -")
        return self._joined("minus", other, dict((self + (-1) * other).terms))

    def __neg__(self) -> Word:
        return -1 * self

    def __mul__(self, factor: Any) -> Word:
        return self.__rmul__(factor)

    def __rmul__(self, factor: Any) -> Word:
        number = _coefficient(factor)
        word = Word.of({p: number * c for p, c in self.terms})
        return replace(word, written=Node("scale", (number, self.tree)))

    def _joined(self, op: str, other: Word, terms: Mapping[Product, Any]) -> Word:
        return replace(Word.of(terms), written=Node(op, (self.tree, other.tree)))

    def __str__(self) -> str:
        text = ""
        for product, c in self.terms:
            negative = c.could_extract_minus_sign()
            sign, size = ("-", -c) if negative else ("+", c)
            size = "" if size == 1 else f"({size}) "
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


def _coefficient(factor: Any) -> Any:
    """A number or formula that stands before a word."""
    if isinstance(factor, Word):
        raise InputError(
            f"{factor} times a word; the product of two words is written with @, as in Xi @ Phi"
        )
    try:
        number = sp.sympify(factor)
    except (sp.SympifyError, TypeError):
        number = None
    if not isinstance(number, sp.Expr):
        raise InputError(
            f"a word times {_called(factor)}; expected a number or a formula, such as 2 or gamma, or @ for a product"
        )
    return number


def require_word(value: Any, what: str) -> Word:
    """A word as it is; an error that says how to make one for anything else.

    Raises
    ------
    InputError
    """
    if isinstance(value, Word):
        return value
    hint = ""
    if callable(value):
        hint = "; give what it returns"
    elif isinstance(value, int | float | sp.Expr):
        hint = f", such as {value} * identity()" if value != 0 else ", such as ZERO"
    raise InputError(
        f"{what} is {_called(value)}; expected a word: letters of obliquetd.words, such as Phi and Xi or "
        f"letter('A', 'n n'), and what @, + and - make of them{hint}"
    )


def _called(value: Any) -> str:
    """What came, short enough for a sentence."""
    name = getattr(value, "__name__", None)
    if callable(value) and isinstance(name, str):
        return f"the {'class' if isinstance(value, type) else 'function'} {name}"
    shown = " ".join(repr(value).split())
    return f"{type(value).__name__} {shown if len(shown) <= 60 else shown[:57] + '...'}"


def _tree_of(word: Word) -> Node:
    """A sum of products, as a tree."""
    total: Node | None = None
    for product, c in word.terms:
        node = Node("identity")
        for i, x in enumerate(product):
            one = Node("letter", (x.upright,))
            one = Node("transpose", (one,)) if x.transposed else one
            node = one if i == 0 else Node("product", (node, one))
        if total is not None and c == -1:
            total = Node("minus", (total, node))
            continue
        node = node if c == 1 else Node("scale", (c, node))
        total = node if total is None else Node("sum", (total, node))
    return Node("zero") if total is None else total


def _leaves(node: Node) -> Iterator[Letter]:
    if node.op == "letter":
        yield node.parts[0]
    for part in node.parts:
        if isinstance(part, Node):
            yield from _leaves(part)


def add_letter(found: dict[str, Letter], one: Letter) -> None:
    """Put a letter among others by name; InputError where a name stands for two matrices."""
    known = found.setdefault(one.name, one)
    if known is one:
        return
    if known != one:
        raise InputError(
            f"the letter {one.name} is {known.rows} by {known.columns} in one place and {one.rows} by "
            f"{one.columns} in another, or symmetric in one of them; give each matrix a name of its own"
        )
    if None not in (known.inverts, one.inverts) and known.inverts != one.inverts:
        raise InputError(
            f"the letter {one.name} is the inverse of {known.inverts} in one place and of {one.inverts} "
            "in another; give each inverse a name of its own"
        )
    if (known.inverts is None and one.inverts is not None) or one.stochastic:
        found[one.name] = replace(
            known,
            inverts=known.inverts or one.inverts,
            stochastic=known.stochastic or one.stochastic,
        )


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
