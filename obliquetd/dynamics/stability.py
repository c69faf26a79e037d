"""Stability of x' = b - A x, decided with a proof.

Weights move in the span U of all updates alone (:mod:`obliquetd.dynamics.span`): A maps into
it, and acts there as Q, with A B = B Q for a basis B of U. Stable means that all eigenvalues of
Q are in the open right half plane. Where U is {0}, nothing moves: that is a verdict of its own.

Let p be the characteristic polynomial of Q, and h = gcd(p(x), p(-x)), which collects
the roots that come in pairs +-lambda, those on the imaginary axis among them. p/h has none
of those, so

    stable     h = 1 and p(-x) is a Hurwitz polynomial (Routh's table is positive)
    unstable   (p/h)(-x) is not Hurwitz, or h(x) = x^m u(x^2) with a root of u off (-oo, 0]
    marginal   otherwise: no eigenvalue in the open left half plane, some on the axis

That is the way of small matrices, and of eigenvalues that are on the axis or too near to it. For others,
balls that hold the eigenvalues decide (:mod:`obliquetd.algebra.enclosures`): entries of Routh's table grow
with the square of its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from obliquetd.algebra import Matrix, parse_number
from obliquetd.algebra.enclosures import form_side, side_of_axis
from obliquetd.algebra.polynomials import even_part, squares_of_pairs_only, turn_right
from obliquetd.algebra.ways import Way
from obliquetd.errors import SignUndecidedError

__all__ = [
    "NOTHING_MOVES",
    "Stability",
    "definiteness",
    "exact_stability",
    "factor_of",
    "routh_conditions",
    "routh_is_positive",
    "verdict_of",
    "verdict_on",
    "worst_of",
]

SMALL: Way[int] = 8
"""Degree up to which Routh's table is the quickest."""

NOTHING_MOVES = "nothing moves"


@dataclass(frozen=True)
class Stability:
    """Whether an expected update is stable, and what that verdict rests on.

    Attributes
    ----------
    verdict : {"stable", "unstable", "marginal", "undecided", "nothing moves"}
    kernel_dimension : int
        In how many dimensions no update moves theta: ker Phi, and what no data reaches.
    symmetric_part : {"positive definite", "positive semidefinite", "indefinite", "unknown"}
        Of x'Ax on the span of the updates. Positive definite is enough for stability, and not
        needed.
    margin : float or None
        For floats: the smallest real part of an eigenvalue.
    condition : object
        For symbols: inequalities that must all hold, as (expression, "> 0") is read.
    everywhere : str
        Where symbols are left and the verdict is one: the ranges of the symbols on which it holds.
    """

    verdict: str
    kernel_dimension: int
    symmetric_part: str
    margin: float | None = None
    condition: tuple[Any, ...] = ()
    everywhere: str = ""

    def __bool__(self) -> bool:
        if self.verdict == "undecided":
            raise SignUndecidedError(
                "the verdict is undecided, neither true nor false: "
                + (
                    self.condition[0]
                    if self.margin is not None
                    else f"it needs {' and '.join(f'{c} > 0' for c in self.condition)}; "
                    "otd.stability_region(problem, learner, symbol) solves that"
                ),
                self.condition,
            )
        return self.verdict == "stable"


def worst_of(found: Sequence[Stability]) -> Stability:
    """The verdict on a process that is one of several, each with its own."""
    order = ("unstable", "undecided", "marginal", "stable", NOTHING_MOVES)
    return min(found, key=lambda s: order.index(s.verdict))


def routh_is_positive(coefficients: list[Any]) -> bool:
    """Whether all roots of a real polynomial are in the open left half plane.

    Routh's table: with positive leading coefficient, the first column stays positive.

    Examples
    --------
    >>> routh_is_positive([1, 3, 3, 1]), routh_is_positive([1, 0, 1]), routh_is_positive([1, -1])
    (True, False, False)
    """
    lead = coefficients[0]
    upper = [c / lead for c in coefficients[0::2]]
    lower = [c / lead for c in coefficients[1::2]]
    for _ in range(len(coefficients) - 1):
        if not lower or not lower[0] > 0:
            return False
        ratio = upper[0] / lower[0]
        padded = lower + [lower[0] * 0] * (len(upper) - len(lower))
        upper, lower = lower, [u - ratio * v for u, v in zip(upper[1:], padded[1:], strict=True)]
    return True


def routh_conditions(arithmetic: Any, coefficients: list[Any]) -> tuple[Any, ...]:
    """What has to be positive for all roots to be in the open right half plane, public.

    The Hurwitz determinants of p(-x), each without its square factors' signs: factored,
    one entry for each row of Routh's table. The coefficients are native, the leading one first.

    Examples
    --------
    >>> from obliquetd.algebra.field import FieldArithmetic
    >>> import sympy as sp
    >>> a, b = sp.symbols("a b")
    >>> field = FieldArithmetic([a, b])
    >>> routh_conditions(field, [field.one, field.scalar(-a), field.scalar(b)])
    (a, a*b)
    """
    n = len(coefficients) - 1
    a = [c * (-1) ** i for i, c in enumerate(coefficients)]

    def row(i: int, size: int) -> list[Any]:
        places = [2 * (j + 1) - (i + 1) for j in range(size)]
        return [a[k] if 0 <= k <= n else arithmetic.zero for k in places]

    determinants = [
        arithmetic.public(arithmetic.matrix([row(i, k) for i in range(k)], (k, k)).det())
        for k in range(1, n + 1)
    ]
    return tuple(dict.fromkeys(d for d in determinants if not d.is_positive))


