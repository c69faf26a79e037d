"""The second moment of a memory, state by state: finite or not, and what it is.

At fixed weights each outcome z: s -> s' maps the memory h to c_z + M_z h, and what is looked at
is n_z + G_z h. With zeta(s) = E[h 1{s}], the second moments W(s) = E[h h' 1{s}] solve

W(s') = sum over z into s' of p_z { M W(s) M' + M zeta(s) c' + c zeta(s)' M' + xi(s) c c' }.

Only entries that are ever excited, and that something seen depends on, count: an F that no update
uses may grow as it likes. On those W is finite if and only if the kernel of the squares is a
contraction. For one entry with h_i -> c_i + a_z h_i that is K(s', s) = sum of p_z a_z^2, and the
spectral radius of a nonnegative K is below 1 if and only if (I - K) x = 1 has a solution with all
entries positive (Berman and Plemmons 1994, Theorem 6.2.3, condition I27). Entries that feed each
other are judged together: X -> sum of p_z M_z X M_z' keeps positive semidefinite matrices so, and
its spectral radius is below 1 if and only if X - T X = I has a positive semidefinite solution.
Cross moments follow by the inequality of Cauchy and Schwarz.

Floats are :class:`~obliquetd.dynamics.scalars.Rounded` throughout: an update at the fixed point is a
difference of nearly equal numbers, and its moments are known no better than it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from obliquetd.algebra import Arithmetic, FloatMatrix, Matrix
from obliquetd.algebra.storage import gathered
from obliquetd.dynamics.float_stability import float_definiteness
from obliquetd.dynamics.scalars import Rounded, bounded_matrix, rounded_rows
from obliquetd.dynamics.stability import definiteness
from obliquetd.errors import SignUndecidedError, SingularError

__all__ = ["MemoryMoments", "Outcome", "System", "add", "is_contraction", "solved"]

Node = tuple[int, int]
"""A state, and an entry of the memory that arrives there."""


EXCITED, SEEN = "excited", "seen"
"""Where the ways through the memory begin and end."""


class Outcome(NamedTuple):
    """One outcome at fixed weights, native or Rounded: h to c + M h, and the functional n + G h."""

    s: int
    t: int
    chance: Any  # given the state s
    start: Mapping[int, Any]  # c, without zeros
    carry: Mapping[Node, Any]  # M[i, j], without zeros
    constant: Sequence[Any]  # n
    slopes: Mapping[int, Sequence[Any]]  # the columns of G, without those that are zero


class Maps(NamedTuple):
    """An outcome's c, the rows of its M, and M zeta(s), between entries that matter."""

    start: dict[int, Any]
    rows: dict[int, list[tuple[int, Any]]]
    moved: dict[int, Any]


class System(NamedTuple):
    """(I - K) y = right: the entries of K by place, and rows of right-hand sides."""

    size: int
    K: dict[tuple[int, int], Any]
    right: list[list[Any]]


