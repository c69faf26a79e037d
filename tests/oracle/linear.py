"""Linear algebra and polynomials on lists of fractions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction

Vector = list[Fraction]
Table = list[Vector]
Sparse = dict[int, Fraction]
ZERO, ONE = Fraction(0), Fraction(1)


class SingularError(Exception):
    """A system that has no solution, or many."""


def dot(u: Iterable[Fraction], v: Iterable[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(u, v, strict=True) if x and y), ZERO)


def product(A: Table, B: Table) -> Table:
    columns = list(zip(*B, strict=True))
    return [[dot(row, column) for column in columns] for row in A]


def times(A: Table, v: Sequence[Fraction]) -> Vector:
    return [dot(row, v) for row in A]


def solve(rows: list[Sparse], right: Table) -> Table:
    """x with sum over j of rows[i][j] x[j] = right[i], for sparse rows; each x[j] is a row as those of ``right``.

    Gauss and Jordan, with the shortest row that has the unknown as the pivot: the systems of chains are sparse.
    """
    left = [{j: x for j, x in row.items() if x} for row in rows]
    right = [list(row) for row in right]
    holders: dict[int, set[int]] = {}
    for i, row in enumerate(left):
        for j in row:
            holders.setdefault(j, set()).add(i)
    open_rows, pivots = set(range(len(left))), {}
    for _ in range(len(left)):
        if not open_rows:
            break
        i = min(open_rows, key=lambda k: len(left[k]))
        if not left[i]:
            raise SingularError
        j = min(left[i], key=lambda c: len(holders[c]))
        open_rows.discard(i)
        pivots[j] = i
        lead = left[i][j]
        left[i] = {c: x / lead for c, x in left[i].items()}
        right[i] = [x / lead for x in right[i]]
        for k in list(holders[j] - {i}):
            factor = left[k][j]
            for c, x in left[i].items():
                value = left[k].get(c, ZERO) - factor * x
                if value:
                    left[k][c] = value
                    holders[c].add(k)
                else:
                    left[k].pop(c, None)
                    holders[c].discard(k)
            right[k] = [a - factor * b for a, b in zip(right[k], right[i], strict=True)]
    return [right[pivots[j]] for j in range(len(left))]


class Echelon:
    """A subspace, as reduced rows by their pivots."""

    def __init__(self) -> None:
        self.rows: dict[int, Vector] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def rest(self, vector: Sequence[Fraction]) -> Vector:
        """What of a vector lies outside."""
        out = list(vector)
        for pivot, row in self.rows.items():
            if out[pivot]:
                factor = out[pivot]
                out = [x - factor * y if y else x for x, y in zip(out, row, strict=True)]
        return out

    def insert(self, vector: Sequence[Fraction]) -> bool:
        """Whether the vector was outside; it is inside then."""
        rest = self.rest(vector)
        pivot = next((i for i, x in enumerate(rest) if x), None)
        if pivot is None:
            return False
        rest = [x / rest[pivot] for x in rest]
        for other, row in self.rows.items():
            if row[pivot]:
                factor = row[pivot]
                self.rows[other] = [x - factor * y for x, y in zip(row, rest, strict=True)]
        self.rows[pivot] = rest
        return True

    @property
    def pivots(self) -> list[int]:
        return sorted(self.rows)

    @property
    def basis(self) -> Table:
        return [self.rows[p] for p in self.pivots]


def kernel(A: Table, size: int) -> Table:
    """A basis of the x with A x = 0."""
    echelon = Echelon()
    for row in A:
        echelon.insert(row)
    found = []
    for free in (j for j in range(size) if j not in echelon.rows):
        x = [ZERO] * size
        x[free] = ONE
        for pivot, row in echelon.rows.items():
            x[pivot] = -row[free]
        found.append(x)
    return found


# --- polynomials, leading coefficient first --------------------------------------------------


def charpoly(A: Table) -> Vector:
    """det(x I - A), by Hessenberg's form and its recurrence."""
    n = len(A)
    H = [list(row) for row in A]
    for k in range(n - 2):
        p = next((i for i in range(k + 1, n) if H[i][k]), None)
        if p is None:
            continue
        H[k + 1], H[p] = H[p], H[k + 1]
        for row in H:
            row[k + 1], row[p] = row[p], row[k + 1]
        for i in range(k + 2, n):
            if H[i][k]:
                factor = H[i][k] / H[k + 1][k]
                H[i] = [x - factor * y for x, y in zip(H[i], H[k + 1], strict=True)]
                for row in H:
                    row[k + 1] += factor * row[i]
    found: Table = [[ONE]]
    for k in range(n):
        p = [*found[k], ZERO]
        p = _minus(p, [H[k][k] * x for x in found[k]])
        factor = ONE
        for i in range(k - 1, -1, -1):
            factor *= H[i + 1][i]
            p = _minus(p, [H[i][k] * factor * x for x in found[i]])
        found.append(p)
    return found[n]


