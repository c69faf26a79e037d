"""Solutions of (A_0 + x A_1) X = B modulo primes: a discount in L = I - gamma P is of this form.

Modulo p let A_0 be invertible, M = -A_0^-1 A_1 and V = A_0^-1 B. Then
det(A_0 + x A_1) = det(A_0) det(I - x M), whose coefficients are those of the characteristic
polynomial of M, and the numerators of Cramer's rule are the first n coefficients of
det(A_0) det(I - x M) (V + x M V + x^2 M^2 V + ...). Each coefficient is an integer below a bound of
Hadamard's on the unit circle, so that its residues for enough primes determine it: no step is
probabilistic.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import flint

from obliquetd.algebra.waiting import Waiting

__all__ = ["cramer_of_pencil", "hadamard", "primes"]

LARGEST = 1 << 62
"""Residues below take no memory of their own in FLINT's integers."""


def cramer_of_pencil(
    first: Any, second: Any, right: Any
) -> tuple[list[list[Any]], list[Any]] | None:
    """Coefficients of N and of det A, lowest first, with ``A N = det(A) B`` for A = first + x second.

    Parameters
    ----------
    first, second : fmpz_mat (n, n)
    right : fmpz_mat (n, m)

    Returns
    -------
    pair, or None
        A list of n coefficients for each entry of N, row after row, and n + 1 for det A. None
        where ``first`` is singular.
    """
    if first.rank() < first.nrows():
        return None
    sizes = [
        abs(int(x)) + abs(int(y)) for x, y in zip(first.entries(), second.entries(), strict=True)
    ]
    n = first.nrows()
    bits = hadamard(flint.fmpz_mat(n, n, sizes), right).bit_length() + 2  # on the unit circle
    residues, moduli, product = [], [], 1
    with Waiting("solving in symbols", bits // 62 + 1) as step:
        for p in primes():
            found = _modulo(first, second, right, p)
            if found is None:
                continue
            residues += found
            moduli.append(p)
            product *= p
            step()
            if product.bit_length() > bits:
                break
    whole = _lifted(residues, moduli, product)
    split = n * n * right.ncols()
    return [whole[k : k + n] for k in range(0, split, n)], whole[split:]


def _modulo(first: Any, second: Any, right: Any, p: int) -> list[int] | None:
    n, m = right.nrows(), right.ncols()
    a, b, c = (flint.nmod_mat(x, p) for x in (first, second, right))
    det = int(a.det())
    if det == 0:
        return None
    inverse = a.inv()
    column = inverse * c
    moved = -(inverse * b)
    charpoly = moved.charpoly()
    below = [int(charpoly[n - k]) * det % p for k in range(n + 1)]
    powers = []
    for _ in range(n):
        powers += column.entries()
        column = moved * column
    series = flint.nmod_mat(n, n * m, powers, p).transpose()
    shifted = [below[t - j] if t >= j else 0 for j in range(n) for t in range(n)]
    above = series * flint.nmod_mat(n, n, shifted, p)
    return [*map(int, above.entries()), *below]


def hadamard(a: Any, b: Any) -> int:
    """At least the size of every minor in Cramer's rule for A X = B, by rows or by columns."""
    n, m = b.nrows(), b.ncols()
    size, sides = (list(map(abs, map(int, x.entries()))) for x in (a, b))
    side = [max(sides[i * m : (i + 1) * m], default=0) for i in range(n)]
    rows = [_bits(size[i * n : (i + 1) * n], side[i]) for i in range(n)]
    columns = [_bits(size[j::n], 0) for j in range(n)]
    by_columns = sum(columns) + _bits(side, 1)
    return 1 << (min(sum(rows), by_columns) + 1) // 2


def _bits(numbers: list[int], other: int) -> int:
    """The length of the sum of squares."""
    return (sum(x * x for x in numbers) + other**2).bit_length()


def primes(limit: int = LARGEST) -> Iterator[int]:
    """Those below an even limit, the largest first."""
    candidate = limit + 1
    while True:
        candidate -= 2
        if flint.fmpz(candidate).is_prime():
            yield candidate


def _lifted(residues: list[int], moduli: list[int], product: int) -> list[Any]:
    """The integers between -product/2 and product/2 that have the residues."""
    weights = []
    for p in moduli:
        rest = product // p
        weights.append(rest * pow(rest % p, -1, p))
    k = len(moduli)
    table = flint.fmpz_mat(k, len(residues) // k, residues)
    whole, half = flint.fmpz(product), flint.fmpz(product // 2)
    sums = (flint.fmpz_mat(1, k, weights) * table).entries()
    return [x - whole if x > half else x for x in (v % whole for v in sums)]