class MemoryMoments:
    """Which entries of the memory matter, in an order in which they can be solved for.

    Parameters
    ----------
    arithmetic : Arithmetic
    outcomes : list of Outcome
        Those of the states that are visited.
    xi : list of native scalars, or of Rounded
        The stationary distribution.
    zeta : list of lists
        E[h 1{s}] for each state.
    scale : native number, optional
        What a covariance of what is looked at has to be divided by, since xi and zeta, and the
        functional, are multiples that have short denominators. 1 unless given.
    """

    def __init__(
        self,
        arithmetic: Arithmetic,
        outcomes: list[Outcome],
        xi: list[Any],
        zeta: list[list[Any]],
        scale: Any = None,
    ) -> None:
        self.arithmetic, self.outcomes, self.xi, self.zeta = arithmetic, outcomes, xi, zeta
        self.scale = arithmetic.one if scale is None else scale
        import networkx as nx  # late: it is slow to load, and most uses of the package do without it

        feeds = nx.DiGraph()
        feeds.add_nodes_from((EXCITED, SEEN))
        for z in outcomes:
            feeds.add_edges_from(((z.s, j), (z.t, i)) for (i, j) in z.carry)
            feeds.add_edges_from((EXCITED, (z.t, i)) for i in z.start)
            feeds.add_edges_from(((z.s, j), SEEN) for j in z.slopes)
        self.active = nx.descendants(feeds, EXCITED) & nx.ancestors(feeds, SEEN)
        entries = nx.DiGraph()
        entries.add_nodes_from(sorted({i for _, i in self.active}))
        entries.add_edges_from(
            (j, i) for z in outcomes for (i, j) in z.carry if self._both(z, i, j)
        )
        condensed = nx.condensation(entries)
        self.groups = [
            (depth, sorted(condensed.nodes[g]["members"]))
            for depth, generation in enumerate(nx.topological_generations(condensed))
            for g in generation
        ]
        """Entries that feed each other, with the length of the longest way to them."""
        self.entries = sorted(entries.nodes)

    @property
    def width(self) -> int:
        """How many numbers are looked at."""
        return len(self.outcomes[0].constant)

    def _both(self, z: Outcome, i: int, j: int) -> bool:
        return (z.s, j) in self.active and (z.t, i) in self.active

    @cached_property
    def maps(self) -> list[Maps]:
        """Each outcome's map, between entries that matter."""
        out = []
        for z in self.outcomes:
            start = {i: v for i, v in z.start.items() if (z.t, i) in self.active}
            rows: dict[int, list[tuple[int, Any]]] = {}
            for (i, j), v in z.carry.items():
                if self._both(z, i, j):
                    rows.setdefault(i, []).append((j, v))
            zeta, zero = self.zeta[z.s], self.arithmetic.zero
            moved = {i: sum((v * zeta[a] for a, v in row), zero) for i, row in rows.items()}
            out.append(Maps(start, rows, moved))
        return out

    @cached_property
    def infinite(self) -> list[int]:
        """The entries of the memory whose second moment is infinite."""
        known: dict[Any, bool] = {}
        out = []
        for _, group in self.groups:
            system = self._squares(group)
            key = (system.size, frozenset(system.K.items()), len(group))
            if key not in known:
                known[key] = self._contracts(group, system)
            if not known[key]:
                out += group
        return sorted(out)

    def _squares(self, group: list[int]) -> System:
        """The map of second moments within a group, with 1 on the right where i = j."""
        places = self._places(group, group)
        one, zero = self.arithmetic.one, self.arithmetic.zero
        right = [[one if i == j else zero] for _, i, j in places]
        return System(len(places), self._kernel(places, group, group), right)

    def _contracts(self, group: list[int], system: System) -> bool:
        if len(group) == 1:
            return is_contraction(_assembled(self.arithmetic, system))
        try:
            (x,) = solved(self.arithmetic, [system])
        except SingularError:
            return _undecided(self.arithmetic)
        by_state: dict[int, dict[Node, Any]] = {}
        for (s, i, j), (value,) in zip(self._places(group, group), x, strict=True):
            by_state.setdefault(s, {})[i, j] = value
        for block in by_state.values():
            at = sorted({i for i, _ in block})
            form = bounded_matrix(
                [[block[i, j] for j in at] for i in at], (len(at), len(at)), self.arithmetic
            )
            floats = isinstance(form, FloatMatrix)
            verdict = float_definiteness(form) if floats else definiteness(form)
            if verdict == "unknown":
                return _undecided(self.arithmetic)
            if verdict != "positive definite":
                return False
        return True

    def _places(self, first: list[int], second: list[int]) -> dict[tuple[int, int, int], int]:
        found = [
            (s, i, j)
            for s in sorted({s for s, _ in self.active})
            for i in first
            for j in second
            if (s, i) in self.active and (s, j) in self.active
        ]
        return {place: k for k, place in enumerate(found)}

    def _kernel(
        self, places: dict[tuple[int, int, int], int], first: list[int], second: list[int]
    ) -> dict[tuple[int, int], Any]:
        """The chance-weighted M[i, a] M[j, b] of entries within two groups, by place."""
        K: dict[tuple[int, int], Any] = {}
        for z, maps in zip(self.outcomes, self.maps, strict=True):
            left = [(i, a, v) for i in first for a, v in maps.rows.get(i, ()) if a in first]
            right = [(j, b, v) for j in second for b, v in maps.rows.get(j, ()) if b in second]
            for (i, a, v), (j, b, w) in itertools.product(left, right):
                at = places.get((z.t, i, j)), places.get((z.s, a, b))
                if at[0] is not None and at[1] is not None:
                    add(K, at, z.chance * v * w)  # type: ignore[arg-type]
        return K

    @cached_property
    def second(self) -> list[dict[Node, Any]]:
        """W(s) of the entries that matter, by their places, for each state."""
        W: list[dict[Node, Any]] = [{} for _ in self.xi]
        pairs = [
            (d + e, g, h)
            for (d, g), (e, h) in itertools.combinations_with_replacement(self.groups, 2)
        ]
        for _, level in itertools.groupby(sorted(pairs, key=lambda p: p[0]), key=lambda p: p[0]):
            wanted = [(g, h, self._places(g, h)) for _, g, h in level]
            systems = [
                System(len(places), self._kernel(places, g, h), self._sources(places, W))
                for g, h, places in wanted
            ]
            for (_, _, places), x in zip(wanted, solved(self.arithmetic, systems), strict=True):
                for (s, i, j), (value,) in zip(places, x, strict=True):
                    W[s][i, j] = W[s][j, i] = value
        return W

    def _sources(
        self, places: dict[tuple[int, int, int], int], W: list[dict[Node, Any]]
    ) -> list[list[Any]]:
        """What second moments get from what is known of the others, from means and from c."""
        right = [[self.arithmetic.zero] for _ in places]
        by_state: dict[int, list[tuple[int, int, int]]] = {}
        for (s, i, j), k in places.items():
            by_state.setdefault(s, []).append((i, j, k))
        for z, maps in zip(self.outcomes, self.maps, strict=True):
            for i, j, k in by_state.get(z.t, ()):
                value = self.arithmetic.zero
                first, second = maps.rows.get(i, ()), maps.rows.get(j, ())
                for (a, v), (b, w) in itertools.product(first, second):
                    if (z.s, a, b) not in places and (a, b) in W[z.s]:
                        value = value + v * w * W[z.s][a, b]
                for x, y in ((i, j), (j, i)):
                    if x in maps.start and y in maps.moved:
                        value = value + maps.start[x] * maps.moved[y]
                if i in maps.start and j in maps.start:
                    value = value + self.xi[z.s] * maps.start[i] * maps.start[j]
                if value:
                    right[k][0] = right[k][0] + z.chance * value
        return right


