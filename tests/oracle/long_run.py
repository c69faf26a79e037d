"""The long-run covariance of N = n + G m along a trajectory.

The sum of all N to come, given the state and the memory, is affine in the memory, v(s) + W(s) m, with

    W(s) = sum over outcomes of chance (G + W(s') M),   v(s) = sum of chance (n + W(s') c + v(s')),

and the covariance is E[N N'] + E[N (v(s') + W(s') m')'] + its transpose.
"""

from __future__ import annotations

from typing import Any

from tests.oracle.linear import ONE, ZERO, Sparse, Table, Vector, dot, solve
from tests.oracle.none import Infinite, TooLarge

LARGEST = 160
"""Second moments of the memory, of all states, that the plain way goes for."""


def add_outer(total: Table, weight: Any, u: Vector, v: Vector) -> None:
    for i, a in enumerate(u):
        if a:
            total[i] = [x + weight * a * b for x, b in zip(total[i], v, strict=True)]


class LongRun:
    """Of a rule whose outcomes have the constants and slopes (n, G) ``at`` its fixed point."""

    def __init__(self, truth: Any, at: list[tuple[Vector, dict[int, Vector]]]) -> None:
        self.truth, self.at = truth, at
        self.terms = list(zip(truth.outcomes, truth.maps, at, strict=True))
        seen: set[tuple[int, int]] = {(t.s, j) for t, _, (_, G) in self.terms for j in G}
        while more := {
            (t.s, j)
            for t, (_, M), _ in self.terms
            for i, j in M
            if (t.n, i) in seen and (t.s, j) not in seen
        }:
            seen |= more
        self.active = sorted(seen & truth.fed)

    def covariance(self) -> Table:
        truth, xi, size = self.truth, self.truth.xi, self.truth.size
        second = self._second()
        W, v = self._future()
        held: dict[int, list[int]] = {}
        for s, i in self.active:
            held.setdefault(s, []).append(i)
        now = [[ZERO] * size for _ in range(size)]
        cross = [[ZERO] * size for _ in range(size)]
        for t, (c, M), (n, G) in self.terms:
            places = held.get(t.s, [])
            # as functions of (1, m): N, and the N to come
            later = list(v[t.n])
            slopes = {j: [ZERO] * size for j in places}
            for i in range(truth.k):
                ahead = W.get((t.n, i))
                if ahead is None:
                    continue
                later = [a + c[i] * b for a, b in zip(later, ahead, strict=True)]
                for j in places:
                    if (i, j) in M:
                        slopes[j] = [a + M[i, j] * b for a, b in zip(slopes[j], ahead, strict=True)]
            first = [(None, n), *((j, G[j]) for j in places if j in G)]
            for i, u in first:
                for j, w in [(None, n), *((j, G[j]) for j in places if j in G)]:
                    add_outer(now, xi[t.s] * t.chance * self._moment(second, t.s, i, j), u, w)
                for j, w in [(None, later), *slopes.items()]:
                    add_outer(cross, xi[t.s] * t.chance * self._moment(second, t.s, i, j), u, w)
        return [[now[i][j] + cross[i][j] + cross[j][i] for j in range(size)] for i in range(size)]

    def _moment(self, second: Any, s: int, i: int | None, j: int | None) -> Any:
        if i is None and j is None:
            return ONE
        if i is None or j is None:
            return self.truth.memory[s][j if i is None else i]  # type: ignore[index]
        return second[s, min(i, j), max(i, j)]

    def _second(self) -> Any:
        """E[m_i m_j] given the state that it arrives in."""
        truth = self.truth
        pairs = [(s, i, j) for s, i in self.active for r, j in self.active if r == s and i <= j]
        if not truth.contracts(pairs):
            raise Infinite
        if len(pairs) > LARGEST:
            raise TooLarge
        places = {pair: i for i, pair in enumerate(pairs)}
        rows: list[Sparse] = [{i: ONE} for i in range(len(pairs))]
        right = [ZERO] * len(pairs)
        for t, (c, M), _ in self.terms:
            into = [i for s, i in self.active if s == t.n]
            held = [i for s, i in self.active if s == t.s]
            weight, mean = truth.xi[t.s] * t.chance, truth.memory[t.s]
            after = {
                i: c[i] + sum((M.get((i, k), ZERO) * mean[k] for k in held), ZERO) for i in into
            }
            for i in into:
                for j in into:
                    if i > j:
                        continue
                    row = places[t.n, i, j]
                    right[row] += weight * (c[i] * after[j] + after[i] * c[j] - c[i] * c[j])
                    for a in held:
                        for b in held:
                            factor = M.get((i, a), ZERO) * M.get((j, b), ZERO)
                            if factor:
                                column = places[t.s, min(a, b), max(a, b)]
                                rows[row][column] = rows[row].get(column, ZERO) - t.chance * factor
        found = solve(rows, [[x] for x in right])
        return {pair: x / truth.xi[pair[0]] for pair, (x,) in zip(pairs, found, strict=True)}

    def _future(self) -> tuple[dict[tuple[int, int], Vector], Table]:
        size = self.truth.size
        places = {node: i for i, node in enumerate(self.active)}
        rows: list[Sparse] = [{i: ONE} for i in range(len(places))]
        right = [[ZERO] * size for _ in places]
        for t, (_, M), (_, G) in self.terms:
            for j, slope in G.items():
                if (t.s, j) in places:
                    row = places[t.s, j]
                    right[row] = [x + t.chance * y for x, y in zip(right[row], slope, strict=True)]
            for (i, j), factor in M.items():
                if (t.s, j) in places and (t.n, i) in places:
                    row, column = rows[places[t.s, j]], places[t.n, i]
                    row[column] = row.get(column, ZERO) - t.chance * factor
        W = dict(zip(self.active, solve(rows, right), strict=True)) if places else {}
        return W, self._poisson(W)

    def _poisson(self, W: dict[tuple[int, int], Vector]) -> Table:
        truth, size = self.truth, self.truth.size
        states = [s for s in range(truth.sampled.n) if truth.xi[s]]
        places = {s: i for i, s in enumerate(states)}
        rows: list[Sparse] = [{i: ONE} for i in range(len(states))]
        right = [[ZERO] * size for _ in states]
        for t, (c, _), (n, _) in self.terms:
            row = places[t.s]
            gained = list(n)
            for i, x in enumerate(c):
                if x and (t.n, i) in W:
                    gained = [a + x * b for a, b in zip(gained, W[t.n, i], strict=True)]
            right[row] = [x + t.chance * y for x, y in zip(right[row], gained, strict=True)]
            rows[row][places[t.n]] = rows[row].get(places[t.n], ZERO) - t.chance
        # N has mean 0, so that any constant will do: v is 0 in the first state, whose equation follows from the others
        weights = [truth.xi[s] for s in states]
        assert not any(dot(weights, column) for column in zip(*right, strict=True))
        rows[0], right[0] = {0: ONE}, [ZERO] * size
        found = [[ZERO] * size for _ in range(truth.sampled.n)]
        for s, value in zip(states, solve(rows, right), strict=True):
            found[s] = value
        return found
