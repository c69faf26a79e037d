"""What a rule makes of every outcome of a problem, as a few columns of coefficients: the rule run once for all.

:class:`Products` holds the terms of :mod:`obliquetd.dynamics.terms` for groups of outcomes that
agree on all comparisons of the rule. Of a user's own rule each group is held against the rule itself
(:meth:`Products.guard`), and a rule that fails is left to the general route, :class:`obliquetd.dynamics.rule.RuleOnNumbers`.
"""

from __future__ import annotations

import math
import random
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from obliquetd.algebra.storage import SPARSE_FROM
from obliquetd.algebra.ways import Way
from obliquetd.dynamics.columns import columns_of
from obliquetd.dynamics.monomials import Named
from obliquetd.dynamics.rounded_columns import RoundedColumn
from obliquetd.dynamics.rule import RuleOnNumbers, Sample
from obliquetd.dynamics.scalars import bare
from obliquetd.dynamics.tapes import Recorded, may_be_recorded
from obliquetd.dynamics.terms import Group, RuleOnColumns, Slot
from obliquetd.learners.forms import NoFormError
from obliquetd.learners.functions import is_shipped
from obliquetd.learners.wholes import is_of_wholes
from obliquetd.learners.words import TWIN
from obliquetd.problem.native import Operators
from obliquetd.problem.places import members

__all__ = ["Products", "products_of"]

CLOSE = 1e-6
"""The distance of a float from the rule's own, beside the largest term, that is rounding."""
MOST_KEPT: Way[int] = 200_000
"""Outcomes whose columns are kept with a problem."""


