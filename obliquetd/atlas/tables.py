"""What a learner's rule makes of every pair of feature vectors: its expected update on a whole family.

For state weights xi the matrix of the expected update is a sum over outcomes o = (s, t)
(:mod:`obliquetd.dynamics.expectation`),

    A = - sum of xi(s) P(o | s) ( G_o + sum over j of z_j(s) H_oj ),

where G_o are the slopes of the rule in the weights with an empty memory, H_oj what an entry j of the memory
adds to them, and z(s) the mean memory that arrives in s. These depend on the features of s and t alone,
and on how likely the policies are to move so. So the rule itself is run, exactly, on each pair of
vectors that a family has, and A of any member is looked up and added.

The memory handed on is c_o + M_o m. Where M_o does not depend on the features, as for every trace that
decays by a number, z(s) xi(s) = zeta(s) solves a system that is the same for all members with one chain:

    zeta(t) = sum over o into t of P(o | s) ( xi(s) c_o + M_o zeta(s) ),

so that z is a fixed linear map of the c_o. A rule with another memory, one that reads what follows from a
whole problem, one that asks which state it is in, and one that treats features or their signs differently
is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

from obliquetd.atlas.family import Family
from obliquetd.atlas.integers import Integers
from obliquetd.dynamics.rule import RuleOnNumbers, Sample
from obliquetd.errors import KindError, LearnerError, ObliqueTDError
from obliquetd.learners import Learner, Transition
from obliquetd.learners.forms import NoFormError, Opaque, Row
from obliquetd.learners.state import shapes
from obliquetd.learners.words import TWIN

__all__ = ["Move", "Table", "Tables", "tables_of"]

Move = tuple[Fraction, Fraction]
"""The chances of an action under the target and the behaviour."""


@dataclass(frozen=True)
class Table:
    """All pairs of vectors, for outcomes with one :data:`Move`; pair (u, v) has the number u V + v.

    Attributes
    ----------
    below : Integers (V^2,)
        A positive denominator of what follows.
    G : Integers (V^2, D, D)
    H : Integers (V^2, k, D, D)
    c : Integers (V^2, k)
    S : Integers (V^2, D, D)
        A matrix whose range the updates with an empty memory span.
    M : k by k tuples of Fraction
    """

    below: Integers
    G: Integers
    H: Integers
    c: Integers
    S: Integers
    M: tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Tables:
    """The tables of one learner at one discount.

    Attributes
    ----------
    learner : Learner
    size : int
        D, the number of weights.
    memory : int
        k, the entries of the memory that are ever filled.
    by_move : dict of Move to Table
    """

    learner: Learner
    size: int
    memory: int
    by_move: dict[Move, Table]


class Pair(Opaque):
    """The features of a transition between two vectors: a rule finds rows by name, not by number."""

    def __init__(self, rows: dict[str, Any], d: int) -> None:
        self.rows, self.shape = rows, (2, d)

    def __getitem__(self, key: Any) -> Any:
        row, place = key
        if not isinstance(row, Row):
            raise NoFormError("a rule asks for the features of a state by its number")
        return self.rows[row.name][place]


def tables_of(family: Family, learner: Learner, discount: Fraction) -> Tables:
    """The rule run on every pair of vectors of a family.

    Raises
    ------
    LearnerError
        For a learner whose expected update is of another form; says why.
    KindError
        For one with symbols.

    Examples
    --------
    >>> from obliquetd.learners import TD
    >>> found = tables_of(Family(2, 1, largest=1), TD(), Fraction(9, 10))
    >>> found.size, found.memory, sorted(map(str, found.by_move[Fraction(1), Fraction(1, 2)].G.values[:, 0, 0]))
    (1, 0, ['-1', '-1', '-19', '-19', '-2', '-2', '0', '0', '0'])
    """
    if learner.symbols:
        names = ", ".join(sorted(map(str, learner.symbols)))
        raise KindError(
            f"{learner.label} has the symbol {names}; an atlas needs numbers in its place"
        )
    if learner.derives:
        raise _refused(
            learner,
            f"its rule reads {' and '.join(learner.derives)}, which follows from a whole problem",
        )
    if learner.reads & TWIN:
        raise _refused(learner, "its rule reads two transitions out of one state")
    chain = family.chains[0][0]
    first = family.problem(chain, np.eye(family.states, family.features, dtype=int), discount)
    rule = RuleOnNumbers(first.native, learner)
    runs = Runs(family, rule, discount)
    raw = {move: list(runs.of(move)) for move in _moves(family)}
    fed = (
        _fed([entry for entries in raw.values() for entry in entries]) if learner.has_memory else []
    )
    made = {move: _table(family, rule, entries, fed) for move, entries in raw.items()}
    return Tables(learner, rule.size, len(fed), made)


def _moves(family: Family) -> list[Move]:
    if family.on_policy:
        return [(Fraction(1), Fraction(1))]
    share = Fraction(1, family.states)
    return [(Fraction(p, family.parts), share) for p in range(family.parts + 1)]


def _refused(learner: Learner, why: str) -> LearnerError:
    return LearnerError(
        f"{learner.label} is not for an atlas: {why}; leave it out, or judge problems one by one with "
        "otd.mean_dynamics"
    )


@dataclass(frozen=True)
class Entry:
    """One pair of vectors, in fractions: constants, slopes, what a memory adds, and c and M."""

    b: list[Any]
    G: Any
    H: list[Any]
    c: list[Any]
    M: list[list[Any]]


class Runs:
    """The rule on pairs of vectors.

    Parameters
    ----------
    family : Family
    rule : RuleOnNumbers
        Of any problem with the same number of features.
    discount : Fraction
    """

    def __init__(self, family: Family, rule: RuleOnNumbers, discount: Fraction) -> None:
        self.rule, self.arithmetic = rule, rule.arithmetic
        self.vectors = [[self._number(int(x)) for x in row] for row in family.alphabet]
        self.discount = discount

    def _number(self, value: Any) -> Any:
        fraction = Fraction(value)
        one = self.arithmetic.one
        return one * fraction.numerator / (one * fraction.denominator)

    def of(self, move: Move) -> Iterator[Entry]:
        """The entries in the order of their numbers."""
        for u in self.vectors:
            for v in self.vectors:
                yield self._entry(u, v, move)

    def _entry(self, u: Any, v: Any, move: Move) -> Entry:
        rule = self.rule
        pi, mu, rho = (self._number(x) for x in (*move, move[0] / move[1]))
        g, one = self._number(self.discount), self._number(1)
        features = Pair({"s": u, "n": v}, rule.d)
        t = Transition(
            features=features, s=Row("s"), n=Row("n"), reward=0 * g, g=g, own=one, pi=pi, mu=mu, rho=rho,
            twin=Row("n"), g_twin=g, rho_twin=rho, features_next=features, rho_expected=rho,
        )  # fmt: skip
        sample = Sample(0, 0, one, t)
        try:
            slopes = rule.slopes(sample, rule.nothing)
            b = rule.constant(sample, rule.nothing)
            H: list[Any] = []
            c: list[Any] = []
            M: list[list[Any]] = []
            if rule.learner.has_memory:
                c, columns = rule.carried(sample)
                M = [[_fraction(column[i]) for column in columns] for i in range(len(c))]
                for j in range(rule.memory_size):
                    with_it = rule.slopes(sample, rule.unit(j, rule.memory_size))
                    H.append(_matrix(with_it) - _matrix(slopes))
        except ObliqueTDError:
            raise
        except Exception as error:
            raise _refused(rule.learner, f"its rule cannot be run on vectors ({error})") from None
        return Entry([_fraction(x) for x in b], _matrix(slopes), H, [_fraction(x) for x in c], M)


def _fraction(x: Any) -> Fraction:
    return Fraction(int(x.numerator), int(x.denominator))


def _matrix(columns: Any) -> Any:
    """The matrix with given columns, of fractions."""
    out = np.empty((len(columns), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        out[:, j] = [_fraction(x) for x in column]
    return out


def _fed(entries: list[Entry]) -> list[int]:
    """The entries of the memory that are ever other than 0, from the empty one."""
    fed = {i for e in entries for i, c in enumerate(e.c) if c}
    while True:
        new = {i for e in entries for i, row in enumerate(e.M) if any(row[j] for j in fed)} - fed
        if not new:
            return sorted(fed)
        fed |= new


def _table(family: Family, rule: RuleOnNumbers, entries: list[Entry], fed: list[int]) -> Table:
    """The entries as arrays of integers, after a look at whether they are of the form that is assumed."""
    pairs, D, k = len(entries), rule.size, len(fed)
    found = {tuple(tuple(e.M[i][j] for j in fed) for i in fed) for e in entries}
    if len(found) > 1:
        raise _refused(rule.learner, "what its memory hands on of itself depends on the features")
    (M,) = found
    below = np.array([_denominator(e, fed) for e in entries], dtype=object)
    G, S = (np.empty((pairs, D, D), dtype=object) for _ in range(2))
    b, c = np.empty((pairs, D), dtype=object), np.empty((pairs, k), dtype=object)
    H = np.empty((pairs, k, D, D), dtype=object)
    for at, (e, q) in enumerate(zip(entries, below.tolist(), strict=True)):
        G[at], b[at] = _whole(e.G, q), _whole(np.array(e.b, dtype=object), q)
        if fed:
            H[at] = [_whole(e.H[j], q) for j in fed]
            c[at] = [int(e.c[j] * q) for j in fed]
        updates = np.column_stack([G[at], b[at]])
        primitive = updates // (gcd(*updates.flat) or 1)
        S[at] = primitive @ primitive.T
    whole = [Integers(x).tight() for x in (below, G, H, c, S)]
    table = Table(whole[0], whole[1], whole[2], whole[3], whole[4], M)
    for P in _generators(family.features):
        if not _turns(family, rule, table, b, fed, P):
            raise _refused(rule.learner, "its rule treats features, or their signs, differently")
    return table


def _denominator(entry: Entry, fed: list[int]) -> int:
    numbers = [*entry.G.flat, *entry.b]
    for j in fed:
        numbers += [*entry.H[j].flat, entry.c[j]]
    return lcm(*(x.denominator for x in numbers))


def _whole(fractions: Any, factor: int) -> Any:
    out = np.empty(fractions.shape, dtype=object)
    for place in np.ndindex(*fractions.shape):
        out[place] = int(fractions[place] * factor)
    return out


def _generators(d: int) -> list[Any]:
    """Signed permutations that generate all: a sign, a swap, a cycle."""
    identity = np.eye(d, dtype=np.int64)
    sign = identity.copy()
    sign[0, 0] = -1
    if d == 1:
        return [sign]
    return [sign, identity[[1, 0, *range(2, d)]], np.roll(identity, 1, axis=0)]


def _turns(
    family: Family, rule: RuleOnNumbers, table: Table, b: Any, fed: list[int], P: Any
) -> bool:
    """Whether features turned by a signed permutation turn updates and memory, and nothing else."""
    V, learner = family.vectors, rule.learner
    moved = family.numbers_of(family.alphabet @ P)
    at = (moved[:, None] * V + moved[None, :]).ravel()
    X = _turn(learner.weights, rule, P)
    whole = _turn(learner.memory, rule, P)
    Y = whole[np.ix_(fed, fed)]
    M = np.array(table.M, dtype=object).reshape(len(fed), len(fed))
    H = np.einsum("oipq,ij->ojpq", X.T @ table.H.values.astype(object) @ X, Y)
    pairs = (
        (table.below.values[at], table.below.values),
        (table.G.values[at], X.T @ table.G.values @ X),
        (b[at], b @ X),
        (table.H.values[at], H),
        (table.c.values[at], table.c.values @ Y),
        (M, Y.T @ M @ Y),
        (Y.T @ Y, np.eye(len(fed))),
    )
    return all((mine == theirs).all() for mine, theirs in pairs)


def _turn(kind: type, rule: RuleOnNumbers, P: Any) -> Any:
    """What a signed permutation of the features does to weights, or a memory: vectors turn, numbers stay."""
    d, numbers = rule.d, rule.plain.numbers
    blocks = []
    for name, shape in shapes(kind, d, numbers).items():
        turns = shapes(kind, d + 1, numbers)[name] != shape
        count = int(np.prod(shape))
        blocks.append(
            np.kron(np.eye(count // d, dtype=object), P) if turns else np.eye(count, dtype=object)
        )
    size = sum(len(x) for x in blocks)
    out, start = np.zeros((size, size), dtype=object), 0
    for block in blocks:
        out[start : start + len(block), start : start + len(block)] = block
        start += len(block)
    return out