def _minus(p: Vector, q: Vector) -> Vector:
    q = [ZERO] * (len(p) - len(q)) + q
    return [x - y for x, y in zip(p, q, strict=True)]


def _trimmed(p: Vector) -> Vector:
    start = next((i for i, x in enumerate(p) if x), len(p))
    return p[start:]


def divided(p: Vector, q: Vector) -> tuple[Vector, Vector]:
    quotient, rest = [], list(p)
    while len(rest) >= len(q):
        factor = rest[0] / q[0]
        quotient.append(factor)
        padded = list(q) + [ZERO] * (len(rest) - len(q))
        rest = [x - factor * y for x, y in zip(rest, padded, strict=True)][1:]
    return quotient, _trimmed(rest)


def common(p: Vector, q: Vector) -> Vector:
    """The greatest common divisor, monic."""
    while q:
        p, q = q, divided(p, q)[1]
    return [x / p[0] for x in p]


def reflected(p: Vector) -> Vector:
    """p(-x), monic again."""
    n = len(p) - 1
    out = [x * (-1) ** (n - i) for i, x in enumerate(p)]
    return [x / out[0] for x in out]


def is_hurwitz(p: Vector) -> bool:
    """Whether all roots have a negative real part: the first column of Routh's array is positive."""
    upper, lower = p[0::2], p[1::2]
    while lower:
        if not lower[0] > 0 or not upper[0] > 0:
            return False
        ratio = upper[0] / lower[0]
        padded = lower + [ZERO] * (len(upper) - len(lower))
        upper, lower = lower, [x - ratio * y for x, y in zip(upper[1:], padded[1:], strict=True)]
    return bool(upper[0] > 0)


def roots_are_real_and_not_positive(p: Vector) -> bool:
    """By Sturm's chain of the square-free part."""
    n = len(p) - 1
    if n == 0:
        return True
    slope = [x * (n - i) for i, x in enumerate(p[:-1])]
    p = divided(p, common(p, slope))[0]
    while len(p) > 1 and not p[-1]:
        p = p[:-1]  # a root of 0 is fine
    n = len(p) - 1
    if n == 0:
        return True
    chain = [p, [x * (n - i) for i, x in enumerate(p[:-1])]]
    while rest := divided(chain[-2], chain[-1])[1]:
        chain.append([-x for x in rest])
    far = [q[0] * (-1) ** (len(q) - 1) for q in chain]
    near = [q[-1] for q in chain]
    return _changes(far) - _changes(near) == n


def _changes(signs: Vector) -> int:
    kept = [x > 0 for x in signs if x]
    return sum(a != b for a, b in itertools.pairwise(kept))


def verdict(Q: Table) -> str:
    """Where the eigenvalues of Q are: all in the open right half plane, some left of the axis, or some on it."""
    if not Q:
        return "nothing moves"
    p = charpoly(Q)
    if is_hurwitz(reflected(p)):
        return "stable"
    pairs = common(p, reflected(p))
    if not is_hurwitz(reflected(divided(p, pairs)[0])):
        return "unstable"
    while len(pairs) > 1 and not pairs[-1]:
        pairs = pairs[:-1]
    return "marginal" if roots_are_real_and_not_positive(pairs[0::2]) else "unstable"


def contracts(K: list[Sparse]) -> bool:
    """Whether a matrix of nonnegative entries has a spectral radius below 1.

    It has where (I - K) y = 1 has a solution y > 0 (Collatz and Wielandt), and only there.
    """
    rows = []
    for i, row in enumerate(K):
        system = {j: -x for j, x in row.items()}
        system[i] = system.get(i, ZERO) + 1
        rows.append(system)
    try:
        return all(y > 0 for (y,) in solve(rows, [[ONE]] * len(K)))
    except SingularError:
        return False
