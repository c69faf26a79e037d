"""The span U of all updates of a rule: where its weights can move at all.

From x_0 the weights stay in x_0 + U, whatever the data brings, and A maps into U. So only A
restricted to U says anything of a learner: for a basis B of U, A B = B Q with one matrix Q.
What lies outside U never moves: it is no instability, and no fixed point is sought there.

U is spanned by the updates c + G x over all outcomes that have a chance, all weights x, and
all memories that the rule can reach: those that follow from the empty one. An update is affine in the
memory, so affinely independent memories that span the reachable ones are enough.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from obliquetd.algebra import Matrix
from obliquetd.dynamics.at_rest import AtRest, Vector, counts, is_constant
from obliquetd.dynamics.float_span import all_coordinates
from obliquetd.dynamics.products import Products
from obliquetd.dynamics.rule import RuleOnNumbers, Sample
from obliquetd.dynamics.scalars import Rounded, native_matrix
from obliquetd.errors import NotUniqueError

__all__ = ["Span", "common_zeros", "counts", "span_of_updates"]


@dataclass(frozen=True, eq=False)
class Span:
    """A subspace of R^D.

    Attributes
    ----------
    basis : Matrix (D, r)
        Its rows at the pivots are the identity, so that coordinates are read off.
    pivots : tuple of r int
    critical : tuple of native scalars
        Symbols: formulas outside whose real zeros and poles no dimension is lost.
    """

    basis: Matrix
    pivots: tuple[int, ...]
    critical: tuple[Any, ...] = ()

    @property
    def dimension(self) -> int:
        """r."""
        return len(self.pivots)

    def dimension_of(self, coordinates: Sequence[int]) -> int:
        """The dimension of the subspace as seen in some coordinates alone."""
        if len(coordinates) == self.basis.shape[0]:
            return self.dimension
        return self.basis.submatrix(coordinates, range(self.dimension)).rank()

    def coordinates(self, vectors: Matrix) -> Matrix:
        """z with B z = v, for each column v in the subspace."""
        return vectors.submatrix(self.pivots, range(vectors.shape[1]))

    def restrict(self, A: Matrix) -> Matrix:
        """Q with A B = B Q, for an A that maps into the subspace."""
        return self.coordinates(A @ self.basis)

    def complement(self) -> Matrix:
        """Columns c with c'u = 0 for every u in the subspace, (D, D - r)."""
        return self.basis.T.null_space()

    def untouched(self) -> list[int]:
        """The coordinates that are 0 throughout the subspace."""
        touched = set(self.basis.support()[0].tolist())
        return [i for i in range(self.basis.shape[0]) if i not in touched]


class Echelon:
    """A reduced basis that grows by one vector at a time."""

    def __init__(self, size: int, preferred: Any = None) -> None:
        self.most, self.preferred = size, preferred
        self.rows: dict[int, Vector] = {}
        self.leads: list[Any] = []
        self.left_out = False
        """Whether a vector of floats was taken to be 0, or within the others, because its rounding may be all of it."""

    @property
    def full(self) -> bool:
        """Whether all is spanned that can be."""
        return len(self.rows) == self.most

    def insert(self, vector: Vector) -> bool:
        """Take a vector in; whether it was independent of the others."""
        rest = dict(vector)
        for pivot in [p for p in vector if p in self.rows]:
            _subtract(rest, rest[pivot], self.rows[pivot], pivot)
        rest = {i: x for i, v in rest.items() if (x := _settled(v))}
        if not any(map(counts, rest.values())):
            self.left_out |= bool(rest)
            return False
        pivot = self._pivot(rest)
        lead = rest[pivot]
        self.leads.append(lead)
        row = {i: v / lead for i, v in rest.items()}
        row[pivot] = lead / lead if not isinstance(lead, Rounded) else Rounded(1.0)
        for other in self.rows.values():
            if pivot in other:
                _subtract(other, other[pivot], row, pivot)
        self.rows[pivot] = row
        return True

    def _pivot(self, vector: Vector) -> int:
        if isinstance(next(iter(vector.values())), Rounded):
            return max(vector, key=lambda i: abs(vector[i].value))
        if self.preferred is not None:
            return min(vector, key=lambda i: (not self.preferred(vector[i]), i))
        return min(vector)


def _subtract(vector: Vector, factor: Any, row: Vector, pivot: int) -> None:
    """Vector -= factor row, which clears the pivot."""
    for i, v in row.items():
        moved = vector[i] - factor * v if i in vector else -(factor * v)
        if i == pivot or not (settled := _settled(moved)):
            vector.pop(i, None)
        else:
            vector[i] = settled


def _settled(value: Any) -> Any:
    """A number; a float that may be 0 for all that is known is 0, with a bound that holds it."""
    if isinstance(value, Rounded) and not counts(value):
        return Rounded(0.0, abs(value.value) + value.error)
    return value


def _sparse(values: Iterable[Any]) -> Vector:
    return {i: v for i, v in enumerate(values) if v}


