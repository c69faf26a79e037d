"""The long-run covariance of what a learner does at fixed weights, along a stationary trajectory.

With N_t = n_z + G_z h_t of mean 0, the sum of the future N, given the state and the memory, is
affine in the memory too, u(s) + Gamma(s) h, where p_z is the chance of z given s and

Gamma(s) = sum over z of p_z (G_z + Gamma(s') M_z),
u(s)     = sum over z of p_z (n_z + Gamma(s') c_z + u(s')).

The second is a Poisson equation of the behaviour chain; any additive constant will do, since N has
mean 0. The long-run covariance, the limit of Cov(N_0 + ... + N_{T-1}) / T, is

Sigma = E[N N'] + E[N (u(s') + Gamma(s') h')'] + its transpose.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from obliquetd.algebra import Matrix
from obliquetd.dynamics.memory_moments import MemoryMoments, System, add, solved
from obliquetd.dynamics.scalars import bounded_matrix, rounded_rows

__all__ = ["long_run_covariance", "single_covariance"]


def single_covariance(moments: MemoryMoments) -> Matrix:
    """E[N N'] where every memory is empty: of independent transitions."""
    arithmetic, outcomes = moments.arithmetic, moments.outcomes
    weighted = [[z.chance * moments.xi[z.s] * x for x in z.constant] for z in outcomes]
    shape = len(outcomes), moments.width
    left = bounded_matrix(weighted, shape, arithmetic)
    found = left.T @ bounded_matrix([list(z.constant) for z in outcomes], shape, arithmetic)
    return _unscaled(found, moments.scale)


def _unscaled(found: Matrix, scale: Any) -> Matrix:
    return found if scale == found.arithmetic.one else found.scaled(found.arithmetic.one / scale)


def long_run_covariance(moments: MemoryMoments) -> Matrix:
    """Sigma of the functional of the outcomes, whose mean is 0.

    Parameters
    ----------
    moments : MemoryMoments
        With finite second moments.
    """
    arithmetic, outcomes = moments.arithmetic, moments.outcomes
    width, k = moments.width, 1 + len(moments.entries)
    now, future = _updates(moments), _future(moments)
    kept, common = _held(moments)
    total = arithmetic.matrix([[arithmetic.zero] * width for _ in range(width)], (width, width))
    seen: list[list[list[Any]]] = [[] for _ in outcomes]
    for s, places in _together(z.s for z in outcomes).items():
        # one product for all outcomes of a state: their sum has few denominators, which adding one
        # by one would multiply
        rows = [row for i in places for row in now[i]]
        held = rounded_rows(bounded_matrix(rows, (len(rows), k), arithmetic) @ kept[s])
        for j, i in enumerate(places):
            found = held[j * width : (j + 1) * width]
            seen[i] = [[outcomes[i].chance * x for x in row] for row in found]
        left, right = (
            bounded_matrix(_beside(part, places, width), (width, len(places) * k), arithmetic)
            for part in (seen, now)
        )
        total = total + left @ right.T
    cross = total.scaled(arithmetic.zero)
    for t, places in _together(z.t for z in outcomes).items():
        # E[N (1, h')'] of all that lead to t, before the large numbers of what follows come in
        left = bounded_matrix(_beside(seen, places, width), (width, len(places) * k), arithmetic)
        maps = [row for i in places for row in _transposed_map(moments, i)]
        arriving = left @ bounded_matrix(maps, (len(places) * k, k), arithmetic)
        cross = cross + arriving @ future[t].T
    return _unscaled(total + cross + cross.T, moments.scale * common)


def _together(keys: Iterable[int]) -> dict[int, list[int]]:
    """The positions of each key."""
    found: dict[int, list[int]] = {}
    for i, key in enumerate(keys):
        found.setdefault(key, []).append(i)
    return found


def _beside(parts: list[list[list[Any]]], places: list[int], width: int) -> list[list[Any]]:
    """Some of the matrices side by side."""
    return [[x for i in places for x in parts[i][r]] for r in range(width)]


def _updates(moments: MemoryMoments) -> list[list[list[Any]]]:
    """(n, G) of each outcome, over the entries that matter."""
    zero, out = moments.arithmetic.zero, []
    for z in moments.outcomes:
        slopes = [z.slopes.get(j) for j in moments.entries]
        out.append([[n, *(g[r] if g else zero for g in slopes)] for r, n in enumerate(z.constant)])
    return out


def _transposed_map(moments: MemoryMoments, i: int) -> list[list[Any]]:
    """The transpose of an outcome's map of (1, h), whose rows are (1, 0) and (c, M)."""
    arithmetic, entries = moments.arithmetic, moments.entries
    zero, found = arithmetic.zero, moments.maps[i]
    rows = [[arithmetic.one, *(zero for _ in entries)]]
    for entry in entries:
        carried = dict(found.rows.get(entry, ()))
        rows.append([found.start.get(entry, zero), *(carried.get(j, zero) for j in entries)])
    return [list(column) for column in zip(*rows, strict=True)]


def _held(moments: MemoryMoments) -> tuple[list[Matrix], Any]:
    """E[(1, h) (1, h)' 1{s}] of the entries that matter, times one number that makes them whole; that."""
    arithmetic, k = moments.arithmetic, 1 + len(moments.entries)
    found = [_held_at(moments, s) for s in range(len(moments.xi))]
    common = arithmetic.matrix(
        [row for rows in found for row in rows], (len(found) * k, k)
    ).denominator()
    matrices = [bounded_matrix(rows, (k, k), arithmetic) for rows in found]
    return [x if common == arithmetic.one else x.scaled(common) for x in matrices], common


def _held_at(moments: MemoryMoments, s: int) -> list[list[Any]]:
    zero, entries = moments.arithmetic.zero, moments.entries
    zeta = [moments.zeta[s][i] if (s, i) in moments.active else zero for i in entries]
    W = moments.second[s]
    rows = [[moments.xi[s], *zeta]]
    rows += [
        [m, *(W.get((i, j), zero) for j in entries)] for i, m in zip(entries, zeta, strict=True)
    ]
    return rows


def _future(moments: MemoryMoments) -> list[Matrix]:
    """(u(s), Gamma(s)) for each state."""
    arithmetic, entries = moments.arithmetic, moments.entries
    Gamma = _slopes_of_the_future(moments)
    u = _poisson(moments, Gamma)
    zero = arithmetic.zero
    width = moments.width
    nothing = [zero] * width
    out = []
    for s, constant in enumerate(u):
        columns = [constant, *(Gamma.get((s, j), nothing) for j in entries)]
        out.append(bounded_matrix(columns, (1 + len(entries), width), arithmetic).T)
    return out


def _slopes_of_the_future(moments: MemoryMoments) -> dict[tuple[int, int], list[Any]]:
    """The columns of Gamma(s) by state and entry; entries that feed none of the others come first."""
    arithmetic = moments.arithmetic
    width = moments.width
    Gamma: dict[tuple[int, int], list[Any]] = {}
    by_depth = sorted(moments.groups, key=lambda g: -g[0])
    for _, level in itertools.groupby(by_depth, key=lambda g: g[0]):
        wanted, systems = [], []
        for _, group in level:
            nodes = (node for node in sorted(moments.active) if node[1] in group)
            places = {node: k for k, node in enumerate(nodes)}
            K: dict[tuple[int, int], Any] = {}
            right = [[arithmetic.zero] * width for _ in places]
            for z, maps in zip(moments.outcomes, moments.maps, strict=True):
                for j in group:
                    k = places.get((z.s, j))
                    if k is not None and j in z.slopes:
                        _accumulate(right[k], z.chance, z.slopes[j])
                for i, row in maps.rows.items():
                    for j, v in row:
                        if j not in group:
                            continue
                        k, weight = places[z.s, j], z.chance * v
                        if (z.t, i) in places:
                            add(K, (k, places[z.t, i]), weight)
                        else:
                            _accumulate(right[k], weight, Gamma[z.t, i])
            wanted.append(places)
            systems.append(System(len(places), K, right))
        for places, found in zip(wanted, solved(arithmetic, systems), strict=True):
            Gamma.update(zip(places, found, strict=True))
    return Gamma


def _accumulate(total: list[Any], weight: Any, values: Any) -> None:
    for r, x in enumerate(values):
        if x:
            total[r] = total[r] + weight * x


def _poisson(moments: MemoryMoments, Gamma: dict[tuple[int, int], list[Any]]) -> list[list[Any]]:
    """u, with u = 0 at one state that is visited."""
    arithmetic = moments.arithmetic
    width = moments.width
    visited = [s for s, w in enumerate(moments.xi) if w]
    places = {s: k for k, s in enumerate(visited[1:])}
    K: dict[tuple[int, int], Any] = {}
    right = [[arithmetic.zero] * width for _ in places]
    for z, maps in zip(moments.outcomes, moments.maps, strict=True):
        if z.s not in places:
            continue
        k = places[z.s]
        _accumulate(right[k], z.chance, z.constant)
        for i, c in maps.start.items():
            _accumulate(right[k], z.chance * c, Gamma[z.t, i])
        if z.t in places:
            add(K, (k, places[z.t]), z.chance)
    (found,) = solved(arithmetic, [System(len(places), K, right)])
    nothing = [arithmetic.zero] * width
    return [found[places[s]] if s in places else nothing for s in range(len(moments.xi))]