class Products:
    """The terms of all outcomes of some states.

    Parameters
    ----------
    rule : RuleOnNumbers
    visited : sequence of bool
        For each state whether its outcomes count.
    carried : bool
        Whether the memory is carried from one transition to the next.

    Attributes
    ----------
    groups : list of Group
    chances : list of columns
        Their product is the chance of each outcome, given its state.
    rows : dict of str to array of int
        For each outcome the state that is left, that is reached, and that its twin reaches.
    named : Named, or None
        The columns of floats by name.
    weights, memory : dict of slot to bool
        What the rule keeps, in its order, and whether it is a vector; of the memory only what is ever filled.
    """

    def __init__(self, rule: RuleOnNumbers, visited: Any, *, carried: bool) -> None:
        self.rule, self.ops = rule, rule.ops
        told = _told(self.ops, np.array(visited, dtype=bool), bool(rule.learner.reads & TWIN))
        self.first, self.second, self.rows = told.first, told.second, told.rows
        self.chances, self.named = told.chances, told.named
        self.runs = (Recorded if self._may_be_recorded() else RuleOnColumns)(
            rule.learner, rule.values, rule.plain.numbers, self.rows, told.numbers,
            partial(columns_of, self.ops, named=told.named),
            self.ops.places.late, float if self.ops.arithmetic.kind == "float" else object,
            told.everything,
        )  # fmt: skip
        self.weights, self.every_memory = self.runs.slots()
        self.groups, self.filled = self._grouped(carried=carried)
        self.memory = {
            slot: over for slot, over in self.every_memory.items() if slot in self.filled
        }
        for group in self.groups:
            self._guard(group)

    def _may_be_recorded(self) -> bool:
        """Whether what the rule does is written down; with many outcomes, not all columns on the way are to be kept."""
        return self.named is not None and may_be_recorded(self.rule.learner)

    @property
    def many(self) -> bool:
        """Whether the outcomes are too many for columns of them to be kept."""
        return len(self.first) > MOST_KEPT

    def _grouped(self, *, carried: bool) -> tuple[list[Group], set[Slot]]:
        """The groups of all outcomes, and what of the memory is ever filled."""
        return self.runs.groups(self.runs.everything, carried=carried)

    @cached_property
    def chance(self) -> Any:
        """Of each outcome, given its state."""
        known = self.ops.__dict__.setdefault("_chances_of_outcomes", {})
        if known.get("of") is not self.chances:
            found = math.prod(self.chances[1:], start=self.chances[0])
            if len(found) == 1:
                found = found[np.zeros(len(self.first), dtype=np.intp)]
            if self.many:
                return found
            known.update({"of": self.chances, "chance": found})
        return known["chance"]

    def among(self, column: Any, outcomes: Any) -> Any:
        """The entries of some outcomes, in their order, of a column that has all or is of one number."""
        return self.runs.among(column, outcomes)

    def _guard(self, group: Group) -> None:
        """:meth:`_check` of a user's own rule."""
        if not is_shipped(self.rule.learner.rule):
            self._check(group)

    def guard(self) -> None:
        """Hold every outcome, in the strict mode and on numbers, against the rule; NoFormError where they differ.

        A rule may count the rounds of a loop, which are fewer here than it has features, and short-circuit
        a comparison that some outcomes would decide otherwise. The package's own rules do not: each is a
        function of what it is given, and a test holds them to it.
        """
        for group in self.groups:
            self._check(group)

    def _check(self, group: Group) -> None:
        """The outcomes of a group."""
        at = np.arange(len(group.outcomes))
        strict, plain = (
            self.runs.run(self._columns(group, at, strict=way), group.outcomes[at], self.filled)
            for way in (True, False)
        )
        for mine, theirs in zip(strict, plain, strict=True):
            if not is_of_wholes(mine, theirs, _same):
                raise NoFormError("an entry counts in another way than the others")
        for k, place in enumerate(at.tolist()):
            self._hold_against_the_rule(group, place, k, plain)

    def _columns(self, group: Group, at: Any, *, strict: bool) -> Any:
        """The columns of the outcomes at some places of a group."""
        return self.runs.columns(self.runs.places(group.outcomes[at]), strict=strict)

    def _hold_against_the_rule(self, group: Group, place: int, k: int, plain: Any) -> None:
        """The outcome at a place of a group, the k-th of those in ``plain``."""
        outcome = int(group.outcomes[place])
        rule, draw = self.rule, random.Random(outcome)
        small = [self.ops.arithmetic.one * k for k in range(-3, 4) if k]
        values: dict[Any, Any] = {}
        flat: dict[str, list[Any]] = {"weights": [], "memory": []}
        for slot, over in (*self.weights.items(), *self.every_memory.items()):
            held = slot[0] == "weights" or slot in self.filled
            drawn = [draw.choice(small) if held else self.ops.arithmetic.zero
                     for _ in range(rule.d if over else 1)]  # fmt: skip
            values[slot] = drawn
            flat[slot[0]] += drawn
        for table in ("now", "next"):
            for row, rows in self.rows.items():
                features = rule.features if table == "now" else rule.features_next
                values["features", table, row] = [
                    bare(getattr(v, "value", v)) for v in features[rows[outcome]]
                ]
        found = rule.run(self.sample(outcome), flat["weights"], flat["memory"], rewarded=True)
        wanted = {"weights": found[0], "memory": found[1]}
        for terms, kind in zip(plain, wanted, strict=True):
            start = 0
            for slot, over in (self.weights if kind == "weights" else self.every_memory).items():
                width = rule.d if over else 1
                mine, size = _evaluated(
                    terms[slot, None], k, values, width, self.ops.arithmetic.zero
                )
                theirs = [bare(v) for v in wanted[kind][start : start + width]]
                start += width
                if self.ops.arithmetic.kind != "float":
                    alike = mine == theirs
                else:
                    alike = bool(np.all(np.abs(np.subtract(mine, theirs)) <= CLOSE * size))
                if not alike:
                    raise NoFormError("the rule makes something else of an outcome")

    def sample(self, outcome: int) -> Sample:
        """One outcome as the rule on numbers takes it."""
        chance, t = self.rule.transition(int(self.first[outcome]))
        if self.second is not self.first:
            second, u = self.rule.transition(int(self.second[outcome]))
            chance, t = chance * second, t._replace(twin=u.n, g_twin=u.g, rho_twin=u.rho)
        return Sample(t.s, t.n, chance, t)


class _Told(NamedTuple):
    """What the transitions of a problem tell any learner, by columns.

    The chance of an outcome given its state is the product of ``chances``. Columns of floats are ``named``
    where there are not too many states and outcomes to keep their sums.
    """

    first: Any
    second: Any
    rows: dict[str, Any]
    chances: list[Any]
    numbers: dict[str, Any]
    everything: Any
    named: Named | None