def span_of_updates(
    rule: RuleOnNumbers,
    samples: Callable[[], list[Sample]],
    *,
    carried: bool,
    products: Products | None = None,
    exactly: Callable[[], Matrix] | None = None,
) -> Span:
    """U, the span of all updates of the given outcomes.

    Parameters
    ----------
    rule : RuleOnNumbers
    samples : function
        The outcomes that have a chance, where they are asked for.
    carried : bool
        Whether the memory is carried from one transition to the next.
    products : Products, optional
        The terms of those outcomes, from which updates with an empty memory are read off.
    exactly : function, optional
        A basis in rationals, which is asked for the dimension where floats leave that open.

    Raises
    ------
    NotUniqueError
        Where floats lose a direction that there is.
    """
    arithmetic = rule.ops.arithmetic
    symbolic = bool(getattr(arithmetic, "symbols", ()))
    echelon = Echelon(rule.size, is_constant if symbolic else None)
    critical: list[Any] = []
    if products:
        at_rest = AtRest(products)
        echelon.most, updates = at_rest.most, at_rest.updates()
        some = at_rest.updates(few=True)
    else:
        updates, some = _updates(rule, samples()), _updates(rule, samples())
    if arithmetic.kind == "float":
        spanned = all_coordinates(some, echelon.most)
        echelon.rows = {i: {i: Rounded(1.0)} for i in spanned}
    if symbolic:
        critical += _insert_by_direction(echelon, rule, updates)
    elif not echelon.full:
        for vector in updates:
            echelon.insert(vector)
            if echelon.full:
                break
    if carried and rule.learner.has_memory and not echelon.full:
        for sample, memory in _reachable(rule, samples(), echelon):
            for values in _update(rule, sample, memory):
                echelon.insert(_sparse(values))
            if echelon.full:
                break
    if arithmetic.kind == "float" and echelon.left_out and not echelon.full and exactly:
        _require_dimension(rule, len(echelon.rows), exactly())
    pivots = tuple(sorted(echelon.rows))
    zero = rule.zero
    columns = [[echelon.rows[p].get(i, zero) for p in pivots] for i in range(rule.size)]
    shape = (rule.size, len(pivots))
    basis = native_matrix(columns, shape, arithmetic)
    return Span(basis, pivots, (*critical, *echelon.leads))


def _require_dimension(rule: RuleOnNumbers, found: int, exact: Matrix) -> None:
    """That floats see as many directions as there are: one that cancels would stay where it is without a word."""
    if found == exact.shape[1]:
        return
    raise NotUniqueError(
        f"the updates of {rule.learner.name} span {exact.shape[1]} directions, of which floats see {found}: the "
        "others are within the rounding of the numbers, or beyond their range. Use arithmetic='exact', or "
        "features that are further from dependent",
    )


def _update(rule: RuleOnNumbers, sample: Sample, memory: list[Any]) -> Iterator[list[Any]]:
    yield rule.constant(sample, memory)
    yield from rule.slopes(sample, memory)


def _updates(rule: RuleOnNumbers, samples: list[Sample]) -> Iterator[Vector]:
    for sample in samples:
        constant, slopes = rule.at_rest(sample)
        for values in (constant, *slopes):
            vector = _sparse(values)
            if vector:
                yield vector


def _insert_by_direction(
    echelon: Echelon, rule: RuleOnNumbers, updates: Iterable[Vector]
) -> list[Any]:
    """Updates that are a formula times a constant vector count once, and first.

    Such a direction is lost only where all its formulas vanish.
    """
    constant: dict[Any, set[Any]] = {}
    others = []
    for vector in updates:
        first = vector[min(vector)]
        direction = {i: v / first for i, v in vector.items()}
        if all(map(is_constant, direction.values())):
            constant.setdefault(tuple(direction.items()), set()).add(first.numer)
        else:
            others.append(vector)
    field = rule.ops.arithmetic.domain  # type: ignore[attr-defined]
    critical = [
        field.convert_from(common_zeros(formulas), field.get_ring())
        for key, formulas in constant.items()
        if echelon.insert(dict(key))
    ]
    for vector in others:
        if echelon.full:
            break
        echelon.insert(vector)
    return critical


def common_zeros(polynomials: Iterable[Any]) -> Any:
    """A polynomial whose real zeros are where all of some vanish.

    In one symbol it is their greatest common divisor g: what is left of them has no common zero (Bezout). In
    several it may, as x and y at the origin, and is 0 there just where the sum of its squares is: g times that sum.

    Examples
    --------
    >>> from sympy import QQ, ring
    >>> R, x, y = ring("x, y", QQ)
    >>> common_zeros([x * y, x**2]), common_zeros([x, 1 - x, y]), common_zeros([2 * x])
    (x**3 + x*y**2, 2*x**2 - 2*x + y**2 + 1, x)
    """
    listed = list(polynomials)
    common = functools.reduce(lambda p, q: p.gcd(q), listed).monic()
    rest = {p.exquo(common).monic() for p in listed}
    if common.ring.ngens == 1 or any(p.is_ground for p in rest):
        return common
    return common * sum(p**2 for p in rest)


def _reachable(
    rule: RuleOnNumbers, samples: list[Sample], into: Echelon
) -> Iterator[tuple[Sample, list[Any]]]:
    """Outcomes with memories, whose affine hulls hold all that can arrive in their states.

    A memory m is kept as (1, m), on which c + M m is linear; from the empty one the spans
    grow along the transitions until none does. What is left out of them may be missing in ``into``.
    """
    by_state: dict[int, list[Sample]] = {}
    for sample in samples:
        by_state.setdefault(sample.state, []).append(sample)
    size = rule.memory_size
    hulls = {s: Echelon(size + 1) for s in by_state}
    waiting = [(s, [rule.one, *rule.nothing]) for s in by_state]
    maps = {id(sample): rule.carried(sample) for sample in samples}
    while waiting:
        state, point = waiting.pop()
        if state not in hulls or not hulls[state].insert(_sparse(point)):
            into.left_out |= state in hulls and hulls[state].left_out
            continue
        for sample in by_state[state]:
            yield sample, point[1:]
            start, columns = maps[id(sample)]
            following = list(start)
            for m, column in zip(point[1:], columns, strict=True):
                if m:
                    following = [f + m * v for f, v in zip(following, column, strict=True)]
            waiting.append((sample.next_state, [rule.one, *following]))
