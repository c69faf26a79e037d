"""Problems with character: what people have, and what a draw of dense random numbers never is.

One description (:class:`Character`) in plain data, and one way to draw it (:func:`drawn`), from a seed
(:func:`character`) or by hypothesis (:mod:`tests.strategies`). Rewards are mostly 0; transitions are deterministic or have
few outcomes; episodes end by a discount of 0, or in terminal states, with a start or without; features are tabular, groups,
few, mostly zeros, or dependent; states are never visited; importance ratios are 0; a symbol may stand in a discount, a
probability, a policy, a feature or a reward.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from obliquetd import MDP, Policy, PolicyEvaluation

SYMBOL = "x"
ROLES = ("discount", "reward", "probability", "feature", "policy")
ENDINGS = ("never", "discount", "start", "terminal")
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Affine:
    """A number that depends on the symbol: constant + slope x."""

    constant: Fraction
    slope: Fraction

    def at(self, value: Fraction) -> Fraction:
        return self.constant + self.slope * value

    def __str__(self) -> str:
        return f"{self.constant} + ({self.slope})*{SYMBOL}"


@dataclass(frozen=True)
class Character:
    """A problem in plain data; entries are fractions, or affine in one symbol.

    States are 0 .. n - 1, those that ``ends`` counts come last and are terminal; ``target`` and ``behavior`` have a row
    for each state that is not terminal and a column for each action (``behavior`` None: on-policy); ``features`` None is
    tabular; ``start`` and ``xi`` have an entry for each state. ``points`` are numbers that the symbol may be put at.
    """

    n: int
    ends: int
    actions: int
    rows: tuple[tuple[Any, ...], ...]
    target: tuple[tuple[Any, ...], ...]
    behavior: tuple[tuple[Any, ...], ...] | None
    features: tuple[tuple[Any, ...], ...] | None
    discount: Any
    start: tuple[Fraction, ...] | None = None
    xi: tuple[Fraction, ...] | None = None
    role: str | None = None
    points: tuple[Fraction, ...] = ()

    def _mapped(self, number: Callable[[Any], Any]) -> Character:
        def table(rows: Any) -> Any:
            return rows if rows is None else tuple(tuple(map(number, row)) for row in rows)

        def column(xs: Any) -> Any:
            return xs if xs is None else tuple(map(number, xs))

        return replace(
            self,
            rows=tuple((*row[:3], *map(number, row[3:])) for row in self.rows),
            target=table(self.target), behavior=table(self.behavior), features=table(self.features),
            discount=number(self.discount), start=column(self.start), xi=column(self.xi),
        )  # fmt: skip

    def at(self, value: Fraction) -> Character:
        """The same with the symbol put at a number."""
        numbers = self._mapped(lambda x: x.at(value) if isinstance(x, Affine) else x)
        return replace(numbers, role=None, points=())

    @property
    def symbols(self) -> tuple[str, ...]:
        return () if self.role is None else (SYMBOL,)

    def mdp(self, numbers: Callable[[Any], Any] = lambda x: x) -> MDP:
        """The model alone; ``numbers`` is ``float`` for one in floats."""
        rows = self._mapped(lambda x: _public(x, numbers)).rows
        return MDP.from_transitions(rows, states=range(self.n), actions=range(self.actions))

    def problem(
        self, numbers: Callable[[Any], Any] = lambda x: x, **fields: Any
    ) -> PolicyEvaluation:
        """The problem as a user writes it; ``numbers`` is ``float`` for one in floats."""
        plain = self._mapped(lambda x: _public(x, numbers))

        def policy(rows: Any) -> Policy | None:
            if rows is None:
                return None
            return Policy(
                {
                    s: {a: p for a, p in enumerate(row) if (s, a) in offered}
                    for s, row in enumerate(rows)
                }
            )

        offered = {row[:2] for row in self.rows}
        given = {
            "target": policy(plain.target),
            "behavior": policy(plain.behavior),
            "features": plain.features
            if plain.features is None
            else list(map(list, plain.features)),
            "discount": plain.discount,
            "xi": None if plain.xi is None else list(plain.xi),
            "start": None
            if plain.start is None
            else {s: p for s, p in enumerate(plain.start) if p},
        }
        return PolicyEvaluation(self.mdp(numbers), **{**given, **fields})


def _public(x: Any, numbers: Callable[[Any], Any]) -> Any:
    return str(x) if isinstance(x, Affine) else numbers(x)


class Draw:
    """Where choices come from: a random generator here, hypothesis in :mod:`tests.strategies`."""

    def __init__(self, rng: random.Random) -> None:
        self.pick: Callable[[Sequence[Any]], Any] = rng.choice


def character(seed: int, **kinds: Any) -> Character:
    """The problem of a seed; ``kinds`` as in :func:`drawn`."""
    return drawn(Draw(random.Random(seed)), **kinds)


def drawn(
    draw: Any,
    *,
    most_states: int = 8,
    most_actions: int = 3,
    role: str | Sequence[str | None] | None = None,
    closed: bool = False,
    endings: Sequence[str] = ENDINGS,
    full: bool = False,
    on_policy: bool | None = None,
    deterministic: bool | None = None,
    independent: bool = False,
    discounts: Sequence[Any] = (Fraction(9, 10), HALF, Fraction(99, 100), Fraction(0)),
) -> Character:
    """A problem, drawn choice by choice; the first of the things to choose from is the simplest.

    Parameters
    ----------
    draw : object with ``pick(sequence)``
    role : one of ROLES, or several to choose from
        Where the symbol stands; None for numbers alone.
    closed : bool
        The behaviour's chain has one closed class, and its stationary distribution are the weights. Otherwise they may be
        given, and the chain have any classes.
    endings : sequence
        How episodes may end, of ENDINGS: not at all, by a discount of 0, in terminal states and anew from a start, or
        there for good, with weights given.
    full : bool
        The behaviour takes every action that is offered.
    on_policy, deterministic : bool, optional
        Drawn unless given.
    independent : bool
        The features are linearly independent as long as states have them.
    discounts : sequence
    """
    pick = draw.pick
    if not (role is None or isinstance(role, str)):
        role = pick(list(role))
    ending = pick([e for e in endings if not (closed and e == "terminal")])
    ends = pick([1, 1, 2]) if ending in ("start", "terminal") else 0
    n = pick(range(1, most_states + 1))
    k = pick(range(1, most_actions + 1))
    every = n + ends
    rows = _rows(pick, n, k, every, ending, deterministic)
    offered = [[a for a in range(k) if any(r[:2] == [s, a] for r in rows)] for s in range(n)]
    target, behavior = _policies(pick, k, offered, full, on_policy, deterministic)
    start = None
    if ending == "start":
        start = (*_distribution(pick, n), *[Fraction(0)] * ends)
    given = not closed and ending != "start" and pick([False, True])
    if ending == "terminal":
        given = True
    if not given:
        _close(rows, n, every, behavior or target, start)
    xi = tuple(_distribution(pick, every)) if given else None
    features = _features(pick, every, n if ending == "start" else every, independent)
    plain = Character(
        n=every, ends=ends, actions=k, rows=tuple(map(tuple, rows)), target=target,
        behavior=behavior, features=features, start=start, xi=xi,
        discount=pick([*discounts, Fraction(1)] if _surely_ends(rows, n, target) else list(discounts)),
    )  # fmt: skip
    return plain if role is None else _with_symbol(pick, plain, role)


def _rows(
    pick: Any, n: int, k: int, every: int, ending: str, deterministic: bool | None
) -> list[list[Any]]:
    kind = pick(["ring", "few", "one"])
    if deterministic is not None:
        kind = pick(["ring", "one"]) if deterministic else "few"
    rewards = pick(["sparse", "one", "none", "dense"])
    where = (pick(range(n)), 0)
    rows: list[list[Any]] = []
    for s in range(n):
        for a in range(k):
            if a and not pick([1, 1, 1, 0]):
                continue  # an action that is not offered here
            if kind == "ring" and a == 0:
                to = [s + 1 if s + 1 < every else 0]
            else:
                most = 1 if kind != "few" else pick([1, 2, 2, 3])
                to = list(dict.fromkeys(pick(range(every)) for _ in range(most)))
            weights = [pick([1, 1, 2, 3]) for _ in to]
            for t, w in zip(to, weights, strict=True):
                if rewards == "one":
                    reward = int((s, a) == where)
                else:
                    reward = pick({"sparse": [0, 0, 0, 0, 1, -1, 3], "none": [0],
                                   "dense": [0, 1, -1, 2, -2, 3]}[rewards])  # fmt: skip
                own = pick([1, 1, 1, 0, HALF]) if ending == "discount" else 1
                rows.append([s, a, t, Fraction(w, sum(weights)), Fraction(reward), Fraction(own)])
    return rows


def _distribution(pick: Any, size: int) -> list[Fraction]:
    weights = [pick([1, 0, 2, 0]) for _ in range(size)]
    if not any(weights):
        weights[0] = 1
    return [Fraction(w, sum(weights)) for w in weights]


def _policies(
    pick: Any,
    k: int,
    offered: list[list[int]],
    full: bool,
    on_policy: bool | None,
    sure: bool | None,
) -> tuple[Any, Any]:
    def normal(weights: list[int]) -> tuple[Fraction, ...]:
        return tuple(Fraction(w, sum(weights)) for w in weights)

    same = pick([True, False, False]) if on_policy is None else on_policy
    kinds = ["first", "uniform", "any"] if not (full and same) else ["uniform"]
    if sure:
        kinds = ["first", "one"]
    kind = pick(kinds)
    other = pick(["uniform", "any"])
    target, behavior = [], []
    for choices in offered:
        aims = [0] * k
        for a in choices:
            aims[a] = {"first": int(a == choices[0]), "uniform": 1}.get(kind, 0)
        if kind == "one":
            aims[pick(choices)] = 1
        if kind == "any":
            for a in choices:
                aims[a] = pick([1, 0, 2, 3])
            if not any(aims):
                aims[choices[-1]] = 1
        takes = [0] * k
        for a in choices:
            least = int(full or aims[a] > 0)
            takes[a] = 1 if other == "uniform" else max(pick([1, 0, 3]), least)
        target.append(normal(aims))
        behavior.append(normal(takes))
    return tuple(target), None if same else tuple(behavior)


def _close(rows: list[list[Any]], n: int, every: int, policy: Any, start: Any) -> None:
    """Leave the behaviour's chain one closed class, that of the terminal states where there are any."""

    def reach() -> list[set[int]]:
        after: list[set[int]] = [{s} for s in range(every)]
        for row in rows:
            if policy[row[0]][row[1]]:
                after[row[0]].add(row[2])
        for s in range(n, every) if start else ():
            after[s] |= {t for t, p in enumerate(start) if p}
        for middle in range(every):
            for s in range(every):
                if middle in after[s]:
                    after[s] |= after[middle]
        return after

    root = n if start else None
    while True:
        after = reach()
        closed = [s for s in range(every) if all(s in after[t] for t in after[s])]
        if root is None:
            root = closed[0]
        astray = [s for s in closed if root not in after[s] and s < n]
        if not astray:
            return
        taken = next(r for r in rows if r[0] == astray[0] and policy[r[0]][r[1]])
        taken[2] = root  # nothing of this class led there, so that no outcome is there twice