def _told(ops: Operators, visited: Any, twins: bool) -> _Told:
    """The outcomes of some states; kept with the operators, unless they are many."""
    known = ops.__dict__.setdefault("_told_outcomes", {})
    key = visited.tobytes(), twins
    if key not in known:
        found = _read(ops, visited, twins)
        if len(found.first) > MOST_KEPT:
            return found
        known.clear()
        known[key] = found
    return known[key]  # type: ignore[no-any-return]


def _read(ops: Operators, visited: Any, twins: bool) -> _Told:
    moves = np.asarray(ops.mu).astype(bool)
    first = np.flatnonzero(moves & visited[ops.state])
    second = first
    if twins:
        i, j = members(ops.state[first], ops.state[first])
        first, second = first[i], first[j]

    def taken(values: Any, at: Any) -> Any:
        return values if len(at) == len(values) and not twins else values[at]

    rows = {"s": taken(ops.state, first), "n": taken(ops.next_state, first)}
    rows["twin"] = ops.next_state[second] if twins else rows["n"]
    columns = columns_of(ops, rows)

    def column(values: Any, at: Any = first) -> Any:
        return columns.column(taken(values, at))

    pi, mu = column(ops.told_pi), column(ops.told_mu)
    chances = [column(ops.mu), column(ops.probability)]
    g, rho = column(ops.row_discount), columns.quotient(pi, mu)
    numbers = {
        "reward": column(ops.reward), "g": g, "own": column(ops.own_discount),
        "pi": pi, "mu": mu, "rho": rho, "g_twin": g, "rho_twin": rho,
        "rho_expected": columns.constant(1) if ops.places.late else rho,
    }  # fmt: skip
    if twins:
        chances += [column(ops.mu, second), column(ops.probability, second)]
        numbers["g_twin"] = column(ops.row_discount, second)
        numbers["rho_twin"] = columns.quotient(
            column(ops.told_pi, second), column(ops.told_mu, second)
        )
    everything = np.arange(len(first))
    if ops.arithmetic.kind != "float" or len(first) > MOST_KEPT or ops.n >= SPARSE_FROM:
        return _Told(first, second, rows, chances, numbers, everything, None)
    named = Named(rows)
    numbers = {name: named.named(name, c) for name, c in numbers.items()}
    return _Told(first, second, rows, chances, numbers, everything, named)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, RoundedColumn):
        return bool(np.allclose(a.value, b.value, rtol=1e-9, atol=0.0))
    return bool(a.tolist() == b.tolist())


def _evaluated(
    terms: Any, k: int, values: dict[Any, Any], width: int, zero: Any
) -> tuple[list[Any], Any]:
    """A slot at given vectors, and the size of its terms."""
    total, size = [zero] * width, 0.0
    for (left, factors), column in terms.items():
        by = (column.value if isinstance(column, RoundedColumn) else column)[
            k if len(column) > 1 else 0
        ]
        largest = abs(by) if isinstance(by, float) else 0.0
        for factor in factors:
            if factor[0] == "number":
                by = by * values[factor[1:]][0]
                continue
            pairs = list(zip(values[factor[1]], values[factor[2]], strict=True))
            by = by * sum((a * b for a, b in pairs if a and b), zero)
            if isinstance(by, float):
                largest *= sum(abs(a * b) for a, b in pairs)
        part = [by * v for v in values[left]] if left is not None else [by]
        total = [a + b for a, b in zip(total, part, strict=True)]
        if isinstance(by, float):
            vector = values[left] if left is not None else [1.0]
            size += 3.0 * largest * max(map(abs, vector))
    return total, size


def products_of(rule: RuleOnNumbers, visited: Any, *, carried: bool) -> Way[Products | None]:
    """The terms of a rule's outcomes; None where it has to be run on numbers, outcome by outcome."""
    try:
        return Products(rule, visited, carried=carried)
    except Exception:  # a user's rule may raise anything; the general route knows what it means
        return None