def add(K: dict[tuple[int, int], Any], at: tuple[int, int], value: Any) -> None:
    """Add a value to what stands at a place."""
    K[at] = K[at] + value if at in K else value


def is_contraction(K: Matrix) -> bool:
    """Whether the spectral radius of a matrix without a negative entry is below 1.

    That is so if and only if (I - K) x = 1 has a solution with all entries positive.

    Raises
    ------
    SignUndecidedError
        Where it depends on a symbol, or is too close to call in floats.

    Examples
    --------
    >>> from obliquetd.algebra import EXACT
    >>> half = EXACT.identity(1).scaled(EXACT.one / 2)
    >>> is_contraction(half), is_contraction(EXACT.identity(1))
    (True, False)
    """
    arithmetic, size = K.arithmetic, K.shape[0]
    ones = arithmetic.column([arithmetic.one] * size)
    try:
        x = (arithmetic.identity(size) - K).solve(ones, "I - K")
    except SingularError:
        return _undecided(arithmetic)
    if isinstance(x, FloatMatrix):
        value, error = x.dense(), x.dense_error()
        sure, open_still = bool((value > error).all()), bool((value >= -error).all())
        return sure or (open_still and _undecided(arithmetic))
    return all(arithmetic.sign(v) > 0 for v in x.entries())


def _undecided(arithmetic: Arithmetic) -> bool:
    """False: the radius is no less than 1, where that is told by exact numbers."""
    if arithmetic.kind == "float":
        raise SignUndecidedError(
            "whether the second moment of a memory is finite is too close to call in floats; use "
            "arithmetic='exact'"
        )
    return False


def _assembled(arithmetic: Arithmetic, system: System) -> Matrix:
    """K as a matrix."""
    shape = system.size, system.size
    places = np.array(list(system.K), dtype=np.intp).reshape(-1, 2)
    if arithmetic.kind == "float":
        listed = system.K.values()
        values = np.array([float(v) for v in listed])
        bounds = np.array([v.error if isinstance(v, Rounded) else 0.0 for v in listed])
        value, error = (gathered(shape, places[:, 0], places[:, 1], x) for x in (values, bounds))
        return FloatMatrix(value, error=error)
    entries = np.empty(len(system.K), dtype=object)
    entries[:] = list(system.K.values())
    return arithmetic.assemble(shape, places[:, 0], places[:, 1], entries)


def solved(arithmetic: Arithmetic, systems: Iterable[System]) -> list[list[list[Any]]]:
    """The rows of y of each system; systems with one K are solved together.

    Examples
    --------
    >>> from obliquetd.algebra import EXACT
    >>> half = EXACT.one / 2
    >>> (y,) = solved(EXACT, [System(1, {(0, 0): half}, [[EXACT.one]])])
    >>> str(y[0][0])
    '2'
    """
    listed = list(systems)
    alike: dict[Any, list[int]] = {}
    for k, system in enumerate(listed):
        alike.setdefault((system.size, frozenset(system.K.items())), []).append(k)
    out: list[list[list[Any]]] = [[] for _ in listed]
    for members in alike.values():
        size = listed[members[0]].size
        if not size:
            continue
        right = [[x for k in members for x in listed[k].right[row]] for row in range(size)]
        matrix = arithmetic.identity(size) - _assembled(arithmetic, listed[members[0]])
        column = bounded_matrix(right, (size, len(right[0])), arithmetic)
        found = rounded_rows(matrix.solve(column, "the equation of a memory's moments"))
        start = 0
        for k in members:
            width = len(listed[k].right[0])
            out[k] = [row[start : start + width] for row in found]
            start += width
    return out
