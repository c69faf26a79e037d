"""A problem, a learner and its settings, drawn from a seed; at most one of all numbers is the symbol."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from obliquetd.learners import LEARNERS
from tests.character import ROLES, SYMBOL, Character, character
from tests.oracle.answers import Truth
from tests.oracle.settings import RULES

HALF = Fraction(1, 2)
SOME: dict[str, list[Any]] = {
    "lam": [Fraction(0), HALF, Fraction(1), Fraction(9, 10)],
    "mu": [Fraction(1), Fraction(1, 3), Fraction(2)],
    "beta": [None, HALF, Fraction(0)],
    "cap": [None, None, Fraction(2), Fraction(1, 3)],
    "eta": [Fraction(1), Fraction(0), Fraction(1, 10)],
    "kappa": [Fraction(1), Fraction(0), HALF],
    "rho_bar": [Fraction(1), HALF, Fraction(2)],
    "c_bar": [Fraction(1), HALF, Fraction(2)],
    "zeta": [HALF, Fraction(0), Fraction(1), Fraction(9, 10)],
    "n": [2, 1, 3],
    "truncate": [None, None, 0, 1, 2],
    "secondary": ["plain", "weighted"],
    "ratios": ["full", "full", "capped"],
    "omega": ["sampled", "sampled", "expected"],
}
"""Settings to choose from, the usual one first."""
POINTS = {
    "lam": (HALF, Fraction(1, 3)),
    "zeta": (Fraction(3, 4), Fraction(1, 4)),
    "beta": (HALF, Fraction(1, 5)),
}
BY_STATE = {"emphasis": [1, 2, -1, HALF], "interest": [1, 0, 2]}


@dataclass(frozen=True)
class Case:
    """A problem, a learner and its settings, of which one may be the symbol."""

    seed: int
    plain: Character
    key: str
    settings: tuple[tuple[str, Any], ...]

    @property
    def where(self) -> str:
        shown = ", ".join(f"{k}={v}" for k, v in self.settings)
        return f"seed {self.seed}: {self.key}({shown}), {self.plain.role or 'numbers'}"

    @property
    def in_setting(self) -> str | None:
        return next((k for k, v in self.settings if v == SYMBOL), None)

    @property
    def points(self) -> tuple[Fraction, ...]:
        name = self.in_setting
        return self.plain.points if name is None else POINTS.get(name, (HALF, Fraction(2)))

    def at(self, value: Fraction) -> Case:
        settings = tuple((k, value if v == SYMBOL else v) for k, v in self.settings)
        return replace(self, plain=self.plain.at(value), settings=settings)

    def truth(self) -> Truth:
        return Truth(self.plain, self.key, dict(self.settings))

    def learner(self, numbers: Callable[[Any], Any] = lambda x: x) -> Any:
        def public(value: Any) -> Any:
            if isinstance(value, tuple):
                return dict(enumerate(map(numbers, value)))
            return numbers(value) if isinstance(value, Fraction) else value

        return LEARNERS[self.key](**{k: public(v) for k, v in self.settings})


def case(seed: int, key: str | None = None, most_states: int | None = None) -> Case:
    """The case of a seed: most have a symbol, in the problem or in the learner, which may be given."""
    rng = random.Random(seed)
    role = rng.choice([None, "setting", *ROLES])
    plain = character(
        seed,
        role=None if role == "setting" else role,
        most_states=most_states or rng.choice([3, 5, 8]),
        closed=rng.random() < 0.7,
    )
    key = key or rng.choice(sorted(RULES))
    settings: dict[str, Any] = {}
    for name in RULES[key].defaults:
        if name in BY_STATE and rng.random() < 0.5:
            settings[name] = tuple(Fraction(rng.choice(BY_STATE[name])) for _ in range(plain.n))
        elif name in SOME and rng.random() < 0.7:
            value = rng.choice(SOME[name])
            if value is not None:
                settings[name] = value
    numbers = [k for k in RULES[key].defaults if k in SOME and isinstance(SOME[k][-1], Fraction)]
    if role == "setting" and numbers:
        settings[rng.choice(numbers)] = SYMBOL
    return Case(seed, plain, key, tuple(settings.items()))
