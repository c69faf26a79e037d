"""A of many members with one chain, in integers, and the span of their updates; see :mod:`obliquetd.atlas.tables`."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from sympy import QQ

from obliquetd.algebra import FieldArithmetic
from obliquetd.atlas.family import Chain, Family
from obliquetd.atlas.integers import Integers
from obliquetd.atlas.integers import lcm as common
from obliquetd.atlas.tables import Move, Tables
from obliquetd.errors import SingularError

__all__ = ["Outcome", "expected_updates", "outcomes_of", "xi_of"]


class Outcome(NamedTuple):
    """A way out of a state, where it leads, its chance, and what kind of move it is."""

    state: int
    next_state: int
    chance: Fraction
    move: Move


def outcomes_of(family: Family, chain: Chain) -> list[Outcome]:
    """All that has a chance under the behaviour."""
    n, k = family.states, family.parts
    pairs = [(s, t, Fraction(chain[s][t], k)) for s in range(n) for t in range(n)]
    if family.on_policy:
        return [Outcome(s, t, p, (Fraction(1), Fraction(1))) for s, t, p in pairs if p]
    share = Fraction(1, n)
    return [Outcome(s, t, share, (p, share)) for s, t, p in pairs]


def xi_of(family: Family, chain: Chain) -> list[Fraction]:
    """The stationary weights of the states, from the package's own problem."""
    features = np.eye(family.states, family.features, dtype=int)
    xi = family.problem(chain, features, 0).xi
    return [Fraction(int(x.p), int(x.q)) for x in xi]


def expected_updates(
    family: Family, chain: Chain, xi: list[Fraction], tables: Tables, codes: Any
) -> tuple[Integers, Integers]:
    """A positive multiple of A for each member, and a matrix whose range the updates at rest span.

    Parameters
    ----------
    family : Family
    chain : Chain
    xi : list of Fraction
    tables : Tables
    codes : array of int
        The feature matrices, by their numbers.

    Returns
    -------
    tuple of Integers (N, D, D)
    """
    rows, outcomes = family.rows_of(codes), outcomes_of(family, chain)
    at = [rows[:, o.state] * family.vectors + rows[:, o.next_state] for o in outcomes]
    made = [tables.by_move[o.move] for o in outcomes]
    below = [table.below[pair] for table, pair in zip(made, at, strict=True)]
    whole = common(below)
    factors = [whole.over(q).tight() for q in below]
    chances = [xi[o.state] * o.chance for o in outcomes]
    unit = lcm(*(x.denominator for x in chances))
    weights = [int(x * unit) for x in chances]
    memory = _memory(chain, xi, tables, outcomes)
    means, scale = _means(memory, [t.c[p] for t, p in zip(made, at, strict=True)], factors)
    A = S = Integers(np.zeros((len(codes), tables.size, tables.size), dtype=np.int64))
    for o, table, pair, factor, weight in zip(outcomes, made, at, factors, weights, strict=True):
        if not (table.G.bound or table.H.bound or table.S.bound):
            continue
        update = table.G[pair]
        if scale is not None:
            update = update * (whole * scale).spread(2)
            for j, mean in enumerate(means[o.state]):
                update = update + table.H[pair][:, j] * mean.spread(2)
        A = A - update * (factor * weight).spread(2)
        S = S + table.S[pair]
    return A.tight(), S.tight()


def _memory(
    chain: Chain, xi: list[Fraction], tables: Tables, outcomes: list[Outcome]
) -> list[list[list[list[Fraction]]]]:
    """z_j(s) = sum over o and i of R[s][j][o][i] c_oi: the solution of the memory's system."""
    n, k = len(chain), tables.memory
    if not k:
        return []
    arithmetic = FieldArithmetic()
    system = [[Fraction(int(i == j)) for j in range(n * k)] for i in range(n * k)]
    right = [[Fraction(0)] * (len(outcomes) * k) for _ in range(n * k)]
    for place, o in enumerate(outcomes):
        M = tables.by_move[o.move].M
        for i in range(k):
            right[o.next_state * k + i][place * k + i] += o.chance * xi[o.state]
            for j in range(k):
                system[o.next_state * k + i][o.state * k + j] -= o.chance * M[i][j]
    native = [arithmetic.matrix([[QQ(x.numerator, x.denominator) for x in row] for row in rows], (n * k, len(rows[0])))
              for rows in (system, right)]  # fmt: skip
    try:
        solved = native[0].solve(native[1], "the trace's stationary equation").rows()
    except SingularError as error:
        raise SingularError(
            f"the trace of {tables.learner.label} has no stationary mean on the chain {chain}; "
            "use a discount or lam below 1",
            error.null_vector,
        ) from None
    flat = [[Fraction(int(x.numerator), int(x.denominator)) for x in row] for row in solved]
    return [
        [[[x / xi[s] for x in flat[s * k + j][o * k : o * k + k]] for o in range(len(outcomes))]
         for j in range(k)]
        for s in range(n)
    ]  # fmt: skip


def _means(
    memory: list[list[list[list[Fraction]]]], starts: list[Integers], factors: list[Integers]
) -> tuple[list[list[Integers]], int | None]:
    """Whole multiples of z_j(s) for each member, all by one factor: the common denominator times a number."""
    if not memory:
        return [], None
    scale = lcm(*(x.denominator for s in memory for j in s for o in j for x in o))
    out = []
    for of_state in memory:
        row = []
        for of_entry in of_state:
            total = Integers(np.zeros(len(starts[0].values), dtype=np.int64))
            for place, by in enumerate(of_entry):
                for i, x in enumerate(by):
                    if x:
                        total = total + starts[place][:, i] * factors[place] * int(x * scale)
            row.append(total.tight())
        out.append(row)
    return out, scale
