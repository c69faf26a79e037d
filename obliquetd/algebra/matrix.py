"""The seam: what every number kind can do with matrices.

Code above this package writes ``L.T.solve(Xi_Phi)`` and does not ask whether the
entries are rationals, rational functions or floats. A :class:`Matrix` carries its
:class:`Arithmetic`; vectors are matrices of one column. Two representations
implement the seam: :mod:`~obliquetd.algebra.field` (exact and symbolic, on sympy's
``DomainMatrix``) and :mod:`~obliquetd.algebra.floating` (numpy and scipy.sparse).

A *native scalar* is an element of the arithmetic's own number type; it supports
``+ - * /`` and truth (nonzero).
"""

from __future__ import annotations

import functools
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from obliquetd.algebra.numbers import Kind

__all__ = ["Arithmetic", "GeneralSolution", "Matrix"]

M = TypeVar("M", bound="Matrix")
Indices = npt.NDArray[np.intp]


class Arithmetic(ABC):
    """A number kind: makes matrices, and decides what needs a scalar's sign or root."""

    kind: Kind
    caveat: str = ""
    """What an error that calls something singular, or not unique, has to add."""

    @abstractmethod
    def scalar(self, value: Any) -> Any:
        """A native scalar from a number that ``parse_number`` returned."""

    @abstractmethod
    def scalars(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Native scalars from a whole column of a transition table; see :meth:`scalar`."""

    @abstractmethod
    def public(self, scalar: Any) -> Any:
        """What the user gets for a native scalar."""

    @abstractmethod
    def sign(self, scalar: Any) -> int:
        """The sign of a native scalar, -1, 0 or 1; :class:`SignUndecidedError` where it depends on a symbol."""

    @abstractmethod
    def sqrt(self, scalar: Any) -> Any:
        """The public square root of a nonnegative native scalar."""

    def magnitude(self, matrix: Matrix) -> Any:  # noqa: ARG002
        """A native positive number of about the size of the largest entry; 1 unless a float."""
        return self.one

    def squared(self, magnitude: Any) -> Any:
        """The square of a :meth:`magnitude`; NumberError where it leaves the range of floats."""
        return magnitude * magnitude

    def weighted_norm(self, weights: Matrix, vector: Matrix) -> Any:
        """The public root of sum w u^2 over the entries of two columns."""
        return self.sqrt((vector.T @ vector.scale_rows(weights)).item())

    def frobenius_norm(self, matrix: Matrix) -> Any:
        """The public root of the sum of the squares of the entries."""
        return self.sqrt(matrix.frobenius_squared())

    @abstractmethod
    def matrix(self, rows: Any, shape: tuple[int, int]) -> Matrix:
        """A dense matrix from rows of native scalars; among floats also from an array."""

    @abstractmethod
    def assemble(
        self, shape: tuple[int, int], rows: Indices, columns: Indices, values: npt.NDArray[Any]
    ) -> Matrix:
        """The matrix with the given entries; entries at one place are added."""

    def assemble_products(
        self, shape: tuple[int, int], rows: Indices, columns: Indices, factors: Sequence[Any]
    ) -> Matrix:
        """:meth:`assemble` of the products of several arrays of native scalars, entry by entry."""
        return self.assemble(shape, rows, columns, math.prod(factors[1:], start=factors[0]))

    def multiples(self, values: npt.NDArray[Any], factor: Any) -> npt.NDArray[Any]:
        """Each of an array of native scalars times one."""
        if values.strides == (0,) and len(values):  # one number throughout
            return np.broadcast_to(values[:1] * factor, len(values))
        return values * factor  # type: ignore[no-any-return]

    @abstractmethod
    def identity(self, n: int) -> Matrix:
        """The n by n identity."""

    @abstractmethod
    def check_size(self, n: int) -> None:
        """Refuse, naming ``n``, what this arithmetic cannot do in reasonable time or memory."""

    def column(self, values: Sequence[Any] | npt.NDArray[Any]) -> Matrix:
        """A column vector of native scalars."""
        return self.matrix([[v] for v in values], (len(values), 1))

    def stacked(self, parts: Sequence[Any]) -> Any:
        """Columns end to end."""
        return self.column([x for part in parts for x in part.entries()])

    def embedded(self, part: M, places: Sequence[int], n: int) -> M:
        """The column of n entries that has those of ``part`` at the places, and zeros."""
        ones = np.empty(len(places), dtype=float if self.kind == "float" else object)
        ones[:] = self.one
        within = np.arange(len(places), dtype=np.intp)
        at = np.asarray(places, dtype=np.intp)
        full: Any = self.assemble((n, len(places)), at, within, ones) @ part
        full.report = part.report
        return full  # type: ignore[no-any-return]

    @property
    @abstractmethod
    def zero(self) -> Any:
        """The native zero."""

    @property
    @abstractmethod
    def one(self) -> Any:
        """The native one."""


class Matrix(ABC):
    """A matrix over one arithmetic; immutable by convention."""

    arithmetic: Arithmetic
    report: Any = None
    """For a floating-point solution: a ``SolveReport``."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    @abstractmethod
    def T(self: M) -> M:
        """The transpose."""

    @abstractmethod
    def __matmul__(self: M, other: M) -> M: ...

    @abstractmethod
    def __add__(self: M, other: M) -> M: ...

    @abstractmethod
    def __sub__(self: M, other: M) -> M: ...

    @abstractmethod
    def scaled(self: M, factor: Any) -> M:
        """Every entry times one native scalar."""

    @abstractmethod
    def scale_rows(self: M, factors: M) -> M:
        """``diag(factors) @ self`` for a column ``factors``."""

    @abstractmethod
    def row_dots(self: M, other: M) -> M:
        """The column of inner products of matching rows."""

    @abstractmethod
    def submatrix(self: M, rows: Sequence[int], columns: Sequence[int]) -> M:
        """The entries in the given rows and columns."""

    @abstractmethod
    def solve(self: M, right: M, what: str = "the system") -> M:
        """The unique X with ``self @ X = right``; SingularError where there is none."""

    @abstractmethod
    def general_solution(self: M, right: M, what: str = "the system") -> GeneralSolution:
        """Every X with ``self @ X = right``; ``what`` is for a warning."""

    def divided_by_sum(self: M) -> M:
        """A column over the sum of its entries."""
        total = sum(self.entries(), self.arithmetic.zero)
        return self.scaled(self.arithmetic.one / total)

    @abstractmethod
    def null_space(self: M) -> M:
        """A basis of the kernel, as columns."""

    @abstractmethod
    def column_basis(self: M) -> M:
        """Linearly independent columns with the span of all columns."""

    @abstractmethod
    def rank(self) -> int:
        """The rank (for floats: at the usual singular-value tolerance)."""

    @abstractmethod
    def det(self) -> Any:
        """The determinant, a native scalar."""

    @abstractmethod
    def charpoly(self) -> list[Any]:
        """Coefficients of det(x I - self), leading one first, native scalars."""

    @abstractmethod
    def support(self) -> tuple[Indices, Indices]:
        """Row and column indices of the entries that are not identically zero."""

    def as_weights(self: M, what: str) -> M:  # noqa: ARG002
        """Nonnegative numbers, those too small for their arithmetic made 0 with a warning."""
        return self

    def as_chosen(self: M) -> M:
        """The matrix without the bounds on its errors, for a basis in place of which any near one would do."""
        return self

    def cleaned(self: M) -> M:
        """The matrix with 0 for every entry that may be 0: among floats, those within their rounding."""
        return self

    def settled(
        self: M,
        what: str,  # noqa: ARG002
        exactly: Callable[[], Matrix] | None = None,  # noqa: ARG002
        at_least: Any = 0,  # noqa: ARG002
    ) -> M:
        """The matrix as an answer: floats of few digits are warned of, and what ``exactly`` says is 0 is 0.

        See :mod:`obliquetd.algebra.float_digits`.
        """
        return self

    def denominator(self) -> Any:
        """A native number that makes every entry whole when it multiplies them; 1 unless of rationals."""
        return self.arithmetic.one

    def row_units(self: M) -> M:
        """Positive numbers by which the rows are divided to bring them to size one; 1 unless floats."""
        return self.arithmetic.column([self.arithmetic.one] * self.shape[0])  # type: ignore[return-value]

    def unbounded(self: M) -> M:
        """The matrix with NaN made infinite: among floats that overflow, it is infinity less infinity."""
        return self

    def cross(self: M, *chain: M, balanced: bool = False) -> M:
        """``self.T`` times the product of the others; tall floats go by blocks of rows.

        With ``balanced``, of :meth:`balanced` columns.

        Examples
        --------
        >>> from obliquetd.algebra import read_matrices
        >>> x, a = read_matrices(x=[1, 2], a=[[0, 1], [1, 0]])
        >>> x.cross(a, x).item()
        4
        """
        left = self.balanced() if balanced else self
        return left.T @ functools.reduce(operator.matmul, chain)

    def part(self: M, rows: slice) -> M:
        """Some of the rows."""
        if rows == slice(None):
            return self
        return self.submatrix(range(self.shape[0])[rows], range(self.shape[1]))

    def row_products(self: M, right: M) -> Iterator[tuple[slice, M]]:
        """Slices of rows of ``self @ right`` with what stands there: of tall floats some at a time."""
        yield slice(None), self @ right

    def surely_independent(self) -> bool:
        """Whether a quick test shows the columns to be independent; only tall matrices of floats have one."""
        return False

    def balanced(self: M) -> M:
        """The same span: among floats, each column divided by its own size."""
        return self

    @abstractmethod
    def rows(self) -> list[list[Any]]:
        """The entries as native scalars, dense."""

    @abstractmethod
    def public(self) -> Any:
        """What the user gets: a sympy matrix, or a numpy or scipy.sparse array."""

    def told(
        self, what: str, exactly: Callable[[], Matrix] | None = None, at_least: Any = 0
    ) -> Any:
        """:meth:`public` of an answer that has a name, :meth:`settled`."""
        self.public()  # what is beyond the range of floats is refused first
        return self.settled(what, exactly, at_least).public()

    def told_vector(
        self, what: str, exactly: Callable[[], Matrix] | None = None, at_least: Any = 0
    ) -> Any:
        """:meth:`public_vector` in the same way."""
        self.public()
        return self.settled(what, exactly, at_least).public_vector()

    def over(self: M, other: M) -> M:
        """Each entry of a column over the one that stands beside it in another, and 0 where that is 0."""
        zero = self.arithmetic.zero
        pairs = zip(self.entries(), other.entries(), strict=True)
        return self.arithmetic.column([a / b if b else zero for a, b in pairs])  # type: ignore[return-value]

    def positive_part(self: M, leading: M, sign: Callable[[Any], int]) -> M:
        """The entries of a column where those of ``leading``, which have their signs, are positive; 0 elsewhere."""
        zero, pairs = self.arithmetic.zero, zip(self.entries(), leading.entries(), strict=True)
        return self.arithmetic.column([x if sign(y) > 0 else zero for x, y in pairs])  # type: ignore[return-value]

    def kept(self: M, mask: Sequence[bool]) -> M:
        """The entries of a column where a mask says so, and 0 elsewhere."""
        zero, pairs = self.arithmetic.zero, zip(self.entries(), mask, strict=True)
        return self.arithmetic.column([x if there else zero for x, there in pairs])  # type: ignore[return-value]

    def row_outer(self: M, other: M) -> M:
        """In each row all products of an entry of its row here and one of its row there."""
        pairs = zip(self.rows(), other.rows(), strict=True)
        rows = [[x * y for x in a for y in b] for a, b in pairs]
        return self.arithmetic.matrix(rows, (len(rows), self.shape[1] * other.shape[1]))  # type: ignore[return-value]

    def flattened(self: M) -> M:
        """All entries, row after row, as a column."""
        return self.arithmetic.column([x for row in self.rows() for x in row])  # type: ignore[return-value]

    def entries(self) -> list[Any]:
        """The entries of a column vector."""
        return [row[0] for row in self.rows()]

    def public_list(self) -> list[Any]:
        """The entries of a column as public numbers."""
        return [self.arithmetic.public(x) for x in self.entries()]

    def public_vector(self) -> Any:
        """A column for the user: a sympy column, or a numpy array with one axis."""
        public = self.public()
        return public.reshape(-1) if self.arithmetic.kind == "float" else public

    def item(self) -> Any:
        """The only entry of a 1 by 1 matrix."""
        return self.rows()[0][0]

    def is_zero(self) -> bool:
        """Whether every entry is identically zero."""
        return self.support()[0].size == 0

    def frobenius_squared(self) -> Any:
        """The sum of the squares of the entries."""
        return sum(self.row_dots(self).entries(), self.arithmetic.zero)


@dataclass(frozen=True)
class GeneralSolution:
    """All solutions of a linear system: ``particular + null_space @ anything``.

    ``particular`` is None where there is no solution. Free variables are zero in it.
    """

    particular: Any
    null_space: Any