def _surely_ends(rows: list[list[Any]], n: int, target: Any) -> bool:
    """Whether the target's discounted sums are finite without a discount from outside."""
    ending: set[int] = set()
    while True:
        more = {s for s, a, t, p, r, own in rows
                if s not in ending and target[s][a] and (own < 1 or t in ending or t >= n)}  # fmt: skip
        if not more:
            return len(ending) == n
        ending |= more


def _features(pick: Any, every: int, states: int, independent: bool) -> Any:
    kinds = ["tabular", "groups", "small", "zeros", "dependent"]
    kind = pick(kinds[:2] if independent else kinds)
    if kind == "tabular":
        return None
    if kind == "groups":
        d = pick(range(1, states + 1))
        group = [s if s < d else pick(range(d)) for s in range(every)]
        return tuple(tuple(Fraction(int(g == i)) for i in range(d)) for g in group)
    d = pick(range(1, min(every, 4) + 1))
    entries = [0, 0, 0, 1, -1, 2] if kind == "zeros" else [1, 0, -1, 2, -2]
    table = [[Fraction(pick(entries)) for _ in range(d)] for _ in range(every)]
    if kind == "dependent":
        factor = pick([1, 0, -2])
        for row in table:
            row.append(factor * row[0])
    if not any(any(row) for row in table):
        table[0][0] = Fraction(1)
    return tuple(map(tuple, table))