def factor_of(arithmetic: Any, conditions: Sequence[Any]) -> Any:
    """A polynomial on whose sign the first of these conditions depends; None where there are no symbols."""
    if arithmetic.kind != "symbolic":
        return None
    return arithmetic.known.undecided(arithmetic.scalar(conditions[0]))


def _reflected(coefficients: list[Any]) -> list[Any]:
    """Coefficients of p(-x), leading one first."""
    n = len(coefficients) - 1
    return [c * (-1) ** (n - i) for i, c in enumerate(coefficients)]


def verdict_of(coefficients: list[Any]) -> str:
    """The verdict for a characteristic polynomial over QQ, leading coefficient first.

    Examples
    --------
    >>> [verdict_of(p) for p in ([1, -2], [1, 2], [1, 0], [1, 0, 1], [1, 0, -1])]
    ['stable', 'unstable', 'marginal', 'marginal', 'unstable']
    """
    exact = [parse_number(c) for c in coefficients]
    small = len(exact) <= SMALL + 1
    if small and routh_is_positive(_reflected(exact)):
        return "stable"
    rest, u = even_part(exact)
    if not (routh_is_positive(_reflected(rest)) if small else turn_right(rest)):
        return "unstable"
    if len(rest) == len(exact):
        return "stable"
    return "marginal" if squares_of_pairs_only(u) else "unstable"


def verdict_on(matrix: Matrix) -> tuple[str, tuple[Any, ...]]:
    """:func:`verdict_of` a matrix that is not in floats; "undecided" where symbols are left that decide.

    Then what has to be positive for it to be stable, as :func:`routh_conditions` has it, comes with it,
    without what is positive wherever the symbols range. Hurwitz determinants are positive just where all
    eigenvalues are in the open right half plane, and none is negative where all are in the closed one: one
    that is negative throughout makes the matrix unstable throughout.
    """
    if matrix.arithmetic.kind == "exact" and matrix.shape[0] > SMALL:
        side = side_of_axis(matrix.rows())
        if side is not None:
            return "stable" if side > 0 else "unstable", ()
    coefficients = matrix.charpoly()
    if matrix.arithmetic.kind == "symbolic":
        shown = [matrix.arithmetic.public(c) for c in coefficients]
        if any(c.free_symbols for c in shown):
            return _over_ranges(
                matrix.arithmetic, routh_conditions(matrix.arithmetic, coefficients)
            )
        coefficients = shown
    return verdict_of(coefficients), ()


def exact_stability(Q: Matrix, form: Matrix, kernel: int, critical: Sequence[Any]) -> Stability:
    """The verdict on Q, A on the span of the updates, where it is not in floats.

    Parameters
    ----------
    Q, form : Matrix
        A on U, and x'Ax on it as a quadratic form.
    kernel : int
        Of :attr:`Stability.kernel_dimension`.
    critical : sequence of native scalars
        Outside whose zeros and poles U has its full dimension. On a smaller U less can be marginal, so
        "marginal" for all values of a symbol needs their signs.

    Notes
    -----
    "Stable" and "unstable" do not need them. Where U gets smaller, at p, it is part of the limit W of U nearby, and A at p
    maps W into U at p, for its columns are sums of updates. So an eigenvalue other than 0 of A on W is one of A on U at
    p, and where A has none that is 0 on W, U at p is W. The characteristic polynomial on W is the limit of that on U.
    """
    arithmetic = Q.arithmetic
    verdict, conditions = verdict_on(Q)
    if verdict == "undecided":
        return Stability(verdict, kernel, "unknown", None, conditions)
    symbols = Q.arithmetic.kind == "symbolic" and any(
        arithmetic.public(x).free_symbols for row in Q.rows() for x in row
    )
    if not symbols:
        return Stability(verdict, kernel, definiteness(form))
    known = arithmetic.known  # type: ignore[attr-defined]
    if verdict == "marginal" and not all(known.of_fraction(c) for c in critical):
        conditions = routh_conditions(arithmetic, Q.charpoly())
        return Stability("undecided", kernel, "unknown", None, conditions)
    return Stability(verdict, kernel, "unknown", everywhere=known.told(arithmetic.symbols))  # type: ignore[attr-defined]


def _over_ranges(arithmetic: Any, conditions: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The verdict for all values of the symbols; "undecided" with the conditions that are left."""
    signs = {c: arithmetic.known.of_fraction(arithmetic.scalar(c)) for c in conditions}
    if -1 in signs.values():
        return "unstable", ()
    left = tuple(c for c, sign in signs.items() if sign != 1)
    return ("undecided", left) if left else ("stable", ())


def definiteness(form: Matrix) -> str:
    """Of the quadratic form z'Fz, by the signs of the coefficients of its characteristic polynomial.

    A symmetric S has real eigenvalues, so they are all positive exactly where the
    coefficients of det(xI - S) alternate strictly, and nonnegative where weakly. Elimination in ball
    arithmetic decides for large ones, but where a pivot's ball holds 0.
    """
    S = form + form.T
    if S.arithmetic.kind == "exact" and S.shape[0] > SMALL:
        side = form_side(S.rows())
        if side is not None:
            return "positive definite" if side > 0 else "indefinite"
    signs = [S.arithmetic.sign(c) * (-1) ** i for i, c in enumerate(S.charpoly())]
    if all(s > 0 for s in signs):
        return "positive definite"
    return "positive semidefinite" if all(s >= 0 for s in signs) else "indefinite"
