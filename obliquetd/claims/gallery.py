"""Small problems of every awkward kind, to drop assumptions on.

Up to four states; dependent features and zero ones, states of weight zero, weights of
the user's own, discounts of 1 and of single transitions, deterministic and stochastic
chains, on-policy and off-policy. Exact, and the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from obliquetd.domains.random_problem import random_problem
from obliquetd.domains.two_state import two_state
from obliquetd.errors import ObliqueTDError
from obliquetd.mdp import MDP, Policy
from obliquetd.problem import PolicyEvaluation

__all__ = ["gallery", "leaves_for_good", "ring", "two_loops", "vanishing_best_projection"]

SIZE = 150
"""How many drawn problems there are."""

SEVERAL = 12
"""How many more have several closed classes."""


@cache
def gallery() -> tuple[PolicyEvaluation, ...]:
    """The problems, exact, each with weights xi: the known awkward ones, then drawn ones."""
    known = (
        two_state(),
        two_state(discount="5/6"),
        two_state(discount=1),
        vanishing_best_projection(),
        leaves_for_good(),
        *(ring(n, discount) for n in (2, 3) for discount in ("9/10", 1)),
        *(_tabular(random_problem(n, 1, seed=n, deterministic=True)) for n in (2, 3, 4)),
    )
    return (*known, *_draw(SIZE), two_loops(), *_several_classes(SEVERAL))


def two_loops() -> PolicyEvaluation:
    """0 -> 0 and 1 -> 1 with the weights (1/2, 1/2): stationary, and each run stays in one class."""
    mdp = MDP.from_transitions([(s, "a", s, 1, 1) for s in range(2)])
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="1/2", xi=["1/2", "1/2"])


def vanishing_best_projection() -> PolicyEvaluation:
    """Off-policy with X*'Phi = 0 and C = 1: the projection along X* does not exist.

    Action l leads to state 1 and r to state 2. The behaviour takes l with 5/9, so
    xi = (5/9, 4/9); the target takes r. phi = (1, -1), discount 9/10. The one reward is
    that of r in state 1, so V = (1, 0) lies outside span(Phi).
    """
    mdp = MDP.from_transitions(
        [(1, "l", 1, 1, 0), (1, "r", 2, 1, 1), (2, "l", 1, 1, 0), (2, "r", 2, 1, 0)]
    )
    return PolicyEvaluation(
        mdp,
        target=Policy.deterministic({1: "r", 2: "r"}),
        behavior=Policy({s: {"l": "5/9", "r": "4/9"} for s in (1, 2)}),
        features={1: [1], 2: [-1]},
        discount="9/10",
    )


def leaves_for_good() -> PolicyEvaluation:
    """1 -> 2 -> 2, tabular and on-policy: state 1 has weight zero, though all is covered."""
    mdp = MDP.from_transitions([(1, "a", 2, 1, 1), (2, "a", 2, 1, 0)])
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount="9/10")


def ring(states: int, discount: Any) -> PolicyEvaluation:
    """0 -> 1 -> ... -> 0, tabular and on-policy."""
    mdp = MDP.from_transitions([(s, "a", (s + 1) % states, 1, s) for s in range(states)])
    return PolicyEvaluation(mdp, target=Policy.uniform(mdp), discount=discount)


def _tabular(problem: PolicyEvaluation) -> PolicyEvaluation:
    return PolicyEvaluation(
        problem.mdp, target=problem.target, behavior=problem.behavior, discount=problem.discount
    )


def _draw(count: int) -> Iterator[PolicyEvaluation]:
    seed = made = 0
    while made < count:
        problem = _problem(np.random.default_rng(seed))
        seed += 1
        try:
            _ = problem.xi
        except ObliqueTDError:  # several recurrent classes: no unique xi
            continue
        made += 1
        yield problem


def _several_classes(count: int) -> Iterator[PolicyEvaluation]:
    """Drawn problems whose behaviour chain has several closed classes, each of equal weight."""
    seed = made = 0
    while made < count:
        problem = _problem(np.random.default_rng(seed))
        seed += 1
        laws = problem.native.chain.distributions
        if len(laws) < 2 or problem.native.inputs.xi is not None:
            continue
        made += 1
        weights = sum(laws[1:], laws[0]).scaled(problem.native.arithmetic.one / len(laws)).public()
        yield PolicyEvaluation(
            problem.mdp, target=problem.target, behavior=problem.behavior, discount=problem.discount,
            features=problem.Phi.tolist(), xi=list(weights),
        )  # fmt: skip


def _problem(rng: np.random.Generator) -> PolicyEvaluation:
    n = int(rng.integers(2, 5))
    deterministic, tame = rng.random() < 0.5, rng.random() < 0.6
    mixed = not tame and rng.random() < 0.4
    rows: list[tuple[Any, ...]] = []
    for s in range(n):
        for a in "lr":
            ends = _successors(rng, n, s, a, deterministic, tame)
            total = sum(ends.values())
            for t, weight in ends.items():
                own = int(rng.integers(0, 2)) if mixed else 1
                rows.append((s, a, t, Fraction(weight, total), int(rng.integers(-3, 4)), own))
    mdp = MDP.from_transitions(rows, states=range(n), actions="lr")
    behavior = Policy({s: _pair(int(rng.integers(1, 5))) for s in range(n)})
    target = behavior
    if rng.random() < 0.6:
        choice = (
            (lambda: {"lr"[int(rng.integers(2))]: 1})
            if deterministic
            else lambda: _pair(int(rng.integers(1, 5)))
        )
        target = Policy({s: choice() for s in range(n)})
    own_weights = rng.random() < 0.15
    return PolicyEvaluation(
        mdp, target=target, behavior=behavior, features=_features(rng, n),
        discount=str(rng.choice(["9/10", "9/10", "1/2", "0", "1"])),
        xi=[int(x) for x in rng.integers(1, 5, size=n)] if own_weights else None,
    )  # fmt: skip


def _pair(weight: int) -> dict[str, Fraction]:
    return {"l": Fraction(weight, 5), "r": Fraction(5 - weight, 5)}


def _successors(
    rng: np.random.Generator, n: int, s: int, a: str, deterministic: bool, tame: bool
) -> dict[int, int]:
    """Weights of next states; tame chains can always go round, so every state comes back."""
    first = (s + 1) % n if tame and a == "l" else int(rng.integers(n))
    if deterministic:
        return {first: 1}
    return {first: 1, int(rng.integers(n)): int(rng.integers(1, 4))}


def _features(rng: np.random.Generator, n: int) -> list[list[int]]:
    kind = rng.random()
    if kind < 0.15:
        return [[int(i == j) for j in range(n)] for i in range(n)]
    rows = rng.integers(-2, 3, size=(n, int(rng.integers(1, min(n, 3) + 1))))
    if kind < 0.3:  # dependent columns
        rows = np.hstack([rows, rows[:, :1] * 2])
    return [[int(x) for x in row] for row in rows]