def _with_symbol(pick: Any, plain: Character, role: str) -> Character:
    """The symbol in its role; in the discount where the problem has no place for it."""
    one, points = Fraction(1), (HALF, Fraction(1, 3), Fraction(9, 10))

    def shared(total: Fraction) -> tuple[Affine, Affine]:
        return Affine(Fraction(0), total), Affine(total, -total)

    if role == "probability":
        rows = list(map(list, plain.rows))
        pairs = [(i, i + 1) for i in range(len(rows) - 1) if rows[i][:2] == rows[i + 1][:2]]
        if pairs:
            i, j = pick(pairs)
            rows[i][3], rows[j][3] = shared(rows[i][3] + rows[j][3])
            return replace(plain, rows=tuple(map(tuple, rows)), role=role, points=points)
    if role == "policy":
        name = "target" if plain.behavior is None else "behavior"
        table = list(map(list, getattr(plain, name)))
        twos = [(s, a, b) for s, row in enumerate(table)
                for a in range(len(row)) for b in range(a) if row[a] and row[b]]  # fmt: skip
        if twos:
            s, a, b = pick(twos)
            table[s][a], table[s][b] = shared(table[s][a] + table[s][b])
            return replace(plain, role=role, points=points, **{name: tuple(map(tuple, table))})
    if role == "feature":
        table = [[Fraction(int(i == s)) for i in range(plain.n)] for s in range(plain.n)]
        if plain.features is not None:
            table = list(map(list, plain.features))
        s, i = pick(range(plain.n)), pick(range(len(table[0])))
        table[s][i] = Affine(pick([Fraction(0), one]), pick([one, -one, HALF]))
        points = (HALF, Fraction(2), Fraction(-3))
        return replace(plain, features=tuple(map(tuple, table)), role=role, points=points)
    if role == "reward":
        rows = list(map(list, plain.rows))
        rows[pick(range(len(rows)))][4] = Affine(pick([Fraction(0), one]), one)
        points = (HALF, Fraction(0), Fraction(-3))
        return replace(plain, rows=tuple(map(tuple, rows)), role=role, points=points)
    near, far = Fraction(99, 100), Fraction(9, 10)
    formula, points = pick(
        [
            (Affine(Fraction(0), one), (HALF, far, near)),
            (Affine(Fraction(0), HALF), (HALF, 2 * far, 2 * near)),
            (Affine(one, -one), (HALF, 1 - far, 1 - near)),
        ]
    )
    return replace(plain, discount=formula, role="discount", points=points)
