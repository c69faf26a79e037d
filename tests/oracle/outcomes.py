"""What can happen in one step of a problem in plain data, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracle.linear import ONE, ZERO, SingularError, Sparse, Vector, solve


@dataclass(frozen=True)
class Outcome:
    """One transition: from ``s`` to ``n`` with a chance given ``s``, and what a rule may know of it."""

    s: int
    n: int
    chance: Fraction
    r: Fraction
    g: Fraction
    own: Fraction
    pi: Fraction
    mu: Fraction
    phi: Vector
    phi_next: Vector
    twin: Outcome | None = None

    @property
    def rho(self) -> Fraction:
        return self.pi / self.mu


class Sampled:
    """The outcomes of a problem and the weights of its states.

    ``plain`` has the fields of :class:`tests.character.Character`, all of them numbers. A terminal state leads to itself, or to
    a start state where there is one, with reward 0 and discount 0; with a start, a move into it leads on at once.
    """

    def __init__(self, plain: Any) -> None:
        self.n, self.plain = plain.n, plain
        n = plain.n
        self.features = (
            [[Fraction(int(i == s)) for i in range(n)] for s in range(n)]
            if plain.features is None
            else [list(row) for row in plain.features]
        )
        self.d = len(self.features[0])
        self.carried = plain.xi is None
        first = n - plain.ends
        moves = []
        for s, a, t, p, r, own in plain.rows:
            mu = (plain.behavior or plain.target)[s][a]
            if not mu:
                continue
            pi = plain.target[s][a]
            if t < first:
                moves.append((s, t, mu * p, r, own, pi, mu))
            elif plain.start is None:
                moves.append((s, t, mu * p, r, ZERO, pi, mu))
            else:
                moves += [
                    (s, b, mu * p * q, r, ZERO, pi, mu) for b, q in enumerate(plain.start) if q
                ]
        for s in range(first, n):
            after = [(s, ONE)] if plain.start is None else list(enumerate(plain.start))
            moves += [(s, b, q, ZERO, ZERO, ONE, ONE) for b, q in after if q]
        self.outcomes = [
            Outcome(
                s,
                t,
                chance,
                r,
                plain.discount * own,
                own,
                pi,
                mu,
                self.features[s],
                self.features[t],
            )
            for s, t, chance, r, own, pi, mu in moves
        ]
        self.xi = self._stationary() if plain.xi is None else list(plain.xi)
        self.outcomes = [o for o in self.outcomes if self.xi[o.s]]
        self.pairs = [
            (pi, mu)
            for s, row in enumerate(plain.target)
            for pi, mu in zip(row, (plain.behavior or plain.target)[s], strict=True)
            if mu
        ]

    def _stationary(self) -> Vector:
        """xi with xi' P = xi' and sum 1, for a chain with one closed class."""
        rows: list[Sparse] = [{t: -ONE} for t in range(self.n)]
        for o in self.outcomes:
            rows[o.n][o.s] = rows[o.n].get(o.s, ZERO) + o.chance
        rows[0] = dict.fromkeys(range(self.n), ONE)
        try:
            return [x for (x,) in solve(rows, [[ONE], *[[ZERO]] * (self.n - 1)])]
        except SingularError:
            raise ValueError("the chain has several closed classes") from None

    def doubled(self) -> list[Outcome]:
        """Each outcome with each second, independent one out of its state."""
        return [
            Outcome(
                o.s, o.n, o.chance * o2.chance, o.r, o.g, o.own, o.pi, o.mu, o.phi, o.phi_next, o2
            )
            for o in self.outcomes
            for o2 in self.outcomes
            if o.s == o2.s
        ]
