"""A, b, the span of the updates, the fixed point, the verdict and the noise of a rule, outcome by outcome.

The state s of a step tells nothing of the past but through the memory, and an update is affine in the memory, so that with
m(s) the mean of the memory that arrives in s

    b - A x = sum over outcomes of xi(s) chance step(x, m(s)),
    xi(s') m(s') = sum over outcomes into s' of xi(s) chance (c + M m(s)),

where a step hands on c + M m. Each affine map is found by running the rule at 0 and at the unit vectors.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from tests.oracle.linear import (
    ONE,
    ZERO,
    Echelon,
    Sparse,
    Table,
    Vector,
    contracts,
    kernel,
    solve,
    times,
    verdict,
)
from tests.oracle.long_run import LongRun, add_outer
from tests.oracle.none import Endless, Many, TooLarge
from tests.oracle.outcomes import Outcome, Sampled
from tests.oracle.settings import RULES


def unit(size: int, i: int) -> Vector:
    return [ONE if j == i else ZERO for j in range(size)]


def minus(u: Vector, v: Vector) -> Vector:
    return [x - y for x, y in zip(u, v, strict=True)]


class Truth:
    """What a learner does on a problem of numbers.

    Parameters
    ----------
    plain : object with the fields of tests.character.Character
    key : str
        Of the learner, in :data:`tests.oracle.rules.RULES`.
    given : mapping
        Its settings.
    """

    def __init__(self, plain: Any, key: str, given: Any) -> None:
        self.sampled, self.rule = Sampled(plain), RULES[key]
        self.p = self.rule.settings(self.sampled, given)
        self.d = self.sampled.d
        self.size = self.d * (2 if self.rule.two else 1)
        self.k = self.rule.memory(self.d, self.p)
        twins = key == "double-sampled-residual-gradient"
        self.outcomes = self.sampled.doubled() if twins else self.sampled.outcomes
        self.xi, self.carried = self.sampled.xi, self.sampled.carried

    def step(self, x: Vector, m: Vector, t: Outcome) -> Any:
        return self.rule.step(x, m, t, self.p)

    @cached_property
    def maps(self) -> list[tuple[Vector, dict[tuple[int, int], Any]]]:
        """c and the entries of M of each outcome."""
        found = []
        for t in self.outcomes:
            x = [ZERO] * self.size
            c = self.step(x, [ZERO] * self.k, t)[1]
            M = {}
            for j in range(self.k):
                column = minus(self.step(x, unit(self.k, j), t)[1], c)
                M.update({(i, j): v for i, v in enumerate(column) if v})
            found.append((c, M))
        return found

    @cached_property
    def fed(self) -> set[tuple[int, int]]:
        """The entries (state, place) of the memory that are ever other than 0."""
        found: set[tuple[int, int]] = set()
        while True:
            more = set()
            for t, (c, M) in zip(self.outcomes, self.maps, strict=True):
                more |= {(t.n, i) for i, v in enumerate(c) if v}
                more |= {(t.n, i) for i, j in M if (t.s, j) in found}
            if more <= found:
                return found
            found |= more

    def contracts(self, pairs: list[Any]) -> bool:
        """Whether the products of decays, which are the diagonals of the triangular maps M, die out on average."""
        places = {pair: i for i, pair in enumerate(pairs)}
        K: list[Sparse] = [{} for _ in pairs]
        for t, (_, M) in zip(self.outcomes, self.maps, strict=True):
            for (s, *entries), row in places.items():
                column = places.get((t.n, *entries))
                if s == t.s and column is not None:
                    decay = t.chance
                    for i in entries:
                        decay *= M.get((i, i), ZERO)
                    assert decay >= 0
                    K[row][column] = K[row].get(column, ZERO) + decay
        return contracts(K)

    @cached_property
    def memory(self) -> Table:
        """The mean of the memory that arrives in each state."""
        means = [[ZERO] * self.k for _ in range(self.sampled.n)]
        if not self.carried or not self.fed:
            return means
        nodes = sorted(self.fed)
        if not self.contracts(nodes):
            raise Endless
        places = {node: i for i, node in enumerate(nodes)}
        rows: list[Sparse] = [{i: ONE} for i in range(len(nodes))]
        right = [ZERO] * len(nodes)
        for t, (c, M) in zip(self.outcomes, self.maps, strict=True):
            for i, v in enumerate(c):
                if v:
                    right[places[t.n, i]] += self.xi[t.s] * t.chance * v
            for (i, j), v in M.items():
                if (t.s, j) in places:
                    row, column = rows[places[t.n, i]], places[t.s, j]
                    row[column] = row.get(column, ZERO) - t.chance * v
        for (s, i), (value,) in zip(nodes, solve(rows, [[v] for v in right]), strict=True):
            means[s][i] = value / self.xi[s]
        return means

    @cached_property
    def mean(self) -> tuple[Table, Vector]:
        """A and b."""
        b = [ZERO] * self.size
        columns = [[ZERO] * self.size for _ in range(self.size)]
        for t in self.outcomes:
            m, weight = self.memory[t.s], self.xi[t.s] * t.chance
            constant = self.step([ZERO] * self.size, m, t)[0]
            b = [x + weight * y for x, y in zip(b, constant, strict=True)]
            for j in range(self.size):
                slope = minus(self.step(unit(self.size, j), m, t)[0], constant)
                columns[j] = [x - weight * y for x, y in zip(columns[j], slope, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)], b

    @cached_property
    def reachable(self) -> list[Echelon]:
        """For each state the affine hull of the memories that follow from an empty one, as the span of (1, m)."""
        hulls = [Echelon() for _ in range(self.sampled.n)]
        waiting = []
        for s in {t.s for t in self.outcomes}:
            vector = [ONE] + [ZERO] * self.k
            hulls[s].insert(vector)
            waiting.append((s, vector))
        while waiting and self.carried and self.k:
            s, (lead, *m) = waiting.pop()
            for t, (c, M) in zip(self.outcomes, self.maps, strict=True):
                if t.s == s:
                    after = [lead * x for x in c]
                    for (i, j), v in M.items():
                        after[i] += v * m[j]
                    if hulls[t.n].insert([lead, *after]):
                        waiting.append((t.n, [lead, *after]))
        return hulls

    @cached_property
    def span(self) -> Echelon:
        """U: all updates, of all outcomes, at all weights, with all memories that can be."""
        found = Echelon()
        zero = [ZERO] * self.size
        for t in self.outcomes:
            for lead, *m in self.reachable[t.s].basis:
                # an update is affine in the memory: with (lead, m) for (1, m) it is linear
                for x in (zero, *(unit(self.size, j) for j in range(self.size))):
                    empty = self.step(x, [ZERO] * self.k, t)[0]
                    full = self.step(x, m, t)[0]
                    if x is not zero:
                        empty = minus(empty, self.step(zero, [ZERO] * self.k, t)[0])
                        full = minus(full, self.step(zero, m, t)[0])
                    found.insert([lead * a + f - a for a, f in zip(empty, full, strict=True)])
                    if len(found) == self.size:
                        return found
        return found

    @cached_property
    def Q(self) -> Table:
        """A on U, in the coordinates at its pivots."""
        A, pivots = self.mean[0], self.span.pivots
        columns = [times(A, u) for u in self.span.basis]
        assert not any(any(self.span.rest(c)) for c in columns)
        return [[c[p] for c in columns] for p in pivots]

    @cached_property
    def verdict(self) -> str:
        return verdict(self.Q)

    @cached_property
    def solution(self) -> tuple[Vector, bool]:
        """The x in U with A x = b whose theta is the only one, and whether w is, too."""
        b, pivots = self.mean[1], self.span.pivots
        assert not any(self.span.rest(b))
        null = kernel(self.Q, len(pivots))
        along = [self._of(z) for z in null]
        if any(any(x[: self.d]) for x in along):
            raise Many
        rows = Echelon()
        for row, p in zip(self.Q, pivots, strict=True):
            rows.insert([*row, b[p]])
        if len(pivots) in rows.rows:
            raise Many
        z = [ZERO] * len(pivots)
        for pivot, row in rows.rows.items():
            z[pivot] = row[-1]
        return self._of(z), not null

    def _of(self, z: Vector) -> Vector:
        x = [ZERO] * self.size
        for value, u in zip(z, self.span.basis, strict=True):
            x = [a + value * b for a, b in zip(x, u, strict=True)]
        return x

    @property
    def theta(self) -> Vector:
        return self.solution[0][: self.d]

    @cached_property
    def noise(self) -> Table:
        """The long-run covariance of the updates at the fixed point; of single updates where transitions are independent."""
        x, only = self.solution
        if not only:
            raise TooLarge
        at = []
        for t in self.outcomes:
            constant = self.step(x, [ZERO] * self.k, t)[0]
            slopes = {}
            for j in range(self.k) if self.carried else ():
                slopes[j] = minus(self.step(x, unit(self.k, j), t)[0], constant)
            at.append((constant, {j: v for j, v in slopes.items() if any(v)}))
        if not self.carried:
            total = [[ZERO] * self.size for _ in range(self.size)]
            for t, (constant, _) in zip(self.outcomes, at, strict=True):
                add_outer(total, self.xi[t.s] * t.chance, constant, constant)
            return total
        return LongRun(self, at).covariance()
